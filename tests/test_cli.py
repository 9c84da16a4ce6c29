"""The command line: what it prints where, its exit codes, and that no user sees a traceback."""

import gzip
import io
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from helpers import embedded_vocab, hf_ids, hf_tokenizer

from piecework import Batch, WordPieceTokenizer, __version__
from piecework.cli import decode as decode_module
from piecework.cli import main
from piecework.cli.show import display_width

TEXT = "The UNAFFABLE cafés!\n\n[MASK] 日本語 🫠\nlast line"
COMMAND = [sys.executable, "-m", "piecework"]


@pytest.fixture(scope="module")
def hf():
    return hf_tokenizer(embedded_vocab())


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def text_file(tmp_path):
    (tmp_path / "text.txt").write_bytes(TEXT.encode())
    return "text.txt"


@pytest.fixture
def cased_vocab(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\nThe\nthe\n##m\n", "utf-8")
    return "vocab.txt"


def run(*arguments, stdin=b"", code=0, **environment):
    result = CliRunner().invoke(main, arguments, input=stdin, env=environment)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def load(folder):
    return Batch(np.load(f"{folder}/ids.npy"), np.load(f"{folder}/row_splits.npy"))


# ---- the program ----


def test_module_and_version():
    result = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"piecework, version {__version__}\n"


@pytest.mark.parametrize("command", [[], ["encode"], ["decode"], ["show"], ["bench"]])
def test_help_of_each_command_goes_to_standard_output(command):
    result = run(*command, "--help")
    assert result.stdout.startswith("Usage: ")
    assert result.stderr == ""


def test_importing_the_library_loads_neither_click_nor_tqdm():
    program = "import sys, piecework.corpus; print({'click', 'tqdm'} & set(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cook"], "No such command 'cook'"),
        (["encode", "text.txt"], "Missing option '-o'"),
        (["encode", "-o", "out"], "Missing argument 'INPUT...'"),
        (["encode", "text.txt", "-o", "out", "--cased"], "are for a vocab.txt; bert-base-uncased"),
        (["decode"], "Missing argument"),
        (["decode", "out", "more"], "expected one folder"),
        (["decode", "--ids", "101", "--row", "1"], "--row chooses rows of a folder"),
        (["show"], "Missing argument 'TEXT'"),
        (["encode", "text.txt", "-o", ""], "for '-o' / '--out': expected a path, got an empty"),
        (["encode", "text.txt", "", "-o", "out"], "for 'INPUT...': expected a path, got an empty"),
        (["encode", "text.txt", "-o", "out", "-t", ""], "'--tokenizer': expected a path, got"),
        (["show", "x", "-t", ""], "'--tokenizer': expected a path, got an empty text"),
        (["decode", ""], "expected a path, got an empty text"),
    ],
)
def test_wrong_usage_exits_with_2(text_file, tmp_path, arguments, message):
    result = run(*arguments, code=2)
    assert message in result.stderr
    assert result.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "gone.txt", "-o", "out"], "input gone.txt does not exist"),
        (["encode", ".", "-o", "out"], "input . is a folder"),
        (["encode", "bad.txt", "-o", "out"], "bad.txt, line 2, byte 4 of the input: invalid UTF-8"),
        (["encode", "bad.txt", "-o", "out/of/here"], "bad.txt, line 2, byte 4 of the input"),
        (["encode", "text.gz", "-o", "out"], "text.gz is compressed (gzip), but text is expected"),
        (["encode", "text.txt", "-o", "text.txt"], "output text.txt is a file"),
        (["show", "x", "-t", "gone.json"], "tokenizer gone.json does not exist"),
        (["show", "x", "-t", "gone/vocab.txt"], "tokenizer gone/vocab.txt does not exist"),
        (["show", "x", "-t", "bad.txt"], "bad.txt"),
        (["show", "x", "-t", "plain.txt"], "of plain.txt lacks [CLS] or [SEP]; --no-special"),
        (["encode", "text.txt", "-o", "out", "-t", "plain.txt"], "[CLS] or [SEP]; --no-special"),
        (["decode", "."], ". holds no ids.npy: not a finished result of encode"),
        (["decode", "--ids", "101", "seven"], "position 1: expected an id, got 'seven'"),
        (["decode", "--ids", "101", "30522"], "position 1"),
        (["decode", "--ids", "9" * 30], "position 0"),
    ],
)
def test_failure_exits_with_1_and_one_line(text_file, tmp_path, arguments, message):
    (tmp_path / "bad.txt").write_bytes(b"one\n\xff\n")
    (tmp_path / "plain.txt").write_bytes(b"[UNK]\nx\n")
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"one\n"))
    result = run(*arguments, code=1)
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "stdin", "place"),
    [
        (["encode", "-", "-o", "out"], b"a\n\xff", "line 2, byte 2 of the input: invalid UTF-8"),
        (["show", "-"], b"a\xff", "line 1, byte 1 of the input: invalid UTF-8 (0xff: invalid"),
        (["decode", "--ids", "-"], b"101\n102 \xff", "line 2, byte 8 of the input: invalid UTF-8"),
        (["encode", "-", "-o", "out"], gzip.compress(b"a"), "(gzip), but text is expected"),
        (["show", "-"], gzip.compress(b"a"), "(gzip), but text is expected"),
    ],
)
def test_standard_input_that_is_no_utf8_is_named(arguments, stdin, place):
    result = run(*arguments, stdin=stdin, code=1)
    assert result.stderr.startswith("Error: standard input")
    assert place in result.stderr


# ---- encode ----


@pytest.mark.parametrize("options", [[], ["--no-special"]])
def test_encode_writes_the_incumbents_ids_and_prints_the_counts(text_file, hf, options):
    result = run("encode", text_file, "-", text_file, "-o", "out", *options, stdin=b"a pipe\n")
    texts = [*TEXT.split("\n"), "a pipe", *TEXT.split("\n")]
    rows = hf_ids(hf, texts, add_special=not options)
    plain = [token for row in hf_ids(hf, texts) for token in row]
    unknown = plain.count(hf.token_to_id("[UNK]"))
    assert load("out").tolist() == rows
    assert re.fullmatch(
        f"documents  9\n"
        f"tokens     {sum(map(len, rows))}\n"
        f"unknown    {unknown / len(plain):.3%} \\({unknown}\\)\n"
        f"speed      [\\d,.]+ MB/s \\(0.0 MB in [\\d.]+ s\\)\n",
        result.stdout,
    )
    assert result.stderr == ""  # no terminal, no progress bar


def test_encode_keeps_a_finished_result_unless_overwrite(text_file):
    run("encode", text_file, "-o", "out")
    before = load("out")
    result = run("encode", "-", "-o", "out", stdin=b"other", code=1)
    assert result.stderr == "Error: output out already holds ids.npy and row_splits.npy\n"
    assert load("out") == before
    run("encode", "-", "-o", "out", "--overwrite", stdin=b"other")
    assert len(load("out")) == 1


def start_encode(text_file, stop_signal=None, **options):
    """Start a run that waits for standard input, once its temporary files are there."""
    process = subprocess.Popen(
        [*COMMAND, "encode", text_file, "-", "-o", "out"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    deadline = time.monotonic() + 30
    while not (os.path.isdir("out") and len(os.listdir("out")) == 2):  # noqa: PTH112, PTH208
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX systems")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_stopped_encode_leaves_nothing_and_says_why(text_file, tmp_path, name):
    number = getattr(signal, name)
    # The child inherits what is ignored, and a test run in the background ignores signals.
    process = start_encode(text_file, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    process.send_signal(number)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert errors.strip() == ("Interrupted." if name == "SIGINT" else "")
    assert output == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no SIGHUP on this system")
def test_hang_up_that_nohup_ignores_stays_ignored(text_file):
    process = start_encode(
        text_file, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    process.send_signal(signal.SIGHUP)
    process.communicate("one\ntwo\n", timeout=30)
    assert process.returncode == 0
    assert len(load("out")) == 6


def test_full_disk_is_an_error_that_names_the_file(tmp_path):
    resource = pytest.importorskip("resource", reason="no file size limits on this system")
    (tmp_path / "text.txt").write_bytes(b"a b c d e f g h\n" * 1000)
    result = subprocess.run(
        [*COMMAND, "encode", "text.txt", "-o", "out"],
        capture_output=True,
        text=True,
        check=False,
        # The nearest to a full disk that a test can have: files may not grow beyond 20,000 bytes.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert result.returncode == 1
    assert re.fullmatch(r"Error: out/ids\.npy: .*\n", result.stderr)
    assert not (tmp_path / "out").exists()


# ---- which tokenizer ----


def test_tokenizer_can_be_a_vocab_a_json_or_a_folder(text_file, tmp_path):
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "last", "line", "the"]
    tokenizer = WordPieceTokenizer({token: i for i, token in enumerate(tokens)})
    (tmp_path / "model").mkdir()
    tokenizer.save("model/tokenizer.json")
    tokenizer.save_vocab("plain")
    for number, source in enumerate(["model", "model/tokenizer.json", "plain"]):
        run("encode", text_file, "-o", f"out{number}", "--tokenizer", source)
        assert load(f"out{number}")[-1].tolist() == [2, 4, 5, 3]


@pytest.mark.parametrize(
    ("option", "ids", "warns"),
    [(["--cased"], [3, 0], False), (["--uncased"], [4, 0], False), ([], [4, 0], True)],
)
def test_case_of_a_vocab_is_chosen_and_doubted_where_it_is_not(cased_vocab, option, ids, warns):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = run("show", "The é", "-t", cased_vocab, "--no-special", *option)
    assert [int(word) for word in result.stdout.split("\n")[1].split()] == ids
    expected = "Warning: vocab.txt holds 1 tokens with capitals, such as 'The', which lower-cased "
    assert result.stderr.startswith(expected) if warns else result.stderr == ""


def test_uncased_vocab_is_not_doubted(tmp_path):
    tokens = ["[UNK]", "[CLS]", "<S>", "the", "Γ", "", "##TM", *(f"##{i}" for i in range(200))]
    (tmp_path / "plain.txt").write_text("\n".join(tokens), "utf-8")
    assert run("show", "the", "-t", "plain.txt", "--no-special").stderr == ""


# ---- decode ----


@pytest.mark.parametrize("step_tokens", [1, 7, 2**18])
@pytest.mark.parametrize("skip", [False, True])
def test_decode_writes_a_line_for_each_row(text_file, hf, monkeypatch, step_tokens, skip):
    monkeypatch.setattr(decode_module, "STEP_TOKENS", step_tokens)
    run("encode", text_file, "-", "-o", "out", stdin=b"\n" * 20 + b"x" * 300 + b"\n\n")
    texts = [*TEXT.split("\n"), *[""] * 20, "x" * 300, ""]
    expected = hf.decode_batch(hf_ids(hf, texts, add_special=True), skip_special_tokens=skip)
    result = run("decode", "out", *(["--skip-special"] if skip else []))
    assert result.stdout_bytes.decode().split("\n") == [*expected, ""]


def test_decode_of_rows_gives_these_in_order(text_file):
    run("encode", text_file, "-o", "out")
    result = run("decode", "out", "--row", "-1", "--row", "0", "--row", "0", "--skip-special")
    assert result.stdout == "last line\nthe unaffable cafes!\nthe unaffable cafes!\n"


@pytest.mark.parametrize("number", ["4", "-5"])
def test_decode_of_a_row_that_is_not_there_says_how_many_there_are(text_file, number):
    run("encode", text_file, "-o", "out")
    result = run("decode", "out", "--row", "0", "--row", number, code=2)
    assert f"Invalid value for --row: {number}: there are 4 rows" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "stdin", "output"),
    [
        (["101", "7592", "2088", "102"], b"", "[CLS] hello world [SEP]\n"),
        (["[101, 7592,", "2088]"], b"", "[CLS] hello world\n"),
        (["--skip-special", "101", "7592"], b"", "hello\n"),
        (["-"], b"7592 2088\n\n[101, 7592]", "hello world\n\n[CLS] hello\n"),
    ],
)
def test_decode_of_ids(arguments, stdin, output):
    assert run("decode", "--ids", *arguments, stdin=stdin).stdout == output


def test_decode_of_a_bad_id_names_its_line():
    result = run("decode", "--ids", "-", stdin=b"7592\n1 -3\n", code=1)
    assert "standard input, line 2: position 1: expected an id, got '-3'" in result.stderr


def test_decode_of_ids_from_another_tokenizer_names_the_row(text_file, cased_vocab):
    run("encode", text_file, "-o", "out")
    result = run("decode", "out", "--row", "3", "-t", cased_vocab, "--cased", code=1)
    assert "row 3 holds id 101, but the ids of this tokenizer end at 5" in result.stderr


def test_decode_of_a_damaged_folder_is_refused(text_file):
    run("encode", text_file, "-o", "out")
    np.save("out/ids.npy", np.zeros(3, dtype=np.int32))
    result = run("decode", "out", code=1)
    assert result.stderr.startswith(
        "Error: ids.npy and row_splits.npy of out are no pair that encode wrote: "
        "row_splits must end with len(ids) = 3, not "
    )


def npy_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(("name", "dtype"), [("ids", "int32"), ("row_splits", "int64")])
@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"", "EOF"),
        (b"junk that is long enough", "the magic string is not correct"),
        (b"PK\x03\x04 a zip file, as np.savez writes", "the magic string is not correct"),
        (npy_bytes(np.arange(99))[:-1], ""),
        (npy_bytes(np.arange(9)).replace(b"}", b"("), ""),
        (npy_bytes(np.array([None])), ""),
        (npy_bytes(np.zeros(3, "u2")), "it holds uint16 of shape (3,)"),
        (npy_bytes(np.zeros(3, "f8")), "it holds float64 of shape (3,)"),
    ],
)
def test_decode_names_the_damaged_file(text_file, tmp_path, name, dtype, content, detail):
    run("encode", text_file, "-o", "out")
    (tmp_path / "out" / f"{name}.npy").write_bytes(content)
    result = run("decode", "out", code=1)
    path = Path("out", f"{name}.npy")
    expected = f"Error: {path} is no .npy file of a 1-D {dtype} array, as encode writes it: "
    assert result.stderr.startswith(expected + detail)
    assert result.stderr.count("\n") == 1
    assert "pickle" not in result.stderr


def test_decode_refuses_a_matrix(text_file):
    run("encode", text_file, "-o", "out")
    np.save("out/ids.npy", np.zeros((3, 1), dtype=np.int32))
    assert "it holds int32 of shape (3, 1)" in run("decode", "out", code=1).stderr


@pytest.mark.skipif(os.name != "posix", reason="a closed pipe is an error of its own elsewhere")
def test_decode_into_a_closed_pipe_is_silent(tmp_path):
    (tmp_path / "text.txt").write_bytes(b"a document\n" * 100_000)
    run("encode", "text.txt", "-o", "out")
    process = subprocess.Popen(
        [*COMMAND, "decode", "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"[CLS] a document [SEP]\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait(timeout=30)
    process.stderr.close()


# ---- show ----


def test_show_aligns_pieces_and_ids():
    result = run("show", "The UNAFFABLE 日本é!")
    assert result.stdout == (
        "[CLS]  the   una    ##ffa  ##ble  日    本    e     !    [SEP]\n"
        "101    1996  14477  20961  3468   1864  1876  1041  999  102\n"
    )


def test_show_wraps_at_the_width_of_the_terminal():
    result = run("show", "word " * 9, "--no-special", COLUMNS="21")
    three = "word  word  word\n2773  2773  2773\n"
    assert result.stdout == f"{three}\n{three}\n{three}"


@pytest.mark.parametrize("text", ["", "\u200b"])
def test_show_of_a_text_without_pieces(text):
    assert run("show", text).stdout == "[CLS]  [SEP]\n101    102\n"
    assert run("show", text, "--no-special").stdout == ""


def test_show_reads_standard_input():
    assert run("show", "-", "--no-special", stdin="日本\nhello".encode()).stdout == (
        "日    本    hello\n1864  1876  7592\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes on POSIX systems only")
@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONUTF8": "1"}]
)
def test_show_takes_arguments_as_utf8_in_any_locale(locale):
    def show(argument):
        return subprocess.run(
            [*COMMAND, "show", "--no-special", argument],
            capture_output=True,
            check=False,
            env={**os.environ, **locale},
        )

    assert show("日本 é".encode()).stdout.decode() == "日    本    e   \n1864  1876  1041\n"
    result = show(b"a\xff")
    assert result.returncode == 1
    assert result.stderr.startswith(b"Error: argument TEXT, line 1, byte 1 of the input: invalid")


def test_show_escapes_what_the_output_can_not_encode():
    result = subprocess.run(
        [*COMMAND, "show", "--no-special", "日 a"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert result.stdout.splitlines() == [b"\\u65e5  a   ", b"1864    1037"]


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_show_is_coloured_in_a_terminal_only(environment, coloured):
    result = CliRunner().invoke(main, ["show", "una 🫠"], color=True, env=environment)
    pieces = [("34", "[CLS]"), ("32", "una  "), ("31", "[UNK]"), ("34", "[SEP]")]
    plain = "  ".join(piece for _, piece in pieces)
    marked = "  ".join(f"\x1b[{code}m{piece}\x1b[0m" for code, piece in pieces)
    assert result.stdout.split("\n")[0] == (marked if coloured else plain)
    assert run("show", "una 🫠").stdout.split("\n")[0] == plain


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("ｶ", 1), ("カ", 2), ("\u200b", 0), ("😀", 2)],
)
def test_display_width_counts_columns(text, width):
    assert display_width(text) == width
