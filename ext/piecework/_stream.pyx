"""Keeps the stream between the scanner and the walk short: walks whenever it is full."""

from piecework._buffers cimport Ids
from piecework._items cimport MAX_PARTS, PART_ITEMS, Items, end_part
from piecework._scan cimport Cursor, Tables, scan_words
from piecework._types cimport DONE, NO_MEMORY, Status
from piecework._walk cimport walk_items


cdef Status scan_text(
    const Tables* tables, Cursor* cursor, Items* items, Ids* out
) noexcept nogil:
    """Append the items of text[at:stop], and walk whenever there are enough of them.

    What it returns and ensures is as for scan_words.
    """
    cdef Status status = DONE
    while cursor.at < cursor.stop and status == DONE:
        status = scan_words(tables, cursor, items)
        if status == DONE and not make_room(tables, items, PART_ITEMS, out):
            status = NO_MEMORY
    return status


cdef bint make_room(
    const Tables* tables, Items* items, Py_ssize_t part_items, Ids* out
) noexcept nogil:
    """End the part that grows if it is that long, or walk all of them; False without memory."""
    if items.n - items.part_start < part_items:
        return True
    # The last place is for what is left when the texts end.
    if items.n_parts < MAX_PARTS - 1:
        return end_part(items)
    return walk_items(tables.trie, items, out)
