"""The tokenizers that the benchmarks compare, behind one interface.

Each is the fastest call of its package that returns ids, on one core.
"""

import functools
import os

os.environ["RAYON_NUM_THREADS"] = "1"  # before tokenizers is imported: one core for everybody

import numpy as np
import pytest


class Piecework:
    def __init__(self, tokenizer):
        self.encode = functools.partial(tokenizer.encode_batch, threads=1)

    def forget(self):
        """There is no cache."""

    def ids(self, result):
        return result.ids


class NanoToken:
    """nanotoken: flat ids and row offsets, as we return them."""

    one_in = 1  # timed on all texts

    def __init__(self, path):
        nanotoken = pytest.importorskip("nanotoken")
        self.tokenizer = nanotoken.Tokenizer(str(path))

    def encode(self, texts):
        return self.tokenizer.encode_batch(texts, add_special_tokens=False, parallel=False)

    def forget(self):
        self.tokenizer.clear_cache()

    def ids(self, result):
        return np.concatenate([np.asarray(row) for row in result])


class HuggingFace:
    """tokenizers: one object for each text, without offsets."""

    one_in = 20  # timed on a part of the texts, as it is so much slower

    def __init__(self, path):
        tokenizers = pytest.importorskip("tokenizers")
        self.tokenizer = tokenizers.Tokenizer.from_file(str(path))

    def encode(self, texts):
        return self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)

    def forget(self):
        """Its cache is not used by WordPiece."""

    def ids(self, result):
        return np.concatenate([np.array(row.ids, np.int32) for row in result])


PEERS = {"nanotoken": NanoToken, "tokenizers": HuggingFace}
