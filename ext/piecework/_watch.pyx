"""Runs an automaton over the items of words, as they come from the scanner.

In: items, whole words. Out: what may stand beside those sequences of the automaton that were found.
"""

from piecework._automaton cimport next_state
from piecework._items cimport LITERAL
from piecework._trie cimport unit_at
from piecework._types cimport int32_t


cdef void watch_words(
    const Automaton* automaton, const uint32_t* items, Py_ssize_t n, uint32_t* state,
    Context* found,
) noexcept nogil:
    """Go on with n items, whole words; add the contexts of the sequences that end in them.

    Requires  the automaton holds any; `state` is where it was left, or `opened` where a text begins
    """
    cdef uint32_t word_start = automaton.word_start, at = state[0]
    cdef Py_ssize_t i
    for i in range(n):
        # In front of the first item there was a border.
        if i and items[i] & (word_start | <uint32_t>LITERAL):
            at = go_on(automaton, at, automaton.border, found)
        if items[i] & <uint32_t>LITERAL:  # a token that was found: nothing reaches across
            at = automaton.opened
        else:
            at = go_on(automaton, at, items[i] & ~word_start, found)
    state[0] = go_on(automaton, at, automaton.border, found) if n else at


cdef inline uint32_t go_on(
    const Automaton* automaton, uint32_t state, uint32_t symbol, Context* found
) noexcept nogil:
    cdef int32_t place
    state = next_state(&automaton.array, state, symbol)
    place = unit_at(&automaton.array, state).pop
    if place >= 0:
        found.before |= automaton.contexts[place].before
        found.after |= automaton.contexts[place].after
    return state
