"""The state of a Tokenizer of the facade: truncation and padding, as immutable values.

A call reads the state once, and a change puts a new one in its place, so that threads never see
half of a change. They are read from the options of a call or from a tokenizer.json, and written
back as both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from piecework.compat.tokenizers.arguments import (
    U32,
    Side,
    checked,
    checked_side,
    unsigned,
)
from piecework.compat.tokenizers.columns import Pad

if TYPE_CHECKING:
    from piecework.compat.tokenizers.behind import Behind

Strategy = Literal["longest_first", "only_first", "only_second"]

# As a tokenizer.json spells them.
_STRATEGIES: dict[str, Strategy] = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
_SIDES: dict[str, Side] = {"Right": "right", "Left": "left"}


@dataclass(frozen=True)
class Truncation:
    """To what length texts are cut, special tokens included, and where."""

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    side: Side = "right"

    @classmethod
    def from_options(
        cls, max_length: Any, stride: Any, strategy: Any, direction: Any
    ) -> Truncation:
        """Check what ``enable_truncation`` was given."""
        if checked("strategy", strategy, str) not in _STRATEGIES.values():
            expected = ", ".join(map(repr, _STRATEGIES.values()))
            raise ValueError(f"strategy: expected one of {expected}, got {strategy!r}")
        return cls(
            unsigned("max_length", max_length),
            unsigned("stride", stride),
            cast(Strategy, strategy),
            checked_side("direction", direction),
        )

    @classmethod
    def from_file(cls, part: Mapping[str, Any]) -> Truncation:
        """Read the ``truncation`` of a tokenizer.json."""
        return cls.from_options(
            part["max_length"],
            part["stride"],
            _STRATEGIES.get(part["strategy"], part["strategy"]),
            _SIDES.get(part.get("direction", "Right"), part.get("direction")),
        )

    def options(self) -> dict[str, Any]:
        """Return what ``enable_truncation`` takes."""
        return {
            "max_length": self.max_length,
            "stride": self.stride,
            "strategy": self.strategy,
            "direction": self.side,
        }

    def file_part(self) -> dict[str, Any]:
        """Return what a tokenizer.json holds."""
        return {
            "direction": self.side.capitalize(),
            "max_length": self.max_length,
            "strategy": _key(_STRATEGIES, self.strategy),
            "stride": self.stride,
        }


@dataclass(frozen=True)
class Padding:
    """To what length rows are filled up, and with what; no length: that of the longest row."""

    length: int | None = None
    multiple_of: int | None = None
    pad: Pad = field(default_factory=Pad)
    side: Side = "right"

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Padding:
        """Check what ``enable_padding`` was given."""
        length, multiple = options.get("length"), options.get("pad_to_multiple_of")
        pad = Pad(
            unsigned("pad_id", options.get("pad_id", 0), U32),
            unsigned("pad_type_id", options.get("pad_type_id", 0), U32),
            checked("pad_token", options.get("pad_token", "[PAD]"), str),
        )
        return cls(
            None if length is None else unsigned("length", length),
            None if multiple is None else unsigned("pad_to_multiple_of", multiple),
            pad,
            checked_side("direction", options.get("direction", "right")),
        )

    @classmethod
    def from_file(cls, part: Mapping[str, Any]) -> Padding:
        """Read the ``padding`` of a tokenizer.json."""
        fixed = part["strategy"]
        return cls.from_options(
            {
                **{key: part[key] for key in ("pad_id", "pad_type_id", "pad_token")},
                "length": None if fixed == "BatchLongest" else fixed["Fixed"],
                "pad_to_multiple_of": part.get("pad_to_multiple_of"),
                "direction": _SIDES.get(part["direction"], part["direction"]),
            }
        )

    def target(self, lengths: Iterable[int]) -> int:
        """Return the length that rows of these lengths are filled up to."""
        target = max(lengths, default=0) if self.length is None else self.length
        multiple = self.multiple_of or 1
        return -(-target // multiple) * multiple

    def options(self) -> dict[str, Any]:
        """Return what ``enable_padding`` takes."""
        return {
            "length": self.length,
            "pad_to_multiple_of": self.multiple_of,
            "pad_id": self.pad.id,
            "pad_token": self.pad.token,
            "pad_type_id": self.pad.type_id,
            "direction": self.side,
        }

    def file_part(self) -> dict[str, Any]:
        """Return what a tokenizer.json holds."""
        return {
            "strategy": "BatchLongest" if self.length is None else {"Fixed": self.length},
            "direction": self.side.capitalize(),
            "pad_to_multiple_of": self.multiple_of,
            "pad_id": self.pad.id,
            "pad_type_id": self.pad.type_id,
            "pad_token": self.pad.token,
        }


@dataclass(frozen=True)
class State:
    """All that a call of a Tokenizer depends on."""

    behind: Behind
    truncation: Truncation | None = None
    padding: Padding | None = None
    encode_special_tokens: bool = False


def _key(names: Mapping[str, str], value: str) -> str:
    return next(key for key, name in names.items() if name == value)
