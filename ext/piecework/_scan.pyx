"""Encodes text: finds the words, and matches each against the tries.

In: the characters of a str, where they lie (1, 2 or 4 bytes each), and the flat tables. Out: ids,
appended to an `Ids`. One pass over the text, and each character is looked at once: its table entry
either takes the word at hand one step along the trie or ends it. No normalized text is made. What
needs more than one character's context, a special token, marks that may swap places, a surrogate,
is handed back to the caller.
"""

from piecework._alphabet cimport symbol_of
from piecework._buffers cimport Ids, append_id, reserve_ids
from piecework._char_table cimport (
    CAN_START_SPECIAL,
    CONTEXT,
    DROP,
    FIRST_NOT_IN_WORD,
    FIRST_NOT_LETTER,
    FIRST_NOT_START,
    ISOLATED,
    KIND_SHIFT,
    LETTER,
    PAYLOAD_MASK,
    SPACE,
    SURROGATE,
    entry_of,
)
from piecework._trie cimport NO_STATE, DoubleArray, end_word, step
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


cdef extern from *:
    """
    /* The loops below are written once for all character sizes and want to be compiled
       once for each; left to itself, GCC keeps one with the size as a variable. */
    #if defined(__GNUC__) && defined(__OPTIMIZE__)
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    #endif
    """


cdef Status encode_chars(const Tables* tables, Cursor* cursor, Ids* out) noexcept nogil:
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
        return encode_sized(tables, cursor, 1, out)
    if cursor.char_size == 2:
        return encode_sized(tables, cursor, 2, out)
    return encode_sized(tables, cursor, 4, out)


cdef inline Status encode_sized(
    const Tables* tables, Cursor* cursor, int char_size, Ids* out
) noexcept nogil:
    """As encode_chars. Requires char_size == cursor.char_size, known to the compiler."""
    cdef const void* chars = cursor.chars
    cdef Py_ssize_t at = cursor.at, stop = cursor.stop, word_stop
    cdef uint32_t entry, kind
    cdef DoubleArray trie = tables.trie[0]  # so that it can stay in registers
    cdef Status status
    while at < stop:
        entry = entry_at(tables.entries, chars, char_size, at)
        if entry >= CAN_START_SPECIAL:
            if special_starts_at(tables, chars, char_size, at, stop):
                return NEEDS_SPLIT
            entry ^= CAN_START_SPECIAL
        if entry < FIRST_NOT_LETTER:
            word_stop = encode_letters(
                tables, &trie, chars, char_size, at, stop, entry, out
            )
            if word_stop > at:
                at = word_stop
                continue
        if entry < FIRST_NOT_START:
            cursor.word_start = at
            status = encode_word(tables, cursor, out)
            if status != DONE:
                return status
            at = cursor.at
            continue
        kind = entry >> KIND_SHIFT
        if kind == ISOLATED:
            if not append_id(out, <int32_t>(entry & PAYLOAD_MASK)):
                return NO_MEMORY
        elif kind == SURROGATE:
            return NEEDS_REPAIR
        at += 1
    cursor.at = at
    return DONE


cdef inline Py_ssize_t encode_letters(
    const Tables* tables, const DoubleArray* trie, const void* chars, int char_size,
    Py_ssize_t start, Py_ssize_t stop, uint32_t entry, Ids* out
) noexcept nogil:
    """Append the ids of the word at `start`, if it is of plain letters.

    Requires  entry is that of text[start], and a plain letter's
    Ensures   returns where the word ends, behind a space that ends it; or `start`, with
              nothing appended, where encode_word is wanted: the word is not of plain
              letters, or there is no memory
    """
    cdef Py_ssize_t at = start
    cdef Py_ssize_t letters_stop = min(stop, start + tables.max_word_chars + 1)
    cdef uint32_t state = trie.start_root
    cdef int32_t* ids
    if not reserve_ids(out, letters_stop - start):
        return start
    ids = out.data + out.n
    while entry < FIRST_NOT_LETTER:
        state = step(trie, state, entry, &ids)
        at += 1
        if state == NO_STATE or at == letters_stop:
            break
        entry = entry_at(tables.entries, chars, char_size, at)
    if at - start > tables.max_word_chars:
        state = NO_STATE
    if state == NO_STATE:
        at = letters_end(tables, chars, char_size, at, stop, &entry)
    # If a special token may start here, the caller will look at it.
    if (entry & ~<uint32_t>CAN_START_SPECIAL) < FIRST_NOT_IN_WORD and at < stop:
        return start
    if end_word(trie, state, &ids) == NO_STATE:
        ids = unknown_word(tables, out.data + out.n)
    out.n = ids - out.data
    return at + (entry >> KIND_SHIFT == SPACE)


cdef inline Py_ssize_t letters_end(
    const Tables* tables, const void* chars, int char_size, Py_ssize_t at,
    Py_ssize_t stop, uint32_t* entry
) noexcept nogil:
    """Return where the plain letters from `at` on end; `entry`: the last that was read."""
    while at < stop:
        entry[0] = entry_at(tables.entries, chars, char_size, at)
        if entry[0] >= FIRST_NOT_LETTER:
            break
        at += 1
    return at


cdef inline int32_t* unknown_word(const Tables* tables, int32_t* ids) noexcept nogil:
    """Put the unk_id where the ids of a word began; return where the next id goes."""
    ids[0] = tables.unk_id
    return ids + 1


# The word at hand, as far as it has been read.
cdef struct Word:
    uint32_t state  # in the trie; NO_STATE: it is unknown, whatever follows
    Py_ssize_t n_letters  # after normalization; no longer counted once it is unknown
    Py_ssize_t context_stop  # end of its last CONTEXT character, and what vanished behind
    bint reorders  # a CONTEXT character came right behind another


cdef Status encode_word(const Tables* tables, Cursor* cursor, Ids* out) noexcept nogil:
    """Append the ids of any word, that at cursor.word_start, and move behind it.

    Requires  the character there is a LETTER, EXPAND or CONTEXT, and starts no special
    """
    cdef int char_size = cursor.char_size
    cdef const DoubleArray* trie = tables.trie
    cdef const void* chars = cursor.chars
    cdef Py_ssize_t start = cursor.word_start, at = start, stop = cursor.stop
    cdef Py_ssize_t n_before = out.n, letters_start, letters_stop
    cdef uint32_t entry = 0
    cdef int32_t* ids
    cdef Word word = Word(trie.start_root, 0, -1, False)
    while True:
        letters_start = at
        letters_stop = min(stop, at + tables.max_word_chars + 1 - word.n_letters)
        if not reserve_ids(out, n_before - out.n + word.n_letters + letters_stop - at):
            return NO_MEMORY
        ids = out.data + out.n
        while word.state != NO_STATE and at < letters_stop:
            entry = entry_at(tables.entries, chars, char_size, at)
            if entry >= FIRST_NOT_LETTER:
                break
            at += 1
            word.state = step(trie, word.state, entry, &ids)
        out.n = ids - out.data
        word.n_letters += at - letters_start
        if word.n_letters > tables.max_word_chars:
            word.state = NO_STATE
        if word.state == NO_STATE:
            at = letters_end(tables, chars, char_size, at, stop, &entry)
        if at == stop:
            break
        if entry >= CAN_START_SPECIAL:
            # The caller has looked at the word's first character.
            if at != start and special_starts_at(tables, chars, char_size, at, stop):
                return NEEDS_SPLIT
            entry ^= CAN_START_SPECIAL
        if entry >= FIRST_NOT_IN_WORD:
            break
        if not add_to_word(tables, entry, at, &word, out):
            return NO_MEMORY
        at += 1
    cursor.at = at
    if word.reorders:
        out.n = n_before
        return NEEDS_NORMALIZER
    if not reserve_ids(out, n_before - out.n + max(word.n_letters, 1)):
        return NO_MEMORY
    ids = out.data + out.n
    if end_word(trie, word.state, &ids) == NO_STATE:
        ids = unknown_word(tables, out.data + n_before)
    out.n = ids - out.data
    return DONE


cdef bint add_to_word(
    const Tables* tables, uint32_t entry, Py_ssize_t at, Word* word, Ids* out
) noexcept nogil:
    """Take the character at `at`, of any kind that does not end a word.

    Ensures  False: no memory
    """
    cdef uint32_t kind = entry >> KIND_SHIFT, n = 1, i
    cdef const uint32_t* letters = &entry
    cdef int32_t* ids
    if kind == DROP:
        word.context_stop += word.context_stop == at  # it joins what is on both sides
        return True
    if kind == CONTEXT:
        word.reorders |= word.context_stop == at
        word.context_stop = at + 1
    if kind != LETTER:
        letters = tables.runs + (entry & PAYLOAD_MASK)
        n = letters[0]
        letters += 1
    word.n_letters += n
    if not reserve_ids(out, word.n_letters):
        return False
    ids = out.data + out.n
    for i in range(n):
        if word.state != NO_STATE:
            word.state = step(tables.trie, word.state, letters[i], &ids)
    out.n = ids - out.data
    return True


cdef inline uint32_t char_at(
    const void* chars, int char_size, Py_ssize_t at
) noexcept nogil:
    if char_size == 1:
        return (<const uint8_t*>chars)[at]
    if char_size == 2:
        return (<const uint16_t*>chars)[at]
    return (<const uint32_t*>chars)[at]


cdef inline uint32_t entry_at(
    const uint32_t* entries, const void* chars, int char_size, Py_ssize_t at
) noexcept nogil:
    """Return the table entry of a character."""
    cdef uint32_t cp = char_at(chars, char_size, at)
    if char_size == 4:
        return entry_of(entries, cp)
    return entries[cp]  # as entry_of: all of these lie in the BMP


cdef enum:
    # A look at each place where a token may start is quick, as nearly all of them end
    # after a character or two. Where one goes on, the automaton has to look: it is linear.
    MAX_SPECIAL_LOOK = 32


cdef bint special_starts_at(
    const Tables* tables, const void* chars, int char_size, Py_ssize_t at,
    Py_ssize_t stop,
) noexcept nogil:
    """Say whether a special token stands at text[at:stop], or the long beginning of one."""
    cdef const DoubleArray* trie = tables.specials
    cdef Py_ssize_t look_stop = at + MAX_SPECIAL_LOOK
    cdef uint32_t state, child
    if trie == NULL:
        return False
    state = trie.start_root
    while at < min(stop, look_stop):
        child = trie.units[state].base + symbol_of(
            tables.special_symbols, char_at(chars, char_size, at)
        )
        if trie.units[child].parent != state:
            return False
        # The continuation trie is empty: only where a token ends is there a way out.
        if trie.failures[child].state != NO_STATE:
            return True
        state = child
        at += 1
    return at == look_stop
