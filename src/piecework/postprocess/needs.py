"""How much of a text has to be encoded, if the rest is cut off anyway.

In: a plan, and numbers of tokens. Out: limits for the encoder, and the rows for which they are too
low to decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from piecework._numpy import np
from piecework.postprocess.plan import Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TokensNeeded(NamedTuple):
    """The most tokens of a text that matter; None: all of them.

    They are those at its beginning, or at its end if the side of the truncation is "left".
    """

    first: int | None
    second: int | None


def tokens_needed(plan: Plan) -> TokensNeeded:
    """Return how many tokens of each text suffice to assemble rows by a plan.

    A text of which more is left out gives the same rows, apart from those that
    :func:`rows_undecided` names. Where a text must stay whole, or its length is in the message of
    the error that may come, all of it is needed.

    Examples
    --------
    >>> from piecework.postprocess import Truncation, template_pieces
    >>> from piecework.spec import NO_TEMPLATE
    >>> pieces = template_pieces(NO_TEMPLATE, is_pair=True, add_special=False)
    >>> tokens_needed(Plan(pieces, is_pair=True, truncation=Truncation(5)))
    TokensNeeded(first=5, second=5)
    >>> tokens_needed(Plan(pieces, is_pair=True, truncation=Truncation(5, "only_second")))
    TokensNeeded(first=None, second=5)
    """
    room = plan.room
    if plan.truncation is None or room is None or plan.return_overflow:
        return TokensNeeded(None, None)
    strategy = plan.truncation.strategy
    if room == 0 or strategy == "longest_first":
        return TokensNeeded(room, room)
    if strategy == "only_first":
        return TokensNeeded(room, None)
    return TokensNeeded(None, room if plan.is_pair else None)


def rows_undecided(
    plan: Plan, n_first: NDArray[np.int64], n_second: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows for which it matters which text of the pair is longer, and is not known.

    Of an odd number of tokens the longer text keeps one more. If both texts were cut to what
    :func:`tokens_needed` says, the numbers of all of their tokens are needed, as `n_uncut` of
    :func:`assemble`; for the other rows, those that are there will do.

    Parameters
    ----------
    plan : Plan
    n_first, n_second : int64 array, shape (n_rows,)
        Tokens of each text, of which some may have been left out.

    Returns
    -------
    int64 array, shape (n_undecided,)
        Numbers of rows, rising.

    Examples
    --------
    >>> from piecework.postprocess import Truncation, template_pieces
    >>> from piecework.spec import NO_TEMPLATE
    >>> pieces = template_pieces(NO_TEMPLATE, is_pair=True, add_special=False)
    >>> plan = Plan(pieces, is_pair=True, truncation=Truncation(5))
    >>> rows_undecided(plan, np.array([5, 5, 4]), np.array([5, 4, 5]))
    array([0])
    """
    needed = tokens_needed(plan)
    if needed.first is None or needed.second is None or not plan.is_pair or needed.first % 2 == 0:
        return np.zeros(0, np.int64)
    return np.flatnonzero((n_first >= needed.first) & (n_second >= needed.second))
