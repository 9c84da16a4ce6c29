"""Throughput of encode_batch on one core, beside the peers: cold, unseen and repeated text.

    pytest benchmarks --benchmark-group-by=group --benchmark-columns=median,rounds

*cold*: the first call after the caches were emptied. *unseen*: after a warm-up on other texts of
the same kind. *repeated*: the same texts again. extra_info holds the bytes, MB/s of UTF-8 and
whether the ids equal those of `tokenizers`.
"""

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # before tokenizers is imported: one core for everybody

import numpy as np
import pytest


class Piecework:
    def __init__(self, tokenizer, path):
        self.encode = tokenizer.encode_batch

    def forget(self):
        """There is no cache."""

    def ids(self, result):
        return result.ids


class NanoToken:
    def __init__(self, tokenizer, path):
        nanotoken = pytest.importorskip("nanotoken")
        self.tokenizer = nanotoken.Tokenizer(str(path))

    def encode(self, texts):
        return self.tokenizer.encode_batch(texts, add_special_tokens=False, parallel=False)

    def forget(self):
        self.tokenizer.clear_cache()

    def ids(self, result):
        return np.concatenate([np.asarray(row) for row in result])


class HuggingFace:
    def __init__(self, tokenizer, path):
        tokenizers = pytest.importorskip("tokenizers")
        self.tokenizer = tokenizers.Tokenizer.from_file(str(path))

    def encode(self, texts):
        return self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)

    def forget(self):
        """Its cache is not used by WordPiece."""

    def ids(self, result):
        return np.concatenate([np.array(row.ids, np.int32) for row in result])


PEERS = {"piecework": Piecework, "nanotoken": NanoToken, "tokenizers": HuggingFace}


@pytest.fixture(scope="session", params=PEERS)
def peer(request, tokenizer, tokenizer_json):
    return PEERS[request.param](tokenizer, tokenizer_json)


@pytest.mark.parametrize("state", ["cold", "unseen", "repeated"])
def test_encode_batch(benchmark, peer, halves, tokenizer, state, request):
    warm, texts = halves
    if isinstance(peer, HuggingFace):  # a hundred times slower: a part of the text will do
        warm, texts = warm[: len(warm) // 20], texts[: len(texts) // 20]

    def set_up():
        peer.forget()
        if state == "unseen":
            peer.encode(warm)
        elif state == "repeated":
            peer.encode(texts)
        return (texts,), {}

    benchmark.group = f"{request.node.callspec.params['halves']}, {state}"
    result = benchmark.pedantic(peer.encode, setup=set_up, rounds=5)
    n_bytes = sum(len(text.encode()) for text in texts)
    benchmark.extra_info["bytes"] = n_bytes
    benchmark.extra_info["MB/s"] = round(n_bytes / benchmark.stats.stats.min / 1e6, 1)
    benchmark.extra_info["correct"] = bool(
        np.array_equal(peer.ids(result), tokenizer.encode_batch(texts).ids)
    )
    assert benchmark.extra_info["correct"]
