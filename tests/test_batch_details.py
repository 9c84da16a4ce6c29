"""What a batch has beside ids: checked, carried along by slices, copies, pickles and Arrow."""

import copy
import pickle

import numpy as np
import pytest

from piecework.batch import Batch

SPLITS = np.array([0, 2, 2, 3, 6], np.int64)
ARRAYS = {
    "offsets": np.arange(12, dtype=np.int32).reshape(6, 2),
    "word_ids": np.array([-1, 0, 1, 2, 3, 4], np.int32),
    "sequence_ids": np.array([-1, 0, 1, 0, 1, -1], np.int8),
    "type_ids": np.array([0, 1, 0, 1, 0, 7], np.int32),
    "special_tokens_mask": np.array([1, 0, 0, 0, 1, 1], np.uint8),
    "overflow_to_sample": np.array([4, 4, 5, 6], np.int64),
}


@pytest.fixture
def batch():
    return Batch(np.arange(6, dtype=np.int32), SPLITS, **ARRAYS)


def rows_of(batch, name):
    """Return an array row by row, as lists."""
    array = getattr(batch, name)
    if name == "overflow_to_sample":
        return array.tolist()
    return [part.tolist() for part in np.split(array, batch.row_splits[1:-1])][: len(batch)]


def test_a_batch_has_what_it_was_given_and_nothing_else(batch):
    for name, array in ARRAYS.items():
        assert getattr(batch, name) is array
        one = Batch(batch.ids, SPLITS, **{name: array})
        assert one.details() == {name: array}
        assert all(getattr(one, other) is None for other in ARRAYS if other != name)
    assert list(batch.details()) == list(ARRAYS)
    assert Batch(batch.ids, SPLITS).details() == {}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_type_or_shape_is_refused(batch, name):
    array = ARRAYS[name]
    n = len(array)
    for wrong, error, message in [
        (array.tolist(), TypeError, f"{name} must be a .* {array.dtype} array, not list"),
        (array.astype("f4"), TypeError, f"{name} must be a .*, not float32"),
        (array.astype(array.dtype.newbyteorder()), TypeError, f"{name} must be a .*, not >"),
        (array[None], ValueError, rf"{name} must be a .*, not one of shape \(1, {n}"),
        (array[:-1], ValueError, rf"{name} must have an item for each \w+, {n}, not {n - 1}"),
    ]:
        if error is TypeError and array.itemsize == 1 and "not >" in message:
            continue  # one byte has no order
        with pytest.raises(error, match=message):
            Batch(batch.ids, SPLITS, **{name: wrong})


def test_offsets_of_another_width_are_refused(batch):
    with pytest.raises(ValueError, match=r"offsets must be a 2-D \(n, 2\) int32 array, not one of"):
        Batch(batch.ids, SPLITS, offsets=np.zeros((6, 3), np.int32))


def test_details_have_names_in_the_constructor(batch):
    with pytest.raises(TypeError, match="positional"):
        Batch(batch.ids, SPLITS, ARRAYS["offsets"])


@pytest.mark.parametrize("part", [slice(1, 3), slice(3, 1), slice(None, None, -1), slice(0, 4, 2)])
def test_slices_take_the_arrays_along(batch, part):
    some = batch[part]
    assert some == Batch(some.ids, some.row_splits, **some.details())  # passes the checks
    for name in ARRAYS:
        assert rows_of(some, name) == rows_of(batch, name)[part]


def test_slices_of_step_one_share_the_arrays(batch):
    for name, array in ARRAYS.items():
        assert np.shares_memory(getattr(batch[1:], name), array)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies_have_the_arrays(batch, protocol):
    for twin in (pickle.loads(pickle.dumps(batch, protocol)), copy.copy(batch)):
        assert twin == batch
        assert list(twin.details()) == list(ARRAYS)
    assert not np.shares_memory(copy.deepcopy(batch).offsets, batch.offsets)


@pytest.mark.parametrize("name", ARRAYS)
def test_batches_are_equal_when_all_arrays_are(batch, name):
    others = {**ARRAYS, name: ARRAYS[name] + ARRAYS[name].dtype.type(1)}
    assert batch != Batch(batch.ids, SPLITS, **others)
    del others[name]
    assert batch != Batch(batch.ids, SPLITS, **others)
    assert Batch(batch.ids, SPLITS, **others) == Batch(batch.ids.copy(), SPLITS, **others)


def test_repr_names_the_arrays(batch):
    assert repr(Batch(batch.ids, SPLITS, type_ids=ARRAYS["type_ids"])) == (
        "Batch(4 rows, 6 tokens with type_ids: [[0, 1], [], [2], ...])"
    )


def test_an_array_can_be_set_later(batch):
    bare = Batch(batch.ids, SPLITS)
    bare.offsets = ARRAYS["offsets"]
    assert bare == Batch(batch.ids, SPLITS, offsets=ARRAYS["offsets"])
    assert Batch(batch.ids, SPLITS).offsets is None


@pytest.mark.parametrize("index", [True, False, np.True_])
def test_a_bool_is_no_row(batch, index):
    with pytest.raises(TypeError, match="expected the number of a row, or a slice, got bool"):
        batch[index]


def test_to_arrow_carries_the_arrays_along(batch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: the extra test-arrow has it")
    array = batch.to_arrow()
    rows = array.to_pylist()
    assert [row["ids"] for row in rows] == batch.tolist()
    for name in ARRAYS:
        assert [row[name] for row in rows] == rows_of(batch, name), name
    values = array.field("offsets").values.flatten().to_numpy()
    assert np.shares_memory(values, ARRAYS["offsets"])
    assert batch[1:3].to_arrow().to_pylist() == rows[1:3]
