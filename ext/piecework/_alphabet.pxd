"""The characters of a vocabulary, numbered."""

from piecework._types cimport uint16_t, uint32_t

cdef enum:
    PAGE_BITS = 6
    PAGE_SIZE = 64
    N_PAGES = 0x110000 >> 6
    N_CODE_POINTS = 0x110000


# symbol_of(cp) is pages[page_index[cp >> 6] * 64 + (cp & 63)]; 0: no piece holds cp.
# page_index: uint16[N_PAGES]; pages: uint32[n_pages * 64], page 0 all zero.
cdef struct SymbolTable:
    uint16_t* page_index
    uint32_t* pages


cdef inline uint32_t symbol_of(const SymbolTable* table, uint32_t cp) noexcept nogil:
    """Requires cp < N_CODE_POINTS (a code point of a str, or of a checked table)."""
    return table.pages[
        (<uint32_t>table.page_index[cp >> PAGE_BITS] << PAGE_BITS)
        | (cp & (PAGE_SIZE - 1))
    ]


cdef class Alphabet:
    cdef SymbolTable table
    cdef readonly uint32_t n_symbols  # they run from 1 to n_symbols
