from typing import final

@final
class Alphabet:
    n_symbols: int
    def __init__(self, tokens: list[str]) -> None: ...
    def __len__(self) -> int: ...
