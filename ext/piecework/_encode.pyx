"""Encodes one Python string to a list, with all that this may need of Python.

Stands between the tokenizer and the inner loops: it looks into the str, has it read and walked, and
calls back into Python for the rare texts that hold marks that may swap places, a surrogate, or an
added token that the kernel does not split out by itself. Many texts are the job of `_job`, which
comes here for those rare ones. No state that a call changes is shared, so one `Encoder` serves any
number of threads.
"""

from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.mem cimport PyMem_RawFree
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ
from cython cimport critical_section, final
from libc.string cimport memset

from piecework._added cimport AddedTokens
from piecework._alphabet cimport Alphabet, symbol_of
from piecework._buffers cimport Ids
from piecework._byte_table cimport fill_byte_table
from piecework._char_table cimport CharTable
from piecework._chunks cimport Room
from piecework._items cimport (
    PART_ITEMS, Items, append_item, clear_items, free_items, literal, reserve_items,
)
from piecework._rows cimport encode_rows
from piecework._scan cimport FOR_PYTHON, Cursor, Tables, Text, open_text
from piecework._stream cimport make_room, scan_text
from piecework._trie cimport SYMBOL_SHIFT, DoubleArray, DoubleTrie, max_id
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
from piecework._window cimport USUAL_MEMO_BYTES, Lengths, Workspace, open_window


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


SPLIT_IN_PYTHON = FOR_PYTHON  # as the id of a special token


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
            return list_of((), &out, ())
        finally:
            free_items(&items)
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
        The special tokens that are found by their first character, and their characters. One with
        the id `SPLIT_IN_PYTHON` is not split out here.
    added : AddedTokens or None
        All other added tokens, if there are any.
    max_word_chars : int
        Longer words, counted after normalization, become one [UNK].
    repair : callable
        (str, row or None) -> str without surrogates, or an exception.
    split_text : callable
        str -> iterator of str and int: the text between added tokens, and their ids.
    encode_reordered : callable
        str -> list of int: the ids of one word in which marks may swap places.
    encode_row : callable
        (str, row or None) -> (ids, starts, stops, words), four lists of int with a place for each
        token: all of a text, for what the kernel has no way of its own. Or an exception.
    make_lengths : callable
        () -> TokenLengths, or None if ids don't tell how many characters a piece has.
    clipping : (margin, at_end, at_isolated)
        A piecework.clipping.Clipping.

    Thread-safety: a call changes nothing but a room that it has for itself.
    """

    def __cinit__(
        self, CharTable table not None, DoubleTrie trie not None,
        DoubleTrie specials not None, Alphabet special_alphabet not None, *,
        AddedTokens added, Py_ssize_t max_word_chars,
        object repair, object split_text, object encode_reordered, object encode_row,
        object make_lengths, clipping,
    ):
        self.table = table
        self.trie = trie
        self.specials = specials
        self.special_alphabet = special_alphabet
        self.added = added
        self.tables.entries = table.table
        self.tables.runs = table.runs
        self.tables.longest_run = table.longest_run
        fill_byte_table(&self.bytes, table.table)
        self.tables.bytes = &self.bytes
        self.tables.trie = &trie.array
        # Special tokens stand in words, too.
        self.tables.short_ids = max(
            max_id(&trie.array, FOR_PYTHON), max_id(&specials.array, FOR_PYTHON)
        ) < 1 << 16
        self.tables.specials = &specials.array
        self.tables.special_symbols = &special_alphabet.table
        self.tables.added = &added.search if added is not None else NULL
        self.tables.max_word_chars = max_word_chars
        self.repair = repair
        self.split_text = split_text
        self.encode_reordered = encode_reordered
        self.encode_row = encode_row
        self.make_lengths = make_lengths
        self.clip_margin, self.clips_end, self.clips_at_isolated = clipping
        self.idle = []

    def encode(self, text, tuple before=(), tuple after=()):
        """Return the ids of one text between the ids `before` and `after`, as a list."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        cdef Room room = self.take_room()
        try:
            if self.encode_alone(text, room) == DONE:
                return list_of(before, &room.chunk.ids, after)
            room.chunk.ids.n = 0
            self.append_row(text, None, before, after, &room.workspace, &room.chunk.ids)
            return list_of((), &room.chunk.ids, ())
        finally:
            self.give_back(room)

    cdef Status encode_alone(self, text, Room room) except *:
        """Put the ids of a text into the room, as far as that goes without Python."""
        cdef Text view = view_text(text)
        cdef Ids nothing = Ids(NULL, 0, 0)
        cdef int64_t[2] splits
        cdef Py_ssize_t row = 0
        cdef Status status
        splits[0] = 0
        if not open_window(
            &room.workspace, USUAL_MEMO_BYTES if self.bytes.usable else 0, view.n_chars
        ):
            raise MemoryError
        if view.n_chars < GIL_WORTHY_CHARS:
            status = encode_rows(
                &self.tables, &view, &row, 1, &nothing, &nothing, &room.workspace,
                &room.chunk.ids, splits, NULL,
            )
        else:
            with nogil:
                status = encode_rows(
                    &self.tables, &view, &row, 1, &nothing, &nothing, &room.workspace,
                    &room.chunk.ids, splits, NULL,
                )
        if status == NO_MEMORY:
            raise MemoryError
        return status

    cdef const Lengths* token_lengths(self) except? NULL:
        """Return what places are found by; NULL: only `encode_row` finds them."""
        if self.lengths is None and self.make_lengths is not None:
            self.lengths = self.make_lengths()
            if self.lengths is None:
                self.make_lengths = None
        return NULL if self.lengths is None else &self.lengths.lengths

    cdef Room take_room(self):
        """Return a room that nobody else has, until `give_back`."""
        cdef Room room = None
        # Asked first: an IndexError that has no memory for its traceback crashes Cython's code.
        with critical_section(self.idle):
            if self.idle:
                room = self.idle.pop()
        if room is None:
            return Room.__new__(Room)
        clear_items(&room.workspace.items)
        room.chunk.ids.n = 0
        return room

    cdef int give_back(self, Room room) except -1:
        room.trim()
        self.idle.append(room)
        return 0

    cdef int append_row(
        self, text, row, tuple before, tuple after, Workspace* workspace, Ids* out
    ) except -1:
        """Append the ids of a whole text, special tokens included.

        Requires  the workspace's items are empty
        Ensures   they are empty
        """
        cdef Items* items = &workspace.items
        cdef bint walked
        append_iterable(items, before)
        self.append_text(text, row, before, items, out)
        append_iterable(items, after)
        if items.n < GIL_WORTHY_CHARS:
            walked = walk_items(self.tables.trie, items, out)
        else:
            with nogil:
                walked = walk_items(self.tables.trie, items, out)
        if not walked:
            raise MemoryError
        return 0

    cdef int append_text(
        self, text, row, tuple before, Items* items, Ids* out
    ) except -1:
        """Append the items of a text in which added tokens stand where their contents do.

        Requires  those of `before` have been appended, and nothing else
        """
        cdef Py_ssize_t start = out.n
        cdef Tables plain
        # Who would have to look for the others is not asked here.
        cdef Status status = NEEDS_SPLIT
        if self.added is None:
            status = self.scan(text, &self.tables, items, out)
        if status == NEEDS_REPAIR:
            text = self.repair(text, row)
            clear_items(items)
            out.n = start
            append_iterable(items, before)
            status = self.scan(text, &self.tables, items, out)
        if status == NEEDS_SPLIT:
            clear_items(items)
            out.n = start
            append_iterable(items, before)
            plain = self.tables
            plain.specials = NULL
            # Repaired before it is split: a special token may hold a pair of surrogates.
            for part in self.split_text(self.repair(text, row)):
                if isinstance(part, str):
                    self.scan(part, &plain, items, out)
                else:
                    self.append_literals((part,), items, out)
        return 0

    cdef int append_literals(self, ids, Items* items, Ids* out) except -1:
        """Append ids as they are, and walk whenever there are enough items."""
        for token_id in ids:
            append_iterable(items, (token_id,))
            if not make_room(&self.tables, items, PART_ITEMS, out):
                raise MemoryError
        return 0

    cdef Status scan(
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


cdef list list_of(tuple before, const Ids* ids, tuple after):
    cdef Py_ssize_t i
    cdef object number
    cdef list numbers = PyList_New(ids.n)
    for i in range(ids.n):
        number = ids.data[i]
        Py_INCREF(number)  # the list takes this one over
        PyList_SET_ITEM(numbers, i, number)
    return [*before, *numbers, *after] if before or after else numbers
