"""``piecework decode``: token ids to text.

Takes a folder that ``piecework encode`` wrote, or ids as arguments or on standard input, and writes
one line of UTF-8 for each row. It does not check that the ids come from the same tokenizer, beyond
refusing ids that the tokenizer does not have.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from piecework.batch import Batch
from piecework.cli.options import load_tokenizer, non_empty_path, tokenizer_options
from piecework.corpus.read_text import decode_utf8
from piecework.corpus.write_npy import IDS_NAME, ROW_SPLITS_NAME
from piecework.tokenizer import WordPieceTokenizer

STEP_TOKENS = 2**18  # rows are decoded in steps of about this many, so that memory stays bounded


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="OUT | --ids ID...")
@click.option("--ids", "from_ids", is_flag=True, help="The arguments are ids, not a folder.")
@click.option(
    "--row",
    "row_numbers",
    type=int,
    multiple=True,
    metavar="N",
    help="Only this row, counted from 0, or from the end when negative; can be repeated.",
)
@click.option("--skip-special", is_flag=True, help="Leave out [CLS], [SEP] and other specials.")
@tokenizer_options
def decode(
    arguments: tuple[str, ...],
    from_ids: bool,
    row_numbers: tuple[int, ...],
    skip_special: bool,
    source: str,
    cased: bool | None,
) -> None:
    """Decode token ids to text, one line for each row.

    \b
    piecework decode OUT                    all rows of a folder that encode wrote
    piecework decode OUT --row 0 --row -1   the first and the last
    piecework decode --ids 101 7592 102     these ids
    piecework decode --ids -                ids on standard input, one row a line
    """  # noqa: D301  (click takes a real backspace as "keep these lines")
    if from_ids and row_numbers:
        raise click.UsageError("--row chooses rows of a folder; it does not go with --ids")
    if not from_ids and len(arguments) != 1:
        raise click.UsageError("expected one folder (or --ids before a list of ids)")
    tokenizer = load_tokenizer(source, cased)
    texts: Iterator[str]
    if from_ids:
        texts = _decode_typed(arguments, tokenizer, skip_special)
    else:
        batch = _open_batch(Path(non_empty_path(arguments[0])))
        chunks = _take_rows(batch, row_numbers) if row_numbers else _cut(batch)
        texts = _decode_chunks(chunks, tokenizer, skip_special)
    for text in texts:
        sys.stdout.buffer.write(
            text.encode() + b"\n"
        )  # UTF-8 whatever the locale, as the corpus was


def _decode_typed(
    arguments: tuple[str, ...], tokenizer: WordPieceTokenizer, skip_special: bool
) -> Iterator[str]:
    if arguments != ("-",):
        yield tokenizer.decode(_parse_ids(" ".join(arguments)), skip_special)
        return
    byte_start = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        text = decode_utf8(line, "standard input", byte_start=byte_start, line_start=number)
        byte_start += len(line)
        try:
            yield tokenizer.decode(_parse_ids(text), skip_special)
        except ValueError as error:
            raise ValueError(f"standard input, line {number}: {error}") from error


def _parse_ids(text: str) -> list[int]:
    words = text.translate(str.maketrans("[],", "   ")).split()  # "[101, 102]" is meant as well
    for position, word in enumerate(words):
        if not (word.isascii() and word.isdecimal()):
            raise ValueError(f"position {position}: expected an id, got {word!r}")
    return [int(word) for word in words]


def _open_batch(folder: Path) -> Batch:
    for name in (IDS_NAME, ROW_SPLITS_NAME):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no {name}: not a finished result of encode")
    ids = _open_npy(folder / IDS_NAME, np.int32)
    row_splits = _open_npy(folder / ROW_SPLITS_NAME, np.int64)
    try:
        return Batch(ids, row_splits)
    except ValueError as error:
        raise ValueError(
            f"{IDS_NAME} and {ROW_SPLITS_NAME} of {folder} are no pair that encode wrote: {error}"
        ) from error


def _open_npy(path: Path, dtype: type[np.generic]) -> NDArray[Any]:
    expected = f"{path} is no .npy file of a 1-D {np.dtype(dtype)} array, as encode writes it"
    try:
        array = npy_format.open_memmap(path, mode="r")
    except OSError:
        raise
    except Exception as error:  # a damaged header makes numpy raise a SyntaxError, TokenError, ...
        detail, _, _ = str(error).partition("\n")
        raise ValueError(f"{expected}: {detail}") from error
    if array.dtype != dtype or array.ndim != 1:
        raise ValueError(f"{expected}: it holds {array.dtype} of shape {array.shape}")
    return array


def _take_rows(batch: Batch, row_numbers: tuple[int, ...]) -> Iterator[tuple[int, Batch]]:
    """Yield the number of each row with a batch that holds just it."""
    for number in row_numbers:
        if not -len(batch) <= number < len(batch):
            raise click.BadParameter(f"{number}: there are {len(batch)} rows", param_hint="--row")
    for number in row_numbers:
        row = number % len(batch)
        yield row, batch[row : row + 1]


def _cut(batch: Batch) -> Iterator[tuple[int, Batch]]:
    """Yield all rows in batches of bounded size, each with the number of its first row."""
    start = 0
    while start < len(batch):
        limit = batch.row_splits[start] + STEP_TOKENS
        stop = max(start + 1, int(np.searchsorted(batch.row_splits, limit, side="right")) - 1)
        stop = min(stop, start + STEP_TOKENS)  # rows may be empty
        yield start, batch[start:stop]
        start = stop


def _decode_chunks(
    chunks: Iterator[tuple[int, Batch]], tokenizer: WordPieceTokenizer, skip_special: bool
) -> Iterator[str]:
    for start, batch in chunks:
        bad = (batch.ids < 0) | (batch.ids >= tokenizer.vocab_size)
        if bad.any():
            position = int(np.argmax(bad))
            row = int(np.searchsorted(batch.row_splits, position, side="right")) - 1
            raise ValueError(
                f"row {start + row} holds id {batch.ids[position]}, but the ids of this tokenizer "
                f"end at {tokenizer.vocab_size - 1}; was it encoded with another one?"
            )
        yield from tokenizer.decode_batch(batch, skip_special)
