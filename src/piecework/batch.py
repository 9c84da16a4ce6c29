"""The result of encoding many texts: token ids of all rows end to end, and where each row starts.

A Batch holds one array of ids, int32 or uint16, and one of int64; rows, slices and padded matrices
are made from them by numpy and a kernel, never by a loop over rows in Python, because a batch may
hold millions of them. It does not know a tokenizer: it neither adds special tokens nor truncates.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from piecework._numpy import np
from piecework._pad import fill_padded, longest_row
from piecework.protocol import as_int

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from piecework._sink import IdSink

    Ids: TypeAlias = NDArray[np.int32 | np.uint16]

_MOST_COLUMNS = 2**31 - 1
_REPR_ROWS = 3
_REPR_IDS = 6


class PaddedBatch(NamedTuple):
    """Rows of equal length, ready for a model.

    Attributes
    ----------
    input_ids : integer array, shape (n_rows, length)
    attention_mask : integer array, shape (n_rows, length)
        1 where `input_ids` holds a token, 0 where it holds padding.
    """

    input_ids: NDArray[Any]
    attention_mask: NDArray[Any]


class Batch:
    """Token ids of many texts, one row for each text.

    Parameters
    ----------
    ids : int32 or uint16 array, shape (n_tokens,)
        The ids of all rows, one row after the other.
    row_splits : int64 array, shape (n_rows + 1,)
        Row i is ``ids[row_splits[i]:row_splits[i + 1]]``. Starts with 0, ends with ``len(ids)``,
        never falls.

    Raises
    ------
    TypeError
        An argument is no numpy array of that dtype.
    ValueError
        The shapes or the row splits are not as described.

    Notes
    -----
    The arrays are used, not copied. A row is a view of `ids`. A slice of step 1 shares `ids` and
    has row splits of its own, since they start with 0; a slice of another step copies the rows it
    takes. Batches are equal when their rows are. They can't be hashed.

    Thread-safety: safe as long as nobody writes to the arrays.

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array([101, 7592, 102, 101, 102], dtype=np.int32)
    >>> batch = Batch(ids, np.array([0, 3, 5], dtype=np.int64))
    >>> batch
    Batch(2 rows, 5 tokens: [[101, 7592, 102], [101, 102]])
    >>> batch[0]
    array([ 101, 7592,  102], dtype=int32)
    >>> batch[1:]
    Batch(1 row, 2 tokens: [[101, 102]])
    >>> batch.lengths.tolist()
    [3, 2]
    """

    __slots__ = ("_source", "ids", "row_splits")

    _source: tuple[IdSink, str]
    ids: Ids
    row_splits: NDArray[np.int64]

    def __init__(self, ids: Ids, row_splits: NDArray[np.int64]) -> None:
        _check_array("ids", ids, np.int32, np.uint16)
        _check_array("row_splits", row_splits, np.int64)
        # As plain arrays: a row of a memory map would otherwise be a memory map of its own.
        self.ids = np.asarray(ids)
        self.row_splits = np.asarray(row_splits)
        _check_splits(self.row_splits, len(ids))

    @classmethod
    def _unchecked(cls, ids: Ids, row_splits: NDArray[np.int64]) -> Batch:
        """Return a batch over arrays known to fit: the checks cost more than a short row."""
        batch = cls.__new__(cls)
        batch.ids = ids
        batch.row_splits = row_splits
        return batch

    @classmethod
    def _over(cls, sink: IdSink, dtype: str) -> Batch:
        """Return a batch of what a sink holds; `dtype` is the name of that of the ids."""
        batch = cls.__new__(cls)
        batch._source = sink, dtype
        return batch

    if not TYPE_CHECKING:  # to type checkers there are the attributes above, and no others

        def __getattr__(self, name: str) -> Any:
            # Python comes here for what is not set. The arrays cost as much as encoding a sentence,
            # so they are made when they are first asked for.
            if name != "ids" and name != "row_splits":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            sink, dtype = self._source
            self.ids = ids = np.frombuffer(sink.ids_buffer(), dtype)
            self.row_splits = row_splits = np.frombuffer(sink.row_splits(), np.int64)
            return ids if name == "ids" else row_splits

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    @overload
    def __getitem__(self, index: int) -> Ids: ...
    @overload
    def __getitem__(self, index: slice) -> Batch: ...
    def __getitem__(self, index: int | slice) -> Ids | Batch:
        if isinstance(index, slice):
            return self._slice(*index.indices(len(self)))
        try:
            row = operator.index(index)
        except TypeError:
            kind = type(index).__name__
            raise TypeError(f"expected the number of a row, or a slice, got {kind}") from None
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of a batch of {len(self)} rows")
        row %= len(self)
        return self.ids[self.row_splits[row] : self.row_splits[row + 1]]

    def _slice(self, start: int, stop: int, step: int) -> Batch:
        if step == 1:
            splits = self.row_splits[start : max(start, stop) + 1]
            return Batch._unchecked(self.ids[splits[0] : splits[-1]], splits - splits[0])
        rows = np.arange(start, stop, step)
        starts, lengths = self.row_splits[rows], self.lengths[rows]
        splits = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=splits[1:])
        sources = np.arange(splits[-1]) + np.repeat(starts - splits[:-1], lengths)
        return Batch._unchecked(self.ids[sources], splits)

    def __iter__(self) -> Iterator[Ids]:
        for start, stop in pairwise(self.row_splits):
            yield self.ids[start:stop]

    def __contains__(self, item: object) -> bool:
        # Without it Python would compare `item` with each row, an array, and fail on the answer.
        raise TypeError("a Batch has no `in`: look into batch.ids for an id, tolist() for a row")

    def __reduce__(self) -> tuple[type[Batch], tuple[Ids, NDArray[np.int64]]]:
        return type(self), (self.ids, self.row_splits)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each row, int64, shape (n_rows,)."""
        return np.diff(self.row_splits)

    def tolist(self) -> list[list[int]]:
        """Return the rows as lists of Python integers.

        Examples
        --------
        >>> ids = np.array([5, 6, 7], dtype=np.int32)
        >>> Batch(ids, np.array([0, 2, 2, 3], dtype=np.int64)).tolist()
        [[5, 6], [], [7]]
        """
        return [row.tolist() for row in self]

    def to_padded(
        self,
        length: int | None = None,
        *,
        pad_id: int = 0,
        side: Literal["right", "left"] = "right",
        multiple_of: int = 1,
        dtype: DTypeLike = "int32",
    ) -> PaddedBatch:
        """Return the rows as one matrix, filled up with padding.

        Parameters
        ----------
        length : int, optional
            Columns of the matrix; by default the length of the longest row. Rows are never cut.
        pad_id : int
            The id to fill up with. BERT's [PAD] is 0.
        side : "right" or "left"
            Where the padding goes.
        multiple_of : int
            The number of columns is rounded up to a multiple of this, a given `length` too.
        dtype : integer dtype
            Of both matrices.

        Returns
        -------
        PaddedBatch
            ``input_ids`` and ``attention_mask``, shape (n_rows, length).

        Raises
        ------
        ValueError
            A row is longer than `length`, an id does not fit into `dtype`, or a number is too low.
        TypeError
            An argument is of another type; a bool is no integer here.

        Examples
        --------
        >>> ids = np.array([5, 6, 7], dtype=np.int32)
        >>> batch = Batch(ids, np.array([0, 2, 3], dtype=np.int64))
        >>> input_ids, attention_mask = batch.to_padded(4)
        >>> input_ids
        array([[5, 6, 0, 0],
               [7, 0, 0, 0]], dtype=int32)
        >>> attention_mask
        array([[1, 1, 0, 0],
               [1, 0, 0, 0]], dtype=int32)
        """
        if not isinstance(side, str) or side not in ("right", "left"):
            raise ValueError(f"side must be 'right' or 'left', not {side!r}")
        pad_id = as_int("pad_id", pad_id)
        ids, row_splits = _plain(self.ids), _plain(self.row_splits)
        n_columns = self._n_columns(longest_row(row_splits), length, multiple_of)
        dtype, native, _, _ = _checked_type(dtype, ids, pad_id)
        shape = (len(row_splits) - 1, n_columns)
        # Zeros that numpy makes are not written: the system gives such memory.
        input_ids = np.full(shape, pad_id, native) if pad_id else np.zeros(shape, native)
        attention_mask = np.zeros(shape, native)
        fill_padded(ids, row_splits, input_ids, attention_mask, side == "left")
        if not dtype.isnative:
            input_ids, attention_mask = input_ids.astype(dtype), attention_mask.astype(dtype)
        return PaddedBatch(input_ids, attention_mask)

    def to_arrow(self) -> Any:
        """Return the rows as an array of pyarrow that shares the ids.

        Returns
        -------
        pyarrow.ListArray
            Of ``list<int32>``, or ``list<uint16>`` if that is what the ids are; a
            ``pyarrow.LargeListArray`` for more ids than 32-bit offsets can count (2**31 - 1).

        Raises
        ------
        ImportError
            pyarrow is not installed.
        """
        try:
            import pyarrow
        except ImportError as error:
            raise ImportError('to_arrow needs pyarrow: pip install "piecework[arrow]"') from error
        is_large = len(self.ids) > np.iinfo(np.int32).max
        kind = pyarrow.LargeListArray if is_large else pyarrow.ListArray
        offsets = self.row_splits.astype(np.int64 if is_large else np.int32, copy=False)
        # From buffers: pyarrow.array would copy ids that it can't take as they are.
        ids = pyarrow.Array.from_buffers(
            pyarrow.from_numpy_dtype(self.ids.dtype),
            len(self.ids),
            [None, pyarrow.py_buffer(np.ascontiguousarray(self.ids))],
        )
        return kind.from_arrays(pyarrow.array(offsets), ids)

    def _n_columns(self, longest: int, length: int | None, multiple_of: int) -> int:
        multiple_of = as_int("multiple_of", multiple_of, minimum=1, maximum=_MOST_COLUMNS)
        if length is None:
            length = longest
        else:
            length = as_int("length", length, minimum=0, maximum=_MOST_COLUMNS)
        if longest > length:
            row = int(np.argmax(self.lengths > length))
            raise ValueError(f"row {row} has {self.lengths[row]} tokens, more than length={length}")
        return -(-length // multiple_of) * multiple_of

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return np.array_equal(self.row_splits, other.row_splits) and np.array_equal(
            self.ids, other.ids
        )

    __hash__ = None  # type: ignore[assignment]  # its arrays can be written to

    def __repr__(self) -> str:
        first = self[: _REPR_ROWS + 1]
        rows = [_shorten(row[: _REPR_IDS + 1].tolist(), _REPR_IDS) for row in first]
        return (
            f"Batch({_count(len(self), 'row')}, {_count(len(self.ids), 'token')}: "
            f"{_shorten(rows, _REPR_ROWS)})"
        )


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that a kernel can read: itself, or a copy without gaps."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, None, ["C", "A"])


def _check_array(name: str, array: object, *dtypes: type[np.generic]) -> None:
    expected = f"{name} must be a 1-D {' or '.join(str(np.dtype(each)) for each in dtypes)} array"
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{expected}, not {type(array).__name__}")
    if array.dtype not in dtypes:
        raise TypeError(f"{expected}, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{expected}, not one of shape {array.shape}")


def _check_splits(row_splits: NDArray[np.int64], n_tokens: int) -> None:
    if len(row_splits) == 0:
        raise ValueError("row_splits must hold n_rows + 1 numbers, but it is empty")
    if row_splits[0] != 0:
        raise ValueError(f"row_splits must start with 0, not {row_splits[0]}")
    falls = row_splits[1:] < row_splits[:-1]
    if falls.any():
        row = int(np.argmax(falls))
        raise ValueError(
            f"row_splits must not fall, but row {row} goes from {row_splits[row]} "
            f"to {row_splits[row + 1]}"
        )
    if row_splits[-1] != n_tokens:
        raise ValueError(f"row_splits must end with len(ids) = {n_tokens}, not {row_splits[-1]}")


class _IntegerType(NamedTuple):
    dtype: np.dtype[Any]
    native: np.dtype[Any]  # the same in the order of bytes that kernels read
    lowest: int
    highest: int


@lru_cache(maxsize=16)  # asking numpy costs as much as padding a sentence
def _integer_type(dtype: Any) -> _IntegerType:
    result = np.dtype(dtype)
    if result.kind not in "iu":
        raise ValueError(f"dtype must be an integer type, not {result}")
    limits = np.iinfo(result)
    return _IntegerType(result, result.newbyteorder("="), int(limits.min), int(limits.max))


def _checked_type(dtype: DTypeLike, ids: Ids, pad_id: int) -> _IntegerType:
    """Return an integer type in which all ids and the `pad_id` have room, or raise."""
    try:
        result = _integer_type(dtype)  # type: ignore[arg-type]  # what has no hash is none
    except (TypeError, SyntaxError):  # numpy's, for "i4,,"
        raise TypeError(f"dtype must be an integer type, not {dtype!r}") from None
    held = _integer_type(ids.dtype)
    low = high = pad_id
    # Where the type of the ids has room, none of them is looked at.
    if result.lowest > held.lowest:
        low = min(low, int(ids.min(initial=0)))
    if result.highest < held.highest:
        high = max(high, int(ids.max(initial=0)))
    if low < result.lowest or high > result.highest:
        wrong = low if low < result.lowest else high
        raise ValueError(f"{wrong} does not fit into dtype {result.dtype}")
    return result


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _shorten(items: list[Any], limit: int) -> str:
    shown = [str(item) for item in items[:limit]]
    return f"[{', '.join(shown + ['...'] * (len(items) > limit))}]"
