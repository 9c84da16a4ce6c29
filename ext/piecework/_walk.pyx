"""Matches words against the tries: items in, token ids out.

Four parts of the stream are walked at a time, one letter of each in turn, and a step is the same
few instructions whether the letter goes on with the piece at hand or ends it. A walk along one word
after the other would have to guess, at each letter, which of the two it will be; about one guess
for each piece is wrong, and that costs as much as several letters. Here nothing is guessed, and
while one lane waits for a state to arrive from memory, the others go on.
"""

from libc.string cimport memcpy

from piecework._buffers cimport Ids, reserve_ids
from piecework._hints cimport likely, opaque
from piecework._items cimport (
    FIRST_MARK, LITERAL, PART_END, ROW_END, Items, Part, clear_items, end_part,
    literal_id,
)
from piecework._trie cimport (
    NO_PIECES, NO_STATE, ROOT, DoubleArray, Unit, append_pops, child_of, ends_token,
    n_pops, unit_at,
)
from piecework._types cimport int32_t, uint32_t


# One of the parts that are walked at a time.
cdef struct Lane:
    uint32_t state
    const uint32_t* item  # the next one
    int32_t* ids  # where the next id goes
    Part* part  # NULL: no part is left for this lane


cdef struct Walk:
    const DoubleArray* trie
    Items* items
    Py_ssize_t n_begun  # parts
    int n_busy  # lanes


# Where a lane stands that has nothing left to do.
cdef uint32_t NOTHING = PART_END


cdef bint walk_items(const DoubleArray* trie, Items* items, Ids* out) noexcept nogil:
    """Append the ids of all items to `out`; False without memory (`out` unchanged).

    Requires  no word is unfinished; there is a free place in items.parts
    Ensures   `items` is empty, in either case; the row stops of its parts are filled in
    """
    cdef Walk walk = Walk(trie, items, 0, 0)
    cdef bint joined = False
    if end_part(items) and reserve_ids(&items.scratch, items.n):
        walk_lanes(&walk)
        joined = join_parts(items, out)
    clear_items(items)
    items.n_walks += 1
    return joined


cdef void walk_lanes(Walk* walk) noexcept nogil:
    """Walk all parts. Requires that none of them has been walked."""
    cdef DoubleArray trie = walk.trie[0]  # so that it can stay in registers
    cdef Lane a, b, c, d
    a = next_part(walk)
    b = next_part(walk)
    c = next_part(walk)
    d = next_part(walk)
    while walk.n_busy:
        go_on(walk, &trie, &a)
        go_on(walk, &trie, &b)
        go_on(walk, &trie, &c)
        go_on(walk, &trie, &d)


cdef Lane next_part(Walk* walk) noexcept nogil:
    """Return a lane at the beginning of a part that none has begun, if there is one."""
    cdef Items* items = walk.items
    cdef Part* part
    if walk.n_begun == items.n_parts:
        return Lane(ROOT, &NOTHING, NULL, NULL)
    part = &items.parts[walk.n_begun]
    walk.n_begun += 1
    walk.n_busy += 1
    return Lane(ROOT, items.data + part.start, items.scratch.data + part.start, part)


cdef bint join_parts(Items* items, Ids* out) noexcept nogil:
    """Append the ids of the parts, which are walked; False without memory."""
    cdef Py_ssize_t n_ids = 0, i, row
    cdef Part* part
    for i in range(items.n_parts):
        n_ids += items.parts[i].n_ids
    if not reserve_ids(out, n_ids):
        return False
    for i in range(items.n_parts):
        part = &items.parts[i]
        if part.n_ids:  # if there are none, `out` may have no memory yet
            memcpy(
                out.data + out.n, items.scratch.data + part.start, part.n_ids * sizeof(int32_t)
            )
        for row in range(part.n_rows):
            part.row_stops[row] += out.n
        out.n += part.n_ids
    return True


cdef inline void go_on(Walk* walk, const DoubleArray* trie, Lane* lane) noexcept nogil:
    """Take a letter; or what else stands there, up to the next one.

    An id is stored at each letter, and counts if its piece ends there. It has room: so far
    there are no more pieces than letters, and PART_END has a place too.
    """
    cdef uint32_t item = lane.item[0], child, child_behind
    cdef int32_t misfit
    cdef Unit unit
    cdef Py_ssize_t matches  # as a mask: -1 or 0
    cdef Lane copy  # so that the lane itself is in no memory
    unit = unit_at(trie, lane.state)[0]
    if not likely(item < LITERAL):
        if item == ROW_END and ends_token(&unit):
            lane.ids[0] = unit.pop
            lane.ids += 1
            lane.state = ROOT
            lane.item += 1
            stop_row(walk, lane.part, lane.ids)
        elif lane.part != NULL:
            copy = lane[0]
            pass_literals(walk, &copy)
            lane[0] = copy
        return
    child = unit.base + item
    matches = opaque(-<Py_ssize_t>(unit_at(trie, child).parent == lane.state))
    # If it is no child: one piece ends, and where that leads it is a child, mostly.
    child_behind = unit_at(trie, unit.fail).base + item
    misfit = <int32_t>(unit_at(trie, child_behind).parent ^ unit.fail) | (unit.pop >> 31)
    if not likely(misfit & ~<int32_t>matches == 0):
        copy = lane[0]
        follow_links(walk, &copy)
        lane[0] = copy
        return
    lane.ids[0] = unit.pop  # counts only if nothing matches
    lane.ids += 1 + matches
    lane.item += 1
    lane.state = child_behind ^ ((child_behind ^ child) & <uint32_t>matches)


cdef void follow_links(Walk* walk, Lane* lane) noexcept nogil:
    """Take one letter, after as many links as it takes."""
    cdef uint32_t child
    while True:
        child = child_of(walk.trie, lane.state, lane.item[0])
        if child != NO_STATE:
            lane.state = child
            lane.item += 1
            return
        if unit_at(walk.trie, lane.state).pop == NO_PIECES:
            take_as_unknown(
                walk, lane, lane.item if lane.state == ROOT else lane.item - 1
            )
            return
        follow_link(walk, lane)


cdef inline void follow_link(Walk* walk, Lane* lane) noexcept nogil:
    """Append the pieces that end. Requires there are some."""
    cdef const Unit* unit = unit_at(walk.trie, lane.state)
    lane.ids = append_pops(walk.trie.pops, unit.pop, lane.ids)
    lane.state = unit.fail


cdef void pass_literals(Walk* walk, Lane* lane) noexcept nogil:
    """End the word at hand, and go to the next letter or part."""
    cdef Part* part = lane.part
    while lane.state != ROOT:
        if unit_at(walk.trie, lane.state).pop == NO_PIECES:
            take_as_unknown(walk, lane, lane.item - 1)
        else:
            follow_link(walk, lane)
    while lane.item[0] >= LITERAL:
        if lane.item[0] < FIRST_MARK:
            lane.ids[0] = literal_id(lane.item[0])
            lane.ids += 1
        elif lane.item[0] == ROW_END:
            stop_row(walk, part, lane.ids)
        else:
            part.n_ids = lane.ids - (walk.items.scratch.data + part.start)
            walk.n_busy -= 1
            lane[0] = next_part(walk)
            return
        lane.item += 1


cdef inline void stop_row(const Walk* walk, Part* part, const int32_t* ids) noexcept nogil:
    """Write down that a row ends where the next id would go."""
    part.row_stops[part.n_rows] = ids - (walk.items.scratch.data + part.start)
    part.n_rows += 1


cdef void take_as_unknown(Walk* walk, Lane* lane, const uint32_t* item) noexcept nogil:
    """Put the unk_id in the place of the word that holds `item`, and go behind it.

    Requires  its letters up to lane.item are walked, and can't be cut into pieces
    """
    cdef uint32_t word_start = walk.trie.word_start
    while not item[0] & word_start:
        item -= 1
    lane.ids -= n_pieces(walk.trie, item)
    lane.ids[0] = walk.trie.unk_id
    lane.ids += 1
    item += 1
    while item[0] < word_start:
        item += 1
    lane.item = item
    lane.state = ROOT


cdef Py_ssize_t n_pieces(const DoubleArray* trie, const uint32_t* item) noexcept nogil:
    """Count the pieces of a word, as far as it can be cut, which is not to its end."""
    cdef Py_ssize_t n = 0
    cdef uint32_t state = ROOT, child
    cdef const Unit* unit
    while True:
        child = NO_STATE
        if item[0] < LITERAL:
            child = child_of(trie, state, item[0])
        if child != NO_STATE:
            state = child
            item += 1
            continue
        unit = unit_at(trie, state)
        if unit.pop == NO_PIECES:
            return n
        n += n_pops(trie.pops, unit.pop)
        state = unit.fail
