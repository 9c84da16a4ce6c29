"""How a long text may be clipped, so that the tokens on one side of the cut stay what they are.

In: the added tokens of a tokenizer. Out: what the kernel has to heed where only some tokens of a
text are wanted (``_limit``). Words end before white space and before isolated characters, so a text
may be cut there; but an added token can be any text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from piecework.spec import AddedToken

_MOST_LETTERS = 4  # that a character becomes


class Clipping(NamedTuple):
    """What a tokenizer allows.

    Attributes
    ----------
    margin : int
        So many tokens before a cut may be others than in the whole text.
    at_end : bool
        Whether the tokens behind a cut are those of the whole text.
    at_isolated : bool
        Whether a text may be cut before an isolated character that is not ASCII, and not only
        before white space.
    """

    margin: int
    at_end: bool
    at_isolated: bool


def clipping_of(added_tokens: Iterable[AddedToken]) -> Clipping:
    """Return how texts may be clipped.

    Examples
    --------
    >>> clipping_of([AddedToken("[CLS]", 101)])
    Clipping(margin=0, at_end=True, at_isolated=True)
    >>> clipping_of([AddedToken("New York", 0), AddedToken("中", 1)])
    Clipping(margin=33, at_end=False, at_isolated=False)
    """
    tokens = list(added_tokens)
    spanning = [token.content for token in tokens if _may_span_white_space(token)]
    return Clipping(
        # A match that the cut changes ends so many letters before it, and a token has one at least;
        # one more, as `rstrip` goes on behind the cut.
        margin=max(map(len, spanning)) * _MOST_LETTERS + 1 if spanning else 0,
        at_end=not spanning,
        at_isolated=all(token.content.isascii() and not token.single_word for token in tokens),
    )


def _may_span_white_space(token: AddedToken) -> bool:
    """Say whether a match may have white space in it, but for what is surely without."""
    return (
        token.normalized or token.lstrip or token.rstrip or token.content.split() != [token.content]
    )
