"""Show that the throughput guard fails for a slower kernel and passes for an unchanged one.

``python benchmarks/show_guard.py [--times 5] [--saved]`` works on temporary copies of the project.
One is built as it is, to be compared with; then another unchanged copy and one with a planted
slowdown, each built anew, are compared with it, in turn, so many times. It ends with 1 if an
unchanged copy fails or a slower one passes.

The comparison is that of --guard-beside, which stands a busy machine, or with --saved the one with
a saved run (--benchmark-save, --benchmark-compare), which needs a quiet one. The planted slowdown
makes each run of the kernel over a chunk of rows take a tenth longer, by its own clock: 10 %
whatever the kernel. It needs the ``bench`` extra and what compiles the kernels.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

from guard import FAILED  # noqa: E402
from plant_pitfalls import BUILD_KERNELS, copy_project, replace, run  # noqa: E402

ROWS = "ext/piecework/_rows.pyx"
SLOWDOWN = (
    (
        "from piecework._buffers cimport Ids\n",
        "from libc.time cimport clock, clock_t\n\nfrom piecework._buffers cimport Ids\n",
    ),
    (
        "    empty_window(workspace)\n    for i in",
        "    cdef clock_t began = clock(), until\n    empty_window(workspace)\n    for i in",
    ),
    (
        "    out.n = splits[row[0]]\n    return status\n",
        """\
    out.n = splits[row[0]]
    until = clock()
    until += (until - began) // 10
    while clock() < until:
        pass
    return status
""",
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--saved", action="store_true")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        before, same, slow = (Path(folder) / name for name in ("before", "same", "slow"))
        for copy in (before, same, slow):
            build(copy, SLOWDOWN if copy is slow else ())
        options = [f"--guard-beside={before}"]
        if arguments.saved:
            storage = f"--benchmark-storage=file://{folder}/saved"
            measure(before, storage, "--benchmark-save=before")
            options = [storage, "--benchmark-compare"]
        for number in range(1, arguments.times + 1):
            for name, copy in (("unchanged", same), ("slower by a tenth", slow)):
                wrong += compare(copy, f"{number}: {name}", *options) != (copy is slow)
    print(f"{2 * arguments.times - wrong} of {2 * arguments.times} comparisons came out right")
    return bool(wrong)


def build(copy: Path, changes: Sequence[tuple[str, str]]) -> None:
    copy.mkdir()
    copy_project(PROJECT, copy)
    (copy / "benchmarks").mkdir()
    for path in (PROJECT / "benchmarks").iterdir():
        if path.is_file():
            (copy / "benchmarks" / path.name).write_bytes(path.read_bytes())
    for old, new in changes:
        replace(copy / ROWS, old, new)
    run(copy, *BUILD_KERNELS, "--force")


def measure(
    checkout: Path, *options: str, accept: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[str]:
    program = ("-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider", "benchmarks/test_guard.py")
    return run(checkout, *program, *options, accept=accept)


def compare(checkout: Path, name: str, *options: str) -> bool:
    """Compare a checkout with what was before; say so, and return whether the guard failed."""
    done = measure(checkout, *options, accept=(0, 1))
    output = done.stdout + done.stderr
    failed = FAILED in output
    if failed != bool(done.returncode):
        raise SystemExit(output)
    changes = re.findall(r"(\S+%) beside", output)
    print(f"{name:22} {'FAILED' if failed else 'passed'}  ({', '.join(changes)})", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
