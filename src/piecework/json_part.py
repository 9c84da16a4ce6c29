"""JSON files read with care: what a value must be, and where it stands if it is not.

In goes a text, out comes a :class:`Part`, whose methods return values of the type that is asked for
or raise an error that names the file and the path in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from piecework._vocab import scan_ids
from piecework.errors import UnsupportedTokenizerError

_N_CHARS_SHOWN = 80
BOM = "\ufeff"
_VOCAB = re.compile(r'"vocab"\s*:\s*(?=\{)')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_JSON_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a bool", int: "an int"}


@dataclass(frozen=True)
class Part:
    """An object of a JSON file, with what its error messages need: where it is."""

    value: Mapping[str, Any]
    path: str
    source: str

    def name(self, key: str) -> str:
        """Return the file and the path of a value in it."""
        place = f"{self.path}.{key}" if self.path else key
        return f"{self.source}: {place}"

    def field(self, key: str, kind: type, default: Any = None) -> Any:
        """Return a value that must be of a type, and present unless there is a default."""
        value = self.value.get(key, default)
        if value is None and key not in self.value:
            raise ValueError(f"{self.name(key)} is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.malformed(key, _JSON_NAMES[kind])
        return value

    def optional(self, key: str, kind: type) -> Any:
        """Return a value that may be null or missing (then None)."""
        return None if self.value.get(key) is None else self.field(key, kind)

    def part(self, key: str, default: Mapping[str, Any] | None = None) -> Part:
        """Return an object in this one."""
        place = f"{self.path}.{key}" if self.path else key
        return Part(self.field(key, dict, default), place, self.source)

    def elements(self, key: str) -> Part:
        """Return an array in this one, by keys such as ``key[0]``; a missing one is empty."""
        values = {f"{key}[{i}]": value for i, value in enumerate(self.field(key, list, []))}
        return Part(values, self.path, self.source)

    def parts(self, key: str) -> list[Part]:
        """Return the objects of an array in this one; a missing array is an empty one."""
        elements = self.elements(key)
        return [elements.part(name) for name in elements.value]

    def component(self, key: str, type_: str) -> Part:
        """Return a component that must be there and say that it is of a type."""
        if self.value.get(key) is None:
            self.unsupported(key, type_)
        part = self.part(key)
        if part.value.get("type") != type_:
            part.unsupported("type", repr(type_))
        return part

    def unsupported(self, key: str, expected: str) -> NoReturn:
        """Raise because the value may be valid, and is not what piecework can reproduce."""
        raise UnsupportedTokenizerError(self._mismatch(key, expected))

    def malformed(self, key: str, expected: str) -> NoReturn:
        """Raise because the value makes the file no tokenizer.json."""
        raise ValueError(self._mismatch(key, expected))

    def _mismatch(self, key: str, expected: str) -> str:
        came = shown(self.value[key]) if key in self.value else "nothing"
        return f"{self.name(key)}: expected {expected}, got {came}"


def shown(value: object) -> str:
    """Return a value as JSON spells it, cut to the length that a message can bear."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _N_CHARS_SHOWN else f"{text[:_N_CHARS_SHOWN]}…"


def parse_json(text: str, source: str) -> Part:
    """Return the object that a JSON text holds; ValueError with the place for what is no JSON."""
    if text.startswith(BOM):
        raise ValueError(f"{source}: invalid JSON: it begins with a byte order mark (U+FEFF)")

    try:
        document = _load_json(text)
    except ValueError as error:
        raise ValueError(f"{source}: invalid JSON: {error}") from error
    except RecursionError:
        raise ValueError(f"{source}: invalid JSON: nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError(f"{source}: expected a JSON object, got {shown(document)}")
    if _SURROGATE_ESCAPE.search(text) or not _is_encodable(text):
        _check_encodable(document, source)
    return Part(document, "", source)


def _load_json(text: str) -> Any:
    """Return what a JSON text holds, as json does; in half the time if it holds a vocabulary."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no JSON")

    try:
        document = _load_around_vocab(text)
    except (ValueError, IndexError):
        document = None  # malformed; the message is to name the place in the whole text
    return json.loads(text, parse_constant=refuse) if document is None else document


def _load_around_vocab(text: str) -> Any:
    """Return what a JSON text holds; None, if it has to be read in the usual way.

    Raises
    ------
    ValueError, IndexError
        For what is no JSON.
    """
    # In JSON this is always a key: a quotation mark in a string has a backslash before it. (To ask
    # the expression for that costs it the fast search for what it begins with.)
    found = next((m for m in _VOCAB.finditer(text) if text[m.start() - 1] != "\\"), None)
    scanned = scan_ids(text, found.end()) if found else None
    if not found or not scanned:
        return None
    vocab, stop = scanned
    # In its place json sees a NaN, which JSON does not have, and asks for the value.
    values = [vocab]
    rest = f"{text[: found.end()]}NaN{text[stop:]}"
    return json.loads(rest, parse_constant=lambda _: values.pop())


def _is_encodable(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _check_encodable(document: Mapping[str, Any], source: str) -> None:
    """Raise for a lone surrogate, which JSON can spell and UTF-8 can't hold (vocab: see there)."""
    rest = dict(document)
    if isinstance(model := rest.get("model"), dict):
        rest["model"] = {key: value for key, value in model.items() if key != "vocab"}
    try:
        json.dumps(rest, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = error.object[max(0, error.start - 20) : error.start + 1]
        raise ValueError(f"{source}: lone surrogate at the end of {bad!r}") from None
