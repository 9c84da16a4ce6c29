"""What of a long row is read, where only some tokens of it are wanted."""

from piecework._buffers cimport Ids
from piecework._chunks cimport Chunk, Whole
from piecework._scan cimport Tables, Text


# How many tokens of each row are wanted, and how a row may be clipped for that.
cdef struct Limit:
    Py_ssize_t max_tokens  # without those around the row; NO_LIMIT: all of them
    bint keeps_end  # the last ones; else the first
    bint clips  # if not, rows are read whole and only cut afterwards
    bint at_isolated  # a row may be clipped before an isolated character that is not ASCII
    Py_ssize_t margin  # so many tokens more must be found, as the last ones may be wrong
    Py_ssize_t around  # how many ids are put around each row


cdef enum:
    NO_LIMIT = -1


cdef void take_wholes(
    const Limit* limit, const Text* texts, Py_ssize_t n_rows, bint is_utf8, Whole* wholes
) noexcept nogil
cdef void clip_rows(
    const Limit* limit, const Tables* tables, Text* texts, Whole* wholes,
    Py_ssize_t start, Py_ssize_t stop, bint is_utf8,
) noexcept nogil
cdef Py_ssize_t widen_short_rows(
    const Limit* limit, Chunk* chunk, Whole* wholes, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil
cdef void cut_rows(
    const Limit* limit, Chunk* chunk, Py_ssize_t n_head, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil
