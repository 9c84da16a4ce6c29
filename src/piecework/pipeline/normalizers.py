"""The normalizers of a tokenizer.json, made from its objects.

In goes the ``normalizer`` object of a file, or the flags of BERT's, out comes a function from one
aligned text to the next. What has no place here is refused with its path in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from typing import Any, TypeAlias, TypeVar

from piecework.json_part import Part
from piecework.normalization import Normalizer as BertRules
from piecework.normalization import Translation, regex_ranges, survivors
from piecework.pipeline.aligned_text import AlignedText
from piecework.pipeline.normal_forms import normal_forms
from piecework.pipeline.patterns import find_matches, read_pattern
from piecework.rules.rule_set import RuleSet
from piecework.rules.step_tables import step_tables
from piecework.tokenizer_json.bert_normalizer import bert_flags

Normalize: TypeAlias = Callable[[AlignedText], AlignedText]
_Maker = TypeVar("_Maker")


def make_normalizer(part: Part | None, rules: RuleSet) -> Normalize:
    """Return the normalizer that an object of a tokenizer.json says; None: nothing is changed.

    Raises
    ------
    UnsupportedTokenizerError
        For a normalizer that is not one of these, or a pattern that is not supported.
    ValueError
        For an object that is malformed.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> part = Part({"type": "Prepend", "prepend": "_"}, "normalizer", "tokenizer.json")
    >>> make_normalizer(part, rule_set("huggingface"))(AlignedText.of("a")).text
    '_a'
    """
    if part is None:
        return _unchanged
    return by_type(part, _MAKERS)(part, rules)


def by_type(part: Part, makers: Mapping[str, _Maker]) -> _Maker:
    """Return what is there for the type that an object says it is of; raise if nothing is."""
    type_ = part.value.get("type")
    if not isinstance(type_, str) or type_ not in makers:
        part.unsupported("type", f"one of {', '.join(map(repr, makers))}")
    return makers[type_]


def bert_normalizer(rules: RuleSet, flags: Mapping[str, bool]) -> Normalize:
    """Return BERT's normalizer; the flags are those of :class:`Normalizer`.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> flags = dict.fromkeys(
    ...     ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), True
    ... )
    >>> text = bert_normalizer(rule_set("huggingface"), flags)(AlignedText.of("É日"))
    >>> text.text, list(text.starts)
    ('e 日 ', [0, 1, 1, 1])
    """
    own = BertRules(rules, **flags)
    if not own.strip_accents:
        return partial(_translate, _chained(own.before_order, own.after_order))
    # Without marks that show their order each character is translated by itself.
    kept = survivors(rules).ranges
    survivor = re.compile(f"[{regex_ranges(survivors(rules))}]" if kept else "(?!)")
    at_once = _chained(own.before_order, own.after_order)
    ordered = normal_forms(rules).ordered

    def normalize(source: AlignedText) -> AlignedText:
        if source.text.isascii() or not survivor.search(source.text.translate(own.before_order)):
            return source.translated(at_once)
        decomposed = list(map(own.before_order.__getitem__, map(ord, source.text)))
        return ordered(source, decomposed).translated(own.after_order)

    return normalize


def _chained(first: Translation, second: Translation) -> Translation:
    return Translation([lambda ch: first[ord(ch)], lambda ch: second[ord(ch)]])


def _unchanged(source: AlignedText) -> AlignedText:
    return source


def _translate(table: Translation, source: AlignedText) -> AlignedText:
    return source.translated(table)


# ---- one by one; part: its object ----


def _sequence(part: Part, rules: RuleSet) -> Normalize:
    part.field("normalizers", list)
    steps = [make_normalizer(each, rules) for each in part.parts("normalizers")]
    return lambda source: reduce(lambda text, step: step(text), steps, source)


def _bert(part: Part, rules: RuleSet) -> Normalize:
    flags: dict[str, Any] = bert_flags(part)
    if flags["strip_accents"] is None:
        flags["strip_accents"] = flags["lowercase"]
    return bert_normalizer(rules, flags)


def _lowercase(_: Part, rules: RuleSet) -> Normalize:
    lower = rules.lowercase
    table = Translation([lambda ch: "".join(map(chr, lower.get(ord(ch), (ord(ch),))))])
    return partial(_translate, table)


def _strip_accents(_: Part, __: RuleSet) -> Normalize:
    marks = step_tables().combining_marks
    return partial(_translate, Translation([lambda ch: "" if ord(ch) in marks else ch]))


def _strip(part: Part, rules: RuleSet) -> Normalize:
    left, right = part.field("strip_left", bool), part.field("strip_right", bool)
    spaces = "".join(map(chr, rules.whitespace))

    def strip(source: AlignedText) -> AlignedText:
        text = source.text
        start = len(text) - len(text.lstrip(spaces)) if left else 0
        stop = len(text.rstrip(spaces)) if right else len(text)
        if start == 0 and stop == len(text):
            return source
        return source.rewritten([(0, start, ()), (max(start, stop), len(text), ())])

    return strip


def _prepend(part: Part, _: RuleSet) -> Normalize:
    return partial(prepended, part.field("prepend", str))


def prepended(content: str, source: AlignedText) -> AlignedText:
    """Return a text with `content` before it, unless it is empty; it has the first one's span."""
    if not source.text:
        return source
    start, stop = source.span(0, 1)
    if not content:
        # The reference then has the first character stand at the origin, and take no place.
        return source.rewritten([(0, 1, [(source.text[0], *source.span_before(0))])])
    return AlignedText(
        content + source.text,
        [start] * len(content) + list(source.starts),
        [stop] * len(content) + list(source.stops),
        source.origin,
    )


def _replace(part: Part, _: RuleSet) -> Normalize:
    pattern = read_pattern(part, "pattern")
    content = part.field("content", str)

    def edits(source: AlignedText) -> Iterator[tuple[int, int, list[tuple[str, int, int]]]]:
        for start, stop in find_matches(pattern, source.text):
            span = source.span_before(stop)
            yield start, stop, [(ch, *span) for ch in content]

    return lambda source: source.rewritten(edits(source))


_MAKERS: dict[str, Callable[[Part, RuleSet], Normalize]] = {
    "Sequence": _sequence,
    "BertNormalizer": _bert,
    "NFC": lambda _, rules: normal_forms(rules).nfc,
    "NFD": lambda _, rules: normal_forms(rules).nfd,
    "NFKC": lambda _, rules: normal_forms(rules).nfkc,
    "NFKD": lambda _, rules: normal_forms(rules).nfkd,
    "Lowercase": _lowercase,
    "StripAccents": _strip_accents,
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": _prepend,
}
