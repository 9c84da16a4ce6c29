"""Rows of different lengths to matrices, filled up with padding.

In: a batch, how long rows shall be and what to fill up with; perhaps arrays of the caller. Out: a
:class:`PaddedBatch`. Rows are never cut; that is truncation, and comes before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework._numpy import np
from piecework._pad import fill_padded, longest_row
from piecework.arrays import IntegerType, checked_type, plain_array
from piecework.protocol import as_int

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from piecework.batch import Batch

_MOST_COLUMNS = 2**31 - 1
_MODEL_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "special_tokens_mask")
_NAMES = (*_MODEL_INPUTS, "offsets", "word_ids", "sequence_ids")


class Padding(NamedTuple):
    """How rows are filled up, as in :meth:`piecework.batch.Batch.to_padded`, and on which side."""

    pad_id: int
    pad_type_id: int
    pads_left: bool


class PaddedBatch:
    """Rows of equal length, ready for a model.

    Unpacks into `input_ids` and `attention_mask`. Equal to another one if all arrays are; can't be
    hashed.

    Attributes
    ----------
    input_ids : integer array, shape (n_rows, length)
    attention_mask : integer array, shape (n_rows, length)
        1 where `input_ids` holds a token, 0 where it holds padding.
    token_type_ids : integer array, shape (n_rows, length), or None
        None, as the others below, if the batch has none.
    special_tokens_mask : integer array, shape (n_rows, length), or None
        1 for the tokens of the template and for padding.
    offsets : integer array, shape (n_rows, length, 2), or None
        Zeros for padding.
    word_ids, sequence_ids : integer array, shape (n_rows, length), or None
        -1 for padding.

    Examples
    --------
    >>> padded = PaddedBatch(np.array([[5, 6]]), np.array([[1, 1]]))
    >>> input_ids, attention_mask = padded
    >>> input_ids.tolist(), padded.offsets
    ([[5, 6]], None)
    """

    def __init__(
        self,
        input_ids: NDArray[Any],
        attention_mask: NDArray[Any],
        token_type_ids: NDArray[Any] | None = None,
        special_tokens_mask: NDArray[Any] | None = None,
        offsets: NDArray[Any] | None = None,
        word_ids: NDArray[Any] | None = None,
        sequence_ids: NDArray[Any] | None = None,
    ) -> None:
        self.input_ids = input_ids
        self.attention_mask = attention_mask
        self.token_type_ids = token_type_ids
        self.special_tokens_mask = special_tokens_mask
        self.offsets = offsets
        self.word_ids = word_ids
        self.sequence_ids = sequence_ids

    def __iter__(self) -> Iterator[NDArray[Any]]:
        yield self.input_ids
        yield self.attention_mask

    def as_dict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that are there, by name."""
        return {name: array for name, array in vars(self).items() if array is not None}

    def to_torch(self) -> dict[str, Any]:
        """Return the arrays that are there as tensors of torch, by name.

        No copy is made: a tensor is the memory of its array, and a change of one is seen in the
        other. For int64 tensors, pad with ``dtype="int64"``.

        Raises
        ------
        ImportError
            torch is not installed.
        TypeError, ValueError
            torch has no such type of integers, or not in this order of bytes.
        """
        try:
            import torch
        except ImportError as error:
            raise ImportError("to_torch needs torch: pip install torch") from error
        return {name: torch.from_numpy(array) for name, array in self.as_dict().items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PaddedBatch):
            return NotImplemented
        mine, theirs = self.as_dict(), other.as_dict()
        return mine.keys() == theirs.keys() and all(
            np.array_equal(array, theirs[name]) for name, array in mine.items()
        )

    __hash__ = None  # type: ignore[assignment]  # its arrays can be written to

    def __repr__(self) -> str:
        n_rows, length = self.input_ids.shape
        return f"PaddedBatch({n_rows} x {length}: {', '.join(self.as_dict())})"


def pad_ids(
    batch: Batch, shape: tuple[int, int], pad_id: int, dtype: DTypeLike | None, pads_left: bool
) -> PaddedBatch:
    """Return a batch that has nothing but ids as matrices.

    As :func:`pad_rows`, which would take twice the time for 32 sentences.
    """
    ids, row_splits = plain_array(batch.ids), plain_array(batch.row_splits)
    kind, native, _, _ = checked_type("int32" if dtype is None else dtype, ids, pad_id)
    input_ids, attention_mask = _filled(shape, pad_id, native), np.zeros(shape, native)
    fill_padded(ids, row_splits, input_ids, attention_mask, pads_left)
    if not kind.isnative:
        input_ids, attention_mask = input_ids.astype(kind), attention_mask.astype(kind)
    return PaddedBatch(input_ids, attention_mask)


def pad_rows(
    batch: Batch,
    shape: tuple[int, int],
    padding: Padding,
    dtype: DTypeLike | None,
    given: Mapping[str, NDArray[Any]],
) -> PaddedBatch:
    """Return all that a batch has as matrices, those that are `given` among them."""
    ids, row_splits = plain_array(batch.ids), plain_array(batch.row_splits)
    if dtype is None:
        dtype = next((given[name].dtype for name in _MODEL_INPUTS if name in given), "int32")
    kind = checked_type(dtype, ids, padding.pad_id)
    matrices = _Matrices(shape, kind, given)
    made = {
        "input_ids": matrices.make("input_ids", padding.pad_id),
        "attention_mask": matrices.make("attention_mask", 0),
    }
    others = _others(batch, matrices, padding.pad_type_id)
    fill_padded(ids, row_splits, made["input_ids"], made["attention_mask"], padding.pads_left)
    for name, (values, matrix) in others.items():
        fill_padded(plain_array(values), row_splits, matrix, None, padding.pads_left)
        made[name] = matrix
    if not kind.dtype.isnative:
        made.update((name, made[name].astype(kind.dtype)) for name in _MODEL_INPUTS if name in made)
    return PaddedBatch(**made)


def checked_side(side: str) -> str:
    """Return where the padding goes, or raise."""
    if not isinstance(side, str) or side not in ("right", "left"):
        raise ValueError(f"side must be 'right' or 'left', not {side!r}")
    return side


def checked_shape(batch: Batch, length: int | None, multiple_of: int) -> tuple[int, int]:
    """Return the shape of the matrices, or raise for a row that is too long for it."""
    row_splits = plain_array(batch.row_splits)
    longest = longest_row(row_splits)
    multiple_of = as_int("multiple_of", multiple_of, minimum=1, maximum=_MOST_COLUMNS)
    if length is None:
        length = longest
    else:
        length = as_int("length", length, minimum=0, maximum=_MOST_COLUMNS)
    if longest > length:
        row = int(np.argmax(batch.lengths > length))
        raise ValueError(f"row {row} has {batch.lengths[row]} tokens, more than length={length}")
    return len(row_splits) - 1, -(-length // multiple_of) * multiple_of


def _filled(shape: tuple[int, ...], value: int, dtype: DTypeLike) -> NDArray[Any]:
    # Zeros that numpy makes are not written: the system gives such memory.
    return np.full(shape, value, dtype) if value else np.zeros(shape, dtype)


def _others(
    batch: Batch, matrices: _Matrices, pad_type_id: int
) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    """Return what the batch has beside ids, and the matrices for it, filled with padding."""
    others: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    if batch.type_ids is not None:
        checked_type(matrices.kind.dtype, batch.type_ids, pad_type_id)
        others["token_type_ids"] = batch.type_ids, matrices.make("token_type_ids", pad_type_id)
    if batch.special_tokens_mask is not None:
        matrix = matrices.make("special_tokens_mask", 1)
        others["special_tokens_mask"] = batch.special_tokens_mask, matrix
    for name, pad in (("offsets", 0), ("word_ids", -1), ("sequence_ids", -1)):
        if (values := getattr(batch, name)) is not None:
            others[name] = values, matrices.make(name, pad, values)
    return others


class _Matrices(NamedTuple):
    """Makes matrices, or takes those that are given, and fills them with padding."""

    shape: tuple[int, int]
    kind: IntegerType
    given: Mapping[str, NDArray[Any]]

    def make(self, name: str, pad: int, values: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return a matrix; of the type and width of `values`, if there are some."""
        dtype = self.kind.native if values is None else values.dtype
        shape = self.shape if values is None else self.shape + values.shape[1:]
        given = self.given.get(name)
        if given is not None:
            _check_given(name, given, shape, self.kind.dtype if values is None else dtype)
            given.fill(pad)
            return given
        return _filled(shape, pad, dtype)


def checked_out(out: object, batch: Batch) -> dict[str, NDArray[Any]]:
    """Return the arrays of the caller by name, or raise for what can't be filled."""
    if isinstance(out, PaddedBatch):
        given = out.as_dict()
    elif isinstance(out, Mapping):
        given = dict(out)
    else:
        raise TypeError(f"out must be a PaddedBatch or a mapping of arrays, not {out!r}")
    taken = [batch.ids, batch.row_splits, *batch.details().values()]
    for name, array in given.items():
        if name not in _NAMES:
            raise ValueError(f"out: expected names among {', '.join(_NAMES)}; got {name!r}")
        source = "type_ids" if name == "token_type_ids" else name
        if name not in ("input_ids", "attention_mask") and getattr(batch, source) is None:
            raise ValueError(f"out: the batch has no {source} to write into {name}")
        if not isinstance(array, np.ndarray):
            raise TypeError(f"out: {name} must be an array, not {type(array).__name__}")
        if array.ndim < 2:
            raise ValueError(f"out: {name} must be a matrix, not of shape {array.shape}")
    for name, array in given.items():
        if any(np.may_share_memory(array, other) for other in taken):
            raise ValueError(f"out: {name} lies over an array of the batch, or over another one")
        taken.append(array)
    return given


def _check_given(
    name: str, array: NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    if array.shape != shape:
        raise ValueError(f"out: {name} must be of shape {shape}, not {array.shape}")
    if name in _MODEL_INPUTS:
        if array.dtype != dtype or not dtype.isnative:
            raise ValueError(
                f"out: {name} must be of dtype {dtype.newbyteorder('=')}, not {array.dtype}"
            )
    elif array.dtype.kind != "i" or not array.dtype.isnative or array.itemsize < dtype.itemsize:
        raise ValueError(f"out: {name} must be of dtype {dtype} or a wider one, not {array.dtype}")
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and flags.writeable):
        raise ValueError(f"out: {name} must be C-contiguous, aligned and writeable")
