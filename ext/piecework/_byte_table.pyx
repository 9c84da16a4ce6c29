"""Derives the table of bytes from the table of characters, so that the two cannot disagree."""

from libc.string cimport memset

from piecework._char_table cimport (
    DROPPED, ENDS_WORD, EXPANDS, KEPT, KIND_MASK, RARE, REORDERS, SURROGATE, starts_special,
)
from piecework._types cimport uint8_t, uint32_t
from piecework._vector cimport (
    ISOLATED, LETTER, N_EXCEPTIONS, ODD, SPECIAL, VANISHES, ByteClasses,
)


cdef enum:
    CASE = 0x20  # between an ASCII capital and its small letter
    N_CHARS = 0x10000
    FIRST_VISIBLE = 0x21
    LAST_VISIBLE = 0x7E
    N_LETTER_BYTES = 0x80 + 26
    # There are not enough bytes for the twenty scripts of a multilingual vocabulary. Latin, Greek
    # and Cyrillic letters, which come before this code point, are taken for so many times as
    # frequent as they are: few of them make many words. (A guess that fits the vocabularies of
    # bert-base-multilingual-cased, where without it half of the Polish texts have no bytes.)
    FIRST_OTHER_LETTER = 0x530
    OTHER_LETTER_RANKS = 4
    # What is isolated and of this block comes first, as there are few bytes: dashes, quotation
    # marks, the ellipsis.
    FIRST_PUNCTUATION = 0x2010
    LAST_PUNCTUATION = 0x2027
    MAP_BITS = 10
    MAP_SIZE = 1 << 10  # more than twice as many as there are bytes


# Which byte there is for an entry: a hash table.
cdef struct ByteMap:
    uint32_t[MAP_SIZE] entries
    uint8_t[MAP_SIZE] bytes  # 0: none


cdef void fill_byte_table(ByteTable* table, const uint32_t* entries) noexcept nogil:
    cdef ByteMap found
    cdef uint32_t byte
    memset(table, 0, sizeof(ByteTable))
    memset(&found, 0, sizeof(ByteMap))
    table.classes.of_byte[0] = LETTER | ODD | SPECIAL  # nobody knows which character it is
    for byte in range(<uint32_t>c' ', <uint32_t>LAST_VISIBLE + 1):
        set_byte(table, byte, entries[byte])
    table.usable = table.classes.of_byte[c' '] == 0  # it is put between texts
    table.bytes.fold = CASE if folds(table) else 0
    for byte in range(<uint32_t>FIRST_VISIBLE, <uint32_t>LAST_VISIBLE + 1):
        if table.bytes.fold and c'A' <= byte <= c'Z':
            table.classes.of_byte[byte | CASE] |= table.classes.of_byte[byte] & SPECIAL
        elif not table.classes.of_byte[byte] & (ODD | SPECIAL):
            place_of_byte(&found, entries[byte])[0] = byte
    give_letters(table, entries, &found)
    give_others(table, entries, &found)
    fill_chars(table, entries, &found)
    list_exceptions(&table.classes)


cdef void set_byte(ByteTable* table, uint32_t byte, uint32_t entry) noexcept nogil:
    table.entries[byte] = entry
    table.classes.of_byte[byte] = class_of(entry)


cdef uint8_t* place_of_byte(ByteMap* found, uint32_t entry) noexcept nogil:
    """Return where the byte of an entry stands or is to be put: 0 if it has none."""
    cdef uint32_t at = <uint32_t>(entry * <uint32_t>0x9E3779B1u) >> (32 - MAP_BITS)
    while found.bytes[at] and found.entries[at] != entry:
        at = (at + 1) % MAP_SIZE
    found.entries[at] = entry
    return &found.bytes[at]


# Letters by rank, ascending: n entries, each one once.
cdef struct Letters:
    uint32_t[N_LETTER_BYTES] entries
    uint32_t[N_LETTER_BYTES] ranks
    Py_ssize_t n
    Py_ssize_t most


cdef void give_letters(
    ByteTable* table, const uint32_t* entries, ByteMap* found
) noexcept nogil:
    """Give bytes to the most frequent letters, which are those of the lowest symbols."""
    cdef Letters letters
    cdef uint32_t cp, rank, byte
    cdef Py_ssize_t i
    letters.n = 0
    letters.most = N_LETTER_BYTES if table.bytes.fold else 0x80
    for cp in range(<uint32_t>N_CHARS):
        if entries[cp] & KIND_MASK != KEPT:
            continue
        rank = entries[cp] if cp < FIRST_OTHER_LETTER else OTHER_LETTER_RANKS * entries[cp]
        if letters.n < letters.most or rank < letters.ranks[letters.n - 1]:
            if not place_of_byte(found, entries[cp])[0]:
                list_letter(&letters, entries[cp], rank)
    for i in range(letters.most):
        byte = 0x80 + i if i < 0x80 else c'A' + i - 0x80
        set_byte(table, byte, letters.entries[i] if i < letters.n else KEPT)
        if i < letters.n:
            place_of_byte(found, letters.entries[i])[0] = byte


cdef void list_letter(Letters* letters, uint32_t entry, uint32_t rank) noexcept nogil:
    """Put a letter into its place, unless it is listed; the last one of too many is lost.

    Requires  it ranks before the last one if there are `most`
    """
    cdef Py_ssize_t i, at = 0
    for i in range(letters.n):
        if letters.entries[i] == entry:
            return
        at += letters.ranks[i] < rank
    letters.n = min(letters.n + 1, letters.most)
    for i in range(letters.n - 1, at, -1):
        letters.entries[i] = letters.entries[i - 1]
        letters.ranks[i] = letters.ranks[i - 1]
    letters.entries[at] = entry
    letters.ranks[at] = rank


cdef void give_others(
    ByteTable* table, const uint32_t* entries, ByteMap* found
) noexcept nogil:
    """Give bytes to what is isolated or vanishes, as long as there are some."""
    cdef uint32_t i, cp, next_free = 1
    cdef uint32_t n_first = LAST_PUNCTUATION + 1 - FIRST_PUNCTUATION
    for i in range(n_first + N_CHARS):
        cp = FIRST_PUNCTUATION + i if i < n_first else i - n_first
        if (
            class_of(entries[cp]) & (ODD | SPECIAL)
            or is_space(entries[cp])
            or entries[cp] & KIND_MASK == KEPT
            or place_of_byte(found, entries[cp])[0]
        ):
            continue
        place_of_byte(found, entries[cp])[0] = next_free
        set_byte(table, next_free, entries[cp])
        next_free = next_free + 1 if next_free + 1 != c' ' else 0x7F
        if next_free == 0x80:
            return


cdef void fill_chars(
    ByteTable* table, const uint32_t* entries, ByteMap* found
) noexcept nogil:
    cdef uint32_t cp
    for cp in range(<uint32_t>N_CHARS):
        if c' ' <= cp <= LAST_VISIBLE:
            table.bytes.of_char[cp] = cp
        elif class_of(entries[cp]) & (ODD | SPECIAL):
            table.bytes.of_char[cp] = 0
        elif is_space(entries[cp]):
            table.bytes.of_char[cp] = c' '
        else:
            table.bytes.of_char[cp] = place_of_byte(found, entries[cp])[0]
    for cp in range(<uint32_t>c'A', <uint32_t>c'Z' + 1):
        table.bytes.of_char[cp] |= table.bytes.fold


cdef uint8_t class_of(uint32_t entry) noexcept nogil:
    cdef uint32_t kind = entry & KIND_MASK
    cdef uint8_t special = SPECIAL if entry & RARE and starts_special(entry) else 0
    if kind == EXPANDS or kind == REORDERS or kind == SURROGATE:
        return special | LETTER | ODD
    kind &= ~<uint32_t>RARE
    if kind == KEPT | ENDS_WORD:
        return special | ISOLATED
    if kind == KEPT:
        return special | LETTER
    if kind == DROPPED:  # which joins what stands on both sides of it
        return special | LETTER | VANISHES
    return special


cdef bint is_space(uint32_t entry) noexcept nogil:
    return entry & KIND_MASK == ENDS_WORD


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
    for byte in range(<uint32_t>FIRST_VISIBLE, <uint32_t>256):
        if byte == 0x7F:
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
        or byte >= 0x80
    )
