"""The containers that encode_batch takes, missing values in them, and what it refuses."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from piecework import WordPieceTokenizer
from piecework.inputs import is_missing

TEXTS = ["The UNAFFABLE!", "", "日本 x", "café \U0001f600", "[MASK] a\0"]
ALLOW = 'missing="empty" encodes a missing value as an empty text'
HAS_STRING_DTYPE = hasattr(np.dtypes, "StringDType")


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


def string_array(rows, **options):
    if not HAS_STRING_DTYPE:
        pytest.skip(f"numpy {np.__version__} has no StringDType")
    return np.array(rows, dtype=np.dtypes.StringDType(**options))


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "dict keys": lambda rows: dict.fromkeys(rows).keys(),
    "numpy str": np.array,
    "numpy str of the other byte order": lambda rows: np.array(rows, ">U20"),
    "numpy object": lambda rows: np.array(rows, object),
    "numpy object with gaps": lambda rows: np.array([rows, rows], object).T.reshape(-1)[::2],
    "numpy StringDType": string_array,
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("add_special", [True, False])
def test_every_container_gives_the_rows_that_encode_gives(tokenizer, kind, add_special):
    rows = [row.rstrip("\0") if "numpy str" in kind else row for row in TEXTS]
    batch = tokenizer.encode_batch(CONTAINERS[kind](rows), add_special=add_special)
    assert batch.tolist() == [tokenizer.encode(row, add_special) for row in rows]


@pytest.mark.parametrize("kind", [*CONTAINERS])
def test_an_empty_container_has_no_rows(tokenizer, kind):
    assert len(tokenizer.encode_batch(CONTAINERS[kind]([])[:0] if "numpy" in kind else [])) == 0


def test_subclasses_of_str_are_str(tokenizer):
    class Title(str):
        pass

    rows = [Title("The UNAFFABLE!"), np.str_("café")]
    assert tokenizer.encode_batch(rows).tolist() == [tokenizer.encode(str(row)) for row in rows]


MISSING = {
    "None in a list": (["a", None], "None"),
    "nan in a list": (["a", float("nan")], "nan"),
    "nan of numpy": (["a", np.float32("nan")], ""),
    "None in an object array": (np.array(["a", None], object), "None"),
    "nan in an object array": (np.array(["a", np.nan], object), "nan"),
    "a masked row": (np.ma.array(["a", "b"], mask=[False, True]), "None"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_value_is_refused_with_its_row_and_what_allows_it(tokenizer, name):
    rows, shown = MISSING[name]
    with pytest.raises(TypeError) as caught:
        tokenizer.encode_batch(rows)
    assert str(caught.value).startswith(f"texts[1]: expected a str, got {shown}")
    assert str(caught.value).endswith(f"; {ALLOW}")


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_value_is_an_empty_text_where_that_is_asked_for(tokenizer, name):
    rows, _ = MISSING[name]
    batch = tokenizer.encode_batch(rows, missing="empty", add_special=True)
    assert batch.tolist() == [[101, 1037, 102], [101, 102]]
    assert tokenizer.count_tokens(rows, missing="empty").tolist() == [1, 0]


@pytest.mark.parametrize("na_object", [None, np.nan])
def test_a_missing_value_of_a_string_array_is_one_too(tokenizer, na_object):
    rows = string_array(["a", na_object], na_object=na_object)
    with pytest.raises(TypeError, match=rf"texts\[1\]: expected a str, got .*; {ALLOW}"):
        tokenizer.encode_batch(rows)
    assert tokenizer.encode_batch(rows, missing="empty").tolist() == [[1037], []]


@pytest.mark.parametrize("value", ["", "nan", 0, 1.5, np.float64(0), False, b"", []])
def test_what_holds_a_value_is_not_missing(tokenizer, value):
    assert not is_missing(value)
    if not isinstance(value, str):
        with pytest.raises(TypeError, match=r"^texts\[0\]: expected a str, got [a-z0-9]+$"):
            tokenizer.encode_batch([value], missing="empty")


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("a text", TypeError, r"got a str; for one text use encode_text\(\)$"),
        (b"bytes", TypeError, "expected an iterable of str, got a bytes$"),
        (3, TypeError, "expected an iterable of str, got a int$"),
        ({"text": ["a"]}, TypeError, "expected an iterable of str, got a dict$"),
        ({"a", "b"}, TypeError, "expected an iterable of str, got a set$"),
        (["a", 1], TypeError, r"texts\[1\]: expected a str, got int$"),
        (np.array([["a"]]), ValueError, r"one dimension, got an array of shape \(1, 1\)"),
        (np.array("a"), ValueError, r"one dimension, got an array of shape \(\)"),
        (np.array([1, 2]), TypeError, "expected an array of str, got one of int64"),
        (np.array([b"a"]), TypeError, r"expected an array of str, got one of \|S1"),
    ],
)
def test_what_is_no_container_of_str_is_refused(tokenizer, texts, error, message):
    for method in (tokenizer.encode_batch, tokenizer.count_tokens):
        with pytest.raises(error, match=message):
            method(texts)


def test_missing_is_one_of_two_words(tokenizer):
    with pytest.raises(ValueError, match="missing must be 'error' or 'empty', not 'skip'"):
        tokenizer.encode_batch(["a"], missing="skip")


def test_neither_pandas_nor_pyarrow_is_imported_for_what_is_not_theirs():
    code = """
import sys, numpy as np
from piecework import WordPieceTokenizer
tokenizer = WordPieceTokenizer({"[UNK]": 0, "a": 1})
for texts in (["a"], ("a",), np.array(["a"]), np.array(["a", None], object), iter(["a", None])):
    assert tokenizer.encode_batch(texts, missing="empty").ids.tolist() == [1]
tokenizer.encode_utf8(b"a", np.array([0, 1]))
assert not {"pandas", "pyarrow"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- counting ----


@pytest.mark.parametrize("add_special", [True, False])
def test_count_tokens_counts_what_the_incumbent_makes(
    tokenizer, bert_vocab, hf_tokenizer, add_special
):
    hf = hf_tokenizer(bert_vocab)
    counts = tokenizer.count_tokens(iter(TEXTS), add_special=add_special)
    assert counts.dtype == np.int64
    assert counts.tolist() == [
        len(hf.encode(row, add_special_tokens=add_special).ids) for row in TEXTS
    ]
    assert tokenizer.count_tokens([]).shape == (0,)


# ---- where the ids go ----


@pytest.mark.parametrize("dtype", ["int32", np.uint16, np.dtype("uint16")])
def test_the_ids_have_the_dtype_asked_for(tokenizer, dtype):
    batch = tokenizer.encode_batch(TEXTS, dtype=dtype)
    assert batch.ids.dtype == np.dtype(dtype)
    assert batch.tolist() == [tokenizer.encode(row) for row in TEXTS]


def test_ids_of_uint16_decode_and_pad_as_others_do(tokenizer):
    batch = tokenizer.encode_batch(TEXTS)
    narrow = tokenizer.encode_batch(TEXTS, dtype="uint16")
    assert tokenizer.decode_batch(narrow) == tokenizer.decode_batch(batch.tolist())
    for one, other in zip(narrow.to_padded(), batch.to_padded(), strict=True):
        assert one.tolist() == other.tolist()
    assert repr(narrow) == repr(batch)


@pytest.mark.parametrize(("size", "fits"), [(65536, True), (65537, False)])
def test_uint16_is_for_vocabularies_that_fit(size, fits):
    vocab = {f"x{i}": i for i in range(size)} | {"[UNK]": 0, f"x{size - 1}": size - 1}
    vocab = {token: i for token, i in vocab.items() if token != "x0"}
    tokenizer = WordPieceTokenizer(vocab)
    if fits:
        assert tokenizer.encode_batch([f"x{size - 1}"], dtype="uint16").tolist() == [[size - 1]]
    else:
        message = "uint16 holds ids up to 65535, but the highest of the vocabulary is 65536"
        with pytest.raises(ValueError, match=message):
            tokenizer.encode_batch(["a"], dtype="uint16")
        with pytest.raises(ValueError, match=message):
            tokenizer.encode_batch(["a"], out=np.empty(3, np.uint16))


@pytest.mark.parametrize("dtype", [np.int32, np.uint16])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n_spare", [0, 5])
def test_out_is_written_and_nothing_behind_the_ids(tokenizer, dtype, threads, n_spare):
    rows = [*TEXTS, "word " * 1000] * 200
    expected = [id_ for row in rows for id_ in tokenizer.encode(row)]
    memory = np.full(len(expected) + n_spare + 9, 7, dtype)
    out = memory[: len(expected) + n_spare]
    batch = tokenizer.encode_batch(rows, out=out, threads=threads)
    assert np.shares_memory(batch.ids, memory)
    assert batch.ids.dtype == dtype
    assert batch.ids.tolist() == expected
    assert batch.row_splits[-1] == len(expected)
    assert memory[len(expected) :].tolist() == [7] * (n_spare + 9)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_out_that_is_too_small_is_refused_with_both_numbers(tokenizer, threads):
    rows = ["word " * 1000] * 500 + ["", "a"]
    for size in (0, 1, 1000, 499_999, 500_000):
        memory = np.full(size + 9, 7, np.int32)
        message = f"out has room for {size} ids, but there are 500001"
        with pytest.raises(ValueError, match=message):
            tokenizer.encode_batch(rows, out=memory[:size], threads=threads)
        assert memory[size:].tolist() == [7] * 9


def read_only():
    array = np.empty(9, np.int32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"out": [0] * 9}, TypeError, "out must be a 1-D int32 or uint16 array, not list"),
        ({"out": np.empty(9)}, TypeError, "out must be a 1-D int32 or uint16 array, not float64"),
        (
            {"out": np.empty(9, ">i4")},
            TypeError,
            "out must be a 1-D int32 or uint16 array, not >i4",
        ),
        ({"out": np.empty((3, 3), np.int32)}, ValueError, r"not one of shape \(3, 3\) and strides"),
        ({"out": np.empty(9, np.int32)[::2]}, ValueError, r"without gaps, .* strides \(8,\)"),
        ({"out": read_only()}, ValueError, "out must be writable"),
        (
            {"out": np.empty(9, np.int32), "dtype": "uint16"},
            ValueError,
            "out is an array of int32, but dtype is uint16",
        ),
        ({"dtype": "int64"}, ValueError, "dtype must be int32 or uint16, not int64"),
        ({"dtype": ">i4"}, ValueError, "dtype must be int32 or uint16, not >i4"),
        ({"dtype": "ids"}, TypeError, "dtype must be int32 or uint16, not 'ids'"),
    ],
)
def test_another_output_is_refused(tokenizer, options, error, message):
    with pytest.raises(error, match=message):
        tokenizer.encode_batch(["a"], **options)
    with pytest.raises(error, match=message):
        tokenizer.encode_utf8(b"a", np.array([0, 1]), **options)


def test_an_out_outlives_an_error_that_the_garbage_collector_clears_up(tokenizer):
    """A sink in a cycle lost its array first, and then freed what it took for its own memory."""
    out = np.zeros(1 << 20, np.int32)

    def fail():
        class Rows(list):
            pass

        try:
            tokenizer.encode_batch(["word"] * 100 + [None], out=out)
        except TypeError as error:
            kept = Rows([error])
            kept.append(kept)

    for _ in range(3):
        fail()
        gc.collect()
    out[:] = 5
    assert out.sum() == 5 << 20
    assert (
        tokenizer.encode_batch(["word"], out=out).tolist()
        == tokenizer.encode_batch(["word"]).tolist()
    )
