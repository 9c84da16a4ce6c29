"""What the memo knows of a window's tokens."""

from piecework._memo cimport Memo
from piecework._types cimport Status
from piecework._window cimport Task, Window, Workspace


cdef void look_up(const Memo* memo, Window* window) noexcept nogil
cdef Status scan_missed(Task* task) noexcept nogil
cdef void set_missed(Workspace* workspace, bint short_ids) noexcept nogil
cdef void remember_missed(Workspace* workspace, bint short_ids) noexcept nogil
