"""The table that tells the scanner what to do with each code point."""

from piecework._alphabet cimport PAGE_BITS, PAGE_SIZE
from piecework._types cimport uint32_t

# One entry per code point, 32 bits.
#
#     bit 31      CAN_START_SPECIAL: a special token begins with this character
#     bits 28-30  kind
#     bits 0-27   payload
#
#     LETTER    payload: symbol of the character it is normalized to; 0: in no piece
#     EXPAND    becomes several letters; payload: index into runs
#     CONTEXT   as EXPAND, and may swap places with the character before it
#     DROP      vanishes, and what stands on both sides of it is joined
#     SPACE     ends a word
#     ISOLATED  ends a word and is one itself; payload: its token id
#     SURROGATE ends a word; no character by itself
#
# They are in this order so that one comparison of an entry (without the flag) sorts them.
# runs[i] is a count, and that many symbols follow.
cdef enum Kind:
    LETTER = 0
    EXPAND = 1
    CONTEXT = 2
    DROP = 3
    SPACE = 4
    ISOLATED = 5
    SURROGATE = 6

cdef enum:
    KIND_SHIFT = 28
    PAYLOAD_MASK = 0x0FFFFFFFu
    FIRST_NOT_LETTER = 0x10000000u  # not a LETTER, or may start a special token
    FIRST_NOT_START = 0x30000000u  # begins no word
    FIRST_NOT_IN_WORD = 0x40000000u  # ends a word
    CAN_START_SPECIAL = 0x80000000u
    BMP_SIZE = 0x10000
    # table[FIRST_PAGE_START + page]: where that page begins, if it is above the BMP.
    FIRST_PAGE_START = 0x10000 - (0x10000 >> 6)
    FIXED_SIZE = 0x10000 + ((0x110000 - 0x10000) >> 6)  # of the table, without those pages


# The entry of a character of the Basic Multilingual Plane is table[cp]; a text whose str
# has one or two bytes a character holds no others. Numbers follow that say where
# in the table the page of each 64 higher code points begins, and those pages.
# Invariant: every run index in an EXPAND or CONTEXT entry is valid.
cdef class CharTable:
    cdef uint32_t* table
    cdef uint32_t* runs  # (n_runs,)


cdef inline uint32_t entry_of(const uint32_t* table, uint32_t cp) noexcept nogil:
    """Requires cp < N_CODE_POINTS."""
    return table[place_of(table, cp)]


cdef inline uint32_t place_of(const uint32_t* table, uint32_t cp) noexcept nogil:
    """Return where in the table the entry of a character stands; requires as entry_of."""
    if cp < BMP_SIZE:
        return cp
    return table[FIRST_PAGE_START + (cp >> PAGE_BITS)] + (cp & (PAGE_SIZE - 1))
