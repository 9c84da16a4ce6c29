"""Runs a race of piecework and one peer as a benchmark.

pytest-benchmark times what it calls; here the time is taken in the process of a tokenizer and
handed over, by a clock that stands still but for that.
"""

import os
import pickle
import statistics
import sys

import pytest

from piecework.bench import OURS, PEERS, NotThere, PeerProcess, Race, parse_pythons
from piecework.bench.race import count_differing_rows

PYTHONS = parse_pythons(os.environ.get("PIECEWORK_PEER_PYTHONS", "").split())
NAMES = [name for name in PEERS if name != OURS]


class ReportedClock:
    """Shows the sum of the durations it was told."""

    def __init__(self):
        self.now = 0.0

    def advance(self, duration):
        self.now += duration


_reported = ReportedClock()


def reported_time():
    return _reported.now


# For the tests whose durations are told.
with_reported_times = pytest.mark.benchmark(timer=reported_time)


def report_durations(benchmark, next_duration, rounds):
    """Have a benchmark consist of what `next_duration` returns, once a round."""
    benchmark.pedantic(lambda: _reported.advance(next_duration()), rounds=rounds)


def benchmark_beside(benchmark, course, peer, state, text, *, threads=1, rounds=7):
    """Benchmark encode_batch of piecework beside a peer; each round times both, in turn."""
    try:
        race = Race(course, [peer], state, threads=threads, pythons=PYTHONS)
    except NotThere as reason:
        pytest.skip(str(reason))
    benchmark.group = f"{text}, {state}, {threads} thread(s)"
    with race:
        skip_missing(race, peer)
        report_durations(benchmark, lambda: race.run_round()[OURS], rounds)
        skip_missing(race, peer)
        ours, theirs = race.results()
    benchmark.extra_info.update(ours.as_dict())
    benchmark.extra_info.update(
        {
            "text": text,
            "what": state if threads == 1 else f"{state}, {threads} threads",
            "unit": "MB/s",
            "peer": peer,
            "peer version": theirs.version,
            "figure": ours.median,
            "peer figure": theirs.median,
            "peer seconds": list(theirs.seconds),
            "peer one_in": theirs.one_in,
            "peer bytes": theirs.bytes,
            "peer tokens/s": theirs.as_dict()["tokens/s"],
            "ratio": theirs.ratio,
            "ids": theirs.ids,
        }
    )


def skip_missing(race, peer):
    if peer in race.missing:
        pytest.skip(f"{peer}: {race.missing[peer]}")


def start(peer, folder, threads=1):
    """Start a peer's process, or skip the benchmark by its name."""
    try:
        return PeerProcess(peer, folder, threads, PYTHONS.get(peer, sys.executable))
    except NotThere as reason:
        pytest.skip(f"{peer}: {reason}")


UNITS = {"us a call": 1e6, "ms": 1e3, "s": 1.0}


def benchmark_in_turn(benchmark, calls, *, rounds, text, what, unit, ids="no ids"):
    """Benchmark calls that return their own seconds: a peer's and then piecework's, in turn."""
    peer, ours = calls
    times = {peer: [], ours: []}

    def next_duration():
        for name, call in calls.items():
            times[name].append(call())
        return times[ours][-1]

    benchmark.group = f"{text}, {what}"
    report_durations(benchmark, next_duration, rounds)
    benchmark.extra_info.update(
        {
            "text": text,
            "what": what,
            "unit": unit,
            "peer": peer,
            "figure": statistics.median(times[ours]) * UNITS[unit],
            "peer figure": statistics.median(times[peer]) * UNITS[unit],
            "best": min(times[ours]) * UNITS[unit],
            "peer best": min(times[peer]) * UNITS[unit],
            "ratio": statistics.median(
                theirs / mine for mine, theirs in zip(times[ours], times[peer], strict=True)
            ),
            "ids": ids,
        }
    )


def benchmark_calls_beside(
    benchmark, folder, peer, texts, call, *, rounds, what, text="short sentences"
):
    """Benchmark a small call of piecework beside a peer's.

    `call` is a command of piecework.bench.worker with its arguments. Of the ids those of a plain
    batch of the same texts are compared.
    """
    path = folder / "texts.pickle"
    path.write_bytes(pickle.dumps(texts, protocol=4))
    command, arguments = call
    with start(peer, folder) as theirs, start(OURS, folder) as ours:
        processes = {peer: theirs, OURS: ours}
        for process in processes.values():
            process.ask("take", name="texts", path=str(path))
            process.ask("encode", texts="texts")
        n_differing = count_differing_rows(theirs.fetch_ids(), ours.fetch_ids())
        calls = {
            name: lambda process=process: process.ask(command, texts="texts", **arguments)["cpu"]
            for name, process in processes.items()
        }
        try:
            for warm_up in calls.values():
                warm_up()
        except NotThere as reason:
            pytest.skip(str(reason))
        benchmark_in_turn(
            benchmark,
            calls,
            rounds=rounds,
            text=text,
            what=what,
            unit="us a call",
            ids=differing(n_differing, len(texts)),
        )


def differing(n_rows, of):
    return f"{n_rows / of:.2%} of rows differ" if n_rows else "equal"
