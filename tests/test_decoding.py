"""Decoding, against the cases measured on the incumbent and the incumbent itself."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import helpers
import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer

from piecework import WordPieceTokenizer
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


# ---- every form of ids, against the incumbent ----

# Of one, two and four bytes a character, with marks of the clean-up, a prefix alone, and empty.
TOKENS = [
    "[PAD]", "[CLS]", "[SEP]", "a", "##b", "é", "##ü", "日", "##本", "😀", "##👍", "##", "", ".",
    "##.", "n't", "a long token that is copied in more than one step", "do not", "## 's", "'",
]  # fmt: skip


@pytest.fixture(scope="module")
def hf(hf_tokenizer: Callable[..., Tokenizer]) -> Tokenizer:
    return hf_tokenizer(to_ids(TOKENS), unk_token="a")


@pytest.fixture(scope="module")
def matrix() -> Any:
    rng = np.random.default_rng(7)
    matrix = rng.integers(1, len(TOKENS), (500, 12))
    matrix[rng.random(500) < 0.1] = 1  # rows of which nothing stays
    for row, length in enumerate(rng.integers(0, 13, 500)):
        matrix[row, length:] = 0
    matrix[rng.random((500, 12)) < 0.05] = 2
    return matrix


def big_endian(matrix: Any) -> Any:
    return matrix.astype(">i4")


def with_gaps(matrix: Any) -> Any:
    wide = np.full((len(matrix) * 2, matrix.shape[1] * 3), 99)
    wide[::2, ::3] = matrix
    return wide[::2, ::3]


def unaligned(matrix: Any) -> Any:
    data = np.zeros(matrix.size * 4 + 1, np.uint8)
    view = data[1:].view(np.int32).reshape(matrix.shape)
    view[:] = matrix
    return view


def backwards(matrix: Any) -> Any:
    return np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1]


def read_only(matrix: Any) -> Any:
    copy = matrix.astype(np.int32)
    copy.flags.writeable = False
    return copy


FORMS: dict[str, Callable[[Any], Any]] = {
    **{
        name: lambda matrix, name=name: matrix.astype(name)  # type: ignore[misc]
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    },
    "big endian": big_endian,
    "with gaps": with_gaps,
    "by columns": np.asfortranarray,
    "unaligned": unaligned,
    "backwards": backwards,
    "read only": read_only,
    "lists": lambda matrix: matrix.tolist(),
    "tuples": lambda matrix: tuple(map(tuple, matrix.tolist())),
    "lists of numpy integers": lambda matrix: list(map(list, matrix)),
    "objects": lambda matrix: matrix.astype(object),
    "generator": lambda matrix: (row for row in matrix.tolist()),
}


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_ids_in_any_form_give_the_texts_of_the_incumbent(
    hf: Tokenizer, matrix: Any, form: str, skip: bool
) -> None:
    decoder = decoder_of(TOKENS, wordpiece(), special=helpers.SPECIALS)
    expected = hf.decode_batch(matrix.tolist(), skip_special_tokens=skip)
    assert decoder.decode_batch(FORMS[form](matrix), skip) == expected
    # The same form, row by row.
    assert decoder.decode_batch(iter(FORMS[form](matrix)), skip) == expected
    assert [decoder.decode(row, skip) for row in FORMS[form](matrix)] == expected


@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
@pytest.mark.parametrize("step", [1, 2])
def test_a_batch_gives_the_texts_of_the_incumbent(
    hf: Tokenizer, matrix: Any, dtype: type[np.generic], step: int
) -> None:
    rng = np.random.default_rng(8)
    row_splits = np.sort(rng.integers(0, matrix.size, 700))
    row_splits[0], row_splits[-1] = 0, matrix.size
    wide = np.repeat(matrix.reshape(-1), step).astype(dtype)
    batch = Batch(wide[::step], row_splits)
    decoder = decoder_of(TOKENS, wordpiece(), special=helpers.SPECIALS)
    for skip in (False, True):
        expected = hf.decode_batch(batch.tolist(), skip_special_tokens=skip)
        assert decoder.decode_batch(batch, skip) == expected
        assert decoder.decode_batch(batch[100:300], skip) == expected[100:300]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, ">i8"])
def test_memory_mapped_ids(hf: Tokenizer, matrix: Any, dtype: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", matrix.astype(dtype))
    mapped = np.load(tmp_path / "ids.npy", mmap_mode="r")
    decoder = decoder_of(TOKENS, wordpiece(), special=helpers.SPECIALS)
    expected = hf.decode_batch(matrix.tolist(), skip_special_tokens=True)
    assert decoder.decode_batch(mapped, True) == expected


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (3, 0)])
def test_a_matrix_without_ids(shape: tuple[int, int]) -> None:
    decoder = decoder_of(["a"], wordpiece())
    assert decoder.decode_batch(np.empty(shape, np.int32)) == [""] * shape[0]


@pytest.mark.parametrize("model", ["bert-base-uncased", "bert-base-multilingual-cased"])
def test_ids_of_corpora_give_the_texts_of_the_incumbent(
    model: str, data_path: Callable[..., Path]
) -> None:
    path = data_path("vocabs", model, "tokenizer.json")
    hf = Tokenizer.from_file(str(path))
    hf.no_padding()
    hf.no_truncation()
    tokenizer = WordPieceTokenizer.from_vocab(data_path("vocabs", model, "vocab.txt"))
    for corpus in sorted(data_path("corpora").glob("*.txt")):
        lines = helpers.read_lines(corpus)[:: 1 + corpus.stat().st_size // 20_000]
        batch = tokenizer.encode_batch(lines, add_special=True)
        padded = batch.to_padded(dtype="int64").input_ids
        for skip in (False, True):
            expected = hf.decode_batch(batch.tolist(), skip_special_tokens=skip)
            assert tokenizer.decode_batch(batch, skip) == expected, corpus.name
            assert tokenizer.decode_batch(batch.tolist(), skip) == expected, corpus.name
        assert tokenizer.decode_batch(padded, True) == expected, corpus.name


def test_a_huge_row(hf: Tokenizer) -> None:
    """Ten million characters, of each width in turn."""
    decoder = decoder_of(TOKENS, wordpiece())
    for ids in ([16, 6], [16, 8], [16, 10]):
        row = ids * 200_000
        text = decoder.decode(row)
        assert text == hf.decode(row, skip_special_tokens=False)
        assert text == decoder.decode(np.array(row))
        assert len(text) > 10_000_000


@pytest.mark.parametrize("tokens", [["ñ", "ñ日a"], ["日", "日a"], ["a", "aé"], ["😀", "😀日"]])
def test_texts_are_as_narrow_as_their_characters(tokens: list[str]) -> None:
    """A str that is wider than needed differs from its equals, and breaks dicts."""
    prefix, token = tokens
    decoder = decoder_of(["x", token], wordpiece(prefix))
    text = decoder.decode([0, 1])
    assert text == "x" + token.removeprefix(prefix)
    assert sys.getsizeof(text) == sys.getsizeof("".join(list(text)))
    assert {text: 1}["x" + token.removeprefix(prefix)]


def test_eight_threads_decode_with_one_decoder(hf: Tokenizer, matrix: Any) -> None:
    rows = matrix.tolist()
    expected = {skip: hf.decode_batch(rows, skip_special_tokens=skip) for skip in (False, True)}
    for _ in range(10):
        decoder = decoder_of(TOKENS, wordpiece(), special=helpers.SPECIALS)
        forms = [(form, skip) for form in (rows, matrix) for skip in (False, True)] * 8
        with ThreadPoolExecutor(8) as pool:
            texts = pool.map(lambda call, decoder=decoder: decoder.decode_batch(*call), forms)
            assert list(texts) == [expected[skip] for _, skip in forms]


def test_ids_far_apart_take_no_memory_between_them() -> None:
    tokens = {5: "a", 2**27: "##b", 2**28 - 1: "[SEP]"}
    decoder = Decoder(tokens, 2**28, {"[SEP]"}, wordpiece())
    rows = [[5, 2**27, 2**28 - 1], [0, 2**27 + 1, 5], [2**28 - 2], [2**27]]
    assert decoder.decode_batch(rows) == ["ab [SEP]", "a", "", "##b"]
    assert decoder.decode_batch(rows, True) == ["ab", "a", "", "##b"]
    with pytest.raises(ValueError, match="position 1: expected an id from 0 to 268435455, got 26"):
        decoder.decode([5, 2**28])


# ---- added tokens ----


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_added_tokens_are_decoded_and_skipped_as_the_incumbent_does(
    hf_tokenizer: Callable[..., Tokenizer], special: bool, normalized: bool
) -> None:
    hf = hf_tokenizer({"[UNK]": 0, "a": 1, "##b": 2})
    contents = ["<new>", "<New Tok>", " two  spaces ", "##joined", "do not", "é", "a"]
    added = [AddedToken(content, special=special, normalized=normalized) for content in contents]
    (hf.add_special_tokens if special else hf.add_tokens)(added)
    size = hf.get_vocab_size()
    # What such a token decodes to is the normalizer's affair, not the decoder's.
    tokens = {id_: hf.id_to_token(id_) for id_ in range(size)}
    decoder = Decoder(tokens, size, {"[UNK]", *contents} if special else {"[UNK]"}, wordpiece())
    rng = random.Random(3)
    rows = [rng.choices(range(size), k=rng.randint(0, 8)) for _ in range(2000)]
    for skip in (False, True):
        theirs = [hf.decode(row, skip_special_tokens=skip) for row in rows]
        assert decoder.decode_batch(rows, skip) == theirs


# ---- ids that nothing has ----

BAD_ROWS = [[0, 3, 1], [-1, 1], [2**31, 2], [2**63 - 1, 0, -(2**63), 1], [-(2**31)], [1, 1]]


@pytest.mark.parametrize(
    "rows",
    [
        BAD_ROWS,
        list(map(tuple, BAD_ROWS)),
        list(map(np.array, BAD_ROWS)),
        [[*map(np.int64, row)] for row in BAD_ROWS],
    ],
    ids=["lists", "tuples", "arrays", "numpy integers"],
)
def test_unknown_ids_are_left_out_on_request(rows: Any) -> None:
    decoder = decoder_of(["a", "##b", "c"], wordpiece())
    assert decoder.decode_batch(rows, unknown="skip") == ["ab", "##b", "c", "ab", "", "##bb"]
    assert [decoder.decode(row, unknown="skip") for row in rows] == [
        "ab", "##b", "c", "ab", "", "##bb",
    ]  # fmt: skip


def test_unknown_ids_are_left_out_as_the_incumbent_does(hf: Tokenizer) -> None:
    decoder = decoder_of(TOKENS, wordpiece(), special=helpers.SPECIALS)
    rng = random.Random(5)
    rows = [rng.choices([*range(len(TOKENS) + 9), 2**31, 2**32 - 1], k=8) for _ in range(2000)]
    for skip in (False, True):
        expected = hf.decode_batch(rows, skip_special_tokens=skip)
        assert decoder.decode_batch(rows, skip, unknown="skip") == expected
        assert decoder.decode_batch(np.array(rows), skip, unknown="skip") == expected
        assert decoder.decode_batch(np.array(rows, np.uint32), skip, unknown="skip") == expected


def test_huge_integers_are_unknown_ids() -> None:
    decoder = decoder_of(["a", "b"], wordpiece())
    assert decoder.decode([0, 2**70, -(2**64), 1], unknown="skip") == "a b"
    assert decoder.decode_batch(np.array([[2**63, 1]], np.uint64), unknown="skip") == ["b"]
    with pytest.raises(ValueError, match=f"position 1: expected an id from 0 to 1, got {2**70}"):
        decoder.decode([0, 2**70])
    with pytest.raises(ValueError, match=f"row 0, position 0: .* got {2**64 - 1}"):
        decoder.decode_batch(np.array([[2**64 - 1, 1]], np.uint64))


@pytest.mark.parametrize("bad", [1.0, True, "a", None, [1]], ids=repr)
def test_what_is_no_integer_is_not_skipped(bad: Any) -> None:
    decoder = decoder_of(["a", "b"], wordpiece())
    with pytest.raises(TypeError, match="row 1, position 1: expected an integer id"):
        decoder.decode_batch([[0], [0, bad, 9]], unknown="skip")


@pytest.mark.parametrize("unknown", ["ignore", "", None, True])
def test_another_word_for_unknown_is_refused(unknown: Any) -> None:
    decoder = decoder_of(["a"], wordpiece())
    message = f"unknown must be 'error' or 'skip', not {unknown!r}"
    with pytest.raises(ValueError, match=message):
        decoder.decode([0], unknown=unknown)
    with pytest.raises(ValueError, match=message):
        decoder.decode_batch([[0]], unknown=unknown)


@pytest.mark.parametrize(
    ("dtype", "bad"), [("int32", -1), ("int32", 2), ("uint16", 65535), ("int64", 2**40)]
)
def test_a_bad_id_deep_in_an_array_is_named(dtype: str, bad: int) -> None:
    matrix = np.zeros((3000, 5), dtype)
    matrix[2999, 3] = bad
    decoder = decoder_of(["a", "b"], wordpiece())
    message = f"row 2999, position 3: expected an id from 0 to 1, got {bad}"
    for rows in (matrix, matrix.astype(matrix.dtype.newbyteorder()), list(matrix), matrix.tolist()):
        with pytest.raises(ValueError, match=message):
            decoder.decode_batch(rows)


@pytest.mark.parametrize(
    "change",
    [
        {"row_splits": np.array([0, 9], np.int64)},
        {"row_splits": np.array([-9, 2], np.int64)},
        {"row_splits": np.array([2, 0], np.int64)},
        {"row_splits": np.array([0, 2], np.int32)},
        {"ids": np.array([0, 1], np.int8)},
        {"ids": np.array([[0], [1]], np.int32)},
        {"ids": np.array([0.0, 1.0])},
    ],
    ids=str,
)
def test_a_batch_that_was_damaged_is_refused(change: dict[str, Any]) -> None:
    batch = Batch(np.array([0, 1], np.int32), np.array([0, 2], np.int64))
    for name, value in change.items():
        setattr(batch, name, value)
    with pytest.raises((ValueError, TypeError)):
        decoder_of(["a", "b"], wordpiece()).decode_batch(batch)


def test_a_row_that_changes_itself_does_no_harm() -> None:
    class Shrinking:
        def __index__(self) -> int:
            row.clear()
            return 0

    row: list[Any] = [0, Shrinking(), *[1] * 1000]
    decoder = decoder_of(["a", "##b"], wordpiece())
    assert decoder.decode(row).startswith("a a")
