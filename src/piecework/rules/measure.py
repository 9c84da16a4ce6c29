"""Measure a frozen rule set: probe the installed ``tokenizers`` with every scalar value.

``python -m piecework.rules.measure`` writes ``tables/<name>.json``: "huggingface" where tokenizers
0.x is installed, "huggingface-1" for 1.x. Then run ``python -m piecework.rules.char_classes``. All
is measured through encoding, the one thing that both lines have in Python. That nothing besides
these tables matters is what the exhaustive tests show, not this script.

The probes use a vocabulary that holds every scalar value and its ``##`` form, so that the ids of a
text say what normalization made of it, and where it was split. U+0000 is left out, because
tokenizers 1.0.0rc3 refuses it in a vocabulary: a word that keeps it at its end is [UNK].
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers

from piecework.rules.rule_set import (
    FIRST_HANGUL,
    LAST_HANGUL,
    N_CODE_POINTS,
    TABLES,
    CodePoints,
    RuleSet,
    to_json,
)

SCALAR_VALUES = [cp for cp in range(N_CODE_POINTS) if not 0xD800 <= cp < 0xE000]
BATCH_SIZE = 20_000  # texts; bounds the memory that their encodings take

UNK, PREFIX = "[UNK]", "##"
BERT_FLAGS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")

# Two marks that show any nonzero class: one of the lowest class and one of a high class.
CLASS_1, CLASS_230 = "\u0334", "\u0300"


class Probe:
    """A tokenizer whose ids can be turned back into the words that its model got.

    Parameters
    ----------
    normalizer, pre_tokenizer : mapping or None
        As in a tokenizer.json.
    """

    def __init__(
        self, normalizer: Mapping[str, Any] | None, pre_tokenizer: Mapping[str, Any] | None = None
    ) -> None:
        chars = [chr(cp) for cp in SCALAR_VALUES if cp]
        self._tokens = [UNK, *chars, *(PREFIX + ch for ch in chars)]
        self._tokenizer = _load(normalizer, pre_tokenizer, self._tokens)

    def words(self, texts: Iterable[str]) -> list[list[str]]:
        """Return the words of each text."""
        texts = list(texts)
        # 0.x spends most of its time on offsets, unless it is told to be fast.
        encode = getattr(self._tokenizer, "encode_batch_fast", self._tokenizer.encode_batch)
        words = []
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            encodings = encode(batch, add_special_tokens=False)
            for text, encoding in zip(batch, encodings, strict=True):
                words.append(self._join(encoding.ids, text))
        return words

    def after_letter(self, code_points: Sequence[int]) -> dict[int, str]:
        """Return what becomes of each code point behind a letter, where nothing splits words."""
        words = self.words(f"a{chr(cp)}" for cp in code_points)
        return {cp: word[1:] for cp, (word,) in zip(code_points, words, strict=True)}

    def _join(self, ids: list[int], text: str) -> list[str]:
        words: list[str] = []
        for token_id in ids:
            token = self._tokens[token_id]
            if token == UNK:
                if "\0" not in text:
                    raise RuntimeError(
                        f"{text!r} gave [UNK], though all of it is in the vocabulary"
                    )
                words.append(text)
            elif len(token) > 1:
                words[-1] += token[len(PREFIX) :]
            else:
                words.append(token)
        return words


def _load(
    normalizer: Mapping[str, Any] | None,
    pre_tokenizer: Mapping[str, Any] | None,
    tokens: list[str],
) -> Any:
    model = {
        "type": "WordPiece",
        "unk_token": UNK,
        "continuing_subword_prefix": PREFIX,
        "max_input_chars_per_word": 1_000_000,
        "vocab": {token: token_id for token_id, token in enumerate(tokens)},
    }
    parts = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "model": model}
    rest = {"truncation": None, "padding": None, "post_processor": None, "decoder": None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_text(json.dumps({"version": "1.0", "added_tokens": [], **parts, **rest}))
        return tokenizers.Tokenizer.from_file(str(path))


def _bert_normalizer(flag: str) -> dict[str, Any]:
    return {"type": "BertNormalizer", **{name: name == flag for name in BERT_FLAGS}}


def measure(name: str, source: str) -> RuleSet:
    """Probe the installed library and return what was found.

    Raises
    ------
    RuntimeError
        Where the library does something that a :class:`RuleSet` can't say.
    """
    control, cleaned_to_space = _measure_cleaning()
    whitespace, punctuation = _measure_splitting()
    if set(cleaned_to_space) != set(whitespace) - set(control):
        raise RuntimeError("cleaning and pre-tokenizer take different characters for white space")
    decompositions, combining_classes = _measure_nfd()
    return RuleSet(
        name=name,
        source=source,
        control=control,
        whitespace=whitespace,
        punctuation=punctuation,
        cjk=_measure_cjk(),
        marks=_measure_marks(decompositions),
        decompositions=decompositions,
        combining_classes=combining_classes,
        lowercase=_measure_lowercase(),
    )


def _measure_cleaning() -> tuple[CodePoints, CodePoints]:
    results = Probe(_bert_normalizer("clean_text")).after_letter(SCALAR_VALUES)
    dropped = {cp for cp, result in results.items() if not result}
    spaces = {cp for cp, result in results.items() if result == " "}
    _require_unchanged(results, dropped | spaces)
    return CodePoints.of(dropped - {0xFFFD}), CodePoints.of(spaces)


def _measure_cjk() -> CodePoints:
    results = Probe(_bert_normalizer("handle_chinese_chars")).after_letter(SCALAR_VALUES)
    spaced = {cp for cp, result in results.items() if result == f" {chr(cp)} "}
    _require_unchanged(results, spaced)
    return CodePoints.of(spaced)


def _measure_lowercase() -> dict[int, tuple[int, ...]]:
    results = Probe(_bert_normalizer("lowercase")).after_letter(SCALAR_VALUES)
    return {cp: tuple(map(ord, lower)) for cp, lower in results.items() if lower != chr(cp)}


def _measure_marks(decompositions: Mapping[int, tuple[int, ...]]) -> CodePoints:
    composed = {*decompositions, *range(FIRST_HANGUL, LAST_HANGUL + 1)}
    whole = [cp for cp in SCALAR_VALUES if cp not in composed]
    results = Probe(_bert_normalizer("strip_accents")).after_letter(whole)
    marks = {cp for cp, result in results.items() if not result}
    _require_unchanged(results, marks)
    return CodePoints.of(marks)


def _measure_splitting() -> tuple[CodePoints, CodePoints]:
    probe = Probe(None, {"type": "BertPreTokenizer"})
    words_of = dict(
        zip(SCALAR_VALUES, probe.words(f"a{chr(cp)}b" for cp in SCALAR_VALUES), strict=True)
    )
    whitespace = {cp for cp, words in words_of.items() if words == ["a", "b"]}
    punctuation = {cp for cp, words in words_of.items() if words == ["a", chr(cp), "b"]}
    results = {cp: words[0][1:-1] for cp, words in words_of.items() if len(words) == 1}
    _require_unchanged(
        results, {0}
    )  # 1.0.0rc3 skips U+0000 inside a word when it looks the word up
    if len(results) + len(whitespace) + len(punctuation) != len(SCALAR_VALUES):
        raise RuntimeError("the pre-tokenizer splits some character in an unknown way")
    return CodePoints.of(whitespace), CodePoints.of(punctuation)


def _measure_nfd() -> tuple[dict[int, tuple[int, ...]], dict[int, int]]:
    probe = Probe({"type": "NFD"})
    results = probe.after_letter(SCALAR_VALUES)
    decompositions = {
        cp: tuple(map(ord, result))
        for cp, result in results.items()
        if result != chr(cp) and not FIRST_HANGUL <= cp <= LAST_HANGUL
    }
    for cp in range(FIRST_HANGUL, LAST_HANGUL + 1):
        # These never change, so any Python's own arithmetic will do.
        if results[cp] != unicodedata.normalize("NFD", chr(cp)):
            raise RuntimeError(f"U+{cp:04X} decomposes to {results[cp]!r}")
    whole = [cp for cp, result in results.items() if result == chr(cp)]
    return decompositions, _measure_classes(probe, whole)


def _measure_classes(probe: Probe, whole: list[int]) -> dict[int, int]:
    lower = _moves(probe, [(CLASS_230, chr(cp)) for cp in whole])
    higher = _moves(probe, [(chr(cp), CLASS_1) for cp in whole])
    ordered = [cp for cp, *moved in zip(whole, lower, higher, strict=True) if any(moved)]
    references = _reference_marks(ordered)
    classes = {}
    for cp in ordered:
        after = _moves(probe, [(reference, chr(cp)) for reference in references.values()])
        before = _moves(probe, [(chr(cp), reference) for reference in references.values()])
        same = [
            value for value, *moved in zip(references, after, before, strict=True) if not any(moved)
        ]
        if len(same) != 1:
            raise RuntimeError(f"U+{cp:04X} is ordered like the classes {same}")
        classes[cp] = same[0]
    return classes


def _moves(probe: Probe, pairs: list[tuple[str, str]]) -> list[bool]:
    words = probe.words(f"a{first}{second}" for first, second in pairs)
    return [
        first != second and word == [f"a{second}{first}"]
        for (first, second), word in zip(pairs, words, strict=True)
    ]


def _reference_marks(ordered: list[int]) -> dict[int, str]:
    """Return one mark for each class, by the running Python: an assigned class never changes."""
    references: dict[int, str] = {}
    for cp in ordered:
        value = unicodedata.combining(chr(cp))
        if value:
            references.setdefault(value, chr(cp))
    return references


def _require_unchanged(results: Mapping[int, str], but: Iterable[int]) -> None:
    changed = {cp for cp, result in results.items() if result != chr(cp)}.difference(but)
    if changed:
        cp = min(changed)
        raise RuntimeError(f"U+{cp:04X}, and {len(changed) - 1} more, gave {results[cp]!r}")


def _library_hash() -> str:
    package = Path(tokenizers.__file__).parent
    (library,) = (path for path in package.iterdir() if path.suffix in {".so", ".pyd"})
    return hashlib.sha256(library.read_bytes()).hexdigest()


def main() -> None:
    """Write the table of the installed version."""
    version = importlib.metadata.version("tokenizers")
    name = "huggingface" if version.startswith("0.") else "huggingface-1"
    head = {
        "about": "Written by python -m piecework.rules.measure, not by hand",
        "library_sha256": _library_hash(),
    }
    tables = to_json(measure(name, f"tokenizers {version}"))
    path = TABLES / f"{name}.json"
    path.write_text(json.dumps({**head, **tables}, indent=1) + "\n", "utf-8")
    print(f"{path}: {tables['source']}")


if __name__ == "__main__":
    main()
