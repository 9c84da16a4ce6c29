"""Write batches as a pair of .npy files that grow as they go.

Takes Batches, leaves ``ids.npy`` (int32) and ``row_splits.npy`` (int64) in a folder, which
``numpy.load(mmap_mode="r")`` opens. The files bear temporary names until both are complete and on
disk; nothing is resumed: what is not finished is removed.
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from piecework.batch import Batch

IDS_NAME = "ids.npy"
ROW_SPLITS_NAME = "row_splits.npy"


@contextlib.contextmanager
def open_batch_writer(folder: Path) -> Iterator[BatchWriter]:
    """Open a folder for the rows of many batches, to be written as if they were one batch.

    Leaving the block finishes the files; leaving it with any exception, KeyboardInterrupt and
    SystemExit too, removes what was written.

    Parameters
    ----------
    folder : Path
        Is made if it is missing, as are those above it, and removed again where the block fails.
        Finished files in it are replaced once the new ones are complete.

    Yields
    ------
    BatchWriter

    Examples
    --------
    >>> import tempfile
    >>> batch = Batch(np.array([5, 6, 7], dtype=np.int32), np.array([0, 2, 3], dtype=np.int64))
    >>> with tempfile.TemporaryDirectory() as name:
    ...     with open_batch_writer(Path(name)) as writer:
    ...         writer.append(batch)
    ...         writer.append(batch)
    ...     np.load(Path(name, "row_splits.npy")).tolist()
    [0, 2, 3, 5, 6]
    """
    with contextlib.ExitStack() as cleanup:
        for each in reversed([folder, *folder.parents]):  # the innermost is removed first
            if not each.exists():
                cleanup.callback(_remove_if_empty, each)
        folder.mkdir(parents=True, exist_ok=True)
        ids = _GrowingNpy(folder / IDS_NAME, np.dtype(np.int32))
        row_splits = _GrowingNpy(folder / ROW_SPLITS_NAME, np.dtype(np.int64))
        for file in (ids, row_splits):
            cleanup.push(file)  # before it makes its file: Ctrl-C may come right behind that
            file.__enter__()
        writer = BatchWriter(ids, row_splits)
        yield writer
        writer.finish()
        _sync_folder(folder)


class BatchWriter:
    """What :func:`open_batch_writer` gives: takes batches, one after the other.

    Attributes
    ----------
    n_tokens : int
        Ids written so far.
    """

    def __init__(self, ids: _GrowingNpy, row_splits: _GrowingNpy) -> None:
        self.n_tokens = 0
        self._ids = ids
        self._row_splits = row_splits
        self._row_splits.append(np.zeros(1, dtype=np.int64))

    def append(self, batch: Batch) -> None:
        """Write the rows of `batch` behind those written so far."""
        self._ids.append(batch.ids)
        self._row_splits.append(batch.row_splits[1:] + self.n_tokens)
        self.n_tokens += len(batch.ids)

    def finish(self) -> None:
        """Put both files on disk under their final names."""
        self._ids.complete()
        self._row_splits.complete()
        # The row splits go first and come last, so that where they are, the pair is whole: ids of
        # one run beside row splits of another would look right and be wrong.
        self._row_splits.final.unlink(missing_ok=True)
        try:
            self._ids.move_to_final()
            self._row_splits.move_to_final()
        except BaseException:
            self._ids.final.unlink(missing_ok=True)
            raise


class _GrowingNpy:
    """A one-dimensional .npy file under a temporary name, of a length that is known at its end.

    A context manager: what still bears the temporary name at its end is removed. The header is
    written last, into the room left for it: numpy pads a header so that its size is the same for
    every length up to 2**63. The name is new for each run, because two runs that write one file
    would leave a mixture of both.
    """

    def __init__(self, final: Path, dtype: np.dtype[Any]) -> None:
        self.final = final
        self.length = 0
        self._dtype = dtype
        self._temporary = final.with_name(f"{final.name}.{secrets.token_hex(4)}.part")
        self._file: BinaryIO

    def __enter__(self) -> _GrowingNpy:
        self._file = self._temporary.open("xb")
        self._file.seek(len(_header(self._dtype, 0)))
        return self

    def append(self, array: NDArray[Any]) -> None:
        with self._named_errors():
            self._file.write(np.ascontiguousarray(array).data)
        self.length += len(array)

    def complete(self) -> None:
        with self._named_errors():
            self._file.seek(0)
            self._file.write(_header(self._dtype, self.length))
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def move_to_final(self) -> None:
        self._temporary.replace(self.final)

    def __exit__(self, *_: object) -> None:
        # Closing writes what is buffered, and the disk may be full; there may be no file yet.
        with contextlib.suppress(OSError, AttributeError):
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Let a failed write say which file it was, which the system does not."""
        try:
            yield
        except OSError as error:
            error.filename = str(self.final)
            raise


def _header(dtype: np.dtype[Any], length: int) -> bytes:
    buffer = io.BytesIO()
    description = {
        "descr": npy_format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": (length,),
    }
    npy_format.write_array_header_1_0(buffer, description)
    return buffer.getvalue()


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _sync_folder(folder: Path) -> None:
    """Make the new names durable, where the system lets a folder be synced."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
