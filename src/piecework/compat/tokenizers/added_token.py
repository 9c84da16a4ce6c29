"""AddedToken as users of `tokenizers` write it: content and flags, without an id."""

from __future__ import annotations

from typing import Any

from piecework import spec
from piecework.added_tokens import NewToken
from piecework.compat.tokenizers.arguments import checked
from piecework.errors import short_repr

_AS_SPECIAL_SAYS: Any = object()  # None is no value for a flag, in the reference either
_FLAGS = ("rstrip", "lstrip", "single_word", "normalized", "special")


class AddedToken:
    """A content to look for in texts, and how.

    Parameters
    ----------
    content : str, optional
    single_word : bool
        A match that touches a letter, a digit or an underscore is none.
    lstrip, rstrip : bool
        A match takes the white space before or behind it with it.
    normalized : bool, optional
        Look for it in the normalized text. By default for what is not `special`.
    special : bool
        Decoding leaves it out.

    Notes
    -----
    Compares by content and flags. `content` and `special` can be set, the others can't.

    Examples
    --------
    >>> AddedToken("<m>", lstrip=True)
    AddedToken("<m>", rstrip=False, lstrip=True, single_word=False, normalized=True, special=False)
    """

    __slots__ = ("_lstrip", "_normalized", "_rstrip", "_single_word", "content", "special")

    def __init__(
        self,
        content: str | None = None,
        *,
        single_word: bool = False,
        lstrip: bool = False,
        rstrip: bool = False,
        normalized: bool = _AS_SPECIAL_SAYS,
        special: bool = False,
    ) -> None:
        self.content = "" if content is None else checked("content", content, str)
        self._single_word = checked("single_word", single_word, bool)
        self._lstrip = checked("lstrip", lstrip, bool)
        self._rstrip = checked("rstrip", rstrip, bool)
        self.special = checked("special", special, bool)
        self._normalized: bool | None = None
        if normalized is not _AS_SPECIAL_SAYS:
            self._normalized = checked("normalized", normalized, bool)

    @classmethod
    def _of(cls, token: spec.AddedToken) -> AddedToken:
        return cls(token.content, **{flag: getattr(token, flag) for flag in _FLAGS})

    def _as_new(self, special: bool) -> NewToken:
        """Return what is added to a tokenizer."""
        values = {**self._values(), "special": special or self.special}
        return NewToken(**values | {"normalized": self._normalized})

    @property
    def single_word(self) -> bool:
        """Whether a match inside a word is none."""
        return self._single_word

    @property
    def lstrip(self) -> bool:
        """Whether a match takes the white space before it."""
        return self._lstrip

    @property
    def rstrip(self) -> bool:
        """Whether a match takes the white space behind it."""
        return self._rstrip

    @property
    def normalized(self) -> bool:
        """Whether it is looked for in the normalized text."""
        return not self.special if self._normalized is None else self._normalized

    def _values(self) -> dict[str, Any]:
        return {"content": self.content, **{flag: getattr(self, flag) for flag in _FLAGS}}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AddedToken):
            return NotImplemented
        return self._values() == other._values()

    def _is_below(self, other: object) -> bool:
        # The reference has an order in which no token is before or behind another: sorting keeps
        # the order that is there.
        return False if isinstance(other, AddedToken) else NotImplemented

    __lt__ = __le__ = __gt__ = __ge__ = _is_below

    def __hash__(self) -> int:
        return hash(self.content)

    def __getstate__(self) -> dict[str, Any]:
        return self._values()

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_values, (self._values(),)

    def __str__(self) -> str:
        return self.content

    def __repr__(self) -> str:
        flags = ", ".join(f"{flag}={getattr(self, flag)}" for flag in _FLAGS)
        return f'AddedToken("{self.content}", {flags})'


def _from_values(values: dict[str, Any]) -> AddedToken:
    return AddedToken(**values)


def new_token(token: object, special: bool) -> NewToken:
    """Return what ``add_tokens`` or ``add_special_tokens`` was given as a token."""
    if isinstance(token, str):
        return NewToken(token, special=special)
    if not isinstance(token, AddedToken):
        raise TypeError(f"tokens: expected str or AddedToken, got {short_repr(token)}")
    return token._as_new(special)
