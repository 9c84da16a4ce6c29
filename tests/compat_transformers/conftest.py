"""The real tokenizer and ours over the same folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import helpers
import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub
os.environ["RUST_BACKTRACE"] = "0"  # of the panics that are provoked

pytest.register_assert_rewrite("compare")

CONFIG = '{"do_lower_case": %s, "model_max_length": 512, "tokenizer_class": "BertTokenizer"}'


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A folder of a model's tokenizer as published: the embedded vocabulary, or by name."""

    @cache
    def make(name: str) -> Path:
        path = tmp_path_factory.mktemp(name)
        if name == "embedded":
            text = "".join(f"{token}\n" for token in helpers.embedded_vocab())
        else:
            text = helpers.data_path("vocabs", name, "vocab.txt").read_text("utf-8")
        (path / "vocab.txt").write_text(text, "utf-8")
        is_uncased = "uncased" in name or name == "embedded"
        (path / "tokenizer_config.json").write_text(CONFIG % str(is_uncased).lower())
        return path

    return make


@pytest.fixture(scope="session")
def pair_of(folder: Callable[[str], Path]) -> Callable[..., tuple[Any, Any]]:
    """The real tokenizer and ours, new ones each time."""
    from transformers import BertTokenizerFast

    from piecework.compat.transformers import PieceworkTokenizer

    def make(name: str = "embedded", **options: Any) -> tuple[Any, Any]:
        return tuple(
            kind.from_pretrained(folder(name), **options)
            for kind in (BertTokenizerFast, PieceworkTokenizer)
        )

    return make


@pytest.fixture(scope="session")
def both(pair_of: Callable[..., tuple[Any, Any]]) -> tuple[Any, Any]:
    """The real tokenizer and ours over the embedded vocabulary; not to be changed."""
    return pair_of()
