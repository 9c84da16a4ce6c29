"""Starts the process that a peer is measured in, and speaks to it.

Commands and their arguments go in, what :mod:`piecework.bench.worker` answers comes out. It does
not measure; all times are taken inside the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from piecework.bench.peers import PEERS, NotThere

_BOOT = (
    "import runpy, sys; peers, worker = map(runpy.run_path, sys.argv[1:]); "
    "worker['serve'](peers['PEERS'], peers['NotThere'])"
)
_FIRST_IDS = (
    "import time; start = time.perf_counter(); import runpy, sys; "
    "peers = runpy.run_path(sys.argv[1])['PEERS']; "
    "peers[sys.argv[2]](sys.argv[3], 1).encode_one(sys.argv[4]); "
    "print(time.perf_counter() - start)"
)
_FILES = [str(Path(__file__).with_name(name)) for name in ("peers.py", "worker.py")]
_LAST_WORDS = 2000  # characters of what a process wrote before it died


class PeerProcess:
    """A peer, loaded, in a process of its own. A context manager: it ends with the block.

    Parameters
    ----------
    peer : str
        A key of :data:`piecework.bench.peers.PEERS`.
    folder : path
        Holds tokenizer.json and vocab.txt.
    threads : int
        The threads, and cores, that it may use.
    python : str
        The interpreter that has the peer installed.

    Attributes
    ----------
    version : str
        Of the peer's distribution.
    load_seconds : float
        Import and load together.

    Raises
    ------
    NotThere
        The peer is not installed or can't do it.
    RuntimeError
        It failed, with its message.
    """

    def __init__(
        self,
        peer: str,
        folder: str | os.PathLike[str],
        threads: int = 1,
        python: str = sys.executable,
    ) -> None:
        self.peer = peer
        self._folder = os.fspath(folder)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        try:
            self._process = subprocess.Popen(
                [python, "-c", _BOOT, *_FILES],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
                encoding="utf-8",
                env=_environment(threads),
            )
        except OSError as error:
            self._stderr.close()
            raise NotThere(f"{peer}: {python} can't be run ({error.strerror})") from error
        try:
            started = self.ask("start", peer=peer, folder=self._folder, threads=threads)
        except BaseException:
            self.close()
            raise
        self.version: str = started["version"]
        self.load_seconds: float = started["seconds"]

    def ask(self, do: str, **arguments: Any) -> Any:
        """Have a command done, a method of the worker's class; return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"{self.peer}: its process died: {self._last_words()}")
        try:
            answer = json.loads(line)
        except ValueError:
            raise NotThere(
                f"{self.peer}: its process says {line[:80]!r}; is that a Python?"
            ) from None
        if "not there" in answer:
            raise NotThere(answer["not there"])
        if "error" in answer:
            raise RuntimeError(f"{self.peer}: {answer['error']}")
        return answer["result"]

    def reload(self) -> Any:
        """Make the peer's tokenizer anew; return how long that took."""
        return self.ask("reload", folder=self._folder)

    def fetch_ids(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ids of the last call of ``encode``, and where its rows start and stop."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ids"
            counts = self.ask("save_ids", path=str(path))
            written = np.fromfile(path, np.int32)
        row_splits = np.zeros(counts["rows"] + 1, np.int64)
        np.cumsum(written[counts["tokens"] :], out=row_splits[1:])
        return written[: counts["tokens"]], row_splits

    def close(self) -> None:
        """End the process."""
        self._process.communicate()  # closes its standard input: it ends by itself
        self._stderr.close()

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _last_words(self) -> str:
        self._process.wait()
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace").strip()
        return words[-_LAST_WORDS:] or f"exit code {self._process.returncode}"


def seconds_to_first_ids(
    peer: str, folder: str | os.PathLike[str], text: str, python: str = sys.executable
) -> float:
    """Run a new process that imports and loads a peer and encodes one text; return its seconds.

    They run from the program's first line to its last, so that the start of the interpreter itself
    does not count, and reading the file of the peers does: some milliseconds, the same for all.

    Raises
    ------
    RuntimeError
        The process failed, with what it wrote.
    """
    command = [python, "-c", _FIRST_IDS, _FILES[0], peer, os.fspath(folder), text]
    done = subprocess.run(command, capture_output=True, text=True, env=_environment(1), check=False)
    if done.returncode:
        raise RuntimeError(f"{peer}: {done.stderr.strip()[-_LAST_WORDS:]}")
    return float(done.stdout)


def parse_pythons(values: Iterable[str]) -> dict[str, str]:
    """Return the interpreters of peers, from texts such as ``tokenizers-1=/venvs/rc/bin/python``.

    Raises
    ------
    ValueError
        A text is not of that form, or names no peer.
    """
    pythons = {}
    for value in values:
        peer, equals, python = value.partition("=")
        if not (equals and python) or peer not in PEERS:
            raise ValueError(f"expected PEER=PYTHON, with a peer of {list(PEERS)}; got {value!r}")
        pythons[peer] = python
    return pythons


def _environment(threads: int) -> dict[str, str]:
    """Return the environment in which thread pools have as many threads as asked for."""
    pools = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS")
    return {
        **os.environ,
        **dict.fromkeys(pools, str(threads)),
        "TOKENIZERS_PARALLELISM": "true",  # over the one thread or more of the pool
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONSAFEPATH": "1",  # no module of the current folder stands for an installed one
    }
