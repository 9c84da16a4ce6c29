"""The characters of a vocabulary, numbered."""

from piecework._types cimport uint16_t, uint32_t

cdef enum:
    PAGE_BITS = 6  # a page is what the last byte of a UTF-8 sequence selects
    PAGE_SIZE = 64
    N_PAGES = 0x110000 >> 6
    N_CODE_POINTS = 0x110000


# symbol_of(cp) is pages[page_index[cp >> 6] * 64 + (cp & 63)]; 0: no piece holds cp.
# Invariants: page 0 is all zero; symbols run from 1 to n_symbols.
cdef class Alphabet:
    cdef uint16_t page_index[N_PAGES]
    cdef uint32_t* pages  # (n_pages * 64,)
    cdef uint32_t n_pages
    cdef readonly uint32_t n_symbols

    cdef inline uint32_t symbol_of(self, uint32_t cp) noexcept nogil:
        """Requires cp < 0x110000 (a code point of a str, or of a table)."""
        return self.pages[
            (<uint32_t>self.page_index[cp >> PAGE_BITS] << PAGE_BITS) | (cp & 63)
        ]
