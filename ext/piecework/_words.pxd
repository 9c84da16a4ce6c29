"""The words of staged text."""

from piecework._types cimport Status
from piecework._window cimport Task, Window


cdef Status find_words(Task* task) noexcept nogil
cdef Py_ssize_t segment_at(const Window* window, Py_ssize_t near, Py_ssize_t at) noexcept nogil
