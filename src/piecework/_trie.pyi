from typing import final

from piecework._alphabet import Alphabet

@final
class DoubleTrie:
    def __init__(
        self,
        tokens: list[str],
        ids: list[int],
        prefix: str | None,
        max_chars: int,
        alphabet: Alphabet,
    ) -> None: ...
    @property
    def n_units(self) -> int: ...
