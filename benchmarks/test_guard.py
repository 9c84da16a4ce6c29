"""The guarded figures: encode_batch in yardsticks, to be compared between two commits.

    pytest benchmarks/test_guard.py --benchmark-save=before
    pytest benchmarks/test_guard.py --benchmark-compare

The second fails where a figure has risen by more than a few percent (guard.THRESHOLD, or what
--benchmark-compare-fail says). The "seconds" in the table are yardsticks. On a machine that others
use, where the figures of two runs can't be compared, measure both builds in one:

    pytest benchmarks/test_guard.py --guard-beside=CHECKOUT
"""

import statistics

import guard
import pytest
from races import report_durations, with_reported_times

pytestmark = with_reported_times

TEXTS = ["english", "short rows", "other scripts"]


@pytest.fixture(scope="session")
def measured(request):
    """The guarded figures of each text, one for each process."""
    option = request.config.getoption
    if option("--guard-beside"):
        pytest.skip("measured beside another build")
    return guard.measure(option("--guard-processes"), option("--guard-slowdown"), TEXTS)


@pytest.mark.parametrize("text", TEXTS)
def test_encode_batch_in_yardsticks(benchmark, measured, text):
    figures = iter(measured[text])
    benchmark.group = "guarded: in yardsticks, not in seconds"
    benchmark.extra_info["guarded"] = True
    report_durations(benchmark, lambda: next(figures), len(measured[text]))


PAIRS = 9


@pytest.fixture(scope="session")
def measured_beside(request):
    """How many times as long as another build, by text, one figure for each pair of processes."""
    option = request.config.getoption
    if not option("--guard-beside"):
        pytest.skip("no other build to be measured beside (--guard-beside)")
    return guard.measure_beside(option("--guard-beside"), PAIRS, option("--guard-slowdown"), TEXTS)


@pytest.mark.parametrize("text", TEXTS)
def test_encode_batch_beside_another_build(benchmark, measured_beside, text):
    figures = iter(measured_beside[text])
    benchmark.group = "beside another build: times as long, not seconds"
    report_durations(benchmark, lambda: next(figures), PAIRS)
    change = statistics.median(measured_beside[text]) - 1
    print(f"{text}: {change:+.2%} beside the other build")
    if change > guard.THRESHOLD / 100:
        pytest.fail(f"{guard.FAILED}: {text} takes {change:+.2%}, allowed is {guard.THRESHOLD} %")
