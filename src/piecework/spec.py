"""What a tokenizer is made of: its vocabulary and its options, as one immutable value.

Readers of files make a :class:`TokenizerSpec`, the tokenizer is built from one, writers turn one
back into a file. It holds no tables and does no work; equality, pickling and the content hash of a
tokenizer are those of its spec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from piecework._numpy import np
from piecework.errors import short_repr
from piecework.protocol import as_flag
from piecework.rules.rule_set import checked_name
from piecework.vocabulary import Vocabulary, check_unk_token

MAX_LIMIT = 2**64 - 1  # of characters per word: what the reference reads from a file


@dataclass(frozen=True)
class AddedToken:
    """A content that is looked for in a text before it is cut into words.

    Attributes
    ----------
    content : str
    id : int
    special : bool
        Left out by ``skip_special`` of decoding, read as plain text by ``split_special_tokens``.
    normalized : bool
        Its normalized content is looked for in the normalized text; else the content in the text.
    lstrip, rstrip : bool
        A match takes the white space before or behind it with it.
    single_word : bool
        A match that touches a letter, a digit or an underscore is none.
    """

    content: str
    id: int
    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is found in the text as written, whatever stands beside it."""
        return not (self.normalized or self.lstrip or self.rstrip or self.single_word)


class SpecialPiece(NamedTuple):
    """Special tokens in a template, mostly one.

    Attributes
    ----------
    name : str
        By which the template calls it.
    tokens : tuple of str
    ids : tuple of int
    type_id : int
    """

    name: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    type_id: int


class SequencePiece(NamedTuple):
    """The place of a text in a template.

    Attributes
    ----------
    sequence : "A" or "B"
    type_id : int
    """

    sequence: str
    type_id: int


TemplatePieces: TypeAlias = tuple[SpecialPiece | SequencePiece, ...]


@dataclass(frozen=True)
class Template:
    """What ``add_special`` makes of a text or of a pair of texts.

    Attributes
    ----------
    single, pair : tuple of SpecialPiece and SequencePiece
        In reading order. BERT: [CLS] A [SEP], and [CLS] A [SEP] B:1 [SEP]:1. A text that `single`
        does not name is lost. Without ``add_special`` the special pieces are left out, and the type
        ids of the texts stay.
    post_processor : mapping or None
        The ``post_processor`` object of the tokenizer.json that this came from, written back by
        ``save``; None: made anew, a TemplateProcessing.
    trim_offsets, add_prefix_space : bool
        Of RobertaProcessing and ByteLevel: whether offsets leave out the white space at the ends
        of a token (added tokens may have some), and whether a single space before the first token
        is kept. See :func:`piecework.trimming.trim_of`.
    """

    single: TemplatePieces
    pair: TemplatePieces
    post_processor: Mapping[str, Any] | None = None
    trim_offsets: bool = False
    add_prefix_space: bool = False

    @classmethod
    def bert(cls, cls_token: tuple[str, int], sep_token: tuple[str, int]) -> Template:
        """Return BERT's template; the arguments are (token, id).

        Examples
        --------
        >>> Template.bert(("[CLS]", 101), ("[SEP]", 102)).around
        ((101,), (102,))
        """
        before, after, last = (
            SpecialPiece(token, (token,), (id_,), type_id)
            for (token, id_), type_id in ((cls_token, 0), (sep_token, 0), (sep_token, 1))
        )
        single = (before, SequencePiece("A", 0), after)
        return cls(single, (*single, SequencePiece("B", 1), last))

    @property
    def around(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The ids before and behind one text; None, if it is not there once."""
        sides: list[tuple[int, ...]] = [()]
        for piece in self.single:
            if isinstance(piece, SpecialPiece):
                sides[-1] += piece.ids
            elif piece.sequence == "A":
                sides.append(())
            else:
                return None
        return (sides[0], sides[1]) if len(sides) == 2 else None

    @property
    def processor_type(self) -> str | None:
        """The ``type`` of the post-processor that fills it in, the last one of a Sequence."""
        written = self.post_processor
        while written is not None and written.get("type") == "Sequence":
            written = written["processors"][-1] if written["processors"] else None
        return None if written is None else written.get("type")


# A tokenizer.json without a post-processor adds nothing.
NO_TEMPLATE = Template((SequencePiece("A", 0),), (SequencePiece("A", 0), SequencePiece("B", 1)))


@dataclass(frozen=True)
class Steps:
    """The steps of a tokenizer.json that are not BERT's, as its objects.

    Attributes
    ----------
    normalizer, pre_tokenizer : mapping or None
        As in the file; checked by :mod:`piecework.pipeline`. None: there is no such step.
    """

    normalizer: Mapping[str, Any] | None
    pre_tokenizer: Mapping[str, Any] | None


@dataclass(frozen=True)
class TokenizerSpec:
    """All that determines a tokenizer's results.

    The options are checked by :func:`checked_options`. Mappings are shared, not copied: not to be
    changed.

    Attributes
    ----------
    vocabulary : Vocabulary
    added_tokens : tuple of AddedToken
        Kept in the order of their ids, which are unique, and may lie beyond the vocabulary's.
    steps : Steps or None
        None: BERT's normalizer and pre-tokenizer, as `lowercase` and the other flags say. If not,
        the flags mean nothing.
    template : Template or None
        None: ``add_special`` is an error (the vocabulary lacks [CLS] or [SEP]).
    decoder : mapping or None
        The ``decoder`` object of a tokenizer.json; None joins the tokens with spaces.
    file_truncation, file_padding : mapping or None
        Those objects of the tokenizer.json that was read. Kept, never applied.
    """

    vocabulary: Vocabulary
    unk_token: str = "[UNK]"
    prefix: str = "##"
    max_input_chars_per_word: int = 100
    lowercase: bool = True
    strip_accents: bool | None = None
    clean_text: bool = True
    handle_chinese_chars: bool = True
    rules: str = "huggingface"
    added_tokens: tuple[AddedToken, ...] = ()
    steps: Steps | None = None
    template: Template | None = None
    decoder: Mapping[str, Any] | None = field(
        default_factory=lambda: {"type": "WordPiece", "prefix": "##", "cleanup": True}
    )
    file_truncation: Mapping[str, Any] | None = None
    file_padding: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        options = {name: getattr(self, name) for name in _CHECKS}
        for name, value in checked_options(options).items():
            object.__setattr__(self, name, value)
        by_id = tuple(sorted(self.added_tokens, key=attrgetter("id")))
        object.__setattr__(self, "added_tokens", by_id)
        check_unk_token(self.vocabulary, self.unk_token)

    @property
    def resolved_strip_accents(self) -> bool:
        """Whether accents are stripped, with None resolved: then as ``lowercase``."""
        return self.lowercase if self.strip_accents is None else self.strip_accents

    @property
    def vocab_size(self) -> int:
        """Highest id + 1, added tokens included."""
        highest = self.added_tokens[-1].id if self.added_tokens else -1
        return max(self.vocabulary.size, highest + 1)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The contents of the special ones of the added tokens, with their ids."""
        return {token.content: token.id for token in self.added_tokens if token.special}


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as plain bools, ints and strs.

    Raises
    ------
    TypeError
        For a value of a wrong type and for a name that no option has.
    ValueError
        For a text that UTF-8 can't hold, a limit out of range and an unknown rule set.

    Examples
    --------
    >>> checked_options({"lowercase": np.True_, "max_input_chars_per_word": np.int32(7)})
    {'lowercase': True, 'max_input_chars_per_word': 7}
    >>> checked_options({"lowercase": "false"})
    Traceback (most recent call last):
        ...
    TypeError: lowercase: expected a bool, got 'false'
    """
    for name in options:
        if name not in _CHECKS:
            raise TypeError(f"{name}: no such option; expected one of {', '.join(_CHECKS)}")
    return {name: _CHECKS[name](name, value) for name, value in options.items()}


def _flag_or_none(name: str, value: object) -> bool | None:
    return None if value is None else as_flag(name, value, "a bool or None")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected a str, got {short_repr(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"{name}: expected a str that UTF-8 can hold, got a lone surrogate in "
            f"{short_repr(value)}"
        ) from None
    return str.__str__(value)  # a plain str of a subclass's, whatever its own __str__ says


def _limit(name: str, value: object) -> int:
    if type(value) is not int and (
        isinstance(value, bool) or not isinstance(value, (int, np.integer))
    ):
        raise TypeError(f"{name}: expected an integer, got {short_repr(value)}")
    if not 1 <= value <= MAX_LIMIT:
        raise ValueError(
            f"{name}: expected an integer from 1 to 2**64 - 1, got {short_repr(value)}"
        )
    return int(value)


def _rules(_: str, value: Any) -> str:
    return checked_name(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "unk_token": _text,
    "prefix": _text,
    "max_input_chars_per_word": _limit,
    "lowercase": as_flag,
    "strip_accents": _flag_or_none,
    "clean_text": as_flag,
    "handle_chinese_chars": as_flag,
    "rules": _rules,
}
