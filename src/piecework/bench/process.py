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
from pathlib import Path
from typing import Any

from piecework.bench.peers import NotThere

_BOOT = (
    "import runpy, sys; peers, worker = map(runpy.run_path, sys.argv[1:]); "
    "worker['serve'](peers['PEERS'], peers['NotThere'])"
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
        answer = json.loads(line)
        if "not there" in answer:
            raise NotThere(answer["not there"])
        if "error" in answer:
            raise RuntimeError(f"{self.peer}: {answer['error']}")
        return answer["result"]

    def reload(self) -> Any:
        """Make the peer's tokenizer anew; return how long that took."""
        return self.ask("reload", folder=self._folder)

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
