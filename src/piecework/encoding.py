"""Builds the compiled encoder of a tokenizer from its spec.

In goes a :class:`~piecework.spec.TokenizerSpec`, out come the compiled objects that encode by it:
rules and vocabulary are joined into flat tables here, and the few texts that the kernel hands back
are answered here. Nothing in this module runs once per token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial

from piecework._alphabet import Alphabet
from piecework._char_table import CharTable, word_letters
from piecework._encode import Encoder, WordMatcher
from piecework._trie import DoubleTrie
from piecework.normalization import Normalizer, join_surrogates
from piecework.rules import rule_set
from piecework.rules.char_classes import char_classes
from piecework.spec import TokenizerSpec
from piecework.special_tokens import SpecialTokens

_NO_LIMIT = 1 << 60  # more characters than fit into memory, and into the kernel's Py_ssize_t


class Encoding:
    """What a tokenizer encodes with. What texts rarely need is made when it is first asked for.

    Parameters
    ----------
    spec : TokenizerSpec

    Attributes
    ----------
    encoder : Encoder
        Encodes texts.

    Notes
    -----
    Thread-safety: threads that ask for the same part at once may each make it; all are equal.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec = spec
        self._make_normalizer = cache(partial(_normalizer, spec.rules, self._flags))
        self._limit = min(spec.max_input_chars_per_word, _NO_LIMIT)
        self._ids = spec.vocabulary.ids
        self._alphabet = Alphabet(list(self._ids))
        classes = char_classes(spec.rules, **self._flags)
        tables = (classes.page_index, classes.pages, classes.runs)
        trie = self._trie(word_letters(*tables, self._alphabet))
        specials = list(spec.special_tokens)
        special_alphabet = Alphabet(specials)
        starts = [ord(content[0]) for content in specials]
        self.encoder = Encoder(
            CharTable(*tables, self._alphabet, trie, starts),
            trie,
            DoubleTrie(
                specials,
                list(spec.special_tokens.values()),
                None,
                _NO_LIMIT,
                special_alphabet,
                self._ids[spec.unk_token],
            ),
            special_alphabet,
            max_word_chars=self._limit,
            repair=partial(_repair, spec.clean_text),
            split_specials=SpecialTokens(spec.special_tokens).split,
            # Normalized words: the trie without what no text gives serves them too.
            encode_reordered=_Reordered(
                self._make_normalizer, WordMatcher(self._alphabet, trie, self._limit)
            ),
        )

    @cached_property
    def matcher(self) -> WordMatcher:
        """Matches single words as they are."""
        return WordMatcher(self._alphabet, self._trie(None), self._limit)

    @property
    def normalizer(self) -> Normalizer:
        """The rules in Python."""
        return self._make_normalizer()

    @property
    def _flags(self) -> dict[str, bool]:
        spec = self._spec
        return {
            "clean_text": spec.clean_text,
            "handle_chinese_chars": spec.handle_chinese_chars,
            "strip_accents": spec.resolved_strip_accents,
            "lowercase": spec.lowercase,
        }

    def _trie(self, letters: bytes | None) -> DoubleTrie:
        return DoubleTrie(
            list(self._ids),
            list(self._ids.values()),
            self._spec.prefix,
            self._limit,
            self._alphabet,
            self._ids[self._spec.unk_token],
            letters,
        )


class _Reordered:
    """Answers for a word in which marks may swap places."""

    def __init__(self, normalizer: Callable[[], Normalizer], matcher: WordMatcher) -> None:
        self._normalizer = normalizer
        self._matcher = matcher

    def __call__(self, word: str) -> list[int]:
        words = self._normalizer().basic_tokenize(word)
        return [token_id for part in words for token_id in self._matcher.match(part)]


def _normalizer(rules: str, flags: Mapping[str, bool]) -> Normalizer:
    return Normalizer(rule_set(rules), **flags)


def _repair(clean_text: bool, text: str, row: int | None) -> str:
    """Answer for a text with a surrogate in it."""
    return join_surrogates(text, clean_text=clean_text, row=row)
