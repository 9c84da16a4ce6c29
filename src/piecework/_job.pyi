from typing import final

from piecework._encode import Encoder
from piecework._sink import Sink
from piecework._texts import Texts

@final
class BatchJob:
    def __new__(
        cls,
        encoder: Encoder,
        texts: Texts,
        sink: Sink,
        before: tuple[int, ...],
        after: tuple[int, ...],
        n_workers: int,
    ) -> BatchJob: ...
    def work(self) -> None: ...
    def stop(self) -> None: ...
    def finish(self) -> None: ...
