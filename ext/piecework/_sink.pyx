"""What becomes of the ids of a batch: they are kept, written into the caller's array, or counted.

Chunks come in order, one at a time (`_job` sees to that), and without the GIL. A chunk's ids are
int32 and its row splits begin with 0; what is kept may be narrower and goes on where the chunk
before it ended.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from cython cimport critical_section, final
from libc.string cimport memcpy

from piecework._buffers cimport Ids, reserve_ids
from piecework._types cimport int32_t, uint8_t, uint16_t


cdef enum:
    TAKEN_IDS = 1 << 16  # so many ids are worth taking with their memory, instead of a copy


cdef class Sink:
    """Takes the ids of a batch. Only its subclasses are made."""

    cdef bint append(self, Chunk* chunk) noexcept nogil:
        """Take the ids of the next rows; False without memory.

        Requires  chunk.first_row is behind the last row taken; one thread at a time
        Ensures   the chunk's memory may be another, and its ids gone
        """
        return False

    cdef void close(self) noexcept:
        """Give the memory back that nothing needs. Requires that all rows were appended."""


@final
cdef class Column:
    """Keeps numbers of 32 bits, those of a chunk behind those of the one before."""

    def __dealloc__(self):
        PyMem_RawFree(self.numbers.data)

    def buffer(self):
        """Return the numbers as an OwnedBuffer. Requires all chunks were appended."""
        with critical_section(self):
            if self.taken is None:
                self.taken = OwnedBuffer.take(
                    self.numbers.data, self.numbers.n * <Py_ssize_t>sizeof(int32_t)
                )
                self.numbers = Ids(NULL, 0, 0)
        return self.taken

    cdef bint append(self, Ids* numbers) noexcept nogil:
        """As Sink.append, of a chunk's numbers."""
        if self.numbers.n == 0 and numbers.n >= TAKEN_IDS:
            self.numbers, numbers[0] = numbers[0], self.numbers
            return True
        if not reserve_ids(&self.numbers, numbers.n):
            return False
        if numbers.n:
            memcpy(
                self.numbers.data + self.numbers.n, numbers.data, numbers.n * sizeof(int32_t)
            )
        self.numbers.n += numbers.n
        return True

    cdef void close(self) noexcept:
        cdef void* data = self.numbers.data
        if self.numbers.n < self.numbers.cap:
            data = PyMem_RawRealloc(data, self.numbers.n * sizeof(int32_t))
        if data != NULL:
            self.numbers.data = <int32_t*>data
            self.numbers.cap = self.numbers.n


@final
cdef class IdSink(Sink):
    """Keeps the ids of all rows, one behind the other.

    Parameters
    ----------
    n_rows : int
    id_size : 4 or 2
        Bytes of an id, int32 or uint16. Requires that all ids fit.
    out : uint8 array or None
        Where they go; what does not fit is counted and not written.
    offsets, word_ids : bool
        Whether it keeps these, too.
    """

    def __cinit__(
        self, Py_ssize_t n_rows, int id_size, out, bint offsets=False, bint word_ids=False
    ):
        cdef uint8_t[::1] view
        self.n_rows = n_rows
        self.id_size = id_size
        self.splits = OwnedBuffer.zeroed((n_rows + 1) * <Py_ssize_t>sizeof(int64_t))
        self.out = out
        self.spans = Column() if offsets else None
        self.words = Column() if word_ids else None
        self.is_ours = out is None
        if out is not None:
            view = out
            self.ids.cap = view.shape[0] // id_size
            self.ids.data = <int32_t*>&view[0] if view.shape[0] else NULL

    def __dealloc__(self):
        if self.is_ours:
            PyMem_RawFree(self.ids.data)

    def n_tokens(self):
        """Return how many ids came; with `out`, there may have been room for fewer."""
        return self.ids.n

    def ids_buffer(self):
        """Return the ids as an OwnedBuffer. Requires out was None and all rows were appended."""
        with critical_section(self):
            if self.taken is None:
                self.taken = OwnedBuffer.take(self.ids.data, self.ids.n * self.id_size)
                self.ids.data = NULL
                self.ids.cap = 0
        return self.taken

    def row_splits(self):
        """Return where the rows begin and end, an OwnedBuffer of int64."""
        return self.splits

    @property
    def offsets(self):
        """The Column of the offsets, two numbers for each token; None: it keeps none."""
        return self.spans

    @property
    def word_ids(self):
        """The Column of the numbers of words; None: it keeps none."""
        return self.words

    cdef bint append(self, Chunk* chunk) noexcept nogil:
        cdef int64_t* splits = <int64_t*>self.splits.data + chunk.first_row + 1
        cdef Py_ssize_t i
        for i in range(chunk.n_rows):
            splits[i] = self.ids.n + chunk.row_splits[i + 1]
        if self.spans is not None and not self.spans.append(&chunk.places.spans):
            return False
        if self.words is not None and not self.words.append(&chunk.places.words):
            return False
        return self.append_ids(&chunk.ids)

    cdef void close(self) noexcept:
        cdef void* data
        if self.spans is not None:
            self.spans.close()
        if self.words is not None:
            self.words.close()
        if self.is_ours and self.ids.n < self.ids.cap:
            data = PyMem_RawRealloc(self.ids.data, self.ids.n * self.id_size)
            if data != NULL:
                self.ids.data = <int32_t*>data
                self.ids.cap = self.ids.n

    cdef bint append_ids(self, Ids* ids) noexcept nogil:
        cdef Py_ssize_t start = self.ids.n, i
        if self.is_ours:
            if start == 0 and ids.n >= TAKEN_IDS and self.id_size == sizeof(int32_t):
                self.ids, ids[0] = ids[0], self.ids
                return True
            if not self.reserve(start + ids.n):
                return False
        self.ids.n += ids.n
        if self.ids.n > self.ids.cap:
            return True
        if self.id_size == sizeof(int32_t):
            if ids.n:
                memcpy(self.ids.data + start, ids.data, ids.n * sizeof(int32_t))
        else:
            for i in range(ids.n):
                (<uint16_t*>self.ids.data)[start + i] = ids.data[i]
        return True

    cdef bint reserve(self, Py_ssize_t n) noexcept nogil:
        """Make room for n ids in all; False without memory (nothing is changed)."""
        cdef void* data
        cdef Py_ssize_t cap = max(n, self.ids.cap + (self.ids.cap >> 1))
        if n <= self.ids.cap:
            return True
        if cap > (<Py_ssize_t>1 << 60):
            return False
        data = PyMem_RawRealloc(self.ids.data, cap * self.id_size)
        if data == NULL:
            return False
        self.ids.data = <int32_t*>data
        self.ids.cap = cap
        return True


@final
cdef class CountSink(Sink):
    """Counts the ids of each row and keeps none of them.

    Parameters
    ----------
    n_rows : int
    """

    def __cinit__(self, Py_ssize_t n_rows):
        self.n_rows = n_rows
        self.counts = OwnedBuffer.zeroed(n_rows * <Py_ssize_t>sizeof(int64_t))

    def row_lengths(self):
        """Return the number of ids of each row, an OwnedBuffer of int64."""
        return self.counts

    cdef bint append(self, Chunk* chunk) noexcept nogil:
        cdef int64_t* counts = <int64_t*>self.counts.data + chunk.first_row
        cdef Py_ssize_t i
        for i in range(chunk.n_rows):
            counts[i] = chunk.row_splits[i + 1] - chunk.row_splits[i]
        return True
