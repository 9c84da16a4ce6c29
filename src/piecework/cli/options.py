"""What the commands share: the type of paths, the options that choose a tokenizer, and loading it.

Takes what the user typed after ``--tokenizer``, gives a WordPieceTokenizer. It does not look into a
file to find out what it is: the kind follows from the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from piecework.errors import VocabularyWarning, warn
from piecework.tokenizer import WordPieceTokenizer

DEFAULT_TOKENIZER = "bert-base-uncased"


def non_empty_path(value: str) -> str:
    """Return what names a file or a folder; used as the type of such arguments.

    Path("") is the current folder, and an unset variable of the shell gives "": a result would be
    written where nobody looks for it.

    Raises
    ------
    click.BadParameter
        The path is empty.
    """
    if not value:
        raise click.BadParameter("expected a path, got an empty text (an unset variable?)")
    return value


def tokenizer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options whose values :func:`load_tokenizer` takes."""
    choose = click.option(
        "-t",
        "--tokenizer",
        "source",
        type=non_empty_path,
        metavar="NAME_OR_PATH",
        default=DEFAULT_TOKENIZER,
        show_default=True,
        help="A tokenizer.json, a vocab.txt, a folder that holds either, or a name: "
        "bert-base-uncased comes with piecework, others are fetched from the Hugging Face Hub.",
    )
    case = click.option(
        "--cased/--uncased",
        default=None,
        help="For a vocab.txt, which can't say it itself: keep the text's case and accents, or "
        "lower-case it and strip accents (as without this option).",
    )
    return choose(case(command))


def load_tokenizer(source: str, cased: bool | None) -> WordPieceTokenizer:
    """Load the tokenizer that the options describe.

    Parameters
    ----------
    source : str
        A file, a folder or a name.
    cased : bool or None
        None: not given.

    Raises
    ------
    click.UsageError
        `cased` is given for something else than a vocab.txt.
    """
    path = Path(source)
    is_file = path.is_file()
    is_json = path.suffix.lower() == ".json"
    if not is_file and (is_json or path.suffix.lower() == ".txt"):
        raise FileNotFoundError(f"tokenizer {source} does not exist")
    if is_file and not is_json:
        tokenizer = WordPieceTokenizer.from_vocab(path, lowercase=not cased)
        if cased is None:
            _warn_of_capitals(tokenizer, source)
        return tokenizer
    if cased is not None:
        raise click.UsageError(
            f"--cased and --uncased are for a vocab.txt; {source} says itself which it is"
        )
    return (
        WordPieceTokenizer.from_hf_json(path)
        if is_json
        else WordPieceTokenizer.from_pretrained(source)
    )


def check_special(tokenizer: WordPieceTokenizer, source: str) -> None:
    """Raise a ValueError in the words of the command line if there are no special tokens to add."""
    try:
        tokenizer.encode("", add_special=True)
    except ValueError as error:
        raise ValueError(
            f"the vocabulary of {source} lacks [CLS] or [SEP]; --no-special does without them"
        ) from error


def _warn_of_capitals(tokenizer: WordPieceTokenizer, source: str) -> None:
    """Warn when text is lower-cased for a vocabulary that was plainly made from cased text."""
    # Not [PAD] or <S>. A few are no sign: scibert-scivocab-uncased has 37 among 31,090, while cased
    # vocabularies have 1 % (Korean) to 28 % (English).
    vocab = tokenizer.vocab
    capitals = [token for token in vocab if re.match("[^<[]*[A-Z]", token)]
    if len(capitals) > len(vocab) / 200:
        warn(
            f"{source} holds {len(capitals)} tokens with capitals, such as {capitals[0]!r}, which "
            "lower-cased text never gives; --cased keeps case and accents, --uncased means it",
            VocabularyWarning,
        )
