"""UTF-8: how a str's characters become bytes for the scanner."""

from piecework._types cimport uint8_t


cdef enum:
    BAD_SURROGATE = -1


cdef Py_ssize_t utf8_capacity(int kind, Py_ssize_t n_chars) noexcept nogil

cdef Py_ssize_t write_utf8(
    const void* chars, int kind, Py_ssize_t n_chars, bint replace_surrogates,
    uint8_t* out,
) noexcept nogil
