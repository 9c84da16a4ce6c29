"""Reads no more of a row than the tokens need that are wanted of it.

Where the first hundred tokens of a text are wanted, its first thousand characters mostly do:
the row is clipped where no word goes on. If that gives too few tokens, it is clipped again, four
times as far, so that what is read for nothing stays a fraction. What is not read is not checked
either: UTF-8 behind a cut may be invalid.

A cut is exact where the character behind it is white space, or isolated, as words end before both.
Added tokens can be anything: `piecework.clipping` says what they allow.
"""

from libc.string cimport memmove

from piecework._buffers cimport Ids
from piecework._char_table cimport ENDS_WORD, KEPT, KIND_MASK
from piecework._chunks cimport Chunk, Whole
from piecework._scan cimport Tables, Text, char_at, entry_at
from piecework._types cimport int32_t, int64_t, uint8_t, uint32_t


cdef enum:
    # What a row is clipped to at first, for each token: English has five characters for each, and
    # twice as many would read much for nothing. A character may have several bytes.
    CHARS_PER_TOKEN = 8
    BYTES_PER_TOKEN = 12
    FIRST_UNITS = 64  # and so much more
    WIDENING = 4


cdef void take_wholes(
    const Limit* limit, const Text* texts, Py_ssize_t n_rows, bint is_utf8, Whole* wholes
) noexcept nogil:
    """Note what the rows are before they are clipped."""
    cdef Py_ssize_t row, n_tokens = min(limit.max_tokens + limit.margin, <Py_ssize_t>1 << 40)
    cdef Py_ssize_t target = FIRST_UNITS + n_tokens * (
        BYTES_PER_TOKEN if is_utf8 else CHARS_PER_TOKEN
    )
    for row in range(n_rows):
        wholes[row] = Whole(texts[row], target if limit.clips else texts[row].n_chars, 0)


cdef void clip_rows(
    const Limit* limit, const Tables* tables, Text* texts, Whole* wholes,
    Py_ssize_t start, Py_ssize_t stop, bint is_utf8,
) noexcept nogil:
    """Make texts[start:stop] views of what is to be read of the rows.

    Requires  take_wholes; the rows can be viewed
    """
    cdef Py_ssize_t row, at
    cdef const Text* text
    for row in range(start, stop):
        text = &wholes[row].text
        texts[row] = text[0]
        wholes[row].n_skipped = 0
        if text.chars == NULL:
            continue
        at = find_cut(limit, tables, text, &wholes[row].target, is_utf8)
        if limit.keeps_end:
            wholes[row].n_skipped = at
            texts[row].chars = <const char*>text.chars + at * text.char_size
            texts[row].n_chars -= at
        else:
            texts[row].n_chars = at


cdef Py_ssize_t find_cut(
    const Limit* limit, const Tables* tables, const Text* text, Py_ssize_t* target,
    bint is_utf8,
) noexcept nogil:
    """Return where to clip a row so that no more than the target is kept, or a bit less.

    The target grows until there is such a place; where it is all of the row, that is its end, or
    its beginning if the end is kept.
    """
    cdef Py_ssize_t n_kept, least, at
    while target[0] < text.n_chars:
        n_kept = target[0]
        least = n_kept // 2
        while n_kept > least:
            at = text.n_chars - n_kept if limit.keeps_end else n_kept
            if is_cut(limit, tables, text, at, is_utf8):
                return at
            n_kept -= 1
        target[0] *= WIDENING
    return 0 if limit.keeps_end else text.n_chars


cdef bint is_cut(
    const Limit* limit, const Tables* tables, const Text* text, Py_ssize_t at, bint is_utf8
) noexcept nogil:
    """Say whether no word goes on with the character at `at`, and a text may end before it."""
    cdef uint32_t cp = char_at(text.chars, text.char_size, at), kind
    if is_utf8 and cp >= 0x80:
        cp = three_byte_char(text, at)
        if cp == 0:
            return False
        kind = tables.entries[cp] & KIND_MASK
    else:
        kind = entry_at(tables.entries, text.chars, text.char_size, at) & KIND_MASK
    return kind == ENDS_WORD or (limit.at_isolated and cp >= 0x80 and kind == KEPT | ENDS_WORD)


cdef uint32_t three_byte_char(const Text* text, Py_ssize_t at) noexcept nogil:
    """Return the character of three bytes that begins at `at`, as ideographs are, or 0."""
    cdef const uint8_t* data = <const uint8_t*>text.chars + at
    if (
        data[0] & 0xF0 != 0xE0 or at + 2 >= text.n_chars
        or data[1] & 0xC0 != 0x80 or data[2] & 0xC0 != 0x80
    ):
        return 0
    return (data[0] & 0xF) << 12 | (data[1] & 0x3F) << 6 | (data[2] & 0x3F)


cdef Py_ssize_t widen_short_rows(
    const Limit* limit, Chunk* chunk, Whole* wholes, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Have clipped rows among start:stop read further that gave too few tokens.

    Ensures   returns the first of them, or stop: from there on, rows have to be clipped and encoded
              again, and their ids are gone
    """
    cdef Py_ssize_t row, first = stop, needed
    needed = limit.max_tokens + limit.margin + limit.around
    for row in range(start, stop):
        if (
            chunk.row_splits[row + 1] - chunk.row_splits[row] < needed
            and wholes[row].target < wholes[row].text.n_chars
        ):
            wholes[row].target *= WIDENING
            first = min(first, row)
    chunk.ids.n = chunk.row_splits[first]
    chunk.places.spans.n = min(chunk.places.spans.n, 2 * chunk.ids.n)
    chunk.places.words.n = min(chunk.places.words.n, chunk.ids.n)
    return first


cdef void cut_rows(
    const Limit* limit, Chunk* chunk, Py_ssize_t n_head, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    """Leave no more tokens of rows start:stop than are wanted. Requires they are the last ones."""
    cdef int64_t* splits = chunk.row_splits
    cdef Py_ssize_t row, n, n_over, cut, at = splits[start], to = at
    cdef bint has_places = chunk.places.words.n == chunk.ids.n
    for row in range(start, stop):
        n = splits[row + 1] - at
        n_over = max(0, n - limit.around - limit.max_tokens)
        # What goes are n_over ids from here on.
        cut = n_head if limit.keeps_end else n_head + limit.max_tokens
        cut = min(cut, n - n_over)
        if to != at or n_over:
            move_row(&chunk.ids, 1, at, to, cut, n_over, n)
            if has_places:
                move_row(&chunk.places.spans, 2, at, to, cut, n_over, n)
                move_row(&chunk.places.words, 1, at, to, cut, n_over, n)
        at += n
        to += n - n_over
        splits[row + 1] = to
    chunk.ids.n = to
    if has_places:
        chunk.places.spans.n = 2 * to
        chunk.places.words.n = to


cdef void move_row(
    Ids* numbers, Py_ssize_t width, Py_ssize_t at, Py_ssize_t to, Py_ssize_t cut,
    Py_ssize_t n_over, Py_ssize_t n,
) noexcept nogil:
    """Move a row's n numbers down, `width` for each token, without those of cut:cut + n_over."""
    cdef int32_t* data = numbers.data
    cdef size_t size = width * sizeof(int32_t)
    memmove(data + to * width, data + at * width, cut * size)
    memmove(
        data + (to + cut) * width, data + (at + cut + n_over) * width, (n - cut - n_over) * size
    )
