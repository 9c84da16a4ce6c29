"""Memory that kernels fill and Python reads without a copy.

`Ids` grows while the GIL is released; when it is complete, `OwnedBuffer` takes the memory over and
exports it, so that `numpy.frombuffer` sees it and keeps it alive. Nothing is exported that still
grows.
"""

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
from cython cimport final

from piecework._types cimport int32_t


cdef void* grow_array(
    void* data, Py_ssize_t n, Py_ssize_t extra, Py_ssize_t* cap
) noexcept nogil:
    """Move n numbers of 4 bytes to where there are at least `extra` free places behind.

    Half as much again is added, and `cap` says how many places there are. NULL without memory:
    nothing is changed.
    """
    cdef Py_ssize_t larger = n + extra
    if extra > (<Py_ssize_t>1 << 60) - n:
        return NULL
    larger += larger >> 1
    data = PyMem_RawRealloc(data, <size_t>larger * 4)
    if data != NULL:
        cap[0] = larger
    return data


cdef bint grow_ids(Ids* ids, Py_ssize_t extra) noexcept nogil:
    """Make room for `extra` more ids; False without memory (ids unchanged)."""
    cdef void* data = grow_array(ids.data, ids.n, extra, &ids.cap)
    if data == NULL:
        return False
    ids.data = <int32_t*>data
    return True


@final
cdef class OwnedBuffer:
    """Bytes owned by this object, readable and writable through the buffer protocol."""

    def __cinit__(self):
        self.data = NULL
        self.n_bytes = 0

    def __dealloc__(self):
        PyMem_RawFree(self.data)

    @staticmethod
    cdef OwnedBuffer take(void* data, Py_ssize_t n_bytes):
        """Own `data`, which was made by PyMem_Raw*."""
        cdef OwnedBuffer buffer = OwnedBuffer.__new__(OwnedBuffer)
        buffer.data = data
        buffer.n_bytes = n_bytes
        return buffer

    @staticmethod
    cdef OwnedBuffer zeroed(Py_ssize_t n_bytes):
        """Return a new buffer of `n_bytes` zero bytes."""
        cdef void* data = PyMem_RawCalloc(n_bytes, 1)
        if data == NULL:
            raise MemoryError
        return OwnedBuffer.take(data, n_bytes)

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, self.data, self.n_bytes, False, flags)

    def __len__(self):
        return self.n_bytes
