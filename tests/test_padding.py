"""to_padded with all that a batch can have, into arrays of the caller, and to torch."""

import pickle
import sys
import types
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest

from piecework._pad import fill_padded
from piecework.batch import Batch
from piecework.padding import PaddedBatch

ROWS = [[101, 7, 102], [], [5], [6, 7, 8, 9, 10]]
N = sum(map(len, ROWS))
SPLITS = np.cumsum([0, *map(len, ROWS)])


def make_batch(dtype=np.int32):
    rng = np.random.default_rng(3)
    return Batch(
        np.array([id_ for row in ROWS for id_ in row], dtype),
        SPLITS.copy(),
        offsets=rng.integers(0, 2**31, (N, 2), dtype=np.int32),
        word_ids=rng.integers(-1, 2**31, N, dtype=np.int32),
        sequence_ids=rng.integers(-1, 2, N, dtype=np.int8),
        type_ids=rng.integers(0, 9, N, dtype=np.int32),
        special_tokens_mask=rng.integers(0, 2, N, dtype=np.uint8),
    )


SOURCES = {
    "input_ids": "ids",
    "attention_mask": None,
    "token_type_ids": "type_ids",
    "special_tokens_mask": "special_tokens_mask",
    "offsets": "offsets",
    "word_ids": "word_ids",
    "sequence_ids": "sequence_ids",
}
PADS = {
    "input_ids": 3,
    "attention_mask": 0,
    "token_type_ids": 4,
    "special_tokens_mask": 1,
    "offsets": [0, 0],
    "word_ids": -1,
    "sequence_ids": -1,
}


def expected_matrix(batch, name, length, side):
    """Fill up the rows of one array in plain Python."""
    values = getattr(batch, SOURCES[name] or "ids").tolist()
    if SOURCES[name] is None:
        values = [1] * len(values)
    rows = []
    for start, stop in pairwise(SPLITS):
        row, fill = values[start:stop], [PADS[name]] * (length - (stop - start))
        rows.append(row + fill if side == "right" else fill + row)
    return rows


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("dtype", [None, "int64", "uint16", "int8", ">i4"])
@pytest.mark.parametrize("ids_dtype", [np.int32, np.uint16])
def test_to_padded_fills_up_each_array(side, dtype, ids_dtype):
    batch = make_batch(ids_dtype)
    padded = batch.to_padded(7, pad_id=3, pad_type_id=4, side=side, dtype=dtype)
    assert list(padded.as_dict()) == list(SOURCES)
    for name, matrix in padded.as_dict().items():
        assert matrix.tolist() == expected_matrix(batch, name, 7, side), name
        if name in ("offsets", "word_ids", "sequence_ids"):
            assert matrix.dtype == getattr(batch, name).dtype
        else:
            assert matrix.dtype == np.dtype(dtype or "int32")


def test_to_padded_leaves_out_what_the_batch_lacks():
    batch = make_batch()
    padded = Batch(batch.ids, batch.row_splits, word_ids=batch.word_ids).to_padded()
    assert list(padded.as_dict()) == ["input_ids", "attention_mask", "word_ids"]
    assert padded.offsets is None


def test_to_padded_takes_arrays_with_gaps():
    batch = make_batch()
    gaps = {name: np.repeat(array, 2, axis=0)[::2] for name, array in batch.details().items()}
    assert Batch(batch.ids, batch.row_splits, **gaps).to_padded() == batch.to_padded()


def test_to_padded_checks_that_type_ids_fit():
    batch = Batch(np.array([1], np.int32), np.array([0, 1]), type_ids=np.array([300], np.int32))
    with pytest.raises(ValueError, match="300 does not fit into dtype uint8"):
        batch.to_padded(dtype=np.uint8)
    with pytest.raises(ValueError, match="-1 does not fit into dtype uint16"):
        batch.to_padded(dtype=np.uint16, pad_type_id=-1)
    with pytest.raises(TypeError, match="pad_type_id must be an integer, not True"):
        batch.to_padded(pad_type_id=True)


# ---- out ----


def arrays_for(batch, length, dtype=np.int64, wide=np.int64):
    return {
        name: np.full(
            (len(batch), length, 2) if name == "offsets" else (len(batch), length),
            99,
            wide if name in ("offsets", "word_ids", "sequence_ids") else dtype,
        )
        for name in SOURCES
    }


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("wide", [np.int32, np.int64])
def test_out_is_filled_and_returned(side, wide):
    batch = make_batch()
    out = arrays_for(batch, 6, wide=wide)
    padded = batch.to_padded(pad_id=3, pad_type_id=4, side=side, out=out)
    for name, matrix in padded.as_dict().items():
        assert matrix is out[name]
        assert matrix.tolist() == expected_matrix(batch, name, 6, side), name


def test_out_may_be_a_padded_batch_and_is_used_again():
    batch = make_batch()
    first = batch.to_padded(8)
    again = batch[1:].to_padded(8, out=PaddedBatch(*(matrix[1:] for matrix in first)))
    assert again.input_ids.base is first.input_ids
    assert again == batch[1:].to_padded(8)


def test_out_may_lack_arrays():
    batch = make_batch()
    mask = np.empty((4, 8), np.int64)
    padded = batch.to_padded(multiple_of=4, out={"attention_mask": mask})
    assert padded.attention_mask is mask
    assert padded == batch.to_padded(8, dtype=np.int64)


def zeros(*shape, dtype="i8"):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"input_ids": zeros(4, 7)}, ValueError, r"shape \(4, 6\), not \(4, 7\)"),
        ({"input_ids": zeros(3, 6)}, ValueError, r"shape \(4, 6\), not \(3, 6\)"),
        ({"offsets": zeros(4, 6)}, ValueError, r"offsets must be of shape \(4, 6, 2\)"),
        ({"input_ids": zeros(4, 6, dtype="i4")}, ValueError, "must be of dtype int32, not int64"),
        ({"attention_mask": zeros(4, 6, dtype=">i8")}, ValueError, "of dtype int64, not >i8"),
        ({"token_type_ids": zeros(4, 6, dtype="f8")}, ValueError, "of dtype int64, not float64"),
        ({"word_ids": zeros(4, 6, dtype="i2")}, ValueError, "of dtype int32 or a wider one"),
        ({"word_ids": zeros(4, 6, dtype="u4")}, ValueError, "wider one, not uint32"),
        ({"offsets": zeros(4, 6, 2, dtype=">i8")}, ValueError, "wider one, not >i8"),
        ({"input_ids": zeros(4, 12)[:, ::2]}, ValueError, "must be C-contiguous"),
        ({"input_ids": [[0] * 6] * 4}, TypeError, "input_ids must be an array, not list"),
        ({"input_ids": zeros(24)}, ValueError, r"a matrix, not of shape \(24,\)"),
        ({"ids": zeros(4, 6)}, ValueError, "expected names among .*; got 'ids'"),
    ],
)
def test_out_of_another_kind_is_refused(change, error, message):
    batch = make_batch()
    with pytest.raises(error, match=f"^out: .*{message}"):
        batch.to_padded(6, out={**arrays_for(batch, 6), **change})


def test_out_that_can_not_be_written_or_overlaps_is_refused():
    batch = make_batch()
    frozen = arrays_for(batch, 6)
    frozen["word_ids"].flags.writeable = False
    with pytest.raises(ValueError, match="word_ids must be C-contiguous, aligned and writeable"):
        batch.to_padded(out=frozen)
    same = arrays_for(batch, 6)
    same["attention_mask"] = same["input_ids"]
    with pytest.raises(ValueError, match="attention_mask lies over an array of the batch, or"):
        batch.to_padded(out=same)
    over = Batch(batch.ids, batch.row_splits)
    with pytest.raises(ValueError, match="input_ids lies over"):
        over[:1].to_padded(3, out={"input_ids": batch.ids[:3].reshape(1, 3)})
    with pytest.raises(ValueError, match="input_ids lies over"):
        batch[:1].to_padded(3, out={"input_ids": batch.type_ids[:3].reshape(1, 3)})


@pytest.mark.parametrize("out", [5, np.zeros((4, 6), np.int64), [1]])
def test_out_that_is_no_mapping_is_refused(out):
    with pytest.raises(TypeError, match="out must be a PaddedBatch or a mapping of arrays, not"):
        make_batch().to_padded(out=out)


def test_out_for_what_the_batch_lacks_is_refused():
    batch = Batch(np.array([1], np.int32), np.array([0, 1]))
    with pytest.raises(ValueError, match="the batch has no type_ids to write into token_type_ids"):
        batch.to_padded(out={"token_type_ids": np.zeros((1, 1), np.int32)})


def test_out_and_dtype_must_agree():
    batch = make_batch()
    with pytest.raises(ValueError, match="out: input_ids must be of dtype int32, not int64"):
        batch.to_padded(out=arrays_for(batch, 6), dtype="int32")
    with pytest.raises(ValueError, match="row 3 has 5 tokens, more than length=4"):
        batch.to_padded(out=arrays_for(batch, 4))


@pytest.mark.parametrize("splits", [[0, 2, 90], [0, 90, 2], [-9, 0, 2], [0, -(2**62), 2]])
@pytest.mark.parametrize("width", [(), (2,)])
def test_splits_that_were_changed_write_nowhere_else(splits, width):
    values, around = np.ones((3, *width), np.int32), np.zeros((4, 8, *width), np.int32)
    with pytest.raises(ValueError, match=r"row \d changed"):
        fill_padded(values, np.array(splits), around[1:3], None, False)
    assert not around[[0, 3]].any()


def test_matrices_that_do_not_fit_are_refused_by_the_kernel():
    values, splits = np.ones((3, 2), np.int32), np.array([0, 2, 3])
    for shape in [(2, 8, 3), (3, 8, 2)]:
        with pytest.raises(ValueError, match="expected equal matrices of 2 rows"):
            fill_padded(values, splits, np.zeros(shape, np.int32), None, False)
    with pytest.raises(ValueError, match="expected an array of 3 dimensions, not of 2"):
        fill_padded(values, splits, np.zeros((2, 8), np.int32), None, False)
    matrix, mask = np.zeros((2, 8), np.int32), np.zeros((2, 8), np.int64)
    with pytest.raises(ValueError, match="expected equal matrices"):
        fill_padded(values[:, 0].copy(), splits, matrix, mask, False)


# ---- PaddedBatch ----


def test_padded_batch_unpacks_into_two():
    padded = make_batch().to_padded()
    input_ids, attention_mask = padded
    assert input_ids is padded.input_ids
    assert attention_mask is padded.attention_mask


def test_padded_batches_are_equal_when_all_arrays_are():
    batch = make_batch()
    padded = batch.to_padded()
    assert padded == batch.to_padded()
    assert padded != batch.to_padded(8)
    assert padded != batch.to_padded(pad_type_id=1)
    assert padded != Batch(batch.ids, batch.row_splits).to_padded()
    assert padded != tuple(padded)
    with pytest.raises(TypeError, match="unhashable"):
        hash(padded)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_padded_batch_pickles(protocol):
    padded = make_batch().to_padded()
    assert pickle.loads(pickle.dumps(padded, protocol)) == padded


def test_repr_names_the_arrays():
    batch = Batch(np.array([1, 2], np.int32), np.array([0, 2]))
    assert repr(batch.to_padded()) == "PaddedBatch(1 x 2: input_ids, attention_mask)"


def test_to_torch_shares_memory():
    torch = pytest.importorskip("torch")
    padded = make_batch().to_padded(dtype="int64")
    tensors = padded.to_torch()
    assert isinstance(tensors, Mapping)
    assert tensors.keys() == padded.as_dict().keys()
    assert tensors["input_ids"].dtype == torch.int64
    tensors["input_ids"][0, 0] = 12345
    assert padded.input_ids[0, 0] == 12345


def test_to_torch_hands_over_the_arrays_themselves(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=lambda array: array))
    padded = make_batch().to_padded()
    assert all(found is padded.as_dict()[name] for name, found in padded.to_torch().items())


def test_to_torch_without_torch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="to_torch needs torch: pip install torch"):
        make_batch().to_padded().to_torch()
