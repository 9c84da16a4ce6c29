"""A vocabulary's two tries as one double array with failure links."""

from piecework._types cimport int32_t, uint32_t


# One state, 16 bytes. States and symbols are counted in bytes, as distances in the array
# of units: state s is the unit there, and child(s, c) is t = base(s) + c, if it is
# a child at all: iff parent(t) == s.
#
# What a state stands for is the text since the last piece. Where it has no child along the
# next symbol, part of that text becomes pieces whatever follows, and the rest is a state
# again (Song, Salcianu, Song, Dopson, Zhou: Fast WordPiece Tokenization, 2021).
#
#     base    where the children begin
#     parent  the state this one is a child of, or NO_STATE (free, or the root)
#     fail    that rest
#     pop     the pieces: an id; or -1 - i for several, of which pops[i] is the last; or
#             NO_PIECES: the word can't be cut into pieces, and fail is ROOT
#
# Invariants: base(s) + c is the place of a unit for every state s and every symbol c of the
# alphabet, 0 included, with word_start or without; no state is a child along symbol 0, which
# stands for a character that is in no token.
cdef struct Unit:
    uint32_t base
    uint32_t parent
    uint32_t fail
    int32_t pop


cdef enum:
    SYMBOL_SHIFT = 4  # makes a symbol the distance in bytes between two units
    ROOT = 0  # nothing since the last piece
    NO_STATE = 0xFFFFFFFFu
    NO_PIECES = -0x7FFFFFFF


# The last of several pieces. Chains share their beginnings, as the states of one token do.
cdef struct Pop:
    int32_t id
    int32_t before  # the pieces before it, as in Unit.pop
    int32_t n  # how many they are with it


# The start trie and the continuation trie hang on one root, and only the first symbol of
# a word tells them apart: it has the bit word_start, which is larger than any symbol.
cdef struct DoubleArray:
    Unit* units  # (n_units,)
    Pop* pops
    uint32_t n_units
    uint32_t word_start
    uint32_t unknown
    int32_t unk_id


cdef inline const Unit* unit_at(const DoubleArray* trie, uint32_t state) noexcept nogil:
    return <const Unit*>(<const char*>trie.units + state)


cdef inline uint32_t child_of(
    const DoubleArray* trie, uint32_t state, uint32_t symbol
) noexcept nogil:
    """Return the child along `symbol`, or NO_STATE."""
    cdef uint32_t child = unit_at(trie, state).base + symbol
    return child if unit_at(trie, child).parent == state else NO_STATE


cdef inline bint ends_token(const Unit* unit) noexcept nogil:
    """Say whether the text of a state, all of it, is one piece."""
    return unit.fail == ROOT and unit.pop >= 0


# A word that is to be put into a trie: what is still to be spelled of it.
cdef struct Word:
    size_t at  # its next symbol, in an array of those of all words
    uint32_t n_left
    int32_t id


# One node of the linked trie. Nodes are numbered level by level, 0 is the root, and the children
# of a node follow each other.
cdef struct Node:
    uint32_t parent  # NO_STATE for the root
    uint32_t symbol  # on the edge from the parent
    uint32_t first  # child; before there are any, the first of the words that go on from here
    uint32_t n  # how many they are
    int32_t value  # the id of the word that ends here, or -1


# A growable array.
cdef struct Nodes:
    Node* data
    uint32_t n
    uint32_t cap


cdef bint spell(
    Word* words, size_t n_words, const uint32_t* symbols, uint32_t max_symbol, Nodes* nodes
) noexcept nogil
cdef bint place(
    const Node* nodes, uint32_t n_nodes, uint32_t max_symbol, uint32_t* slot, DoubleArray* array
) noexcept nogil
cdef int32_t max_id(const DoubleArray* trie, int32_t below) noexcept nogil
cdef int32_t n_pops(const Pop* pops, int32_t pop) noexcept nogil
cdef int32_t* append_pops(const Pop* pops, int32_t pop, int32_t* ids) noexcept nogil


cdef class DoubleTrie:
    cdef DoubleArray array
