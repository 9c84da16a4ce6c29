"""Joins the rules and the vocabulary into the one table that the scanner reads.

In: the character classes of a rule set (which code point becomes what, from
`piecework.rules.char_classes`), a vocabulary's alphabet, the ids of its one-character tokens, and the
characters that special tokens begin with. Out: the flat table. It decides nothing about Unicode: it
replaces characters by symbols and ids.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
from cython cimport final

from piecework._alphabet cimport (
    N_CODE_POINTS, N_PAGES, PAGE_BITS, PAGE_SIZE, Alphabet, symbol_of,
)
from piecework._trie cimport DoubleTrie, longest_match
from piecework._types cimport int32_t, uint16_t, uint32_t


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
    unk_id : int
        Id of an isolated character that is no token.
    special_starts : list of int
        Code points that a special token begins with.
    """

    def __cinit__(
        self, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
        const uint32_t[::1] runs, Alphabet alphabet, DoubleTrie trie, int32_t unk_id,
        list special_starts,
    ):
        if page_index.shape[0] != N_PAGES or pages.shape[1] != PAGE_SIZE:
            raise ValueError(
                f"expected {N_PAGES} page numbers and pages of {PAGE_SIZE} entries, "
                f"got {page_index.shape[0]} and {pages.shape[1]}"
            )
        copy_runs(self, runs, alphabet)
        fill_table(
            self, page_index, pages, alphabet, trie, unk_id, special_starts
        )

    def __dealloc__(self):
        PyMem_RawFree(self.entries)
        PyMem_RawFree(self.runs)


cdef int copy_runs(
    CharTable table, const uint32_t[::1] runs, Alphabet alphabet
) except -1:
    """Copy the runs with symbols in place of code points."""
    cdef Py_ssize_t i = 0, stop
    table.runs = <uint32_t*>PyMem_RawCalloc(runs.shape[0] + 1, sizeof(uint32_t))
    if table.runs == NULL:
        raise MemoryError
    while i < runs.shape[0]:
        stop = i + 1 + <Py_ssize_t>runs[i]
        if stop > runs.shape[0]:
            raise ValueError(f"the run at {i} ends behind the last one")
        table.runs[i] = runs[i]
        for i in range(i + 1, stop):
            if runs[i] >= N_CODE_POINTS:
                raise ValueError(f"runs[{i}] is no code point: {runs[i]}")
            table.runs[i] = symbol_of(&alphabet.table, runs[i])
        i = stop
    return 0


cdef int fill_table(
    CharTable table, const uint16_t[::1] page_index, const uint32_t[:, ::1] pages,
    Alphabet alphabet, DoubleTrie trie, int32_t unk_id, list special_starts,
) except -1:
    """Lay out one page after the other; pages without any token's character are shared."""
    cdef Py_ssize_t n_class_pages = pages.shape[0]
    # Where a page that depends on the class page alone was laid out; 0: not yet.
    cdef uint32_t* shared = <uint32_t*>PyMem_RawCalloc(
        n_class_pages, sizeof(uint32_t)
    )
    cdef bint* uniform = <bint*>PyMem_RawCalloc(n_class_pages, sizeof(bint))
    cdef bint* has_start = <bint*>PyMem_RawCalloc(N_PAGES, sizeof(bint))
    cdef uint32_t page, class_page, n_pages = 0, cap = 64, cp
    cdef uint32_t* entries
    cdef bint can_share
    try:
        if shared == NULL or uniform == NULL or has_start == NULL:
            raise MemoryError
        for cp in special_starts:
            has_start[cp >> PAGE_BITS] = True
        for page in range(n_class_pages):
            uniform[page] = maps_to_itself(&pages[page, 0])
        table.entries = <uint32_t*>PyMem_RawCalloc(cap * PAGE_SIZE, sizeof(uint32_t))
        if table.entries == NULL:
            raise MemoryError
        for page in range(N_PAGES):
            class_page = page_index[page]
            if class_page >= n_class_pages:
                raise ValueError(
                    f"page_index[{page}] is {class_page}, of {n_class_pages} pages"
                )
            can_share = (
                page != 0 and uniform[class_page] and not 0x360 <= page < 0x380
                and not alphabet.table.page_index[page] and not has_start[page]
            )
            if can_share and shared[class_page]:
                table.page_start[page] = shared[class_page]
                continue
            if n_pages == cap:
                entries = <uint32_t*>PyMem_RawRealloc(
                    table.entries, 2 * <size_t>cap * PAGE_SIZE * sizeof(uint32_t)
                )
                if entries == NULL:
                    raise MemoryError
                table.entries = entries
                cap *= 2
            table.page_start[page] = n_pages << PAGE_BITS
            if can_share:
                shared[class_page] = table.page_start[page]
            fill_page(
                page << PAGE_BITS, &pages[class_page, 0], alphabet, trie, unk_id,
                table.entries + table.page_start[page],
            )
            n_pages += 1
        for cp in special_starts:
            table.entries[
                table.page_start[cp >> PAGE_BITS] + (cp & (PAGE_SIZE - 1))
            ] |= CAN_START_SPECIAL
        for cp in range(256):
            table.latin_entries[cp] = table.entries[
                table.page_start[cp >> PAGE_BITS] + (cp & (PAGE_SIZE - 1))
            ]
    finally:
        PyMem_RawFree(shared)
        PyMem_RawFree(uniform)
        PyMem_RawFree(has_start)
    return 0


cdef bint maps_to_itself(const uint32_t* classes) noexcept nogil:
    """Say whether the page's result hangs on nothing but its own characters' symbols."""
    cdef uint32_t i, kind
    for i in range(PAGE_SIZE):
        kind = classes[i] >> KIND_SHIFT
        if (kind == LETTER or kind == ISOLATED) and classes[i] & PAYLOAD_MASK:
            return False
        if kind == EXPAND or kind == CONTEXT:
            return False
    return True


cdef int fill_page(
    uint32_t first, const uint32_t* classes, Alphabet alphabet, DoubleTrie trie,
    int32_t unk_id, uint32_t* entries,
) except -1:
    cdef uint32_t i, kind, target
    cdef uint32_t[2] word = [0, 0]  # a character and the end
    cdef int32_t token_id
    for i in range(PAGE_SIZE):
        kind = classes[i] >> KIND_SHIFT
        if 0xD800 <= first + i < 0xE000:
            kind = SURROGATE
        entries[i] = (kind << KIND_SHIFT) | (classes[i] & PAYLOAD_MASK)
        if kind == LETTER or kind == ISOLATED:
            target = (first + i + classes[i]) & PAYLOAD_MASK
            if target >= N_CODE_POINTS:
                raise ValueError(f"U+{first + i:04X} would become {target:#x}")
            word[0] = symbol_of(&alphabet.table, target)
            if kind == LETTER:
                entries[i] = word[0]
            else:
                token_id = unk_id
                longest_match(&trie.array, trie.start_root, word, &token_id)
                entries[i] = (<uint32_t>ISOLATED << KIND_SHIFT) | <uint32_t>token_id
    return 0
