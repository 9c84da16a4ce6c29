"""From the arguments of a transformers tokenizer to a WordPieceTokenizer.

In come a tokenizer, the path of a tokenizer.json or vocab.txt, or a vocabulary, with the options of
BertTokenizer; out comes the tokenizer. A tokenizer.json is taken as a whole, and an option that is
given beside it wins.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

from piecework import WordPieceTokenizer
from piecework.compat.tokenizers import Tokenizer
from piecework.compat.transformers.special_tokens import bert_tokens, known_ids
from piecework.errors import TokenizerFileWarning
from piecework.folder_config import SPECIAL_TOKENS
from piecework.spec import TokenizerSpec

# BertTokenizer's name of each option.
FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
# What BertTokenizer takes after the vocabulary without a name.
_POSITIONAL = (
    "do_lower_case",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
    "tokenize_chinese_chars",
    "strip_accents",
)
BERT_INPUT_NAMES = ["input_ids", "token_type_ids", "attention_mask"]


def with_positional(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a constructor with those that were given without a name.

    Raises
    ------
    TypeError
        For too many of them, and for one that was given by its name too.
    """
    if len(args) > len(_POSITIONAL):
        raise TypeError(
            f"expected at most {len(_POSITIONAL)} arguments after vocab, got {len(args)}"
        )
    named = dict(zip(_POSITIONAL, args, strict=False))
    if twice := named.keys() & kwargs.keys():
        raise TypeError(f"{min(twice)}: given twice, by its place and by its name")
    return {**kwargs, **named}


def make_tokenizer(
    source: Mapping[str, Any], options: Mapping[str, Any], names: Mapping[str, Any]
) -> WordPieceTokenizer:
    """Return the tokenizer that the arguments of a constructor ask for.

    Parameters
    ----------
    source : mapping
        The values of ``tokenizer_object``, ``tokenizer_file``, ``vocab`` and ``vocab_file``: the
        first that is there counts.
    options : mapping
        Those of :data:`FLAGS` that were given.
    names : mapping
        The special tokens that were given, by ``cls_token`` and so on.

    Raises
    ------
    TypeError
        For none of the sources, and for one of another type.
    ValueError
        As the readers of the files.
    """
    flags = {FLAGS[name]: value for name, value in options.items()}
    if (unk_token := names.get("unk_token")) is not None:
        flags["unk_token"] = str(unk_token)
    if (given := source.get("tokenizer_object")) is not None:
        return _with_flags(_from_object(given), flags)
    if (path := source.get("tokenizer_file")) is not None:
        return _with_flags(_without_notice(WordPieceTokenizer.from_hf_json, path), flags)
    vocab = source.get("vocab")
    vocab = source.get("vocab_file") if vocab is None else vocab
    if vocab is None:
        raise TypeError(
            "expected one of tokenizer_object, tokenizer_file, vocab and vocab_file, got none; "
            "from_pretrained reads a folder"
        )
    if isinstance(vocab, (WordPieceTokenizer, Tokenizer, tokenizers.Tokenizer)):
        raise TypeError(
            f"vocab: expected a mapping of str to int or a path, got a {type(vocab).__name__}; "
            "give it as tokenizer_object="
        )
    if (folder := _model_folder(vocab)) is not None:
        tokenizer = _with_flags(WordPieceTokenizer.from_pretrained(folder), flags)
    else:
        is_path = isinstance(vocab, (str, os.PathLike))
        make = WordPieceTokenizer.from_vocab if is_path else WordPieceTokenizer
        tokenizer = make(vocab, **flags)
    if SPECIAL_TOKENS.keys().isdisjoint(names):
        return tokenizer
    # Which tokens of a vocabulary are special hangs on the names; the constructor adds those.
    return WordPieceTokenizer.from_spec(replace(tokenizer.spec, added_tokens=()))


def _model_folder(vocab: Any) -> Path | None:
    """Return the folder of a vocab.txt that has a configuration, which then is read with it."""
    if not isinstance(vocab, (str, os.PathLike)) or Path(vocab).name != "vocab.txt":
        return None
    folder = Path(vocab).parent
    has_config = (folder / "tokenizer_config.json").exists()
    return folder if has_config and not (folder / "tokenizer.json").exists() else None


def _from_object(given: Any) -> WordPieceTokenizer:
    if isinstance(given, WordPieceTokenizer):
        return given
    if isinstance(given, Tokenizer):
        return given.tokenizer
    if isinstance(given, tokenizers.Tokenizer):
        return _without_notice(WordPieceTokenizer.from_hf_json, given.to_str())
    raise TypeError(
        "tokenizer_object: expected a WordPieceTokenizer or a tokenizers.Tokenizer, got "
        f"{type(given).__name__}"
    )


def _without_notice(read: Callable[[str], WordPieceTokenizer], source: str) -> WordPieceTokenizer:
    """Read a file; that truncation and padding in it are not applied goes without saying here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TokenizerFileWarning)
        return read(source)


def _with_flags(tokenizer: WordPieceTokenizer, flags: Mapping[str, Any]) -> WordPieceTokenizer:
    """Return the tokenizer with other flags and another unk token, where its steps are BERT's."""
    spec = tokenizer.spec
    changed = {name: value for name, value in flags.items() if getattr(spec, name) != value}
    if changed.get("unk_token") not in spec.vocabulary.ids:
        changed.pop("unk_token", None)  # a token that is added: no unknown word can become it
    if not changed or spec.steps is not None:
        return tokenizer
    return WordPieceTokenizer.from_spec(replace(spec, **changed))


def default_settings(spec: TokenizerSpec, file: str | None) -> dict[str, Any]:
    """Return arguments of ``PreTrainedTokenizerBase`` for what a call did not give.

    Parameters
    ----------
    spec : TokenizerSpec
    file : str or None
        The tokenizer.json or vocab.txt that was read; the class that a tokenizer_config.json beside
        it names says which columns its model takes.
    """
    known = known_ids(spec)
    settings: dict[str, Any] = {
        key: token for key, token in SPECIAL_TOKENS.items() if token in known
    }
    # Those in use, whatever they are called; a file that is saved names them when it is read.
    in_use = bert_tokens(spec.template) or {}
    settings |= {key: token for key, (token, _) in in_use.items() if token in known}
    settings["unk_token"] = spec.unk_token
    settings["backend"] = "tokenizers"  # what transformers takes for a sign of offsets
    if spec.steps is None:  # for readers of the file that go by these
        settings |= {name: getattr(spec, flag) for name, flag in FLAGS.items()}
    settings["model_input_names"] = _input_names(file)
    # What transformers takes over from these two parts of a tokenizer.json.
    if spec.file_truncation is not None:
        settings["truncation_side"] = str(spec.file_truncation.get("direction", "right")).lower()
    if spec.file_padding is not None:
        settings["padding_side"] = str(spec.file_padding["direction"]).lower()
        settings["pad_token"] = spec.file_padding["pad_token"]
    return settings


def _input_names(file: str | None) -> list[str]:
    config = Path(file).with_name("tokenizer_config.json") if file else None
    if config is None or not config.is_file():
        return BERT_INPUT_NAMES
    settings = json.loads(config.read_text("utf-8"))
    if names := settings.get("model_input_names"):
        return list(names)
    name = settings.get("tokenizer_class")
    named = tokenizer_class_from_name(name) if isinstance(name, str) else None
    return list(getattr(named, "model_input_names", BERT_INPUT_NAMES))
