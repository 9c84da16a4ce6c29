"""Special tokens that are named: in the ids they are what BertTokenizer makes of them."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("transformers", "5", reason="needs the extra test-transformers")

import compare
from tokenizers import AddedToken, processors

TEXTS = ["hello ☃ <c> <s>", "[CLS] [MASK][SEP] [UNK]"]
NAMED = [
    {},
    {"cls_token": "[MASK]"},
    {"sep_token": "[PAD]"},
    {"unk_token": "[MASK]"},
    {"cls_token": "[MASK]", "sep_token": "hello", "unk_token": "world", "mask_token": "[CLS]"},
    {"cls_token": "<c>"},
    {"cls_token": "<c>", "sep_token": AddedToken("<s>", lstrip=True, normalized=False)},
    {"sep_token": AddedToken("[SEP]", rstrip=True), "pad_token": AddedToken("<p>", lstrip=True)},
    {"extra_special_tokens": [AddedToken("<s>", lstrip=True)], "unk_token": "[UNK]"},
]
CONFIGS = [
    {"cls_token": "[MASK]", "sep_token": "[PAD]", "unk_token": "hello"},
    {"cls_token": {"__type": "AddedToken", "content": "<c>", "lstrip": True, "rstrip": False,
                   "single_word": False, "normalized": True, "special": False}},
    {"added_tokens_decoder": {str(id_): {"content": token, "special": id_ == 102}
        for id_, token in [(0, "[PAD]"), (100, "[UNK]"), (101, "[CLS]"), (102, "[SEP]"),
                           (103, "[MASK]"), (30522, "<s>")]}, "sep_token": "<s>"},
]  # fmt: skip


@pytest.fixture(scope="session")
def json_folder(both, tmp_path_factory):
    """A folder with a tokenizer.json."""
    path = tmp_path_factory.mktemp("json")
    both[0].save_pretrained(path)
    return path


def assert_same(real, ours):
    """Compare two tokenizers in what the special tokens are about."""
    for each in (TEXTS, list(zip(TEXTS, TEXTS, strict=True))):
        compare.assert_same(real(each, padding=True), ours(each, padding=True))
    for name in ("special_tokens_map", "all_special_ids", "added_tokens_decoder", "unk_token_id"):
        assert getattr(ours, name) == getattr(real, name)
    assert len(ours) == len(real)


@pytest.mark.parametrize("names", NAMED, ids=str)
def test_tokens_named_by_keyword_are_those_of_transformers(both, json_folder, folder, names):
    kinds = [type(each) for each in both]
    for path in (json_folder, folder("embedded")):
        assert_same(*(kind.from_pretrained(path, **names) for kind in kinds))
    backend = both[0].backend_tokenizer
    vocab = both[0].get_vocab()
    vocab_file = str(folder("embedded") / "vocab.txt")
    sources = [{"vocab": vocab}, {"vocab": vocab_file}]
    if "unk_token" not in names:  # of an object, transformers keeps its own
        sources.append({"tokenizer_object": backend})
    for source in sources:
        assert_same(*(kind(**source, **names) for kind in kinds))


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast", None])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_tokens_named_in_a_configuration_are_those_of_transformers(
    both, json_folder, tmp_path, config, name
):
    from transformers import AutoTokenizer, BertTokenizer

    settings = {**config, "tokenizer_class": name} if name else config
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "tokenizer.json").write_bytes((json_folder / "tokenizer.json").read_bytes())
    ours = type(both[1]).from_pretrained(tmp_path)
    real = (AutoTokenizer if name else BertTokenizer).from_pretrained(tmp_path)
    assert_same(real, ours)


def test_a_file_has_the_tokens_that_are_named(both, json_folder):
    # BertTokenizer(tokenizer_file=...) leaves the tokens of the file out.
    path = str(json_folder / "tokenizer.json")
    ours = type(both[1])(tokenizer_file=path, cls_token="[MASK]", unk_token="[PAD]")
    assert ours("a ☃")["input_ids"] == [103, 1037, 0, 102]


def test_tokens_added_after_loading_are_in_the_template_once_loaded_again(pair_of, tmp_path):
    pair = pair_of()
    for name, each in zip(("real", "ours"), pair, strict=True):
        each.add_special_tokens({"cls_token": "<c>"})
        each.save_pretrained(tmp_path / name)
    assert_same(*pair)
    real, ours = (
        type(each).from_pretrained(tmp_path / name)
        for name, each in zip(("real", "ours"), pair, strict=True)
    )
    assert_same(real, ours)
    assert ours("a")["input_ids"] == [30522, 1037, 102]


# ---- on purpose: docs/compat-transformers.md ----


@pytest.mark.parametrize("single", ["[CLS] $A", "[CLS] $A [SEP] [SEP]", "$A [SEP] [CLS]:1"])
def test_another_template_stays(both, single):
    backend = type(both[0])(vocab=both[0].get_vocab()).backend_tokenizer
    backend.post_processor = processors.TemplateProcessing(
        single=single, pair=f"{single} $B", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    ours = type(both[1])(tokenizer_object=backend, cls_token="[MASK]")
    assert ours("a")["input_ids"] == backend.encode("a").ids


def test_a_template_of_other_tokens_stays_and_names_them(both, tmp_path):
    backend = type(both[0])(vocab=both[0].get_vocab()).backend_tokenizer
    backend.post_processor = processors.BertProcessing(("world", 2088), ("hello", 7592))
    ours = type(both[1])(tokenizer_object=backend)
    ours.save_pretrained(tmp_path)
    assert [ours.cls_token, ours.sep_token] == ["hello", "world"]
    for each in (ours, type(ours).from_pretrained(tmp_path)):
        assert each("a")["input_ids"] == backend.encode("a").ids


@pytest.mark.parametrize("name", ["cls_token", "sep_token", "unk_token"])
def test_a_token_that_is_none_stays_in_the_ids(both, json_folder, name):
    ours = type(both[1]).from_pretrained(json_folder, **{name: None})
    assert getattr(ours, name) is None
    assert ours("a ☃")["input_ids"] == [101, 1037, 100, 102]


def test_an_unk_token_that_the_vocabulary_lacks_is_no_unknown_word(both, json_folder):
    ours = type(both[1]).from_pretrained(json_folder, unk_token="<u>")
    assert ours("☃ <u>")["input_ids"] == [101, 100, 30522, 102]
    with pytest.raises(ValueError, match="<u>"):
        type(both[1])(vocab=both[0].get_vocab(), unk_token="<u>")
