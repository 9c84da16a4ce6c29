"""What tells which texts may hold added tokens; made and explained by `_added`."""

from piecework._alphabet cimport SymbolTable
from piecework._automaton cimport Automaton


cdef struct Search:
    Automaton words  # one word of each content
    Automaton normalized  # the contents of the normalized tokens, word by word
    Automaton raw  # the contents of the others, character by character
    const SymbolTable* raw_symbols
    bint takes_all  # a token of nothing but white space may stand in any text
