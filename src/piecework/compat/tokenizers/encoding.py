"""Encoding: the tokens of one text or pair, as users of `tokenizers` read them.

An encoding of a batch is a number of a row and a reference to what all rows share; lists are made
when they are asked for, new ones each time. One that is changed (padded, truncated) or put together
from others has columns of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from piecework._numpy import np
from piecework.compat.tokenizers.arguments import (
    U32,
    checked,
    checked_sequence,
    checked_side,
    unsigned,
)
from piecework.compat.tokenizers.columns import (
    ARRAYS,
    EMPTY,
    NO_WORD,
    Columns,
    Pad,
    all_joined,
    padded,
    truncated,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rows(Protocol):
    """What the encodings of one call share."""

    def length(self, row: int) -> int:
        """Return the number of tokens of a row, padding included."""

    def array(self, name: str, row: int) -> NDArray[Any]:
        """Return one of :data:`piecework.compat.tokenizers.columns.ARRAYS`."""

    def listed(self, name: str, row: int) -> list[Any]:
        """Return the same as a list."""

    def tokens(self, row: int) -> list[str]:
        """Return the tokens as strings."""

    def sequences(self, row: int) -> dict[int, tuple[int, int]]:
        """Return the stretches of tokens of the sequences."""

    def overflowing(self, row: int) -> tuple[Columns, ...]:
        """Return what truncation has cut off."""


class Encoding:
    """The tokens of a text or of a pair, with all that is known about each.

    Notes
    -----
    Without arguments it is empty. Pickles as its content.
    Thread-safety: reading is safe; `pad`, `truncate` and `set_sequence_id` change it.

    Examples
    --------
    >>> from piecework.compat.tokenizers import Tokenizer
    >>> encoding = Tokenizer.from_pretrained("bert-base-uncased").encode("Unaffable!", "Why?")
    >>> encoding.tokens
    ['[CLS]', 'una', '##ffa', '##ble', '!', '[SEP]', 'why', '?', '[SEP]']
    >>> encoding.word_ids
    [None, 0, 0, 0, 1, None, 0, 1, None]
    >>> encoding.char_to_token(4), encoding.word_to_tokens(0), encoding.token_to_sequence(6)
    (2, (1, 4), 1)
    """

    __slots__ = ("_columns", "_row", "_rows")

    _columns: Columns | None  # its own, or those of its row once all of them were needed
    _rows: Rows
    _row: int

    def __init__(self) -> None:
        self._columns = EMPTY

    @classmethod
    def _over(cls, columns: Columns) -> Encoding:
        encoding = cls.__new__(cls)
        encoding._columns = columns
        return encoding

    @classmethod
    def _views(cls, rows: Rows, n_rows: int) -> list[Encoding]:
        """Return an encoding for each row."""
        return [cls._view(rows, row) for row in range(n_rows)]

    @classmethod
    def _view(cls, rows: Rows, row: int) -> Encoding:
        encoding = cls.__new__(cls)
        encoding._columns = None
        encoding._rows = rows
        encoding._row = row
        return encoding

    def _array(self, name: str) -> NDArray[Any]:
        columns = self._columns
        if columns is None:
            return self._rows.array(name, self._row)
        array: NDArray[Any] = getattr(columns, name)
        return array

    def _listed(self, name: str) -> list[Any]:
        columns = self._columns
        if columns is None:
            return self._rows.listed(name, self._row)
        listed: list[Any] = getattr(columns, name).tolist()
        return listed

    def _whole(self) -> Columns:
        """Return all columns."""
        if self._columns is not None:
            return self._columns
        return Columns(
            **{name: self._array(name) for name in ARRAYS},
            tokens=self.tokens,
            sequences=self._sequences(),
            overflowing=self._rows.overflowing(self._row),
        )

    def _sequences(self) -> dict[int, tuple[int, int]]:
        columns = self._columns
        return self._rows.sequences(self._row) if columns is None else columns.sequences

    @property
    def ids(self) -> list[int]:
        """The ids."""
        return self._listed("ids")

    @property
    def type_ids(self) -> list[int]:
        """The type ids: what the template says for each part."""
        return self._listed("type_ids")

    @property
    def tokens(self) -> list[str]:
        """The tokens as strings; for an added token what it has matched, stripped spaces too."""
        columns = self._columns
        return self._rows.tokens(self._row) if columns is None else columns.tokens.copy()

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word that each token belongs to."""
        return [None if word == NO_WORD else word for word in self._listed("word_ids")]

    @property
    def words(self) -> list[int | None]:
        """The same as :attr:`word_ids`; deprecated in the reference."""
        message = "Encoding.words is deprecated, use Encoding.word_ids"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.word_ids

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The place of each token in its text, in code points."""
        return list(map(tuple, self._listed("offsets")))

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for the tokens of the template and for padding."""
        return self._listed("special_tokens_mask")

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding."""
        return self._listed("attention_mask")

    @property
    def sequence_ids(self) -> list[int | None]:
        """The sequence of each token, 0 or 1; None for those of the template and for padding."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, stop = self._range(sequence)
            found[start:stop] = [sequence] * (stop - start)
        return found

    @property
    def overflowing(self) -> list[Encoding]:
        """The other windows of a truncated text."""
        columns = self._columns
        overflowing = self._rows.overflowing(self._row) if columns is None else columns.overflowing
        return [Encoding._over(each) for each in overflowing]

    @property
    def n_sequences(self) -> int:
        """1, or 2 for a pair."""
        return len(self._sequences()) or 1

    def token_to_sequence(self, token_index: int) -> int | None:
        """Return the sequence that a token belongs to."""
        token_index = unsigned("token_index", token_index)
        sequences = self._sequences()
        if not sequences:
            return 0 if token_index <= len(self) else None
        for sequence, (start, stop) in sequences.items():
            if start <= token_index < stop:
                return sequence
        return None

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Return the place of a token in its text."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        start, stop = self._array("offsets")[token_index].tolist()
        return start, stop

    def token_to_word(self, token_index: int) -> int | None:
        """Return the number of the word that a token belongs to."""
        if self.token_to_sequence(token_index) is None or token_index >= len(self):
            return None
        word = int(self._array("word_ids")[token_index])
        return None if word == NO_WORD else word

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the tokens, from start to stop, of a word of a sequence."""
        word_index = unsigned("word_index", word_index, U32)
        start, stop = self._range(unsigned("sequence_index", sequence_index))
        words = self._array("word_ids")[start:stop]
        # Words ascend in a sequence. Over several of them, nothing behind a higher one is found.
        behind = np.flatnonzero(words > word_index)
        found = np.flatnonzero(words[: behind[0] if len(behind) else None] == word_index)
        return (start + int(found[0]), start + int(found[-1]) + 1) if len(found) else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """Return the place of a word of a sequence in its text."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        if tokens is None:
            return None
        offsets = self._array("offsets")
        return int(offsets[tokens[0], 0]), int(offsets[tokens[1] - 1, 1])

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the first token over a character of a sequence."""
        char_pos = unsigned("char_pos", char_pos)
        start, stop = self._range(unsigned("sequence_index", sequence_index))
        offsets = self._array("offsets")[start:stop]
        found = np.flatnonzero((offsets[:, 0] <= char_pos) & (char_pos < offsets[:, 1]))
        return start + int(found[0]) if len(found) else None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """Return the number of the word over a character of a sequence."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def _range(self, sequence: int) -> tuple[int, int]:
        # A sequence that nobody has spoken of is all tokens.
        return self._sequences().get(sequence) or (0, len(self))

    def set_sequence_id(self, sequence_id: int) -> None:
        """Say that all tokens are of a sequence."""
        sequence_id = unsigned("sequence_id", sequence_id)
        self._columns = self._whole().of_sequence(sequence_id)

    def pad(
        self,
        length: int,
        *,
        direction: str = "right",
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
    ) -> None:
        """Fill up to a length, what overflows too."""
        pad = Pad(
            unsigned("pad_id", pad_id, U32),
            unsigned("pad_type_id", pad_type_id, U32),
            checked("pad_token", pad_token, str),
        )
        side = checked_side("direction", direction)
        self._columns = padded(self._whole(), unsigned("length", length), pad, side)

    def truncate(self, max_length: int, stride: int = 0, direction: str = "right") -> None:
        """Cut to a length; the other windows are :attr:`overflowing` then.

        Raises
        ------
        ValueError
            For a `stride` that is not below `max_length`, if there is something to cut.
        """
        max_length, stride = unsigned("max_length", max_length), unsigned("stride", stride)
        side = checked_side("direction", direction)
        self._columns = truncated(self._whole(), max_length, stride, side)

    @staticmethod
    def merge(encodings: Sequence[Encoding], growing_offsets: bool = True) -> Encoding:
        """Return one encoding of all tokens.

        Parameters
        ----------
        encodings : sequence of Encoding
        growing_offsets : bool
            Offsets go on from the end of the encoding before.
        """
        growing = checked("growing_offsets", growing_offsets, bool)
        parts = [
            checked("encodings", each, Encoding)._whole()
            for each in checked_sequence("encodings", encodings)
        ]
        return Encoding._over(all_joined(parts, growing_offsets=growing))

    def __len__(self) -> int:
        columns = self._columns
        return self._rows.length(self._row) if columns is None else len(columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return _over, (_copied(self._whole()),)

    def __repr__(self) -> str:
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )


_over = Encoding._over


def _copied(columns: Columns) -> Columns:
    """Return columns that don't keep the arrays of a whole batch in a pickle."""
    return replace(columns, **{name: getattr(columns, name).copy() for name in ARRAYS})
