"""Exceptions and warnings that piecework defines, and what its messages share.

Everything else is a plain ValueError, TypeError or UnicodeEncodeError whose text says what was
expected, what came and where.
"""

from __future__ import annotations

import reprlib
import sys
import warnings

_PACKAGE = __name__.partition(".")[0]
_N_CHARS_SHOWN = 200  # a path that long is still shown whole, a text taken for one is not
_N_FINDINGS_SHOWN = 3
_shortener = reprlib.Repr()
_shortener.maxstring = _shortener.maxother = _N_CHARS_SHOWN


class UnsupportedTokenizerError(ValueError):
    """A tokenizer file holds a component whose results piecework would not reproduce exactly.

    The message names the component and its path in the file, such as ``normalizer.type``.
    """


class VocabularyWarning(UserWarning):
    """A vocabulary was read, and some line of it is probably not what its author meant."""


class TokenizerFileWarning(UserWarning):
    """A tokenizer file was read, and part of it is kept but not applied."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and point at the line outside the package that called into it."""
    # By module name: a dataclass's __init__ has no file name. From Python 3.12 on,
    # skip_file_prefixes does nearly the same.
    level, frame = 1, sys._getframe()
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def short_repr(value: object) -> str:
    """Return the repr of what came, cut to the length that a message can bear."""
    try:
        return _shortener.repr(value)
    except ValueError:  # an int of more digits than Python prints
        return f"a huge {type(value).__name__}"


def shorten(text: str) -> str:
    """Return a text, cut to the length that a message can bear."""
    return text if len(text) <= _N_CHARS_SHOWN else f"{text[:_N_CHARS_SHOWN]}…"


def listed(found: list[str]) -> str:
    """Join the first of some findings, and say how many there are."""
    more = f"; {len(found):,} in all" if len(found) > _N_FINDINGS_SHOWN else ""
    return "; ".join(found[:_N_FINDINGS_SHOWN]) + more
