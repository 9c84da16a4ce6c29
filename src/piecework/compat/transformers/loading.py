"""From the arguments of a transformers tokenizer to a WordPieceTokenizer.

In come a tokenizer, the path of a tokenizer.json or vocab.txt, or a vocabulary, with the options of
BertTokenizer; out comes the tokenizer. A tokenizer.json is taken as a whole, and an option that is
given beside it wins.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers
from transformers import AddedToken
from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

from piecework import WordPieceTokenizer
from piecework.compat.tokenizers import AddedToken as FacadeToken
from piecework.compat.tokenizers import Tokenizer
from piecework.errors import TokenizerFileWarning
from piecework.folder_config import SPECIAL_TOKENS
from piecework.spec import SpecialPiece, Template, TokenizerSpec

# BertTokenizer's name of each option.
FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
BERT_INPUT_NAMES = ["input_ids", "token_type_ids", "attention_mask"]


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
    if (folder := _model_folder(vocab)) is not None:
        return _with_flags(WordPieceTokenizer.from_pretrained(folder), flags)
    is_path = isinstance(vocab, (str, os.PathLike))
    make = WordPieceTokenizer.from_vocab if is_path else WordPieceTokenizer
    return _with_template(make(vocab, **flags), names)


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
    """Return the tokenizer with other flags, where it has any: BERT's normalizer."""
    spec = tokenizer.spec
    if flags.get("unk_token") not in spec.vocabulary.ids:
        flags = {name: value for name, value in flags.items() if name != "unk_token"}
    changed = {name: value for name, value in flags.items() if getattr(spec, name) != value}
    if not changed or spec.steps is not None:
        return tokenizer
    return WordPieceTokenizer.from_spec(replace(spec, **changed))


def _with_template(tokenizer: WordPieceTokenizer, names: Mapping[str, Any]) -> WordPieceTokenizer:
    """Return the tokenizer with BERT's template over the cls_token and sep_token given."""
    ids = tokenizer.spec.vocabulary.ids
    tokens = [str(names.get(key, SPECIAL_TOKENS[key])) for key in ("cls_token", "sep_token")]
    if not all(token in ids for token in tokens):
        return tokenizer
    template = Template.bert(*((token, ids[token]) for token in tokens))
    return WordPieceTokenizer.from_spec(replace(tokenizer.spec, template=template))


def with_named_template(spec: TokenizerSpec, names: Mapping[str, Any]) -> TokenizerSpec:
    """Return the spec with BERT's template over the cls_token and sep_token given.

    Of a tokenizer with other steps or another template than BERT's these are names of tokens only,
    and the spec comes back as it is.
    """
    template = spec.template
    if template is None or spec.steps is not None:
        return spec
    special = [piece for piece in template.single if isinstance(piece, SpecialPiece)]
    if len(special) != 2 or any(len(piece.ids) != 1 for piece in special):
        return spec
    now = [(piece.tokens[0], piece.ids[0]) for piece in special]
    if replace(template, post_processor=None) != Template.bert(*now):
        return spec
    ids = {**spec.vocabulary.ids, **{token.content: token.id for token in spec.added_tokens}}
    wanted = [
        (str(names[key]), ids[str(names[key])])
        if names.get(key) is not None and str(names[key]) in ids
        else as_it_is
        for key, as_it_is in zip(("cls_token", "sep_token"), now, strict=True)
    ]
    return spec if wanted == now else replace(spec, template=Template.bert(*wanted))


def default_settings(spec: TokenizerSpec, file: str | None) -> dict[str, Any]:
    """Return arguments of ``PreTrainedTokenizerBase`` for what a call did not give.

    Parameters
    ----------
    spec : TokenizerSpec
    file : str or None
        The tokenizer.json or vocab.txt that was read; the class that a tokenizer_config.json beside
        it names says which columns its model takes.
    """
    known = {**spec.vocabulary.ids, **{token.content: token.id for token in spec.added_tokens}}
    settings: dict[str, Any] = {
        key: token for key, token in SPECIAL_TOKENS.items() if token in known
    }
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


def tokens_to_add(
    known: Mapping[int, AddedToken],
    named: list[AddedToken | str],
    decoder: Mapping[int, AddedToken],
) -> list[AddedToken]:
    """Return the tokens that the arguments name and a tokenizer lacks, as transformers does.

    Parameters
    ----------
    known : mapping of int to AddedToken
        The added tokens that are there.
    named : list
        The special tokens that have a name, and the extra ones.
    decoder : mapping of int to AddedToken
        ``added_tokens_decoder``: also tokens that are there with other flags.
    """
    as_they_are = {repr(token) for token in known.values()}
    missing = [token for _, token in sorted(decoder.items()) if repr(token) not in as_they_are]
    contents = {token.content for token in known.values()} | {str(token) for token in missing}
    for token in named:
        if str(token) not in contents:
            contents.add(str(token))
            missing.append(token if isinstance(token, AddedToken) else _special(token))
    return missing


def _special(content: str) -> AddedToken:
    return AddedToken(content, special=True)


def facade_token(token: str | AddedToken) -> str | FacadeToken:
    """Return a token of the tokenizers library as one of its facade."""
    if isinstance(token, str):
        return token
    return FacadeToken(
        token.content,
        single_word=token.single_word,
        lstrip=token.lstrip,
        rstrip=token.rstrip,
        normalized=token.normalized,
        special=token.special,
    )
