"""Added tokens, looked for in a text before it is cut into words.

In goes a stretch of text, out come the tokens found in it and where. One :class:`Finder` looks for
one kind: tokens as written in the raw text, or by their normal forms in what the normalizer made of
a stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from piecework.pipeline.aligned_text import AlignedText
from piecework.rules.rule_set import WHITE_SPACE, CodePoints
from piecework.rules.step_tables import step_tables
from piecework.spec import AddedToken
from piecework.special_tokens import SpecialTokens

_WHITE_SPACE = frozenset(map(chr, CodePoints(WHITE_SPACE)))


class Finder:
    """Finds added tokens as the reference does, all flags included.

    Contents are matched leftmost-longest, whatever their flags. Then each match in order: it is
    passed over if it may not be there (``single_word``, special contents where they are plain
    text), with all that lies in it; and it is widened over white space (``lstrip``, ``rstrip``).
    What is widened to the right can overlap the next match, which counts all the same.

    Parameters
    ----------
    tokens : mapping of str to AddedToken
        By the text to look for, none of them empty.
    split_special_tokens : bool
        Special ones are plain text.

    Notes
    -----
    One case is defined here, as the reference panics: a match that lies within the white space that
    the token before it took is no match.

    Thread-safety: immutable; one object serves many threads.

    Examples
    --------
    >>> finder = Finder({"<m>": AddedToken("<m>", 9, lstrip=True)})
    >>> found = finder.split(AlignedText.of("a  <m>b"))
    >>> [(stretch.text, token and token.id) for stretch, token in found]
    [('a', None), ('  <m>', 9), ('b', None)]
    """

    def __init__(
        self, tokens: Mapping[str, AddedToken], *, split_special_tokens: bool = False
    ) -> None:
        self._tokens = list(tokens.values())
        self._n_chars = list(map(len, tokens))
        self._matcher = SpecialTokens({content: i for i, content in enumerate(tokens)})
        self._split_special_tokens = split_special_tokens

    def split(self, source: AlignedText) -> Iterator[tuple[AlignedText, AddedToken | None]]:
        """Yield the tokens, and the stretches between them, none of them empty."""
        done = 0
        for start, stop, token in self.find(source.text):
            if done < start:
                yield source.slice(done, start), None
            yield source.slice(start, stop), token
            done = stop
        if done < len(source.text):
            yield source.slice(done, len(source.text)), None

    def find(self, text: str) -> Iterator[tuple[int, int, AddedToken]]:
        """Yield where each token starts and stops, in reading order; none of them is empty."""
        done = 0
        spaces = range(0)  # the run of white space that was looked at last
        for start, stop, token in self._matches(text):
            if token.special and self._split_special_tokens:
                continue
            if token.single_word and _touches_word(text, start, stop):
                continue
            if token.lstrip:
                start = max(_skip_spaces_back(text, start, done), done)
            if token.rstrip:
                if stop not in spaces:
                    spaces = range(stop, _skip_spaces(text, stop) + 1)
                stop = spaces[-1]
            if start < stop:
                yield start, stop, token
                done = stop

    def _matches(self, text: str) -> Iterator[tuple[int, int, AddedToken]]:
        start = 0
        for stretch in self._matcher.split(text):
            if isinstance(stretch, str):
                start += len(stretch)
            else:
                stop = start + self._n_chars[stretch]
                yield start, stop, self._tokens[stretch]
                start = stop


class Finders(NamedTuple):
    """Those of a tokenizer; None for a kind of which it has no tokens.

    Attributes
    ----------
    raw : Finder or None
        In texts as they are given.
    normalized : Finder or None
        In what the normalizer made of the stretches between the tokens of `raw`.
    """

    raw: Finder | None
    normalized: Finder | None

    @classmethod
    def of(
        cls,
        tokens: Iterable[AddedToken],
        normalize: Callable[[str], str],
        *,
        split_special_tokens: bool,
    ) -> Finders:
        """Make the finders of added tokens, which are given in the order of their ids.

        Where the reference's result depends on the order of a hash table: of two tokens with one
        normal form that with the lower id is found, and one whose normal form is empty never is.
        """
        as_written: dict[str, AddedToken] = {}
        by_normal_form: dict[str, AddedToken] = {}
        for token in tokens:
            if token.normalized:
                by_normal_form.setdefault(normalize(token.content), token)
            else:
                as_written.setdefault(token.content, token)
        by_normal_form.pop("", None)
        return cls(
            *(
                Finder(found, split_special_tokens=split_special_tokens) if found else None
                for found in (as_written, by_normal_form)
            )
        )


def _touches_word(text: str, start: int, stop: int) -> bool:
    word = step_tables().word
    return (start > 0 and ord(text[start - 1]) in word) or (
        stop < len(text) and ord(text[stop]) in word
    )


def _skip_spaces_back(text: str, start: int, limit: int) -> int:
    while start > limit and text[start - 1] in _WHITE_SPACE:
        start -= 1
    return start


def _skip_spaces(text: str, stop: int) -> int:
    while stop < len(text) and text[stop] in _WHITE_SPACE:
        stop += 1
    return stop
