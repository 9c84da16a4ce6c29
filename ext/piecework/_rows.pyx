"""Encodes rows of text without Python: what runs while the GIL is released."""

from piecework._buffers cimport Ids
from piecework._hints cimport prefetch
from piecework._items cimport (
    MAX_PARTS, PART_ITEMS, Items, append_items, end_part, end_row, free_items,
)
from piecework._scan cimport Cursor, Tables, scan_words
from piecework._types cimport DONE, NO_MEMORY, Status, int64_t
from piecework._walk cimport walk_items


cdef enum:
    # Texts of a corpus lie anywhere in memory, and each first look at one costs as much
    # as thirty letters: so the loads begin that many rows early, and of that much.
    PREFETCH_ROWS = 8
    PREFETCH_LINES = 4
    CACHE_LINE = 64


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    const Items* head, const Items* tail, Workspace* workspace, Ids* out, int64_t* splits,
) noexcept nogil:
    """Encode texts[row:stop], as far as that goes without Python.

    Requires  the workspace's items are empty
    Ensures   row is moved behind the last finished row; without DONE, the row it then
              stands on is the one that needs Python, and nothing of it is in `out`.
              NO_MEMORY: nothing is of use. Otherwise the items are empty
    """
    cdef Cursor cursor
    cdef Status status = DONE
    cdef Items* items = &workspace.items
    items.row_stops = splits + row[0] + 1
    while row[0] < stop:
        if row[0] + PREFETCH_ROWS < stop:
            prefetch_text(&texts[row[0] + PREFETCH_ROWS])
        open_text(&texts[row[0]], &cursor)
        if not append_items(items, head):
            return NO_MEMORY
        status = scan_text(tables, &cursor, items, out)
        if status == NO_MEMORY:
            return NO_MEMORY
        if status != DONE:
            break
        if not (
            append_items(items, tail) and end_row(items)
            and make_room(tables, items, out)
        ):
            return NO_MEMORY
        row[0] += 1
    if not walk_items(tables.trie, items, out):
        return NO_MEMORY
    out.n = splits[row[0]]
    return status


cdef inline void prefetch_text(const Text* text) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(PREFETCH_LINES):
        prefetch(<const char*>text.chars + CACHE_LINE * i)


cdef Status scan_text(
    const Tables* tables, Cursor* cursor, Items* items, Ids* out
) noexcept nogil:
    """Append the items of text[at:stop], and walk whenever there are enough of them.

    What it returns and ensures is as for scan_words.
    """
    cdef Status status = DONE
    while cursor.at < cursor.stop and status == DONE:
        status = scan_words(tables, cursor, items)
        if status == DONE and not make_room(tables, items, out):
            status = NO_MEMORY
    return status


cdef bint make_room(const Tables* tables, Items* items, Ids* out) noexcept nogil:
    """End the part that grows if it is long enough, or walk all of them; False without memory."""
    if items.n - items.part_start < PART_ITEMS:
        return True
    # The last place is for what is left when the texts end.
    if items.n_parts < MAX_PARTS - 1:
        return end_part(items)
    return walk_items(tables.trie, items, out)


cdef void free_workspace(Workspace* workspace) noexcept nogil:
    free_items(&workspace.items)
