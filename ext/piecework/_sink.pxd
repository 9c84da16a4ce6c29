"""Where the ids of a batch go."""

from piecework._buffers cimport Ids, OwnedBuffer
from piecework._chunks cimport Chunk
from piecework._types cimport int64_t


cdef class Sink:
    cdef Py_ssize_t n_rows  # that there is room for

    cdef bint append(self, Chunk* chunk) noexcept nogil


cdef class IdSink(Sink):
    cdef char* data
    cdef int id_size  # bytes: 4 or 2
    cdef Py_ssize_t n  # ids so far, whether there was room for them or not
    cdef Py_ssize_t cap
    cdef bint is_ours  # the memory; no matter of `out`, which the garbage collector may clear
    cdef object out  # whose memory `data` is else
    cdef OwnedBuffer splits

    cdef bint append_ids(self, Ids* ids) noexcept nogil

    cdef bint reserve(self, Py_ssize_t n) noexcept nogil


cdef class CountSink(Sink):
    cdef OwnedBuffer counts
