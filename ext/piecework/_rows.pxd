"""Texts to ids, row by row, without Python."""

from piecework._buffers cimport Ids
from piecework._items cimport Items
from piecework._scan cimport Cursor, Tables
from piecework._types cimport Status, int64_t


# A text as the inner loop sees it. The str itself is kept alive by the caller.
cdef struct Text:
    const void* chars
    Py_ssize_t n_chars
    int char_size


# What one thread needs to encode with, and keeps from call to call. Zero-initialised is empty.
cdef struct Workspace:
    Items items


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    const Items* head, const Items* tail, Workspace* workspace, Ids* out, int64_t* splits,
) noexcept nogil
cdef Status scan_text(
    const Tables* tables, Cursor* cursor, Items* items, Ids* out
) noexcept nogil
cdef bint make_room(const Tables* tables, Items* items, Ids* out) noexcept nogil
cdef void free_workspace(Workspace* workspace) noexcept nogil


cdef inline void open_text(const Text* text, Cursor* cursor) noexcept nogil:
    cursor.chars = text.chars
    cursor.char_size = text.char_size
    cursor.at = 0
    cursor.stop = text.n_chars
    cursor.word_start = 0
