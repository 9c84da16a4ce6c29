"""Rule sets: what a WordPiece normalizer needs to know about Unicode, as data.

A rule set is a name ("huggingface", "huggingface-1", "unicode") and comes out as a
:class:`RuleSet`: which code points are controls, white space, punctuation, ideographs and marks,
and what decomposition and lower case make of each. It holds facts only; the order in which a
normalizer applies them is in ``normalization.py``.

The two frozen sets are read from ``tables/<name>.json``, which ``measure.py`` writes by probing the
``tokenizers`` library, so their results never depend on the Python that runs them. "unicode" is the
textbook rule by the running ``unicodedata`` and does.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from piecework.errors import short_repr

FROZEN_NAMES = ("huggingface", "huggingface-1")
RULE_SET_NAMES = (*FROZEN_NAMES, "unicode")

TABLES = Path(__file__).with_name("tables")

N_CODE_POINTS = sys.maxunicode + 1
FIRST_HANGUL, LAST_HANGUL = 0xAC00, 0xD7A3

# The blocks of the original BERT release; ideographs that Unicode added later are never spaced.
ORIGINAL_CJK = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
ASCII_PUNCTUATION = ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))
# The property White_Space, fixed since Unicode 6.3. str.isspace() holds 1C-1F too.
WHITE_SPACE = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)

_KIND_OF_CATEGORY = defaultdict(lambda: "-", Mn="M")
_KIND_OF_CATEGORY.update(dict.fromkeys(["Cc", "Cf", "Cn", "Co", "Cs"], "C"))
_KIND_OF_CATEGORY.update(dict.fromkeys(["Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps"], "P"))


@dataclass(frozen=True)
class CodePoints:
    """An immutable set of code points.

    Parameters
    ----------
    ranges : tuple of (first, last)
        Inclusive, ascending, without overlap.

    Examples
    --------
    >>> digits = CodePoints(((0x30, 0x39),))
    >>> 0x35 in digits, 0x3A in digits, len(digits)
    (True, False, 10)
    """

    ranges: tuple[tuple[int, int], ...]
    # Ascending numbers at which membership changes: an odd count of them at or below means "in".
    _borders: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        borders = list(chain.from_iterable((first, last + 1) for first, last in self.ranges))
        object.__setattr__(self, "_borders", borders)

    @classmethod
    def of(cls, code_points: Iterable[int]) -> CodePoints:
        """Make the set of these code points, in any order, repeats allowed.

        Examples
        --------
        >>> CodePoints.of([3, 1, 2, 9])
        CodePoints(ranges=((1, 3), (9, 9)))
        """
        ranges: list[tuple[int, int]] = []
        for cp in sorted(code_points):
            if ranges and cp <= ranges[-1][1] + 1:
                ranges[-1] = (ranges[-1][0], cp)
            else:
                ranges.append((cp, cp))
        return cls(tuple(ranges))

    def __contains__(self, cp: int) -> bool:
        return bisect_right(self._borders, cp) % 2 == 1

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(first, last + 1) for first, last in self.ranges)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)


@dataclass(frozen=True, eq=False)
class RuleSet:
    """The Unicode facts of one tokenizer, or of one version of Unicode.

    Attributes
    ----------
    name : str
    source : str
        What the facts were taken from, such as ``"tokenizers 0.23.3"``.
    control : CodePoints
        Dropped by clean_text. Never TAB, LF and CR; not U+FFFD, which is dropped but no control.
    whitespace, punctuation, cjk, marks : CodePoints
        Marks are the ones that accent stripping drops. A measured rule set leaves out those that
        have a decomposition: they are gone before marks are looked for.
    decompositions : mapping of int to tuple of int
        Full canonical decompositions, without the Hangul syllables, which decompose by arithmetic.
    combining_classes : mapping of int to int
        Only classes other than 0; measured rule sets leave out what has a decomposition.
    lowercase : mapping of int to tuple of int
        Only code points that change.

    Examples
    --------
    >>> rules = rule_set("huggingface")
    >>> rules.source, rules.is_punctuation(ord("$")), rules.is_mark(0x301)
    ('tokenizers 0.23.3', True, True)
    """

    name: str
    source: str
    control: CodePoints = field(repr=False)
    whitespace: CodePoints = field(repr=False)
    punctuation: CodePoints = field(repr=False)
    cjk: CodePoints = field(repr=False)
    marks: CodePoints = field(repr=False)
    decompositions: Mapping[int, tuple[int, ...]] = field(repr=False)
    combining_classes: Mapping[int, int] = field(repr=False)
    lowercase: Mapping[int, tuple[int, ...]] = field(repr=False)

    def is_control(self, cp: int) -> bool:
        """Whether clean_text drops this code point as a control."""
        return cp in self.control

    def is_whitespace(self, cp: int) -> bool:
        """Whether this code point separates words; U+000B is a control too, and vanishes first."""
        return cp in self.whitespace

    def is_punctuation(self, cp: int) -> bool:
        """Whether this code point is a word of its own."""
        return cp in self.punctuation

    def is_cjk(self, cp: int) -> bool:
        """Whether handle_chinese_chars puts spaces around this code point."""
        return cp in self.cjk

    def is_mark(self, cp: int) -> bool:
        """Whether accent stripping drops this code point."""
        return cp in self.marks


def rule_set(name: str) -> RuleSet:
    """Return the rule set of this name.

    Parameters
    ----------
    name : {"huggingface", "huggingface-1", "unicode"}

    Raises
    ------
    ValueError
        For any other name.
    TypeError
        For what is no str.

    Examples
    --------
    >>> rule_set("huggingface").lowercase[ord("A")]
    (97,)
    """
    return _rule_set(checked_name(name))


def checked_name(name: str) -> str:
    """Return the name of a rule set, or raise as :func:`rule_set` does."""
    names = ", ".join(map(repr, RULE_SET_NAMES))
    if not isinstance(name, str):
        raise TypeError(f"rules: expected one of {names}, got {short_repr(name)}")
    if name not in RULE_SET_NAMES:
        raise ValueError(f"rules: expected one of {names}, got {short_repr(name)}")
    return str.__str__(name)


@cache
def _rule_set(name: str) -> RuleSet:
    if name == "unicode":
        return _from_unicodedata()
    return from_json(json.loads((TABLES / f"{name}.json").read_text("utf-8")))


def to_json(rules: RuleSet) -> dict[str, Any]:
    """Return the tables as JSON holds them, all code points in hexadecimal.

    Ranges are ``"300..33F"`` or ``"342"``; mappings go from a code point to a list of code points
    separated by spaces, combining classes from a range to a number.
    """
    classes: dict[str, int] = {}
    for value in sorted(set(rules.combining_classes.values())):
        members = (cp for cp, own in rules.combining_classes.items() if own == value)
        classes.update((range_text(*each), value) for each in CodePoints.of(members).ranges)
    return {
        "name": rules.name,
        "source": rules.source,
        "control": [range_text(*each) for each in rules.control.ranges],
        "whitespace": [range_text(*each) for each in rules.whitespace.ranges],
        "punctuation": [range_text(*each) for each in rules.punctuation.ranges],
        "cjk": [range_text(*each) for each in rules.cjk.ranges],
        "marks": [range_text(*each) for each in rules.marks.ranges],
        "combining_classes": classes,
        "lowercase": {f"{cp:X}": _sequence_text(to) for cp, to in sorted(rules.lowercase.items())},
        "decompositions": {
            f"{cp:X}": _sequence_text(to) for cp, to in sorted(rules.decompositions.items())
        },
    }


def from_json(tables: Mapping[str, Any]) -> RuleSet:
    """Return the rule set that :func:`to_json` wrote."""

    def code_points(key: str) -> CodePoints:
        return CodePoints(tuple(parse_range(text) for text in tables[key]))

    def mapping(key: str) -> dict[int, tuple[int, ...]]:
        return {
            int(cp, 16): tuple(int(to, 16) for to in text.split())
            for cp, text in tables[key].items()
        }

    classes = {}
    for text, value in tables["combining_classes"].items():
        first, last = parse_range(text)
        classes.update(dict.fromkeys(range(first, last + 1), value))
    return RuleSet(
        name=tables["name"],
        source=tables["source"],
        control=code_points("control"),
        whitespace=code_points("whitespace"),
        punctuation=code_points("punctuation"),
        cjk=code_points("cjk"),
        marks=code_points("marks"),
        decompositions=mapping("decompositions"),
        combining_classes=classes,
        lowercase=mapping("lowercase"),
    )


def range_text(first: int, last: int) -> str:
    """Return an inclusive range as the tables spell it."""
    return f"{first:X}" if first == last else f"{first:X}..{last:X}"


def parse_range(text: str) -> tuple[int, int]:
    """Return the inclusive range that :func:`range_text` wrote."""
    first, _, last = text.partition("..")
    return int(first, 16), int(last or first, 16)


def _sequence_text(code_points: Iterable[int]) -> str:
    return " ".join(f"{cp:X}" for cp in code_points)


def _from_unicodedata() -> RuleSet:
    """Build "unicode": categories C*, Mn and P*, NFD and str.lower() of the running Python."""
    chars = list(map(chr, range(N_CODE_POINTS)))
    categories = list(map(unicodedata.category, chars))
    # Nine tenths of all; there is nothing more to know of them.
    rest = {"Cn", "Co", "Cs"}
    assigned = [ch for ch, own in zip(chars, categories, strict=True) if own not in rest]
    classes = {ord(ch): unicodedata.combining(ch) for ch in assigned}
    kinds = list(map(_KIND_OF_CATEGORY.__getitem__, categories))
    for cp in CodePoints(ASCII_PUNCTUATION):
        kinds[cp] = "P"
    for cp in map(ord, "\t\n\r"):
        kinds[cp] = "-"
    text = "".join(kinds)
    return RuleSet(
        name="unicode",
        source=f"unicodedata {unicodedata.unidata_version}",
        control=_spans("C+", text),
        whitespace=CodePoints(WHITE_SPACE),
        punctuation=_spans("P+", text),
        cjk=CodePoints(ORIGINAL_CJK),
        marks=_spans("M+", text),
        decompositions={
            ord(ch): tuple(map(ord, unicodedata.normalize("NFD", ch)))
            for ch in assigned
            if unicodedata.decomposition(ch)[:1] not in ("", "<")  # <compat>: not canonical
        },
        combining_classes={cp: value for cp, value in classes.items() if value},
        lowercase={ord(ch): tuple(map(ord, ch.lower())) for ch in assigned if ch.lower() != ch},
    )


def _spans(pattern: str, kinds: str) -> CodePoints:
    spans = (match.span() for match in re.finditer(pattern, kinds))
    return CodePoints(tuple((start, stop - 1) for start, stop in spans))
