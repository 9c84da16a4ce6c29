from typing import final

import numpy as np
from numpy.typing import NDArray

from piecework._alphabet import Alphabet
from piecework._trie import DoubleTrie

def word_letters(
    page_index: memoryview | NDArray[np.uint16],
    pages: memoryview | NDArray[np.uint32],
    runs: memoryview | NDArray[np.uint32],
    alphabet: Alphabet,
) -> bytes: ...

@final
class CharTable:
    def __new__(
        cls,
        page_index: memoryview | NDArray[np.uint16],
        pages: memoryview | NDArray[np.uint32],
        runs: memoryview | NDArray[np.uint32],
        alphabet: Alphabet,
        trie: DoubleTrie,
        special_starts: list[int],
    ) -> CharTable: ...
