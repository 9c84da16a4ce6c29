"""Checks of arguments, with the types of errors that the reference raises.

Its arguments are typed by the language it is written in: an integer is what has ``__index__``, a
bool or a str is nothing else, and a number that does not fit is an OverflowError.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, cast

from piecework._numpy import np
from piecework.errors import short_repr

Side = Literal["right", "left"]
T = TypeVar("T")
_WITH_ARTICLE = {"bytes": "bytes", "Encoding": "an Encoding"}

U32 = 2**32 - 1  # ids, type ids, words
USIZE = 2**64 - 1  # lengths and positions


def checked(name: str, value: object, kind: type[T]) -> T:
    """Return an argument that has to be of a type: a bool is no int, an int no bool."""
    if not isinstance(value, kind):
        expected = _WITH_ARTICLE.get(kind.__name__, f"a {kind.__name__}")
        raise TypeError(f"{name}: expected {expected}, got {short_repr(value)}")
    return value


def unsigned(name: str, value: Any, highest: int = USIZE) -> int:
    """Return an integer from 0 to `highest`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {short_repr(value)}") from None
    if not 0 <= number <= highest:
        raise OverflowError(f"{name}: expected an integer from 0 to {highest}, got {number}")
    return number


def checked_side(name: str, value: object) -> Side:
    """Return "right" or "left"."""
    if checked(name, value, str) not in ("right", "left"):
        raise ValueError(f"{name}: expected 'right' or 'left', got {value!r}")
    return cast(Side, value)


def checked_sequence(name: str, value: Any) -> Sequence[Any]:
    """Return what is a sequence, an array of numpy included, and no str."""
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        raise TypeError(f"{name}: expected a list or a tuple, got {short_repr(value)}")
    return cast(Sequence[Any], value)


def without_unknown(function: str, options: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return the options that are known; each other one is an error.

    Raises
    ------
    TypeError
        For an unknown one. (The reference prints a line and goes on without it.)
    """
    for name in options:
        if name not in known:
            raise TypeError(
                f"{function}() got an unexpected keyword argument {name!r}; it takes "
                f"{', '.join(known)}"
            )
    return options
