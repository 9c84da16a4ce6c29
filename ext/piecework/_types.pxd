"""The widths and status codes that the kernels share."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

# What a nogil function says to the wrapper that called it. Negative: failure.
cdef enum Status:
    DONE = 0
    NEEDS_SPLIT = 1  # an added token may stand in the text that Python has to look for
    NEEDS_NORMALIZER = 2  # a word may need canonical reordering: Python normalizes it
    NEEDS_REPAIR = 3  # a surrogate stands in the text: Python joins it or refuses it
    NO_MEMORY = -1
