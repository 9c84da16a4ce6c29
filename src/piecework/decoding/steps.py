"""Decoders that look at more than one token, or change tokens in another way than WordPiece's.

In go the tokens of one row, out come pieces that joined are its text, as the reference makes them.
They work token by token in Python: a tokenizer with WordPiece's own decoder never comes here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

from piecework.decoding.pieces import clean

Step: TypeAlias = Callable[[list[str]], list[str]]
AsList: TypeAlias = "Callable[[Any, int | None], list[int]]"

# As the reference reads it: two hexadecimal digits, or a plus sign and one.
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


class RowDecoder:
    """Joins rows as `piecework._decode.PieceTable` does, one after the other.

    Parameters
    ----------
    tokens_by_id : mapping of int to str
    special : frozenset of str
        Tokens that `skip_special` leaves out.
    step : callable
        See `decoder_step`.
    """

    def __init__(
        self, tokens_by_id: Mapping[int, str], special: frozenset[str], step: Step
    ) -> None:
        self._tokens_by_id = tokens_by_id
        self._special = special
        self._step = step

    def join_row(self, row: Any, skip_special: bool, skip_unknown: bool, as_list: AsList) -> str:
        """Return the text of one row."""
        return self._join(as_list(row, None), skip_special)

    def join_rows(
        self, rows: Iterable[Any], skip_special: bool, skip_unknown: bool, as_list: AsList
    ) -> list[str]:
        """Return the texts of many rows."""
        return [self._join(as_list(row, i), skip_special) for i, row in enumerate(rows)]

    def _join(self, ids: list[int], skip_special: bool) -> str:
        found = map(self._tokens_by_id.get, ids)
        left_out = self._special if skip_special else ()
        tokens = [token for token in found if token is not None and token not in left_out]
        return "".join(self._step(tokens))


def decoder_step(decoder: Mapping[str, Any]) -> Step:
    """Return the function that a decoder, as `check_decoder` returns it, is.

    Examples
    --------
    >>> strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    >>> decoder_step({"type": "Sequence", "decoders": [{"type": "Fuse"}, strip]})([" a", " b"])
    ['a b']
    """
    return _STEPS[decoder["type"]](decoder)


def _sequence(decoder: Mapping[str, Any]) -> Step:
    steps = [decoder_step(each) for each in decoder["decoders"]]

    def apply(tokens: list[str]) -> list[str]:
        for step in steps:
            tokens = step(tokens)
        return tokens

    return apply


def _by_token(change: Callable[[str], str]) -> Step:
    return lambda tokens: [change(token) for token in tokens]


def _word_piece(decoder: Mapping[str, Any]) -> Step:
    prefix, tidy = decoder["prefix"], clean if decoder["cleanup"] else str

    def apply(tokens: list[str]) -> list[str]:
        rest = (
            token[len(prefix) :] if token.startswith(prefix) else f" {token}"
            for token in tokens[1:]
        )
        return [tidy(piece) for piece in (*tokens[:1], *rest)]

    return apply


def _bpe(decoder: Mapping[str, Any]) -> Step:
    suffix = decoder["suffix"]

    def apply(tokens: list[str]) -> list[str]:
        spaced = [token.replace(suffix, " ") for token in tokens[:-1]]
        return spaced + [token.replace(suffix, "") for token in tokens[-1:]]

    return apply


def _metaspace(decoder: Mapping[str, Any]) -> Step:
    mark = decoder["replacement"]
    first = " " if decoder["prepend_scheme"] == "never" else ""

    def apply(tokens: list[str]) -> list[str]:
        rest = [token.replace(mark, " ") for token in tokens[1:]]
        return [token.replace(mark, first) for token in tokens[:1]] + rest

    return apply


def _ctc(decoder: Mapping[str, Any]) -> Step:
    pad, delimiter = decoder["pad_token"], decoder["word_delimiter_token"]

    def apply(tokens: list[str]) -> list[str]:
        pieces = [token.replace(pad, "") for token, _ in groupby(tokens)]
        if decoder["cleanup"]:
            pieces = [clean(piece).replace(delimiter, " ") for piece in pieces]
        return [piece for piece in pieces if piece]

    return apply


def _replace(decoder: Mapping[str, Any]) -> Step:
    (pattern,) = decoder["pattern"].values()  # a regular expression is a plain string, as checked
    content = decoder["content"]
    # The reference finds nothing in an empty token, not even an empty pattern.
    return _by_token(lambda token: token and token.replace(pattern, content))


def _strip(decoder: Mapping[str, Any]) -> Step:
    return _by_token(
        partial(_stripped, char=decoder["content"], start=decoder["start"], stop=decoder["stop"])
    )


def _stripped(token: str, char: str, start: int, stop: int) -> str:
    """Take at most so many of a character off each end.

    Where the two ends would overlap, and for a token that is shorter than what is to be taken off,
    the reference panics; here nothing is left.
    """
    n_start = min(start, len(token) - len(token.lstrip(char)))
    n_stop = min(stop, len(token) - len(token.rstrip(char)))
    return token[n_start : max(n_start, len(token) - n_stop)]


def _byte_fallback(_: Mapping[str, Any]) -> Step:
    def apply(tokens: list[str]) -> list[str]:
        pieces: list[str] = []
        for is_byte, group in groupby(tokens, lambda token: _BYTE.fullmatch(token) is not None):
            run = list(group)
            pieces += _bytes_as_text(run) if is_byte else run
        return pieces

    return apply


def _bytes_as_text(tokens: list[str]) -> list[str]:
    try:
        return [bytes(int(token[3:5], 16) for token in tokens).decode()]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(tokens)


_STEPS: dict[str, Callable[[Mapping[str, Any]], Step]] = {
    "Sequence": _sequence,
    "WordPiece": _word_piece,
    "BPEDecoder": _bpe,
    "Metaspace": _metaspace,
    "CTC": _ctc,
    "Replace": _replace,
    "Strip": _strip,
    "ByteFallback": _byte_fallback,
    "Fuse": lambda _: lambda tokens: ["".join(tokens)],
}
