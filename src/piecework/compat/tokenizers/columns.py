"""The content of one Encoding as arrays, and what can be done with it: cut, join, pad.

In go columns, out come new columns; none is ever changed, so that encodings may share them. The
rules are those of the reference, down to which sequence a token is said to belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework._numpy import np
from piecework.compat.tokenizers.arguments import Side

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_WORD = -1
# What padding and the tokens of a template have in the columns that don't depend on their id.
_NO_PLACE = (0, 0)


class Pad(NamedTuple):
    """What stands where a row has been filled up."""

    id: int = 0
    type_id: int = 0
    token: str = "[PAD]"


@dataclass(frozen=True)
class Columns:
    """The tokens of one encoding.

    Attributes
    ----------
    ids, type_ids, word_ids, special_tokens_mask, attention_mask : integer arrays, shape (n_tokens,)
        -1 in `word_ids` is none.
    offsets : integer array, shape (n_tokens, 2)
    tokens : list of str
    sequences : dict of int to (int, int)
        The tokens, from start to stop, of each sequence. Empty: nobody has said.
    overflowing : tuple of Columns
    """

    ids: NDArray[Any]
    type_ids: NDArray[Any]
    word_ids: NDArray[Any]
    offsets: NDArray[Any]
    special_tokens_mask: NDArray[Any]
    attention_mask: NDArray[Any]
    tokens: list[str]
    sequences: dict[int, tuple[int, int]] = field(default_factory=dict)
    overflowing: tuple[Columns, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, stop: int) -> Columns:
        """Return some of the tokens; of what sequence they are is forgotten."""
        arrays = {name: getattr(self, name)[start:stop] for name in ARRAYS}
        return Columns(**arrays, tokens=self.tokens[start:stop])

    def of_sequence(self, sequence: int) -> Columns:
        """Return the same with all tokens said to be of a sequence."""
        return replace(self, sequences={**self.sequences, sequence: (0, len(self))})

    def of_type(self, type_id: int) -> Columns:
        """Return the same with another type id."""
        return replace(self, type_ids=np.full(len(self), type_id, np.int64))


ARRAYS = ("ids", "type_ids", "word_ids", "offsets", "special_tokens_mask", "attention_mask")


def inserted(pad: Pad, n_tokens: int, *, attention: int) -> Columns:
    """Return tokens that come from no text: padding, or a special token of a template."""
    return Columns(
        ids=np.full(n_tokens, pad.id, np.int64),
        type_ids=np.full(n_tokens, pad.type_id, np.int64),
        word_ids=np.full(n_tokens, NO_WORD, np.int64),
        offsets=np.full((n_tokens, 2), _NO_PLACE, np.int64),
        special_tokens_mask=np.ones(n_tokens, np.int64),
        attention_mask=np.full(n_tokens, attention, np.int64),
        tokens=[pad.token] * n_tokens,
    )


EMPTY = inserted(Pad(), 0, attention=0)


def joined(first: Columns, second: Columns, *, growing_offsets: bool = False) -> Columns:
    """Return the tokens of two encodings, one behind the other.

    What overflowed joins with what overflowed: each overflow of the first with the second and with
    each overflow of the second, then the first with each overflow of the second.
    """

    def join(one: Columns, other: Columns) -> Columns:
        return joined(one, other, growing_offsets=growing_offsets)

    overflowing = [
        join(one, other) for one in first.overflowing for other in (second, *second.overflowing)
    ]
    overflowing += [join(first, other) for other in second.overflowing]
    arrays = {name: (getattr(first, name), getattr(second, name)) for name in ARRAYS}
    if growing_offsets and len(first):
        arrays["offsets"] = (first.offsets, second.offsets + first.offsets[-1, 1])
    n_before = len(first)
    return Columns(
        **{name: np.concatenate(both) for name, both in arrays.items()},
        tokens=first.tokens + second.tokens,
        sequences=first.sequences | _moved(second.sequences, n_before),
        overflowing=tuple(overflowing),
    )


def all_joined(parts: Iterable[Columns], *, growing_offsets: bool = False) -> Columns:
    """Return the tokens of any number of encodings, as :func:`joined` joins two."""
    parts = [EMPTY, *parts]
    overflowing = [number for number, part in enumerate(parts) if part.overflowing]
    if growing_offsets or len(overflowing) > 1:
        return reduce(partial(joined, growing_offsets=growing_offsets), parts)
    # Nearly always: at most one of them was cut, and all is put together in one step.
    if not overflowing:
        return _concatenated(parts)
    (cut,) = overflowing
    before, behind = parts[:cut], parts[cut + 1 :]
    if any(each.overflowing for each in parts[cut].overflowing):
        return reduce(joined, parts)
    return replace(
        _concatenated(parts),
        overflowing=tuple(
            _concatenated([*before, each, *behind]) for each in parts[cut].overflowing
        ),
    )


def _concatenated(parts: Sequence[Columns]) -> Columns:
    sequences: dict[int, tuple[int, int]] = {}
    n_before = 0
    for part in parts:
        sequences |= _moved(part.sequences, n_before)
        n_before += len(part)
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS
    }
    tokens = [token for part in parts for token in part.tokens]
    return Columns(**arrays, tokens=tokens, sequences=sequences)


def truncated(columns: Columns, max_length: int, stride: int, side: Side) -> Columns:
    """Return the first or, for ``side="left"``, last `max_length` tokens; the others overflow.

    Raises
    ------
    ValueError
        For a stride that leaves no progress from window to window, where there is something to cut.
    """
    n_tokens = len(columns)
    if max_length >= n_tokens:
        return columns
    if max_length == 0:
        return replace(EMPTY, overflowing=(columns,))
    if stride >= max_length:
        raise ValueError(
            f"stride={stride}: expected less than {max_length}, the number of tokens that stay of "
            f"a text of {n_tokens}"
        )
    windows = _windows(n_tokens, max_length, max_length - stride)
    if side == "left":
        windows = [(n_tokens - stop, n_tokens - start) for start, stop in windows]
    kept, *rest = (columns.part(start, stop) for start, stop in windows)
    return replace(kept, overflowing=tuple(rest))


def _windows(n_tokens: int, length: int, step: int) -> list[tuple[int, int]]:
    last = -(-(n_tokens - length) // step) * step  # the first start whose window meets the end
    return [(start, min(start + length, n_tokens)) for start in range(0, last + 1, step)]


def padded(columns: Columns, length: int, pad: Pad, side: Side) -> Columns:
    """Return the tokens filled up to a length, and those that overflowed too."""
    overflowing = tuple(padded(each, length, pad, side) for each in columns.overflowing)
    columns = replace(columns, overflowing=())
    if (n_missing := length - len(columns)) > 0:
        padding = inserted(pad, n_missing, attention=0)
        columns = joined(*((padding, columns) if side == "left" else (columns, padding)))
    return replace(columns, overflowing=overflowing)


def _moved(sequences: dict[int, tuple[int, int]], by: int) -> dict[int, tuple[int, int]]:
    return {key: (start + by, stop + by) for key, (start, stop) in sequences.items()}
