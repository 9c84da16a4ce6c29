"""The walk along the tries: items to token ids."""

from piecework._buffers cimport Ids
from piecework._items cimport Items
from piecework._trie cimport DoubleArray


cdef bint walk_items(const DoubleArray* trie, Items* items, Ids* out) noexcept nogil
