"""Looks up a window's tokens in the memo; has the missed ones walked, and remembers them."""

from libc.string cimport memcpy

from piecework._added cimport holds_added
from piecework._automaton cimport Context, bit_of
from piecework._hints cimport prefetch
from piecework._items cimport PART_ITEMS, Items, end_row, is_suspect, stop_watching, watch
from piecework._memo cimport (
    MANY, MAX_WORD_BYTES, Bucket, Elsewhere, Memo, Result, is_seasoned, remember, remember_long,
)
from piecework._scan cimport Cursor, open_text, scan_word, symbol_beside
from piecework._search cimport Search
from piecework._stream cimport make_room, scan_text
from piecework._types cimport (
    DONE, NEEDS_SPLIT, NO_MEMORY, Status, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
)
from piecework._vector cimport Key, cut_words, load_key, same_key
from piecework._window cimport (
    SHORT_IDS, WIDE_IDS, Acquaintance, Segment, Task, Window, Workspace, leave_out_row,
)
from piecework._words cimport segment_at


cdef enum:
    LOOK_TOKENS = 256  # that are looked up together: the first cache holds their buckets
    # A memo that has seen something is judged each so many characters. Where it misses more than
    # one of four, as it has no room for the words of twenty languages, it costs more than it saves:
    # then that many that come next are walked without asking it.
    JUDGED_CHARS = 1 << 15
    CHARS_TO_MISS = 4
    PASS_CHARS = 1 << 18


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
    cdef const Search* added = task.tables.added
    cdef Py_ssize_t i, n = note_misses(workspace), part_items, odd = 0, segment = 0
    cdef uint32_t token
    cdef Status status
    # So that all lanes have some, and end at about the same time.
    part_items = min(<Py_ssize_t>PART_ITEMS, max(<Py_ssize_t>16, n // 12))
    for i in range(window.n_missed):
        token = window.missed[i]
        if added != NULL:
            watch(items, &added.words)
        if is_among(window.odd, window.n_odd, token, &odd):
            status = scan_odd(task, token, &segment)
        elif scan_word(
            task.tables, window.stage + window.starts[token],
            window.stops[token] - window.starts[token], items,
        ):
            status = DONE
        else:
            status = NO_MEMORY
        if status == DONE and is_suspect(items):
            status = look_closer(task, token, &odd, &segment)
        if status == DONE and not (
            end_row(items) and make_room(task.tables, items, part_items, &workspace.walked)
        ):
            status = NO_MEMORY
        if status != DONE:
            if status != NO_MEMORY:
                leave_out_row(task, window.segments[segment].row)
            return status
    stop_watching(items)
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


cdef inline bint is_among(
    const uint32_t* tokens, Py_ssize_t n, uint32_t token, Py_ssize_t* at
) noexcept nogil:
    """Say whether a token is one of these; `at` is where in their list it is looked for.

    Requires  `at` is 0, or was moved here for a token that is not behind this one
    """
    while at[0] < n and tokens[at[0]] < token:
        at[0] += 1
    return at[0] < n and tokens[at[0]] == token


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


cdef Status look_closer(
    Task* task, uint32_t token, Py_ssize_t* odd, Py_ssize_t* at_segment
) noexcept nogil:
    """Look for an added token in the row of a token that may be, or hold, a part of one.

    Ensures   DONE: there is none; the token is listed as one not to be remembered. NEEDS_SPLIT:
              there may be one
    Requires  as for is_among and scan_odd
    """
    cdef Window* window = &task.workspace.window
    cdef const Segment* segment
    window.suspects[window.n_suspects] = token
    window.n_suspects += 1
    at_segment[0] = segment_at(window, at_segment[0], window.starts[token])
    segment = &window.segments[at_segment[0]]
    if segment.row != task.cleared_row and (
        is_among(window.odd, window.n_odd, token, odd)  # may be several words
        or fits(task, segment, token)
    ):
        if holds_added(task.tables, segment.text, &task.workspace.items):
            return NEEDS_SPLIT
        task.cleared_row = segment.row
    return DONE


cdef inline bint fits(Task* task, const Segment* segment, uint32_t token) noexcept nogil:
    """Say whether beside a token stands what stands beside it in some added token.

    Requires  it was watched and found
    """
    cdef const Window* window = &task.workspace.window
    cdef Py_ssize_t offset = segment.at - <Py_ssize_t>segment.start
    cdef Context found = task.workspace.items.found
    cdef uint32_t before = symbol_beside(
        task.tables, segment.text, window.starts[token] + offset, -1
    )
    cdef uint32_t after = symbol_beside(
        task.tables, segment.text, window.stops[token] + offset, 1
    )
    return found.before & bit_of(before) != 0 and found.after & bit_of(after) != 0


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
    cdef Py_ssize_t i, odd = 0, suspect = 0
    cdef uint32_t token
    cdef const Result* result
    cdef const Bucket* bucket
    cdef Elsewhere where
    cdef Key key
    for i in range(window.n_missed):
        token = window.missed[i]
        if (
            is_among(window.odd, window.n_odd, token, &odd)
            or is_among(window.suspects, window.n_suspects, token, &suspect)
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
