"""The five parts of a tokenizer, to be looked at and called: they describe, and can't be replaced.

Each shows the options that a tokenizer.json has for it as attributes, and has the methods that
people call. The tokenizer of piecework is made of its file, not of these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

from piecework.compat.tokenizers.arguments import U32, checked, checked_sequence, unsigned
from piecework.compat.tokenizers.behind import Behind
from piecework.compat.tokenizers.encoding import Encoding
from piecework.compat.tokenizers.post_process import put_together
from piecework.decoding.steps import decoder_step


class Token(NamedTuple):
    """A piece of a word, with its place in the word's UTF-8."""

    id: int
    value: str
    offsets: tuple[int, int]

    def as_tuple(self) -> tuple[int, str, tuple[int, int]]:
        """Return id, value and offsets."""
        return self.id, self.value, self.offsets


class Component:
    """A part as its tokenizer.json describes it.

    Parameters
    ----------
    behind : Behind
        The tokenizer that it is part of.
    options : mapping
        The part's object in the file; its keys are attributes.
    """

    __slots__ = ("_behind", "_options")

    _behind: Behind
    _options: Mapping[str, Any]

    def __init__(self, behind: Behind, options: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_behind", behind)
        object.__setattr__(self, "_options", options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._options:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._options[name]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        refuse(f"{type(self).__name__}.{name}")

    def __getstate__(self) -> bytes:
        return json.dumps(self._options, ensure_ascii=False, separators=(",", ":")).encode()

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self).__mro__[1], self._behind, self._options)

    def __repr__(self) -> str:
        options = ", ".join(
            f"{name}={_shown(value)}" for name, value in self._options.items() if name != "type"
        )
        return f"{self._options.get('type', type(self).__name__)}({options})"


class Normalizer(Component):
    """The step that cleans a text."""

    def normalize_str(self, sequence: str) -> str:
        """Return the normalized text."""
        return self._behind.tokenizer.normalize(checked("sequence", sequence, str))


class PreTokenizer(Component):
    """The step that splits a normalized text into words."""

    def pre_tokenize_str(self, sequence: str) -> list[tuple[str, tuple[int, int]]]:
        """Return the words of a text that needs no normalization, with their places in it."""
        return self._behind.pipeline.pre_tokenize(checked("sequence", sequence, str))


class PostProcessor(Component):
    """The step that puts special tokens around texts."""

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens are put around a text or a pair."""
        return self._behind.n_special(checked("is_pair", is_pair, bool))

    def process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return the encoding of a text, or those of a pair, with special tokens."""
        add_special = checked("add_special_tokens", add_special_tokens, bool)
        parts = columns_of(encoding, pair)
        return Encoding._over(put_together(self._behind, parts, None, add_special=add_special))


class Decoder(Component):
    """The step that makes text of tokens."""

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens."""
        strings = [checked("tokens", each, str) for each in checked_sequence("tokens", tokens)]
        return "".join(decoder_step(self._options)(strings))


class Model(Component):
    """WordPiece: a word into pieces of the vocabulary."""

    __slots__ = ()

    def __getstate__(self) -> bytes:
        options = {**self._options, "vocab": self._behind.spec.vocabulary.ids}
        return json.dumps(dict(options), ensure_ascii=False, separators=(",", ":")).encode()

    def tokenize(self, sequence: str) -> list[Token]:
        """Return the pieces of a word, which is taken as it is."""
        tokenizer = self._behind.tokenizer
        names = tokenizer.spec.vocabulary.tokens_by_id
        pieces = [
            (id_, names[id_]) for id_ in tokenizer.wordpiece(checked("sequence", sequence, str))
        ]
        if [id_ for id_, _ in pieces] == [tokenizer.unk_id]:
            return [Token(*pieces[0], (0, len(sequence.encode())))]
        tokens: list[Token] = []
        for id_, name in pieces:
            start = tokens[-1].offsets[1] if tokens else 0
            length = len(name.encode()) - (len(tokenizer.prefix.encode()) if tokens else 0)
            tokens.append(Token(id_, name, (start, start + length)))
        return tokens

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token of the vocabulary; None, if it has no such token."""
        ids = self._behind.spec.vocabulary.ids
        return ids.get(checked("token", token, str))

    def id_to_token(self, id: int) -> str | None:
        """Return the token of the vocabulary that has an id; None, if there is none."""
        return self._behind.spec.vocabulary.tokens_by_id.get(unsigned("id", id, U32))


KINDS: Mapping[str, type[Component]] = {
    "normalizer": Normalizer,
    "pre_tokenizer": PreTokenizer,
    "post_processor": PostProcessor,
    "decoder": Decoder,
    "model": Model,
}


class PartOf:
    """A part as an attribute of a Tokenizer, which can be read and not be set."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tokenizer: Any, owner: type | None = None) -> Any:
        return self if tokenizer is None else component(tokenizer._state.behind, self._name)

    def __set__(self, tokenizer: Any, value: object) -> NoReturn:
        refuse(self._name)


def component(behind: Behind, name: str) -> Any:
    """Return a part of a tokenizer by its name; None, if it has no such part."""
    options = behind.parts[name]
    return None if options is None else _made(KINDS[name], behind, options)


def _made(kind: type[Component], behind: Behind, options: Mapping[str, Any]) -> Component:
    # mypy looks at how instances hash, where it is the class that is hashed.
    return _class_of(kind, options["type"])(behind, options)  # type: ignore[arg-type]


@cache
def _class_of(kind: type[Component], name: str) -> type[Component]:
    """Return the class of a part, which is named as in the reference after the part's type."""
    return type(name, (kind,), {"__slots__": (), "__doc__": kind.__doc__})


def columns_of(encoding: Encoding, pair: Encoding | None) -> tuple[Any, ...]:
    """Return the columns of one encoding or of two."""
    parts = [checked("encoding", encoding, Encoding)]
    if pair is not None:
        parts.append(checked("pair", pair, Encoding))
    return tuple(each._whole() for each in parts)


def refuse(name: str) -> NoReturn:
    """Raise for an assignment to a part."""
    raise AttributeError(
        f"{name} can't be set: the tokenizer behind is made of a tokenizer.json; write what you "
        "need into that (to_str gives the text of this one) and read it with from_str"
    )


def _shown(value: object) -> str:
    # As the reference shows them.
    return f'"{value}"' if isinstance(value, str) else str(value)
