"""The throughput guard's rule, on figures that are given: no time is measured here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pytest_benchmark", reason="needs the extra piecework[bench]")

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("a copy of the project without benchmarks", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import guard  # noqa: E402
import readme_table  # noqa: E402

CONFTEST = f"""
import sys

sys.path.insert(0, {str(BENCHMARKS)!r})
import guard


def pytest_configure(config):
    guard.use_only_for_guarded(config)


def pytest_terminal_summary(terminalreporter, config):
    guard.check_all_were_compared(terminalreporter, config._benchmarksession)
"""
TEST = """
import os

import pytest
from races import report_durations, with_reported_times

FIGURES = [float(each) for each in os.environ["FIGURES"].split()]


@with_reported_times
@pytest.mark.parametrize("name", os.environ.get("NAMES", "a").split())
def test_figure(benchmark, name):
    benchmark.extra_info["guarded"] = os.environ.get("GUARDED") != "no"
    figures = iter(FIGURES)
    report_durations(benchmark, lambda: next(figures), len(FIGURES))
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "conftest.py").write_text(CONFTEST, "utf-8")
    (tmp_path / "test_it.py").write_text(TEST, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")

    def run_pytest(figures, *options, **environment):
        for name, value in {"FIGURES": figures, **environment}.items():
            monkeypatch.setenv(name, value)
        command = [sys.executable, "-m", "pytest", "-q", *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run_pytest


SAVED = "1.0 0.9 5.0"  # median 1.0


@pytest.mark.parametrize(
    ("figures", "options", "environment", "fails"),
    [
        ("1.04 0.8 9.0", [], {}, False),
        ("1.06 0.8 9.0", [], {}, True),
        ("0.5 0.5 0.5", [], {}, False),
        ("2.0 2.0 2.0", [], {"GUARDED": "no"}, False),
        ("1.06 0.8 9.0", ["--benchmark-compare-fail=median:10%"], {}, False),
        ("1.12 0.8 9.0", ["--benchmark-compare-fail=median:10%"], {}, True),
        ("2.0 2.0 2.0", ["--benchmark-compare-fail=median:10%"], {"GUARDED": "no"}, False),
    ],
)
def test_comparison_fails_only_for_a_guarded_loss(run, figures, options, environment, fails):
    code, output = run(SAVED, "--benchmark-save=before")
    assert code == 0, output
    code, output = run(figures, "--benchmark-compare", *options, **environment)
    assert ("Performance has regressed" in output) == fails, output
    assert (code != 0) == fails, output


def test_comparison_fails_for_a_guarded_figure_that_was_not_saved(run):
    assert run(SAVED, "--benchmark-save=before")[0] == 0
    code, output = run(SAVED, "--benchmark-compare", NAMES="a b")
    assert code != 0
    assert "test_figure[b]: 1.0000 yardsticks, and no saved run to compare it with" in output


# ---- which rounds count ----


QUIET, BUSY = (1.0, 2.0, 1.0), (1.5, 9.0, 1.5)  # with a neighbour all is slower, we the most


def test_figure_is_the_median_of_the_quiet_rounds():
    assert guard.quiet_figures([[QUIET] * 40 + [BUSY] * 60]) == [2.0]


def test_round_that_something_came_between_does_not_count():
    interrupted = (1.0, 5.0, 1.06)
    assert guard.quiet_figures([[QUIET] * 40 + [interrupted] * 60]) == [2.0]


def test_process_without_enough_quiet_rounds_does_not_count():
    lucky = [QUIET] * (guard.FEWEST_ROUNDS - 1) + [BUSY] * 71
    assert guard.quiet_figures([[(1.0, 2.5, 1.0)] * 50, lucky]) == [2.5]


def test_one_impossibly_fast_yardstick_does_not_rule_out_the_rest():
    assert guard.quiet_figures([[(0.001, 2.0, 0.001)] + [QUIET] * 199]) == [2.0]


def test_no_rounds_give_no_figure():
    assert guard.quiet_figures([[]]) == []


def test_machine_that_is_never_quiet_gives_no_figure(monkeypatch):
    rounds = iter(range(1000))
    monkeypatch.setattr(
        guard, "run_process", lambda _: {"text": [(1.0 + next(rounds), 1.0, 9999.0)]}
    )
    with pytest.raises(guard.TooBusy, match="of 24 processes fewer than 2 had 30 rounds"):
        guard.measure(2, 0.0, ["text"])


def test_fastest_ratio_leaves_out_one_slip_of_the_clock():
    slips = [(9.0, 0.1, 0.1)]
    assert guard.fastest_ratio([QUIET] * 39 + slips) == 2.0


# ---- the README's table ----


def benchmark(text, peer, figure, ratio, ids="equal", state="unseen", threads=1):
    info = {
        "text": text,
        "peer": peer,
        "peer version": "1",
        "figure": figure,
        "ratio": ratio,
        "ids": ids,
        "state": state,
        "threads": threads,
    }
    return {"extra_info": info}


def write(path, *benchmarks):
    machine = {
        "cpu": {"brand_raw": "Fast CPU", "count": 2},
        "system": "Linux",
        "machine": "x86_64",
        "python_implementation": "CPython",
        "python_version": "3.11.7",
    }
    document = {"machine_info": machine, "benchmarks": list(benchmarks)}
    path.write_text(json.dumps(document), "utf-8")
    return str(path)


def test_readme_table_of_two_runs(tmp_path, capsys, monkeypatch):
    first = write(
        tmp_path / "1.json",
        benchmark("english", "nanotoken", 200.0, 1.44),
        benchmark("english", "tokenizers", 210.0, 82.0),
        benchmark("english", "nanotoken", 999.0, 9.0, state="cold"),
        benchmark("english", "nanotoken", 999.0, 9.0, threads=2),
        benchmark("documents of 20", "nanotoken", 999.0, 9.0),
        benchmark("cjk", "nanotoken", 150.0, 12.0, ids="1.00% of rows differ"),
        {"extra_info": {}},
    )
    second = write(tmp_path / "2.json", benchmark("english", "nanotoken", 220.0, 1.7))
    monkeypatch.setattr(sys, "argv", ["readme_table.py", first, second])
    assert readme_table.main() == 0
    assert capsys.readouterr().out.splitlines() == [
        "Measured on Fast CPU, 2 cores, Linux x86_64, CPython 3.11.7.",
        "",
        "| text | MB/s of UTF-8 | times `nanotoken` 1 | times `tokenizers` 1 |",
        "|---|---|---|---|",
        "| English | 210 | 1.4 to 1.7 | 82.0 |",
        "| Chinese, Japanese, Korean | 150 | 12.0 (other ids) | not measured |",
    ]


def test_readme_table_without_results(tmp_path, capsys, monkeypatch):
    path = write(tmp_path / "1.json", {"extra_info": {}})
    monkeypatch.setattr(sys, "argv", ["readme_table.py", path])
    assert readme_table.main() == 1
    assert "no results" in capsys.readouterr().err
