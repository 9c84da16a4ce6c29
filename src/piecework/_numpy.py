"""numpy, imported when it is first used.

Importing numpy takes longer than importing piecework and loading a tokenizer together, and who
encodes one text at a time never needs it. To type checkers ``np`` is the package itself; to Python
it is a module that fetches each attribute on first use and keeps it.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np"]


def _fetch(name: str) -> Any:
    import numpy

    value = getattr(numpy, name)
    setattr(np, name, value)
    return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleType("numpy")
    # A module's own function (PEP 562) and not a method of a class of modules: with that, Python
    # would look up each attribute by the slow way, and a few of them cost as much as a sentence.
    np.__getattr__ = _fetch
