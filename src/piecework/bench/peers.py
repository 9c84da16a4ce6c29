"""The tokenizers that can be measured, each behind the same few calls.

A peer is loaded from a folder with tokenizer.json and vocab.txt, takes a list of str and returns
whatever its package returns; `rows` turns that into lists of ids, outside of the measured time.
Each uses the fastest call of its package that gives all ids of a list of texts, without special
tokens where it can.

This file is also run by interpreters that have no piecework (see :mod:`piecework.bench.process`),
so it imports nothing but the standard library until a peer is loaded.
"""

# ruff: noqa: D101, D102 (what a peer and its methods are is said once, in the base class)

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar


class NotThere(ValueError):
    """A peer can't be measured here: not installed, or not able to do what is asked."""


class Peer:
    """What is asked of each peer; the base holds what most have in common.

    Parameters
    ----------
    folder : str
        Holds tokenizer.json and vocab.txt of the same tokenizer.
    threads : int
        The threads that a call may use. The process is held to as many cores, and the environment
        variables that thread pools read are set before anything is imported.
    """

    package: ClassVar[str]  # the distribution that brings it, as pip names it
    module: ClassVar[str]
    one_in: ClassVar[int] = 1  # it is measured on this share of the texts, as it is so much slower
    adds_special: ClassVar[bool] = False  # it can't leave out [CLS] and [SEP]
    most_threads: ClassVar[int | None] = None

    def __init__(self, folder: str, threads: int) -> None:
        if self.most_threads is not None and threads > self.most_threads:
            raise NotThere(f"{self.package} has no call that uses {threads} threads")
        self.threads = threads
        self.imported = _import(self.module, self.package)
        self.load(folder)

    def load(self, folder: str) -> None:
        """Make the tokenizer anew, from its file; whatever it remembered is gone."""
        raise NotImplementedError

    def encode_batch(self, texts: list[str]) -> Any:
        """Return the ids of all texts, in the package's own form."""
        raise NotImplementedError

    def rows(self, result: Any) -> Iterable[list[int]]:
        """Return the ids of each text, from what `encode_batch` gave."""
        rows: Iterable[list[int]] = result
        return (row[1:-1] for row in rows) if self.adds_special else rows

    def encode_one(self, text: str) -> Any:
        """Return the ids of one short text."""
        raise NotThere(f"{self.package}: no call for one text is measured")

    def encode_padded(self, texts: list[str], length: int | None, dtype: str) -> Any:
        """Return ids with [CLS] and [SEP], and the mask, as matrices of `length` columns."""
        raise NotThere(f"{self.package}: no call for padded matrices is measured")


class Piecework(Peer):
    package = "piecework"
    module = "piecework"

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.WordPieceTokenizer.from_hf_json(_json(folder))
        self._options = self._thread_options()

    def _thread_options(self) -> dict[str, int]:
        # Asked of the signature: older commits, which a comparison may run, have no such argument.
        parameters = importlib.import_module("inspect").signature(self.tokenizer.encode_batch)
        if "threads" in parameters.parameters:
            return {"threads": self.threads}
        if self.threads > 1:
            raise NotThere("this piecework's encode_batch has no threads= argument")
        return {}

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, **self._options)

    def rows(self, result: Any) -> Iterable[list[int]]:
        rows: list[list[int]] = result.tolist()
        return rows

    def encode_one(self, text: str) -> Any:
        return self.tokenizer.encode(text)

    def encode_padded(self, texts: list[str], length: int | None, dtype: str) -> Any:
        batch = self.tokenizer.encode_batch(texts, add_special=True, **self._options)
        return batch.to_padded(length, dtype=dtype)


class NanoToken(Peer):
    package = "nanotoken"
    module = "nanotoken"

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.Tokenizer(_json(folder))
        self.tokenizer.clear_cache()
        self.parallel = self.threads > 1

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, add_special_tokens=False, parallel=self.parallel)

    def rows(self, result: Any) -> Iterable[list[int]]:
        rows: list[list[int]] = result.to_list()
        return rows

    def encode_one(self, text: str) -> Any:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def encode_padded(self, texts: list[str], length: int | None, dtype: str) -> Any:
        # Its matrices are int64, whatever is asked.
        return self.tokenizer.encode_batch_padded(
            texts,
            max_length=length,
            padding="longest" if length is None else "max_length",
            return_token_type_ids=False,
            parallel=self.parallel,
        )


class ManyEncodings(Peer):
    """A package whose calls are those of tokenizers: an object with ``ids`` for each text."""

    tokenizer: Any

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch(texts, add_special_tokens=False)

    def rows(self, result: Any) -> Iterable[list[int]]:
        return (row.ids for row in result)

    def encode_one(self, text: str) -> Any:
        return self.tokenizer.encode(text, add_special_tokens=False).ids


class Tokenizers(ManyEncodings):
    package = "tokenizers"
    module = "tokenizers"
    one_in = 20

    def load(self, folder: str) -> None:
        if not hasattr(self.imported.Tokenizer, "encode_batch_fast"):
            raise NotThere("tokenizers is not of version 0, but that of the peer tokenizers-1")
        self.tokenizer = self.imported.Tokenizer.from_file(_json(folder))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)


class Tokenizers1(ManyEncodings):
    """The pre-release 1.0, which is for an environment of its own."""

    package = "tokenizers"
    module = "tokenizers"
    one_in = 2

    def load(self, folder: str) -> None:
        if hasattr(self.imported.Tokenizer, "encode_batch_fast"):
            raise NotThere("tokenizers is not of version 1; give an interpreter that has it")
        self.tokenizer = self.imported.Tokenizer.from_file(_json(folder))
        self.tokenizer.truncation = None
        self.tokenizer.padding = None


class Splintr(Peer):
    package = "splintr-rs"
    module = "splintr"
    adds_special = True

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.from_json(_json(folder))

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_flat(texts)

    def rows(self, result: Any) -> Iterable[list[int]]:
        ids, row_splits = memoryview(result[0]).cast("I"), memoryview(result[1]).cast("Q")
        return super().rows(ids[start:stop].tolist() for start, stop in pairwise(row_splits))


class Tokie(Peer):
    package = "tokie"
    module = "tokie"

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.Tokenizer.from_json(_json(folder))

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_flat(texts, add_special_tokens=False)

    def rows(self, result: Any) -> Iterable[list[int]]:
        return _split(*result)


class TensorFlowText(Peer):
    package = "tensorflow-text"
    module = "tensorflow_text"

    def load(self, folder: str) -> None:
        self.tensorflow = tensorflow = _import("tensorflow", "tensorflow")
        # Settable only before the first operation: a second load finds them as they are.
        if tensorflow.config.threading.get_intra_op_parallelism_threads() != self.threads:
            tensorflow.config.threading.set_intra_op_parallelism_threads(self.threads)
            tensorflow.config.threading.set_inter_op_parallelism_threads(self.threads)
        vocab = Path(_vocab(folder)).read_bytes().decode().removesuffix("\n").split("\n")
        self.tokenizer = self.imported.FastBertTokenizer(
            vocab,
            suffix_indicator="##",
            max_bytes_per_word=100,
            token_out_type=tensorflow.int32,
            unknown_token="[UNK]",
            lower_case_nfd_strip_accents=_lowercase(folder),
        )

    def encode_batch(self, texts: list[str]) -> Any:
        ragged = self.tokenizer.tokenize(texts)
        return ragged.values.numpy(), ragged.row_splits.numpy()

    def rows(self, result: Any) -> Iterable[list[int]]:
        ids, row_splits = result
        return (ids[start:stop].tolist() for start, stop in pairwise(row_splits.tolist()))


class Iree(Peer):
    package = "iree-tokenizer"
    module = "iree.tokenizer"
    most_threads = 1

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.Tokenizer.from_file(_json(folder))

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.encode_batch_to_array(texts)

    def rows(self, result: Any) -> Iterable[list[int]]:
        return _split(*result)

    def encode_one(self, text: str) -> Any:
        return self.tokenizer.encode(text)


class FlashTokenizer(Peer):
    package = "flash-tokenizer"
    module = "flash_tokenizer"
    adds_special = True
    NO_LIMIT = 1 << 30  # of tokens; it would cut at 512

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.BertTokenizerFlash(
            _vocab(folder), do_lower_case=_lowercase(folder), model_max_length=self.NO_LIMIT
        ).tokenizer

    def encode_batch(self, texts: list[str]) -> Any:
        # "longest" pads nothing in batch_encode of 1.2.0: the rows come out as long as they are.
        return self.tokenizer.batch_encode(texts, "longest", self.NO_LIMIT, self.threads > 1)


class BlingFire(Peer):
    """Has model files of its own; that of bert-base-uncased is the one that is measured."""

    package = "blingfire"
    module = "blingfire"
    most_threads = 1

    def load(self, folder: str) -> None:
        path = Path(self.imported.__file__).with_name("bert_base_tok.bin")
        self.model = self.imported.load_model(str(path))

    def encode_batch(self, texts: list[str]) -> Any:
        text_to_ids, model = self.imported.text_to_ids, self.model
        # Room for the ids is made, and zeroed, for each text: as little as is surely enough.
        return [
            text_to_ids(model, text, len(text) * (1 if text.isascii() else 4) + 1, 100, True)
            for text in texts
        ]

    def rows(self, result: Any) -> Iterable[list[int]]:
        return (row.tolist() for row in result)


class Laghu(Peer):
    package = "laghu-rs"
    module = "laghu_rs"

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.WordPiece(Path(_json(folder)).read_text("utf-8"))

    def encode_batch(self, texts: list[str]) -> Any:
        return self.tokenizer.batch(texts, threads=self.threads)


class Morpheme(ManyEncodings):
    package = "morpheme"
    module = "morpheme"
    one_in = 10
    most_threads = 1

    def load(self, folder: str) -> None:
        self.tokenizer = self.imported.Tokenizer.from_file(_json(folder))


OURS = "piecework"
PEERS: dict[str, type[Peer]] = {
    OURS: Piecework,
    "nanotoken": NanoToken,
    "tokenizers": Tokenizers,
    "tokenizers-1": Tokenizers1,
    "splintr": Splintr,
    "tokie": Tokie,
    "tensorflow-text": TensorFlowText,
    "iree": Iree,
    "flash-tokenizer": FlashTokenizer,
    "blingfire": BlingFire,
    "laghu": Laghu,
    "morpheme": Morpheme,
}


def _import(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NotThere(f"{package} is not installed ({error})") from error


def _json(folder: str) -> str:
    return str(Path(folder) / "tokenizer.json")


def _vocab(folder: str) -> str:
    return str(Path(folder) / "vocab.txt")


def _lowercase(folder: str) -> bool:
    return bool(json.loads(Path(_json(folder)).read_text("utf-8"))["normalizer"]["lowercase"])


def _split(ids: Any, lengths: Any) -> Iterable[list[int]]:
    """Cut numpy's flat ids into rows of these lengths."""
    stop = 0
    for length in lengths.tolist():
        start, stop = stop, stop + length
        yield ids[start:stop].tolist()
