"""Decoding, against the cases measured on the incumbent and the incumbent itself."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from typing import Any

import helpers
import numpy as np
import pytest
from tokenizers import Tokenizer

from piecework.batch import Batch
from piecework.decoding import Decoder

FACTS = helpers.DATA.parent / "facts" / "q7_decode.json"


def wordpiece(prefix: str = "##", cleanup: bool = True) -> dict[str, Any]:
    return {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup}


def decoder_of(tokens: list[str], decoder: Mapping[str, Any] | None, **options: Any) -> Decoder:
    special = options.get("special", ())
    return Decoder(dict(enumerate(tokens)), len(tokens), special, decoder)


def measured_cases() -> list[Any]:
    if not FACTS.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"no {FACTS}"))]
    return [case for case in json.loads(FACTS.read_text("utf-8")) if "tokens" in case]


@pytest.mark.parametrize("case", measured_cases(), ids=lambda case: case and str(case["tokens"]))
def test_decode_gives_what_was_measured(case: dict[str, Any]) -> None:
    tokens = case["tokens"]
    decoder = decoder_of(
        tokens,
        wordpiece(case.get("prefix", "##"), case.get("cleanup", True)),
        special=[token for token in tokens if token in helpers.SPECIALS],
    )
    ids = range(len(tokens))
    if "out" in case:
        assert decoder.decode(ids) == case["out"]["ok"]
    else:
        assert decoder.decode(ids) == case["noskip"]
        assert decoder.decode(ids, skip_special=True) == case["skip"]


@pytest.mark.parametrize("cleanup", [True, False])
@pytest.mark.parametrize("prefix", ["##", "@@", "#", "", "a"])
def test_decode_equals_the_incumbent(
    prefix: str, cleanup: bool, hf_tokenizer: Callable[..., Tokenizer], tmp_path: Any
) -> None:
    tokens = list(dict.fromkeys(["[UNK]", *helpers.DECODED_TOKENS]))
    rng = random.Random(f"{prefix}{cleanup}")
    tokens += list(
        dict.fromkeys(
            token
            for _ in range(300)
            if (token := "".join(rng.choices(" .?!,'nmtsdovre#@日", k=rng.randint(1, 6))))
            not in tokens
        )
    )
    hf = with_decoder(hf_tokenizer(to_ids(tokens)), wordpiece(prefix, cleanup), tmp_path)
    decoder = decoder_of(tokens, wordpiece(prefix, cleanup), special=helpers.SPECIALS)
    rows = [rng.choices(range(len(tokens)), k=rng.randint(0, 12)) for _ in range(3000)]
    for skip_special in (False, True):
        theirs = [hf.decode(row, skip_special_tokens=skip_special) for row in rows]
        assert decoder.decode_batch(rows, skip_special) == theirs
        assert [decoder.decode(row, skip_special) for row in rows] == theirs


def test_without_a_decoder_tokens_are_joined_with_spaces(
    hf_tokenizer: Callable[..., Tokenizer], tmp_path: Any
) -> None:
    tokens = ["[UNK]", "[CLS]", "hello", "##ing", ".", "", " n't"]
    hf = with_decoder(hf_tokenizer(to_ids(tokens)), None, tmp_path)
    decoder = decoder_of(tokens, None, special=helpers.SPECIALS)
    rng = random.Random(1)
    for _ in range(500):
        row = rng.choices(range(len(tokens)), k=rng.randint(0, 6))
        for skip in (False, True):
            assert decoder.decode(row, skip) == hf.decode(row, skip_special_tokens=skip)


def to_ids(tokens: list[str]) -> dict[str, int]:
    return {token: i for i, token in enumerate(tokens)}


def with_decoder(hf: Tokenizer, decoder: Mapping[str, Any] | None, tmp_path: Any) -> Tokenizer:
    path = tmp_path / "tokenizer.json"
    hf.save(str(path))
    document = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**document, "decoder": decoder}), "utf-8")
    return Tokenizer.from_file(str(path))


def test_ids_without_a_token_are_left_out_as_the_incumbent_does(
    hf_tokenizer: Callable[..., Tokenizer],
) -> None:
    vocab = {"[UNK]": 0, "a": 2, "##b": 5, "c": 6}
    hf = hf_tokenizer(vocab)
    decoder = Decoder({id_: token for token, id_ in vocab.items()}, 7, ("[UNK]",), wordpiece())
    rows = [[2, 5], [2, 3, 5], [1, 5, 2], [1], [3, 4], [0, 1, 5], [6, 1, 5, 1], []]
    for skip in (False, True):
        theirs = [hf.decode(row, skip_special_tokens=skip) for row in rows]
        assert decoder.decode_batch(rows, skip) == theirs


def test_a_leading_continuation_keeps_its_prefix_also_after_skipping() -> None:
    decoder = decoder_of(["[CLS]", "##ing", "x"], wordpiece(), special=["[CLS]"])
    assert decoder.decode([0, 1, 2]) == "[CLS]ing x"
    assert decoder.decode([0, 1, 2], skip_special=True) == "##ing x"


@pytest.mark.parametrize(
    "ids",
    [
        [0, 1, 2],
        (0, 1, 2),
        range(3),
        np.arange(3),
        np.arange(3, dtype=np.uint8),
        [np.int64(0), 1, np.int32(2)],
    ],
    ids=repr,
)
def test_decode_takes_ids_in_any_form(ids: Any) -> None:
    assert decoder_of(["a", "##b", "c"], wordpiece()).decode(ids) == "ab c"


def test_decode_checks_ids_also_behind_a_cached_one() -> None:
    decoder = decoder_of(["a", "b"], wordpiece())
    assert decoder.decode([0, 1, 1]) == "a b b"
    with pytest.raises(ValueError, match="position 2: expected an id from 0 to 1, got 2"):
        decoder.decode([0, 1, 2])
    for bad in (1.0, True):
        with pytest.raises(TypeError, match="position 2: expected an integer id"):
            decoder.decode([0, 1, bad])


@pytest.mark.parametrize(
    "rows",
    [
        Batch(np.array([0, 1], np.int32), np.array([0, 2], np.int64)),
        Batch(np.array([0, 1], np.int32), np.array([0, 2], np.int64)).to_padded(),
        np.array([[0, 1]]),
        [[0, 1], [0]],
        [np.array([0, 1])],
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_decode_of_many_rows_names_decode_batch(rows: Any) -> None:
    with pytest.raises(TypeError, match=r"expected .*; decode_batch takes many rows$"):
        decoder_of(["a", "b"], wordpiece()).decode(rows)


@pytest.mark.parametrize("ids", ["ab", 7, None, ["a"], [1.0], np.array([1.0]), [0, [1]]], ids=repr)
def test_decode_of_no_rows_does_not_name_decode_batch(ids: Any) -> None:
    with pytest.raises(TypeError, match=r"^(?!.*decode_batch).*expected .*"):
        decoder_of(["a", "b"], wordpiece()).decode(ids)


ROWS = [[0, 1, 2], [], [2], [1, 1]]
TEXTS = ["ab c", "", "c", "##bb"]


@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        map(np.array, ROWS),
        Batch(np.array([0, 1, 2, 2, 1, 1], np.int32), np.array([0, 3, 3, 4, 6], np.int64)),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_decode_batch_takes_rows_in_any_form(rows: Any) -> None:
    assert decoder_of(["a", "##b", "c"], wordpiece()).decode_batch(rows) == TEXTS


def test_decode_batch_takes_a_matrix() -> None:
    decoder = decoder_of(["a", "##b", "[PAD]"], wordpiece(), special=["[PAD]"])
    assert decoder.decode_batch(np.array([[0, 1], [0, 2]]), skip_special=True) == ["ab", "a"]


def test_decode_batch_of_nothing_is_nothing() -> None:
    decoder = decoder_of(["a"], wordpiece())
    empty = Batch(np.empty(0, np.int32), np.zeros(1, np.int64))
    assert decoder.decode_batch([]) == decoder.decode_batch(empty) == []


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([[0], [0, 3]], ValueError, "row 1, position 1: expected an id from 0 to 2, got 3"),
        (
            Batch(np.array([0, 0, -1], np.int32), np.array([0, 1, 3], np.int64)),
            ValueError,
            "row 1, position 1: expected an id from 0 to 2, got -1",
        ),
        (np.array([[0, 1], [2, 3]]), ValueError, "row 1, position 1: expected an id"),
        (np.array([[0.0]]), TypeError, "row 0: expected integer ids, got an array of float64"),
        ([0, 1], TypeError, "row 0: expected a sequence of ids, got int"),
        ("ab", TypeError, "expected rows of ids, got str"),
        (7, TypeError, "expected rows of ids, got int"),
    ],
    ids=repr,
)
def test_decode_batch_names_row_and_position(rows: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        decoder_of(["a", "b", "c"], wordpiece()).decode_batch(rows)


def test_building_a_decoder_looks_at_no_token() -> None:
    class Untouchable(dict[int, str]):
        def __getitem__(self, id_: int) -> str:
            raise AssertionError("looked at while building")

        get = items = keys = values = __iter__ = __getitem__  # type: ignore[assignment]

    Decoder(Untouchable({0: "a"}), 1, (), wordpiece())
