"""One process's measurement for the throughput guard: `encode_batch` beside the yardstick.

``python benchmarks/guarded.py [SLOWDOWN]`` prints, as JSON, for each text a list of rounds: the
seconds of the yardstick's walk, of encoding the same bytes, and of the yardstick again, about a
millisecond each. SLOWDOWN 0.1 encodes a tenth of each text twice, to see that the guard notices.
What becomes of the rounds is decided in guard.py.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from yardstick import Yardstick, compile_yardstick

from piecework import WordPieceTokenizer
from piecework.bench.texts import documentation_of_python

TEXT_BYTES = 300_000
ROUNDS = 100
WARM_UP_ROUNDS = 10


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


def repeat_share(texts: list[str], share: float) -> list[str]:
    """Add so much of the texts once more, by bytes."""
    return texts + _until(share * TEXT_BYTES, iter(texts))


def _until(n_bytes: float, parts) -> list[str]:
    taken = []
    while n_bytes > 0:
        taken.append(next(parts))
        n_bytes -= len(taken[-1].encode())
    return taken


def time_round(
    walk: Callable[[], object], encode: Callable[[], object]
) -> tuple[float, float, float]:
    """Return the seconds of the yardstick, of encoding, and of the yardstick again."""
    return _seconds(walk), _seconds(encode), _seconds(walk)


def _seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def main(slowdown: float) -> None:
    tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        library = compile_yardstick(Path(folder))
        for name, texts in guarded_texts(tokenizer.vocab).items():
            yardstick = Yardstick(library, "\n".join(texts).encode())
            encode = partial(tokenizer.encode_batch, repeat_share(texts, slowdown))
            for _ in range(WARM_UP_ROUNDS):
                time_round(yardstick.walk, encode)
            results[name] = [time_round(yardstick.walk, encode) for _ in range(ROUNDS)]
    print(json.dumps(results))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
