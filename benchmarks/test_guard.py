"""The guarded figures: encode_batch in yardsticks, to be compared between two commits.

    pytest benchmarks/test_guard.py --benchmark-save=before
    pytest benchmarks/test_guard.py --benchmark-compare

The second fails where a figure has risen by more than a few percent (guard.THRESHOLD, or what
--benchmark-compare-fail says). The "seconds" in the table are yardsticks.
"""

import guard
import pytest
from races import report_durations, with_reported_times

pytestmark = with_reported_times

TEXTS = ["english", "short rows", "other scripts"]


@pytest.fixture(scope="session")
def measured(request):
    """The guarded figures of each text, one for each process."""
    option = request.config.getoption
    return guard.measure(option("--guard-processes"), option("--guard-slowdown"), TEXTS)


@pytest.mark.parametrize("text", TEXTS)
def test_encode_batch_in_yardsticks(benchmark, measured, text):
    figures = iter(measured[text])
    benchmark.group = "guarded: in yardsticks, not in seconds"
    benchmark.extra_info["guarded"] = True
    report_durations(benchmark, lambda: next(figures), len(measured[text]))
