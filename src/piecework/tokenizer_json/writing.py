"""Writes a tokenizer.json from a TokenizerSpec.

In goes a :class:`~piecework.spec.TokenizerSpec`, out comes the text of a file that the reference
loads to the same results. What only piecework knows goes under a key that the reference ignores;
what the format can't hold is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from piecework.spec import TokenizerSpec
from piecework.tokenizer_json.added_tokens import added_tokens_text, check_handed_out
from piecework.tokenizer_json.bert_normalizer import bert_normalizer_object
from piecework.tokenizer_json.model import OWN_KEY
from piecework.tokenizer_json.post_processor import post_processor_object
from piecework.vocabulary import write_atomically


def write_tokenizer_json(spec: TokenizerSpec, path: str | os.PathLike[str]) -> None:
    """Write a tokenizer.json that Hugging Face loads to the same ids.

    The file appears whole or not at all.

    Raises
    ------
    ValueError
        For an added token whose id Hugging Face would not hand out again.
    """
    write_atomically(path, to_json(spec).encode("utf-8"))


def to_json(spec: TokenizerSpec) -> str:
    """Return the text of the tokenizer.json of a spec; equal specs give equal texts.

    Raises
    ------
    ValueError
        As :func:`write_tokenizer_json`.
    """
    check_handed_out(spec.vocabulary, spec.added_tokens)
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        **_steps(spec),
        "post_processor": post_processor_object(spec.template),
        "decoder": spec.decoder,
        "model": {**_model(spec), "vocab": {}},
    }
    # With an indent, json encodes in Python: some 5 times slower. So what is long is put in after.
    # The vocabulary is the last thing in the file: it goes between the braces of the empty one,
    # encoded in C, one entry a line.
    text = json.dumps(document, ensure_ascii=False, indent=2)
    head, before, text = text.partition('"added_tokens": ')
    added = added_tokens_text(spec.added_tokens, "  ")
    end = "}\n  }\n}"
    vocab = json.dumps(
        dict(_by_id(spec.vocabulary.ids)), ensure_ascii=False, separators=(",\n      ", ": ")
    )
    text = text.removeprefix("[]").removesuffix(end)
    return f"{head}{before}{added}{text}\n      {vocab[1:-1]}\n    {end}\n"


def _steps(spec: TokenizerSpec) -> dict[str, Any]:
    if spec.steps is not None:
        return {"normalizer": spec.steps.normalizer, "pre_tokenizer": spec.steps.pre_tokenizer}
    return {
        "normalizer": bert_normalizer_object(spec),
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    }


def _model(spec: TokenizerSpec) -> dict[str, Any]:
    model: dict[str, Any] = {
        "type": "WordPiece",
        "unk_token": spec.unk_token,
        "continuing_subword_prefix": spec.prefix,
        "max_input_chars_per_word": spec.max_input_chars_per_word,
    }
    if own := _own_part(spec):
        model[OWN_KEY] = own
    return model


def _own_part(spec: TokenizerSpec) -> dict[str, Any]:
    own = {
        "rules": None if spec.rules == "huggingface" else spec.rules,
        "shadowed": [[id_, token] for id_, token in sorted(spec.vocabulary.shadowed.items())],
        "truncation": spec.file_truncation,
        "padding": spec.file_padding,
        "adds_special": False if spec.template is None else None,
    }
    return {key: value for key, value in own.items() if value is not None and value != []}


def _by_id(ids: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(ids.items(), key=lambda item: item[1])
