"""The encoder, for whoever has many texts for it."""

from piecework._added cimport AddedTokens
from piecework._alphabet cimport Alphabet
from piecework._buffers cimport Ids
from piecework._byte_table cimport ByteTable
from piecework._char_table cimport CharTable
from piecework._chunks cimport Room
from piecework._items cimport Items
from piecework._offsets cimport TokenLengths
from piecework._scan cimport Tables
from piecework._trie cimport DoubleTrie
from piecework._types cimport Status
from piecework._window cimport Lengths, Workspace


cdef enum:
    # How much text is worth letting other threads run for. Releasing and taking the GIL
    # costs 0.1 us, and up to a switch interval (5 ms) where another thread wants it.
    GIL_WORTHY_CHARS = 1 << 14


cdef class Encoder:
    cdef CharTable table
    cdef DoubleTrie trie
    cdef DoubleTrie specials
    cdef Alphabet special_alphabet
    cdef AddedTokens added
    cdef ByteTable bytes
    cdef Tables tables
    cdef object repair
    cdef object split_text
    cdef object encode_reordered
    cdef object encode_row
    cdef object make_lengths
    cdef TokenLengths lengths  # None: not made yet, or there are none
    cdef bint clips_end  # what rows may be clipped for, as for piecework.clipping.Clipping
    cdef bint clips_at_isolated
    cdef Py_ssize_t clip_margin
    cdef list idle  # rooms that no call is using

    cdef Status encode_alone(self, text, Room room) except *

    cdef const Lengths* token_lengths(self) except? NULL

    cdef Room take_room(self)

    cdef int give_back(self, Room room) except -1

    cdef int append_row(
        self, text, row, tuple before, tuple after, Workspace* workspace, Ids* out
    ) except -1

    cdef int append_text(self, text, row, tuple before, Items* items, Ids* out) except -1

    cdef int append_literals(self, ids, Items* items, Ids* out) except -1

    cdef Status scan(self, text, const Tables* tables, Items* items, Ids* out) except *
