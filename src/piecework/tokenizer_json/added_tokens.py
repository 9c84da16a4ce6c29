"""The added tokens of a tokenizer.json: read, checked and written, thousands of them as well.

In goes the array of the file, out come :class:`~piecework.spec.AddedToken` with the ids that the
reference hands out, and back. What they do to a text is none of its business.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NoReturn

from piecework.errors import VocabularyWarning, warn
from piecework.json_part import Part
from piecework.spec import AddedToken
from piecework.vocabulary import Vocabulary

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_FIELDS = ("id", "content", *FLAGS)
_TYPES = (int, str, *[bool] * len(FLAGS))
_fields_of = itemgetter(*_FIELDS)
_KEY = "added_tokens"


def read_added_tokens(document: Part, vocabulary: Vocabulary) -> tuple[AddedToken, ...]:
    """Return the added tokens of a file, in its order.

    An empty content is passed over. Of a content that occurs several times the flags of the last
    one count; it is special if any of them is, as decoding and ``split_special_tokens`` see it.

    Raises
    ------
    UnsupportedTokenizerError
        The file gives a token another id than the reference does, or two of them have one.
    ValueError
        A field is missing or of a wrong type.
    """
    found: dict[str, AddedToken] = {}
    owners: dict[int, str] = {}
    number = _Numbering(vocabulary)
    for index, value in enumerate(document.field(_KEY, list, [])):
        token = _read_token(document, index, value)
        content = token.content
        if not content:
            continue
        if before := found.get(content):
            token = replace(token, special=token.special or before.special)
        found[content] = token
        expected = number(content)
        if token.id != expected:
            _part(document, index).unsupported(
                "id", f"{expected} (the id that the tokenizers library gives it)"
            )
        if owners.setdefault(expected, content) != content:
            # 0.23.3 then looks for the last of them only, and 1.0.0rc3 for the first.
            _part(document, index).unsupported(
                "id", f"an id of its own ({owners[expected]!r} has this one too)"
            )
    tokens = tuple(found.values())
    _warn_of_taken_ids(tokens, vocabulary, document.name(_KEY))
    return tokens


def _read_token(document: Part, index: int, value: Any) -> AddedToken:
    """Return a token; without a Part for each, of which 20,000 take long."""
    try:
        fields = _fields_of(value)
    except (KeyError, TypeError):
        fields = ()
    if tuple(map(type, fields)) != _TYPES:
        _report(document, index)
    id_, content, single_word, lstrip, rstrip, normalized, special = fields
    return AddedToken(content, id_, special, normalized, lstrip, rstrip, single_word)


def _report(document: Part, index: int) -> NoReturn:
    part = _part(document, index)
    for name, kind in zip(_FIELDS, _TYPES, strict=True):
        part.field(name, kind)
    raise AssertionError(f"{part.path}: expected a fault in it")


def _part(document: Part, index: int) -> Part:
    return document.elements(_KEY).part(f"{_KEY}[{index}]")


class _Numbering:
    """The ids that the reference gives to added tokens, whatever their file says.

    A content of the vocabulary keeps its id. The others are numbered in order from the *count* of
    entries, which is below the highest id + 1 when ids have gaps: ids of entries, added or not, do
    not move that number.

    Examples
    --------
    >>> number = _Numbering(Vocabulary({"[UNK]": 0, "a": 5}))
    >>> [number(content) for content in ("<x>", "a", "<y>", "<x>")]
    [2, 5, 3, 2]
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._known = vocabulary.ids
        self._new: dict[str, int] = {}

    def __call__(self, content: str) -> int:
        id_ = self._known.get(content)
        if id_ is None:
            id_ = self._new.setdefault(content, len(self._known) + len(self._new))
        return id_


def check_handed_out(vocabulary: Vocabulary, tokens: Sequence[AddedToken]) -> None:
    """Raise ValueError for tokens, in the order of their ids, that no tokenizer.json can hold."""
    number = _Numbering(vocabulary)
    owners: dict[int, str] = {}
    for token in tokens:
        expected = number(token.content)
        if token.id != expected:
            raise ValueError(
                f"added token {token.content!r} has id {token.id}, but a tokenizer.json can't say "
                f"so: the tokenizers library would give it {expected}"
            )
        if (owner := owners.setdefault(token.id, token.content)) != token.content:
            raise ValueError(
                f"added tokens {owner!r} and {token.content!r} both have id {token.id}: the "
                "tokenizers library would look for one of them only"
            )


def added_tokens_text(tokens: Sequence[AddedToken], indent: str) -> str:
    """Return the array of a file, laid out as json does it with an indent of two spaces.

    With an indent json encodes in Python, which takes long for thousands of tokens.

    Examples
    --------
    >>> added_tokens_text([AddedToken("[X]", 7)], "") == json.dumps(
    ...     [{"id": 7, "content": "[X]", "single_word": False, "lstrip": False, "rstrip": False,
    ...       "normalized": False, "special": True}], indent=2)
    True
    """
    if not tokens:
        return "[]"
    row = ",".join(f'\n{indent}    "{name}": %s' for name in _FIELDS)
    words = {False: "false", True: "true"}
    objects = (
        row
        % (
            token.id,
            json.dumps(token.content, ensure_ascii=False),
            *(words[getattr(token, flag)] for flag in FLAGS),
        )
        for token in tokens
    )
    joined = ",".join(f"\n{indent}  {{{fields}\n{indent}  }}" for fields in objects)
    return f"[{joined}\n{indent}]"


def _warn_of_taken_ids(tokens: Sequence[AddedToken], vocabulary: Vocabulary, name: str) -> None:
    """Warn of a token whose id a token of the vocabulary has too: ids with gaps, or shared ones."""
    every = vocabulary.n_ids < len(vocabulary.ids)
    for token in tokens:
        # Without gaps no new id is below the size; tokens_by_id takes its time.
        if token.id >= vocabulary.size or not (every or token.content not in vocabulary.ids):
            continue
        if (other := vocabulary.tokens_by_id.get(token.id)) not in (None, token.content):
            warn(
                f"{name}: {token.id} is the id of {other!r} in model.vocab too; it decodes to "
                f"{token.content!r}, as in the tokenizers library",
                VocabularyWarning,
            )
