"""Where the ids of a batch go."""

from piecework._buffers cimport Ids, OwnedBuffer
from piecework._chunks cimport Chunk
from piecework._types cimport int64_t


cdef class Sink:
    cdef Py_ssize_t n_rows  # that there is room for

    cdef bint append(self, Chunk* chunk) noexcept nogil

    cdef void close(self) noexcept


# Numbers of 32 bits, some for each token, as they come from chunks.
cdef class Column:
    cdef Ids numbers
    cdef OwnedBuffer taken

    cdef bint append(self, Ids* numbers) noexcept nogil

    cdef void close(self) noexcept


cdef class IdSink(Sink):
    cdef int id_size  # bytes: 4 or 2
    cdef Ids ids  # of that size each; with `out`, n counts also those that had no room
    cdef bint is_ours  # the memory; no matter of `out`, which the garbage collector may clear
    cdef object out  # whose memory that of the ids is else
    cdef OwnedBuffer taken  # the ids, since somebody asked for them
    cdef OwnedBuffer splits
    cdef Column spans  # None: nobody wants them
    cdef Column words

    cdef bint append_ids(self, Ids* ids) noexcept nogil

    cdef bint reserve(self, Py_ssize_t n) noexcept nogil


cdef class CountSink(Sink):
    cdef OwnedBuffer counts
