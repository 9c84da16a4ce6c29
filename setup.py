"""Build the compiled kernels: each ext/**/*.pyx becomes the module its path spells.

Environment
    PIECEWORK_DEBUG     1: no optimisation, debug symbols, bounds checks on memoryviews
    PIECEWORK_SANITIZE  1: the debug build with the address and undefined-behaviour sanitizers
    PIECEWORK_PLAIN     1: no vector code: the plain C that it has to agree with, everywhere
"""

import os
from pathlib import Path

from Cython.Distutils import Extension
from setuptools import setup

EXT = Path("ext")
HEADERS = sorted(str(path) for path in EXT.rglob("*") if path.suffix in {".pxd", ".pxi", ".h"})
SHARED = "piecework._cyutility"  # one copy of Cython's memoryview code for all modules
SANITIZE = os.environ.get("PIECEWORK_SANITIZE") == "1"
DEBUG = SANITIZE or os.environ.get("PIECEWORK_DEBUG") == "1"

# Checks are set here and never at the head of a file: a file's own directive would win over DEBUG.
directives = {
    "language_level": "3",
    "freethreading_compatible": True,
    "boundscheck": DEBUG,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": DEBUG,
}
# The walk wants its pointers in registers of their own; GCC would pair them up in vector registers
# and take them apart again at each step (1.15 to 1.4 times the time).
compile_args = ["-O0", "-g"] if DEBUG else ["-O3", "-g0", "-fno-tree-slp-vectorize"]
macros = [] if DEBUG else [("CYTHON_WITHOUT_ASSERTIONS", "1")]
if os.environ.get("PIECEWORK_PLAIN") == "1":
    macros.append(("PIECEWORK_PLAIN", "1"))
link_args = []
if SANITIZE:
    # A finding ends the process, as pytest would swallow a mere message; and Python's own flags
    # switch the check for signed overflow off.
    compile_args += [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=undefined",
        "-fno-wrapv",
    ]
    link_args.append("-fsanitize=address,undefined")


def extension(name, source):
    """Describe the extension module that one source is compiled to."""
    module = Extension(
        name,
        [source],
        depends=HEADERS,  # also puts them in the sdist
        include_dirs=[str(EXT / "piecework")],
        cython_include_dirs=[str(EXT)],
        cython_directives=directives,
        cython_c_in_temp=True,  # no generated C beside the sources
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        define_macros=macros,
    )
    module.shared_utility_qualified_name = SHARED
    return module


modules = [
    extension(".".join(pyx.relative_to(EXT).with_suffix("").parts), str(pyx))
    for pyx in sorted(EXT.rglob("*.pyx"))
]
modules.append(extension(SHARED, "ext/piecework/_cyutility.c"))  # generated at build time
setup(ext_modules=modules)
