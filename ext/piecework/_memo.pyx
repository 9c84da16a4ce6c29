"""Remembers the ids of short words, so that the words that make up most of a text are not walked.

A table of a fixed number of bytes with two words to a cache line, owned by one thread. It does not
know what a word is: whoever asks it must have seen to it that a word's bytes alone determine its
ids.
"""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree

from piecework._vector cimport same_key


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
    if same_key(&bucket.entries[0].key, key) or same_key(&bucket.entries[1].key, key):
        return
    # Most words that come late are rare: they share the second place, and the first one
    # belongs to a word that came early. Now and then it goes to another, as texts change.
    memo.n_remembered += 1
    if is_empty(&bucket.entries[0].key) or memo.n_remembered % 16 == 0:
        place = 0
    bucket.entries[place].key = key[0]
    bucket.entries[place].result = result[0]


cdef inline bint is_empty(const Key* key) noexcept nogil:
    return key.low == 0
