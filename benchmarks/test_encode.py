"""Throughput of encode_batch, and its ratio to that of each peer.

    pytest benchmarks/test_encode.py

*cold*: the first call in a new process. *unseen*: after a warm-up on other texts of the same kind.
*repeated*: the same texts again. Each round times the peer and then piecework, so that both meet
the same noise; the ratio is the median over the rounds. It stands in the summary and, with bytes,
tokens, MB/s and how many ids differ, in extra_info. A peer that is not installed is skipped.
"""

import statistics

import pytest
from corpora import documents_of_kind
from races import (
    NAMES,
    benchmark_beside,
    benchmark_calls_beside,
    report_durations,
    start,
    with_reported_times,
)

from piecework.bench import OURS, STATES, Course
from piecework.bench.race import count_differing_rows

pytestmark = with_reported_times


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("peer", NAMES)
def test_encode_batch(benchmark, peer, state, course, kind, rounds):
    benchmark_beside(benchmark, course, peer, state, kind, rounds=rounds)


@pytest.mark.parametrize("peer", NAMES)
def test_encode_batch_with_two_threads(benchmark, peer, course, kind, rounds):
    benchmark_beside(benchmark, course, peer, "unseen", kind, threads=2, rounds=rounds)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("peer", ["nanotoken"])
def test_encode_to_512_columns(benchmark, peer, dtype, tokenizer_folder, kind, rounds):
    """Matrices of ids and masks with [CLS] and [SEP]; a peer's are of the integers that it has."""
    # No character gives more than three tokens: no row has to be cut.
    texts = [text[:160] for text in documents_of_kind(kind)[:10_000]]
    call = "encode_padded", {"length": 512, "dtype": dtype, "loops": 1}
    what = f"512 columns, {dtype}"
    benchmark_calls_beside(
        benchmark, tokenizer_folder, peer, texts, call, rounds=rounds, what=what, text=kind
    )


SIZES = (20, 200, 2_000, 20_000, 200_000)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("peer", NAMES)
def test_encode_batch_by_size_of_document(benchmark, peer, size, tokenizer, tmp_path, rounds):
    """English of 4 MB, cut into documents of so many characters."""
    text = " ".join(documents_of_kind("english"))[:4_000_000]
    documents = [text[at : at + size] for at in range(0, len(text), size)]
    course = Course.of_documents(tmp_path, tokenizer, documents)
    benchmark_beside(benchmark, course, peer, "unseen", f"documents of {size}", rounds=rounds)


def test_two_threads_against_one(benchmark, tokenizer, tmp_path, rounds):
    """The same English texts on two cores and on one, in turn, by the wall's clock."""
    course = Course(tmp_path, tokenizer, [], documents_of_kind("english"))
    times = {1: [], 2: []}

    def next_duration():
        for threads, process in processes.items():
            times[threads].append(process.ask("encode", texts="texts")["wall"])
        return times[2][-1]

    with start(OURS, tmp_path, 2) as two, start(OURS, tmp_path, 1) as one:
        processes = {1: one, 2: two}
        for process in processes.values():
            process.ask("take", name="texts", path=str(course.file("texts", 1)))
            process.ask("encode", texts="texts")
        report_durations(benchmark, next_duration, rounds)
        n_differing = count_differing_rows(two.fetch_ids(), one.fetch_ids())
    size = course.n_bytes()
    benchmark.extra_info.update(
        {
            "text": "english",
            "what": "2 threads against 1",
            "unit": "MB/s",
            "peer": "one thread",
            "bytes": size,
            "figure": size / statistics.median(times[2]) / 1e6,
            "peer figure": size / statistics.median(times[1]) / 1e6,
            "ratio": statistics.median(a / b for a, b in zip(times[1], times[2], strict=True)),
            "ids": f"{n_differing} rows differ" if n_differing else "equal",
        }
    )
