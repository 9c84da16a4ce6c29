"""Cut a stream of bytes into documents, one a line.

Takes a binary stream, gives blocks of whole documents as lists of str. Only a line feed ends a
line: a carriage return, a U+2028 or a byte order mark is text, and the tokenizer's rules decide
about it. Nothing is replaced or skipped: bytes that are no UTF-8 are an error that says where they
are. Nothing is unpacked: compressed bytes are an error that says how to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

# Large enough that a block's own cost is nothing beside its text's, small enough that a run stays
# below 300 MB on the worst text, which is empty documents only.
BLOCK_BYTES = 4 * 2**20

# What compressed data begins with, the format, and the command that unpacks it to a pipe.
_COMPRESSED = (
    (b"\x1f\x8b", "gzip", "gzip -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
)
_MAGIC_BYTES = max(len(magic) for magic, _, _ in _COMPRESSED)


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
        Invalid UTF-8; names the file, the line (from 1) and the byte in the file (from 0), or the
        format of a compressed file.

    Examples
    --------
    >>> import io
    >>> for block in read_documents(io.BytesIO(b"one\n\nthree\r\nend"), "demo", block_bytes=6):
    ...     print(block)
    DocumentBlock(texts=['one', ''], byte_len=5)
    DocumentBlock(texts=['three\r'], byte_len=7)
    DocumentBlock(texts=['end'], byte_len=3)
    """
    byte_start, line_start, head = 0, 1, b""
    for block in _read_blocks(stream, block_bytes):
        if len(head) < _MAGIC_BYTES:
            head += block[: _MAGIC_BYTES - len(head)]
        text = decode_utf8(block, name, byte_start=byte_start, line_start=line_start, head=head)
        texts = text.split("\n")
        if block.endswith(b"\n"):
            texts.pop()
        yield DocumentBlock(texts, len(block))
        byte_start += len(block)
        line_start += len(texts)


def decode_utf8(
    block: bytes, name: str, *, byte_start: int = 0, line_start: int = 1, head: bytes | None = None
) -> str:
    r"""Return the text of bytes, or raise a ValueError that says where they are no UTF-8.

    Parameters
    ----------
    block : bytes
    name : str
        How messages call the input that the bytes are from.
    byte_start, line_start : int
        Where in the input `block` starts.
    head : bytes, optional
        What the input begins with, which tells compressed data; by default `block`.

    Examples
    --------
    >>> decode_utf8(b"one\ntw\xff", "demo")
    Traceback (most recent call last):
        ...
    ValueError: demo, line 2, byte 6 of the input: invalid UTF-8 (0xff: invalid start byte)
    """
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        for magic, format_name, unpack in _COMPRESSED:
            if (block if head is None else head).startswith(magic):
                raise ValueError(
                    f"{name} is compressed ({format_name}), but text is expected: unpack it into a "
                    f"pipe, as in {unpack} FILE | piecework encode - -o OUT"
                ) from error
        line = line_start + block.count(b"\n", 0, error.start)
        raise ValueError(
            f"{name}, line {line}, byte {byte_start + error.start} of the input: invalid UTF-8 "
            f"(0x{block[error.start]:02x}: {error.reason})"
        ) from error


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
