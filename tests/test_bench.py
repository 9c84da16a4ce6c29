"""Races of tokenizers: who takes part, what is compared, and what is said about it."""

import json
import sys
import textwrap

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import HF_RULES, embedded_vocab, hf_ids, hf_tokenizer, random_texts

from piecework import WordPieceTokenizer
from piecework.bench import (
    OURS,
    PEERS,
    STATES,
    Course,
    NotThere,
    PeerProcess,
    Race,
    documentation_of_python,
    parse_pythons,
    read_documents,
    report,
)
from piecework.bench.process import seconds_to_first_ids
from piecework.bench.race import Result, count_differing_rows
from piecework.cli import main

pytestmark = pytest.mark.skipif(
    HF_RULES != "huggingface", reason="the default rule set is that of tokenizers 0.23.3"
)


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture
def course(tokenizer, tmp_path):
    return Course(tmp_path, tokenizer, ["some warm-up"], random_texts(1, "huggingface", 60))


# A peer as a package of its own in front of the path: nanotoken's calls, and what a test adds.
FAKE = """
class Rows:
    def __init__(self, rows):
        self.rows = rows

    def to_list(self):
        return self.rows


class Tokenizer:
    def __init__(self, path):
        self.path = path

    def clear_cache(self):
        pass

    def encode_batch(self, texts, add_special_tokens, parallel):
        return Rows([[7, 8] if text == "x" else [9] for text in texts])
"""


@pytest.fixture
def fake_nanotoken(tmp_path, monkeypatch):
    """Install a package nanotoken 9.9 with FAKE and more code in it."""

    def install(more=""):
        folder = tmp_path / "packages"
        (folder / "nanotoken").mkdir(parents=True)
        (folder / "nanotoken" / "__init__.py").write_text(FAKE + textwrap.dedent(more), "utf-8")
        (folder / "nanotoken-9.9.dist-info").mkdir()
        metadata = "Metadata-Version: 2.1\nName: nanotoken\nVersion: 9.9\n"
        (folder / "nanotoken-9.9.dist-info" / "METADATA").write_text(metadata, "utf-8")
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return install


@pytest.fixture
def two_texts(tmp_path):
    """A tokenizer of few tokens for which x is [7, 8]; y is not what FAKE makes of it."""
    tokens = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "a", "b", "x", "##x", "y"]
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    return Course(tmp_path, WordPieceTokenizer(vocab), ["x"], ["xx", "x", "y"])


# ---- races ----


@pytest.mark.parametrize("state", STATES)
def test_race_finds_the_ids_of_the_incumbent_equal(course, state):
    with Race(course, ["tokenizers"], state) as race:
        for _ in range(2):
            assert race.run_round().keys() == {OURS, "tokenizers"}
        ours, theirs = race.results()
    assert race.missing == {}
    assert (ours.peer, theirs.peer) == (OURS, "tokenizers")
    assert theirs.version == "0.23.3"
    assert (ours.ids, theirs.ids) == ("equal", "equal")
    assert (ours.rows, theirs.rows) == (60, 3)  # on one in twenty
    assert [len(each.seconds) for each in (ours, theirs)] == [2, 2]
    assert min(*ours.seconds, *theirs.seconds) > 0
    assert ours.ratio == 1


def test_tokens_and_bytes_are_those_of_the_texts(course):
    with Race(course, [], "unseen") as race:
        race.run_round()
        (ours,) = race.results()
    texts = course.part("texts", 1)
    assert ours.tokens == sum(map(len, hf_ids(hf_tokenizer(embedded_vocab()), texts)))
    assert ours.bytes == sum(len(text.encode()) for text in texts)


def test_peer_with_other_ids_is_measured_and_marked(two_texts, fake_nanotoken):
    fake_nanotoken("print('hello')  # must not get into the answers")
    with Race(two_texts, ["nanotoken"], "repeated") as race:
        race.run_round()
        _, theirs = race.results()
    assert (theirs.version, theirs.rows, theirs.tokens) == ("9.9", 3, 4)
    assert theirs.differing_rows == 2  # "xx" is [7, 8] to us, and "x" [7]
    assert theirs.ids == "66.67% of rows differ"


def test_missing_peer_is_named(course):
    with Race(course, ["tokenizers-1"], "cold") as race:
        assert race.run_round().keys() == {OURS}
        assert [each.peer for each in race.results()] == [OURS]
    assert "not of version 1" in race.missing["tokenizers-1"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell script")
def test_peer_of_what_is_no_interpreter_is_named(course, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nread command\necho understood\n")
    program.chmod(0o755)
    with Race(course, ["tokenizers"], "cold", pythons={"tokenizers": str(program)}) as race:
        pass
    assert race.missing == {
        "tokenizers": "tokenizers: its process says 'understood\\n'; is that a Python?"
    }


def test_texts_without_characters_are_refused(tokenizer, tmp_path):
    course = Course(tmp_path, tokenizer, ["a"], [*[""] * 50, "a"])
    with pytest.raises(ValueError, match="hold no characters \\(those for tokenizers\\)"):
        Race(course, ["tokenizers"], "unseen")


def test_peer_of_a_missing_interpreter_is_named(course):
    pythons = {"tokenizers": "no/such/python"}
    with Race(course, ["tokenizers"], "cold", pythons=pythons) as race:
        pass
    assert race.missing == {
        "tokenizers": "tokenizers: no/such/python can't be run (No such file or directory)"
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ImportError('no such luck')", "nanotoken is not installed (no such luck)"),
        ("Tokenizer.__init__ = None", "nanotoken: TypeError: 'NoneType' object is not callable"),
        (
            "import os, sys; print('last words', file=sys.stderr, flush=True); os._exit(3)",
            "nanotoken: its process died: last words",
        ),
        ("import os; os._exit(3)", "nanotoken: its process died: exit code 3"),
    ],
)
def test_peer_that_can_not_be_loaded_is_named(two_texts, fake_nanotoken, code, reason):
    fake_nanotoken(code)
    with Race(two_texts, ["nanotoken"], "cold") as race:
        pass
    assert race.missing == {"nanotoken": reason}


def test_peer_that_fails_in_a_round_leaves_the_race(two_texts, fake_nanotoken):
    fake_nanotoken("Tokenizer.encode_batch = lambda self, texts, **_: 1 / 0")
    with Race(two_texts, ["nanotoken"], "cold") as race:
        assert race.run_round().keys() == {OURS}
        assert [each.peer for each in race.results()] == [OURS]
    assert race.missing == {"nanotoken": "nanotoken: ZeroDivisionError: division by zero"}


def test_special_tokens_that_a_peer_always_adds_are_not_compared():
    peer = object.__new__(PEERS["flash-tokenizer"])
    assert list(peer.rows([[1, 5, 2], [1, 2]])) == [[5], []]


def test_first_ids_of_a_process_takes_some_time(two_texts):
    assert 0 < seconds_to_first_ids(OURS, two_texts.folder, "x") < 600
    with pytest.raises(RuntimeError, match="no/such/folder"):
        seconds_to_first_ids(OURS, "no/such/folder", "x")


def test_peak_memory_is_at_least_that_of_the_ids(tokenizer, tmp_path):
    if not sys.platform.startswith("linux"):
        pytest.skip("the peak is read from /proc")
    texts = ["a b c d e f g h " * 1000] * 500
    course = Course(tmp_path, tokenizer, [], texts)
    with PeerProcess(OURS, tmp_path) as process:
        process.ask("take", name="texts", path=str(course.file("texts", 1)))
        grown = process.ask("peak_memory", texts="texts")["bytes"]
        ids, _ = process.fetch_ids()
    assert len(ids) == 8 * 1000 * 500
    assert 4 * len(ids) <= grown < 100 * len(ids)


@pytest.mark.parametrize("value", ["tokenizers", "tokenizers=", "nobody=python"])
def test_parse_pythons_refuses(value):
    with pytest.raises(ValueError, match=f"expected PEER=PYTHON.*got '{value}'"):
        parse_pythons([value])
    assert parse_pythons(["tokie=a=b", "laghu=c"]) == {"tokie": "a=b", "laghu": "c"}


def test_peer_without_threads_is_not_there(two_texts):
    with pytest.raises(NotThere, match=r"is not installed|no call that uses 2 threads"):
        PeerProcess("blingfire", two_texts.folder, threads=2)


# ---- ids, texts ----


@pytest.mark.parametrize(
    ("rows", "others", "n_differing"),
    [
        ([[1, 2], [], [3]], [[1, 2], [], [3]], 0),
        ([[1, 2], [], [3]], [[1], [2], [3]], 2),
        ([[1, 2], [3]], [[1, 2], [4], [5]], 1),
        ([], [[1]], 0),
    ],
)
def test_count_differing_rows(rows, others, n_differing):
    def flat(lists):
        return np.array([id_ for row in lists for id_ in row], np.int32), np.cumsum(
            [0, *map(len, lists)]
        )

    assert count_differing_rows(flat(rows), flat(others)) == n_differing


def test_documents_are_shuffled_the_same_way_into_two_halves(tokenizer, tmp_path):
    documents = [str(n) for n in range(11)]
    courses = [Course.of_documents(tmp_path, tokenizer, documents) for _ in range(2)]
    warm, texts = courses[0].part("warm", 1), courses[0].part("texts", 1)
    assert (len(warm), len(texts)) == (5, 6)
    assert sorted(warm + texts) == sorted(documents)
    assert warm + texts != documents
    assert courses[1].part("texts", 1) == texts
    assert courses[0].part("texts", 3) == texts[:2]
    assert courses[0].part("texts", 100) == texts[:1]


def test_documentation_of_python_is_ascii_prose():
    paragraphs = documentation_of_python()
    assert sum(map(len, paragraphs)) > 300_000
    assert all(paragraph.strip() for paragraph in paragraphs)


def test_read_documents_stops_behind_the_block_that_is_enough(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name} one\n\n{name} three\n", "utf-8")
    paths = [tmp_path / "a", tmp_path / "b"]
    assert read_documents(paths, 1) == ["a one", "", "a three"]
    assert read_documents(paths, 10**6) == ["a one", "", "a three", "b one", "", "b three"]


# ---- reports ----


def result(peer, state="unseen", seconds=(0.5, 0.25, 1.0), differing_rows=0, one_in=1, ratio=1.0):
    return Result(
        peer=peer,
        version="1.2",
        state=state,
        threads=1,
        seconds=seconds,
        one_in=one_in,
        bytes=10**6,
        tokens=200_000,
        rows=8,
        differing_rows=differing_rows,
        ratio=ratio,
    )


RESULTS = [result(OURS), result("tokie", seconds=(4.0,), differing_rows=1, one_in=2, ratio=1234.5)]


def test_table():
    lines = [line.split("  ") for line in report.format_table(RESULTS).splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells == [
        ["peer", "version", "best MB/s", "median MB/s", "Mtokens/s", "piecework is", "ids"],
        ["piecework", "1.2", "4.0", "2.0", "0.40", "equal"],
        ["tokie (on 1/2)", "1.2", "0.2", "0.2", "0.05", "1,234.50 x as fast", RESULTS[1].ids],
    ]


def test_document_has_every_figure():
    document = json.loads(json.dumps(report.as_document(RESULTS, {"iree": "why"}, text="t")))
    assert document["text"] == "t"
    assert document["skipped"] == {"iree": "why"}
    assert document["machine"].keys() == {"cpu", "cores", "system", "python"}
    ours, theirs = document["results"]
    assert (ours["best MB/s"], ours["MB/s"], ours["tokens/s"]) == (4.0, 2.0, 400_000)
    assert ours["seconds"] == [0.5, 0.25, 1.0]
    assert (theirs["ids"], theirs["one_in"]) == ("12.50% of rows differ", 2)
    assert ours["clock"] == "cpu"


@pytest.mark.parametrize(("name", "head"), [("p.png", b"\x89PNG\r\n"), ("p.SVG", b"<?xml ")])
def test_plot_is_of_the_format_that_its_name_says(tmp_path, name, head):
    pytest.importorskip("matplotlib")
    report.plot([*RESULTS, result(OURS, "cold")], tmp_path / name, "title")
    assert (tmp_path / name).read_bytes().startswith(head)


def test_plot_without_matplotlib_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'piecework\[plot\]'"):
        report.check_plot(tmp_path / "p.png")


# ---- the command ----


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("Hello world\nthe cafés\n\nlast one\n", "utf-8")

    def invoke(*arguments, code=0):
        done = CliRunner().invoke(main, ["bench", *arguments])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done

    return invoke


def test_command_measures_a_corpus(run, tmp_path):
    done = run(
        "text.txt", "--peers", "tokenizers,tokenizers-1", "--rounds", "2", "--json", "o.json"
    )
    for line in ("text       text.txt: ", "tokenizer  bert-base-uncased, 1 thread", *STATES):
        assert line in done.stdout
    assert "Skipped tokenizers-1: tokenizers is not of version 1" in done.stderr
    document = json.loads((tmp_path / "o.json").read_text("utf-8"))
    assert [(each["state"], each["peer"], each["ids"]) for each in document["results"]] == [
        (state, peer, "equal") for state in STATES for peer in (OURS, "tokenizers")
    ]
    assert all(len(each["seconds"]) == 2 for each in document["results"])


def test_command_takes_the_reference_of_python_without_a_corpus(run):
    done = run("--peers", "none", "--rounds", "1", "--state", "repeated")
    assert "text       the language reference of Python: 0." in done.stdout
    assert "\nrepeated\npeer " in done.stdout
    assert "unseen" not in done.stdout


def test_command_takes_the_users_tokenizer(run, tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\nhello\n", "utf-8")
    arguments = ("--rounds", "1", "--state", "cold", "--json", "o.json")
    done = run("text.txt", "-t", "vocab.txt", "--peers", "tokenizers", *arguments)
    assert "tokenizer  vocab.txt" in done.stdout
    document = json.loads((tmp_path / "o.json").read_text("utf-8"))
    assert [each["ids"] for each in document["results"]] == ["equal", "equal"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--peers", "nobody"], 2, "expected some of nanotoken, tokenizers, "),
        (["--peer-python", "x"], 2, "expected PEER=PYTHON"),
        (["--rounds", "0"], 2, "0 is not in the range"),
        (["--plot", "p.gif"], 1, "plot p.gif: expected a name that ends with .png or .svg"),
        (["--json", "no/o.json"], 1, "json no/o.json: there is no folder no"),
        (["--json", "."], 1, "json .: expected a file, but that is a folder"),
        (["one.txt"], 1, "expected at least two documents"),
        (["gone.txt"], 1, "gone.txt: No such file or directory"),
        (["bad.txt"], 1, "bad.txt, line 1, byte 0"),
    ],
)
def test_command_refuses(run, tmp_path, arguments, code, message):
    (tmp_path / "one.txt").write_text("alone\n", "utf-8")
    (tmp_path / "bad.txt").write_bytes(b"\xff\nx\n")
    done = run(*arguments, code=code)
    assert message in done.stderr
    assert done.stdout == ""
