"""The pre-tokenizers of a tokenizer.json, made from its objects.

In goes the ``pre_tokenizer`` object of a file, or the rules of BERT's, out comes a function from a
normalized stretch of text to its words, none of them empty: texts, and where the words stand in
them. Nearly all of them are a pattern and what is done with its matches; what has no place here is
refused with its path in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import TypeAlias

from piecework.json_part import Part
from piecework.normalization import regex_ranges, words_pattern
from piecework.pipeline.aligned_text import AlignedText
from piecework.pipeline.normalizers import by_type, prepended
from piecework.pipeline.patterns import find_matches, read_pattern
from piecework.rules.rule_set import RuleSet
from piecework.rules.step_tables import step_tables

# An object for each word would take longer than all else.
Words: TypeAlias = tuple[AlignedText, Iterable[tuple[int, int]]]
PreTokenize: TypeAlias = Callable[[AlignedText], Iterable[Words]]
_Spans: TypeAlias = list[tuple[int, int]]
_Piece: TypeAlias = tuple[int, int, bool]  # start, stop, whether it is a match


def make_pre_tokenizer(part: Part | None, rules: RuleSet) -> PreTokenize:
    """Return the pre-tokenizer that an object of a tokenizer.json says; None: one word.

    Raises
    ------
    UnsupportedTokenizerError
        For a pre-tokenizer that is not one of these, or a pattern that is not supported.
    ValueError
        For an object that is malformed.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> part = Part({"type": "WhitespaceSplit"}, "pre_tokenizer", "tokenizer.json")
    >>> pre_tokenize = make_pre_tokenizer(part, rule_set("huggingface"))
    >>> [list(spans) for _, spans in pre_tokenize(AlignedText.of("a  b!"))]
    [[(0, 1), (3, 5)]]
    """
    if part is None:
        return _one_word
    return by_type(part, _MAKERS)(part, rules)


def bert_pre_tokenizer(rules: RuleSet) -> PreTokenize:
    """Return BERT's pre-tokenizer: white space goes, each punctuation character stands alone."""
    return partial(_matches, words_pattern(rules))


def _one_word(source: AlignedText) -> list[Words]:
    return [(source, [(0, len(source.text))])] if source.text else []


def _matches(pattern: re.Pattern[str], source: AlignedText) -> list[Words]:
    """Return the matches of a pattern that matches no empty text."""
    return [(source, map(re.Match.span, pattern.finditer(source.text)))]


# ---- matches, and what is done with them ----


def _pieces(matches: Iterable[tuple[int, int]], text: str, invert: bool) -> list[_Piece]:
    """Return the matches and what lies between them, none of it empty."""
    pieces = []
    done = 0
    for start, stop in matches:
        if done < start:
            pieces.append((done, start, invert))
        pieces.append((start, stop, not invert))
        done = stop
    if done < len(text):
        pieces.append((done, len(text), invert))
    return pieces


def _removed(pieces: list[_Piece]) -> _Spans:
    return [(start, stop) for start, stop, is_match in pieces if not is_match]


def _isolated(pieces: list[_Piece]) -> _Spans:
    return [(start, stop) for start, stop, _ in pieces]


def _contiguous(pieces: list[_Piece]) -> _Spans:
    return _joined(pieces, lambda is_match, before: is_match == before)


def _merged_with_previous(pieces: list[_Piece]) -> _Spans:
    return _joined(pieces, lambda is_match, before: is_match and not before)


def _merged_with_next(pieces: list[_Piece]) -> _Spans:
    turned = [(-stop, -start, is_match) for start, stop, is_match in reversed(pieces)]
    return [(-stop, -start) for start, stop in reversed(_merged_with_previous(turned))]


def _joined(pieces: list[_Piece], joins: Callable[[bool, bool], bool]) -> _Spans:
    spans: _Spans = []
    before = False
    for start, stop, is_match in pieces:
        if spans and joins(is_match, before):
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
        before = is_match
    return spans


_BEHAVIORS: dict[str, Callable[[list[_Piece]], _Spans]] = {
    "Removed": _removed,
    "Isolated": _isolated,
    "MergedWithPrevious": _merged_with_previous,
    "MergedWithNext": _merged_with_next,
    "Contiguous": _contiguous,
}


def _splitter(pattern: re.Pattern[str], behavior: str, *, invert: bool = False) -> PreTokenize:
    arrange = _BEHAVIORS[behavior]

    def split(source: AlignedText) -> list[Words]:
        if not invert and not pattern.search(source.text):
            return _one_word(source)  # as most words are to the later steps of a Sequence
        pieces = _pieces(find_matches(pattern, source.text), source.text, invert)
        return [(source, [(start, stop) for start, stop in arrange(pieces) if start < stop])]

    return split


def _behavior(part: Part, default: str | None = None) -> str:
    behavior: str = part.field("behavior", str, default)
    if behavior not in _BEHAVIORS:
        part.malformed("behavior", f"one of {', '.join(map(repr, _BEHAVIORS))}")
    return behavior


# ---- one by one; part: its object ----


def _slices(words: Iterable[Words]) -> Iterator[AlignedText]:
    for text, spans in words:
        n_chars = len(text.text)
        for start, stop in spans:
            yield text if stop - start == n_chars else text.slice(start, stop)


def _sequence(part: Part, rules: RuleSet) -> PreTokenize:
    part.field("pretokenizers", list)
    steps = [make_pre_tokenizer(each, rules) for each in part.parts("pretokenizers")]

    def split(source: AlignedText) -> Iterable[Words]:
        words: Iterable[Words] = _one_word(source)
        for step in steps:
            words = chain.from_iterable(map(step, _slices(words)))
        return words

    return split


def _whitespace(_: Part, rules: RuleSet) -> PreTokenize:
    word, space = regex_ranges(step_tables().word), regex_ranges(rules.whitespace)
    return partial(_matches, re.compile(f"[{word}]+|[^{word}{space}]+"))


def _whitespace_split(_: Part, rules: RuleSet) -> PreTokenize:
    return partial(_matches, re.compile(f"[^{regex_ranges(rules.whitespace)}]+"))


def _punctuation(part: Part, rules: RuleSet) -> PreTokenize:
    mark = re.compile(f"[{regex_ranges(rules.punctuation)}]")
    return _splitter(mark, _behavior(part, "Isolated"))


def _digits(part: Part, _: RuleSet) -> PreTokenize:
    digit = re.compile(f"[{regex_ranges(step_tables().numeric)}]")
    return _splitter(digit, "Isolated" if part.field("individual_digits", bool) else "Contiguous")


def _split(part: Part, _: RuleSet) -> PreTokenize:
    invert = part.field("invert", bool)
    return _splitter(read_pattern(part, "pattern"), _behavior(part), invert=invert)


def _char_delimiter_split(part: Part, _: RuleSet) -> PreTokenize:
    return _splitter(re.compile(re.escape(_character(part, "delimiter"))), "Removed")


def _metaspace(part: Part, _: RuleSet) -> PreTokenize:
    replacement = _character(part, "replacement")
    scheme = part.field("prepend_scheme", str, "always")
    if scheme not in ("always", "first", "never"):
        part.malformed("prepend_scheme", "'always', 'first' or 'never'")
    if part.value.get("add_prefix_space", scheme != "never") is not (scheme != "never"):
        part.unsupported("add_prefix_space", "the same as prepend_scheme says")
    mark = re.compile(re.escape(replacement))
    split = _splitter(mark, "MergedWithNext") if part.field("split", bool, True) else _one_word

    def split_marked(source: AlignedText) -> Iterable[Words]:
        marked = source.text.replace(" ", replacement)
        text = AlignedText(marked, source.starts, source.stops, source.origin)
        wanted = scheme == "always" or (scheme == "first" and source.origin == 0)
        if wanted and not marked.startswith(replacement):
            text = prepended(replacement, text)
        return split(text)

    return split_marked


def _character(part: Part, key: str) -> str:
    character: str = part.field(key, str)
    if len(character) != 1:
        part.malformed(key, "a string of one character")
    return character


_MAKERS: dict[str, Callable[[Part, RuleSet], PreTokenize]] = {
    "Sequence": _sequence,
    "BertPreTokenizer": lambda _, rules: bert_pre_tokenizer(rules),
    "Whitespace": _whitespace,
    "WhitespaceSplit": _whitespace_split,
    "Punctuation": _punctuation,
    "Digits": _digits,
    "Split": _split,
    "CharDelimiterSplit": _char_delimiter_split,
    "Metaspace": _metaspace,
}
