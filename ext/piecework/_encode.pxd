"""The encoder, for whoever has many texts for it."""

from piecework._alphabet cimport Alphabet
from piecework._buffers cimport Ids
from piecework._byte_table cimport ByteTable
from piecework._char_table cimport CharTable
from piecework._chunks cimport Room
from piecework._items cimport Items
from piecework._scan cimport Tables
from piecework._trie cimport DoubleTrie
from piecework._types cimport Status
from piecework._window cimport Workspace


cdef enum:
    # How much text is worth letting other threads run for. Releasing and taking the GIL
    # costs 0.1 us, and up to a switch interval (5 ms) where another thread wants it.
    GIL_WORTHY_CHARS = 1 << 14


cdef class Encoder:
    cdef CharTable table
    cdef DoubleTrie trie
    cdef DoubleTrie specials
    cdef Alphabet special_alphabet
    cdef ByteTable bytes
    cdef Tables tables
    cdef object repair
    cdef object split_specials
    cdef object encode_reordered
    cdef list idle  # rooms that no call is using

    cdef Status encode_alone(self, text, Room room) except *

    cdef Room take_room(self)

    cdef int give_back(self, Room room) except -1

    cdef int append_row(
        self, text, row, tuple before, tuple after, Workspace* workspace, Ids* out
    ) except -1

    cdef Status scan(self, text, const Tables* tables, Items* items, Ids* out) except *
