"""What one thread encodes at a time, and what it needs for that."""

from piecework._buffers cimport Ids
from piecework._scan cimport Text
from piecework._types cimport int64_t
from piecework._utf8 cimport Scratch
from piecework._window cimport Places, Workspace


cdef enum:
    # Large enough that claiming and appending (some us) are nothing beside it, small enough
    # that the ids of it, which are written, read and forgotten, stay in the cache.
    CHUNK_ROWS = 1 << 12
    CHUNK_CHARS = 1 << 18


# The ids of some rows that follow each other. Row i of it is ids[row_splits[i]:row_splits[i + 1]].
cdef struct Chunk:
    Py_ssize_t index  # it is the how-many-th of its batch
    Py_ssize_t first_row
    Py_ssize_t n_rows
    Ids ids
    int64_t* row_splits  # has room for CHUNK_ROWS + 1; NULL: not allocated yet
    Places places  # of the ids; empty if nobody asks for them


# A row of which perhaps not all is read, as only some of its tokens are wanted.
cdef struct Whole:
    Text text
    Py_ssize_t target  # how many characters or bytes to read, at most; more than it has: all
    Py_ssize_t n_skipped  # how many are left out before those that are read


cdef bint make_chunk(Chunk* chunk) noexcept nogil
cdef void free_chunk(Chunk* chunk) noexcept nogil


cdef class Room:
    cdef Workspace workspace
    cdef Chunk chunk
    cdef Text* texts  # CHUNK_ROWS of them
    cdef Whole* wholes  # as many; NULL until they are needed
    cdef Ids byte_starts  # of one text: where each character begins
    cdef Scratch scratch

    cdef int make(self) except -1

    cdef int make_wholes(self) except -1

    cdef void trim(self) noexcept
