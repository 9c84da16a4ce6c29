"""Encodes rows of text without Python: what runs while the GIL is released."""

from piecework._buffers cimport Ids
from piecework._hints cimport prefetch
from piecework._scan cimport Tables, Text
from piecework._stage cimport add_row, flush_window
from piecework._types cimport DONE, NEEDS_SPLIT, NO_MEMORY, Status, int64_t
from piecework._window cimport Places, Task, Window, Workspace, drop_row, empty_window


cdef enum:
    # Texts of a corpus lie anywhere in memory, and each first look at one costs as much
    # as thirty letters: so the loads begin that many rows early, and of that much.
    PREFETCH_ROWS = 8
    PREFETCH_LINES = 4
    CACHE_LINE = 64
    FEW_BYTES = 128


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    const Ids* head, const Ids* tail, Workspace* workspace, Ids* out, int64_t* splits,
    Places* places,
) noexcept nogil:
    """Encode texts[row:stop], as far as that goes without Python.

    Requires  the workspace's window is open
    Ensures   row is moved behind the last finished row; without DONE, the row it then
              stands on is the one that needs Python, and nothing of it is in `out`.
              NO_MEMORY: nothing is of use. The workspace's window and items are empty.
              Unless it is NULL, `places` has a place for each id of `out` if it had so before
    """
    cdef Task task = Task(tables, head, tail, workspace, out, splits, stop, -1, places)
    cdef Window* window = &workspace.window
    cdef Status status = DONE, flushed
    cdef Py_ssize_t i
    empty_window(workspace)
    for i in range(row[0], stop):
        if i + PREFETCH_ROWS < stop:
            prefetch_text(&texts[i + PREFETCH_ROWS])
        if tables.added != NULL and tables.added.takes_all:
            status = NEEDS_SPLIT
            task.row = i
        else:
            status = add_row(&task, &texts[i], i)
        if status == DONE and window.n_staged > window.most_staged:
            status = flush_window(&task)
            window.most_staged = 2 * window.most_staged + FEW_BYTES
        if status != DONE:
            drop_row(window, task.row)
            break
    flushed = DONE if status == NO_MEMORY else flush_window(&task)
    if flushed != DONE:
        status = flushed
    if status == NO_MEMORY:
        empty_window(workspace)
        return NO_MEMORY
    if status != DONE:
        # What was staged behind that row was for nothing, and the next may not be far.
        window.most_staged = 0
    row[0] = stop if status == DONE else task.row
    out.n = splits[row[0]]
    if places != NULL:
        places.spans.n = 2 * out.n
        places.words.n = out.n
    return status


cdef inline void prefetch_text(const Text* text) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(PREFETCH_LINES):
        prefetch(<const char*>text.chars + CACHE_LINE * i)


cdef Py_ssize_t count_chars(const Text* texts, Py_ssize_t n_rows) noexcept nogil:
    cdef Py_ssize_t row, n_chars = 0
    for row in range(n_rows):
        n_chars += texts[row].n_chars
    return n_chars
