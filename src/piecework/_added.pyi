from typing import final

from piecework._alphabet import Alphabet
from piecework._char_table import CharTable
from piecework._trie import DoubleTrie

@final
class AddedTokens:
    def __new__(
        cls,
        table: CharTable,
        trie: DoubleTrie,
        alphabet: Alphabet,
        letters: bytes,
        normalized: list[str],
        raw: list[str],
    ) -> AddedTokens: ...
