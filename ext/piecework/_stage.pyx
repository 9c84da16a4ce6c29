"""Encodes rows together, so that each step runs over many words.

A row that can be text of bytes is put into the stage. When that is full, the words of all rows in
it are found, by vector compares (`_words`), then looked up in the memo, all of them, and those that
are not there are walked, all of them (`_recall`); then the ids are written out (`_write`). None of
these steps guesses what comes next. Rows of other characters are scanned and walked as they are,
beside the missed words.
"""

from piecework._added cimport holds_added, holds_raw
from piecework._buffers cimport Ids
from piecework._items cimport (
    MAX_PARTS, PART_ITEMS, Items, append_literals, end_row, is_suspect, stop_watching,
    watch,
)
from piecework._offsets cimport place_window
from piecework._recall cimport look_up, remember_missed, scan_missed, set_missed
from piecework._scan cimport Cursor, Tables, Text, open_text
from piecework._stream cimport make_room, scan_text
from piecework._types cimport DONE, NEEDS_SPLIT, NO_MEMORY, Status, uint8_t, uint16_t, uint32_t
from piecework._vector cimport Bytes, narrow1, narrow2, narrow4, prepare
from piecework._walk cimport walk_items
from piecework._window cimport (
    MAX_SEGMENTS, STAGE_BYTES, Acquaintance, Segment, Task, Window, Workspace, empty_window,
)
from piecework._words cimport find_words
from piecework._write cimport write_rows


cdef enum:
    LONG_CHARS = 4096  # what is not staged and longer goes straight to the result
    FULL_PARTS = MAX_PARTS - 8  # of the stream: a window with a stage is full
    MIN_CHARS_TO_ODD = 32  # with more that have no byte, the memo is of no use
    PROBE_CHARS = 16  # by which a text is judged first


prepare()


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
    if task.tables.added != NULL:
        watch(items, &task.tables.added.normalized)
    status = scan_text(task.tables, &cursor, items, target_of(task))
    if status == NO_MEMORY:
        return NO_MEMORY
    if status == DONE and task.tables.added != NULL and must_split(task, text, at):
        status = NEEDS_SPLIT
    window.n_unstaged += 1
    if not end_unstaged(task, status):
        return NO_MEMORY
    if status != DONE:
        task.row = row
        return status
    add_segment(window, text, row, at, text.n_chars)
    window.segments[window.n_segments - 1].is_staged = False
    return DONE


cdef bint must_split(Task* task, const Text* text, Py_ssize_t at) noexcept nogil:
    """Say whether an added token stands in a row, of which text[at:] was scanned and watched."""
    cdef Items* items = &task.workspace.items
    cdef bint is_found = is_suspect(items)
    stop_watching(items)
    if at:  # one may have begun before that
        return holds_added(task.tables, text, items)
    return is_found or holds_raw(task.tables.added, text)


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
    # Rows that are left out may be all that is staged.
    cdef bint is_staged = window.n_staged > 0
    cdef Py_ssize_t i
    if window.n_segments == 0 and window.n_unstaged == 0:
        return DONE
    if is_staged:
        status = find_words(task)
        look_up(&workspace.memo, window)
        scanned = scan_missed(task)
        if scanned != DONE:
            status = scanned
        worked = (
            scanned != NO_MEMORY
            and walk_items(tables.trie, &workspace.items, &workspace.walked)
            and write_known(task)
        )
    else:
        worked = walk_items(tables.trie, &workspace.items, task.out)
        for i in range(window.n_segments if worked else 0):
            task.splits[window.segments[i].row + 1] = window.row_stops[i]
    if worked and task.places != NULL:
        worked = place_window(task, is_staged)
    empty_window(workspace)
    return status if worked else NO_MEMORY


cdef inline bint write_known(Task* task) noexcept nogil:
    """Write all rows, as all ids are known or walked; then remember. False without memory."""
    set_missed(task.workspace, task.tables.short_ids)
    if not write_rows(task):
        return False
    # Not before: the results of other words may be those that stand in the memo.
    remember_missed(task.workspace, task.tables.short_ids)
    return True
