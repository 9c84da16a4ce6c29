"""Text of bytes: which characters have one, and what each of them is."""

from piecework._types cimport uint8_t, uint32_t
from piecework._vector cimport ByteClasses

# The words of most texts are of few characters, and the memo wants short keys. So a text is made
# one of bytes first:
#
#     00         any character that has none of these bytes
#     01 to 7F   U+0001 to U+007F; capitals become small letters, where that changes no result
#     80 to 9F   U+2010 to U+202F: dashes, quotation marks, the ellipsis
#     A0 to FF   U+00A0 to U+00FF
cdef struct ByteTable:
    ByteClasses classes
    uint32_t[256] entries  # of the CharTable, for the character of each byte
    uint8_t fold  # 0x20 if capitals become small letters, else 0
    bint usable  # if not, no text may be made one of bytes


cdef void fill_byte_table(ByteTable* table, const uint32_t* entries) noexcept nogil
