"""Builds the compiled encoder of a BERT tokenizer from its spec.

In goes a :class:`~piecework.spec.TokenizerSpec`, out comes the compiled object that encodes by it:
rules, vocabulary and added tokens are joined into flat tables here, and the few texts that the
kernel hands back are answered here. Nothing in this module runs once per token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from piecework._added import AddedTokens
from piecework._alphabet import Alphabet
from piecework._char_table import CharTable, word_letters
from piecework._encode import SPLIT_IN_PYTHON, Encoder, WordMatcher
from piecework._offsets import TokenLengths
from piecework._trie import DoubleTrie
from piecework.clipping import clipping_of
from piecework.normalization import Normalizer
from piecework.python_rows import RowEncoder
from piecework.rules.char_classes import char_classes
from piecework.search_plan import SearchPlan, normal_chars, plan_search
from piecework.spec import TokenizerSpec

if TYPE_CHECKING:
    from piecework.pipeline import TextSplitter

NO_LIMIT = 1 << 60  # more characters than fit into memory, and into the kernel's Py_ssize_t


def kernel_encoder(
    spec: TokenizerSpec,
    rows: RowEncoder,
    make_normalizer: Callable[[], Normalizer],
    *,
    split_special: bool,
) -> Encoder:
    """Return the compiled encoder of a spec without steps of its own.

    Parameters
    ----------
    spec : TokenizerSpec
    rows : RowEncoder
        Encodes the texts that the kernel hands back whole.
    make_normalizer : callable
        Gives the rules in Python, for words that it hands back.
    split_special : bool
        Whether special tokens in a text are plain text.
    """
    classes = char_classes(spec.rules, **bert_flags(spec))
    plan = plan_search(spec.added_tokens, classes, split_special=split_special)
    chars = normal_chars(plan.by_words, classes)
    # So that each of their characters has a symbol of its own. An isolated one without a token
    # shares that of all unknown words; it gets a token, which is [UNK] for the walk.
    ids = spec.vocabulary.ids
    alphabet = Alphabet([*ids, *(ch for ch in chars if ch not in ids)])
    unknown = [ch for ch, is_isolated in chars.items() if is_isolated and ch not in ids]
    tables = (classes.page_index, classes.pages, classes.runs)
    letters = word_letters(*tables, alphabet)
    trie = vocabulary_trie(spec, alphabet, letters, unknown)
    table = CharTable(*tables, alphabet, trie, [ord(content[0]) for content in plan.by_start])
    added = None
    if plan.by_words:
        added = AddedTokens(table, trie, alphabet, letters, plan.normalized, plan.raw)
    limit = word_limit(spec)
    return Encoder(
        table,
        trie,
        *_starting(spec, plan),
        added=added,
        max_word_chars=limit,
        repair=rows.repair,
        split_text=_Splitter(spec, rows, make_normalizer, split_special).split,
        # Normalized words: the trie without what no text gives serves them too.
        encode_reordered=_Reordered(make_normalizer, WordMatcher(alphabet, trie, limit)),
        encode_row=rows,
        make_lengths=partial(_token_lengths, spec, alphabet, trie),
        clipping=clipping_of(spec.added_tokens),
    )


def word_matcher(spec: TokenizerSpec) -> WordMatcher:
    """Return what matches single words as they are."""
    alphabet = Alphabet(list(spec.vocabulary.ids))
    return WordMatcher(alphabet, vocabulary_trie(spec, alphabet), word_limit(spec))


def word_limit(spec: TokenizerSpec) -> int:
    """Return the most characters of a word as the kernel can have them."""
    return min(spec.max_input_chars_per_word, NO_LIMIT)


def bert_flags(spec: TokenizerSpec) -> dict[str, bool]:
    """Return the flags of BERT's normalizer."""
    return {
        "clean_text": spec.clean_text,
        "handle_chinese_chars": spec.handle_chinese_chars,
        "strip_accents": spec.resolved_strip_accents,
        "lowercase": spec.lowercase,
    }


def vocabulary_trie(
    spec: TokenizerSpec,
    alphabet: Alphabet,
    letters: bytes | None = None,
    unknown: Sequence[str] = (),
) -> DoubleTrie:
    """Return the trie of a vocabulary, and of `unknown` words that are to be [UNK]."""
    ids = spec.vocabulary.ids
    unk_id = ids[spec.unk_token]
    return DoubleTrie(
        [*ids, *unknown],
        [*ids.values(), *(unk_id for _ in unknown)],
        spec.prefix,
        word_limit(spec),
        alphabet,
        unk_id,
        letters,
    )


def _starting(spec: TokenizerSpec, plan: SearchPlan) -> tuple[DoubleTrie, Alphabet]:
    """Return the trie of the added tokens that are found by their first character."""
    alphabet = Alphabet(list(plan.by_start))
    ids = [SPLIT_IN_PYTHON if id_ is None else id_ for id_ in plan.by_start.values()]
    unk_id = spec.vocabulary.ids[spec.unk_token]
    return DoubleTrie(list(plan.by_start), ids, None, NO_LIMIT, alphabet, unk_id), alphabet


def _token_lengths(
    spec: TokenizerSpec, alphabet: Alphabet, trie: DoubleTrie
) -> TokenLengths | None:
    """Return the lengths by which offsets are found; None where an id does not tell its length."""
    ids = spec.vocabulary.ids
    n_ids = max(spec.vocab_size, max(ids.values()) + 1)
    try:
        return TokenLengths(ids, n_ids, spec.prefix, alphabet, trie, spec.unk_token)
    except ValueError:
        return None


class _Splitter:
    """Splits texts at their added tokens; what it does that with is made when a text asks."""

    def __init__(
        self,
        spec: TokenizerSpec,
        rows: RowEncoder,
        make_normalizer: Callable[[], Normalizer],
        split_special: bool,
    ) -> None:
        self._spec = spec
        self._rows = rows
        self._make_normalizer = make_normalizer
        self._split_special = split_special

    def split(self, text: str) -> Iterator[str | int]:
        """Split a text into what is between the tokens, and their ids."""
        return self._splitter.split(text)

    @cached_property
    def _splitter(self) -> TextSplitter:
        from piecework.pipeline import TextSplitter  # most texts don't need it

        return TextSplitter(
            self._spec.added_tokens,
            self._make_normalizer(),
            self._rows.encode,
            split_special_tokens=self._split_special,
        )


class _Reordered:
    """Answers for a word in which marks may swap places."""

    def __init__(self, normalizer: Callable[[], Normalizer], matcher: WordMatcher) -> None:
        self._normalizer = normalizer
        self._matcher = matcher

    def __call__(self, word: str) -> list[int]:
        words = self._normalizer().basic_tokenize(word)
        return [token_id for part in words for token_id in self._matcher.match(part)]
