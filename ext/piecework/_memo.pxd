"""The memo of words: which ids they gave."""

from piecework._types cimport int32_t, uint16_t, uint32_t, uint64_t
from piecework._vector cimport Key


cdef enum:
    MAX_WORD_BYTES = 16  # of a key
    BUCKET_BYTES = 64
    # Instead of a number of ids: there are more, and an Elsewhere stands in the Result's place.
    MANY = 0xFFFF  # of 32 bits each
    LONG = 0xFFFE  # as they stand in a bucket


# The ids of a word, 16 bytes: n of them, the places behind the last one hold anything. They are
# of 16 bits, seven at most, if those of the vocabulary are; else of 32 bits in the same place,
# three at most.
cdef struct Result:
    uint16_t[7] ids
    uint16_t n


cdef struct Elsewhere:
    const void* ids
    uint32_t n


cdef struct Entry:
    Key key
    Result result


# Two words, one cache line. Zeros are no word: a key's first byte is none. A word of more ids than
# a Result holds, a long one, has the bucket for itself: its ids stand in the second entry, behind
# zeros that make it no word.
cdef struct Bucket:
    Entry[2] entries


cdef struct Memo:
    Bucket* buckets
    Bucket* never  # behind the last one, always empty: for a word that can't be remembered
    int shift  # of a hash, to get its highest bits: the number of its bucket
    size_t n_remembered
    Py_ssize_t n_bytes  # as was asked for
    void* memory  # as allocated; NULL: there is no memo


cdef bint open_memo(Memo* memo, Py_ssize_t n_bytes) noexcept nogil
cdef void free_memo(Memo* memo) noexcept nogil
cdef void remember(
    Memo* memo, Bucket* bucket, const Key* key, const Result* result
) noexcept nogil
cdef void remember_long(
    Memo* memo, Bucket* bucket, const Key* key, const int32_t* ids, Py_ssize_t n, bint short_ids
) noexcept nogil


cdef inline bint is_seasoned(const Memo* memo) noexcept nogil:
    """Say whether it has seen enough for the share of misses to tell something about the text."""
    return <Py_ssize_t>memo.n_remembered > (memo.never - memo.buckets)
