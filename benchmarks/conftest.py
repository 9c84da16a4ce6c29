"""Texts and tokenizers for the benchmarks.

The corpora lie beside the checkout (../shared/data) or where $PIECEWORK_DATA says; without them
the benchmarks that need them are skipped.
"""

import os
import random
from pathlib import Path

import pytest

from piecework import WordPieceTokenizer

DATA = Path(os.environ.get("PIECEWORK_DATA", Path(__file__).parents[2] / "shared" / "data"))
_LANGUAGES = ["multi", "de", "fr", "es", "pl", "uk", "ru", "el", "tr", "vi", "hi", "th"]
KINDS = {
    "english": ["en-*"],
    "multilingual": [f"{language}-*" for language in _LANGUAGES],
    "cjk": ["zh-*", "ja-*", "ko-*"],
    "code": ["code-*", "messy-*"],
}


@pytest.fixture(scope="session", params=KINDS)
def halves(request):
    """A kind of text, and its documents, shuffled, in halves: to warm up with, and to time."""
    texts = []
    for pattern in KINDS[request.param]:
        for path in sorted((DATA / "corpora").glob(f"{pattern}.txt")):
            texts += path.read_bytes().decode().removesuffix("\n").split("\n")
    if not texts:
        pytest.skip(f"no corpora in {DATA}")
    random.Random(0).shuffle(texts)
    half = len(texts) // 2
    return request.param, texts[:half], texts[half:]


@pytest.fixture(scope="session")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture(scope="session")
def tokenizer_json(tokenizer, tmp_path_factory):
    """The same tokenizer as a file, for the peers."""
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(path)
    return path


def pytest_terminal_summary(terminalreporter, config):
    """Print the ratios, which pytest-benchmark's own table has no column for."""
    session = getattr(config, "_benchmarksession", None)
    rows = [each.extra_info for each in session.benchmarks] if session else []
    rows = [row for row in rows if "ratio" in row]
    if rows:
        terminalreporter.section("piecework beside its peers, MB/s of UTF-8, one core")
        line = "{:<13}{:<10}{:<12}{:>10}{:>10}{:>8}  {}"
        terminalreporter.line(
            line.format("text", "state", "peer", "piecework", "peer", "ratio", "ids")
        )
    for row in rows:
        figures = [f"{row[name]:.1f}" for name in ("MB/s", "peer MB/s", "ratio")]
        ids = "equal" if row["same ids"] else "DIFFER"
        terminalreporter.line(line.format(row["kind"], row["state"], row["peer"], *figures, ids))
