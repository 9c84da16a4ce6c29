"""Where the tokens of a text stand in it."""

from piecework._buffers cimport OwnedBuffer
from piecework._types cimport int32_t
from piecework._window cimport Lengths, Task


# The Lengths of a vocabulary, with their memory.
cdef class TokenLengths:
    cdef OwnedBuffer buffer
    cdef Lengths lengths


cdef bint place_window(Task* task, bint is_staged) noexcept nogil
