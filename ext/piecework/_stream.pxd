"""Scanning and walking in turn."""

from piecework._buffers cimport Ids
from piecework._items cimport Items
from piecework._scan cimport Cursor, Tables
from piecework._types cimport Status


cdef Status scan_text(
    const Tables* tables, Cursor* cursor, Items* items, Ids* out
) noexcept nogil
cdef bint make_room(
    const Tables* tables, Items* items, Py_ssize_t part_items, Ids* out
) noexcept nogil
