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
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.utils import PercentageRegressionCheck

# Percent of the median: a loss of 10 % is to be caught. benchmarks/show_guard.py shows it.
THRESHOLD = 5
QUIET = 1.08  # times the fastest yardstick
FEWEST_ROUNDS = 30  # of the hundred of a process: a lucky moment in a busy time does not count
PATIENCE = 12  # times as many processes as asked for


class TooBusy(Exception):
    """No quiet moment was to be had."""


class Measurement:
    """The rounds of some processes, by text.

    Attributes
    ----------
    processes : list of dict
        What guarded.py printed, each.
    """

    def __init__(self):
        self.processes = []

    def figures(self, text):
        """Return the median quiet round, in yardsticks, of each process that had enough."""
        rounds = [each[text] for each in self.processes]
        yardsticks = sorted(yardstick for each in rounds for yardstick, _ in each)
        limit = QUIET * self.fastest(yardsticks)
        quiet = [[ours / yard for yard, ours in each if yard <= limit] for each in rounds]
        return [statistics.median(each) for each in quiet if len(each) >= FEWEST_ROUNDS]

    @staticmethod
    def fastest(yardsticks):
        """Return the fastest but for one in a hundred, which may be a slip of the clock."""
        return yardsticks[len(yardsticks) // 100] if yardsticks else 0.0


def measure(n_processes, slowdown, texts):
    """Measure until each text has a figure of so many processes.

    Raises
    ------
    TooBusy
        After several times as many processes it still has not.
    """
    measurement = Measurement()
    program = [sys.executable, str(Path(__file__).with_name("guarded.py")), str(slowdown)]
    for _ in range(PATIENCE * n_processes):
        done = subprocess.run(program, capture_output=True, text=True, check=True)
        measurement.processes.append(json.loads(done.stdout))
        if min(len(measurement.figures(text)) for text in texts) >= n_processes:
            return {text: measurement.figures(text) for text in texts}
    raise TooBusy(
        f"{PATIENCE * n_processes} processes, and not {n_processes} of them had "
        f"{FEWEST_ROUNDS} rounds without a neighbour on the core; measure again later"
    )


def add_options(group):
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
