"""Derives the table of bytes from the table of characters, so that the two cannot disagree."""

from libc.string cimport memset

from piecework._char_table cimport (
    DROPPED, ENDS_WORD, EXPANDS, KEPT, KIND_MASK, RARE, REORDERS, SURROGATE, entry_of,
    starts_special,
)
from piecework._types cimport uint8_t, uint32_t
from piecework._vector cimport ISOLATED, LETTER, N_EXCEPTIONS, ODD, SPECIAL, ByteClasses


cdef enum:
    CASE = 0x20  # between an ASCII capital and its small letter


cdef void fill_byte_table(ByteTable* table, const uint32_t* entries) noexcept nogil:
    cdef uint32_t byte
    memset(table, 0, sizeof(ByteTable))
    table.classes.of_byte[0] = LETTER | ODD | SPECIAL  # nobody knows which character it is
    for byte in range(<uint32_t>1, <uint32_t>256):
        table.entries[byte] = entry_of(entries, char_of(byte))
        table.classes.of_byte[byte] = class_of(table.entries[byte])
    table.usable = table.classes.of_byte[c' '] == 0  # it is put between texts
    if folds(table):
        table.fold = CASE
        for byte in range(<uint32_t>c'A', <uint32_t>c'Z' + 1):
            table.classes.of_byte[byte | CASE] |= table.classes.of_byte[byte] & SPECIAL
    list_exceptions(&table.classes)


cdef uint32_t char_of(uint32_t byte) noexcept nogil:
    return byte - 0x80 + 0x2010 if 0x80 <= byte < 0xA0 else byte


cdef uint8_t class_of(uint32_t entry) noexcept nogil:
    cdef uint32_t kind = entry & KIND_MASK
    cdef uint8_t special = SPECIAL if entry & RARE and starts_special(entry) else 0
    if kind == EXPANDS or kind == REORDERS or kind == SURROGATE:
        return special | LETTER | ODD
    kind &= ~<uint32_t>RARE
    if kind == KEPT:
        return special | LETTER
    if kind == KEPT | ENDS_WORD:
        return special | ISOLATED
    if kind == DROPPED:  # it joins what stands on both sides of it
        return special | LETTER | ODD
    return special


cdef bint folds(const ByteTable* table) noexcept nogil:
    """Say whether each ASCII capital is the same to the scanner as its small letter."""
    cdef uint32_t byte
    for byte in range(<uint32_t>c'A', <uint32_t>c'Z' + 1):
        if (
            (table.entries[byte] ^ table.entries[byte | CASE]) & ~<uint32_t>RARE
            or (table.classes.of_byte[byte] | table.classes.of_byte[byte | CASE]) & ODD
        ):
            return False
    return True


cdef void list_exceptions(ByteClasses* classes) noexcept nogil:
    """Find the bytes that are not what vector code guesses."""
    cdef uint32_t byte, n = 0
    for byte in range(<uint32_t>c'!', <uint32_t>256):
        if byte > c'~' and byte < 0xC0:
            continue  # it does not guess
        if classes.of_byte[byte] != (LETTER if is_letter(byte) else ISOLATED):
            if n < N_EXCEPTIONS:
                classes.exceptions[n] = byte
            n += 1
    classes.guess_fails = n > N_EXCEPTIONS


cdef bint is_letter(uint32_t byte) noexcept nogil:
    return (
        c'0' <= byte <= c'9'
        or c'A' <= byte <= c'Z'
        or c'a' <= byte <= c'z'
        or byte >= 0xC0
    )
