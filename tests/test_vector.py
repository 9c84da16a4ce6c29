"""Runs tests/vector_check.c, which compares the vector code of the kernels with plain C."""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
HEADERS = TESTS.parent / "ext" / "piecework"
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


@pytest.fixture(scope="module")
def compiler() -> list[str]:
    command = shlex.split(sysconfig.get_config_var("CC") or "cc")
    if not shutil.which(command[0]):
        pytest.skip(f"no C compiler: {command[0]}")
    if sys.platform == "win32":
        pytest.skip("vector_check.c needs POSIX: mmap")
    return command


def vector_set() -> str:
    """Which vector code this machine is to get."""
    machine = platform.machine().lower() if sys.maxsize > 2**32 else "of 32 bits"
    sets = {"x86_64": "SSE2", "amd64": "SSE2", "aarch64": "NEON", "arm64": "NEON"}
    return sets.get(machine, "plain C")


def compile_c(compiler: list[str], source: Path, program: Path, *options: str) -> str:
    """Compile a source to a program; return what the compiler says against it, if it fails."""
    warnings = ("-std=c99", "-Wall", "-Wextra", "-Werror")
    command = [*compiler, *warnings, "-O2", *options, f"-I{HEADERS}", source, "-o", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.stderr + result.stdout if result.returncode else ""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param((), vector_set(), id="vector"),
        pytest.param(SANITIZE, vector_set(), id="vector, sanitizers"),
        pytest.param(("-DPIECEWORK_PLAIN", *SANITIZE), "plain C", id="plain C, sanitizers"),
    ],
)
def test_vector_code_gives_what_plain_c_gives(
    compiler: list[str], options: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    if options:
        empty = tmp_path / "empty.c"
        empty.write_text("int main(void) { return 0; }\n")
        if compile_c(compiler, empty, tmp_path / "empty", *options):
            pytest.skip("the compiler has no sanitizers")
    program = tmp_path / "vector_check"
    complaints = compile_c(compiler, TESTS / "vector_check.c", program, *options)
    assert not complaints
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    # On a processor with AVX-512 that comes first, and then what the others get.
    assert result.stdout.splitlines()[-1].startswith(f"{expected}: ")
