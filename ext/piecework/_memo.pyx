"""Remembers the ids of short words, so that the words that make up most of a text are not walked.

A table of a fixed number of bytes with two words to a cache line, owned by one thread. It does not
know what a word is: whoever asks it must have seen to it that a word's bytes alone determine its
ids.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree

from libc.string cimport memcpy, memset

from piecework._types cimport int32_t, uint16_t
from piecework._vector cimport same_key


cdef enum:
    # What the second entry of a bucket has room for, behind zeros in the place of a key's first
    # byte.
    BUCKET_SHORT_IDS = 15
    BUCKET_WIDE_IDS = 7


cdef bint open_memo(Memo* memo, Py_ssize_t n_bytes) noexcept nogil:
    """Make an empty memo of the largest size that `n_bytes` has room for; False without memory.

    Two buckets are the least, and the last one and its alignment come on top.
    """
    cdef int bits = 1
    while n_bytes >> (bits + 1) >= BUCKET_BYTES:  # shifted left, the size could overflow
        bits += 1
    memo.memory = PyMem_RawCalloc((<size_t>1 << bits) + 2, BUCKET_BYTES)
    if memo.memory == NULL:
        return False
    # A bucket is to be one cache line, not parts of two.
    memo.buckets = <Bucket*>(
        (<size_t>memo.memory + BUCKET_BYTES - 1) & ~<size_t>(BUCKET_BYTES - 1)
    )
    memo.never = memo.buckets + (<size_t>1 << bits)
    memo.shift = 64 - bits
    memo.n_bytes = n_bytes
    return True


cdef void free_memo(Memo* memo) noexcept nogil:
    PyMem_RawFree(memo.memory)
    memo.memory = NULL
    memo.n_remembered = 0


cdef void remember(
    Memo* memo, Bucket* bucket, const Key* key, const Result* result
) noexcept nogil:
    """Put a word into its bucket, which forgets another one if it is full."""
    cdef int place = 1
    if holds(bucket, key):
        return
    # Most words that come late are rare: they share the second place, and the first one
    # belongs to a word that came early. Now and then it goes to another, as texts change.
    memo.n_remembered += 1
    if is_empty(&bucket.entries[0].key) or memo.n_remembered % 16 == 0:
        place = 0
    if bucket.entries[0].result.n == LONG:
        if place:
            return
        memset(bucket, 0, sizeof(Bucket))
    bucket.entries[place].key = key[0]
    bucket.entries[place].result = result[0]


cdef void remember_long(
    Memo* memo, Bucket* bucket, const Key* key, const int32_t* ids, Py_ssize_t n, bint short_ids
) noexcept nogil:
    """Put a word of many ids into its bucket, alone, if that has room for them."""
    cdef Elsewhere where
    cdef uint16_t* to = <uint16_t*>&bucket.entries[1]
    cdef Py_ssize_t i
    if holds(bucket, key) or n > (BUCKET_SHORT_IDS if short_ids else BUCKET_WIDE_IDS):
        return
    memo.n_remembered += 1
    if not is_empty(&bucket.entries[0].key) and memo.n_remembered % 16:
        return
    memset(bucket, 0, sizeof(Bucket))
    bucket.entries[0].key = key[0]
    if short_ids:
        where.ids = to + 1
        for i in range(n):
            to[1 + i] = ids[i]
    else:
        where.ids = to + 2
        memcpy(to + 2, ids, n * sizeof(int32_t))
    where.n = n
    memcpy(&bucket.entries[0].result, &where, sizeof(Elsewhere))
    bucket.entries[0].result.n = LONG


cdef inline bint holds(const Bucket* bucket, const Key* key) noexcept nogil:
    return same_key(&bucket.entries[0].key, key) or same_key(&bucket.entries[1].key, key)


cdef inline bint is_empty(const Key* key) noexcept nogil:
    return key.low == 0
