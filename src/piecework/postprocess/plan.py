"""What shall be made of the tokens of texts, as immutable values whose options are checked.

In: a template, and the options of a call. Out: a :class:`Plan`, of which one serves any number of
calls. It does no work on tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from piecework._assemble import Pieces
from piecework.protocol import as_int
from piecework.spec import SequencePiece, SpecialPiece, Template

STRATEGIES = ("longest_first", "only_first", "only_second")
_SIDES = ("right", "left")
_MOST = 2**31 - 1
_SPECIAL = 2  # the kind of a piece that is no text


@dataclass(frozen=True)
class Truncation:
    """How long a row may be, and what is cut off if it is longer.

    Parameters
    ----------
    max_length : int
        Tokens of a row, those of the template included.
    strategy : "longest_first", "only_first" or "only_second"
        Which text of a pair is cut. The first one takes from the longer text until both are equally
        long, then from both; of an odd number the longer text keeps one more, the second text if
        they are equally long.
    side : "right" or "left"
        Where tokens are cut off.
    stride : int
        The number of tokens that a window of what overflows has in common with the one before it.

    Raises
    ------
    ValueError
        For a negative number and an unknown name.
    TypeError
        For a number that is no integer.

    Examples
    --------
    >>> Truncation(128, side="left").strategy
    'longest_first'
    >>> Truncation(-1)
    Traceback (most recent call last):
        ...
    ValueError: max_length must be at least 0, not -1
    """

    max_length: int
    strategy: str = "longest_first"
    side: str = "right"
    stride: int = 0

    def __post_init__(self) -> None:
        for name in ("max_length", "stride"):
            number = as_int(name, getattr(self, name), minimum=0, maximum=_MOST)
            object.__setattr__(self, name, number)
        for name, value, names in (
            ("truncation", self.strategy, STRATEGIES),
            ("truncation_side", self.side, _SIDES),
        ):
            if not isinstance(value, str) or value not in names:
                expected = " or ".join([", ".join(map(repr, names[:-1])), repr(names[-1])])
                raise ValueError(f"{name} must be {expected}, not {value!r}")


class Details(NamedTuple):
    """Which arrays a result has beside ids."""

    offsets: bool = False
    word_ids: bool = False
    sequence_ids: bool = False
    type_ids: bool = False
    special_tokens_mask: bool = False


_NO_DETAILS = Details()


class Piece(NamedTuple):
    """A piece of a template, in numbers.

    Attributes
    ----------
    kind : 0, 1 or 2
        The first text, the second text, special tokens.
    type_id : int
    later_type_id : int
        That of the windows of what overflows, which in the reference do not have the template's.
    sequence_id : int
        -1: none.
    ids : tuple of int
        The special tokens.
    """

    kind: int
    type_id: int
    later_type_id: int
    sequence_id: int
    ids: tuple[int, ...]


def template_pieces(template: Template, *, is_pair: bool, add_special: bool) -> tuple[Piece, ...]:
    """Return the pieces of a template that are used.

    Parameters
    ----------
    template : Template
    is_pair : bool
        Whether it is filled with pairs of texts.
    add_special : bool
        False leaves the special tokens out.

    Raises
    ------
    ValueError
        The template can't be filled with that.

    Notes
    -----
    As the reference has it, a text that stands in a template more than once has sequence ids where
    it stands last; and where there is no text at all, everything belongs to sequence 0.

    Examples
    --------
    >>> template = Template.bert(("[CLS]", 101), ("[SEP]", 102))
    >>> [piece.ids for piece in template_pieces(template, is_pair=False, add_special=True)]
    [(101,), (), (102,)]
    """
    pieces = template.pair if is_pair else template.single
    texts = [piece.sequence for piece in pieces if isinstance(piece, SequencePiece)]
    if is_pair and not texts:
        raise ValueError("this tokenizer's template has no form for pairs of texts")
    if not is_pair and "B" in texts:
        raise ValueError("this tokenizer's template for one text has a place for a second one")
    used = [piece for piece in pieces if add_special or isinstance(piece, SequencePiece)]
    # RobertaProcessing writes the types of what overflows too, if it adds special tokens.
    all_zero = add_special and template.processor_type == "RobertaProcessing"
    result: list[Piece] = []
    for i, piece in enumerate(used):
        if isinstance(piece, SpecialPiece):
            sequence_id = -1 if texts else 0
            result.append(Piece(_SPECIAL, piece.type_id, piece.type_id, sequence_id, piece.ids))
            continue
        kind = "AB".index(piece.sequence)
        is_last = not any(
            isinstance(other, SequencePiece) and other.sequence == piece.sequence
            for other in used[i + 1 :]
        )
        later_type_id = 0 if all_zero else kind
        result.append(Piece(kind, piece.type_id, later_type_id, kind if is_last else -1, ()))
    return tuple(result)


@dataclass(frozen=True)
class Plan:
    """What shall be made of the content of texts.

    Parameters
    ----------
    pieces : tuple of Piece
        From :func:`template_pieces`.
    is_pair : bool
        Whether there are second texts.
    truncation : Truncation, optional
    return_overflow : bool
        Whether what is cut off is wanted too, in windows that are rows of their own.
    details : Details
        Which arrays beside ids.
    dtype : "int32" or "uint16"
        Of the ids.

    Raises
    ------
    ValueError
        `max_length` is less than the number of special tokens, or no window can overlap another by
        `stride`.

    Examples
    --------
    >>> template = Template.bert(("[CLS]", 101), ("[SEP]", 102))
    >>> pieces = template_pieces(template, is_pair=False, add_special=True)
    >>> Plan(pieces, truncation=Truncation(8)).room
    6
    >>> Plan(pieces, truncation=Truncation(1))
    Traceback (most recent call last):
        ...
    ValueError: max_length=1 leaves no room for the template's 2 special tokens
    """

    pieces: tuple[Piece, ...]
    is_pair: bool = False
    truncation: Truncation | None = None
    return_overflow: bool = False
    details: Details = _NO_DETAILS
    dtype: str = "int32"

    def __post_init__(self) -> None:
        if self.truncation is None:
            return
        max_length, stride = self.truncation.max_length, self.truncation.stride
        if max_length < self.n_special:
            raise ValueError(
                f"max_length={max_length} leaves no room for the template's {self.n_special} "
                "special tokens"
            )
        if stride and stride >= max_length - self.n_special:
            raise ValueError(
                f"stride={stride} must be less than the {max_length - self.n_special} tokens of "
                f"the text that max_length={max_length} leaves room for, beside "
                f"{self.n_special} special tokens"
            )

    @cached_property
    def n_special(self) -> int:
        """The number of special tokens in each row."""
        return sum(len(piece.ids) for piece in self.pieces)

    @property
    def room(self) -> int | None:
        """The most tokens of the texts in a row; None: no limit."""
        return None if self.truncation is None else self.truncation.max_length - self.n_special

    @cached_property
    def compiled(self) -> Pieces:
        """The pieces as the kernel has them."""
        return Pieces(self.pieces)
