"""A batch that is being encoded, for any number of threads."""

from cpython.pythread cimport PyThread_type_lock

from piecework._buffers cimport Ids
from piecework._chunks cimport Chunk, Room
from piecework._encode cimport Encoder
from piecework._sink cimport Sink
from piecework._texts cimport Texts


# A chunk that waits for those before it; or the memory of one.
cdef struct Waiting:
    Chunk chunk
    bint is_full


cdef class BatchJob:
    cdef Encoder encoder
    cdef Texts texts
    cdef Sink sink
    cdef tuple before
    cdef tuple after
    cdef Ids head  # `before` and `after`, as numbers
    cdef Ids tail
    cdef Py_ssize_t memo_bytes
    cdef bint wants_memo  # whatever it costs

    # Protected by the lock, which is never waited for with the GIL held. One worker has none.
    cdef PyThread_type_lock lock
    cdef Py_ssize_t next_row  # that nobody has claimed
    cdef Py_ssize_t n_claimed  # chunks
    cdef Py_ssize_t n_appended
    cdef Waiting* waiting  # chunk i waits in waiting[i % n_waiting]
    cdef Py_ssize_t n_waiting  # places
    cdef bint is_stopped
    cdef object error  # of the first row that has one
    cdef Py_ssize_t error_chunk
    cdef bint is_awaited  # somebody waits until the next chunk may be claimed
    cdef object may_claim  # threading.Condition: that it may; None for one worker

    cdef void acquire(self) noexcept nogil

    cdef void release(self) noexcept nogil

    cdef int wake(self) except -1

    cdef int encode_chunks(self, Room room) except -1 nogil

    cdef bint claim(self, Room room) except -1 nogil

    cdef bint must_wait(self) noexcept nogil

    cdef int wait(self) except -1

    cdef int encode_chunk(self, Room room) except -1 nogil

    cdef int encode_in_python(self, Room room, Py_ssize_t row) except -1

    cdef int deliver(self, Chunk* chunk) except -1 nogil

    cdef bint append_in_order(self, Chunk* chunk) noexcept nogil
