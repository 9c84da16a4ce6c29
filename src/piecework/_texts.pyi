from collections.abc import Callable, Iterable
from typing import Any, NoReturn, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class Texts:
    def buffers(self) -> list[NDArray[Any]]: ...
    def __len__(self) -> int: ...
    def count_chars(self, limit: int) -> int: ...

@final
class StrTexts(Texts):
    def __new__(
        cls, texts: Iterable[Any], refuse: Callable[[int, object], NoReturn]
    ) -> StrTexts: ...

@final
class Utf8Texts(Texts):
    def __new__(cls, segments: list[tuple[NDArray[np.uint8], NDArray[Any]]]) -> Utf8Texts: ...
    def buffers(self) -> list[NDArray[Any]]: ...
