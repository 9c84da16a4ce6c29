"""Ids back to text, as the reference's WordPiece decoder does it.

In go ids, out comes a str. What the basic tokenizer removed (case, accents, white space) can't
come back, and the spacing of punctuation is a guess: offsets into the original text are the way to
recover it. The text of a piece depends on nothing but its id and whether it is the first one, so it
is made once per id, on first use, and a text is one join.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from piecework._numpy import np
from piecework.batch import Batch
from piecework.protocol import as_int_list

# The reference's clean-up, in its order. It is applied to one piece at a time, with the space that
# joins it to the one before: "do", "not" stays "do not", and "a", "'", "b" stays "a ' b".
_CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


class Decoder:
    """Turns ids into text.

    Parameters
    ----------
    tokens_by_id : mapping of int to str
        Ids below ``vocab_size`` that are missing (gaps, shadowed lines) are left out of a text.
    vocab_size : int
    special : collection of str
        Contents of the special tokens, left out when asked for.
    decoder : mapping or None
        The ``decoder`` object of a tokenizer.json: a WordPiece decoder with ``prefix`` and
        ``cleanup``. None joins the tokens with spaces and changes nothing in them.

    Notes
    -----
    Thread-safety: one object serves many threads. What it remembers is computed from an id alone,
    so two threads that compute the same entry write the same value.

    Examples
    --------
    >>> tokens = {0: "[CLS]", 1: "un", 2: "##able", 3: "!"}
    >>> wordpiece = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    >>> decoder = Decoder(tokens, 4, {"[CLS]"}, wordpiece)
    >>> decoder.decode([0, 1, 2, 3])
    '[CLS] unable!'
    >>> decoder.decode([0, 2, 3], skip_special=True)
    '##able!'
    """

    def __init__(
        self,
        tokens_by_id: Mapping[int, str],
        vocab_size: int,
        special: Collection[str],
        decoder: Mapping[str, Any] | None,
    ) -> None:
        self._tokens_by_id = tokens_by_id
        self._vocab_size = vocab_size
        self._special = frozenset(special)
        self._prefix = None if decoder is None else str(decoder["prefix"])
        self._cleanup = decoder is not None and bool(decoder["cleanup"])
        # Text of an id that is not the first of its row; by skip_special.
        self._continuations = (_Continuations(self, False), _Continuations(self, True))

    def decode(self, ids: Sequence[int] | Any, skip_special: bool = False) -> str:
        """Return the text of one row of ids.

        Parameters
        ----------
        ids : sequence of int, or integer array, shape (n_tokens,)
        skip_special : bool
            Leave special tokens out. The first token that remains is the first of the text: it
            keeps its ``##``.

        Raises
        ------
        ValueError, TypeError
            See :func:`piecework.check_ids`.
        """
        try:
            row = as_int_list(ids, self._vocab_size)
        except TypeError as error:
            if _holds_rows(ids):
                raise TypeError(f"{error}; decode_batch takes many rows") from error
            raise
        return self._join(row, skip_special)

    def decode_batch(self, rows: Iterable[Any], skip_special: bool = False) -> list[str]:
        """Return the texts of many rows.

        Parameters
        ----------
        rows : Batch, integer array of shape (n_rows, n_tokens), or iterable of what `decode` takes
        skip_special : bool

        Raises
        ------
        ValueError, TypeError
            See :func:`piecework.check_ids`; the message names the row.
        """
        if isinstance(rows, Batch):
            lists = rows.tolist()
            if not rows.ids.size or (rows.ids.min() >= 0 and rows.ids.max() < self._vocab_size):
                return [self._join(ids, skip_special) for ids in lists]
            rows = lists  # looked at row by row, for the message
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
            raise TypeError(f"expected rows of ids, got {type(rows).__name__}")
        return [
            self._join(as_int_list(ids, self._vocab_size, row), skip_special)
            for row, ids in enumerate(rows)
        ]

    def token(self, id_: int, skip_special: bool) -> str | None:
        """Return the token of an id, or None when the id is left out of a text."""
        token = self._tokens_by_id.get(id_)
        return None if skip_special and token in self._special else token

    def clean(self, piece: str) -> str:
        """Apply the reference's clean-up to one piece, if this decoder has it on."""
        if self._cleanup and (" " in piece):
            for old, new in _CLEANUP:
                piece = piece.replace(old, new)
        return piece

    def continuation(self, id_: int, skip_special: bool) -> str:
        """Return what an id adds to a text that has begun."""
        token = self.token(id_, skip_special)
        if token is None:
            return ""
        if self._prefix is not None and token.startswith(self._prefix):
            return self.clean(token[len(self._prefix) :])
        return self.clean(f" {token}")

    def _join(self, ids: Sequence[int], skip_special: bool) -> str:
        for index, id_ in enumerate(ids):
            token = self.token(id_, skip_special)
            if token is not None:
                rest = map(self._continuations[bool(skip_special)].__getitem__, ids[index + 1 :])
                return self.clean(token) + "".join(rest)
        return ""


def _holds_rows(ids: Any) -> bool:
    if isinstance(ids, (list, tuple)):
        return len(ids) > 0 and isinstance(ids[0], (list, tuple, np.ndarray))
    return isinstance(ids, Batch) or getattr(ids, "ndim", 1) == 2


class _Continuations(dict[int, str]):
    """`Decoder.continuation` by id, each computed once, when it is first asked for."""

    def __init__(self, decoder: Decoder, skip_special: bool) -> None:
        super().__init__()
        self._decoder = decoder
        self._skip_special = skip_special

    def __missing__(self, id_: int) -> str:
        text = self[id_] = self._decoder.continuation(id_, self._skip_special)
        return text
