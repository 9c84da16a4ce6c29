"""Files of any steps are read, written and loaded again by the incumbent, to the same results."""

from __future__ import annotations

import json
import random
from typing import Any

import pipeline_cases as cases
import pytest
from tokenizers import Tokenizer

from piecework.pipeline import Pipeline
from piecework.tokenizer_json import from_json, to_json

DECODERS: list[dict[str, Any] | None] = [
    None,
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "WordPiece", "prefix": "@@", "cleanup": False},
    {"prefix": "", "cleanup": True},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
    {"type": "BPEDecoder", "suffix": "##"},
    {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
]


@pytest.mark.parametrize("seed", range(60))
def test_a_random_file_comes_back(seed: int) -> None:
    rng = random.Random(seed)
    steps = cases.bert_steps(rng) if seed % 3 == 0 else cases.other_steps(rng)
    case = cases.draw(rng, steps)
    case.document["decoder"] = rng.choice(DECODERS)
    text = json.dumps(case.document)
    spec = from_json(text, "drawn")
    written = to_json(spec)
    assert from_json(written, "written") == spec
    hf, again = Tokenizer.from_str(text), Tokenizer.from_str(written)
    assert again.get_added_tokens_decoder() == hf.get_added_tokens_decoder()
    assert again.get_vocab() == hf.get_vocab()
    if not cases.is_defined(case):
        return
    pipeline = Pipeline(spec)
    for probe in case.texts:
        expected = cases.theirs(hf, probe)
        assert cases.theirs(again, probe) == expected
        if expected is None:
            continue
        assert cases.ours(pipeline, probe) == expected
        ids = [id_ for id_, _, _ in expected]
        for skip in (True, False):
            assert again.decode(ids, skip_special_tokens=skip) == hf.decode(
                ids, skip_special_tokens=skip
            )
