"""Ids in all the forms that transformers takes, to text.

In come ids, rows of them, arrays or tensors, out comes a text or a list of texts. They go to the
tokenizer as they are; only what it refuses is looked at one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformers.utils import to_py_obj

from piecework import WordPieceTokenizer
from piecework.errors import short_repr

_END = 2**32  # of the ids that transformers takes
_EXPECTED = "expected ids, rows of ids, an array or a tensor"


def decode(
    tokenizer: WordPieceTokenizer, token_ids: Any, skip_special_tokens: bool
) -> str | list[str]:
    """Return the text of ids, or the texts of rows of ids; ids that no token has are left out.

    Raises
    ------
    OverflowError
        For an id below 0 or from 2**32 on, with its place.
    TypeError
        For what is no id, with its place.
    """
    has_rows = holds_rows(token_ids)
    decoded = tokenizer.decode_batch if has_rows else tokenizer.decode
    try:
        return decoded(token_ids, skip_special_tokens)
    except (TypeError, ValueError):  # one number, a tensor elsewhere, ids that no token has
        token_ids = to_py_obj(token_ids)
    if holds_rows(token_ids):
        rows = [_checked(f"token_ids[{row}]", ids) for row, ids in enumerate(token_ids)]
        return tokenizer.decode_batch(rows, skip_special_tokens, unknown="skip")
    ids = _checked("token_ids", [token_ids] if isinstance(token_ids, int) else token_ids)
    return tokenizer.decode(ids, skip_special_tokens, unknown="skip")


def holds_rows(token_ids: Any) -> bool:
    """Tell, by the first of them, whether ids are in rows."""
    if isinstance(token_ids, (list, tuple)):
        first = token_ids[0] if token_ids else None
        return isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1
    return getattr(token_ids, "ndim", 0) == 2 and len(token_ids) > 0


def _checked(name: str, ids: Any) -> Sequence[int]:
    if not isinstance(ids, (list, tuple)):
        raise TypeError(f"{name}: {_EXPECTED}, got {short_repr(ids)}")
    for place, id_ in enumerate(ids):
        if not isinstance(id_, int):
            raise TypeError(f"{name}[{place}]: expected an id, got {short_repr(id_)}")
        if not 0 <= id_ < _END:
            raise OverflowError(f"{name}[{place}]: expected an id from 0 on, got {id_}")
    return list(map(int, ids))  # a bool is an id too
