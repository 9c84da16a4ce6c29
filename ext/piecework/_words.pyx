"""Finds the words in a window's stage: where each token begins and stops, 64 bytes at a time."""

from libc.string cimport memset

from piecework._scan cimport Cursor, Special, Tables, open_text, special_at
from piecework._types cimport (
    DONE, NEEDS_SPLIT, Status, uint8_t, uint16_t, uint32_t, uint64_t,
)
from piecework._vector cimport (
    BLOCK, ISOLATED, LETTER, ODD, SPECIAL, VANISHES, Masks, classify, count_bits, list_bits,
    lowest_bit, prepare,
)
from piecework._window cimport Segment, Task, Window, leave_out_row


prepare()


cdef Status find_words(Task* task) noexcept nogil:
    """Find the tokens of the staged segments.

    Ensures   NEEDS_SPLIT: a special token that Python has to look for stands in task.row, and
              that row and those behind it are left out
    """
    cdef Window* window = &task.workspace.window
    cdef uint64_t letters_before = 0, isolated_before = 0, starts, after_letter
    cdef uint16_t* start = window.starts
    cdef uint16_t* stop = window.stops
    cdef Py_ssize_t base = 0, next_segment = 0, row = -1
    cdef uint64_t odd, loose
    cdef Masks masks
    memset(window.stage + window.n_staged, c' ', 2 * BLOCK)
    while base < window.n_staged and row < 0:
        classify(window.stage + base, &task.tables.bytes.classes, &masks)
        odd = loose = 0
        if masks.unsure or base < window.special_stop:
            row = ask_table(task, base, next_segment, &masks, &odd, &loose)
        after_letter = masks.letters << 1 | letters_before
        starts = masks.letters & ~after_letter | masks.isolated
        while (
            next_segment < window.n_segments
            and <Py_ssize_t>window.segments[next_segment].start < base + BLOCK
        ):
            window.segments[next_segment].first_token = (start - window.starts) + count_bits(
                starts & bits_below(window.segments[next_segment].start - base)
            )
            next_segment += 1
        list_tokens(odd, starts, start - window.starts, window.odd, &window.n_odd)
        list_tokens(loose, starts, start - window.starts, window.loose, &window.n_loose)
        start = list_bits(starts, base, start)
        stop = list_bits(
            ~masks.letters & after_letter | masks.isolated << 1 | isolated_before, base, stop
        )
        letters_before = masks.letters >> (BLOCK - 1)
        isolated_before = masks.isolated >> (BLOCK - 1)
        base += BLOCK
    window.n_tokens = start - window.starts
    if row >= 0:
        leave_out_row(task, row)
        return NEEDS_SPLIT
    while next_segment < window.n_segments:  # none of these has a byte
        window.segments[next_segment].first_token = window.n_tokens
        next_segment += 1
    return DONE


cdef inline void list_tokens(
    uint64_t bits, uint64_t starts, Py_ssize_t n_before, uint32_t* tokens, Py_ssize_t* n
) noexcept nogil:
    """List the token that each bit of a block belongs to.

    `starts` are the bits at which tokens start, and that many start before the block.
    """
    while bits:
        tokens[n[0]] = n_before - 1 + count_bits(starts & bits_below(lowest_bit(bits) + 1))
        n[0] += 1
        bits &= bits - 1


cdef Py_ssize_t ask_table(
    Task* task, Py_ssize_t base, Py_ssize_t segment, Masks* masks, uint64_t* odd,
    uint64_t* loose,
) noexcept nogil:
    """Make the masks of a block right; return the row that needs Python, or -1.

    Special tokens become letters of a word that is odd, so that they are found again in the
    text itself.

    Requires  all segments before `segment`, and no others, begin before the block
    """
    cdef Window* window = &task.workspace.window
    cdef uint64_t unsure, bit, inside
    cdef Py_ssize_t at, n_chars
    cdef uint8_t is_
    inside = bits_below(window.special_stop - base)  # of a token that began in an earlier block
    masks.letters |= inside
    masks.isolated &= ~inside
    unsure = masks.unsure & ~inside
    while unsure:
        bit = unsure & (0 - unsure)
        at = base + lowest_bit(unsure)
        is_ = task.tables.bytes.classes.of_byte[window.stage[at]]
        inside = bit
        if is_ & SPECIAL:
            segment = segment_at(window, segment, at)
            n_chars = special_chars(task.tables, &window.segments[segment], at)
            if n_chars < 0:
                return window.segments[segment].row
            if n_chars:
                is_ = LETTER | ODD
                window.special_stop = at + n_chars
                inside = bits_below(window.special_stop - base) & ~(bit - 1)
        masks.letters = masks.letters & ~inside | (inside if is_ & LETTER else 0)
        masks.isolated = masks.isolated & ~inside | (inside if is_ & ISOLATED else 0)
        odd[0] |= bit if is_ & ODD else 0
        loose[0] |= bit if is_ & (ODD | VANISHES) and task.places != NULL else 0
        unsure &= ~inside
    return -1


cdef inline uint64_t bits_below(Py_ssize_t n) noexcept nogil:
    """Return a mask of the n lowest bits: none below 0, all from 64 on."""
    if n <= 0:
        return 0
    return (<uint64_t>1 << n) - 1 if n < BLOCK else ~<uint64_t>0


cdef Py_ssize_t segment_at(const Window* window, Py_ssize_t near, Py_ssize_t at) noexcept nogil:
    """Return the segment that a byte of the stage belongs to.

    Requires  it is `near` or later, or the last staged one before
    """
    while near < window.n_segments and <Py_ssize_t>window.segments[near].start <= at:
        near += 1
    near -= 1
    while not window.segments[near].is_staged:
        near -= 1
    return near


cdef Py_ssize_t special_chars(
    const Tables* tables, const Segment* segment, Py_ssize_t at
) noexcept nogil:
    """Return how long the special token is that begins at a byte of the segment.

    0 if none does; -1 if Python has to look at the token, or it ends in another segment.
    """
    cdef Cursor cursor
    cdef Special special
    open_text(segment.text, &cursor)
    at = segment.at + (at - segment.start)
    special = special_at(tables, &cursor, at)
    if special.needs_python or at + special.n_chars > segment.stop:
        return -1
    return special.n_chars
