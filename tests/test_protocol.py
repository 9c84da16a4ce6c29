"""The protocol, and the check of ids that all tokenizers share."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import piecework
from piecework.protocol import Tokenizer, check_ids


@pytest.mark.parametrize(
    "ids",
    [
        [],
        (),
        [0],
        [5, 14, 0],
        (5, 14),
        range(3, 15),
        range(0),
        [np.int32(3), 14, np.uint8(0)],
        np.array([5, 14], dtype=np.int64),
        np.array([5, 14], dtype=np.uint16),
        np.array([5, 14], dtype=object),
        np.array([]),
        np.arange(14)[::2],
        array.array("i", [5, 14]),
    ],
    ids=repr,
)
def test_check_ids_takes_integers_in_range(ids: Any) -> None:
    assert check_ids(ids, 15) is None


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([5, 15, 16], "position 1: expected an id from 0 to 14, got 15"),
        ([5, -1], "position 1: expected an id from 0 to 14, got -1"),
        ((2**40,), "position 0: expected an id from 0 to 14, got 1099511627776"),
        (range(10, 20), "position 5: expected an id from 0 to 14, got 15"),
        (np.array([0, 1, 99]), "position 2: expected an id from 0 to 14, got 99"),
        (np.array([-1], dtype=np.int8), "position 0: expected an id from 0 to 14, got -1"),
        ([3, np.int32(15)], "position 1: expected an id from 0 to 14, got 15"),
        ([15, "a"], "position 0: expected an id from 0 to 14, got 15"),
    ],
    ids=repr,
)
def test_check_ids_names_the_first_bad_id_and_its_position(ids: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_ids(ids, 15)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0, 1.0], r"position 1: expected an integer id, got 1\.0 of type float"),
        ([0, True], "position 1: expected an integer id, got True of type bool"),
        ([np.True_], "position 0: expected an integer id, got .* of type bool"),
        ([None], "position 0: expected an integer id, got None of type NoneType"),
        (["5"], "position 0: expected an integer id, got '5' of type str"),
        ([[5]], r"position 0: expected an integer id, got \[5\] of type list"),
        ([np.array([5, 6])], "position 0: expected an integer id, got .* of type ndarray"),
        ([1.5, 99], r"position 0: expected an integer id, got 1\.5"),
        (np.array([1.0]), "expected integer ids, got an array of float64"),
        (np.array([True]), "expected integer ids, got an array of bool"),
        (np.array([[1]]), r"expected ids in one dimension, got shape \(1, 1\)"),
        (np.array(1), r"expected ids in one dimension, got shape \(\)"),
        (5, "expected a sequence of ids, got int"),
        ("5", "expected a sequence of ids, got str"),
        (b"5", "expected a sequence of ids, got bytes"),
        (None, "expected a sequence of ids, got NoneType"),
        ({5}, "expected a sequence of ids, got set"),
        (iter([5]), "expected a sequence of ids, got list_iterator"),
    ],
    ids=repr,
)
def test_check_ids_refuses_what_is_no_integer(ids: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}"):
        check_ids(ids, 15)


def test_check_ids_names_the_row_it_is_told() -> None:
    with pytest.raises(ValueError, match=r"^row 3, position 1: expected an id from 0 to 14"):
        check_ids([0, 15], 15, row=3)
    with pytest.raises(TypeError, match=r"^row 3: expected a sequence of ids, got int"):
        check_ids(5, 15, row=3)


def test_no_id_is_in_an_empty_range() -> None:
    check_ids([], 0)
    message = "^position 0: expected no ids, as vocab_size is 0, got 0$"
    with pytest.raises(ValueError, match=message):
        check_ids([0], 0)


@pytest.mark.parametrize("vocab_size", [3.5, 3.0, "3", None, True, np.True_, np.float32(3)])
def test_vocab_size_that_is_no_integer_is_refused(vocab_size: Any) -> None:
    message = f"^vocab_size must be an integer, not .* of type {type(vocab_size).__name__}$"
    with pytest.raises(TypeError, match=message):
        check_ids([2], vocab_size)


def test_vocab_size_that_is_negative_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^vocab_size must be at least 0, not -1$"):
        check_ids([], -1)


@pytest.mark.parametrize("vocab_size", [np.int64(3), np.uint8(3)])
def test_vocab_size_can_be_an_integer_of_numpy(vocab_size: Any) -> None:
    assert check_ids([2], vocab_size) is None
    with pytest.raises(ValueError, match="expected an id from 0 to 2, got 3"):
        check_ids([3], vocab_size)


def test_the_tokenizer_follows_the_protocol() -> None:
    tokenizer = piecework.WordPieceTokenizer({"[UNK]": 0, "a": 1})
    assert isinstance(tokenizer, Tokenizer)
    assert piecework.Tokenizer is Tokenizer
    assert piecework.check_ids is check_ids


def test_half_a_tokenizer_does_not_follow_the_protocol() -> None:
    class Encoder:
        vocab_size = 3

        def encode(self, text: str, add_special: bool = False) -> list[int]:
            return [0]

    assert not isinstance(Encoder(), Tokenizer)
