"""Show that the throughput guard fails for a slower kernel and passes for an unchanged one.

``python benchmarks/show_guard.py [--times 5] [--in-measurement]`` works on temporary copies of the
project. One is built as it is, measured and saved. Then another unchanged copy and one with a
planted slowdown, each built anew, are compared with what was saved, in turn, so many times. It ends
with 1 if an unchanged copy fails or a slower one passes.

The planted slowdown makes each run of the kernel over a chunk of rows take a tenth longer, by its
own clock: 10 % whatever the kernel. With --in-measurement nothing is built: the checkout is
measured as it is installed, and slowed down by encoding a tenth of the texts twice. That shows the
measurement and the comparison alone, in half a minute a time. Both need the ``bench`` extra.
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

from plant_pitfalls import BUILD_KERNELS, copy_project, replace, run  # noqa: E402

ROWS = "ext/piecework/_rows.pyx"
SLOWDOWN = (
    (
        "from piecework._buffers cimport Ids\n",
        "from libc.time cimport clock, clock_t\n\nfrom piecework._buffers cimport Ids\n",
    ),
    (
        "    items.row_stops = splits + row[0] + 1\n",
        "    items.row_stops = splits + row[0] + 1\n    cdef clock_t began = clock(), until\n",
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
FAILED = "Performance has regressed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--in-measurement", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        storage = f"--benchmark-storage=file://{folder}/saved"
        if arguments.in_measurement:
            saved = unchanged = slower = PROJECT
            slow_down: tuple[str, ...] = ("--guard-slowdown=0.1",)
        else:
            saved, unchanged, slower = (
                Path(folder) / name for name in ("saved-copy", "same", "slow")
            )
            for copy in (saved, unchanged, slower):
                build(copy, SLOWDOWN if copy is slower else ())
            slow_down = ()
        measure(saved, storage, "--benchmark-save=before")
        wrong = 0
        for number in range(1, arguments.times + 1):
            wrong += compare(unchanged, number, "unchanged", storage)
            wrong += not compare(slower, number, "slower by a tenth", storage, *slow_down)
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
    program = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "benchmarks/test_guard.py")
    return run(
        checkout, *program, "--benchmark-columns=median,min,max,rounds", *options, accept=(0, 1)
    )


def compare(checkout: Path, number: int, name: str, *options: str) -> bool:
    """Compare a checkout with what was saved; say so, and return whether the guard failed."""
    output = measure(checkout, "--benchmark-compare", *options, accept=(0, 1))
    failed = FAILED in output.stdout + output.stderr
    if failed != bool(output.returncode):
        raise SystemExit(output.stdout + output.stderr)
    changes = re.findall(r"yardsticks, (\S+%) beside", output.stdout)
    print(
        f"{number}: {name:18} {'FAILED' if failed else 'passed'}  ({', '.join(changes)})",
        flush=True,
    )
    return failed


if __name__ == "__main__":
    sys.exit(main())
