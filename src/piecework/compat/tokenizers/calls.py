"""What the calls of a Tokenizer do with a state that they were handed.

In go a state and checked input, out come encodings, or texts. Nothing here changes the state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from piecework._numpy import np
from piecework.compat.tokenizers.arguments import U32, checked, checked_sequence, unsigned
from piecework.compat.tokenizers.columns import Columns, padded
from piecework.compat.tokenizers.encoding import Encoding
from piecework.compat.tokenizers.inputs import Group
from piecework.compat.tokenizers.post_process import put_together
from piecework.compat.tokenizers.rows import Call, TextRows
from piecework.compat.tokenizers.state import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
_READ_AS_THEY_ARE: set[type] = {list, tuple, range}


def encode_groups(call: Call, groups: Sequence[Group]) -> list[Encoding]:
    """Return the encodings of a batch in the order of its rows."""
    encoded = [TextRows.of(call, group.texts, group.pairs, group.rows) for group in groups]
    if (padding := call.state.padding) is not None:
        target = padding.target(length for rows in encoded for length in rows.lengths())
        for rows in encoded:
            rows.pad(padding, target)
    views = [Encoding._views(rows, len(rows)) for rows in encoded]
    if len(views) == 1:
        return views[0]
    ordered: dict[int, Encoding] = {}
    for group, encodings in zip(groups, views, strict=True):
        ordered.update(zip(group.rows, encodings, strict=True))
    return [ordered[row] for row in range(len(ordered))]


def post_processed(state: State, texts: tuple[Columns, ...], add_special: bool) -> Encoding:
    """Return the encoding that the state makes of one text's tokens or of two's."""
    whole = put_together(state.behind, texts, state.truncation, add_special=add_special)
    if (padding := state.padding) is not None:
        whole = padded(whole, padding.target([len(whole)]), padding.pad, padding.side)
    return Encoding._over(whole)


def decode_rows(state: State, rows: Any, skip_special_tokens: bool) -> list[str]:
    """Return the texts of rows of ids; ids that no token has are left out."""
    skip_special = checked("skip_special_tokens", skip_special_tokens, bool)
    decode_batch = state.behind.decoder.decode_batch
    if isinstance(rows, (list, tuple)) and set(map(type, rows)) <= _READ_AS_THEY_ARE:
        try:
            return decode_batch(rows, skip_special)
        except (TypeError, ValueError):
            pass  # for an id that is none, or beyond the vocabulary: looked at below
    ids = [_checked_ids(row) for row in checked_sequence("sequences", rows)]
    return decode_batch(ids, skip_special, unknown="skip")


def _checked_ids(ids: Any) -> NDArray[Any]:
    held = checked_sequence("ids", ids)
    array = np.asarray(held)
    is_plain = array.ndim == 1 and array.dtype.kind in "iu"
    if is_plain and array.min(initial=0) >= 0 and array.max(initial=0) <= U32:
        return array.astype(np.int64, copy=False)
    # Among bools and what else has __index__, or to say what is wrong.
    return np.array([unsigned("ids", id_, U32) for id_ in held], np.int64)


def in_background(call: Callable[[], T]) -> asyncio.Future[T]:
    """Return what awaits a call that a thread of the running loop's executor makes.

    Raises
    ------
    RuntimeError
        No loop is running.
    """
    return asyncio.get_running_loop().run_in_executor(None, call)
