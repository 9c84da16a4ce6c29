"""Special tokens are split out of the raw text before anything else looks at it.

In goes a text, out come the stretches between special tokens (str) and the ids of the special
tokens (int) in reading order. Matching is leftmost-longest and literal: no normalization, no case
folding, no look at the neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping

import ahocorasick


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
    >>> SpecialTokens({"[MASK]": 103, "[MASK]ED": 104}).split("a [MASK] b[MASK]ED")
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

    def split(self, text: str) -> list[str | int]:
        """Split a text into stretches of plain text, none of them empty, and ids.

        Takes time linear in the length of the text for a given set of tokens, however many matches
        overlap.
        """
        if not self.contents:
            return [text] if text else []
        # iter() reports every match, by its inclusive end. Ends ascend, so what stays in the dict
        # is the longest match of each start. (iter_long() of pyahocorasick 2.3.1 misses matches:
        # with "abb" and "b" it finds nothing in "ab".)
        stop_of = {last + 1 - n_chars: last + 1 for last, n_chars in self._automaton.iter(text)}
        pieces: list[str | int] = []
        done = 0
        for start in sorted(stop_of):
            if start < done:
                continue
            if start > done:
                pieces.append(text[done:start])
            done = stop_of[start]
            pieces.append(self.contents[text[start:done]])
        if done < len(text):
            pieces.append(text[done:])
        return pieces
