"""Encodes the texts of one call: checks where the ids shall go, runs the job, wraps the result.

In: a compiled encoder and texts from :mod:`piecework.inputs`. Out: a
:class:`~piecework.batch.Batch`, or the number of tokens of each row. How the texts were held, and
how the threads work together, is known elsewhere.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework import parallel
from piecework._encode import Encoder
from piecework._job import BatchJob, encode_alone
from piecework._numpy import np
from piecework._sink import CountSink, IdSink, Sink
from piecework._texts import StrTexts, Utf8Texts
from piecework.batch import Batch
from piecework.protocol import as_int
from piecework.spec import TokenizerSpec

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from piecework._sink import Column
    from piecework.python_rows import RowEncoder


class Around(NamedTuple):
    """The ids that go around each text."""

    before: tuple[int, ...]
    after: tuple[int, ...]


class Effort(NamedTuple):
    """What a call may use.

    Attributes
    ----------
    threads : int or None
        None: as many as pay.
    memo_bytes : int or None
        Of each thread's memo of words; 0: none. None: the usual one, once it pays.
    """

    threads: int | None
    memo_bytes: int | None


class Output(NamedTuple):
    """Where the ids of a batch go.

    Attributes
    ----------
    dtype : "int32" or "uint16"
        By name, so that numpy need not be there.
    out : array of that dtype, shape (any,), or None
        The caller's array; None: a new one.
    """

    dtype: str
    out: NDArray[Any] | None


class Wants(NamedTuple):
    """What is wanted of each row: what beside ids, and how many of these.

    Attributes
    ----------
    offsets : "chars", "bytes" or None
        Where each token starts and stops in its text: in code points, or in bytes of its UTF-8.
    word_ids : bool
        The number of the word that each token belongs to.
    max_tokens : int or None
        So many tokens at most, not counting those around a text; what the others come from is
        mostly not read, and not checked: UTF-8 may be invalid there. None: all.
    keep : "start" or "end"
        Which ones. With `word_ids`, which count from the start, a text is read whole for its end.
    """

    offsets: str | None = None
    word_ids: bool = False
    max_tokens: int | None = None
    keep: str = "start"


NOTHING_AROUND = Around((), ())
WANTS_IDS = Wants()
_CHARS_READ = 8  # about so many characters for each token that is wanted
_USUAL_EFFORT = Effort(None, None)
_ONE_THREAD = Effort(1, None)
_USUAL_OUTPUT = Output("int32", None)


def checked_effort(threads: int | None, memo_bytes: int | None) -> Effort:
    """Check what the caller lets a call use.

    Raises
    ------
    TypeError, ValueError
        A number is no integer, `memo_bytes` is negative or `threads` below 1.
    """
    if memo_bytes is None:  # the usual ones, without a look at what else they could be
        if threads is None:
            return _USUAL_EFFORT
        if threads == 1 and type(threads) is int:
            return _ONE_THREAD
    if threads is not None:
        threads = as_int("threads", threads, minimum=1, maximum=sys.maxsize)
    if memo_bytes is not None:
        memo_bytes = as_int("memo_bytes", memo_bytes, minimum=0, maximum=sys.maxsize)
    return Effort(threads, memo_bytes)


def checked_output(dtype: DTypeLike | None, out: object, spec: TokenizerSpec) -> Output:
    """Check what the caller wants the ids in.

    Raises
    ------
    TypeError
        `out` is no array of int32 or uint16.
    ValueError
        It is not one-dimensional, contiguous and writable; `dtype` is neither int32 nor uint16, or
        another one than that of `out`; or the ids of the vocabulary do not fit.
    """
    if dtype is None and out is None:
        return _USUAL_OUTPUT
    array = None if out is None else _checked_out(out)
    wanted = array.dtype if array is not None and dtype is None else _id_dtype(dtype)
    if array is not None and array.dtype != wanted:
        raise ValueError(f"out is an array of {array.dtype}, but dtype is {wanted}")
    limit, highest = np.iinfo(wanted).max, spec.vocab_size - 1
    if highest > limit:
        raise ValueError(
            f"{wanted} holds ids up to {limit}, but the highest of the vocabulary is {highest}"
        )
    return Output(wanted.name, array)


def encode_texts(
    encoder: Encoder | RowEncoder,
    texts: StrTexts | Utf8Texts,
    around: Around,
    effort: Effort,
    output: Output,
    wants: Wants = WANTS_IDS,
) -> Batch:
    """Return the ids of the texts, and what else is wanted.

    Offsets of the ids put around a text are (0, 0), their word ids -1.

    Raises
    ------
    ValueError
        `output.out` is too small, or shares memory with the texts.
    OverflowError
        Offsets are wanted of a text of more than 2**31 - 1 characters, or bytes of UTF-8.
    TypeError, UnicodeError
        For the first row that can't be encoded.
    """
    dtype, out = output
    if out is not None and any(np.may_share_memory(out, array) for array in texts.buffers()):
        raise ValueError("out must share no memory with the texts nor with their row splits")
    if not isinstance(encoder, Encoder):
        return encoder.batch(texts, around, output, wants)
    id_size = 4 if dtype == "int32" else 2
    place = None if out is None else out.view(np.uint8)
    if wants is WANTS_IDS:  # which costs nothing more than they do
        sink = IdSink(len(texts), id_size, place)
        _run(encoder, texts, around, effort, sink, None)
        if out is None:
            return Batch._over(sink, dtype)
    else:
        sink = IdSink(len(texts), id_size, place, wants.offsets is not None, wants.word_ids)
        _run(encoder, texts, around, effort, sink, wants)
    details = {}
    if sink.offsets is not None:
        details["offsets"] = _int32_over(sink.offsets).reshape(-1, 2)
    if sink.word_ids is not None:
        details["word_ids"] = _int32_over(sink.word_ids)
    if out is None:
        return Batch._over(sink, dtype, details)
    if sink.n_tokens() > len(out):
        raise ValueError(f"out has room for {len(out)} ids, but there are {sink.n_tokens()}")
    return Batch._unchecked(out[: sink.n_tokens()], _int64_over(sink.row_splits()), **details)


def count_tokens(
    encoder: Encoder | RowEncoder, texts: StrTexts | Utf8Texts, around: Around, effort: Effort
) -> NDArray[np.int64]:
    """Return the number of tokens of each text; errors as for :func:`encode_texts`."""
    if not isinstance(encoder, Encoder):
        return encoder.batch(texts, around, _USUAL_OUTPUT, WANTS_IDS).lengths
    sink = CountSink(len(texts))
    _run(encoder, texts, around, effort, sink, None)
    return _int64_over(sink.row_lengths())


def _run(
    encoder: Encoder,
    texts: StrTexts | Utf8Texts,
    around: Around,
    effort: Effort,
    sink: Sink,
    wants: Wants | None,
) -> None:
    threads, memo_bytes = effort
    # Most batches are small: that is found out in the call that encodes them.
    if threads is None and encode_alone(
        encoder, texts, sink, around, memo_bytes, parallel.BIG_CHARS, wants
    ):
        return
    n_workers = 1
    if threads is not None or not _reads_little(len(texts), wants):
        n_workers = parallel.choose_workers(threads, texts.count_chars)
    if n_workers == 1:
        encode_alone(encoder, texts, sink, around, memo_bytes, None, wants)
        return
    job = BatchJob(encoder, texts, sink, *around, n_workers, memo_bytes, wants)
    parallel.run(partial(_work, job), job.stop, n_workers)
    job.finish()


def _reads_little(n_texts: int, wants: Wants | None) -> bool:
    """Say whether long texts are cut so early that one thread has done before another begins."""
    if wants is None or wants.max_tokens is None:
        return False
    return n_texts * wants.max_tokens * _CHARS_READ < parallel.BIG_CHARS


def _work(job: BatchJob) -> None:
    """Do one thread's part of a job that several work on."""
    room = None
    try:
        room = job.enter()
        job.work(room)
    except BaseException as error:
        job.fail(room, error)
        if not isinstance(error, Exception):  # Ctrl-C: not to be kept until all is done
            raise
    finally:
        if room is not None:
            job.leave(room)


def _int64_over(buffer: Any) -> NDArray[np.int64]:
    # Any: numpy's stubs know no buffers but their own list of types.
    array: NDArray[np.int64] = np.frombuffer(buffer, np.int64)
    return array


def _int32_over(column: Column) -> NDArray[np.int32]:
    array: NDArray[np.int32] = np.frombuffer(column.buffer(), np.int32)  # type: ignore[call-overload]
    return array


def _checked_out(out: object) -> NDArray[Any]:
    if not isinstance(out, np.ndarray) or out.dtype not in (np.int32, np.uint16):
        kind = getattr(out, "dtype", type(out).__name__)
        raise TypeError(f"out must be a 1-D int32 or uint16 array, not {kind}")
    if out.ndim != 1 or not out.flags.c_contiguous:
        raise ValueError(
            f"out must be a 1-D array without gaps, not one of shape {out.shape} and strides "
            f"{out.strides}"
        )
    if not (out.flags.writeable and out.flags.aligned):
        raise ValueError("out must be writable and aligned")
    return out


def _id_dtype(dtype: DTypeLike | None) -> np.dtype[Any]:
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be int32 or uint16, not {dtype!r}") from None
    if wanted not in (np.int32, np.uint16):
        raise ValueError(f"dtype must be int32 or uint16, not {wanted}")
    return wanted
