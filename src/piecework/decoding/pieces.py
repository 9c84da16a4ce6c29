"""What a token adds to a text, where that depends on the token and its place alone.

So it is with a WordPiece decoder and without any decoder. In goes the decoder of a spec, out comes
the form of its pieces, from which `piecework._decode` makes them all. A piece is what is added:
"##able" is "able" behind another, and a token of its own "##able" at the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

# The reference's clean-up, in its order. It is applied to one piece at a time, with the space that
# joins it to the one before: "do", "not" stays "do not", and "a", "'", "b" stays "a ' b".
_CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)
# Each begins with a space. A text in which none of these characters stands behind one is clean.
_MARKS = "".join(sorted({old[1] for old, _ in _CLEANUP}))


class PieceForm(NamedTuple):
    """How pieces are made of tokens.

    Attributes
    ----------
    prefix : str or None
        Taken off a token that is not the first. One that does not begin with it, and each if it is
        None, gets a space in front.
    marks : str
        `clean` changes no text in which none of these stands behind a space.
    clean : callable
        (piece) -> piece, applied to each.
    """

    prefix: str | None
    marks: str
    clean: Callable[[str], str]


def clean(text: str) -> str:
    """Apply the reference's clean-up to one piece.

    Examples
    --------
    >>> clean(" n't"), clean(" do not")
    ("n't", " don't")
    """
    for old, new in _CLEANUP:
        text = text.replace(old, new)
    return text


def piece_form(wordpiece: Mapping[str, Any] | None) -> PieceForm:
    """Return how a WordPiece decoder, or none, makes pieces."""
    if wordpiece is None:
        return PieceForm(None, "", clean)
    return PieceForm(wordpiece["prefix"], _MARKS if wordpiece["cleanup"] else "", clean)
