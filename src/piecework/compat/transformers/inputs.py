"""What a call of a transformers tokenizer takes for texts: one or many, single or in pairs.

In come the arguments ``text`` and ``text_pair`` in all the forms that transformers allows, out come
the rows of a batch. Rows themselves are checked where they are encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from piecework.errors import short_repr

_EXPECTED = (
    "expected a str, a list of str or an array of them (a batch), a list of pairs of str, or with "
    "is_split_into_words a list of str or a list of such lists"
)


class Inputs(NamedTuple):
    """The rows of a call.

    Attributes
    ----------
    texts : sequence of str, or of sequences of str
        The latter with ``is_split_into_words``.
    pairs : the same, or None
        The second texts.
    is_batched : bool
        False: there is one row, and it was not in a list.
    is_split : bool
        Rows are words.
    """

    texts: Sequence[Any]
    pairs: Sequence[Any] | None
    is_batched: bool
    is_split: bool = False

    def kept(self) -> Inputs:
        """Return the same in lists of its own, which nobody changes, or raise a TypeError."""
        pairs = self.pairs
        return self._replace(
            texts=self._copied("text", self.texts),
            pairs=None if pairs is None else self._copied("text_pair", pairs),
        )

    def _copied(self, name: str, rows: Sequence[Any]) -> list[Any]:
        if self.is_split:
            return list(map(list, rows))
        copied = list(rows)
        if set(map(type, copied)) - {str}:
            for row, text in enumerate(copied):
                if not isinstance(text, str):
                    place = f"{name}[{row}]" if self.is_batched else name
                    raise TypeError(f"{place}: expected a str, got {short_repr(text)}")
        return copied


def read_inputs(text: Any, text_pair: Any, is_split_into_words: bool) -> Inputs:
    """Return the rows that the arguments of a call stand for.

    Raises
    ------
    ValueError
        For what is no text, and for batches of different lengths.
    TypeError
        For a pair that is none, with its row, and for a batch with a single `text_pair`.
    """
    is_plain = not is_split_into_words and text_pair is None
    if is_plain and type(text) is list and text and type(text[0]) is str:
        return Inputs(text, None, True)  # most calls
    if not _is_text_input(text):
        raise ValueError(f"text: {_EXPECTED}, got {short_repr(text)}")
    if text_pair is not None and not _is_text_input(text_pair):
        raise ValueError(f"text_pair: {_EXPECTED}, got {short_repr(text_pair)}")
    rows = _read_batch(text, text_pair) if _is_batch(text, is_split_into_words) else None
    if rows is None:
        # None is no second text. An empty one is one, as it is in a batch.
        rows = Inputs([text], None if text_pair is None else [text_pair], False)
    elif rows.pairs is None and _holds_pairs(rows.texts, is_split_into_words):
        rows = _split_pairs(rows.texts)
    if is_split_into_words:
        _check_words("text", rows.texts)
        _check_words("text_pair", rows.pairs or ())
        return rows._replace(is_split=True)
    return rows


def _is_text_input(value: Any) -> bool:
    """Tell, by its first element, whether a value can be texts."""
    for _ in range(4):  # a batch of pairs of lists of str
        if isinstance(value, str):
            return True
        if not isinstance(value, (list, tuple)):
            return _is_array(value)
        if not value:
            return True
        value = value[0]
    return False


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") and getattr(value, "ndim", 1) == 1


def _is_batch(text: Any, is_split_into_words: bool) -> bool:
    if not isinstance(text, (list, tuple)):
        return not isinstance(text, str)
    return not is_split_into_words or bool(text and isinstance(text[0], (list, tuple)))


def _read_batch(text: Any, text_pair: Any) -> Inputs:
    if text_pair is not None:
        if isinstance(text_pair, str):
            raise TypeError("text_pair: expected a batch, as text is one, got a str")
        if len(text) != len(text_pair):
            raise ValueError(
                f"expected as many texts as pairs, got {len(text)} in text and {len(text_pair)} "
                "in text_pair"
            )
    return Inputs(text, text_pair, True)


def _holds_pairs(rows: Any, is_split_into_words: bool) -> bool:
    if not isinstance(rows, (list, tuple)) or not rows:
        return False
    first = rows[0]
    if is_split_into_words:
        first = first[0] if first else None
    return isinstance(first, (list, tuple))


def _split_pairs(rows: Sequence[Any]) -> Inputs:
    for row, pair in enumerate(rows):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(f"text[{row}]: expected a pair of texts, got {short_repr(pair)}")
    return Inputs([first for first, _ in rows], [second for _, second in rows], True)


def _check_words(name: str, rows: Sequence[Any]) -> None:
    for row, words in enumerate(rows):
        if not isinstance(words, (list, tuple)) and not _is_array(words):
            raise TypeError(
                f"{name}[{row}]: expected a list of words (is_split_into_words), got "
                f"{short_repr(words)}"
            )
