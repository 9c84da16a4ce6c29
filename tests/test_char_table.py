"""The kernel's table refuses character classes that would send the scanner out of bounds."""

import numpy as np
import pytest

from piecework._alphabet import Alphabet
from piecework._char_table import CharTable
from piecework._trie import DoubleTrie
from piecework.rules import rule_set
from piecework.rules.char_classes import KIND_SHIFT, Kind, char_classes

TOKENS = ["[UNK]", "a", "##a"]


def build(entry=None, *, page_index=None, runs=None):
    """Build a table of the default rules, with another class for "a"."""
    flags = dict.fromkeys(
        ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), True
    )
    classes = char_classes(rule_set("huggingface"), **flags)
    pages = np.array(classes.pages)
    if entry is not None:
        pages[classes.page_index[ord("a") // 64], ord("a") % 64] = entry
    alphabet = Alphabet(TOKENS)
    trie = DoubleTrie(TOKENS, [0, 1, 2], "##", 100, alphabet, 0)
    return CharTable(
        classes.page_index if page_index is None else page_index,
        pages,
        classes.runs if runs is None else runs,
        alphabet,
        trie,
        [],
    )


def test_sound_classes():
    assert build() is not None


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (7 << KIND_SHIFT, r"U\+0061 is of kind 7"),
        (15 << KIND_SHIFT, r"U\+0061 is of kind 15"),
        (Kind.EXPAND << KIND_SHIFT | 0x0FFFFFFF, r"U\+0061 has the run 268435455"),
        (Kind.CONTEXT << KIND_SHIFT | 0x00FFFFFF, r"U\+0061 has the run 16777215"),
        (Kind.LETTER << KIND_SHIFT | 0x00110000, r"U\+0061 would become 0x110061"),
    ],
)
def test_a_class_that_there_is_not(entry, said):
    with pytest.raises(ValueError, match=said):
        build(entry)


def test_a_run_that_is_empty():
    with pytest.raises(ValueError, match=r"U\+0061 has the run 0, which is empty"):
        build(Kind.EXPAND << KIND_SHIFT, runs=np.array([0], np.uint32))


def test_a_run_that_ends_behind_the_last():
    with pytest.raises(ValueError, match="the run at 0 ends behind the last one"):
        build(runs=np.array([3, 97], np.uint32))


def test_a_run_of_no_code_point():
    with pytest.raises(ValueError, match=r"runs\[1\] is no code point: 1114112"):
        build(runs=np.array([1, 0x110000], np.uint32))


def test_a_page_that_there_is_not():
    with pytest.raises(ValueError, match=r"page_index\[0\] is 65535"):
        build(page_index=np.full(17408, 65535, np.uint16))


def test_too_few_pages():
    with pytest.raises(ValueError, match="expected 17408 page numbers"):
        build(page_index=np.zeros(100, np.uint16))
