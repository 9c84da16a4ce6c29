"""The pipeline in Python against the incumbent: random steps, added tokens, vocabularies, texts."""

from __future__ import annotations

import random

import helpers
import pipeline_cases
import pytest


@pytest.mark.parametrize("split_special_tokens", [False, True])
@pytest.mark.parametrize(
    ("draw_steps", "n_seeds"),
    [(pipeline_cases.bert_steps, 150), (pipeline_cases.other_steps, 200)],
    ids=["BERT's steps", "other steps"],
)
def test_random_tokenizers_encode_as_the_incumbent(draw_steps, n_seeds, split_special_tokens):
    n_compared = sum(
        pipeline_cases.assert_same(case, split_special_tokens=split_special_tokens)
        for _, case in pipeline_cases.defined_cases(draw_steps, range(n_seeds))
    )
    assert n_compared > n_seeds * 7


@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_all_flags_encode_as_the_incumbent(flags):
    rng = random.Random(helpers.flags_id(flags))
    steps = {
        "normalizer": {"type": "BertNormalizer", **flags},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
    }
    for _ in range(8):
        case = pipeline_cases.draw(rng, steps)
        if pipeline_cases.is_defined(case):
            pipeline_cases.assert_same(case)
