"""The rows of a batch, as views: of str objects, or of UTF-8 in buffers.

Stands between what the caller holds and the inner loops. Views are handed out in order, a chunk at
a time, by whichever thread holds the batch's lock; none of that needs the GIL. A row that can't be
viewed is found when it is reached: it then stands in a chunk alone, and asking for its text raises
the error that names it.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cython cimport final

from piecework._chunks cimport CHUNK_CHARS, CHUNK_ROWS
from piecework._hints cimport prefetch
from piecework._types cimport int32_t
from piecework._utf8 cimport decode_rows


cdef extern from "Python.h":
    PyObject** items_of "PySequence_Fast_ITEMS"(object sequence)
    # They only read the object, so they don't need the GIL as long as it lives.
    bint is_str "PyUnicode_Check"(PyObject* item) nogil
    const void* str_chars "PyUnicode_DATA"(PyObject* text) nogil
    Py_ssize_t str_length "PyUnicode_GET_LENGTH"(PyObject* text) nogil
    int str_char_size "PyUnicode_KIND"(PyObject* text) nogil


cdef enum:
    PREFETCH_OBJECTS = 32  # rows ahead, as a str lies anywhere in memory


cdef class Texts:
    """The rows of one call. Only its subclasses are made.

    Thread-safety: `view` belongs to one thread at a time, all else to any number.
    """

    cdef Py_ssize_t view(self, Py_ssize_t first, Text* views) noexcept nogil:
        """Fill `views` with the rows from `first` on, until it is worth a chunk.

        Requires  first < n_rows, and is what the call before returned, or 0; room for
                  CHUNK_ROWS views
        Ensures   returns the row behind them, at least first + 1. A row that is none is
                  the only one, and its view's chars are NULL
        """
        return first

    cdef Py_ssize_t decode(
        self, Text* views, Py_ssize_t start, Py_ssize_t stop, Scratch* scratch
    ) noexcept nogil:
        """Make views[start:stop] views of characters, as decode_rows does and returns."""
        return start

    cdef str text(self, Py_ssize_t row):
        """Return a row as a str, or raise what is wrong with it."""

    cdef Py_ssize_t n_chars(self, Py_ssize_t limit) noexcept:
        """Return the characters (or bytes) of all rows; of many only enough to reach `limit`."""
        return 0

    def buffers(self):
        """Return the arrays whose memory is read while the rows are encoded, a list."""
        return []

    def take(self, rows):
        """Return some of the rows as a StrTexts; raises for one that is none.

        Parameters
        ----------
        rows : list of int
        """
        return StrTexts([self.text(row) for row in rows], None)

    def __len__(self):
        return self.n_rows

    def row(self, Py_ssize_t row):
        """Return a row as a str, or raise what is wrong with it. Requires 0 <= row < len(self)."""
        if not 0 <= row < self.n_rows:
            raise IndexError(f"row {row} of {self.n_rows}")
        return self.text(row)

    def count_chars(self, Py_ssize_t limit):
        """Return the characters (or bytes) of all rows; of many only enough to reach `limit`."""
        return self.n_chars(limit)


@final
cdef class StrTexts(Texts):
    """Rows that are str objects.

    Parameters
    ----------
    texts : iterable
        Of str, if all is well. What is no tuple is copied: another thread may change a list
        while the GIL is released.
    refuse : callable
        (row, value) -> never returns: raises the error for a value that is no str.
    """

    def __cinit__(self, texts, refuse):
        self.texts = tuple(texts)
        self.items = items_of(self.texts)
        self.n_rows = len(self.texts)
        self.refuse = refuse

    cdef Py_ssize_t view(self, Py_ssize_t first, Text* views) noexcept nogil:
        cdef Py_ssize_t row, n_chars = 0, stop = min(self.n_rows, first + CHUNK_ROWS)
        cdef PyObject* item
        for row in range(first, stop):
            if row + PREFETCH_OBJECTS < stop:
                prefetch(self.items[row + PREFETCH_OBJECTS])
            item = self.items[row]
            if not is_str(item):
                if row > first:
                    return row
                views[0].chars = NULL
                return row + 1
            views[row - first] = Text(str_chars(item), str_length(item), str_char_size(item))
            n_chars += views[row - first].n_chars
            if n_chars >= CHUNK_CHARS:
                return row + 1
        return stop

    cdef Py_ssize_t decode(
        self, Text* views, Py_ssize_t start, Py_ssize_t stop, Scratch* scratch
    ) noexcept nogil:
        return start if views[start].chars == NULL else stop

    cdef str text(self, Py_ssize_t row):
        text = self.texts[row]
        if not isinstance(text, str):
            self.refuse(row, text)
        return text

    cdef Py_ssize_t n_chars(self, Py_ssize_t limit) noexcept:
        cdef Py_ssize_t row, n_chars = 0
        for row in range(self.n_rows):
            if row + PREFETCH_OBJECTS < self.n_rows:
                prefetch(self.items[row + PREFETCH_OBJECTS])
            if is_str(self.items[row]):
                n_chars += str_length(self.items[row])
                if n_chars >= limit:
                    break
        return n_chars


@final
cdef class Utf8Texts(Texts):
    """Rows of UTF-8 in buffers.

    Parameters
    ----------
    segments : list of (buffer, row_splits)
        Both numpy arrays in one dimension, contiguous: uint8, and int32 or int64. The splits
        are looked at when their row is reached.
    """

    def __cinit__(self, list segments not None):
        cdef Segment* segment
        self.owners = segments
        self.is_utf8 = True
        self.segments = <Segment*>PyMem_RawCalloc(len(segments) + 1, sizeof(Segment))
        if self.segments == NULL:
            raise MemoryError
        for data, row_splits in segments:
            if len(row_splits) < 2:
                continue
            segment = &self.segments[self.n_segments]
            set_segment(segment, data, row_splits)
            segment.first_row = self.n_rows
            self.n_rows += len(row_splits) - 1
            segment.stop_row = self.n_rows
            self.n_segments += 1

    def __dealloc__(self):
        PyMem_RawFree(self.segments)

    def buffers(self):
        return [array for segment in self.owners for array in segment]

    cdef Py_ssize_t view(self, Py_ssize_t first, Text* views) noexcept nogil:
        cdef Py_ssize_t row, n_bytes = 0, stop
        cdef Segment* segment
        if first == 0:
            self.segment = 0
        while first >= self.segments[self.segment].stop_row:
            self.segment += 1
        segment = &self.segments[self.segment]
        stop = min(segment.stop_row, first + CHUNK_ROWS)
        for row in range(first, stop):
            if not view_bytes(segment, row, &views[row - first]):
                if row > first:
                    return row
                views[0].chars = NULL
                return row + 1
            n_bytes += views[row - first].n_chars
            if n_bytes >= CHUNK_CHARS:
                return row + 1
        return stop

    cdef Py_ssize_t decode(
        self, Text* views, Py_ssize_t start, Py_ssize_t stop, Scratch* scratch
    ) noexcept nogil:
        if views[start].chars == NULL:
            return start
        return decode_rows(views, start, stop, scratch)

    cdef str text(self, Py_ssize_t row):
        cdef Segment* segment = self.segments
        cdef Text view
        cdef Py_ssize_t at
        while row >= segment.stop_row:
            segment += 1
        if not view_bytes(segment, row, &view):
            at = row - segment.first_row
            raise ValueError(
                f"row_splits must not fall nor leave the buffer of {segment.n_bytes} bytes, "
                f"but row {row} goes from {split_at(segment, at)} to "
                f"{split_at(segment, at + 1)}"
            )
        try:
            return PyUnicode_DecodeUTF8(<char*>view.chars, view.n_chars, "strict")
        except UnicodeDecodeError as error:
            raise UnicodeDecodeError(
                error.encoding, error.object, error.start, error.end,
                f"{error.reason} (row {row})",
            ) from None

    cdef Py_ssize_t n_chars(self, Py_ssize_t limit) noexcept:
        cdef Py_ssize_t i, n_bytes = 0
        cdef const Segment* segment
        for i in range(self.n_segments):
            segment = &self.segments[i]
            n_bytes += min(segment.n_bytes, max(
                0,
                split_at(segment, segment.stop_row - segment.first_row) - split_at(segment, 0),
            ))
        return n_bytes


cdef int set_segment(Segment* segment, data, row_splits) except -1:
    """Point into two arrays. Requires that they outlive it."""
    cdef const uint8_t[::1] data_view = data
    cdef const int32_t[::1] narrow
    cdef const int64_t[::1] wide
    if data_view.shape[0]:
        segment.data = &data_view[0]
    else:
        segment.data = <const uint8_t*>b""  # static; views are told from none by NULL
    segment.n_bytes = data_view.shape[0]
    segment.split_size = row_splits.itemsize
    if segment.split_size == sizeof(int32_t):
        narrow = row_splits
        segment.splits = &narrow[0]
    else:
        wide = row_splits
        segment.splits = &wide[0]
    return 0


cdef inline int64_t split_at(const Segment* segment, Py_ssize_t i) noexcept nogil:
    if segment.split_size == sizeof(int32_t):
        return (<const int32_t*>segment.splits)[i]
    return (<const int64_t*>segment.splits)[i]


cdef inline bint view_bytes(
    const Segment* segment, Py_ssize_t row, Text* view
) noexcept nogil:
    """View the bytes of a row; False if they don't lie in the buffer."""
    cdef int64_t start = split_at(segment, row - segment.first_row)
    cdef int64_t stop = split_at(segment, row - segment.first_row + 1)
    if not 0 <= start <= stop <= segment.n_bytes:
        return False
    view[0] = Text(segment.data + start, stop - start, 1)
    return True
