"""Builds the compiled encoder of a tokenizer from its spec.

In goes a :class:`~piecework.spec.TokenizerSpec`, out come the compiled objects that encode by it:
rules and vocabulary are joined into flat tables here, and the few texts that the kernel hands back
are answered here. Nothing in this module runs once per token.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from piecework._alphabet import Alphabet
from piecework._char_table import CharTable
from piecework._encode import Encoder, WordMatcher
from piecework._trie import DoubleTrie
from piecework.normalization import Normalizer, join_surrogates
from piecework.rules import rule_set
from piecework.rules.char_classes import char_classes
from piecework.spec import TokenizerSpec
from piecework.special_tokens import SpecialTokens

_NO_LIMIT = 1 << 60  # more characters than fit into memory, and into the kernel's Py_ssize_t


class Encoding(NamedTuple):
    """What a tokenizer encodes with.

    Attributes
    ----------
    encoder : Encoder
        Encodes texts.
    matcher : WordMatcher
        Matches single words as they are.
    normalizer : Normalizer
        The rules in Python.
    """

    encoder: Encoder
    matcher: WordMatcher
    normalizer: Normalizer


def build_encoding(spec: TokenizerSpec) -> Encoding:
    """Build the tables of a spec: some milliseconds for a vocabulary of 30,000 tokens."""
    ids = spec.vocabulary.ids
    tokens = list(ids)
    specials = list(spec.special_tokens)
    unk_id = ids[spec.unk_token]
    limit = min(spec.max_input_chars_per_word, _NO_LIMIT)
    flags = {
        "clean_text": spec.clean_text,
        "handle_chinese_chars": spec.handle_chinese_chars,
        "strip_accents": spec.resolved_strip_accents,
        "lowercase": spec.lowercase,
    }
    rules = rule_set(spec.rules)
    classes = char_classes(rules, **flags)
    normalizer = Normalizer(rules, **flags)
    alphabet = Alphabet(tokens)
    trie = DoubleTrie(tokens, list(ids.values()), spec.prefix, limit, alphabet, unk_id)
    table = CharTable(
        classes.page_index,
        classes.pages,
        classes.runs,
        alphabet,
        trie,
        [ord(content[0]) for content in specials],
    )
    special_alphabet = Alphabet(specials)
    matcher = WordMatcher(alphabet, trie, limit)
    encoder = Encoder(
        table,
        trie,
        DoubleTrie(
            specials,
            list(spec.special_tokens.values()),
            None,
            _NO_LIMIT,
            special_alphabet,
            unk_id,
        ),
        special_alphabet,
        max_word_chars=limit,
        repair=partial(_repair, spec.clean_text),
        split_specials=SpecialTokens(spec.special_tokens).split,
        encode_reordered=_Reordered(normalizer, matcher),
    )
    return Encoding(encoder, matcher, normalizer)


class _Reordered:
    """Answers for a word in which marks may swap places."""

    def __init__(self, normalizer: Normalizer, matcher: WordMatcher) -> None:
        self._normalizer = normalizer
        self._matcher = matcher

    def __call__(self, word: str) -> list[int]:
        words = self._normalizer.basic_tokenize(word)
        return [token_id for part in words for token_id in self._matcher.match(part)]


def _repair(clean_text: bool, text: str, row: int | None) -> str:
    """Answer for a text with a surrogate in it."""
    return join_surrogates(text, clean_text=clean_text, row=row)
