"""Decodes rows of UTF-8 into what the scanner reads: characters of one, two or four bytes.

In: views of bytes. Out: the same rows as views of characters. A row of ASCII is its own
characters and stays where it is; another one is validated and written into a scratch, in the
fewest bytes a character that it allows. Nothing is repaired: a row that is no UTF-8, by the rules
of `bytes.decode`, is left to the caller.

The highest byte of a row says what it needs: 0x80 and above is not ASCII, 0xC4 and above begins a
character beyond U+00FF, 0xF0 and above one beyond U+FFFF.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.string cimport memcpy

from piecework._types cimport uint8_t, uint16_t, uint32_t, uint64_t


cdef enum:
    FIRST_NON_ASCII = 0x80
    FIRST_BEYOND_LATIN_1 = 0xC4
    FIRST_BEYOND_BMP = 0xF0
    SCRATCH_BYTES = 1 << 18  # stays in the cache together with the ids
    ALIGNMENT = 8
    ASCII_BYTES = 8  # that are looked at together
    PAIR_BYTES = 8  # that are loaded for two characters of three
    INVALID = -1

cdef uint64_t NOT_ASCII = 0x8080808080808080u
cdef uint64_t PAIR_MARKS = 0xC0C0F0C0C0F0u  # the bits that tell two characters of three bytes
cdef uint64_t PAIR_OF_THREES = 0x8080E08080E0u
cdef uint64_t SURROGATES = 0x0000D8000000D800u  # the first one, twice
cdef uint64_t TOP_BITS = 0x8000000080000000u


cdef Py_ssize_t decode_rows(
    Text* texts, Py_ssize_t start, Py_ssize_t stop, Scratch* scratch
) noexcept nogil:
    """Turn texts[start:stop] into views of characters, as far as there is room for them.

    Requires  each of them views n_chars bytes; nobody needs what the scratch holds
    Ensures   returns n: texts[start:n] view characters, in place or in the scratch; the
              others are as they were. n == start: that row is no valid UTF-8, or there
              is no memory
    Never     reads what is not viewed, also if the bytes change meanwhile
    """
    cdef Py_ssize_t row, used = 0, needed, n_chars
    cdef const uint8_t* data
    cdef Text* text
    cdef int char_size
    cdef char* to
    for row in range(start, stop):
        text = &texts[row]
        data = <const uint8_t*>text.chars
        char_size = needed_size(data, text.n_chars)
        if char_size == 0:
            continue
        needed = text.n_chars * char_size + ALIGNMENT
        if used + needed > scratch.cap:
            if used or not make_scratch(scratch, needed):
                return row
        to = scratch.data + used
        if char_size == 1:
            n_chars = decode_sized(data, text.n_chars, 1, to)
        elif char_size == 2:
            n_chars = decode_sized(data, text.n_chars, 2, to)
        else:
            n_chars = decode_sized(data, text.n_chars, 4, to)
        if n_chars == INVALID:
            return row
        text[0] = Text(to, n_chars, char_size)
        used += (n_chars * char_size + ALIGNMENT - 1) & -<Py_ssize_t>ALIGNMENT
    return stop


cdef bint make_scratch(Scratch* scratch, Py_ssize_t n_bytes) noexcept nogil:
    """Make room for `n_bytes` at least; False without memory. What it held is lost."""
    free_scratch(scratch)
    n_bytes = max(n_bytes, SCRATCH_BYTES)
    scratch.data = <char*>PyMem_RawRealloc(NULL, n_bytes)
    if scratch.data == NULL:
        return False
    scratch.cap = n_bytes
    return True


cdef void free_scratch(Scratch* scratch) noexcept nogil:
    PyMem_RawFree(scratch.data)
    scratch.data = NULL
    scratch.cap = 0


cdef int needed_size(const uint8_t* data, Py_ssize_t n_bytes) noexcept nogil:
    """Return the bytes that a character of the row takes at least; 0: it is ASCII."""
    cdef uint8_t highest = 0
    cdef Py_ssize_t i
    for i in range(n_bytes):  # the compiler makes one step of 16 bytes
        highest = data[i] if data[i] > highest else highest
    if highest < FIRST_NON_ASCII:
        return 0
    if highest < FIRST_BEYOND_LATIN_1:
        return 1
    return 2 if highest < FIRST_BEYOND_BMP else 4


cdef inline Py_ssize_t decode_sized(
    const uint8_t* data, Py_ssize_t n_bytes, int char_size, void* out
) noexcept nogil:
    """Write the characters of a row; return how many, or INVALID.

    Requires  there is room for n_bytes characters; char_size is known to the compiler and
              not less than needed_size said (a character beyond it is INVALID)
    """
    cdef Py_ssize_t at = 0, n_chars = 0, n_paired
    cdef uint32_t lead, tail, cp
    cdef uint64_t some
    cdef int i
    while at < n_bytes:
        lead = data[at]
        if lead < 0x80:
            if at + ASCII_BYTES <= n_bytes:
                memcpy(&some, data + at, ASCII_BYTES)
                if some & NOT_ASCII == 0:
                    for i in range(ASCII_BYTES):
                        put_char(out, char_size, n_chars + i, data[at + i])
                    at += ASCII_BYTES
                    n_chars += ASCII_BYTES
                    continue
            put_char(out, char_size, n_chars, lead)
            at += 1
        elif lead < 0xE0:
            if lead < 0xC2 or n_bytes - at < 2 or misfits(data[at + 1]):
                return INVALID
            put_char(out, char_size, n_chars, (lead & 0x1F) << 6 | tail_bits(data[at + 1]))
            at += 2
        elif lead < 0xF0:
            if char_size >= 2:
                n_paired = put_pairs(data + at, n_bytes - at, char_size, n_chars, out)
                if n_paired:
                    at += 3 * n_paired
                    n_chars += n_paired
                    continue
            if n_bytes - at < 3:
                return INVALID
            tail = <uint32_t>data[at + 1] << 8 | data[at + 2]
            cp = (lead & 0xF) << 12 | (tail & 0x3F00) >> 2 | (tail & 0x3F)
            if (
                char_size < 2 or tail & 0xC0C0 != 0x8080
                or cp >> 11 == 0 or cp >> 11 == 0x1B  # overlong; surrogates
            ):
                return INVALID
            put_char(out, char_size, n_chars, cp)
            at += 3
        else:
            if n_bytes - at < 4:
                return INVALID
            cp = (
                (lead & 0x7) << 18 | tail_bits(data[at + 1]) << 12
                | tail_bits(data[at + 2]) << 6 | tail_bits(data[at + 3])
            )
            if (
                misfits(data[at + 1]) | misfits(data[at + 2]) | misfits(data[at + 3])
                | (char_size < 4) | (lead > 0xF4) | (cp < 0x10000) | (cp > 0x10FFFF)
            ):
                return INVALID
            put_char(out, char_size, n_chars, cp)
            at += 4
        n_chars += 1
    return n_chars


cdef inline Py_ssize_t put_pairs(
    const uint8_t* data, Py_ssize_t n_bytes, int char_size, Py_ssize_t n_chars, void* out
) noexcept nogil:
    """Write characters of three bytes, two at a time; return how many.

    Most of what is not Latin comes in runs of them. It ends before any pair that is not
    two of them, valid ones.
    """
    cdef Py_ssize_t at = 0, n = 0
    cdef uint64_t pair, cps
    while n_bytes - at >= PAIR_BYTES:
        pair = load_little(data + at)
        if pair & PAIR_MARKS != PAIR_OF_THREES:
            break
        # Each into 32 bits of its own.
        pair = pair & 0xFFFFFF | (pair & 0xFFFFFF000000u) << 8
        cps = (
            (pair & 0x0000000F0000000Fu) << 12 | (pair >> 2 & 0x00000FC000000FC0u)
            | (pair >> 16 & 0x0000003F0000003Fu)
        )
        if at_least_0x800(cps) & at_least_0x800(cps ^ SURROGATES) != TOP_BITS:
            break
        put_char(out, char_size, n_chars + n, <uint32_t>cps)
        put_char(out, char_size, n_chars + n + 1, cps >> 32)
        at += 6
        n += 2
    return n


cdef inline uint64_t load_little(const uint8_t* data) noexcept nogil:
    """Load eight bytes, the first one lowest. Compilers make one load of it."""
    return (
        data[0] | <uint64_t>data[1] << 8 | <uint64_t>data[2] << 16 | <uint64_t>data[3] << 24
        | <uint64_t>data[4] << 32 | <uint64_t>data[5] << 40 | <uint64_t>data[6] << 48
        | <uint64_t>data[7] << 56
    )


cdef inline uint64_t at_least_0x800(uint64_t cps) noexcept nogil:
    """Set the top bit of each half that is 0x800 or more. Requires they are below 2**16."""
    return cps + 0x7FFFF8007FFFF800u & TOP_BITS


cdef inline bint misfits(uint8_t byte) noexcept nogil:
    """Say whether a byte can't stand inside a character."""
    return byte & 0xC0 != 0x80


cdef inline uint32_t tail_bits(uint8_t byte) noexcept nogil:
    return byte & 0x3F


cdef inline void put_char(
    void* out, int char_size, Py_ssize_t at, uint32_t cp
) noexcept nogil:
    if char_size == 1:
        (<uint8_t*>out)[at] = cp
    elif char_size == 2:
        (<uint16_t*>out)[at] = cp
    else:
        (<uint32_t*>out)[at] = cp
