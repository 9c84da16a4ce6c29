"""Double-array tries: the flat arrays, and the walk along them."""

from piecework._types cimport int32_t, uint32_t


# One state of a trie, 8 bytes. child(s, c) is the state t = base(s) + c, and it is
# there iff units[t].parent says s.
#
#     base    where the children of this state begin
#     parent  bits 0-30  the state this one is a child of, or NO_STATE (free, or a root)
#             bit 31     ENDS_PIECE: a piece ends here, its id is values[state]
#
# The flag is not in base because the next step of a walk waits for base, and one more
# operation on it would be one more cycle a character.
#
# Invariants: base(s) + c < n_units for every state s and every symbol c <= n_symbols;
# no state is a child along symbol 0, so symbol 0 ends every walk.
cdef struct Unit:
    uint32_t base
    uint32_t parent


cdef enum:
    ENDS_PIECE = 0x80000000u
    PARENT_MASK = 0x7FFFFFFFu
    NO_STATE = 0x7FFFFFFFu


# All a walk needs. values: int32[n_units], read once per match.
cdef struct DoubleArray:
    Unit* units
    int32_t* values
    uint32_t n_units


cdef inline Py_ssize_t longest_match(
    const DoubleArray* trie, uint32_t root, const uint32_t* symbols, int32_t* id_out
) noexcept nogil:
    """Find the longest piece that begins at symbols[0].

    Requires  symbols ends with a 0; no symbol is above the n_symbols that the trie was
              built with
    Ensures   returns the piece's length >= 1 and its id, or 0 and id_out untouched
    """
    cdef const Unit* units = trie.units
    cdef uint32_t state = root, last = root, child, parent
    cdef Py_ssize_t n = 0, matched = 0
    child = units[root].base + symbols[0]  # in bounds: see Unit's invariant
    parent = units[child].parent
    while parent & PARENT_MASK == state:
        n += 1
        state = child
        # No branch: whether a piece ends here is as good as random.
        matched = n if parent & ENDS_PIECE else matched
        last = child if parent & ENDS_PIECE else last
        child = units[child].base + symbols[n]
        parent = units[child].parent
    if matched:
        id_out[0] = trie.values[last]
    return matched


cdef class DoubleTrie:
    cdef DoubleArray array
    cdef uint32_t start_root
    cdef uint32_t continuation_root
