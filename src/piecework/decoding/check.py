"""Reads the decoder of a tokenizer.json.

In goes a part of the file, out comes what a spec keeps of it: the fields that have a meaning, with
their defaults, so that equal decoders are equal. What the reference would not load is an error; so
is, naming its place, what piecework does not reproduce.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from piecework.json_part import Part

_HIGHEST_COUNT = 2**64 - 1
# Any of them makes a regular expression more than the string that it is to match.
_METACHARACTERS = frozenset("\\^$.|?*+()[]{}")


def check_decoder(part: Part) -> dict[str, Any]:
    """Return a decoder as :class:`piecework.spec.TokenizerSpec` keeps it.

    Parameters
    ----------
    part : Part
        The ``decoder`` object of a tokenizer.json.

    Raises
    ------
    UnsupportedTokenizerError
        For a decoder, or a regular expression, that piecework does not reproduce.
    ValueError
        For a field that is missing, or not what the reference takes.

    Examples
    --------
    >>> fields = {"prefix": "##", "cleanup": True, "comment": "ignored"}
    >>> check_decoder(Part(fields, "decoder", "tokenizer.json"))
    {'type': 'WordPiece', 'prefix': '##', 'cleanup': True}
    """
    type_ = _type(part)
    return {"type": type_, **_CHECKS[type_](part)}


def _type(part: Part) -> str:
    type_ = part.value.get("type")
    if type_ is None:
        keys = part.value.keys()
        found = (each for each, fields in _FIELDS_OF_UNTYPED.items() if fields <= keys)
        type_ = next(found, "WordPiece")
    if not isinstance(type_, str) or type_ not in _CHECKS:
        part.unsupported("type", f"one of {', '.join(map(repr, _CHECKS))}")
    return type_


def _word_piece(part: Part) -> dict[str, Any]:
    return {"prefix": part.field("prefix", str), "cleanup": part.field("cleanup", bool)}


def _sequence(part: Part) -> dict[str, Any]:
    part.field("decoders", list)  # it may be empty, but not missing
    return {"decoders": [check_decoder(each) for each in part.parts("decoders")]}


def _bpe(part: Part) -> dict[str, Any]:
    return {"suffix": part.field("suffix", str)}


def _metaspace(part: Part) -> dict[str, Any]:
    schemes = ("first", "never", "always")
    if (scheme := part.value.get("prepend_scheme", "always")) not in schemes:
        part.malformed("prepend_scheme", f"one of {', '.join(map(repr, schemes))}")
    # The older spelling, which may not contradict the newer one.
    if part.optional("add_prefix_space", bool) is False and scheme != "never":
        part.malformed("add_prefix_space", "true, as prepend_scheme is not 'never'")
    split = part.optional("split", bool)
    return {
        "replacement": _char(part, "replacement"),
        "prepend_scheme": scheme,
        "split": True if split is None else split,
    }


def _ctc(part: Part) -> dict[str, Any]:
    return {
        "pad_token": part.field("pad_token", str),
        "word_delimiter_token": part.field("word_delimiter_token", str),
        "cleanup": part.field("cleanup", bool),
    }


def _replace(part: Part) -> dict[str, Any]:
    match part.field("pattern", dict):
        case {"String": str(), **rest} if not rest:
            pass
        case {"Regex": str(regex), **rest} if not rest:
            if not _METACHARACTERS.isdisjoint(regex):
                part.part("pattern").unsupported("Regex", "one that is a plain string")
        case _:
            part.malformed("pattern", '{"String": text} or {"Regex": text}')
    return {"pattern": part.value["pattern"], "content": part.field("content", str)}


def _strip(part: Part) -> dict[str, Any]:
    return {
        "content": _char(part, "content"),
        "start": _count(part, "start"),
        "stop": _count(part, "stop"),
    }


def _no_fields(part: Part) -> dict[str, Any]:
    return {}


def _char(part: Part, key: str) -> Any:
    char = part.field(key, str)
    if len(char) != 1:
        part.malformed(key, "a string of one character")
    return char


def _count(part: Part, key: str) -> Any:
    count = part.field(key, int)
    if not 0 <= count <= _HIGHEST_COUNT:
        part.malformed(key, f"an int from 0 to {_HIGHEST_COUNT}")
    return count


_CHECKS: dict[str, Callable[[Part], Mapping[str, Any]]] = {
    "WordPiece": _word_piece,
    "Sequence": _sequence,
    "BPEDecoder": _bpe,
    "Metaspace": _metaspace,
    "CTC": _ctc,
    "Replace": _replace,
    "Strip": _strip,
    "ByteFallback": _no_fields,
    "Fuse": _no_fields,
}
# What the reference takes a decoder without a type for, by the first of these whose fields it has.
_FIELDS_OF_UNTYPED = {
    "BPEDecoder": {"suffix"},
    "ByteLevel": {"add_prefix_space", "trim_offsets", "use_regex"},
    "WordPiece": {"prefix", "cleanup"},
    "CTC": {"pad_token", "word_delimiter_token", "cleanup"},
    "Replace": {"pattern", "content"},
    "Strip": {"content", "start", "stop"},
}
