"""Character classes: what a normalizer makes of each code point, as flat tables for the kernel.

In goes a rule set with four flags, out comes a :class:`CharClasses`: one 32-bit entry for each
code point, in pages. Every entry is found by running the normalizer itself, so the two can't
disagree. For the frozen rule sets the result under all sixteen choices of flags is shipped as
``tables/<name>.npy`` (``python -m piecework.rules.char_classes`` writes it); for "unicode" it is
computed when it is first asked for. Vocabularies and token ids are not known here.
"""

from __future__ import annotations

import itertools
import re
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Literal

from piecework._numpy import np
from piecework.normalization import REPLACEMENT, Normalizer, survivors
from piecework.rules.rule_set import (
    FIRST_HANGUL,
    FROZEN_NAMES,
    LAST_HANGUL,
    N_CODE_POINTS,
    TABLES,
    RuleSet,
    rule_set,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE_SIZE = 64  # code points
N_PAGE_SLOTS = N_CODE_POINTS // PAGE_SIZE  # 17,408
KIND_SHIFT = 28
PAYLOAD_MASK = (1 << KIND_SHIFT) - 1
FLAG_NAMES = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
SURROGATES = range(0xD800, 0xE000)


class Kind(IntEnum):
    """The upper four bits of an entry: what remains of the code point, and what that does."""

    LETTER = 0  # one letter:                 (code point + payload) modulo 2**28
    EXPAND = 1  # several letters:           runs[payload] is their count, then they follow
    CONTEXT = 2  # letters (as for EXPAND) that may change places with those of neighbours
    DROP = 3  # nothing
    SPACE = 4  # ends a word
    ISOLATED = 5  # one character, a word of its own; payload as for LETTER


# One entry, 32 bits, stands for a code point at pages[page_index[cp >> 6], cp & 63].
#
#   bit 31    28 27                       0
#      |  kind  |         payload         |
#
# A delta instead of the letter itself lets pages in which nothing changes be one shared page.
# Invariants: page_index < n_pages; a run lies within runs; surrogates are classed as U+FFFD.
@dataclass(frozen=True, eq=False)
class CharClasses:
    """The class of every code point, for one rule set and one choice of flags.

    Attributes
    ----------
    page_index : memoryview of uint16, shape (17408,)
        The page of each 64 code points.
    pages : memoryview of uint32, shape (n_pages, 64)
        Entries: ``kind << 28 | payload``, see :class:`Kind`.
    runs : memoryview of uint32, shape (n,)
        A count, then as many letters, over and over.
    """

    page_index: memoryview
    pages: memoryview
    runs: memoryview


def char_classes(
    rules: RuleSet | str,
    *,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: bool,
    lowercase: bool,
) -> CharClasses:
    """Return the character classes of a rule set under these flags.

    Parameters
    ----------
    rules : RuleSet or str
        A rule set or its name; by name, the tables of a frozen one need not be read.
    clean_text, handle_chinese_chars, strip_accents, lowercase : bool
        As for :class:`~piecework.normalization.Normalizer`.

    Raises
    ------
    ValueError
        Where the normalizer makes something of a code point that no class can say.

    Examples
    --------
    >>> flags = dict.fromkeys(("clean_text", "handle_chinese_chars"), True)
    >>> classes = char_classes("huggingface", **flags, strip_accents=True, lowercase=True)
    >>> entry = int(classes.pages[classes.page_index[0xC9 >> 6], 0xC9 & 63])  # É
    >>> Kind(entry >> 28), chr((0xC9 + entry) & 0x0FFFFFFF)
    (<Kind.LETTER: 0>, 'e')
    """
    flags = (clean_text, handle_chinese_chars, strip_accents, lowercase)
    name = rules if isinstance(rules, str) else rules.name
    if name in FROZEN_NAMES:
        return _load(name, flags)
    return _derive(rule_set(rules) if isinstance(rules, str) else rules, flags)


@cache
def _load(name: str, flags: tuple[bool, ...]) -> CharClasses:
    record = _read_record((TABLES / f"{name}.npy").read_bytes())
    variants = record["variants"].cast("B").cast("H")
    pages = variants[all_flags().index(flags) :: len(all_flags())].tolist()
    page_index = array("H", map(pages.__getitem__, record["slot_variant"]))
    return CharClasses(memoryview(page_index), record["pages"], record["runs"])


def _read_record(data: bytes) -> dict[str, memoryview]:
    """Read the file of what :func:`build` returns, as numpy.load does, without numpy."""
    start = 10 + int.from_bytes(data[8:10], "little")
    fields = {}
    for name, size, shape in re.findall(rb"'(\w+)', '<u([24])', \(([\d, ]+)\)", data[:start]):
        dims = [int(length) for length in re.findall(rb"\d+", shape)]
        stop = start + int(size) * prod(dims)
        kind: Literal["H", "I"] = "H" if size == b"2" else "I"
        values = array(kind, data[start:stop])
        if sys.byteorder == "big":
            values.byteswap()
        fields[name.decode()] = memoryview(values).cast("B").cast(kind, dims)
        start = stop
    return fields


@cache
def _derive(rules: RuleSet, flags: tuple[bool, ...]) -> CharClasses:
    runs, pages = _Runs(), _Pages()
    page_index = pages.index(_derive_entries(_normalizer(rules, flags), runs))
    return CharClasses(
        np.array(page_index, np.uint16).data,
        pages.array().data,
        runs.array().data,
    )


class _Runs:
    """The runs of EXPAND and CONTEXT entries, equal ones shared."""

    def __init__(self) -> None:
        self._values: list[int] = []
        self._index: dict[str, int] = {}

    def index(self, letters: str) -> int:
        if letters not in self._index:
            self._index[letters] = len(self._values)
            self._values += [len(letters), *map(ord, letters)]
        return self._index[letters]

    def array(self) -> NDArray[np.uint32]:
        return np.array(self._values, np.uint32)


class _Pages:
    """The distinct pages of one or more entry tables."""

    def __init__(self) -> None:
        self._index: dict[bytes, int] = {}

    def index(self, entries: NDArray[np.uint32]) -> list[int]:
        pages = (page.tobytes() for page in entries.reshape(-1, PAGE_SIZE))
        return [self._index.setdefault(page, len(self._index)) for page in pages]

    def array(self) -> NDArray[np.uint32]:
        return np.frombuffer(b"".join(self._index), np.uint32).reshape(-1, PAGE_SIZE)


def _normalizer(rules: RuleSet, flags: Sequence[bool]) -> Normalizer:
    return Normalizer(rules, **dict(zip(FLAG_NAMES, flags, strict=True)))


def _derive_entries(normalizer: Normalizer, runs: _Runs) -> NDArray[np.uint32]:
    """Run the normalizer over all code points; return their entries, shape (1114112,)."""
    entries = np.empty(N_CODE_POINTS, np.uint32)
    for start, stop in _uniform_segments(normalizer):
        entries[start:stop] = _entry(normalizer, start, runs)
    entries[SURROGATES] = entries[ord(REPLACEMENT)]
    return entries


def _uniform_segments(normalizer: Normalizer) -> Iterator[tuple[int, int]]:
    """Cut all code points into segments [start, stop) that the rules do not tell apart.

    The members of one segment come to the same entry, because payloads are deltas; the 800,000
    unassigned code points, for instance, cost a few hundred evaluations.
    """
    rules = normalizer.rules
    singles = {*rules.decompositions, *rules.combining_classes, *rules.lowercase, ord(REPLACEMENT)}
    if normalizer.strip_accents:
        singles.update(range(FIRST_HANGUL, LAST_HANGUL + 1))
    sets = [rules.control, rules.whitespace, rules.punctuation, rules.cjk, rules.marks]
    ranges = [(cp, cp) for cp in singles] + [each for own in sets for each in own.ranges]
    borders = {0, N_CODE_POINTS}.union(*((first, last + 1) for first, last in ranges))
    return itertools.pairwise(sorted(borders))


def _entry(normalizer: Normalizer, cp: int, runs: _Runs) -> int:
    words = normalizer.basic_tokenize(f"a{chr(cp)}b")
    moves = normalizer.strip_accents and cp in _movable(normalizer.rules)
    match words:
        case ["ab"]:
            return _pack(Kind.DROP, 0)
        case ["a", "b"] if not moves:
            return _pack(Kind.SPACE, 0)
        case ["a", alone, "b"] if len(alone) == 1 and not moves:
            return _pack(Kind.ISOLATED, ord(alone) - cp)
        case [word] if moves:
            return _pack(Kind.CONTEXT, runs.index(word[1:-1]))
        case [word] if len(word) == 3:
            return _pack(Kind.LETTER, ord(word[1]) - cp)
        case [word]:
            return _pack(Kind.EXPAND, runs.index(word[1:-1]))
    raise ValueError(f"no character class says that U+{cp:04X} between letters gives {words}")


@cache
def _movable(rules: RuleSet) -> frozenset[int]:
    """Return the code points that are, or decompose into, marks whose order shows."""
    kept = survivors(rules)
    return frozenset(kept).union(
        cp for cp, parts in rules.decompositions.items() if any(part in kept for part in parts)
    )


def _pack(kind: Kind, payload: int) -> int:
    return kind << KIND_SHIFT | payload & PAYLOAD_MASK


def build(rules: RuleSet) -> NDArray[np.void]:
    """Return what is shipped: one record with the classes under all sixteen choices of flags.

    Its fields are ``pages`` and ``runs`` as in :class:`CharClasses`, shared by all choices;
    ``slot_variant``, the row of ``variants`` for each 64 code points; and ``variants``, the index
    into ``pages`` for each choice, in the order of all_flags(). Few slots differ in how their page
    depends on the flags, so this takes a tenth of sixteen page indexes.
    """
    runs = _Runs()
    pages = _Pages()
    page_indexes = [
        pages.index(_derive_entries(_normalizer(rules, flags), runs)) for flags in all_flags()
    ]
    variants, slot_variant = np.unique(np.array(page_indexes).T, axis=0, return_inverse=True)
    fields = {
        "slot_variant": slot_variant.reshape(-1).astype("<u2"),
        "variants": variants.astype("<u2"),
        "pages": pages.array().astype("<u4"),
        "runs": runs.array().astype("<u4"),
    }
    record = np.zeros((), [(name, field.dtype, field.shape) for name, field in fields.items()])
    for name, field in fields.items():
        record[name] = field
    return record


def all_flags() -> list[tuple[bool, ...]]:
    """Return the sixteen choices of FLAG_NAMES."""
    return list(itertools.product((False, True), repeat=len(FLAG_NAMES)))


def main() -> None:
    """Write ``tables/<name>.npy`` for the frozen rule sets, or for those named as arguments."""
    for name in sys.argv[1:] or FROZEN_NAMES:
        np.save(TABLES / f"{name}.npy", build(rule_set(name)))


if __name__ == "__main__":
    main()
