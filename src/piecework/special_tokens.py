"""Special tokens are split out of the raw text before anything else looks at it.

In goes a text, out come the stretches between special tokens (str) and the ids of the special
tokens (int) in reading order. Matching is leftmost-longest and literal: no normalization, no case
folding, no look at the neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import ahocorasick

_BATCH = 1 << 12  # matches


class SpecialTokens:
    """Finds special tokens in raw text with one Aho-Corasick automaton.

    Parameters
    ----------
    contents : mapping of str to int
        The texts to look for, with their ids.

    Raises
    ------
    ValueError
        For an empty content, which would match between all characters.

    Notes
    -----
    Thread-safety: immutable after it is built; one object serves many threads.

    Examples
    --------
    >>> list(SpecialTokens({"[MASK]": 103, "[MASK]ED": 104}).split("a [MASK] b[MASK]ED"))
    ['a ', 103, ' b', 104]
    """

    def __init__(self, contents: Mapping[str, int]) -> None:
        self.contents = dict(contents)
        self._automaton = ahocorasick.Automaton()
        for content, id_ in self.contents.items():
            if not content:
                raise ValueError(
                    f"expected special tokens with a text, got an empty one (id {id_})"
                )
            self._automaton.add_word(content, len(content))
        self._automaton.make_automaton()
        self._longest = max(map(len, self.contents), default=0)
        # At least half of a batch can be settled, so that sorting takes linear time.
        self._batch = max(_BATCH, 2 * self._longest)

    def split(self, text: str) -> Iterator[str | int]:
        """Split a text into stretches of plain text, none of them empty, and ids.

        Takes time linear in the length of the text for a given set of tokens, however many matches
        overlap, and memory for some thousand matches.
        """
        done = 0
        for start, stop in self._matches(text):
            if start < done:
                continue
            if start > done:
                yield text[done:start]
            yield self.contents[text[start:stop]]
            done = stop
        if done < len(text):
            yield text[done:]

    def _matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Find the longest match at each position that has one, in reading order."""
        if not self.contents:
            return
        # iter() reports every match, by its inclusive end. Ends ascend, so what stays in the dict
        # is the longest match of each start. (iter_long() of pyahocorasick 2.3.1 misses matches:
        # with "abb" and "b" it finds nothing in "ab".)
        stop_of: dict[int, int] = {}
        for last, n_chars in self._automaton.iter(text):
            if len(stop_of) >= self._batch:
                settled = last + 1 - self._longest  # what is to come starts there or behind
                yield from ((start, stop_of[start]) for start in sorted(stop_of) if start < settled)
                stop_of = {start: stop for start, stop in stop_of.items() if start >= settled}
            stop_of[last + 1 - n_chars] = last + 1
        yield from sorted(stop_of.items())
