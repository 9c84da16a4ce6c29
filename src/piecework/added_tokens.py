"""Adding tokens to a tokenizer: a spec and new tokens give another spec.

In go a :class:`~piecework.spec.TokenizerSpec` and texts, with flags or without, out comes a spec
that has them too; the first one stays as it is. What added tokens do to a text is the business of
others, and so is what a file can hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from piecework.errors import short_repr
from piecework.protocol import as_flag
from piecework.spec import AddedToken, TokenizerSpec
from piecework.vocabulary import MAX_IDS

_FLAGS = ("single_word", "lstrip", "rstrip")


@dataclass(frozen=True)
class NewToken:
    """A token to be added, with its flags; it gets its id from the tokenizer.

    Attributes
    ----------
    content : str
    single_word : bool
        A match that touches a letter, a digit or an underscore is none.
    lstrip, rstrip : bool
        A match takes the white space before or behind it with it.
    normalized : bool or None
        Its normalized content is looked for in the normalized text; else the content in the text.
        None: unless it is special.
    special : bool
        Left out by ``skip_special`` of decoding, read as plain text by ``split_special_tokens``.
        ``add_special_tokens`` makes every token special.

    Examples
    --------
    >>> NewToken("<x>", lstrip=True)
    NewToken(content='<x>', single_word=False, lstrip=True, rstrip=False, normalized=None, \
special=False)
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool | None = None
    special: bool = False


class TokenLike(Protocol):
    """What has the attributes of a NewToken, such as a ``tokenizers.AddedToken``."""

    @property
    def content(self) -> str: ...  # noqa: D102
    @property
    def single_word(self) -> bool: ...  # noqa: D102
    @property
    def lstrip(self) -> bool: ...  # noqa: D102
    @property
    def rstrip(self) -> bool: ...  # noqa: D102
    @property
    def normalized(self) -> bool | None: ...  # noqa: D102
    @property
    def special(self) -> bool: ...  # noqa: D102


def with_added_tokens(
    spec: TokenizerSpec, tokens: Iterable[str | TokenLike], *, special: bool = False
) -> TokenizerSpec:
    """Return a spec that has more added tokens.

    Parameters
    ----------
    spec : TokenizerSpec
    tokens : iterable of str, NewToken or what is like it
        A str is looked for in the normalized text, or, if `special`, in the text as written. Of
        what has the attributes of a NewToken (a ``tokenizers.AddedToken``) those are taken.
    special : bool
        Make all of them special.

    Returns
    -------
    TokenizerSpec
        `spec` itself if nothing is new: empty contents, and tokens that it has with these flags.
        A content of the vocabulary keeps its id, a new one gets the highest id + 1. A content that
        is an added token already keeps its id and gets the new flags, and once special it stays
        special.

    Raises
    ------
    TypeError
        For what is no iterable of tokens, with the position of what is no token.
    ValueError
        For a lone surrogate in a content, with the position, and for more than 2**28 ids.

    Notes
    -----
    The reference counts new ids from the number of entries, so that they collide with ids of a
    vocabulary that has gaps; these don't.

    Examples
    --------
    >>> from piecework.pretrained import bert_spec
    >>> from piecework.vocabulary import Vocabulary
    >>> spec = bert_spec(Vocabulary.from_mapping({"[UNK]": 0, "a": 1}))
    >>> added = with_added_tokens(spec, ["<x>", NewToken("a", single_word=True), "<x>"])
    >>> [(token.content, token.id, token.normalized) for token in added.added_tokens]
    [('[UNK]', 0, False), ('a', 1, True), ('<x>', 2, True)]
    """
    return _add(spec, tokens, special)[0]


def count_added_tokens(
    spec: TokenizerSpec, tokens: Iterable[str | TokenLike], *, special: bool = False
) -> int:
    """Return how many of the tokens :func:`with_added_tokens` does not pass over.

    The reference's ``add_tokens`` returns that number: those whose flags change are among them.
    """
    return _add(spec, tokens, special)[1]


def _add(
    spec: TokenizerSpec, tokens: Iterable[str | TokenLike], special: bool
) -> tuple[TokenizerSpec, int]:
    added = {token.content: token for token in spec.added_tokens}
    following = spec.vocab_size
    n_added = 0
    for new in _checked(tokens, special):
        before = added.get(new.content)
        id_ = before.id if before else spec.vocabulary.ids.get(new.content, following)
        following += id_ == following
        flags = {flag: getattr(new, flag) for flag in (*_FLAGS, "normalized")}
        is_special = new.special or (before is not None and before.special)
        token = AddedToken(new.content, id_, special=is_special, **flags)
        n_added += token != before
        added[new.content] = token
    if following > MAX_IDS:
        raise ValueError(f"tokens: expected at most {MAX_IDS:,} ids with them, got {following:,}")
    return (replace(spec, added_tokens=tuple(added.values())) if n_added else spec), n_added


def _checked(tokens: Iterable[str | TokenLike], special: bool) -> Iterator[NewToken]:
    """Yield the tokens that have a content, checked and with `normalized` resolved."""
    unordered = isinstance(tokens, (set, frozenset, Mapping))
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable) or unordered:
        raise TypeError(f"tokens: expected a list of tokens, got {short_repr(tokens)}")
    for index, token in enumerate(tokens):
        name = f"tokens[{index}]"
        if isinstance(token, str):
            new = NewToken(token, special=special)
        elif isinstance(getattr(token, "content", None), str):
            new = _of_attributes(token, special, name)
        else:
            raise TypeError(
                f"{name}: expected a str or a token with flags, got {short_repr(token)}"
            )
        try:
            new.content.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(
                f"{name}: expected a text that UTF-8 can hold, got a lone surrogate in "
                f"{short_repr(new.content)}"
            ) from None
        if new.content:
            normalized = not new.special if new.normalized is None else new.normalized
            yield replace(new, content=str.__str__(new.content), normalized=normalized)


def _of_attributes(token: Any, special: bool, name: str) -> NewToken:
    is_special = special or _flag(token, "special", name)
    normalized = None
    if getattr(token, "normalized", None) is not None:
        normalized = _flag(token, "normalized", name)
        if is_special and not token.special:
            normalized = _normalized_as_special(token)
    flags = {flag: _flag(token, flag, name) for flag in _FLAGS}
    return NewToken(token.content, normalized=normalized, special=is_special, **flags)


def _normalized_as_special(token: Any) -> bool:
    """Return whether a token would be normalized if it were special.

    A ``tokenizers.AddedToken`` does not show whether its `normalized` was given or follows from
    its `special`, so that is set for a moment.
    """
    try:
        token.special = True
    except AttributeError:  # frozen: it means what it says
        return bool(token.normalized)
    try:
        return bool(token.normalized)
    finally:
        token.special = False


def _flag(token: Any, flag: str, name: str) -> bool:
    return as_flag(f"{name}.{flag}", getattr(token, flag, None))
