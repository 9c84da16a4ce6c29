from typing import final

from piecework._alphabet import Alphabet

@final
class DoubleTrie:
    def __new__(
        cls,
        tokens: list[str],
        ids: list[int],
        prefix: str | None,
        max_chars: int,
        alphabet: Alphabet,
        unk_id: int,
        letters: bytes | None = None,
    ) -> DoubleTrie: ...
    @property
    def n_units(self) -> int: ...
