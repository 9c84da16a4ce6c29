"""The model of a tokenizer.json: vocabulary, unk_token, prefix and limit, and piecework's own keys.

In goes the object of the file, out come checked values. Ids that are missing or shared get a
warning.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from piecework.errors import VocabularyWarning, warn
from piecework.json_part import Part, shown
from piecework.rules import RULE_SET_NAMES
from piecework.spec import MAX_LIMIT
from piecework.vocabulary import Vocabulary, checked_ids, first_gap

# The key inside "model" for what Hugging Face has no place for. It ignores unknown keys there, and
# refuses a file with an unknown key at the top level.
OWN_KEY = "piecework"
_OWN_KEYS = {"rules", "shadowed", "truncation", "padding", "adds_special"}


def model_part(document: Part) -> Part:
    """Return the model of a file; raise for another one than WordPiece."""
    model = document.part("model")
    # Without a type the reference looks at the keys: what has these two is a WordPiece, and what
    # lacks one of them is a WordLevel, which looks up whole words.
    untyped = {"continuing_subword_prefix", "max_input_chars_per_word"} <= model.value.keys()
    if model.value.get("type") != "WordPiece" and ("type" in model.value or not untyped):
        model.unsupported("type", "'WordPiece'")
    return model


def own_keys(model: Part) -> Part:
    """Return what only piecework writes, checked; mostly empty."""
    own = model.part(OWN_KEY, {})
    if unknown := sorted(own.value.keys() - _OWN_KEYS):
        own.unsupported(unknown[0], "a key that this version of piecework knows")
    if own.field("rules", str, "huggingface") not in RULE_SET_NAMES:
        own.unsupported("rules", f"one of {', '.join(map(repr, RULE_SET_NAMES))}")
    return own


def read_vocabulary(model: Part, own: Part, text: str) -> Vocabulary:
    """Return the vocabulary; `text` is that of the whole file."""
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


def read_unk_token(model: Part, vocabulary: Vocabulary) -> str:
    """Return unk_token, which must be in the vocabulary."""
    unk_token: str = model.field("unk_token", str)
    if unk_token not in vocabulary.ids:
        raise ValueError(f"{model.name('unk_token')}: {unk_token!r} is not in model.vocab")
    return unk_token


def read_limit(model: Part) -> int:
    """Return max_input_chars_per_word."""
    limit: int = model.field("max_input_chars_per_word", int)
    if not 1 <= limit <= MAX_LIMIT:
        model.malformed("max_input_chars_per_word", "an integer from 1 to 2**64 - 1")
    return limit


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
