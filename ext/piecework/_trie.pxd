"""Double-array tries with failure links: the flat arrays, and the steps along them."""

from piecework._hints cimport likely
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
#     pop    the pieces: an id, or -1 - i for several, of which pops[i] is the last
#
# (Song, Salcianu, Song, Dopson, Zhou: Fast WordPiece Tokenization, 2021.)
cdef struct Failure:
    uint32_t state
    int32_t pop


# The last of several pieces. Chains share their beginnings, as the states of one token do.
cdef struct Pop:
    int32_t id
    int32_t before  # the pieces before it, as in Failure
    int32_t n  # how many they are with it


cdef struct DoubleArray:
    Unit* units  # (n_units,)
    Failure* failures  # (n_units,)
    Pop* pops
    uint32_t n_units
    uint32_t start_root
    uint32_t continuation_root
    uint32_t continuation_base


cdef enum:
    NO_STATE = 0xFFFFFFFFu  # as the result of a step: the word can't be cut into pieces


# A walk along a word. Its state goes in and out by value, and its pieces go to `ids`, a
# pointer that moves along: whatever lies in memory costs the walk cycles at each letter.
# There is room where the caller has reserved one id for each letter of the word, as a
# piece is at least one letter long.


cdef inline uint32_t step(
    const DoubleArray* trie, uint32_t state, uint32_t symbol, int32_t** ids
) noexcept nogil:
    """Go along one symbol, after the failure links that this takes.

    Requires  state != NO_STATE; symbol <= the n_symbols that the trie was built with
    Ensures   returns the new state, and the pieces that are certain now are appended; or
              NO_STATE
    """
    # In bounds: see Unit's invariant.
    cdef uint32_t child = trie.units[state].base + symbol
    while not likely(trie.units[child].parent == state):
        if likely(ends_token(trie, state)):
            # The next state is guessed (a branch) and not waited for (a load).
            ids[0][0] = trie.failures[state].pop
            ids[0] += 1
            child = trie.continuation_base + symbol
            if likely(trie.units[child].parent == trie.continuation_root):
                return child
            return NO_STATE
        state = fail(trie, state, ids)
        if state == NO_STATE:
            return NO_STATE
        child = trie.units[state].base + symbol
    return child


cdef inline bint ends_token(const DoubleArray* trie, uint32_t state) noexcept nogil:
    """Say whether one token ends at `state`: its failure leaves nothing over."""
    cdef Failure failure = trie.failures[state]
    return failure.pop >= 0 and failure.state == trie.continuation_root


cdef inline uint32_t fail(
    const DoubleArray* trie, uint32_t state, int32_t** ids
) noexcept nogil:
    """Follow one failure link and append its pieces; requires and returns as `step`."""
    cdef Failure failure = trie.failures[state]
    if failure.pop >= 0:
        ids[0][0] = failure.pop
        ids[0] += failure.state != NO_STATE
    else:
        ids[0] = append_pops(trie.pops, failure.pop, ids[0])
    return failure.state


cdef inline uint32_t end_word(
    const DoubleArray* trie, uint32_t state, int32_t** ids
) noexcept nogil:
    """Append the pieces of what is left at a word's end; requires and returns as `step`."""
    # The loop alone would do, and cost encoding 4 to 8 % of its speed.
    if likely(state != NO_STATE and ends_token(trie, state)):
        ids[0][0] = trie.failures[state].pop
        ids[0] += 1
        return trie.continuation_root
    while state != trie.continuation_root and state != NO_STATE:
        state = fail(trie, state, ids)
    return state


cdef int32_t* append_pops(const Pop* pops, int32_t pop, int32_t* ids) noexcept nogil


cdef class DoubleTrie:
    cdef DoubleArray array
