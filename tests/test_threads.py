"""One call on several threads: the same result, the first error, forks, Ctrl-C, bounded memory."""

import multiprocessing
import os
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import helpers
import numpy as np
import pytest

from piecework import WordPieceTokenizer, parallel

needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


def utf8(rows):
    encoded = [row.encode() for row in rows]
    return b"".join(encoded), np.cumsum([0, *map(len, encoded)])


# Of many chunks: rows short and long, empty, with what needs Python, and one beyond any chunk.
PARTS = [
    ["The UNAFFABLE! café", "", "a"] * 3000,
    [""] * 9000,
    ["[MASK] in the [SEP] middle", "a\u302e\u1d165b x", "日本語"] * 900,
    ["many words " * 40_000, "x"],
    ["[SEP] " * 3000, "русский текст " * 60_000, "", "b"],
    ["the end is near, but not here. " * 20] * 4000,
]
ROWS = [row for part in PARTS for row in part]


@pytest.fixture(scope="module")
def expected(tokenizer):
    """The ids of ROWS, by the call for one text."""
    ids = {row: tokenizer.encode(row, True) for row in set(ROWS)}
    return [ids[row] for row in ROWS]


@pytest.mark.parametrize("threads", [None, 1, 2, 3, 9])
def test_the_result_does_not_depend_on_the_threads(tokenizer, expected, threads):
    options = {"add_special": True, "threads": threads}
    assert tokenizer.encode_batch(ROWS, **options).tolist() == expected
    assert tokenizer.encode_batch(ROWS, dtype="uint16", **options).tolist() == expected
    assert tokenizer.encode_utf8(*utf8(ROWS), **options).tolist() == expected
    assert tokenizer.count_tokens(ROWS, **options).tolist() == list(map(len, expected))


def test_ids_on_two_threads_are_those_of_the_incumbent(bert_vocab, hf_tokenizer):
    rows = helpers.random_texts("threads", "huggingface", 300)
    ids = helpers.hf_ids(hf_tokenizer(bert_vocab), rows)
    assert WordPieceTokenizer(bert_vocab).encode_batch(rows * 200, threads=2).tolist() == ids * 200


def test_a_slow_first_row_makes_the_others_wait(tokenizer):
    """So many chunks behind it that they can't all be kept waiting."""
    slow = "a\u302e\u1d165b " * 60_000  # each word goes through Python
    rows = [slow, *["word " * 5000] * 900]
    batch = tokenizer.encode_batch(rows, threads=3)
    assert batch[0].tolist() == tokenizer.encode(slow)
    assert batch.lengths[1:].tolist() == [5000] * 900
    assert (batch.ids[batch.row_splits[1] :] == tokenizer.encode("word")[0]).all()


def test_user_threads_may_all_use_the_pool_at_once(tokenizer, expected):
    results = [None] * 6

    def work(number):
        results[number] = tokenizer.encode_batch(ROWS, add_special=True, threads=1 + number % 3)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result.tolist() == expected for result in results)


# ---- errors ----


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("row", [0, 4095, 4096, 9000, 29_999])
def test_the_error_of_the_first_row_is_raised(threads, row):
    tokenizer = WordPieceTokenizer({"[UNK]": 0, "a": 1}, clean_text=False)
    rows = ["a " * 100] * 30_000
    rows[row:] = ["\ud800"] * (30_000 - row)
    rows[min(row + 1, 29_999) :: 2] = [None] * len(rows[min(row + 1, 29_999) :: 2])
    error = TypeError if rows[row] is None else UnicodeEncodeError
    for _ in range(5):
        with pytest.raises(error, match=rf"(row |texts\[){row}\b"):
            tokenizer.encode_batch(rows, threads=threads)
    assert tokenizer.encode_batch(["a a"] * 9000, threads=threads).ids.sum() == 18_000


def test_an_error_does_not_leave_those_waiting_who_are_far_ahead(tokenizer):
    slow = "a\u302e\u1d165b " * 60_000
    rows = [slow, None, *["word " * 5000] * 900]
    with pytest.raises(TypeError, match=r"texts\[1\]: expected a str, got None"):
        tokenizer.encode_batch(rows, threads=3)


@pytest.mark.parametrize(
    ("threads", "error", "message"),
    [
        (0, ValueError, "threads must be at least 1, not 0"),
        (-1, ValueError, "threads must be at least 1, not -1"),
        (2**63, ValueError, "threads must be at most"),
        (1.0, TypeError, "threads must be an integer, not 1.0 of type float"),
        ("2", TypeError, "threads must be an integer, not '2' of type str"),
        (True, TypeError, "threads must be an integer, not True of type bool"),
    ],
)
def test_threads_is_a_positive_integer(tokenizer, threads, error, message):
    for method in (tokenizer.encode_batch, tokenizer.count_tokens):
        with pytest.raises(error, match=message):
            method(["a"], threads=threads)


# ---- how many ----


@pytest.mark.parametrize(
    ("threads", "n_chars", "workers"),
    [
        (None, 0, 1),
        (None, 1000, 1),
        (None, 10**9, 8),
        (1, 10**9, 1),
        (3, 10**9, 3),
        (20, 10**9, 20),
        (3, 1000, 1),
    ],
)
def test_workers_are_as_many_as_the_text_is_worth(monkeypatch, threads, n_chars, workers):
    monkeypatch.setattr(parallel, "usable_cores", lambda: 8)
    assert parallel.choose_workers(threads, lambda limit: min(limit, n_chars)) == workers


@pytest.mark.parametrize("make", [list, utf8])
def test_characters_are_counted_as_far_as_needed(make):
    from piecework.inputs import texts_of, utf8_texts

    made = make(["abc"] * 1000)
    texts = texts_of(made, "error") if make is list else utf8_texts(*made)
    assert texts.count_chars(10**9) == 3000
    assert 100 <= texts.count_chars(100) <= 3000
    assert len(texts) == 1000


def test_the_cores_are_those_that_the_process_may_use():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no sched_setaffinity on this system")
    code = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]);"
        "from piecework import parallel; assert parallel.usable_cores() == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- forks, Ctrl-C, the end ----


def encode_in_child(queue, tokenizer, rows):
    batch = tokenizer.encode_batch(rows, threads=2)
    queue.put((batch.ids.sum(), threading.active_count()))


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_no_pool_and_the_same_result(tokenizer):
    rows = ["the end is near, but not here. " * 20] * 4000
    batch = tokenizer.encode_batch(rows, threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=encode_in_child, args=(queue, tokenizer, rows))
    child.start()
    ids_sum, n_threads = queue.get(timeout=120)
    child.join()
    assert ids_sum == batch.ids.sum()
    assert n_threads <= 2  # the queue's own feeder, none of ours
    assert child.exitcode == 0


FORK_WHILE_BUSY = """
import os, threading
from piecework import WordPieceTokenizer
tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
rows = ["the end is near, but not here. " * 20] * 4000
expected = tokenizer.encode_batch(rows, threads=1)
stop = threading.Event()
def work():
    while not stop.is_set():
        tokenizer.encode_batch(rows, threads=2)
busy = [threading.Thread(target=work, daemon=True) for _ in range(2)]
for thread in busy:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(0 if tokenizer.encode_batch(rows, threads=2) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for thread in busy:
    thread.join()
"""


@needs_fork
def test_a_child_forked_while_others_encode_does_not_hang():
    command = [sys.executable, "-W", "ignore", "-c", FORK_WHILE_BUSY]
    subprocess.run(command, check=True, timeout=300)


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
from piecework import WordPieceTokenizer
# A shell's background jobs inherit that it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
rows = ["the end is near, but not here. " * 20] * 200_000  # more than 100 MB
threads = int(sys.argv[1])
out = np.full(tokenizer.count_tokens(rows[:1])[0] * len(rows), -1, np.int32)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    tokenizer.encode_batch(rows, threads=threads, out=out)
except KeyboardInterrupt:
    assert out[-1] == -1, "it came only when all was done"
    n_written = np.count_nonzero(out + 1)
    assert len(tokenizer.encode_batch(rows[:9000], threads=threads)) == 9000
    assert np.count_nonzero(out + 1) == n_written, "somebody still writes"
else:
    raise AssertionError("not interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to oneself on Windows")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_a_call_before_it_is_done(threads):
    subprocess.run([sys.executable, "-c", INTERRUPTED, threads], check=True, timeout=300)


def test_as_many_threads_as_a_number_can_say(tokenizer):
    assert tokenizer.encode_batch(["a"], threads=sys.maxsize).tolist() == [[1037]]


def test_ctrl_c_while_helpers_start_leaves_none_at_work(monkeypatch):
    begun, stopped, ended = threading.Event(), threading.Event(), threading.Event()

    class InterruptedPool(ThreadPoolExecutor):
        def submit(self, *task):
            super().submit(*task)
            assert begun.wait(60)
            raise KeyboardInterrupt

    def work():
        begun.set()
        assert stopped.wait(60)
        ended.set()

    with InterruptedPool(1) as pool:
        monkeypatch.setattr(parallel, "_pool", pool)
        monkeypatch.setattr(parallel, "_pool_size", 1)
        with pytest.raises(KeyboardInterrupt):
            parallel.run(work, stopped.set, 2)
        has_ended = ended.is_set()
        stopped.set()  # so that the test ends, whatever comes out
    assert has_ended


AT_EXIT = """
import atexit
from piecework import WordPieceTokenizer
tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
rows = ["the end is near, but not here. " * 20] * 4000
n = len(tokenizer.encode_batch(rows, threads=2).ids)
atexit.register(lambda: print(len(tokenizer.encode_batch(rows, threads=3).ids) == n))
"""


def test_a_call_works_while_python_shuts_down():
    out = subprocess.run(
        [sys.executable, "-c", AT_EXIT], check=True, capture_output=True, timeout=300
    )
    assert out.stdout.split() == [b"True"]
    assert out.stderr == b""


def test_helpers_that_cannot_start_are_done_without(tokenizer, expected, monkeypatch):
    monkeypatch.setattr(parallel, "_pool", None)
    monkeypatch.setattr(parallel, "_pool_size", 0)

    def fail(*_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        assert tokenizer.encode_batch(ROWS, add_special=True, threads=3).tolist() == expected


# ---- memory ----


@pytest.mark.parametrize("threads", [1, 2])
def test_counting_needs_no_memory_for_the_ids(tokenizer, threads):
    rows = ["word " * 2000] * 1000  # 8 MB of ids
    tracemalloc.start()
    try:
        counts = tokenizer.count_tokens(rows, threads=threads)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert counts.tolist() == [2000] * 1000
    assert peak < 4_000_000


@pytest.mark.parametrize("threads", [1, 2])
def test_encoding_needs_little_memory_besides_the_ids(tokenizer, threads):
    out = np.empty(6_000_000, np.int32)
    buffer, splits = utf8(["“word” " * 1000] * 2000)
    tracemalloc.start()
    try:
        batch = tokenizer.encode_utf8(buffer, splits, threads=threads, out=out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(batch.ids) == 6_000_000
    assert peak < 8_000_000
