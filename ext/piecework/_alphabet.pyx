"""Numbers the characters that occur in a vocabulary: its *symbols*.

In: the tokens, as str. Out: a two-stage table from code point to symbol. Frequent characters get
small numbers, which keeps the children of a trie node close together. It knows nothing of Unicode:
characters are taken as they stand in the tokens.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final
from libc.stdlib cimport qsort

from piecework._types cimport uint16_t, uint32_t, uint64_t


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
        if counts == NULL:
            raise MemoryError
        try:
            count_characters(tokens, counts, self.page_index)
            number_symbols(self, counts)
        finally:
            PyMem_RawFree(counts)

    def __dealloc__(self):
        PyMem_RawFree(self.pages)

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


cdef int number_symbols(Alphabet alphabet, const uint32_t* counts) except -1:
    """Lay out the pages and give each counted character its symbol."""
    cdef uint32_t cp, page, n_pages = 1, n = 0
    cdef uint64_t* order
    for page in range(N_PAGES):
        if alphabet.page_index[page]:
            alphabet.page_index[page] = <uint16_t>n_pages
            n_pages += 1
            for cp in range(page << PAGE_BITS, (page + 1) << PAGE_BITS):
                n += counts[cp] != 0
    alphabet.n_symbols = n
    alphabet.n_pages = n_pages
    alphabet.pages = <uint32_t*>PyMem_RawCalloc(
        <size_t>n_pages * PAGE_SIZE, sizeof(uint32_t)
    )
    order = <uint64_t*>PyMem_RawCalloc(n + 1, sizeof(uint64_t))
    if alphabet.pages == NULL or order == NULL:
        PyMem_RawFree(order)
        raise MemoryError
    n = 0
    for page in range(N_PAGES):
        if alphabet.page_index[page]:
            for cp in range(page << PAGE_BITS, (page + 1) << PAGE_BITS):
                if counts[cp]:
                    # Most frequent first, then by code point.
                    order[n] = (
                        <uint64_t>(0xFFFFFFFFu - counts[cp]) << 32
                    ) | cp
                    n += 1
    qsort(order, n, sizeof(uint64_t), &compare_keys)
    for n in range(alphabet.n_symbols):
        cp = <uint32_t>order[n]
        alphabet.pages[
            (<uint32_t>alphabet.page_index[cp >> PAGE_BITS] << PAGE_BITS) | (cp & 63)
        ] = n + 1
    PyMem_RawFree(order)
    return 0


cdef int compare_keys(const void* a, const void* b) noexcept nogil:
    cdef uint64_t x = (<const uint64_t*>a)[0]
    cdef uint64_t y = (<const uint64_t*>b)[0]
    return (x > y) - (x < y)
