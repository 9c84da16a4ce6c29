"""Finds where tokens stand: their offsets, and the numbers of their words.

In: the rows of a window, and the ids that they gave. Out: for each id where it starts and stops in
the text, in characters, and the number of its word. Ids are made without a thought of places; this
goes along the characters and the ids once more, while both are in the cache. The character table
says which characters are letters of words, and an id how many of them it takes: so nothing of how
the ids were found has to be kept.

The words of staged rows are known, and most are plain: each of their characters is one letter. Of
these only pieces have to be measured. Other words, and rows that were not staged, are read again.
"""

from cpython.mem cimport PyMem_RawRealloc
from cython cimport final
from libc.string cimport memcpy

from piecework._alphabet cimport Alphabet, symbol_of
from piecework._buffers cimport OwnedBuffer, reserve_ids
from piecework._char_table cimport (
    DROPPED, ENDS_WORD, EXPANDS, KEPT, KIND_MASK, RARE, REORDERS, STARTS_SPECIAL, starts_special,
)
from piecework._hints cimport likely, opaque
from piecework._items cimport SYMBOL_SHIFT
from piecework._memo cimport LONG, Elsewhere, Result
from piecework._scan cimport Cursor, Tables, entry_at, open_text, special_at
from piecework._trie cimport NO_STATE, ROOT, DoubleTrie, child_of, ends_token, unit_at
from piecework._types cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from piecework._window cimport Lengths, Letters, Places, Segment, Task, Window


cdef extern from *:
    """
    /* As in _scan: the loop over characters is compiled once for each of their sizes. */
    #if defined(__GNUC__) && defined(__OPTIMIZE__)
    #undef CYTHON_INLINE
    #define CYTHON_INLINE inline __attribute__((always_inline))
    #endif
    """


cdef enum:
    NO_WORD = -1  # the number of the word of what is put around a text
    MAX_LENGTH = 0xFFFF  # characters of a token
    BLOCK_CHARS = 1 << 10  # that are read at a time, and to the end of the word
    LETTER_SLACK = 4
    # A letter, as in Letters: the lowest bit, the one above it (that of an entry), and the others.
    IS_WHOLE = 1
    STARTS_WORD = ENDS_WORD  # what ends a word lets the next one begin
    PLACE_SHIFT = 2


@final
cdef class TokenLengths:
    """How many characters the tokens of a vocabulary have.

    Parameters
    ----------
    ids : dict of str to int
    n_ids : int
        Larger than any id, those of special tokens included.
    prefix : str
        What a piece inside a word begins with.
    alphabet : Alphabet
    trie : DoubleTrie
        Of the same vocabulary.
    unk_token : str

    Raises
    ------
    ValueError
        Ids don't tell where pieces end: two tokens of one id differ in length, one is too long, or
        the `unk_token` can be a piece of a word.
    """

    def __cinit__(
        self, dict ids not None, Py_ssize_t n_ids, str prefix not None,
        Alphabet alphabet not None, DoubleTrie trie not None, str unk_token not None,
    ):
        cdef uint16_t* lengths
        cdef Py_ssize_t n_chars, token_id
        self.buffer = OwnedBuffer.zeroed(n_ids * <Py_ssize_t>sizeof(uint16_t))
        lengths = <uint16_t*>self.buffer.data
        for token, number in ids.items():
            token_id = number
            n_chars = len(<str>token)
            if n_chars > MAX_LENGTH or lengths[token_id] not in (0, n_chars):
                raise ValueError(f"the token of id {token_id} has no length by its id")
            lengths[token_id] = n_chars
        if begins_word(alphabet, trie, unk_token):
            raise ValueError(f"{unk_token!r} may be a piece of a word")
        self.lengths = Lengths(lengths, len(prefix), trie.array.unk_id)


cdef bint begins_word(Alphabet alphabet, DoubleTrie trie, str token):
    """Say whether a word can begin with the token, as a piece."""
    cdef uint32_t state = ROOT, mark = trie.array.word_start
    for char in token:
        state = child_of(&trie.array, state, mark | (symbol_of(
            &alphabet.table, ord(char)
        ) << SYMBOL_SHIFT))
        if state == NO_STATE:
            return False
        mark = 0
    return state != ROOT and ends_token(unit_at(&trie.array, state))


# Where the next place goes.
cdef struct Pen:
    int32_t* span
    int32_t* word
    int32_t number  # of the next word


cdef bint place_window(Task* task, bint is_staged) noexcept nogil:
    """Find the places of all ids that the window gave; False without memory.

    `is_staged` says whether rows were staged, if only some that were left out then.

    Requires  they are written, and the places of those before them
    """
    cdef Window* window = &task.workspace.window
    cdef Places* places = task.places
    cdef const Segment* segment
    cdef const int32_t* ids
    cdef Py_ssize_t n_new = task.out.n - places.words.n, i, n, other = 0, loose = 0
    # Where the rows of the stream are counted from: they are all there is, or lie elsewhere.
    cdef int64_t stream_at = 0 if is_staged else places.words.n
    cdef Pen pen
    if not (
        reserve_ids(&places.spans, 2 * n_new) and reserve_ids(&places.words, n_new)
        and reserve_ids(task.out, 1)  # so that it is not NULL, which means that there is no memory
    ):
        return False
    ids = task.out.data + places.words.n
    pen.span = places.spans.data + places.spans.n
    pen.word = places.words.data + places.words.n
    pen.number = places.next_word
    for i in range(window.n_segments):
        segment = &window.segments[i]
        n = 0
        if not segment.is_staged:
            n = window.row_stops[other] - stream_at
            stream_at = window.row_stops[other]
            other += 1
        if segment.at == 0:
            pen.number = 0
            put_nowhere(task.head.n, &pen)
            ids += task.head.n
            n -= task.head.n
        if segment.stop == segment.text.n_chars:
            n -= task.tail.n
        if segment.is_staged:
            ids = place_tokens(task, i, &loose, ids, &pen)
        else:
            ids = place_stretch(task, segment, segment.at, segment.stop, ids, n, &pen)
        if ids == NULL and n_new:  # without any there may be no memory yet for them to be in
            return False
        if segment.stop == segment.text.n_chars:
            put_nowhere(task.tail.n, &pen)
            ids += task.tail.n
    places.spans.n = pen.span - places.spans.data
    places.words.n = pen.word - places.words.data
    places.next_word = pen.number
    return True


cdef inline void put_nowhere(Py_ssize_t n, Pen* pen) noexcept nogil:
    cdef Py_ssize_t _i
    for _i in range(n):
        put(pen, 0, 0, NO_WORD)


cdef inline void put(
    Pen* pen, Py_ssize_t start, Py_ssize_t stop, int32_t number
) noexcept nogil:
    pen.span[0] = start
    pen.span[1] = stop
    pen.word[0] = number
    pen.span += 2
    pen.word += 1


cdef inline const int32_t* place_tokens(
    Task* task, Py_ssize_t at_segment, Py_ssize_t* at_loose, const int32_t* ids, Pen* pen
) noexcept nogil:
    """Place the ids of a staged segment; return where those behind them are.

    Requires  `at_loose` is 0, or was moved here for a segment before this one
    Ensures   NULL: there is no memory
    """
    cdef const Window* window = &task.workspace.window
    cdef const Segment* segment = &window.segments[at_segment]
    cdef Py_ssize_t token = segment.first_token, n
    cdef Py_ssize_t delta = segment.at - <Py_ssize_t>segment.start  # from the stage to the text
    cdef Py_ssize_t stop = window.n_tokens
    if at_segment + 1 < window.n_segments:
        stop = window.segments[at_segment + 1].first_token
    while token < stop:
        while at_loose[0] < window.n_loose and <Py_ssize_t>window.loose[at_loose[0]] < token:
            at_loose[0] += 1
        n = stop
        if at_loose[0] < window.n_loose:
            n = min(n, <Py_ssize_t>window.loose[at_loose[0]])
        ids = place_plain(window, token, n, delta, task.places.lengths, ids, pen)
        token = n
        if token < stop:
            n = n_ids_of(&window.results[token])
            ids = place_stretch(
                task, segment, window.starts[token] + delta, window.stops[token] + delta, ids, n,
                pen,
            )
            if ids == NULL:
                return NULL
            token += 1
    return ids


cdef inline Py_ssize_t n_ids_of(const Result* result) noexcept nogil:
    cdef Elsewhere where
    if likely(result.n < LONG):
        return result.n
    memcpy(&where, result, sizeof(Elsewhere))
    return where.n


cdef inline const int32_t* place_plain(
    const Window* window, Py_ssize_t token, Py_ssize_t stop, Py_ssize_t delta,
    const Lengths* lengths, const int32_t* ids, Pen* pen,
) noexcept nogil:
    """Place the ids of tokens of which each is a word, and each byte a letter of it."""
    cdef Py_ssize_t i, n
    cdef Pen at = pen[0]
    for i in range(token, stop):
        n = n_ids_of(&window.results[i])
        at.span[0] = window.starts[i] + delta
        at.span[1] = window.stops[i] + delta
        at.word[0] = at.number
        if n == 1:
            at.span += 2
            at.word += 1
        else:
            place_pieces(lengths, ids, n, window.starts[i] + delta, &at)
        ids += n
        at.number += 1
    pen[0] = at
    return ids


cdef inline void place_pieces(
    const Lengths* lengths, const int32_t* ids, Py_ssize_t n, int32_t start, Pen* at
) noexcept nogil:
    """Place the pieces of one word, each of whose characters is a letter."""
    cdef Py_ssize_t i
    cdef int32_t stop = start + <int32_t>lengths.of_id[ids[0]]
    cdef int32_t n_prefix = lengths.n_prefix
    for i in range(n):
        at.span[0] = start
        at.span[1] = stop
        at.word[0] = at.number
        at.span += 2
        at.word += 1
        start = stop
        if i + 1 < n:
            stop += <int32_t>lengths.of_id[ids[i + 1]] - n_prefix


cdef const int32_t* place_stretch(
    Task* task, const Segment* segment, Py_ssize_t start, Py_ssize_t stop,
    const int32_t* ids, Py_ssize_t n, Pen* pen,
) noexcept nogil:
    """Place the n ids of text[start:stop], which are whole words; return where the next ones are.

    Ensures   n places were put, whatever the text is now: a buffer of UTF-8 may have changed.
              NULL: there is no memory
    """
    cdef const int32_t* id_stop = ids + n
    cdef Letters* letters = &task.workspace.letters
    cdef Cursor cursor
    cdef bint worked
    open_text(segment.text, &cursor)
    cursor.at = start
    cursor.stop = stop
    while cursor.at < stop and ids < id_stop:
        if cursor.char_size == 1:
            worked = read_letters(task.tables, &cursor, 1, letters)
        elif cursor.char_size == 2:
            worked = read_letters(task.tables, &cursor, 2, letters)
        else:
            worked = read_letters(task.tables, &cursor, 4, letters)
        if not worked:
            return NULL
        ids = place_letters(task.places.lengths, letters, ids, id_stop, pen)
    put_nowhere(id_stop - ids, pen)
    return id_stop


cdef inline bint read_letters(
    const Tables* tables, Cursor* cursor, int char_size, Letters* letters
) noexcept nogil:
    """List the letters of the next words, some hundred characters; False without memory.

    Requires  char_size == cursor.char_size, known to the compiler; the cursor is at no letter
              inside a word
    Ensures   so it is again
    """
    cdef const uint32_t* entries = tables.entries
    cdef Py_ssize_t stop = min(cursor.stop, cursor.at + BLOCK_CHARS)
    cdef uint32_t entry
    cdef Reading reading
    letters.n = 0
    if not reserve_letters(letters, BLOCK_CHARS * max(<Py_ssize_t>2, tables.longest_run)):
        return False
    reading = Reading(cursor.at, letters.data, STARTS_WORD)
    while reading.at < stop:
        entry = list_run(entries, cursor.chars, char_size, stop, &reading)
        if entry & RARE:
            list_rare(tables, cursor, entry, &reading)
    while reading.mark == 0 and reading.at < cursor.stop:  # on to the end of the word
        letters.n = reading.letter - letters.data
        entry = entry_at(entries, cursor.chars, char_size, reading.at)
        if entry & ENDS_WORD or not reserve_letters(letters, tables.longest_run):
            break
        reading.letter = letters.data + letters.n
        list_rare(tables, cursor, entry, &reading)
    letters.n = reading.letter - letters.data
    cursor.at = reading.at
    letters.data[letters.n] = STARTS_WORD
    return True


cdef inline bint reserve_letters(Letters* letters, Py_ssize_t extra) noexcept nogil:
    """Make room for `extra` more letters and LETTER_SLACK; False without memory."""
    cdef void* data
    cdef Py_ssize_t cap = letters.n + extra + LETTER_SLACK
    if cap <= letters.cap:
        return True
    cap += cap >> 1
    data = PyMem_RawRealloc(letters.data, cap * sizeof(uint64_t))
    if data == NULL:
        return False
    letters.data = <uint64_t*>data
    letters.cap = cap
    return True


cdef inline void list_plain(
    uint32_t entry, Py_ssize_t at, uint64_t** letter, uint64_t* mark
) noexcept nogil:
    """Take a character that is one letter, a word of its own, white space or nothing."""
    cdef uint64_t if_dropped = 0 - <uint64_t>((entry & DROPPED) // DROPPED)  # as a mask
    letter[0][0] = <uint64_t>at << PLACE_SHIFT | mark[0] | (entry & ENDS_WORD)
    letter[0] += entry & KEPT
    mark[0] = (entry & ENDS_WORD) | (mark[0] & if_dropped)


# How far a text has been read.
cdef struct Reading:
    Py_ssize_t at
    uint64_t* letter  # where the next one goes
    uint64_t mark  # of the next letter


cdef inline uint32_t list_run(
    const uint32_t* entries, const void* chars, int char_size, Py_ssize_t stop,
    Reading* reading,
) noexcept nogil:
    """Take characters up to one whose entry is RARE; return that, or another entry at the stop."""
    cdef Py_ssize_t at = reading.at
    cdef uint64_t* letter = reading.letter
    cdef uint64_t mark = reading.mark
    cdef uint32_t entry = 0
    while at < stop:
        entry = entry_at(entries, chars, char_size, at)
        if entry & RARE:
            break
        list_plain(entry, at, &letter, &mark)
        at += 1
    reading.at = at
    reading.letter = letter
    reading.mark = mark
    return entry


cdef void list_rare(
    const Tables* tables, const Cursor* cursor, uint32_t entry, Reading* reading
) noexcept nogil:
    """Take what stands at a character, whose entry may be RARE."""
    cdef uint32_t kind = entry & KIND_MASK, n, i
    cdef Py_ssize_t n_chars = 0
    cdef uint64_t* letter = reading.letter
    cdef uint64_t place = <uint64_t>reading.at << PLACE_SHIFT
    if entry & RARE and starts_special(entry):
        n_chars = special_at(tables, cursor, reading.at).n_chars
    if n_chars:
        # All of it is one token: its first and its last character tell where that stands.
        letter[0] = place | STARTS_WORD | IS_WHOLE
        letter[1] = <uint64_t>(reading.at + n_chars - 1) << PLACE_SHIFT
        reading.letter += 2
        reading.mark = STARTS_WORD
        reading.at += n_chars
        return
    if kind == EXPANDS or kind == REORDERS:
        n = tables.runs[(entry & ~<uint32_t>STARTS_SPECIAL) >> SYMBOL_SHIFT]
        for i in range(n):
            letter[i] = place
        letter[0] |= reading.mark
        reading.letter += n
        reading.mark = 0
    else:
        list_plain(entry, reading.at, &reading.letter, &reading.mark)
    reading.at += 1


cdef inline const int32_t* place_letters(
    const Lengths* lengths, const Letters* letters, const int32_t* ids,
    const int32_t* id_stop, Pen* pen,
) noexcept nogil:
    """Place the ids that the letters gave; return where the others are."""
    cdef const uint64_t* letter = letters.data
    cdef const uint64_t* stop = letter + letters.n
    cdef const uint16_t* of_id = lengths.of_id
    cdef Py_ssize_t n_prefix = lengths.n_prefix, n
    cdef int32_t unk_id = lengths.unk_id
    cdef uint64_t first
    cdef Py_ssize_t starts, goes_on
    cdef Pen at = pen[0]
    at.number -= 1
    while letter < stop and ids < id_stop:
        first = letter[0]
        starts = (first & STARTS_WORD) // STARTS_WORD
        goes_on = 1 - <Py_ssize_t>((letter[1] & STARTS_WORD) // STARTS_WORD)
        n = of_id[ids[0]] - (n_prefix & (starts - 1))
        # A letter alone is one token, known or not: ideographs are often either, without a pattern.
        n = 1 + ((n - 1) & opaque(-goes_on))
        if not likely(not ((first & IS_WHOLE) | (starts & goes_on & (ids[0] == unk_id)))):
            n = n_to_next_word(letter)
        if not likely(<size_t>(n - 1) < <size_t>(stop - letter)):  # the text has changed
            n = n_to_next_word(letter)
        letter += n
        at.number += starts
        put(
            &at, first >> PLACE_SHIFT, ((letter - 1)[0] >> PLACE_SHIFT) + 1, at.number
        )
        ids += 1
    at.number += 1
    pen[0] = at
    return ids


cdef Py_ssize_t n_to_next_word(const uint64_t* letter) noexcept nogil:
    """Return how many letters stand before the next one that begins a word, this one included."""
    cdef Py_ssize_t n = 1
    while not letter[n] & STARTS_WORD:  # behind the last one there is one
        n += 1
    return n
