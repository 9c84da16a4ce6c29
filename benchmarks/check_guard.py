"""See that the guard notices a slowdown by a tenth, in half a minute and on a busy machine too.

``python benchmarks/check_guard.py`` times the yardstick, encoding, and encoding with a tenth of the
texts encoded twice, all in the same rounds, so that whatever disturbs meets all of them. The rule
that compares two commits has to pass the one beside itself and to fail the other. It says nothing
about the speed of anything; show_guard.py plants a slowdown in the kernel, and takes many minutes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from guard import OnlyGuarded, default_check, fastest_ratio
from guarded import guarded_texts, repeat_share, time_round
from yardstick import Yardstick, compile_yardstick

from piecework import WordPieceTokenizer

ROUNDS = 300


class Figure(dict):
    """A guarded figure, as pytest-benchmark hands it to a check."""

    extra_info = {"guarded": True}  # noqa: RUF012 (never written to)


def main() -> int:
    tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
    check = OnlyGuarded(default_check())
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        library = compile_yardstick(Path(folder))
        for name, texts in guarded_texts(tokenizer.vocab).items():
            walk = Yardstick(library, "\n".join(texts).encode()).walk
            encode = partial(tokenizer.encode_batch, texts)
            slower = partial(tokenizer.encode_batch, repeat_share(texts, 0.1))
            before, again, slow = figures(walk, encode, encode, slower)
            for what, figure in (("again", again), ("slower", slow)):
                failed = check.fails(figure, before) is not None
                wrong += failed != (figure is slow)
                change = figure["median"] / before["median"] - 1
                print(f"{name:14} {what:7} {change:+7.2%} {'fails' if failed else 'passes'}")
    print("the guard notices" if not wrong else f"{wrong} of 6 comparisons came out wrong")
    return bool(wrong)


def figures(walk: Callable[[], object], *calls: Callable[[], object]) -> list[Figure]:
    """Time calls in turn; return each in yardsticks, from the fastest of many rounds.

    The calls of one process meet the same quiet moments, if they are many enough: a twentieth of
    the rounds on a machine where every core has two processes waiting.
    """
    rounds: list[list[tuple[float, float, float]]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, its_rounds in zip(calls, rounds, strict=True):
            its_rounds.append(time_round(walk, call))
    return [Figure(median=fastest_ratio(each)) for each in rounds]


if __name__ == "__main__":
    sys.exit(main())
