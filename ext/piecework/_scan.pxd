"""The inner loop: the characters of a str to token ids."""

from piecework._alphabet cimport SymbolTable
from piecework._buffers cimport Ids
from piecework._trie cimport DoubleArray
from piecework._types cimport Status, int32_t, uint32_t


# All that the inner loop reads. Borrowed from objects that outlive it; never written.
cdef struct Tables:
    const uint32_t* latin_entries  # see CharTable
    const uint32_t* char_table
    const uint32_t* runs
    const DoubleArray* trie
    uint32_t start_root
    uint32_t continuation_root
    const DoubleArray* specials  # NULL: the text is known to hold no special token
    const SymbolTable* special_symbols
    uint32_t specials_root
    int32_t unk_id
    Py_ssize_t max_word_chars  # longer words become one unk_id


cdef enum:
    INLINE_SYMBOLS = 256  # words of at most this many symbols need no allocation


# The symbols of one word, with room for a 0 behind them. data is inline_data while cap
# is INLINE_SYMBOLS, else PyMem_Raw memory of cap + 1 symbols. Invariant:
# data[0:min(n, cap)] are symbols of the word, all of them unless n > max_word_chars.
cdef struct Word:
    uint32_t* data
    Py_ssize_t cap
    Py_ssize_t n
    Py_ssize_t context_at  # n behind the last CONTEXT character, -1: none in this word
    bint reorders  # a CONTEXT character came right behind another
    uint32_t inline_data[INLINE_SYMBOLS + 1]


# Where the scanner stands in a text. Positions count characters.
cdef struct Cursor:
    const void* chars
    int char_size  # bytes per character: 1, 2 or 4, as in a str
    Py_ssize_t at
    Py_ssize_t stop
    Py_ssize_t word_start  # after NEEDS_NORMALIZER: the word is text[word_start:at]


cdef void init_word(Word* word) noexcept nogil
cdef void free_word(Word* word) noexcept nogil
cdef Status encode_chars(
    const Tables* tables, Cursor* cursor, Word* word, Ids* out
) noexcept nogil
cdef bint append_word(
    const Tables* tables, uint32_t* symbols, Py_ssize_t n_symbols, Ids* out
) noexcept nogil
