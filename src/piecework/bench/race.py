"""Measures peers on the same texts, in turn, and compares their ids with piecework's.

In go a tokenizer, texts and names of peers; out come their times, one a round, and how many rows of
ids differ. Each round times each peer once, so that all meet the same noise, and each is prepared
in the same way before its clock runs:

cold
    a new process: the first call after the tokenizer was loaded
unseen
    a tokenizer made anew has encoded other texts of the same kind
repeated
    it has encoded the same texts

With one thread the clock is the CPU time of the peer's process, which other processes on the
machine disturb less; with more it is the wall's.
"""

from __future__ import annotations

import os
import pickle
import random
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from piecework.bench.peers import OURS, PEERS, NotThere
from piecework.bench.process import PeerProcess
from piecework.tokenizer import WordPieceTokenizer

State = Literal["cold", "unseen", "repeated"]
STATES: tuple[State, ...] = ("cold", "unseen", "repeated")


class Course:
    """A tokenizer and texts as files, for the processes of the peers to read.

    Parameters
    ----------
    folder : path
        An existing folder; the files go there.
    tokenizer : WordPieceTokenizer
    warm, texts : sequence of str
        What to warm up with in the state *unseen*, and what is timed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        tokenizer: WordPieceTokenizer,
        warm: Sequence[str],
        texts: Sequence[str],
    ) -> None:
        self.folder = Path(folder)
        self._texts = {"warm": list(warm), "texts": list(texts)}
        save_tokenizer(tokenizer, self.folder)

    @classmethod
    def of_documents(
        cls,
        folder: str | os.PathLike[str],
        tokenizer: WordPieceTokenizer,
        documents: Iterable[str],
    ) -> Course:
        """Shuffle documents, the same way each time, and warm up with half of them."""
        shuffled = list(documents)
        random.Random(0).shuffle(shuffled)
        half = len(shuffled) // 2
        return cls(folder, tokenizer, shuffled[:half], shuffled[half:])

    def part(self, name: str, one_in: int) -> list[str]:
        """Return the first of so many parts of "warm" or "texts", at least one text."""
        texts = self._texts[name]
        return texts[: max(len(texts) // one_in, 1)]

    def file(self, name: str, one_in: int) -> Path:
        """Return the path of a file with such a part, which is written on first use."""
        path = self.folder / f"{name}-{one_in}.pickle"
        if not path.exists():
            path.write_bytes(pickle.dumps(self.part(name, one_in), protocol=4))
        return path

    def n_bytes(self, one_in: int = 1) -> int:
        """Return the size of that part of the texts, in bytes of UTF-8."""
        return sum(
            len(text.encode("utf-8", "surrogatepass")) for text in self.part("texts", one_in)
        )


def save_tokenizer(tokenizer: WordPieceTokenizer, folder: Path) -> None:
    """Write tokenizer.json, and vocab.txt where the vocabulary can be one, for peers to load."""
    tokenizer.save(folder / "tokenizer.json")
    try:
        tokenizer.save_vocab(folder / "vocab.txt")
    except ValueError:  # as a token with a newline; a peer that needs the file says it is missing
        (folder / "vocab.txt").unlink(missing_ok=True)


@dataclass(frozen=True)
class Result:
    """What a race says about one peer.

    Attributes
    ----------
    seconds : tuple of float
        One a round, by the clock that the module's docstring names.
    one_in : int
        It was measured on the first of so many parts of the texts: `bytes`, `tokens` and `rows`
        are those of the part.
    differing_rows : int
        Rows whose ids are not piecework's.
    ratio : float
        How many times as long as piecework it takes a byte, the median over the rounds.
    """

    peer: str
    version: str
    state: State
    threads: int
    seconds: tuple[float, ...]
    one_in: int
    bytes: int
    tokens: int
    rows: int
    differing_rows: int
    ratio: float

    @property
    def best(self) -> float:
        """MB/s of UTF-8 in the best round."""
        return self.bytes / min(self.seconds) / 1e6

    @property
    def median(self) -> float:
        """MB/s of UTF-8 in the median round."""
        return self.bytes / statistics.median(self.seconds) / 1e6

    @property
    def ids(self) -> str:
        """How the ids compare with piecework's: ``equal``, or the share of rows that differ."""
        if not self.differing_rows:
            return "equal"
        return f"{self.differing_rows / self.rows:.2%} of rows differ"

    def as_dict(self) -> dict[str, Any]:
        """Return all figures by name, as JSON takes them."""
        seconds = statistics.median(self.seconds)
        return {
            "peer": self.peer,
            "version": self.version,
            "state": self.state,
            "threads": self.threads,
            "clock": clock(self.threads),
            "seconds": list(self.seconds),
            "one_in": self.one_in,
            "bytes": self.bytes,
            "tokens": self.tokens,
            "best MB/s": self.best,
            "MB/s": self.median,
            "tokens/s": self.tokens / seconds,
            "ratio": self.ratio,
            "ids": self.ids,
        }


def clock(threads: int) -> str:
    """Return which clock counts: ``cpu`` or ``wall``."""
    return "cpu" if threads == 1 else "wall"


@dataclass
class _Contestant:
    """A peer in a race: its process, and its times."""

    peer: str
    course: Course
    threads: int
    python: str
    process: PeerProcess = field(init=False)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.one_in = PEERS[self.peer].one_in
        self._start()

    def _start(self) -> None:
        self.process = PeerProcess(self.peer, self.course.folder, self.threads, self.python)
        for name in ("warm", "texts"):
            path = str(self.course.file(name, self.one_in))
            self.process.ask("take", name=name, path=path)

    def time(self, state: State) -> float:
        """Prepare it, and time one call."""
        if state == "cold" and self.seconds:
            self.process.close()
            self._start()
        elif state == "unseen":
            self.process.reload()
            self.process.ask("encode", texts="warm")
        elif state == "repeated" and not self.seconds:
            self.process.ask("encode", texts="texts")
        self.seconds.append(self.process.ask("encode", texts="texts")[clock(self.threads)])
        return self.seconds[-1]


class Race:
    """Piecework and peers on one course. A context manager: the processes end with the block.

    Parameters
    ----------
    course : Course
    peers : iterable of str
        Keys of :data:`piecework.bench.peers.PEERS`; piecework itself always runs, last in a round.
    state : {"cold", "unseen", "repeated"}
    threads : int
    pythons : mapping of str to str
        By peer the interpreter that has it, where that is not the one that runs.

    Attributes
    ----------
    missing : dict of str to str
        Peers that do not take part, and why.

    Raises
    ------
    NotThere
        Piecework itself can't do it.
    ValueError
        The texts of somebody, who may get a part of them, hold no characters.
    """

    def __init__(
        self,
        course: Course,
        peers: Iterable[str],
        state: State,
        *,
        threads: int = 1,
        pythons: Mapping[str, str] | None = None,
    ) -> None:
        self.state = state
        self.threads = threads
        self.missing: dict[str, str] = {}
        self._course = course
        self._pythons = pythons or {}
        self._contestants: list[_Contestant] = []
        others = [each for each in peers if each != OURS]
        for peer in [OURS, *others]:
            if not any(course.part("texts", PEERS[peer].one_in)):
                raise ValueError(f"the texts to be timed hold no characters (those for {peer})")
        for peer in others:
            self._attempt(peer)
        self._ours = self._add(OURS)

    def _attempt(self, peer: str) -> None:
        try:
            self._add(peer)
        except (NotThere, RuntimeError) as reason:
            self.missing[peer] = str(reason)

    def _add(self, peer: str) -> _Contestant:
        python = self._pythons.get(peer, sys.executable)
        try:
            contestant = _Contestant(peer, self._course, self.threads, python)
        except BaseException:
            if peer == OURS:
                self.close()
            raise
        self._contestants.append(contestant)
        return contestant

    def run_round(self) -> dict[str, float]:
        """Time each once, in turn; return the seconds by name."""
        seconds = {}
        for contestant in list(self._contestants):
            try:
                seconds[contestant.peer] = contestant.time(self.state)
            except RuntimeError as failure:
                if contestant is self._ours:
                    raise
                self.missing[contestant.peer] = str(failure)
                self._contestants.remove(contestant)
                contestant.process.close()
        return seconds

    def results(self) -> list[Result]:
        """Return what was measured, piecework first."""
        ours = self._ours.process.fetch_ids()
        order = [self._ours, *(each for each in self._contestants if each is not self._ours)]
        return [self._result(each, ours) for each in order]

    def _result(
        self, contestant: _Contestant, ours: tuple[NDArray[np.int32], NDArray[np.int64]]
    ) -> Result:
        ids, row_splits = contestant.process.fetch_ids()
        n_bytes = self._course.n_bytes(contestant.one_in)
        n_all = self._course.n_bytes()
        return Result(
            peer=contestant.peer,
            version=contestant.process.version,
            state=self.state,
            threads=self.threads,
            seconds=tuple(contestant.seconds),
            one_in=contestant.one_in,
            bytes=n_bytes,
            tokens=len(ids),
            rows=len(row_splits) - 1,
            differing_rows=count_differing_rows((ids, row_splits), ours),
            ratio=statistics.median(
                (theirs / n_bytes) / (mine / n_all)
                for theirs, mine in zip(contestant.seconds, self._ours.seconds, strict=True)
            ),
        )

    def close(self) -> None:
        """End all processes."""
        for contestant in self._contestants:
            contestant.process.close()

    def __enter__(self) -> Race:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def count_differing_rows(
    some: tuple[NDArray[np.int32], NDArray[np.int64]],
    others: tuple[NDArray[np.int32], NDArray[np.int64]],
) -> int:
    """Count the rows of `some`, flat ids and row splits, that are not the same in `others`.

    Examples
    --------
    >>> import numpy as np
    >>> splits = np.array([0, 2, 3])
    >>> count_differing_rows((np.array([5, 6, 7]), splits), (np.array([5, 6, 8]), splits))
    1
    """
    ids, row_splits = some
    other_ids, other_splits = others
    return sum(
        not np.array_equal(
            ids[row_splits[row] : row_splits[row + 1]],
            other_ids[other_splits[row] : other_splits[row + 1]],
        )
        for row in range(len(row_splits) - 1)
    )
