"""The memo of words: which ids they gave."""

from piecework._types cimport int32_t, uint32_t, uint64_t
from piecework._vector cimport Key


cdef enum:
    MAX_WORD_BYTES = 16  # of a key
    MAX_MEMO_IDS = 3
    BUCKET_BYTES = 64


# The ids of a word; the places behind the last one hold anything.
cdef struct Result:
    int32_t[MAX_MEMO_IDS] ids
    int32_t n_ids


cdef struct Entry:
    Key key
    Result result


# Two words, one cache line. Zeros are no word: a key's first byte is none.
cdef struct Bucket:
    Entry[2] entries


cdef struct Memo:
    Bucket* buckets
    Bucket* never  # behind the last one, always empty: for a word that can't be remembered
    int shift  # of a hash, to get its highest bits: the number of its bucket
    uint32_t n_remembered
    void* memory  # as allocated; NULL: there is no memo


cdef bint open_memo(Memo* memo, Py_ssize_t n_bytes) noexcept nogil
cdef void free_memo(Memo* memo) noexcept nogil
cdef void remember(
    Memo* memo, Bucket* bucket, const Key* key, const Result* result
) noexcept nogil


cdef inline Bucket* bucket_of(const Memo* memo, uint64_t hash_) noexcept nogil:
    return memo.buckets + (hash_ >> memo.shift)
