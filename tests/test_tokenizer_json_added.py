"""Added tokens in a tokenizer.json, against the incumbent that reads and writes the same files."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import helpers
import pytest
from tokenizers import Tokenizer

from piecework.errors import UnsupportedTokenizerError
from piecework.pretrained import bert_spec
from piecework.spec import AddedToken, TokenizerSpec
from piecework.tokenizer_json import from_json, read_tokenizer_json, to_json
from piecework.vocabulary import Vocabulary

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
VOCAB = {token: i for i, token in enumerate([*helpers.SPECIALS, "a", "##b", "b", "x", "hello"])}
CONTENTS = [
    "<x>",
    "<Y>",
    "Hello",
    "hello",
    "[MASK]",
    "[CLS]",
    "new Tok",
    " ",
    "é",
    "##b",
    "日",
    "😀",
]


def token(id_: int, content: str, **flags: bool) -> dict[str, Any]:
    plain = dict.fromkeys(FLAGS[:4], False)
    return {"id": id_, "content": content, **plain, "special": True, **flags}


def document(added: list[Any]) -> str:
    text = json.loads(to_json(bert_spec(Vocabulary.from_mapping(VOCAB))))
    return json.dumps({**text, "added_tokens": added})


def drawn(rng: random.Random, n_tokens: int) -> list[dict[str, Any]]:
    """Draw tokens with the ids that they get; some contents occur twice."""
    following = len(VOCAB)
    ids: dict[str, int] = {}
    tokens = []
    for content in rng.choices(CONTENTS, k=n_tokens):
        if content not in ids:
            ids[content] = VOCAB.get(content, following)
            following += content not in VOCAB
        flags = {flag: rng.random() < 0.4 for flag in FLAGS}
        tokens.append(token(ids[content], content, **flags))
    return tokens


def flags_of(hf: Tokenizer) -> dict[int, tuple[Any, ...]]:
    return {
        id_: (t.content, t.single_word, t.lstrip, t.rstrip, t.normalized)
        for id_, t in hf.get_added_tokens_decoder().items()
    }


def our_flags(spec: TokenizerSpec) -> dict[int, tuple[Any, ...]]:
    return {
        t.id: (t.content, t.single_word, t.lstrip, t.rstrip, t.normalized)
        for t in spec.added_tokens
    }


def special_in_text(hf: Tokenizer, contents: set[str]) -> set[str]:
    """Give the contents that the incumbent holds for special, whatever their flags are now."""
    hf.encode_special_tokens = False
    ids = {content: hf.token_to_id(content) for content in contents}
    found = {content for content, id_ in ids.items() if id_ in hf.encode(content).ids}
    hf.encode_special_tokens = True
    split = {content for content in found if ids[content] not in hf.encode(content).ids}
    hf.encode_special_tokens = False
    return split


@pytest.mark.parametrize("seed", range(4))
def test_random_files_are_read_as_the_incumbent_reads_them_and_back(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        added = drawn(rng, rng.randint(0, 8))
        text = document(added)
        hf, spec = Tokenizer.from_str(text), from_json(text, "drawn")
        assert our_flags(spec) == flags_of(hf)
        assert spec.vocab_size == hf.get_vocab_size()
        ever_special = {t["content"] for t in added if t["special"]}
        assert spec.special_tokens.keys() == ever_special
        written = to_json(spec)
        assert from_json(written, "written") == spec
        again = Tokenizer.from_str(written)
        assert flags_of(again) == flags_of(hf)
        assert again.get_vocab() == hf.get_vocab()
        for probe in helpers.random_texts(f"{seed} {len(added)}", helpers.HF_RULES or "", 3):
            probe += rng.choice(CONTENTS) + " " + rng.choice(CONTENTS) + "x"
            expected, got = hf.encode(probe), again.encode(probe)
            assert (got.ids, got.offsets, got.word_ids) == (
                expected.ids,
                expected.offsets,
                expected.word_ids,
            )


@pytest.mark.parametrize(("first", "second"), list(product([True, False], repeat=2)))
def test_a_content_that_was_ever_special_stays_so(first: bool, second: bool) -> None:
    added = [token(len(VOCAB), "<x>", special=first), token(len(VOCAB), "<x>", special=second)]
    spec = from_json(document(added), "")
    hf = Tokenizer.from_str(document(added))
    assert (
        special_in_text(hf, {"<x>"})
        == spec.special_tokens.keys()
        == ({"<x>"} if first or second else set())
    )


def test_a_thousand_and_more_tokens_are_written_as_json_lays_them_out() -> None:
    spec = bert_spec(Vocabulary.from_mapping(VOCAB))
    n = len(VOCAB)
    added = [AddedToken(f'<"{i}\\\n日>', n + i, lstrip=i % 2 == 0) for i in range(1500)]
    text = to_json(replace(spec, added_tokens=(*spec.added_tokens, *added)))
    loaded = json.loads(text)
    del loaded["model"]["vocab"]
    assert text.startswith(json.dumps(loaded, indent=2, ensure_ascii=False)[:-8])
    assert Tokenizer.from_str(text).token_to_id(added[-1].content) == n + 1499


def test_no_added_tokens_are_written_as_an_empty_array() -> None:
    spec = replace(bert_spec(Vocabulary.from_mapping(VOCAB)), added_tokens=())
    assert json.loads(to_json(spec))["added_tokens"] == []
    assert from_json(to_json(spec), "") == spec


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": True}, r"id: expected an int, got true"),
        ({"id": 10.0}, r"id: expected an int, got 10\.0"),
        ({"content": None}, "content: expected a string, got null"),
        *(({flag: 1}, rf"{flag}: expected a bool, got 1") for flag in FLAGS),
        *(({flag: None}, rf"{flag}: expected a bool, got null") for flag in FLAGS),
    ],
)
def test_a_wrong_field_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    text = document([token(0, "[PAD]"), {**token(10, "<x>"), **change}])
    with pytest.raises(ValueError, match=rf"^here: added_tokens\[1\]\.{message}$"):
        from_json(text, "here")
    with pytest.raises(Exception, match="invalid type"):
        Tokenizer.from_str(text)


@pytest.mark.parametrize("field", ["id", "content", *FLAGS])
def test_a_missing_field_is_refused_with_its_place(field: str) -> None:
    incomplete = {key: value for key, value in token(10, "<x>").items() if key != field}
    with pytest.raises(ValueError, match=rf"^here: added_tokens\[0\]\.{field} is missing$"):
        from_json(document([incomplete]), "here")


@pytest.mark.parametrize("value", [None, 5, "<x>", ["<x>"]])
def test_a_token_that_is_no_object_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^here: added_tokens\[0\]: expected an object, got"):
        from_json(document([value]), "here")


def test_keys_that_no_token_has_are_passed_over() -> None:
    spec = from_json(document([{**token(10, "<x>"), "comment": None}]), "")
    assert spec.added_tokens == (AddedToken("<x>", 10),)


def test_ids_in_another_order_than_the_list_are_refused() -> None:
    text = document([token(11, "<x>"), token(10, "<y>")])
    with pytest.raises(UnsupportedTokenizerError, match=r"added_tokens\[0\].id: expected 10 .*11"):
        from_json(text, "")
    assert Tokenizer.from_str(text).token_to_id("<x>") == 10


def test_a_published_file_with_1644_added_tokens(
    data_path: Callable[..., Path], corpus: Callable[[str], list[str]]
) -> None:
    path = data_path("vocabs", "rubert-tiny2-1644-added", "tokenizer.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = read_tokenizer_json(path)
    hf = Tokenizer.from_file(str(path))
    hf.no_truncation()
    hf.no_padding()
    assert (len(spec.added_tokens), spec.vocab_size) == (1644, hf.get_vocab_size())
    assert our_flags(spec) == flags_of(hf)
    again = Tokenizer.from_str(to_json(spec))
    contents = [t.content for t in spec.added_tokens]
    texts = [*corpus("ru-help")[:300], " ".join(contents), "".join(contents)]
    for text in texts:
        expected, got = hf.encode(text), again.encode(text)
        assert (got.ids, got.offsets, got.word_ids) == (
            expected.ids,
            expected.offsets,
            expected.word_ids,
        )
    for text in texts[-10:]:
        assert helpers.spec_ids(spec, text) == hf.encode(text).ids
