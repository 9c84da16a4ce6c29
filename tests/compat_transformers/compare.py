"""What a call gives, in a form that can be compared: a value in plain types, or an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

ENCODING = (
    "ids",
    "type_ids",
    "tokens",
    "offsets",
    "attention_mask",
    "special_tokens_mask",
    "word_ids",
    "sequence_ids",
    "n_sequences",
)


class Outcome(NamedTuple):
    """What came of a call."""

    value: Any = None
    error: BaseException | None = None


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Outcome:
    """Call, and return what came of it; a panic of Rust is no Exception."""
    try:
        return Outcome(call(*args, **kwargs))
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return Outcome(error=error)


def plain(value: Any) -> Any:
    """Return a column with its type, dtype and shape spelled out.

    Offsets of rows without tokens have the shape (n_rows, 0) in transformers, and (n_rows, 0, 2)
    here.
    """
    kind = "tensor" if type(value).__module__ == "torch" else type(value).__name__
    if kind not in ("tensor", "ndarray"):
        return value
    shape = tuple(value.shape)
    return kind, str(value.dtype), shape if 0 not in shape else shape[:2], value.tolist()


def columns(encoding: Any) -> list[tuple[str, Any]]:
    """Return the columns of a BatchEncoding in their order."""
    return [(name, plain(column)) for name, column in encoding.items()]


def encodings(encoding: Any) -> list[tuple[Any, ...]]:
    """Return the encodings of a BatchEncoding."""
    return [tuple(getattr(each, name) for name in ENCODING) for each in encoding.encodings]


def assert_same(real: Any, ours: Any) -> None:
    """Compare two BatchEncodings in all that can be seen of them."""
    assert columns(ours) == columns(real)
    assert ours.n_sequences == real.n_sequences
    assert ours.is_fast is real.is_fast
    assert encodings(ours) == encodings(real)
