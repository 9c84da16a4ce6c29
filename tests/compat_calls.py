"""What the tests of piecework.compat.tokenizers share: the same call on the incumbent and on ours.

Expected values are what `tokenizers` gives for the same expression; nothing here knows one.
"""

from __future__ import annotations

import copy
import json
import pickle
from functools import cache
from typing import Any

import helpers
import numpy as np
import tokenizers

import piecework.compat.tokenizers as ours

THEIRS: Any = tokenizers
PANIC = "PanicException"


@cache
def bert_json() -> str:
    """Give the text of a tokenizer.json over the embedded vocabulary, with types in the pair."""
    document = json.loads(helpers.hf_tokenizer(helpers.embedded_vocab()).to_str())
    for piece in document["post_processor"]["pair"][3:]:
        next(iter(piece.values()))["type_id"] = 1
    return json.dumps(document)


def with_parts(**parts: Any) -> str:
    """Give the same with other parts."""
    return json.dumps(json.loads(bert_json()) | parts)


def both(text: str) -> tuple[Any, Any]:
    """Read a tokenizer.json with the incumbent and with ours."""
    return THEIRS.Tokenizer.from_str(text), ours.Tokenizer.from_str(text)


@cache
def _shared() -> tuple[Any, Any]:
    return both(bert_json())


def shared() -> tuple[Any, Any]:
    """Give both over :func:`bert_json`, for tests that change no more than truncation and padding.

    Reading a file for each test would take most of the suite's time.
    """
    for tokenizer in _shared():
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = False
    return _shared()


def content(encoding: Any) -> dict[str, Any]:
    """Give all that an encoding shows, with what overflows and its own overflows."""
    return {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "tokens": encoding.tokens,
        "word_ids": encoding.word_ids,
        "offsets": encoding.offsets,
        "special_tokens_mask": encoding.special_tokens_mask,
        "attention_mask": encoding.attention_mask,
        "sequence_ids": encoding.sequence_ids,
        "n_sequences": encoding.n_sequences,
        "length": len(encoding),
        "overflowing": [content(each) for each in encoding.overflowing],
    }


def plain(value: Any) -> Any:
    """Give a value as what can be compared between the two."""
    if isinstance(value, (ours.Encoding, THEIRS.Encoding)):
        return content(value)
    if isinstance(value, (ours.AddedToken, THEIRS.AddedToken)):
        return repr(value)
    if isinstance(value, (ours.Token, THEIRS.Token)) and hasattr(value, "as_tuple"):
        return value.as_tuple()
    if isinstance(value, (list, tuple)):
        return type(value)(plain(each) for each in value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value


def outcome(expression: str, module: Any, tokenizer: Any = None, **names: Any) -> Any:
    """Give the value of an expression over one of the two, or the type of what it raises."""
    tools = {"np": np, "json": json, "copy": copy, "pickle": pickle}
    scope = {"T": module, "A": module.AddedToken, "t": tokenizer, **tools, **names}
    try:
        return plain(eval(expression, scope))
    except BaseException as error:  # a panic is no Exception
        return type(error).__name__
