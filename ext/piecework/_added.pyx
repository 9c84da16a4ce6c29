"""Says which texts may hold added tokens, so that all others can be encoded as if there were none.

Thousands of added tokens, of which most have to be looked for in normalized text, would cost more
than the encoding itself. But a text that holds one also holds each of its words. So the search has
one word of each content, the longest, and whoever scans a word that the memo does not know asks
for it: with `^` and `$` for its borders, the content "New York" is found by `^york`, as "york" must
begin a word, and "cat" by `cat`, anywhere in a word. The memo never holds a word that was found, so
all those that it holds are known to be clean, and nearly all words of a text cost nothing.

Where a word was found, and beside it what stands beside it in one of the contents, the text is
looked at once more, for the whole contents; and if one stands there, it is split in Python. Raw
contents take part in the search for words, too: text that holds one, when normalized, holds its
normalized form.
"""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND
from cython cimport final
from libc.stdint cimport SIZE_MAX, UINT64_MAX
from libc.string cimport memset

from piecework._alphabet cimport symbol_of
from piecework._automaton cimport (
    Automaton, Context, Sequences, bit_of, ends_sequence, free_automaton, holds_any, next_state,
)
from piecework._char_table cimport DROPPED, ENDS_WORD, RARE, CharTable
from piecework._items cimport (
    Items, clear_items, free_items, is_suspect, reserve_items, stop_watching, watch,
)
from piecework._scan cimport Cursor, char_at, kind_at, open_text, scan_words
from piecework._trie cimport ROOT, SYMBOL_SHIFT, DoubleTrie
from piecework._types cimport DONE, NO_MEMORY, Status, uint8_t, uint32_t


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


@final
cdef class AddedTokens:
    """The added tokens that texts are searched for.

    Parameters
    ----------
    table : CharTable
    trie : DoubleTrie
    alphabet : Alphabet
        Those of the encoder. Each character of a normalized content is in the alphabet, and a token
        of the trie if it is isolated.
    letters : bytes
        As for DoubleTrie.
    normalized : list of str
        The contents of the tokens to be looked for in normalized text.
    raw : list of str
        The contents of others. Each holds a character that isn't white space and doesn't vanish.
    """

    def __cinit__(
        self, CharTable table not None, DoubleTrie trie not None, Alphabet alphabet not None,
        bytes letters not None, list normalized not None, list raw not None,
    ):
        cdef Tables tables
        cdef Sequences words = Sequences(), contents = Sequences()
        cdef uint32_t border = trie.array.unknown >> SYMBOL_SHIFT
        memset(&tables, 0, sizeof(Tables))
        tables.entries = table.table
        tables.runs = table.runs
        tables.longest_run = table.longest_run
        tables.trie = &trie.array
        tables.max_word_chars = <Py_ssize_t>(SIZE_MAX >> 2)
        if len(letters) != alphabet.n_symbols + 1:
            raise ValueError(f"letters: expected {alphabet.n_symbols + 1}, got {len(letters)}")
        self.search.takes_all = add_contents(&tables, letters, normalized, words, contents)
        add_contents(&tables, letters, raw, words, None)
        build_automaton(words, border, trie, &self.search.words)
        build_automaton(contents, border, trie, &self.search.normalized)
        self.raw_alphabet = Alphabet(raw)
        self.search.raw_symbols = &self.raw_alphabet.table
        spell_raw(raw, self.raw_alphabet).build(
            self.raw_alphabet.n_symbols, &self.search.raw
        )

    def __dealloc__(self):
        free_automaton(&self.search.words)
        free_automaton(&self.search.normalized)
        free_automaton(&self.search.raw)


cdef int build_automaton(
    Sequences sequences, uint32_t border, DoubleTrie trie, Automaton* automaton
) except -1:
    sequences.build(border, automaton)
    automaton.border = trie.array.unknown
    automaton.word_start = trie.array.word_start
    if holds_any(automaton):
        automaton.opened = next_state(&automaton.array, ROOT, automaton.border)
    return 0


cdef Sequences spell_raw(list contents, Alphabet alphabet):
    cdef Sequences sequences = Sequences()
    cdef Items spelled
    cdef Text text
    cdef Py_ssize_t i
    memset(&spelled, 0, sizeof(Items))
    try:
        for content in contents:
            text = view_content(content)
            if not reserve_items(&spelled, text.n_chars):
                raise MemoryError
            for i in range(text.n_chars):
                spelled.data[i] = symbol_of(
                    &alphabet.table, char_at(text.chars, text.char_size, i)
                )
            sequences.add(spelled.data, text.n_chars, anywhere())
    finally:
        free_items(&spelled)
    return sequences


cdef int add_contents(
    const Tables* tables, const uint8_t* letters, list contents, Sequences words,
    Sequences whole,
) except -1:
    """Add a word of each content to `words`, and all of its words to `whole`.

    Returns whether there is a content of nothing but white space.
    """
    cdef Items items, spelled
    cdef Text text
    cdef Context context
    cdef Py_ssize_t n, start, stop
    cdef bint is_space = False
    cdef Status status
    memset(&items, 0, sizeof(Items))
    memset(&spelled, 0, sizeof(Items))
    try:
        for content in contents:
            text = view_content(content)
            clear_items(&items)
            status = scan_all(tables, &text, &items)
            if status == NO_MEMORY or not reserve_items(&spelled, 2 * items.n + 1):
                raise MemoryError
            if status != DONE:
                # No text holds a surrogate any more when it is searched; where marks may change
                # places, as they may in this content, the text is split in Python anyway.
                continue
            if items.n == 0:
                is_space = is_space or not is_dropped(tables, &text)
                continue
            n = spell_words(tables, &text, &items, spelled.data)
            if whole is not None:
                whole.add(spelled.data, n, anywhere())
            longest_word(
                spelled.data, n, tables.trie.unknown >> SYMBOL_SHIFT, letters, &start, &stop
            )
            context = anywhere()
            if start:
                context.before = bit_of(spelled.data[start - 1])
            if stop < n:
                context.after = bit_of(spelled.data[stop])
            words.add(spelled.data + start, stop - start, context)
    finally:
        free_items(&items)
        free_items(&spelled)
    return is_space


cdef inline Context anywhere() noexcept nogil:
    """Return the context of a sequence that may stand beside anything."""
    return Context(UINT64_MAX, UINT64_MAX)


cdef Text view_content(str content):
    return Text(
        PyUnicode_DATA(content), PyUnicode_GET_LENGTH(content), <int>PyUnicode_KIND(content)
    )


cdef Status scan_all(const Tables* tables, const Text* text, Items* items) noexcept nogil:
    cdef Cursor cursor
    cdef Status status = DONE
    open_text(text, &cursor)
    while cursor.at < cursor.stop and status == DONE:
        status = scan_words(tables, &cursor, items)
    return status


cdef Py_ssize_t spell_words(
    const Tables* tables, const Text* text, const Items* items, uint32_t* to
) noexcept nogil:
    """Write the symbols of a content's words, with borders; return how many they are.

    The outer borders are there only where the content itself shows that a word begins or ends.

    Requires  there is room for 2 * items.n + 1; items.n > 0
    """
    cdef uint32_t word_start = tables.trie.word_start
    cdef uint32_t border = tables.trie.unknown >> SYMBOL_SHIFT
    cdef Py_ssize_t n = 0, i
    for i in range(items.n):
        if items.data[i] & word_start and (i or shows_border(tables, text, 0, 1)):
            to[n] = border
            n += 1
        to[n] = (items.data[i] & ~word_start) >> SYMBOL_SHIFT
        n += 1
    if shows_border(tables, text, text.n_chars - 1, -1):
        to[n] = border
        n += 1
    return n


cdef bint shows_border(
    const Tables* tables, const Text* text, Py_ssize_t at, Py_ssize_t step
) noexcept nogil:
    """Say whether the first character from `at` on that does not vanish is no letter.

    Requires  there is one
    """
    cdef uint32_t kind
    while True:
        kind = kind_of(tables, text, at)
        if kind != DROPPED:
            return kind & ENDS_WORD
        at += step


cdef bint is_dropped(const Tables* tables, const Text* text) noexcept nogil:
    """Say whether nothing is left of a text."""
    cdef Py_ssize_t i
    for i in range(text.n_chars):
        if kind_of(tables, text, i) != DROPPED:
            return False
    return True


cdef uint32_t kind_of(const Tables* tables, const Text* text, Py_ssize_t at) noexcept nogil:
    cdef Cursor cursor
    open_text(text, &cursor)
    return kind_at(tables, &cursor, at) & ~<uint32_t>RARE


cdef void longest_word(
    const uint32_t* symbols, Py_ssize_t n, uint32_t border, const uint8_t* letters,
    Py_ssize_t* start, Py_ssize_t* stop,
) noexcept nogil:
    """Find the longest word, with the borders beside it.

    One that is isolated counts least, as most of these are punctuation, and frequent in texts.
    """
    cdef Py_ssize_t at = 0, i, end, first, length, longest = 0
    for i in range(1, n + 1):
        if i < n and symbols[i] != border:
            continue
        end = min(i + 1, n)
        first = at + (symbols[at] == border)
        length = 0  # behind the last border is no word
        if first < n:
            length = end - at if letters[symbols[first]] else 1
        if length > longest:
            longest = length
            start[0] = at
            stop[0] = end
        at = i


cdef bint holds_added(const Tables* tables, const Text* text, Items* items) noexcept nogil:
    """Say whether an added token of the search stands in a text.

    True also if that can't be told here. The stream is used, and left as it was; but nothing is
    watched any more.

    Requires  tables.added != NULL
    """
    cdef const Search* search = tables.added
    cdef Py_ssize_t n = items.n
    cdef Cursor cursor
    cdef Status status = DONE
    if holds_raw(search, text):
        return True
    if not holds_any(&search.normalized):
        return False
    open_text(text, &cursor)
    watch(items, &search.normalized)
    while cursor.at < cursor.stop and status == DONE and not is_suspect(items):
        status = scan_words(tables, &cursor, items)
        items.n = n
    stop_watching(items)
    return status != DONE or is_suspect(items)


cdef bint holds_raw(const Search* search, const Text* text) noexcept nogil:
    """Say whether the content of a token that is not normalized stands in a text."""
    cdef const Automaton* raw = &search.raw
    cdef uint32_t state = ROOT
    cdef Py_ssize_t i
    if not holds_any(raw):
        return False
    for i in range(text.n_chars):
        state = next_state(&raw.array, state, symbol_of(
            search.raw_symbols, char_at(text.chars, text.char_size, i)
        ) << SYMBOL_SHIFT)
        if ends_sequence(&raw.array, state):
            return True
    return False
