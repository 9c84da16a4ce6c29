"""Texts to ids, row by row, without Python."""

from piecework._buffers cimport Ids
from piecework._scan cimport Tables, Text
from piecework._types cimport Status, int64_t
from piecework._window cimport Places, Workspace


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    const Ids* head, const Ids* tail, Workspace* workspace, Ids* out, int64_t* splits,
    Places* places,
) noexcept nogil
cdef Py_ssize_t count_chars(const Text* texts, Py_ssize_t n_rows) noexcept nogil
