"""Encodes text: finds the words, and matches each against the tries.

In: the characters of a str, where they lie (1, 2 or 4 bytes each), and the flat tables. Out: ids,
appended to an `Ids`. One pass: each character's table entry either adds a symbol to the word at hand or
ends it, and an ended word is matched at once. No normalized text is made. What needs more than one
character's context, a special token, marks that may swap places, a surrogate, is handed back to the
caller.

Reading the str's own characters was measured against transcoding to UTF-8 first: that takes a third of
the time on Chinese and Japanese, a sixth on Russian.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from libc.string cimport memcpy

from piecework._alphabet cimport PAGE_BITS, PAGE_SIZE, symbol_of
from piecework._buffers cimport Ids, reserve_ids
from piecework._char_table cimport (
    CAN_START_SPECIAL,
    CONTEXT,
    DROP,
    EXPAND,
    FIRST_NOT_LETTER,
    ISOLATED,
    KIND_SHIFT,
    LETTER,
    PAYLOAD_MASK,
    SPACE,
    SURROGATE,
)
from piecework._trie cimport ENDS_PIECE, PARENT_MASK, DoubleArray, Unit, longest_match
from piecework._types cimport (
    DONE,
    NEEDS_NORMALIZER,
    NEEDS_REPAIR,
    NEEDS_SPLIT,
    NO_MEMORY,
    Status,
    int32_t,
    uint8_t,
    uint16_t,
    uint32_t,
)


cdef Status encode_chars(
    const Tables* tables, Cursor* cursor, Word* word, Ids* out
) noexcept nogil:
    """Append the ids of text[at:stop].

    Requires  at is not inside a word
    Ensures   DONE: at == stop. NEEDS_SPLIT, NEEDS_REPAIR: a special token or a surrogate
              stands in the text; the ids appended so far are of no use.
              NEEDS_NORMALIZER: see Cursor; the ids of all before that word are
              appended, at is behind it
    Never     reads text[stop:], touches Python objects
    """
    # The compiler makes a loop of its own for each size.
    if cursor.char_size == 1:
        return encode_sized(tables, cursor, 1, word, out)
    if cursor.char_size == 2:
        return encode_sized(tables, cursor, 2, word, out)
    return encode_sized(tables, cursor, 4, word, out)


cdef inline Status encode_sized(
    const Tables* tables, Cursor* cursor, int char_size, Word* word, Ids* out
) noexcept nogil:
    cdef const uint32_t* table = table_for(tables, char_size)
    cdef const void* chars = cursor.chars
    cdef Py_ssize_t at = cursor.at, stop = cursor.stop
    cdef uint32_t entry, kind
    cdef Status status
    while at < stop:
        entry = entry_at(table, chars, char_size, at)
        if entry >= CAN_START_SPECIAL:
            if special_starts_at(tables, chars, char_size, at, stop):
                return NEEDS_SPLIT
            entry ^= CAN_START_SPECIAL
        if entry < FIRST_NOT_LETTER and append_plain_word(
            tables, chars, char_size, &at, stop, out
        ):
            continue
        kind = entry >> KIND_SHIFT
        if kind == LETTER or kind == EXPAND or kind == CONTEXT:
            cursor.word_start = at
            status = scan_word(tables, cursor, char_size, word)
            if status != DONE:
                return status
            at = cursor.at
            if not append_word(tables, word.data, word.n, out):
                return NO_MEMORY
            continue
        if kind == ISOLATED:
            if not reserve_ids(out, 1):
                return NO_MEMORY
            out.data[out.n] = <int32_t>(entry & PAYLOAD_MASK)
            out.n += 1
        elif kind == SURROGATE:
            return NEEDS_REPAIR
        at += 1
    cursor.at = at
    return DONE


cdef inline bint append_plain_word(
    const Tables* tables, const void* chars, int char_size, Py_ssize_t* at_ref,
    Py_ssize_t stop, Ids* out,
) noexcept nogil:
    """Append the ids of the word at text[at], and move behind it, if it is a simple one.

    Matches while it scans, so that a word costs one loop and no copy. Simple is a word
    of plain letters (and characters that vanish) that has a segmentation and is not too
    long. For any other nothing is changed: scan_word does it.

    Requires  the character there is a LETTER
    Ensures   False: at and out are as they were
    """
    cdef const uint32_t* table = table_for(tables, char_size)
    cdef const Unit* units = tables.trie.units
    cdef uint32_t root = tables.start_root, entry = 0, state, last, child, parent
    cdef Py_ssize_t start = at_ref[0], at = start, matched = start
    cdef Py_ssize_t n_before = out.n
    cdef bint ended
    while True:
        state = root
        last = root
        child = units[root].base
        ended = True
        while at < stop:
            entry = entry_at(table, chars, char_size, at)
            if entry >= FIRST_NOT_LETTER:
                if entry >> KIND_SHIFT != DROP:
                    break
                at += 1
                continue
            child += entry
            parent = units[child].parent
            if parent & PARENT_MASK != state:
                ended = False
                break
            at += 1
            state = child
            # No branch: whether a piece ends here is as good as random.
            matched = at if parent & ENDS_PIECE else matched
            last = child if parent & ENDS_PIECE else last
            child = units[child].base
        if last == root or not reserve_ids(out, 1):
            break
        out.data[out.n] = tables.trie.values[last]
        out.n += 1
        if ended and state == last:
            if at - start > tables.max_word_chars or (
                at < stop and entry >= (<uint32_t>DROP << KIND_SHIFT)
            ):  # neither SPACE nor ISOLATED
                break
            at_ref[0] = at
            return True
        at = matched
        if at - start > tables.max_word_chars:
            break
        root = tables.continuation_root
    out.n = n_before
    return False


cdef inline Status scan_word(
    const Tables* tables, Cursor* cursor, int char_size, Word* word
) noexcept nogil:
    """Collect the symbols of the word at cursor.word_start, and move behind it.

    Requires  the character there is a LETTER, EXPAND or CONTEXT, and starts no special
    """
    cdef const uint32_t* table = table_for(tables, char_size)
    cdef const void* chars = cursor.chars
    cdef Py_ssize_t at = cursor.word_start, stop = cursor.stop, n = 0, letters_stop
    cdef uint32_t entry = 0, kind
    cdef uint32_t* symbols = word.data
    word.context_at = -1
    word.reorders = False
    while True:
        # Nearly all words are plain letters, and this loop is all they take.
        letters_stop = at + min(stop - at, max(word.cap - n, 0))
        while at < letters_stop:
            entry = entry_at(table, chars, char_size, at)
            if entry >= FIRST_NOT_LETTER:
                break
            symbols[n] = entry
            n += 1
            at += 1
        if at == stop:
            break
        entry = entry_at(table, chars, char_size, at)
        if entry >= CAN_START_SPECIAL:
            # The caller has looked at the word's first character.
            if at != cursor.word_start and special_starts_at(
                tables, chars, char_size, at, stop
            ):
                return NEEDS_SPLIT
            entry ^= CAN_START_SPECIAL
        kind = entry >> KIND_SHIFT
        if kind == SPACE or kind == ISOLATED:
            break
        if kind == SURROGATE:
            return NEEDS_REPAIR
        if kind == LETTER:  # it could have been special, or there was no room for it
            if n < word.cap or make_room(tables, word, n):
                word.data[n] = entry
            elif n <= tables.max_word_chars:
                return NO_MEMORY
            n += 1
        elif kind != DROP:
            word.n = n
            if not add_run(tables, entry, word):
                return NO_MEMORY
            n = word.n
        symbols = word.data
        at += 1
    cursor.at = at
    word.n = n
    return NEEDS_NORMALIZER if word.reorders else DONE


cdef bint add_run(const Tables* tables, uint32_t entry, Word* word) noexcept nogil:
    """Append the symbols of an EXPAND or CONTEXT character; False without memory."""
    cdef const uint32_t* run = tables.runs + (entry & PAYLOAD_MASK)
    cdef uint32_t i
    if entry >> KIND_SHIFT == CONTEXT and word.context_at == word.n:
        word.reorders = True
    for i in range(1, run[0] + 1):
        if word.n < word.cap or make_room(tables, word, word.n):
            word.data[word.n] = run[i]
        elif word.n <= tables.max_word_chars:
            return False
        word.n += 1
    if entry >> KIND_SHIFT == CONTEXT:
        word.context_at = word.n
    return True


cdef bint append_word(
    const Tables* tables, uint32_t* symbols, Py_ssize_t n_symbols, Ids* out
) noexcept nogil:
    """Append the pieces of a word, or one unk_id if some position has no match.

    A word of no symbols, where all characters vanished, adds nothing. A character that
    is in no piece has symbol 0, which no trie holds: it needs no look of its own.

    Requires  symbols holds n_symbols and has room for one more, or
              n_symbols > max_word_chars
    Ensures   False without memory; symbols[n_symbols] may be overwritten
    """
    cdef uint32_t root = tables.start_root
    cdef Py_ssize_t at = 0, n_ids = 0, matched
    cdef int32_t* ids
    cdef bint too_long = n_symbols > tables.max_word_chars
    if not reserve_ids(out, 1 if too_long else n_symbols):
        return False
    ids = out.data + out.n
    if too_long:
        ids[0] = tables.unk_id
        out.n += 1
        return True
    symbols[n_symbols] = 0
    while at < n_symbols:
        matched = longest_match(tables.trie, root, symbols + at, &ids[n_ids])
        if matched == 0:
            ids[0] = tables.unk_id
            n_ids = 1
            break
        n_ids += 1
        at += matched
        root = tables.continuation_root
    out.n += n_ids
    return True


cdef inline uint32_t char_at(
    const void* chars, int char_size, Py_ssize_t at
) noexcept nogil:
    if char_size == 1:
        return (<const uint8_t*>chars)[at]
    if char_size == 2:
        return (<const uint16_t*>chars)[at]
    return (<const uint32_t*>chars)[at]


cdef inline const uint32_t* table_for(
    const Tables* tables, int char_size
) noexcept nogil:
    """Return the table that entry_at takes."""
    return tables.latin_entries if char_size == 1 else tables.char_table


cdef inline uint32_t entry_at(
    const uint32_t* table, const void* chars, int char_size, Py_ssize_t at
) noexcept nogil:
    """Return the table entry of a character."""
    cdef uint32_t cp = char_at(chars, char_size, at)
    if char_size == 1:
        return table[cp]
    return table[table[cp >> PAGE_BITS] + (cp & (PAGE_SIZE - 1))]


cdef bint special_starts_at(
    const Tables* tables, const void* chars, int char_size, Py_ssize_t at,
    Py_ssize_t stop,
) noexcept nogil:
    """Say whether a whole special token stands at text[at:stop]."""
    cdef const DoubleArray* trie = tables.specials
    cdef uint32_t state = tables.specials_root, child
    if trie == NULL:
        return False
    while at < stop:
        child = trie.units[state].base + symbol_of(
            tables.special_symbols, char_at(chars, char_size, at)
        )
        if trie.units[child].parent & PARENT_MASK != state:
            return False
        if trie.units[child].parent & ENDS_PIECE:
            return True
        state = child
        at += 1
    return False


cdef void init_word(Word* word) noexcept nogil:
    word.data = word.inline_data
    word.cap = INLINE_SYMBOLS


cdef void free_word(Word* word) noexcept nogil:
    if word.data != word.inline_data:
        PyMem_RawFree(word.data)


cdef bint make_room(const Tables* tables, Word* word, Py_ssize_t n) noexcept nogil:
    """Double the room for symbols, keeping the first n.

    Ensures  False without memory, and where n > max_word_chars: the word is unknown
             whatever follows, and its symbols need not be kept
    """
    cdef size_t cap = 2 * <size_t>word.cap
    cdef void* data
    if n > tables.max_word_chars:
        return False
    if word.data == word.inline_data:
        data = PyMem_RawMalloc((cap + 1) * sizeof(uint32_t))
        if data != NULL:
            memcpy(data, word.data, n * sizeof(uint32_t))
    else:
        data = PyMem_RawRealloc(word.data, (cap + 1) * sizeof(uint32_t))
    if data == NULL:
        return False
    word.data = <uint32_t*>data
    word.cap = <Py_ssize_t>cap
    return True
