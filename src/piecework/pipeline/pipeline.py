"""All steps of a tokenizer, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from piecework.pipeline.added_tokens import Finders
from piecework.pipeline.aligned_text import AlignedText
from piecework.pipeline.normalizers import Normalize, bert_normalizer
from piecework.pipeline.pre_tokenizers import PreTokenize, bert_pre_tokenizer
from piecework.pipeline.steps import drops_replacement, make_steps
from piecework.pipeline.words import WordPieces
from piecework.rules import rule_set
from piecework.spec import AddedToken, TokenizerSpec


class Tokens(NamedTuple):
    """The tokens of a text, without those of a template; four lists of equal length.

    Attributes
    ----------
    ids : list of int
    starts, stops : list of int
        Where each stands in the text, in code points.
    words : list of int
        The number of the word that each belongs to; words are counted from 0, added tokens too.
    """

    ids: list[int]
    starts: list[int]
    stops: list[int]
    words: list[int]


class Pipeline:
    r"""The steps of a tokenizer, in Python.

    Parameters
    ----------
    spec : TokenizerSpec
    split_special_tokens : bool
        Special tokens in a text are plain text; the other added tokens are found all the same, but
        not inside of one.

    Notes
    -----
    Places are exact where the reference's are strange: a mark that is stripped belongs to a piece
    only between kept characters of it, all pieces of a syllable of Hangul have its place, and a
    composed character has that of its first part.

    Where the reference panics, or has a result that depends on the order of a hash table:

    - a match within the white space that the token before it took is no match;
    - of two tokens with ``normalized`` and one normal form, that with the lower id is found;
    - one whose normal form is empty is never found.

    A pair of surrogates in the ``str`` is one character, of two code points. A lone one is dropped
    where a BertNormalizer cleans the text, else a UnicodeEncodeError.

    Thread-safety: many threads can use one pipeline.

    Examples
    --------
    >>> from piecework.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary.from_mapping({"[UNK]": 0, "cafe": 1, "##s": 2})
    >>> tokens = Pipeline(TokenizerSpec(vocabulary)).encode("x Cafe\u0301s")
    >>> tokens.ids, list(zip(tokens.starts, tokens.stops)), tokens.words
    ([0, 1, 2], [(0, 1), (2, 6), (7, 8)], [0, 1, 1])
    """

    def __init__(self, spec: TokenizerSpec, *, split_special_tokens: bool = False) -> None:
        self._clean_text = spec.clean_text if spec.steps is None else drops_replacement(spec.steps)
        self._normalize, self._pre_tokenize = _steps(spec)
        self._word_pieces = WordPieces(
            spec.vocabulary.ids,
            spec.prefix,
            unk_id=spec.vocabulary.ids[spec.unk_token],
            max_chars=spec.max_input_chars_per_word,
        )
        self._finders = Finders.of(
            spec.added_tokens, self._normal_form, split_special_tokens=split_special_tokens
        )

    def encode(self, text: str) -> Tokens:
        """Return the tokens of a text.

        Raises
        ------
        UnicodeEncodeError
            For a lone surrogate, where nothing drops it.
        """
        tokens = Tokens([], [], [], [])
        ids, starts, stops, words = tokens
        pieces = self._word_pieces
        number = 0
        for stretch, token in self._split_added(self._aligned(text)):
            if token:
                ids.append(token.id)
                starts.append(stretch.starts[0])
                stops.append(stretch.stops[-1])
                words.append(number)
                number += 1
                continue
            for aligned, spans in self._pre_tokenize(stretch):
                own_text, own_starts, own_stops = aligned.text, aligned.starts, aligned.stops
                for start, stop in spans:
                    before_start = start - 1
                    for id_, piece_start, piece_stop in pieces[own_text[start:stop]]:
                        ids.append(id_)
                        starts.append(own_starts[start + piece_start])
                        stops.append(own_stops[before_start + piece_stop])
                        words.append(number)
                    number += 1
        return tokens

    def normalize(self, text: str) -> str:
        """Return what the normalizer makes of a text; added tokens are not looked for."""
        return self._normalize(self._aligned(text)).text

    def words(self, text: str) -> list[str]:
        """Return the words of a text, which is normalized first; see :meth:`normalize`."""
        words = self._pre_tokenize(self._normalize(self._aligned(text)))
        return [own.text[start:stop] for own, spans in words for start, stop in spans]

    def pre_tokenize(self, text: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the words of a text that is taken as normalized, with their places in it."""
        return [
            (own.text[start:stop], own.span(start, stop))
            for own, spans in self._pre_tokenize(self._aligned(text))
            for start, stop in spans
        ]

    def added_tokens(self, text: str) -> Iterator[tuple[AddedToken, str, tuple[int, int]]]:
        """Yield the added tokens of a text: each with the stretch that it matched, and its place.

        The stretch is one of the normalized text, if the token is looked for there.
        """
        for stretch, token in self._split_added(self._aligned(text)):
            if token:
                yield token, stretch.text, (stretch.starts[0], stretch.stops[-1])

    def _aligned(self, text: str) -> AlignedText:
        return AlignedText.of(text, clean_text=self._clean_text)

    def _normal_form(self, content: str) -> str:
        return self._normalize(AlignedText.of(content)).text

    def _split_added(self, source: AlignedText) -> Iterator[tuple[AlignedText, AddedToken | None]]:
        """Yield added tokens, and the normalized stretches between them."""
        finders = self._finders
        for stretch, token in finders.raw.split(source) if finders.raw else [(source, None)]:
            if token:
                yield stretch, token
                continue
            normalized = self._normalize(stretch)
            if finders.normalized:
                yield from finders.normalized.split(normalized)
            else:
                # A slice has the origin that the reference's has.
                yield normalized.slice(0, len(normalized.text)), None


def normalized_content(spec: TokenizerSpec, token: AddedToken) -> str:
    """Return the text by which an added token is looked for, and to which it is decoded.

    Examples
    --------
    >>> from piecework.vocabulary import Vocabulary
    >>> spec = TokenizerSpec(Vocabulary.from_mapping({"[UNK]": 0}))
    >>> normalized_content(spec, AddedToken("<É>", 1, normalized=True))
    '<e>'
    >>> normalized_content(spec, AddedToken("<É>", 1))
    '<É>'
    """
    if not token.normalized:
        return token.content
    normalize, _ = _steps(spec)
    return normalize(AlignedText.of(token.content)).text


def _steps(spec: TokenizerSpec) -> tuple[Normalize, PreTokenize]:
    rules = rule_set(spec.rules)
    if spec.steps is not None:
        return make_steps(spec.steps, rules)
    flags = {
        "clean_text": spec.clean_text,
        "handle_chinese_chars": spec.handle_chinese_chars,
        "strip_accents": spec.resolved_strip_accents,
        "lowercase": spec.lowercase,
    }
    return bert_normalizer(rules, flags), bert_pre_tokenizer(rules)
