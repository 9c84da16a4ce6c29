"""Published tokenizers: the embedded one, a model's folder, or the Hugging Face Hub and its cache.

In goes a name or a folder, out comes a :class:`~piecework.spec.TokenizerSpec`. A folder's
tokenizer.json decides where there is one, else its vocab.txt with the options that
tokenizer_config.json names. A configuration that asks for more than WordPiece with BERT's parts is
refused, never approximated.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from piecework.errors import TokenizerFileWarning, UnsupportedTokenizerError, warn
from piecework.spec import Template, TokenizerSpec
from piecework.tokenizer_json import (
    PLAIN_SPECIAL,
    Part,
    check_plain,
    parse_json,
    read_tokenizer_json,
    shown,
)
from piecework.vocabulary import Vocabulary, checked_path, read_utf8

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
        The vocabulary has no `unk_token`.
    ValueError, TypeError
        An option is none, see :func:`piecework.spec.checked_options`.

    Examples
    --------
    >>> spec = bert_spec(Vocabulary.from_text("[UNK]\n[CLS]\n[SEP]\na\n"))
    >>> spec.special_tokens
    {'[UNK]': 0, '[CLS]': 1, '[SEP]': 2}
    >>> spec.template.before, spec.template.after
    ((('[CLS]', 1),), (('[SEP]', 2),))
    """
    return TokenizerSpec(
        vocabulary=vocabulary,
        unk_token=unk_token,
        prefix=prefix,
        max_input_chars_per_word=max_input_chars_per_word,
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
    OSError
        The name is that of no folder, and the Hub is out of reach or refuses.
    ImportError
        The name is that of no folder, and `huggingface_hub` is not installed.
    TypeError, ValueError
        The name is neither a str, and not empty, nor a path; a file is malformed.

    Examples
    --------
    >>> load_pretrained("bert-base-uncased").vocabulary.size
    30522
    """
    if name_or_dir == "":
        raise ValueError("name_or_dir: expected a folder or a model's name, got an empty str")
    path = checked_path(name_or_dir, "name_or_dir")
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
    file = Path(__file__).with_name("data") / EMBEDDED / "vocab.txt"
    return Vocabulary.from_text(file.read_text("utf-8"), f"the embedded {EMBEDDED}")


def _can_only_be_a_path(name: str) -> bool:
    # A model's name is NAME or OWNER/NAME.
    return name.startswith((".", "~", "/")) or "\\" in name or name.count("/") > 1


def _download(name: str, options: Mapping[str, Any]) -> Path:
    """Return the folder of the Hub's cache that holds the files of a model's tokenizer."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import (
            EntryNotFoundError,
            HFValidationError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError as error:
        raise ImportError(
            f"{name!r} is no local folder, and looking for it on the Hugging Face Hub needs "
            'huggingface_hub: pip install "piecework[hub]"'
        ) from error

    def fetch(file: str) -> Path | None:
        try:
            return Path(hf_hub_download(name, file, **asked))
        except LocalEntryNotFoundError as error:
            missing.append(error)
            asked["local_files_only"] = True  # to find the Hub out of reach takes long
            return None
        except (EntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError) as error:
            missing.append(error)
            return None

    asked = dict(options)
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
    except OSError as error:
        raise OSError(
            f"{name!r} is no local folder, and it can't be fetched from the Hugging Face Hub: "
            f"{error}"
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

    config: Part
    tokens_map: Part
    added: Part
    vocabulary: Vocabulary

    @classmethod
    def read(cls, folder: Path, vocabulary: Vocabulary) -> _Config:
        """Read what is there; refuse a class or an option that is not BERT's."""
        config = cls(
            _read_part(folder / "tokenizer_config.json"),
            _read_part(folder / "special_tokens_map.json"),
            _read_part(folder / "added_tokens.json"),
            vocabulary,
        )
        if not (folder / "tokenizer_config.json").exists():
            warn(
                f"{folder}: no tokenizer_config.json beside vocab.txt; taken for an uncased BERT "
                "(lowercase=True), as transformers takes it",
                TokenizerFileWarning,
            )
        # Configurations from before classes were named are BERT's.
        class_name = config.option("tokenizer_class", str, "BertTokenizer")
        if class_name.removesuffix("Fast") not in _BERT_CLASSES:
            config.part_with("tokenizer_class").unsupported("tokenizer_class", "BERT's tokenizer")
        for key, only in _FIXED_OPTIONS.items():
            if config.option(key, type(only), only) != only:
                config.part_with(key).unsupported(key, f"{shown(only)} or null")
        return config

    def option(self, key: str, kind: type, default: Any) -> Any:
        """Return an option of a type; one that is null or missing has its default."""
        value = self.part_with(key).optional(key, kind)
        return default if value is None else value

    def named_tokens(self) -> dict[str, str | None]:
        """Return the contents of pad_token and so on, None for those that are not there."""
        names: dict[str, str | None] = {}
        for key, default in SPECIAL_TOKENS.items():
            part = self.part_with(key)
            if key in part.value:
                names[key] = None if part.value[key] is None else self._content(part, key)
            else:
                names[key] = default if default in self.vocabulary.ids else None
        return names

    def further_tokens(self) -> Iterator[str]:
        """Yield the contents of the other special tokens."""
        for key in ("additional_special_tokens", "extra_special_tokens"):
            part = self.part_with(key)
            if part.value.get(key) is None:
                continue
            # The second one may name its tokens.
            named = key == "extra_special_tokens" and isinstance(part.value[key], dict)
            tokens = part.part(key) if named else part.elements(key)
            yield from (self._content(tokens, name) for name in tokens.value)
        if self.option("added_tokens_decoder", dict, None):
            tokens = self.part_with("added_tokens_decoder").part("added_tokens_decoder")
            for id_ in tokens.value:
                content = self._content(tokens, id_)
                yield self._checked(tokens.name(id_), content, id_)
        for content in self.added.value:
            id_ = self.added.field(content, int)
            yield self._checked(self.added.name(content), content, id_)

    def part_with(self, key: str) -> Part:
        """Return the file that decides on a key."""
        return self.config if key in self.config.value else self.tokens_map

    def _content(self, part: Part, key: str) -> str:
        """Return the content of a plain special token of the vocabulary."""
        content = part.value[key]
        if isinstance(content, dict):
            token = part.part(key)
            content = token.field("content", str)
            check_plain(token, PLAIN_SPECIAL)
        elif not isinstance(content, str):
            part.malformed(key, "a token")
        return self._checked(part.name(key), content)

    def _checked(self, name: str, content: str, id_: object = None) -> str:
        """Return the content of a token if the vocabulary has it, and under that id."""
        known = self.vocabulary.ids.get(content)
        if known is None or not content:
            raise UnsupportedTokenizerError(
                f"{name}: expected a token of vocab.txt, got {content!r}"
            )
        if id_ is not None and str(id_) != str(known):
            raise UnsupportedTokenizerError(
                f"{name}: expected id {known} for {content!r}, got {id_}"
            )
        return content


def _read_part(path: Path) -> Part:
    return parse_json(read_utf8(path) if path.exists() else "{}", str(path))


def _ids_of(vocabulary: Vocabulary, contents: Iterable[str]) -> dict[str, int]:
    return {content: vocabulary.ids[content] for content in contents if content in vocabulary.ids}


def _template(vocabulary: Vocabulary, names: Mapping[str, str | None]) -> Template | None:
    cls, sep = names["cls_token"], names["sep_token"]
    if cls not in vocabulary.ids or sep not in vocabulary.ids:
        return None
    return Template(((cls, vocabulary.ids[cls]),), ((sep, vocabulary.ids[sep]),))
