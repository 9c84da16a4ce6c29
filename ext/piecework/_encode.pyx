"""Encodes Python strings: one text to a list, many to flat buffers.

Stands between the tokenizer and the inner loop: it looks into the str objects, lets the inner loop
run without the GIL over about a mebibyte at a time, and calls back into Python for the rare texts
that hold a special token or marks that may swap places. It holds no state that a call changes, so
one `Encoder` serves any number of threads.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final

from piecework._alphabet cimport Alphabet
from piecework._buffers cimport Ids, OwnedBuffer, reserve_ids
from piecework._char_table cimport CharTable
from piecework._scan cimport (
    Cursor,
    Tables,
    Word,
    append_word,
    encode_utf8,
    free_word,
    init_word,
)
from piecework._trie cimport DoubleTrie, PrefixTrie
from piecework._types cimport (
    DONE,
    LONE_SURROGATE,
    NEEDS_NORMALIZER,
    NEEDS_SPLIT,
    NO_MEMORY,
    Status,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
)
from piecework._utf8 cimport BAD_SURROGATE, utf8_capacity, write_utf8


cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


cdef enum:
    # How much text is worth letting other threads run for. Releasing and taking the GIL
    # costs 0.1 us, and up to a switch interval (5 ms) where another thread wants it.
    GIL_WORTHY_CHARS = 1 << 14
    CHUNK_ROWS = 1 << 12
    CHUNK_CHARS = 1 << 20


# A text as the inner loop sees it. The str itself is kept alive by the caller.
cdef struct Text:
    const void* chars
    Py_ssize_t n_chars
    int kind  # bytes per character; 0: ASCII


# What one call works with and frees at its end.
cdef struct Workspace:
    Word word
    uint8_t* utf8
    Py_ssize_t utf8_cap


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
    cdef Tables tables

    def __cinit__(
        self, Alphabet alphabet not None, DoubleTrie trie not None, int32_t unk_id,
        Py_ssize_t max_word_chars,
    ):
        self.alphabet = alphabet
        self.trie = trie
        self.tables.trie = &trie.array
        self.tables.start_root = trie.start_root
        self.tables.continuation_root = trie.continuation_root
        self.tables.unk_id = unk_id
        self.tables.max_word_chars = max_word_chars

    def match(self, str word not None):
        """Return the ids of the pieces of one word, as a list of int."""
        cdef Py_ssize_t n = len(word), i
        cdef void* data = PyUnicode_DATA(word)
        cdef int kind = PyUnicode_KIND(word)
        cdef uint32_t* symbols = <uint32_t*>PyMem_RawMalloc((n + 1) * sizeof(uint32_t))
        cdef Ids out = Ids(NULL, 0, 0)
        try:
            if symbols == NULL:
                raise MemoryError
            for i in range(n):
                symbols[i] = self.alphabet.symbol_of(PyUnicode_READ(kind, data, i))
            if not append_word(&self.tables, symbols, n, &out):
                raise MemoryError
            return list_of(&out)
        finally:
            PyMem_RawFree(symbols)
            PyMem_RawFree(out.data)


@final
cdef class Encoder:
    """Encodes str by one tokenizer's tables.

    Parameters
    ----------
    table : CharTable
    trie : DoubleTrie
    specials : PrefixTrie
        The special tokens as UTF-8.
    unk_id : int
    max_word_chars : int
        Longer words, counted after normalization, become one unk_id.
    replace_surrogates : bool
        A lone surrogate is read as U+FFFD; else it is an error.
    split_specials : callable
        str -> list of str and int: the text between special tokens, and their ids.
    encode_reordered : callable
        str -> list of int: the ids of one word in which marks may swap places.
    refuse_surrogates : callable
        (str, row) -> raises the UnicodeEncodeError for the text's first lone surrogate.

    Thread-safety: no method changes the object.
    """

    cdef CharTable table
    cdef DoubleTrie trie
    cdef PrefixTrie specials
    cdef Tables tables
    cdef bint replace_surrogates
    cdef object split_specials
    cdef object encode_reordered
    cdef object refuse_surrogates

    def __cinit__(
        self, CharTable table not None, DoubleTrie trie not None,
        PrefixTrie specials not None, *, int32_t unk_id, Py_ssize_t max_word_chars,
        bint replace_surrogates, object split_specials, object encode_reordered,
        object refuse_surrogates,
    ):
        self.table = table
        self.trie = trie
        self.specials = specials
        self.tables.byte_entries = table.byte_entries
        self.tables.entries = table.entries
        self.tables.page_start = table.page_start
        self.tables.runs = table.runs
        self.tables.trie = &trie.array
        self.tables.start_root = trie.start_root
        self.tables.continuation_root = trie.continuation_root
        self.tables.specials = &specials.array
        self.tables.specials_root = specials.root
        self.tables.unk_id = unk_id
        self.tables.max_word_chars = max_word_chars
        self.replace_surrogates = replace_surrogates
        self.split_specials = split_specials
        self.encode_reordered = encode_reordered
        self.refuse_surrogates = refuse_surrogates

    def encode(self, text, tuple before, tuple after):
        """Return the ids of one text between the ids `before` and `after`, as a list."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        cdef Ids out = Ids(NULL, 0, 0)
        cdef Workspace work
        init_workspace(&work)
        try:
            append_ids(&out, before)
            self._append_text(text, None, &work, &out)
            append_ids(&out, after)
            return list_of(&out)
        finally:
            free_workspace(&work)
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
        cdef Workspace work
        cdef Text* chunk = <Text*>PyMem_RawMalloc(
            min(n_rows + 1, CHUNK_ROWS) * sizeof(Text)
        )
        cdef Py_ssize_t first
        cdef Status status
        init_workspace(&work)
        try:
            if chunk == NULL:
                raise MemoryError
            append_ids(&head, before)
            append_ids(&tail, after)
            while row < n_rows:
                first = row
                chunk_stop = describe_texts(texts, row, chunk)
                while row < chunk_stop:
                    with nogil:
                        status = encode_rows(
                            &self.tables, chunk - first, &row, chunk_stop,
                            self.replace_surrogates, &head, &tail, &work, &out, splits,
                        )
                    if status == NO_MEMORY:
                        raise MemoryError
                    if status != DONE:  # this row needs Python
                        append_all(&out, &head)
                        self._append_text(texts[row], row, &work, &out)
                        append_all(&out, &tail)
                        splits[row + 1] = out.n
                        row += 1
            return OwnedBuffer.take_ids(&out), splits_buffer
        finally:
            PyMem_RawFree(chunk)
            PyMem_RawFree(head.data)
            PyMem_RawFree(tail.data)
            PyMem_RawFree(out.data)
            free_workspace(&work)

    cdef int _append_text(
        self, object text, object row, Workspace* work, Ids* out
    ) except -1:
        """Append the ids of a whole text, special tokens included."""
        cdef Py_ssize_t start = out.n
        if self._append_stretch(text, row, &self.tables, work, out):
            return 0
        out.n = start
        cdef Tables plain = self.tables
        plain.specials = NULL
        for part in self.split_specials(text):
            if isinstance(part, str):
                self._append_stretch(part, row, &plain, work, out)
            else:
                append_id(out, part)
        return 0

    cdef bint _append_stretch(
        self, object text, object row, const Tables* tables, Workspace* work, Ids* out
    ) except? False:
        """Append the ids of text; False if a special token stands in it."""
        cdef Text view = view_text(text)
        cdef Cursor cursor
        cdef Status status = open_text(&view, self.replace_surrogates, work, &cursor)
        while True:
            if status == DONE:
                if cursor.stop - cursor.at < GIL_WORTHY_CHARS:
                    status = encode_utf8(tables, &cursor, &work.word, out)
                else:
                    with nogil:
                        status = encode_utf8(tables, &cursor, &work.word, out)
                if status == DONE:
                    return True
            if status == NEEDS_SPLIT:
                return False
            if status == LONE_SURROGATE:
                self.refuse_surrogates(text, row)
            if status == NEEDS_NORMALIZER:
                word = cursor.text[cursor.word_start:cursor.at].decode("utf-8")
                for token_id in self.encode_reordered(word):
                    append_id(out, token_id)
                status = DONE
            else:
                raise MemoryError


cdef Status encode_rows(
    const Tables* tables, const Text* texts, Py_ssize_t* row, Py_ssize_t stop,
    bint replace_surrogates, const Ids* head, const Ids* tail, Workspace* work, Ids* out,
    int64_t* splits,
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
        if not copy_ids(out, head):
            return NO_MEMORY
        status = open_text(&texts[row[0]], replace_surrogates, work, &cursor)
        if status == DONE:
            status = encode_utf8(tables, &cursor, &work.word, out)
        if status == DONE and not copy_ids(out, tail):
            status = NO_MEMORY
        if status != DONE:
            out.n = start
            return status
        row[0] += 1
        splits[row[0]] = out.n
    return DONE


cdef Py_ssize_t describe_texts(
    list texts, Py_ssize_t start, Text* chunk
) except -1:
    """Fill `chunk` with views of texts[start:], until it is worth a run; return where."""
    cdef Py_ssize_t row, n_chars = 0
    cdef Py_ssize_t stop = min(<Py_ssize_t>len(texts), start + CHUNK_ROWS)
    for row in range(start, stop):
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
        PyUnicode_DATA(text),
        PyUnicode_GET_LENGTH(text),
        0 if PyUnicode_IS_ASCII(text) else <int>PyUnicode_KIND(text),
    )


cdef Status open_text(
    const Text* text, bint replace_surrogates, Workspace* work, Cursor* cursor
) noexcept nogil:
    """Point the cursor at the text's UTF-8: its own characters if they are ASCII."""
    cdef Py_ssize_t needed
    cdef void* data
    cursor.at = 0
    cursor.word_start = 0
    if text.kind == 0:
        cursor.text = <const uint8_t*>text.chars
        cursor.stop = text.n_chars
        return DONE
    needed = utf8_capacity(text.kind, text.n_chars)
    if needed > work.utf8_cap:
        data = PyMem_RawRealloc(work.utf8, needed)
        if data == NULL:
            return NO_MEMORY
        work.utf8 = <uint8_t*>data
        work.utf8_cap = needed
    cursor.text = work.utf8
    cursor.stop = write_utf8(
        text.chars, text.kind, text.n_chars, replace_surrogates, work.utf8
    )
    return LONE_SURROGATE if cursor.stop == BAD_SURROGATE else DONE


cdef void init_workspace(Workspace* work) noexcept nogil:
    init_word(&work.word)
    work.utf8 = NULL
    work.utf8_cap = 0


cdef void free_workspace(Workspace* work) noexcept nogil:
    free_word(&work.word)
    PyMem_RawFree(work.utf8)


cdef bint copy_ids(Ids* out, const Ids* more) noexcept nogil:
    """Append `more`; False without memory."""
    cdef Py_ssize_t i
    if not reserve_ids(out, more.n):
        return False
    for i in range(more.n):
        out.data[out.n + i] = more.data[i]
    out.n += more.n
    return True


cdef int append_all(Ids* out, const Ids* more) except -1:
    if not copy_ids(out, more):
        raise MemoryError
    return 0


cdef int append_id(Ids* out, int32_t token_id) except -1:
    if not reserve_ids(out, 1):
        raise MemoryError
    out.data[out.n] = token_id
    out.n += 1
    return 0


cdef int append_ids(Ids* out, tuple ids) except -1:
    for token_id in ids:
        append_id(out, token_id)
    return 0


cdef list list_of(const Ids* ids):
    cdef Py_ssize_t i
    return [ids.data[i] for i in range(ids.n)]
