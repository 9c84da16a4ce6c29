"""The room that one thread has for itself while it encodes, kept from call to call."""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cython cimport final

from piecework._buffers cimport Ids
from piecework._scan cimport Text
from piecework._types cimport int32_t, int64_t
from piecework._utf8 cimport free_scratch
from piecework._window cimport free_workspace, trim_workspace


cdef enum:
    KEPT_BYTES = 1 << 21  # what a huge text needed beyond that is not kept for the next call


cdef bint make_chunk(Chunk* chunk) noexcept nogil:
    """Allocate what has a fixed size; False without memory."""
    if chunk.row_splits == NULL:
        chunk.row_splits = <int64_t*>PyMem_RawMalloc((CHUNK_ROWS + 1) * sizeof(int64_t))
    return chunk.row_splits != NULL


cdef void free_chunk(Chunk* chunk) noexcept nogil:
    PyMem_RawFree(chunk.ids.data)
    PyMem_RawFree(chunk.row_splits)
    PyMem_RawFree(chunk.places.spans.data)
    PyMem_RawFree(chunk.places.words.data)


@final
cdef class Room:
    """One thread's workspace, chunk and scratch. Zero-initialised is empty."""

    def __dealloc__(self):
        free_workspace(&self.workspace)
        free_chunk(&self.chunk)
        free_scratch(&self.scratch)
        PyMem_RawFree(self.texts)
        PyMem_RawFree(self.wholes)
        PyMem_RawFree(self.byte_starts.data)

    cdef int make(self) except -1:
        """Allocate what a batch needs."""
        if self.texts == NULL:
            self.texts = <Text*>PyMem_RawMalloc(CHUNK_ROWS * sizeof(Text))
        if self.texts == NULL or not make_chunk(&self.chunk):
            raise MemoryError
        return 0

    cdef int make_wholes(self) except -1:
        """Allocate what a batch needs whose rows may be clipped."""
        if self.wholes == NULL:
            self.wholes = <Whole*>PyMem_RawMalloc(CHUNK_ROWS * sizeof(Whole))
        if self.wholes == NULL:
            raise MemoryError
        return 0

    cdef void trim(self) noexcept:
        """Give memory back that only a huge text needs."""
        trim_ids(&self.chunk.ids)
        trim_ids(&self.chunk.places.spans)
        trim_ids(&self.chunk.places.words)
        trim_ids(&self.byte_starts)
        if self.scratch.cap > KEPT_BYTES:
            free_scratch(&self.scratch)
        trim_workspace(&self.workspace, KEPT_BYTES)


cdef void trim_ids(Ids* ids) noexcept:
    if ids.cap * <Py_ssize_t>sizeof(int32_t) > KEPT_BYTES:
        PyMem_RawFree(ids.data)
        ids[0] = Ids(NULL, 0, 0)
