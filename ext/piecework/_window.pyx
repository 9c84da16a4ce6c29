"""Keeps what a window holds: makes room for it, empties it, takes rows out."""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memset

from piecework._buffers cimport Ids
from piecework._items cimport Items, clear_items, free_items, stop_watching
from piecework._memo cimport Result, free_memo, open_memo
from piecework._types cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from piecework._vector cimport BLOCK


cdef enum:
    MAX_TOKENS = STAGE_BYTES + BLOCK  # with the places behind that vector code writes to


cdef bint open_window(
    Workspace* workspace, Py_ssize_t memo_bytes, Py_ssize_t n_chars
) noexcept nogil:
    """Get ready for a run of encode_rows over about that many characters; False without memory.

    A memo of `memo_bytes` is asked, once that is worth it; none if they are 0.
    """
    cdef Window* window = &workspace.window
    if window.row_stops == NULL:
        window.row_stops = <int64_t*>PyMem_RawMalloc(
            (MAX_TOKENS + MAX_SEGMENTS) * sizeof(int64_t)
        )
        if window.row_stops == NULL:
            return False
        window.most_staged = STAGE_BYTES
    workspace.n_chars += n_chars
    window.stages = False
    if memo_bytes == 0:
        return True
    if workspace.memo.memory != NULL and workspace.memo.n_bytes != memo_bytes:
        free_memo(&workspace.memo)
        workspace.n_chars = n_chars
        memset(&window.known, 0, sizeof(Acquaintance))
    window.stages = workspace.memo.memory != NULL or workspace.n_chars >= MEMO_WORTHY_CHARS
    if not window.stages:
        return True
    return (
        (window.stage != NULL or make_stage(window))
        and (workspace.memo.memory != NULL or open_memo(&workspace.memo, memo_bytes))
    )


cdef bint make_stage(Window* window) noexcept nogil:
    """Allocate the stage, and all that has a place for each token; False without memory."""
    window.stage = <uint8_t*>PyMem_RawMalloc(
        STAGE_BYTES + 2 * BLOCK
        + MAX_TOKENS * (sizeof(Result) + 5 * sizeof(uint32_t) + 3 * sizeof(uint16_t))
    )
    if window.stage == NULL:
        return False
    window.results = <Result*>(window.stage + STAGE_BYTES + 2 * BLOCK)
    window.missed = <uint32_t*>(window.results + MAX_TOKENS)
    window.odd = window.missed + MAX_TOKENS
    window.longer = window.odd + MAX_TOKENS
    window.suspects = window.longer + MAX_TOKENS
    window.loose = window.suspects + MAX_TOKENS
    window.starts = <uint16_t*>(window.loose + MAX_TOKENS)
    window.stops = window.starts + MAX_TOKENS
    window.cuts = window.stops + MAX_TOKENS
    return True


cdef void trim_workspace(Workspace* workspace, Py_ssize_t n_bytes) noexcept nogil:
    """Give back what grows with a text, if it is more than `n_bytes`. The items are empty then."""
    cdef Items* items = &workspace.items
    cdef Py_ssize_t n_items = items.cap + items.scratch.cap + workspace.walked.cap
    if n_items * <Py_ssize_t>sizeof(int32_t) <= n_bytes:
        return
    free_items(items)
    memset(items, 0, sizeof(Items))
    PyMem_RawFree(workspace.walked.data)
    workspace.walked = Ids(NULL, 0, 0)


cdef void free_workspace(Workspace* workspace) noexcept nogil:
    free_items(&workspace.items)
    PyMem_RawFree(workspace.walked.data)
    free_memo(&workspace.memo)
    PyMem_RawFree(workspace.letters.data)
    PyMem_RawFree(workspace.window.stage)
    PyMem_RawFree(workspace.window.row_stops)


cdef void empty_window(Workspace* workspace) noexcept nogil:
    cdef Window* window = &workspace.window
    clear_items(&workspace.items)
    stop_watching(&workspace.items)
    workspace.items.row_stops = window.row_stops
    workspace.items.n_walks = 0
    workspace.walked.n = 0
    window.n_segments = 0
    window.n_unstaged = 0
    window.n_staged = 0
    window.n_tokens = 0
    window.n_missed = 0
    window.n_odd = 0
    window.n_suspects = 0
    window.n_loose = 0
    window.n_longer = 0
    window.special_stop = 0


cdef void drop_row(Window* window, Py_ssize_t row) noexcept nogil:
    """Take the segments of a row and of those behind it out of the window."""
    while window.n_segments and window.segments[window.n_segments - 1].row >= row:
        window.n_segments -= 1
        window.n_staged = window.segments[window.n_segments].start


cdef void leave_out_row(Task* task, Py_ssize_t row) noexcept nogil:
    """Leave a row out that needs Python, and those behind it.

    Requires  the first token of each of its segments is known
    """
    cdef Window* window = &task.workspace.window
    task.row = row
    drop_row(window, row)
    # The first segment that is left out is still there.
    window.n_tokens = min(
        window.n_tokens, <Py_ssize_t>window.segments[window.n_segments].first_token
    )
    while window.n_missed and <Py_ssize_t>window.missed[window.n_missed - 1] >= window.n_tokens:
        window.n_missed -= 1
