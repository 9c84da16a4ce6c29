from typing import Any

import numpy as np
from numpy.typing import NDArray

def longest_row(row_splits: NDArray[np.int64]) -> int: ...
def fill_padded(
    ids: NDArray[Any],
    row_splits: NDArray[np.int64],
    input_ids: NDArray[Any],
    attention_mask: NDArray[Any],
    at_right: bool,
) -> None: ...
