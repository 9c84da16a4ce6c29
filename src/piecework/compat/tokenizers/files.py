"""tokenizer.json and the state of a Tokenizer: what a file switches on is on.

The tokenizer behind keeps none of it: truncation and padding go from the file into the state, and
from the state into the file.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from piecework.compat.tokenizers.behind import Behind
from piecework.compat.tokenizers.state import Padding, State, Truncation
from piecework.errors import TokenizerFileWarning
from piecework.pretrained import EMBEDDED, load_pretrained
from piecework.spec import TokenizerSpec
from piecework.tokenizer import WordPieceTokenizer
from piecework.tokenizer_json import read_tokenizer_json, to_json
from piecework.vocabulary import write_atomically


def read(path: Path) -> State:
    """Read a file."""
    return _applied(lambda: read_tokenizer_json(path))


def read_text(text: str) -> State:
    """Read a text."""
    if not text.lstrip().startswith("{"):
        raise ValueError("expected the text of a tokenizer.json, which starts with '{'")
    return _applied(lambda: read_tokenizer_json(text))


def load(name: str, revision: str, token: str | None) -> State:
    """Load a model's tokenizer from a folder or the Hub."""
    is_default = name == EMBEDDED and revision == "main"
    return _applied(
        lambda: load_pretrained(name, revision=None if is_default else revision, token=token)
    )


def _applied(read: Callable[[], TokenizerSpec]) -> State:
    with warnings.catch_warnings():
        # That truncation and padding are not applied, where they are.
        warnings.simplefilter("ignore", TokenizerFileWarning)
        spec = read()
    truncation, padding = spec.file_truncation, spec.file_padding
    behind = WordPieceTokenizer.from_spec(replace(spec, file_truncation=None, file_padding=None))
    return State(
        Behind(behind),
        None if truncation is None else Truncation.from_file(truncation),
        None if padding is None else Padding.from_file(padding),
    )


def text(state: State, pretty: bool) -> str:
    """Return the text of the file of a state."""
    document = json.loads(to_json(state.behind.spec))
    document["truncation"] = state.truncation and state.truncation.file_part()
    document["padding"] = state.padding and state.padding.file_part()
    separators = None if pretty else (",", ":")
    return json.dumps(
        document, ensure_ascii=False, indent=2 if pretty else None, separators=separators
    )


def write(state: State, path: str | os.PathLike[str], pretty: bool) -> None:
    """Write the file of a state; it appears whole or not at all."""
    write_atomically(path, text(state, pretty).encode())
