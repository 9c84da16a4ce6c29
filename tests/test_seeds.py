"""The contract: worked examples of the textbook chapters, their test table, its error cases.

Each test of the table keeps its name. The golden tests run the incumbent beside us on hard strings
with the vocabulary of bert-base-uncased.
"""

from __future__ import annotations

import json
from pathlib import Path

import helpers
import numpy as np
import pytest
from hard_strings import HARD_STRINGS

import piecework
from piecework import (
    Batch,
    Tokenizer,
    UnsupportedTokenizerError,
    WordPieceTokenizer,
    check_ids,
    is_bert_control,
    is_bert_punctuation,
    is_bert_whitespace,
    is_cjk,
)
from piecework.reference import train_wordpiece, wordpiece_tokenize, wordpiece_word

# ---- the hand example ----

HAND_TOKENS = "[PAD] [UNK] [CLS] [SEP] [MASK] the un ##aff ##able ##a ! u ##n cafe ##s"
TOKENS = HAND_TOKENS.split(" ")
VOCAB = {token: i for i, token in enumerate(TOKENS)}


@pytest.fixture(scope="module")
def hand() -> WordPieceTokenizer:
    return WordPieceTokenizer(VOCAB)


def test_tokenizer_is_one(hand):
    assert isinstance(hand, Tokenizer)


def test_vocab_and_special_ids(hand):
    assert hand.vocab == VOCAB
    assert hand.vocab_size == 15
    assert hand.unk_id == 1
    assert hand.special_ids == {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    assert WordPieceTokenizer({"[UNK]": 0, "[MASK]": 1}).special_ids == {"[UNK]": 0, "[MASK]": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The UNAFFABLE!", ["the", "unaffable", "!"]),
        ("日本x y", ["日", "本", "x", "y"]),
        ("Café", ["cafe"]),
        (" \t\n\u3000 ", []),
        ("", []),
    ],
)
def test_hand_example_basic_tokenize(hand, text, words):
    assert hand.basic_tokenize(text) == words


def test_hand_example_encode_decode(hand):
    assert hand.encode("The UNAFFABLE!") == [5, 6, 7, 8, 10]
    assert hand.encode("The UNAFFABLE!", add_special=True) == [2, 5, 6, 7, 8, 10, 3]
    assert hand.encode("cafés") == [13, 14]
    assert hand.decode([5, 6, 7, 8, 10]) == "the unaffable!"
    assert hand.tokenize("The UNAFFABLE!") == ["the", "un", "##aff", "##able", "!"]


def test_hand_example_in_a_batch(hand):
    batch = hand.encode_batch(["The UNAFFABLE!", "", "cafés"])
    assert isinstance(batch, Batch)
    assert batch.tolist() == [[5, 6, 7, 8, 10], [], [13, 14]]
    assert (batch.ids.dtype, batch.row_splits.dtype) == (np.int32, np.int64)
    assert batch.row_splits.tolist() == [0, 5, 5, 7]
    with_special = hand.encode_batch(["The UNAFFABLE!", ""], add_special=True)
    assert with_special.tolist() == [[2, 5, 6, 7, 8, 10, 3], [2, 3]]


def test_whole_word_becomes_unk(hand):
    assert hand.encode("unaffablex") == [1]
    assert hand.encode("the unaffablex!") == [5, 1, 10]
    # Here each letter occurs in some piece, so only the search can find that there is none.
    assert hand.encode("unu") == [1]
    assert hand.encode("unaffableb") == [1]


def test_greedy_is_longest_first(hand):
    assert hand.wordpiece("unaffable") == [6, 7, 8]
    assert hand.tokenize("una") == ["un", "##a"]


def test_continuation_needs_prefix(hand):
    assert hand.tokenize("unn") == ["un", "##n"]
    assert hand.encode("aff") == [1]
    assert hand.encode("s") == [1]


def test_max_input_chars_per_word():
    limited = WordPieceTokenizer(VOCAB, max_input_chars_per_word=5)
    assert limited.encode("unaff") == [6, 7]
    assert limited.encode("unaffa") == [1]
    assert limited.wordpiece("unaffa") == [1]
    # Counted after normalization: five accents do not make the word longer.
    assert limited.encode("u\u0301n\u0301a\u0301f\u0301f\u0301") == [6, 7]


@pytest.mark.parametrize("dropped", ["\x00", "\ufffd", "\x0b", "\x0c", "\u200b", "\xad", "\x7f"])
def test_clean_text_rules_drop(hand, dropped):
    assert hand.normalize(f"ca{dropped}fe") == "cafe"
    assert hand.encode(f"ca{dropped}fe") == [13]


@pytest.mark.parametrize("space", ["\t", "\n", "\r", " ", "\xa0", "\u3000", "\u2028", "\u1680"])
def test_clean_text_rules_space(hand, space):
    assert hand.normalize(f"the{space}un") == "the un"
    assert hand.encode(f"the{space}un") == [5, 6]


@pytest.mark.parametrize(
    ("lowercase", "strip_accents", "normalized"),
    [
        (True, None, "cafe"),
        (True, True, "cafe"),
        (True, False, "café"),
        (False, None, "Café"),
        (False, True, "Cafe"),
        (False, False, "Café"),
    ],
)
def test_strip_accents_follows_lowercase(lowercase, strip_accents, normalized):
    tok = WordPieceTokenizer(
        {"[UNK]": 0, "cafe": 1, "café": 2, "Cafe": 3, "Café": 4},
        lowercase=lowercase,
        strip_accents=strip_accents,
    )
    assert tok.normalize("Café") == normalized
    assert tok.encode("Café") == [tok.vocab[normalized]]


def test_only_nonspacing_marks_are_stripped():
    tok = WordPieceTokenizer({"[UNK]": 0, "\u0915": 1, "##\u093e": 2, "e": 3})
    assert tok.normalize("\u00e9 \u0915\u093e") == "e \u0915\u093e"
    assert tok.encode("\u00e9 \u0915\u093e") == [3, 1, 2]


@pytest.mark.parametrize("mark", list("$+^«»!~`|<=>"))
def test_punctuation_is_split(mark):
    tok = WordPieceTokenizer({"[UNK]": 0, mark: 1, "5": 2})
    assert tok.basic_tokenize(f"5{mark}5") == ["5", mark, "5"]
    assert tok.encode(f"5{mark}5") == [2, 1, 2]


def test_lowercase_per_code_point():
    tok = WordPieceTokenizer({"[UNK]": 0, "σασ": 1, "σας": 2})
    assert tok.normalize("ΣΑΣ") == "σασ"
    assert tok.encode("ΣΑΣ") == [1]


def test_specials_match_as_written():
    words = ["[", "mask", "]", "x"]
    tok = WordPieceTokenizer({**VOCAB, **{word: 15 + i for i, word in enumerate(words)}})
    assert tok.encode("[MASK]") == [4]
    assert tok.tokenize("[mask]") == ["[", "mask", "]"]
    assert tok.tokenize("x[MASK]x[[MASK]]") == ["x", "[MASK]", "x", "[", "[MASK]", "]"]
    assert tok.encode("[MA\u200bSK]") == [15, 16, 17]
    assert tok.encode("[MA\ud800SK]") == [15, 16, 17]


def test_from_vocab_equals_tokenizer_json(tmp_path, bert_vocab, hf_tokenizer):
    text = "\n".join(bert_vocab) + "\n"
    (tmp_path / "vocab.txt").write_bytes(text.encode())
    json_text = hf_tokenizer(bert_vocab).to_str()
    (tmp_path / "tokenizer.json").write_bytes(json_text.encode())
    toks = [
        WordPieceTokenizer.from_vocab(tmp_path / "vocab.txt"),
        WordPieceTokenizer.from_vocab(str(tmp_path / "vocab.txt")),
        WordPieceTokenizer.from_vocab(text),
        WordPieceTokenizer.from_hf_json(tmp_path / "tokenizer.json"),
        WordPieceTokenizer.from_hf_json(str(tmp_path / "tokenizer.json")),
        WordPieceTokenizer.from_hf_json(json_text),
        WordPieceTokenizer.from_pretrained("bert-base-uncased"),
        WordPieceTokenizer(bert_vocab),
    ]
    expected = toks[-1].encode_batch(HARD_STRINGS, add_special=True).tolist()
    for tok in toks:
        assert tok.encode_batch(HARD_STRINGS, add_special=True).tolist() == expected
        assert tok.special_ids == toks[-1].special_ids
        assert tok.vocab == bert_vocab


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lowercase": False},
        {"lowercase": False, "strip_accents": True},
        {"strip_accents": False},
        {"max_input_chars_per_word": 5},
        {"clean_text": False, "handle_chinese_chars": False},
        {"rules": "unicode"},
        {"rules": "huggingface-1"},
        {"prefix": "@@", "unk_token": "the"},
    ],
    ids=str,
)
def test_save_load_roundtrip(tmp_path, bert_vocab, options):
    tok = WordPieceTokenizer(bert_vocab, **options)
    tok.save(tmp_path / "tokenizer.json")
    again = WordPieceTokenizer.load(tmp_path / "tokenizer.json")
    assert again.spec == tok.spec
    texts = [text for text in HARD_STRINGS if text.isprintable()]
    assert again.encode_batch(texts) == tok.encode_batch(texts)
    if options.get("rules", helpers.HF_RULES) == helpers.HF_RULES:
        hf = piecework_saved_in_hf(tmp_path / "tokenizer.json")
        expected = [hf.encode(text, add_special_tokens=True).ids for text in texts]
        assert tok.encode_batch(texts, add_special=True).tolist() == expected


def piecework_saved_in_hf(path: Path) -> helpers.Tokenizer:
    return helpers.Tokenizer.from_file(str(path))


def test_save_writes_the_pair_form_of_the_template(tmp_path, hand):
    hand.save(tmp_path / "tokenizer.json")
    encoding = piecework_saved_in_hf(tmp_path / "tokenizer.json").encode("the", "un")
    assert encoding.ids == [2, 5, 3, 6, 3]
    assert encoding.type_ids == [0, 0, 0, 1, 1]


def test_save_vocab_then_from_vocab(tmp_path, hand):
    hand.save_vocab(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes() == ("\n".join(TOKENS) + "\n").encode()
    assert WordPieceTokenizer.from_vocab(tmp_path / "vocab.txt").vocab == VOCAB


@pytest.mark.parametrize(
    "vocab",
    [
        {"a": 0, "b": 1},
        {"[UNK]": 0, "a": 2},
        {"[UNK]": 1, "a": 2},
        {"[UNK]": 0, "a": 1, "b": 1},
        {"[UNK]": 0, "a": -1},
        {"[UNK]": 0, "a": 1.0},
        {"[UNK]": 0, "a": "1"},
        {"[UNK]": 0, "a\ud800": 1},
        {"[UNK]": 0, 1: 1},
        {},
    ],
    ids=str,
)
def test_vocab_needs_unk(vocab):
    with pytest.raises(ValueError, match=r"\S"):
        WordPieceTokenizer(vocab)


def test_vocab_without_another_unk_token_is_rejected():
    with pytest.raises(ValueError, match="<unk>"):
        WordPieceTokenizer(VOCAB, unk_token="<unk>")
    assert WordPieceTokenizer({"<unk>": 0}, unk_token="<unk>").encode("x") == [0]


# ---- the other chapters ----


def test_greedy_is_not_optimal():
    vocab = ["[UNK]", "a", "ab", "##b", "##bc", "##c"]
    assert wordpiece_word("abc", vocab) == ["ab", "##c"]
    tok = WordPieceTokenizer({token: i for i, token in enumerate(vocab)})
    assert tok.tokenize("abc") == ["ab", "##c"]


UNHAPPY = "[UNK] un happy ##happi ##happiness ##ness ##i ##n ##e ##s a h i n p s u e"


@pytest.mark.parametrize(
    ("missing", "pieces"),
    [("", ["un", "##happiness"]), ("##happiness", ["un", "##happi", "##ness"])],
)
def test_unhappiness_with_and_without_its_long_piece(missing, pieces):
    vocab = {token: i for i, token in enumerate(t for t in UNHAPPY.split(" ") if t != missing)}
    assert wordpiece_tokenize("Unhappiness", vocab) == pieces
    assert WordPieceTokenizer(vocab).tokenize("Unhappiness") == pieces


def test_wordpiece_tokenize_keeps_accents_so_a_missing_letter_costs_the_word():
    vocab = {"[UNK]": 0, "cafe": 1, "the": 2}
    assert wordpiece_tokenize("The cafe  the CAFÉ", vocab) == ["the", "cafe", "the", "[UNK]"]


@pytest.mark.parametrize(
    ("word", "vocab", "pieces"),
    [
        ("hello", {"hello"}, ["hello"]),
        ("unhappy", {"un", "##happy"}, ["un", "##happy"]),
        ("unaffordable", {"un", "##aff", "##ord", "##able"}, ["un", "##aff", "##ord", "##able"]),
        ("xyz", {"a"}, ["[UNK]"]),
        ("unhappy", {"un", "##happy", "unhappy"}, ["unhappy"]),
    ],
)
def test_wordpiece_word_examples(word, vocab, pieces):
    assert wordpiece_word(word, vocab) == pieces
    tok = WordPieceTokenizer({token: i for i, token in enumerate(["[UNK]", *sorted(vocab)])})
    assert tok.tokenize(word) == pieces


TRAINING_SENTENCES = [
    "playing basketball is fun",
    "she is playing piano",
    "players play together",
    "the player played the game",
    "unplayed music is rare",
    "replay the game again",
    "basketball players are athletic",
    "play the replay again",
]


def test_trainer_makes_the_merges_of_the_textbook():
    # In this order by the chapter's own code, run on its own sentences.
    vocab, pieces, counts = train_wordpiece(TRAINING_SENTENCES, vocab_size=60)
    merges = (
        "fu mu ##tb fun un unp sh ##ic ##tic ##th th to ##no ##in tog ##ing ag ath ar ##sk is mus"
        " music ##rs pi ##ying pl unpl ##pl athl"
    )
    assert list(vocab)[30:] == merges.split(" ")
    assert pieces["basketball"] == ["b", "##a", "##sk", "##e", "##tb", "##a", "##l", "##l"]
    assert pieces["unplayed"] == ["unpl", "##a", "##y", "##e", "##d"]
    assert counts["the"] == 4


# ---- predicates ----


def test_predicates():
    assert all(map(is_bert_whitespace, " \t\n\r\x0b\x0c\x85\xa0\u1680\u2000\u2028\u3000"))
    assert not any(map(is_bert_whitespace, "a\x1c\x1f\u200b\u180e\ufeff\x00"))
    assert all(map(is_bert_control, "\x00\x0b\x0c\x1c\x7f\x85\xad\u200b\ufeff\ue000"))
    assert not any(map(is_bert_control, "\t\n\r a\u3000\u0378"))
    assert is_bert_control("\u0378", rules="unicode")
    assert all(map(is_bert_punctuation, "!$+^`~«»。—_"))
    assert not any(map(is_bert_punctuation, "a1€ ¬×"))
    assert all(map(is_cjk, "\u4e00日\u9fff㐀\uf900\U00020000\U0002f800"))
    assert not any(map(is_cjk, "ぁア々한a\U00030000"))


@pytest.mark.parametrize("ask", [is_bert_whitespace, is_bert_control, is_bert_punctuation, is_cjk])
def test_predicates_take_one_character(ask):
    for wrong in ("", "ab", "e\u0301"):
        with pytest.raises(ValueError, match="one character"):
            ask(wrong)
    for wrong in (97, None, b"a"):
        with pytest.raises(TypeError):
            ask(wrong)


def test_predicates_of_an_unknown_rule_set():
    with pytest.raises(ValueError, match="huggingface"):
        is_cjk("a", rules="bert")


# ---- errors ----


def test_a_bare_string_is_no_batch(hand):
    with pytest.raises(TypeError, match="str"):
        hand.encode_batch("the un")


def test_a_batch_of_something_else_names_the_row(hand):
    with pytest.raises(TypeError, match="1"):
        hand.encode_batch(["the", None])


@pytest.mark.parametrize("text", [None, 5, b"the", ["the"]])
def test_encode_takes_a_string(hand, text):
    with pytest.raises(TypeError):
        hand.encode(text)


@pytest.mark.parametrize("missing", ["[CLS]", "[SEP]"])
def test_add_special_needs_cls_and_sep(missing):
    tokens = [token for token in TOKENS if token != missing]
    tok = WordPieceTokenizer({token: i for i, token in enumerate(tokens)})
    for encode in (tok.encode, lambda text, **options: tok.encode_batch([text], **options)):
        with pytest.raises(ValueError, match=r"\[(CLS|SEP)\]"):
            encode("the", add_special=True)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_rejected(limit):
    with pytest.raises(ValueError, match=str(limit)):
        WordPieceTokenizer(VOCAB, max_input_chars_per_word=limit)


def test_an_unknown_rule_set_is_rejected():
    with pytest.raises(ValueError, match="huggingface"):
        WordPieceTokenizer(VOCAB, rules="bert")


@pytest.mark.parametrize(
    ("ids", "bad", "position"),
    [([5, 15], 15, 1), ([-1], -1, 0), ([5, 6, 2**40], 2**40, 2), ([5, -(2**70)], -(2**70), 1)],
)
def test_an_id_out_of_range_is_named_with_its_position(hand, ids, bad, position):
    for call in (hand.decode, lambda ids: check_ids(ids, 15)):
        with pytest.raises(ValueError, match=str(bad)) as caught:
            call(ids)
        assert str(position) in str(caught.value).replace(str(bad), "")


@pytest.mark.parametrize("ids", [[1.0], ["5"], [None], [True], [5, 6.5]])
def test_what_is_no_integer_is_a_type_error(hand, ids):
    for call in (hand.decode, lambda ids: check_ids(ids, 15)):
        with pytest.raises(TypeError):
            call(ids)


def test_ids_may_be_any_integers(hand):
    for ids in (
        [5, 6],
        (5, 6),
        range(5, 7),
        np.array([5, 6], np.int32),
        [np.int64(5), np.uint8(6)],
    ):
        assert hand.decode(ids) == "the un"
        check_ids(ids, 15)


def test_decode_batch(hand):
    rows = [[2, 5, 6, 7, 3], [], [9, 9]]
    assert hand.decode_batch(rows) == ["[CLS] the unaff [SEP]", "", "##aa"]
    assert hand.decode_batch(rows, skip_special=True) == ["the unaff", "", "##aa"]
    assert hand.decode_batch(hand.encode_batch(["the", "una!"])) == ["the", "una!"]


def test_a_leading_continuation_keeps_its_prefix_also_after_skipping(hand):
    assert hand.decode([9, 5]) == "##a the"
    assert hand.decode([2, 9, 5]) == "[CLS]a the"
    assert hand.decode([2, 9, 5], skip_special=True) == "##a the"


def test_lone_surrogates_are_dropped_or_named(hand):
    assert hand.encode("ca\ud800fe") == [13]
    assert hand.encode_batch(["un", "ca\udfff\udfffe"]).tolist() == [[6], [1]]
    assert hand.encode("\ud83d\ude00") == hand.encode("\U0001f600") == [1]
    kept = WordPieceTokenizer(VOCAB, clean_text=False)
    with pytest.raises(UnicodeEncodeError) as caught:
        kept.encode_batch(["the", "un", "un\ud800"])
    assert (caught.value.start, caught.value.end) == (2, 3)
    assert "2" in caught.value.reason
    with pytest.raises(UnicodeEncodeError):
        kept.encode("un\ud800")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"a\nb\n", "UNK"),
        (b"[UNK]\n\xff\n", "2"),
        (b"[UNK]\t0\na\t1\nb\t2\n", "tab"),
    ],
)
def test_from_vocab_refuses(tmp_path, content, message):
    (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(ValueError, match=f"(?i){message}") as caught:
        WordPieceTokenizer.from_vocab(tmp_path / "words.txt")
    assert "words.txt" in str(caught.value)


def test_from_vocab_of_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        WordPieceTokenizer.from_vocab(tmp_path / "nothing.txt")


def test_from_vocab_numbers_lines_as_they_stand():
    with pytest.warns(piecework.VocabularyWarning):
        tok = WordPieceTokenizer.from_vocab("[UNK]\n\nb\r\na\x0b\nb\n\u2028c\n")
    assert tok.vocab == {"[UNK]": 0, "": 1, "a\x0b": 3, "b": 4, "\u2028c": 5}
    assert tok.vocab_size == 6
    assert tok.encode("b") == [4]


def _json(**changes: object) -> str:
    parts = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "a": 1},
        },
    }
    return json.dumps({**parts, **changes})


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": ""}),
        ("pre_tokenizer", {"type": "UnicodeScripts"}),
        ("model", {"type": "BPE", "vocab": {}, "merges": []}),
        ("decoder", {"type": "ByteLevel"}),
        ("post_processor", {"type": "Unknown"}),
    ],
)
def test_from_hf_json_names_what_it_does_not_support(part, value):
    with pytest.raises(UnsupportedTokenizerError, match=part) as caught:
        WordPieceTokenizer.from_hf_json(_json(**{part: value}))
    assert value["type"] in str(caught.value)


def test_from_hf_json_without_unk_in_the_vocabulary():
    model = {**json.loads(_json())["model"], "vocab": {"a": 0}}
    with pytest.raises(ValueError, match="UNK"):
        WordPieceTokenizer.from_hf_json(_json(model=model))


def test_from_hf_json_that_is_no_json():
    with pytest.raises(ValueError, match=r"line|column"):
        WordPieceTokenizer.from_hf_json('{"model": ')


def test_truncation_and_padding_in_the_file_are_kept_not_applied():
    truncation = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    with pytest.warns(piecework.TokenizerFileWarning):
        tok = WordPieceTokenizer.from_hf_json(_json(truncation=truncation))
    assert tok.file_truncation == truncation
    assert tok.file_padding is None
    assert tok.encode("a a a") == [1, 1, 1]


def test_from_hf_json_special_ids_are_its_special_added_tokens(bert_vocab, hf_tokenizer):
    hf = hf_tokenizer(bert_vocab)
    hf.add_special_tokens(["<extra>"])
    tok = WordPieceTokenizer.from_hf_json(hf.to_str())
    assert tok.special_ids["<extra>"] == 30522
    assert tok.vocab_size == 30523
    assert tok.encode("a<extra>b") == hf.encode("a<extra>b", add_special_tokens=False).ids
    assert tok.decode([30522, 1037]) == hf.decode([30522, 1037], skip_special_tokens=False)


# ---- golden: bert-base-uncased on hard strings ----

only_with_its_hf = pytest.mark.skipif(
    helpers.HF_RULES != "huggingface",
    reason=f"the default rules are those of tokenizers 0.23.3, installed is {helpers.HF_VERSION}",
)


@pytest.fixture(scope="module")
def bert() -> WordPieceTokenizer:
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture(scope="module")
def hf_bert(hf_tokenizer, bert_vocab):
    return hf_tokenizer(bert_vocab)


@only_with_its_hf
def test_bert_ids_match_oracle(bert, hf_bert):
    assert len(HARD_STRINGS) == 300
    expected = helpers.hf_ids(hf_bert, HARD_STRINGS)
    got = [bert.encode(text) for text in HARD_STRINGS]
    helpers.assert_same_ids(
        bert.encode, lambda text: helpers.hf_ids(hf_bert, [text])[0], HARD_STRINGS, got, expected
    )
    assert bert.encode_batch(HARD_STRINGS).tolist() == expected


@only_with_its_hf
def test_bert_template_matches_oracle(bert, hf_bert):
    expected = helpers.hf_ids(hf_bert, HARD_STRINGS, add_special=True)
    assert [bert.encode(text, add_special=True) for text in HARD_STRINGS] == expected
    assert bert.encode_batch(HARD_STRINGS, add_special=True).tolist() == expected


@only_with_its_hf
@pytest.mark.parametrize("skip_special", [False, True])
def test_bert_decode_matches_oracle(bert, hf_bert, skip_special):
    rows = helpers.hf_ids(hf_bert, HARD_STRINGS, add_special=True)
    expected = [hf_bert.decode(row, skip_special_tokens=skip_special) for row in rows]
    assert [bert.decode(row, skip_special=skip_special) for row in rows] == expected
    assert bert.decode_batch(rows, skip_special=skip_special) == expected


@only_with_its_hf
def test_bert_words_match_oracle(bert, hf_bert):
    for text in HARD_STRINGS:
        normalized = hf_bert.normalizer.normalize_str(text)
        assert bert.normalize(text) == normalized
        words = [word for word, _ in hf_bert.pre_tokenizer.pre_tokenize_str(normalized)]
        assert bert.basic_tokenize(text) == words
        for word in words:
            assert bert.wordpiece(word) == [token.id for token in hf_bert.model.tokenize(word)]
        assert bert.tokenize(text) == hf_bert.encode(text, add_special_tokens=False).tokens


def test_wordpiece_takes_the_word_as_it_is(bert):
    assert bert.wordpiece("The") == [100]
    assert bert.wordpiece("##able") == [bert.vocab["##able"]]
    assert bert.wordpiece("a b") == [100]
    assert bert.wordpiece("") == []
