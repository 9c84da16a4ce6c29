"""NFC, NFD, NFKC and NFKD of aligned text, by the tables of a rule set.

The forms themselves are Unicode's. The spans are what the reference makes of them: it walks the
result beside the source, and a character that decomposition made beyond the first one of its source
repeats the span that was taken last, any other takes the span of the next source character, even
where sorting has moved it; a composed one takes that of the first of its sources.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import chain

from piecework.normalization import decompose, regex_ranges
from piecework.pipeline.aligned_text import AlignedText
from piecework.rules.rule_set import CodePoints, RuleSet
from piecework.rules.step_tables import step_tables

# A character of the result, and how many source characters begin in it: 0, if it is what
# decomposition made beyond the first one.
_Counted = tuple[str, int]


class NormalForms:
    """The four normal forms; one object for each rule set, see :func:`normal_forms`.

    Decompositions, and what is composed again, are those of the code points that the rule set has
    decompositions of. Which pairs make them up is read from ``unicodedata``: Unicode never changes
    that once a code point is assigned.
    """

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._classes = rules.combining_classes
        self._compatibility = step_tables().compatibility
        ordered = regex_ranges(CodePoints.of(rules.combining_classes))
        self._run = re.compile(f"[{ordered}]{{2,}}")

    def nfd(self, source: AlignedText) -> AlignedText:
        """Return the canonical decomposition."""
        return self._decompose_all(source, self._canonical)

    def nfkd(self, source: AlignedText) -> AlignedText:
        """Return the compatibility decomposition."""
        return self._decompose_all(source, self._compatible)

    def nfc(self, source: AlignedText) -> AlignedText:
        """Return the canonical composition of the canonical decomposition."""
        return self._compose_all(source, self._canonical)

    def nfkc(self, source: AlignedText) -> AlignedText:
        """Return the canonical composition of the compatibility decomposition."""
        return self._compose_all(source, self._compatible)

    def ordered(self, source: AlignedText, decomposed: Sequence[str]) -> AlignedText:
        r"""Return the text in which `decomposed` stands for the characters, with marks in order.

        Examples
        --------
        >>> from piecework.rules import rule_set
        >>> text = AlignedText.of("a\u0301\u0323")
        >>> text = normal_forms(rule_set("huggingface")).ordered(text, list(text.text))
        >>> ascii(text.text), list(text.starts)
        ("'a\\u0323\\u0301'", [0, 1, 2])
        """
        plain = source.with_each(decomposed)
        edits = []
        firsts: list[int] | None = None
        for match in self._run.finditer(plain.text):
            run = match[0]
            order = sorted(range(len(run)), key=[self._classes[ord(ch)] for ch in run].__getitem__)
            if order == list(range(len(run))):
                continue
            if firsts is None:
                firsts = list(chain.from_iterable(map(_counts, decomposed)))
            start = match.start()
            counted = [(run[i], firsts[start + i]) for i in order]
            sources = [i for i in range(start, match.end()) if firsts[i]]
            edits.append((*match.span(), _walk(plain, start, sources, counted)))
        return plain.rewritten(edits) if edits else plain

    # ---- decomposing ----

    @cached_property
    def _canonical(self) -> _Decompositions:
        return _Decompositions(self._rules, CodePoints(()))

    @cached_property
    def _compatible(self) -> _Decompositions:
        return _Decompositions(self._rules, self._compatibility)

    def _decompose_all(self, source: AlignedText, table: _Decompositions) -> AlignedText:
        if source.text.isascii():
            return source
        return self.ordered(source, list(map(table.__getitem__, map(ord, source.text))))

    # ---- composing ----

    def _compose_all(self, source: AlignedText, table: _Decompositions) -> AlignedText:
        if source.text.isascii():
            return source
        pattern = self._canonical_change if table is self._canonical else self._compatible_change
        edits = []
        for match in pattern.finditer(source.text):
            characters = match[0]
            composed = list(self._compose(self._decompose(characters, table)))
            if "".join(character for character, _ in composed) != characters:
                start, stop = match.span()
                edits.append((start, stop, _walk(source, start, range(start, stop), composed)))
        return source.rewritten(edits) if edits else source

    @cached_property
    def _canonical_change(self) -> re.Pattern[str]:
        return self._change_pattern(CodePoints(()))

    @cached_property
    def _compatible_change(self) -> re.Pattern[str]:
        return self._change_pattern(self._compatibility)

    def _change_pattern(self, compatibility: CodePoints) -> re.Pattern[str]:
        """Return the pattern of stretches that compose to something else than themselves, if any.

        Such a stretch is a starter and what can be composed with it, can be moved or decomposes.
        What stands around does not compose with it.
        """
        seconds = {ord(second) for _, second in self._composites}
        unchanged = set(map(ord, self._composites.values()))  # and so are syllables of Hangul
        changing = CodePoints.of(
            {
                *(self._rules.decompositions.keys() - unchanged),
                *self._classes,
                *seconds,
                *compatibility,
                *range(0x1160, 0x1200),  # vowels and trailing consonants
            }
        )
        own = regex_ranges(changing)
        return re.compile(f"[^{own}]?[{own}]+", re.DOTALL)

    def _decompose(self, text: str, table: _Decompositions) -> list[_Counted]:
        counted = [
            pair
            for ch in text
            for own in [table[ord(ch)]]
            for pair in zip(own, _counts(own), strict=True)
        ]
        joined = "".join(ch for ch, _ in counted)
        for match in self._run.finditer(joined):
            start, stop = match.span()
            counted[start:stop] = sorted(
                counted[start:stop], key=lambda pair: self._classes[ord(pair[0])]
            )
        return counted

    def _compose(self, counted: list[_Counted]) -> Iterator[_Counted]:
        """Compose as Unicode says, chapter 3.11, and add up the counts."""
        starter: _Counted | None = None
        marks: list[_Counted] = []  # behind the starter, not composed with it
        last_class = 0  # of them
        for ch, count in counted:
            own_class = self._classes.get(ord(ch), 0)
            if starter is not None and (not marks or last_class < own_class):
                composite = self._composite(starter[0], ch)
                if composite is not None:
                    starter = composite, starter[1] + count
                    continue
            if starter is None and own_class:
                yield ch, count
            elif own_class:
                marks.append((ch, count))
                last_class = own_class
            else:
                if starter is not None:
                    yield starter
                yield from marks
                starter, marks = (ch, count), []
        if starter is not None:
            yield starter
        yield from marks

    def _composite(self, first: str, second: str) -> str | None:
        found = self._composites.get((first, second))
        if found is None and "\u1100" <= first <= "\ud7a3" and "\u1161" <= second <= "\u11c2":
            hangul = unicodedata.normalize("NFC", first + second)
            return hangul if len(hangul) == 1 else None
        return found

    @cached_property
    def _composites(self) -> dict[tuple[str, str], str]:
        composites = {}
        for cp in self._rules.decompositions:
            ch = chr(cp)
            parts = unicodedata.decomposition(ch).split()
            if len(parts) == 2 and unicodedata.normalize("NFC", ch) == ch:
                composites[chr(int(parts[0], 16)), chr(int(parts[1], 16))] = ch
        return composites


@cache
def normal_forms(rules: RuleSet) -> NormalForms:
    """Return the normal forms by a rule set."""
    return NormalForms(rules)


class _Decompositions(dict[int, str]):
    """Full decompositions, canonical but for the code points of a set, filled when asked for."""

    def __init__(self, rules: RuleSet, compatibility: CodePoints) -> None:
        super().__init__()
        self._rules = rules
        self._compatibility = compatibility

    def __missing__(self, cp: int) -> str:
        if cp in self._compatibility:
            decomposed = unicodedata.normalize("NFKD", chr(cp))
        else:
            decomposed = decompose(chr(cp), self._rules)
        self[cp] = decomposed
        return decomposed


def _counts(decomposed: str) -> list[int]:
    return [1, *[0] * (len(decomposed) - 1)] if decomposed else []


def _walk(
    source: AlignedText, start: int, sources: Sequence[int], counted: Sequence[_Counted]
) -> Iterator[tuple[str, int, int]]:
    """Give each character its span.

    Parameters
    ----------
    source : AlignedText
    start : int
        Where the characters go.
    sources : sequence of int
        The places in `source` of the spans to take, as many as `counted` has in all.
    counted : sequence of (character, count)
    """
    n_taken = 0
    span = source.span_before(start)
    for ch, count in counted:
        if count:
            first, n_taken = sources[n_taken], n_taken + count
            span = source.span(first, first + 1)
        elif n_taken:
            last = sources[n_taken - 1]
            span = source.span(last, last + 1)
        yield ch, *span
