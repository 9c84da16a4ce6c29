"""Offsets without the white space at the ends of tokens, against the incumbent."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer

VOCAB = ["[UNK]", "[CLS]", "[SEP]", "a", "b", "##a", "中", "g", "."]
# Contents, and what may stand between them; all white space, of one to three bytes.
CONTENTS = ["<m>", "w w ", "Ġa", "aĠ", "ĠĠ", "中", "<r>"]
SPACES = ["", "", " ", " ", "  ", "\u3000", "\t \x85", "\u2029", "\u200b", "\x1f", "\xa0"]


def draw_document(rng: random.Random, post_processor: dict[str, Any]) -> dict[str, Any]:
    flags = ("lstrip", "rstrip", "normalized", "single_word")
    tokens = []
    for content in CONTENTS:
        drawn = {flag: rng.random() < 0.4 for flag in flags}
        # What has a place of its own in the vocabulary keeps its id there.
        id_ = VOCAB.index(content) if content in VOCAB else len(VOCAB) + len(tokens)
        tokens.append({"id": id_, "content": content, "special": False, **drawn})
    tokens.sort(key=lambda token: int(token["id"]))
    n_new = 0
    for token in tokens:
        if token["content"] not in VOCAB:
            token["id"] = len(VOCAB) + n_new
            n_new += 1
    return {
        "added_tokens": tokens,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": rng.random() < 0.5,
            "handle_chinese_chars": rng.random() < 0.7,
            "strip_accents": None,
            "lowercase": rng.random() < 0.5,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": post_processor,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(VOCAB)},
        },
    }


def draw_post_processor(rng: random.Random) -> dict[str, Any]:
    flags = {"trim_offsets": True, "add_prefix_space": rng.random() < 0.7}
    if rng.random() < 0.5:
        return {"type": "RobertaProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2], **flags}
    byte_level = {"type": "ByteLevel", "use_regex": True, **flags}
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    template = {
        "type": "TemplateProcessing",
        "single": rng.choice(([a], [a, a])),
        "pair": [a, b],
        "special_tokens": {},
    }
    return {"type": "Sequence", "processors": [byte_level, template]}


def draw_text(rng: random.Random) -> str:
    n = rng.choice((0, 1, 3, 10))
    return "".join(rng.choice(SPACES) + rng.choice([*CONTENTS, "a", "b ", "é"]) for _ in range(n))


def in_bytes(text: str, span: tuple[int, int]) -> list[int]:
    return [len(text[:at].encode()) for at in span]


@pytest.mark.parametrize("seed", range(60))
def test_offsets_are_trimmed_as_the_incumbent_trims_them(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "tokenizer.json"
    post_processor = draw_post_processor(rng)
    path.write_text(json.dumps(draw_document(rng, post_processor)), "utf-8")
    ours, hf = WordPieceTokenizer.load(path), Tokenizer.from_file(str(path))
    repeats = str(post_processor).count("'A'") > 2  # where windows of one text are neighbours
    for _ in range(30):
        texts = [draw_text(rng) for _ in range(3)]
        pairs = [draw_text(rng) for _ in range(3)] if rng.random() < 0.5 else None
        call: dict[str, Any] = {"add_special": rng.random() < 0.5}
        if rng.random() < 0.7 and not repeats:
            call["max_length"] = rng.randint(5, 9)
            call["truncation_side"] = rng.choice(("left", "right"))
            # Of pairs a text may be left a single token, with which the reference panics.
            call["stride"] = rng.choice((0, 1, 2)) if pairs is None else 0
            call["return_overflow"] = rng.random() < 0.7
            hf.enable_truncation(
                call["max_length"], stride=call["stride"], direction=call["truncation_side"]
            )
        else:
            hf.no_truncation()
        rows: list[Any] = list(texts if pairs is None else zip(texts, pairs, strict=True))
        windows, samples = [], []
        for row, encoding in enumerate(
            hf.encode_batch(rows, add_special_tokens=call["add_special"])
        ):
            with_overflow = [encoding, *encoding.overflowing]
            windows += with_overflow if call.get("return_overflow") else [encoding]
            samples += [row] * (len(windows) - len(samples))
        for unit in (True, "bytes"):
            got = ours.encode_batch(texts, pairs, return_offsets=unit, **call)
            assert got.tolist() == [window.ids for window in windows], (texts, pairs, call)
            expected = []
            for row, window in zip(samples, windows, strict=True):
                # A repeated text has no sequence id but in its last place.
                sequences = [id_ or 0 for id_ in window.sequence_ids]
                for span, sequence, is_special in zip(
                    window.offsets, sequences, window.special_tokens_mask, strict=True
                ):
                    text = pairs[row] if pairs is not None and sequence else texts[row]
                    in_unit = list(span) if unit is True or is_special else in_bytes(text, span)
                    expected.append(in_unit)
            assert got.offsets is not None
            assert got.offsets.tolist() == expected, (texts, pairs, call, unit)


@pytest.mark.parametrize("seed", range(20))
def test_offsets_of_split_words_are_trimmed_too(tmp_path: Path, seed: int) -> None:
    rng = random.Random(f"words {seed}")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(draw_document(rng, draw_post_processor(rng))), "utf-8")
    ours, hf = WordPieceTokenizer.load(path), Tokenizer.from_file(str(path))
    for _ in range(30):
        words = [[draw_text(rng) for _ in range(rng.randint(0, 4))] for _ in range(2)]
        got = ours.encode_batch(words, is_split_into_words=True, return_offsets=True)
        expected = hf.encode_batch(words, is_pretokenized=True, add_special_tokens=False)
        assert got.tolist() == [encoding.ids for encoding in expected]
        assert got.offsets is not None
        assert got.offsets.tolist() == [list(at) for each in expected for at in each.offsets]
