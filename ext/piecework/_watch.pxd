"""An automaton that looks at all words that are scanned."""

from piecework._automaton cimport Automaton, Context
from piecework._types cimport uint32_t


cdef void watch_words(
    const Automaton* automaton, const uint32_t* items, Py_ssize_t n, uint32_t* state,
    Context* found,
) noexcept nogil
