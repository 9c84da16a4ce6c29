"""The files beside a vocab.txt: tokenizer_config.json, special_tokens_map.json, added_tokens.json.

In goes a folder, out come the options and the tokens to add, in the order and with the flags that
transformers 5 gives them to its BertTokenizer. A class or an option that makes it more than BERT's
tokenizer is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from piecework.added_tokens import NewToken
from piecework.errors import TokenizerFileWarning, UnsupportedTokenizerError, warn
from piecework.json_part import Part, parse_json, shown
from piecework.vocabulary import read_utf8

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
# In the order in which they get new ids.
_NAMES = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
_EXTRA, _ADDITIONAL = "extra_special_tokens", "additional_special_tokens"
_FLAGS = ("single_word", "lstrip", "rstrip")

# Classes of transformers that are BERT's tokenizer under another name: basic tokenizer, WordPiece,
# [CLS] $A [SEP].
_BERT_LIKE = (
    "Bert ConvBert DPRContextEncoder DPRQuestionEncoder DistilBert Electra LayoutLM Lxmert "
    "MobileBert RetriBert SqueezeBert"
)
_BERT_CLASSES = {f"{model}Tokenizer" for model in _BERT_LIKE.split()}
# Options of those classes that change ids, with the value that is supported beside null.
_FIXED_OPTIONS = {
    "do_basic_tokenize": True,
    "never_split": [],
    "word_tokenizer_type": "basic",
    "split_special_tokens": False,
}


@dataclass(frozen=True)
class ListedToken:
    """A token to add, and what the file says of it: where it stands and the id that it is to have.

    Attributes
    ----------
    token : NewToken
    name : str
        The file and the path in it.
    id : int or None
    """

    token: NewToken
    name: str
    id: int | None = None

    def check_id(self, given: int) -> None:
        """Raise UnsupportedTokenizerError if it was given another id than it is to have."""
        if self.id not in (None, given):
            raise UnsupportedTokenizerError(
                f"{self.name}: expected id {given} for {self.token.content!r}, got {self.id}"
            )


@dataclass(frozen=True)
class FolderConfig:
    """The configuration of a folder.

    Attributes
    ----------
    config, tokens_map, added : Part
        tokenizer_config.json, and what older folders have in files of their own beside it:
        special_tokens_map.json and added_tokens.json. Empty where there is no such file, and where
        the first one has all in its ``added_tokens_decoder``.
    """

    config: Part
    tokens_map: Part
    added: Part

    @classmethod
    def read(cls, folder: Path) -> FolderConfig:
        """Read what is there; refuse a class or an option that is not BERT's."""
        config = _read_part(folder / "tokenizer_config.json")
        has_all = config.value.get("added_tokens_decoder") is not None
        others = (folder / name for name in ("special_tokens_map.json", "added_tokens.json"))
        folder_config = cls(
            config, *(Part({}, "", str(path)) if has_all else _read_part(path) for path in others)
        )
        if not (folder / "tokenizer_config.json").exists():
            warn(
                f"{folder}: no tokenizer_config.json beside vocab.txt; taken for an uncased BERT "
                "(lowercase=True), as transformers takes it",
                TokenizerFileWarning,
            )
        # Configurations from before classes were named are BERT's.
        class_name = folder_config.option("tokenizer_class", str, "BertTokenizer")
        if class_name.removesuffix("Fast") not in _BERT_CLASSES:
            config.unsupported("tokenizer_class", "BERT's tokenizer")
        for key, only in _FIXED_OPTIONS.items():
            if folder_config.option(key, type(only), only) != only:
                config.unsupported(key, f"{shown(only)} or null")
        return folder_config

    def option(self, key: str, kind: type, default: Any) -> Any:
        """Return an option of a type; one that is null or missing has its default."""
        value = self.config.optional(key, kind)
        return default if value is None else value

    def named_tokens(self) -> dict[str, str | None]:
        """Return the contents of pad_token and so on, None for those that are not there."""
        return {
            name: listed.token.content if listed else None for name, listed in self._named().items()
        }

    def tokens(self) -> list[ListedToken]:
        """Return the tokens to add, in the order in which they get ids.

        First those that the files list with ids, then the named ones and at last the others. A
        named token is special, and has the flags of the list where it is listed.
        """
        named = [*filter(None, self._named().values()), *self._further_named()]
        extra = [*self._extra()]
        with_ids = [*self._with_ids(named, extra)]
        known = {listed.token.content for listed in with_ids}
        # The same content with other flags stays: the flags of the last one count.
        rest = {
            listed.token: listed for listed in (*named, *extra) if listed.token.content not in known
        }
        return [*with_ids, *rest.values()]

    def _part_with(self, key: str) -> Part:
        """Return the file that decides on a token."""
        return self.tokens_map if key in self.tokens_map.value else self.config

    def _named(self) -> dict[str, ListedToken | None]:
        tokens: dict[str, ListedToken | None] = {}
        for key in _NAMES:
            part = self._part_with(key)
            if key in part.value:
                tokens[key] = None if part.value[key] is None else _special(part, key)
            else:
                default = SPECIAL_TOKENS.get(key)
                token = NewToken(default, special=True) if default else None
                tokens[key] = ListedToken(token, key) if token else None
        return tokens

    def _further_named(self) -> Iterator[ListedToken]:
        """Yield the tokens that only some models have, such as image_token."""
        tokens = {
            key: _special(part, key)
            for part in (self.config, self.tokens_map)
            for key, value in part.value.items()
            if key.endswith("_token") and key not in _NAMES and isinstance(value, (str, dict))
        }
        yield from tokens.values()
        for part in (self.config, self.tokens_map):
            if isinstance(part.value.get(_EXTRA), dict):
                extra = part.part(_EXTRA)
                yield from (_special(extra, key) for key in extra.value)

    def _extra(self) -> Iterator[ListedToken]:
        """Yield the special tokens without a name.

        ``additional_special_tokens`` is the old key: it counts where no other array is before it.
        """
        yield from [*_listed(self.config, _EXTRA)] or _listed(self.config, _ADDITIONAL)
        yield from _listed(self.tokens_map, _EXTRA)
        before = ((self.config, _EXTRA), (self.config, _ADDITIONAL), (self.tokens_map, _EXTRA))
        if not any(isinstance(part.value.get(key), list) for part, key in before):
            yield from _listed(self.tokens_map, _ADDITIONAL)

    def _with_ids(
        self, named: list[ListedToken], extra: list[ListedToken]
    ) -> Iterator[ListedToken]:
        """Yield the tokens that have an id in the files, in the order of these."""
        special = {listed.token.content for listed in named}
        if self.option("added_tokens_decoder", dict, None):
            tokens = self.config.part("added_tokens_decoder")
            found = [_of_decoder(tokens, id_, special) for id_ in tokens.value]
        else:
            as_written = {*self._plain_names(), *(listed.token.content for listed in extra)}
            found = [
                _of_added_tokens_json(self.added, content, as_written, special)
                for content in self.added.value
            ]
        yield from sorted(found, key=lambda listed: listed.id or 0)

    def _plain_names(self) -> Iterator[str]:
        """Yield the contents of named tokens that transformers knows before it reads ids.

        Not those that BERT has by default, nor those that tokenizer_config.json gives flags.
        """
        for key in _NAMES:
            listed = self._named()[key]
            if isinstance(self.config.value.get(key), str) or key in self.tokens_map.value:
                yield from (listed.token.content,) if listed else ()


def _listed(part: Part, key: str) -> Iterator[ListedToken]:
    """Yield the special tokens of an array."""
    value = part.value.get(key)
    if value is None or (key == _EXTRA and isinstance(value, dict)):
        return  # an object has names for them
    tokens = part.elements(key)
    yield from (_special(tokens, name) for name in tokens.value)


def _special(part: Part, key: str) -> ListedToken:
    return ListedToken(_token(part, key, special=True), part.name(key))


def _of_decoder(tokens: Part, id_: str, special: set[str]) -> ListedToken:
    if not isinstance(tokens.value[id_], dict):
        tokens.malformed(id_, "a token")
    if not id_.isdecimal():
        raise ValueError(f"{tokens.name(id_)}: expected a key that is an id")
    token = _token(tokens, id_)
    if token.content in special:
        token = replace(token, special=True)
    return ListedToken(token, tokens.name(id_), int(id_))


def _of_added_tokens_json(
    added: Part, content: str, as_written: set[str], special: set[str]
) -> ListedToken:
    """Return a token that has no flags: those that no file names are looked for normalized."""
    token = NewToken(
        content, normalized=content not in as_written, special=content in as_written | special
    )
    return ListedToken(token, added.name(content), added.field(content, int))


def _token(part: Part, key: str, *, special: bool | None = None) -> NewToken:
    """Return a token that is a str or an object with flags."""
    content = part.value[key]
    if isinstance(content, str):
        token = NewToken(content, special=bool(special))
    elif isinstance(content, dict):
        fields = part.part(key)
        flags = {flag: fields.field(flag, bool, False) for flag in _FLAGS}
        token = NewToken(
            fields.field("content", str),
            normalized=fields.optional("normalized", bool),
            special=fields.field("special", bool, False) if special is None else special,
            **flags,
        )
    else:
        part.malformed(key, "a token")
    if not token.content:
        raise ValueError(f"{part.name(key)}: expected a token, got an empty one")
    return token


def _read_part(path: Path) -> Part:
    return parse_json(read_utf8(path) if path.is_file() else "{}", str(path))
