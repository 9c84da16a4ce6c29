"""Builds the tries that hold a vocabulary.

`DoubleTrie` keeps the two tries of WordPiece in one flat array: the tokens as they stand, for the
start of a word, and the tokens with the continuation prefix (`##`), without it. Its symbols are
those of an `Alphabet`. It does not change after it is built.

Building takes three steps: a trie of linked nodes, found through a hash table of (node, symbol); a
place in the double array for each node's children, the largest families first, so that the many
single children fill the holes that are left; and the failure links.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final
from libc.string cimport memset

from piecework._alphabet cimport Alphabet, symbol_of
from piecework._items cimport SYMBOL_SHIFT
from piecework._types cimport int32_t, uint8_t, uint32_t, uint64_t


@final
cdef class DoubleTrie:
    """The start trie and the continuation trie of a vocabulary.

    Parameters
    ----------
    tokens : list of str
    ids : list of int
        As many as tokens; 0 <= id < 2**28.
    prefix : str or None
        The continuation prefix, "##" for BERT; None leaves the continuation trie empty.
    max_chars : int
        The longest word that will be matched. Longer tokens are left out.
    alphabet : Alphabet
        Made from the same tokens.
    unk_id : int
        The id of a word that can't be cut into pieces.
    """

    def __cinit__(
        self, list tokens, list ids, str prefix, Py_ssize_t max_chars, Alphabet alphabet,
        int32_t unk_id,
    ):
        cdef Builder builder = Builder(alphabet.n_symbols)
        cdef Py_ssize_t prefix_len = len(prefix) if prefix is not None else 0
        cdef Py_ssize_t row
        cdef str token
        for row in range(len(tokens)):
            token = tokens[row]
            if len(token) <= max_chars:
                builder.add(token, 0, builder.word_start, ids[row], alphabet)
            # A bare prefix adds nothing: a match is at least one character long.
            if (
                prefix is not None and token.startswith(prefix)
                and len(token) - prefix_len <= max_chars
            ):
                builder.add(token, prefix_len, 0, ids[row], alphabet)
        self.array.unk_id = unk_id
        builder.add_unknown(unk_id)
        builder.place(&self.array)
        builder.link(&self.array)

    def __dealloc__(self):
        PyMem_RawFree(self.array.units)
        PyMem_RawFree(self.array.pops)

    @property
    def n_units(self):
        """Length of the flat array: its fill is the number of states divided by it."""
        return self.array.n_units


cdef enum:
    MAX_UNITS = 1 << 26  # so that LITERAL and the marks are beyond any symbol


cdef int32_t* append_pops(const Pop* pops, int32_t pop, int32_t* ids) noexcept nogil:
    """Append the pieces of Unit.pop; return where the next id goes."""
    cdef int32_t n = n_pops(pops, pop)
    cdef int32_t i = n
    while pop < 0:
        i -= 1
        ids[i] = pops[-1 - pop].id
        pop = pops[-1 - pop].before
    ids[0] = pop
    return ids + n


cdef int32_t n_pops(const Pop* pops, int32_t pop) noexcept nogil:
    """Say how many pieces a Unit.pop stands for."""
    return 1 if pop >= 0 else pops[-1 - pop].n


# One node of the linked trie. value: the id of the token that ends here, or -1.
cdef struct Node:
    uint32_t parent
    uint32_t symbol  # on the edge from the parent
    uint32_t n_children
    int32_t value


@final
cdef class Builder:
    """A trie that grows, and then is laid out as a double array. Node 0 is its root."""

    cdef uint32_t n_symbols
    cdef uint32_t word_start  # a power of two above all symbols
    cdef Node* nodes
    cdef uint32_t n_nodes
    cdef uint32_t nodes_cap
    # Hash table from (parent, symbol) to node; 0, the root: free.
    cdef uint32_t* table  # (table_mask + 1,), a power of two, at most half full
    cdef uint32_t table_mask
    cdef uint32_t* slot  # (n_nodes,): each node's place in the array, once it has one

    def __cinit__(self, uint32_t n_symbols):
        self.n_symbols = n_symbols
        self.word_start = 1
        while self.word_start <= n_symbols + 1:
            self.word_start *= 2
        self.nodes_cap = 1 << 12
        self.table_mask = (1 << 13) - 1
        self.nodes = <Node*>PyMem_RawMalloc(self.nodes_cap * sizeof(Node))
        self.table = <uint32_t*>PyMem_RawCalloc(
            <size_t>self.table_mask + 1, sizeof(uint32_t)
        )
        if self.nodes == NULL or self.table == NULL:
            raise MemoryError
        self.new_node(NO_STATE, 0)

    def __dealloc__(self):
        PyMem_RawFree(self.nodes)
        PyMem_RawFree(self.table)
        PyMem_RawFree(self.slot)

    cdef int add(
        self, str token, Py_ssize_t start, uint32_t first_bit, int32_t value,
        Alphabet alphabet,
    ) except -1:
        """Add token[start:], if it is not empty; `first_bit` marks its first symbol."""
        cdef void* data = PyUnicode_DATA(token)
        cdef int kind = PyUnicode_KIND(token)
        cdef uint32_t node = 0, mark = first_bit
        cdef Py_ssize_t i
        for i in range(start, len(token)):
            node = self.child(
                node, symbol_of(&alphabet.table, PyUnicode_READ(kind, data, i)) | mark
            )
            mark = 0
        if node:
            self.nodes[node].value = value
        return 0

    cdef int add_unknown(self, int32_t unk_id) except -1:
        """Add the word that stands for all that are unknown."""
        cdef uint32_t node = self.child(0, self.word_start | (self.n_symbols + 1))
        self.nodes[node].value = unk_id
        return 0

    cdef uint32_t child(self, uint32_t parent, uint32_t symbol) except? 0:
        """Return the child of `parent` along `symbol`, made if it is not there."""
        cdef uint32_t i = place_of(parent, symbol) & self.table_mask
        cdef uint32_t node = self.table[i]
        while node:
            if self.nodes[node].parent == parent and self.nodes[node].symbol == symbol:
                return node
            i = (i + 1) & self.table_mask
            node = self.table[i]
        node = self.new_node(parent, symbol)
        self.nodes[parent].n_children += 1
        self.table[i] = node
        if self.n_nodes > self.table_mask >> 1:
            self.grow_table()
        return node

    cdef uint32_t new_node(self, uint32_t parent, uint32_t symbol) except? 0:
        cdef void* data
        if self.n_nodes == self.nodes_cap:
            if self.nodes_cap >= MAX_UNITS:
                raise MemoryError(f"a vocabulary of more than {MAX_UNITS:,} trie states")
            data = PyMem_RawRealloc(
                self.nodes, 2 * <size_t>self.nodes_cap * sizeof(Node)
            )
            if data == NULL:
                raise MemoryError
            self.nodes = <Node*>data
            self.nodes_cap *= 2
        self.nodes[self.n_nodes] = Node(parent, symbol, 0, -1)
        self.n_nodes += 1
        return self.n_nodes - 1

    cdef int grow_table(self) except -1:
        cdef uint32_t mask = 4 * (self.table_mask + 1) - 1
        cdef uint32_t* table = <uint32_t*>PyMem_RawCalloc(
            <size_t>mask + 1, sizeof(uint32_t)
        )
        cdef uint32_t node, i
        if table == NULL:
            raise MemoryError
        for node in range(self.n_nodes):
            if self.nodes[node].parent != NO_STATE:
                i = place_of(self.nodes[node].parent, self.nodes[node].symbol) & mask
                while table[i]:
                    i = (i + 1) & mask
                table[i] = node
        PyMem_RawFree(self.table)
        self.table = table
        self.table_mask = mask
        return 0

    cdef int place(self, DoubleArray* array) except -1:
        """Lay the nodes out as a double array, which the caller then owns."""
        cdef Layout layout
        cdef uint32_t* base = NULL
        cdef bint placed
        memset(&layout, 0, sizeof(Layout))
        self.slot = <uint32_t*>PyMem_RawCalloc(self.n_nodes, sizeof(uint32_t))
        base = <uint32_t*>PyMem_RawCalloc(self.n_nodes, sizeof(uint32_t))
        with nogil:
            placed = self.slot != NULL and base != NULL and lay_out(
                self.nodes, self.n_nodes, self.word_start | (self.n_symbols + 1), base, self.slot,
                &layout
            ) and fill_array(self.nodes, self.n_nodes, base, self.slot, &layout, array)
        PyMem_RawFree(base)
        PyMem_RawFree(layout.used)
        PyMem_RawFree(layout.full)
        if not placed:
            raise MemoryError
        array.word_start = self.word_start << SYMBOL_SHIFT
        array.unknown = (self.n_symbols + 1) << SYMBOL_SHIFT
        return 0

    cdef int link(self, DoubleArray* array) except -1:
        """Find the failure links of all states."""
        cdef Pops pops = Pops(NULL, 0, 0)
        cdef bint linked
        with nogil:
            linked = link_failures(self.nodes, self.n_nodes, self.slot, array, &pops)
        array.pops = pops.data
        if not linked:
            raise MemoryError(
                f"the failure links of the vocabulary need more than {MAX_POPS:,} ids: "
                "it holds very long tokens"
            )
        return 0


cdef inline uint32_t place_of(uint32_t parent, uint32_t symbol) noexcept nogil:
    """Hash an edge."""
    cdef uint64_t key = (<uint64_t>parent << 32) | symbol
    return <uint32_t>((key * <uint64_t>0x9E3779B97F4A7C15u) >> 32)


# Which places of the double array are taken. All of them are free from `end` on.
#
#     used  one bit each
#     full  one bit for each 64 places: all of them are taken
#
# Invariants: cap is a multiple of 4096; used holds cap bits, full cap / 64; end <= cap.
cdef struct Layout:
    uint64_t* used
    uint64_t* full
    uint32_t cap
    uint32_t end


cdef bint lay_out(
    const Node* nodes, uint32_t n_nodes, uint32_t max_symbol, uint32_t* base,
    uint32_t* slot, Layout* layout,
) noexcept nogil:
    """Find a base for the children of each node; False without memory.

    Ensures  slot[n] is a place of its own for each node; base[n] + symbol is the place
             of each child; layout.end is large enough for Unit's invariant
    """
    cdef uint32_t* family = <uint32_t*>PyMem_RawCalloc(
        <size_t>n_nodes + 1, sizeof(uint32_t)
    )  # where the children of a node begin in `members`
    cdef uint32_t* members = <uint32_t*>PyMem_RawCalloc(n_nodes, sizeof(uint32_t))
    cdef uint32_t* order = <uint32_t*>PyMem_RawCalloc(n_nodes, sizeof(uint32_t))
    cdef bint placed = (
        family != NULL and members != NULL and order != NULL
        and list_families(nodes, n_nodes, family, members)
        and order_by_size(nodes, n_nodes, order)
        and place_families(nodes, n_nodes, family, members, order, base, slot, layout)
        and reserve_places(layout, layout.end + max_symbol + 1)
    )
    PyMem_RawFree(family)
    PyMem_RawFree(members)
    PyMem_RawFree(order)
    if placed:
        layout.end += max_symbol + 1
    return placed


cdef bint list_families(
    const Node* nodes, uint32_t n_nodes, uint32_t* family, uint32_t* members
) noexcept nogil:
    """Group the nodes by parent: node n's children are members[family[n]:family[n + 1]]."""
    cdef uint32_t node, parent
    cdef uint32_t total = 0
    for node in range(n_nodes):
        family[node] = total
        total += nodes[node].n_children
    family[n_nodes] = total
    for node in range(n_nodes):
        parent = nodes[node].parent
        if parent != NO_STATE:
            members[family[parent]] = node
            family[parent] += 1
    for node in range(n_nodes, 0, -1):  # each entry now holds its end: shift them back
        family[node] = family[node - 1]
    family[0] = 0
    return True


cdef bint order_by_size(
    const Node* nodes, uint32_t n_nodes, uint32_t* order
) noexcept nogil:
    """Sort the nodes by number of children, largest first; False without memory."""
    cdef uint32_t* keys = <uint32_t*>PyMem_RawMalloc(n_nodes * sizeof(uint32_t))
    cdef uint32_t node, largest = 0
    cdef bint sorted
    if keys == NULL:
        return False
    for node in range(n_nodes):
        largest = max(largest, nodes[node].n_children)
    for node in range(n_nodes):
        keys[node] = largest - nodes[node].n_children
    sorted = counting_sort(keys, n_nodes, largest, order)
    PyMem_RawFree(keys)
    return sorted


cdef bint place_families(
    const Node* nodes, uint32_t n_nodes, const uint32_t* family, const uint32_t* members,
    const uint32_t* order, uint32_t* base, uint32_t* slot, Layout* layout,
) noexcept nogil:
    cdef uint32_t i, k, node, n, size = 0, from_base = 0, next_single = 0
    cdef const uint32_t* children
    if not reserve_places(layout, 1):
        return False
    mark_used(layout, ROOT)
    slot[0] = ROOT
    for i in range(n_nodes):
        node = order[i]
        n = nodes[node].n_children
        if n == 0:
            break
        if n != size:  # smaller families may fit where larger ones did not
            size = n
            from_base = 0
        children = members + family[node]
        if n > 1:
            base[node] = find_base(nodes, children, n, &from_base, layout)
        else:
            base[node] = find_single_base(
                nodes[children[0]].symbol, &next_single, layout
            )
        if base[node] == NO_STATE:
            return False
        for k in range(n):
            slot[children[k]] = base[node] + nodes[children[k]].symbol
            mark_used(layout, slot[children[k]])
    return True


# Where a family did not fit at PATIENCE free places in a row, the search of the next
# one of its size begins behind them; one that did not fit at MAX_TRIES goes to the end.
# So dense regions are not searched again and again. With these numbers the arrays of the
# vocabularies of 30,522 and 119,547 tokens have no hole left, and placing takes less
# time than adding the tokens.
cdef enum:
    PATIENCE = 16
    MAX_TRIES = 64


cdef uint32_t find_base(
    const Node* nodes, const uint32_t* children, uint32_t n, uint32_t* from_base,
    Layout* layout,
) noexcept nogil:
    """Return a base at which all children have a free place; NO_STATE without memory."""
    cdef uint32_t first = NO_STATE, last = 0, symbol, place, base, k, tried = 0
    for k in range(n):
        symbol = nodes[children[k]].symbol
        first = min(first, symbol)
        last = max(last, symbol)
    place = from_base[0] + first
    while True:
        place = next_free(layout, place)
        base = place - first
        if not reserve_places(layout, base + last + 1):
            return NO_STATE
        for k in range(n):
            if is_used(layout, base + nodes[children[k]].symbol):
                break
        else:
            if tried >= PATIENCE:
                from_base[0] = base
            return base
        tried += 1
        place = place + 1 if tried < MAX_TRIES else layout.end + first


cdef inline uint32_t find_single_base(
    uint32_t symbol, uint32_t* next_single, Layout* layout
) noexcept nogil:
    """Return a base for an only child; NO_STATE without memory.

    Only children come last and fill the holes from the left, so chains of them, the
    rest of a long word, come to stand side by side.
    """
    cdef uint32_t place = next_free(layout, max(next_single[0], symbol))
    if symbol <= next_single[0]:
        next_single[0] = place + 1
    return place - symbol if reserve_places(layout, place + 1) else NO_STATE


cdef inline uint32_t next_free(const Layout* layout, uint32_t place) noexcept nogil:
    """Return the first free place at or behind `place`."""
    cdef uint32_t word = place >> 6, group
    cdef uint64_t free
    if place >= layout.end:
        return place
    free = ~layout.used[word] & (~<uint64_t>0 << (place & 63))
    if free == 0:
        word += 1
        group = word >> 6
        if word << 6 >= layout.cap:
            return word << 6
        free = ~layout.full[group] & (~<uint64_t>0 << (word & 63))
        while free == 0:
            group += 1
            if group << 12 >= layout.cap:
                return group << 12
            free = ~layout.full[group]
        word = (group << 6) + lowest_bit(free)
        free = ~layout.used[word]
    return (word << 6) + lowest_bit(free)


cdef extern from *:
    """
    /* Number of the lowest set bit of x, which is not 0. */
    #if defined(__GNUC__) || defined(__clang__)
    #define lowest_bit(x) ((uint32_t)__builtin_ctzll(x))
    #else
    #include <intrin.h>
    static inline uint32_t lowest_bit(uint64_t x) {
        unsigned long n;
        _BitScanForward64(&n, x);
        return (uint32_t)n;
    }
    #endif
    """
    uint32_t lowest_bit(uint64_t bits) nogil


cdef inline bint is_used(const Layout* layout, uint32_t place) noexcept nogil:
    return (layout.used[place >> 6] >> (place & 63)) & 1


cdef inline void mark_used(Layout* layout, uint32_t place) noexcept nogil:
    cdef uint32_t word = place >> 6
    layout.used[word] |= <uint64_t>1 << (place & 63)
    if layout.used[word] == ~<uint64_t>0:
        layout.full[word >> 6] |= <uint64_t>1 << (word & 63)
    layout.end = max(layout.end, place + 1)


cdef bint reserve_places(Layout* layout, uint32_t n) noexcept nogil:
    """Make room for `n` places; False without memory, or beyond MAX_UNITS."""
    cdef uint32_t cap
    if n <= layout.cap:
        return True
    if n > MAX_UNITS:
        return False
    cap = ((n + n // 2) | 4095) + 1
    if not (
        extend_bits(&layout.used, layout.cap, cap)
        and extend_bits(&layout.full, layout.cap >> 6, cap >> 6)
    ):
        return False
    layout.cap = cap
    return True


cdef bint extend_bits(uint64_t** bits, uint32_t n_old, uint32_t n) noexcept nogil:
    """Extend n_old bits to n bits, the new ones zero; False without memory."""
    cdef void* data = PyMem_RawRealloc(bits[0], n >> 3)
    if data == NULL:
        return False
    bits[0] = <uint64_t*>data
    memset(<uint8_t*>data + (n_old >> 3), 0, (n - n_old) >> 3)
    return True


cdef bint fill_array(
    const Node* nodes, uint32_t n_nodes, const uint32_t* base, const uint32_t* slot,
    const Layout* layout, DoubleArray* array,
) noexcept nogil:
    """Write the units for the layout; False without memory."""
    cdef uint32_t node, place
    cdef Unit* unit
    array.n_units = layout.end
    array.units = <Unit*>PyMem_RawMalloc(<size_t>layout.end * sizeof(Unit))
    if array.units == NULL:
        return False
    for place in range(layout.end):
        array.units[place] = Unit(0, NO_STATE, ROOT, NO_PIECES)
    for node in range(n_nodes):
        unit = &array.units[slot[node]]
        # Behind a state without children a piece ends: the search for one there and the
        # search at the root then look into the same cache line.
        unit.base = base[node if nodes[node].n_children else 0] << SYMBOL_SHIFT
        if nodes[node].parent != NO_STATE:
            unit.parent = slot[nodes[node].parent] << SYMBOL_SHIFT
    return True


cdef enum:
    MAX_POPS = 1 << 27  # 1.5 GiB


# A growable array.
cdef struct Pops:
    Pop* data
    Py_ssize_t n
    Py_ssize_t cap


cdef bint link_failures(
    const Node* nodes, uint32_t n_nodes, const uint32_t* slot, DoubleArray* array,
    Pops* pops,
) noexcept nogil:
    """Fill in `fail` and `pop` of each state, short texts first; False without memory.

    The link of a state hangs on its parent's and on those of shorter texts.
    """
    cdef uint32_t* order = <uint32_t*>PyMem_RawMalloc(n_nodes * sizeof(uint32_t))
    cdef uint32_t i, node
    cdef Unit* unit
    cdef bint linked = order != NULL and order_by_depth(nodes, n_nodes, order)
    if linked:
        for i in range(1, n_nodes):
            node = order[i]
            unit = &array.units[slot[node]]
            if nodes[node].value >= 0:  # the longest piece is all of the text
                unit.pop = nodes[node].value
            elif not link_state(array, unit, nodes[node].symbol << SYMBOL_SHIFT, pops):
                linked = False
                break
    PyMem_RawFree(order)
    return linked


cdef bint link_state(
    const DoubleArray* array, Unit* unit, uint32_t symbol, Pops* pops
) noexcept nogil:
    """Find the failure of a state at which no piece ends; False without memory."""
    cdef const Unit* before = unit_at(array, unit.parent)
    cdef uint32_t state = before.fail, child
    cdef int32_t pop = before.pop
    cdef Py_ssize_t n_before = pops.n
    while before.pop != NO_PIECES:
        child = child_of(array, state, symbol)
        if child != NO_STATE:
            unit.fail = child
            unit.pop = pop
            return True
        before = unit_at(array, state)
        if before.pop != NO_PIECES and not join_pops(&pop, before.pop, pops):
            return False
        state = before.fail
    pops.n = n_before  # none of the pieces is certain after all
    return True


cdef bint join_pops(int32_t* pop, int32_t more, Pops* pops) noexcept nogil:
    """Let `pop` stand for its pieces and those of `more`; False without memory."""
    cdef int32_t n = n_pops(pops.data, more), n_before = n_pops(pops.data, pop[0]), i
    cdef Py_ssize_t first = pops.n, cap = pops.cap
    cdef void* data
    if first + n > cap:
        cap = 2 * cap + n
        data = PyMem_RawRealloc(pops.data, cap * sizeof(Pop)) if cap <= MAX_POPS else NULL
        if data == NULL:
            return False
        pops.data = <Pop*>data
        pops.cap = cap
    for i in range(n - 1, -1, -1):  # a chain is read from its end
        pops.data[first + i].id = more if more >= 0 else pops.data[-1 - more].id
        pops.data[first + i].before = <int32_t>(-first - i)
        pops.data[first + i].n = n_before + i + 1
        if more < 0:
            more = pops.data[-1 - more].before
    pops.data[first].before = pop[0]
    pops.n = first + n
    pop[0] = <int32_t>(-first - n)
    return True


cdef bint order_by_depth(
    const Node* nodes, uint32_t n_nodes, uint32_t* order
) noexcept nogil:
    """Sort the nodes by distance from the root; False without memory.

    Requires  a node comes after its parent
    """
    cdef uint32_t* depth = <uint32_t*>PyMem_RawCalloc(n_nodes, sizeof(uint32_t))
    cdef uint32_t node, deepest = 0
    cdef bint sorted
    if depth == NULL:
        return False
    for node in range(1, n_nodes):
        depth[node] = depth[nodes[node].parent] + 1
        deepest = max(deepest, depth[node])
    sorted = counting_sort(depth, n_nodes, deepest, order)
    PyMem_RawFree(depth)
    return sorted


cdef bint counting_sort(
    const uint32_t* keys, uint32_t n, uint32_t largest, uint32_t* order
) noexcept nogil:
    """Write the numbers below n by ascending key, equal keys in order; False without memory.

    Requires  no key is above `largest`
    """
    cdef uint32_t* starts = <uint32_t*>PyMem_RawCalloc(
        <size_t>largest + 1, sizeof(uint32_t)
    )
    cdef uint32_t i, count, start = 0
    if starts == NULL:
        return False
    for i in range(n):
        starts[keys[i]] += 1
    for i in range(largest + 1):
        count = starts[i]
        starts[i] = start
        start += count
    for i in range(n):
        order[starts[keys[i]]] = i
        starts[keys[i]] += 1
    PyMem_RawFree(starts)
    return True


cdef int32_t max_id(const DoubleArray* trie) noexcept nogil:
    """Return the highest id that the walk can give."""
    cdef int32_t highest = trie.unk_id
    cdef uint32_t i
    for i in range(trie.n_units):
        highest = max(highest, trie.units[i].pop)
    return highest
