"""Texts to ids, row by row, without Python."""

from piecework._buffers cimport Ids
from piecework._items cimport Items
from piecework._scan cimport Cursor, Tables
from piecework._types cimport Status, int64_t
from piecework._window cimport Workspace


# A text as the inner loop sees it. The str itself is kept alive by the caller.
cdef struct Text:
    const void* chars
    Py_ssize_t n_chars
    int char_size


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    const Items* head, const Items* tail, Workspace* workspace, Ids* out, int64_t* splits,
) noexcept nogil


cdef inline void open_text(const Text* text, Cursor* cursor) noexcept nogil:
    cursor.chars = text.chars
    cursor.char_size = text.char_size
    cursor.at = 0
    cursor.stop = text.n_chars
    cursor.word_start = 0
