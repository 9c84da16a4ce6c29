"""Puts rows of ids into the matrices that a model takes.

In: the ids of all rows and where the rows begin. Out: one matrix of ids and one that marks them,
both of any integer type, prepared by the caller with padding. Only the places of tokens are
written, each once: of a matrix that numpy has just made of zeros, the memory of the others may not
even exist yet. Whether the ids fit their type was checked before.
"""

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


def longest_row(const int64_t[::1] row_splits not None):
    """Return the length of the longest row, at least 0."""
    cdef Py_ssize_t row
    cdef int64_t longest = 0
    for row in range(row_splits.shape[0] - 1):
        longest = max(longest, row_splits[row + 1] - row_splits[row])
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
    cdef const uint8_t[::1] id_bytes = ids.view("u1")
    cdef const int64_t[::1] splits = row_splits
    cdef uint8_t[::1] id_matrix = input_ids.reshape(-1).view("u1")
    cdef uint8_t[::1] mask_matrix = attention_mask.reshape(-1).view("u1")
    cdef Rows rows
    cdef Matrix matrix
    cdef Py_ssize_t row
    if id_bytes.shape[0] == 0 or id_matrix.shape[0] == 0:
        return
    rows = Rows(
        &id_bytes[0], ids.itemsize, id_bytes.shape[0] // ids.itemsize,
        &splits[0], splits.shape[0] - 1,
    )
    matrix = Matrix(
        &id_matrix[0], &mask_matrix[0], input_ids.itemsize, input_ids.shape[1]
    )
    if (
        input_ids.shape[0] != rows.n_rows or input_ids.shape != attention_mask.shape
        or input_ids.itemsize != attention_mask.itemsize
    ):
        raise ValueError(f"expected two equal matrices of {rows.n_rows} rows")
    with nogil:
        row = fill_matrix(&rows, &matrix, at_right)
    if row != rows.n_rows:
        raise ValueError(f"row {row} changed while the matrix was made")


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
