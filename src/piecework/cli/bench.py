"""``piecework bench``: how fast piecework and other tokenizers are on the user's text.

Turns arguments into races (:mod:`piecework.bench`), prints their tables to standard output and
writes a JSON document and a plot where asked.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from piecework.bench import (
    OURS,
    PEERS,
    STATES,
    Course,
    Race,
    Result,
    State,
    documentation_of_python,
    parse_pythons,
    read_documents,
    report,
)
from piecework.cli.options import load_tokenizer, non_empty_path, tokenizer_options

OTHERS = [name for name in PEERS if name != OURS]


def _peer_names(_: click.Context, __: click.Parameter, value: str) -> list[str]:
    if value in ("all", "none"):
        return OTHERS if value == "all" else []
    names = [name.strip() for name in value.split(",")]
    for name in names:
        if name not in OTHERS:
            raise click.BadParameter(f"expected some of {', '.join(OTHERS)}; got {name!r}")
    return list(dict.fromkeys(names))


def _pythons(_: click.Context, __: click.Parameter, values: Iterable[str]) -> dict[str, str]:
    try:
        return parse_pythons(values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _states(_: click.Context, __: click.Parameter, values: Sequence[State]) -> Sequence[State]:
    return [state for state in STATES if state in values] or STATES


@click.command()
@click.argument("corpus", nargs=-1, metavar="[CORPUS]...", type=non_empty_path)
@tokenizer_options
@click.option(
    "--peers",
    metavar="NAME,...",
    default="all",
    show_default=True,
    callback=_peer_names,
    help=f"Whom to measure beside piecework: some of {', '.join(OTHERS)}; or all, or none. "
    "One that is not installed is left out, and named.",
)
@click.option(
    "--peer-python",
    "pythons",
    metavar="PEER=PYTHON",
    multiple=True,
    envvar="PIECEWORK_PEER_PYTHONS",
    callback=_pythons,
    help="The interpreter of another environment that has the peer; can be repeated. The "
    "environment variable PIECEWORK_PEER_PYTHONS takes several, with spaces between.",
)
@click.option(
    "--state",
    "states",
    type=click.Choice(STATES),
    multiple=True,
    callback=_states,
    help="Measure only the first call of a process (cold), text of the same kind after a warm-up "
    "on other documents (unseen), or the same text again (repeated); can be repeated.",
)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=7,
    show_default=True,
    help="How often each is timed, taking turns.",
)
@click.option(
    "--megabytes",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Read no more than about this much of CORPUS.",
)
@click.option("--json", "json_path", metavar="FILE", type=non_empty_path, help="Write all figures.")
@click.option(
    "--plot",
    "plot_path",
    metavar="FILE",
    type=non_empty_path,
    help="Draw them: FILE ends with .png or .svg. Needs the extra piecework[plot].",
)
def bench(
    corpus: tuple[str, ...],
    source: str,
    cased: bool | None,
    peers: list[str],
    pythons: dict[str, str],
    states: Sequence[State],
    threads: int,
    rounds: int,
    megabytes: int,
    json_path: str | None,
    plot_path: str | None,
) -> None:
    """Measure piecework and other tokenizers on CORPUS.

    CORPUS are text files (UTF-8, one document a line). Without any it is the language reference
    that every Python brings along for help(): English technical prose, about 0.5 MB.

    The documents are shuffled, always in the same way. One half warms everybody up, the other is
    timed. Each tokenizer runs in a process of its own, with the same cores and threads; the rounds
    take turns; the same number of rounds counts for all, and both the best and the median are
    printed. With one thread the clock is the CPU time of the process, with more it is the wall's.
    Slow tokenizers are timed on a part of the texts, which the table says. Ids are compared with
    piecework's, row by row.

    \b
    piecework bench                                      what is installed, on Python's reference
    piecework bench my.txt --peers tokenizers --plot my.svg
    piecework bench --peer-python tokenizers-1=/venvs/rc/bin/python
    """  # noqa: D301  (click takes a real backspace as "keep these lines")
    if plot_path:
        report.check_plot(Path(plot_path))
    if json_path:
        report.check_folder("json", Path(json_path))
    tokenizer = load_tokenizer(source, cased)
    documents = read_documents(corpus, megabytes * 10**6) if corpus else documentation_of_python()
    if len(documents) < 2:
        raise ValueError("expected at least two documents, one to warm up with and one to time")
    text = ", ".join(corpus) if corpus else "the language reference of Python"
    results: list[Result] = []
    skipped: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        course = Course.of_documents(folder, tokenizer, documents)
        click.echo(_headline(text, course.n_bytes(), source, threads))
        for state in states:
            with Race(course, peers, state, threads=threads, pythons=pythons) as race:
                for _ in range(rounds):
                    race.run_round()
                measured = race.results()
            click.echo(f"\n{state}\n{report.format_table(measured)}")
            results += measured
            skipped |= race.missing
    for peer, reason in skipped.items():
        click.echo(f"Skipped {peer}: {reason}", err=True)
    if json_path:
        document = report.as_document(results, skipped, tokenizer=source, text=text)
        Path(json_path).write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    if plot_path:
        title = f"{source} on {text}, {report.machine()['cpu']}"
        report.plot(results, Path(plot_path), title)


def _headline(text: str, n_bytes: int, tokenizer: str, threads: int) -> str:
    machine = report.machine()
    plural = "s" if threads > 1 else ""
    return (
        f"text       {text}: {n_bytes / 1e6:,.1f} MB timed\n"
        f"tokenizer  {tokenizer}, {threads} thread{plural}\n"
        f"machine    {machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
        f"{machine['python']}"
    )
