"""Loading a tokenizer, and the smallest calls."""

import pytest
from conftest import DATA
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer


@pytest.mark.parametrize("name", ["bert-base-uncased", "bert-base-multilingual-cased"])
def test_from_vocab(benchmark, name):
    path = DATA / "vocabs" / name / "vocab.txt"
    if not path.exists():
        pytest.skip(f"no {path}")
    benchmark(WordPieceTokenizer.from_vocab, path)


@pytest.mark.parametrize("name", ["bert-base-uncased", "bert-base-multilingual-cased"])
@pytest.mark.parametrize("library", ["piecework", "tokenizers"])
@pytest.mark.filterwarnings("ignore::piecework.TokenizerFileWarning")
def test_from_tokenizer_json(benchmark, name, library):
    path = DATA / "vocabs" / name / "tokenizer.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    load = {"piecework": WordPieceTokenizer.from_hf_json, "tokenizers": Tokenizer.from_file}
    benchmark(load[library], str(path))


def test_from_pretrained(benchmark):
    benchmark(WordPieceTokenizer.from_pretrained, "bert-base-uncased")


def test_encode_one_short_text(benchmark, tokenizer):
    assert len(benchmark(tokenizer.encode, "The quick brown fox jumps over it.")) == 8


def test_decode_one_short_text(benchmark, tokenizer):
    ids = tokenizer.encode("The quick brown fox jumps over it.")
    assert benchmark(tokenizer.decode, ids) == "the quick brown fox jumps over it."
