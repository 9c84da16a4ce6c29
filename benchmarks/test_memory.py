"""How much memory encoding 100 MB takes besides the texts and the ids."""

import pytest
from corpora import documents_of_kind, n_bytes
from races import report_durations, start, with_reported_times

from piecework.bench import OURS, Course

pytestmark = with_reported_times

BYTES = 100_000_000
ROUNDS = 3


@pytest.mark.parametrize("peer", [OURS, "nanotoken"])
def test_peak_memory(benchmark, tokenizer, tmp_path, peer, kind):
    """extra_info["extra MiB"]: the highest peak beyond input and output, of new processes.

    The "seconds" of this benchmark are bytes.
    """
    texts = documents_of_kind(kind)
    size = n_bytes(texts)
    texts = texts * (BYTES // size)  # one document may be in the list many times, as one object
    course = Course(tmp_path, tokenizer, texts[:100], texts)
    peaks = []

    def next_peak():
        with start(peer, tmp_path) as process:
            for name in ("warm", "texts"):
                process.ask("take", name=name, path=str(course.file(name, 1)))
            process.ask("encode", texts="warm")
            try:
                grown = process.ask("peak_memory", texts="texts")["bytes"]
            except RuntimeError as failure:
                pytest.skip(f"no peak of memory to be had here: {failure}")
            ids, row_splits = process.fetch_ids()
        peaks.append(grown - 4 * len(ids) - 8 * len(row_splits))
        return max(peaks[-1], 0)

    benchmark.group = f"{kind}: memory beyond input and output, in bytes"
    report_durations(benchmark, next_peak, ROUNDS)
    benchmark.extra_info.update(
        {"peer": peer, "bytes": size * (BYTES // size), "extra MiB": max(peaks) / 2**20}
    )
