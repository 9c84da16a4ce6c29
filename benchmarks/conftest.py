"""Options, texts and tokenizers of the benchmarks, the guard's rule, and the summary.

The corpora lie beside the checkout (../shared/data) or where $PIECEWORK_DATA says; without them
the benchmarks that need them are skipped. $PIECEWORK_PEER_PYTHONS names interpreters that have a
peer, as for `piecework bench`.
"""

import guard
import pytest
from corpora import KINDS, documents_of_kind

from piecework import WordPieceTokenizer
from piecework.bench import Course
from piecework.bench.race import save_tokenizer


def pytest_addoption(parser):
    group = parser.getgroup("piecework")
    group.addoption(
        "--rounds", type=int, default=7, help="How often each benchmark beside a peer is timed."
    )
    guard.add_options(group)


def pytest_configure(config):
    guard.use_only_for_guarded(config)


@pytest.fixture(scope="session")
def rounds(request):
    return request.config.getoption("--rounds")


@pytest.fixture(scope="session")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture
def tokenizer_folder(tokenizer, tmp_path):
    """The same tokenizer as files, for the peers."""
    save_tokenizer(tokenizer, tmp_path)
    return tmp_path


@pytest.fixture(scope="session", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def documents(kind):
    """The documents of a kind of text."""
    return documents_of_kind(kind)


@pytest.fixture(scope="session")
def course(documents, tokenizer, tmp_path_factory):
    """A kind of text, shuffled, in halves: to warm up with, and to time."""
    return Course.of_documents(tmp_path_factory.mktemp("course"), tokenizer, documents)


def pytest_terminal_summary(terminalreporter, config):
    """Print what pytest-benchmark's own table has no column for."""
    session = getattr(config, "_benchmarksession", None)
    benchmarks = session.benchmarks if session else []
    rows = [each.extra_info for each in benchmarks if "ratio" in each.extra_info]
    if rows:
        terminalreporter.section("piecework beside its peers")
        for line in aligned([HEADINGS, *map(cells, rows)]):
            terminalreporter.line(line)
    guard.check_all_were_compared(terminalreporter, session)


HEADINGS = ("text", "what", "peer", "piecework", "peer's", "unit", "ratio", "ids")


def cells(row):
    figures = (f"{row[name]:,.4g}" for name in ("figure", "peer figure"))
    return (
        row["text"],
        row["what"],
        row["peer"],
        *figures,
        row["unit"],
        f"{row['ratio']:.2f}",
        row["ids"],
    )


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
