"""Cut a stream of bytes into documents, one a line.

Takes a binary stream, gives blocks of whole documents as lists of str. Only a line feed ends a
line: a carriage return, a U+2028 or a byte order mark is text, and the tokenizer's rules decide
about it. Nothing is replaced or skipped: bytes that are no UTF-8 are an error that says where they
are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

# Large enough that a block's own cost is nothing beside its text's, small enough that a run stays
# below 300 MB on the worst text, which is empty documents only.
BLOCK_BYTES = 4 * 2**20


class DocumentBlock(NamedTuple):
    """Whole documents that follow each other in one file.

    Attributes
    ----------
    texts : list of str
        Without the line ends.
    byte_len : int
        Bytes they take in the file, line ends included.
    """

    texts: list[str]
    byte_len: int


def read_documents(
    stream: BinaryIO, name: str, block_bytes: int = BLOCK_BYTES
) -> Iterator[DocumentBlock]:
    r"""Yield the documents of a stream, in order, in blocks of about `block_bytes`.

    Parameters
    ----------
    stream : binary file, open for reading
    name : str
        How messages call the file.
    block_bytes : int
        A block is made of as much as was read at once; a longer document makes its block longer.

    Yields
    ------
    DocumentBlock

    Raises
    ------
    ValueError
        Invalid UTF-8; names the file, the line (from 1) and the byte in the file (from 0).

    Examples
    --------
    >>> import io
    >>> for block in read_documents(io.BytesIO(b"one\n\nthree\r\nend"), "demo", block_bytes=6):
    ...     print(block)
    DocumentBlock(texts=['one', ''], byte_len=5)
    DocumentBlock(texts=['three\r'], byte_len=7)
    DocumentBlock(texts=['end'], byte_len=3)
    """
    byte_start, line_start = 0, 1
    for block in _read_blocks(stream, block_bytes):
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = line_start + block.count(b"\n", 0, error.start)
            raise ValueError(
                f"{name}, line {line}, byte {byte_start + error.start} of the file: invalid UTF-8 "
                f"(0x{block[error.start]:02x}: {error.reason})"
            ) from error
        texts = text.split("\n")
        if block.endswith(b"\n"):
            texts.pop()
        yield DocumentBlock(texts, len(block))
        byte_start += len(block)
        line_start += len(texts)


def _read_blocks(stream: BinaryIO, block_bytes: int) -> Iterator[bytes]:
    pieces: list[bytes] = []  # of a document whose end was not read yet; joined once, at its end
    while piece := stream.read(block_bytes):
        stop = piece.rfind(b"\n") + 1
        if stop:
            yield b"".join([*pieces, piece[:stop]])
            pieces = []
        pieces.append(piece[stop:])
    rest = b"".join(pieces)
    if rest:
        yield rest
