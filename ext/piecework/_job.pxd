"""A batch that is being encoded, for any number of threads."""

from cpython.pythread cimport PyThread_type_lock

from piecework._buffers cimport Ids
from piecework._chunks cimport Chunk, Room
from piecework._encode cimport Encoder
from piecework._limit cimport Limit
from piecework._scan cimport Tables
from piecework._sink cimport Sink
from piecework._texts cimport Texts
from piecework._window cimport Lengths, Places


# A chunk that waits for those before it; or the memory of one.
cdef struct Waiting:
    Chunk chunk
    bint is_full


cdef class BatchJob:
    cdef Encoder encoder
    cdef Tables tables
    cdef Texts texts
    cdef Sink sink
    cdef tuple before
    cdef tuple after
    cdef Ids head  # `before` and `after`, as numbers
    cdef Ids tail
    cdef Py_ssize_t memo_bytes
    cdef bint wants_memo  # whatever it costs
    cdef bint wants_places  # offsets, or the numbers of words
    cdef bint in_bytes  # offsets
    cdef const Lengths* lengths  # NULL: places are found by Python
    cdef Limit limit

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

    cdef int make(self, Room room) except -1

    cdef int encode_chunks(self, Room room) except -1 nogil

    cdef bint claim(self, Room room) except -1 nogil

    cdef bint must_wait(self) noexcept nogil

    cdef int wait(self) except -1

    cdef int encode_chunk(self, Room room) except -1 nogil

    cdef Py_ssize_t encode_views(
        self, Room room, Py_ssize_t row, Py_ssize_t stop, Places* places
    ) except -1 nogil

    cdef int check_lengths(self, Room room) except -1 nogil

    cdef Py_ssize_t finish_rows(
        self, Room room, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil

    cdef int finish_offsets(
        self, Room room, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil

    cdef int raise_too_long(self, Room room, Py_ssize_t row) except -1

    cdef str text_of(self, Room room, Py_ssize_t row)

    cdef int encode_in_python(self, Room room, Py_ssize_t row) except -1

    cdef int place_in_python(self, Room room, Py_ssize_t row, str text) except -1

    cdef int deliver(self, Chunk* chunk) except -1 nogil

    cdef bint append_in_order(self, Chunk* chunk) noexcept nogil
