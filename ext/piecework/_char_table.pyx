"""Joins the rules and the vocabulary into the one table that the scanner reads.

In: the character classes of a rule set (which code point becomes what, from
`piecework.rules.char_classes`), a vocabulary's alphabet and tries, and the characters that special
tokens begin with. Out: the flat table. It decides nothing about Unicode: it
replaces characters by symbols and ids.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
from cython cimport final

from piecework._alphabet cimport (
    N_CODE_POINTS, N_PAGES, PAGE_BITS, PAGE_SIZE, Alphabet, symbol_of,
)
from piecework._trie cimport NO_STATE, DoubleArray, DoubleTrie
from piecework._types cimport int32_t, uint16_t, uint32_t


cdef enum:
    FIRST_SURROGATE = 0xD800
    LAST_SURROGATE = 0xDFFF


@final
cdef class CharTable:
    """The scanner's table for one rule set and one vocabulary.

    Parameters
    ----------
    page_index : uint16 array, shape (17408,)
    pages : uint32 array, shape (n_pages, 64)
    runs : uint32 array
        As in piecework.rules.char_classes.CharClasses.
    alphabet : Alphabet
    trie : DoubleTrie
        Of the same vocabulary.
    unk_id : int
        Id of an isolated character that is no token.
    special_starts : list of int
        Code points that a special token begins with.
    """

    def __cinit__(
        self, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
        const uint32_t[::1] runs, Alphabet alphabet, DoubleTrie trie, int32_t unk_id,
        list special_starts,
    ):
        if page_index.shape[0] != N_PAGES or pages.shape[1] != PAGE_SIZE:
            raise ValueError(
                f"expected {N_PAGES} page numbers and pages of {PAGE_SIZE} entries, "
                f"got {page_index.shape[0]} and {pages.shape[1]}"
            )
        copy_runs(self, runs, alphabet)
        fill_table(
            self, page_index, pages, runs, alphabet, trie, unk_id, special_starts
        )

    def __dealloc__(self):
        PyMem_RawFree(self.table)
        PyMem_RawFree(self.runs)


cdef int copy_runs(
    CharTable table, const uint32_t[::1] runs, Alphabet alphabet
) except -1:
    """Copy the runs with symbols in place of code points."""
    cdef Py_ssize_t i = 0, stop
    table.runs = <uint32_t*>PyMem_RawCalloc(runs.shape[0] + 1, sizeof(uint32_t))
    if table.runs == NULL:
        raise MemoryError
    while i < runs.shape[0]:
        stop = i + 1 + <Py_ssize_t>runs[i]
        if stop > runs.shape[0]:
            raise ValueError(f"the run at {i} ends behind the last one")
        table.runs[i] = runs[i]
        for i in range(i + 1, stop):
            if runs[i] >= N_CODE_POINTS:
                raise ValueError(f"runs[{i}] is no code point: {runs[i]}")
            table.runs[i] = symbol_of(&alphabet.table, runs[i])
        i = stop
    return 0


cdef int fill_table(
    CharTable char_table, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
    const uint32_t[::1] runs, Alphabet alphabet, DoubleTrie trie, int32_t unk_id,
    list special_starts,
) except -1:
    """Lay out the pages and fill them; pages without any token's character are shared."""
    cdef uint32_t* table = <uint32_t*>PyMem_RawCalloc(FIXED_SIZE, sizeof(uint32_t))
    cdef uint32_t page, start, size, cp
    cdef void* larger
    if table == NULL:
        raise MemoryError
    char_table.table = table
    size = lay_out_pages(table + FIRST_PAGE_START, page_index, pages, alphabet, special_starts)
    larger = PyMem_RawRealloc(table, size * sizeof(uint32_t))
    if larger == NULL:
        raise MemoryError
    table = char_table.table = <uint32_t*>larger
    size = FIXED_SIZE
    for page in range(<uint32_t>N_PAGES):
        start = place_of(table, page << PAGE_BITS)
        if start >= BMP_SIZE:
            if start < size:
                continue  # it is shared, and filled already
            size += PAGE_SIZE
        fill_page(
            page << PAGE_BITS, &pages[page_index[page], 0], runs, alphabet, trie, unk_id,
            table + start,
        )
    for cp in special_starts:
        table[place_of(table, cp)] |= CAN_START_SPECIAL
    return 0


cdef uint32_t lay_out_pages(
    uint32_t* page_start, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
    Alphabet alphabet, list special_starts,
) except 0:
    """Say where each page above the BMP goes, in ascending order; return the table's size."""
    cdef Py_ssize_t n_class_pages = pages.shape[0]
    cdef uint32_t page, class_page, size = FIXED_SIZE
    # Where the pages that are like this class page begin; 0: there is none so far.
    cdef list shared = [0] * n_class_pages
    cdef list uniform = [maps_to_itself(&pages[i, 0]) for i in range(n_class_pages)]
    cdef set own = {cp >> PAGE_BITS for cp in special_starts}
    for page in range(<uint32_t>N_PAGES):
        class_page = page_index[page]
        if class_page >= n_class_pages:
            raise ValueError(
                f"page_index[{page}] is {class_page}, of {n_class_pages} pages"
            )
        if page < BMP_SIZE >> PAGE_BITS:
            continue
        if alphabet.table.page_index[page] or page in own or not uniform[class_page]:
            page_start[page] = size
            size += PAGE_SIZE
        elif shared[class_page]:
            page_start[page] = shared[class_page]
        else:
            page_start[page] = shared[class_page] = size
            size += PAGE_SIZE
    return size


cdef bint maps_to_itself(const uint32_t* classes) noexcept nogil:
    """Say whether the page's result hangs on nothing but its own characters' symbols."""
    cdef uint32_t i, kind
    for i in range(<uint32_t>PAGE_SIZE):
        kind = classes[i] >> KIND_SHIFT
        if (kind == LETTER or kind == ISOLATED) and classes[i] & PAYLOAD_MASK:
            return False
        if kind == EXPAND or kind == CONTEXT:
            return False
    return True


cdef int fill_page(
    uint32_t first, const uint32_t* classes, const uint32_t[::1] runs, Alphabet alphabet,
    DoubleTrie trie, int32_t unk_id, uint32_t* entries,
) except -1:
    cdef uint32_t i, kind, target, symbol
    cdef Py_ssize_t run
    for i in range(<uint32_t>PAGE_SIZE):
        kind = classes[i] >> KIND_SHIFT
        if FIRST_SURROGATE <= first + i <= LAST_SURROGATE:
            kind = SURROGATE
        entries[i] = (kind << KIND_SHIFT) | (classes[i] & PAYLOAD_MASK)
        if kind > SURROGATE:
            raise ValueError(f"U+{first + i:04X} is of kind {kind}, which there is not")
        if kind == EXPAND or kind == CONTEXT:
            run = classes[i] & PAYLOAD_MASK
            if run >= runs.shape[0] or run + <Py_ssize_t>runs[run] >= runs.shape[0]:
                raise ValueError(f"U+{first + i:04X} has the run {run}, which there is not")
        if kind == LETTER or kind == ISOLATED:
            target = (first + i + classes[i]) & PAYLOAD_MASK
            if target >= N_CODE_POINTS:
                raise ValueError(f"U+{first + i:04X} would become {target:#x}")
            symbol = symbol_of(&alphabet.table, target)
            if kind == LETTER:
                entries[i] = symbol
            else:
                entries[i] = (<uint32_t>ISOLATED << KIND_SHIFT) | <uint32_t>(
                    id_of_character(&trie.array, symbol, unk_id)
                )
    return 0


cdef int32_t id_of_character(
    const DoubleArray* trie, uint32_t symbol, int32_t unk_id
) noexcept nogil:
    """Return the id of the token that is this one character."""
    cdef uint32_t child = trie.units[trie.start_root].base + symbol
    if (
        trie.units[child].parent == trie.start_root
        and trie.failures[child].state != NO_STATE
    ):
        return trie.failures[child].pop
    return unk_id
