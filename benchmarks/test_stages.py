"""The stages one by one, in this process: load, scan, match, template and padding, decode.

Scan and match are one kernel, which hands items from one to the other and has no door in between.
What is measured is that kernel on texts that leave next to nothing to do for one of them.
"""

import pytest
from corpora import documents_of_kind, n_bytes, vocabulary_file

from piecework import WordPieceTokenizer

MODELS = ["bert-base-uncased", "bert-base-multilingual-cased"]


def record(benchmark, size, n_tokens):
    """Put what one call does, and how fast, beside its time."""
    benchmark.extra_info.update({"bytes": size, "tokens": n_tokens})
    if benchmark.stats:  # none with --benchmark-disable
        seconds = benchmark.stats.stats.median
        benchmark.extra_info["MB/s"] = size / seconds / 1e6
        benchmark.extra_info["tokens/s"] = n_tokens / seconds


# ---- load ----


@pytest.mark.parametrize("model", MODELS)
def test_load_vocab(benchmark, model):
    benchmark(WordPieceTokenizer.from_vocab, vocabulary_file(model, "vocab.txt"))


@pytest.mark.filterwarnings("ignore::piecework.TokenizerFileWarning")
@pytest.mark.parametrize("model", MODELS)
def test_load_tokenizer_json(benchmark, model):
    benchmark(WordPieceTokenizer.from_hf_json, vocabulary_file(model, "tokenizer.json"))


def test_load_embedded(benchmark):
    benchmark(WordPieceTokenizer.from_pretrained, "bert-base-uncased")


# ---- scan and match ----

SCANNED = {
    # No word: all characters are scanned, nothing is matched.
    "white space": " \t\n\u00a0" * 250,
    "dropped controls": "\u200b\u0001\u00ad" * 333,
    # Words of one piece of one letter: one step of the match for each two characters scanned.
    "letters alone": "a b c d e " * 100,
    "ideographs": "日本中国人大" * 170,
}


@pytest.mark.parametrize("text", SCANNED)
def test_scan(benchmark, tokenizer, text):
    texts = [SCANNED[text]] * 1000
    batch = benchmark(tokenizer.encode_batch, texts)
    record(benchmark, n_bytes(texts), len(batch.ids))


def test_match_words_of_many_pieces(benchmark, tokenizer):
    """One long word a text: nearly every letter is a step of the match, and no space a scan."""
    pieces = [token[2:] for token in tokenizer.vocab if token.startswith("##") and token.isascii()]
    texts = ["".join(pieces[at : at + 12])[:100] for at in range(0, len(pieces), 12)] * 10
    batch = benchmark(tokenizer.encode_batch, texts)
    record(benchmark, n_bytes(texts), len(batch.ids))


def test_match_normalized_words(benchmark, tokenizer):
    """Word by word, as `wordpiece` does it: the match, and the cost of a call."""
    words = sorted({w for text in documents_of_kind("english")[:2000] for w in text.split()})
    words = [word for text in words[:10_000] for word in tokenizer.basic_tokenize(text)]
    ids = benchmark(lambda: [tokenizer.wordpiece(word) for word in words])
    record(benchmark, n_bytes(words), sum(map(len, ids)))


# ---- template and padding ----


@pytest.mark.parametrize("add_special", [False, True], ids=["bare", "template"])
def test_template_of_empty_texts(benchmark, tokenizer, add_special):
    """What a row costs, and what [CLS] and [SEP] add."""
    batch = benchmark(tokenizer.encode_batch, [""] * 100_000, add_special=add_special)
    record(benchmark, 0, len(batch.ids))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("length", [None, 512], ids=["longest", "512"])
def test_padding(benchmark, tokenizer, kind, dtype, length):
    # No character gives more than three pieces: no row is longer than 512.
    texts = [text[:160] for text in documents_of_kind(kind)[:2000]]
    batch = tokenizer.encode_batch(texts, add_special=True)
    benchmark(batch.to_padded, length, dtype=dtype)
    record(benchmark, n_bytes(texts), len(batch.ids))


# ---- decode ----


def test_decode_batch(benchmark, tokenizer, kind):
    batch = tokenizer.encode_batch(documents_of_kind(kind)[:2000])
    texts = benchmark(tokenizer.decode_batch, batch)
    record(benchmark, n_bytes(texts), len(batch.ids))


def test_decode_one_short_text(benchmark, tokenizer):
    ids = tokenizer.encode("The quick brown fox jumps over it.")
    assert benchmark(tokenizer.decode, ids) == "the quick brown fox jumps over it."
