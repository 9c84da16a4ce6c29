"""The forms in which callers hold many texts, each turned into what the kernel reads.

In: lists, iterators, arrays of numpy, pandas and pyarrow, and UTF-8 in buffers. Out: a
:class:`~piecework._texts.StrTexts` or :class:`~piecework._texts.Utf8Texts`, by the cheapest way
that is exact: what Arrow holds is read in place. pandas and pyarrow are imported only for objects
that come from them. Nothing here looks at the characters.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from piecework._numpy import np
from piecework._texts import StrTexts, Texts, Utf8Texts
from piecework.errors import short_repr

if TYPE_CHECKING:
    from numpy.typing import NDArray

Missing: TypeAlias = Literal["error", "empty"]

_ALLOW_MISSING = 'missing="empty" encodes a missing value as an empty text'


def texts_of(texts: Iterable[Any], missing: Missing, name: str = "texts") -> StrTexts | Utf8Texts:
    """Return the texts of any supported container, ready to be encoded.

    Parameters
    ----------
    texts : iterable of str
        What :meth:`~piecework.WordPieceTokenizer.encode_batch` takes.
    missing : "error" or "empty"
        What a missing value is.
    name : str
        Of the argument, in messages.

    Raises
    ------
    TypeError
        For what is no container of texts. A row that is no str is found when it is reached.
    ValueError
        For an array of more than one dimension, and another word for `missing`.
    """
    if type(texts) is list:  # the usual container, without a look at what else it could be
        if missing == "error":
            return StrTexts(texts, _refuse if name == "texts" else partial(_refuse, name=name))
    else:
        if isinstance(texts, Texts):  # from here
            return texts  # type: ignore[return-value]  # it has no other subclasses
        if _is_arrow(texts):
            return arrow_texts(texts, missing, name)
        if _is_pandas(texts):
            return _pandas_texts(texts, missing, name)
        if isinstance(texts, np.ndarray):
            texts = _numpy_texts(texts, name)
        elif isinstance(texts, (str, bytes, set, frozenset, Mapping)) or not isinstance(
            texts, Iterable
        ):  # those of a set have no order, and a mapping is not meant to be its keys
            raise TypeError(
                f"{name}: expected an iterable of str, got a {type(texts).__name__}"
                + ("; for one text use encode_text()" if isinstance(texts, str) else "")
            )
    return _object_texts(texts, missing, name)


def utf8_texts(buffer: Any, row_splits: NDArray[np.int64] | NDArray[np.int32]) -> Utf8Texts:
    """Return the rows of UTF-8 that a buffer holds, as `row_splits` cut it.

    Raises
    ------
    TypeError
        For what gives no buffer, and for row splits that are no array of int64 or int32.
    ValueError
        For row splits that are not one-dimensional, or empty, or make no row and leave the buffer.
        Where others point is looked at when the row is reached.
    """
    if not isinstance(row_splits, np.ndarray) or row_splits.dtype not in (np.int64, np.int32):
        kind = getattr(row_splits, "dtype", type(row_splits).__name__)
        raise TypeError(f"row_splits must be a 1-D int64 or int32 array, not {kind}")
    if row_splits.ndim != 1 or len(row_splits) == 0:
        raise ValueError(
            f"row_splits must hold n_rows + 1 numbers in one dimension, not shape "
            f"{row_splits.shape}"
        )
    data = _bytes_of(buffer)
    if len(row_splits) == 1 and not 0 <= row_splits[0] <= len(data):
        raise ValueError(
            f"row_splits must not leave the buffer of {len(data)} bytes, but is {row_splits}"
        )
    return Utf8Texts([(data, np.require(row_splits, None, ["C", "A"]))])


def arrow_texts(array: Any, missing: Missing, name: str = "texts") -> Utf8Texts:
    """Return the rows of a string array of pyarrow, or of a chunked one, without a copy.

    Views (``string_view``) and dictionaries are cast first. See :func:`texts_of`.
    """
    _check_missing(missing)
    if not _is_arrow(array):
        raise TypeError(
            f"array: expected a pyarrow Array or ChunkedArray of strings, got a "
            f"{type(array).__name__}"
        )
    array = _plain_arrow(array, name)
    if array.null_count:
        if missing == "error":
            row = sys.modules["pyarrow"].compute.index(array.is_null(), True).as_py()
            raise TypeError(f"{name}[{row}]: expected a str, got null; {_ALLOW_MISSING}")
        array = array.fill_null("")  # what lies under a null may be anything
    chunks = array.chunks if hasattr(array, "chunks") else [array]
    return Utf8Texts([_arrow_segment(chunk) for chunk in chunks])


def is_missing(value: object) -> bool:
    """Say whether a value stands for a missing one: None, NaN, pandas' NA and NaT.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def _object_texts(texts: Iterable[Any], missing: Missing, name: str) -> StrTexts:
    if missing != "error":
        _check_missing(missing)
        texts = tuple(texts)
        if set(map(type, texts)) - {str}:
            texts = ["" if is_missing(row) else row for row in texts]
    return StrTexts(texts, partial(_refuse, name=name))


def _refuse(row: int, value: object, name: str = "texts") -> NoReturn:
    """Raise the error for a row that is no str."""
    if is_missing(value):
        raise TypeError(f"{name}[{row}]: expected a str, got {value!r}; {_ALLOW_MISSING}")
    raise TypeError(f"{name}[{row}]: expected a str, got {type(value).__name__}")


def _check_missing(missing: str) -> None:
    if missing not in ("error", "empty"):
        raise ValueError(f"missing must be 'error' or 'empty', not {short_repr(missing)}")


def _numpy_texts(array: NDArray[Any], name: str) -> list[Any]:
    if array.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, got an array of shape {array.shape}")
    if array.dtype.kind not in "UOT" and array.size:
        raise TypeError(f"{name}: expected an array of str, got one of {array.dtype}")
    rows: list[Any] = array.tolist()
    return rows


# ---- pandas ----


def _is_pandas(texts: object) -> bool:
    return type(texts).__module__.partition(".")[0] == "pandas" and "pandas" in sys.modules


def _pandas_texts(texts: Any, missing: Missing, name: str) -> StrTexts | Utf8Texts:
    if getattr(texts, "ndim", 1) != 1:
        raise TypeError(
            f"{name}: expected a column of str, got a {type(texts).__name__} of shape {texts.shape}"
        )
    array = getattr(texts, "array", texts)  # of a Series or an Index
    dtype = getattr(array, "dtype", None)
    if getattr(dtype, "storage", None) == "pyarrow" or hasattr(dtype, "pyarrow_dtype"):
        return arrow_texts(array.__arrow_array__(), missing, name)
    return _object_texts(_numpy_texts(np.asarray(array, dtype=object), name), missing, name)


# ---- Arrow ----


def _is_arrow(texts: object) -> bool:
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(texts, (pyarrow.Array, pyarrow.ChunkedArray))


def _plain_arrow(array: Any, name: str) -> Any:
    """Return an array of string or large_string with the same rows."""
    import pyarrow  # of the caller, so it is there
    import pyarrow.compute

    types, kind = pyarrow.types, array.type
    if types.is_dictionary(kind):
        kind = kind.value_type
        array = array.cast(kind)
    if types.is_null(kind) or getattr(types, "is_string_view", lambda _: False)(kind):
        return array.cast(pyarrow.large_string())
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise TypeError(f"{name}: expected an Arrow array of strings, got one of {array.type}")
    return array


def _arrow_segment(chunk: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the bytes and the row splits of a string array, both views of its memory."""
    _, splits, data = chunk.buffers()
    dtype = np.int64 if str(chunk.type) == "large_string" else np.int32
    if len(chunk) == 0 or splits is None:
        return np.empty(0, np.uint8), np.zeros(1, dtype)
    row_splits = np.frombuffer(splits, dtype)[chunk.offset : chunk.offset + len(chunk) + 1]
    return _bytes_of(b"" if data is None else data), np.require(row_splits, None, ["C", "A"])


def _bytes_of(buffer: Any) -> NDArray[np.uint8]:
    """Return a view of a buffer's bytes."""
    try:
        view = memoryview(buffer)
    except TypeError:
        kind = type(buffer).__name__
        raise TypeError(f"buffer: expected bytes or another buffer, got a {kind}") from None
    if view.nbytes != len(view) or not view.contiguous:
        raise TypeError(
            f"buffer: expected bytes without a gap, got items of {view.format!r}, shape "
            f"{view.shape}, strides {view.strides}"
        )
    return np.frombuffer(view, np.uint8)
