"""tokenizer.json: Hugging Face's one-file format, read into a TokenizerSpec and written from one.

In goes a path or the text itself, out comes a :class:`~piecework.spec.TokenizerSpec`, and back.
What piecework would not reproduce exactly is refused with the component's path in the file; nothing
is approximated, and truncation and padding that a file switches on are kept, not applied.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from piecework._vocab import scan_ids
from piecework.errors import (
    TokenizerFileWarning,
    UnsupportedTokenizerError,
    VocabularyWarning,
    warn,
)
from piecework.rules import RULE_SET_NAMES
from piecework.spec import MAX_LIMIT, Template, TokenizerSpec
from piecework.vocabulary import (
    Vocabulary,
    checked_ids,
    checked_path,
    first_gap,
    read_utf8,
    write_atomically,
)

_TOP_LEVEL_KEYS = {
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
}
# The flags of an added token, as a plain special token has them.
PLAIN_SPECIAL = {
    "single_word": False,
    "lstrip": False,
    "rstrip": False,
    "normalized": False,
    "special": True,
}
_N_CHARS_SHOWN = 80
_BOM = "\ufeff"
# In JSON this is always a key: a quotation mark in a string has a backslash before it.
_VOCAB = re.compile(r'(?<!\\)"vocab"\s*:\s*(?=\{)')
_JSON_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a bool", int: "an int"}
# The key inside "model" for what Hugging Face has no place for. It ignores unknown keys there, and
# refuses a file with an unknown key at the top level.
_OWN_KEY = "piecework"
_OWN_KEYS = {"rules", "shadowed", "truncation", "padding", "adds_special"}


def read_tokenizer_json(source: str | os.PathLike[str]) -> TokenizerSpec:
    """Read a tokenizer.json.

    Parameters
    ----------
    source : str or PathLike
        A path, or the text itself: a str that starts with ``{``.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
    TypeError
        For a source that is neither.
    UnsupportedTokenizerError
        For a component that is not WordPiece with BERT's parts, naming it and its path in the file.
    ValueError
        For a file that is malformed, naming the place. Ids must be below 2**28.

    Warns
    -----
    TokenizerFileWarning
        The file switches on truncation or padding.
    VocabularyWarning
        Ids have gaps, or several tokens have one id: each encodes to it, and it decodes to the
        first of them in the file.

    Examples
    --------
    >>> spec = read_tokenizer_json('''{
    ...     "normalizer": {"type": "BertNormalizer", "clean_text": true, "lowercase": false,
    ...                    "handle_chinese_chars": true, "strip_accents": null},
    ...     "pre_tokenizer": {"type": "BertPreTokenizer"},
    ...     "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    ...               "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "##b": 2}}
    ... }''')
    >>> spec.vocabulary.ids, spec.lowercase
    ({'[UNK]': 0, 'a': 1, '##b': 2}, False)
    """
    # With a byte order mark it is no JSON, and the message says so.
    if isinstance(source, str) and source.lstrip(_BOM + " \t\r\n").startswith("{"):
        return from_json(source, "<text>")
    path = checked_path(source, "tokenizer_json")
    return from_json(read_utf8(path), os.fspath(source))


def write_tokenizer_json(spec: TokenizerSpec, path: str | os.PathLike[str]) -> None:
    """Write a tokenizer.json that Hugging Face loads to the same ids.

    The file appears whole or not at all.

    Raises
    ------
    ValueError
        For a special token whose id Hugging Face would not hand out again.
    """
    write_atomically(path, to_json(spec).encode("utf-8"))


def from_json(text: str, source: str) -> TokenizerSpec:
    """Read the text of a tokenizer.json; `source` names it in messages."""
    document = parse_json(text, source)
    model = _model_part(document)  # first: a tokenizer of another kind differs in the rest too
    if unknown := sorted(document.value.keys() - _TOP_LEVEL_KEYS):
        raise ValueError(f"{source}: unknown key {unknown[0]!r} at the top level")
    if document.field("version", str, "1.0") != "1.0":
        document.unsupported("version", "'1.0'")
    normalizer = document.component("normalizer", "BertNormalizer")
    document.component("pre_tokenizer", "BertPreTokenizer")
    own = _own_keys(model)
    vocabulary = _read_vocabulary(model, own, text)
    unk_token = _read_unk_token(model, vocabulary)
    special_tokens = _read_added_tokens(document, vocabulary)
    truncation, padding = _read_call_options(document, own)
    return TokenizerSpec(
        vocabulary=vocabulary,
        unk_token=unk_token,
        prefix=model.field("continuing_subword_prefix", str),
        max_input_chars_per_word=_read_limit(model),
        lowercase=normalizer.field("lowercase", bool),
        strip_accents=normalizer.optional("strip_accents", bool),
        clean_text=normalizer.field("clean_text", bool),
        handle_chinese_chars=normalizer.field("handle_chinese_chars", bool),
        rules=own.field("rules", str, "huggingface"),
        special_tokens=special_tokens,
        template=_read_template(document, vocabulary, special_tokens)
        if own.field("adds_special", bool, True)
        else None,
        decoder=_read_decoder(document),
        file_truncation=truncation,
        file_padding=padding,
    )


def to_json(spec: TokenizerSpec) -> str:
    """Return the text of the tokenizer.json of a spec; equal specs give equal texts."""
    _check_handed_out(spec)
    model: dict[str, Any] = {
        "type": "WordPiece",
        "unk_token": spec.unk_token,
        "continuing_subword_prefix": spec.prefix,
        "max_input_chars_per_word": spec.max_input_chars_per_word,
    }
    if own := _own_part(spec):
        model[_OWN_KEY] = own
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": id_, "content": content, **PLAIN_SPECIAL}
            for content, id_ in _by_id(spec.special_tokens)
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": spec.clean_text,
            "handle_chinese_chars": spec.handle_chinese_chars,
            "strip_accents": spec.strip_accents,
            "lowercase": spec.lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _post_processor(spec.template),
        "decoder": spec.decoder,
        "model": {**model, "vocab": {}},
    }
    # With an indent, json encodes in Python: some 5 times slower. The vocabulary is the last thing
    # in the file, so it goes between the braces of the empty one, encoded in C, one entry a line.
    text = json.dumps(document, ensure_ascii=False, indent=2)
    end = "}\n  }\n}"
    vocab = json.dumps(
        dict(_by_id(spec.vocabulary.ids)), ensure_ascii=False, separators=(",\n      ", ": ")
    )
    return f"{text.removesuffix(end)}\n      {vocab[1:-1]}\n    {end}\n"


@dataclass(frozen=True)
class Part:
    """An object of a JSON file, with what its error messages need: where it is."""

    value: Mapping[str, Any]
    path: str
    source: str

    def name(self, key: str) -> str:
        """Return the file and the path of a value in it."""
        place = f"{self.path}.{key}" if self.path else key
        return f"{self.source}: {place}"

    def field(self, key: str, kind: type, default: Any = None) -> Any:
        """Return a value that must be of a type, and present unless there is a default."""
        value = self.value.get(key, default)
        if value is None and key not in self.value:
            raise ValueError(f"{self.name(key)} is missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.malformed(key, _JSON_NAMES[kind])
        return value

    def optional(self, key: str, kind: type) -> Any:
        """Return a value that may be null or missing (then None)."""
        return None if self.value.get(key) is None else self.field(key, kind)

    def part(self, key: str, default: Mapping[str, Any] | None = None) -> Part:
        """Return an object in this one."""
        place = f"{self.path}.{key}" if self.path else key
        return Part(self.field(key, dict, default), place, self.source)

    def elements(self, key: str) -> Part:
        """Return an array in this one, by keys such as ``key[0]``; a missing one is empty."""
        values = {f"{key}[{i}]": value for i, value in enumerate(self.field(key, list, []))}
        return Part(values, self.path, self.source)

    def parts(self, key: str) -> list[Part]:
        """Return the objects of an array in this one; a missing array is an empty one."""
        elements = self.elements(key)
        return [elements.part(name) for name in elements.value]

    def component(self, key: str, type_: str) -> Part:
        """Return a component that must be there and say that it is of a type."""
        if self.value.get(key) is None:
            self.unsupported(key, type_)
        part = self.part(key)
        if part.value.get("type") != type_:
            part.unsupported("type", repr(type_))
        return part

    def unsupported(self, key: str, expected: str) -> NoReturn:
        """Raise because the value may be valid, and is not what piecework can reproduce."""
        raise UnsupportedTokenizerError(self._mismatch(key, expected))

    def malformed(self, key: str, expected: str) -> NoReturn:
        """Raise because the value makes the file no tokenizer.json."""
        raise ValueError(self._mismatch(key, expected))

    def _mismatch(self, key: str, expected: str) -> str:
        came = shown(self.value[key]) if key in self.value else "nothing"
        return f"{self.name(key)}: expected {expected}, got {came}"


def shown(value: object) -> str:
    """Return a value as JSON spells it, cut to the length that a message can bear."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _N_CHARS_SHOWN else f"{text[:_N_CHARS_SHOWN]}…"


def check_plain(token: Part, defaults: Mapping[str, bool]) -> None:
    """Raise for an added token with flags that are not those of a plain special one."""
    for flag, plain in PLAIN_SPECIAL.items():
        if token.field(flag, bool, defaults.get(flag)) is not plain:
            token.unsupported(flag, f"{shown(plain)} (a plain special token)")


def parse_json(text: str, source: str) -> Part:
    """Return the object that a JSON text holds; ValueError with the place for what is no JSON."""
    if text.startswith(_BOM):
        raise ValueError(f"{source}: invalid JSON: it begins with a byte order mark (U+FEFF)")

    try:
        document = _load_json(text)
    except ValueError as error:
        raise ValueError(f"{source}: invalid JSON: {error}") from error
    except RecursionError:
        raise ValueError(f"{source}: invalid JSON: nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError(f"{source}: expected a JSON object, got {shown(document)}")
    _check_encodable(document, source)
    return Part(document, "", source)


def _load_json(text: str) -> Any:
    """Return what a JSON text holds, as json does; in half the time if it holds a vocabulary."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no JSON")

    try:
        document = _load_around_vocab(text)
    except (ValueError, IndexError):
        document = None  # malformed; the message is to name the place in the whole text
    return json.loads(text, parse_constant=refuse) if document is None else document


def _load_around_vocab(text: str) -> Any:
    """Return what a JSON text holds; None, if it has to be read in the usual way.

    Raises
    ------
    ValueError, IndexError
        For what is no JSON.
    """
    found = _VOCAB.search(text)
    scanned = scan_ids(text, found.end()) if found else None
    if not found or not scanned:
        return None
    vocab, stop = scanned
    # In its place json sees a NaN, which JSON does not have, and asks for the value.
    values = [vocab]
    rest = f"{text[: found.end()]}NaN{text[stop:]}"
    return json.loads(rest, parse_constant=lambda _: values.pop())


def _check_encodable(document: Mapping[str, Any], source: str) -> None:
    """Raise for a lone surrogate, which JSON can spell and UTF-8 can't hold (vocab: see there)."""
    rest = dict(document)
    if isinstance(model := rest.get("model"), dict):
        rest["model"] = {key: value for key, value in model.items() if key != "vocab"}
    try:
        json.dumps(rest, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = error.object[max(0, error.start - 20) : error.start + 1]
        raise ValueError(f"{source}: lone surrogate at the end of {bad!r}") from None


def _model_part(document: Part) -> Part:
    model = document.part("model")
    # Without a type the reference looks at the keys: what has these two is a WordPiece, and what
    # lacks one of them is a WordLevel, which looks up whole words.
    untyped = {"continuing_subword_prefix", "max_input_chars_per_word"} <= model.value.keys()
    if model.value.get("type") != "WordPiece" and ("type" in model.value or not untyped):
        model.unsupported("type", "'WordPiece'")
    return model


def _own_keys(model: Part) -> Part:
    own = model.part(_OWN_KEY, {})
    if unknown := sorted(own.value.keys() - _OWN_KEYS):
        own.unsupported(unknown[0], "a key that this version of piecework knows")
    if own.field("rules", str, "huggingface") not in RULE_SET_NAMES:
        own.unsupported("rules", f"one of {', '.join(map(repr, RULE_SET_NAMES))}")
    return own


def _read_vocabulary(model: Part, own: Part, text: str) -> Vocabulary:
    name, vocab = model.name("vocab"), model.field("vocab", dict)
    if not vocab:
        raise ValueError(f"{name}: expected tokens, got an empty object")
    ids = checked_ids(vocab, name)
    shadowed = _read_shadowed(own, ids)
    vocabulary = Vocabulary(ids, shadowed, model.source)
    if vocabulary.n_ids < len(ids):
        _warn_of_shared_ids(vocabulary, name)
    if vocabulary.n_ids + len(shadowed) < vocabulary.size:
        _warn_of_gaps(vocabulary, name, text)
    return vocabulary


def _read_shadowed(own: Part, ids: Mapping[str, int]) -> dict[int, str]:
    pairs = own.field("shadowed", list, [])
    taken = set(ids.values()) if pairs else set()
    shadowed: dict[int, str] = {}
    for pair in pairs:
        match pair:
            case [id_, str(token)] if (
                type(id_) is int and id_ not in taken and 0 <= id_ < ids.get(token, -1)
            ):
                shadowed[id_] = token
            case _:
                raise ValueError(
                    f"{own.name('shadowed')}: expected a free id and a token of model.vocab with a "
                    f"higher one, got {shown(pair)}"
                )
    return shadowed


def _read_unk_token(model: Part, vocabulary: Vocabulary) -> str:
    unk_token: str = model.field("unk_token", str)
    if unk_token not in vocabulary.ids:
        raise ValueError(f"{model.name('unk_token')}: {unk_token!r} is not in model.vocab")
    return unk_token


def _read_limit(model: Part) -> int:
    limit: int = model.field("max_input_chars_per_word", int)
    if not 1 <= limit <= MAX_LIMIT:
        model.malformed("max_input_chars_per_word", "an integer from 1 to 2**64 - 1")
    return limit


def _read_added_tokens(document: Part, vocabulary: Vocabulary) -> dict[str, int]:
    tokens = document.parts("added_tokens")
    for token in tokens:
        token.field("id", int)
        token.field("content", str)
        check_plain(token, {})
    tokens = [token for token in tokens if token.value["content"]]  # as the reference does
    handed_out = _handed_out(vocabulary, [token.value["content"] for token in tokens])
    owners: dict[int, str] = {}
    for token in tokens:
        content, expected = token.value["content"], handed_out[token.value["content"]]
        if token.value["id"] != expected:
            token.unsupported("id", f"{expected} (the id that the tokenizers library gives it)")
        if (owner := owners.setdefault(expected, content)) != content:
            # 0.23.3 then looks for the last of them only, and 1.0.0rc3 for the first.
            token.unsupported("id", f"an id of its own ({owner!r} has this one too)")
        _warn_of_taken_id(token, vocabulary)
    return handed_out


def _handed_out(vocabulary: Vocabulary, contents: Iterable[str]) -> dict[str, int]:
    """Return the ids that the reference gives to added tokens, whatever their file says.

    A content of the vocabulary keeps its id. The others are numbered in order from the *count* of
    entries, which is below the highest id + 1 when ids have gaps: ids of entries, added or not, do
    not move that number.
    """
    ids: dict[str, int] = {}
    following = len(vocabulary.ids)
    for content in dict.fromkeys(contents):
        ids[content] = vocabulary.ids.get(content, following)
        following += content not in vocabulary.ids
    return ids


def _check_handed_out(spec: TokenizerSpec) -> None:
    by_id = _by_id(spec.special_tokens)
    handed_out = _handed_out(spec.vocabulary, [content for content, _ in by_id])
    owners: dict[int, str] = {}
    for content, id_ in by_id:
        if id_ != handed_out[content]:
            raise ValueError(
                f"special token {content!r} has id {id_}, but a tokenizer.json can't say so: "
                f"the tokenizers library would give it {handed_out[content]}"
            )
        if (owner := owners.setdefault(id_, content)) != content:
            raise ValueError(
                f"special tokens {owner!r} and {content!r} both have id {id_}: the tokenizers "
                "library would look for one of them only"
            )


def _read_template(
    document: Part, vocabulary: Vocabulary, special_tokens: Mapping[str, int]
) -> Template:
    if document.value.get("post_processor") is None:
        return Template((), ())
    part = document.part("post_processor")
    if part.value.get("type") == "TemplateProcessing":
        before, after = _read_single(part)
    elif part.value.get("type") == "BertProcessing":
        before, after = (_read_pair(part, "cls"),), (_read_pair(part, "sep"),)
    else:
        part.unsupported("type", "'TemplateProcessing' or 'BertProcessing'")
    size = max(vocabulary.size, *(id_ + 1 for id_ in special_tokens.values()), 0)
    for token, id_ in before + after:
        if not 0 <= id_ < size:
            raise ValueError(
                f"{part.source}: post_processor: expected ids from 0 to {size - 1}, "
                f"got {id_} for {token!r}"
            )
    made_anew = _post_processor(Template(before, after))
    return Template(before, after, None if part.value == made_anew else part.value)


def _read_single(part: Part) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """Return what stands before and after ``$A`` in a template's form for one text."""
    sides: list[list[tuple[str, int]]] = [[]]
    for index, piece in enumerate(part.field("single", list)):
        match piece:
            case {"SpecialToken": {"id": str(token), "type_id": 0}}:
                sides[-1] += _read_special_token(part.part("special_tokens"), token)
            case {"Sequence": {"id": "A", "type_id": 0}} if len(sides) == 1:
                sides.append([])
            case _:
                part.unsupported(
                    "single",
                    "special tokens, the text once, special tokens, all of type 0 "
                    f"(see piece {index})",
                )
    if len(sides) != 2:
        part.unsupported("single", "a form with the text ($A) in it")
    part.field("pair", list)
    return tuple(sides[0]), tuple(sides[1])


def _read_special_token(definitions: Part, token: str) -> list[tuple[str, int]]:
    definition = definitions.part(token)
    tokens, ids = definition.field("tokens", list), definition.field("ids", list)
    if len(tokens) != len(ids) or {*map(type, tokens)} != {str} or {*map(type, ids)} != {int}:
        raise ValueError(
            f"{definitions.name(token)}: expected as many tokens as ids, got "
            f"{shown(tokens)} and {shown(ids)}"
        )
    return list(zip(tokens, ids, strict=True))


def _read_pair(part: Part, key: str) -> tuple[str, int]:
    match part.field(key, list):
        case [str(token), int(id_)] if not isinstance(id_, bool):
            return token, id_
        case other:
            raise ValueError(f"{part.name(key)}: expected [token, id], got {shown(other)}")


def _read_decoder(document: Part) -> dict[str, Any] | None:
    if document.value.get("decoder") is None:
        return None
    part = document.part("decoder")
    if part.value.get("type", "WordPiece") != "WordPiece":
        part.unsupported("type", "'WordPiece'")
    prefix, cleanup = part.field("prefix", str), part.field("cleanup", bool)
    return {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup}


def _read_call_options(document: Part, own: Part) -> tuple[Any, Any]:
    """Return truncation and padding; warn of those that the reference would apply."""
    found = {key: document.optional(key, dict) for key in ("truncation", "padding")}
    if found["truncation"] is not None:
        _check_truncation(document.part("truncation"))
    if found["padding"] is not None:
        _check_padding(document.part("padding"))
    if switched_on := [key for key, value in found.items() if value is not None]:
        details = " and ".join(f"{key} {json.dumps(found[key])}" for key in switched_on)
        warn(
            f"{document.source} switches on {details}; piecework does not apply that, and keeps it "
            f"as {' and '.join(f'file_{key}' for key in switched_on)}",
            TokenizerFileWarning,
        )
    kept = {key: own.optional(key, dict) for key in found}
    return tuple(kept[key] if found[key] is None else found[key] for key in found)


def _check_truncation(part: Part) -> None:
    part.field("max_length", int)
    part.field("stride", int)
    if part.field("strategy", str) not in ("LongestFirst", "OnlyFirst", "OnlySecond"):
        part.malformed("strategy", "LongestFirst, OnlyFirst or OnlySecond")
    _check_direction(part, "Right")


def _check_padding(part: Part) -> None:
    match part.value.get("strategy"):
        case "BatchLongest" | {"Fixed": int()}:
            pass
        case _:
            part.malformed("strategy", 'BatchLongest or {"Fixed": length}')
    part.field("pad_id", int)
    part.field("pad_type_id", int)
    part.field("pad_token", str)
    part.optional("pad_to_multiple_of", int)
    _check_direction(part)


def _check_direction(part: Part, default: str | None = None) -> None:
    if part.field("direction", str, default) not in ("Left", "Right"):
        part.malformed("direction", "Left or Right")


def _own_part(spec: TokenizerSpec) -> dict[str, Any]:
    own = {
        "rules": None if spec.rules == "huggingface" else spec.rules,
        "shadowed": [[id_, token] for id_, token in sorted(spec.vocabulary.shadowed.items())],
        "truncation": spec.file_truncation,
        "padding": spec.file_padding,
        "adds_special": False if spec.template is None else None,
    }
    return {key: value for key, value in own.items() if value is not None and value != []}


def _post_processor(template: Template | None) -> Mapping[str, Any] | None:
    """Return the file's own post-processor, or BERT's template with its pair form."""
    if template is None:
        return None
    if template.post_processor is not None:
        return template.post_processor
    if not template.before and not template.after:
        return None

    def special(tokens: tuple[tuple[str, int], ...], type_id: int) -> list[dict[str, Any]]:
        return [{"SpecialToken": {"id": token, "type_id": type_id}} for token, _ in tokens]

    text_a, text_b = ({"Sequence": {"id": id_, "type_id": t}} for id_, t in (("A", 0), ("B", 1)))
    single = [*special(template.before, 0), text_a, *special(template.after, 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, text_b, *special(template.after, 1)],
        "special_tokens": {
            token: {"id": token, "ids": [id_], "tokens": [token]}
            for token, id_ in template.before + template.after
        },
    }


def _by_id(ids: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(ids.items(), key=lambda item: item[1])


def _warn_of_taken_id(token: Part, vocabulary: Vocabulary) -> None:
    content, id_ = token.value["content"], token.value["id"]
    if content in vocabulary.ids and vocabulary.n_ids == len(vocabulary.ids):
        return  # tokens_by_id takes its time
    if (other := vocabulary.tokens_by_id.get(id_)) not in (None, content):
        warn(
            f"{token.name('id')}: {id_} is the id of {other!r} in model.vocab too; it decodes to "
            f"{content!r}, as in the tokenizers library",
            VocabularyWarning,
        )


def _warn_of_shared_ids(vocabulary: Vocabulary, name: str) -> None:
    ids, tokens_by_id = vocabulary.ids, vocabulary.tokens_by_id
    shared = [token for token, id_ in ids.items() if tokens_by_id[id_] != token]
    first = tokens_by_id[ids[shared[0]]]
    warn(
        f"{name}: {len(shared)} token(s) have the id of an earlier one, such as {shared[0]!r}, "
        f"which has that of {first!r} ({ids[shared[0]]}); an id decodes to the first that has it",
        VocabularyWarning,
    )


def _warn_of_gaps(vocabulary: Vocabulary, name: str, text: str) -> None:
    """Warn that ids are missing, and of keys that the text repeats, which is one cause of it."""
    used = vocabulary.tokens_by_id.keys() | vocabulary.shadowed.keys()
    message = (
        f"{name}: {vocabulary.size - len(used):,} ids below {vocabulary.size:,} have no token, "
        f"such as {first_gap(used)}"
    )
    if repeated := _repeated_vocab_keys(text):
        message += f"; {len(repeated)} key(s) occur twice, and the last one holds: {repeated[:3]}"
    warn(message, VocabularyWarning)


def _repeated_vocab_keys(text: str) -> list[str]:
    # A hook costs a quarter of the load or more, so keys are looked at only when ids are missing.
    objects: list[tuple[dict[str, Any], list[tuple[str, Any]]]] = []

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        objects.append((dict(pairs), pairs))
        return objects[-1][0]

    vocab = json.loads(text, object_pairs_hook=hook)["model"]["vocab"]
    pairs = next(pairs for value, pairs in objects if value is vocab)
    return [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
