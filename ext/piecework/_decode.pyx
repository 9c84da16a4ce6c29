"""Joins the pieces of ids to texts.

In: rows of ids, in arrays or in lists. Out: a str for each. What an id adds to a text depends on
nothing but the id and whether it is the first that stays, so that both are made beforehand, for all
ids, as stretches of one pool of characters; a row is then two passes: one that adds up lengths, and
one that copies. What a piece looks like is not decided here but by `piecework.decoding`.
"""

from cpython.buffer cimport (
    PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer,
)
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_New
from cython cimport final
from libc.string cimport memcpy, memset

from piecework._buffers cimport Ids, reserve_ids
from piecework._types cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define PIECEWORK_NO_GIL 1
    #else
    #define PIECEWORK_NO_GIL 0
    #endif
    """
    bint NO_GIL "PIECEWORK_NO_GIL"


cdef extern from "Python.h":
    Py_ssize_t n_items "PySequence_Fast_GET_SIZE"(object sequence)
    PyObject** items_of "PySequence_Fast_ITEMS"(object sequence)
    bint is_plain_int "PyLong_CheckExact"(PyObject* item)
    long long as_int64 "PyLong_AsLongLongAndOverflow"(PyObject* item, int* overflow) except? -1
    void* str_chars "PyUnicode_DATA"(object text)


cdef enum:
    # Flags beside the characters' bits, see `Piece`.
    CHAR_BITS = 0x1FFFFF
    SPECIAL = 1 << 22  # left out if asked for
    ABSENT = 1 << 23  # no token has the id: always left out
    HIGHEST_CHAR = 0x10FFFF
    MOST_CHARS = 0x7FFFFFFF
    # Copied of each piece at once, whether it is so long or not: nearly all are shorter, and a copy
    # whose size is known is one instruction.
    COPY_BYTES = 16
    # Slots of ids that have none.
    UNKNOWN = -1
    NO_TOKEN = -2
    UNPACKED_IDS = 256  # of a list, at a time
    ROWS_BETWEEN_SIGNALS = 1024
    # Tables of ids are made for all up to the highest if so many of them at least have tokens.
    MOST_IDS_A_TOKEN = 2
    FEW_IDS = 1024


# What an id adds to a text, 16 bytes.
#
#   byte 0       8         12     16
#        | start | n_chars | bits |    start  byte in the pool, a multiple of 4
#                                      bits   of all its characters, joined by "or", and flags
#
# Its characters are 1, 2 or 4 bytes wide in the pool, the least that holds each (char_size).
cdef struct Piece:
    int64_t start
    uint32_t n_chars
    uint32_t bits


# A table's memory. The pool has COPY_BYTES more than it says: a copy may read so far.
cdef struct Pieces:
    Piece* firsts  # by slot: as the first of a text
    Piece* continuations  # by slot: behind another piece
    int64_t* ids  # rising, shape (n_slots,): of each slot; NULL if each id is its own slot
    Py_ssize_t n_slots
    int64_t vocab_size
    uint8_t* pool
    Py_ssize_t pool_size
    Py_ssize_t pool_cap


cdef struct Choice:
    uint32_t left_out  # flags of pieces
    bint skip_unknown


# What stays of a row: slots, and what their pieces come to.
cdef struct Kept:
    Ids slots
    Py_ssize_t n_chars
    uint32_t bits


@final
cdef class PieceTable:
    """What each id adds to a text.

    Parameters
    ----------
    tokens_by_id : dict of int to str
    vocab_size : int
        Ids from 0 to vocab_size - 1 are known, whether or not they have a token.
    special : frozenset of str
        Tokens that `skip_special` leaves out.
    form : PieceForm
        A `piecework.decoding.PieceForm`.

    Notes
    -----
    Thread-safety: nothing is changed after it was made.
    """

    cdef Pieces pieces

    def __cinit__(self, dict tokens_by_id not None, vocab_size, frozenset special not None, form):
        cdef Pieces* pieces = &self.pieces
        pieces.vocab_size = vocab_size
        if vocab_size <= MOST_IDS_A_TOKEN * len(tokens_by_id) + FEW_IDS:
            pieces.n_slots = vocab_size
        else:
            set_ids(pieces, sorted(tokens_by_id))
        allocate(pieces)
        # What is used most lies together.
        add_pieces(pieces, pieces.continuations, tokens_by_id, special, form, True)
        add_pieces(pieces, pieces.firsts, tokens_by_id, special, form, False)

    def __dealloc__(self):
        PyMem_RawFree(self.pieces.firsts)
        PyMem_RawFree(self.pieces.continuations)
        PyMem_RawFree(self.pieces.ids)
        PyMem_RawFree(self.pieces.pool)

    def join_row(self, row, bint skip_special, bint skip_unknown, as_list):
        """Return the text of one row; see `join_rows`. `as_list` is told None as its number."""
        cdef Choice choice = make_choice(skip_special, skip_unknown)
        cdef Kept kept
        memset(&kept, 0, sizeof(Kept))
        try:
            return join_any(&self.pieces, row, None, &choice, &kept, as_list)
        finally:
            PyMem_RawFree(kept.slots.data)

    def join_rows(self, rows, bint skip_special, bint skip_unknown, as_list):
        """Return the texts of many rows.

        Parameters
        ----------
        rows : iterable
            Lists and tuples of int, and arrays of int32, int64 or uint16, are read as they are.
        skip_special : bool
        skip_unknown : bool
            Leave out ids that are not known.
        as_list : callable
            (row, number) -> list of int that are known, unless those that are not are skipped.
            Called for a row of another kind and for one with an id that is not known, which is an
            error if it isn't skipped: it raises that.
        """
        cdef Choice choice = make_choice(skip_special, skip_unknown)
        cdef Kept kept
        cdef list texts = []
        memset(&kept, 0, sizeof(Kept))
        try:
            for row in rows:
                if len(texts) % ROWS_BETWEEN_SIGNALS == 0:
                    PyErr_CheckSignals()
                texts.append(
                    join_any(&self.pieces, row, len(texts), &choice, &kept, as_list)
                )
        finally:
            PyMem_RawFree(kept.slots.data)
        return texts

    def join_splits(self, ids, row_splits, bint skip_special, bint skip_unknown):
        """Return the texts of rows that lie in one array, up to the first that can't be read.

        Parameters
        ----------
        ids : int32, int64 or uint16 array, shape (n_tokens,)
            Both arrays are contiguous, aligned and of the machine's byte order.
        row_splits : int64 array, shape (n_rows + 1,)
        skip_special, skip_unknown : bool

        Returns
        -------
        list of str
            With less than n_rows items if the row behind them holds an id that is not known (and
            not skipped), or if its splits do not fit.
        """
        cdef Choice choice = make_choice(skip_special, skip_unknown)
        cdef Kept kept
        cdef Py_buffer[2] views
        memset(&kept, 0, sizeof(Kept))
        memset(views, 0, sizeof(views))
        try:
            PyObject_GetBuffer(ids, &views[0], PyBUF_ND | PyBUF_FORMAT)
            PyObject_GetBuffer(row_splits, &views[1], PyBUF_ND | PyBUF_FORMAT)
            if not (
                is_read_as_it_is(&views[0])
                and is_read_as_it_is(&views[1])
                and views[1].itemsize == sizeof(int64_t)
            ):
                raise TypeError("expected int32, int64 or uint16 ids and int64 row splits")
            return join_views(&self.pieces, &views[0], &views[1], &choice, &kept)
        finally:
            PyBuffer_Release(&views[0])  # which does nothing for one that was not opened
            PyBuffer_Release(&views[1])
            PyMem_RawFree(kept.slots.data)


cdef Choice make_choice(bint skip_special, bint skip_unknown) noexcept:
    return Choice(ABSENT | (SPECIAL if skip_special else 0), skip_unknown)


# ---- making a table ----


cdef int set_ids(Pieces* pieces, list ids) except -1:
    """Have a slot only for ids that have a token: they lie far apart."""
    cdef Py_ssize_t slot
    pieces.n_slots = len(ids)
    pieces.ids = <int64_t*>PyMem_RawCalloc(len(ids) + 1, sizeof(int64_t))
    if pieces.ids == NULL:
        raise MemoryError
    for slot in range(pieces.n_slots):
        pieces.ids[slot] = ids[slot]
    return 0


cdef int allocate(Pieces* pieces) except -1:
    cdef Py_ssize_t slot
    pieces.firsts = <Piece*>PyMem_RawCalloc(pieces.n_slots + 1, sizeof(Piece))
    pieces.continuations = <Piece*>PyMem_RawCalloc(pieces.n_slots + 1, sizeof(Piece))
    if pieces.firsts == NULL or pieces.continuations == NULL:
        raise MemoryError
    for slot in range(pieces.n_slots):
        pieces.firsts[slot].bits = pieces.continuations[slot].bits = ABSENT
    return 0


cdef int add_pieces(
    Pieces* pieces, Piece* places, dict tokens_by_id, frozenset special, form, bint continued
) except -1:
    """Put all pieces of one kind into the pool."""
    cdef str token, text, prefix = form.prefix, marks = form.marks
    cdef int64_t id_
    cdef Py_ssize_t slot
    for id_, token in tokens_by_id.items():
        slot = slot_of(pieces, id_)
        if slot < 0:
            continue
        text = token
        if continued:
            if prefix is not None and token.startswith(prefix):
                text = token[len(prefix):]
            else:
                text = " " + token
        if has_mark(text, marks):
            text = form.clean(text)
        put_piece(pieces, &places[slot], text)
        if token in special:
            places[slot].bits |= SPECIAL
    return 0


cdef bint has_mark(str text, str marks):
    """Whether one of the `marks` stands behind a space."""
    cdef Py_UCS4 before = u"x", char
    if not marks:
        return False
    for char in text:
        if before == u" " and char in marks:
            return True
        before = char
    return False


cdef int put_piece(Pieces* pieces, Piece* piece, str text) except -1:
    cdef Py_ssize_t n_chars = len(text), n_bytes
    cdef uint32_t bits = 0
    cdef Py_UCS4 char
    if n_chars > MOST_CHARS:
        raise OverflowError(f"a token of {n_chars} characters is too long to be decoded")
    for char in text:
        bits |= <uint32_t>char
    piece[0] = Piece(pieces.pool_size, <uint32_t>n_chars, bits)
    n_bytes = n_chars * char_size(bits)  # a str, too, is as wide as its widest character
    reserve_pool(pieces, n_bytes)
    memcpy(pieces.pool + pieces.pool_size, str_chars(text), n_bytes)
    pieces.pool_size += (n_bytes + 3) & ~<Py_ssize_t>3
    return 0


cdef int reserve_pool(Pieces* pieces, Py_ssize_t n_bytes) except -1:
    """Make room for a piece, and for what a copy may read behind it."""
    cdef Py_ssize_t needed = pieces.pool_size + n_bytes + 4 + COPY_BYTES
    cdef void* pool
    if needed <= pieces.pool_cap:
        return 0
    needed += needed >> 1
    pool = PyMem_RawRealloc(pieces.pool, needed)
    if pool == NULL:
        raise MemoryError
    pieces.pool = <uint8_t*>pool
    memset(pieces.pool + pieces.pool_cap, 0, needed - pieces.pool_cap)
    pieces.pool_cap = needed
    return 0


cdef inline int char_size(uint32_t bits) noexcept nogil:
    """Return the bytes of each character, as a str has them, where all characters are `bits`."""
    if bits & CHAR_BITS > 0xFFFF:
        return 4
    return 2 if bits & CHAR_BITS > 0xFF else 1


# ---- reading ids ----


cdef inline Py_ssize_t slot_of(const Pieces* pieces, int64_t id_) noexcept nogil:
    """Return where the pieces of an id are; NO_TOKEN or UNKNOWN where there are none."""
    cdef Py_ssize_t low = 0, high, middle
    if <uint64_t>id_ >= <uint64_t>pieces.vocab_size:
        return UNKNOWN
    if pieces.ids == NULL:
        return id_
    high = pieces.n_slots
    while low < high:
        middle = (low + high) >> 1
        if pieces.ids[middle] < id_:
            low = middle + 1
        else:
            high = middle
    return low if low < pieces.n_slots and pieces.ids[low] == id_ else NO_TOKEN


cdef str join_any(
    const Pieces* pieces, row, number, const Choice* choice, Kept* kept, as_list
):
    """Return the text of a row of any kind; `as_list` is asked where `take_row` can't read it."""
    if not take_row(pieces, row, choice, kept):
        row = as_list(row, number)
        if not take_row(pieces, row, choice, kept):
            raise ValueError("the ids were changed while they were decoded")
    return join_kept(pieces, kept)


cdef bint take_row(const Pieces* pieces, row, const Choice* choice, Kept* kept) except -1:
    """Make `kept` what stays of a row; False if it is none of plain ids, or not all are known."""
    clear_kept(kept)
    if type(row) is tuple:
        return take_items(pieces, row, choice, kept)
    if type(row) is list:
        # Another thread may change a list, unless the GIL keeps it from that: see `take_items`.
        return take_items(pieces, tuple(row) if NO_GIL else row, choice, kept)
    if PyObject_CheckBuffer(row):
        return take_buffer(pieces, row, choice, kept)
    return False


cdef bint take_items(
    const Pieces* pieces, row, const Choice* choice, Kept* kept
) except -1:
    """Take a list or a tuple; False, too, for an item that is no int of that very type.

    Reading such an int runs no code of Python's, so that nobody gets to change the row.
    """
    cdef int64_t[UNPACKED_IDS] ids
    cdef Py_ssize_t start, n, i, n_ids = n_items(row)
    cdef PyObject** items = items_of(row)
    cdef int overflow = 0
    for start in range(0, n_ids, UNPACKED_IDS):
        n = min(n_ids - start, <Py_ssize_t>UNPACKED_IDS)
        for i in range(n):
            if not is_plain_int(items[start + i]):
                return False
            ids[i] = as_int64(items[start + i], &overflow)
            if overflow:
                ids[i] = -1  # no token has this id either
        if not take_ids(pieces, ids, sizeof(int64_t), n, choice, kept):
            return False
    return True


cdef bint take_buffer(const Pieces* pieces, row, const Choice* choice, Kept* kept) except -1:
    cdef Py_buffer view
    try:
        PyObject_GetBuffer(row, &view, PyBUF_ND | PyBUF_FORMAT)
    except (BufferError, ValueError):  # it has gaps, or is of dates
        return False
    try:
        return (
            is_read_as_it_is(&view)
            and take_ids(pieces, view.buf, view.itemsize, view.shape[0], choice, kept)
        )
    finally:
        PyBuffer_Release(&view)


cdef bint is_read_as_it_is(const Py_buffer* view) noexcept:
    """Whether an array is in one dimension and of one of the types that `id_at` reads."""
    cdef bint is_int
    if view.ndim != 1:
        return False
    if view.format == NULL or view.format[0] == 0 or view.format[1] != 0:
        return False  # among others, of the other byte order
    if view.itemsize == 2:
        is_int = view.format[0] == c"H"
    elif view.itemsize == 4 or view.itemsize == 8:
        is_int = view.format[0] in (c"i", c"l", c"q")
    else:
        return False
    return is_int and <size_t>view.buf % <size_t>view.itemsize == 0


cdef list join_views(
    const Pieces* pieces, const Py_buffer* ids, const Py_buffer* row_splits,
    const Choice* choice, Kept* kept,
):
    cdef Py_ssize_t row, n_rows = row_splits.len // <Py_ssize_t>sizeof(int64_t) - 1
    cdef const int64_t* splits = <const int64_t*>row_splits.buf
    cdef const uint8_t* data = <const uint8_t*>ids.buf
    cdef int64_t start, stop
    cdef list texts = []
    for row in range(n_rows):
        if row % ROWS_BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
        start = splits[row]
        stop = splits[row + 1]
        if not 0 <= start <= stop <= ids.len // ids.itemsize:
            break
        clear_kept(kept)
        if not take_ids(
            pieces, data + start * ids.itemsize, ids.itemsize, stop - start, choice, kept
        ):
            break
        texts.append(join_kept(pieces, kept))
    return texts


cdef inline void clear_kept(Kept* kept) noexcept nogil:
    kept.slots.n = 0
    kept.n_chars = 0
    kept.bits = 0


cdef bint take_ids(
    const Pieces* pieces, const void* ids, Py_ssize_t id_size, Py_ssize_t n,
    const Choice* choice, Kept* kept,
) except -1:
    """Add to `kept` what stays of n ids; False at one that is not known, unless those are skipped.

    Each id is read once: what changes meanwhile can't make the second pass write elsewhere.
    """
    if not reserve_ids(&kept.slots, n):
        raise MemoryError
    # The compiler makes a loop of its own for each size.
    if id_size == 4:
        return take_from(pieces, ids, 4, n, choice, kept)
    if id_size == 8:
        return take_from(pieces, ids, 8, n, choice, kept)
    return take_from(pieces, ids, 2, n, choice, kept)


cdef inline bint take_from(
    const Pieces* pieces, const void* ids, int id_size, Py_ssize_t n,
    const Choice* choice, Kept* kept,
) noexcept nogil:
    cdef Py_ssize_t i, slot, n_kept = kept.slots.n, n_chars = kept.n_chars
    cdef uint32_t bits = kept.bits
    cdef const Piece* piece
    for i in range(n):
        slot = slot_of(pieces, id_at(ids, id_size, i))
        if slot < 0:
            if slot == UNKNOWN and not choice.skip_unknown:
                return False
            continue
        piece = piece_at(pieces, slot, n_kept)
        if piece.bits & choice.left_out:
            continue
        kept.slots.data[n_kept] = <int32_t>slot
        n_kept += 1
        n_chars += piece.n_chars
        bits |= piece.bits
    kept.slots.n = n_kept
    kept.n_chars = n_chars
    kept.bits = bits
    return True


cdef inline int64_t id_at(const void* ids, int id_size, Py_ssize_t i) noexcept nogil:
    if id_size == 4:
        return (<const int32_t*>ids)[i]
    if id_size == 8:
        return (<const int64_t*>ids)[i]
    return (<const uint16_t*>ids)[i]


cdef inline const Piece* piece_at(
    const Pieces* pieces, Py_ssize_t slot, Py_ssize_t place
) noexcept nogil:
    """Return the piece of a slot at a place among those that stay."""
    return &(pieces.firsts if place == 0 else pieces.continuations)[slot]


# ---- writing texts ----


cdef str join_kept(const Pieces* pieces, const Kept* kept):
    text = PyUnicode_New(
        kept.n_chars, min(kept.bits & <uint32_t>CHAR_BITS, <uint32_t>HIGHEST_CHAR)
    )
    if kept.n_chars == 0:
        return text  # one that all share
    if char_size(kept.bits) == 1:
        copy_kept(pieces, kept, str_chars(text), 1)
    elif char_size(kept.bits) == 2:
        copy_kept(pieces, kept, str_chars(text), 2)
    else:
        copy_kept(pieces, kept, str_chars(text), 4)
    return text


cdef inline void copy_kept(
    const Pieces* pieces, const Kept* kept, void* text, int size
) noexcept nogil:
    """Write the pieces one behind the other.

    Requires  text has room for kept.n_chars characters of `size` bytes, and none is wider
    """
    cdef uint8_t* out = <uint8_t*>text
    cdef uint8_t* stop = out + kept.n_chars * size
    cdef const Piece* piece
    cdef Py_ssize_t i
    for i in range(kept.slots.n):
        piece = piece_at(pieces, kept.slots.data[i], i)
        copy_piece(pieces.pool + piece.start, char_size(piece.bits), piece.n_chars, out, size, stop)
        out += piece.n_chars * <Py_ssize_t>size


cdef inline void copy_piece(
    const uint8_t* chars, int char_size, Py_ssize_t n_chars, uint8_t* out, int size,
    const uint8_t* stop,
) noexcept nogil:
    if char_size == size:
        if stop - out >= COPY_BYTES:
            memcpy(out, chars, COPY_BYTES)
            if n_chars * size <= COPY_BYTES:
                return
        memcpy(out, chars, n_chars * size)
    elif char_size == 1:
        widen(chars, 1, n_chars, out, size)
    else:
        widen(chars, 2, n_chars, out, size)


cdef inline void widen(
    const uint8_t* chars, int char_size, Py_ssize_t n_chars, uint8_t* out, int size
) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint32_t char
    for i in range(n_chars):
        char = chars[i] if char_size == 1 else (<const uint16_t*>chars)[i]
        if size == 2:
            (<uint16_t*>out)[i] = <uint16_t>char
        else:
            (<uint32_t*>out)[i] = char
