"""Character classes say exactly what the normalizer does, code point by code point.

`Classes` reads them as the kernel does, in a few lines of Python.
"""

import dataclasses
import itertools
from functools import cache

import helpers
import numpy as np
import pytest

from piecework.normalization import Normalizer
from piecework.rules import RULE_SET_NAMES, rule_set
from piecework.rules.char_classes import (
    PAYLOAD_MASK,
    TABLES,
    CharClasses,
    Kind,
    build,
    char_classes,
)
from piecework.rules.rule_set import FROZEN_NAMES

SCALAR_VALUES = [*range(0xD800), *range(0xE000, 0x110000)]
KINDS = list(Kind)
WORD_END = " "  # white space is in no word

UNCASED = dict.fromkeys(helpers.FLAG_NAMES, True)

every_choice = pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
every_rule_set = pytest.mark.parametrize("name", RULE_SET_NAMES)


class Classes(dict[int, str]):
    """The tables, read one code point at a time; as a mapping, fit for str.translate."""

    def __init__(self, classes: CharClasses) -> None:
        super().__init__()
        self.entries = np.asarray(classes.pages)[np.asarray(classes.page_index)].reshape(-1)
        self.runs = classes.runs

    def read(self, cp: int) -> tuple[Kind, str]:
        entry = int(self.entries[cp])
        kind, payload = KINDS[entry >> 28], entry & PAYLOAD_MASK
        if kind is Kind.LETTER or kind is Kind.ISOLATED:
            return kind, chr((cp + payload) & PAYLOAD_MASK)
        if kind is Kind.EXPAND or kind is Kind.CONTEXT:
            start = payload + 1
            return kind, "".join(map(chr, self.runs[start : start + self.runs[payload]]))
        assert payload == 0
        return kind, ""

    def __missing__(self, cp: int) -> str:
        kind, letters = self.read(cp)
        assert WORD_END not in letters
        if kind is Kind.SPACE:
            letters = WORD_END
        elif kind is Kind.ISOLATED:
            letters = WORD_END + letters + WORD_END
        self[cp] = letters
        return letters


def words_by_classes(classes: Classes, text: str) -> list[str]:
    return [word for word in text.translate(classes).split(WORD_END) if word]


def normalizer_and_classes(name, flags):
    return Normalizer(rule_set(name), **flags), Classes(char_classes(name, **flags))


@cache
def telling_code_points(name):
    """Both sides of every border of a set, and every third code point that a mapping names."""
    rules = rule_set(name)
    sets = (rules.control, rules.whitespace, rules.punctuation, rules.cjk, rules.marks)
    ranges = itertools.chain.from_iterable(each.ranges for each in sets)
    borders = {first + step for each in ranges for first in each for step in (-1, 0, 1)}
    mapped = sorted({*rules.decompositions, *rules.combining_classes, *rules.lowercase})[::3]
    hangul = range(0xABFF, 0xD7A5, 397)
    return sorted({*borders, *mapped, *hangul, 0xFFFD}.intersection(SCALAR_VALUES))


# ---- classes against the normalizer ----


@every_choice
@every_rule_set
def test_classes_agree_with_the_normalizer_where_tables_change(name, flags):
    assert_classes_agree(name, flags, telling_code_points(name))


@pytest.mark.exhaustive
@every_rule_set
@every_choice
def test_classes_agree_with_the_normalizer_on_every_code_point(name, flags):
    assert_classes_agree(name, flags, SCALAR_VALUES)


def assert_classes_agree(name, flags, code_points):
    normalizer, classes = normalizer_and_classes(name, flags)
    # Line ends are white space whatever the flags, and nothing changes places across them.
    for start in range(0, len(code_points), 1000):
        chars = list(map(chr, code_points[start : start + 1000]))
        text = "\n".join(f"{ch}\na{ch}b" for ch in chars)
        if words_by_classes(classes, text) != normalizer.basic_tokenize(text):
            for single in itertools.chain.from_iterable((ch, f"a{ch}b") for ch in chars):
                expected = normalizer.basic_tokenize(single)
                assert words_by_classes(classes, single) == expected, ascii(single)
            pytest.fail(f"different only in one text: U+{ord(chars[0]):04X} and on")


@every_rule_set
@every_choice
def test_texts_without_context_are_the_sum_of_their_code_points(name, flags):
    normalizer, classes = normalizer_and_classes(name, flags)
    for text in helpers.random_texts("classes", name, 100):
        kept = "".join(ch for ch in text if classes.read(ord(ch))[0] is not Kind.CONTEXT)
        assert words_by_classes(classes, kept) == normalizer.basic_tokenize(kept), ascii(kept)


@every_rule_set
def test_context_is_what_changes_places(name):
    """Beside a mark of each class that stays, all CONTEXT moves in some pair, and nothing else."""
    normalizer, classes = normalizer_and_classes(name, UNCASED)
    rules = rule_set(name)
    one_of_each = {rules.combining_classes[ord(mark)]: mark for mark in helpers.survivors(name)}
    normal = {cp: normalizer.normalize(chr(cp)) for cp in candidates(rules)}
    moved = set()
    for mark, cp in itertools.product(one_of_each.values(), normal):
        if normalizer.normalize(f"a{mark}{chr(cp)}") != f"a{mark}{normal[cp]}":
            moved |= {ord(mark), cp}
        if normalizer.normalize(f"a{chr(cp)}{mark}") != f"a{normal[cp]}{mark}":
            moved |= {ord(mark), cp}
    assert moved == context_of(classes)


def candidates(rules):
    return {*rules.combining_classes, *rules.decompositions, 0x61, 0x4E00, 0xAC00}


def context_of(classes):
    return set(np.flatnonzero(classes.entries >> 28 == Kind.CONTEXT).tolist())


def test_context_of_tokenizers_0():
    """Facts measured on the library: 83 marks and the 13 composites that bring some in."""
    _, classes = normalizer_and_classes("huggingface", UNCASED)
    composites = [*range(0x1D15E, 0x1D165), *range(0x1D1BB, 0x1D1C1)]
    assert context_of(classes) == {*map(ord, helpers.survivors("huggingface")), *composites}
    assert len(context_of(classes)) == 96


@every_rule_set
@pytest.mark.parametrize("lowercase", [True, False])
def test_nothing_is_context_while_accents_stay(name, lowercase):
    flags = UNCASED | {"strip_accents": False, "lowercase": lowercase}
    _, classes = normalizer_and_classes(name, flags)
    assert Kind.CONTEXT not in {Kind(kind) for kind in np.unique(classes.entries >> 28)}


@pytest.mark.parametrize(
    ("ch", "expected"),
    [
        ("x", (Kind.LETTER, "x")),
        ("É", (Kind.LETTER, "e")),
        ("\u3000", (Kind.SPACE, "")),
        ("$", (Kind.ISOLATED, "$")),
        ("\uf900", (Kind.ISOLATED, "\u8c48")),  # spaced, then decomposed
        ("≠", (Kind.ISOLATED, "=")),
        ("\u0301", (Kind.DROP, "")),
        ("\x0b", (Kind.DROP, "")),
        ("\ufffd", (Kind.DROP, "")),
        ("한", (Kind.EXPAND, "\u1112\u1161\u11ab")),
        ("\u302e", (Kind.CONTEXT, "\u302e")),
        ("\U0001d15e", (Kind.CONTEXT, "\U0001d157\U0001d165")),
    ],
    ids=ascii,
)
def test_classes_of_an_uncased_tokenizer(ch, expected):
    _, classes = normalizer_and_classes("huggingface", UNCASED)
    assert classes.read(ord(ch)) == expected


def test_surrogates_are_classed_as_the_replacement_character():
    for flags in (UNCASED, UNCASED | {"clean_text": False}):
        entries = normalizer_and_classes("huggingface", flags)[1].entries
        replacement = Kind.DROP << 28 if flags["clean_text"] else Kind.LETTER << 28
        assert entries[0xFFFD] == replacement
        assert (entries[0xD800:0xE000] == replacement).all()


def test_lower_case_may_expand():
    _, classes = normalizer_and_classes("huggingface", UNCASED | {"strip_accents": False})
    assert classes.read(ord("İ")) == (Kind.EXPAND, "i\u0307")


# ---- the shipped tables, and their limits ----


@pytest.mark.parametrize("name", FROZEN_NAMES)
def test_shipped_classes_are_those_of_the_tables(name):
    shipped, built = np.load(TABLES / f"{name}.npy"), build(rule_set(name))
    assert shipped.dtype == built.dtype
    assert all(np.array_equal(shipped[field], built[field]) for field in built.dtype.names)


@every_rule_set
def test_arrays_are_as_the_kernel_wants_them(name):
    classes = char_classes(name, **UNCASED)
    page_index, pages, runs = map(np.asarray, (classes.page_index, classes.pages, classes.runs))
    assert (page_index.dtype, page_index.shape) == (np.uint16, (17408,))
    assert (pages.dtype, pages.shape[1]) == (np.uint32, 64)
    assert runs.dtype == np.uint32
    assert all(each.flags.c_contiguous for each in (page_index, pages, runs))
    assert page_index.max() < len(pages)


def test_classes_are_made_once():
    by_name = char_classes("huggingface", **UNCASED)
    assert char_classes(rule_set("huggingface"), **UNCASED) is by_name


@pytest.mark.parametrize("lower", ["x.", "x y", ".."])
def test_an_inexpressible_mixture_is_an_error(lower):
    rules = made_rules(lowercase={ord("Q"): tuple(map(ord, lower))})
    with pytest.raises(ValueError, match=r"U\+0051 between letters gives"):
        char_classes(rules, **UNCASED)


@pytest.mark.parametrize("ch", ["$", "日", "\u3000"])
def test_splitting_characters_that_change_places_are_an_error(ch):
    rules = made_rules(combining_classes={ord(ch): 9})
    with pytest.raises(ValueError, match=rf"U\+{ord(ch):04X} between letters gives"):
        char_classes(rules, **UNCASED | {"clean_text": False})


def made_rules(**tables):
    return dataclasses.replace(rule_set("huggingface"), name="made", **tables)
