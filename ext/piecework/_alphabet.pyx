"""Numbers the characters that occur in a vocabulary: its *symbols*.

In: the tokens, as str. Out: a two-stage table from code point to symbol. Frequent characters get
small numbers, which keeps the children of a trie node close together. It knows nothing of Unicode:
characters are taken as they stand in the tokens.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final
from libc.stdlib cimport qsort

from piecework._types cimport int64_t, uint16_t, uint32_t, uint64_t


@final
cdef class Alphabet:
    """The symbols of a vocabulary.

    Parameters
    ----------
    tokens : list of str
    """

    def __cinit__(self, list tokens):
        cdef uint32_t* counts = <uint32_t*>PyMem_RawCalloc(
            N_CODE_POINTS, sizeof(uint32_t)
        )
        self.table.page_index = <uint16_t*>PyMem_RawCalloc(N_PAGES, sizeof(uint16_t))
        try:
            if counts == NULL or self.table.page_index == NULL:
                raise MemoryError
            count_characters(tokens, counts, self.table.page_index)
            self.n_symbols = number_symbols(&self.table, counts)
        finally:
            PyMem_RawFree(counts)

    def __dealloc__(self):
        PyMem_RawFree(self.table.page_index)
        PyMem_RawFree(self.table.pages)

    def __len__(self):
        return self.n_symbols


cdef int count_characters(
    list tokens, uint32_t* counts, uint16_t* page_used
) except -1:
    """Count each code point of `tokens`, and mark its page."""
    cdef str token
    cdef uint32_t cp
    cdef Py_ssize_t i
    cdef void* data
    cdef int kind
    for token in tokens:
        data = PyUnicode_DATA(token)
        kind = PyUnicode_KIND(token)
        for i in range(len(token)):
            cp = PyUnicode_READ(kind, data, i)
            counts[cp] += 1
            page_used[cp >> PAGE_BITS] = 1
    return 0


cdef int64_t number_symbols(SymbolTable* table, const uint32_t* counts) except -1:
    """Lay out the pages and give each counted character its symbol; return how many.

    Requires  page_index marks the pages of the counted characters
    """
    cdef uint32_t cp, page, n_pages = 1, n = 0, i
    cdef uint64_t* order
    for page in range(<uint32_t>N_PAGES):
        if table.page_index[page]:
            table.page_index[page] = <uint16_t>n_pages
            n_pages += 1
            for cp in range(page << PAGE_BITS, (page + 1) << PAGE_BITS):
                n += counts[cp] != 0
    table.pages = <uint32_t*>PyMem_RawCalloc(
        <size_t>n_pages * PAGE_SIZE, sizeof(uint32_t)
    )
    order = <uint64_t*>PyMem_RawCalloc(n + 1, sizeof(uint64_t))
    if table.pages == NULL or order == NULL:
        PyMem_RawFree(order)
        raise MemoryError
    n = 0
    for page in range(<uint32_t>N_PAGES):
        if table.page_index[page]:
            for cp in range(page << PAGE_BITS, (page + 1) << PAGE_BITS):
                if counts[cp]:
                    # Most frequent first, then by code point.
                    order[n] = (<uint64_t>(0xFFFFFFFFu - counts[cp]) << 32) | cp
                    n += 1
    qsort(order, n, sizeof(uint64_t), &compare_keys)
    for i in range(n):
        cp = <uint32_t>order[i]
        table.pages[
            (<uint32_t>table.page_index[cp >> PAGE_BITS] << PAGE_BITS)
            | (cp & (PAGE_SIZE - 1))
        ] = i + 1
    PyMem_RawFree(order)
    return n


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t*>a)[0]
    cdef uint64_t y = (<const uint64_t*>b)[0]
    return (x > y) - (x < y)
