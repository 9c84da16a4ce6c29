"""The tokenizer as an object: shared between threads and processes, copied, and fed huge input."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest

from piecework import Batch, Tokenizer, WordPieceTokenizer

TEXTS = [
    "The UNAFFABLE! café",
    "",
    "[MASK] in the [SEP] middle",
    "한국어 日本語 русский",
    "a\u302e\u1d165b \ud83d\ude00 \udc00 x",
    "word " * 300,
]


@pytest.fixture(scope="module")
def tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


def test_a_batch_is_the_rows_that_encode_gives(tokenizer):
    for add_special in (False, True):
        batch = tokenizer.encode_batch(TEXTS, add_special=add_special)
        assert batch.tolist() == [tokenizer.encode(text, add_special) for text in TEXTS]
        assert (batch.ids.dtype, batch.row_splits.dtype) == (np.int32, np.int64)


def test_any_iterable_of_str_is_a_batch(tokenizer):
    expected = tokenizer.encode_batch(["a b", "c"])
    for texts in (("a b", "c"), iter(["a b", "c"]), np.array(["a b", "c"])):
        assert tokenizer.encode_batch(texts) == expected
    assert len(tokenizer.encode_batch([])) == 0


@pytest.mark.parametrize("texts", ["a text", b"bytes", None, 3, ["a", None], ["a", b"b"]])
def test_what_is_no_iterable_of_str_is_a_type_error(tokenizer, texts):
    with pytest.raises(TypeError, match="expected"):
        tokenizer.encode_batch(texts)


def test_the_row_of_what_is_no_str_is_named(tokenizer):
    with pytest.raises(TypeError, match=r"texts\[5000\]: expected a str, got int"):
        tokenizer.encode_batch(["a"] * 5000 + [1])


def test_eight_threads_get_what_one_gets(tokenizer):
    texts = TEXTS * 50
    expected = tokenizer.encode_batch(texts)
    results: list[Batch | None] = [None] * 8

    def work(number: int) -> None:
        for _ in range(5):
            results[number] = tokenizer.encode_batch(texts)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected for result in results)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_encodes_after_threads_were_used(tokenizer):
    test_eight_threads_get_what_one_gets(tokenizer)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(tokenizer.encode, ("The UNAFFABLE!",)) == tokenizer.encode(
            "The UNAFFABLE!"
        )


def test_copies_are_equal_and_encode_the_same(tokenizer):
    for twin in (pickle.loads(pickle.dumps(tokenizer)), copy.copy(tokenizer)):
        assert twin == tokenizer
        assert hash(twin) == hash(tokenizer)
        assert twin.encode("The UNAFFABLE!", True) == tokenizer.encode("The UNAFFABLE!", True)


def test_tokenizers_differ_by_their_options(tokenizer):
    cased = WordPieceTokenizer(tokenizer.vocab, lowercase=False)
    assert cased != tokenizer
    assert cased.content_hash != tokenizer.content_hash


def test_the_content_hash_is_the_same_in_another_process(tokenizer):
    code = (
        "from piecework import WordPieceTokenizer as T;"
        "print(T.from_pretrained('bert-base-uncased').content_hash)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == tokenizer.content_hash


def test_changing_the_vocab_dict_changes_no_ids(tokenizer):
    twin = copy.copy(tokenizer)
    twin.vocab["hello"] = 5
    assert twin.encode("hello") == tokenizer.encode("hello")


def test_it_follows_the_protocol(tokenizer):
    assert isinstance(tokenizer, Tokenizer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 10_000_000, [100]),
        ("é" * 10_000_000, [100]),
        (" " * 10_000_000, []),
        ("\u0301" * 10_000_000, []),
        ("!" * 1_000_000, [999] * 1_000_000),
    ],
    ids=["letters", "accents", "spaces", "marks", "punctuation"],
)
def test_huge_texts_take_little_memory(tokenizer, text, expected):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert tokenizer.encode_batch([text]).tolist() == [expected]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 12 * len(text.encode()) + 64 * len(expected) + 2**22


def test_a_million_empty_texts_are_a_million_rows(tokenizer):
    batch = tokenizer.encode_batch([""] * 1_000_000, add_special=True)
    assert len(batch) == 1_000_000
    assert batch.ids[:4].tolist() == [101, 102, 101, 102]


def test_a_long_word_within_a_long_limit_is_segmented():
    tokenizer = WordPieceTokenizer(
        {"[UNK]": 0, "a": 1, "##a": 2, "##aab": 3}, max_input_chars_per_word=10**7
    )
    assert tokenizer.encode("a" * 1_000_000) == [1] + [2] * 999_999
    assert tokenizer.encode("a" * 1_000_000 + "b")[-2:] == [2, 3]
