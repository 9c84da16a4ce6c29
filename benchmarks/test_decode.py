"""Decoding beside tokenizers: batches in each form that ids have, and one short list.

    pytest benchmarks/test_decode.py

Both decode the same ids, of documents of a kind, in this process and on one core, in turn: the
figures are its CPU time. Matrices are padded, their special tokens left out. In extra_info stands
how many texts differ.
"""

import time

import numpy as np
import pytest
from corpora import documents_of_kind, vocabulary_file
from races import benchmark_in_turn, differing, with_reported_times
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer
from piecework.bench import OURS

pytestmark = with_reported_times

N_DOCUMENTS = 5_000
N_COLUMNS = 128
LOOPS = 2_000
MODELS = ["bert-base-uncased", "bert-base-multilingual-cased"]


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(params=MODELS)
def model(request):
    return request.param


@pytest.fixture
def ours(model):
    return WordPieceTokenizer.from_vocab(
        vocabulary_file(model, "vocab.txt"), lowercase=model.endswith("uncased")
    )


@pytest.fixture
def theirs(model):
    return Tokenizer.from_file(str(vocabulary_file(model, "tokenizer.json")))


@pytest.fixture
def batch(ours, kind):
    return ours.encode_batch(documents_of_kind(kind)[:N_DOCUMENTS], add_special=True)


def matrix_of(batch, dtype):
    matrix = np.zeros((len(batch), N_COLUMNS), dtype)
    for row, ids in enumerate(batch):
        matrix[row, : len(ids)] = ids[:N_COLUMNS]
    return matrix


FORMS = {
    "Batch": lambda batch: batch,
    "lists": lambda batch: batch.tolist(),
    "arrays": list,
    "int32 matrix": lambda batch: matrix_of(batch, np.int32),
    "int64 matrix": lambda batch: matrix_of(batch, np.int64),
}


@pytest.mark.parametrize("form", FORMS)
def test_decode_batch(benchmark, ours, theirs, model, batch, form, kind, rounds):
    rows = FORMS[form](batch)
    lists = [np.asarray(row).tolist() for row in rows]
    benchmark_in_turn(
        benchmark,
        {
            "tokenizers": lambda: seconds(theirs.decode_batch, lists),
            OURS: lambda: seconds(ours.decode_batch, rows, True),
        },
        rounds=rounds,
        text=f"{kind}, {model}",
        what=f"decode {form}",
        unit="ms",
        ids=compared(ours.decode_batch(rows, True), theirs.decode_batch(lists)),
    )


@pytest.mark.parametrize("n_tokens", [1, 12, 100])
def test_decode_of_one_row(benchmark, ours, theirs, model, n_tokens, rounds):
    text = " ".join(documents_of_kind("english")[:100])
    ids = ours.encode(text)[:n_tokens]
    benchmark_in_turn(
        benchmark,
        {
            "tokenizers": lambda: seconds(theirs.decode, ids, loops=LOOPS),
            OURS: lambda: seconds(ours.decode, ids, True, loops=LOOPS),
        },
        rounds=rounds,
        text=model,
        what=f"decode {n_tokens} tokens",
        unit="us a call",
        ids=compared([ours.decode(ids, True)], [theirs.decode(ids)]),
    )


def seconds(call, *arguments, loops=1):
    """Return the CPU seconds of one call."""
    start = time.process_time()
    for _ in range(loops):
        call(*arguments)
    return (time.process_time() - start) / loops


def compared(texts, expected):
    return differing(sum(map(str.__ne__, texts, expected)), len(expected))
