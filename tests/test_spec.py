"""The options of a tokenizer: what is refused, and that what is taken can be saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer
from piecework.spec import TokenizerSpec, checked_options
from piecework.vocabulary import Vocabulary

VOCAB = {"[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3}
FLAGS = ["lowercase", "strip_accents", "clean_text", "handle_chinese_chars"]

WRONG_TYPES = [
    *[(flag, value) for flag in FLAGS for value in (0, 1, "false", [], 1.0, np.array([True]))],
    *[(flag, None) for flag in FLAGS if flag != "strip_accents"],
    *[(text, value) for text in ("prefix", "unk_token") for value in (None, b"##", [], 3)],
    *[("max_input_chars_per_word", value) for value in (True, np.True_, 1.0, "100", None, [])],
    *[("rules", value) for value in (None, [], {}, 1)],
]
WRONG_VALUES = [
    ("prefix", "\ud800"),
    ("unk_token", "a\udc00"),
    *[("max_input_chars_per_word", value) for value in (0, -1, np.int8(0), 2**64, 10**10_000)],
    ("rules", "bert"),
    ("rules", "x" * 10_000),
]


def make(**options: Any) -> WordPieceTokenizer:
    return WordPieceTokenizer(VOCAB, **options)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        *[(*each, TypeError) for each in WRONG_TYPES],
        *[(*each, ValueError) for each in WRONG_VALUES],
    ],
    ids=lambda value: repr(value)[:30] if not isinstance(value, int) else f"{value % 2**65}",
)
def test_a_wrong_option_is_refused_by_name(name: str, value: Any, error: type[Exception]) -> None:
    spec = make().spec
    for build in (make, lambda **options: replace(spec, **options)):
        with pytest.raises(error, match=f"^{name}: expected .*, got ") as caught:
            build(**{name: value})
        assert type(caught.value) is error
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", [True, False])
def test_numpy_bools_become_bools(flag: str, value: bool) -> None:
    tokenizer = make(**{flag: np.bool_(value)})
    assert getattr(tokenizer, flag) is value
    assert tokenizer == make(**{flag: value})


@pytest.mark.parametrize("limit", [1, 2**64 - 1, np.int64(5), np.uint64(2**64 - 1)])
def test_every_limit_that_is_taken_can_be_saved_and_loaded(limit: Any, tmp_path: Path) -> None:
    tokenizer = make(max_input_chars_per_word=limit)
    assert type(tokenizer.max_input_chars_per_word) is int
    tokenizer.save(tmp_path / "t.json")
    assert WordPieceTokenizer.load(tmp_path / "t.json") == tokenizer
    theirs = Tokenizer.from_file(str(tmp_path / "t.json"))
    assert theirs.model.max_input_chars_per_word == int(limit)


def test_options_of_many_kinds_can_be_saved_and_loaded(tmp_path: Path) -> None:
    tokenizer = make(prefix=np.str_(""), clean_text=np.False_, strip_accents=None, rules="unicode")
    tokenizer.save(tmp_path / "t.json")
    assert WordPieceTokenizer.load(tmp_path / "t.json") == tokenizer
    assert Tokenizer.from_file(str(tmp_path / "t.json")).model.continuing_subword_prefix == ""


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^lower_case: no such option; expected one of unk_token,"):
        checked_options({"lower_case": True})


def test_a_spec_needs_its_unk_token() -> None:
    with pytest.raises(ValueError, match=r"unk_token '\[UNK\]' is not in the vocabulary"):
        TokenizerSpec(Vocabulary({"a": 0}))
