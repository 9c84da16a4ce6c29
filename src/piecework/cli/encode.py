"""``piecework encode``: text files to token ids on disk.

Turns arguments into a call of :func:`piecework.corpus.encode_files`, shows its progress on standard
error where that is a terminal, and prints what was counted to standard output.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click
from tqdm import tqdm

from piecework.cli.options import (
    check_special,
    load_tokenizer,
    non_empty_path,
    tokenizer_options,
)
from piecework.corpus import EncodeReport, encode_files


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=non_empty_path)
@click.option(
    "-o",
    "--out",
    "out_dir",
    required=True,
    metavar="OUT",
    type=non_empty_path,
    help="The folder for ids.npy and row_splits.npy; made if it is missing.",
)
@tokenizer_options
@click.option("--no-special", is_flag=True, help="No [CLS] and [SEP] around the documents.")
@click.option("--overwrite", is_flag=True, help="Replace the result that OUT already holds.")
def encode(
    inputs: tuple[str, ...],
    out_dir: str,
    source: str,
    cased: bool | None,
    no_special: bool,
    overwrite: bool,
) -> None:
    """Encode text files (UTF-8, one document a line; - is standard input).

    All documents of all INPUTs, in their order, become the rows of OUT/ids.npy (int32) and
    OUT/row_splits.npy (int64): row i is ids[row_splits[i]:row_splits[i + 1]].

    \b
    import numpy as np
    ids = np.load("OUT/ids.npy", mmap_mode="r")
    row_splits = np.load("OUT/row_splits.npy", mmap_mode="r")

    At the end it prints the documents, the tokens, the unknown rate (the share of [UNK] among the
    tokens, [CLS] and [SEP] aside) and the speed. A run that fails or is stopped leaves nothing in
    OUT and no folder that it made, and a result that OUT already holds stays as it is.
    """  # noqa: D301  (click takes a real backspace as "keep these lines")
    tokenizer = load_tokenizer(source, cased)
    if not no_special:
        check_special(tokenizer, source)
    # Off where standard error is no terminal; the delay keeps it away from errors found at once.
    bar = tqdm(total=_total_bytes(inputs), unit="B", unit_scale=True, disable=None, delay=0.5)
    with bar, _removing_files_when_terminated():

        def advance(report: EncodeReport) -> None:
            counts = f"{report.documents:,} documents, {report.tokens:,} tokens"
            bar.set_postfix_str(counts, refresh=False)
            bar.update(report.bytes - bar.n)

        report = encode_files(
            inputs,
            out_dir,
            tokenizer,
            add_special=not no_special,
            overwrite=overwrite,
            progress=advance,
        )
    click.echo(_summary(report))


def _summary(report: EncodeReport) -> str:
    return (
        f"documents  {report.documents:,}\n"
        f"tokens     {report.tokens:,}\n"
        f"unknown    {report.unknown_rate:.3%} ({report.unknown:,})\n"
        f"speed      {report.megabytes_per_second:,.1f} MB/s "
        f"({report.bytes / 1e6:,.1f} MB in {report.seconds:,.2f} s)"
    )


def _total_bytes(inputs: tuple[str, ...]) -> int | None:
    """Return the size of all inputs, or None where one has no size, as a pipe."""
    paths = [Path(name) for name in inputs]
    return sum(path.stat().st_size for path in paths) if all(map(Path.is_file, paths)) else None


@contextlib.contextmanager
def _removing_files_when_terminated() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the run as Ctrl-C does: by an exception that cleans up.

    A batch system sends the one, a closing terminal the other; nohup, which ignores it, is obeyed.
    """

    def leave(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    signals = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    replaced = [each for each in signals if signal.getsignal(each) == signal.SIG_DFL]
    for each in replaced:
        signal.signal(each, leave)
    try:
        yield
    finally:
        for each in replaced:
            signal.signal(each, signal.SIG_DFL)
