from typing import Any

import numpy as np
from numpy.typing import NDArray

def longest_row(row_splits: NDArray[np.int64]) -> int: ...
def fill_padded(
    values: NDArray[Any],
    row_splits: NDArray[np.int64],
    matrix: NDArray[Any],
    mask: NDArray[Any] | None,
    at_right: bool,
) -> None: ...
