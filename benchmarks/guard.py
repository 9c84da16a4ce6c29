"""The throughput guard: its figures, and when they may fail a comparison with a saved run.

``pytest benchmarks --benchmark-compare`` would compare seconds, and seconds differ by a third from
one hour to the next on a shared machine. So the benchmarks that are marked as guarded report their
time in yardsticks, measured in turn (guarded.py), and only they can fail the run; all others are
just shown. Two things still move such a figure, seen on a two-core virtual machine:

- Where the tables come to lie in memory, another place in each process: by 3 %. So there are
  several processes, and their median counts.
- A neighbour on the same core slows a tokenizer more than the yardstick, by up to 20 %. So a round
  counts only if its yardstick was nearly as fast as the fastest of all, and a process that has too
  few such rounds is replaced by another.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.utils import PercentageRegressionCheck

# Percent of the median: a loss of 10 % is to be caught, see measure_beside for what is seen.
THRESHOLD = 5
STEADY = 1.05  # the slower of a round's two walks took no more than this, times the faster
FAILED = "Performance has regressed"  # as pytest-benchmark puts it
QUIET = 1.08  # times the fastest yardstick
FEWEST_ROUNDS = 30  # of the hundred of a process: a lucky moment in a busy time does not count
PATIENCE = 12  # times as many processes as asked for


class TooBusy(Exception):
    """No quiet moment was to be had."""


def quiet_figures(processes):
    """Return the median quiet round, in yardsticks, of each process that had enough of them.

    Parameters
    ----------
    processes : list of lists of (yardstick, encoding, yardstick)
        Seconds: the rounds of one text, by process.
    """
    steady = [
        [
            ((before + after) / 2, encoding)
            for before, encoding, after in rounds
            if max(before, after) <= STEADY * min(before, after)
        ]
        for rounds in processes
    ]
    yardsticks = [yardstick for rounds in steady for yardstick, _ in rounds]
    limit = QUIET * fast(yardsticks, 100) if yardsticks else 0.0
    quiet = [[ours / yard for yard, ours in rounds if yard <= limit] for rounds in steady]
    return [statistics.median(each) for each in quiet if len(each) >= FEWEST_ROUNDS]


def fastest_ratio(rounds):
    """Return encoding in yardsticks from the fastest twentieth of the rounds of one process."""
    encodings = [encoding for _, encoding, _ in rounds]
    return fast(encodings) / fast([min(before, after) for before, _, after in rounds])


def fast(seconds, one_in=20):
    """Return the fastest but for one in so many."""
    return sorted(seconds)[len(seconds) // one_in]


def run_process(slowdown=0.0, checkout=None):
    """Return the rounds of a new process, by text; of the build in a checkout, or the installed."""
    program = [sys.executable, str(Path(__file__).with_name("guarded.py")), str(slowdown)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")} if checkout else None
    done = subprocess.run(program, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def measure(n_processes, slowdown, texts):
    """Return quiet figures of each text, of so many processes.

    Raises
    ------
    TooBusy
        After many times as many processes there are not enough.
    """
    processes = []
    for _ in range(PATIENCE * n_processes):
        processes.append(run_process(slowdown))
        figures = {text: quiet_figures([each[text] for each in processes]) for text in texts}
        if min(map(len, figures.values())) >= n_processes:
            return figures
    raise TooBusy(
        f"of {len(processes)} processes fewer than {n_processes} had {FEWEST_ROUNDS} rounds "
        "without a neighbour on the core; measure again when the machine is quiet"
    )


def measure_beside(checkout, n_pairs, slowdown, texts):
    """Return, for each text, how many times as long as the build in a checkout ours takes.

    One figure for each pair of processes, which follow each other: what a busy machine does to the
    figures of two runs, it does to both of most pairs. With four to seven processes waiting for two
    cores, the median of nine pairs came out between -7 and +3 % for the same build, and between +7
    and +15 % for one that was slowed down by a tenth (show_guard.py).
    """
    pairs = [(run_process(checkout=checkout), run_process(slowdown)) for _ in range(n_pairs)]
    return {
        text: [fastest_ratio(ours[text]) / fastest_ratio(theirs[text]) for theirs, ours in pairs]
        for text in texts
    }


def add_options(group):
    group.addoption(
        "--guard-beside",
        type=Path,
        metavar="CHECKOUT",
        help="Compare with the build in another checkout, in turn, instead of with a saved run: "
        "for a machine that is not quiet.",
    )
    group.addoption(
        "--guard-processes",
        type=int,
        default=5,
        help="Of how many processes the guarded figures are the median.",
    )
    group.addoption(
        "--guard-slowdown",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="Encode this share of the guarded texts twice, to see that the guard notices.",
    )


class OnlyGuarded:
    """A check of pytest-benchmark that passes whatever is not guarded."""

    def __init__(self, check):
        self.check = check

    def fails(self, current, compared):
        if not current.extra_info.get("guarded"):
            return None
        return self.check.fails(current, compared)


def default_check():
    return PercentageRegressionCheck("median", THRESHOLD)


def use_only_for_guarded(config):
    """Give a comparison the guard's threshold, and keep any threshold to the guarded figures."""
    option = config.option
    if getattr(option, "benchmark_compare", None):
        checks = option.benchmark_compare_fail
        option.benchmark_compare_fail = list(map(OnlyGuarded, checks or [default_check()]))


def check_all_were_compared(terminalreporter, session):
    """Fail a comparison in which a guarded figure finds nothing to be compared with."""
    if session is None or not session.compare:
        return
    guarded = [each for each in session.benchmarks if each.extra_info.get("guarded")]
    for each in guarded:
        figure = f"{each.fullname}: {each['median']:.4f} yardsticks"
        saved = [
            mapping[each.fullname]["stats"]["median"]
            for mapping in session.compared_mapping.values()
            if each.fullname in mapping
        ]
        if not saved:
            raise pytest.UsageError(f"{figure}, and no saved run to compare it with")
        change = ", ".join(f"{each['median'] / median - 1:+.2%}" for median in saved)
        terminalreporter.line(f"{figure}, {change} beside the saved run")
