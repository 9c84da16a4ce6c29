"""What a tokenizer is made of: its vocabulary and its options, as one immutable value.

Readers of files make a :class:`TokenizerSpec`, the tokenizer is built from one, writers turn one
back into a file. It holds no tables and does no work; equality, pickling and the content hash of a
tokenizer are those of its spec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from piecework._numpy import np
from piecework.errors import short_repr
from piecework.rules.rule_set import checked_name
from piecework.vocabulary import Vocabulary, check_unk_token

MAX_LIMIT = 2**64 - 1  # of characters per word: what the reference reads from a file


@dataclass(frozen=True)
class Template:
    """The special tokens that ``add_special`` puts around a text.

    Attributes
    ----------
    before, after : tuple of (token, id)
        In reading order. BERT: ``(("[CLS]", 101),)`` and ``(("[SEP]", 102),)``.
    post_processor : mapping or None
        The ``post_processor`` object of the tokenizer.json that this came from, written back by
        ``save``; None for the BERT template, which ``save`` makes anew.
    """

    before: tuple[tuple[str, int], ...]
    after: tuple[tuple[str, int], ...]
    post_processor: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class TokenizerSpec:
    """All that determines a tokenizer's results.

    The options are checked by :func:`checked_options`. Mappings are shared, not copied: not to be
    changed.

    Attributes
    ----------
    vocabulary : Vocabulary
    special_tokens : mapping of str to int
        Contents that are split out of the raw text, with their ids. Ids beyond the vocabulary's are
        added tokens.
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
    special_tokens: Mapping[str, int] = field(default_factory=dict)
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
        check_unk_token(self.vocabulary, self.unk_token)

    @property
    def resolved_strip_accents(self) -> bool:
        """Whether accents are stripped, with None resolved: then as ``lowercase``."""
        return self.lowercase if self.strip_accents is None else self.strip_accents

    @property
    def vocab_size(self) -> int:
        """Highest id + 1, added tokens included."""
        return max(self.vocabulary.size, max(self.special_tokens.values(), default=-1) + 1)


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


def _flag(name: str, value: object, expected: str = "a bool") -> bool:
    if type(value) is not bool and not isinstance(value, np.bool_):
        raise TypeError(f"{name}: expected {expected}, got {short_repr(value)}")
    return bool(value)


def _flag_or_none(name: str, value: object) -> bool | None:
    return None if value is None else _flag(name, value, "a bool or None")


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
    "lowercase": _flag,
    "strip_accents": _flag_or_none,
    "clean_text": _flag,
    "handle_chinese_chars": _flag,
    "rules": _rules,
}
