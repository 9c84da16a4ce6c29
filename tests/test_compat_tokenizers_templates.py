"""Templates in piecework.compat.tokenizers beside tokenizers: in every call, the odd ones too."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from compat_calls import PANIC, THEIRS, both, outcome, with_parts

import piecework.compat.tokenizers as ours

_ENDS = {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
_ROBERTA = {"type": "RobertaProcessing", **_ENDS, "add_prefix_space": False}


def _special(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def _sequence(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}


A, B, CLS, X = _sequence("A"), _sequence("B", 1), _special("[CLS]"), _special("x", 3)


def _template(single: list[Any], pair: list[Any], **x: Any) -> dict[str, Any]:
    special = {
        "[CLS]": {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]},
        "x": {"id": "x", "ids": [5, 6], "tokens": ["x", "y"], **x},
    }
    return {
        "type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special
    }  # fmt: skip


PROCESSORS: dict[str, Any] = {
    "none": None,
    "bert": {"type": "BertProcessing", **_ENDS},
    "bert-names": {"type": "BertProcessing", "sep": ["end", 101], "cls": ["begin", 101]},
    "roberta": {**_ROBERTA, "trim_offsets": False},
    "roberta-trimming": {**_ROBERTA, "trim_offsets": True},
    "byte-level": _BYTE_LEVEL,
    "roberta-in-sequence": {
        "type": "Sequence", "processors": [_BYTE_LEVEL, {**_ROBERTA, "trim_offsets": False}]
    },
    "empty-sequence": {"type": "Sequence", "processors": []},
    "types": _template([CLS, _sequence("A", 3)], [B, X, A, _special("[CLS]", 7)]),
    "twice": _template([A, A], [B, A, CLS, A]),
    "no-text": _template([CLS, X], [CLS, A, B]),
    "no-text-in-a-pair": _template([CLS, A], [_special("[CLS]", 2), X]),
    "nothing-for-a-pair": _template([CLS, A], []),
    "nothing-at-all": _template([], []),
    "one-text-of-a-pair": _template([A, CLS], [X, B]),
    "one-id-of-two-names": _template([CLS, A, X], [X, A, B, CLS], ids=[101], tokens=["x"]),
    "no-ids": _template([CLS, X, A], [A, X, B], ids=[], tokens=[]),
    "a-name-without-id": _template([CLS, X, A], [A, X, B], ids=[]),
    "two-ids-of-one-name": _template([X, A], [A, X, B, X], tokens=["x"]),
    "two-names-of-one-id": _template([X, A], [A, X, B, X], ids=[5]),
    "an-id-without-name": _template([X, A], [A, X, B, X], tokens=[]),
}  # fmt: skip
STATES: list[tuple[dict[str, Any] | None, dict[str, Any] | None]] = [
    (None, None),
    (None, {"length": 14, "direction": "left", "pad_type_id": 3}),
    ({"max_length": 6}, None),
    ({"max_length": 7, "stride": 1, "direction": "left"}, {"length": 9, "pad_type_id": 3}),
]
_TEXTS = ["a b c d e f", "", "hello unaffable"]
INPUTS = [*((text,) for text in _TEXTS), *product(_TEXTS, repeat=2)]
CALLS = """
t.encode(*texts, add_special_tokens=s)
t.encode_batch([texts if len(texts) == 2 else texts[0]] * 5, add_special_tokens=s)[4]
t.encode_batch([texts if len(texts) == 2 else texts[0]], add_special_tokens=s)
t.encode_batch_fast([texts if len(texts) == 2 else texts[0]], add_special_tokens=s)
t.post_process(*[t.encode(each, add_special_tokens=False) for each in texts], add_special_tokens=s)
""".strip().split("\n")


@pytest.mark.parametrize("processor", PROCESSORS)
def test_every_call_fills_a_template_as_the_reference_does(processor: str) -> None:
    tokenizers = both(with_parts(post_processor=PROCESSORS[processor]))
    for truncation, padding in STATES:
        for tokenizer in tokenizers:
            tokenizer.no_truncation()
            tokenizer.no_padding()
            if truncation:
                tokenizer.enable_truncation(**truncation)
            if padding:
                tokenizer.enable_padding(**padding)
        for texts, add_special, call in product(INPUTS, (True, False), CALLS):
            names = {"texts": texts, "s": add_special}
            expected = outcome(call, THEIRS, tokenizers[0], **names)
            if expected in ("Exception", PANIC):
                expected = "ValueError"
            got = outcome(call, ours, tokenizers[1], **names)
            assert got == expected, (call, names, truncation, padding)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_template_is_written_as_it_was_read(processor: str) -> None:
    theirs, mine = both(with_parts(post_processor=PROCESSORS[processor]))
    expected, got = (json.loads(each.to_str())["post_processor"] for each in (theirs, mine))
    assert got == expected
    for is_pair in (False, True):
        expected = theirs.num_special_tokens_to_add(is_pair)
        assert mine.num_special_tokens_to_add(is_pair) == expected
