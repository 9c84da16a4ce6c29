"""Text of bytes: which characters have one, and what each of them is."""

from piecework._types cimport uint8_t, uint32_t
from piecework._vector cimport ByteClasses, Bytes

# The memo wants short keys, and vector code many characters at a time: so a text is made one of
# bytes first. Characters with equal entries are the same to the scanner and share a byte: to an
# uncased vocabulary U+0105, an a with a tail, is an a. Which characters have one is a matter of
# the vocabulary:
#
#     00                no byte of any character
#     20                white space, all of it
#     21 to 7E          visible ASCII; capitals become small letters, where that changes no result
#     80 to FF          letters: those that the vocabulary does not have, all of them, and the most
#     (41 to 5A, too,   frequent ones of those that it has
#     if no capitals)
#     01 to 1F, 7F      isolated characters, and what vanishes
cdef struct ByteTable:
    Bytes bytes
    ByteClasses classes
    uint32_t[256] entries  # of the CharTable, for the characters of each byte
    bint usable  # if not, no text may be made one of bytes


cdef void fill_byte_table(ByteTable* table, const uint32_t* entries) noexcept nogil
