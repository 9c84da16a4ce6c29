"""Small calls and loading beside peers, and a process from its start to its first ids."""

import shutil
import sys

import pytest
from corpora import vocabulary_file
from races import (
    PYTHONS,
    benchmark_calls_beside,
    benchmark_in_turn,
    start,
    with_reported_times,
)

from piecework.bench import OURS
from piecework.bench.process import seconds_to_first_ids

pytestmark = with_reported_times

SENTENCE = "The quick brown fox jumps over the lazy dog."
SENTENCES = [f"Sentence {n}: " + SENTENCE[: 20 + n] for n in range(32)]
LOOPS = 1000

CALLS = {
    "encode of one sentence": ("encode_each", {"loops": LOOPS}, [SENTENCE]),
    "batch of 1": ("encode_small", {"loops": LOOPS}, [SENTENCE]),
    "batch of 32": ("encode_small", {"loops": LOOPS}, SENTENCES),
    "batch of 32, padded": (
        "encode_padded",
        {"length": None, "dtype": "int64", "loops": LOOPS},
        SENTENCES,
    ),
    "batch of 32, padded to int32": (
        "encode_padded",
        {"length": None, "dtype": "int32", "loops": LOOPS},
        SENTENCES,
    ),
}


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("peer", ["nanotoken", "tokenizers"])
def test_small_call(benchmark, tokenizer_folder, peer, what, rounds):
    command, arguments, texts = CALLS[what]
    if peer == "tokenizers":
        arguments = {**arguments, "loops": LOOPS // 20}
    benchmark_calls_beside(
        benchmark, tokenizer_folder, peer, texts, (command, arguments), rounds=rounds, what=what
    )


# ---- loading ----

MODELS = ["bert-base-uncased", "bert-base-multilingual-cased"]


@pytest.fixture(params=MODELS)
def model(request, tmp_path):
    """A model whose files lie in tmp_path, as published."""
    for name in ("tokenizer.json", "vocab.txt"):
        shutil.copy(vocabulary_file(request.param, name), tmp_path)
    return request.param


@pytest.mark.parametrize("peer", ["nanotoken", "tokenizers"])
def test_load_tokenizer_json_beside(benchmark, peer, model, tmp_path, rounds):
    with start(peer, tmp_path) as theirs, start(OURS, tmp_path) as ours:
        benchmark_in_turn(
            benchmark,
            {
                peer: lambda: theirs.reload()["cpu"],
                OURS: lambda: ours.reload()["cpu"],
            },
            rounds=rounds,
            text=model,
            what="load tokenizer.json",
            unit="ms",
        )


@pytest.mark.parametrize("peer", ["nanotoken", "tokenizers"])
def test_first_ids_of_a_process(benchmark, peer, model, tmp_path, rounds):
    """Import, load and one sentence, in a new process each time."""
    start(peer, tmp_path).close()  # skips a missing one
    benchmark_in_turn(
        benchmark,
        {
            name: lambda name=name: seconds_to_first_ids(
                name, tmp_path, SENTENCE, PYTHONS.get(name, sys.executable)
            )
            for name in (peer, OURS)
        },
        rounds=rounds,
        text=model,
        what="import, load, encode",
        unit="ms",
    )
