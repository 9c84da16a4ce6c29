"""Encoding of piecework.compat.tokenizers beside that of tokenizers: each method's answer."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from compat_calls import PANIC, THEIRS, content, outcome, shared

import piecework.compat.tokenizers as ours

INPUTS: list[tuple[Any, ...]] = [
    ("",),
    ("Hello unaffable, World!",),
    ("naïve café 日本 [MASK]",),
    ("hello unaffable", "world a b c"),
    ("", "x"),
    ("x", ""),
    ("", ""),
]

METHODS = """
e.foo
e.words
e[0]
iter(e)
repr(e)
bool(e)
setattr(e, "ids", [1])
e.token_to_sequence("a")
e.token_to_sequence(1.0)
e.token_to_sequence(-1)
e.token_to_sequence(2**64)
e.token_to_chars(-1)
e.token_to_word(-1)
e.char_to_token(-1)
e.char_to_token(0, -1)
e.char_to_word(-1)
e.word_to_tokens(-1)
e.word_to_tokens(2**32)
e.word_to_chars(-1)
e.token_to_chars(token_index=1)
e.token_to_word(token_index=1)
e.token_to_sequence(token_index=1)
e.char_to_token(char_pos=0, sequence_index=1)
e.char_to_word(char_pos=0, sequence_index=1)
e.word_to_tokens(word_index=0, sequence_index=1)
e.word_to_chars(word_index=0, sequence_index=1)
e.set_sequence_id(-1)
e.set_sequence_id("a")
(e.set_sequence_id(1), e)
(e.set_sequence_id(3), e)
(e.set_sequence_id(sequence_id=0), e.token_to_sequence(0), e)
e.pad()
e.pad(-1)
e.pad(3, "left")
e.pad(3, direction="x")
e.pad(3, direction=3)
e.pad(12, pad_token=3)
e.pad(12, pad_id=-1)
e.pad(12, pad_type_id=2**32)
(e.pad(length=3), e)
(e.pad(12), e)
(e.pad(12, direction="left", pad_id=3, pad_type_id=7, pad_token="P"), e)
(e.pad(12, direction="left"), e.pad(15), e)
e.truncate()
e.truncate(-1)
e.truncate(5, -1)
e.truncate(5, 1, "x")
e.truncate(3, 1, direction=4)
(e.truncate(100, 200), e)
(e.truncate(0), e)
(e.truncate(0, 5), e)
(e.truncate(1), e)
(e.truncate(4), e)
(e.truncate(4, 2), e)
(e.truncate(4, stride=3, direction="left"), e)
(e.truncate(max_length=5, stride=1, direction="left"), e)
(e.truncate(4, 1), e.pad(6), e)
(e.truncate(4, 1), e.truncate(2), e)
(e.truncate(4), T.Encoding.merge([e, e]))
(e.truncate(3), e.pad(5, direction="left"), [o.pad(9) for o in e.overflowing], e)
T.Encoding.merge()
T.Encoding.merge("a")
T.Encoding.merge([1])
T.Encoding.merge(iter([e]))
T.Encoding.merge([e], 1)
T.Encoding.merge([])
T.Encoding.merge([e])
T.Encoding.merge((e, e))
T.Encoding.merge([e, T.Encoding(), e], False)
T.Encoding.merge([e, e, e], growing_offsets=True)
T.Encoding()
(T.Encoding(), len(T.Encoding()), bool(T.Encoding()))
T.Encoding.merge([T.Encoding()])
copy.copy(e)
copy.deepcopy(e)
pickle.loads(pickle.dumps(e))
[(c.pad(20), e) for c in [copy.copy(e)]]
(e.ids.append(3), e.tokens.clear(), e.offsets.clear(), e)
e == e
"""


def _encodings(texts: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Yield the encoding of both: a view of a row, the same padded, one changed, one merged."""
    theirs, mine = shared()
    yield theirs.encode(*texts), mine.encode(*texts)
    for each in (theirs, mine):
        each.enable_padding(length=14, direction="left")
    yield theirs.encode(*texts), mine.encode(*texts)
    changed = theirs.encode(*texts), mine.encode(*texts)
    for each in changed:
        each.truncate(6, 1)
        each.pad(8)
    yield changed
    yield tuple(
        module.Encoding.merge([tokenizer.encode(*texts), tokenizer.encode("y z")])
        for module, tokenizer in ((THEIRS, theirs), (ours, mine))
    )


@pytest.mark.parametrize("texts", INPUTS, ids=repr)
def test_lookups_give_what_the_reference_gives(texts: tuple[Any, ...]) -> None:
    for theirs, mine in _encodings(texts):
        assert content(mine) == content(theirs)
        assert mine.sequence_ids == theirs.sequence_ids
        for number in range(26):
            for name in ("token_to_sequence", "token_to_chars", "token_to_word"):
                assert getattr(mine, name)(number) == getattr(theirs, name)(number), name
            for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
                for sequence in range(4):
                    expected = getattr(theirs, name)(number, sequence)
                    assert getattr(mine, name)(number, sequence) == expected, name


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("expression", METHODS.strip().split("\n"))
def test_method_gives_the_value_or_the_error_of_the_reference(expression: str) -> None:
    for texts in INPUTS:
        for (theirs, _), (_, mine) in zip(_encodings(texts), _encodings(texts), strict=True):
            expected = outcome(expression, THEIRS, e=theirs)
            if expected == PANIC:
                expected = "ValueError"
            assert outcome(expression, ours, e=mine) == expected, texts


def test_overflow_of_a_batch_is_what_the_reference_has() -> None:
    theirs, mine = shared()
    batch = ["a b c d e f g h", ("a b c d e f", "1 2 3 4 5 6 7 8"), "a", ("x", "y")]
    for length, stride, padded in product((7, 9), (0, 1), (False, True)):
        for each in (theirs, mine):
            each.enable_truncation(length, stride=stride)
            each.enable_padding(length=12) if padded else each.no_padding()
        assert [*map(content, mine.encode_batch(batch))] == [
            *map(content, theirs.encode_batch(batch))
        ]


def test_words_are_deprecated_as_in_the_reference() -> None:
    theirs, mine = shared()
    for tokenizer in (theirs, mine):
        with pytest.warns(DeprecationWarning, match="word_ids"):
            assert tokenizer.encode("a b").words == [None, 0, 1, None]


def test_an_encoding_of_a_big_batch_pickles_small_and_keeps_its_overflow() -> None:
    _, mine = shared()
    mine.enable_truncation(8)
    encodings = mine.encode_batch(["unaffable text " * 20] * 500)
    pickled = pickle.dumps(encodings[7])
    assert len(pickled) < 20_000
    assert content(pickle.loads(pickled)) == content(encodings[7])
    assert content(copy.deepcopy(encodings[7])) == content(encodings[7])


def test_changing_one_encoding_leaves_the_others_of_its_batch() -> None:
    _, mine = shared()
    first, second = mine.encode_batch(["a b c", "a b c"])
    before = content(second)
    first.pad(9)
    first.truncate(2)
    first.set_sequence_id(5)
    assert content(second) == before
    assert content(first) != before
