"""Builds the automaton that looks for many sequences of symbols at once.

In: sequences of numbers, each with what may stand beside it. Out: an automaton that tells what may
stand beside those sequences that it finds; which they are it does not tell. It hangs its states on
the double array of `_trie` and has links of its own. `_watch` runs it over words; what the symbols
stand for is known to `_added`.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cython cimport final
from libc.string cimport memcpy

from piecework._trie cimport NO_PIECES, SYMBOL_SHIFT, Nodes, Unit, place, spell
from piecework._types cimport int32_t


@final
cdef class Sequences:
    """Collects the sequences of an automaton."""

    def __dealloc__(self):
        PyMem_RawFree(self.words)
        PyMem_RawFree(self.contexts)
        PyMem_RawFree(self.symbols)

    cdef int add(self, const uint32_t* symbols, size_t n, Context context) except -1:
        """Add a sequence of n symbols, at least one."""
        if self.n_words == self.words_cap:
            self.words_cap = 2 * self.words_cap + 64
            self.words = <Word*>extend(self.words, self.words_cap, sizeof(Word))
            self.contexts = <Context*>extend(self.contexts, self.words_cap, sizeof(Context))
        if n > self.symbols_cap - self.n_symbols:
            self.symbols_cap = 2 * self.symbols_cap + n
            self.symbols = <uint32_t*>extend(self.symbols, self.symbols_cap, sizeof(uint32_t))
        memcpy(self.symbols + self.n_symbols, symbols, n * sizeof(uint32_t))
        self.words[self.n_words] = Word(self.n_symbols, <uint32_t>n, <int32_t>self.n_words)
        self.contexts[self.n_words] = context
        self.n_words += 1
        self.n_symbols += n
        return 0

    cdef int build(self, uint32_t max_symbol, Automaton* automaton) except -1:
        """Build the automaton, which the caller then owns. No symbol is above `max_symbol`."""
        cdef Nodes nodes = Nodes(NULL, 0, 0)
        cdef uint32_t* slot = NULL
        # spell() sorts and shortens them.
        cdef Word* words = NULL
        cdef bint placed = False
        if self.n_words == 0:
            return 0
        with nogil:
            words = <Word*>PyMem_RawMalloc(self.n_words * sizeof(Word))
            if words != NULL:
                memcpy(words, self.words, self.n_words * sizeof(Word))
                if spell(words, self.n_words, self.symbols, max_symbol, &nodes):
                    slot = <uint32_t*>PyMem_RawCalloc(nodes.n, sizeof(uint32_t))
                    placed = slot != NULL and place(
                        nodes.data, nodes.n, max_symbol, slot, &automaton.array
                    )
            if placed:
                automaton.contexts, self.contexts = self.contexts, NULL
                end_sequences(&nodes, slot, self.words, self.n_words, self.symbols, automaton)
                link_suffixes(&nodes, slot, automaton)
            PyMem_RawFree(words)
            PyMem_RawFree(nodes.data)
            PyMem_RawFree(slot)
        if not placed:
            raise MemoryError
        return 0


cdef void* extend(void* data, size_t n, size_t size) except NULL:
    data = PyMem_RawRealloc(data, n * size)
    if data == NULL:
        raise MemoryError
    return data


cdef void free_automaton(Automaton* automaton) noexcept:
    PyMem_RawFree(automaton.array.units)
    PyMem_RawFree(automaton.contexts)


cdef void end_sequences(
    const Nodes* nodes, const uint32_t* slot, const Word* words, size_t n_words,
    const uint32_t* symbols, Automaton* automaton,
) noexcept nogil:
    """Let the states know where sequences end; join the contexts of equal sequences."""
    cdef DoubleArray* array = &automaton.array
    cdef uint32_t node, state, i
    cdef size_t word
    for node in range(1, nodes.n):
        if nodes.data[node].value >= 0:
            array.units[slot[node]].pop = nodes.data[node].value
    for word in range(n_words):
        state = ROOT
        for i in range(words[word].n_left):
            state = child_of(array, state, symbols[words[word].at + i] << SYMBOL_SHIFT)
        join_contexts(automaton, unit_at(array, state).pop, <int32_t>word)


cdef inline void join_contexts(Automaton* automaton, int32_t to, int32_t other) noexcept nogil:
    automaton.contexts[to].before |= automaton.contexts[other].before
    automaton.contexts[to].after |= automaton.contexts[other].after


cdef void link_suffixes(
    const Nodes* nodes, const uint32_t* slot, Automaton* automaton
) noexcept nogil:
    """Fill in the links, short texts first, and what their suffixes add to states."""
    cdef DoubleArray* array = &automaton.array
    cdef uint32_t node
    cdef int32_t shorter
    cdef Unit* unit
    for node in range(1, nodes.n):
        unit = &array.units[slot[node]]
        unit.fail = ROOT
        if unit.parent != ROOT:
            unit.fail = next_state(
                array, unit_at(array, unit.parent).fail,
                nodes.data[node].symbol << SYMBOL_SHIFT,
            )
        shorter = unit_at(array, unit.fail).pop
        if unit.pop == NO_PIECES:
            unit.pop = shorter
        elif shorter != NO_PIECES:
            join_contexts(automaton, unit.pop, shorter)
