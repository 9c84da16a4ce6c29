"""Encode text files into one pair of .npy files.

Takes paths and a tokenizer, leaves ``ids.npy`` and ``row_splits.npy`` in a folder and returns what
was counted on the way. One block of documents is in memory at a time, whatever the size of the
files; nothing is resumed, skipped or repaired.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from piecework.corpus.read_text import BLOCK_BYTES, DocumentBlock, read_documents
from piecework.corpus.write_npy import IDS_NAME, ROW_SPLITS_NAME, open_batch_writer

if TYPE_CHECKING:
    from piecework.tokenizer import WordPieceTokenizer

STANDARD_INPUT = "-"


@dataclasses.dataclass(frozen=True)
class EncodeReport:
    """What was counted while files were encoded.

    Attributes
    ----------
    documents : int
        Rows written.
    tokens : int
        Ids written.
    added_specials : int
        Those of them that stand for no text: [CLS] and [SEP] of each document.
    unknown : int
        Those of them that are the unknown token.
    bytes : int
        Bytes read.
    seconds : float
        Wall time since the first file was opened.
    """

    documents: int = 0
    tokens: int = 0
    added_specials: int = 0
    unknown: int = 0
    bytes: int = 0
    seconds: float = 0.0

    @property
    def unknown_rate(self) -> float:
        """Share of unknown tokens among all tokens that stand for text; 0.0 without any."""
        return self.unknown / max(1, self.tokens - self.added_specials)

    @property
    def megabytes_per_second(self) -> float:
        """Bytes read in a second, in units of 10**6."""
        return self.bytes / 1e6 / self.seconds if self.seconds else 0.0


def encode_files(
    inputs: Sequence[str | os.PathLike[str]],
    out_dir: str | os.PathLike[str],
    tokenizer: WordPieceTokenizer,
    *,
    add_special: bool = True,
    overwrite: bool = False,
    block_bytes: int = BLOCK_BYTES,
    progress: Callable[[EncodeReport], None] | None = None,
) -> EncodeReport:
    r"""Encode text files, one document a line, into ``ids.npy`` and ``row_splits.npy``.

    Row i of the result is ``ids[row_splits[i]:row_splits[i + 1]]``, the i-th document of all inputs
    in their order. A document ends at a line feed or at the end of its file. Until all is encoded
    the files bear temporary names; after an error or Ctrl-C nothing of them is left, nor any folder
    that was made for them.

    Parameters
    ----------
    inputs : sequence of paths
        UTF-8 text files; ``"-"`` is standard input.
    out_dir : path
        A folder; it is made if it is missing, as are those above it.
    tokenizer : WordPieceTokenizer
    add_special : bool
        Put the tokenizer's special tokens around each document.
    overwrite : bool
        Replace a result that is there already, which is an error otherwise.
    block_bytes : int
        How much is read at once. The result does not depend on it.
    progress : callable, optional
        Is called after each block with the counts so far.

    Returns
    -------
    EncodeReport

    Raises
    ------
    FileNotFoundError, IsADirectoryError, FileExistsError, PermissionError
        An input or `out_dir` is not fit; found before anything is read.
    ValueError
        An input is invalid UTF-8 (the message names file, line and byte), is given twice as
        standard input, or is the output itself; a path is empty; or the tokenizer has no special
        tokens to add.

    Examples
    --------
    >>> import tempfile
    >>> from piecework import WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = Path(folder, "text.txt")
    ...     _ = text.write_bytes(b"Hello world!\nunaffable\n")
    ...     report = encode_files([text], folder, tokenizer)
    ...     np.load(Path(folder, "ids.npy")).tolist()
    [101, 7592, 2088, 999, 102, 101, 14477, 20961, 3468, 102]
    >>> report.documents, report.tokens, report.unknown
    (2, 10, 0)
    """
    if isinstance(inputs, str | bytes | os.PathLike):
        raise TypeError(f"inputs must be a sequence of paths, not one {type(inputs).__name__}")
    if not all(map(os.fspath, [*inputs, out_dir])):  # Path would read it as the current folder
        raise ValueError("inputs and out_dir must be paths, but one of them is empty")
    folder = Path(out_dir)
    _check_output(folder, overwrite)
    _check_inputs(inputs, folder)
    n_added = len(tokenizer.encode("", add_special=True)) if add_special else 0

    start = time.perf_counter()
    report = EncodeReport()
    with open_batch_writer(folder) as writer:
        for texts, byte_len in _read_inputs(inputs, block_bytes):
            batch = tokenizer.encode_batch(texts, add_special=add_special)
            writer.append(batch)
            n_unknown = int(np.count_nonzero(batch.ids == tokenizer.unk_id))
            report = EncodeReport(
                documents=report.documents + len(batch),
                tokens=report.tokens + len(batch.ids),
                added_specials=report.added_specials + len(batch) * n_added,
                unknown=report.unknown + n_unknown,
                bytes=report.bytes + byte_len,
                seconds=time.perf_counter() - start,
            )
            if progress is not None:
                progress(report)
    return dataclasses.replace(report, seconds=time.perf_counter() - start)


def _check_output(folder: Path, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"output {folder} is a file; a folder is expected")
    finished = [name for name in (IDS_NAME, ROW_SPLITS_NAME) if (folder / name).exists()]
    if finished and not overwrite:
        raise FileExistsError(f"output {folder} already holds {' and '.join(finished)}")


def _check_inputs(inputs: Sequence[str | os.PathLike[str]], folder: Path) -> None:
    """Find what can't work before hours are spent on what stands before it.

    Only looks at the files and opens none: a pipe can be opened once.
    """
    if not inputs:
        raise ValueError("inputs must name at least one file")
    if [os.fspath(name) for name in inputs].count(STANDARD_INPUT) > 1:
        raise ValueError("standard input (-) can be read only once")
    outputs = [folder / name for name in (IDS_NAME, ROW_SPLITS_NAME)]
    for name in inputs:
        if os.fspath(name) == STANDARD_INPUT:
            continue
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"input {path} does not exist")
        if path.is_dir():
            raise IsADirectoryError(f"input {path} is a folder; a text file is expected")
        if not os.access(path, os.R_OK):
            raise PermissionError(f"input {path} can't be read: permission denied")
        if any(output.exists() and output.samefile(path) for output in outputs):
            raise ValueError(f"input {path} is the output itself")


def _read_inputs(
    inputs: Sequence[str | os.PathLike[str]], block_bytes: int
) -> Iterator[DocumentBlock]:
    for name in [os.fspath(each) for each in inputs]:
        if name == STANDARD_INPUT:
            yield from read_documents(sys.stdin.buffer, "standard input", block_bytes)
            continue
        with Path(name).open("rb") as stream:
            try:
                yield from read_documents(stream, name, block_bytes)
            except OSError as error:
                error.filename = name  # the system does not say which file it could not read
                raise
