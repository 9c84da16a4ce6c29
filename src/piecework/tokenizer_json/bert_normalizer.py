"""The BertNormalizer of a tokenizer.json and the options of a spec: one from the other."""

from __future__ import annotations

from typing import Any

from piecework.json_part import Part
from piecework.spec import TokenizerSpec


def bert_flags(part: Part) -> dict[str, Any]:
    """Return the flags of a BertNormalizer, by the names of the options of a spec.

    Raises
    ------
    ValueError
        For a flag that is missing or no bool; ``strip_accents`` may be null or missing.
    """
    return {
        "lowercase": part.field("lowercase", bool),
        "strip_accents": part.optional("strip_accents", bool),
        "clean_text": part.field("clean_text", bool),
        "handle_chinese_chars": part.field("handle_chinese_chars", bool),
    }


def bert_normalizer_object(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the BertNormalizer of a spec whose steps are BERT's."""
    return {
        "type": "BertNormalizer",
        "clean_text": spec.clean_text,
        "handle_chinese_chars": spec.handle_chinese_chars,
        "strip_accents": spec.strip_accents,
        "lowercase": spec.lowercase,
    }
