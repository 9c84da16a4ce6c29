"""Joins the rules and the vocabulary into the one table that the scanner reads.

In: the character classes of a rule set (which code point becomes what, from
`piecework.rules.char_classes`), a vocabulary's alphabet and tries, and the characters that special
tokens begin with. Out: the flat table. It decides nothing about Unicode: it
replaces characters by symbols and ids.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
from cython cimport final

from piecework._alphabet cimport (
    N_CODE_POINTS, N_PAGES, PAGE_BITS, PAGE_SIZE, Alphabet, SymbolTable,
    symbol_of,
)
from piecework._trie cimport (
    NO_STATE, ROOT, SYMBOL_SHIFT, DoubleArray, DoubleTrie, child_of, ends_token, unit_at,
)
from piecework._types cimport int64_t, uint8_t, uint16_t, uint32_t


cdef enum:
    FIRST_SURROGATE = 0xD800
    LAST_SURROGATE = 0xDFFF


# The kinds of character classes, as in piecework.rules.char_classes.Kind.
cdef enum ClassKind:
    CLASS_LETTER = 0
    CLASS_EXPAND = 1
    CLASS_CONTEXT = 2
    CLASS_DROP = 3
    CLASS_SPACE = 4
    CLASS_ISOLATED = 5
    CLASS_SHIFT = 28
    CLASS_PAYLOAD = 0x0FFFFFFFu


@final
cdef class CharTable:
    """The scanner's table for one rule set and one vocabulary.

    Parameters
    ----------
    page_index : uint16 array, shape (17408,)
    pages : uint32 array, shape (n_pages, 64)
    runs : uint32 array
        As in piecework.rules.char_classes.CharClasses.
    alphabet : Alphabet
    trie : DoubleTrie
        Of the same vocabulary.
    special_starts : list of int
        Code points that a special token begins with.
    """

    def __cinit__(
        self, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
        const uint32_t[::1] runs, Alphabet alphabet, DoubleTrie trie,
        list special_starts,
    ):
        check_pages(page_index, pages)
        copy_runs(self, runs, alphabet)
        fill_table(
            self, page_index, pages, runs, alphabet, trie, special_starts
        )

    def __dealloc__(self):
        PyMem_RawFree(self.table)
        PyMem_RawFree(self.runs)


def word_letters(
    const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
    const uint32_t[::1] runs, Alphabet alphabet not None,
):
    """Say which symbols can stand in a word beside others.

    The rest are those of characters that are isolated, dropped or always become others. A token
    of several characters with one of them is part of no word: under BERT's rules "##", say.

    Parameters
    ----------
    page_index, pages, runs
        As for CharTable.
    alphabet : Alphabet

    Returns
    -------
    bytes
        1 or 0 for each symbol, that of all other characters (0) included.
    """
    cdef bytearray found = bytearray(alphabet.n_symbols + 1)
    cdef uint8_t* letters = found
    cdef const SymbolTable* symbols = &alphabet.table
    cdef uint32_t page, first, i, n_left
    cdef const uint32_t* classes
    cdef Py_ssize_t k = 0
    check_pages(page_index, pages)
    cdef list uniform = uniform_pages(pages)
    for page in range(<uint32_t>N_PAGES):
        if uniform[page_index[page]] and not symbols.page_index[page]:
            continue  # they become themselves, and are in no token
        first = page << PAGE_BITS
        classes = &pages[page_index[page], 0]
        for i in range(<uint32_t>PAGE_SIZE):
            if classes[i] >> CLASS_SHIFT == CLASS_LETTER:
                letters[symbol_of(symbols, target_of(first + i, classes[i]))] = 1
    while k < runs.shape[0]:
        n_left = runs[k]
        k += 1
        while n_left and k < runs.shape[0]:
            if runs[k] >= N_CODE_POINTS:
                raise ValueError(f"runs[{k}] is no code point: {runs[k]}")
            letters[symbol_of(symbols, runs[k])] = 1
            n_left -= 1
            k += 1
    return bytes(found)


cdef int check_pages(
    const uint16_t[::1] page_index, const uint32_t[:, ::1] pages
) except -1:
    """Raise for pages that are not as CharTable says."""
    cdef uint32_t page
    if page_index.shape[0] != N_PAGES or pages.shape[1] != PAGE_SIZE:
        raise ValueError(
            f"expected {N_PAGES} page numbers and pages of {PAGE_SIZE} entries, "
            f"got {page_index.shape[0]} and {pages.shape[1]}"
        )
    for page in range(<uint32_t>N_PAGES):
        if page_index[page] >= pages.shape[0]:
            raise ValueError(f"page_index[{page}] is {page_index[page]}, of {pages.shape[0]} pages")
    return 0


cdef int copy_runs(
    CharTable table, const uint32_t[::1] runs, Alphabet alphabet
) except -1:
    """Copy the runs with symbols in place of code points."""
    cdef Py_ssize_t i = 0, stop
    table.runs = <uint32_t*>PyMem_RawCalloc(runs.shape[0] + RUN_SLACK + 1, sizeof(uint32_t))
    if table.runs == NULL:
        raise MemoryError
    table.longest_run = 1
    while i < runs.shape[0]:
        stop = i + 1 + <Py_ssize_t>runs[i]
        if stop > runs.shape[0]:
            raise ValueError(f"the run at {i} ends behind the last one")
        table.runs[i] = runs[i]
        table.longest_run = max(table.longest_run, runs[i])
        for i in range(i + 1, stop):
            if runs[i] >= N_CODE_POINTS:
                raise ValueError(f"runs[{i}] is no code point: {runs[i]}")
            table.runs[i] = symbol_of(&alphabet.table, runs[i]) << SYMBOL_SHIFT
        i = stop
    return 0


cdef int fill_table(
    CharTable char_table, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
    const uint32_t[::1] runs, Alphabet alphabet, DoubleTrie trie,
    list special_starts,
) except -1:
    """Lay out the pages and fill them; pages without any token's character are shared."""
    cdef uint32_t* table = <uint32_t*>PyMem_RawCalloc(FIXED_SIZE, sizeof(uint32_t))
    cdef uint32_t page, start, size, cp
    cdef void* larger
    if table == NULL:
        raise MemoryError
    char_table.table = table
    size = lay_out_pages(table + FIRST_PAGE_START, page_index, pages, alphabet, special_starts)
    larger = PyMem_RawRealloc(table, size * sizeof(uint32_t))
    if larger == NULL:
        raise MemoryError
    table = char_table.table = <uint32_t*>larger
    size = FIXED_SIZE
    for page in range(<uint32_t>N_PAGES):
        start = place_of(table, page << PAGE_BITS)
        if start >= BMP_SIZE:
            if start < size:
                continue  # it is shared, and filled already
            size += PAGE_SIZE
        fill_page(
            page << PAGE_BITS, &pages[page_index[page], 0], char_table.runs,
            runs.shape[0], &alphabet.table, &trie.array, table + start,
        )
    for cp in set(special_starts):
        start = place_of(table, cp)
        if table[start] & RARE:
            table[start] |= STARTS_SPECIAL
        table[start] |= RARE
    return 0


cdef uint32_t lay_out_pages(
    uint32_t* page_start, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
    Alphabet alphabet, list special_starts,
) except 0:
    """Say where each page above the BMP goes, in ascending order; return the table's size."""
    cdef uint32_t page, class_page, size = FIXED_SIZE
    # Where the pages that are like this class page begin; 0: there is none so far.
    cdef list shared = [0] * pages.shape[0]
    cdef list uniform = uniform_pages(pages)
    cdef set own = {cp >> PAGE_BITS for cp in special_starts}
    for page in range(<uint32_t>BMP_SIZE >> PAGE_BITS, <uint32_t>N_PAGES):
        class_page = page_index[page]
        if alphabet.table.page_index[page] or page in own or not uniform[class_page]:
            page_start[page] = size
            size += PAGE_SIZE
        elif shared[class_page]:
            page_start[page] = shared[class_page]
        else:
            page_start[page] = shared[class_page] = size
            size += PAGE_SIZE
    return size


cdef list uniform_pages(const uint32_t[:, ::1] pages):
    return [maps_to_itself(&pages[i, 0]) for i in range(pages.shape[0])]


cdef bint maps_to_itself(const uint32_t* classes) noexcept nogil:
    """Say whether the page's result hangs on nothing but its own characters' symbols."""
    cdef uint32_t i, kind
    for i in range(<uint32_t>PAGE_SIZE):
        kind = classes[i] >> CLASS_SHIFT
        if kind == CLASS_EXPAND or kind == CLASS_CONTEXT:
            return False
        if (kind == CLASS_LETTER or kind == CLASS_ISOLATED) and classes[i] & CLASS_PAYLOAD:
            return False
    return True


cdef int fill_page(
    uint32_t first, const uint32_t* classes, const uint32_t* runs, Py_ssize_t n_runs,
    const SymbolTable* symbols, const DoubleArray* trie, uint32_t* entries,
) except -1:
    cdef uint32_t i
    for i in range(<uint32_t>PAGE_SIZE):
        entries[i] = entry_for(
            first + i, classes[i], runs, n_runs, symbols, trie
        )
    return 0


cdef inline int64_t entry_for(
    uint32_t cp, uint32_t char_class, const uint32_t* runs, Py_ssize_t n_runs,
    const SymbolTable* symbols, const DoubleArray* trie,
) except -1:
    """Return the entry of one code point."""
    cdef uint32_t kind = char_class >> CLASS_SHIFT
    cdef Py_ssize_t payload = char_class & CLASS_PAYLOAD
    cdef uint32_t symbol, child
    if FIRST_SURROGATE <= cp <= LAST_SURROGATE:
        return SURROGATE
    if kind == CLASS_DROP:
        return DROPPED
    if kind == CLASS_SPACE:
        return ENDS_WORD | trie.word_start
    if kind == CLASS_EXPAND or kind == CLASS_CONTEXT:
        if payload >= n_runs or payload + <Py_ssize_t>runs[payload] >= n_runs:
            raise ValueError(f"U+{cp:04X} has the run {payload}, which there is not")
        if runs[payload] == 0:
            raise ValueError(f"U+{cp:04X} has the run {payload}, which is empty")
        return (payload << SYMBOL_SHIFT) | (EXPANDS if kind == CLASS_EXPAND else REORDERS)
    if kind != CLASS_LETTER and kind != CLASS_ISOLATED:
        raise ValueError(f"U+{cp:04X} is of kind {kind}, which there is not")
    symbol = symbol_of(symbols, target_of(cp, char_class)) << SYMBOL_SHIFT
    if kind == CLASS_LETTER:
        return KEPT | symbol
    child = child_of(trie, ROOT, symbol | trie.word_start)
    if child == NO_STATE or not ends_token(unit_at(trie, child)):
        symbol = trie.unknown
    return KEPT | ENDS_WORD | symbol | trie.word_start


cdef inline uint32_t target_of(uint32_t cp, uint32_t char_class) except? 0xFFFFFFFFu:
    """Return what a code point of the class of a letter, or an isolated one, becomes."""
    cdef uint32_t target = (cp + char_class) & CLASS_PAYLOAD
    if target >= N_CODE_POINTS:
        raise ValueError(f"U+{cp:04X} would become {target:#x}")
    return target
