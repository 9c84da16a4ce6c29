"""Many sequences of symbols, looked for at once."""

from piecework._trie cimport NO_STATE, ROOT, DoubleArray, Word, child_of, unit_at
from piecework._types cimport uint32_t, uint64_t


# What may stand beside a sequence: one bit for all symbols that have the same last six bits.
cdef struct Context:
    uint64_t before
    uint64_t after


# An Aho-Corasick automaton over the items of words. Of a Unit's fields, `fail` is here the state of
# the longest proper suffix, and `pop` the place of the context of all sequences that the state's
# text ends with, or NO_PIECES if there is none.
#
# A border stands between two words, whatever else stands between them in the text. The symbol for
# it is the one that stands for an unknown word, which no sequence holds: to that one's left and
# right are borders, and it is as good as one.
cdef struct Automaton:
    DoubleArray array  # no units: it holds nothing
    Context* contexts
    uint32_t border
    uint32_t word_start  # the bit of an item that begins a word
    uint32_t opened  # the state behind a border


cdef inline bint holds_any(const Automaton* automaton) noexcept nogil:
    return automaton.array.units != NULL


cdef inline uint32_t next_state(
    const DoubleArray* array, uint32_t state, uint32_t symbol
) noexcept nogil:
    cdef uint32_t child
    while True:
        child = child_of(array, state, symbol)
        if child != NO_STATE:
            return child
        if state == ROOT:
            return ROOT
        state = unit_at(array, state).fail


cdef inline bint ends_sequence(const DoubleArray* array, uint32_t state) noexcept nogil:
    return unit_at(array, state).pop >= 0


cdef inline uint64_t bit_of(uint32_t symbol) noexcept nogil:
    """Return the bit for a symbol in a Context."""
    return <uint64_t>1 << (symbol & 63)


cdef void free_automaton(Automaton* automaton) noexcept


cdef class Sequences:
    cdef Word* words  # (n_words,)
    cdef Context* contexts
    cdef size_t n_words
    cdef size_t words_cap
    cdef uint32_t* symbols  # (n_symbols,)
    cdef size_t n_symbols
    cdef size_t symbols_cap

    cdef int add(self, const uint32_t* symbols, size_t n, Context context) except -1

    cdef int build(self, uint32_t max_symbol, Automaton* automaton) except -1
