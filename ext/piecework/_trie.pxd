"""Double-array tries with failure links: the flat arrays, and the steps along them."""

from piecework._buffers cimport Ids, append_ids
from piecework._types cimport int32_t, uint32_t


# One state of a trie, 8 bytes. child(s, c) is the state t = base(s) + c, and it is
# there iff units[t].parent == s.
#
#     base    where the children of this state begin
#     parent  the state this one is a child of, or NO_STATE (free, or a root)
#
# Invariants: base(s) + c < n_units for every state s and every symbol c <= n_symbols;
# no state is a child along symbol 0, which stands for a character that is in no token.
cdef struct Unit:
    uint32_t base
    uint32_t parent


# Where to go from a state that has no child along the next symbol. A state stands for
# the text since the last piece; matching the longest piece again and again, part of that
# text becomes pieces whatever follows, and the rest is a state of the continuation trie.
#
#     state  that rest, or NO_STATE: the text can't be cut into pieces
#     pop    the pieces: an id, or -1 - i for a list: pops[i] is how many, they follow
#
# (Song, Salcianu, Song, Dopson, Zhou: Fast WordPiece Tokenization, 2021.)
cdef struct Failure:
    uint32_t state
    int32_t pop


cdef struct DoubleArray:
    Unit* units  # (n_units,)
    Failure* failures  # (n_units,)
    int32_t* pops
    uint32_t n_units
    uint32_t start_root
    uint32_t continuation_root


cdef enum:
    NO_STATE = 0xFFFFFFFFu  # as the result of a step: the word can't be cut into pieces
    NO_ROOM = 0xFFFFFFFEu  # as the result of a step: no memory for its pieces


# States go in and out by value: a state in memory would cost the walk five cycles a
# character.


cdef inline uint32_t step(
    const DoubleArray* trie, uint32_t state, uint32_t symbol, Ids* out
) noexcept nogil:
    """Go along one symbol, after the failure links that this takes.

    Requires  state < NO_ROOM; symbol <= the n_symbols that the trie was built with
    Ensures   returns the new state, and the pieces that are certain now are appended; or
              NO_STATE, or NO_ROOM
    """
    # In bounds: see Unit's invariant.
    cdef uint32_t child = trie.units[state].base + symbol
    while trie.units[child].parent != state:
        state = fail(trie, state, out)
        if state >= NO_ROOM:
            return state
        child = trie.units[state].base + symbol
    return child


cdef inline uint32_t fail(
    const DoubleArray* trie, uint32_t state, Ids* out
) noexcept nogil:
    """Follow one failure link and append its pieces; requires and returns as `step`."""
    cdef Failure failure = trie.failures[state]
    cdef const int32_t* list = &failure.pop
    cdef int32_t n = 1
    if failure.state == NO_STATE:
        return NO_STATE
    if failure.pop < 0:
        list = trie.pops - failure.pop
        n = list[-1]
    return failure.state if append_ids(out, list, n) else NO_ROOM


cdef inline uint32_t end_word(
    const DoubleArray* trie, uint32_t state, Ids* out
) noexcept nogil:
    """Append the pieces of what is left at a word's end; requires and returns as `step`."""
    while state != trie.continuation_root:
        state = fail(trie, state, out)
        if state >= NO_ROOM:
            break
    return state


cdef class DoubleTrie:
    cdef DoubleArray array
