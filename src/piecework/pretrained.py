"""Published tokenizers: the embedded one, a model's folder, or the Hugging Face Hub and its cache.

In goes a name or a folder, out comes a :class:`~piecework.spec.TokenizerSpec`. A folder's
tokenizer.json decides where there is one, else its vocab.txt with the options and tokens that
:mod:`piecework.folder_config` reads. What is beyond WordPiece is refused, never approximated.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from piecework.added_tokens import with_added_tokens
from piecework.folder_config import SPECIAL_TOKENS, FolderConfig
from piecework.spec import AddedToken, Template, TokenizerSpec
from piecework.tokenizer_json import read_tokenizer_json
from piecework.vocabulary import Vocabulary, checked_path

EMBEDDED = "bert-base-uncased"


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
    >>> spec.template.around
    ((1,), (2,))
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
        added_tokens=_special_tokens(vocabulary, SPECIAL_TOKENS.values()),
        template=_template(vocabulary.ids, SPECIAL_TOKENS),
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
    config = FolderConfig.read(folder)
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
    tokens = config.tokens()
    spec = with_added_tokens(
        replace(spec, added_tokens=()), [listed_token.token for listed_token in tokens]
    )
    ids = {**vocabulary.ids, **{token.content: token.id for token in spec.added_tokens}}
    for listed_token in tokens:
        listed_token.check_id(ids[listed_token.token.content])
    return replace(spec, template=_template(ids, names))


def _special_tokens(vocabulary: Vocabulary, contents: Iterable[str]) -> tuple[AddedToken, ...]:
    ids = vocabulary.ids
    return tuple(
        AddedToken(content, ids[content]) for content in dict.fromkeys(contents) if content in ids
    )


def _template(ids: Mapping[str, int], names: Mapping[str, str | None]) -> Template | None:
    cls, sep = names["cls_token"], names["sep_token"]
    if cls is None or sep is None or cls not in ids or sep not in ids:
        return None
    return Template.bert((cls, ids[cls]), (sep, ids[sep]))
