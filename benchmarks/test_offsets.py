"""Offsets beside tokenizers, and beside ids alone.

    pytest benchmarks/test_offsets.py

All encode the same documents of a kind, of which piecework saw the first half before, in this
process and on one core, in turn: the figures are its CPU time. In extra_info stands how many rows
differ.
"""

import time

import pytest
from corpora import documents_of_kind, vocabulary_file
from races import benchmark_in_turn, differing, with_reported_times
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer
from piecework.bench import OURS

pytestmark = with_reported_times

N_DOCUMENTS = 4_000


@pytest.fixture(autouse=True)
def one_core(monkeypatch):
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")


@pytest.mark.parametrize("peer", ["tokenizers", "ids alone"])
def test_encode_batch_with_offsets(benchmark, kind, peer, rounds):
    ours = WordPieceTokenizer.from_pretrained("bert-base-uncased")
    theirs = Tokenizer.from_file(str(vocabulary_file("bert-base-uncased", "tokenizer.json")))
    theirs.no_truncation()
    theirs.no_padding()
    documents = documents_of_kind(kind)[: 2 * N_DOCUMENTS]
    seen, unseen = documents[:N_DOCUMENTS], documents[N_DOCUMENTS:]

    def of_ours(**options):
        ours.encode_batch(seen, threads=1)
        return seconds(ours.encode_batch, unseen, add_special=True, threads=1, **options)

    calls = {
        "tokenizers": lambda: seconds(theirs.encode_batch, unseen),
        "ids alone": of_ours,
    }
    benchmark_in_turn(
        benchmark,
        {peer: calls[peer], OURS: lambda: of_ours(return_offsets=True)},
        rounds=rounds,
        text=kind,
        what=f"offsets beside {peer}",
        unit="ms",
        ids=compared(ours, theirs, unseen),
    )


def compared(ours, theirs, documents):
    batch = ours.encode_batch(documents, add_special=True, return_offsets=True)
    encodings = theirs.encode_batch(documents)
    n_different = 0
    for row, encoding in enumerate(encodings):
        start, stop = batch.row_splits[row : row + 2]
        spans = list(map(tuple, batch.offsets[start:stop].tolist()))
        n_different += (spans, batch[row].tolist()) != (encoding.offsets, encoding.ids)
    return differing(n_different, len(encodings))


def seconds(call, *args, **options):
    start = time.process_time()
    result = call(*args, **options)
    passed = time.process_time() - start
    del result
    return passed
