"""Batches to arrays of pyarrow, which share their memory.

In: a batch. Out: a list array of ids, or a struct array of all that the batch has. The extra
`piecework[arrow]` is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from piecework._numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework.batch import Batch


def rows_to_arrow(batch: Batch) -> Any:
    """Return the rows; :meth:`piecework.batch.Batch.to_arrow` has the details."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('to_arrow needs pyarrow: pip install "piecework[arrow]"') from error
    is_large = len(batch.ids) > np.iinfo(np.int32).max
    kind = pyarrow.LargeListArray if is_large else pyarrow.ListArray
    splits = pyarrow.array(batch.row_splits.astype(np.int64 if is_large else np.int32, copy=False))
    ids = kind.from_arrays(splits, _over(pyarrow, batch.ids))
    details = batch.details()
    if not details:
        return ids
    fields = {"ids": ids}
    for name, array in details.items():
        if name == "overflow_to_sample":
            fields[name] = _over(pyarrow, array)
            continue
        values = _over(pyarrow, array.reshape(-1))
        if array.ndim == 2:
            values = pyarrow.FixedSizeListArray.from_arrays(values, array.shape[1])
        fields[name] = kind.from_arrays(splits, values)
    return pyarrow.StructArray.from_arrays(list(fields.values()), list(fields))


def _over(pyarrow: Any, array: NDArray[Any]) -> Any:
    # From buffers: pyarrow.array would copy what it can't take as it is.
    return pyarrow.Array.from_buffers(
        pyarrow.from_numpy_dtype(array.dtype),
        len(array),
        [None, pyarrow.py_buffer(np.ascontiguousarray(array))],
    )
