"""Inputs that users reported against other tokenizers; docs/reported-traps.md tells them all.

Each test names the report by the number it has there. What is right was decided by the report; ids
and offsets are compared with the incumbent where it is the measure.
"""

from __future__ import annotations

import dataclasses
import pickle
import re
import threading
from pathlib import Path

import helpers
import numpy as np
import pytest
from tokenizers import AddedToken as HfAddedToken

from piecework import VocabularyWarning, WordPieceTokenizer

pytestmark = pytest.mark.skipif(
    helpers.HF_RULES != "huggingface", reason="the reports are about tokenizers 0.23"
)


@pytest.fixture(scope="module")
def uncased() -> WordPieceTokenizer:
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture(scope="module")
def hf():
    return helpers.hf_tokenizer(helpers.embedded_vocab())


def small(*tokens: str, **options) -> WordPieceTokenizer:
    vocab = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *tokens])
    return WordPieceTokenizer({token: i for i, token in enumerate(vocab)}, **options)


TOKENS = [
    ("A01", "foo [MASK], bar", "foo [MASK] , bar"),
    ("A02", "x [MASK] y", "x [MASK] y"),
    ("A03", "[CLS]hello[SEP]", "[CLS] hello [SEP]"),
    ("I02", "   ", ""),
    ("S01", "ok\ud800ok", "ok ##ok"),
    ("U02", "x\ue123y", "x ##y"),
    ("U02", "x\u0378y", "[UNK]"),
    ("U04", "river\u2013lake", "river \u2013 lake"),
    ("U05", "tea\U0001f9cbtime", "[UNK]"),
    ("U08", "r\xe9sum\xe9", "resume"),
    ("U14", "\u30ac\u30ae", None),
    ("U15", "\u014csaka L\u01da", "osaka lu"),
    ("U16", "\u304c\u3063\u3053\u3046", "\u304b ##\u3063 ##\u3053 ##\u3046"),
    ("U19", "cafe\u0301", "cafe"),
    ("U23", "\U0001f34e" * 3, "[UNK]"),
    ("U24", "\u6708x\u706b", "\u6708 x \u706b"),
    ("U27", "x" * 150, "[UNK]"),
    ("U29", "Caf\xe9 Paris", "cafe paris"),
]


@pytest.mark.parametrize(("report", "text", "tokens"), TOKENS, ids=[row[0] for row in TOKENS])
def test_tokens(report, text, tokens, uncased, hf):
    if tokens is not None:
        assert uncased.tokenize(text) == tokens.split()
    if "\ud800" not in text:
        assert uncased.encode(text) == hf.encode(text, add_special_tokens=False).ids


def test_final_sigma_u22(uncased, hf):
    text = "\u039b\u039f\u0393\u039f\u03a3."
    assert uncased.encode(text) == hf.encode(text, add_special_tokens=False).ids
    assert uncased.normalize(text)[4] == "\u03c3"


def test_cased_keeps_accents_u09_u10():
    cased = small("\u1eed", "caf\xe9", "cafe", "##\u0301", lowercase=False)
    assert cased.tokenize("\u1eed") == ["\u1eed"]
    assert cased.tokenize("caf\xe9 cafe\u0301") == ["caf\xe9", "cafe", "##\u0301"]


def test_only_entries_without_prefix_begin_a_word_u20():
    assert small("a", "##b").tokenize("a b") == ["a", "[UNK]"]


def test_ideographs_left_in_words_u25():
    spaced, glued = (
        small("\u6708", "##\u706b", "\u706b", handle_chinese_chars=flag) for flag in (True, False)
    )
    assert spaced.tokenize("\u6708\u706b") == ["\u6708", "\u706b"]
    assert glued.tokenize("\u6708\u706b") == ["\u6708", "##\u706b"]


def test_surrogate_pairs_are_joined_s02_s03(uncased):
    assert uncased.encode("\ud83e\uddbe") == uncased.encode("\U0001f9be")
    assert uncased.encode("a\udce9b") == uncased.encode("ab")
    strict = WordPieceTokenizer(dict(helpers.embedded_vocab()), clean_text=False)
    with pytest.raises(UnicodeEncodeError, match="row 1"):
        strict.encode_batch(["a", "a\udce9b"])


def test_zero_width_characters_u13():
    text = "\u0646\u0645\u06cc\u200c\u0634\u0648\u062f"
    kept = WordPieceTokenizer({"[UNK]": 0}, clean_text=False)
    assert WordPieceTokenizer({"[UNK]": 0}).normalize(text) == text.replace("\u200c", "")
    assert kept.normalize(text) == text


def test_specials_as_text_a04(uncased):
    assert uncased.tokenize("x [SEP] y") == ["x", "[SEP]", "y"]
    batch = uncased.encode_batch(["x [SEP] y"], split_special_tokens=True)
    names = [uncased.id_to_token(id_) for id_ in batch.ids.tolist()]
    assert names == ["x", "[", "sep", "]", "y"]


def test_added_tokens_match_in_any_case_a05(uncased, hf):
    ours = uncased.add_tokens(["ZipTok"])
    assert ours.tokenize("a ZipTok ZIPTOK") == ["a", "ziptok", "ziptok"]
    exact = uncased.add_special_tokens(["ZipTok"])
    assert exact.encode("a ZipTok ZIPTOK")[:2] == [1037, 30522]
    assert exact.encode("ZIPTOK") == uncased.encode("ZIPTOK")


@pytest.mark.parametrize("contents", [["qa", "qab"], ["qab", "qa"]])
def test_the_longest_added_token_wins_a07_a08_a09(uncased, contents):
    ours = uncased.add_special_tokens([*contents, "<a>", "<a>b"])
    assert ours.tokenize("qab qa <a>b") == ["qab", "qa", "<a>b"]


def test_added_tokens_in_words_a10(uncased):
    anywhere = uncased.add_tokens(["art"])
    assert anywhere.tokenize("party art") == ["p", "art", "y", "art"]
    alone = uncased.add_tokens([HfAddedToken("art", single_word=True)])
    assert alone.tokenize("party art") == ["party", "art"]


def test_one_tokenizer_many_lengths_c01_c02(uncased):
    lengths, wrong = range(8, 16), []

    def work(length):
        for _ in range(300):
            got = uncased.encode_batch(["a b c " * 20], add_special=True, max_length=length)
            if len(got[0]) != length:
                wrong.append((length, len(got[0])))

    threads = [threading.Thread(target=work, args=(length,)) for length in lengths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_decode_d01_d05_d06(uncased, hf):
    ids = uncased.encode("hello , world !")
    assert uncased.decode(ids) == hf.decode(ids) == "hello, world!"
    bare = dataclasses.replace(uncased.spec, decoder=None)
    assert WordPieceTokenizer.from_spec(bare).decode(ids) == "hello , world !"
    assert uncased.decode([uncased.token_to_id("##ing")]) == "##ing"
    assert uncased.decode(uncased.encode("we do not")) == "we do not"


def test_missing_values_i03(uncased):
    with pytest.raises(TypeError, match=r"texts\[1\]"):
        uncased.encode_batch(["a", None])
    assert uncased.encode_batch(["a", None], missing="empty").tolist() == [[1037], []]


def test_arrays_are_batches_i04(uncased):
    rows = uncased.encode_batch(["a b", "c"])
    assert uncased.encode_batch(np.array(["a b", "c"])) == rows
    assert uncased.encode_batch(np.array(["a b", "c"], dtype=object)) == rows


def test_a_call_changes_nothing_h01_h02_n04(uncased):
    before = hash(uncased), uncased.content_hash, pickle.dumps(uncased)
    uncased.encode_batch(["a b c d"], ["e"], add_special=True, max_length=5, return_offsets=True)
    assert (hash(uncased), uncased.content_hash, pickle.dumps(uncased)) == before
    assert pickle.loads(before[2]) == uncased


def test_words_and_offsets_o04_o05_u18(uncased):
    got = uncased.encode_text("rock'n'roll ok")
    assert got.word_ids == [0, 1, 2, 3, 4, 5]
    cased = WordPieceTokenizer({"[UNK]": 0, "Ab": 1, "##C": 2}, lowercase=False)
    assert cased.encode_text("Ab\u200bC").offsets == [(0, 2), (3, 4)]
    spans = uncased.encode_text("x\uac00y's \ud55c").offsets
    assert spans[-3:] == [(6, 7)] * 3
    assert spans == sorted(spans)


def test_byte_offsets_o02(uncased):
    text = "\u03b1\u03b2 gamma"
    chars = uncased.encode_batch([text], return_offsets=True).offsets.tolist()
    octets = uncased.encode_batch([text], return_offsets="bytes").offsets.tolist()
    assert [text[start:stop] for start, stop in chars] == ["\u03b1", "\u03b2", "gamma"]
    raw = text.encode()
    assert [raw[start:stop].decode() for start, stop in octets] == ["\u03b1", "\u03b2", "gamma"]


def test_split_words_o06_o07(uncased):
    got = uncased.encode_batch(
        [["f(x)", "y"], ["a", "\u200b", "b", "", "c"]],
        is_split_into_words=True,
        return_word_ids=True,
    )
    assert got.word_ids.tolist() == [0, 0, 0, 0, 1, 0, 2, 4]


def test_the_odd_token_of_a_tie_n02(uncased, hf):
    got = uncased.encode_batch(["a b c d"], ["1 2 3 4"], add_special=True, max_length=8)
    hf.enable_truncation(8)
    expected = hf.encode("a b c d", "1 2 3 4").ids
    hf.no_truncation()
    assert got[0].tolist() == expected


def test_lengths_that_cannot_work_p01_p02(uncased):
    with pytest.raises(ValueError, match=r"stride.*2"):
        uncased.encode_batch(
            ["a " * 20], ["b " * 20], add_special=True, max_length=6, stride=2, return_overflow=True
        )
    for length, pairs in ((0, None), (1, None), (2, ["b"])):
        with pytest.raises(ValueError, match=f"max_length.*{length}"):
            uncased.encode_batch(["a b"], pairs, add_special=True, max_length=length)


def test_windows_p05_p06_p09(uncased):
    got = uncased.encode_batch(
        ["a b c d e f"], add_special=True, max_length=6, stride=1, return_overflow=True
    )
    rows = [[uncased.id_to_token(id_) for id_ in row[1:-1].tolist()] for row in got]
    assert rows == [["a", "b", "c", "d"], ["d", "e", "f"]]
    assert got.overflow_to_sample.tolist() == [0, 0]


def test_an_empty_second_text_p10(uncased):
    single = uncased.encode_text("a", "", add_special=True)
    batch = uncased.encode_batch(["a"], [""], add_special=True)
    assert single.ids == batch[0].tolist() == [101, 1037, 102, 102]


def test_pairs_are_truncated_p11_p13(uncased):
    got = uncased.encode_batch(["a " * 30, "a"], ["b " * 30, "b c"], add_special=True, max_length=9)
    assert got.lengths.tolist() == [9, 6]
    assert got.to_padded().input_ids.shape == (2, 9)


def test_vocabularies_v01_v02_v03_v04_v05_v07(tmp_path):
    def read(text):
        (tmp_path / "vocab.txt").write_bytes(text.encode())
        return WordPieceTokenizer.from_vocab(tmp_path / "vocab.txt")

    with pytest.warns(VocabularyWarning, match="white space"):
        assert read("[UNK]\na\n\u2028\nb\n").token_to_id("b") == 3
    blank = read("[UNK]\na\n\nb\n")
    assert blank.token_to_id("b") == 3
    assert len(blank.vocab) == blank.vocab_size == 4
    blank.save_vocab(tmp_path / "saved.txt")
    assert (tmp_path / "saved.txt").read_bytes() == b"[UNK]\na\n\nb\n"
    with pytest.warns(VocabularyWarning):
        tokenizer = read("[UNK]\na\nx\na\nb\n")
    assert tokenizer.token_to_id("a") == 3
    assert tokenizer.add_tokens(["new1"]).token_to_id("new1") == 5


def test_the_table_says_test_where_there_is_one():
    page = (Path(__file__).parents[1] / "docs" / "reported-traps.md").read_text("utf-8")
    source = Path(__file__).read_text("utf-8")
    names = " ".join(re.findall(r"^def (test_\w+)", source, re.M))
    numbers = {number.upper() for number in re.findall(r"_([a-z]\d\d)(?![a-z0-9])", names)}
    numbers |= {number for number, _, _ in TOKENS}
    rows = [line for line in page.splitlines() if re.search(r"\bTest\b.*\|$", line)]
    assert len(rows) > 30
    for row in rows:
        first = row.split("|")[1]
        if found := re.search(r"([A-Z])(\d\d) to \1(\d\d)", first):
            letter, start, stop = found.groups()
            first += " ".join(f"{letter}{n:02}" for n in range(int(start), int(stop) + 1))
        missing = set(re.findall(r"[A-Z]\d\d", first)) - numbers
        assert not missing, row
