"""Offsets and word ids of batches, against the incumbent: every flag, input, thread and memo."""

import json
import random

import hard_strings
import helpers
import numpy as np
import pytest

from piecework import WordPieceTokenizer
from piecework.inputs import texts_of, utf8_texts
from piecework.jobs import Around, Effort, Output, Wants, count_tokens, encode_texts
from piecework.pipeline import Pipeline
from piecework.python_rows import RowEncoder

pytestmark = pytest.mark.skipif(
    helpers.HF_VERSION != "0.23.3", reason="the facts are those of tokenizers 0.23.3"
)

ALL = Wants("chars", word_ids=True)
NOTHING = Around((), ())
# Small, so that most words are several pieces; "ab" and "##b" differ in how much of them is text.
VOCAB = {
    token: i
    for i, token in enumerate(
        [
            "[PAD]",
            "[UNK]",
            "[CLS]",
            "[SEP]",
            "[MASK]",
            "a",
            "b",
            "c",
            "ab",
            "abc",
            "##a",
            "##b",
            "##c",
            "##bc",
            "e",
            "##e",
            "i",
            "o",
            "un",
            "##aff",
            "##able",
            "!",
            "?",
            ",",
            "-",
            "[",
            "]",
            "#",
            "日",
            "本",
            "語",
            "語語",
            "ᄒ",
            "##ᅡ",
            "##ᆫ",
            "##n",
            "s",
            "##s",
            "1",
            "##2",
            "=",
            "<",
            "k",
            "ǆ",
            "᭄",
            "##᭄",
            "〮",
            "##〮",
        ]
    )
}


def encode(
    tokenizer,
    texts,
    wants=ALL,
    *,
    around=NOTHING,
    threads=1,
    memo_bytes=None,
    dtype="int32",
    out=None,
):
    if isinstance(texts, list):
        texts = texts_of(texts, "error")
    effort, output = Effort(threads, memo_bytes), Output(dtype, out)
    return encode_texts(tokenizer._encoder, texts, around, effort, output, wants)


def rows_of(batch):
    """Give (ids, offsets, word ids) of each row."""
    spans = list(zip(batch.row_splits[:-1].tolist(), batch.row_splits[1:].tolist(), strict=True))
    return [
        (
            batch.ids[start:stop].tolist(),
            [tuple(span) for span in batch.offsets[start:stop].tolist()],
            batch.word_ids[start:stop].tolist(),
        )
        for start, stop in spans
    ]


def hf_rows(hf, texts, *, add_special=False):
    return [
        (each.ids, each.offsets, [-1 if word is None else word for word in each.word_ids])
        for each in hf.encode_batch(texts, add_special_tokens=add_special)
    ]


def check(tokenizer, hf, texts, **options):
    found, expected = rows_of(encode(tokenizer, texts, **options)), hf_rows(hf, texts)
    for text, row, right in zip(texts, found, expected, strict=True):
        assert row == right, text


# Letters of the vocabulary, capitals, marks that are stripped and marks that stay, controls, white
# space, ideographs, Hangul, punctuation that NFD makes, special tokens and their beginnings.
PARTS = [
    *"aabbccABCeéêẽio12", "\u0301", "\u0334", "\u302e", "\u1b44", "\U0001e945", "\u08d4",
    "\u0e31", "\xad", "\u200d", "\ufffd", "\x00", " ", " ", " ", "\t", "\u3000", "\x85", "\x1c",
    "日", "本", "語語", "한", "ᄒ", "ᅡ", "≠", "≮", "!", "?", "-", "[", "]", "#", "##b", "İ", "ǅ", "ﬁ",  # noqa: E501
    "\u212a", "\U0001d15e", "\U0001f600", "豈", "[MASK]", "[SEP]", "[MA", "un", "affable", "abcabc",
]  # fmt: skip


def random_texts(seed, n, most_parts=14):
    rng = random.Random(seed)
    return ["".join(rng.choices(PARTS, k=rng.randint(0, most_parts))) for _ in range(n)]


@pytest.fixture(scope="module")
def bert():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture(scope="module")
def hf_bert():
    return helpers.hf_tokenizer(helpers.embedded_vocab())


@pytest.mark.parametrize("memo_bytes", [None, 0, 1 << 12])
@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_places_equal_hf_for_every_flag(flags, memo_bytes):
    texts = random_texts(helpers.flags_id(flags), 700) + hard_strings.HANDWRITTEN
    tokenizer = WordPieceTokenizer(VOCAB, **flags)
    check(tokenizer, helpers.hf_tokenizer(VOCAB, **flags), texts, memo_bytes=memo_bytes)


@pytest.mark.parametrize(("prefix", "max_chars"), [("##", 3), ("", 100), ("a", 5), ("▁▁▁", 100)])
def test_places_equal_hf_with_another_prefix_and_limit(prefix, max_chars):
    vocab = {token.replace("##", prefix) if token != "##" else token: 0 for token in VOCAB}
    vocab = {token: i for i, token in enumerate(vocab)}
    tokenizer = WordPieceTokenizer(vocab, prefix=prefix, max_input_chars_per_word=max_chars)
    hf = helpers.hf_tokenizer(vocab, prefix=prefix, max_chars=max_chars)
    check(tokenizer, hf, random_texts(prefix, 700), memo_bytes=1 << 14)


@pytest.mark.parametrize("unk_token", ["a", "ab", "!", "##b"])
def test_places_equal_hf_where_the_unk_token_is_a_piece_of_words(unk_token):
    tokenizer = WordPieceTokenizer(VOCAB, unk_token=unk_token)
    hf = helpers.hf_tokenizer(VOCAB, unk_token=unk_token)
    check(tokenizer, hf, random_texts(unk_token, 500))


def test_places_of_hard_strings_equal_hf(bert, hf_bert):
    texts = [
        text
        for text in hard_strings.HARD_STRINGS
        if not any("\ud800" <= ch <= "\udfff" for ch in text)
    ]
    check(bert, hf_bert, texts)
    check(bert, hf_bert, [" ".join(texts)] * 3, memo_bytes=1 << 20)  # staged, in segments


def test_places_of_a_long_text_equal_hf(bert, hf_bert):
    words = random_texts("long", 3000)
    check(bert, hf_bert, [" ".join(words), "".join(words), "x" * 3000 + " ab", "语" * 9000])


def test_places_equal_the_measured_facts(bert):
    path = helpers.DATA.parent / "facts" / "q8_offsets.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    n_cases = 0
    for case in json.loads(path.read_text()):
        if (
            case.get("pair") is None
            and not case.get("is_pretokenized")
            and not case.get("add_special_tokens")
            and not case.get("added")
            and str(case.get("normalizer")).startswith("uncased (clean,cjk,None,lower)")
        ):
            expected = case["ids"], list(map(tuple, case["offsets"])), case["word_ids"]
            assert rows_of(encode(bert, [case["input"]])) == [expected], case.get("note")
            n_cases += 1
    assert n_cases > 20


@pytest.mark.parametrize("name", sorted(path.stem for path in (helpers.DATA / "corpora").glob("*")))
def test_places_of_corpora_equal_hf(name, bert, hf_bert):
    texts = helpers.read_lines(helpers.data_path("corpora", f"{name}.txt"))[:300]
    check(bert, hf_bert, texts, memo_bytes=1 << 20)


def test_what_is_put_around_a_text_is_nowhere(bert, hf_bert):
    texts = ["unaffable café", "", "a\u0301\u1b44", "[SEP] x", "漢字"]
    found = rows_of(encode(bert, texts, around=Around((101,), (102,)), memo_bytes=1 << 14))
    assert found == hf_rows(hf_bert, texts, add_special=True)


MANY = [*random_texts("many", 20000), "the end is near " * 30000, "", "русский текст " * 30000]


@pytest.mark.parametrize("memo_bytes", [None, 0, 1 << 13])
def test_places_do_not_depend_on_threads(bert, memo_bytes):
    alone = encode(bert, MANY, threads=1, memo_bytes=memo_bytes)
    both = encode(bert, MANY, threads=3, memo_bytes=memo_bytes)
    assert len(alone.offsets) == len(alone.word_ids) == len(alone.ids)
    for name in ("ids", "row_splits", "offsets", "word_ids"):
        assert np.array_equal(getattr(alone, name), getattr(both, name)), name


def test_ids_are_those_without_places(bert):
    plain, placed = encode(bert, MANY, Wants()), encode(bert, MANY)
    assert np.array_equal(plain.ids, placed.ids)
    assert np.array_equal(plain.row_splits, placed.row_splits)
    assert plain.offsets is None
    assert plain.word_ids is None


@pytest.mark.parametrize("wants", [Wants("chars"), Wants(word_ids=True)])
def test_a_batch_holds_only_what_was_asked_for(bert, wants):
    batch = encode(bert, ["unaffable"], wants)
    assert (batch.offsets is not None) == bool(wants.offsets)
    assert (batch.word_ids is not None) == wants.word_ids


def test_an_empty_batch_has_empty_places(bert):
    batch = encode(bert, [])
    assert batch.offsets.shape == (0, 2)
    assert batch.offsets.dtype == np.int32
    assert batch.word_ids.shape == (0,)


def test_ids_go_where_the_caller_wants_and_places_beside(bert):
    out = np.empty(100, np.uint16)
    batch = encode(bert, ["unaffable!", "x"], dtype="uint16", out=out)
    assert np.shares_memory(batch.ids, out)
    assert rows_of(batch) == rows_of(encode(bert, ["unaffable!", "x"]))


def utf8(texts):
    encoded = [text.encode() for text in texts]
    return utf8_texts(b"".join(encoded), np.cumsum([0, *map(len, encoded)]))


def test_places_of_utf8_are_those_of_str(bert):
    assert rows_of(encode(bert, utf8(MANY))) == rows_of(encode(bert, MANY))


def test_places_of_arrow_are_those_of_str(bert):
    pyarrow = pytest.importorskip("pyarrow")
    array = pyarrow.array(MANY[:500])
    assert rows_of(encode(bert, texts_of(array, "error"))) == rows_of(encode(bert, MANY[:500]))


@pytest.mark.parametrize("make", [list, utf8], ids=["str", "utf8"])
def test_offsets_in_bytes_cut_the_same_text_out(bert, make):
    texts = [*MANY[:3000], "ascii only", "café", "😀 x😀y"]
    chars, in_bytes = encode(bert, texts), encode(bert, make(texts), Wants("bytes"))
    for row, text in enumerate(texts):
        raw = text.encode()
        start, stop = chars.row_splits[row : row + 2]
        for (a, b), (c, d) in zip(
            chars.offsets[start:stop].tolist(), in_bytes.offsets[start:stop].tolist(), strict=True
        ):
            assert text[:a].encode() == raw[:c]
            assert text[:b].encode() == raw[:d]


def test_offsets_count_surrogates_as_the_text_does(bert):
    text = "a \ud83d\ude00\ud83d\ude00 b \ud800c"  # pairs, and a lone one
    (_, offsets, words), *_ = rows_of(encode(bert, [text]))
    assert [text[start:stop] for start, stop in offsets] == [
        "a", "\ud83d\ude00\ud83d\ude00", "b", "c",
    ]  # fmt: skip
    assert words == [0, 1, 2, 3]


def test_a_lone_surrogate_is_named_with_its_row():
    tokenizer = WordPieceTokenizer(VOCAB, clean_text=False)
    with pytest.raises(UnicodeEncodeError, match="row 1"):
        encode(tokenizer, ["a", "b\ud800"])


def test_a_text_too_long_for_int32_is_refused(bert):
    zeros = np.zeros(2**31 + 1, np.uint8)  # never touched, so that no memory is needed
    texts = utf8_texts(zeros, np.array([0, 1, 2**31 + 1]))
    with pytest.raises(OverflowError, match=r"texts\[1\]: expected at most 2147483647 characters"):
        encode(bert, texts)


def test_rows_in_python_give_the_same_batch(bert):
    encoder = RowEncoder(Pipeline(bert.spec).encode, lambda text, row: text)
    texts = texts_of([*MANY[:300], None], "empty")
    around, effort = Around((101,), (102, 102)), Effort(1, None)
    for wants in (ALL, Wants("bytes"), Wants("chars", True, 3), Wants("chars", False, 2, "end")):
        arrays = [
            encode_texts(each, texts, around, effort, Output("uint16", out), wants)
            for each, out in ((encoder, np.empty(1 << 16, np.uint16)), (bert._encoder, None))
        ]
        for name in ("ids", "row_splits", "offsets", "word_ids"):
            found, expected = (getattr(batch, name) for batch in arrays)
            assert (found is None) == (expected is None)
            assert found is None or (
                found.dtype == expected.dtype and np.array_equal(found, expected)
            ), name
    assert np.array_equal(
        count_tokens(encoder, texts, around, effort),
        count_tokens(bert._encoder, texts, around, effort),
    )


def test_rows_in_python_refuse_an_out_that_is_too_small(bert):
    encoder = RowEncoder(Pipeline(bert.spec).encode, lambda text, row: text)
    with pytest.raises(ValueError, match="out has room for 1 ids, but there are 2"):
        encode_texts(
            encoder,
            texts_of(["a b"], "error"),
            NOTHING,
            Effort(1, None),
            Output("int32", np.empty(1, np.int32)),
        )
