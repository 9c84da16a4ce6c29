"""What a tokenizer is made of: its vocabulary and its options, as one immutable value.

Readers of files make a :class:`TokenizerSpec`, the tokenizer is built from one, writers turn one
back into a file. It holds no tables and does no work; equality, pickling and the content hash of a
tokenizer are those of its spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from piecework.vocabulary import Vocabulary


@dataclass(frozen=True)
class Template:
    """The special tokens that ``add_special`` puts around a text.

    Attributes
    ----------
    before, after : tuple of (token, id)
        In reading order. BERT: ``(("[CLS]", 101),)`` and ``(("[SEP]", 102),)``.
    post_processor : mapping or None
        The ``post_processor`` object of the tokenizer.json that this came from, written back by
        ``save``; None for the BERT template, which ``save`` makes anew.
    """

    before: tuple[tuple[str, int], ...]
    after: tuple[tuple[str, int], ...]
    post_processor: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class TokenizerSpec:
    """All that determines a tokenizer's results.

    Attributes
    ----------
    vocabulary : Vocabulary
    special_tokens : mapping of str to int
        Contents that are split out of the raw text, with their ids. Ids beyond the vocabulary's are
        added tokens.
    template : Template or None
        None: ``add_special`` is an error (the vocabulary lacks [CLS] or [SEP]).
    decoder : mapping or None
        The ``decoder`` object of a tokenizer.json; None joins the tokens with spaces.
    file_truncation, file_padding : mapping or None
        Those objects of the tokenizer.json that was read. Kept, never applied.
    """

    vocabulary: Vocabulary
    unk_token: str = "[UNK]"
    prefix: str = "##"
    max_input_chars_per_word: int = 100
    lowercase: bool = True
    strip_accents: bool | None = None
    clean_text: bool = True
    handle_chinese_chars: bool = True
    rules: str = "huggingface"
    special_tokens: Mapping[str, int] = field(default_factory=dict)
    template: Template | None = None
    decoder: Mapping[str, Any] | None = field(
        default_factory=lambda: {"type": "WordPiece", "prefix": "##", "cleanup": True}
    )
    file_truncation: Mapping[str, Any] | None = None
    file_padding: Mapping[str, Any] | None = None

    @property
    def resolved_strip_accents(self) -> bool:
        """Whether accents are stripped, with None resolved: then as ``lowercase``."""
        return self.lowercase if self.strip_accents is None else self.strip_accents

    @property
    def vocab_size(self) -> int:
        """Highest id + 1, added tokens included."""
        return max(self.vocabulary.size, max(self.special_tokens.values(), default=-1) + 1)
