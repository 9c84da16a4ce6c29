"""Keeps the stream of items: growing, cutting it into parts, freeing."""

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc


cdef bint grow_items(Items* items, Py_ssize_t extra) noexcept nogil:
    """Give `items` at least `extra` free places, and half as much again as it holds."""
    cdef Py_ssize_t cap = items.n + extra
    cdef void* data
    cdef void* ids
    if extra > (<Py_ssize_t>1 << 60) - items.n:
        return False
    cap += cap >> 1
    data = PyMem_RawRealloc(items.data, <size_t>cap * sizeof(uint32_t))
    if data == NULL:
        return False
    items.data = <uint32_t*>data
    ids = PyMem_RawRealloc(items.ids, <size_t>cap * sizeof(int32_t))
    if ids == NULL:
        return False
    items.ids = <int32_t*>ids
    items.cap = cap
    return True


cdef void free_items(Items* items) noexcept nogil:
    PyMem_RawFree(items.data)
    PyMem_RawFree(items.ids)


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
