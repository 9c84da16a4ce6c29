"""Where the benchmarks take their texts from."""

import os
import random
from functools import cache
from pathlib import Path

import pytest

DATA = Path(os.environ.get("PIECEWORK_DATA") or Path(__file__).parents[2] / "shared" / "data")
_LANGUAGES = ["multi", "de", "fr", "es", "pl", "uk", "ru", "el", "tr", "vi", "hi", "th"]
KINDS = {
    "english": ["en-*"],
    "multilingual": [f"{language}-*" for language in _LANGUAGES],
    "cjk": ["zh-*", "ja-*", "ko-*"],
    "code": ["code-*", "messy-*"],
}


@cache
def documents_of_kind(kind):
    """Return the documents of all files of a kind, or skip the benchmark that needs them."""
    texts = []
    for pattern in KINDS[kind]:
        for path in sorted((DATA / "corpora").glob(f"{pattern}.txt")):
            texts += path.read_bytes().decode().removesuffix("\n").split("\n")
    if not texts:
        pytest.skip(f"no corpora of {kind} text in {DATA}: set PIECEWORK_DATA to the data folder")
    return texts


def vocabulary_file(model, name):
    """Return the path of a model's file, or skip the benchmark that needs it."""
    path = DATA / "vocabs" / model / name
    if not path.exists():
        pytest.skip(f"no vocabs/{model}/{name} in {DATA}: set PIECEWORK_DATA to the data folder")
    return path


def n_bytes(texts):
    return sum(len(text.encode()) for text in texts)


# ---- worst cases: what a text can be to make a tokenizer slow ----

WORST_CASES = {
    "words of 100 letters": lambda rng, n: _documents(rng, n, lambda: _letters(rng, 100)),
    "every word new": lambda rng, n: _documents(rng, n, lambda: _letters(rng, rng.randint(3, 14))),
    "one long word": lambda rng, n: [_letters(rng, n)],
    "punctuation": lambda rng, n: _documents(
        rng, n, lambda: "".join(rng.choices(".,;!?-()[]", k=9))
    ),
    "all [UNK]": lambda rng, n: _documents(rng, n, lambda: "".join(rng.choices("ꙮꚙꛯꜣ", k=5))),
    "alternating scripts": lambda rng, n: _documents(
        rng,
        n,
        lambda: "".join(rng.choice(script) for script in ("abc", "где", "αβγ", "日本", "กขค")),
    ),
}


def worst_case(name, size):
    """Return documents of about so many bytes, the same ones each time."""
    return WORST_CASES[name](random.Random(name), size)


def _letters(rng, n):
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=n))


def _documents(rng, size, make_word):
    """Return documents of a hundred words."""
    documents = []
    while size > 0:
        documents.append(" ".join(make_word() for _ in range(100)))
        size -= len(documents[-1].encode())
    return documents
