"""Published tokenizers: the embedded one, a model's folder, or the Hugging Face Hub and its cache.

In goes a name or a folder, out comes a :class:`~piecework.spec.TokenizerSpec`. A folder's
tokenizer.json decides where there is one, else its vocab.txt with the options that
tokenizer_config.json names. A configuration that asks for more than WordPiece with BERT's parts is
refused, never approximated.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

from piecework.errors import TokenizerFileWarning, UnsupportedTokenizerError
from piecework.spec import Template, TokenizerSpec
from piecework.tokenizer_json import (
    PLAIN_SPECIAL,
    checked_limit,
    parse_json,
    read_tokenizer_json,
    shown,
)
from piecework.vocabulary import Vocabulary, read_utf8

EMBEDDED = "bert-base-uncased"
SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}

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


def bert_spec(
    vocabulary: Vocabulary,
    *,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    max_input_chars_per_word: int = 100,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    rules: str = "huggingface",
) -> TokenizerSpec:
    r"""Return the spec of a plain vocabulary: BERT's special tokens, template and decoder.

    Special tokens are those of [PAD] [UNK] [CLS] [SEP] [MASK] that the vocabulary has. Without
    [CLS] or [SEP] there is no template.

    Raises
    ------
    ValueError
        The vocabulary has no `unk_token`, or the limit is no integer of at least 1.

    Examples
    --------
    >>> spec = bert_spec(Vocabulary.from_text("[UNK]\n[CLS]\n[SEP]\na\n"))
    >>> spec.special_tokens
    {'[UNK]': 0, '[CLS]': 1, '[SEP]': 2}
    >>> spec.template.before, spec.template.after
    ((('[CLS]', 1),), (('[SEP]', 2),))
    """
    if unk_token not in vocabulary.ids:
        raise ValueError(f"{vocabulary.source}: unk_token {unk_token!r} is not in the vocabulary")
    return TokenizerSpec(
        vocabulary=vocabulary,
        unk_token=unk_token,
        prefix=prefix,
        max_input_chars_per_word=checked_limit(
            max_input_chars_per_word, "max_input_chars_per_word"
        ),
        lowercase=lowercase,
        strip_accents=strip_accents,
        clean_text=clean_text,
        handle_chinese_chars=handle_chinese_chars,
        rules=rules,
        special_tokens=_ids_of(vocabulary, SPECIAL_TOKENS.values()),
        template=_template(vocabulary, SPECIAL_TOKENS),
        decoder={"type": "WordPiece", "prefix": prefix, "cleanup": True},
    )


def load_pretrained(
    name_or_dir: str | os.PathLike[str],
    *,
    revision: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    token: str | bool | None = None,
    local_files_only: bool = False,
) -> TokenizerSpec:
    """Load a published tokenizer.

    Parameters
    ----------
    name_or_dir : str or PathLike
        In this order: a local folder; ``"bert-base-uncased"``, whose vocabulary comes with the
        package; the name of a model on the Hugging Face Hub, for which the optional package
        `huggingface_hub` is needed (``pip install "piecework[hub]"``).
    revision, cache_dir, token, local_files_only
        For the Hub, as `huggingface_hub` takes them. Its cache and its environment variables
        (``HF_HUB_OFFLINE`` for one) are respected. With a `revision`, ``"bert-base-uncased"`` is
        that of the Hub.

    Raises
    ------
    FileNotFoundError
        There is no such folder, or it holds neither tokenizer.json nor vocab.txt.
    UnsupportedTokenizerError
        The tokenizer is not WordPiece with BERT's parts.
    ImportError
        The name is that of no folder, and `huggingface_hub` is not installed.

    Examples
    --------
    >>> load_pretrained("bert-base-uncased").vocabulary.size
    30522
    """
    path = Path(name_or_dir)
    if path.is_dir():
        return _load_folder(path)
    if path.exists():
        raise NotADirectoryError(
            f"{path}: expected a folder or a model's name; a file is read by from_hf_json (a "
            "tokenizer.json) or from_vocab (a vocab.txt)"
        )
    if name_or_dir == EMBEDDED and revision is None:
        return bert_spec(_embedded_vocabulary())
    if not isinstance(name_or_dir, str) or _can_only_be_a_path(name_or_dir):
        raise FileNotFoundError(f"{path}: no such folder")
    hub_options = {
        "revision": revision,
        "cache_dir": cache_dir,
        "token": token,
        "local_files_only": local_files_only,
    }
    return _load_folder(_download(name_or_dir, hub_options))


def _embedded_vocabulary() -> Vocabulary:
    file = resources.files("piecework") / "data" / EMBEDDED / "vocab.txt"
    return Vocabulary.from_text(file.read_text("utf-8"), f"the embedded {EMBEDDED}")


def _can_only_be_a_path(name: str) -> bool:
    # A model's name is NAME or OWNER/NAME.
    return name.startswith((".", "~", "/")) or "\\" in name or name.count("/") > 1


def _download(name: str, options: Mapping[str, Any]) -> Path:
    """Return the folder of the Hub's cache that holds the files of a model's tokenizer."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError, HFValidationError
    except ImportError as error:
        raise ImportError(
            f"{name!r} is no local folder, and looking for it on the Hugging Face Hub needs "
            'huggingface_hub: pip install "piecework[hub]"'
        ) from error

    def fetch(file: str) -> Path | None:
        try:
            return Path(hf_hub_download(name, file, **options))
        except EntryNotFoundError as error:
            missing.append(error)  # in the repository or, when the Hub is out of reach, the cache
            return None

    missing: list[Exception] = []
    try:
        if found := fetch("tokenizer.json"):
            return found.parent
        if found := fetch("vocab.txt"):
            for file in ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"):
                fetch(file)
            return found.parent
    except HFValidationError as error:
        raise ValueError(
            f"{name!r} is no local folder and can't be the name of a model on the Hub: {error}"
        ) from error
    raise FileNotFoundError(
        f"{name!r} is no local folder, and neither tokenizer.json nor vocab.txt of a model of that "
        f"name could be had from the Hugging Face Hub or its cache: {missing[-1]}"
    ) from missing[-1]


def _load_folder(folder: Path) -> TokenizerSpec:
    if (folder / "tokenizer.json").exists():
        return read_tokenizer_json(folder / "tokenizer.json")
    if not (folder / "vocab.txt").exists():
        raise FileNotFoundError(f"{folder}: expected tokenizer.json or vocab.txt in this folder")
    vocabulary = Vocabulary.from_file(folder / "vocab.txt")
    config = _Config.read(folder, vocabulary)
    names = config.named_tokens()
    spec = bert_spec(
        vocabulary,
        unk_token=names["unk_token"] or SPECIAL_TOKENS["unk_token"],
        prefix=config.option("wordpieces_prefix", str, "##"),
        lowercase=config.option("do_lower_case", bool, True),
        strip_accents=config.option("strip_accents", bool, None),
        clean_text=config.option("clean_text", bool, True),
        handle_chinese_chars=config.option("tokenize_chinese_chars", bool, True),
    )
    contents = [*filter(None, names.values()), *config.further_tokens()]
    return replace(
        spec,
        special_tokens=_ids_of(vocabulary, contents),
        template=_template(vocabulary, names),
    )


@dataclass(frozen=True)
class _Config:
    """tokenizer_config.json, and what older folders have in files of their own beside it."""

    values: Mapping[str, Any]
    path: Path
    vocabulary: Vocabulary

    @classmethod
    def read(cls, folder: Path, vocabulary: Vocabulary) -> _Config:
        """Read what is there; refuse a class or an option that is not BERT's."""
        path = folder / "tokenizer_config.json"
        values = _read_object(folder / "special_tokens_map.json")
        values["added_tokens.json"] = _read_object(folder / "added_tokens.json")
        if path.exists():
            values |= _read_object(path)
        else:
            warnings.warn(
                f"{folder}: no tokenizer_config.json beside vocab.txt; taken for an uncased BERT "
                "(lowercase=True), as transformers takes it",
                TokenizerFileWarning,
                stacklevel=2,
            )
        config = cls(values, path, vocabulary)
        # Configurations from before classes were named are BERT's.
        class_name = config.option("tokenizer_class", str, "BertTokenizer")
        if class_name.removesuffix("Fast") not in _BERT_CLASSES:
            config.refuse("tokenizer_class", f"BERT's tokenizer, got {class_name!r}")
        for key, only in _FIXED_OPTIONS.items():
            if values.get(key) not in (None, only):
                config.refuse(key, f"{only!r} or null, got {shown(values[key])}")
        return config

    def refuse(self, key: str, expected: str) -> NoReturn:
        raise UnsupportedTokenizerError(f"{self.path}: {key}: expected {expected}")

    def option(self, key: str, kind: type, default: Any) -> Any:
        """Return an option of a type; one that is null or missing has its default."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, kind):
            raise ValueError(f"{self.path}: {key}: expected {kind.__name__}, got {shown(value)}")
        return value

    def named_tokens(self) -> dict[str, str | None]:
        """Return the contents of pad_token and so on, None for those that are not there."""
        names: dict[str, str | None] = {}
        for key, default in SPECIAL_TOKENS.items():
            names[key] = default if default in self.vocabulary.ids else None
            if key in self.values:
                value = self.values[key]
                names[key] = None if value is None else self._content(key, value)
        return names

    def further_tokens(self) -> Iterator[str]:
        """Yield the contents of the other special tokens."""
        for key in ("additional_special_tokens", "extra_special_tokens"):
            values = self.values.get(key) or []
            for value in values.values() if isinstance(values, dict) else values:
                yield self._content(key, value)
        for id_, value in self.option("added_tokens_decoder", dict, {}).items():
            yield self._content(f"added_tokens_decoder[{id_}]", value, id_)
        for content, id_ in self.option("added_tokens.json", dict, {}).items():
            yield self._content("added_tokens.json", content, id_)

    def _content(self, key: str, value: Any, id_: Any = None) -> str:
        """Return the content of a plain special token of the vocabulary."""
        flags = value if isinstance(value, dict) else {}
        content = flags.get("content") if flags else value
        if not isinstance(content, str):
            raise ValueError(f"{self.path}: {key}: expected a token, got {shown(value)}")
        for flag, plain in PLAIN_SPECIAL.items():
            if flags.get(flag, plain) is not plain:
                self.refuse(f"{key}.{flag}", f"{plain} (a plain special token)")
        if content not in self.vocabulary.ids:
            self.refuse(key, f"a token of vocab.txt, got {content!r}")
        if id_ is not None and str(id_) != str(self.vocabulary.ids[content]):
            self.refuse(key, f"id {self.vocabulary.ids[content]} for {content!r}, got {id_}")
        return content


def _read_object(path: Path) -> dict[str, Any]:
    return parse_json(read_utf8(path), str(path)) if path.exists() else {}


def _ids_of(vocabulary: Vocabulary, contents: Iterable[str]) -> dict[str, int]:
    return {content: vocabulary.ids[content] for content in contents if content in vocabulary.ids}


def _template(vocabulary: Vocabulary, names: Mapping[str, str | None]) -> Template | None:
    cls, sep = names["cls_token"], names["sep_token"]
    if cls not in vocabulary.ids or sep not in vocabulary.ids:
        return None
    return Template(((cls, vocabulary.ids[cls]),), ((sep, vocabulary.ids[sep]),))
