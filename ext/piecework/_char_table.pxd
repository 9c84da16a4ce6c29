"""The table that tells the scanner what to do with each code point."""

from piecework._alphabet cimport PAGE_BITS, PAGE_SIZE
from piecework._types cimport uint32_t

# One entry per code point, 32 bits. The lowest four say what the character is, the others
# hold the item (see _items) that it becomes.
#
#     KEPT              a letter of a word; its symbol is 0 if it is in no token
#     KEPT | ENDS_WORD  a word of its own; its symbol is the trie's `unknown` if it is in no
#                       token by itself
#     ENDS_WORD         white space
#     DROPPED           vanishes, and what stands on both sides of it is joined
#
# With RARE, the scanner has to stop and think: a special token begins with one of the above,
# or the character is
#
#     EXPANDS    several letters; the place of their run in `runs` stands for the item
#     REORDERS   the same, and they may swap places with those of the character before
#     SURROGATE  no character by itself
#
# of which the first two have STARTS_SPECIAL, if a special token begins with them. What ends a
# word has the trie's bit word_start, as the letter behind it begins one.
# runs[i] is a count, at least 1 where an entry names it, and that many symbols follow; behind the
# last run, RUN_SLACK numbers can be read.
cdef enum:
    KEPT = 1
    ENDS_WORD = 2
    DROPPED = 4
    RARE = 8
    KIND_MASK = 15
    EXPANDS = 8
    REORDERS = 13
    SURROGATE = 14
    STARTS_SPECIAL = 0x80000000u
    BMP_SIZE = 0x10000
    RUN_SLACK = 4
    # table[FIRST_PAGE_START + page]: where that page begins, if it is above the BMP.
    FIRST_PAGE_START = 0x10000 - (0x10000 >> 6)
    FIXED_SIZE = 0x10000 + ((0x110000 - 0x10000) >> 6)  # of the table, without those pages


# The entry of a character of the Basic Multilingual Plane is table[cp]; a text whose str
# has one or two bytes a character holds no others. Numbers follow that say where
# in the table the page of each 64 higher code points begins, and those pages.
# Invariant: every place of a run in an entry is valid.
cdef class CharTable:
    cdef uint32_t* table
    cdef uint32_t* runs  # (n_runs,)
    cdef uint32_t longest_run


cdef inline uint32_t entry_of(const uint32_t* table, uint32_t cp) noexcept nogil:
    """Requires cp < N_CODE_POINTS."""
    return table[place_of(table, cp)]


cdef inline uint32_t place_of(const uint32_t* table, uint32_t cp) noexcept nogil:
    """Return where in the table the entry of a character stands; requires as entry_of."""
    if cp < BMP_SIZE:
        return cp
    return table[FIRST_PAGE_START + (cp >> PAGE_BITS)] + (cp & (PAGE_SIZE - 1))


cdef inline bint starts_special(uint32_t entry) noexcept nogil:
    """Say whether a special token begins with the character; requires entry & RARE."""
    return (
        entry & STARTS_SPECIAL
        or (entry & KIND_MASK) - <uint32_t>(RARE | KEPT) <= DROPPED - KEPT
    )
