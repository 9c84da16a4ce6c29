"""Throughput of encode_batch on one core, and its ratio to that of the peers.

    pytest benchmarks/test_encode.py

*cold*: the first call after the caches were emptied. *unseen*: after a warm-up on other texts of
the same kind. *repeated*: the same texts again. Each round times the peer and then piecework, so
that both meet the same noise; the ratio is the median over the rounds. It stands in the summary
and, with the bytes and whether the ids are equal, in extra_info.
"""

import statistics
import time

import numpy as np
import pytest
from peers import PEERS, Piecework

ROUNDS = 7


@pytest.mark.parametrize("state", ["cold", "unseen", "repeated"])
@pytest.mark.parametrize("name", PEERS)
def test_encode_batch(benchmark, name, state, tokenizer, tokenizer_json, halves, request):
    peer, ours = PEERS[name](tokenizer_json), Piecework(tokenizer)
    kind, warm, texts = halves
    some = texts[: len(texts) // peer.one_in]
    peer_seconds, peer_result = [], None

    def warm_up(one):
        one.forget()
        if state != "cold":
            one.encode(warm if state == "unseen" else texts)

    def set_up():
        nonlocal peer_result
        if peer.one_in == 1:  # the slow one keeps no cache
            warm_up(peer)
        start = time.perf_counter()
        peer_result = peer.encode(some)
        peer_seconds.append(time.perf_counter() - start)
        warm_up(ours)
        return (texts,), {}

    benchmark.group = f"{kind}, {state}, beside {name}"
    result = benchmark.pedantic(ours.encode, setup=set_up, rounds=ROUNDS)
    seconds = benchmark.stats.stats.data
    n_bytes = sum(len(text.encode()) for text in texts)
    n_some = sum(len(text.encode()) for text in some)
    same = np.array_equal(peer.ids(peer_result), ours.ids(result[: len(some)]))
    benchmark.extra_info.update(
        {
            "kind": kind,
            "state": state,
            "peer": name,
            "bytes": n_bytes,
            "MB/s": n_bytes / statistics.median(seconds) / 1e6,
            "peer MB/s": n_some / statistics.median(peer_seconds) / 1e6,
            "ratio": statistics.median(
                (theirs / n_some) / (mine / n_bytes)
                for theirs, mine in zip(peer_seconds, seconds, strict=True)
            ),
            "same ids": same,
        }
    )
    assert same
