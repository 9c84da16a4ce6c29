from collections.abc import Callable, Iterable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from piecework.decoding.pieces import PieceForm

@final
class PieceTable:
    def __new__(
        cls,
        tokens_by_id: dict[int, str],
        vocab_size: int,
        special: frozenset[str],
        form: PieceForm,
    ) -> PieceTable: ...
    def join_row(
        self,
        row: Any,
        skip_special: bool,
        skip_unknown: bool,
        as_list: Callable[[Any, int | None], list[int]],
    ) -> str: ...
    def join_rows(
        self,
        rows: Iterable[Any],
        skip_special: bool,
        skip_unknown: bool,
        as_list: Callable[[Any, int | None], list[int]],
    ) -> list[str]: ...
    def join_splits(
        self,
        ids: NDArray[Any],
        row_splits: NDArray[np.int64],
        skip_special: bool,
        skip_unknown: bool,
    ) -> list[str]: ...
