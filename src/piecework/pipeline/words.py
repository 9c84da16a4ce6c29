"""One word to its pieces: the greedy longest match, with the place of each piece in the word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

_MAX_KEPT_WORDS = 1 << 16
_MAX_KEPT_CHARS = 64  # of a word; together at most some tens of megabytes

Pieces: TypeAlias = tuple[tuple[int, int, int], ...]


class _Kind(NamedTuple):
    """The tokens that can stand at the beginning of a word, or behind it."""

    prefix: str
    lengths: tuple[int, ...]  # of their texts without the prefix, longest first


class WordPieces(dict[str, Pieces]):
    """Cuts words: their pieces by their text, each (id, start, stop) in characters of the word.

    Parameters
    ----------
    ids : mapping of str to int
        The vocabulary; tokens may share an id.
    prefix : str
        Of the tokens that continue a word.
    unk_id : int
        Of a word that has a gap, or more than `max_chars` characters.
    max_chars : int

    Notes
    -----
    Thread-safety: many threads can use one object; it keeps the pieces of words that it has cut,
    up to a limit, and they depend on nothing but the word.

    Examples
    --------
    >>> pieces = WordPieces({"[UNK]": 0, "un": 1, "##able": 2}, "##", unk_id=0, max_chars=100)
    >>> pieces["unable"], pieces["table"]
    (((1, 0, 2), (2, 2, 6)), ((0, 0, 5),))
    """

    def __init__(self, ids: Mapping[str, int], prefix: str, *, unk_id: int, max_chars: int) -> None:
        super().__init__()
        self._ids = ids
        self._unk_id = unk_id
        self._max_chars = max_chars
        self._first = _Kind("", _lengths(ids, ""))
        self._later = _Kind(prefix, _lengths(ids, prefix))

    def __missing__(self, word: str) -> Pieces:
        pieces = self._cut(word)
        if len(word) <= _MAX_KEPT_CHARS:
            if len(self) >= _MAX_KEPT_WORDS:
                self.clear()
            self[word] = pieces
        return pieces

    def _cut(self, word: str) -> Pieces:
        pieces = []
        start = 0
        if len(word) > self._max_chars:
            return ((self._unk_id, 0, len(word)),)
        while start < len(word):
            piece = self._longest(word, start)
            if piece is None:
                return ((self._unk_id, 0, len(word)),)
            pieces.append(piece)
            start = piece[2]
        return tuple(pieces)

    def _longest(self, word: str, start: int) -> tuple[int, int, int] | None:
        prefix, lengths = self._later if start else self._first
        room = len(word) - start
        for n_chars in lengths:
            if n_chars <= room:
                stop = start + n_chars
                id_ = self._ids.get(prefix + word[start:stop])
                if id_ is not None:
                    return id_, start, stop
        return None


def _lengths(ids: Iterable[str], prefix: str) -> tuple[int, ...]:
    own = len(prefix)
    lengths = {len(token) - own for token in ids if token.startswith(prefix)}
    return tuple(sorted(lengths - {0}, reverse=True))
