"""Compiles and calls yardstick.c, the fixed measure that the guarded times are divided by.

Bytes go in, and what comes out is the time of one walk over them. It knows nothing of piecework.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("yardstick.c")
FLAGS = ("-O2", "-fPIC", "-shared")


class NoCompiler(RuntimeError):
    """There is no C compiler to build the yardstick with."""


class Yardstick:
    """The walk over one text, by a library that `compile_yardstick` made."""

    def __init__(self, library: ctypes.CDLL, text: bytes) -> None:
        library.yardstick_prepare()
        self._walk = library.yardstick_walk
        self._walk.restype = ctypes.c_size_t
        self._text = np.frombuffer(text, np.uint8)
        self._out = np.zeros(len(text), np.uint32)
        self._arguments = (
            ctypes.c_void_p(self._text.ctypes.data),
            ctypes.c_size_t(len(text)),
            ctypes.c_void_p(self._out.ctypes.data),
        )

    def walk(self) -> int:
        """Walk the text once; return how many numbers that wrote."""
        return self._walk(*self._arguments)


def compile_yardstick(folder: Path) -> ctypes.CDLL:
    """Compile yardstick.c into a folder, and load it."""
    command = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    if shutil.which(command[0]) is None:
        raise NoCompiler(f"the yardstick needs a C compiler; {command[0]} is not there (set CC)")
    library = folder / "yardstick.so"
    subprocess.run([*command, *FLAGS, "-o", library, SOURCE], check=True)
    return ctypes.CDLL(str(library))
