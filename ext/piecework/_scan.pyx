"""Reads text: finds the words, and makes each of their characters an item.

In: the characters of a str, where they lie (1, 2 or 4 bytes each), and the flat table. Out: items,
appended to the stream that the walk along the tries takes up. Each character is looked at once,
and its entry says all. No normalized text is made. What needs more than one character's context,
marks that may swap places, a surrogate, a special token that is too long or has conditions, is
handed back to the caller.
"""

from libc.string cimport memcpy

from piecework._alphabet cimport symbol_of
from piecework._char_table cimport (
    DROPPED,
    ENDS_WORD,
    EXPANDS,
    KEPT,
    KIND_MASK,
    RARE,
    REORDERS,
    RUN_SLACK,
    STARTS_SPECIAL,
    SURROGATE,
    starts_special,
)
from piecework._hints cimport likely
from piecework._items cimport Items, literal, reserve_items
from piecework._trie cimport (
    NO_STATE, ROOT, SYMBOL_SHIFT, DoubleArray, child_of, ends_token, unit_at,
)
from piecework._types cimport (
    DONE,
    NEEDS_NORMALIZER,
    NEEDS_REPAIR,
    NEEDS_SPLIT,
    NO_MEMORY,
    Status,
    int32_t,
    uint32_t,
)


cdef extern from *:
    """
    /* The loop below is written once for all character sizes and wants to be compiled
       once for each; left to itself, GCC keeps one with the size as a variable. */
    #if defined(__GNUC__) && defined(__OPTIMIZE__)
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    #endif
    """


cdef enum:
    STRETCH = 256  # characters that are read at a time, and to the end of the word


cdef Status scan_words(const Tables* tables, Cursor* cursor, Items* items) noexcept nogil:
    """Append the items of the words from text[at] on, for a stretch or to the text's end.

    Requires  at is not inside a word
    Ensures   DONE: `at` is behind the last of them. NEEDS_SPLIT, NEEDS_REPAIR: a
              special token that needs Python or a surrogate stands in the text, and what was
              appended is of no use. NEEDS_NORMALIZER: see Cursor; the items of all before
              that word are appended, `at` is behind it. NO_MEMORY: what was appended is of no
              use. In any case no word is unfinished
    Never     reads text[stop:], touches Python objects
    """
    # The compiler makes a loop of its own for each size.
    if cursor.char_size == 1:
        return scan_sized(tables, cursor, 1, items)
    if cursor.char_size == 2:
        return scan_sized(tables, cursor, 2, items)
    return scan_sized(tables, cursor, 4, items)


cdef inline Status scan_sized(
    const Tables* tables, Cursor* cursor, int char_size, Items* items
) noexcept nogil:
    """As scan_words. Requires char_size == cursor.char_size, known to the compiler."""
    cdef const void* chars = cursor.chars
    cdef Py_ssize_t at = cursor.at, stop = min(cursor.stop, at + STRETCH)
    cdef Py_ssize_t first = items.n
    cdef uint32_t word_start = tables.trie.word_start, entry
    cdef uint32_t mark = word_start  # for the next letter: does it begin a word?
    cdef uint32_t* item
    cdef Reading reading
    cdef Py_ssize_t floor = at
    if not reserve_items(items, (stop - at) * tables.longest_run + RUN_SLACK):
        return NO_MEMORY
    item = items.data + items.n
    while at < stop:
        entry = entry_at(tables.entries, chars, char_size, at)
        if not likely(entry & RARE == 0):
            if entry & (KIND_MASK | STARTS_SPECIAL) == EXPANDS:
                item = append_run(tables.runs, entry, mark, item)
                at += 1
                mark = 0
                continue
            reading = Reading(at, item, mark, floor, DONE)
            read_rare(tables, cursor, entry, &reading)
            if reading.status != DONE:
                items.n = item - items.data
                return stop_reading(tables, cursor, first, &reading, items)
            at = reading.at
            item = reading.item
            mark = reading.mark
            floor = reading.floor
            continue
        take_plain(entry, word_start, &item, &mark)
        at += 1
    items.n = item - items.data
    reading = Reading(at, item, mark, floor, DONE)
    if mark == 0 and at < cursor.stop:
        finish_word(tables, cursor, &reading, items)
        if reading.status != DONE:
            return stop_reading(tables, cursor, first, &reading, items)
    cursor.at = reading.at
    finish_words(tables, first, items)
    return DONE


# How far a stretch has been read.
cdef struct Reading:
    Py_ssize_t at
    uint32_t* item  # where the next item goes
    uint32_t mark  # of the next letter: word_start, or 0 inside a word
    Py_ssize_t floor  # what stands before it has nothing to do with what is read now
    Status status


cdef inline uint32_t* append_run(
    const uint32_t* runs, uint32_t entry, uint32_t mark, uint32_t* item
) noexcept nogil:
    """Put the letters that a character becomes; return where the next one goes.

    Requires  there is room for RUN_SLACK more
    """
    cdef const uint32_t* run = run_of(runs, entry)
    cdef uint32_t n = run[0]
    # Mostly two or three, as a Hangul syllable: four are copied without asking.
    memcpy(item, run + 1, RUN_SLACK * sizeof(uint32_t))
    if n > RUN_SLACK:
        memcpy(item, run + 1, n * sizeof(uint32_t))
    item[0] |= mark
    return item + n


cdef void read_rare(
    const Tables* tables, const Cursor* cursor, uint32_t entry, Reading* reading
) noexcept nogil:
    """Take the character at reading.at, whose entry is RARE, unless a status is set.

    Requires  there is room for its items
    """
    cdef uint32_t kind = entry & KIND_MASK
    cdef Special special
    if starts_special(entry):
        special = special_at(tables, cursor, reading.at)
        if special.needs_python:
            reading.status = NEEDS_SPLIT
            return
        if special.n_chars:
            take_special(tables, special, reading)
            return
    if kind == SURROGATE:
        reading.status = NEEDS_REPAIR
        return
    if kind == REORDERS and (
        may_change_places(tables, cursor, reading.at) if tables.is_placing
        else reorders_before(tables, cursor, reading)
    ):
        reading.status = NEEDS_NORMALIZER
        return
    if kind == EXPANDS or kind == REORDERS:
        reading.item = append_run(tables.runs, entry, reading.mark, reading.item)
        reading.mark = 0
    else:
        take_plain(entry, tables.trie.word_start, &reading.item, &reading.mark)
    reading.at += 1


cdef inline void take_special(
    const Tables* tables, Special special, Reading* reading
) noexcept nogil:
    reading.item[0] = literal(special.id)
    reading.item += 1
    reading.at += special.n_chars
    reading.floor = reading.at
    reading.mark = tables.trie.word_start


cdef bint may_change_places(
    const Tables* tables, const Cursor* cursor, Py_ssize_t at
) noexcept nogil:
    """Say whether the place of a REORDERS hangs on a neighbour, which may vanish afterwards."""
    return (
        (at > 0 and joins_marks(kind_at(tables, cursor, at - 1)))
        or (at + 1 < cursor.stop and joins_marks(kind_at(tables, cursor, at + 1)))
    )


cdef inline bint joins_marks(uint32_t kind) noexcept nogil:
    return kind == EXPANDS or kind == REORDERS or kind & ~<uint32_t>RARE == DROPPED


cdef bint reorders_before(
    const Tables* tables, const Cursor* cursor, const Reading* reading
) noexcept nogil:
    """Say whether a REORDERS stands before the character, with nothing kept in between."""
    cdef Py_ssize_t at = reading.at
    cdef uint32_t kind
    while at > reading.floor:
        at -= 1
        kind = kind_at(tables, cursor, at)
        if kind & ~<uint32_t>RARE != DROPPED:
            return kind == REORDERS
    return False


cdef void finish_word(
    const Tables* tables, const Cursor* cursor, Reading* reading, Items* items
) noexcept nogil:
    """Read on to the end of the word at hand, which no longer grows once it is too long.

    Unless it is watched.
    """
    cdef Py_ssize_t word = items.n - 1, enough
    cdef uint32_t entry
    while not items.data[word] & tables.trie.word_start:
        word -= 1
    enough = word + tables.max_word_chars + 1  # one letter too many
    if items.watcher != NULL:  # an added token may begin behind that
        enough = cursor.stop * tables.longest_run + items.n
    while reading.at < cursor.stop:
        entry = entry_at(tables.entries, cursor.chars, cursor.char_size, reading.at)
        if entry & ENDS_WORD and entry & KIND_MASK != SURROGATE:
            break
        if entry & RARE and starts_special(entry) and special_at(
            tables, cursor, reading.at
        ).n_chars:
            break
        if not reserve_items(items, tables.longest_run + RUN_SLACK):
            reading.status = NO_MEMORY
            break
        reading.item = items.data + items.n
        if entry & RARE:
            read_rare(tables, cursor, entry, reading)
            if reading.status != DONE:
                break
        else:
            take_plain(entry, tables.trie.word_start, &reading.item, &reading.mark)
            reading.at += 1
        items.n = min(reading.item - items.data, enough)


cdef Status stop_reading(
    const Tables* tables, Cursor* cursor, Py_ssize_t first, const Reading* reading,
    Items* items,
) noexcept nogil:
    """Leave whole words in the stream from `first` on, and the cursor as scan_words says."""
    cdef Py_ssize_t start = reading.at, stop = reading.at
    cdef uint32_t kind
    if reading.status != NEEDS_NORMALIZER:
        items.n = first
        return reading.status
    if reading.mark == 0:  # the word has begun
        items.n -= 1
        while not items.data[items.n] & tables.trie.word_start:
            items.n -= 1
    while start > reading.floor and not kind_at(tables, cursor, start - 1) & ENDS_WORD:
        start -= 1
    while stop < cursor.stop:
        kind = kind_at(tables, cursor, stop)
        if kind == SURROGATE or special_at(tables, cursor, stop).n_chars:
            items.n = first
            return NEEDS_REPAIR if kind == SURROGATE else NEEDS_SPLIT
        if kind & ENDS_WORD:
            break
        stop += 1
    cursor.word_start = start
    cursor.at = stop
    finish_words(tables, first, items)
    return NEEDS_NORMALIZER


cdef void mark_long_words(
    const Tables* tables, Py_ssize_t first, Items* items
) noexcept nogil:
    """Put the unk_id in the place of each word of more than max_word_chars letters.

    Requires  a word begins with the item `first`
    """
    # A word that is too long fills one of these windows, wherever it begins.
    cdef Py_ssize_t window = max(tables.max_word_chars // 2, 1), at = first, i
    cdef uint32_t seen
    while at + window <= items.n:
        seen = 0
        for i in range(at, at + window):
            seen |= items.data[i]
        if seen < tables.trie.word_start:
            replace_long_words(tables, first, items)
            return
        at += window


cdef void replace_long_words(
    const Tables* tables, Py_ssize_t first, Items* items
) noexcept nogil:
    cdef Py_ssize_t at = first, to = first, start
    while at < items.n:
        start = at
        while True:
            items.data[to] = items.data[at]
            to += 1
            at += 1
            if at == items.n or items.data[at] >= tables.trie.word_start:
                break
        if at - start > tables.max_word_chars:
            to -= at - start
            items.data[to] = tables.trie.word_start | tables.trie.unknown
            to += 1
    items.n = to


cdef uint32_t symbol_beside(
    const Tables* tables, const Text* text, Py_ssize_t at, int step
) noexcept nogil:
    """Return the first symbol in front of text[at], or the first from there on; 0 if there is none.

    White space is passed over. `step` is -1 or 1.
    """
    cdef uint32_t entry, kind
    cdef const uint32_t* run
    if step < 0:
        at -= 1
    while 0 <= at < text.n_chars:
        entry = entry_at(tables.entries, text.chars, text.char_size, at)
        kind = entry & KIND_MASK
        if kind == EXPANDS or kind == REORDERS:
            run = run_of(tables.runs, entry)
            return run[1 if step > 0 else run[0]] >> SYMBOL_SHIFT
        if kind & KEPT:
            return (entry & ~<uint32_t>KIND_MASK & ~tables.trie.word_start) >> SYMBOL_SHIFT
        at += step
    return 0


cdef inline const uint32_t* run_of(const uint32_t* runs, uint32_t entry) noexcept nogil:
    """Return the run of a character that becomes several letters."""
    return runs + ((entry & ~<uint32_t>STARTS_SPECIAL) >> SYMBOL_SHIFT)


cdef uint32_t kind_at(
    const Tables* tables, const Cursor* cursor, Py_ssize_t at
) noexcept nogil:
    """Return what the character at `at` is: the lowest bits of its entry."""
    return KIND_MASK & entry_at(tables.entries, cursor.chars, cursor.char_size, at)


cdef enum:
    # A look at each place where a token may start is quick, as nearly all of them end
    # after a character or two. Where one goes on, the automaton has to look: it is linear.
    MAX_SPECIAL_LOOK = 32


cdef Special special_at(
    const Tables* tables, const Cursor* cursor, Py_ssize_t at
) noexcept nogil:
    """Return the longest special token that text[at:stop] begins with, if there is one."""
    cdef const DoubleArray* trie = tables.specials
    cdef Special special = Special(0, 0, False)
    cdef Py_ssize_t n_chars = 0, stop = min(cursor.stop - at, <Py_ssize_t>MAX_SPECIAL_LOOK)
    cdef uint32_t state = ROOT, mark
    cdef int32_t id
    if trie == NULL:
        return special
    mark = trie.word_start
    while n_chars < stop:
        state = child_of(
            trie, state, mark | (symbol_of(
                tables.special_symbols,
                char_at(cursor.chars, cursor.char_size, at + n_chars),
            ) << SYMBOL_SHIFT)
        )
        if state == NO_STATE:
            return special
        n_chars += 1
        if ends_token(unit_at(trie, state)):
            id = unit_at(trie, state).pop
            special = Special(n_chars, id, id == FOR_PYTHON)
        mark = 0
    if n_chars == MAX_SPECIAL_LOOK:
        return Special(n_chars, 0, True)
    return special
