"""What added tokens cost texts that hold none of them, or many, and how long they take to load.

    pytest benchmarks/test_added_tokens.py

`times plain` in the extra information is the time beside that of the same tokenizer without them,
both timed in turns. Texts that hold some are timed beside tokenizers, in turns too.
"""

import json
import random
import re
import statistics
import time
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from corpora import documents_of_kind, n_bytes, vocabulary_file
from races import benchmark_in_turn, differing, with_reported_times
from tokenizers import Tokenizer

from piecework import NewToken, WordPieceTokenizer
from piecework.bench import OURS
from piecework.kernel_encoder import _Splitter
from piecework.python_rows import RowEncoder
from piecework.spec import AddedToken, TokenizerSpec
from piecework.vocabulary import Vocabulary

N_TOKENS = 20_000
N_TEXTS = 2_000
ROUNDS = 9


def made_contents(kind):
    """Make contents of one kind, most of which no text holds."""
    rng = random.Random(kind)
    if kind == "marked":
        return [f"<tok{i}>" for i in range(N_TOKENS)]
    words = set()
    while len(words) < N_TOKENS:
        word = "".join(rng.choices("bcdfghjklmnpqrstvwxyz", k=4)) + "".join(
            rng.choices("aeio", k=3)
        )
        words.add(word if kind == "words" else f"{word} {rng.randrange(100)}")
    return sorted(words)


def rubert_spec():
    """Read the tokenizer with 1,639 normalized tokens, and its vocabulary."""
    path = vocabulary_file("rubert-tiny2-1644-added", "tokenizer.json")
    document = json.loads(path.read_text("utf-8"))
    return TokenizerSpec(
        Vocabulary.from_mapping(document["model"]["vocab"]),
        lowercase=False,
        added_tokens=tuple(AddedToken(**token) for token in document["added_tokens"]),
    )


def made_spec(kind, normalized):
    vocabulary = WordPieceTokenizer.from_pretrained("bert-base-uncased").vocab
    first = len(vocabulary)
    tokens = [
        AddedToken(content, first + i, special=False, normalized=normalized)
        for i, content in enumerate(made_contents(kind))
    ]
    return TokenizerSpec(Vocabulary.from_mapping(vocabulary), added_tokens=tuple(tokens))


SPECS = {
    "rubert": rubert_spec,
    **{
        f"{kind} {'normalized' if normalized else 'raw'}": (
            lambda kind=kind, normalized=normalized: made_spec(kind, normalized)
        )
        for kind in ("marked", "words", "phrases")
        for normalized in (False, True)
    },
}


@cache
def spec_of(name):
    return SPECS[name]()


@pytest.fixture(params=SPECS)
def spec(request):
    return spec_of(request.param)


def texts_without(tokenizer, texts, monkeypatch):
    """Leave out the texts that hold an added token: those that go to Python."""
    calls = []
    with monkeypatch.context() as patched:
        for kind, name in ((RowEncoder, "__call__"), (_Splitter, "split")):
            answer = getattr(kind, name)
            patched.setattr(
                kind,
                name,
                lambda self, text, *rest, answer=answer: (
                    calls.append(text) or answer(self, text, *rest)
                ),
            )
        left = []
        for text in texts:
            n_before = len(calls)
            tokenizer.encode(text)
            if len(calls) == n_before:
                left.append(text)
    return left


def seconds(tokenizer, texts):
    start = time.thread_time()
    tokenizer.encode_batch(texts, threads=1)
    return time.thread_time() - start


@pytest.mark.parametrize("kind", ["english", "multilingual", "cjk", "code"])
def test_text_without_added_tokens(benchmark, spec, kind, monkeypatch):
    plain = WordPieceTokenizer.from_spec(
        replace(spec, added_tokens=tuple(token for token in spec.added_tokens if token.special))
    )
    tokenizer = WordPieceTokenizer.from_spec(spec)
    documents = documents_of_kind(kind)
    texts = texts_without(tokenizer, documents, monkeypatch)
    halves = texts[::2], texts[1::2]
    times = [(seconds(plain, half), seconds(tokenizer, half)) for half in halves * (ROUNDS // 2)]
    ratio = statistics.median(ours / theirs for theirs, ours in times)
    benchmark.extra_info.update(
        {"times plain": ratio, "rows with a token": 1 - len(texts) / len(documents)}
    )
    benchmark(tokenizer.encode_batch, halves[0], threads=1)
    if benchmark.stats:  # none with --benchmark-disable
        benchmark.extra_info["MB/s"] = n_bytes(halves[0]) / benchmark.stats.stats.median / 1e6


@with_reported_times
@pytest.mark.parametrize("flag", ["normalized", "single_word", "special"])
@pytest.mark.parametrize("kind", ["english", "multilingual"])
def test_text_with_added_tokens(benchmark, kind, flag, rounds, monkeypatch, tmp_path):
    """A thousand words of the text, not its most frequent ones, as added tokens."""
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    texts = documents_of_kind(kind)[:N_TEXTS]
    plain = WordPieceTokenizer.from_pretrained("bert-base-uncased")
    words = Counter(plain.normalize(word) for text in texts for word in re.findall(r"\w{5,}", text))
    flags = {"normalized": flag != "special", flag: True}
    chosen = [word for word, _ in words.most_common(1_500)[500:]]
    ours = plain.add_tokens([NewToken(word, **flags) for word in chosen])
    ours.save(tmp_path / "tokenizer.json")
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    batch = ours.encode_batch(texts)
    encodings = theirs.encode_batch_fast(texts, add_special_tokens=False)
    n_different = sum(
        row.tolist() != encoding.ids for row, encoding in zip(batch, encodings, strict=True)
    )
    benchmark_in_turn(
        benchmark,
        {
            "tokenizers": lambda: process_seconds(
                lambda: theirs.encode_batch_fast(texts, add_special_tokens=False)
            ),
            OURS: lambda: process_seconds(lambda: ours.encode_batch(texts, threads=1)),
        },
        rounds=rounds,
        text=kind,
        what=f"text with {flag} tokens",
        unit="ms",
        ids=differing(n_different, len(texts)),
    )


def process_seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def test_load(benchmark, spec):
    benchmark(WordPieceTokenizer.from_spec, spec)
