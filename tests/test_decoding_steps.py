"""Decoders other than WordPiece's own, and what is read from a file, against the incumbent."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from piecework.decoding import Decoder, check_decoder
from piecework.errors import UnsupportedTokenizerError
from piecework.json_part import Part

TOKENS = [
    "[UNK]", "[PAD]", "a", "##b", "▁c", "▁▁d▁", "c▁", "x</w>", "</w>", "</w>y</w>", "|", "é|", "日",
    "<pad>", "a<pad>b", "<0x41>", "<0xe2>", "<0x96>", "<0x81>", "<0xFF>", "<0x+F>", "<0x4g>",
    "<0xé>", "<0x41>a", ".", " .", "n't", " do not", "  x ", "x  ", "aaaa", "a.", "\n",
]  # fmt: skip

WORDPIECE = {"type": "WordPiece", "prefix": "##", "cleanup": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
CTC = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
BPE = {"type": "BPEDecoder", "suffix": "</w>"}
FUSE, BYTE_FALLBACK = {"type": "Fuse"}, {"type": "ByteFallback"}


def replace(content: str, **pattern: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": pattern, "content": content}


def sequence(*decoders: Any) -> dict[str, Any]:
    return {"type": "Sequence", "decoders": list(decoders)}


DECODERS = [
    BPE,
    {**BPE, "suffix": ""},
    METASPACE,
    {**METASPACE, "prepend_scheme": "never", "split": False},
    {**METASPACE, "prepend_scheme": "first"},
    {**METASPACE, "replacement": "a"},
    CTC,
    {**CTC, "cleanup": False},
    {**CTC, "pad_token": "", "word_delimiter_token": "a"},
    FUSE,
    BYTE_FALLBACK,
    STRIP,
    {**STRIP, "start": 9},
    {**STRIP, "content": "a", "start": 2**63, "stop": 0},
    replace(" ", String="▁"),
    replace("-", String=""),
    replace("", String="a."),
    replace("$0\\0", String="a"),
    replace("X", Regex="a"),
    replace("X", Regex="</w>"),
    replace("-", Regex=""),
    sequence(),
    sequence(WORDPIECE),
    sequence({**WORDPIECE, "cleanup": False}, FUSE, {**STRIP, "start": 3}),
    sequence(replace(" ", String="▁"), BYTE_FALLBACK, FUSE, STRIP),  # Llama's
    sequence(FUSE, {**STRIP, "stop": 1}),
    sequence(sequence(CTC), WORDPIECE, BPE),
]


def incumbent(decoder: Any) -> Tokenizer:
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {token: i for i, token in enumerate(TOKENS)},
    }
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    pad = {"id": 1, "content": "[PAD]", **flags, "special": True}
    nothing = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor")
    )
    document = {"version": "1.0", **nothing, "added_tokens": [pad], "decoder": decoder}
    return Tokenizer.from_str(json.dumps({**document, "model": model}))


def checked(decoder: Any) -> Mapping[str, Any] | None:
    return check_decoder(Part({"decoder": decoder}, "", "file.json").part("decoder"))


def ours(decoder: Any) -> Decoder:
    return Decoder(dict(enumerate(TOKENS)), len(TOKENS), {"[PAD]"}, checked(decoder))


@pytest.mark.parametrize("decoder", DECODERS, ids=str)
def test_texts_are_those_of_the_incumbent(decoder: Any) -> None:
    hf = incumbent(decoder)
    rng = random.Random(str(decoder))
    # No row of which nothing stays: taking something off its end, the incumbent panics.
    rows = [[2, *rng.choices(range(len(TOKENS)), k=rng.randint(0, 9)), 2] for _ in range(3000)]
    rows += [[id_] * n for id_ in range(2, len(TOKENS)) for n in (1, 2)]
    for skip in (False, True):
        expected = hf.decode_batch(rows, skip_special_tokens=skip)
        assert ours(decoder).decode_batch(rows, skip) == expected
        assert [ours(decoder).decode(row, skip) for row in rows[-20:]] == expected[-20:]


@pytest.mark.parametrize("decoder", DECODERS, ids=str)
def test_what_is_read_from_a_file_is_what_the_incumbent_writes(decoder: Any) -> None:
    assert checked(decoder) == json.loads(incumbent(decoder).to_str())["decoder"]


@pytest.mark.parametrize(
    "decoder",
    [
        {"prefix": "##", "cleanup": True},
        {"type": None, "prefix": "##", "cleanup": True},
        {"type": "WordPiece", "prefix": "", "cleanup": False, "suffix": "x", "more": []},
        {"prefix": "##", "cleanup": True, "suffix": "</w>"},
        {"suffix": "x"},
        {"pad_token": "a", "word_delimiter_token": "b", "cleanup": True},
        {"pattern": {"String": "a"}, "content": "b"},
        {"content": "b", "start": 0, "stop": 1},
        {"type": "Metaspace", "replacement": "▁"},
        {"type": "Metaspace", "replacement": "▁", "str_rep": "▁", "add_prefix_space": True},
        {"type": "Metaspace", "replacement": "é", "add_prefix_space": None, "split": None},
        {**METASPACE, "prepend_scheme": "never", "add_prefix_space": False},
        {**METASPACE, "prepend_scheme": "never", "add_prefix_space": True},
        {"type": "Fuse", "more": 1},
        sequence({"suffix": "x"}),
    ],
    ids=str,
)
def test_fields_are_read_as_the_incumbent_does(decoder: Any) -> None:
    assert checked(decoder) == json.loads(incumbent(decoder).to_str())["decoder"]


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        ({}, "decoder.prefix is missing"),
        ({"type": "WordPiece", "prefix": "##"}, "decoder.cleanup is missing"),
        ({**WORDPIECE, "cleanup": 1}, "decoder.cleanup: expected a bool, got 1"),
        ({"type": "BPEDecoder"}, "decoder.suffix is missing"),
        ({"type": "Metaspace"}, "decoder.replacement is missing"),
        ({**METASPACE, "replacement": "▁▁"}, "decoder.replacement: expected a string of one char"),
        ({**METASPACE, "prepend_scheme": "x"}, "decoder.prepend_scheme: expected one of 'first'"),
        ({**METASPACE, "prepend_scheme": None}, "decoder.prepend_scheme: expected one of 'first'"),
        ({**METASPACE, "prepend_scheme": []}, "decoder.prepend_scheme: expected one of 'first'"),
        ({**METASPACE, "add_prefix_space": False}, "decoder.add_prefix_space: expected true"),
        ({**METASPACE, "split": 3}, "decoder.split: expected a bool, got 3"),
        ({"type": "CTC", "pad_token": "a"}, "decoder.word_delimiter_token is missing"),
        ({**STRIP, "content": ""}, 'decoder.content: expected a string of one character, got ""'),
        ({**STRIP, "start": -1}, "decoder.start: expected an int from 0 to "),
        ({**STRIP, "stop": 2**64}, "decoder.stop: expected an int from 0 to "),
        ({**STRIP, "stop": 1.0}, "decoder.stop: expected an int, got 1.0"),
        ({**replace("x"), "pattern": "a"}, "decoder.pattern: expected an object, got"),
        (replace("x", String="a", Regex="b"), "decoder.pattern: expected {"),
        (replace("x", Other="a"), "decoder.pattern: expected {"),
        ({"type": "Replace", "pattern": {"String": "a"}}, "decoder.content is missing"),
        ({"type": "Sequence"}, "decoder.decoders is missing"),
        (sequence(None), r"decoder.decoders\[0\]: expected an object, got null"),
        (
            sequence(FUSE, sequence({"type": "BPEDecoder"})),
            r"decoder.decoders\[1\].decoders\[0\].suffix is missing",
        ),
    ],
    ids=str,
)
def test_what_the_incumbent_does_not_load_is_malformed(decoder: Any, message: str) -> None:
    with pytest.raises(Exception, match="data did not match any variant"):
        incumbent(decoder)
    with pytest.raises(ValueError, match=f"^file.json: {message}") as caught:
        checked(decoder)
    assert not isinstance(caught.value, UnsupportedTokenizerError)


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (
            {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
            "decoder.type: expected one of 'WordPiece', 'Sequence', .*, got \"ByteLevel\"",
        ),
        ({"type": "Other", "prefix": "##", "cleanup": True}, "decoder.type: expected one of"),
        ({"type": 3}, "decoder.type: expected one of"),
        ({"add_prefix_space": True, "trim_offsets": True, "use_regex": True}, "decoder.type: exp"),
        (
            sequence(replace(" ", Regex="a+")),
            r"decoder.decoders\[0\].pattern.Regex: expected one that is a plain string, got",
        ),
    ],
    ids=str,
)
def test_what_is_not_reproduced_is_refused_with_its_place(decoder: Any, message: str) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=f"^file.json: {message}"):
        checked(decoder)


def test_a_regular_expression_that_is_taken_for_a_string_is_one() -> None:
    plain = "".join(chr(i) for i in range(1, 0x250) if chr(i) not in "\\^$.|?*+()[]{}") + "日▁😀"
    decoder = replace("!", Regex=plain)
    assert checked(decoder)
    flags = {"unk_token": "[UNK]", "continuing_subword_prefix": "", "max_input_chars_per_word": 9}
    model = {"type": "WordPiece", **flags, "vocab": {"[UNK]": 0, f"a{plain}b": 1}}
    hf = Tokenizer.from_str(json.dumps({"version": "1.0", "decoder": decoder, "model": model}))
    decode = Decoder({0: "[UNK]", 1: f"a{plain}b"}, 2, (), decoder).decode
    assert decode([1]) == hf.decode([1]) == "a!b"


@pytest.mark.parametrize(
    ("strip", "token", "text"),
    [
        ((0, 1), "", ""),
        ((2, 2), "   ", ""),
        ((0, 5), "   ", ""),
        ((9, 9), " x ", "x"),
    ],
)
def test_strip_leaves_nothing_where_the_incumbent_panics(
    strip: tuple[int, int], token: str, text: str
) -> None:
    start, stop = strip
    decoder = {**STRIP, "start": start, "stop": stop}
    assert Decoder({0: token}, 1, (), decoder).decode([0]) == text


@pytest.mark.parametrize("decoder", [FUSE, METASPACE], ids=str)
def test_ids_are_checked_as_by_the_fast_decoders(decoder: Any) -> None:
    made = ours(decoder)
    n = len(TOKENS)
    message = f"row 1, position 1: expected an id from 0 to {n - 1}, got {n}"
    for rows in ([[2], [2, n]], np.array([[2, 2], [2, n]])):
        with pytest.raises(ValueError, match=message):
            made.decode_batch(rows)
        assert made.decode_batch(rows, unknown="skip")[1] == "a"
    with pytest.raises(TypeError, match="position 0: expected an integer id"):
        made.decode([None])
    with pytest.raises(TypeError, match=r"decode_batch takes many rows$"):
        made.decode([[2]])
