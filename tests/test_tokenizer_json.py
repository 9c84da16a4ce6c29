"""tokenizer.json, against what the incumbent was measured to load and the incumbent itself."""

from __future__ import annotations

import copy
import json
import os
import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import helpers
import pytest
from tokenizers import Tokenizer

import piecework
from piecework.errors import TokenizerFileWarning, UnsupportedTokenizerError, VocabularyWarning
from piecework.pretrained import bert_spec
from piecework.spec import NO_TEMPLATE, AddedToken, Template, TokenizerSpec
from piecework.tokenizer_json import from_json, read_tokenizer_json, to_json, write_tokenizer_json
from piecework.vocabulary import Vocabulary

FACTS = helpers.DATA.parent / "facts" / "q10_tokenizer_json.json"

VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##b": 4, "[PAD]": 5, "b": 6}


def special_token(id_: int, content: str, **flags: Any) -> dict[str, Any]:
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id_, "content": content, **plain, "special": True, **flags}


def piece(content: str, type_id: int = 0) -> dict[str, Any]:
    kind = "Sequence" if content in "AB" else "SpecialToken"
    return {kind: {"id": content, "type_id": type_id}}


BERT: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [special_token(VOCAB[t], t) for t in ("[UNK]", "[CLS]", "[SEP]", "[PAD]")],
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [piece("[CLS]"), piece("A"), piece("[SEP]")],
        "pair": [piece("[CLS]"), piece("A"), piece("[SEP]"), piece("B", 1), piece("[SEP]", 1)],
        "special_tokens": {
            token: {"id": token, "ids": [VOCAB[token]], "tokens": [token]}
            for token in ("[CLS]", "[SEP]")
        },
    },
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": VOCAB,
    },
}

_ABSENT = object()


# With all that a file may hold.
FULL: dict[str, Any] = {
    **BERT,
    "truncation": {"max_length": 3, "strategy": "OnlyFirst", "stride": 0, "direction": "Right"},
    "padding": {
        "strategy": {"Fixed": 6},
        "direction": "Left",
        "pad_to_multiple_of": 8,
        "pad_id": 5,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    },
    "model": {
        **BERT["model"],
        "vocab": {**VOCAB, "b": 7},
        "piecework": {
            "rules": "unicode",
            "shadowed": [[6, "b"]],
            "truncation": {},
            "padding": {},
            "adds_special": True,
        },
    },
}


def changed(path: str, value: Any = _ABSENT, original: dict[str, Any] = BERT) -> str:
    """Give the text of a document with one place changed, or taken out."""
    document = copy.deepcopy(original)
    *parents, last = path.split(".")
    place = document
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    key = int(last) if isinstance(place, list) else last
    if value is _ABSENT:
        del place[key]
    else:
        place[key] = value
    return json.dumps(document)


def read_silently(source: Any) -> TokenizerSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_tokenizer_json(source)


def hf_load(text: str, folder: Path) -> Tokenizer:
    path = folder / "incumbent.json"
    path.write_text(text, "utf-8")
    hf = Tokenizer.from_file(str(path))
    hf.no_truncation()
    hf.no_padding()
    return hf


# ---- reading ----


def test_the_bert_form_gives_the_spec_of_its_vocabulary() -> None:
    text = json.dumps({**BERT, "added_tokens": BERT["added_tokens"]})
    assert read_tokenizer_json(text) == bert_spec(Vocabulary.from_mapping(VOCAB))


def test_reads_a_path_or_a_text(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(BERT), "utf-8")
    expected = read_tokenizer_json(path)
    assert expected.vocabulary.source == str(path)
    for source in (str(path), json.dumps(BERT), " \n" + json.dumps(BERT)):
        assert read_tokenizer_json(source) == expected


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        read_tokenizer_json(tmp_path / "nowhere.json")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        read_tokenizer_json(str(tmp_path))


def test_invalid_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes(b'{\n"version": "\xff"}')
    with pytest.raises(ValueError, match=r"line 2 of .*: expected UTF-8, got byte 0xff"):
        read_tokenizer_json(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", "2.0", "version: expected '1.0', got \"2.0\""),
        ("normalizer.type", "Foo", 'normalizer.type: .*, got "Foo"'),
        ("normalizer.type", "Precompiled", 'normalizer.type: .*, got "Precompiled"'),
        ("pre_tokenizer.type", "Foo", 'pre_tokenizer.type: .*, got "Foo"'),
        ("post_processor.type", "Foo", 'post_processor.type: expected one of .*, got "Foo"'),
        ("post_processor.type", _ABSENT, "post_processor.type: expected one of .*, got nothing"),
        ("decoder.type", "Foo", 'decoder.type: .*, got "Foo"'),
        ("model.type", "BPE", "model.type: expected 'WordPiece', got \"BPE\""),
        ("model.type", "wordpiece", "model.type: expected 'WordPiece', got \"wordpiece\""),
        ("added_tokens.1.id", 77, r"added_tokens\[1\].id: expected 1 .*, got 77"),
        ("added_tokens.1", special_token(9, "<n>"), r"added_tokens\[1\].id: expected 7 .*, got 9"),
        ("model.piecework", {"future": 1}, "model.piecework.future"),
        ("model.piecework", {"rules": "x"}, "model.piecework.rules: .*'unicode', got \"x\""),
    ],
)
def test_what_would_differ_is_unsupported(path: str, value: Any, message: str) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=f"^<text>: {message}"):
        read_tokenizer_json(changed(path, value))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "model is missing"),
        ({"surprise": 1, "version": "2.0"}, "model is missing"),
        ({"model": None}, "model: expected an object, got null"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}}, 'model.type: .*, got "BPE"'),
        ({"model": {"type": "WordPiece"}}, "model.vocab is missing"),
    ],
)
def test_the_model_is_looked_at_first(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^<text>: {message}"):
        read_tokenizer_json(json.dumps(document))


@pytest.mark.parametrize("missing", ["continuing_subword_prefix", "max_input_chars_per_word"])
def test_a_model_without_type_is_a_wordpiece_only_with_all_its_keys(missing: str) -> None:
    model = {key: value for key, value in BERT["model"].items() if key != "type"}
    read_tokenizer_json(changed("model", model))
    del model[missing]
    with pytest.raises(UnsupportedTokenizerError, match=r"model.type: .*got nothing"):
        read_tokenizer_json(changed("model", model))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", None, "version: expected a string, got null"),
        ("surprise", 1, "unknown key 'surprise' at the top level"),
        ("model", _ABSENT, "model is missing"),
        ("model.unk_token", "<x>", r"model.unk_token: '<x>' is not in model.vocab"),
        ("model.unk_token", _ABSENT, "model.unk_token is missing"),
        ("model.vocab", _ABSENT, "model.vocab is missing"),
        ("model.vocab", {}, "model.vocab: expected tokens, got an empty object"),
        ("model.vocab", ["a"], "model.vocab: expected an object, got"),
        ("model.vocab.a", -1, "model.vocab: token 'a': expected an integer id .*, got -1"),
        ("model.vocab.a", 3.0, r"model.vocab: token 'a': expected an integer id .*, got 3\.0"),
        ("model.vocab.a", True, "model.vocab: token 'a': expected an integer id .*, got True"),
        ("model.vocab.a", 1 << 28, "model.vocab: token 'a': .* to 268,435,455, got 268435456"),
        ("model.vocab.\ud800", 7, r"model.vocab: token '\\ud800' holds a lone surrogate"),
        ("model.unk_token", "\udfff", r"lone surrogate at the end of .*\\udfff'"),
        ("added_tokens.0.content", "\ud800", "lone surrogate at the end of"),
        (
            "model.max_input_chars_per_word",
            0,
            "model.max_.*: expected an integer from 1 to .*, got 0",
        ),
        ("model.max_input_chars_per_word", 1 << 64, "model.max_.*: expected an integer from 1 to"),
        ("model.max_input_chars_per_word", True, "model.max_.*: expected an int, got true"),
        ("model.continuing_subword_prefix", 1, "model.cont.*: expected a string, got 1"),
        ("normalizer", "BertNormalizer", "normalizer: expected an object, got"),
        ("normalizer.lowercase", 1, "normalizer.lowercase: expected a bool, got 1"),
        ("normalizer.clean_text", _ABSENT, "normalizer.clean_text is missing"),
        ("decoder.cleanup", _ABSENT, "decoder.cleanup is missing"),
        ("decoder.prefix", None, "decoder.prefix: expected a string, got null"),
        ("added_tokens", None, "added_tokens: expected an array, got null"),
        ("added_tokens.0", "[UNK]", r"added_tokens\[0\]: expected an object, got"),
        ("added_tokens.0.lstrip", _ABSENT, r"added_tokens\[0\].lstrip is missing"),
        ("added_tokens.0.id", "0", r"added_tokens\[0\].id: expected an int, got"),
        ("post_processor.special_tokens.[SEP]", _ABSENT, r"special_tokens.\[SEP\] is missing"),
        ("post_processor.special_tokens.[SEP].ids", ["x"], "ids: expected an array of int"),
        ("post_processor.special_tokens.[SEP].ids", [7], "ids from 0 to 6, got 7 for"),
        ("post_processor.pair", _ABSENT, "post_processor.pair is missing"),
        ("post_processor.single", [piece("A"), piece("B")], r"post_processor.single: .*no \$B"),
        ("post_processor.single", [piece("C")], "special_tokens.C is missing"),
        (
            "post_processor.single",
            [piece("A", -1)],
            r"single\[0\]: expected a type_id from 0 .* -1",
        ),
        ("post_processor.single", [piece("A", True)], r"single\[0\]: expected a type_id .* true"),
        ("post_processor.single", [{**piece("A"), "x": 1}], r"single\[0\]: expected a SpecialT"),
        ("post_processor.single", ["$A"], r"single\[0\]: expected an object, got"),
        ("post_processor.single", "$A", "single: expected an array, got"),
        ("post_processor.pair", [piece("zz")], "special_tokens.zz is missing"),
        ("post_processor.special_tokens", _ABSENT, "post_processor.special_tokens is missing"),
        ("truncation", {"max_length": 3, "strategy": "LongestFirst"}, "truncation.stride is mi"),
        ("padding", {"strategy": "Longest"}, "padding.strategy: expected BatchLongest or"),
        ("model.piecework", {"shadowed": [[3, "b"]]}, r"model.piecework.shadowed: .* got \[3"),
        ("model.piecework", {"shadowed": [[9, "b"]]}, r"model.piecework.shadowed: .* got \[9"),
        ("model.piecework", {"rules": 1}, "model.piecework.rules: expected a string, got 1"),
    ],
)
def test_a_malformed_file_is_refused_with_the_place(path: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^<text>: .*{message}") as caught:
        read_tokenizer_json(changed(path, value))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": "1.0"', "Expecting ',' delimiter: line 1 column 18"),
        ('{\n"version": NaN}', "NaN is no JSON"),
        ('{"version": "1.0",}', "line 1 column 1[89]"),
        ('{"a": 1} x', "Extra data: line 1 column 10"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_invalid_json_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^<text>: invalid JSON: .*{message}"):
        read_tokenizer_json(text)


@pytest.mark.parametrize("text", ["\ufeff{}", "\ufeff \n{}"])
def test_a_byte_order_mark_is_refused_in_a_text_and_in_a_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text, "utf-8")
    for source, name in ((text, "<text>"), (tmp_path / "t.json", r".*t\.json")):
        with pytest.raises(ValueError, match=f"^{name}: invalid JSON: .* a byte order mark"):
            read_tokenizer_json(source)


@pytest.mark.parametrize("source", [5, None, b"{}", ["t.json"]])
def test_a_source_that_is_neither_text_nor_path_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match=r"^tokenizer_json: expected a str or a path, got "):
        read_tokenizer_json(source)


def test_an_empty_source_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^tokenizer_json: expected .*, got an empty str"):
        read_tokenizer_json("")


WRONG_VALUES = [None, True, -1, 5, 1.5, 1 << 70, "x", "", [], [5], ["x"], {}, {"x": 5}, {"x": "y"}]


def places(value: Any, path: str = "") -> list[str]:
    """Give the paths of all values in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, inner in items:
        found.append(f"{path}{key}")
        if isinstance(inner, (dict, list)):
            found += places(inner, f"{path}{key}.")
    return found


@pytest.mark.parametrize("place", places(FULL))
def test_a_wrong_value_anywhere_is_accepted_or_refused_with_the_file(place: str) -> None:
    for value in WRONG_VALUES:
        try:
            piecework.WordPieceTokenizer.from_spec(read_silently(changed(place, value, FULL)))
        except ValueError as error:
            message = str(error)
        else:
            continue
        assert message.startswith("<text>: "), value


@pytest.mark.parametrize("text", ["[]", "null", "5", ""])
def test_a_file_that_holds_no_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"t\.json: (expected a JSON object|invalid JSON)"):
        read_tokenizer_json(tmp_path / "t.json")


def test_gaps_in_the_ids_are_allowed_with_a_warning() -> None:
    with pytest.warns(VocabularyWarning, match=r"model.vocab: 3 ids below 10 have no token, .* 3$"):
        spec = read_tokenizer_json(changed("model.vocab.a", 9))
    assert (spec.vocabulary.ids["a"], spec.vocab_size) == (9, 10)


def test_a_repeated_key_is_named_when_it_leaves_a_gap() -> None:
    text = json.dumps(BERT).replace('"a": 3', '"a": 3, "a": 9')
    with pytest.warns(VocabularyWarning, match=r"key\(s\) occur twice, .* holds: \['a'\]"):
        spec = read_tokenizer_json(text)
    assert spec.vocabulary.ids["a"] == 9


def test_tokens_that_share_an_id_keep_it_and_decode_to_the_first() -> None:
    with pytest.warns(VocabularyWarning, match=r"1 token\(s\) .*'b', which has that of 'a' \(3\)"):
        spec = read_tokenizer_json(changed("model.vocab", {**VOCAB, "b": 3}))
    assert spec.vocabulary.ids["a"] == spec.vocabulary.ids["b"] == 3
    assert spec.vocabulary.tokens_by_id[3] == "a"


def test_added_tokens_beyond_the_vocabulary_get_the_ids_that_the_incumbent_gives() -> None:
    added = [*BERT["added_tokens"], special_token(7, "<x>"), special_token(8, "<y>")]
    spec = read_tokenizer_json(changed("added_tokens", added))
    assert (spec.special_tokens["<x>"], spec.special_tokens["<y>"], spec.vocab_size) == (7, 8, 9)


def test_an_added_token_with_the_id_of_another_is_warned_about() -> None:
    document = json.loads(changed("model.vocab", {**VOCAB, "b": 7}))
    document["added_tokens"].append(special_token(7, "<x>"))
    with pytest.warns(VocabularyWarning) as caught:
        spec = read_tokenizer_json(json.dumps(document))
    assert "7 is the id of 'b' in model.vocab too" in str(caught[1].message)
    assert spec.special_tokens["<x>"] == spec.vocabulary.ids["b"] == 7


def with_added(vocab: Mapping[str, int], added: Sequence[tuple[str, int]]) -> str:
    """Give the text of BERT without template over a vocabulary and special added tokens."""
    model = {**BERT["model"], "vocab": dict(vocab)}
    tokens = [special_token(id_, content) for content, id_ in added]
    return json.dumps({**BERT, "model": model, "added_tokens": tokens, "post_processor": None})


def handed_out(hf: Tokenizer, contents: Sequence[str]) -> list[tuple[str, int]]:
    """Give added tokens with the ids that the incumbent encodes them to."""
    return [(content, hf.encode(content).ids[0]) for content in contents]


@pytest.mark.parametrize(
    "contents",
    [["a", "<s>"], ["<s>", "a"], ["<s>", "<t>", "<u>", "<v>"], ["<s>", "<s>", "<t>", "<s>", "<u>"]],
)
def test_added_tokens_are_numbered_from_the_count_of_entries(
    contents: list[str], tmp_path: Path
) -> None:
    vocab = {"[UNK]": 0, "x": 1, "a": 5}
    hf = hf_load(with_added(vocab, [(content, 0) for content in contents]), tmp_path)
    added = handed_out(hf, contents)
    assert read_silently(with_added(vocab, added)).special_tokens == dict(added)
    for i, (content, id_) in enumerate(added):
        wrong = [*added[:i], (content, id_ + 1), *added[i + 1 :]]
        with pytest.raises(UnsupportedTokenizerError, match=rf"\[{i}\].id: expected {id_} "):
            read_silently(with_added(vocab, wrong))


@pytest.mark.parametrize(
    ("vocab", "added"),
    [
        ({"[UNK]": 0, "x": 1, "[CLS]": 4, "[SEP]": 5}, [("<s>", 4), ("[CLS]", 4)]),
        ({"[UNK]": 0, "x": 1, "[CLS]": 4, "[SEP]": 5}, [("[CLS]", 4), ("<s>", 4)]),
        ({"[UNK]": 0, "x": 1, "a": 2, "b": 2}, [("a", 2), ("b", 2)]),
    ],
)
def test_two_added_tokens_with_one_id_are_unsupported(
    vocab: dict[str, int], added: list[tuple[str, int]], tmp_path: Path
) -> None:
    hf = hf_load(with_added(vocab, added), tmp_path)
    # It looks for one of them only: in "xa" it doesn't find "a".
    assert [[1, id_] for _, id_ in added] != [hf.encode(f"x{content}").ids for content, _ in added]
    other = re.escape(added[0][0])
    with pytest.raises(UnsupportedTokenizerError, match=rf"added_tokens\[1\].id: .*'{other}' has"):
        read_silently(with_added(vocab, added))


def test_files_with_gaps_give_what_the_incumbent_gives_or_are_refused(tmp_path: Path) -> None:
    rng = random.Random(20)
    n_accepted = 0
    for _ in range(150):
        tokens = ["[UNK]", *rng.sample(["x", "a", "b", "##a", "##b", "[CLS]", "<s>"], 4)]
        vocab = dict(zip(tokens, rng.sample(range(12), 5), strict=True))
        contents = rng.choices(["a", "x", "[UNK]", "[CLS]", "<s>", "<t>", "<u>", "ab"], k=4)
        hf = hf_load(with_added(vocab, [(content, 0) for content in contents]), tmp_path)
        added = handed_out(hf, contents)
        text = with_added(vocab, added)
        # Of two with one id, one is text like any other: unknown, or the id of the other.
        if any(hf.decode([id_], skip_special_tokens=False) != content for content, id_ in added):
            with pytest.raises(UnsupportedTokenizerError, match=r"added_tokens\[\d\]\.id: "):
                read_silently(text)
            continue
        n_accepted += 1
        spec = read_silently(text)
        check_equal(spec, hf, rng)
        check_equal(spec, hf_load(to_json(spec), tmp_path), rng)
        assert read_silently_as_json(to_json(spec)) == spec
    assert n_accepted > 50


def check_equal(spec: TokenizerSpec, hf: Tokenizer, rng: random.Random) -> None:
    tokenizer = piecework.WordPieceTokenizer.from_spec(spec)
    for _ in range(10):
        words = rng.choices(["a", "b", "x", "<s>", "<t>", "<u>", "[CLS]", "[UNK]", " "], k=8)
        assert tokenizer.encode("".join(words)) == hf.encode("".join(words)).ids
        ids = rng.choices(range(spec.vocab_size), k=5)
        for skip in (False, True):
            expected = hf.decode(ids, skip_special_tokens=skip)
            assert tokenizer.decode(ids, skip_special=skip) == expected


def test_an_empty_or_repeated_added_token_is_passed_over() -> None:
    added = [*BERT["added_tokens"], BERT["added_tokens"][0], special_token(99, "")]
    spec = read_tokenizer_json(changed("added_tokens", added))
    assert spec == read_tokenizer_json(json.dumps(BERT))


def test_truncation_and_padding_are_kept_and_reported() -> None:
    truncation = {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    padding = {
        "strategy": {"Fixed": 6},
        "direction": "Left",
        "pad_to_multiple_of": None,
        "pad_id": 5,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    text = json.dumps({**BERT, "truncation": truncation, "padding": padding})
    with pytest.warns(TokenizerFileWarning, match="switches on truncation .* and padding ") as got:
        spec = read_tokenizer_json(text)
    assert len(got) == 1
    assert (spec.file_truncation, spec.file_padding) == (truncation, padding)
    again = from_json(to_json(spec), "again")  # it was reported: no warning
    assert again == spec
    assert json.loads(to_json(spec))["truncation"] is json.loads(to_json(spec))["padding"] is None


@pytest.mark.parametrize(
    ("post_processor", "template"),
    [
        (None, NO_TEMPLATE),
        (BERT["post_processor"], Template.bert(("[CLS]", 1), ("[SEP]", 2))),
        (
            {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
            replace(
                Template.bert(("[CLS]", 1), ("[SEP]", 2)),
                post_processor={
                    "type": "BertProcessing",
                    "sep": ["[SEP]", 2],
                    "cls": ["[CLS]", 1],
                },
            ),
        ),
    ],
)
def test_post_processors(post_processor: Any, template: Template) -> None:
    text = changed("post_processor", post_processor)
    spec = read_tokenizer_json(text)
    assert spec.template == template
    assert json.loads(to_json(spec))["post_processor"] == post_processor


def test_a_template_piece_of_several_tokens() -> None:
    document = copy.deepcopy(BERT)
    definitions = document["post_processor"]["special_tokens"]
    definitions["[CLS]"] = {"id": "[CLS]", "ids": [1, 3], "tokens": ["[CLS]", "a"]}
    spec = read_tokenizer_json(json.dumps(document))
    assert spec.template is not None
    assert spec.template.around == ((1, 3), (2,))
    assert json.loads(to_json(spec))["post_processor"] == document["post_processor"]


# ---- the traps ----


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("fbt-invalid-wrong-model-type", UnsupportedTokenizerError, "model.type: .*NotWordPiece"),
        ("fbt-invalid-wrong-normalizer", UnsupportedTokenizerError, "normalizer.type: .*NotBert"),
        ("labse-mini-tokenizer", ValueError, r"model.unk_token: '\[UNK\]' is not in model.vocab"),
    ],
)
@pytest.mark.filterwarnings("ignore::piecework.errors.VocabularyWarning")
def test_traps_are_refused(
    name: str, error: type, message: str, data_path: Callable[..., Path]
) -> None:
    with pytest.raises(error, match=rf"{name}\.json: {message}"):
        read_tokenizer_json(data_path("vocabs", "traps", f"{name}.json"))


@pytest.mark.parametrize(
    ("name", "n_tokens", "strip_accents"),
    [
        ("fbt-minimal", 5, None),
        ("fbt-dont-strip-accents", 5, False),
        ("fbt-with-empty-token", 6, None),
    ],
)
def test_traps_are_loaded(
    name: str, n_tokens: int, strip_accents: bool | None, data_path: Callable[..., Path]
) -> None:
    with pytest.warns(VocabularyWarning, match="99 ids below 10[45] have no token"):
        spec = read_tokenizer_json(data_path("vocabs", "traps", f"{name}.json"))
    assert len(spec.vocabulary.ids) == n_tokens
    assert (spec.lowercase, spec.strip_accents) == (True, strip_accents)
    assert spec.special_tokens["[MASK]"] == spec.vocabulary.ids["[MASK]"] == 103


# ---- against the incumbent ----


def measured_cases() -> list[Any]:
    if not FACTS.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"no {FACTS}"))]
    return [case for case in json.loads(FACTS.read_text("utf-8")) if "text" in case]


@pytest.mark.parametrize("case", measured_cases(), ids=lambda case: case and case["case"])
def test_a_file_gives_the_measured_ids_or_is_refused(case: Mapping[str, Any]) -> None:
    try:
        spec = read_silently_as_json(case["json"])
    except ValueError:
        return  # which, and with what message, is tested above
    assert "error" not in case or "stride" in case["error"]
    if "ok" in case and not spec.file_truncation and not spec.file_padding:
        assert helpers.spec_ids(spec, case["text"]) == case["ok"]["ids"]
        tokenizer = piecework.WordPieceTokenizer.from_spec(spec)
        assert tokenizer.decode(case["ok"]["ids"]) == decoded(case, spec)


def test_few_of_the_measured_files_are_refused() -> None:
    """What the incumbent reads, and piecework does not."""
    refused = set()
    for case in measured_cases():
        if not isinstance(case, dict):
            pytest.skip(f"no {FACTS}")
        try:
            read_silently_as_json(case["json"])
        except ValueError:
            refused |= {case["case"]} if "ok" in case else set()
    assert refused == {
        # It reads another model than WordPiece.
        "model without type and without continuing_subword_prefix",
        "model without type and without max_input_chars_per_word",
        "model type WordLevel",
        # Every text, or the first unknown word, would be an error, or [UNK].
        "model unk absent, text in vocab",
        "vocab empty",
        "max_input_chars 0",
        # It goes by the fields of a part, and not by the type that the file gives.
        "normalizer no type",
        "normalizer type Bert",
        "normalizer type unknown",
        "pp Bert no type",
        "pp Roberta missing trim -> parsed as?",
        "pp wrong type name but bert fields",
        # Ids that no embedding has, or that the file does not mean.
        "template special ids not equal to vocab (no check)",
        "added token wrong id (content in vocab)",
        "added token not in vocab: given id 77 is ignored -> next id",
        "added tokens out of order ids",
        "added token with id gap first",
    }


def read_silently_as_json(text: str) -> TokenizerSpec:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return from_json(text, "case")


def decoded(case: Mapping[str, Any], spec: TokenizerSpec) -> str:
    # Of two tokens with one id the incumbent takes either, run by run; ours is the first.
    text: str = case["ok"]["decode_all"]
    return text.replace(" b", " a") if len(set(spec.vocabulary.ids.values())) < 7 else text


@pytest.mark.parametrize(
    ("model", "file"),
    [
        ("bert-base-cased", "tokenizer.trunc175-padfixed175.json"),
        ("bert-base-chinese", "tokenizer.json"),
        ("bert-base-multilingual-cased", "tokenizer.json"),
        ("bert-base-uncased", "tokenizer.json"),
        ("bge-small-en", "tokenizer.json"),
        ("rubert-tiny2-1644-added", "tokenizer.json"),
        ("traps", "fbt-minimal.json"),
        ("traps", "fbt-dont-strip-accents.json"),
        ("traps", "fbt-with-empty-token.json"),
    ],
)
def test_the_incumbent_loads_what_is_written_to_the_same_ids(
    model: str,
    file: str,
    data_path: Callable[..., Path],
    corpus: Callable[[str], list[str]],
    tmp_path: Path,
) -> None:
    path = data_path("vocabs", model, file)
    spec = read_silently(path)
    write_tokenizer_json(spec, tmp_path / "written.json")
    assert read_silently(tmp_path / "written.json") == spec
    original = hf_load(path.read_text("utf-8"), tmp_path)
    written = hf_load((tmp_path / "written.json").read_text("utf-8"), tmp_path)
    texts = [*corpus("multi-tatoeba")[:1000], *helpers.NEAR_SPECIAL]
    for add_special in (False, True):
        ids = helpers.hf_ids(original, texts, add_special=add_special)
        assert helpers.hf_ids(written, texts, add_special=add_special) == ids
    pairs = list(zip(texts[:50], texts[50:100], strict=True))
    for first, second in pairs:
        expected, got = (hf.encode(first, second) for hf in (original, written))
        assert (got.ids, got.type_ids) == (expected.ids, expected.type_ids)


def test_the_incumbent_loads_what_only_piecework_knows(tmp_path: Path) -> None:
    with pytest.warns(VocabularyWarning):
        vocabulary = Vocabulary.from_text("[UNK]\na\n[CLS]\n[SEP]\na\n##b\n")
    spec = replace(
        bert_spec(vocabulary, rules="unicode"),
        template=None,
        file_truncation={"max_length": 3, "strategy": "LongestFirst", "stride": 0},
    )
    assert json.loads(to_json(spec))["model"]["piecework"].keys() == {
        "rules",
        "shadowed",
        "truncation",
        "adds_special",
    }
    hf = hf_load(to_json(spec), tmp_path)
    assert hf.encode("ab [MASK] a").ids == [4, 5, 0, 0, 0, 4]
    assert from_json(to_json(spec), "") == spec


# ---- writing ----


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": False},
        {"strip_accents": True, "lowercase": False},
        {"strip_accents": False, "clean_text": False, "handle_chinese_chars": False},
        {"max_input_chars_per_word": 7, "rules": "huggingface-1"},
        {"prefix": "@@", "unk_token": "b"},
        {"prefix": ""},
    ],
)
@pytest.mark.parametrize("vocab", [VOCAB, {"[UNK]": 0, "a": 1, "b": 2}], ids=["bert", "bare"])
def test_what_is_written_reads_back_to_the_same_spec(
    vocab: dict[str, int], options: dict[str, Any]
) -> None:
    spec = bert_spec(Vocabulary.from_mapping(vocab), **options)
    text = to_json(spec)
    assert from_json(text, "") == spec
    assert to_json(from_json(text, "")) == text


def test_a_spec_without_template_stays_one() -> None:
    spec = bert_spec(Vocabulary.from_mapping({"[UNK]": 0, "a": 1}))
    assert spec.template is None
    assert json.loads(to_json(spec))["post_processor"] is None
    assert from_json(to_json(spec), "").template is None


def test_shadowed_lines_are_kept() -> None:
    with pytest.warns(VocabularyWarning):
        vocabulary = Vocabulary.from_text("[UNK]\na\na\n\n\n")
    spec = bert_spec(vocabulary)
    assert from_json(to_json(spec), "").vocabulary.shadowed == {1: "a", 3: ""}


def test_equal_specs_give_equal_texts() -> None:
    backwards = dict(reversed(VOCAB.items()))
    spec = bert_spec(Vocabulary.from_mapping(VOCAB))
    other = replace(
        bert_spec(Vocabulary.from_mapping(backwards, "elsewhere")),
        added_tokens=tuple(reversed(spec.added_tokens)),
    )
    assert spec == other
    assert to_json(spec) == to_json(other)


def test_odd_tokens_survive(tmp_path: Path) -> None:
    odd = ["[UNK]", "", "\n", "\r", '"', "\\", "\u2028", "\x00", "é", "😀", "{}\n  }\n}", "##"]
    spec = bert_spec(Vocabulary.from_mapping({token: i for i, token in enumerate(odd)}))
    write_tokenizer_json(spec, tmp_path / "t.json")
    assert read_tokenizer_json(tmp_path / "t.json") == spec
    assert hf_load((tmp_path / "t.json").read_text("utf-8"), tmp_path).get_vocab_size() == len(odd)


def test_a_special_token_id_that_the_format_cannot_hold_is_refused() -> None:
    spec = bert_spec(Vocabulary.from_mapping(VOCAB))
    spec = replace(spec, added_tokens=(*spec.added_tokens, AddedToken("<x>", 12)))
    with pytest.raises(ValueError, match=r"'<x>' has id 12, .* would give it 7"):
        to_json(spec)


def test_special_tokens_that_share_an_id_are_not_written() -> None:
    with pytest.warns(VocabularyWarning, match="have the id of an earlier one"):
        spec = read_tokenizer_json(changed("model.vocab.b", 3))
    spec = replace(spec, added_tokens=(AddedToken("a", 3), AddedToken("b", 3)))
    with pytest.raises(ValueError, match="added tokens 'a' and 'b' both have id 3"):
        to_json(spec)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("before")

    def no_space(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_tokenizer_json(bert_spec(Vocabulary.from_mapping(VOCAB)), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_goes_through_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.json", tmp_path / "link.json"
    target.write_text("before")
    link.symlink_to(target)
    spec = bert_spec(Vocabulary.from_mapping(VOCAB))
    write_tokenizer_json(spec, link)
    assert link.is_symlink()
    assert read_tokenizer_json(target) == spec


def test_writing_to_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="expected the path of a file"):
        write_tokenizer_json(bert_spec(Vocabulary.from_mapping(VOCAB)), tmp_path)
