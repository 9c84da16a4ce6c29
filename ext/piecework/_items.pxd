"""Words on their way from the scanner to the tries: a stream of items, cut into parts."""

from piecework._automaton cimport Automaton, Context, holds_any
from piecework._buffers cimport Ids
from piecework._trie cimport SYMBOL_SHIFT
from piecework._types cimport int32_t, int64_t, uint32_t

# One item, 32 bits.
#
#     a letter  its symbol << SYMBOL_SHIFT; the first of a word also has the trie's
#               word_start bit (see DoubleArray)
#     an id     LITERAL | id: goes into the result as it is
#     a mark    ROW_END or PART_END
cdef enum:
    LITERAL = 0x80000000u
    ROW_END = 0x90000000u
    PART_END = 0xA0000000u
    FIRST_MARK = 0x90000000u
    MAX_PARTS = 24
    PART_ITEMS = 512  # a part that long is complete


# A stretch of the stream that is walked by itself: whole words, and a PART_END.
cdef struct Part:
    Py_ssize_t start  # where it begins in the stream
    int64_t* row_stops  # where the stop of the first row that ends in it goes
    # Found by the walk, which goes along a part once:
    Py_ssize_t n_rows
    Py_ssize_t n_ids


# The stream. Zero-initialised is empty. The walk puts the ids of a part into `scratch`, at the
# places that the part has in `data`: an item gives one id at most.
cdef struct Items:
    uint32_t* data
    Py_ssize_t n
    Py_ssize_t cap
    Ids scratch  # empty but for the walk
    Py_ssize_t n_walks  # how often it was emptied by one
    Py_ssize_t part_start
    int64_t* row_stops  # of the part that grows, as in Part
    Py_ssize_t n_rows  # that end in it
    Py_ssize_t n_parts
    Part parts[MAX_PARTS]
    # Whether the words that are appended may hold an added token:
    const Automaton* watcher  # who is asked; NULL: nobody
    uint32_t watch_state
    Context found  # beside which such words were found; of no bits: none was


cdef bint grow_items(Items* items, Py_ssize_t extra) noexcept nogil
cdef void free_items(Items* items) noexcept nogil
cdef bint end_part(Items* items) noexcept nogil


cdef inline void watch(Items* items, const Automaton* automaton) noexcept nogil:
    """Have the automaton look at all words from here on, which begin a text."""
    items.watcher = automaton if holds_any(automaton) else NULL
    items.watch_state = automaton.opened
    items.found = Context(0, 0)


cdef inline bint is_suspect(const Items* items) noexcept nogil:
    """Say whether anything was found since `watch`."""
    return items.found.before != 0


cdef inline void stop_watching(Items* items) noexcept nogil:
    items.watcher = NULL


cdef inline bint reserve_items(Items* items, Py_ssize_t extra) noexcept nogil:
    """Make room for `extra` more items; False without memory (items unchanged)."""
    if items.cap - items.n >= extra:
        return True
    return grow_items(items, extra)


cdef inline bint append_item(Items* items, uint32_t item) noexcept nogil:
    """Append one item; False without memory (items unchanged)."""
    if not reserve_items(items, 1):
        return False
    items.data[items.n] = item
    items.n += 1
    return True


cdef inline uint32_t literal(int32_t token_id) noexcept nogil:
    """Return the item that stands for an id below 2**28."""
    return <uint32_t>LITERAL | <uint32_t>token_id


cdef inline bint append_literals(Items* items, const Ids* ids) noexcept nogil:
    """Append ids that go into the result as they are; False without memory (items unchanged)."""
    cdef Py_ssize_t i
    if not reserve_items(items, ids.n):
        return False
    for i in range(ids.n):
        items.data[items.n + i] = literal(ids.data[i])
    items.n += ids.n
    return True


cdef inline void clear_items(Items* items) noexcept nogil:
    """Leave nothing in the stream; its memory stays."""
    items.n = 0
    items.part_start = 0
    items.n_parts = 0
    items.n_rows = 0


cdef inline int32_t literal_id(uint32_t item) noexcept nogil:
    return <int32_t>(item & ~<uint32_t>LITERAL)


cdef inline bint end_row(Items* items) noexcept nogil:
    """Mark the end of a row; False without memory."""
    items.n_rows += 1
    return append_item(items, ROW_END)
