"""Fixtures for data that lies beside the checkout, and for the incumbent to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import helpers
import pytest
from tokenizers import Tokenizer


@pytest.fixture(scope="session")
def data_path() -> Callable[..., Path]:
    """Paths inside the data folder; a missing one skips the test."""
    return helpers.data_path


@pytest.fixture(scope="session")
def vocab_path() -> Callable[[str], Path]:
    """The vocab.txt of a model, by its folder's name."""
    return lambda model: helpers.data_path("vocabs", model, "vocab.txt")


@pytest.fixture(scope="session")
def corpus() -> Callable[[str], list[str]]:
    """The documents of a corpus, by its file's name without ``.txt``."""
    return lambda name: helpers.read_lines(helpers.data_path("corpora", f"{name}.txt"))


@pytest.fixture(scope="session")
def bert_vocab() -> Mapping[str, int]:
    """The embedded vocabulary of bert-base-uncased; needs no data folder."""
    return helpers.embedded_vocab()


@pytest.fixture(scope="session")
def hf_tokenizer() -> Callable[..., Tokenizer]:
    """Build the incumbent over a mapping of ours: `helpers.hf_tokenizer`."""
    return helpers.hf_tokenizer
