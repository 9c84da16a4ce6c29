"""Encodes many texts, chunk by chunk, on as many threads as call `BatchJob.work`.

Each of them claims the next chunk of rows, encodes it without the GIL into ids of its own, and
appends these to the sink if all before them are there; if not, they wait in a small table, and
whoever closes the gap appends them too. So the result does not depend on the threads, and the
memory needed is that of some chunks, whatever the size of the batch. Who starts the threads is
`parallel.py`.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from cpython.pythread cimport (
    WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
    PyThread_release_lock,
)
from cpython.unicode cimport PyUnicode_FromKindAndData
from cython cimport final, freelist

from piecework._buffers cimport Ids, reserve_ids
from piecework._byte_offsets cimport (
    MAX_OFFSET, PLACED, WITHOUT_MEMORY, Outcome, n_skipped_units, offsets_to_bytes, shift_offsets,
)
from piecework._chunks cimport free_chunk, make_chunk
from piecework._encode cimport GIL_WORTHY_CHARS
from piecework._limit cimport (
    NO_LIMIT, Limit, clip_rows, cut_rows, take_wholes, widen_short_rows,
)
from piecework._rows cimport count_chars, encode_rows
from piecework._scan cimport Text
from piecework._types cimport DONE, NEEDS_NORMALIZER, NO_MEMORY, Status, int32_t
from piecework._window cimport MEMO_WORTHY_CHARS, USUAL_MEMO_BYTES, Places, open_window

import threading
from itertools import chain


cdef enum:
    MAX_TOKENS = 1 << 30  # of a row, in a number that can grow
    PLACES_PER_WORKER = 2
    FIRST = -1  # as the number of a chunk: before all others
    NO_WORD = -1
    CHUNKS_PER_SIGNAL_CHECK = 16  # about 20 ms; it needs the GIL, which may be busy


def encode_alone(
    Encoder encoder not None, Texts texts not None, Sink sink not None,
    template, memo_bytes, limit, wants,
):
    """Encode texts on this thread, if they have fewer than `limit` characters; None: any number.

    Returns
    -------
    bool
        False: there are more, and nothing was done.

    Raises
    ------
    TypeError, UnicodeError, ValueError
        For the first row that can't be encoded.

    Notes
    -----
    `template` is (before, after); the other arguments are those of :class:`BatchJob`. This is
    one call where a job and its workers would be several, which cost as much as a sentence.
    """
    cdef BatchJob job
    cdef Room room
    # No more are counted than it takes: each text is a look into memory of its own.
    cdef Py_ssize_t n_chars = texts.n_chars(GIL_WORTHY_CHARS if limit is None else limit)
    if limit is not None and n_chars >= limit:
        return False
    before, after = template
    job = BatchJob.__new__(BatchJob, encoder, texts, sink, before, after, 1, memo_bytes, wants)
    room = encoder.take_room()
    try:
        job.make(room)
        if n_chars < GIL_WORTHY_CHARS:
            job.encode_chunks(room)
        else:
            with nogil:
                job.encode_chunks(room)
    finally:
        encoder.give_back(room)
    sink.close()
    return True


@final
@freelist(1)
cdef class BatchJob:
    """The encoding of one batch.

    Parameters
    ----------
    encoder : Encoder
    texts : Texts
        Not used by another job.
    sink : Sink
        Empty.
    before, after : tuple of int
        Ids put around each text.
    n_workers : int
        How many threads will call `work`, at most.
    memo_bytes : int or None
        The size of each thread's memo of words; 0: none. None: the usual one, once it pays.
    wants : (offsets, word_ids, max_tokens, keep) or None
        A piecework.jobs.Wants; None: nothing but all ids.

    Thread-safety: any number of threads may call its methods. They need no lock of Python.
    """

    def __cinit__(
        self, Encoder encoder not None, Texts texts not None, Sink sink not None,
        tuple before, tuple after, Py_ssize_t n_workers, memo_bytes, wants,
    ):
        if sink.n_rows != texts.n_rows:
            raise ValueError(f"a sink for {sink.n_rows} rows, but {texts.n_rows} texts")
        self.encoder = encoder
        self.texts = texts
        self.sink = sink
        self.before = before
        self.after = after
        self.wants_memo = memo_bytes is not None
        self.memo_bytes = memo_bytes if self.wants_memo else USUAL_MEMO_BYTES
        if not encoder.bytes.usable:
            self.memo_bytes = 0
        append_numbers(&self.head, before)
        append_numbers(&self.tail, after)
        self.tables = encoder.tables
        self.limit.max_tokens = NO_LIMIT
        if wants is not None:
            self.heed(*wants)
        if n_workers > 1:
            self.lock = PyThread_allocate_lock()
            self.waiting = <Waiting*>PyMem_RawCalloc(
                n_workers * PLACES_PER_WORKER, sizeof(Waiting)
            )
            if self.lock == NULL or self.waiting == NULL:
                raise MemoryError
            self.n_waiting = n_workers * PLACES_PER_WORKER
            self.may_claim = threading.Condition()

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_waiting):
            free_chunk(&self.waiting[i].chunk)
        PyMem_RawFree(self.waiting)
        if self.lock != NULL:
            PyThread_free_lock(self.lock)
        PyMem_RawFree(self.head.data)
        PyMem_RawFree(self.tail.data)

    def heed(self, offsets, word_ids, max_tokens, keep):
        """Take in what is wanted beside all ids, or of them; before the first chunk."""
        cdef Encoder encoder = self.encoder
        self.wants_places = bool(offsets) or word_ids
        self.in_bytes = offsets == "bytes"
        if self.wants_places:
            self.tables.is_placing = True
            self.lengths = encoder.token_lengths()
        if max_tokens is not None:
            # What stands before the end would have to be read to number the words there.
            keeps_end = keep == "end"
            self.limit = Limit(
                min(max_tokens, MAX_TOKENS), keeps_end,
                not keeps_end or (encoder.clips_end and not word_ids),
                encoder.clips_at_isolated, encoder.clip_margin, self.head.n + self.tail.n,
            )

    def enter(self):
        """Return a Room for a thread that works with others. It goes back by `leave`."""
        return self.encoder.take_room()

    def leave(self, Room room not None):
        """Take the room of a thread back."""
        self.encoder.give_back(room)

    def work(self, Room room not None):
        """Encode chunks until none is left to claim. An error is to be told by `fail`."""
        room.chunk.index = FIRST  # while it has none
        self.make(room)
        with nogil:
            self.encode_chunks(room)

    def fail(self, Room room, error):
        """Let no more chunks be claimed, as a thread had an error; `finish` raises the first one.

        Parameters
        ----------
        room : Room or None
            The thread's; None: it got none.
        error : BaseException
            What is no Exception comes before all errors of rows.
        """
        # Chunks are claimed in order: those before this one are done, or will be.
        cdef Py_ssize_t chunk = FIRST
        if room is not None and isinstance(error, Exception):
            chunk = room.chunk.index
        with nogil:
            self.acquire()
        self.is_stopped = True
        if self.error is None or chunk < self.error_chunk:
            self.error = error
            self.error_chunk = chunk
        self.release()
        self.wake()

    def stop(self):
        """Let no more chunks be claimed."""
        with nogil:
            self.acquire()
            self.is_stopped = True
            self.release()
        self.wake()

    def finish(self):
        """Raise the error of the first row that has one. Requires that all threads are done."""
        error, self.error = self.error, None
        if error is not None:
            raise error
        self.sink.close()

    cdef void acquire(self) noexcept nogil:
        if self.lock != NULL:
            PyThread_acquire_lock(self.lock, WAIT_LOCK)

    cdef void release(self) noexcept nogil:
        if self.lock != NULL:
            PyThread_release_lock(self.lock)

    cdef int wake(self) except -1:
        """Let those look again that wait until they may claim a chunk."""
        if self.may_claim is not None:
            with self.may_claim:
                self.may_claim.notify_all()
        return 0

    cdef int make(self, Room room) except -1:
        """Have a room allocate what the job needs."""
        room.make()
        if self.limit.max_tokens != NO_LIMIT:
            room.make_wholes()
        return 0

    cdef int encode_chunks(self, Room room) except -1 nogil:
        """Encode chunks until none is left to claim."""
        cdef Py_ssize_t n_chunks = 0
        while self.claim(room):
            self.encode_chunk(room)
            self.deliver(&room.chunk)
            n_chunks += 1
            if n_chunks % CHUNKS_PER_SIGNAL_CHECK == 0:
                with gil:
                    PyErr_CheckSignals()
        return 0

    cdef bint claim(self, Room room) except -1 nogil:
        """Take the next rows that nobody has; False if there are none."""
        cdef bint is_claimed = False, must_wait = True
        while must_wait:
            self.acquire()
            must_wait = self.must_wait()
            if not (must_wait or self.is_stopped or self.next_row == self.texts.n_rows):
                room.chunk.index = self.n_claimed
                room.chunk.first_row = self.next_row
                self.next_row = self.texts.view(self.next_row, room.texts)
                room.chunk.n_rows = self.next_row - room.chunk.first_row
                self.n_claimed += 1
                is_claimed = True
            self.release()
            if must_wait:
                with gil:
                    self.wait()
        return is_claimed

    cdef bint must_wait(self) noexcept nogil:
        """Say whether the next chunk would be too far ahead. Requires the lock."""
        if self.is_stopped or self.n_claimed <= self.n_appended + self.n_waiting:
            return False
        self.is_awaited = True
        return True

    cdef int wait(self) except -1:
        """Return when a chunk was appended, or at once if there is room for the next."""
        cdef bint must_wait
        with self.may_claim:  # from before the look on, so that no notification is missed
            with nogil:
                self.acquire()
                must_wait = self.must_wait()
                self.release()
            if must_wait:
                self.may_claim.wait()
        return 0

    cdef int encode_chunk(self, Room room) except -1 nogil:
        """Encode the rows that were claimed."""
        cdef Chunk* chunk = &room.chunk
        cdef Py_ssize_t row = 0, start, stop = 0, n_chars
        cdef bint is_limited = self.limit.max_tokens != NO_LIMIT
        if is_limited:
            take_wholes(&self.limit, room.texts, chunk.n_rows, self.texts.is_utf8, room.wholes)
            clip_rows(
                &self.limit, &self.tables, room.texts, room.wholes, 0, chunk.n_rows,
                self.texts.is_utf8,
            )
        if self.wants_places:
            self.check_lengths(room)
        n_chars = count_chars(room.texts, chunk.n_rows)
        if self.wants_memo:
            n_chars = max(n_chars, <Py_ssize_t>MEMO_WORTHY_CHARS)
        if not make_chunk(chunk) or not open_window(&room.workspace, self.memo_bytes, n_chars):
            raise_no_memory()
        chunk.ids.n = 0
        chunk.row_splits[0] = 0
        chunk.places.spans.n = 0
        chunk.places.words.n = 0
        chunk.places.lengths = self.lengths
        while row < chunk.n_rows:
            start = row
            stop = self.texts.decode(room.texts, row, chunk.n_rows, &room.scratch)
            if stop == row:
                with gil:
                    self.texts.text(chunk.first_row + row)  # raises
                    raise MemoryError
            self.encode_views(room, row, stop, &chunk.places if self.wants_places else NULL)
            row = stop
            if is_limited or self.in_bytes:
                row = self.finish_rows(room, start, stop)
        return 0

    cdef Py_ssize_t encode_views(
        self, Room room, Py_ssize_t row, Py_ssize_t stop, Places* places
    ) except -1 nogil:
        """Encode rows that are views of characters; return the one behind."""
        cdef Chunk* chunk = &room.chunk
        cdef Status status
        while row < stop:
            status = NEEDS_NORMALIZER
            if places == NULL or places.lengths != NULL:
                status = encode_rows(
                    &self.tables, room.texts, &row, stop, &self.head, &self.tail,
                    &room.workspace, &chunk.ids, chunk.row_splits, places,
                )
            if status == NO_MEMORY:
                raise_no_memory()
            if status != DONE:  # this row needs Python
                with gil:
                    self.encode_in_python(room, row)
                row += 1
        return row

    cdef int check_lengths(self, Room room) except -1 nogil:
        """Raise for a row of which int32 can't hold the places."""
        cdef Py_ssize_t row
        cdef const Text* text
        for row in range(room.chunk.n_rows):
            text = &room.texts[row]
            if self.limit.max_tokens != NO_LIMIT and self.limit.keeps_end:
                text = &room.wholes[row].text
            if text.chars != NULL and text.n_chars > MAX_OFFSET:
                with gil:
                    self.raise_too_long(room, row)
        return 0

    cdef int raise_too_long(self, Room room, Py_ssize_t row) except -1:
        raise OverflowError(
            f"texts[{room.chunk.first_row + row}]: expected at most {MAX_OFFSET} characters or "
            f"bytes, as offsets are int32"
        )

    cdef Py_ssize_t finish_rows(
        self, Room room, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Make encoded rows what was wanted; return the first that is to be encoded again, or stop.

        Requires  they are still views of characters
        Ensures   the rows to be encoded are not decoded
        """
        cdef Chunk* chunk = &room.chunk
        cdef Py_ssize_t done = stop
        if self.limit.max_tokens != NO_LIMIT:
            done = widen_short_rows(&self.limit, chunk, room.wholes, start, stop)
        if self.wants_places:
            self.finish_offsets(room, start, done)
        if self.limit.max_tokens != NO_LIMIT:
            cut_rows(&self.limit, chunk, self.head.n, start, done)
            clip_rows(
                &self.limit, &self.tables, room.texts, room.wholes, done, stop,
                self.texts.is_utf8,
            )
        return done

    cdef int finish_offsets(
        self, Room room, Py_ssize_t start, Py_ssize_t stop
    ) except -1 nogil:
        """Turn offsets in what was read of rows into those in the rows, in the unit asked for."""
        cdef Chunk* chunk = &room.chunk
        cdef Outcome outcome = PLACED
        cdef int32_t* spans
        cdef Py_ssize_t row, n
        for row in range(start, stop):
            spans = chunk.places.spans.data + 2 * (chunk.row_splits[row] + self.head.n)
            n = chunk.row_splits[row + 1] - chunk.row_splits[row] - self.head.n - self.tail.n
            if self.in_bytes:
                outcome = offsets_to_bytes(&room.texts[row], spans, n, &room.byte_starts)
            if outcome == PLACED and self.limit.max_tokens != NO_LIMIT:
                outcome = shift_offsets(spans, n, n_skipped_units(
                    &room.wholes[row], self.texts.is_utf8, self.in_bytes
                ))
            if outcome != PLACED:
                with gil:
                    if outcome == WITHOUT_MEMORY:
                        raise MemoryError
                    self.raise_too_long(room, row)
        return 0

    cdef str text_of(self, Room room, Py_ssize_t row):
        """Return what is to be read of a row that is a view of characters."""
        cdef const Text* text = &room.texts[row]
        if self.limit.max_tokens == NO_LIMIT:
            return self.texts.text(room.chunk.first_row + row)
        return PyUnicode_FromKindAndData(text.char_size, <void*>text.chars, text.n_chars)

    cdef int encode_in_python(self, Room room, Py_ssize_t row) except -1:
        cdef Chunk* chunk = &room.chunk
        cdef Py_ssize_t batch_row = chunk.first_row + row
        text = self.text_of(room, row)
        if self.wants_places:
            self.place_in_python(room, row, text)
        else:
            self.encoder.append_row(
                text, batch_row, self.before, self.after, &room.workspace, &chunk.ids
            )
        chunk.row_splits[row + 1] = chunk.ids.n
        return 0

    cdef int place_in_python(self, Room room, Py_ssize_t row, str text) except -1:
        """Append the tokens of a text with their places."""
        cdef Chunk* chunk = &room.chunk
        cdef list ids, starts, stops, words
        ids, starts, stops, words = self.encoder.encode_row(text, chunk.first_row + row)
        append_numbers(&chunk.ids, (*self.before, *ids, *self.after))
        append_numbers(
            &chunk.places.words,
            (*[NO_WORD] * self.head.n, *words, *[NO_WORD] * self.tail.n),
        )
        nowhere = [0] * (2 * self.head.n), [0] * (2 * self.tail.n)
        spans = chain.from_iterable(zip(starts, stops, strict=True))
        append_numbers(&chunk.places.spans, (*nowhere[0], *spans, *nowhere[1]))
        return 0

    cdef int deliver(self, Chunk* chunk) except -1 nogil:
        """Append the chunk and those that wait for it, or let it wait.

        Ensures   the chunk's memory may be another, or none
        """
        cdef bint has_memory = True, is_awaited = False
        cdef Waiting* place
        self.acquire()
        if chunk.index == self.n_appended:
            has_memory = self.append_in_order(chunk)
            is_awaited = self.is_awaited
            self.is_awaited = False
        else:
            place = &self.waiting[chunk.index % self.n_waiting]
            chunk[0], place.chunk = place.chunk, chunk[0]
            place.is_full = True
        self.release()
        if not has_memory:
            raise_no_memory()
        if is_awaited:
            with gil:
                self.wake()
        return 0

    cdef bint append_in_order(self, Chunk* chunk) noexcept nogil:
        """Append a chunk and those behind it that wait; False without memory.

        Requires  the lock; chunk.index == n_appended
        """
        cdef Waiting* place
        while self.sink.append(chunk):
            self.n_appended += 1
            if self.n_waiting == 0:
                return True
            # It holds that chunk or none: claims keep off n_appended + n_waiting and above.
            place = &self.waiting[self.n_appended % self.n_waiting]
            if not place.is_full:
                return True
            place.is_full = False
            chunk = &place.chunk
        return False


cdef int append_numbers(Ids* ids, tuple numbers) except -1:
    if not reserve_ids(ids, len(numbers)):
        raise MemoryError
    for number in numbers:
        ids.data[ids.n] = number
        ids.n += 1
    return 0


cdef int raise_no_memory() except -1 nogil:
    with gil:
        raise MemoryError
