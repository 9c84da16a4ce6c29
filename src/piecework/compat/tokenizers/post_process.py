"""Truncation, template and padding on encodings, as the reference does them one by one.

Batches are assembled elsewhere, in compiled code over flat arrays. This is for what has no place
there: encodings that a user puts together with ``post_process``, and what overflows, where an
overflow of a pair has overflows of its own.
"""

from __future__ import annotations

from dataclasses import replace

from piecework._numpy import np
from piecework.compat.tokenizers.behind import Behind, Processing
from piecework.compat.tokenizers.columns import (
    Columns,
    Pad,
    all_joined,
    inserted,
    truncated,
)
from piecework.compat.tokenizers.state import Truncation
from piecework.spec import SpecialPiece
from piecework.trimming import trim_of


def budget(behind: Behind, truncation: Truncation, *, is_pair: bool, add_special: bool) -> int:
    """Return how many tokens of the texts may stay.

    Raises
    ------
    ValueError
        The special tokens alone are more than `max_length`.
    """
    n_special = behind.n_special(is_pair, add_special)
    if truncation.max_length < n_special:
        raise ValueError(
            f"max_length={truncation.max_length}: expected at least {n_special}, the number of "
            f"special tokens that the template adds to {'a pair' if is_pair else 'a text'}"
        )
    return truncation.max_length - n_special


def put_together(
    behind: Behind,
    texts: tuple[Columns, ...],
    truncation: Truncation | None,
    *,
    add_special: bool,
    row: int | None = None,
) -> Columns:
    """Return one encoding of the tokens of a text or of a pair, truncated and in the template.

    Raises
    ------
    ValueError
        For a truncation that can't be done; it names the row, if that is given.
    """
    is_pair = len(texts) == 2
    if truncation is not None:
        most = budget(behind, truncation, is_pair=is_pair, add_special=add_special)
        try:
            texts = _truncated(texts, most, truncation)
        except ValueError as error:
            place = "" if row is None else f"row {row}: "
            raise ValueError(f"{place}max_length={truncation.max_length}: {error}") from None
    if behind.processing is Processing.NONE:
        return _side_by_side(texts)
    return _in_template(behind, texts, add_special=add_special)


def _truncated(
    texts: tuple[Columns, ...], most: int, truncation: Truncation
) -> tuple[Columns, ...]:
    lengths = [len(text) for text in texts]
    excess = sum(lengths) - most
    if excess <= 0:
        return texts
    if most == 0:
        lengths = [0] * len(texts)
    elif truncation.strategy != "longest_first":
        which = ("only_first", "only_second").index(truncation.strategy)
        if which == len(texts):
            raise ValueError("strategy 'only_second' needs a pair, got one text")
        if lengths[which] <= excess:
            raise ValueError(
                f"{excess} tokens have to go, and strategy {truncation.strategy!r} takes them "
                f"from a text of {lengths[which]}, which has to keep one"
            )
        lengths[which] -= excess
    elif len(texts) == 1:
        lengths[0] = most
    else:
        lengths = _longest_first(lengths[0], lengths[1], most)
    return tuple(
        truncated(text, length, truncation.stride, truncation.side)
        for text, length in zip(texts, lengths, strict=True)
    )


def _longest_first(first: int, second: int, most: int) -> list[int]:
    shorter, longer = sorted((first, second))
    longer = shorter if shorter > most else max(shorter, most - shorter)
    if shorter + longer > most:
        shorter, longer = most // 2, most - most // 2
    return [shorter, longer] if first <= second else [longer, shorter]


def _side_by_side(texts: tuple[Columns, ...]) -> Columns:
    """Return what is made of texts without a post-processor: one stays as it is.

    What overflows of a pair is not told of which text it is.
    """
    if len(texts) == 1:
        return texts[0]
    return all_joined(text.of_sequence(number) for number, text in enumerate(texts))


def _in_template(behind: Behind, texts: tuple[Columns, ...], *, add_special: bool) -> Columns:
    if behind.template.trim_offsets:
        texts = tuple(_trimmed(text, behind.template.add_prefix_space) for text in texts)
    sequences = [_as_sequence(text, number) for number, text in enumerate(texts)]
    if add_special and behind.processing is not Processing.TEMPLATE:
        sequences = [_anew(text, number) for number, text in enumerate(sequences)]
    parts = []
    for piece in behind.pieces(len(texts) == 2):
        if not isinstance(piece, SpecialPiece):
            number = "AB".index(piece.sequence)
            if number == len(sequences):
                raise ValueError("the template of one text names $B, and there is no second text")
            parts.append(sequences[number].of_type(piece.type_id))
            if behind.processing is Processing.ROBERTA and add_special:
                parts[-1] = _with_overflow_of_type(parts[-1], piece.type_id)
        elif add_special:
            parts.append(_special(piece))
    return all_joined(parts)


def _special(piece: SpecialPiece) -> Columns:
    """Return the special tokens of a template, which may have more or fewer strings than ids."""
    columns = inserted(Pad(type_id=piece.type_id), len(piece.ids), attention=1)
    return replace(columns, ids=np.array(piece.ids, np.int64), tokens=list(piece.tokens))


def _anew(text: Columns, number: int) -> Columns:
    """Return a text as BERT's and Roberta's processors see it: padding in it is text to them."""
    overflowing = tuple(_anew(replace(each, overflowing=()), number) for each in text.overflowing)
    n_tokens = len(text)
    return replace(
        text,
        special_tokens_mask=np.zeros(n_tokens, np.int64),
        attention_mask=np.ones(n_tokens, np.int64),
        sequences={number: (0, n_tokens)},
        overflowing=overflowing,
    )


def _trimmed(text: Columns, add_prefix_space: bool) -> Columns:
    offsets = text.offsets.copy()
    for i, token in enumerate(text.tokens):
        at_start = i == 0 or offsets[i, 0] == 0
        trim = trim_of(token, at_start=at_start, add_prefix_space=add_prefix_space)
        offsets[i] = trim.of(*offsets[i].tolist())
    overflowing = tuple(_trimmed(each, add_prefix_space) for each in text.overflowing)
    return replace(text, offsets=offsets, overflowing=overflowing)


def _as_sequence(text: Columns, number: int) -> Columns:
    overflowing = tuple(each.of_sequence(number) for each in text.overflowing)
    return replace(text.of_sequence(number), overflowing=overflowing)


def _with_overflow_of_type(text: Columns, type_id: int) -> Columns:
    overflowing = tuple(each.of_type(type_id) for each in text.overflowing)
    return replace(text, overflowing=overflowing)
