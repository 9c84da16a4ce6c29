"""Checks of numpy arrays and of their types, and arrays as kernels read them.

Kernels take contiguous, aligned arrays in the machine's order of bytes. What is here says whether
an array is one, makes it one, or refuses it with its name and what was expected.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework._numpy import np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


class IntegerType(NamedTuple):
    """A type of integers, with what is asked of it often.

    Attributes
    ----------
    dtype : dtype
    native : dtype
        The same in the order of bytes that kernels read.
    lowest, highest : int
    """

    dtype: np.dtype[Any]
    native: np.dtype[Any]
    lowest: int
    highest: int


def plain_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that a kernel can read: itself, or a copy without gaps."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, None, ["C", "A"])


def check_array(name: str, array: object, *dtypes: str, width: int | None = None) -> None:
    """Raise unless this is an array of one of these types, 1-D or of rows of `width` numbers."""
    kind = "1-D" if width is None else f"2-D (n, {width})"
    expected = f"{name} must be a {kind} {' or '.join(dtypes)} array"
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{expected}, not {type(array).__name__}")
    if array.dtype not in dtypes:
        raise TypeError(f"{expected}, not {array.dtype}")
    if array.ndim != (1 if width is None else 2) or (width and array.shape[1] != width):
        raise ValueError(f"{expected}, not one of shape {array.shape}")


@lru_cache(maxsize=16)  # asking numpy costs as much as padding a sentence
def integer_type(dtype: Any) -> IntegerType:
    """Return what is known of a type of integers, or raise a ValueError.

    numpy's own errors are raised for what is no type at all.
    """
    result = np.dtype(dtype)
    if result.kind not in "iu":
        raise ValueError(f"dtype must be an integer type, not {result}")
    limits = np.iinfo(result)
    return IntegerType(result, result.newbyteorder("="), int(limits.min), int(limits.max))


def checked_type(dtype: DTypeLike, values: NDArray[Any], pad: int) -> IntegerType:
    """Return an integer type in which all of these values and `pad` have room, or raise."""
    try:
        result = integer_type(dtype)  # type: ignore[arg-type]  # what has no hash is none
    except (TypeError, SyntaxError):  # numpy's, for "i4,,"
        raise TypeError(f"dtype must be an integer type, not {dtype!r}") from None
    held = integer_type(values.dtype)
    low = high = pad
    # Where the type of the values has room, none of them is looked at.
    if result.lowest > held.lowest:
        low = min(low, int(values.min(initial=0)))
    if result.highest < held.highest:
        high = max(high, int(values.max(initial=0)))
    if low < result.lowest or high > result.highest:
        wrong = low if low < result.lowest else high
        raise ValueError(f"{wrong} does not fit into dtype {result.dtype}")
    return result
