"""Transcodes the inside of a str to UTF-8, without the GIL and without touching the str.

CPython's own calls keep the UTF-8 form inside the user's object for as long as that lives, and need
the GIL; this writes to the caller's buffer. Pairs of surrogates are joined; a lone one becomes
U+FFFD or stops the work, as asked.
"""

from piecework._types cimport uint8_t, uint16_t, uint32_t


cdef Py_ssize_t utf8_capacity(int kind, Py_ssize_t n_chars) noexcept nogil:
    """Bytes that n_chars of a str of this kind (1, 2 or 4 bytes each) take at most."""
    return n_chars * (kind + 1 if kind < 4 else 4)


cdef Py_ssize_t write_utf8(
    const void* chars, int kind, Py_ssize_t n_chars, bint replace_surrogates,
    uint8_t* out,
) noexcept nogil:
    """Write the characters as UTF-8.

    Requires  out has room for utf8_capacity(kind, n_chars)
    Ensures   returns the bytes written, or BAD_SURROGATE at a lone surrogate if they
              are not to be replaced
    """
    cdef Py_ssize_t i = 0
    cdef uint8_t* p = out
    cdef uint32_t c, low
    if kind == 1:
        for i in range(n_chars):
            c = (<const uint8_t*>chars)[i]
            if c < 0x80:
                p[0] = <uint8_t>c
                p += 1
            else:
                p[0] = <uint8_t>(0xC0 | (c >> 6))
                p[1] = <uint8_t>(0x80 | (c & 0x3F))
                p += 2
        return p - out
    while i < n_chars:
        c = unit_at(chars, kind, i)
        i += 1
        if c < 0x80:
            p[0] = <uint8_t>c
            p += 1
            continue
        if c < 0x800:
            p[0] = <uint8_t>(0xC0 | (c >> 6))
            p[1] = <uint8_t>(0x80 | (c & 0x3F))
            p += 2
            continue
        if 0xD800 <= c < 0xE000:
            low = unit_at(chars, kind, i) if i < n_chars else 0
            if c < 0xDC00 and 0xDC00 <= low < 0xE000:
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00)
                i += 1
            elif replace_surrogates:
                c = 0xFFFD
            else:
                return BAD_SURROGATE
        if c < 0x10000:
            p[0] = <uint8_t>(0xE0 | (c >> 12))
            p[1] = <uint8_t>(0x80 | ((c >> 6) & 0x3F))
            p[2] = <uint8_t>(0x80 | (c & 0x3F))
            p += 3
        else:
            p[0] = <uint8_t>(0xF0 | (c >> 18))
            p[1] = <uint8_t>(0x80 | ((c >> 12) & 0x3F))
            p[2] = <uint8_t>(0x80 | ((c >> 6) & 0x3F))
            p[3] = <uint8_t>(0x80 | (c & 0x3F))
            p += 4
    return p - out


cdef inline uint32_t unit_at(const void* chars, int kind, Py_ssize_t i) noexcept nogil:
    if kind == 2:
        return (<const uint16_t*>chars)[i]
    return (<const uint32_t*>chars)[i]
