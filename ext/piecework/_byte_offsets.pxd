"""Offsets in what was read of a row to offsets in the row."""

from piecework._buffers cimport Ids
from piecework._chunks cimport Whole
from piecework._scan cimport Text
from piecework._types cimport int32_t


cdef enum:
    MAX_OFFSET = 0x7FFFFFFF


cdef enum Outcome:
    PLACED = 0
    TOO_LONG = 1  # for int32
    WITHOUT_MEMORY = 2


cdef Outcome offsets_to_bytes(
    const Text* text, int32_t* spans, Py_ssize_t n, Ids* starts
) noexcept nogil
cdef Outcome shift_offsets(int32_t* spans, Py_ssize_t n, Py_ssize_t by) noexcept nogil
cdef Py_ssize_t n_skipped_units(const Whole* whole, bint is_utf8, bint in_bytes) noexcept nogil
