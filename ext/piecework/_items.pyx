"""Keeps the stream of items: growing, cutting it into parts, freeing."""

from cpython.mem cimport PyMem_RawFree

from piecework._buffers cimport grow_array


cdef bint grow_items(Items* items, Py_ssize_t extra) noexcept nogil:
    """Make room for `extra` more items; False without memory (items unchanged)."""
    cdef void* data = grow_array(items.data, items.n, extra, &items.cap)
    if data == NULL:
        return False
    items.data = <uint32_t*>data
    return True


cdef void free_items(Items* items) noexcept nogil:
    PyMem_RawFree(items.data)
    PyMem_RawFree(items.scratch.data)


cdef bint end_part(Items* items) noexcept nogil:
    """Complete the part that grows, if it holds anything; False without memory.

    Requires  no word is unfinished; there is a free place in `parts`
    """
    if items.n == items.part_start:
        return True
    if not append_item(items, PART_END):
        return False
    items.parts[items.n_parts] = Part(
        items.part_start, items.row_stops, 0, 0
    )
    items.n_parts += 1
    items.part_start = items.n
    if items.row_stops != NULL:
        items.row_stops += items.n_rows
    items.n_rows = 0
    return True
