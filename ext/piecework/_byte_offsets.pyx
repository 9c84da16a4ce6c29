"""Turns offsets in characters into offsets in bytes of UTF-8, row by row.

Also counts what lies before the part of a row that was read, in characters or in bytes.
"""

from piecework._buffers cimport Ids, reserve_ids
from piecework._chunks cimport Whole
from piecework._scan cimport Text, char_at
from piecework._types cimport int32_t, uint8_t, uint32_t


cdef Outcome offsets_to_bytes(
    const Text* text, int32_t* spans, Py_ssize_t n, Ids* starts
) noexcept nogil:
    """Turn the 2 * n numbers of `spans`, places in the text, into places in its UTF-8.

    `starts` is memory for the time of the call. A surrogate counts as three bytes.

    Requires  0 <= spans[i] <= text.n_chars
    """
    cdef Py_ssize_t i, n_bytes = 0
    if is_ascii(text):
        return PLACED
    starts.n = 0
    if not reserve_ids(starts, text.n_chars + 1):
        return WITHOUT_MEMORY
    for i in range(text.n_chars):
        starts.data[i] = n_bytes
        n_bytes += byte_len(char_at(text.chars, text.char_size, i))
        if n_bytes > MAX_OFFSET:
            return TOO_LONG
    starts.data[text.n_chars] = n_bytes
    for i in range(2 * n):
        spans[i] = starts.data[spans[i]]
    return PLACED


cdef Outcome shift_offsets(int32_t* spans, Py_ssize_t n, Py_ssize_t by) noexcept nogil:
    """Add `by` to the 2 * n numbers of `spans`, of which the last one is the largest."""
    cdef Py_ssize_t i
    if by == 0 or n == 0:
        return PLACED
    if by > MAX_OFFSET - spans[2 * n - 1]:
        return TOO_LONG
    for i in range(2 * n):
        spans[i] += by
    return PLACED


cdef bint is_ascii(const Text* text) noexcept nogil:
    cdef const uint8_t* chars = <const uint8_t*>text.chars
    cdef uint8_t highest = 0
    cdef Py_ssize_t i
    if text.char_size > 1:
        return False
    for i in range(text.n_chars):
        highest |= chars[i]
    return highest < 0x80


cdef inline Py_ssize_t byte_len(uint32_t cp) noexcept nogil:
    return 1 + (cp >= 0x80) + (cp >= 0x800) + (cp >= 0x10000)


cdef Py_ssize_t n_skipped_units(const Whole* whole, bint is_utf8, bint in_bytes) noexcept nogil:
    """Return how many characters, or bytes of UTF-8, stand before what was read of a row."""
    cdef const Text* text = &whole.text
    cdef Py_ssize_t i, n = 0
    if is_utf8 == in_bytes:
        return whole.n_skipped
    for i in range(whole.n_skipped):
        if is_utf8:
            n += (<const uint8_t*>text.chars)[i] & 0xC0 != 0x80
        else:
            n += byte_len(char_at(text.chars, text.char_size, i))
    return n
