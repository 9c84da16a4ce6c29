"""The scanner: the characters of a str to items."""

from piecework._alphabet cimport SymbolTable
from piecework._byte_table cimport ByteTable
from piecework._items cimport Items
from piecework._trie cimport DoubleArray
from piecework._types cimport Status, uint8_t, uint32_t


# All that scanning and walking read. Borrowed from objects that outlive it; never written.
cdef struct Tables:
    const uint32_t* entries  # CharTable.table
    const uint32_t* runs
    uint32_t longest_run
    const ByteTable* bytes
    const DoubleArray* trie
    const DoubleArray* specials  # NULL: the text is known to hold no special token
    const SymbolTable* special_symbols
    Py_ssize_t max_word_chars  # longer words become one unk_id


# Where the scanner stands in a text. Positions count characters.
cdef struct Cursor:
    const void* chars
    int char_size  # bytes per character: 1, 2 or 4, as in a str
    Py_ssize_t at
    Py_ssize_t stop
    Py_ssize_t word_start  # after NEEDS_NORMALIZER: the word is text[word_start:at]


cdef Status scan_words(const Tables* tables, Cursor* cursor, Items* items) noexcept nogil
cdef bint scan_word(
    const Tables* tables, const uint8_t* word, Py_ssize_t n, Items* items
) noexcept nogil
cdef bint special_starts_at(
    const Tables* tables, const Cursor* cursor, Py_ssize_t at
) noexcept nogil
