"""The scanner: the characters of a str to items."""

from piecework._alphabet cimport SymbolTable
from piecework._byte_table cimport ByteTable
from piecework._char_table cimport DROPPED, KEPT, KIND_MASK, entry_of
from piecework._items cimport Items, reserve_items
from piecework._search cimport Search
from piecework._trie cimport DoubleArray
from piecework._types cimport Status, int32_t, uint8_t, uint16_t, uint32_t
from piecework._watch cimport watch_words


cdef enum:
    FOR_PYTHON = 1 << 28  # in place of the id of a special token that Python has to look at


# All that scanning and walking read. Borrowed from objects that outlive it; never written.
cdef struct Tables:
    const uint32_t* entries  # CharTable.table
    const uint32_t* runs
    uint32_t longest_run
    const ByteTable* bytes
    bint short_ids  # all ids, those of special tokens too, are below 2**16
    const DoubleArray* trie
    const DoubleArray* specials  # NULL: the text is known to hold none of them
    const SymbolTable* special_symbols
    const Search* added  # for all other added tokens; NULL: there are none
    Py_ssize_t max_word_chars  # longer words become one unk_id
    bint is_placing  # it is asked where tokens stand: marks trade places where letters do not


# A text as the inner loop sees it. The str itself is kept alive by the caller.
cdef struct Text:
    const void* chars
    Py_ssize_t n_chars
    int char_size


# Where the scanner stands in a text. Positions count characters.
cdef struct Cursor:
    const void* chars
    int char_size  # bytes per character: 1, 2 or 4, as in a str
    Py_ssize_t at
    Py_ssize_t stop
    Py_ssize_t word_start  # after NEEDS_NORMALIZER: the word is text[word_start:at]


# A special token that stands in a text; of no characters if none does.
cdef struct Special:
    Py_ssize_t n_chars
    int32_t id
    # Perhaps the beginning of one that is too long to be looked at here; or one whose neighbours
    # have a say.
    bint needs_python


cdef Status scan_words(const Tables* tables, Cursor* cursor, Items* items) noexcept nogil
cdef void mark_long_words(
    const Tables* tables, Py_ssize_t first, Items* items
) noexcept nogil
cdef uint32_t symbol_beside(
    const Tables* tables, const Text* text, Py_ssize_t at, int step
) noexcept nogil
cdef uint32_t kind_at(
    const Tables* tables, const Cursor* cursor, Py_ssize_t at
) noexcept nogil
cdef Special special_at(
    const Tables* tables, const Cursor* cursor, Py_ssize_t at
) noexcept nogil


cdef inline uint32_t char_at(
    const void* chars, int char_size, Py_ssize_t at
) noexcept nogil:
    if char_size == 1:
        return (<const uint8_t*>chars)[at]
    if char_size == 2:
        return (<const uint16_t*>chars)[at]
    return (<const uint32_t*>chars)[at]


cdef inline void finish_words(
    const Tables* tables, Py_ssize_t first, Items* items
) noexcept nogil:
    """Do what is done with whole words: from the item `first` on, which begins one."""
    if items.watcher != NULL:
        watch_words(
            items.watcher, items.data + first, items.n - first, &items.watch_state, &items.found
        )
    mark_long_words(tables, first, items)


cdef inline uint32_t entry_at(
    const uint32_t* entries, const void* chars, int char_size, Py_ssize_t at
) noexcept nogil:
    """Return the table entry of a character."""
    cdef uint32_t cp = char_at(chars, char_size, at)
    if char_size == 4:
        return entry_of(entries, cp)
    return entries[cp]  # as entry_of: all of these lie in the BMP


cdef inline void take_plain(
    uint32_t entry, uint32_t word_start, uint32_t** item, uint32_t* mark
) noexcept nogil:
    """Take a character that is one letter, a word of its own, white space or nothing."""
    cdef uint32_t if_dropped = 0 - (entry & DROPPED) // DROPPED  # as a mask
    item[0][0] = (entry & ~<uint32_t>KIND_MASK) | mark[0]
    item[0] += entry & KEPT
    # What ends a word has the bit word_start in its entry, a letter has not.
    mark[0] = (entry & word_start) | (mark[0] & if_dropped)


cdef inline bint scan_word(
    const Tables* tables, const uint8_t* word, Py_ssize_t n, Items* items
) noexcept nogil:
    """Append the items of one word, given as bytes of which none is ODD; False without memory."""
    cdef Py_ssize_t first = items.n, i
    cdef uint32_t mark = tables.trie.word_start
    cdef uint32_t* item
    if not reserve_items(items, n):
        return False
    item = items.data + first
    for i in range(n):
        take_plain(tables.bytes.entries[word[i]], tables.trie.word_start, &item, &mark)
    items.n = item - items.data
    if n > tables.max_word_chars or items.watcher != NULL:
        finish_words(tables, first, items)
    return True


cdef inline void open_text(const Text* text, Cursor* cursor) noexcept nogil:
    cursor.chars = text.chars
    cursor.char_size = text.char_size
    cursor.at = 0
    cursor.stop = text.n_chars
    cursor.word_start = 0
