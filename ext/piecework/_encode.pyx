"""Encodes Python strings: one text to a list, many to flat buffers.

Stands between the tokenizer and the inner loops: it looks into the str objects, has them read and
walked without the GIL, about a million characters at a time, and calls back into Python for the
rare texts that hold a special token or marks that may swap places. It holds no state that a call
changes, so one `Encoder` serves any number of threads.
"""

from cpython.list cimport PyList_GET_ITEM
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport final
from libc.string cimport memset

from piecework._alphabet cimport Alphabet, symbol_of
from piecework._buffers cimport Ids, OwnedBuffer
from piecework._byte_table cimport ByteTable, fill_byte_table
from piecework._char_table cimport CharTable
from piecework._hints cimport prefetch
from piecework._items cimport (
    PART_ITEMS, SYMBOL_SHIFT, Items, append_item, clear_items, free_items, literal, reserve_items,
)
from piecework._rows cimport encode_rows
from piecework._scan cimport Cursor, Tables, Text, open_text
from piecework._stream cimport make_room, scan_text
from piecework._trie cimport DoubleArray, DoubleTrie, max_id
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
from piecework._walk cimport walk_items
from piecework._window cimport Workspace, free_workspace, open_window


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


cdef enum:
    # How much text is worth letting other threads run for. Releasing and taking the GIL
    # costs 0.1 us, and up to a switch interval (5 ms) where another thread wants it.
    GIL_WORTHY_CHARS = 1 << 14
    CHUNK_ROWS = 1 << 12
    CHUNK_CHARS = 1 << 20
    PREFETCH_OBJECTS = 32  # rows ahead, as a str lies anywhere in memory


@final
cdef class WordMatcher:
    """Matches words as they are, without any normalization.

    Parameters
    ----------
    alphabet : Alphabet
    trie : DoubleTrie
    max_word_chars : int
    """

    cdef Alphabet alphabet
    cdef DoubleTrie trie
    cdef Py_ssize_t max_word_chars

    def __cinit__(
        self, Alphabet alphabet not None, DoubleTrie trie not None,
        Py_ssize_t max_word_chars,
    ):
        self.alphabet = alphabet
        self.trie = trie
        self.max_word_chars = max_word_chars

    def match(self, word):
        """Return the ids of the pieces of one word, as a list of int."""
        cdef Ids out = Ids(NULL, 0, 0)
        cdef Items items
        cdef const DoubleArray* trie = &self.trie.array
        cdef uint32_t mark = trie.word_start
        cdef Text view = view_text(word)
        cdef Py_ssize_t i
        if view.n_chars > self.max_word_chars:
            return [trie.unk_id]
        memset(&items, 0, sizeof(Items))
        try:
            if not reserve_items(&items, view.n_chars):
                raise MemoryError
            for i in range(view.n_chars):
                append_item(&items, mark | (symbol_of(
                    &self.alphabet.table,
                    PyUnicode_READ(view.char_size, <void*>view.chars, i),
                ) << SYMBOL_SHIFT))
                mark = 0
            if not walk_items(trie, &items, &out):
                raise MemoryError
            return list_of(&out)
        finally:
            free_items(&items)
            PyMem_RawFree(out.data)


@final
cdef class OwnedWorkspace:
    """A workspace that lives as long as something refers to it."""

    cdef Workspace data

    def __dealloc__(self):
        free_workspace(&self.data)


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
    max_word_chars : int
        Longer words, counted after normalization, become one [UNK].
    repair : callable
        (str, row or None) -> str without surrogates, or an exception.
    split_specials : callable
        str -> iterator of str and int: the text between special tokens, and their ids.
    encode_reordered : callable
        str -> list of int: the ids of one word in which marks may swap places.

    Thread-safety: a call changes nothing but a workspace that it has for itself.
    """

    cdef CharTable table
    cdef DoubleTrie trie
    cdef DoubleTrie specials
    cdef Alphabet special_alphabet
    cdef ByteTable bytes
    cdef Tables tables
    cdef Py_ssize_t memo_bytes
    cdef object repair
    cdef object split_specials
    cdef object encode_reordered
    cdef list idle  # workspaces that no call is using

    def __cinit__(
        self, CharTable table not None, DoubleTrie trie not None,
        DoubleTrie specials not None, Alphabet special_alphabet not None, *,
        Py_ssize_t max_word_chars, object repair, object split_specials,
        object encode_reordered, Py_ssize_t memo_bytes=1 << 22,
    ):
        self.table = table
        self.trie = trie
        self.specials = specials
        self.special_alphabet = special_alphabet
        self.tables.entries = table.table
        self.tables.runs = table.runs
        self.tables.longest_run = table.longest_run
        fill_byte_table(&self.bytes, table.table)
        self.tables.bytes = &self.bytes
        self.tables.trie = &trie.array
        self.tables.short_ids = max_id(&trie.array) < 1 << 16
        self.tables.specials = &specials.array
        self.tables.special_symbols = &special_alphabet.table
        self.tables.max_word_chars = max_word_chars
        self.memo_bytes = memo_bytes if self.bytes.usable else 0
        self.repair = repair
        self.split_specials = split_specials
        self.encode_reordered = encode_reordered
        self.idle = []

    def encode(self, text, tuple before, tuple after):
        """Return the ids of one text between the ids `before` and `after`, as a list."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        cdef Ids out = Ids(NULL, 0, 0)
        cdef OwnedWorkspace workspace = self._take_workspace()
        try:
            self._append_row(text, None, before, after, &workspace.data, &out)
            return list_of(&out)
        finally:
            self.idle.append(workspace)
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
        cdef Items head, tail
        cdef OwnedWorkspace workspace = self._take_workspace()
        cdef Text* chunk = <Text*>PyMem_RawMalloc(
            min(n_rows + 1, CHUNK_ROWS) * sizeof(Text)
        )
        cdef Py_ssize_t first
        cdef Status status
        memset(&head, 0, sizeof(Items))
        memset(&tail, 0, sizeof(Items))
        try:
            if chunk == NULL or not open_window(
                &workspace.data, self.memo_bytes, 1 << 20
            ):
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
                            &head, &tail, &workspace.data, &out, splits,
                        )
                    if status == NO_MEMORY:
                        raise MemoryError
                    if status != DONE:  # this row needs Python
                        self._append_row(
                            texts[row], row, before, after, &workspace.data, &out
                        )
                        splits[row + 1] = out.n
                        row += 1
            return OwnedBuffer.take_ids(&out), splits_buffer
        finally:
            self.idle.append(workspace)
            PyMem_RawFree(chunk)
            free_items(&head)
            free_items(&tail)
            PyMem_RawFree(out.data)

    cdef OwnedWorkspace _take_workspace(self):
        """Return a workspace that nobody else has, its items empty."""
        cdef OwnedWorkspace workspace
        try:
            workspace = self.idle.pop()
        except IndexError:
            return OwnedWorkspace.__new__(OwnedWorkspace)
        clear_items(&workspace.data.items)
        return workspace

    cdef int _append_row(
        self, text, row, tuple before, tuple after, Workspace* workspace, Ids* out
    ) except -1:
        """Append the ids of a whole text, special tokens included.

        Requires  the workspace's items are empty
        Ensures   they are empty
        """
        cdef Items* items = &workspace.items
        cdef Py_ssize_t start = out.n
        cdef Tables plain
        cdef Status status
        cdef bint walked
        append_iterable(items, before)
        status = self._scan(text, &self.tables, items, out)
        if status == NEEDS_REPAIR:
            text = self.repair(text, row)
            clear_items(items)
            out.n = start
            append_iterable(items, before)
            status = self._scan(text, &self.tables, items, out)
        if status == NEEDS_SPLIT:
            clear_items(items)
            out.n = start
            append_iterable(items, before)
            plain = self.tables
            plain.specials = NULL
            # Repaired before it is split: a special token may hold a pair of surrogates.
            for part in self.split_specials(self.repair(text, row)):
                if isinstance(part, str):
                    self._scan(part, &plain, items, out)
                else:
                    append_iterable(items, (part,))
                    if not make_room(&plain, items, PART_ITEMS, out):
                        raise MemoryError
        append_iterable(items, after)
        if items.n < GIL_WORTHY_CHARS:
            walked = walk_items(self.tables.trie, items, out)
        else:
            with nogil:
                walked = walk_items(self.tables.trie, items, out)
        if not walked:
            raise MemoryError
        return 0

    cdef Status _scan(
        self, text, const Tables* tables, Items* items, Ids* out
    ) except *:
        """Append the items of a text, and walk whenever there are enough of them.

        Returns DONE; or NEEDS_SPLIT, NEEDS_REPAIR, and what was appended is of no use.
        """
        cdef Text view = view_text(text)
        cdef Cursor cursor
        cdef Status status
        open_text(&view, &cursor)
        while True:
            if cursor.stop - cursor.at < GIL_WORTHY_CHARS:
                status = scan_text(tables, &cursor, items, out)
            else:
                with nogil:
                    status = scan_text(tables, &cursor, items, out)
            if status == NO_MEMORY:
                raise MemoryError
            if status != NEEDS_NORMALIZER:
                return status
            append_iterable(
                items, self.encode_reordered(text[cursor.word_start:cursor.at])
            )
            if not make_room(tables, items, PART_ITEMS, out):
                raise MemoryError


cdef Py_ssize_t describe_texts(
    list texts, Py_ssize_t start, Text* chunk
) except -1:
    """Fill `chunk` with views of texts[start:], until it is worth a run; return where."""
    cdef Py_ssize_t row, n_chars = 0
    cdef Py_ssize_t stop = min(<Py_ssize_t>len(texts), start + CHUNK_ROWS)
    for row in range(start, stop):
        if row + PREFETCH_OBJECTS < stop:
            prefetch(<const void*>PyList_GET_ITEM(texts, row + PREFETCH_OBJECTS))
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


cdef int append_iterable(Items* items, ids) except -1:
    cdef int32_t token_id
    for token_id in ids:
        if not append_item(items, literal(token_id)):
            raise MemoryError
    return 0


cdef list list_of(const Ids* ids):
    cdef Py_ssize_t i
    return [ids.data[i] for i in range(ids.n)]
