"""Growable arrays of ids, and buffers that numpy can look into."""

from piecework._types cimport int32_t


# A growable array of token ids. Invariant: 0 <= n <= cap; data has room for cap ids.
# Zero-initialised is empty. Freed by its owner with PyMem_RawFree(data).
cdef struct Ids:
    int32_t* data
    Py_ssize_t n
    Py_ssize_t cap


cdef void* grow_array(
    void* data, Py_ssize_t n, Py_ssize_t extra, Py_ssize_t* cap
) noexcept nogil
cdef bint grow_ids(Ids* ids, Py_ssize_t extra) noexcept nogil


cdef inline bint reserve_ids(Ids* ids, Py_ssize_t extra) noexcept nogil:
    """Make room for `extra` more ids; False without memory (ids unchanged)."""
    if ids.cap - ids.n >= extra:
        return True
    return grow_ids(ids, extra)


cdef class OwnedBuffer:
    cdef void* data
    cdef Py_ssize_t n_bytes

    @staticmethod
    cdef OwnedBuffer take(void* data, Py_ssize_t n_bytes)

    @staticmethod
    cdef OwnedBuffer zeroed(Py_ssize_t n_bytes)
