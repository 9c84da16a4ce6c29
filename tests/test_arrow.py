"""pyarrow arrays and pandas columns in, pyarrow lists out. Skipped where these are missing."""

import sys

import numpy as np
import pytest

from piecework import Batch, WordPieceTokenizer

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra test-arrow has it")

ROWS = ["The UNAFFABLE!", "", "日本 x", "a" * 20, "café \U0001f600", "[MASK] a\0", "b"]
ALLOW = 'missing="empty" encodes a missing value as an empty text'


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture(scope="module")
def expected(tokenizer):
    """The ids of ROWS, by the call for one text."""
    return [tokenizer.encode(row) for row in ROWS]


@pytest.fixture(scope="module")
def pd():
    return pytest.importorskip("pandas", reason="pandas is not installed: test-arrow has it")


ARRAYS = {
    "string": pa.array,
    "large_string": lambda rows: pa.array(rows, pa.large_string()),
    "string_view": lambda rows: pa.array(rows, pa.string_view()),
    "dictionary": lambda rows: pa.array(rows, pa.string()).dictionary_encode(),
    "dictionary of large_string": lambda rows: pa.array(
        rows, pa.large_string()
    ).dictionary_encode(),
    "chunked": lambda rows: pa.chunked_array([rows[:2], [], rows[2:3], rows[3:]], pa.string()),
    "chunked large_string": lambda rows: pa.chunked_array([rows[:3], rows[3:]], pa.large_string()),
    "chunked dictionary": lambda rows: pa.chunked_array(
        [pa.array(part, pa.string()).dictionary_encode() for part in (rows[:4], rows[4:])]
    ),
}


def both(tokenizer, array, **options):
    """Encode by both calls, which are to give the same."""
    batch = tokenizer.encode_arrow(array, **options)
    assert tokenizer.encode_batch(array, **options) == batch
    return batch


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("threads", [1, 2])
def test_string_arrays_give_the_rows_that_encode_gives(tokenizer, expected, kind, threads):
    assert both(tokenizer, ARRAYS[kind](ROWS), threads=threads).tolist() == expected
    assert tokenizer.count_tokens(ARRAYS[kind](ROWS)).tolist() == list(map(len, expected))


@pytest.mark.parametrize("kind", ARRAYS)
def test_slices_give_their_rows(tokenizer, expected, kind):
    array = ARRAYS[kind](ROWS)
    for start in range(len(ROWS) + 1):
        for stop in range(start, len(ROWS) + 1):
            part = array.slice(start, stop - start)
            assert both(tokenizer, part).tolist() == expected[start:stop]


def test_many_chunks_are_one_batch(tokenizer, expected):
    array = pa.chunked_array([[row] for row in ROWS] * 500)
    assert both(tokenizer, array, threads=2).tolist() == expected * 500


def test_arrays_without_rows(tokenizer):
    for array in (pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array([])):
        assert len(both(tokenizer, array)) == 0


def test_strings_are_read_in_place(tokenizer):
    array = pa.array(["word " * 1000] * 1000)
    before = pa.total_allocated_bytes()
    pool_peak = pa.default_memory_pool().max_memory()
    tokenizer.encode_arrow(array[3:900])
    assert pa.total_allocated_bytes() == before
    assert pa.default_memory_pool().max_memory() == pool_peak


def test_other_outputs_work_as_for_lists(tokenizer, expected):
    out = np.empty(100, np.uint16)
    batch = tokenizer.encode_arrow(pa.array(ROWS), out=out)
    assert batch.tolist() == expected
    assert np.shares_memory(batch.ids, out)
    assert tokenizer.encode_arrow(pa.array(ROWS), dtype="uint16").ids.dtype == np.uint16


# ---- nulls, and what is no text ----


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_null_is_refused_with_its_row(tokenizer, kind):
    array = ARRAYS[kind](["zz", *ROWS[:4], None, "b", None]).slice(1)
    with pytest.raises(TypeError) as caught:
        both(tokenizer, array)
    assert str(caught.value) == f"texts[4]: expected a str, got null; {ALLOW}"


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_null_is_an_empty_text_where_that_is_asked_for(tokenizer, expected, kind):
    array = ARRAYS[kind](["zz", *ROWS[:4], None, "b", None]).slice(1)
    batch = both(tokenizer, array, missing="empty")
    assert batch.tolist() == [*expected[:4], [], expected[6], []]


def test_what_lies_under_a_null_does_not_matter(tokenizer):
    splits, data = pa.array([0, 2, 5], pa.int32()).buffers()[1], pa.py_buffer(b"ab\xff\xfec")
    array = pa.StringArray.from_buffers(2, splits, data, pa.py_buffer(b"\x01"), 1)
    assert array.is_null().to_pylist() == [False, True]
    assert both(tokenizer, array, missing="empty").tolist() == [tokenizer.encode("ab"), []]


def test_a_null_array_is_one_of_missing_texts(tokenizer):
    array = pa.array([None, None])
    with pytest.raises(TypeError, match=r"texts\[0\]: expected a str, got null"):
        both(tokenizer, array)
    assert both(tokenizer, array, missing="empty").tolist() == [[], []]


def test_invalid_utf8_is_refused_with_its_row(tokenizer):
    splits, data = pa.array([0, 2, 5], pa.int32()).buffers()[1], pa.py_buffer(b"ab\xc3\xa9\xff")
    array = pa.StringArray.from_buffers(2, splits, data)
    with pytest.raises(UnicodeDecodeError, match=r"0xff in position 2: .* \(row 1\)"):
        tokenizer.encode_arrow(array)
    with pytest.raises(UnicodeDecodeError, match=r"0xff in position 2: .* \(row 4\)"):
        tokenizer.encode_arrow(pa.chunked_array([["a", "b", "c"], array]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pa.array([1, 2]), "texts: expected an Arrow array of strings, got one of int64"),
        (lambda: pa.array([b"a"]), "got one of binary"),
        (lambda: pa.array([1]).dictionary_encode(), "got one of .*int64"),
        (lambda: pa.array([["a"]]), "got one of list<item: string>"),
        (lambda: ["a"], "array: expected a pyarrow Array or ChunkedArray of strings, got a list"),
        (lambda: pa.table({"a": ["a"]}), "got a Table"),
    ],
)
def test_another_array_is_refused(tokenizer, make, message):
    with pytest.raises(TypeError, match=message):
        tokenizer.encode_arrow(make())


def test_missing_is_one_of_two_words(tokenizer):
    with pytest.raises(ValueError, match="missing must be 'error' or 'empty', not 'skip'"):
        both(tokenizer, pa.array(["a"]), missing="skip")


# ---- pandas ----

COLUMNS = {
    "Series": lambda pd, rows: pd.Series(rows),
    "Series of object": lambda pd, rows: pd.Series(rows, dtype=object),
    "Series of string": lambda pd, rows: pd.Series(rows, dtype="string"),
    "Series of string[python]": lambda pd, rows: pd.Series(rows, dtype="string[python]"),
    "Series of string[pyarrow]": lambda pd, rows: pd.Series(rows, dtype="string[pyarrow]"),
    "Series of str": lambda pd, rows: pd.Series(rows, dtype="str" if None not in rows else None),
    "Series of ArrowDtype": lambda pd, rows: pd.Series(rows, dtype=pd.ArrowDtype(pa.string())),
    "Series of large ArrowDtype": lambda pd, rows: pd.Series(
        rows, dtype=pd.ArrowDtype(pa.large_string())
    ),
    "Series of ArrowDtype dictionary": lambda pd, rows: pd.Series(
        rows, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "categorical Series": lambda pd, rows: pd.Series(rows, dtype="category"),
    "Series with another index": lambda pd, rows: pd.Series(rows, index=range(len(rows), 0, -1)),
    "slice of a Series": lambda pd, rows: pd.Series(["zz", *rows, "q"], dtype="string")[1:-1],
    "column of a DataFrame": lambda pd, rows: pd.DataFrame({"a": rows, "b": rows})["b"],
    "Index": lambda pd, rows: pd.Index(rows),
    "array": lambda pd, rows: pd.array(rows, dtype="string"),
    "array of ArrowDtype": lambda pd, rows: pd.array(rows, dtype=pd.ArrowDtype(pa.string())),
    "values": lambda pd, rows: pd.Series(rows).to_numpy(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_pandas_give_the_rows_that_encode_gives(tokenizer, expected, pd, kind):
    column = COLUMNS[kind](pd, ROWS)
    assert tokenizer.encode_batch(column).tolist() == expected
    assert tokenizer.count_tokens(column).tolist() == list(map(len, expected))


@pytest.mark.parametrize("kind", COLUMNS)
def test_missing_values_of_pandas_are_refused_or_empty(tokenizer, expected, pd, kind):
    column = COLUMNS[kind](pd, [*ROWS, None, "b", None])
    with pytest.raises(
        TypeError, match=rf"^texts\[{len(ROWS)}\]: expected a str, got .*; {ALLOW}$"
    ):
        tokenizer.encode_batch(column)
    batch = tokenizer.encode_batch(column, missing="empty")
    assert batch.tolist() == [*expected, [], expected[-1], []]


@pytest.mark.parametrize("name", ["NA", "NaT"])
def test_missing_values_of_pandas_in_a_list(tokenizer, pd, name):
    rows = ["b", getattr(pd, name)]
    with pytest.raises(TypeError, match=rf"^texts\[1\]: expected a str, got <?{name}>?; {ALLOW}$"):
        tokenizer.encode_batch(rows)
    assert tokenizer.encode_batch(rows, missing="empty").tolist() == [tokenizer.encode("b"), []]


def test_a_frame_and_columns_of_numbers_are_refused(tokenizer, pd):
    with pytest.raises(TypeError, match=r"a column of str, got a DataFrame of shape \(1, 1\)"):
        tokenizer.encode_batch(pd.DataFrame({"a": ["a"]}))
    with pytest.raises(TypeError, match=r"texts\[0\]: expected a str, got int"):
        tokenizer.encode_batch(pd.Series([1, 2]))


# ---- out ----


@pytest.mark.parametrize("dtype", ["int32", "uint16"])
def test_to_arrow_shares_the_ids(tokenizer, expected, dtype):
    batch = tokenizer.encode_batch(ROWS, dtype=dtype)
    array = batch.to_arrow()
    array.validate(full=True)
    assert array.type == pa.list_(pa.from_numpy_dtype(np.dtype(dtype)))
    assert array.to_pylist() == expected
    assert array.values.buffers()[1].address == batch.ids.ctypes.data
    assert batch[2:5].to_arrow().to_pylist() == expected[2:5]
    assert batch[::-2].to_arrow().to_pylist() == expected[::-2]
    assert batch[:0].to_arrow().to_pylist() == []


def test_to_arrow_keeps_the_ids_alive(tokenizer, expected):
    array = tokenizer.encode_batch(ROWS).to_arrow()
    tokenizer.encode_batch(["other text"] * 1000)
    assert array.to_pylist() == expected


def test_to_arrow_of_ids_with_gaps_or_read_only(tmp_path):
    strided = Batch(np.arange(10, dtype=np.int32)[::2], np.array([0, 2, 5]))
    assert strided.to_arrow().to_pylist() == [[0, 2], [4, 6, 8]]
    np.save(tmp_path / "ids.npy", np.arange(5, dtype=np.int32))
    mapped = np.load(tmp_path / "ids.npy", mmap_mode="r")
    assert Batch(mapped, np.array([0, 2, 5])).to_arrow().to_pylist() == [[0, 1], [2, 3, 4]]


def test_to_arrow_has_wide_offsets_where_narrow_ones_do_not_fit():
    """Of ids that were never written, so that they take no memory."""
    n = 2**31 + 5
    batch = Batch(np.zeros(n, np.uint16), np.array([0, 2**31 - 1, n]))
    array = batch.to_arrow()
    assert array.type == pa.large_list(pa.uint16())
    assert array.offsets.to_pylist() == [0, 2**31 - 1, n]
    assert array.values.buffers()[1].address == batch.ids.ctypes.data


def test_to_arrow_without_pyarrow_says_what_to_install(tokenizer, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    batch = tokenizer.encode_batch(["a"])
    with pytest.raises(
        ImportError, match=r'to_arrow needs pyarrow: pip install "piecework\[arrow\]"'
    ):
        batch.to_arrow()


def test_out_is_not_to_share_memory_with_the_array(tokenizer):
    memory = np.zeros(16, np.uint8)
    array = pa.StringArray.from_buffers(
        1, pa.py_buffer(np.array([0, 3], np.int32)), pa.py_buffer(memory)
    )
    for encode in (tokenizer.encode_batch, tokenizer.encode_arrow):
        with pytest.raises(ValueError, match=r"^out must share no memory with the texts"):
            encode(array, out=memory.view(np.int32))
