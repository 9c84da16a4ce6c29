"""The tokenizer of transformers beside the real one and nanotoken's: calls with padding.

All in one process and on one thread, by its own CPU time, in turn. The bars for 256 sentences to
arrays are 60 times BertTokenizerFast and no less than nanotoken's `as_hf()`.
"""

import time
import warnings

import numpy as np
import pytest
from corpora import documents_of_kind
from races import benchmark_in_turn, with_reported_times

pytestmark = with_reported_times

pytest.importorskip("transformers", "5", reason="needs the extra test-transformers")

OURS = "piecework"
BATCH = {"padding": True, "truncation": True, "max_length": 128}
CALLS = {
    "256 sentences to numpy": (256, {**BATCH, "return_tensors": "np"}),
    "256 sentences to lists": (256, BATCH),
    "256 sentences with offsets": (256, {**BATCH, "return_offsets_mapping": True}),
    "1 sentence to numpy": (1, {**BATCH, "return_tensors": "np"}),
}
BATCHES = 20


@pytest.fixture(scope="module")
def sentences():
    documents = documents_of_kind("english")
    found = (part.strip() for document in documents for part in document.split(". "))
    return [part for part in found if 30 < len(part) < 300][: 256 * BATCHES]


@pytest.fixture
def tokenizers(tokenizer, tokenizer_folder, monkeypatch):
    """Each peer's tokenizer over the same files, and ours."""
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    from transformers import BertTokenizerFast

    from piecework.compat.transformers import PieceworkTokenizer

    made = {
        "transformers": BertTokenizerFast.from_pretrained(tokenizer_folder),
        OURS: PieceworkTokenizer.from_pretrained(tokenizer_folder),
    }
    try:
        import nanotoken
    except ImportError:
        return made
    return {"nanotoken": nanotoken.Tokenizer(str(tokenizer_folder)).as_hf(), **made}


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("peer", ["nanotoken", "transformers"])
def test_transformers_call(benchmark, tokenizers, sentences, peer, what, rounds):
    if peer not in tokenizers:
        pytest.skip(f"{peer} is not installed")
    n_rows, options = CALLS[what]
    if peer == "nanotoken" and "return_offsets_mapping" in options:
        pytest.skip("nanotoken has no offsets")
    batches = [sentences[i * 256 : i * 256 + n_rows] for i in range(BATCHES)]
    theirs, ours = tokenizers[peer], tokenizers[OURS]
    for batch in batches:  # and both have seen all of it
        pair = (each(batch, **options)["input_ids"] for each in (theirs, ours))
        assert np.array_equal(*map(np.asarray, pair))

    def seconds_of(each):
        def call():
            start = time.thread_time()
            for batch in batches:
                each(batch, **options)
            return (time.thread_time() - start) / BATCHES

        return call

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        benchmark_in_turn(
            benchmark,
            {peer: seconds_of(theirs), OURS: seconds_of(ours)},
            rounds=rounds,
            text="english",
            what=what,
            unit="us a call",
            ids="equal",
        )
