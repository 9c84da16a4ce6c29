"""A batch as the columns of a BatchEncoding: matrices, or lists of lists.

In goes a :class:`~piecework.batch.Batch` with what the columns need, out comes a dict of int64
arrays or of lists, in the order of the names that were asked for. It encodes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
from transformers import BatchEncoding
from transformers.utils import TensorType, is_torch_available

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework.batch import Batch


class Padding(NamedTuple):
    """How rows are filled up.

    Attributes
    ----------
    length : int or None
        None: that of the longest row. Longer rows stay as they are.
    multiple_of : int
        The length is rounded up to a multiple of it.
    side : "right" or "left"
    pad_id, pad_type_id : int
    """

    length: int | None
    multiple_of: int
    side: Literal["right", "left"]
    pad_id: int
    pad_type_id: int

    def target(self, longest: int) -> int:
        """Return the length to fill up to, for rows of which the longest is so long."""
        length = longest if self.length is None else self.length
        return -(-length // self.multiple_of) * self.multiple_of

    def as_options(self) -> dict[str, Any]:
        """Return the arguments of ``enable_padding`` of the tokenizers library."""
        return {
            "length": self.length,
            "pad_to_multiple_of": self.multiple_of,
            "direction": self.side,
            "pad_id": self.pad_id,
            "pad_type_id": self.pad_type_id,
        }


def arrays(batch: Batch, names: Sequence[str], padding: Padding | None) -> dict[str, Any]:
    """Return columns as int64 arrays of shape (n_rows, length).

    Raises
    ------
    ValueError
        The rows are of different lengths, and `padding` leaves them so.
    """
    if padding is not None and padding.length is None and batch.overflow_to_sample is None:
        return _matrices(batch, names, padding, None)  # all as long as the longest
    target, longest = _widths(batch, padding)
    if max(target, int(batch.lengths.min(initial=longest))) < longest:
        raise ValueError(
            "Unable to create tensor, you should probably activate truncation and/or padding with "
            "'padding=True' 'truncation=True' to have batched tensors with the same length: rows "
            f"have {batch.lengths.min()} to {batch.lengths.max()} tokens"
        )
    return _matrices(batch, names, padding, max(target, longest))


def lists(batch: Batch, names: Sequence[str], padding: Padding | None) -> dict[str, list[Any]]:
    """Return columns as lists, with one element for each row: a list, or a number for lengths."""
    if padding is None:
        return {name: _flat(batch, name) for name in names}
    target, longest = _widths(batch, padding)
    width = max(target, longest)
    columns = {
        name: _as_lists(matrix) for name, matrix in _matrices(batch, names, padding, width).items()
    }
    if target < longest:
        lengths = np.maximum(batch.lengths, target).tolist()
        cut = _cutter(lengths, padding.side, width)
        columns = {name: lengths if name == "length" else cut(columns[name]) for name in names}
    return columns


def as_tensors(data: dict[str, Any], tensor_type: Any) -> dict[str, Any]:
    """Return columns of arrays as tensors of a type that transformers knows.

    Raises
    ------
    ValueError
        There is no such type.
    ImportError
        The library of the type is not installed.
    """
    kind = TensorType(tensor_type)
    if kind == TensorType.NUMPY:
        return data
    if kind == TensorType.PYTORCH and is_torch_available():
        import torch

        return {name: torch.from_numpy(array) for name, array in data.items()}  # not copied
    return dict(BatchEncoding(data, tensor_type=kind))


def _widths(batch: Batch, padding: Padding | None) -> tuple[int, int]:
    """Return the length that rows are filled up to, 0 without padding, and that of the longest."""
    longest = int(batch.lengths.max(initial=0))
    if padding is None:
        return 0, longest
    samples = batch.overflow_to_sample
    if padding.length is not None or samples is None or not len(batch):
        return padding.target(longest), longest
    # What was cut off has no say: a window may be longer than the row that it was cut from.
    is_first = np.diff(samples, prepend=-1) > 0
    return padding.target(int(batch.lengths[is_first].max())), longest


def _matrices(
    batch: Batch, names: Sequence[str], padding: Padding | None, width: int | None
) -> dict[str, NDArray[np.int64]]:
    if padding is None:
        padded = batch.to_padded(width, dtype="int64")
    else:
        padded = batch.to_padded(
            width,
            pad_id=padding.pad_id,
            side=padding.side,
            multiple_of=padding.multiple_of if width is None else 1,
            dtype="int64",
            pad_type_id=padding.pad_type_id,
        )
    columns: dict[str, Any] = {}
    for name in names:
        if name == "length":
            columns[name] = np.full(len(batch), padded.input_ids.shape[1])
        elif name == "offset_mapping":
            columns[name] = np.asarray(padded.offsets, np.int64)
        elif name == "token_type_ids" and padded.token_type_ids is None:
            columns[name] = _zero_type_ids(padded.attention_mask, padding)
        else:
            columns[name] = getattr(padded, name)
    return columns


def _zero_type_ids(attention_mask: NDArray[np.int64], padding: Padding | None) -> NDArray[np.int64]:
    if padding is None or not padding.pad_type_id:
        return np.zeros(attention_mask.shape, np.int64)  # not written: the system gives zeros
    return (1 - attention_mask) * padding.pad_type_id


def _flat(batch: Batch, name: str) -> list[Any]:
    n_tokens = len(batch.ids)
    if name == "length":
        return cast("list[Any]", batch.lengths.tolist())
    if name == "attention_mask":
        flat: list[Any] = [1] * n_tokens
    elif name == "token_type_ids":
        flat = [0] * n_tokens if batch.type_ids is None else batch.type_ids.tolist()
    elif name == "offset_mapping":
        flat = list(zip(*np.asarray(batch.offsets).T.tolist(), strict=True))
    else:
        array = batch.ids if name == "input_ids" else batch.special_tokens_mask
        flat = np.asarray(array).tolist()
    return [flat[start:stop] for start, stop in pairwise(batch.row_splits.tolist())]


def _as_lists(matrix: NDArray[np.int64]) -> list[Any]:
    if matrix.ndim < 3:
        return cast("list[Any]", matrix.tolist())
    n_rows, width, _ = matrix.shape
    flat = list(zip(*matrix.reshape(n_rows * width, 2).T.tolist(), strict=True))
    return [flat[i * width : (i + 1) * width] for i in range(n_rows)]


def _cutter(lengths: list[int], side: str, width: int) -> Callable[[list[Any]], list[Any]]:
    """Return what takes off the padding that rows have beyond their own lengths."""
    if side == "right":
        return lambda rows: [row[:length] for row, length in zip(rows, lengths, strict=True)]
    return lambda rows: [row[width - length :] for row, length in zip(rows, lengths, strict=True)]
