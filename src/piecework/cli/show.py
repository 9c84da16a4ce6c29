"""``piecework show``: how a text is cut.

Takes one text, prints its pieces with their ids below them, coloured in a terminal and plain
elsewhere. What it shows is what ``piecework encode`` would write.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import click

from piecework.cli.options import load_tokenizer, tokenizer_options
from piecework.tokenizer import WordPieceTokenizer

GAP = "  "


class Cell(NamedTuple):
    """A piece as it is printed, its id, and the colour of its kind."""

    piece: str
    id: str
    colour: str

    @property
    def n_columns(self) -> int:
        """The columns of a terminal that the wider of both takes."""
        return max(display_width(self.piece), len(self.id))


@click.command()
@click.argument("text", metavar="TEXT")
@click.option("--no-special", is_flag=True, help="No [CLS] and [SEP] around the text.")
@tokenizer_options
def show(text: str, no_special: bool, source: str, cased: bool | None) -> None:
    """Show the pieces of TEXT and their ids (- reads standard input).

    In a terminal green pieces begin a word, yellow ones continue it, red is the unknown token and
    blue are special tokens. The environment variable NO_COLOR switches colours off.
    """
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8")
    tokenizer = load_tokenizer(source, cased)
    cells = _cells(tokenizer, tokenizer.encode(text, add_special=not no_special))
    colour = False if os.environ.get("NO_COLOR") else None
    for number, row in enumerate(_wrap(cells, shutil.get_terminal_size().columns)):
        if number:
            click.echo()
        pieces = [click.style(_fill(cell.piece, cell.n_columns), cell.colour) for cell in row]
        click.echo(GAP.join(pieces), color=colour)
        click.echo(GAP.join(cell.id.ljust(cell.n_columns) for cell in row).rstrip())


def _cells(tokenizer: WordPieceTokenizer, ids: list[int]) -> list[Cell]:
    tokens = {id_: token for token, id_ in tokenizer.vocab.items()}
    special = set(tokenizer.special_ids.values())
    cells = []
    for id_ in ids:
        token = tokens[id_]
        if id_ == tokenizer.unk_id:
            colour = "red"
        elif id_ in special:
            colour = "blue"
        else:
            colour = "yellow" if token.startswith(tokenizer.prefix) else "green"
        cells.append(Cell(_printable(token), str(id_), colour))
    return cells


def _wrap(cells: list[Cell], n_columns: int) -> Iterator[list[Cell]]:
    row: list[Cell] = []
    used = 0
    for cell in cells:
        if row and used + cell.n_columns > n_columns:
            yield row
            row, used = [], 0
        row.append(cell)
        used += cell.n_columns + len(GAP)
    if row:
        yield row


def _fill(text: str, n_columns: int) -> str:
    return text + " " * (n_columns - display_width(text))


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def display_width(text: str) -> int:
    """Return the columns of a terminal that `text` takes: ideographs two, combining marks none.

    Examples
    --------
    >>> display_width("abc"), display_width("日本"), display_width("e\u0301")
    (3, 4, 1)
    """
    return sum(_char_width(character) for character in text)


def _char_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
