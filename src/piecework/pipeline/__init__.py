"""A text to tokens in plain Python, step by step, with the place of each in the text.

This is what the compiled kernel hands the texts to that it has no tables for, and all texts of a
tokenizer whose steps are not BERT's. It is exact for both: ids, places and numbers of words are
those of the reference. Templates, truncation and padding come behind it.
"""

from __future__ import annotations

from piecework.pipeline.pipeline import Pipeline, Tokens, normalized_content
from piecework.pipeline.steps import bert_flags_of, check_steps
from piecework.pipeline.text_splitter import TextSplitter

__all__ = [
    "Pipeline",
    "TextSplitter",
    "Tokens",
    "bert_flags_of",
    "check_steps",
    "normalized_content",
]
