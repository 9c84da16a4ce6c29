"""What `encode_batch` takes, sorted into texts and pairs of texts.

A pair is a tuple or a list of two; words, where the input is split already, are a list, a tuple or
an array of str. A list of two str is a pair in text and two words in split input, as in the
reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from piecework._numpy import np
from piecework.compat.tokenizers.arguments import checked_sequence
from piecework.errors import short_repr


class Group(NamedTuple):
    """Texts, or pairs of texts, and the rows of the batch that they are."""

    rows: Sequence[int]
    texts: Sequence[Any]
    pairs: Sequence[Any] | None


def one_group(text: Any, pair: Any, *, is_pretokenized: bool) -> Group:
    """Check the input of ``encode``."""
    first = _checked_text("sequence", text, is_pretokenized)
    if pair is None:
        return Group((0,), [first], None)
    return Group((0,), [first], [_checked_text("pair", pair, is_pretokenized)])


def groups(batch: Any, *, is_pretokenized: bool) -> list[Group]:
    """Sort the input of ``encode_batch`` into texts and pairs, at most one group of each."""
    rows = list(checked_sequence("input", batch))
    if not is_pretokenized and set(map(type, rows)) <= {str}:
        return [Group(range(len(rows)), rows, None)] if rows else []
    singles: dict[int, Any] = {}
    pairs: dict[int, Any] = {}
    for row, item in enumerate(rows):
        if _is_text(item, is_pretokenized):
            singles[row] = _as_text(item)
        elif isinstance(item, (list, tuple)) and len(item) == 2:
            name = f"input[{row}]"
            pairs[row] = [_checked_text(name, text, is_pretokenized) for text in item]
        else:
            expected = _expected(is_pretokenized)
            raise TypeError(
                f"input[{row}]: expected {expected}, or a pair of them, got {short_repr(item)}"
            )
    found = []
    if singles:
        found.append(Group(list(singles), list(singles.values()), None))
    if pairs:
        texts, seconds = zip(*pairs.values(), strict=True)
        found.append(Group(list(pairs), list(texts), list(seconds)))
    return found


def _is_text(item: Any, is_pretokenized: bool) -> bool:
    if not is_pretokenized:
        return isinstance(item, str)
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and all(isinstance(word, str) for word in item)
    return isinstance(item, (list, tuple)) and all(isinstance(word, str) for word in item)


def _as_text(text: Any) -> Any:
    """Return a text, or words as a list of their own, which nobody changes later."""
    return text if isinstance(text, str) else list(text)


def _checked_text(name: str, text: Any, is_pretokenized: bool) -> Any:
    if not _is_text(text, is_pretokenized):
        raise TypeError(f"{name}: expected {_expected(is_pretokenized)}, got {short_repr(text)}")
    return _as_text(text)


def _expected(is_pretokenized: bool) -> str:
    return "a list or a tuple of str (is_pretokenized=True)" if is_pretokenized else "a str"
