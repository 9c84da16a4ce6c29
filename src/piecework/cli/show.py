"""``piecework show``: how a text is cut.

Takes one text, prints its pieces with their ids below them, coloured in a terminal and plain
elsewhere. What it shows is what ``piecework encode`` would write.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import click

from piecework.cli.options import check_special, load_tokenizer, tokenizer_options
from piecework.corpus.read_text import decode_utf8
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
        text = decode_utf8(sys.stdin.buffer.read(), "standard input")
    else:
        text = _as_typed(text)
    tokenizer = load_tokenizer(source, cased)
    if not no_special:
        check_special(tokenizer, source)
    cells = _cells(tokenizer, tokenizer.encode(text, add_special=not no_special))
    colour = False if os.environ.get("NO_COLOR") else None
    for number, row in enumerate(_wrap(cells, shutil.get_terminal_size().columns)):
        if number:
            click.echo()
        pieces = [click.style(_fill(cell.piece, cell.n_columns), cell.colour) for cell in row]
        click.echo(GAP.join(pieces), color=colour)
        click.echo(GAP.join(cell.id.ljust(cell.n_columns) for cell in row).rstrip())


def _as_typed(argument: str) -> str:
    """Return an argument as the UTF-8 it is, also where the locale does not say so.

    Python hands over bytes that are invalid in the locale's encoding as surrogates, of which no
    tokenizer makes a piece.
    """
    try:
        argument.encode()
    except UnicodeEncodeError:
        return decode_utf8(os.fsencode(argument), "argument TEXT")
    return argument


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
    """Return the text with escapes for what has no glyph or no code in the output's encoding."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    encoding = codecs.lookup(sys.stdout.encoding).name
    if encoding == "ascii":  # what a C locale says; click writes UTF-8 then
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


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
