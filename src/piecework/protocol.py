"""What every tokenizer has, whatever its algorithm, and the check of ids that all of them share.

:class:`Tokenizer` is the protocol that callers program against; :func:`check_ids` takes ids in any
common form and either returns nothing or raises. Neither knows anything about WordPiece.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from piecework._numpy import np
from piecework.errors import short_repr

T = TypeVar("T", bound="Tokenizer")


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back.

    Examples
    --------
    >>> isinstance("text", Tokenizer)
    False
    """

    @property
    def vocab_size(self) -> int:
        """Highest id + 1: the rows of an embedding matrix."""
        ...

    @property
    def special_ids(self) -> Mapping[str, int]:
        """Special tokens and their ids."""
        ...

    def encode(self, text: str, add_special: bool = False) -> list[int]:
        """Return the ids of a text, with the template's special tokens around it if asked for."""
        ...

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        """Return the text of ids, special tokens left out if asked for."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to one file."""
        ...

    @classmethod
    def load(cls: type[T], path: str | os.PathLike[str]) -> T:
        """Read what :meth:`save` wrote."""
        ...


def check_ids(ids: Sequence[int] | Any, vocab_size: int, *, row: int | None = None) -> None:
    """Raise unless every id is an integer in ``range(vocab_size)``.

    Parameters
    ----------
    ids : sequence of int, or integer array, shape (n_tokens,)
        A list, tuple, range or anything that numpy reads as a one-dimensional array.
    vocab_size : int
        At least 0.
    row : int, optional
        Named in the message: the row of a batch that these ids are.

    Raises
    ------
    ValueError
        For an id out of range, naming the first one and its position; for a negative `vocab_size`.
    TypeError
        For what is no sequence of integers, or no integer `vocab_size`. A bool is no integer here.

    Examples
    --------
    >>> check_ids([5, 2, 0], vocab_size=15)
    >>> check_ids([5, 15], vocab_size=15)
    Traceback (most recent call last):
        ...
    ValueError: position 1: expected an id from 0 to 14, got 15
    """
    as_int_list(ids, as_int("vocab_size", vocab_size, minimum=0), row)


def as_int(name: str, value: Any, *, minimum: int | None = None, maximum: int | None = None) -> int:
    """Return an argument as a plain int, or raise an error that names it.

    Examples
    --------
    >>> as_int("length", np.int8(3), minimum=0)
    3
    >>> as_int("length", "3")
    Traceback (most recent call last):
        ...
    TypeError: length must be an integer, not '3' of type str
    """
    plain = value if type(value) is int else _index(value)
    if plain is None:
        raise TypeError(f"{name} must be an integer, not {value!r} of type {type(value).__name__}")
    if minimum is not None and plain < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {plain}")
    if maximum is not None and plain > maximum:
        raise ValueError(f"{name} must be at most {maximum}, not {plain}")
    return plain


def as_flag(name: str, value: Any, expected: str = "a bool") -> bool:
    """Return an argument as a plain bool, or raise an error that names it.

    Examples
    --------
    >>> as_flag("lowercase", np.True_)
    True
    >>> as_flag("lowercase", "no")
    Traceback (most recent call last):
        ...
    TypeError: lowercase: expected a bool, got 'no'
    """
    if type(value) is not bool and not isinstance(value, np.bool_):
        raise TypeError(f"{name}: expected {expected}, got {short_repr(value)}")
    return bool(value)


def as_int_list(
    ids: Sequence[int] | Any, vocab_size: int | None, row: int | None = None
) -> Sequence[int]:
    """Return the ids as a sequence of plain ints, checked as :func:`check_ids` says.

    Without a `vocab_size` they may be any integers.
    """
    if type(ids) is not list and type(ids) is not tuple:
        ids = _as_sequence(ids, row)
    if not ids:
        return ids
    # Three passes in C. Only what they refuse is looked at one by one, for the message.
    if set(map(type, ids)) == {int} and (
        vocab_size is None or (min(ids) >= 0 and max(ids) < vocab_size)
    ):
        return ids
    return [_checked_id(id_, vocab_size, position, row) for position, id_ in enumerate(ids)]


def _as_sequence(ids: Any, row: int | None) -> Sequence[int]:
    if hasattr(ids, "__array__"):
        array = np.asarray(ids)
        if array.ndim != 1:
            raise TypeError(f"{_at(row)}expected ids in one dimension, got shape {array.shape}")
        if array.size and array.dtype.kind not in "iuO":
            raise TypeError(f"{_at(row)}expected integer ids, got an array of {array.dtype}")
        as_list: list[int] = array.tolist()
        return as_list
    if isinstance(ids, Sequence) and not isinstance(ids, (str, bytes, bytearray)):
        return ids
    raise TypeError(f"{_at(row)}expected a sequence of ids, got {type(ids).__name__}")


def _checked_id(id_: Any, vocab_size: int | None, position: int, row: int | None) -> int:
    plain = _index(id_)
    if plain is None:
        raise TypeError(
            f"{_at(row, position)}expected an integer id, got {id_!r} of type {type(id_).__name__}"
        )
    if vocab_size is not None and not 0 <= plain < vocab_size:
        fit = f"an id from 0 to {vocab_size - 1}" if vocab_size else "no ids, as vocab_size is 0"
        raise ValueError(f"{_at(row, position)}expected {fit}, got {plain}")
    return plain


def _index(value: Any) -> int | None:
    """Return an integer of any type as an int, None for what is no integer, bools among it."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array has __index__, and it works for one without dimensions only
        return None


def _at(row: int | None, position: int | None = None) -> str:
    named = {"row": row, "position": position}
    place = ", ".join(f"{name} {value}" for name, value in named.items() if value is not None)
    return f"{place}: " if place else ""
