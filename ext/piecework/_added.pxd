"""Added tokens that a scanner can't find by their first character."""

from piecework._alphabet cimport Alphabet
from piecework._items cimport Items
from piecework._scan cimport Tables, Text
from piecework._search cimport Search


cdef bint holds_added(const Tables* tables, const Text* text, Items* items) noexcept nogil
cdef bint holds_raw(const Search* search, const Text* text) noexcept nogil


cdef class AddedTokens:
    cdef Search search
    cdef Alphabet raw_alphabet
