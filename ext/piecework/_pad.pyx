"""Puts rows of ids into the matrices that a model takes.

In: the ids of all rows and where the rows begin. Out: one matrix of ids and one that marks them,
both of any integer type, prepared by the caller with padding. Only the places of tokens are
written, each once: of a matrix that numpy has just made of zeros, the memory of the others may not
even exist yet. Whether the ids fit their type was checked before.
"""

from cpython.buffer cimport (
    PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer,
)
from libc.string cimport memset

from piecework._types cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


# What `fill_matrix` works on. Sizes are bytes of one number.
cdef struct Rows:
    const uint8_t* ids
    int id_size  # 4: int32; 2: uint16
    Py_ssize_t n_ids
    const int64_t* row_splits
    Py_ssize_t n_rows


cdef struct Matrix:
    uint8_t* input_ids
    uint8_t* attention_mask
    int item_size  # 1, 2, 4 or 8
    Py_ssize_t n_columns


def longest_row(row_splits):
    """Return the length of the longest row, at least 0.

    Parameters
    ----------
    row_splits : int64 array, shape (n_rows + 1,)
        Contiguous and aligned.
    """
    cdef Py_buffer view
    cdef const int64_t* splits
    cdef Py_ssize_t row
    cdef int64_t longest = 0
    open_array(row_splits, PyBUF_ND, 1, &view)
    splits = <const int64_t*>view.buf
    for row in range(view.len // <Py_ssize_t>sizeof(int64_t) - 1):
        longest = max(longest, splits[row + 1] - splits[row])
    PyBuffer_Release(&view)
    return longest


def fill_padded(ids, row_splits, input_ids, attention_mask, bint at_right):
    """Write ids, and ones beside them, at the beginning of each row, or at its end.

    Parameters
    ----------
    ids : int32 or uint16 array, shape (n_tokens,)
        All arrays are contiguous and aligned.
    row_splits : int64 array, shape (n_rows + 1,)
    input_ids, attention_mask : integer arrays of one dtype, shape (n_rows, n_columns)
        What is not a token's place stays as it is.
    at_right : bool
        The rows end with the last column, and do not begin with the first.

    Raises
    ------
    ValueError
        For a row that does not fit: the arrays were changed meanwhile.
    """
    cdef Py_buffer[4] views
    cdef Py_ssize_t i
    memset(views, 0, sizeof(views))
    try:
        open_array(ids, PyBUF_ND, 1, &views[0])
        open_array(row_splits, PyBUF_ND, 1, &views[1])
        open_array(input_ids, PyBUF_ND | PyBUF_WRITABLE, 2, &views[2])
        open_array(attention_mask, PyBUF_ND | PyBUF_WRITABLE, 2, &views[3])
        fill_views(&views[0], &views[1], &views[2], &views[3], at_right)
    finally:
        for i in range(4):
            PyBuffer_Release(&views[i])  # which does nothing for one that was not opened


cdef int open_array(array, int flags, int n_dim, Py_buffer* view) except -1:
    """Look into an array without gaps: four memoryviews would cost as much as 32 rows."""
    PyObject_GetBuffer(array, view, flags)
    if view.ndim != n_dim:
        PyBuffer_Release(view)
        raise ValueError(f"expected an array of {n_dim} dimensions, not of {view.ndim}")
    return 0


cdef int fill_views(
    const Py_buffer* ids, const Py_buffer* row_splits, const Py_buffer* input_ids,
    const Py_buffer* attention_mask, bint at_right,
) except -1:
    cdef Py_ssize_t row
    cdef Rows rows = Rows(
        <const uint8_t*>ids.buf, ids.itemsize, ids.shape[0],
        <const int64_t*>row_splits.buf, row_splits.len // <Py_ssize_t>sizeof(int64_t) - 1,
    )
    cdef Matrix matrix = Matrix(
        <uint8_t*>input_ids.buf, <uint8_t*>attention_mask.buf, input_ids.itemsize,
        input_ids.shape[1],
    )
    if (
        input_ids.shape[0] != rows.n_rows
        or attention_mask.shape[0] != rows.n_rows
        or attention_mask.shape[1] != matrix.n_columns
        or attention_mask.itemsize != matrix.item_size
    ):
        raise ValueError(f"expected two equal matrices of {rows.n_rows} rows")
    with nogil:
        row = fill_matrix(&rows, &matrix, at_right)
    if row != rows.n_rows:
        raise ValueError(f"row {row} changed while the matrix was made")
    return 0


cdef Py_ssize_t fill_matrix(
    const Rows* rows, const Matrix* matrix, bint at_right
) noexcept nogil:
    """Fill row by row; return the first that does not fit, or the number of rows.

    Requires  the matrices have n_rows rows
    Never     reads or writes outside of them and of the ids, whatever the splits are
    """
    cdef Py_ssize_t row, place
    cdef int64_t start, stop
    for row in range(rows.n_rows):
        start = rows.row_splits[row]
        stop = rows.row_splits[row + 1]
        if not 0 <= start <= stop <= rows.n_ids or stop - start > matrix.n_columns:
            return row
        place = row * matrix.n_columns
        if at_right:
            place += matrix.n_columns - (stop - start)
        copy_ids(
            rows.ids + start * rows.id_size, rows.id_size, stop - start,
            matrix.input_ids + place * matrix.item_size, matrix.item_size,
        )
        put_ones(
            matrix.attention_mask + place * matrix.item_size, matrix.item_size, stop - start
        )
    return rows.n_rows


cdef void copy_ids(
    const void* ids, int id_size, Py_ssize_t n, void* out, int item_size
) noexcept nogil:
    if id_size == 4:
        copy_from(ids, 4, n, out, item_size)
    else:
        copy_from(ids, 2, n, out, item_size)


cdef inline void copy_from(
    const void* ids, int id_size, Py_ssize_t n, void* out, int item_size
) noexcept nogil:
    # The compiler makes a loop of its own for each pair of sizes.
    cdef Py_ssize_t i
    if item_size == 8:
        for i in range(n):
            (<uint64_t*>out)[i] = id_at(ids, id_size, i)
    elif item_size == 4:
        for i in range(n):
            (<uint32_t*>out)[i] = id_at(ids, id_size, i)
    elif item_size == 2:
        for i in range(n):
            (<uint16_t*>out)[i] = id_at(ids, id_size, i)
    else:
        for i in range(n):
            (<uint8_t*>out)[i] = id_at(ids, id_size, i)


cdef inline int64_t id_at(const void* ids, int id_size, Py_ssize_t i) noexcept nogil:
    if id_size == 4:
        return (<const int32_t*>ids)[i]
    return (<const uint16_t*>ids)[i]


cdef void put_ones(void* out, int item_size, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    if item_size == 8:
        for i in range(n):
            (<uint64_t*>out)[i] = 1
    elif item_size == 4:
        for i in range(n):
            (<uint32_t*>out)[i] = 1
    elif item_size == 2:
        for i in range(n):
            (<uint16_t*>out)[i] = 1
    else:
        for i in range(n):
            (<uint8_t*>out)[i] = 1
