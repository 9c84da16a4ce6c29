"""UTF-8 to characters, row by row, without Python."""

from piecework._scan cimport Text


# Where decoded rows lie, one behind the other, until the next ones take their place.
# Zero-initialised is empty. Invariant: data has room for cap bytes.
cdef struct Scratch:
    char* data
    Py_ssize_t cap


cdef Py_ssize_t decode_rows(
    Text* texts, Py_ssize_t start, Py_ssize_t stop, Scratch* scratch
) noexcept nogil
cdef void free_scratch(Scratch* scratch) noexcept nogil
