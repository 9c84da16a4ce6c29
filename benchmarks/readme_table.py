"""Print the README's table of speeds, as Markdown, from results of the suite.

    pytest benchmarks/test_encode.py -k "unseen" --benchmark-json=speed.json
    python benchmarks/readme_table.py speed.json [MORE.json ...] [--state unseen] [--threads 1]

With several files, of several runs on one machine, a ratio is given from its lowest to its highest.
The machine and the versions stand above the table.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

TITLES = {
    "english": "English",
    "multilingual": "12 languages and more",
    "cjk": "Chinese, Japanese, Korean",
    "code": "code, emoji, markdown",
}
PEERS = ("nanotoken", "tokenizers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--state", default="unseen")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default=",".join(PEERS), help="names, with commas between")
    arguments = parser.parse_args()
    documents = [json.loads(path.read_text("utf-8")) for path in arguments.files]
    rows = [
        row
        for document in documents
        for row in (each["extra_info"] for each in document["benchmarks"])
        if row.get("state") == arguments.state
        and row["threads"] == arguments.threads
        and row["text"] in TITLES
    ]
    if not rows:
        print(f"no results of {arguments.state} texts in these files", file=sys.stderr)
        return 1
    print(machine(documents[0]["machine_info"]))
    print()
    print("\n".join(table(rows, arguments.peers.split(","))))
    return 0


def machine(info: Mapping[str, Any]) -> str:
    """Return a line about the machine, from what pytest-benchmark writes of it."""
    cpu = info.get("cpu", {})
    return (
        f"Measured on {cpu.get('brand_raw', 'an unnamed processor')}, {cpu.get('count', '?')} "
        f"cores, {info['system']} {info['machine']}, {info['python_implementation']} "
        f"{info['python_version']}."
    )


def table(rows: Sequence[Mapping[str, Any]], peers: Sequence[str]) -> Iterable[str]:
    """Yield the lines of a Markdown table: a line for each kind of text, a column for each peer."""
    versions = {row["peer"]: row["peer version"] for row in rows}
    peers = [peer for peer in peers if peer in versions]
    yield (
        "| text | MB/s of UTF-8 | "
        + " | ".join(f"times `{peer}` {versions[peer]}" for peer in peers)
        + " |"
    )
    yield "|---" * (2 + len(peers)) + "|"
    for text, title in TITLES.items():
        of_text = [row for row in rows if row["text"] == text]
        if of_text:
            speed = statistics.median(row["figure"] for row in of_text)
            cells = (ratios([row for row in of_text if row["peer"] == peer]) for peer in peers)
            yield f"| {title} | {speed:,.0f} | " + " | ".join(cells) + " |"


def ratios(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the lowest and the highest ratio, or the only one, and a mark if ids differ."""
    if not rows:
        return "not measured"
    figures = sorted({f"{row['ratio']:.1f}" for row in rows}, key=float)
    mark = "" if all(row["ids"] == "equal" for row in rows) else " (other ids)"
    return " to ".join(dict.fromkeys((figures[0], figures[-1]))) + mark


if __name__ == "__main__":
    sys.exit(main())
