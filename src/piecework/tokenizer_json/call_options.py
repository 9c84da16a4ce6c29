"""Truncation and padding of a tokenizer.json: checked, kept, never applied.

In goes the file, out come its two objects. The reference applies them to every call, so that a
warning says that piecework doesn't.
"""

from __future__ import annotations

import json
from typing import Any

from piecework.errors import TokenizerFileWarning, warn
from piecework.json_part import Part


def read_call_options(document: Part, own: Part) -> tuple[Any, Any]:
    """Return truncation and padding; warn of those that the reference would apply."""
    found = {key: document.optional(key, dict) for key in ("truncation", "padding")}
    if found["truncation"] is not None:
        _check_truncation(document.part("truncation"))
    if found["padding"] is not None:
        _check_padding(document.part("padding"))
    if switched_on := [key for key, value in found.items() if value is not None]:
        details = " and ".join(f"{key} {json.dumps(found[key])}" for key in switched_on)
        warn(
            f"{document.source} switches on {details}; piecework does not apply that, and keeps it "
            f"as {' and '.join(f'file_{key}' for key in switched_on)}",
            TokenizerFileWarning,
        )
    kept = {key: own.optional(key, dict) for key in found}
    return tuple(kept[key] if found[key] is None else found[key] for key in found)


def _check_truncation(part: Part) -> None:
    part.field("max_length", int)
    part.field("stride", int)
    if part.field("strategy", str) not in ("LongestFirst", "OnlyFirst", "OnlySecond"):
        part.malformed("strategy", "LongestFirst, OnlyFirst or OnlySecond")
    _check_direction(part, "Right")


def _check_padding(part: Part) -> None:
    match part.value.get("strategy"):
        case "BatchLongest" | {"Fixed": int()}:
            pass
        case _:
            part.malformed("strategy", 'BatchLongest or {"Fixed": length}')
    part.field("pad_id", int)
    part.field("pad_type_id", int)
    part.field("pad_token", str)
    part.optional("pad_to_multiple_of", int)
    _check_direction(part)


def _check_direction(part: Part, default: str | None = None) -> None:
    if part.field("direction", str, default) not in ("Left", "Right"):
        part.malformed("direction", "Left or Right")
