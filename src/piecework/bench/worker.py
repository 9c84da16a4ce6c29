"""The process that one peer is measured in: commands on standard input, answers on standard output.

One JSON object a line, both ways. Each peer has a process of its own, so that none shares caches,
thread pools or settings of the environment with another, and so that a peer can be run by another
interpreter. This file imports nothing but the standard library, and no other file; it is handed
the table of peers (see :mod:`piecework.bench.process`, which starts it and speaks to it).
"""

from __future__ import annotations

import array
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO


def serve(peers: Mapping[str, Any], not_there: type[Exception]) -> None:
    """Answer commands until there are no more. What a peer prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    worker = Worker(peers)
    for line in sys.stdin:
        command = json.loads(line)
        call: Callable[..., Any] = getattr(worker, command.pop("do"))
        try:
            answer = {"result": call(**command)}
        except not_there as error:
            answer = {"not there": str(error)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        _write_line(answers, answer)


def _write_line(file: TextIO, answer: object) -> None:
    file.write(json.dumps(answer) + "\n")
    file.flush()


class Worker:
    """One peer, the texts it was given, and the result of its last call."""

    def __init__(self, peers: Mapping[str, Any]) -> None:
        self.peers = peers
        self.texts: dict[str, list[str]] = {}
        self.peer: Any = None
        self.result: Any = None

    def start(self, peer: str, folder: str, threads: int) -> dict[str, Any]:
        """Import and load a peer, on as many cores as it may use threads."""
        if hasattr(os, "sched_setaffinity"):
            # The same cores for everybody. They take turns, so nobody is in the way.
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(0, cores[-threads:])
        start = time.perf_counter()
        self.peer = self.peers[peer](folder, threads)
        seconds = time.perf_counter() - start
        return {"version": metadata.version(self.peer.package), "seconds": seconds}

    def reload(self, folder: str) -> dict[str, float]:
        """Make the peer's tokenizer anew; return how long that took."""
        self.result = None
        return _timed(lambda: self.peer.load(folder))

    def take(self, name: str, path: str) -> None:
        """Read texts from a file, under a name for later commands."""
        with Path(path).open("rb") as file:
            self.texts[name] = pickle.load(file)

    def encode(self, texts: str) -> dict[str, float]:
        """Encode texts in one call; return how long that took. The ids are kept until the next."""
        self.result = None  # its memory is given back before the clock runs
        rows = self.texts[texts]

        def call() -> None:
            self.result = self.peer.encode_batch(rows)

        return _timed(call)

    def encode_each(self, texts: str, loops: int) -> dict[str, float]:
        """Encode texts one by one, so many times; return how long one call took on average."""
        rows, encode_one = self.texts[texts], self.peer.encode_one
        return _timed(lambda: [encode_one(text) for text in rows], loops, len(rows))

    def encode_small(self, texts: str, loops: int) -> dict[str, float]:
        """Encode texts in one call, so many times; return how long a call took on average."""
        rows = self.texts[texts]
        return _timed(lambda: self.peer.encode_batch(rows), loops)

    def encode_padded(
        self, texts: str, length: int | None, dtype: str, loops: int
    ) -> dict[str, float]:
        """Encode texts to padded matrices, so many times; return the time of one call."""
        rows = self.texts[texts]
        return _timed(lambda: self.peer.encode_padded(rows, length, dtype), loops)

    def save_ids(self, path: str) -> dict[str, int]:
        """Write the ids of the last result, int32, and behind them the length of each row."""
        ids, lengths = array.array("i"), array.array("i")
        for row in self.peer.rows(self.result):
            ids.extend(row)
            lengths.append(len(row))
        with Path(path).open("wb") as file:
            ids.tofile(file)
            lengths.tofile(file)
        return {"tokens": len(ids), "rows": len(lengths)}

    def peak_memory(self, texts: str) -> dict[str, int]:
        """Encode texts, and return by how many bytes the process grew at most, output included."""
        self.result = None
        self.encode_small(texts, 0)  # no call: what the measuring itself needs is there
        before = _reset_peak()
        self.result = self.peer.encode_batch(self.texts[texts])
        return {"bytes": _status("VmHWM") - before}


def _timed(call: Callable[[], object], loops: int = 1, calls: int = 1) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(loops):
        call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    n_calls = max(loops * calls, 1)
    return {"wall": wall / n_calls, "cpu": cpu / n_calls}


def _reset_peak() -> int:
    """Set the peak back to what the process holds now, in bytes, and return that. Linux only."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024  # "kB" there is 1024 bytes
    raise OSError(f"no {field} in /proc/self/status")
