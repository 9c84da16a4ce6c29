"""Rows in, ids out: the window, filled and flushed."""

from piecework._scan cimport Text
from piecework._types cimport Status
from piecework._window cimport Task


cdef Status add_row(Task* task, const Text* text, Py_ssize_t row) noexcept nogil
cdef Status flush_window(Task* task) noexcept nogil
