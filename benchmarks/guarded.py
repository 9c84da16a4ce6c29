"""One process's measurement for the throughput guard: `encode_batch` in yardsticks.

``python benchmarks/guarded.py [SLOWDOWN]`` prints, as JSON, for each text the time of encoding it
divided by the time of the yardstick's walk over the same bytes. Where the tables come to lie in
memory differs from process to process and moves that by one or two percent, so test_guard.py runs
several. SLOWDOWN 0.1 encodes a tenth of each text twice, to see that the guard notices.

Rounds are short (the yardstick, piecework, the yardstick, about a millisecond each), and only the
quarter counts in which the yardstick was fastest before and after: those in which nobody disturbed.
On the two-core virtual machine this was made on, the median over all rounds moved by 20 % between
runs while another process was busy, and the median over those by 2 %.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from yardstick import Yardstick

from piecework import WordPieceTokenizer
from piecework.bench.texts import documentation_of_python

TEXT_BYTES = 300_000
ROUNDS = 200
WARM_UP_ROUNDS = 20
QUIET_SHARE = 4  # one round in so many counts


def guarded_texts(vocab: dict[str, int]) -> dict[str, list[str]]:
    """Give the texts by name. They need nothing but Python and the vocabulary."""
    rng = random.Random(0)
    documents = _until(TEXT_BYTES, iter(documentation_of_python()))
    lines = [line for document in documents for line in document.splitlines() if line]
    foreign = [token.removeprefix("##") for token in vocab if not token.isascii()]
    words = iter(lambda: "".join(rng.choices(foreign, k=rng.choice((1, 1, 2, 3)))), None)
    text = _until(TEXT_BYTES, words)
    scripts = [" ".join(text[at : at + 200]) for at in range(0, len(text), 200)]
    return {"english": documents, "short rows": lines, "other scripts": scripts}


def _until(n_bytes: int, parts) -> list[str]:
    taken = []
    while n_bytes > 0:
        taken.append(next(parts))
        n_bytes -= len(taken[-1].encode())
    return taken


def time_in_yardsticks(encode: Callable[[], object], walk: Callable[[], object]) -> float:
    """Return the time of `encode` divided by that of `walk`, from the quiet rounds."""
    rounds = [(_seconds(walk), _seconds(encode), _seconds(walk)) for _ in range(ROUNDS)]
    rounds = sorted(rounds[WARM_UP_ROUNDS:], key=lambda times: max(times[0], times[2]))
    quiet = rounds[: len(rounds) // QUIET_SHARE]
    return statistics.median(2 * times[1] / (times[0] + times[2]) for times in quiet)


def _seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def main(slowdown: float) -> None:
    tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, texts in guarded_texts(tokenizer.vocab).items():
            yardstick = Yardstick(Path(folder), "\n".join(texts).encode())
            again = texts[: int(len(texts) * slowdown)]
            results[name] = time_in_yardsticks(
                lambda texts=texts + again: tokenizer.encode_batch(texts), yardstick.walk
            )
    print(json.dumps(results))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
