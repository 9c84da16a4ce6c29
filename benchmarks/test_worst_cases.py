"""Texts made to be hard: beside peers, and whether ten times the text takes ten times as long."""

import statistics

import pytest
from corpora import WORST_CASES, n_bytes, worst_case
from races import benchmark_beside, report_durations, start, with_reported_times

from piecework.bench import OURS, Course

pytestmark = with_reported_times

SMALL, LARGE = 1_000_000, 10_000_000


@pytest.mark.parametrize("peer", ["tokenizers", "nanotoken"])
@pytest.mark.parametrize("case", WORST_CASES)
def test_worst_case(benchmark, tokenizer, tmp_path, peer, case, rounds):
    course = Course(tmp_path, tokenizer, worst_case(case, SMALL // 10), worst_case(case, SMALL))
    benchmark_beside(benchmark, course, peer, "unseen", case, rounds=rounds)


@pytest.mark.parametrize("case", WORST_CASES)
def test_growth(benchmark, tokenizer, tmp_path, case, rounds):
    """extra_info["growth"]: the time of 10 MB over ten times that of 1 MB; 1 is linear."""
    courses = {}
    for size in (SMALL, LARGE):
        (tmp_path / str(size)).mkdir()
        courses[size] = Course(tmp_path / str(size), tokenizer, [], worst_case(case, size))
    times = {SMALL: [], LARGE: []}

    def next_duration():
        for size in times:
            times[size].append(ours.ask("encode", texts=str(size))["cpu"])
        return times[LARGE][-1]

    with start(OURS, courses[LARGE].folder) as ours:
        for size, course in courses.items():
            ours.ask("take", name=str(size), path=str(course.file("texts", 1)))
        next_duration()  # the warm-up
        for each in times.values():
            each.clear()
        report_durations(benchmark, next_duration, rounds)
    sizes = {size: n_bytes(course.part("texts", 1)) for size, course in courses.items()}
    benchmark.group = "worst cases, 10 MB"
    benchmark.extra_info.update(
        {
            "bytes": sizes[LARGE],
            "MB/s": sizes[LARGE] / statistics.median(times[LARGE]) / 1e6,
            "growth": statistics.median(
                (large / sizes[LARGE]) / (small / sizes[SMALL])
                for small, large in zip(times[SMALL], times[LARGE], strict=True)
            ),
        }
    )
