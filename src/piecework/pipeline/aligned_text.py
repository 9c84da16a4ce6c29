"""A text under way through the steps, each character with its place in the text it came from.

In goes the caller's ``str``, out come stretches and rewritten forms of it, whose characters carry
half-open spans in code points of that ``str``. It knows no rules: what becomes of a character is
said by those who call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

from piecework.normalization import join_surrogates

_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class AlignedText:
    """Characters and their spans; immutable.

    Parameters
    ----------
    text : str
    starts, stops : sequence of int
        One for each character; ranges, as long as nothing was added or dropped.
    origin : int
        Where the stretch of the original begins that this is made from.

    Examples
    --------
    >>> text = AlignedText.of("1st café").slice(4, 8)
    >>> text.text, text.span(1, 3)
    ('café', (5, 7))
    """

    __slots__ = ("origin", "starts", "stops", "text")

    def __init__(self, text: str, starts: Sequence[int], stops: Sequence[int], origin: int) -> None:
        self.text = text
        self.starts = starts
        self.stops = stops
        self.origin = origin

    @classmethod
    def of(cls, text: str, *, clean_text: bool = False) -> AlignedText:
        r"""Return a text as it is, but for surrogates: see :func:`join_surrogates`.

        Examples
        --------
        >>> AlignedText.of("\ud83d\ude00!").span(0, 1)
        (0, 2)
        """
        joined = join_surrogates(text, clean_text=clean_text)
        if len(joined) == len(text):
            return cls(joined, range(len(text)), range(1, len(text) + 1), 0)
        widths = [1] * len(joined)
        for n_before, pair in enumerate(_SURROGATE_PAIR.finditer(text)):
            widths[pair.start() - n_before] = 2
        stops = [0]
        for width in widths:
            stops.append(stops[-1] + width)
        return cls(joined, stops[:-1], stops[1:], 0)

    def slice(self, start: int, stop: int) -> AlignedText:
        """Return a stretch, which is a text with an origin of its own."""
        starts = self.starts[start:stop]
        origin = starts[0] if starts else self.origin
        return AlignedText(self.text[start:stop], starts, self.stops[start:stop], origin)

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the characters ``[start, stop)``, of which there is one at least."""
        return self.starts[start], self.stops[stop - 1]

    def span_before(self, i: int) -> tuple[int, int]:
        """Return the span of the character before `i`; an empty one if there is none."""
        return (self.starts[i - 1], self.stops[i - 1]) if i else (self.origin, self.origin)

    def translated(self, table: Mapping[int, str]) -> AlignedText:
        """Return the text in which a table has a str for each character, which keeps its span.

        No ASCII character may become more than one.
        """
        if self.text.isascii():
            text = self.text.translate(table)
            if len(text) == len(self.text):
                return AlignedText(text, self.starts, self.stops, self.origin)
        return self.with_each(list(map(table.__getitem__, map(ord, self.text))))

    def with_each(self, strings: Sequence[str]) -> AlignedText:
        """Return the text in which the i-th of these strings stands for the i-th character.

        Examples
        --------
        >>> text = AlignedText.of("abc").with_each(["", "bb", "c"])
        >>> text.text, text.starts, text.stops
        ('bbc', [1, 1, 2], [2, 2, 3])
        """
        text = "".join(strings)
        lengths = list(map(len, strings))
        if lengths.count(1) == len(lengths):
            return AlignedText(text, self.starts, self.stops, self.origin)
        starts = list(chain.from_iterable(map(repeat, self.starts, lengths)))
        stops = list(chain.from_iterable(map(repeat, self.stops, lengths)))
        return AlignedText(text, starts, stops, self.origin)

    def rewritten(
        self, edits: Iterable[tuple[int, int, Iterable[tuple[str, int, int]]]]
    ) -> AlignedText:
        """Return the text in which stretches are replaced by characters that carry spans.

        Parameters
        ----------
        edits : iterable of (start, stop, characters)
            In reading order; each of `characters` is (character, start, stop).
        """
        parts: list[str] = []
        starts: list[int] = []
        stops: list[int] = []
        done = 0
        for start, stop, characters in chain(edits, [(len(self.text), len(self.text), ())]):
            parts.append(self.text[done:start])
            starts += self.starts[done:start]
            stops += self.stops[done:start]
            for character, own_start, own_stop in characters:
                parts.append(character)
                starts.append(own_start)
                stops.append(own_stop)
            done = stop
        return AlignedText("".join(parts), starts, stops, self.origin)
