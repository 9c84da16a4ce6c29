"""Only some tokens of each row: the same as those of the whole row, and little read for them."""

import random
import time
from dataclasses import replace

import numpy as np
import pytest
from test_offsets import MANY, NOTHING, VOCAB, encode, random_texts, rows_of, utf8

from piecework import WordPieceTokenizer
from piecework.clipping import clipping_of
from piecework.inputs import utf8_texts
from piecework.jobs import Around, Wants
from piecework.spec import AddedToken


def tokenizer_with(*added):
    """Give a tokenizer over the small vocabulary that knows more added tokens."""
    spec = WordPieceTokenizer(VOCAB).spec
    tokens = [
        AddedToken(content, len(VOCAB) + i, **dict.fromkeys(flags, True))
        for i, (content, *flags) in enumerate(added)
    ]
    return WordPieceTokenizer.from_spec(replace(spec, added_tokens=(*spec.added_tokens, *tokens)))


def whole_rows_cut(tokenizer, texts, n, keep, around=NOTHING):
    """Cut the rows of a whole encoding."""
    n_before, n_around = len(around.before), len(around.before + around.after)
    rows = []
    for row in rows_of(encode(tokenizer, texts, around=around)):
        n_tokens = len(row[0]) - n_around
        n_over = max(0, n_tokens - n)
        start = n_before + (n_tokens - n_over if keep == "start" else 0)
        rows.append(tuple(part[:start] + part[start + n_over :] for part in row))
    return rows


LONG = [
    "the end is near, but not here. " * 300,
    "日本語の文章。中文" * 500,
    "русский текст и ещё " * 200,
    " " * 5000 + "few words in much space" + "\n" * 5000,
    "x" * 5000 + " y",
    "[MASK]" * 900,
    "é" * 50 + "\u3000" * 700 + "a\u0301 \u1b44" * 400,
    "hello",
    "",
    "a\u302e\u1d165b x " * 500,
    "한국어 문장 " * 600,
]


@pytest.fixture(scope="module")
def bert():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.mark.parametrize("keep", ["start", "end"])
@pytest.mark.parametrize("n", [0, 1, 7, 128, 10**18])
@pytest.mark.parametrize("make", [list, utf8], ids=["str", "utf8"])
def test_the_tokens_that_are_kept_are_those_of_the_whole_row(bert, make, n, keep):
    texts = LONG + random_texts("limit", 300, 200)
    around = Around((101,), (102, 102))
    found = rows_of(encode(bert, make(texts), Wants("chars", True, n, keep), around=around))
    expected = whole_rows_cut(bert, texts, n, keep, around)
    for text, row, right in zip(texts, found, expected, strict=True):
        assert row == right, text[:100]


@pytest.mark.parametrize("offsets", [False, "bytes"])
@pytest.mark.parametrize("make", [list, utf8], ids=["str", "utf8"])
def test_the_end_is_found_without_the_words_before_it(bert, make, offsets):
    whole = encode(bert, make(LONG), Wants(offsets))
    cut = encode(bert, make(LONG), Wants(offsets, False, 20, "end"))
    for row in range(len(LONG)):
        start, stop = whole.row_splits[row : row + 2]
        start = max(start, stop - 20)
        rows = slice(*cut.row_splits[row : row + 2])
        assert cut.ids[rows].tolist() == whole.ids[start:stop].tolist()
        if offsets:
            assert cut.offsets[rows].tolist() == whole.offsets[start:stop].tolist()


@pytest.mark.parametrize("keep", ["start", "end"])
def test_the_result_does_not_depend_on_threads(bert, keep):
    texts = [*MANY, *LONG] * 2
    wants = Wants("chars", True, 5, keep)
    alone, both = (encode(bert, texts, wants, threads=n) for n in (1, 3))
    for name in ("ids", "row_splits", "offsets", "word_ids"):
        assert np.array_equal(getattr(alone, name), getattr(both, name)), name
    assert max(alone.lengths) == 5


# What may span a cut at white space, or look at what stands behind it.
ADDED = {
    "white space": [("a b  c",), ("\t \n",)],
    "strips": [("ab", "lstrip"), ("c", "rstrip")],
    "normalized": [("A B", "normalized"), ("日 本", "normalized")],
    "single words": [("b", "single_word"), ("日", "single_word")],
    "many characters": [("abc " * 20 + "!",)],
}


@pytest.mark.parametrize("keep", ["start", "end"])
@pytest.mark.parametrize("kind", ADDED)
def test_an_added_token_that_spans_the_cut_is_found(kind, keep):
    tokenizer = tokenizer_with(*ADDED[kind])
    rng = random.Random(kind)
    parts = [*[content for content, *_ in ADDED[kind]], "a", "b", "c", " ", " ", "日", "A", "ab c"]
    texts = ["".join(rng.choices(parts, k=400)) for _ in range(60)]
    for n in (1, 3, 10):
        found = rows_of(encode(tokenizer, texts, Wants("chars", True, n, keep)))
        assert found == whole_rows_cut(tokenizer, texts, n, keep)


def test_clipping_heeds_what_added_tokens_may_be():
    assert clipping_of([AddedToken("[CLS]", 0), AddedToken("x", 1, single_word=True)]) == (
        0,
        True,
        False,
    )
    assert clipping_of([AddedToken("a b", 0)]) == (13, False, True)


@pytest.mark.parametrize("keep", ["start", "end"])
def test_what_is_not_read_is_not_checked(bert, keep):
    words, rest = b"some words " * 100, b"\xff" * 1000 + b" "
    data = rest + words if keep == "end" else words + rest
    texts = utf8_texts(data, np.array([0, len(data)]))
    batch = encode(bert, texts, Wants(max_tokens=4, keep=keep))
    assert batch.tolist() == encode(bert, ["some words some words"], Wants()).tolist()
    with pytest.raises(UnicodeDecodeError, match="row 0"):
        encode(bert, texts, Wants())


@pytest.mark.parametrize("keep", ["start", "end"])
@pytest.mark.parametrize("make", [list, utf8], ids=["str", "utf8"])
def test_a_long_row_takes_the_time_of_its_tokens(bert, make, keep):
    """Not by a clock's word alone: a hundredth would be too much, a thousandth is usual."""
    text = "the end is near, but not here. " * 40_000

    def seconds(wants):
        texts = make([text])
        start = time.thread_time()
        encode(bert, texts, wants)
        return time.thread_time() - start

    few = min(seconds(Wants(max_tokens=128, keep=keep)) for _ in range(5))
    assert few < 0.2 * min(seconds(Wants()) for _ in range(3))
