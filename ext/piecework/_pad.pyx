"""Puts rows of ids, and of what else there is for each token, into the matrices that a model takes.

In: the numbers of all rows and where the rows begin. Out: a matrix of them, and of ids one that
marks them, of any integer type, prepared by the caller with padding. Only the places of tokens are
written, each once: of a matrix that numpy has just made of zeros, the memory of the others may not
even exist yet. Whether the numbers fit their type was checked before.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release
from libc.string cimport memset

from piecework._arrays cimport is_open, open_array
from piecework._types cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


# How numbers of rows are stored.
cdef enum Kind:
    INT8
    UINT8
    UINT16
    INT32


# What `fill_matrix` works on. A token has `n_per_token` numbers, side by side.
cdef struct Rows:
    const uint8_t* values
    Kind kind
    Py_ssize_t n_per_token
    Py_ssize_t n_tokens
    const int64_t* row_splits
    Py_ssize_t n_rows


# Sizes are bytes of one number.
cdef struct Matrix:
    uint8_t* values
    uint8_t* mask  # NULL: none is wanted
    int item_size  # 1, 2, 4 or 8
    Py_ssize_t n_columns  # of tokens


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


def fill_padded(values, row_splits, matrix, mask, bint at_right):
    """Write the numbers of tokens, and ones beside them, at the beginning or end of each row.

    Parameters
    ----------
    values : int8, uint8, uint16 or int32 array, shape (n_tokens,) or (n_tokens, n_per_token)
        All arrays are contiguous and aligned.
    row_splits : int64 array, shape (n_rows + 1,)
    matrix : integer array, shape (n_rows, n_columns) or (n_rows, n_columns, n_per_token)
        What is not a token's place stays as it is.
    mask : integer array of the same dtype, shape (n_rows, n_columns), or None
        Requires one number for each token.
    at_right : bool
        The rows end with the last column, and do not begin with the first.

    Raises
    ------
    ValueError
        For a row that does not fit: the arrays were changed meanwhile.
    """
    cdef Py_buffer[4] views
    cdef Py_ssize_t i
    cdef int n_dim = values.ndim
    memset(views, 0, sizeof(views))
    try:
        open_array(values, PyBUF_ND | PyBUF_FORMAT, n_dim, &views[0])
        open_array(row_splits, PyBUF_ND, 1, &views[1])
        open_array(matrix, PyBUF_ND | PyBUF_WRITABLE, n_dim + 1, &views[2])
        if mask is not None:
            open_array(mask, PyBUF_ND | PyBUF_WRITABLE, 2, &views[3])
        fill_views(&views[0], &views[1], &views[2], &views[3], at_right)
    finally:
        for i in range(4):
            PyBuffer_Release(&views[i])  # which does nothing for one that was not opened


cdef int fill_views(
    const Py_buffer* values, const Py_buffer* row_splits, const Py_buffer* filled,
    const Py_buffer* mask, bint at_right,
) except -1:
    cdef Py_ssize_t row
    cdef Rows rows = Rows(
        <const uint8_t*>values.buf, <Kind>kind_of(values),
        values.shape[1] if values.ndim == 2 else 1, values.shape[0],
        <const int64_t*>row_splits.buf, row_splits.len // <Py_ssize_t>sizeof(int64_t) - 1,
    )
    cdef Matrix matrix = Matrix(
        <uint8_t*>filled.buf, <uint8_t*>mask.buf, filled.itemsize, filled.shape[1]
    )
    if (
        filled.shape[0] != rows.n_rows
        or (filled.ndim == 3 and filled.shape[2] != rows.n_per_token)
        or (is_open(mask) and (
            rows.n_per_token != 1
            or mask.shape[0] != rows.n_rows
            or mask.shape[1] != matrix.n_columns
            or mask.itemsize != matrix.item_size
        ))
    ):
        raise ValueError(f"expected equal matrices of {rows.n_rows} rows")
    with nogil:
        row = fill_matrix(&rows, &matrix, at_right)
    if row != rows.n_rows:
        raise ValueError(f"row {row} changed while the matrix was made")
    return 0


cdef int kind_of(const Py_buffer* values) except -1:
    cdef char code = values.format[0]
    if values.itemsize == 4:
        return INT32
    if values.itemsize == 2:
        return UINT16
    return INT8 if code == b"b" else UINT8


cdef Py_ssize_t fill_matrix(
    const Rows* rows, const Matrix* matrix, bint at_right
) noexcept nogil:
    """Fill row by row; return the first that does not fit, or the number of rows.

    Requires  the matrices have n_rows rows
    Never     reads or writes outside of them and of the values, whatever the splits are
    """
    cdef Py_ssize_t row, place, n_per_token = rows.n_per_token
    cdef int64_t start, stop
    for row in range(rows.n_rows):
        start = rows.row_splits[row]
        stop = rows.row_splits[row + 1]
        if not 0 <= start <= stop <= rows.n_tokens or stop - start > matrix.n_columns:
            return row
        place = row * matrix.n_columns
        if at_right:
            place += matrix.n_columns - (stop - start)
        copy_values(
            rows.values, rows.kind, start * n_per_token, (stop - start) * n_per_token,
            matrix.values + place * n_per_token * matrix.item_size, matrix.item_size,
        )
        if matrix.mask != NULL:
            put_ones(matrix.mask + place * matrix.item_size, matrix.item_size, stop - start)
    return rows.n_rows


cdef void copy_values(
    const void* values, Kind kind, Py_ssize_t start, Py_ssize_t n, void* out, int item_size
) noexcept nogil:
    if kind == INT32:
        copy_from(values, INT32, start, n, out, item_size)
    elif kind == UINT16:
        copy_from(values, UINT16, start, n, out, item_size)
    elif kind == UINT8:
        copy_from(values, UINT8, start, n, out, item_size)
    else:
        copy_from(values, INT8, start, n, out, item_size)


cdef inline void copy_from(
    const void* values, Kind kind, Py_ssize_t start, Py_ssize_t n, void* out, int item_size
) noexcept nogil:
    # The compiler makes a loop of its own for each pair of types.
    cdef Py_ssize_t i
    if item_size == 8:
        for i in range(n):
            (<uint64_t*>out)[i] = value_at(values, kind, start + i)
    elif item_size == 4:
        for i in range(n):
            (<uint32_t*>out)[i] = value_at(values, kind, start + i)
    elif item_size == 2:
        for i in range(n):
            (<uint16_t*>out)[i] = value_at(values, kind, start + i)
    else:
        for i in range(n):
            (<uint8_t*>out)[i] = value_at(values, kind, start + i)


cdef inline int64_t value_at(const void* values, Kind kind, Py_ssize_t i) noexcept nogil:
    if kind == INT32:
        return (<const int32_t*>values)[i]
    if kind == UINT16:
        return (<const uint16_t*>values)[i]
    if kind == UINT8:
        return (<const uint8_t*>values)[i]
    return (<const int8_t*>values)[i]


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
