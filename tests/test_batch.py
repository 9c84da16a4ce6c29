"""Batch: rows as views, slices, padding, equality, and what its constructor refuses."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from piecework import WordPieceTokenizer
from piecework.batch import Batch

ROWS = [[101, 7592, 102], [], [5], [6, 7, 8, 9, 10, 11, 12, 13], [], [14, 15]]


def make_batch(rows, dtype=np.int32):
    ids = np.array([token for row in rows for token in row], dtype=dtype)
    splits = np.array([sum(map(len, rows[:n])) for n in range(len(rows) + 1)], dtype=np.int64)
    return Batch(ids, splits)


@pytest.fixture(params=[np.int32, np.uint16], ids=["int32", "uint16"])
def batch(request):
    return make_batch(ROWS, request.param)


def test_len_and_lengths_count_rows_and_their_tokens(batch):
    assert len(batch) == len(ROWS)
    assert batch.lengths.dtype == np.int64
    assert batch.lengths.tolist() == [len(row) for row in ROWS]


def test_tolist_gives_lists_of_python_ints(batch):
    assert batch.tolist() == ROWS
    assert {type(token) for row in batch.tolist() for token in row} == {int}


@pytest.mark.parametrize("row", [*range(-len(ROWS), len(ROWS)), np.int64(3), np.uint8(0)])
def test_index_gives_a_view_of_the_row(batch, row):
    assert batch[row].dtype == batch.ids.dtype
    assert batch[row].tolist() == ROWS[row]
    assert not ROWS[row] or np.shares_memory(batch[row], batch.ids)


@pytest.mark.parametrize("row", [len(ROWS), -len(ROWS) - 1, 2**70])
def test_index_beyond_the_rows_raises_index_error_naming_it(batch, row):
    with pytest.raises(IndexError, match=rf"row {row} of a batch of 6 rows"):
        batch[row]


@pytest.mark.parametrize("row", [1.0, "1", None, (0, 1), np.array([0, 1])])
def test_index_that_is_no_integer_raises_type_error(batch, row):
    message = f"expected the number of a row, or a slice, got {type(row).__name__}"
    with pytest.raises(TypeError, match=message):
        batch[row]


@pytest.mark.parametrize("item", [7592, [101, 7592, 102], np.array([5], dtype=np.int32)])
def test_in_is_refused_with_what_to_use_instead(batch, item):
    with pytest.raises(TypeError, match=r"no `in`: look into batch\.ids for an id, tolist\(\) for"):
        item in batch  # noqa: B015


def test_iteration_gives_views_in_order(batch):
    rows = list(batch)
    assert [row.tolist() for row in rows] == ROWS
    assert all(np.shares_memory(row, batch.ids) for row in rows if len(row))


LIMITS = [None, -9, -6, -3, -1, 0, 1, 3, 5, 6, 9]


@pytest.mark.parametrize("step", [None, 1, 2, 5, -1, -2, -7])
def test_slice_gives_the_rows_that_a_list_slice_gives(batch, step):
    for start in LIMITS:
        for stop in LIMITS:
            part = batch[start:stop:step]
            assert part.tolist() == ROWS[start:stop:step]
            assert part == Batch(part.ids, part.row_splits)  # passes the constructor's checks


def test_slice_of_step_one_shares_the_ids(batch):
    assert np.shares_memory(batch[2:5].ids, batch.ids)
    assert not np.shares_memory(batch[::2].ids, batch.ids)


def test_slice_leaves_the_batch_as_it_was(batch):
    batch[2:5][1:]
    assert batch.row_splits.tolist() == [0, 3, 3, 4, 12, 12, 14]


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(
    ("length", "multiple_of", "expected"),
    [(None, 1, 8), (None, 8, 8), (None, 5, 10), (8, 1, 8), (11, 1, 11), (11, 4, 12)],
)
def test_to_padded_fills_up_each_row(batch, side, length, multiple_of, expected):
    input_ids, mask = batch.to_padded(length, pad_id=-3, side=side, multiple_of=multiple_of)
    fill = [expected - len(row) for row in ROWS]
    if side == "right":
        ids = [row + [-3] * n for row, n in zip(ROWS, fill, strict=True)]
        ones = [[1] * len(row) + [0] * n for row, n in zip(ROWS, fill, strict=True)]
    else:
        ids = [[-3] * n + row for row, n in zip(ROWS, fill, strict=True)]
        ones = [[0] * n + [1] * len(row) for row, n in zip(ROWS, fill, strict=True)]
    assert input_ids.tolist() == ids
    assert mask.tolist() == ones
    assert input_ids.dtype == mask.dtype == np.int32


@pytest.mark.parametrize("dtype", ["int64", np.uint16, np.int16])
def test_to_padded_gives_both_matrices_the_dtype(batch, dtype):
    padded = batch.to_padded(dtype=dtype)
    assert padded.input_ids.dtype == padded.attention_mask.dtype == np.dtype(dtype)
    assert padded.input_ids[0, :4].tolist() == [101, 7592, 102, 0]


INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">i4", ">u8"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("ids_dtype", [np.int32, np.uint16])
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("pad_id", [0, 9])
def test_to_padded_writes_numbers_of_any_width(dtype, ids_dtype, side, pad_id):
    high = min(np.iinfo(dtype).max, np.iinfo(ids_dtype).max)
    rows = [[1, high, 2], [], [high], [*range(5, 38)], [3] * 34]
    padded = make_batch(rows, ids_dtype).to_padded(34, pad_id=pad_id, side=side, dtype=dtype)
    assert padded.input_ids.dtype == padded.attention_mask.dtype == np.dtype(dtype)
    for row, ids, mask in zip(rows, *padded, strict=True):
        fill = [pad_id] * (34 - len(row))
        assert ids.tolist() == (row + fill if side == "right" else fill + row)
        ones = [1] * len(row)
        assert mask.tolist() == (
            ones + [0] * len(fill) if side == "right" else [0] * len(fill) + ones
        )


def test_to_padded_keeps_negative_ids():
    batch = Batch(np.array([-1, -(2**31), 5], np.int32), np.array([0, 2, 3]))
    assert batch.to_padded(dtype=np.int64).input_ids.tolist() == [[-1, -(2**31)], [5, 0]]


def test_to_padded_of_arrays_with_gaps_and_of_slices(batch):
    gaps = Batch(np.repeat(batch.ids, 2)[::2], np.repeat(batch.row_splits, 2)[::2])
    assert gaps.to_padded().input_ids.tolist() == batch.to_padded().input_ids.tolist()
    assert batch[2:4].to_padded().input_ids.tolist() == [[5, 0, 0, 0, 0, 0, 0, 0], ROWS[3]]


@pytest.mark.parametrize(
    "splits", [[0, 2, 90], [0, 90, 2], [-9, 0, 2], [5, 4, 3], [0, -(2**62), 2]]
)
def test_to_padded_of_splits_that_were_changed_writes_nowhere_else(splits):
    batch = make_batch([[1, 2], [3]])
    batch.row_splits[:] = splits
    with pytest.raises(ValueError, match="row"):
        batch.to_padded(8)


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_to_padded_of_rows_without_tokens_has_no_columns(rows):
    assert make_batch(rows).to_padded().input_ids.shape == (len(rows), 0)
    assert make_batch(rows).to_padded(3).attention_mask.tolist() == [[0, 0, 0]] * len(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 7}, "row 3 has 8 tokens, more than length=7"),
        ({"length": 2, "multiple_of": 8}, "row 0 has 3 tokens, more than length=2"),
        ({"dtype": np.int8}, "7592 does not fit into dtype int8"),
        ({"dtype": np.uint16, "pad_id": -1}, "-1 does not fit into dtype uint16"),
        ({"pad_id": 2**31}, "2147483648 does not fit into dtype int32"),
        ({"dtype": np.float32}, "dtype must be an integer type, not float32"),
        ({"side": "both"}, "side must be 'right' or 'left', not 'both'"),
        ({"dtype": "m8[s]"}, r"dtype must be an integer type, not timedelta64\[s\]"),
        ({"multiple_of": 0}, "multiple_of must be at least 1, not 0"),
        ({"length": -1}, "length must be at least 0, not -1"),
        ({"length": 2**31}, "length must be at most 2147483647, not 2147483648"),
        ({"multiple_of": 2**63}, "multiple_of must be at most 2147483647, not 9223372036854775808"),
        ({"side": np.array(["left", "right"])}, "side must be 'right' or 'left', not array"),
    ],
)
def test_to_padded_refuses_what_would_lose_ids(batch, options, message):
    with pytest.raises(ValueError, match=message):
        batch.to_padded(**options)


@pytest.mark.parametrize("name", ["pad_id", "multiple_of", "length"])
@pytest.mark.parametrize("value", [1.5, 8.0, "3", True, np.True_, np.array([9])], ids=repr)
def test_to_padded_refuses_numbers_that_are_no_integers(batch, name, value):
    message = rf"^{name} must be an integer, not .* of type {type(value).__name__}$"
    with pytest.raises(TypeError, match=message):
        batch.to_padded(**{name: value})


@pytest.mark.parametrize("dtype", ["integer!", "i4,,", [int]])
def test_to_padded_refuses_a_dtype_that_is_none(batch, dtype):
    with pytest.raises(TypeError, match="dtype must be an integer type, not "):
        batch.to_padded(dtype=dtype)


def test_to_padded_fills_up_with_an_id_that_only_uint64_holds(batch):
    assert batch.to_padded(9, dtype=np.uint64, pad_id=2**64 - 1).input_ids[0, -1] == 2**64 - 1


@pytest.mark.parametrize("kind", [np.int8, np.uint64, np.array])
def test_to_padded_takes_integers_of_numpy(batch, kind):
    padded = batch.to_padded(kind(9), pad_id=kind(7), multiple_of=kind(4))
    expected = batch.to_padded(9, pad_id=7, multiple_of=4)
    assert np.array_equal(padded.input_ids, expected.input_ids)


def test_negative_length_is_refused_where_there_are_no_rows():
    with pytest.raises(ValueError, match="length must be at least 0, not -1"):
        make_batch([]).to_padded(-1)


def test_equality_compares_rows_not_objects(batch):
    assert batch == make_batch(ROWS)
    assert batch[2:4] == make_batch(ROWS[2:4])
    assert batch != make_batch([*ROWS[:-1], [14, 16]])
    assert batch != make_batch([[101], [7592, 102], *ROWS[2:]])  # same ids, other rows
    assert batch != ROWS


def test_equality_does_not_ask_for_the_width_of_ids():
    assert make_batch(ROWS) == make_batch(ROWS, np.uint16)
    assert make_batch(ROWS) != make_batch(ROWS[:-1], np.uint16)


def test_hash_is_refused(batch):
    with pytest.raises(TypeError, match="unhashable"):
        hash(batch)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_keeps_rows_and_drops_what_a_slice_does_not_show(batch, protocol):
    twin = pickle.loads(pickle.dumps(batch, protocol))
    assert twin == batch
    assert twin.ids.dtype == batch.ids.dtype
    many = make_batch([[7] * 100_000, [8, 9]])
    assert len(pickle.dumps(many[1:], protocol)) < 1_000
    assert pickle.loads(pickle.dumps(many[1:], protocol)) == many[1:]


def test_copy_shares_the_arrays_and_deepcopy_does_not(batch):
    assert copy.copy(batch) == copy.deepcopy(batch) == batch
    assert np.shares_memory(copy.copy(batch).ids, batch.ids)
    assert not np.shares_memory(copy.deepcopy(batch).ids, batch.ids)


@pytest.fixture(params=["int32", "uint16"])
def fresh(request):
    """Give a function that encodes two rows: a batch whose arrays nobody has asked for."""
    tokenizer = WordPieceTokenizer({"[UNK]": 0, "a": 1, "b": 2})
    return lambda: tokenizer.encode_batch(["a b", "b"], dtype=request.param)


@pytest.mark.parametrize(
    "look",
    [
        copy.copy,
        copy.deepcopy,
        lambda batch: pickle.loads(pickle.dumps(batch)),
        lambda batch: batch[:],
        lambda batch: Batch(batch.ids, batch.row_splits),
        lambda batch: Batch(row_splits=batch.row_splits, ids=batch.ids),
    ],
)
def test_arrays_that_nobody_has_asked_for_are_there(fresh, look):
    assert look(fresh()).tolist() == [[1, 2], [2]]
    assert fresh() == look(fresh())
    batch = fresh()
    assert batch.ids is batch.ids
    assert batch.row_splits is batch.row_splits


def test_arrays_outlive_their_batch(fresh):
    ids, row_splits = fresh().ids, fresh().row_splits
    assert (ids.tolist(), row_splits.tolist()) == ([1, 2, 2], [0, 2, 3])


def test_threads_that_ask_for_the_arrays_at_once_see_the_same_memory(fresh):
    for _ in range(50):
        batch = fresh()
        with ThreadPoolExecutor(4) as pool:
            first, *others = pool.map(lambda _: batch.ids, range(4))  # noqa: B023
        assert all(np.shares_memory(first, other) for other in others)
        assert first.tolist() == [1, 2, 2]


@pytest.mark.parametrize("name", ["nothing", "_source", "__array__"])
def test_a_batch_has_no_other_attributes(batch, name):
    with pytest.raises(AttributeError, match=f"'Batch' object has no attribute '{name}'"):
        getattr(batch, name)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "Batch(0 rows, 0 tokens: [])"),
        ([[7]], "Batch(1 row, 1 token: [[7]])"),
        ([[1, 2, 3, 4, 5, 6], []], "Batch(2 rows, 6 tokens: [[1, 2, 3, 4, 5, 6], []])"),
        (
            ROWS,
            "Batch(6 rows, 14 tokens: [[101, 7592, 102], [], [5], ...])",
        ),
        (ROWS[3:4], "Batch(1 row, 8 tokens: [[6, 7, 8, 9, 10, 11, ...]])"),
    ],
)
def test_repr_shows_counts_and_the_first_rows(rows, text):
    assert repr(make_batch(rows)) == text


def test_arrays_over_a_foreign_buffer_are_not_copied():
    ids = np.frombuffer(bytearray(np.arange(4, dtype=np.int32).tobytes()), dtype=np.int32)
    batch = Batch(ids, np.array([0, 1, 4], dtype=np.int64))
    assert np.shares_memory(batch.ids, ids)
    assert batch.tolist() == [[0], [1, 2, 3]]


def test_memory_mapped_arrays_give_plain_rows(tmp_path):
    np.save(tmp_path / "ids.npy", np.arange(4, dtype=np.int32))
    ids = np.load(tmp_path / "ids.npy", mmap_mode="r")
    batch = Batch(ids, np.array([0, 1, 4], dtype=np.int64))
    assert type(batch[1]) is np.ndarray
    assert np.shares_memory(batch[1], ids)


def splits(*numbers, dtype=np.int64):
    return np.array(numbers, dtype=dtype)


@pytest.mark.parametrize(
    ("ids", "row_splits", "error", "message"),
    [
        ([1, 2], splits(0, 2), TypeError, "ids must be a 1-D int32 or uint16 array, not list"),
        (splits(1), splits(0, 1), TypeError, "ids must be a 1-D int32 or uint16 array, not int64"),
        ("be", splits(0, 1), TypeError, "ids must be a 1-D int32 or uint16 array, not "),
        (
            "2d",
            splits(0, 1),
            ValueError,
            r"ids must be a 1-D int32 or uint16 array, not one of shape \(2, 1",
        ),
        ("ok", [0, 2], TypeError, "row_splits must be a 1-D int64 array, not list"),
        (
            "ok",
            splits(0, 2, dtype=np.int32),
            TypeError,
            "row_splits must be a 1-D int64 array, not int32",
        ),
        ("ok", splits(), ValueError, r"row_splits must hold n_rows \+ 1 numbers, but it is empty"),
        ("ok", splits(1, 2), ValueError, "row_splits must start with 0, not 1"),
        ("ok", splits(0, 1), ValueError, r"row_splits must end with len\(ids\) = 2, not 1"),
        ("ok", splits(0, 3), ValueError, r"row_splits must end with len\(ids\) = 2, not 3"),
        (
            "ok",
            splits(0, 2, 1, 2),
            ValueError,
            "row_splits must not fall, but row 1 goes from 2 to 1",
        ),
    ],
)
def test_constructor_refuses_arrays_that_make_no_rows(ids, row_splits, error, message):
    made = {
        "ok": np.array([1, 2], dtype=np.int32),
        "be": np.array([1, 2], dtype=np.dtype(np.int32).newbyteorder()),
        "2d": np.array([[1], [2]], dtype=np.int32),
    }
    with pytest.raises(error, match=message):
        Batch(made[ids] if isinstance(ids, str) else ids, row_splits)
