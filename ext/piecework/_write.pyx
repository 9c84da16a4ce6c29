"""Writes the ids of a window's rows, when those of all its tokens are known."""

from libc.string cimport memcpy

from piecework._buffers cimport Ids, reserve_ids
from piecework._hints cimport likely
from piecework._memo cimport LONG, Elsewhere, Result
from piecework._types cimport int32_t, int64_t, uint16_t
from piecework._vector cimport widen
from piecework._window cimport SHORT_IDS, WIDE_IDS, Segment, Task, Window, Workspace


cdef enum:
    SLACK = 16  # ids are stored by four, eight or sixteen


cdef bint write_rows(Task* task) noexcept nogil:
    """Write the ids of all segments, and where rows end; False without memory."""
    cdef Workspace* workspace = task.workspace
    cdef Window* window = &workspace.window
    cdef Ids* out = task.out
    cdef const Segment* segment
    cdef Py_ssize_t i, other = 0
    cdef Py_ssize_t n_most = SHORT_IDS if task.tables.short_ids else WIDE_IDS
    cdef int64_t start
    if not reserve_ids(
        # A long word has no more ids than bytes.
        out, window.n_tokens * n_most + window.n_staged + workspace.walked.n + SLACK
        + window.n_segments * (task.head.n + task.tail.n)
    ):
        return False
    for i in range(window.n_segments):
        segment = &window.segments[i]
        if segment.is_staged:
            if segment.at == 0:
                write_literals(task.head, out)
            write_results(
                window.results + segment.first_token,
                window.results + (
                    window.segments[i + 1].first_token if i + 1 < window.n_segments
                    else window.n_tokens
                ),
                task.tables.short_ids, out,
            )
            if segment.stop == segment.text.n_chars:
                write_literals(task.tail, out)
        else:
            start = window.row_stops[other - 1] if other else 0
            copy_ids(workspace.walked.data + start, window.row_stops[other] - start, out)
            other += 1
        if segment.stop == segment.text.n_chars:
            task.splits[segment.row + 1] = out.n
    return True


cdef inline void copy_ids(const int32_t* ids, Py_ssize_t n, Ids* out) noexcept nogil:
    """Requires room."""
    if n:
        memcpy(out.data + out.n, ids, n * sizeof(int32_t))
    out.n += n


cdef inline void write_literals(const Ids* ids, Ids* out) noexcept nogil:
    """As copy_ids, for some two or none: a call of memcpy costs more."""
    cdef Py_ssize_t i
    for i in range(ids.n):
        out.data[out.n + i] = ids.data[i]
    out.n += ids.n


cdef inline void write_results(
    const Result* result, const Result* stop, bint short_ids, Ids* out
) noexcept nogil:
    """Write the ids of the results from `result` to `stop`.

    Requires room for these, for those that a result can hold for each, and SLACK behind. The
    compiler makes a loop of its own for each kind of ids.
    """
    if short_ids:
        write_sized(result, stop, True, out)
    else:
        write_sized(result, stop, False, out)


cdef inline void write_sized(
    const Result* result, const Result* stop, bint short_ids, Ids* out
) noexcept nogil:
    cdef int32_t* to = out.data + out.n
    while result < stop:
        if not likely(result.n < LONG):
            to += write_many(result, short_ids, to)
        else:
            if short_ids:
                widen(<const uint16_t*>result, to)
            else:
                memcpy(to, result, sizeof(Result))
            to += result.n
        result += 1
    out.n = to - out.data


cdef inline Py_ssize_t write_many(
    const Result* result, bint short_ids, int32_t* to
) noexcept nogil:
    """Write the ids of a result that stand elsewhere; return how many."""
    cdef Elsewhere where
    memcpy(&where, result, sizeof(Elsewhere))
    if result.n == LONG and short_ids:
        widen(<const uint16_t*>where.ids, to)
        widen(<const uint16_t*>where.ids + 8, to + 8)
    else:
        memcpy(to, where.ids, where.n * sizeof(int32_t))
    return where.n
