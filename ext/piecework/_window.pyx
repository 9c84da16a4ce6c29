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
    MAX_PARTS, PART_ITEMS, Items, append_items, clear_items, end_row, free_items,
    literal_id,
)
from piecework._memo cimport (
    MAX_MEMO_IDS, MAX_WORD_BYTES, Bucket, Memo, Result, bucket_of, free_memo, open_memo,
    remember,
)
from piecework._scan cimport Cursor, Tables, scan_word, special_starts_at
from piecework._stream cimport make_room, scan_text
from piecework._types cimport (
    DONE, NEEDS_SPLIT, NO_MEMORY, Status, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from piecework._vector cimport (
    BLOCK, ISOLATED, LETTER, ODD, SPECIAL, Key, Masks, classify, count_bits, list_bits,
    fill_tables, load_key, lowest_bit, narrow1, narrow2, narrow4,
    same_key,
)
from piecework._walk cimport walk_items


cdef enum:
    LONG_CHARS = 4096  # what is not staged and longer goes straight to the result
    LOOK_TOKENS = 256  # that are looked up together: the first cache holds their buckets
    SLACK = 4  # ids are stored by four
    MIN_CHARS_TO_ODD = 32  # with more of these, the memo is of no use


fill_tables()


cdef bint open_window(Workspace* workspace, Py_ssize_t memo_bytes) noexcept nogil:
    """Make room for the tokens of a window, if there is none; False without memory."""
    cdef Window* window = &workspace.window
    cdef Py_ssize_t n = STAGE_BYTES + BLOCK
    if window.row_stops == NULL:
        window.row_stops = <int64_t*>PyMem_RawMalloc((n + MAX_SEGMENTS) * sizeof(int64_t))
        if window.row_stops == NULL:
            return False
    if memo_bytes and workspace.memo.never == NULL:
        window.stage = <uint8_t*>PyMem_RawMalloc(
            n + BLOCK + n * (sizeof(Result) + 2 * sizeof(uint32_t) + 2 * sizeof(uint16_t))
        )
        if window.stage == NULL or not open_memo(&workspace.memo, memo_bytes):
            PyMem_RawFree(window.stage)
            return False
        window.results = <Result*>(window.stage + n + BLOCK)
        window.missed = <uint32_t*>(window.results + n)
        window.unkeyed = window.missed + n
        window.starts = <uint16_t*>(window.unkeyed + n)
        window.stops = window.starts + n
    return True


cdef void free_workspace(Workspace* workspace) noexcept nogil:
    free_items(&workspace.items)
    PyMem_RawFree(workspace.walked.data)
    free_memo(&workspace.memo)
    PyMem_RawFree(workspace.window.stage)
    PyMem_RawFree(workspace.window.row_stops)


cdef Status add_row(Task* task, const Cursor* text, Py_ssize_t row) noexcept nogil:
    """Take a row into the window, which may have to be flushed.

    Ensures   NEEDS_SPLIT, …: task.row is the row that needs Python, and of that row and
              those behind it nothing is in the window
    """
    cdef Window* window = &task.workspace.window
    cdef Segment segment = Segment(text[0], row, True, False, True, 0, 0)
    cdef Py_ssize_t room, n
    cdef Status status
    while task.workspace.memo.never != NULL:
        n = text.stop - segment.text.at
        room = STAGE_BYTES - 1 - window.n_staged
        if window.n_segments == MAX_SEGMENTS or (n > room and room < STAGE_BYTES // 4):
            status = flush_window(task)
            if status != DONE:
                return status
            continue
        segment.ends_row = n <= room
        if not segment.ends_row:
            n = chars_to_space(&segment.text, room)
        if n < 0 or not stage_segment(task, &segment, n):
            break
        if segment.ends_row:
            return DONE
        segment.text.at += n
        segment.starts_row = False
    segment.ends_row = True
    segment.is_staged = False
    return add_unstaged(task, &segment)


cdef Py_ssize_t chars_to_space(const Cursor* text, Py_ssize_t room) noexcept nogil:
    """Return the largest n <= room such that text[at + n] is a space, or -1."""
    while room >= 0 and char_is_space(text, text.at + room) == False:
        room -= 1
    return room


cdef inline bint char_is_space(const Cursor* text, Py_ssize_t at) noexcept nogil:
    if text.char_size == 1:
        return (<const uint8_t*>text.chars)[at] == c' '
    if text.char_size == 2:
        return (<const uint16_t*>text.chars)[at] == c' '
    return (<const uint32_t*>text.chars)[at] == c' '


cdef bint stage_segment(Task* task, Segment* segment, Py_ssize_t n) noexcept nogil:
    """Put n characters into the stage; False if too many of them have no byte."""
    cdef Window* window = &task.workspace.window
    cdef const Cursor* text = &segment.text
    cdef uint8_t* to = window.stage + window.n_staged
    cdef uint8_t fold = task.tables.bytes.fold
    cdef Py_ssize_t n_without
    if text.char_size == 1:
        n_without = narrow1(<const uint8_t*>text.chars + text.at, n, fold, to)
    elif text.char_size == 2:
        n_without = narrow2(<const uint16_t*>text.chars + text.at, n, fold, to)
    else:
        n_without = narrow4(<const uint32_t*>text.chars + text.at, n, fold, to)
    if n_without * MIN_CHARS_TO_ODD > n + MIN_CHARS_TO_ODD:
        return False
    to[n] = c' '
    segment.start = window.n_staged
    window.n_staged += n + 1
    window.segments[window.n_segments] = segment[0]
    window.n_segments += 1
    return True


cdef Status add_unstaged(Task* task, const Segment* segment) noexcept nogil:
    """Take the rest of a row as it is. What it ensures is as for add_row."""
    cdef Window* window = &task.workspace.window
    cdef Items* items = &task.workspace.items
    cdef Cursor text = segment.text
    cdef bint is_long = text.stop - text.at > LONG_CHARS
    cdef Status status
    if is_long or window.n_segments == MAX_SEGMENTS or items.n_parts > MAX_PARTS // 2:
        status = flush_window(task)
        if status != DONE:
            return status
    if segment.starts_row and not append_items(items, task.head):
        return NO_MEMORY
    status = scan_text(
        task.tables, &text, items, task.out if is_long else &task.workspace.walked
    )
    if status == NO_MEMORY:
        return NO_MEMORY
    task.row = segment.row
    if not is_long:
        window.n_unstaged += 1
        if not end_unstaged(task, status):
            return NO_MEMORY
        if status == DONE:
            window.segments[window.n_segments] = segment[0]
            window.segments[window.n_segments].start = window.n_staged
            window.n_segments += 1
        return status
    if not (append_items(items, task.tail) and walk_items(task.tables.trie, items, task.out)):
        return NO_MEMORY
    task.splits[segment.row + 1] = task.out.n
    return status


cdef bint end_unstaged(Task* task, Status status) noexcept nogil:
    """End a row of the stream, though nobody may want it; False without memory."""
    cdef Items* items = &task.workspace.items
    return (
        (status != DONE or append_items(items, task.tail))
        and end_row(items)
        and make_room(task.tables, items, PART_ITEMS, &task.workspace.walked)
    )


cdef void empty_window(Workspace* workspace) noexcept nogil:
    cdef Window* window = &workspace.window
    clear_items(&workspace.items)
    workspace.items.row_stops = window.row_stops
    workspace.walked.n = 0
    window.n_segments = 0
    window.n_unstaged = 0
    window.n_staged = 0
    window.n_tokens = 0
    window.n_missed = 0
    window.n_unkeyed = 0


cdef void drop_row(Window* window, Py_ssize_t row) noexcept nogil:
    """Take the segments of a row and of those behind it out of the window."""
    while window.n_segments and window.segments[window.n_segments - 1].row >= row:
        window.n_segments -= 1
        window.n_staged = window.segments[window.n_segments].start


cdef Status flush_window(Task* task) noexcept nogil:
    """Encode what is in the window, and leave it empty.

    Ensures   DONE, or: NO_MEMORY, and nothing is of use. NEEDS_SPLIT: a special token stands
              in task.row, and only what is before that row is encoded
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
    elif workspace.walked.n:
        worked = (
            walk_items(tables.trie, &workspace.items, &workspace.walked) and write_rows(task)
        )
    else:
        worked = walk_items(tables.trie, &workspace.items, task.out)
        for i in range(window.n_segments if worked else 0):
            task.splits[window.segments[i].row + 1] = window.row_stops[i]
    empty_window(workspace)
    return status if worked else NO_MEMORY


cdef Status find_words(Task* task) noexcept nogil:
    """Find the tokens of the staged segments.

    Ensures   NEEDS_SPLIT: a special token stands in task.row, and the tokens of that row and
              of those behind it are left out, as are their segments
    """
    cdef Window* window = &task.workspace.window
    cdef uint64_t letters_before = 0, isolated_before = 0, starts, after_letter
    cdef uint16_t* start = window.starts
    cdef uint16_t* stop = window.stops
    cdef Py_ssize_t base = 0, next_segment = 0, special = -1
    cdef uint64_t odd
    cdef Masks masks
    memset(window.stage + window.n_staged, c' ', 2 * BLOCK)
    while base < window.n_staged and special < 0:
        classify(window.stage + base, &task.tables.bytes.classes, &masks)
        odd = 0
        if masks.unsure:
            special = ask_table(task, base, &masks, &odd)
        after_letter = masks.letters << 1 | letters_before
        starts = masks.letters & ~after_letter | masks.isolated
        while (
            next_segment < window.n_segments
            and <Py_ssize_t>window.segments[next_segment].start < base + BLOCK
        ):
            window.segments[next_segment].first_token = (start - window.starts) + count_bits(
                starts & (((<uint64_t>1) << (window.segments[next_segment].start - base)) - 1)
            )
            next_segment += 1
        while odd:
            window.unkeyed[window.n_unkeyed] = (start - window.starts) - 1 + count_bits(
                starts & (((<uint64_t>2) << lowest_bit(odd)) - 1)
            )
            window.n_unkeyed += 1
            odd &= odd - 1
        start = list_bits(starts, base, start)
        stop = list_bits(
            ~masks.letters & after_letter | masks.isolated << 1 | isolated_before, base, stop
        )
        letters_before = masks.letters >> (BLOCK - 1)
        isolated_before = masks.isolated >> (BLOCK - 1)
        base += BLOCK
    window.n_tokens = start - window.starts
    if special >= 0:
        leave_out_row(task, staged_segment_at(window, special).row)
        return NEEDS_SPLIT
    while next_segment < window.n_segments:  # none of these has a byte
        window.segments[next_segment].first_token = window.n_tokens
        next_segment += 1
    return DONE


cdef Py_ssize_t ask_table(
    Task* task, Py_ssize_t base, Masks* masks, uint64_t* odd
) noexcept nogil:
    """Make the masks of a block right; return where in the stage a special token begins, or -1."""
    cdef Window* window = &task.workspace.window
    cdef uint64_t unsure = masks.unsure, bit
    cdef Py_ssize_t at
    cdef uint8_t is_
    while unsure:
        bit = unsure & (0 - unsure)
        at = base + lowest_bit(unsure)
        is_ = task.tables.bytes.classes.of_byte[window.stage[at]]
        if is_ & SPECIAL and special_starts_in_stage(task, at):
            return at
        masks.letters = masks.letters & ~bit | (bit if is_ & LETTER else 0)
        masks.isolated = masks.isolated & ~bit | (bit if is_ & ISOLATED else 0)
        odd[0] |= bit if is_ & ODD else 0
        unsure ^= bit
    return -1


cdef const Segment* staged_segment_at(const Window* window, Py_ssize_t at) noexcept nogil:
    """Return the segment that a byte of the stage belongs to."""
    cdef Py_ssize_t i = window.n_segments - 1
    while not window.segments[i].is_staged or <Py_ssize_t>window.segments[i].start > at:
        i -= 1
    return &window.segments[i]


cdef bint special_starts_in_stage(Task* task, Py_ssize_t at) noexcept nogil:
    cdef const Segment* segment = staged_segment_at(&task.workspace.window, at)
    return special_starts_at(
        task.tables, &segment.text, segment.text.at + (at - segment.start)
    )


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
    cdef Py_ssize_t first = 0, n, unkeyed = 0
    while first < window.n_tokens:
        n = min(<Py_ssize_t>LOOK_TOKENS, window.n_tokens - first)
        unkeyed = look_up_some(memo, window, first, n, unkeyed)
        first += n


cdef Py_ssize_t look_up_some(
    const Memo* memo, Window* window, Py_ssize_t first, Py_ssize_t n, Py_ssize_t unkeyed
) noexcept nogil:
    """Look n tokens up; return the number of unkeyed ones up to there."""
    cdef Key keys[LOOK_TOKENS]
    cdef const Bucket* buckets[LOOK_TOKENS]
    cdef Py_ssize_t i, n_missed = window.n_missed
    cdef const Bucket* bucket
    cdef bint is_first, is_second
    for i in range(n):
        buckets[i] = place_token(memo, window, first + i, &keys[i])
        prefetch(buckets[i])
    while (
        unkeyed < window.n_unkeyed and <Py_ssize_t>window.unkeyed[unkeyed] < first + n
    ):
        i = window.unkeyed[unkeyed] - first
        buckets[i] = memo.never
        keys[i].low = 1  # of bytes 0, it would be that of an empty entry
        unkeyed += 1
    for i in range(n):
        bucket = buckets[i]
        is_first = same_key(&bucket.entries[0].key, &keys[i])
        is_second = same_key(&bucket.entries[1].key, &keys[i])
        memcpy(&window.results[first + i], &bucket.entries[is_second].result, sizeof(Result))
        window.missed[n_missed] = first + i
        n_missed += 1 - (is_first | is_second)
    window.n_missed = n_missed
    return unkeyed


cdef inline Bucket* place_token(
    const Memo* memo, const Window* window, Py_ssize_t token, Key* key
) noexcept nogil:
    """Return the bucket where a token belongs, and its key."""
    cdef size_t n = window.stops[token] - window.starts[token]
    cdef size_t n_key = min(n, <size_t>MAX_WORD_BYTES)
    cdef Bucket* bucket
    bucket = bucket_of(memo, load_key(window.stage + window.starts[token], n_key, key))
    return bucket if n == n_key else memo.never


cdef Status scan_missed(Task* task) noexcept nogil:
    """Append the missed tokens to the stream, each a row of its own.

    Ensures   NEEDS_SPLIT, NEEDS_REPAIR, NEEDS_NORMALIZER: so does task.row, and it is left
              out, as are those behind it. NO_MEMORY: nothing is of use
    """
    cdef Workspace* workspace = task.workspace
    cdef Window* window = &workspace.window
    cdef Items* items = &workspace.items
    cdef Py_ssize_t i, n = 0, part_items, unkeyed = 0, segment = 0
    cdef uint32_t token
    cdef Status status
    for i in range(window.n_missed):
        token = window.missed[i]
        n += window.stops[token] - window.starts[token] + 1
    # Few words make short parts, so that all lanes have some.
    part_items = min(<Py_ssize_t>PART_ITEMS, n // 4)
    for i in range(window.n_missed):
        token = window.missed[i]
        while unkeyed < window.n_unkeyed and window.unkeyed[unkeyed] < token:
            unkeyed += 1
        if unkeyed < window.n_unkeyed and window.unkeyed[unkeyed] == token:
            status = scan_unkeyed(task, token, &segment)
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


cdef Status scan_unkeyed(Task* task, uint32_t token, Py_ssize_t* at_segment) noexcept nogil:
    """Append the items of a token whose bytes don't tell what it is, from the text itself.

    Requires  the token does not stand before the segment; which is moved to that of the token
    """
    cdef Window* window = &task.workspace.window
    cdef Py_ssize_t i = at_segment[0] + 1
    cdef const Segment* segment
    cdef Cursor text
    while i < window.n_segments and window.segments[i].first_token <= token:
        i += 1
    i -= 1
    while not window.segments[i].is_staged:  # those have no tokens
        i -= 1
    at_segment[0] = i
    segment = &window.segments[i]
    text = segment.text
    text.stop = text.at + (window.stops[token] - segment.start)
    text.at += window.starts[token] - segment.start
    return scan_text(
        task.tables, &text, &task.workspace.items, &task.workspace.walked
    )


cdef bint write_rows(Task* task) noexcept nogil:
    """Write the ids of all segments, and where rows end; False without memory."""
    cdef Workspace* workspace = task.workspace
    cdef Window* window = &workspace.window
    cdef Ids* out = task.out
    cdef const Segment* segment
    cdef Py_ssize_t i, other = 0
    cdef int64_t start
    note_missed(workspace)
    if not reserve_ids(
        out, window.n_tokens * MAX_MEMO_IDS + workspace.walked.n + SLACK
        + window.n_segments * (task.head.n + task.tail.n)
    ):
        return False
    for i in range(window.n_segments):
        segment = &window.segments[i]
        if segment.is_staged:
            if segment.starts_row:
                write_literals(task.head, out)
            write_tokens(
                workspace, segment.first_token,
                window.segments[i + 1].first_token if i + 1 < window.n_segments
                else window.n_tokens,
                out,
            )
            if segment.ends_row:
                write_literals(task.tail, out)
        else:
            start = window.row_stops[other - 1] if other else 0
            copy_ids(workspace.walked.data + start, window.row_stops[other] - start, out)
            other += 1
        if segment.ends_row:
            task.splits[segment.row + 1] = out.n
    return True


cdef inline void copy_ids(const int32_t* ids, Py_ssize_t n, Ids* out) noexcept nogil:
    """Requires room."""
    if n:
        memcpy(out.data + out.n, ids, n * sizeof(int32_t))
    out.n += n


cdef inline void write_literals(const Items* items, Ids* out) noexcept nogil:
    """Requires room."""
    cdef Py_ssize_t i
    for i in range(items.n):
        out.data[out.n + i] = literal_id(items.data[i])
    out.n += items.n


cdef void note_missed(Workspace* workspace) noexcept nogil:
    """Take the ids of the missed words from the rows of the stream, and remember them."""
    cdef Window* window = &workspace.window
    cdef const int64_t* stops = window.row_stops + window.n_unstaged
    cdef int64_t start = (stops - 1)[0] if window.n_unstaged else 0
    cdef Result* result
    cdef Bucket* bucket
    cdef Key key
    cdef Py_ssize_t i, k, unkeyed = 0
    for i in range(window.n_missed):
        result = &window.results[window.missed[i]]
        result.n_ids = stops[i] - start
        result.ids[0] = start
        if result.n_ids <= MAX_MEMO_IDS:
            for k in range(result.n_ids):
                result.ids[k] = workspace.walked.data[start + k]
            while unkeyed < window.n_unkeyed and window.unkeyed[unkeyed] < window.missed[i]:
                unkeyed += 1
            if unkeyed == window.n_unkeyed or window.unkeyed[unkeyed] != window.missed[i]:
                bucket = place_token(&workspace.memo, window, window.missed[i], &key)
                if bucket != workspace.memo.never:
                    remember(&workspace.memo, bucket, &key, result)
        start = stops[i]


cdef void write_tokens(
    const Workspace* workspace, Py_ssize_t token, Py_ssize_t stop, Ids* out
) noexcept nogil:
    """Requires room for three ids for each token, and SLACK behind."""
    cdef const Result* results = workspace.window.results
    cdef int32_t* to = out.data + out.n
    cdef int32_t n
    while token < stop:
        n = results[token].n_ids
        if likely(n <= MAX_MEMO_IDS):
            memcpy(to, &results[token], SLACK * sizeof(int32_t))
        else:
            memcpy(to, workspace.walked.data + results[token].ids[0], n * sizeof(int32_t))
        to += n
        token += 1
    out.n = to - out.data
