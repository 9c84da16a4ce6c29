from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_Arrays: TypeAlias = tuple[
    NDArray[Any],
    NDArray[np.int64],
    NDArray[np.int32] | None,
    NDArray[np.int32] | None,
    NDArray[np.int64] | None,
]

@final
class Pieces:
    def __new__(cls, pieces: Iterable[tuple[int, int, int, int, Sequence[int]]]) -> Pieces: ...

@final
class Assembly:
    @property
    def n_rows(self) -> int: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def problem(self) -> tuple[int, int, int, int]: ...
    def __new__(
        cls,
        pieces: Pieces,
        first: _Arrays,
        second: _Arrays | None,
        room: int = -1,
        strategy: int = 0,
        at_end: bool = False,
        stride: int = 0,
        all_windows: bool = False,
    ) -> Assembly: ...
    def fill(
        self,
        row_splits: NDArray[np.int64],
        ids: NDArray[Any],
        *,
        overflow_to_sample: NDArray[np.int64] | None = None,
        type_ids: NDArray[np.int32] | None = None,
        special_tokens_mask: NDArray[np.uint8] | None = None,
        sequence_ids: NDArray[np.int8] | None = None,
        offsets: NDArray[np.int32] | None = None,
        word_ids: NDArray[np.int32] | None = None,
    ) -> None: ...
