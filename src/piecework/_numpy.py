"""numpy, imported when it is first used.

Importing numpy takes longer than importing piecework and loading a tokenizer together, and who
encodes one text at a time never needs it. To type checkers ``np`` is the package itself; to Python
it is a module that fetches each attribute on first use and keeps it.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np"]


class _Numpy(ModuleType):
    def __getattr__(self, name: str) -> Any:
        import numpy

        value = getattr(numpy, name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = _Numpy("numpy")
