"""Builds the tries that hold a vocabulary.

`DoubleTrie` keeps the two tries of WordPiece in one flat array: the tokens as they stand, for the
start of a word, and the tokens with the continuation prefix (`##`), without it. Its symbols are
those of an `Alphabet`. It does not change after it is built.

Building takes three steps: a trie of linked nodes, level by level, so that the children of a node
are neighbours; a place in the double array for each node's children, the largest families first, so
that the many single children fill the holes that are left; and the failure links.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final
from libc.string cimport memcpy, memset

from piecework._alphabet cimport Alphabet, symbol_of
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
    letters : bytes or None
        For each symbol, whether a word can hold it beside others: what can't be part of a word is
        left out. None: any can.
    """

    def __cinit__(
        self, list tokens, list ids, str prefix, Py_ssize_t max_chars, Alphabet alphabet,
        int32_t unk_id, bytes letters=None,
    ):
        cdef Words words = Words(tokens, alphabet, letters)
        cdef Py_ssize_t prefix_len = len(prefix) if prefix is not None else 0
        cdef Py_ssize_t row
        cdef str token
        for row in range(len(tokens)):
            token = tokens[row]
            if len(token) <= max_chars:
                words.add(token, 0, words.word_start, ids[row])
            if (
                prefix is not None and token.startswith(prefix)
                and len(token) - prefix_len <= max_chars
            ):
                words.add(token, prefix_len, 0, ids[row])
        self.array.unk_id = unk_id
        words.add_unknown(unk_id)
        build(words, &self.array)

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


@final
cdef class Words:
    """The words that a vocabulary puts into the tries, as symbols."""

    cdef Alphabet alphabet
    cdef bytes letters
    cdef uint32_t word_start  # a power of two above all symbols
    cdef Word* words  # (n_words,)
    cdef size_t n_words
    cdef uint32_t* symbols  # (n_symbols,)
    cdef size_t n_symbols

    def __cinit__(self, list tokens, Alphabet alphabet not None, bytes letters):
        cdef size_t n_chars = 1  # that of the unknown word
        cdef str token
        if letters is not None and len(letters) != alphabet.n_symbols + 1:
            raise ValueError(
                f"letters: expected a byte for each of {alphabet.n_symbols + 1} symbols, "
                f"got {len(letters)}"
            )
        self.alphabet = alphabet
        self.letters = letters
        self.word_start = 1
        while self.word_start <= alphabet.n_symbols + 1:
            self.word_start *= 2
        for token in tokens:
            n_chars += 2 * <size_t>len(token)  # at the start of a word, and in it
        self.words = <Word*>PyMem_RawMalloc((2 * <size_t>len(tokens) + 1) * sizeof(Word))
        self.symbols = <uint32_t*>PyMem_RawMalloc(n_chars * sizeof(uint32_t))
        if self.words == NULL or self.symbols == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_RawFree(self.words)
        PyMem_RawFree(self.symbols)

    cdef int add(
        self, str token, Py_ssize_t start, uint32_t first_bit, int32_t value
    ) except -1:
        """Add token[start:], if it can occur; `first_bit` marks its first symbol.

        Requires  each token of the list comes once with `first_bit`, and once without
        """
        cdef void* data = PyUnicode_DATA(token)
        cdef int kind = PyUnicode_KIND(token)
        cdef uint32_t* symbols = self.symbols + self.n_symbols
        cdef Py_ssize_t n = len(token) - start, i
        # A match is at least one character long. One that is isolated is a word.
        cdef const char* letters = NULL
        if self.letters is not None and not (n == 1 and first_bit):
            letters = self.letters
        if n == 0:
            return 0
        if n >= <Py_ssize_t>MAX_UNITS:
            raise MemoryError(f"a token of {n:,} characters")
        for i in range(n):
            symbols[i] = symbol_of(&self.alphabet.table, PyUnicode_READ(kind, data, start + i))
            if letters != NULL and not letters[symbols[i]]:
                return 0
        symbols[0] |= first_bit
        self.append(n, value)
        return 0

    cdef void add_unknown(self, int32_t unk_id):
        """Add the word that stands for all that are unknown."""
        self.symbols[self.n_symbols] = self.word_start | (self.alphabet.n_symbols + 1)
        self.append(1, unk_id)

    cdef void append(self, size_t n, int32_t value):
        self.words[self.n_words] = Word(self.n_symbols, <uint32_t>n, value)
        self.n_words += 1
        self.n_symbols += n


cdef int build(Words words, DoubleArray* array) except -1:
    """Build the double array, which the caller then owns."""
    cdef Nodes nodes = Nodes(NULL, 0, 0)
    cdef Pops pops = Pops(NULL, 0, 0)
    cdef uint32_t n_symbols = words.alphabet.n_symbols
    cdef uint32_t* slot = NULL  # each node's place in the array
    cdef bint linked = False, placed = False, spelled
    with nogil:
        spelled = spell(words.words, words.n_words, words.symbols, 2 * words.word_start, &nodes)
        if spelled:
            slot = <uint32_t*>PyMem_RawCalloc(nodes.n, sizeof(uint32_t))
            placed = slot != NULL and place(
                nodes.data, nodes.n, words.word_start | (n_symbols + 1), slot, array
            )
        if placed:
            linked = link_failures(nodes.data, nodes.n, slot, array, &pops)
            array.pops = pops.data
        PyMem_RawFree(nodes.data)
        PyMem_RawFree(slot)
    if not spelled and nodes.n >= MAX_UNITS:
        raise MemoryError(f"a vocabulary of more than {MAX_UNITS:,} trie states")
    if placed and not linked:
        raise MemoryError(
            f"the failure links of the vocabulary need more than {MAX_POPS:,} ids: "
            "it holds very long tokens"
        )
    if not linked:
        raise MemoryError
    array.word_start = words.word_start << SYMBOL_SHIFT
    array.unknown = (n_symbols + 1) << SYMBOL_SHIFT
    return 0


cdef bint spell(
    Word* words, size_t n_words, const uint32_t* symbols, uint32_t max_symbol, Nodes* nodes
) noexcept nogil:
    """Make the nodes of all words; False without memory, or for more than MAX_UNITS.

    Words that go on from the same node stand side by side, and are sorted on by their next symbol,
    which takes the place of a search for each letter of each word.
    """
    cdef Word* spare = <Word*>PyMem_RawMalloc(n_words * sizeof(Word))
    cdef uint32_t* child = <uint32_t*>PyMem_RawCalloc(
        <size_t>max_symbol + 1, sizeof(uint32_t)
    )  # the newest node along each symbol
    cdef uint32_t node = 0
    cdef bint spelled = (
        spare != NULL and child != NULL and n_words < NO_STATE
        and add_node(nodes, Node(NO_STATE, 0, 0, <uint32_t>n_words, -1))
    )
    while spelled and node < nodes.n:
        spelled = expand(node, words, spare, symbols, child, nodes)
        node += 1
    PyMem_RawFree(spare)
    PyMem_RawFree(child)
    return spelled


cdef bint expand(
    uint32_t parent, Word* words, Word* spare, const uint32_t* symbols, uint32_t* child,
    Nodes* nodes,
) noexcept nogil:
    """Make the children of a node and hand its words on to them; False without memory."""
    cdef uint32_t start = nodes.data[parent].first, stop = start + nodes.data[parent].n
    cdef uint32_t first = nodes.n, i, node, symbol, place = start
    if stop - start == 1 and words[start].n_left:  # nothing to sort
        nodes.data[parent].first = first
        words[start].n_left -= 1
        words[start].at += 1
        return add_node(nodes, Node(parent, symbols[words[start].at - 1], start, 1, -1))
    for i in range(start, stop):
        if words[i].n_left == 0:
            nodes.data[parent].value = words[i].id
            continue
        symbol = symbols[words[i].at]
        if child[symbol] < first:
            child[symbol] = nodes.n
            if not add_node(nodes, Node(parent, symbol, 0, 0, -1)):
                return False
        nodes.data[child[symbol]].n += 1
    nodes.data[parent].first = first
    nodes.data[parent].n = nodes.n - first
    for node in range(first, nodes.n):
        nodes.data[node].first = place
        place += nodes.data[node].n
    for i in range(start, stop):
        if words[i].n_left:
            node = child[symbols[words[i].at]]
            spare[nodes.data[node].first] = Word(words[i].at + 1, words[i].n_left - 1, words[i].id)
            nodes.data[node].first += 1
    for node in range(first, nodes.n):
        nodes.data[node].first -= nodes.data[node].n
    memcpy(words + start, spare + start, (place - start) * sizeof(Word))
    return True


cdef bint add_node(Nodes* nodes, Node node) noexcept nogil:
    """Append a node; False without memory, or for more than MAX_UNITS."""
    cdef uint32_t cap = max(<uint32_t>4096, 2 * nodes.cap)
    cdef void* data
    if nodes.n == nodes.cap:
        data = NULL
        if nodes.n < MAX_UNITS:
            data = PyMem_RawRealloc(nodes.data, cap * sizeof(Node))
        if data == NULL:
            return False
        nodes.data = <Node*>data
        nodes.cap = cap
    nodes.data[nodes.n] = node
    nodes.n += 1
    return True


cdef bint place(
    const Node* nodes, uint32_t n_nodes, uint32_t max_symbol, uint32_t* slot, DoubleArray* array
) noexcept nogil:
    """Lay the nodes out as a double array; False without memory.

    Ensures  slot[n] is a place of its own for each node; array.n_units is large enough for Unit's
             invariant
    """
    cdef Layout layout
    cdef uint32_t* base = <uint32_t*>PyMem_RawCalloc(n_nodes, sizeof(uint32_t))
    cdef uint32_t* order = <uint32_t*>PyMem_RawMalloc(n_nodes * sizeof(uint32_t))
    cdef bint placed
    memset(&layout, 0, sizeof(Layout))
    placed = (
        base != NULL and order != NULL
        and order_by_size(nodes, n_nodes, order)
        and place_families(nodes, n_nodes, order, base, slot, &layout)
        and fill_array(nodes, n_nodes, base, slot, layout.end + max_symbol + 1, array)
    )
    PyMem_RawFree(base)
    PyMem_RawFree(order)
    PyMem_RawFree(layout.used)
    PyMem_RawFree(layout.full)
    return placed


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
        largest = max(largest, nodes[node].n)
    for node in range(n_nodes):
        keys[node] = largest - nodes[node].n
    sorted = counting_sort(keys, n_nodes, largest, order)
    PyMem_RawFree(keys)
    return sorted


cdef bint place_families(
    const Node* nodes, uint32_t n_nodes, const uint32_t* order, uint32_t* base, uint32_t* slot,
    Layout* layout,
) noexcept nogil:
    """Find a base for the children of each node, and a place for each child; False as place."""
    cdef uint32_t i, node, size = 0, from_base = 0, next_single = 0
    if not reserve_places(layout, 1):
        return False
    mark_used(layout, ROOT)
    slot[0] = ROOT
    for i in range(n_nodes):
        node = order[i]
        if nodes[node].n == 0:
            break
        if nodes[node].n != size:  # smaller families may fit where larger ones did not
            size = nodes[node].n
            from_base = 0
        if size > 1:
            base[node] = find_base(nodes + nodes[node].first, size, &from_base, layout)
            if not take_places(nodes, node, base, slot, layout):
                return False
        elif node == 0 or nodes[nodes[node].parent].n > 1:
            # Only children of only children, the rest of a long word, stand side by side.
            while nodes[node].n == 1:
                base[node] = find_single_base(
                    nodes[nodes[node].first].symbol, &next_single, layout
                )
                if not take_places(nodes, node, base, slot, layout):
                    return False
                node = nodes[node].first
    return True


cdef inline bint take_places(
    const Node* nodes, uint32_t parent, const uint32_t* base, uint32_t* slot, Layout* layout
) noexcept nogil:
    """Give the children of a node their places; False if it has no base."""
    cdef uint32_t i, first = nodes[parent].first
    if base[parent] == NO_STATE:
        return False
    for i in range(first, first + nodes[parent].n):
        slot[i] = base[parent] + nodes[i].symbol
        mark_used(layout, slot[i])
    return True


# Where a family did not fit at PATIENCE free places in a row, the search of the next
# one of its size begins behind them; one that did not fit at MAX_TRIES goes to the end.
# So dense regions are not searched again and again. With these numbers the array of the
# vocabulary of 30,522 tokens has no hole left and that of 119,547 tokens (and 10,000
# symbols) a seventh, and placing takes less time than making the nodes.
cdef enum:
    PATIENCE = 16
    MAX_TRIES = 64


cdef uint32_t find_base(
    const Node* children, uint32_t n, uint32_t* from_base, Layout* layout
) noexcept nogil:
    """Return a base at which all children have a free place; NO_STATE without memory."""
    cdef uint32_t first = NO_STATE, last = 0, symbol, place, base, k, tried = 0
    for k in range(n):
        symbol = children[k].symbol
        first = min(first, symbol)
        last = max(last, symbol)
    place = from_base[0] + first
    while True:
        place = next_free(layout, place)
        base = place - first
        if not reserve_places(layout, base + last + 1):
            return NO_STATE
        for k in range(n):
            if is_used(layout, base + children[k].symbol):
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

    Only children come last and fill the holes from the left.
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
    uint32_t n_units, DoubleArray* array,
) noexcept nogil:
    """Write the units for the layout; False without memory, or for more than MAX_UNITS."""
    cdef uint32_t node, place
    cdef Unit* unit
    if n_units > MAX_UNITS:
        return False
    array.n_units = n_units
    array.units = <Unit*>PyMem_RawMalloc(<size_t>n_units * sizeof(Unit))
    if array.units == NULL:
        return False
    for place in range(n_units):
        array.units[place] = Unit(0, NO_STATE, ROOT, NO_PIECES)
    for node in range(n_nodes):
        unit = &array.units[slot[node]]
        # Behind a state without children a piece ends: the search for one there and the
        # search at the root then look into the same cache line.
        unit.base = base[node if nodes[node].n else 0] << SYMBOL_SHIFT
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

    The link of a state hangs on its parent's and on those of shorter texts. So nodes that are
    numbered level by level come in the right order.
    """
    cdef uint32_t node
    cdef Unit* unit
    for node in range(1, n_nodes):
        unit = &array.units[slot[node]]
        if nodes[node].value >= 0:  # the longest piece is all of the text
            unit.pop = nodes[node].value
        elif not link_state(array, unit, nodes[node].symbol << SYMBOL_SHIFT, pops):
            return False
    return True


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


cdef int32_t max_id(const DoubleArray* trie, int32_t below) noexcept nogil:
    """Return the highest id that the walk can give, of those that are below a number."""
    cdef int32_t highest = trie.unk_id
    cdef uint32_t i
    for i in range(trie.n_units):
        if trie.units[i].pop < below:
            highest = max(highest, trie.units[i].pop)
    return highest
