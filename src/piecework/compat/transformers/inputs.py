"""What a call of a transformers tokenizer takes for texts: one or many, single or in pairs.

In come the arguments ``text`` and ``text_pair`` in all the forms that transformers allows, out come
the rows of a batch, in containers of their own: encodings are made of them later, when the caller
may have changed his. Rows themselves are checked when it turns out that they can't be encoded.
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
    has_pairs_in_text : bool
        Whether the second texts came with the first ones, as pairs.
    """

    texts: Sequence[Any]
    pairs: Sequence[Any] | None
    is_batched: bool
    has_pairs_in_text: bool = False

    def place(self, row: int, is_second: bool) -> str:
        """Return where a text stands in the arguments of the call."""
        if self.has_pairs_in_text:
            return f"text[{row}][{int(is_second)}]"
        name = "text_pair" if is_second else "text"
        return f"{name}[{row}]" if self.is_batched else name


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
        return Inputs(text.copy(), None, True)  # most calls
    _check_first("text", text)
    if text_pair is not None:
        _check_first("text_pair", text_pair)
    rows = _read_batch(text, text_pair) if _is_batch(text, is_split_into_words) else None
    if rows is None:
        # None is no second text. An empty one is one, as it is in a batch.
        rows = Inputs([text], None if text_pair is None else [text_pair], False)
    elif rows.pairs is None and _holds_pairs(rows.texts, is_split_into_words):
        rows = _split_pairs(rows.texts)
    texts = _own(rows, rows.texts, is_split_into_words)
    pairs = None if rows.pairs is None else _own(rows, rows.pairs, is_split_into_words, True)
    return rows._replace(texts=texts, pairs=pairs)


def check_texts(inputs: Inputs, is_split_into_words: bool) -> None:
    """Raise TypeError for the first text, or word of one, that is no str."""
    for rows, is_second in ((inputs.texts, False), (inputs.pairs or (), True)):
        # Arrays hold scalars of their own, which are str for this.
        for row, text in enumerate(rows.tolist() if hasattr(rows, "tolist") else rows):
            place = inputs.place(row, is_second)
            words = enumerate(text) if is_split_into_words else [(-1, text)]
            for i, word in words:
                if not isinstance(word, str):
                    where = f"{place}[{i}]" if is_split_into_words else place
                    raise TypeError(f"{where}: expected a str, got {_shown(word)}")


def _check_first(name: str, value: Any) -> None:
    """Raise ValueError for a value that, by its first element, can't be texts."""
    where, element = name, value
    for _ in range(4):  # a batch of pairs of lists of str
        if isinstance(element, str):
            return
        if not isinstance(element, (list, tuple)):
            if _is_array(element):
                return
            break
        if not element:
            return
        where, element = f"{where}[0]", element[0]
    expected = _EXPECTED if where == name else "expected a str"
    raise ValueError(f"{where}: {expected}, got {_shown(element)}")


def _shown(value: Any) -> str:
    return "None" if value is None else f"{short_repr(value)} of type {type(value).__name__}"


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
                f"text_pair: expected {len(text)} texts, as many as in text, got {len(text_pair)}"
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
            found = "pairs" if row else "a pair, or with is_split_into_words the words of a text"
            raise TypeError(
                f"text[{row}]: expected two texts, as text holds {found}, got {short_repr(pair)}"
            )
    return Inputs([first for first, _ in rows], [second for _, second in rows], True, True)


def _own(rows: Inputs, texts: Any, is_split_into_words: bool, is_second: bool = False) -> Any:
    """Return a copy of texts; where they have a method for that, one of their own kind."""
    if not is_split_into_words:
        return texts.copy() if hasattr(texts, "copy") else texts  # a tuple, or an immutable array
    for row, words in enumerate(texts):
        if not isinstance(words, (list, tuple)) and not _is_array(words):
            raise TypeError(
                f"{rows.place(row, is_second)}: expected a list of words (is_split_into_words), "
                f"got {_shown(words)}"
            )
    return list(map(list, texts))
