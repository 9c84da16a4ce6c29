"""Encodes rows together, so that each step runs over many words.

A row that can be text of bytes is put into the stage. When that is full, the words of all rows in
it are found, by vector compares, then looked up in the memo, all of them, and those that are not
there are walked, all of them; then the ids are written out. None of these steps guesses what
comes next. Rows of other characters are scanned and walked as they are, beside the missed words.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.string cimport memcpy, memset

from piecework._buffers cimport Ids, reserve_ids
from piecework._hints cimport likely, prefetch
from piecework._items cimport (
    MAX_PARTS, PART_ITEMS, Items, append_literals, clear_items, end_row, free_items,
)
from piecework._memo cimport (
    LONG, MANY, MAX_WORD_BYTES, Bucket, Elsewhere, Memo, Result, is_seasoned, free_memo,
    open_memo, remember, remember_long,
)
from piecework._scan cimport Cursor, Special, Tables, Text, open_text, scan_word, special_at
from piecework._stream cimport make_room, scan_text
from piecework._types cimport (
    DONE, NEEDS_SPLIT, NO_MEMORY, Status, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from piecework._vector cimport (
    BLOCK, ISOLATED, LETTER, ODD, SPECIAL, Bytes, Key, Masks, classify, count_bits, cut_words,
    list_bits, load_key, lowest_bit, narrow1, narrow2, narrow4, prepare, same_key, widen,
)
from piecework._walk cimport walk_items


cdef enum:
    MAX_TOKENS = STAGE_BYTES + BLOCK  # with the places behind that vector code writes to
    LONG_CHARS = 4096  # what is not staged and longer goes straight to the result
    FULL_PARTS = MAX_PARTS - 8  # of the stream: a window with a stage is full
    LOOK_TOKENS = 256  # that are looked up together: the first cache holds their buckets
    SHORT_IDS = 7  # that a Result holds
    WIDE_IDS = 3
    SLACK = 16  # ids are stored by four, eight or sixteen
    MIN_CHARS_TO_ODD = 32  # with more that have no byte, the memo is of no use
    PROBE_CHARS = 16  # by which a text is judged first
    # A memo that has seen something is judged each so many characters. Where it misses more than
    # one of four, as it has no room for the words of twenty languages, it costs more than it saves:
    # then that many that come next are walked without asking it.
    JUDGED_CHARS = 1 << 15
    CHARS_TO_MISS = 4
    PASS_CHARS = 1 << 18


prepare()


cdef bint open_window(
    Workspace* workspace, Py_ssize_t memo_bytes, Py_ssize_t n_chars
) noexcept nogil:
    """Get ready for a run of encode_rows over about that many characters; False without memory.

    A memo of `memo_bytes` is asked, once that is worth it; none if they are 0.
    """
    cdef Window* window = &workspace.window
    if window.row_stops == NULL:
        window.row_stops = <int64_t*>PyMem_RawMalloc(
            (MAX_TOKENS + MAX_SEGMENTS) * sizeof(int64_t)
        )
        if window.row_stops == NULL:
            return False
        window.most_staged = STAGE_BYTES
    workspace.n_chars += n_chars
    window.stages = False
    if memo_bytes == 0:
        return True
    if workspace.memo.memory != NULL and workspace.memo.n_bytes != memo_bytes:
        free_memo(&workspace.memo)
        workspace.n_chars = n_chars
        memset(&window.known, 0, sizeof(Acquaintance))
    window.stages = workspace.memo.memory != NULL or workspace.n_chars >= MEMO_WORTHY_CHARS
    if not window.stages:
        return True
    return (
        (window.stage != NULL or make_stage(window))
        and (workspace.memo.memory != NULL or open_memo(&workspace.memo, memo_bytes))
    )


cdef bint make_stage(Window* window) noexcept nogil:
    """Allocate the stage, and all that has a place for each token; False without memory."""
    window.stage = <uint8_t*>PyMem_RawMalloc(
        STAGE_BYTES + 2 * BLOCK
        + MAX_TOKENS * (sizeof(Result) + 3 * sizeof(uint32_t) + 3 * sizeof(uint16_t))
    )
    if window.stage == NULL:
        return False
    window.results = <Result*>(window.stage + STAGE_BYTES + 2 * BLOCK)
    window.missed = <uint32_t*>(window.results + MAX_TOKENS)
    window.odd = window.missed + MAX_TOKENS
    window.longer = window.odd + MAX_TOKENS
    window.starts = <uint16_t*>(window.longer + MAX_TOKENS)
    window.stops = window.starts + MAX_TOKENS
    window.cuts = window.stops + MAX_TOKENS
    return True


cdef void trim_workspace(Workspace* workspace, Py_ssize_t n_bytes) noexcept nogil:
    """Give back what grows with a text, if it is more than `n_bytes`. The items are empty then."""
    cdef Items* items = &workspace.items
    cdef Py_ssize_t n_items = items.cap + items.scratch.cap + workspace.walked.cap
    if n_items * <Py_ssize_t>sizeof(int32_t) <= n_bytes:
        return
    free_items(items)
    memset(items, 0, sizeof(Items))
    PyMem_RawFree(workspace.walked.data)
    workspace.walked = Ids(NULL, 0, 0)


cdef void free_workspace(Workspace* workspace) noexcept nogil:
    free_items(&workspace.items)
    PyMem_RawFree(workspace.walked.data)
    free_memo(&workspace.memo)
    PyMem_RawFree(workspace.window.stage)
    PyMem_RawFree(workspace.window.row_stops)


cdef Status add_row(Task* task, const Text* text, Py_ssize_t row) noexcept nogil:
    """Take a row into the window, which may have to be flushed.

    Ensures   NEEDS_SPLIT, NEEDS_REPAIR, NEEDS_NORMALIZER: task.row is the row that needs
              Python, and of that row and those behind it nothing is in the window. NO_MEMORY:
              nothing is of use
    """
    cdef Window* window = &task.workspace.window
    cdef bint is_full = window.n_segments == MAX_SEGMENTS
    cdef Py_ssize_t at = 0, room, n
    cdef Status status
    cdef Acquaintance* known = &window.known
    if known.n_passing > 0:
        known.n_passing -= text.n_chars
    while window.stages and known.n_passing <= 0:
        n = text.n_chars - at
        room = STAGE_BYTES - 1 - window.n_staged
        if (
            is_full
            or (n > room and room < STAGE_BYTES // 4)
            or (window.n_staged == 0 and task.workspace.items.n_walks)
        ):
            status = flush_window(task)
            if status != DONE:
                return status
            is_full = False
            continue
        if n > room:
            n = chars_to_space(text, at, room)
        if n < 0 or not stage_segment(task, text, row, at, n):
            break
        at += n
        if at == text.n_chars:
            return DONE
        is_full = window.n_segments == MAX_SEGMENTS
    return add_unstaged(task, text, row, at)


cdef Py_ssize_t chars_to_space(
    const Text* text, Py_ssize_t at, Py_ssize_t room
) noexcept nogil:
    """Return the largest n, from 1 to `room`, such that text[at + n] is a space, or -1."""
    while room and not char_is_space(text, at + room):
        room -= 1
    return room if room else -1


cdef inline bint char_is_space(const Text* text, Py_ssize_t at) noexcept nogil:
    if text.char_size == 1:
        return (<const uint8_t*>text.chars)[at] == c' '
    if text.char_size == 2:
        return (<const uint16_t*>text.chars)[at] == c' '
    return (<const uint32_t*>text.chars)[at] == c' '


cdef bint stage_segment(
    Task* task, const Text* text, Py_ssize_t row, Py_ssize_t at, Py_ssize_t n
) noexcept nogil:
    """Put text[at:at + n] into the stage; False if too many of its characters have no byte."""
    cdef Window* window = &task.workspace.window
    cdef uint8_t* to = window.stage + window.n_staged
    cdef const Bytes* bytes = &task.tables.bytes.bytes
    # Most texts that are not for the stage show it early.
    if n > PROBE_CHARS and are_too_many(
        narrow(text, at, PROBE_CHARS, bytes, to), PROBE_CHARS
    ):
        return False
    if are_too_many(narrow(text, at, n, bytes, to), n):
        return False
    to[n] = c' '
    add_segment(window, text, row, at, at + n)
    window.n_staged += n + 1
    return True


cdef inline void add_segment(
    Window* window, const Text* text, Py_ssize_t row, Py_ssize_t at, Py_ssize_t stop
) noexcept nogil:
    cdef Segment* segment = &window.segments[window.n_segments]
    window.n_segments += 1
    segment.text = text
    segment.row = row
    segment.at = at
    segment.stop = stop
    segment.is_staged = True
    segment.start = window.n_staged


cdef inline bint are_too_many(Py_ssize_t n_without, Py_ssize_t n) noexcept nogil:
    """Say whether so many characters without a byte are too many for n of them."""
    return n_without * MIN_CHARS_TO_ODD > n + MIN_CHARS_TO_ODD


cdef inline Py_ssize_t narrow(
    const Text* text, Py_ssize_t at, Py_ssize_t n, const Bytes* bytes, uint8_t* to
) noexcept nogil:
    """Make the characters text[at:at + n] bytes; return how many have none."""
    if text.char_size == 1:
        return narrow1(<const uint8_t*>text.chars + at, n, bytes, to)
    if text.char_size == 2:
        return narrow2(<const uint16_t*>text.chars + at, n, bytes, to)
    return narrow4(<const uint32_t*>text.chars + at, n, bytes, to)


cdef Status add_unstaged(
    Task* task, const Text* text, Py_ssize_t row, Py_ssize_t at
) noexcept nogil:
    """Take the rest of a row as it is. What it ensures is as for add_row."""
    cdef Window* window = &task.workspace.window
    cdef Items* items = &task.workspace.items
    cdef Cursor cursor
    cdef Status status = DONE
    open_text(text, &cursor)
    cursor.at = at
    # What is staged of this row goes first: were it the only staged text and left out later on, the
    # stream would have been walked for a window with a stage and be flushed as one without.
    if window.n_segments == MAX_SEGMENTS or (
        window.n_staged
        and (at or text.n_chars - at > LONG_CHARS or items.n_parts >= FULL_PARTS)
    ):
        status = flush_window(task)
        if status != DONE:
            return status
    if at == 0 and not append_literals(items, task.head):
        return NO_MEMORY
    status = scan_text(task.tables, &cursor, items, target_of(task))
    if status == NO_MEMORY:
        return NO_MEMORY
    window.n_unstaged += 1
    if not end_unstaged(task, status):
        return NO_MEMORY
    if status != DONE:
        task.row = row
        return status
    add_segment(window, text, row, at, text.n_chars)
    window.segments[window.n_segments - 1].is_staged = False
    return DONE


cdef inline Ids* target_of(Task* task) noexcept nogil:
    """Say where the ids of unstaged segments go: to the result if nothing else has to go before."""
    return &task.workspace.walked if task.workspace.window.n_staged else task.out


cdef bint end_unstaged(Task* task, Status status) noexcept nogil:
    """End a row of the stream, though nobody may want it; False without memory."""
    cdef Items* items = &task.workspace.items
    return (
        (status != DONE or append_literals(items, task.tail))
        and end_row(items)
        and make_room(task.tables, items, PART_ITEMS, target_of(task))
    )


cdef void empty_window(Workspace* workspace) noexcept nogil:
    cdef Window* window = &workspace.window
    clear_items(&workspace.items)
    workspace.items.row_stops = window.row_stops
    workspace.items.n_walks = 0
    workspace.walked.n = 0
    window.n_segments = 0
    window.n_unstaged = 0
    window.n_staged = 0
    window.n_tokens = 0
    window.n_missed = 0
    window.n_odd = 0
    window.n_longer = 0
    window.special_stop = 0


cdef void drop_row(Window* window, Py_ssize_t row) noexcept nogil:
    """Take the segments of a row and of those behind it out of the window."""
    while window.n_segments and window.segments[window.n_segments - 1].row >= row:
        window.n_segments -= 1
        window.n_staged = window.segments[window.n_segments].start


cdef Status flush_window(Task* task) noexcept nogil:
    """Encode what is in the window, and leave it empty.

    Ensures   DONE, or: NO_MEMORY, and nothing is of use. NEEDS_SPLIT, NEEDS_REPAIR,
              NEEDS_NORMALIZER: so does task.row, and only what is before that row is encoded
    """
    cdef Workspace* workspace = task.workspace
    cdef Window* window = &workspace.window
    cdef const Tables* tables = task.tables
    cdef Status status = DONE, scanned
    cdef bint worked = True
    cdef Py_ssize_t i
    if window.n_segments == 0 and window.n_unstaged == 0:
        return DONE
    if window.n_staged:
        status = find_words(task)
        look_up(&workspace.memo, window)
        scanned = scan_missed(task)
        if scanned != DONE:
            status = scanned
        worked = (
            scanned != NO_MEMORY
            and walk_items(tables.trie, &workspace.items, &workspace.walked)
            and write_rows(task)
        )
    else:
        worked = walk_items(tables.trie, &workspace.items, task.out)
        for i in range(window.n_segments if worked else 0):
            task.splits[window.segments[i].row + 1] = window.row_stops[i]
    empty_window(workspace)
    return status if worked else NO_MEMORY


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
    cdef uint64_t odd
    cdef Masks masks
    memset(window.stage + window.n_staged, c' ', 2 * BLOCK)
    while base < window.n_staged and row < 0:
        classify(window.stage + base, &task.tables.bytes.classes, &masks)
        odd = 0
        if masks.unsure or base < window.special_stop:
            row = ask_table(task, base, next_segment, &masks, &odd)
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
        while odd:
            window.odd[window.n_odd] = (start - window.starts) - 1 + count_bits(
                starts & bits_below(lowest_bit(odd) + 1)
            )
            window.n_odd += 1
            odd &= odd - 1
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


cdef Py_ssize_t ask_table(
    Task* task, Py_ssize_t base, Py_ssize_t segment, Masks* masks, uint64_t* odd
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

    0 if none does; -1 if the token may be too long to be looked at here, or ends in another
    segment.
    """
    cdef Cursor cursor
    cdef Special special
    open_text(segment.text, &cursor)
    at = segment.at + (at - segment.start)
    special = special_at(tables, &cursor, at)
    if special.is_long or at + special.n_chars > segment.stop:
        return -1
    return special.n_chars


cdef void leave_out_row(Task* task, Py_ssize_t row) noexcept nogil:
    """Leave a row out that needs Python, and those behind it.

    Requires  the first token of each of its segments is known
    """
    cdef Window* window = &task.workspace.window
    task.row = row
    drop_row(window, row)
    # The first segment that is left out is still there.
    window.n_tokens = min(
        window.n_tokens, <Py_ssize_t>window.segments[window.n_segments].first_token
    )
    while window.n_missed and <Py_ssize_t>window.missed[window.n_missed - 1] >= window.n_tokens:
        window.n_missed -= 1


cdef void look_up(const Memo* memo, Window* window) noexcept nogil:
    """Find the ids of each token in the memo; list the tokens that are missed."""
    cdef Py_ssize_t first = 0, n, longer = 0, odd = 0
    window.n_longer = cut_words(
        window.starts, window.stops, window.n_tokens, window.cuts, window.longer
    ) - window.longer
    while first < window.n_tokens:
        n = min(<Py_ssize_t>LOOK_TOKENS, window.n_tokens - first)
        look_up_some(memo, window, first, n, &longer, &odd)
        first += n


cdef inline void look_up_some(
    const Memo* memo, Window* window, Py_ssize_t first, Py_ssize_t n,
    Py_ssize_t* longer, Py_ssize_t* odd,
) noexcept nogil:
    """Look n tokens up; `longer` and `odd` go to the first tokens behind, in their lists."""
    cdef Key keys[LOOK_TOKENS]
    cdef const Bucket* buckets[LOOK_TOKENS]
    cdef Py_ssize_t i
    cdef uint32_t* missed = window.missed + window.n_missed
    cdef Result* results = window.results + first
    cdef const Bucket* bucket
    cdef bint is_first, is_second
    place_tokens(memo, window, first, n, keys, buckets)
    while longer[0] < window.n_longer and <Py_ssize_t>window.longer[longer[0]] < first + n:
        i = window.longer[longer[0]] - first
        buckets[i] = memo.never
        longer[0] += 1
    while odd[0] < window.n_odd and <Py_ssize_t>window.odd[odd[0]] < first + n:
        i = window.odd[odd[0]] - first
        buckets[i] = memo.never
        keys[i].low = 1  # of bytes 0, it would be that of an empty entry
        odd[0] += 1
    for i in range(n):
        bucket = buckets[i]
        is_first = same_key(&bucket.entries[0].key, &keys[i])
        is_second = same_key(&bucket.entries[1].key, &keys[i])
        memcpy(&results[i], &bucket.entries[is_second].result, sizeof(Result))
        missed[0] = first + i
        missed += 1 - (is_first | is_second)
    window.n_missed = missed - window.missed


cdef inline void place_tokens(
    const Memo* memo, const Window* window, Py_ssize_t first, Py_ssize_t n,
    Key* keys, const Bucket** buckets,
) noexcept nogil:
    """Find the keys of n tokens and the buckets where they belong."""
    # Names of their own, as the compiler can't know that the stores below change none of them.
    cdef const uint8_t* stage = window.stage
    cdef const uint16_t* starts = window.starts + first
    cdef const uint16_t* cuts = window.cuts + first
    cdef const Bucket* all_buckets = memo.buckets
    cdef int shift = memo.shift
    cdef Py_ssize_t i
    for i in range(n):
        buckets[i] = all_buckets + (load_key(stage + starts[i], cuts[i], &keys[i]) >> shift)
        prefetch(buckets[i])


cdef Status scan_missed(Task* task) noexcept nogil:
    """Append the missed tokens to the stream, each a row of its own.

    Ensures   NEEDS_SPLIT, NEEDS_REPAIR, NEEDS_NORMALIZER: so does task.row, and it is left
              out, as are those behind it. NO_MEMORY: nothing is of use
    """
    cdef Workspace* workspace = task.workspace
    cdef Window* window = &workspace.window
    cdef Items* items = &workspace.items
    cdef Py_ssize_t i, n = note_misses(workspace), part_items, odd = 0, segment = 0
    cdef uint32_t token
    cdef Status status
    # So that all lanes have some, and end at about the same time.
    part_items = min(<Py_ssize_t>PART_ITEMS, max(<Py_ssize_t>16, n // 12))
    for i in range(window.n_missed):
        token = window.missed[i]
        if is_odd(window, token, &odd):
            status = scan_odd(task, token, &segment)
        elif scan_word(
            task.tables, window.stage + window.starts[token],
            window.stops[token] - window.starts[token], items,
        ):
            status = DONE
        else:
            status = NO_MEMORY
        if status == DONE and not (
            end_row(items) and make_room(task.tables, items, part_items, &workspace.walked)
        ):
            status = NO_MEMORY
        if status != DONE:
            if status != NO_MEMORY:
                leave_out_row(task, window.segments[segment].row)
            return status
    return DONE


cdef Py_ssize_t note_misses(Workspace* workspace) noexcept nogil:
    """Return how many characters the missed tokens have; judge the memo by them."""
    cdef Window* window = &workspace.window
    cdef Acquaintance* known = &window.known
    cdef Py_ssize_t i, n = 0
    cdef uint32_t token
    for i in range(window.n_missed):
        token = window.missed[i]
        n += window.stops[token] - window.starts[token] + 1
    known.n_asked += window.n_staged
    known.n_missed += n
    if known.n_asked >= JUDGED_CHARS:
        if CHARS_TO_MISS * known.n_missed > known.n_asked and is_seasoned(&workspace.memo):
            known.n_passing = PASS_CHARS
        known.n_asked = 0
        known.n_missed = 0
    return n


cdef inline bint is_odd(
    const Window* window, uint32_t token, Py_ssize_t* at
) noexcept nogil:
    """Say whether a token is odd; `at` is where in their list it is looked for.

    Requires  `at` is 0, or was moved here for a token that is not behind this one
    """
    while at[0] < window.n_odd and window.odd[at[0]] < token:
        at[0] += 1
    return at[0] < window.n_odd and window.odd[at[0]] == token


cdef Status scan_odd(Task* task, uint32_t token, Py_ssize_t* at_segment) noexcept nogil:
    """Append the items of a token whose bytes don't tell what it is, from the text itself.

    Requires  the token does not stand before the segment; which is moved to that of the token
    """
    cdef Window* window = &task.workspace.window
    cdef const Segment* segment
    cdef Cursor cursor
    at_segment[0] = segment_at(window, at_segment[0], window.starts[token])
    segment = &window.segments[at_segment[0]]
    open_text(segment.text, &cursor)
    cursor.at = segment.at + (window.starts[token] - segment.start)
    cursor.stop = segment.at + (window.stops[token] - segment.start)
    return scan_text(
        task.tables, &cursor, &task.workspace.items, &task.workspace.walked
    )


cdef bint write_rows(Task* task) noexcept nogil:
    """Write the ids of all segments, and where rows end; False without memory."""
    cdef Workspace* workspace = task.workspace
    cdef Window* window = &workspace.window
    cdef Ids* out = task.out
    cdef const Segment* segment
    cdef Py_ssize_t i, other = 0
    cdef Py_ssize_t n_most = SHORT_IDS if task.tables.short_ids else WIDE_IDS
    cdef int64_t start
    set_missed(workspace, task.tables.short_ids)
    if not reserve_ids(
        # A long word has no more ids than bytes.
        out, window.n_tokens * n_most + window.n_staged + workspace.walked.n + SLACK
        + window.n_segments * (task.head.n + task.tail.n)
    ):
        return False
    for i in range(window.n_segments):
        segment = &window.segments[i]
        if segment.is_staged:
            if segment.at == 0:
                write_literals(task.head, out)
            write_tokens(
                workspace, segment.first_token,
                window.segments[i + 1].first_token if i + 1 < window.n_segments
                else window.n_tokens,
                task.tables.short_ids, out,
            )
            if segment.stop == segment.text.n_chars:
                write_literals(task.tail, out)
        else:
            start = window.row_stops[other - 1] if other else 0
            copy_ids(workspace.walked.data + start, window.row_stops[other] - start, out)
            other += 1
        if segment.stop == segment.text.n_chars:
            task.splits[segment.row + 1] = out.n
    remember_missed(workspace, task.tables.short_ids)
    return True


cdef inline void copy_ids(const int32_t* ids, Py_ssize_t n, Ids* out) noexcept nogil:
    """Requires room."""
    if n:
        memcpy(out.data + out.n, ids, n * sizeof(int32_t))
    out.n += n


cdef inline void write_literals(const Ids* ids, Ids* out) noexcept nogil:
    """As copy_ids, for some two or none: a call of memcpy costs more."""
    cdef Py_ssize_t i
    for i in range(ids.n):
        out.data[out.n + i] = ids.data[i]
    out.n += ids.n


cdef void set_missed(Workspace* workspace, bint short_ids) noexcept nogil:
    """Take the ids of the missed words from the rows of the stream."""
    cdef Window* window = &workspace.window
    cdef const int64_t* stops = window.row_stops + window.n_unstaged
    cdef int64_t start = (stops - 1)[0] if window.n_unstaged else 0
    cdef Py_ssize_t i
    for i in range(window.n_missed):
        set_result(
            &window.results[window.missed[i]], workspace.walked.data + start, stops[i] - start,
            short_ids,
        )
        start = stops[i]


cdef inline void set_result(
    Result* result, const int32_t* ids, int64_t n, bint short_ids
) noexcept nogil:
    cdef Elsewhere where
    cdef int64_t i
    if n > (SHORT_IDS if short_ids else WIDE_IDS):
        where.ids = ids
        where.n = n
        memcpy(result, &where, sizeof(Elsewhere))
        result.n = MANY
        return
    result.n = n
    if not short_ids:
        memcpy(result, ids, n * sizeof(int32_t))
        return
    for i in range(n):
        result.ids[i] = ids[i]


cdef void remember_missed(Workspace* workspace, bint short_ids) noexcept nogil:
    """Remember the missed words, when nobody needs what their buckets held any more."""
    cdef Window* window = &workspace.window
    cdef Py_ssize_t i, odd = 0
    cdef uint32_t token
    cdef const Result* result
    cdef const Bucket* bucket
    cdef Elsewhere where
    cdef Key key
    for i in range(window.n_missed):
        token = window.missed[i]
        if (
            is_odd(window, token, &odd)
            or window.stops[token] - window.starts[token] > MAX_WORD_BYTES
        ):
            continue
        result = &window.results[token]
        place_tokens(&workspace.memo, window, token, 1, &key, &bucket)
        if result.n == MANY:
            memcpy(&where, result, sizeof(Elsewhere))
            remember_long(
                &workspace.memo, <Bucket*>bucket, &key, <const int32_t*>where.ids, where.n,
                short_ids,
            )
        else:
            remember(&workspace.memo, <Bucket*>bucket, &key, result)


cdef inline void write_tokens(
    const Workspace* workspace, Py_ssize_t token, Py_ssize_t stop, bint short_ids, Ids* out
) noexcept nogil:
    """Requires room for the ids that a result can hold for each token, and SLACK behind.

    The compiler makes a loop of its own for each kind of ids.
    """
    if short_ids:
        write_sized(workspace, token, stop, True, out)
    else:
        write_sized(workspace, token, stop, False, out)


cdef inline void write_sized(
    const Workspace* workspace, Py_ssize_t token, Py_ssize_t stop, bint short_ids, Ids* out
) noexcept nogil:
    cdef const Result* result = workspace.window.results + token
    cdef const Result* last = workspace.window.results + stop
    cdef int32_t* to = out.data + out.n
    while result < last:
        if not likely(result.n < LONG):
            to += write_many(result, short_ids, to)
        else:
            if short_ids:
                widen(<const uint16_t*>result, to)
            else:
                memcpy(to, result, sizeof(Result))
            to += result.n
        result += 1
    out.n = to - out.data


cdef inline Py_ssize_t write_many(
    const Result* result, bint short_ids, int32_t* to
) noexcept nogil:
    """Write the ids of a result that stand elsewhere; return how many."""
    cdef Elsewhere where
    memcpy(&where, result, sizeof(Elsewhere))
    if result.n == LONG and short_ids:
        widen(<const uint16_t*>where.ids, to)
        widen(<const uint16_t*>where.ids + 8, to + 8)
    else:
        memcpy(to, where.ids, where.n * sizeof(int32_t))
    return where.n
