"""Arrays of numpy, looked into without memoryviews: four of them would cost as much as 32 rows."""

from cpython.buffer cimport PyBuffer_Release, PyObject_GetBuffer


cdef inline int open_array(array, int flags, int n_dim, Py_buffer* view) except -1:
    """Look into an array without gaps; to be given back with PyBuffer_Release.

    A view of zeros, which was never opened, may be given back too.
    """
    PyObject_GetBuffer(array, view, flags)
    if view.ndim != n_dim:
        PyBuffer_Release(view)
        raise ValueError(f"expected an array of {n_dim} dimensions, not of {view.ndim}")
    return 0


cdef inline bint is_open(const Py_buffer* view) noexcept nogil:
    """Tell a view that was opened from one of zeros."""
    return view.ndim != 0
