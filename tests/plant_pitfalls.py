"""Plant the textbook's ten pitfalls in a copy of the project, and see that a test notices each.

One more, of vector code, shows that its comparison with plain C can fail.

``python tests/plant_pitfalls.py [NAME ...]`` works on a temporary copy: it replaces a few lines,
rebuilds what these lines are compiled or shipped into, and runs the tests that should fail. It ends
with 1 if a pitfall is missed, and with an error if the lines to replace are no longer there.
It needs the ``test`` extra and what compiles the kernels, and takes some minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
COPIED = ("src", "ext", "tests", "setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE")

BUILD_KERNELS = ("setup.py", "-q", "build_ext", "--inplace")
DERIVE_CLASSES = ("-m", "piecework.rules.char_classes", "huggingface")

WALK = "ext/piecework/_walk.pyx"
VECTOR_SSE2 = "ext/piecework/_vector_sse2.h"
VECTOR_NEON = "ext/piecework/_vector_neon.h"
ENCODER = "src/piecework/kernel_encoder.py"
SPECIALS = "src/piecework/special_tokens.py"
NORMALIZATION = "src/piecework/normalization.py"
REFERENCE = "src/piecework/reference.py"
RULES = "src/piecework/rules/rule_set.py"
TOKENIZER = "src/piecework/tokenizer.py"


@dataclass(frozen=True)
class Pitfall:
    """A wrong version of the code.

    Attributes
    ----------
    changes : tuple of (file, old text, new text)
        Each old text stands in its file exactly once.
    rebuild : tuple of str
        Arguments for Python that bring the change to where it takes effect.
    tests : tuple of str
        Of these at least one has to fail; all pass without the change.
    """

    name: str
    mistake: str
    changes: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]
    rebuild: tuple[str, ...] = ()


def seed_test(name: str) -> tuple[str]:
    return (f"tests/test_seeds.py::{name}",)


SPECIFICATION = ("tests/test_reference.py::test_encode_equals_hf",)

PITFALLS = [
    Pitfall(
        "s01",
        "the pieces found before an unmatched position are kept",
        (
            (
                WALK,
                "    lane.ids -= n_pieces(walk.trie, item)\n",
                "",
            ),
        ),
        seed_test("test_whole_word_becomes_unk"),
        BUILD_KERNELS,
    ),
    Pitfall(
        "s01-specification",
        "the same in the specification",
        ((REFERENCE, "            return None\n", '            return [*pieces, "[UNK]"]\n'),),
        SPECIFICATION,
    ),
    Pitfall(
        "s02",
        "the shortest match is taken",
        (
            (
                ENCODER,
                "    unk_id = ids[spec.unk_token]\n",
                """\
    unk_id, n_prefix = ids[spec.unk_token], len(spec.prefix)
    shorter_of = {
        t: [t[:n] for n in range(t.startswith(spec.prefix) * n_prefix + 1, len(t))] for t in ids
    }
    ids = {token: ids[token] for token, shorter in shorter_of.items() if not ids.keys() & shorter}
""",
            ),
        ),
        seed_test("test_greedy_is_longest_first"),
    ),
    Pitfall(
        "s02-specification",
        "the same in the specification",
        (
            (REFERENCE, "        stop = len(word)\n", "        stop = start + 1\n"),
            (REFERENCE, "while stop > start and", "while stop <= len(word) and"),
            (REFERENCE, "            stop -= 1\n", "            stop += 1\n"),
            (REFERENCE, "        if stop == start:\n", "        if stop > len(word):\n"),
        ),
        SPECIFICATION,
    ),
    Pitfall(
        "s03",
        "## pieces are tried at the start of a word",
        (
            (
                ENCODER,
                "    unk_id = ids[spec.unk_token]\n",
                """\
    unk_id = ids[spec.unk_token]
    ids = {**{token.removeprefix(spec.prefix): id_ for token, id_ in ids.items()}, **ids}
""",
            ),
        ),
        seed_test("test_continuation_needs_prefix"),
    ),
    Pitfall(
        "s04",
        "a word of exactly the limit is refused",
        (
            (
                ENCODER,
                "return min(spec.max_input_chars_per_word, NO_LIMIT)",
                "return min(spec.max_input_chars_per_word - 1, NO_LIMIT)",
            ),
        ),
        seed_test("test_max_input_chars_per_word"),
    ),
    Pitfall(
        "s04-specification",
        "the same in the specification",
        ((REFERENCE, "if len(word) <= max_chars else", "if len(word) < max_chars else"),),
        ("tests/test_reference.py::test_encode_equals_hf_with_another_prefix_and_limit",),
    ),
    Pitfall(
        "s05",
        "white space is looked at before controls",
        (
            (
                NORMALIZATION,
                """\
        if ch == REPLACEMENT or self.rules.is_control(ord(ch)):
            return ""
        return " " if self.rules.is_whitespace(ord(ch)) else ch
""",
                """\
        if self.rules.is_whitespace(ord(ch)):
            return " "
        return "" if ch == REPLACEMENT or self.rules.is_control(ord(ch)) else ch
""",
            ),
        ),
        seed_test("test_clean_text_rules_drop"),
        DERIVE_CLASSES,
    ),
    Pitfall(
        "s05-specification",
        "the same in the specification",
        (
            (
                REFERENCE,
                "rules.is_control(ord(ch)):",
                "rules.is_control(ord(ch)) and not rules.is_whitespace(ord(ch)):",
            ),
        ),
        SPECIFICATION,
    ),
    Pitfall(
        "s06",
        "accents go only where strip_accents is True",
        (
            (
                "src/piecework/spec.py",
                "return self.lowercase if self.strip_accents is None else self.strip_accents",
                "return bool(self.strip_accents)",
            ),
        ),
        seed_test("test_strip_accents_follows_lowercase"),
    ),
    Pitfall(
        "s06-specification",
        "the same in the specification",
        (
            (
                REFERENCE,
                "if lowercase if strip_accents is None else strip_accents:",
                "if strip_accents:",
            ),
        ),
        ("tests/test_reference.py::test_examples_in_the_docstrings_run",),
    ),
    Pitfall(
        "s07",
        "marks of every category go",
        (
            (
                RULES,
                '        marks=code_points("marks"),\n',
                """\
        marks=CodePoints.of(
            cp for cp in range(N_CODE_POINTS) if unicodedata.category(chr(cp))[0] == "M"
        ),
""",
            ),
        ),
        seed_test("test_only_nonspacing_marks_are_stripped"),
        DERIVE_CLASSES,
    ),
    Pitfall(
        "s07-specification",
        "the same in the specification",
        (
            (
                REFERENCE,
                "for ch in text if not rules.is_mark(ord(ch)))",
                'for ch in text if __import__("unicodedata").category(ch)[0] != "M")',
            ),
        ),
        SPECIFICATION,
    ),
    Pitfall(
        "s08",
        "ASCII symbols are no punctuation",
        (
            (
                RULES,
                '        punctuation=code_points("punctuation"),\n',
                """\
        punctuation=CodePoints.of(
            cp for cp in range(N_CODE_POINTS) if unicodedata.category(chr(cp))[0] == "P"
        ),
""",
            ),
        ),
        seed_test("test_punctuation_is_split"),
        DERIVE_CLASSES,
    ),
    Pitfall(
        "s08-specification",
        "the same in the specification",
        (
            (
                REFERENCE,
                "elif rules.is_punctuation(ord(ch)):",
                'elif __import__("unicodedata").category(ch)[0] == "P":',
            ),
        ),
        SPECIFICATION,
    ),
    Pitfall(
        "s09",
        "the whole text is lower-cased at once: normalize()",
        (
            (
                NORMALIZATION,
                "        return text.translate(self.after_order)\n",
                "        return text.lower().translate(self.after_order)\n",
            ),
        ),
        seed_test("test_lowercase_per_code_point"),
    ),
    Pitfall(
        "s09-encode",
        "the whole text is lower-cased at once: encode()",
        (
            (
                TOKENIZER,
                "return encoder.encode(text, *around)",
                "return encoder.encode(text.lower(), *around)",
            ),
        ),
        seed_test("test_lowercase_per_code_point"),
    ),
    Pitfall(
        "s09-specification",
        "the same in the specification",
        (
            (
                REFERENCE,
                "return lower(text, rules) if lowercase else text",
                "return text.lower() if lowercase else text",
            ),
        ),
        SPECIFICATION,
    ),
    Pitfall(
        "s10",
        "special tokens are looked for in any case",
        (
            (
                ENCODER,
                "    alphabet = Alphabet(list(plan.by_start))\n",
                """\
    forms = {form: id_ for t, id_ in plan.by_start.items() for form in (t, t.lower())}
    alphabet = Alphabet(list(forms))
""",
            ),
            (
                ENCODER,
                "for id_ in plan.by_start.values()]",
                "for id_ in forms.values()]",
            ),
            (
                ENCODER,
                "return DoubleTrie(list(plan.by_start), ids, None,",
                "return DoubleTrie(list(forms), ids, None,",
            ),
            (
                SPECIALS,
                "for last, n_chars in self._automaton.iter(text):",
                "for last, n_chars in self._automaton.iter(text.upper()):",
            ),
            (
                SPECIALS,
                "self.contents[text[start:stop]]",
                "self.contents[text[start:stop].upper()]",
            ),
        ),
        seed_test("test_specials_match_as_written"),
    ),
    Pitfall(
        "s10-normalized",
        "special tokens are looked for in cleaned text",
        (
            (
                TOKENIZER,
                "return encoder.encode(text, *around)",
                'return encoder.encode(text.replace("\\u200b", ""), *around)',
            ),
        ),
        seed_test("test_specials_match_as_written"),
    ),
    Pitfall(
        "s10-specification",
        "the same in the specification",
        (
            (
                REFERENCE,
                "in split_special(join_surrogates(text, clean_text=clean_text), specials):",
                "in split_special(clean(text, rules) if clean_text else text, specials):",
            ),
        ),
        SPECIFICATION,
    ),
    Pitfall(
        "vector",
        "Z is no capital to vector code",
        (
            (VECTOR_SSE2, "pw_in_range_sse2(v, 'A', 26)", "pw_in_range_sse2(v, 'A', 25)"),
            (VECTOR_NEON, "pw_in_range_neon(v, 'A', 26)", "pw_in_range_neon(v, 'A', 25)"),
        ),
        ("tests/test_vector.py::test_vector_code_gives_what_plain_c_gives[vector]",),
    ),
]


def main() -> int:
    wanted = set(sys.argv[1:])
    chosen = [pitfall for pitfall in PITFALLS if not wanted or pitfall.name in wanted]
    if unknown := wanted - {pitfall.name for pitfall in PITFALLS}:
        raise SystemExit(f"no pitfall {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        sound = Path(folder) / "sound"
        sound.mkdir()
        copy_project(PROJECT, sound)
        run(sound, *BUILD_KERNELS)
        tests = sorted({test for pitfall in chosen for test in pitfall.tests})
        if failed(sound, tests):
            raise SystemExit("tests fail without any pitfall planted")
        missed = [pitfall for pitfall in chosen if not is_caught(pitfall, sound, Path(folder))]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} pitfalls caught")
    return bool(missed)


def is_caught(pitfall: Pitfall, sound: Path, folder: Path) -> bool:
    planted = folder / pitfall.name
    copy_project(sound, planted)
    for file, old, new in pitfall.changes:
        replace(planted / file, old, new)
    if pitfall.rebuild:
        run(planted, *pitfall.rebuild)
    caught = failed(planted, pitfall.tests)
    print(f"{pitfall.name:18} {'caught' if caught else 'MISSED'}  {pitfall.mistake}", flush=True)
    shutil.rmtree(planted)
    return caught


def copy_project(source: Path, target: Path) -> None:
    for name in COPIED:
        if (source / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source / name, target / name, ignore=ignored)  # keeps the times
        elif (source / name).exists():
            shutil.copy2(source / name, target / name)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{path.name}: expected once, found {text.count(old)} times:\n{old}")
    path.write_text(text.replace(old, new), "utf-8")


def failed(checkout: Path, tests: list[str] | tuple[str, ...]) -> bool:
    """Run tests; say whether an assertion failed. A change that only crashes is an error."""
    options = ("-q", "--tb=line", "-p", "no:cacheprovider")
    result = run(checkout, "-m", "pytest", *options, *tests, accept=(0, 1))
    output = result.stdout
    causes = re.findall(r"^.+\.py:\d+: (.*)$", output, re.MULTILINE)
    asserted = bool(causes) and all(cause.startswith(("assert ", "Assertion")) for cause in causes)
    if result.returncode and (not asserted or "\nERROR " in output):
        raise SystemExit(output)
    return asserted


def run(
    checkout: Path, *args: str, accept: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(checkout / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, *args], cwd=checkout, env=env, capture_output=True, text=True, check=False
    )
    if result.returncode not in accept:
        raise SystemExit(f"{' '.join(args)}:\n{result.stdout}{result.stderr}")
    return result


if __name__ == "__main__":
    sys.exit(main())
