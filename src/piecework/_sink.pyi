from typing import final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from piecework._buffers import OwnedBuffer

@disjoint_base
class Sink: ...

@final
class Column:
    def buffer(self) -> OwnedBuffer: ...

@final
class IdSink(Sink):
    def __new__(
        cls,
        n_rows: int,
        id_size: int,
        out: NDArray[np.uint8] | None,
        offsets: bool = False,
        word_ids: bool = False,
    ) -> IdSink: ...
    @property
    def offsets(self) -> Column | None: ...
    @property
    def word_ids(self) -> Column | None: ...
    def n_tokens(self) -> int: ...
    def ids_buffer(self) -> OwnedBuffer: ...
    def row_splits(self) -> OwnedBuffer: ...

@final
class CountSink(Sink):
    def __new__(cls, n_rows: int) -> CountSink: ...
    def row_lengths(self) -> OwnedBuffer: ...
