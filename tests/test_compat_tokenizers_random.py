"""piecework.compat.tokenizers beside tokenizers on random calls: state, texts, pairs, tokens.

``PIECEWORK_RANDOM_CALLS`` sets the number of calls, for a longer run than the suite's.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from compat_calls import THEIRS, bert_json, both, content, outcome

import piecework.compat.tokenizers as ours

N_CALLS = int(os.environ.get("PIECEWORK_RANDOM_CALLS", "1000"))
CALLS_OF_ONE_TOKENIZER = 50
PLAIN = (
    "hello unaffable World a b Café 中文 [MASK] [SEP] ! x.y zzzzqqqq ጵጵ <m> New Tok HÉLLO <M> xab"
)
STRANGE = ["\t", "\u3000", "\u00ad", "e\u0301", "\u200b", "한국", "İx", "\u0301", "n't", "", "  "]
WORDS = PLAIN.split() + STRANGE
CONTENTS = ["<m>", "New Tok", "hello", "ab", "中文", "[UNK]", "a", "[MASK]", "café", "x.", "ጵጵ"]
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class Calls:
    """Makes random states and inputs."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.chance = self._random.random

    def text(self) -> str:
        n_words = self._random.choice((0, 1, 2, 3, 5, 9, 20))
        return self._random.choice(("", " ")).join(self._random.choices(WORDS, k=n_words))

    def words(self) -> list[str]:
        return self._random.choices(WORDS, k=self._random.choice((0, 1, 2, 3, 5, 9)))

    def tokens(self) -> list[dict[str, Any]]:
        contents = self._random.sample(CONTENTS, self._random.choice((0, 1, 2, 4)))
        return [
            {"content": each, **{flag: self.chance() < 0.5 for flag in FLAGS}} for each in contents
        ]

    def truncation(self) -> dict[str, Any] | None:
        choice = self._random.choice
        return choice((None, *3 * [{
            "max_length": choice((2, 3, 4, 5, 6, 8, 12)),
            "stride": choice((0, 0, 0, 1, 2)),
            "strategy": choice(("longest_first", "only_first", "only_second")),
            "direction": choice(("left", "right")),
        }]))  # fmt: skip

    def padding(self) -> dict[str, Any] | None:
        choice = self._random.choice
        return choice((None, {
            "length": choice((None, None, 3, 10)),
            "direction": choice(("left", "right")),
            "pad_to_multiple_of": choice((None, 0, 4)),
            "pad_id": choice((0, 7)),
            "pad_type_id": choice((0, 3)),
            "pad_token": choice(("[PAD]", "x")),
        }))  # fmt: skip

    def batch(self, is_pretokenized: bool) -> list[Any]:
        one = self.words if is_pretokenized else self.text
        n_rows = self._random.choice((0, 1, 2, 4))
        return [one() if self.chance() < 0.5 else (one(), one()) for _ in range(n_rows)]


def _set(tokenizer: Any, truncation: dict[str, Any] | None, padding: dict[str, Any] | None) -> str:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if padding:
        tokenizer.enable_padding(**padding)
    if truncation:
        return str(outcome("t.enable_truncation(**options)", ours, tokenizer, options=truncation))
    return ""


def _can_not_be(truncation: dict[str, Any] | None, expected: Any) -> bool:
    """Say whether ours is right to refuse: the reference fails, or does not truncate in silence."""
    if truncation is None:
        return False
    room = truncation["max_length"] - 3
    return isinstance(expected, str) or room < 0 or 0 < truncation["stride"] >= room


def _run(seed: int, n_calls: int) -> None:
    calls = Calls(seed)
    theirs, mine = both(bert_json())
    added = calls.tokens()
    for module, tokenizer in ((THEIRS, theirs), (ours, mine)):
        tokenizer.add_tokens([module.AddedToken(**each) for each in added])
    for _ in range(n_calls):
        truncation, padding = calls.truncation(), calls.padding()
        assert _set(mine, truncation, padding) == _set(theirs, truncation, padding)
        theirs.encode_special_tokens = mine.encode_special_tokens = calls.chance() < 0.15
        is_pretokenized = calls.chance() < 0.3
        options = {
            "input": calls.batch(is_pretokenized),
            "is_pretokenized": is_pretokenized,
            "add_special_tokens": calls.chance() < 0.8,
        }
        name = "encode_batch_fast" if calls.chance() < 0.3 else "encode_batch"
        call = f"t.{name}(**options)"
        expected = outcome(call, THEIRS, theirs, options=options)
        got = outcome(call, ours, mine, options=options)
        if got == "ValueError" and _can_not_be(theirs.truncation, expected):
            continue
        assert got == expected, (seed, added, theirs.truncation, padding, name, options)
        if not isinstance(expected, str):
            rows = [row["ids"] for row in expected]
            assert mine.decode_batch(rows) == theirs.decode_batch(rows)


@pytest.mark.parametrize("seed", range(N_CALLS // CALLS_OF_ONE_TOKENIZER))
def test_random_calls_give_what_the_reference_gives(seed: int) -> None:
    _run(seed, CALLS_OF_ONE_TOKENIZER)


def test_one_by_one_and_as_a_batch_agree() -> None:
    calls = Calls(1)
    _, mine = both(bert_json())
    for _ in range(50):
        batch = calls.batch(False)
        one_by_one = [mine.encode(*([each] if isinstance(each, str) else each)) for each in batch]
        assert [*map(content, mine.encode_batch(batch))] == [*map(content, one_by_one)]
