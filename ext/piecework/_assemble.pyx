"""Makes complete rows of the content of texts: cut to size, with the template's tokens around.

In: the tokens of many texts, or pairs of texts, as flat arrays; the pieces of a template; how much
of a text may stay. Out: flat arrays of the rows, of which a text has more than one where the rest
of it is wanted in windows. Everything is counted first, so that the arrays are made once. It knows
no tokens and raises nothing about rows: `Assembly.problem` says what was wrong with which.
"""

from cpython.buffer cimport PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cython cimport final
from libc.string cimport memcpy, memset

from piecework._arrays cimport is_open, open_array
from piecework._types cimport int8_t, int32_t, int64_t, uint8_t, uint16_t


cdef enum:
    SPECIAL = 2  # as the kind of a piece; 0 and 1 are the two texts
    N_VIEWS = 5  # arrays of one content, at most
    N_OUTPUTS = 8


# Of a result: no memory holds more, and the sum of a few such numbers has room.
cdef int64_t MOST_TOKENS = <int64_t>1 << 48


cdef enum Strategy:
    LONGEST_FIRST = 0
    ONLY_FIRST = 1
    ONLY_SECOND = 2


# Why there is no result; as in piecework.postprocess.
cdef enum Problem:
    NONE = 0
    CHANGED = 1  # row splits or numbers of tokens are none of these arrays, or no longer
    TOO_SHORT = 2  # the text to be cut would have to lose all of its tokens, or more
    NO_SECOND = 3  # the second text is to be cut, and there is none
    STRIDE = 4  # windows of this size cannot overlap by so much
    NOT_ENOUGH = 5  # of a text that was cut before, more is needed than is there
    TOO_MANY = 6  # more tokens than any memory holds


# One piece of a template. What a text's piece writes beside ids is the same for all of its tokens.
cdef struct Piece:
    int kind  # 0, 1 or SPECIAL
    int32_t type_id
    int32_t later_type_id  # in windows behind the first
    int8_t sequence_id  # -1: none
    int32_t* ids  # of SPECIAL
    int64_t n_ids


# The tokens of the first, or of the second texts. NULL: not there.
cdef struct Content:
    const uint8_t* ids
    int id_size  # 4: int32; 2: uint16
    int64_t n_tokens
    const int64_t* row_splits
    const int32_t* offsets
    const int32_t* word_ids
    const int64_t* n_uncut  # tokens of each row before it was cut; NULL: it was not


# How the tokens of one text are divided. Window k starts k steps from where windows start, and is
# `size` long, or as long as there are tokens. If size is 0: none, and then all tokens.
cdef struct Windows:
    int64_t start  # of the text's first token among all
    int64_t n  # tokens of the text
    int64_t size  # <= n
    int64_t step
    int64_t n_windows


# Where rows go; NULL: not wanted. Invariant: at <= n_tokens, row <= n_rows: what the arrays hold.
cdef struct Output:
    int64_t* row_splits
    int64_t* overflow_to_sample
    uint8_t* ids
    int id_size
    int32_t* type_ids
    uint8_t* special_tokens_mask
    int8_t* sequence_ids
    int32_t* offsets
    int32_t* word_ids
    int64_t at
    int64_t n_tokens
    int64_t row
    int64_t n_rows


@final
cdef class Pieces:
    """The pieces of a template.

    Parameters
    ----------
    pieces : sequence of (kind, type_id, later_type_id, sequence_id, ids)
        As :class:`piecework.postprocess.Piece`.

    Notes
    -----
    Thread-safety: immutable.
    """

    cdef Piece* pieces
    cdef Py_ssize_t n
    cdef int64_t n_special

    def __cinit__(self, pieces):
        cdef Py_ssize_t i
        cdef Piece* piece
        pieces = tuple(pieces)
        self.pieces = <Piece*>PyMem_RawCalloc(max(len(pieces), 1), sizeof(Piece))
        if self.pieces == NULL:
            raise MemoryError
        for kind, type_id, later_type_id, sequence_id, ids in pieces:
            if not 0 <= kind <= SPECIAL:
                raise ValueError(f"expected a piece of kind 0, 1 or 2, got {kind}")
            piece = &self.pieces[self.n]
            self.n += 1
            ids = tuple(ids)
            piece.kind = kind
            piece.type_id = type_id
            piece.later_type_id = later_type_id
            piece.sequence_id = sequence_id
            piece.ids = <int32_t*>PyMem_RawCalloc(max(len(ids), 1), sizeof(int32_t))
            if piece.ids == NULL:
                raise MemoryError
            for i in range(len(ids)):
                piece.ids[i] = ids[i]
            piece.n_ids = len(ids)
            self.n_special += piece.n_ids

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n):
            PyMem_RawFree(self.pieces[i].ids)
        PyMem_RawFree(self.pieces)


@final
cdef class Assembly:
    """The rows of one call: counted when it is made, written by `fill`.

    Parameters
    ----------
    pieces : Pieces
    first : tuple of (ids, row_splits, offsets, word_ids, n_uncut)
        The last three may be None; all of these are contiguous and aligned: ids int32 or uint16,
        row_splits int64 of one number more than there are rows, offsets int32 of two for each
        token, word_ids int32 of one, n_uncut int64 of one for each row.
    second : tuple or None
        Likewise. Requires that no piece is of a second text if there is none.
    room : int
        The most tokens of the texts in a row; -1: no limit.
    strategy : 0, 1 or 2
        Longest first, only the first, only the second.
    at_end : bool
        The tokens at the end stay, and windows go from there to the beginning.
    stride : int
        Tokens that a window has in common with the one before it.
    all_windows : bool
        All of the tokens are wanted, in windows; else the first window only.
    """

    cdef readonly int64_t n_rows
    cdef readonly int64_t n_tokens
    cdef readonly tuple problem
    cdef Pieces template
    cdef Content[2] contents
    cdef Py_buffer[10] views  # N_VIEWS of the first content, and of the second
    cdef int64_t n_samples
    cdef int64_t room
    cdef int64_t stride
    cdef int strategy
    cdef bint is_pair
    cdef bint at_end
    cdef bint all_windows

    def __cinit__(
        self, Pieces pieces not None, tuple first not None, second, int64_t room=-1,
        int strategy=0, bint at_end=False, int64_t stride=0, bint all_windows=False,
    ):
        cdef int problem
        cdef int64_t row = 0
        self.template = pieces
        self.room = room
        self.strategy = strategy
        self.at_end = at_end
        self.stride = stride
        self.all_windows = all_windows
        self.is_pair = second is not None
        self.n_samples = self.open_content(0, first)
        if self.is_pair and self.open_content(1, second) != self.n_samples:
            raise ValueError("expected as many second texts as first ones")
        with nogil:
            problem = self.measure(&row)
        # What was wrong (0: nothing), the row, and the tokens of its texts.
        self.problem = (problem, row, self.n_uncut(0, row), self.n_uncut(1, row))

    def __dealloc__(self):
        cdef int i
        for i in range(2 * N_VIEWS):
            PyBuffer_Release(&self.views[i])  # which does nothing for one that was not opened

    cdef int64_t open_content(self, int text, arrays) except -1:
        """Look into the arrays of the first or the second texts; return the number of rows."""
        cdef Py_buffer* views = &self.views[text * N_VIEWS]
        cdef Content* content = &self.contents[text]
        cdef int64_t n_rows
        cdef Py_ssize_t i, expected
        for i in range(N_VIEWS):
            if arrays[i] is not None:
                open_array(arrays[i], PyBUF_ND, 2 if i == 2 else 1, &views[i])
        n_rows = views[1].shape[0] - 1
        for i in range(2, N_VIEWS):
            expected = views[0].shape[0] if i < 4 else n_rows
            if is_open(&views[i]) and views[i].shape[0] != expected:
                raise ValueError(
                    f"expected an array of {expected} items, not of {views[i].shape[0]}"
                )
        content.ids = <const uint8_t*>views[0].buf
        content.id_size = views[0].itemsize
        content.n_tokens = views[0].shape[0]
        content.row_splits = <const int64_t*>views[1].buf
        content.offsets = <const int32_t*>views[2].buf
        content.word_ids = <const int32_t*>views[3].buf
        content.n_uncut = <const int64_t*>views[4].buf
        return n_rows

    cdef int64_t n_uncut(self, int text, int64_t row) noexcept nogil:
        """Return the number of tokens that a text had before anything was cut, for a message."""
        cdef const Content* content = &self.contents[text]
        if content.row_splits == NULL or row >= self.n_samples:
            return 0
        if content.n_uncut != NULL:
            return content.n_uncut[row]
        return content.row_splits[row + 1] - content.row_splits[row]

    cdef int measure(self, int64_t* row) noexcept nogil:
        """Count the rows and tokens of the result; `row` is where there is a problem."""
        cdef Windows[2] texts
        cdef int problem
        cdef int64_t n_rows, n_tokens
        cdef int64_t sample
        for sample in range(self.n_samples):
            row[0] = sample
            problem = self.divide(sample, texts)
            if problem == NONE:
                problem = self.count(texts, &n_rows, &n_tokens)
            if problem != NONE:
                return problem
            self.n_rows += n_rows
            self.n_tokens += n_tokens
            if self.n_rows > MOST_TOKENS or self.n_tokens > MOST_TOKENS:
                return TOO_MANY
        return NONE

    cdef int divide(self, int64_t row, Windows* texts) noexcept nogil:
        """Find the windows of the texts of a row. Requires row < n_samples."""
        cdef const Content* content
        cdef int64_t[2] lengths
        cdef int64_t[2] sizes
        cdef int64_t start, stop
        cdef int text, problem
        for text in range(2):
            content = &self.contents[text]
            start = stop = 0
            if content.row_splits != NULL:
                start = content.row_splits[row]
                stop = content.row_splits[row + 1]
                if not 0 <= start <= stop <= content.n_tokens:
                    return CHANGED
            texts[text].start = start
            texts[text].n = lengths[text] = stop - start
            if content.n_uncut != NULL:
                lengths[text] = content.n_uncut[row]
                if not texts[text].n <= lengths[text] <= MOST_TOKENS:
                    return CHANGED
            sizes[text] = lengths[text]
        problem = self.share_out(lengths, sizes)
        for text in range(2):
            if problem == NONE:
                problem = self.window(&texts[text], lengths[text], sizes[text])
        return problem

    cdef int share_out(self, const int64_t* lengths, int64_t* sizes) noexcept nogil:
        """Find how many tokens of each text stay; `sizes` are the lengths before."""
        cdef int64_t excess = lengths[0] + lengths[1] - self.room
        cdef int text
        if self.room < 0 or excess <= 0:
            return NONE
        if self.room == 0:
            sizes[0] = sizes[1] = 0
        elif self.strategy == LONGEST_FIRST:
            if not self.is_pair:
                sizes[0] = self.room
            elif lengths[0] > lengths[1]:
                share_by_length(self.room, &sizes[1], &sizes[0])
            else:
                share_by_length(self.room, &sizes[0], &sizes[1])
        else:
            text = 1 if self.strategy == ONLY_SECOND else 0
            if text == 1 and not self.is_pair:
                return NO_SECOND
            if lengths[text] <= excess:
                return TOO_SHORT
            sizes[text] -= excess
        return NONE

    cdef int window(self, Windows* text, int64_t length, int64_t size) noexcept nogil:
        """Divide a text of which `size` tokens of `length` stay."""
        text.size = size
        text.step = 0
        text.n_windows = 1
        if size > text.n or (self.all_windows and text.n != length):
            return NOT_ENOUGH
        if self.all_windows and size < text.n:
            if size == 0:
                text.n_windows = 2
            elif self.stride >= size:
                return STRIDE
            else:
                text.step = size - self.stride
                text.n_windows += (text.n - size + text.step - 1) // text.step
        return NONE

    cdef int count(
        self, const Windows* texts, int64_t* n_rows, int64_t* n_tokens
    ) noexcept nogil:
        """Count the rows of one text or pair, and their tokens."""
        cdef const Windows* text
        cdef int64_t longest = self.template.n_special
        cdef Py_ssize_t i
        n_rows[0] = 1
        for i in range(self.template.n):
            if self.template.pieces[i].kind != SPECIAL:
                text = &texts[self.template.pieces[i].kind]
                longest += text.n if text.size == 0 else text.size
                if text.n_windows > MOST_TOKENS // n_rows[0]:
                    return TOO_MANY
                n_rows[0] *= text.n_windows
        if longest > MOST_TOKENS // n_rows[0]:
            return TOO_MANY
        n_tokens[0] = n_rows[0] * self.template.n_special
        for i in range(self.template.n):
            if self.template.pieces[i].kind != SPECIAL:
                text = &texts[self.template.pieces[i].kind]
                n_tokens[0] += n_rows[0] // text.n_windows * tokens_in_windows(text)
        return NONE

    def fill(
        self, row_splits, ids, *, overflow_to_sample=None, type_ids=None,
        special_tokens_mask=None, sequence_ids=None, offsets=None, word_ids=None,
    ):
        """Write the rows into arrays, contiguous and aligned, of n_rows or n_tokens items.

        Parameters
        ----------
        row_splits : int64 array, shape (n_rows + 1,)
        ids : int32 or uint16 array, shape (n_tokens,)
            Requires that all ids fit.
        overflow_to_sample : int64 array, shape (n_rows,), optional
        type_ids : int32 array, shape (n_tokens,), optional
        special_tokens_mask : uint8 array, shape (n_tokens,), optional
        sequence_ids : int8 array, shape (n_tokens,), optional
        offsets : int32 array, shape (n_tokens, 2), optional
            Requires that both contents have them.
        word_ids : int32 array, shape (n_tokens,), optional
            Likewise.

        Raises
        ------
        ValueError
            The arrays of the contents were changed meanwhile.
        """
        cdef Py_buffer[N_OUTPUTS] views
        cdef Output out
        cdef bint is_done
        cdef int i
        memset(views, 0, sizeof(views))
        memset(&out, 0, sizeof(out))
        if self.problem[0] != NONE:
            raise ValueError("there is nothing to fill in")
        try:
            for i, array in enumerate((
                row_splits, ids, overflow_to_sample, type_ids, special_tokens_mask, sequence_ids,
                offsets, word_ids,
            )):
                self.open_output(array, i, &views[i])
            out.row_splits = <int64_t*>views[0].buf
            out.ids = <uint8_t*>views[1].buf
            out.id_size = views[1].itemsize
            out.overflow_to_sample = <int64_t*>views[2].buf
            out.type_ids = <int32_t*>views[3].buf
            out.special_tokens_mask = <uint8_t*>views[4].buf
            out.sequence_ids = <int8_t*>views[5].buf
            out.offsets = <int32_t*>views[6].buf
            out.word_ids = <int32_t*>views[7].buf
            out.n_tokens = self.n_tokens
            out.n_rows = self.n_rows
            with nogil:
                is_done = self.write(&out)
        finally:
            for i in range(N_OUTPUTS):
                PyBuffer_Release(&views[i])
        if not is_done:
            raise ValueError("the tokens changed while they were put together")

    cdef int open_output(self, array, int i, Py_buffer* view) except -1:
        cdef int64_t expected
        if array is None:
            return 0
        open_array(array, PyBUF_ND | PyBUF_WRITABLE, 2 if i == 6 else 1, view)
        expected = self.n_rows + 1 if i == 0 else self.n_rows if i == 2 else self.n_tokens
        if view.shape[0] != expected:
            raise ValueError(f"expected an array of {expected} items, not of {view.shape[0]}")
        if i >= 6:
            for text in range(1 + self.is_pair):
                if not is_open(&self.views[text * N_VIEWS + i - 4]):
                    raise ValueError("expected contents with what is wanted of them")
        return 0

    cdef bint write(self, Output* out) noexcept nogil:
        """Write all rows; False if the arrays of the contents were changed."""
        cdef Windows[2] texts
        cdef int64_t sample, n_rows, n_tokens, i
        out.row_splits[0] = 0
        for sample in range(self.n_samples):
            if (
                self.divide(sample, texts) != NONE
                or self.count(texts, &n_rows, &n_tokens) != NONE
                or n_rows > out.n_rows - out.row
                or n_tokens > out.n_tokens - out.at
            ):
                return False
            for i in range(n_rows):
                self.write_row(texts, i, n_rows, out)
                if out.overflow_to_sample != NULL:
                    out.overflow_to_sample[out.row] = sample
                out.row += 1
                out.row_splits[out.row] = out.at
        return out.row == out.n_rows and out.at == out.n_tokens

    cdef void write_row(
        self, const Windows* texts, int64_t i, int64_t n_rows, Output* out
    ) noexcept nogil:
        """Write the row number i of n_rows of one text or pair.

        The rows differ in the windows at the places of texts in the template. Their order is what
        the reference's merging of one place after the other gives. First comes the row of first
        windows. The others go by the window at the first place, then by that at the second one,
        and so on: the windows of a place come in order if there is a later window at a place before
        it, and else the first window comes last.

        Requires  room for it
        """
        cdef const Piece* piece
        cdef const Windows* text
        cdef int64_t which = n_rows - 1 if i == 0 else i - 1
        cdef int64_t n_behind = n_rows, k, first, stop
        cdef bint only_first = True
        cdef Py_ssize_t p
        for p in range(self.template.n):
            piece = &self.template.pieces[p]
            if piece.kind == SPECIAL:
                put_special(piece, out)
                continue
            text = &texts[piece.kind]
            k = 0
            if text.n_windows > 1:
                n_behind //= text.n_windows
                k = which // n_behind
                which -= k * n_behind
                if only_first:
                    k = k + 1 if k + 1 < text.n_windows else 0
                    only_first = k == 0
            find_window(text, k, self.at_end, &first, &stop)
            put_text(
                piece, &self.contents[piece.kind], text.start + first, stop - first,
                piece.type_id if k == 0 else piece.later_type_id, out,
            )


cdef inline void share_by_length(int64_t room, int64_t* shorter, int64_t* longer) noexcept nogil:
    """Cut the longer of two texts down to the shorter one, and then both.

    Requires  *shorter <= *longer, and their sum > room > 0
    Ensures   the sum is room; of an odd one the longer text has one more
    """
    if shorter[0] > room - shorter[0]:
        shorter[0] = room // 2
    longer[0] = room - shorter[0]


cdef inline int64_t tokens_in_windows(const Windows* text) noexcept nogil:
    """Count the tokens of all windows."""
    if text.n_windows == 1:
        return text.size
    if text.size == 0:
        return text.n
    return (text.n_windows - 1) * (text.size - text.step) + text.n


cdef inline void find_window(
    const Windows* text, int64_t k, bint at_end, int64_t* first, int64_t* stop
) noexcept nogil:
    """Find window k. Requires k < n_windows. Ensures 0 <= *first <= *stop <= n."""
    if text.size == 0:
        first[0] = 0
        stop[0] = text.n if k else 0
    elif at_end:
        stop[0] = text.n - k * text.step
        first[0] = max(0, stop[0] - text.size)
    else:
        first[0] = k * text.step
        stop[0] = min(text.n, first[0] + text.size)


cdef inline void put_special(const Piece* piece, Output* out) noexcept nogil:
    """Requires room for its tokens."""
    cdef int64_t at = out.at, n = piece.n_ids
    convert_ids(piece.ids, sizeof(int32_t), n, out.ids + at * out.id_size, out.id_size)
    put_constants(piece.type_id, piece.sequence_id, True, n, out)
    if out.offsets != NULL:
        memset(out.offsets + 2 * at, 0, n * 2 * sizeof(int32_t))
    if out.word_ids != NULL:
        put_int32(out.word_ids + at, -1, n)
    out.at += n


cdef inline void put_text(
    const Piece* piece, const Content* content, int64_t start, int64_t n, int32_t type_id,
    Output* out,
) noexcept nogil:
    """Requires room for n tokens, and n tokens of the content from `start` on."""
    cdef int64_t at = out.at
    if n == 0:
        return
    convert_ids(
        content.ids + start * content.id_size, content.id_size, n,
        out.ids + at * out.id_size, out.id_size,
    )
    put_constants(type_id, piece.sequence_id, False, n, out)
    if out.offsets != NULL:
        memcpy(out.offsets + 2 * at, content.offsets + 2 * start, n * 2 * sizeof(int32_t))
    if out.word_ids != NULL:
        memcpy(out.word_ids + at, content.word_ids + start, n * sizeof(int32_t))
    out.at += n


cdef inline void convert_ids(
    const void* ids, int id_size, int64_t n, void* out, int out_size
) noexcept nogil:
    cdef int64_t i
    if id_size == out_size:
        memcpy(out, ids, n * id_size)
    elif out_size == sizeof(int32_t):
        for i in range(n):
            (<int32_t*>out)[i] = (<const uint16_t*>ids)[i]
    else:
        for i in range(n):
            (<uint16_t*>out)[i] = <uint16_t>(<const int32_t*>ids)[i]


cdef inline void put_constants(
    int32_t type_id, int8_t sequence_id, bint is_special, int64_t n, Output* out
) noexcept nogil:
    if out.type_ids != NULL:
        put_int32(out.type_ids + out.at, type_id, n)
    if out.special_tokens_mask != NULL:
        memset(out.special_tokens_mask + out.at, is_special, n)
    if out.sequence_ids != NULL:
        memset(out.sequence_ids + out.at, sequence_id, n)


cdef inline void put_int32(int32_t* out, int32_t value, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = value
