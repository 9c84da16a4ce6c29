"""How added tokens are looked for: which of them by their first character, which by their words.

In go the added tokens of a tokenizer and the character classes of its rules, out comes a
:class:`SearchPlan`, by which :mod:`piecework.encoding` builds the kernel's tables. No text is
looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from piecework.rules.char_classes import KIND_SHIFT, PAGE_SIZE, PAYLOAD_MASK, CharClasses, Kind
from piecework.spec import AddedToken


@dataclass(frozen=True)
class SearchPlan:
    """How the added tokens of a tokenizer are found in a text.

    Attributes
    ----------
    by_start : dict of str to int or None
        Contents that are looked for wherever their first character stands, and their ids. None: a
        text with it has to be split in Python.
    normalized, raw : list of str
        All other contents, which are looked for by the words in them: in normalized text, and as
        they stand. A text that holds one is split in Python.
    """

    by_start: dict[str, int | None]
    normalized: list[str]
    raw: list[str]

    @property
    def by_words(self) -> list[str]:
        """The contents that are looked for by the words in them."""
        return self.normalized + self.raw


def plan_search(
    tokens: Iterable[AddedToken], classes: CharClasses, *, split_special: bool = False
) -> SearchPlan:
    """Say how each added token is to be found.

    Looking at the first character is best where that is rare in texts: one that makes a word by
    itself, as "[" does. It is also the only way where normalization leaves no word of a content.

    Parameters
    ----------
    tokens : iterable of AddedToken
    classes : CharClasses
    split_special : bool
        Special tokens are plain text. No other added token is found inside one, so texts that hold
        one are split in Python.

    Examples
    --------
    >>> from piecework.rules.char_classes import char_classes
    >>> flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    >>> classes = char_classes("huggingface", **dict.fromkeys(flags, True))
    >>> length = AddedToken("10 km", 5, special=False, normalized=True)
    >>> plan_search([AddedToken("[MASK]", 3), AddedToken("cat", 4), length], classes)
    SearchPlan(by_start={'[MASK]': 3}, normalized=['10 km'], raw=['cat'])
    """
    tokens = [token for token in tokens if token.content]
    if split_special and all(token.special for token in tokens):
        tokens = []
    kinds = _Kinds(classes)
    by_start: list[AddedToken] = []
    raw: list[AddedToken] = []
    for token in tokens:
        if not token.normalized:
            (by_start if _is_by_start(token.content, kinds) else raw).append(token)
    # A raw content that begins before one of these may reach into it, and would come first.
    starts = {token.content[0] for token in by_start}
    is_reached = any(not starts.isdisjoint(token.content[1:]) for token in raw)
    return SearchPlan(
        by_start={
            token.content: token.id
            if token.is_plain and not (is_reached or (split_special and token.special))
            else None
            for token in by_start
        },
        normalized=[token.content for token in tokens if token.normalized],
        raw=[token.content for token in raw],
    )


def normal_chars(contents: Iterable[str], classes: CharClasses) -> dict[str, bool]:
    """Return the characters of the normalized contents: whether each is isolated.

    Examples
    --------
    >>> from piecework.rules.char_classes import char_classes
    >>> flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    >>> classes = char_classes("huggingface", **dict.fromkeys(flags, True))
    >>> normal_chars(["Été", "a b.", "É"], classes)
    {'.': True, 'a': False, 'b': False, 't': False, 'e': False}
    """
    chars = {}
    for ch in sorted(set("".join(contents))):
        entry = _entry(classes, ch)
        kind, payload = entry >> KIND_SHIFT, entry & PAYLOAD_MASK
        if kind in (Kind.LETTER, Kind.ISOLATED):
            chars[chr((ord(ch) + payload) & PAYLOAD_MASK)] = kind == Kind.ISOLATED
        elif kind in (Kind.EXPAND, Kind.CONTEXT):
            run = classes.runs[payload + 1 : payload + 1 + classes.runs[payload]]
            chars.update(dict.fromkeys(map(chr, run), False))
    return chars


class _Kinds(dict[str, int]):
    """The kind of each character, computed when it is first asked for."""

    def __init__(self, classes: CharClasses) -> None:
        super().__init__()
        self._classes = classes

    def __missing__(self, ch: str) -> int:
        kind = self[ch] = _entry(self._classes, ch) >> KIND_SHIFT
        return kind


def _entry(classes: CharClasses, ch: str) -> int:
    page, place = divmod(ord(ch), PAGE_SIZE)
    return int(classes.pages[classes.page_index[page], place])


def _is_by_start(content: str, kinds: _Kinds) -> bool:
    first = kinds[content[0]]
    if first not in (Kind.DROP, Kind.SPACE):
        return first == Kind.ISOLATED
    return all(kinds[ch] in (Kind.DROP, Kind.SPACE) for ch in content)
