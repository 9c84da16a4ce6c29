"""One encoded text or pair with all that is known of its tokens, and the ways from one to another.

In: a row of a :class:`~piecework.batch.Batch` that has all details. Out: lists of Python's own
numbers, and look-ups between characters, words, tokens and texts, which answer as
``tokenizers.Encoding`` does. It does not encode, and does not change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from piecework.protocol import as_int

if TYPE_CHECKING:
    from piecework.batch import Batch

_NEEDED = ("offsets", "word_ids", "sequence_ids", "type_ids", "special_tokens_mask")
_REPR_TOKENS = 8


class EncodedText:
    """The tokens of one text, or of a pair of texts.

    Parameters
    ----------
    batch : Batch
        With offsets, word ids, sequence ids, type ids and special-tokens mask.
    row : int
        Which row of it.
    token_of : callable of int
        Gives the token of an id.
    n_texts : 1 or 2, optional
        Of how many texts the row is. By default as many as its sequence ids name, which does not
        tell a second text without tokens from none.

    Raises
    ------
    ValueError
        The batch lacks an array.
    IndexError
        There is no such row.

    Notes
    -----
    Look-ups answer None where there is nothing, for a token beyond the last one too. A negative
    number is a ValueError. As in the reference, a text of a number that the row does not have is
    looked for in the whole row.

    Thread-safety: safe as long as nobody writes to the arrays of the batch.

    Examples
    --------
    >>> import numpy as np
    >>> from piecework.batch import Batch
    >>> batch = Batch(
    ...     np.array([101, 7592, 999, 102], np.int32), np.array([0, 4]),
    ...     offsets=np.array([[0, 0], [0, 5], [5, 6], [0, 0]], np.int32),
    ...     word_ids=np.array([-1, 0, 1, -1], np.int32),
    ...     sequence_ids=np.array([-1, 0, 0, -1], np.int8),
    ...     type_ids=np.zeros(4, np.int32),
    ...     special_tokens_mask=np.array([1, 0, 0, 1], np.uint8),
    ... )
    >>> tokens = {101: "[CLS]", 7592: "hello", 999: "!", 102: "[SEP]"}
    >>> text = EncodedText(batch, 0, tokens.__getitem__)
    >>> text.tokens
    ['[CLS]', 'hello', '!', '[SEP]']
    >>> text.char_to_token(5), text.token_to_chars(1), text.word_ids
    (2, (0, 5), [None, 0, 1, None])
    """

    def __init__(
        self,
        batch: Batch,
        row: int,
        token_of: Callable[[int], str],
        *,
        n_texts: int | None = None,
    ) -> None:
        missing = [name for name in _NEEDED if getattr(batch, name) is None]
        if missing:
            raise ValueError(f"expected a batch with {', '.join(_NEEDED)}; it has no {missing[0]}")
        row = as_int("row", row)
        if not -len(batch) <= row < len(batch):
            raise IndexError(f"row {row} of a batch of {len(batch)} rows")
        self._batch = batch
        self._row = row % len(batch)
        self._token_of = token_of
        if n_texts is not None:
            n_texts = as_int("n_texts", n_texts, minimum=1, maximum=2)
        self._n_texts = n_texts

    def _list(self, name: str) -> list[Any]:
        start, stop = self._batch.row_splits[self._row : self._row + 2].tolist()
        values: list[Any] = getattr(self._batch, name)[start:stop].tolist()
        return values

    @cached_property
    def ids(self) -> list[int]:
        """The ids of the tokens."""
        return self._list("ids")

    @cached_property
    def tokens(self) -> list[str]:
        """The tokens themselves."""
        return [self._token_of(id_) for id_ in self.ids]

    @cached_property
    def offsets(self) -> list[tuple[int, int]]:
        """Where each token begins and ends in its text; (0, 0) for what the template added."""
        return [(start, stop) for start, stop in self._list("offsets")]

    @cached_property
    def word_ids(self) -> list[int | None]:
        """The number of each token's word in its text."""
        return [None if word < 0 else word for word in self._list("word_ids")]

    @cached_property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the first text, 1 for those of the second."""
        return [None if text < 0 else text for text in self._list("sequence_ids")]

    @cached_property
    def type_ids(self) -> list[int]:
        """The type ids that the template gives."""
        return self._list("type_ids")

    @cached_property
    def special_tokens_mask(self) -> list[int]:
        """1 for the tokens that the template added."""
        return self._list("special_tokens_mask")

    @property
    def attention_mask(self) -> list[int]:
        """1 for each token: there is no padding."""
        return [1] * len(self)

    @property
    def n_sequences(self) -> int:
        """Of how many texts the row is."""
        if self._n_texts is not None:
            return self._n_texts
        return 2 if 1 in self.sequence_ids else 1

    @cached_property
    def overflow(self) -> list[EncodedText]:
        """What was cut off, in windows: the rows of the same text that follow its first one."""
        samples = self._batch.overflow_to_sample
        if samples is None:
            return []
        first = self._row
        if first > 0 and samples[first - 1] == samples[first]:
            return []
        stop = first + 1
        while stop < len(samples) and samples[stop] == samples[first]:
            stop += 1
        return [
            EncodedText(self._batch, row, self._token_of, n_texts=self._n_texts)
            for row in range(first + 1, stop)
        ]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        shown = self.tokens[:_REPR_TOKENS] + ["..."] * (len(self) > _REPR_TOKENS)
        return f"EncodedText({len(self)} tokens: {' '.join(shown)})"

    def char_to_token(self, char: int, sequence: int = 0) -> int | None:
        """Return the token that a character of a text is in."""
        char = as_int("char", char, minimum=0)
        for token in self._tokens_of(sequence):
            start, stop = self.offsets[token]
            if start <= char < stop:
                return token
        return None

    def token_to_chars(self, token: int) -> tuple[int, int] | None:
        """Return where a token begins and ends in its text."""
        return None if self.token_to_sequence(token) is None else self.offsets[token]

    def token_to_word(self, token: int) -> int | None:
        """Return the number of a token's word in its text."""
        return None if self.token_to_sequence(token) is None else self.word_ids[token]

    def token_to_sequence(self, token: int) -> int | None:
        """Return of which text a token is."""
        token = as_int("token", token, minimum=0)
        return self.sequence_ids[token] if token < len(self) else None

    def word_to_tokens(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return the first token of a word, and the one behind its last."""
        word = as_int("word", word, minimum=0)
        found = []
        for token in self._tokens_of(sequence):
            number = self.word_ids[token]
            if number is not None and number > word:
                break  # words come in order
            if number == word:
                found.append(token)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word: int, sequence: int = 0) -> tuple[int, int] | None:
        """Return where a word begins and ends in its text."""
        tokens = self.word_to_tokens(word, sequence)
        if tokens is None:
            return None
        start, stop = tokens
        return self.offsets[start][0], self.offsets[stop - 1][1]

    def char_to_word(self, char: int, sequence: int = 0) -> int | None:
        """Return the number of the word that a character of a text is in."""
        token = self.char_to_token(char, sequence)
        return None if token is None else self.token_to_word(token)

    def _tokens_of(self, sequence: int) -> range:
        """Return the range of tokens in which a text is looked for."""
        sequence = as_int("sequence", sequence, minimum=0)
        if sequence >= self.n_sequences:
            return range(len(self))
        if sequence not in self.sequence_ids:
            return range(0)
        first = self.sequence_ids.index(sequence)
        return range(first, first + self.sequence_ids.count(sequence))
