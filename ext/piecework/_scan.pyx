"""Encodes UTF-8 text: finds the words, and matches each against the tries.

In: UTF-8 bytes and the flat tables. Out: ids, appended to an `Ids`. One pass: each character's table
entry either adds a symbol to the word at hand or ends it, and an ended word is matched at once. No
normalized text is made. What needs more than one character's context, a special token or marks that
may swap places, is handed back to the caller.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from libc.string cimport memcpy

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
    MULTIBYTE,
    PAYLOAD_MASK,
    SPACE,
)
from piecework._trie cimport PARENT_MASK, DoubleArray, longest_match
from piecework._types cimport (
    DONE,
    NEEDS_NORMALIZER,
    NEEDS_SPLIT,
    NO_MEMORY,
    Status,
    int32_t,
    uint8_t,
    uint32_t,
)


cdef Status encode_utf8(
    const Tables* tables, Cursor* cursor, Word* word, Ids* out
) noexcept nogil:
    """Append the ids of text[at:stop].

    Requires  text is valid UTF-8 in [at, stop), and both ends are between characters;
              at is not inside a word
    Ensures   DONE: at == stop. NEEDS_SPLIT: a special token stands in the text; the ids
              appended so far are of no use. NEEDS_NORMALIZER: see Cursor; the ids of all
              before that word are appended, at is behind it
    Never     reads text[stop:], touches Python objects
    """
    cdef const uint8_t* text = cursor.text
    cdef Py_ssize_t stop = cursor.stop
    cdef Py_ssize_t width
    cdef uint32_t entry, kind
    cdef Status status
    while cursor.at < stop:
        entry = entry_at(tables, text + cursor.at, &width)
        if entry >= CAN_START_SPECIAL:
            if special_starts_at(tables, text + cursor.at, stop - cursor.at):
                return NEEDS_SPLIT
            entry ^= CAN_START_SPECIAL
        kind = entry >> KIND_SHIFT
        if kind == LETTER or kind >= EXPAND:
            status = scan_word(tables, cursor, word)
            if status != DONE:
                return status
            if not append_word(tables, word.data, word.n, out):
                return NO_MEMORY
        else:
            if kind == ISOLATED:
                if not reserve_ids(out, 1):
                    return NO_MEMORY
                out.data[out.n] = <int32_t>(entry & PAYLOAD_MASK)
                out.n += 1
            cursor.at += width
    return DONE


cdef inline Status scan_word(
    const Tables* tables, Cursor* cursor, Word* word
) noexcept nogil:
    """Collect the symbols of the word at `cursor`, and move behind it.

    Requires  the character there is a LETTER, EXPAND or CONTEXT, and starts no special
    """
    cdef const uint32_t* byte_entries = tables.byte_entries
    cdef const uint8_t* text = cursor.text
    cdef Py_ssize_t at = cursor.at, stop = cursor.stop, n = 0, ascii_stop, width
    cdef uint32_t entry, kind
    cdef uint32_t* symbols = word.data
    cursor.word_start = at
    word.context_at = -1
    word.reorders = False
    while at < stop:
        # Most words are nothing but ASCII letters, and this is all they take.
        ascii_stop = at + min(stop - at, word.cap - n)
        entry = FIRST_NOT_LETTER
        while at < ascii_stop:
            entry = byte_entries[text[at]]
            if entry >= FIRST_NOT_LETTER:
                break
            symbols[n] = entry
            n += 1
            at += 1
        if at == stop:
            break
        entry = entry_at(tables, text + at, &width)
        if entry >= CAN_START_SPECIAL:
            # The caller has looked at the word's first character.
            if at != cursor.word_start and special_starts_at(
                tables, text + at, stop - at
            ):
                return NEEDS_SPLIT
            entry ^= CAN_START_SPECIAL
        kind = entry >> KIND_SHIFT
        if kind == LETTER:
            if n < word.cap or make_room(tables, word, n):
                symbols = word.data
                symbols[n] = entry
            elif n <= tables.max_word_chars:
                return NO_MEMORY
            n += 1
        elif kind == SPACE or kind == ISOLATED:
            break
        elif kind != DROP:
            word.n = n
            if not add_run(tables, entry, word):
                return NO_MEMORY
            n = word.n
            symbols = word.data
        at += width
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


cdef inline uint32_t entry_at(
    const Tables* tables, const uint8_t* p, Py_ssize_t* width
) noexcept nogil:
    """Return the table entry of the character at p, and its width in bytes.

    A page is all that share every byte but the last, so the last byte's low six bits
    index it.
    """
    cdef uint32_t c = p[0]
    cdef uint32_t entry = tables.byte_entries[c]
    if entry >> KIND_SHIFT != MULTIBYTE:
        width[0] = 1
        return entry
    if c < 0xE0:
        width[0] = 2
        return tables.entries[tables.page_start[c & 0x1F] + (p[1] & 0x3F)]
    if c < 0xF0:
        width[0] = 3
        return tables.entries[
            tables.page_start[((c & 0x0F) << 6) | (p[1] & 0x3F)] + (p[2] & 0x3F)
        ]
    width[0] = 4
    return tables.entries[
        tables.page_start[((c & 0x07) << 12) | ((p[1] & 0x3F) << 6) | (p[2] & 0x3F)]
        + (p[3] & 0x3F)
    ]


cdef bint special_starts_at(
    const Tables* tables, const uint8_t* p, Py_ssize_t byte_len
) noexcept nogil:
    """Say whether a whole special token stands at p[0:byte_len]."""
    cdef const DoubleArray* trie = tables.specials
    cdef uint32_t state = tables.specials_root, child
    cdef Py_ssize_t i
    if trie == NULL:
        return False
    for i in range(byte_len):
        child = trie.units[state].base + p[i] + 1
        if trie.units[child].parent & PARENT_MASK != state:
            return False
        state = child
        if trie.values[state] >= 0:
            return True
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
