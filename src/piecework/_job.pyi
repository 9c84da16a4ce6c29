from typing import final

from piecework._chunks import Room
from piecework._encode import Encoder
from piecework._sink import Sink
from piecework._texts import Texts

def encode_alone(
    encoder: Encoder,
    texts: Texts,
    sink: Sink,
    template: tuple[tuple[int, ...], tuple[int, ...]],
    memo_bytes: int | None,
    limit: int | None,
    wants: tuple[str | None, bool, int | None, str] | None,
) -> bool: ...

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
        memo_bytes: int | None,
        wants: tuple[str | None, bool, int | None, str] | None,
    ) -> BatchJob: ...
    def heed(
        self, offsets: str | None, word_ids: bool, max_tokens: int | None, keep: str
    ) -> None: ...
    def enter(self) -> Room: ...
    def leave(self, room: Room) -> None: ...
    def work(self, room: Room) -> None: ...
    def fail(self, room: Room | None, error: BaseException) -> None: ...
    def stop(self) -> None: ...
    def finish(self) -> None: ...
