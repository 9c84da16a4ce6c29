"""Rows that are encoded together: their words are looked up in the memo, or walked."""

from piecework._buffers cimport Ids
from piecework._items cimport Items
from piecework._memo cimport Memo, Result
from piecework._scan cimport Tables, Text
from piecework._types cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef enum:
    STAGE_BYTES = 8192
    MAX_SEGMENTS = 512
    USUAL_MEMO_BYTES = 1 << 22  # half as much costs a tenth of the speed on English
    # A memo costs as much as some thousand words to begin with, and its memory.
    MEMO_WORTHY_CHARS = 1 << 14
    SHORT_IDS = 7  # that a Result holds
    WIDE_IDS = 3


# Whole words of one row, or all of it.
cdef struct Segment:
    const Text* text
    Py_ssize_t row
    Py_ssize_t at  # where it begins and ends in the text
    Py_ssize_t stop
    bint is_staged  # its characters are in the stage; if not, it is a row of the stream
    uint32_t start  # in the stage
    uint32_t first_token


# How well the memo knows the words that come, in characters.
cdef struct Acquaintance:
    Py_ssize_t n_asked  # since the last time it was judged
    Py_ssize_t n_missed
    Py_ssize_t n_passing  # to come that are not staged, as it would be of no use


# A token is here what the memo is asked about: a word, or a character that is isolated.
cdef struct Window:
    Segment segments[MAX_SEGMENTS]
    Py_ssize_t n_segments
    Py_ssize_t n_unstaged  # of these
    bint stages  # segments that can be bytes are staged, and the memo is asked
    uint8_t* stage  # the bytes of segments, with a space behind each
    Py_ssize_t n_staged  # bytes
    Py_ssize_t most_staged  # more is not to wait; grows behind a row that needed Python
    Acquaintance known
    Py_ssize_t n_tokens
    uint16_t* starts  # of the tokens, in the stage
    uint16_t* stops
    uint16_t* cuts  # how many bytes of a key lie behind each
    Result* results
    uint32_t* missed  # tokens that the memo does not hold
    Py_ssize_t n_missed
    uint32_t* odd  # tokens whose bytes don't tell what they are, ascending
    Py_ssize_t n_odd
    uint32_t* suspects  # missed tokens that may hold an added token, ascending
    Py_ssize_t n_suspects
    Py_ssize_t special_stop  # where the last special token that was found in the stage ends
    uint32_t* loose  # tokens that are odd or hold what vanishes, ascending, some more than once
    Py_ssize_t n_loose  # 0 if nobody asks where tokens stand
    uint32_t* longer  # tokens of more bytes than a key, ascending
    Py_ssize_t n_longer
    int64_t* row_stops  # of the rows of the stream: unstaged segments, then missed words


# The letters of some words, as far as their places are asked for: of each its place in the text,
# whether it begins a word, and whether all letters of that word are one token, whatever its length
# (see _offsets). Behind the last one stands one that begins a word.
cdef struct Letters:
    uint64_t* data
    Py_ssize_t n
    Py_ssize_t cap


# What one thread needs to encode with, and keeps from call to call. Zero-initialised is empty.
cdef struct Workspace:
    Items items
    Ids walked
    Memo memo
    Window window
    Letters letters
    Py_ssize_t n_chars  # that it has encoded


# What the places of a word's pieces are found by: how many characters each token has.
cdef struct Lengths:
    const uint16_t* of_id  # as written; (any id + 1,)
    Py_ssize_t n_prefix  # characters that a piece inside a word begins with
    int32_t unk_id


# Where the tokens of the result stand, as far as they have been placed.
cdef struct Places:
    const Lengths* lengths
    Ids spans  # two numbers for each token: where it starts and stops in its text, in characters
    Ids words  # of each token, the number of its word in its text
    int32_t next_word  # the number of the next word of the row at hand


# A run of encode_rows.
cdef struct Task:
    const Tables* tables
    const Ids* head  # what goes before and behind each row
    const Ids* tail
    Workspace* workspace
    Ids* out
    int64_t* splits
    Py_ssize_t row  # the one that needs Python
    Py_ssize_t cleared_row  # that looked as if it held an added token, but holds none; or -1
    Places* places  # NULL: nobody asks where the tokens stand


cdef void empty_window(Workspace* workspace) noexcept nogil
cdef void drop_row(Window* window, Py_ssize_t row) noexcept nogil
cdef void leave_out_row(Task* task, Py_ssize_t row) noexcept nogil
cdef bint open_window(
    Workspace* workspace, Py_ssize_t memo_bytes, Py_ssize_t n_chars
) noexcept nogil
cdef void trim_workspace(Workspace* workspace, Py_ssize_t n_bytes) noexcept nogil
cdef void free_workspace(Workspace* workspace) noexcept nogil
