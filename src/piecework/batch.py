"""The result of encoding many texts: token ids of all rows end to end, and where each row starts.

A Batch holds one array of ids, int32 or uint16, one of int64, and those that were asked for beside
ids; rows, slices and padded matrices are made from them by numpy and a kernel, never by a loop over
rows in Python, because a batch may hold millions of them. It does not know a tokenizer: it neither
adds special tokens nor truncates.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from piecework._numpy import np
from piecework.arrays import check_array
from piecework.padding import (
    PaddedBatch,
    Padding,
    checked_out,
    checked_shape,
    checked_side,
    pad_ids,
    pad_rows,
)
from piecework.protocol import as_int
from piecework.to_arrow import rows_to_arrow

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from piecework._sink import IdSink

    Ids: TypeAlias = NDArray[np.int32 | np.uint16]

__all__ = ["Batch", "PaddedBatch"]

_REPR_ROWS = 3
_REPR_IDS = 6
# What a batch has beside ids only if it was asked for (None if it was not), and of which type.
_DETAILS = {
    "offsets": "int32",
    "word_ids": "int32",
    "sequence_ids": "int8",
    "type_ids": "int32",
    "special_tokens_mask": "uint8",
    "overflow_to_sample": "int64",
}
_NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


def _detail(name: str) -> Any:
    """Return the property for an array that a batch may have."""

    def get(batch: Batch) -> NDArray[Any] | None:
        return batch._details.get(name)

    def put(batch: Batch, array: NDArray[Any]) -> None:
        batch._details = {**batch._details, name: array}

    return property(get, put)


class Batch:
    """Token ids of many texts, one row for each text.

    Parameters
    ----------
    ids : int32 or uint16 array, shape (n_tokens,)
        The ids of all rows, one row after the other.
    row_splits : int64 array, shape (n_rows + 1,)
        Row i is ``ids[row_splits[i]:row_splits[i + 1]]``. Starts with 0, ends with ``len(ids)``,
        never falls.
    offsets : int32 array, shape (n_tokens, 2), optional
        Where each token begins and ends in its text, in code points; (0, 0) for special tokens.
    word_ids : int32 array, shape (n_tokens,), optional
        The number of the word in its text that each token is of; -1: none.
    sequence_ids : int8 array, shape (n_tokens,), optional
        0 for tokens of the first text, 1 for those of the second; -1: none.
    type_ids : int32 array, shape (n_tokens,), optional
    special_tokens_mask : uint8 array, shape (n_tokens,), optional
        1 for the tokens that the template put there.
    overflow_to_sample : int64 array, shape (n_rows,), optional
        The number of the text that each row is of, where one text gives several rows.
    pad_id : int
        What :meth:`to_padded` fills up with: in a batch from a tokenizer its
        :attr:`~piecework.WordPieceTokenizer.pad_id`.

    Raises
    ------
    TypeError
        An argument is no numpy array of that dtype.
    ValueError
        The shapes or the row splits are not as described.

    Notes
    -----
    The arrays are used, not copied. A row is a view of `ids`. A slice of step 1 shares the arrays
    and has row splits of its own, since they start with 0; a slice of another step copies the rows
    it takes. `overflow_to_sample` keeps its numbers in a slice. Batches are equal when they have
    the same arrays, with equal numbers. They can't be hashed.

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

    __slots__ = ("_details", "_source", "ids", "pad_id", "row_splits")

    _source: tuple[IdSink, str]
    _details: Mapping[str, NDArray[Any]]
    ids: Ids
    row_splits: NDArray[np.int64]
    pad_id: int
    offsets: NDArray[np.int32] | None = _detail("offsets")
    word_ids: NDArray[np.int32] | None = _detail("word_ids")
    sequence_ids: NDArray[np.int8] | None = _detail("sequence_ids")
    type_ids: NDArray[np.int32] | None = _detail("type_ids")
    special_tokens_mask: NDArray[np.uint8] | None = _detail("special_tokens_mask")
    overflow_to_sample: NDArray[np.int64] | None = _detail("overflow_to_sample")

    def __init__(
        self,
        ids: Ids,
        row_splits: NDArray[np.int64],
        *,
        offsets: NDArray[np.int32] | None = None,
        word_ids: NDArray[np.int32] | None = None,
        sequence_ids: NDArray[np.int8] | None = None,
        type_ids: NDArray[np.int32] | None = None,
        special_tokens_mask: NDArray[np.uint8] | None = None,
        overflow_to_sample: NDArray[np.int64] | None = None,
        pad_id: int = 0,
    ) -> None:
        check_array("ids", ids, "int32", "uint16")
        check_array("row_splits", row_splits, "int64")
        # As plain arrays: a row of a memory map would otherwise be a memory map of its own.
        self.ids = np.asarray(ids)
        self.row_splits = np.asarray(row_splits)
        _check_splits(self.row_splits, len(ids))
        self.pad_id = as_int("pad_id", pad_id)
        details = {
            "offsets": offsets,
            "word_ids": word_ids,
            "sequence_ids": sequence_ids,
            "type_ids": type_ids,
            "special_tokens_mask": special_tokens_mask,
            "overflow_to_sample": overflow_to_sample,
        }
        self._details = {
            name: _checked_detail(name, array, len(ids), len(self))
            for name, array in details.items()
            if array is not None
        }

    @classmethod
    def _unchecked(cls, ids: Ids, row_splits: NDArray[np.int64], **details: NDArray[Any]) -> Batch:
        """Return a batch over arrays known to fit: the checks cost more than a short row."""
        batch = cls.__new__(cls)
        batch.ids = ids
        batch.row_splits = row_splits
        batch._details = details
        return batch

    @classmethod
    def _over(
        cls, sink: IdSink, dtype: str, details: Mapping[str, NDArray[Any]] = _NO_DETAILS
    ) -> Batch:
        """Return a batch of what a sink holds; `dtype` is the name of that of the ids."""
        batch = cls.__new__(cls)
        batch._source = sink, dtype
        batch._details = details
        return batch

    if not TYPE_CHECKING:  # to type checkers there are the attributes above, and no others

        def __getattr__(self, name: str) -> Any:
            # Python comes here for what is not set. The arrays cost as much as encoding a sentence,
            # so they are made when they are first asked for.
            if name == "pad_id":
                return 0
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
            if isinstance(index, bool):  # which has an index
                raise TypeError
            row = operator.index(index)
        except TypeError:
            kind = type(index).__name__
            raise TypeError(f"expected the number of a row, or a slice, got {kind}") from None
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of a batch of {len(self)} rows")
        row %= len(self)
        return self.ids[self.row_splits[row] : self.row_splits[row + 1]]

    def _slice(self, start: int, stop: int, step: int) -> Batch:
        details = self.details()
        by_row = details.pop("overflow_to_sample", None)
        tokens: slice | NDArray[np.int64]
        if step == 1:
            splits = self.row_splits[start : max(start, stop) + 1]
            tokens = slice(splits[0], splits[-1])
            splits = splits - splits[0]
        else:
            rows = np.arange(start, stop, step)
            starts, lengths = self.row_splits[rows], self.lengths[rows]
            splits = np.zeros(len(rows) + 1, dtype=np.int64)
            np.cumsum(lengths, out=splits[1:])
            tokens = np.arange(splits[-1]) + np.repeat(starts - splits[:-1], lengths)
        part = {name: array[tokens] for name, array in details.items()}
        if by_row is not None:
            part["overflow_to_sample"] = by_row[
                slice(start, max(start, stop)) if step == 1 else rows
            ]
        batch = Batch._unchecked(self.ids[tokens], splits, **part)
        batch.pad_id = self.pad_id
        return batch

    def __iter__(self) -> Iterator[Ids]:
        for start, stop in pairwise(self.row_splits):
            yield self.ids[start:stop]

    def __contains__(self, item: object) -> bool:
        # Without it Python would compare `item` with each row, an array, and fail on the answer.
        raise TypeError("a Batch has no `in`: look into batch.ids for an id, tolist() for a row")

    def __reduce__(self) -> tuple[Any, ...]:
        options = {**self.details(), "pad_id": self.pad_id}
        return _restored, (type(self), self.ids, self.row_splits, options)

    def details(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the batch has beside ids and row splits, by name.

        Examples
        --------
        >>> ids, types = np.array([5, 6], dtype=np.int32), np.array([0, 1], dtype=np.int32)
        >>> Batch(ids, np.array([0, 2], dtype=np.int64), type_ids=types).details()
        {'type_ids': array([0, 1], dtype=int32)}
        """
        return {name: self._details[name] for name in _DETAILS if name in self._details}

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
        pad_id: int | None = None,
        side: Literal["right", "left"] = "right",
        multiple_of: int = 1,
        dtype: DTypeLike | None = None,
        pad_type_id: int = 0,
        out: PaddedBatch | Mapping[str, NDArray[Any]] | None = None,
    ) -> PaddedBatch:
        """Return the rows as matrices, filled up with padding.

        Parameters
        ----------
        length : int, optional
            Columns of the matrices; by default those of `out`, or the length of the longest row.
            Rows are never cut.
        pad_id : int, optional
            The id to fill up with, by default the batch's own.
        side : "right" or "left"
            Where the padding goes.
        multiple_of : int
            The number of columns is rounded up to a multiple of this, a given `length` too.
        dtype : integer dtype, optional
            Of the ids, type ids and masks; by default that of `out`, or int32. Offsets, word ids
            and sequence ids have the batch's.
        pad_type_id : int
            The type id to fill up with.
        out : PaddedBatch or mapping of str to array, optional
            Where the matrices go, by the names of a :class:`PaddedBatch`: C-contiguous, of this
            shape. Those that are missing are made. Offsets, word ids and sequence ids may have a
            wider type of signed integers than the batch's.

        Returns
        -------
        PaddedBatch
            ``input_ids`` and ``attention_mask``, shape (n_rows, length), and one more matrix for
            each array that the batch has for its tokens.

        Raises
        ------
        ValueError
            A row is longer than `length`, an id does not fit into `dtype`, a number is too low, or
            an array of `out` has another shape, dtype or layout.
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
        >>> matrix = np.empty((2, 4), dtype=np.int64)
        >>> batch.to_padded(out={"input_ids": matrix}).input_ids is matrix
        True
        """
        pads_left = checked_side(side) == "left"
        pad_id = self.pad_id if pad_id is None else as_int("pad_id", pad_id)
        if out is None and not self._details:
            return pad_ids(self, checked_shape(self, length, multiple_of), pad_id, dtype, pads_left)
        given = {} if out is None else checked_out(out, self)
        if given and length is None:
            length = next(iter(given.values())).shape[1]
        shape = checked_shape(self, length, multiple_of)
        padding = Padding(pad_id, as_int("pad_type_id", pad_type_id), pads_left)
        return pad_rows(self, shape, padding, dtype, given)

    def to_arrow(self) -> Any:
        """Return the rows as an array of pyarrow that shares the memory of the batch.

        Returns
        -------
        pyarrow.ListArray
            Of ``list<int32>``, or ``list<uint16>`` if that is what the ids are; a
            ``pyarrow.LargeListArray`` for more ids than 32-bit offsets can count (2**31 - 1).
        pyarrow.StructArray
            If the batch has more than ids: a list array of each of the arrays, by name, "ids"
            among them, and "overflow_to_sample" as integers. Offsets are lists of two; -1 stays
            -1, and does not become null.

        Raises
        ------
        ImportError
            pyarrow is not installed.
        """
        return rows_to_arrow(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        mine, theirs = self.details(), other.details()
        return (
            mine.keys() == theirs.keys()
            and np.array_equal(self.row_splits, other.row_splits)
            and np.array_equal(self.ids, other.ids)
            and all(np.array_equal(array, theirs[name]) for name, array in mine.items())
        )

    __hash__ = None  # type: ignore[assignment]  # its arrays can be written to

    def __repr__(self) -> str:
        first = self[: _REPR_ROWS + 1]
        rows = [_shorten(row[: _REPR_IDS + 1].tolist(), _REPR_IDS) for row in first]
        names = ", ".join(self.details())
        return (
            f"Batch({_count(len(self), 'row')}, {_count(len(self.ids), 'token')}"
            f"{f' with {names}' if names else ''}: {_shorten(rows, _REPR_ROWS)})"
        )


def _restored(
    kind: type[Batch], ids: Ids, row_splits: NDArray[np.int64], options: dict[str, Any]
) -> Batch:
    """Return the batch that was pickled: what the constructor takes by name."""
    return kind(ids, row_splits, **options)


def _checked_detail(name: str, array: NDArray[Any], n_tokens: int, n_rows: int) -> NDArray[Any]:
    check_array(name, array, _DETAILS[name], width=2 if name == "offsets" else None)
    expected, of = (n_rows, "row") if name == "overflow_to_sample" else (n_tokens, "token")
    if len(array) != expected:
        raise ValueError(f"{name} must have an item for each {of}, {expected}, not {len(array)}")
    return np.asarray(array)


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


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _shorten(items: list[Any], limit: int) -> str:
    shown = [str(item) for item in items[:limit]]
    return f"[{', '.join(shown + ['...'] * (len(items) > limit))}]"
