"""The ids of a window, to the result."""

from piecework._window cimport Task


cdef bint write_rows(Task* task) noexcept nogil
