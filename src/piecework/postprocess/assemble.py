"""Puts rows together by a plan: makes the arrays, has the kernel fill them, says what is wrong.

In: content, one batch of first texts and perhaps one of second texts. Out: a batch of rows, with
the arrays that the plan asks for. Nothing is done row by row in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from piecework._assemble import Assembly
from piecework._numpy import np
from piecework.arrays import plain_array
from piecework.batch import Batch
from piecework.postprocess.plan import STRATEGIES, Plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework._assemble import _Arrays

_NO_LIMIT = -1
_HIGHEST_UINT16 = 2**16 - 1


def assemble(
    first: Batch,
    second: Batch | None,
    plan: Plan,
    n_uncut: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> Batch:
    """Return complete rows for texts, or for pairs of texts.

    Parameters
    ----------
    first, second : Batch
        The content of the texts, row by row; `second` for a plan for pairs only. With offsets and
        word ids, if the plan asks for them.
    plan : Plan
    n_uncut : two int64 arrays, shape (n_rows,), optional
        The number of tokens of each first and second text, where the content does not have them
        all (:func:`tokens_needed`); at least as many as it has.

    Returns
    -------
    Batch
        One row for each text or pair. If the plan returns what overflows, each row is followed by
        those of its windows, and ``overflow_to_sample`` has for each row the number of its text.

    Raises
    ------
    ValueError
        A row can't be cut as the plan says: the message has its number, the lengths and
        `max_length`. Or the batches do not fit together, or an id does not fit into uint16.
    MemoryError
        There would be more tokens than any memory holds.

    Notes
    -----
    The windows are in the reference's order. For pairs: those of the first text in turn, each with
    all of the second one, and at the end the first window of the first text with the later ones of
    the second. A text of which nothing stays is a window of its own, whole.

    Two choices differ from the reference: without a template its pairs with overflow have sequence
    ids that name the wrong text, which are right here; and see the errors above.

    Examples
    --------
    >>> from piecework.postprocess import Plan, Truncation, template_pieces
    >>> from piecework.spec import Template
    >>> template = Template.bert(("[CLS]", 101), ("[SEP]", 102))
    >>> pieces = template_pieces(template, is_pair=False, add_special=True)
    >>> plan = Plan(pieces, truncation=Truncation(5, stride=1), return_overflow=True)
    >>> content = Batch(np.arange(5, dtype=np.int32), np.array([0, 5]))
    >>> assemble(content, None, plan).tolist()
    [[101, 0, 1, 2, 102], [101, 2, 3, 4, 102]]
    """
    _check_content(first, second, plan)
    truncation = plan.truncation
    room = plan.room
    assembly = Assembly(
        plan.compiled,
        _arrays(first, plan, None if n_uncut is None else n_uncut[0]),
        None if second is None else _arrays(second, plan, None if n_uncut is None else n_uncut[1]),
        _NO_LIMIT if room is None else room,
        STRATEGIES.index(truncation.strategy) if truncation else 0,
        truncation is not None and truncation.side == "left",
        truncation.stride if truncation else 0,
        plan.return_overflow,
    )
    if assembly.problem[0]:
        _raise_problem(assembly.problem, plan)
    return _filled(assembly, plan)


def _filled(assembly: Assembly, plan: Plan) -> Batch:
    n_tokens = assembly.n_tokens
    row_splits = np.empty(assembly.n_rows + 1, np.int64)
    ids = np.empty(n_tokens, plan.dtype)
    wanted = plan.details
    details: dict[str, Any] = {}
    if wanted.offsets:
        details["offsets"] = np.empty((n_tokens, 2), np.int32)
    if wanted.word_ids:
        details["word_ids"] = np.empty(n_tokens, np.int32)
    if wanted.sequence_ids:
        details["sequence_ids"] = np.empty(n_tokens, np.int8)
    if wanted.type_ids:
        details["type_ids"] = np.empty(n_tokens, np.int32)
    if wanted.special_tokens_mask:
        details["special_tokens_mask"] = np.empty(n_tokens, np.uint8)
    if plan.return_overflow:
        details["overflow_to_sample"] = np.empty(assembly.n_rows, np.int64)
    assembly.fill(row_splits, ids, **details)
    return Batch._unchecked(ids, row_splits, **details)


def _arrays(content: Batch, plan: Plan, n_uncut: NDArray[np.int64] | None) -> _Arrays:
    offsets = content.offsets if plan.details.offsets else None
    word_ids = content.word_ids if plan.details.word_ids else None
    return (
        plain_array(content.ids),
        plain_array(content.row_splits),
        None if offsets is None else plain_array(offsets),
        None if word_ids is None else plain_array(word_ids),
        None if n_uncut is None else plain_array(np.asarray(n_uncut, np.int64)),
    )


def _check_content(first: Batch, second: Batch | None, plan: Plan) -> None:
    if (second is not None) != plan.is_pair:
        expected = "pairs of texts" if plan.is_pair else "single texts"
        raise ValueError(f"expected {expected}, as the plan is made for them")
    if second is not None and len(first) != len(second):
        raise ValueError(
            f"expected as many second texts as first ones, {len(first)}: got {len(second)}"
        )
    for content in (first, second):
        if content is None:
            continue
        for name in ("offsets", "word_ids"):
            if getattr(plan.details, name) and getattr(content, name) is None:
                raise ValueError(f"expected content with {name}, as the plan asks for them")
        if plan.dtype == "uint16" and content.ids.dtype != np.uint16:
            _check_uint16(int(content.ids.min(initial=0)), int(content.ids.max(initial=0)))
    if plan.dtype == "uint16":
        _check_uint16(*(id_ for piece in plan.pieces for id_ in piece.ids))


def _check_uint16(*ids: int) -> None:
    for id_ in ids:
        if not 0 <= id_ <= _HIGHEST_UINT16:
            raise ValueError(f"id {id_} does not fit into dtype uint16")


def _raise_problem(problem: tuple[int, int, int, int], plan: Plan) -> NoReturn:
    """Raise for what the kernel found; the numbers of problems are those of _assemble.pyx."""
    kind, row, n_first, n_second = problem
    lengths = f"texts of {n_first} and {n_second} tokens" if plan.is_pair else f"{n_first} tokens"
    strategy, stride, limit = "", 0, "no max_length"
    if plan.truncation is not None:
        strategy, stride = plan.truncation.strategy, plan.truncation.stride
        limit = f"max_length={plan.truncation.max_length}"
    if plan.n_special:
        limit += f" with {plan.n_special} special tokens"
    cut = f"{strategy} can't cut {lengths} to {limit}"
    messages = {
        1: "the arrays of the content do not fit together, or n_uncut is less than what is there",
        2: f"{cut}: it has to leave a token of the text it cuts",
        3: f"{cut}: there is no second text",
        4: f"stride={stride} is not less than what stays of a text that is cut, so there are no "
        f"windows: {lengths}, {limit}",
        5: f"expected more of the content than is there: {lengths}, {limit}",
        6: f"{lengths} would give more tokens than any memory holds: {limit}",
    }
    error = MemoryError if kind == 6 else ValueError
    raise error(f"row {row}: {messages[kind]}")
