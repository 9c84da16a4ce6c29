"""BertWordPieceTokenizer of piecework.compat.tokenizers beside that of tokenizers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from compat_calls import THEIRS, outcome

import piecework.compat.tokenizers as ours

TOKENS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("a", "b", "un", "##able", "é", "e", "!", "中", "文", "A", "<s>", "</s>"),
]
VOCAB = {token: id_ for id_, token in enumerate(TOKENS)}

OPTIONS: list[dict[str, Any]] = [
    {},
    {"lowercase": False},
    {"strip_accents": False},
    {"clean_text": False, "handle_chinese_chars": False},
    {"sep_token": "</s>", "cls_token": "<s>", "mask_token": "<mask>"},
    {"wordpieces_prefix": "a"},
]
CALLS = """
repr(t)
str(t)
json.loads(t.to_str())
t.encode("A unable é! 中文 [MASK] zz")
t.encode("a", "b")
t.encode(sequence="a", pair="b", add_special_tokens=False)
t.encode(["a", "unable"], is_pretokenized=True)
t.encode(None)
t.encode(3)
t.encode_batch(["a", ("b", "unable")])
t.encode_batch(inputs=[["a", "b", "e"]], is_pretokenized=True)
t.encode_batch(None)
t.encode_batch_fast(["a"])
t.decode([2, 7, 8, 11, 3])
t.decode([2, 7, 8], skip_special_tokens=False)
t.decode(None)
t.decode_batch([[2, 7, 8], [5]])
t.decode_batch(None)
(t.enable_padding("left", 4), t.padding, t.encode_batch(["a b", "a"]), t.no_padding(), t.padding)
(t.enable_truncation(4, 1), t.truncation, t.encode("a b a b"), t.no_truncation(), t.truncation)
(t.add_tokens(["new"]), t.add_special_tokens([A("<q>")]), t.get_added_tokens_decoder(), repr(t))
(t.get_vocab(), t.get_vocab_size(), t.token_to_id("un"), t.id_to_token(7))
(t.normalize("ÉA 中"), t.num_special_tokens_to_add(True), t.foo)
t.normalize("ÉA 中")
t.post_process(t.encode("a"))
type(t.normalizer).__name__
""".strip().split("\n")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_call_gives_what_the_reference_gives(options: dict[str, Any], call: str) -> None:
    theirs = THEIRS.BertWordPieceTokenizer(VOCAB, **options)
    mine = ours.BertWordPieceTokenizer(VOCAB, **options)
    assert outcome(call, ours, mine) == outcome(call, THEIRS, theirs)


@pytest.mark.parametrize("missing", ["[SEP]", "[CLS]"])
def test_a_vocabulary_without_ends_is_refused_as_there(missing: str) -> None:
    names = {"vocab": {token: id_ for id_, token in enumerate(TOKENS) if token != missing}}
    call = "T.BertWordPieceTokenizer(vocab)"
    assert outcome(call, ours, **names) == outcome(call, THEIRS, **names) == "TypeError"


def test_a_vocabulary_is_read_from_a_file_and_written(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("".join(f"{token}\n" for token in TOKENS))
    theirs = THEIRS.BertWordPieceTokenizer.from_file(str(path), lowercase=False)
    mine = ours.BertWordPieceTokenizer.from_file(str(path), lowercase=False)
    assert json.loads(mine.to_str()) == json.loads(theirs.to_str())
    for prefix in (None, "x"):
        assert mine.save_model(str(tmp_path), prefix) == theirs.save_model(str(tmp_path), prefix)
    (written,) = mine.save_model(str(tmp_path), "mine")
    assert Path(written).read_text() == path.read_text()


def test_training_is_not_there_yet() -> None:
    with pytest.raises(NotImplementedError, match="vocab"):
        ours.BertWordPieceTokenizer()
    with pytest.raises(NotImplementedError, match="next milestone"):
        ours.BertWordPieceTokenizer(VOCAB).train(["file"])
