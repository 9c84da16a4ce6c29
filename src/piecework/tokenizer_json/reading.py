"""Reads a tokenizer.json into a TokenizerSpec.

In goes a path or the text itself, out comes a :class:`~piecework.spec.TokenizerSpec`. Each
component is read by a module of its own; this one puts them together and says in which order they
are looked at.
"""

from __future__ import annotations

import os
from typing import Any

from piecework.decoding import check_decoder
from piecework.json_part import BOM, Part, parse_json
from piecework.spec import Steps, TokenizerSpec
from piecework.tokenizer_json.added_tokens import read_added_tokens
from piecework.tokenizer_json.bert_normalizer import bert_flags
from piecework.tokenizer_json.call_options import read_call_options
from piecework.tokenizer_json.model import (
    model_part,
    own_keys,
    read_limit,
    read_unk_token,
    read_vocabulary,
)
from piecework.tokenizer_json.post_processor import read_post_processor
from piecework.vocabulary import checked_path, read_utf8

_BERT_STEPS = ("BertNormalizer", "BertPreTokenizer")
_TOP_LEVEL_KEYS = {
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
}


def read_tokenizer_json(source: str | os.PathLike[str]) -> TokenizerSpec:
    """Read a tokenizer.json.

    Parameters
    ----------
    source : str or PathLike
        A path, or the text itself: a str that starts with ``{``.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
    TypeError
        For a source that is neither.
    UnsupportedTokenizerError
        For a component that piecework does not reproduce exactly, naming it and its path in the
        file.
    ValueError
        For a file that is malformed, naming the place. Ids must be below 2**28.

    Warns
    -----
    TokenizerFileWarning
        The file switches on truncation or padding.
    VocabularyWarning
        Ids have gaps, or several tokens have one id: each encodes to it, and it decodes to the
        first of them in the file.

    Examples
    --------
    >>> spec = read_tokenizer_json('''{
    ...     "normalizer": {"type": "BertNormalizer", "clean_text": true, "lowercase": false,
    ...                    "handle_chinese_chars": true, "strip_accents": null},
    ...     "pre_tokenizer": {"type": "BertPreTokenizer"},
    ...     "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    ...               "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}
    ... }''')
    >>> spec.vocabulary.ids, spec.lowercase
    ({'[UNK]': 0, 'a': 1, '##b': 2}, False)
    """
    # With a byte order mark it is no JSON, and the message says so.
    if isinstance(source, str) and source.lstrip(BOM + " \t\r\n").startswith("{"):
        return from_json(source, "<text>")
    path = checked_path(source, "tokenizer_json")
    return from_json(read_utf8(path), os.fspath(source))


def from_json(text: str, source: str) -> TokenizerSpec:
    """Read the text of a tokenizer.json; `source` names it in messages."""
    document = parse_json(text, source)
    model = model_part(document)  # first: a tokenizer of another kind differs in the rest too
    if unknown := sorted(document.value.keys() - _TOP_LEVEL_KEYS):
        raise ValueError(f"{source}: unknown key {unknown[0]!r} at the top level")
    if document.field("version", str, "1.0") != "1.0":
        document.unsupported("version", "'1.0'")
    steps, flags = _read_steps(document)
    own = own_keys(model)
    vocabulary = read_vocabulary(model, own, text)
    unk_token = read_unk_token(model, vocabulary)
    added_tokens = read_added_tokens(document, vocabulary)
    vocab_size = max(vocabulary.size, *(token.id + 1 for token in added_tokens), 0)
    truncation, padding = read_call_options(document, own)
    return TokenizerSpec(
        vocabulary=vocabulary,
        unk_token=unk_token,
        prefix=model.field("continuing_subword_prefix", str),
        max_input_chars_per_word=read_limit(model),
        **flags,
        rules=own.field("rules", str, "huggingface"),
        added_tokens=added_tokens,
        steps=steps,
        template=read_post_processor(document, vocab_size)
        if own.field("adds_special", bool, True)
        else None,
        decoder=check_decoder(document.part("decoder"))
        if document.value.get("decoder") is not None
        else None,
        file_truncation=truncation,
        file_padding=padding,
    )


def _read_steps(document: Part) -> tuple[Steps | None, dict[str, Any]]:
    """Return the steps, and the flags that stand for them if they are BERT's."""
    if (_type(document, "normalizer"), _type(document, "pre_tokenizer")) == _BERT_STEPS:
        return None, bert_flags(document.part("normalizer"))
    from piecework.pipeline import bert_flags_of, check_steps  # most files don't need it

    flags = bert_flags_of(document)
    return (check_steps(document), {}) if flags is None else (None, flags)


def _type(document: Part, key: str) -> object:
    value = document.value.get(key)
    return value.get("type") if isinstance(value, dict) else None
