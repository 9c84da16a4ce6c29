from collections.abc import Callable, Iterator
from typing import final

from piecework._added import AddedTokens
from piecework._alphabet import Alphabet
from piecework._char_table import CharTable
from piecework._offsets import TokenLengths
from piecework._trie import DoubleTrie

SPLIT_IN_PYTHON: int

@final
class WordMatcher:
    def __new__(cls, alphabet: Alphabet, trie: DoubleTrie, max_word_chars: int) -> WordMatcher: ...
    def match(self, word: str) -> list[int]: ...

@final
class Encoder:
    def __new__(
        cls,
        table: CharTable,
        trie: DoubleTrie,
        specials: DoubleTrie,
        special_alphabet: Alphabet,
        *,
        added: AddedTokens | None,
        max_word_chars: int,
        repair: Callable[[str, int | None], str],
        split_text: Callable[[str], Iterator[str | int]],
        encode_reordered: Callable[[str], list[int]],
        encode_row: Callable[[str, int | None], tuple[list[int], list[int], list[int], list[int]]],
        make_lengths: Callable[[], TokenLengths | None],
        clipping: tuple[int, bool, bool],
    ) -> Encoder: ...
    def encode(
        self, text: str, before: tuple[int, ...] = (), after: tuple[int, ...] = ()
    ) -> list[int]: ...
