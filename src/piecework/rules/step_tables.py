r"""What the steps of a tokenizer.json beside BERT's need to know about Unicode, as data.

``step_tables()`` reads ``tables/steps.json``, which ``python -m piecework.rules.step_tables``
writes by asking the installed ``tokenizers`` about every scalar value. The tables are those of four
libraries inside the reference, each of another version of Unicode; what they share with BERT's
steps is in the rule set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from piecework.rules.rule_set import N_CODE_POINTS, TABLES, CodePoints, parse_range, range_text

_PATH = TABLES / "steps.json"
# The general categories and the shorthands that a pattern may name.
_CLASSES = {name: f"\\p{{{name}}}" for name in ("L", "Lu", "Ll", "M", "N", "Nd", "P", "S", "Z")}
_CLASSES |= {"s": r"\s", "d": r"\d", "w": r"\w", "[w]": r"[\w]"}


@dataclass(frozen=True, eq=False)
class StepTables:
    r"""Sets of code points.

    Attributes
    ----------
    source : str
        What they were measured on.
    word : CodePoints
        Letters, marks, digits and connectors: what a ``single_word`` token must not touch, and what
        the pre-tokenizer Whitespace keeps together.
    numeric : CodePoints
        What the pre-tokenizer Digits splits off.
    combining_marks : CodePoints
        What the normalizer StripAccents drops.
    compatibility : CodePoints
        What NFKC and NFKD decompose and NFD does not.
    regex : mapping of str to CodePoints
        The classes of patterns: "s" for ``\s``, "L" for ``\p{L}``…, and "[w]" for a ``\w`` between
        brackets, where it has some fewer.

    Examples
    --------
    >>> tables = step_tables()
    >>> ord("_") in tables.word, ord("²") in tables.word, ord("²") in tables.regex["w"]
    (True, False, True)
    """

    source: str
    word: CodePoints = field(repr=False)
    numeric: CodePoints = field(repr=False)
    combining_marks: CodePoints = field(repr=False)
    compatibility: CodePoints = field(repr=False)
    regex: Mapping[str, CodePoints] = field(repr=False)


@cache
def step_tables() -> StepTables:
    """Return the tables, read once."""
    tables = json.loads(_PATH.read_text("utf-8"))
    sets = {
        name: CodePoints(tuple(map(parse_range, ranges.split())))
        for name, ranges in tables["sets"].items()
    }
    regex = {name: sets.pop(f"regex {name}") for name in _CLASSES}
    return StepTables(source=tables["source"], regex=regex, **sets)


def _measure() -> dict[str, CodePoints]:
    """Ask the installed tokenizers."""
    from tokenizers import Regex, normalizers, pre_tokenizers

    scalar_values = [cp for cp in range(N_CODE_POINTS) if not 0xD800 <= cp < 0xE000]

    def where(holds: Callable[[str], bool]) -> CodePoints:
        return CodePoints.of(cp for cp in scalar_values if holds(chr(cp)))

    def n_words(step: pre_tokenizers.PreTokenizer, text: str) -> int:
        return len(step.pre_tokenize_str(text))

    whitespace = pre_tokenizers.Whitespace()
    digits = pre_tokenizers.Digits(individual_digits=True)
    strip, nfd, nfkd = normalizers.StripAccents(), normalizers.NFD(), normalizers.NFKD()
    sets = {
        "word": where(lambda ch: n_words(whitespace, f"a{ch}b") == 1),
        "numeric": where(lambda ch: n_words(digits, f"a{ch}b") == 3),
        "combining_marks": where(lambda ch: strip.normalize_str(ch) == ""),
        "compatibility": where(lambda ch: nfkd.normalize_str(ch) != nfd.normalize_str(ch)),
    }

    def members(pattern: str) -> CodePoints:
        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        # Between controls, which are in none of the classes.
        return where(lambda ch: n_words(split, f"\x01{ch}\x01") == 3)

    return sets | {f"regex {name}": members(pattern) for name, pattern in _CLASSES.items()}


def main() -> None:
    """Write the tables of the installed version."""
    from tokenizers import __version__

    tables = {
        "about": "Written by python -m piecework.rules.step_tables, not by hand",
        "source": f"tokenizers {__version__}",
        "sets": {
            name: " ".join(range_text(*each) for each in code_points.ranges)
            for name, code_points in _measure().items()
        },
    }
    _PATH.write_text(json.dumps(tables, indent=1) + "\n", "utf-8")
    print(f"{_PATH}: {tables['source']}")


if __name__ == "__main__":
    main()
