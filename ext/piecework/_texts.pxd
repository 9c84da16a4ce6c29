"""Where the rows of a batch come from."""

from cpython.object cimport PyObject

from piecework._scan cimport Text
from piecework._types cimport int64_t, uint8_t
from piecework._utf8 cimport Scratch


cdef class Texts:
    cdef Py_ssize_t n_rows
    cdef bint is_utf8  # views are of bytes until they are decoded

    cdef Py_ssize_t view(self, Py_ssize_t first, Text* views) noexcept nogil

    cdef Py_ssize_t decode(
        self, Text* views, Py_ssize_t start, Py_ssize_t stop, Scratch* scratch
    ) noexcept nogil

    cdef str text(self, Py_ssize_t row)

    cdef Py_ssize_t n_chars(self, Py_ssize_t limit) noexcept


cdef class StrTexts(Texts):
    cdef tuple texts
    cdef PyObject** items  # those of `texts`
    cdef object refuse


# Rows that lie in one buffer: row i is data[splits[i]:splits[i + 1]].
cdef struct Segment:
    const uint8_t* data
    int64_t n_bytes
    const void* splits
    int split_size  # bytes: 4 or 8
    Py_ssize_t first_row
    Py_ssize_t stop_row


cdef class Utf8Texts(Texts):
    cdef list owners  # of the memory of the segments
    cdef Segment* segments
    cdef Py_ssize_t n_segments
    cdef Py_ssize_t segment  # in which `view` goes on
