from typing import final

from piecework._alphabet import Alphabet
from piecework._trie import DoubleTrie

@final
class TokenLengths:
    def __new__(
        cls,
        ids: dict[str, int],
        n_ids: int,
        prefix: str,
        alphabet: Alphabet,
        trie: DoubleTrie,
        unk_token: str,
    ) -> TokenLengths: ...
