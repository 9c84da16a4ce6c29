"""The row of a text or of a pair that was encoded alone, and neither cut nor filled up.

Its ids are made at once, which takes less time than to prepare for more; places and the numbers of
words when an encoding is asked for them. A str and the tokenizer don't change, so it makes no
difference when. What is not so simple is left to :class:`TextRows`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework._numpy import np
from piecework.compat.tokenizers.behind import Behind, Processing
from piecework.compat.tokenizers.columns import Columns
from piecework.compat.tokenizers.rows import Call, TextRows
from piecework.compat.tokenizers.state import State
from piecework.spec import SequencePiece, SpecialPiece, TemplatePieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework.batch import Batch

# A longer text may be one that is cut, of which no more is read then than it takes.
_CHARS_PER_TOKEN = 4
_PLACES = ("offsets", "word_ids")  # the arrays for which a text is encoded again


class AtOnce(NamedTuple):
    """What encodes single texts, or single pairs, in one state.

    Attributes
    ----------
    call : Call
    is_pair : bool
    adds_special : bool
        Whether there are special tokens to add; not, without a post-processor.
    pieces : tuple of SpecialPiece and SequencePiece
        Those of the template that are used.
    n_special : int
        The number of tokens that they add.
    max_length : int or None
        Of what need not be cut.
    """

    call: Call
    is_pair: bool
    adds_special: bool
    pieces: TemplatePieces
    n_special: int
    max_length: int | None

    @classmethod
    def of(cls, state: State, add_special: bool, is_pair: bool) -> AtOnce | None:
        """Return it; None, if the state asks for more, or for what can't be."""
        behind, cut = state.behind, state.truncation
        if state.padding or state.encode_special_tokens or behind.template.around is None:
            return None
        if not behind.names_all(is_pair):
            return None  # a text that is not there may be cut
        n_special = behind.n_special(is_pair, add_special)
        if cut is not None:
            room = cut.max_length - n_special
            if room < 0 or 0 < cut.stride >= room:
                return None
        adds_special = add_special and behind.spec.template is not None
        pieces = tuple(
            piece
            for piece in behind.pieces(is_pair)
            if adds_special or isinstance(piece, SequencePiece)
        )
        call = Call(state, add_special, is_pretokenized=False)
        max_length = None if cut is None else cut.max_length
        return cls(call, is_pair, adds_special, pieces, n_special, max_length)

    def encode(self, text: str, pair: str | None) -> OneRow | None:
        """Return the row of a text or of a pair; None, if it is cut, or might be."""
        max_length, tokenizer = self.max_length, self.call.behind.tokenizer
        if max_length is not None and len(text) + len(pair or "") > max_length * _CHARS_PER_TOKEN:
            return None
        if pair is None:
            ids, lengths = tokenizer.encode(text, self.adds_special), None
        else:
            contents = {"A": tokenizer.encode(text), "B": tokenizer.encode(pair)}
            ids, lengths = [], {name: len(content) for name, content in contents.items()}
            for piece in self.pieces:
                ids += piece.ids if isinstance(piece, SpecialPiece) else contents[piece.sequence]
        if max_length is not None and len(ids) > max_length:
            return None
        return OneRow(self, text, pair, ids, lengths)


class OneRow:
    """The row of a text or of a pair, as the rows that encodings read.

    Parameters
    ----------
    at_once : AtOnce
    text : str
    pair : str or None
    ids : list of int
    lengths : mapping of str to int, optional
        The numbers of tokens of the texts of a pair, by their names in the template.

    Notes
    -----
    Thread-safety: what is made on demand is the same whoever makes it.
    """

    __slots__ = ("_at_once", "_ids", "_lengths", "_places", "_rows", "_texts")

    _places: Batch
    _rows: TextRows

    def __init__(
        self,
        at_once: AtOnce,
        text: str,
        pair: str | None,
        ids: list[int],
        lengths: dict[str, int] | None,
    ) -> None:
        self._at_once = at_once
        self._texts = text, pair
        self._ids = ids
        self._lengths = lengths

    @property
    def _behind(self) -> Behind:
        return self._at_once.call.behind

    def length(self, row: int) -> int:
        """Return the number of tokens."""
        return len(self._ids)

    def array(self, name: str, row: int) -> NDArray[Any]:
        """Return one of the arrays."""
        if name not in _PLACES:
            return np.array(self.listed(name, row), np.int64)
        array: NDArray[Any] = getattr(self._with_places(), name)
        return array

    def listed(self, name: str, row: int) -> list[Any]:
        """Return one of the arrays as a list."""
        if name == "ids":
            return self._ids.copy()
        if name == "attention_mask":
            return [1] * len(self._ids)
        if name == "type_ids":
            return self._by_piece(lambda piece: piece.type_id)
        if name == "special_tokens_mask":
            return self._by_piece(lambda piece: int(isinstance(piece, SpecialPiece)))
        listed: list[Any] = self.array(name, row).tolist()
        return listed

    def tokens(self, row: int) -> list[str]:
        """Return the tokens as strings."""
        tokens = self._behind.plain_tokens(self._ids)
        return self._as_rows().tokens(0) if tokens is None else tokens

    def sequences(self, row: int) -> dict[int, tuple[int, int]]:
        """Return the stretches of tokens of the texts; of one that is there twice the last."""
        if self._behind.processing is Processing.NONE and not self._at_once.is_pair:
            return {}
        found = {}
        stop = 0
        for piece, n_tokens in self._pieces():
            start, stop = stop, stop + n_tokens
            if isinstance(piece, SequencePiece):
                found["AB".index(piece.sequence)] = start, stop
        return found

    def overflowing(self, row: int) -> tuple[Columns, ...]:
        """Return nothing, as nothing was cut off."""
        return ()

    def _pieces(self) -> list[tuple[SpecialPiece | SequencePiece, int]]:
        """Return the pieces of the template, with their numbers of tokens."""
        pieces, lengths = self._at_once.pieces, self._lengths
        if lengths is None:  # one text, which is there once
            lengths = {"A": len(self._ids) - self._at_once.n_special}
        return [
            (piece, len(piece.ids) if isinstance(piece, SpecialPiece) else lengths[piece.sequence])
            for piece in pieces
        ]

    def _by_piece(self, value: Callable[[SpecialPiece | SequencePiece], int]) -> list[int]:
        """Return what is the same for all tokens of a piece of the template."""
        values: list[int] = []
        for piece, n_tokens in self._pieces():
            values += [value(piece)] * n_tokens
        return values

    def _with_places(self) -> Batch:
        try:
            return self._places
        except AttributeError:
            text, pair = self._texts
            self._places = self._behind.tokenizer.encode_batch(
                [text],
                None if pair is None else [pair],
                add_special=self._at_once.adds_special,
                return_offsets=True,
                return_word_ids=True,
            )
            return self._places

    def _as_rows(self) -> TextRows:
        try:
            return self._rows
        except AttributeError:
            text, pair = self._texts
            pairs = None if pair is None else [pair]
            self._rows = TextRows.of(self._at_once.call, [text], pairs)
            return self._rows
