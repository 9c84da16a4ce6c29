"""Runs one call's work on several threads: how many, and which.

In: a function that any number of threads may call at once and that returns when nothing is left to
do. The calling thread always works too, so that a call ends even if no other thread is free. The
others come from one pool that is made when it is first needed. A forked child never has one: the
threads do not live in it, and the locks may be held for ever.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

# The text that is worth one thread: a chunk of the kernel, 1.3 ms of English.
CHARS_PER_WORKER = 1 << 18
# Below that a call stays on its thread unless it is told otherwise. Two threads are 1.67 times as
# fast as one on twice CHARS_PER_WORKER, 1.76 times on four times that (two-core virtual machine).
BIG_CHARS = 1 << 19


def usable_cores() -> int:
    """Return on how many cores this process may run."""
    if count := getattr(os, "process_cpu_count", None):  # Python 3.13 on
        return count() or 1
    if affinity := getattr(os, "sched_getaffinity", None):  # not everywhere
        return len(affinity(0))
    return os.cpu_count() or 1


def choose_workers(threads: int | None, count_chars: Callable[[int], int]) -> int:
    """Return how many threads to use.

    Parameters
    ----------
    threads : int or None
        At most so many, from 1 on; None: all usable cores for a big batch, one for a small one.
    count_chars : callable
        limit -> the characters of the batch, as far as they are not more than enough.
    """
    if threads == 1:
        return 1
    if threads is None and count_chars(BIG_CHARS) < BIG_CHARS:
        return 1
    if os.getpid() != _pid:
        return 1
    most = threads or usable_cores()
    limit = min(most * CHARS_PER_WORKER, sys.maxsize)
    return max(1, min(most, count_chars(limit) // CHARS_PER_WORKER))


def run(work: Callable[[], None], stop: Callable[[], None], n_workers: int) -> None:
    """Call `work` on this thread and, at the same time, on `n_workers` - 1 others.

    Parameters
    ----------
    work : callable
        Raises nothing but what is meant for this thread: KeyboardInterrupt.
    stop : callable
        Makes `work` return soon, on all threads.
    n_workers : int
    """
    helpers: list[Future[None]] = []
    try:
        if n_workers > 1:
            _start_helpers(helpers, work, n_workers - 1)
        work()
    except BaseException:  # Ctrl-C, perhaps with helpers at work and this thread not yet
        stop()
        raise
    finally:
        _leave(helpers, stop)


def _leave(helpers: list[Future[None]], stop: Callable[[], None]) -> None:
    """Return when no helper works any more; one that has not begun never will."""
    working = [helper for helper in helpers if not helper.cancel()]
    try:
        wait(working)
    except BaseException:  # Ctrl-C: they must end before the caller's memory may be used again
        stop()
        wait(working)
        raise


_pid = os.getpid()
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0


def _start_helpers(helpers: list[Future[None]], work: Callable[[], None], n_helpers: int) -> None:
    """Have so many others call `work`, or fewer. They stand in `helpers` before they begin."""
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < n_helpers:
            _pool_size = max(n_helpers, usable_cores() - 1)
            if _pool is not None:
                _pool.shutdown(wait=False)  # what it has begun it ends
            _pool = ThreadPoolExecutor(_pool_size, thread_name_prefix="piecework")
        try:
            while len(helpers) < n_helpers:
                # Known before it is in the pool's queue, where it stays if no thread can start.
                helpers.append(Future())
                _pool.submit(_help, helpers[-1], work)
        except RuntimeError:  # no more threads can be started, or Python is shutting down
            pass


def _help(helper: Future[None], work: Callable[[], None]) -> None:
    if helper.set_running_or_notify_cancel():
        try:
            work()
        finally:
            helper.set_result(None)
