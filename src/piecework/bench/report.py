"""What was measured, as a table for readers, a JSON document for programs, and a plot.

Takes the results of races, gives text, plain data or a picture. It measures nothing.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from piecework._version import __version__
from piecework.bench.race import Result

PLOT_FORMATS = (".png", ".svg")
_HEADINGS = ("peer", "version", "best MB/s", "median MB/s", "Mtokens/s", "piecework is", "ids")


def format_table(results: Sequence[Result]) -> str:
    """Return the results of one state as lines of text, aligned."""
    rows = [_HEADINGS, *(_cells(result) for result in results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for cells in rows:
        # Names to the left, figures to the right; what the ids are has the end of the line.
        aligned = [cells[0].ljust(widths[0]), cells[1].ljust(widths[1])]
        aligned += [cell.rjust(width) for cell, width in zip(cells[2:6], widths[2:6], strict=True)]
        lines.append("  ".join([*aligned, cells[6]]).rstrip())
    return "\n".join(lines)


def _cells(result: Result) -> tuple[str, ...]:
    peer = result.peer if result.one_in == 1 else f"{result.peer} (on 1/{result.one_in})"
    tokens = result.tokens / (result.bytes or 1) * result.median
    faster = "" if result.peer == "piecework" else f"{result.ratio:,.2f} x as fast"
    figures = f"{result.best:,.1f}", f"{result.median:,.1f}", f"{tokens:,.2f}"
    return (peer, result.version, *figures, faster, result.ids)


def as_document(
    results: Sequence[Result], skipped: Mapping[str, str], **about: object
) -> dict[str, Any]:
    """Return everything as plain data.

    Parameters
    ----------
    results : sequence of Result
    skipped : mapping of str to str
        Peers that were not measured, and why.
    **about
        What else is to be said of the measurement, such as ``tokenizer`` and ``text``.
    """
    return {
        "piecework": __version__,
        "machine": machine(),
        **about,
        "results": [result.as_dict() for result in results],
        "skipped": dict(skipped),
    }


def machine() -> dict[str, Any]:
    """Return what the figures depend on, and can't be told from them."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def check_folder(what: str, path: Path) -> None:
    """See that a file can be there, before anything is measured.

    Raises
    ------
    OSError
        It is a folder, or would be in one that does not exist.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{what} {path}: expected a file, but that is a folder")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{what} {path}: there is no folder {path.parent}")


def check_plot(path: Path) -> None:
    """See that a plot can be written there, before anything is measured.

    Raises
    ------
    ValueError
        The suffix is none of :data:`PLOT_FORMATS`.
    ImportError
        matplotlib is not installed.
    OSError
        As for :func:`check_folder`.
    """
    check_folder("plot", path)
    if path.suffix.lower() not in PLOT_FORMATS:
        kinds = " or ".join(PLOT_FORMATS)
        raise ValueError(f"plot {path}: expected a name that ends with {kinds}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "a plot needs matplotlib, which is not installed: pip install 'piecework[plot]'"
        ) from error


def plot(results: Sequence[Result], path: Path, title: str) -> None:
    """Draw a bar for each result, one panel for each state.

    Parameters
    ----------
    results : sequence of Result
    path : Path
        Its suffix says which format: .png or .svg.
    title : str
    """
    check_plot(path)
    from matplotlib.figure import Figure  # no pyplot: no display, no state between calls

    states = list(dict.fromkeys(result.state for result in results))
    n_peers = len({result.peer for result in results})
    figure = Figure(figsize=(4.5 * len(states) + 1, 1.6 + 0.34 * n_peers), layout="constrained")
    axes = figure.subplots(1, len(states), sharex=True, squeeze=False)[0]
    for axis, state in zip(axes, states, strict=True):
        _draw_state(axis, [result for result in results if result.state == state], state)
    figure.suptitle(title)
    figure.savefig(path, dpi=150)


def _draw_state(axis: Any, results: Sequence[Result], state: str) -> None:
    # The fastest on top: barh begins at the bottom.
    ordered = sorted(results, key=lambda result: result.median)
    labels = [f"{each.peer} {each.version}" for each in ordered]
    speeds = [each.median for each in ordered]
    colours = ["#d95f02" if each.peer == "piecework" else "#7f8c99" for each in ordered]
    bars = axis.barh(labels, speeds, color=colours)
    for bar, each in zip(bars, ordered, strict=True):
        bar.set_hatch("" if each.ids == "equal" else "///")
        bar.set_edgecolor("white")
    notes = [f"{each.median:,.1f}" + ("" if each.ids == "equal" else " *") for each in ordered]
    axis.bar_label(bars, notes, padding=3, fontsize=9)
    axis.margins(x=0.2)
    axis.set_title(state)
    axis.set_xlabel("MB/s of UTF-8, median (*: other ids)")
    axis.spines[["top", "right"]].set_visible(False)
