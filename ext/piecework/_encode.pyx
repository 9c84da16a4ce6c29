"""Encodes Python strings: one text to a list, many to flat buffers.

Stands between the tokenizer and the inner loop: it looks into the str objects, lets the inner loop
run without the GIL over about a mebibyte at a time, and calls back into Python for the rare texts
that hold a special token or marks that may swap places. It holds no state that a call changes, so
one `Encoder` serves any number of threads.
"""

from cpython.list cimport PyList_GET_ITEM
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final

from piecework._alphabet cimport Alphabet, symbol_of
from piecework._buffers cimport Ids, OwnedBuffer, append_id, append_ids, reserve_ids
from piecework._char_table cimport CharTable
from piecework._hints cimport prefetch
from piecework._scan cimport Cursor, Tables, encode_chars
from piecework._trie cimport (
    NO_STATE,
    DoubleArray,
    DoubleTrie,
    end_word,
    step,
)
from piecework._types cimport (
    DONE,
    NEEDS_NORMALIZER,
    NEEDS_REPAIR,
    NEEDS_SPLIT,
    NO_MEMORY,
    Status,
    int32_t,
    int64_t,
    uint32_t,
)


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


cdef enum:
    # How much text is worth letting other threads run for. Releasing and taking the GIL
    # costs 0.1 us, and up to a switch interval (5 ms) where another thread wants it.
    GIL_WORTHY_CHARS = 1 << 14
    CHUNK_ROWS = 1 << 12
    CHUNK_CHARS = 1 << 20
    # Texts of a corpus lie anywhere in memory, and each first look at one costs as much
    # as thirty letters: so the loads begin that many rows early, and of that much.
    PREFETCH_ROWS = 8
    PREFETCH_LINES = 4
    CACHE_LINE = 64


# A text as the inner loop sees it. The str itself is kept alive by the caller.
cdef struct Text:
    const void* chars
    Py_ssize_t n_chars
    int char_size


@final
cdef class WordMatcher:
    """Matches words as they are, without any normalization.

    Parameters
    ----------
    alphabet : Alphabet
    trie : DoubleTrie
    unk_id : int
    max_word_chars : int
    """

    cdef Alphabet alphabet
    cdef DoubleTrie trie
    cdef int32_t unk_id
    cdef Py_ssize_t max_word_chars

    def __cinit__(
        self, Alphabet alphabet not None, DoubleTrie trie not None, int32_t unk_id,
        Py_ssize_t max_word_chars,
    ):
        self.alphabet = alphabet
        self.trie = trie
        self.unk_id = unk_id
        self.max_word_chars = max_word_chars

    def match(self, word):
        """Return the ids of the pieces of one word, as a list of int."""
        cdef Ids out = Ids(NULL, 0, 0)
        cdef const DoubleArray* trie = &self.trie.array
        cdef uint32_t state = trie.start_root, symbol
        cdef Text view = view_text(word)
        cdef Py_ssize_t i
        cdef int32_t* ids
        if view.n_chars == 0:
            return []
        if view.n_chars > self.max_word_chars:
            return [self.unk_id]
        try:
            if not reserve_ids(&out, view.n_chars):
                raise MemoryError
            ids = out.data
            for i in range(view.n_chars):
                symbol = symbol_of(
                    &self.alphabet.table,
                    PyUnicode_READ(view.char_size, <void*>view.chars, i),
                )
                state = step(trie, state, symbol, &ids)
                if state == NO_STATE:
                    break
            if end_word(trie, state, &ids) == NO_STATE:
                return [self.unk_id]
            out.n = ids - out.data
            return list_of(&out)
        finally:
            PyMem_RawFree(out.data)


@final
cdef class Encoder:
    """Encodes str by one tokenizer's tables.

    Parameters
    ----------
    table : CharTable
    trie : DoubleTrie
    specials : DoubleTrie
    special_alphabet : Alphabet
        The special tokens, and their characters.
    unk_id : int
    max_word_chars : int
        Longer words, counted after normalization, become one unk_id.
    repair : callable
        (str, row or None) -> str without surrogates, or an exception.
    split_specials : callable
        str -> iterator of str and int: the text between special tokens, and their ids.
    encode_reordered : callable
        str -> list of int: the ids of one word in which marks may swap places.

    Thread-safety: no method changes the object.
    """

    cdef CharTable table
    cdef DoubleTrie trie
    cdef DoubleTrie specials
    cdef Alphabet special_alphabet
    cdef Tables tables
    cdef object repair
    cdef object split_specials
    cdef object encode_reordered

    def __cinit__(
        self, CharTable table not None, DoubleTrie trie not None,
        DoubleTrie specials not None, Alphabet special_alphabet not None, *,
        int32_t unk_id, Py_ssize_t max_word_chars, object repair, object split_specials,
        object encode_reordered,
    ):
        self.table = table
        self.trie = trie
        self.specials = specials
        self.special_alphabet = special_alphabet
        self.tables.entries = table.table
        self.tables.runs = table.runs
        self.tables.trie = &trie.array
        self.tables.specials = &specials.array
        self.tables.special_symbols = &special_alphabet.table
        self.tables.unk_id = unk_id
        self.tables.max_word_chars = max_word_chars
        self.repair = repair
        self.split_specials = split_specials
        self.encode_reordered = encode_reordered

    def encode(self, text, tuple before, tuple after):
        """Return the ids of one text between the ids `before` and `after`, as a list."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        cdef Ids out = Ids(NULL, 0, 0)
        try:
            append_iterable(&out, before)
            self._append_text(text, None, &out)
            append_iterable(&out, after)
            return list_of(&out)
        finally:
            PyMem_RawFree(out.data)

    def encode_batch(self, list texts not None, tuple before, tuple after):
        """Encode many texts.

        Parameters
        ----------
        texts : list of str
            Not changed by anybody while this runs.
        before, after : tuple of int
            Ids put around each text.

        Returns
        -------
        ids : OwnedBuffer of int32, shape (n_tokens,)
        row_splits : OwnedBuffer of int64, shape (n_texts + 1,)
        """
        cdef Py_ssize_t n_rows = len(texts), row = 0, chunk_stop
        cdef OwnedBuffer splits_buffer = OwnedBuffer.zeroed(
            (n_rows + 1) * <Py_ssize_t>sizeof(int64_t)
        )
        cdef int64_t* splits = <int64_t*>splits_buffer.data
        cdef Ids out = Ids(NULL, 0, 0)
        cdef Ids head = Ids(NULL, 0, 0)
        cdef Ids tail = Ids(NULL, 0, 0)
        cdef Text* chunk = <Text*>PyMem_RawMalloc(
            min(n_rows + 1, CHUNK_ROWS) * sizeof(Text)
        )
        cdef Py_ssize_t first
        cdef Status status
        try:
            if chunk == NULL:
                raise MemoryError
            append_iterable(&head, before)
            append_iterable(&tail, after)
            while row < n_rows:
                first = row
                chunk_stop = describe_texts(texts, row, chunk)
                while row < chunk_stop:
                    with nogil:
                        status = encode_rows(
                            &self.tables, chunk - first, &row, chunk_stop,
                            &head, &tail, &out, splits,
                        )
                    if status == NO_MEMORY:
                        raise MemoryError
                    if status != DONE:  # this row needs Python
                        append_all(&out, &head)
                        self._append_text(texts[row], row, &out)
                        append_all(&out, &tail)
                        splits[row + 1] = out.n
                        row += 1
            return OwnedBuffer.take_ids(&out), splits_buffer
        finally:
            PyMem_RawFree(chunk)
            PyMem_RawFree(head.data)
            PyMem_RawFree(tail.data)
            PyMem_RawFree(out.data)

    cdef int _append_text(self, text, row, Ids* out) except -1:
        """Append the ids of a whole text, special tokens included."""
        cdef Py_ssize_t start = out.n
        cdef Tables plain
        cdef Status status = self._append_stretch(text, &self.tables, out)
        if status == NEEDS_REPAIR:
            out.n = start
            text = self.repair(text, row)
            status = self._append_stretch(text, &self.tables, out)
        if status == NEEDS_SPLIT:
            out.n = start
            plain = self.tables
            plain.specials = NULL
            # Repaired before it is split: a special token may hold a pair of surrogates.
            for part in self.split_specials(self.repair(text, row)):
                if isinstance(part, str):
                    self._append_stretch(part, &plain, out)
                else:
                    append_iterable(out, (part,))
        return 0

    cdef Status _append_stretch(
        self, text, const Tables* tables, Ids* out
    ) except *:
        """Append the ids of text, unless NEEDS_SPLIT or NEEDS_REPAIR is returned."""
        cdef Text view = view_text(text)
        cdef Cursor cursor
        cdef Status status
        open_text(&view, &cursor)
        while True:
            if cursor.stop - cursor.at < GIL_WORTHY_CHARS:
                status = encode_chars(tables, &cursor, out)
            else:
                with nogil:
                    status = encode_chars(tables, &cursor, out)
            if status == NO_MEMORY:
                raise MemoryError
            if status != NEEDS_NORMALIZER:
                return status
            append_iterable(
                out, self.encode_reordered(text[cursor.word_start:cursor.at])
            )


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    const Ids* head, const Ids* tail, Ids* out, int64_t* splits,
) noexcept nogil:
    """Encode texts[row:stop], as far as that goes without Python.

    Ensures   row is moved behind the last finished row; without DONE, the row it then
              stands on is the one that needs Python, and nothing of it is in `out`
    """
    cdef Cursor cursor
    cdef Py_ssize_t start
    cdef Status status
    while row[0] < stop:
        start = out.n
        if row[0] + PREFETCH_ROWS < stop:
            prefetch_text(&texts[row[0] + PREFETCH_ROWS])
        if head.n and not append_ids(out, head.data, head.n):
            return NO_MEMORY
        open_text(&texts[row[0]], &cursor)
        status = encode_chars(tables, &cursor, out)
        if status == DONE and tail.n and not append_ids(out, tail.data, tail.n):
            status = NO_MEMORY
        if status != DONE:
            out.n = start
            return status
        row[0] += 1
        splits[row[0]] = out.n
    return DONE


cdef inline void prefetch_text(const Text* text) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(PREFETCH_LINES):
        prefetch(<const char*>text.chars + CACHE_LINE * i)


cdef Py_ssize_t describe_texts(
    list texts, Py_ssize_t start, Text* chunk
) except -1:
    """Fill `chunk` with views of texts[start:], until it is worth a run; return where."""
    cdef Py_ssize_t row, n_chars = 0
    cdef Py_ssize_t stop = min(<Py_ssize_t>len(texts), start + CHUNK_ROWS)
    for row in range(start, stop):
        if row + PREFETCH_ROWS < stop:
            prefetch(<const void*>PyList_GET_ITEM(texts, row + PREFETCH_ROWS))
        text = texts[row]
        if not isinstance(text, str):
            raise TypeError(
                f"texts[{row}]: expected a str, got {type(text).__name__}"
            )
        chunk[row - start] = view_text(text)
        n_chars += chunk[row - start].n_chars
        if n_chars >= CHUNK_CHARS:
            return row + 1
    return stop


cdef inline Text view_text(object text) noexcept:
    """Requires text is a str, or of a subclass (numpy.str_ is one)."""
    return Text(
        PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), <int>PyUnicode_KIND(text)
    )


cdef inline void open_text(const Text* text, Cursor* cursor) noexcept nogil:
    cursor.chars = text.chars
    cursor.char_size = text.char_size
    cursor.at = 0
    cursor.stop = text.n_chars
    cursor.word_start = 0


cdef int append_all(Ids* out, const Ids* more) except -1:
    if not append_ids(out, more.data, more.n):
        raise MemoryError
    return 0


cdef int append_iterable(Ids* out, ids) except -1:
    cdef int32_t token_id
    for token_id in ids:
        if not append_id(out, token_id):
            raise MemoryError
    return 0


cdef list list_of(const Ids* ids):
    cdef Py_ssize_t i
    return [ids.data[i] for i in range(ids.n)]
