"""A call that wants more than the ids of single texts: pairs, details, truncation, split words.

In: texts as the caller holds them, and a :class:`Request`. Out: a :class:`~piecework.batch.Batch`.
The texts are encoded (:mod:`piecework.jobs`), no further than it can matter, and what they gave is
put together (:mod:`piecework.postprocess`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from piecework._numpy import np
from piecework._texts import StrTexts, Utf8Texts
from piecework.batch import Batch
from piecework.errors import short_repr
from piecework.inputs import Missing, texts_of
from piecework.jobs import (
    NOTHING_AROUND,
    Around,
    Effort,
    Output,
    Wants,
    encode_texts,
)
from piecework.postprocess import (
    Details,
    Plan,
    Truncation,
    assemble,
    join_words,
    rows_undecided,
    template_pieces,
    tokens_needed,
)
from piecework.spec import Template

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework._encode import Encoder
    from piecework.encoding import Encoding
    from piecework.pipeline import Pipeline
    from piecework.python_rows import RowEncoder
    from piecework.trimming import Trimmer

_CONTENT = Output("int32", None)
_NO_WORDS = (str, bytes, set, frozenset, Mapping)  # which can be iterated over all the same
_PLANS = 64  # that are remembered
_COUNT_ON = 8  # times as many tokens, where those counted do not tell which text is longer
_MOST_COUNTED = 1 << 14  # and if these don't, all


def checked_unit(return_offsets: object) -> str | None:
    """Return the unit of the offsets that are asked for, None if none are.

    Raises
    ------
    ValueError
        For what is neither a bool nor "bytes".
    """
    if isinstance(return_offsets, (bool, np.bool_)):
        return "chars" if return_offsets else None
    if isinstance(return_offsets, str) and return_offsets == "bytes":
        return "bytes"
    raise ValueError(
        f"return_offsets must be True, False or 'bytes', not {short_repr(return_offsets)}"
    )


class Request(NamedTuple):
    """What a call asks for, checked.

    Attributes
    ----------
    add_special, split_special, split_words : bool
    offsets : "chars", "bytes" or None
        The unit of the offsets.
    word_ids : bool
    all_details : bool
        Whether sequence ids, type ids and the mask of special tokens are wanted too.
    truncation : Truncation or None
    return_overflow : bool
    missing : "error" or "empty"
    """

    add_special: bool
    split_special: bool
    split_words: bool
    offsets: str | None
    word_ids: bool
    all_details: bool
    truncation: Truncation | None
    return_overflow: bool
    missing: Missing


class RowMaker:
    """Makes the rows of calls for one tokenizer.

    Parameters
    ----------
    encoding : Encoding
    template : Template
    trimmer : Trimmer or None
        Trims offsets, if the template says so.

    Notes
    -----
    Thread-safety: any number of threads; what it remembers are immutable plans.
    """

    def __init__(
        self, encoding: Encoding, template: Template, trimmer: Trimmer | None = None
    ) -> None:
        self._encoding = encoding
        self._template = template
        self._trimmer = trimmer
        self._plan = lru_cache(maxsize=_PLANS)(self._make_plan)

    def of_texts(self, texts: Any, request: Request, effort: Effort, output: Output) -> Batch:
        """Return one row for each text, and those of its windows."""
        plan = self._plan(request, False, output.dtype)
        around = self._around(request)
        n_needed = tokens_needed(plan).first
        call = self._call(request, effort)
        readable = call.readable("texts", texts)
        if around is not None:
            return call.tokens(readable.texts, call.wants(n_needed), around, output)
        content = call.content(readable, n_needed)
        return _finished(_assembled((content,), plan), output)

    def of_pairs(
        self, texts: Any, pairs: Any, request: Request, effort: Effort, output: Output
    ) -> Batch:
        """Return one row for each pair of texts, and those of its windows.

        Raises
        ------
        ValueError
            There are not as many second texts as first ones.
        """
        plan = self._plan(request, True, output.dtype)
        needed = tokens_needed(plan)
        call = self._call(request, effort)
        both = call.readable("texts", texts), call.readable("pairs", pairs)
        if len(both[0]) != len(both[1]):
            raise ValueError(
                f"pairs: expected as many as there are texts, {len(both[0])}, got {len(both[1])}"
            )
        content = call.content(both[0], needed.first), call.content(both[1], needed.second)
        lengths = content[0].tokens.lengths, content[1].tokens.lengths
        undecided = rows_undecided(plan, *lengths)
        if len(undecided) and not request.split_words:
            lengths = call.counted(both, lengths, undecided, needed.first)
        return _finished(_assembled(content, plan, lengths), output)

    def _call(self, request: Request, effort: Effort) -> _Call:
        encoding, split_special = self._encoding, request.split_special
        return _Call(
            encoding.encoder_for(split_special),
            request,
            effort,
            self._trimmer,
            partial(encoding.pipeline_for, split_special),
        )

    def _make_plan(self, request: Request, is_pair: bool, dtype: str) -> Plan:
        pieces = template_pieces(self._template, is_pair=is_pair, add_special=request.add_special)
        details = Details(
            offsets=request.offsets is not None,
            word_ids=request.word_ids,
            sequence_ids=request.all_details,
            type_ids=request.all_details or is_pair,
            special_tokens_mask=request.all_details,
        )
        return Plan(pieces, is_pair, request.truncation, request.return_overflow, details, dtype)

    def _around(self, request: Request) -> Around | None:
        """Return the ids around a text; None if the encoder can't make the rows by itself."""
        if request.split_words or request.all_details or request.return_overflow:
            return None
        if self._trimmer is not None and request.offsets is not None:
            return None
        if request.truncation is not None and request.truncation.strategy == "only_second":
            return None  # an error for a text that is too long
        if not request.add_special:
            return NOTHING_AROUND if self._template.around else None
        around = self._template.around
        return None if around is None else Around(*around)


class _Call(NamedTuple):
    """Reads and encodes the texts of one call."""

    encoder: Encoder | RowEncoder
    request: Request
    effort: Effort
    trimmer: Trimmer | None
    make_pipeline: Callable[[], Pipeline]

    def readable(self, name: str, texts: Any) -> _Readable:
        """Return texts as the caller holds them in the form in which they are read."""
        if self.request.split_words:
            words, splits = _split_words(name, texts)
            return _Readable(texts_of(words, "error"), splits)
        return _Readable(texts_of(texts, self.request.missing, name), None)

    def wants(self, n_needed: int | None) -> Wants:
        """Return what is wanted of each text."""
        request = self.request
        is_left = request.truncation is not None and request.truncation.side == "left"
        keep = "end" if is_left else "start"
        return Wants(request.offsets, request.word_ids, n_needed, keep)

    def content(self, texts: _Readable, n_needed: int | None) -> _Content:
        """Return the tokens of the texts alone."""
        wants, words = self.wants(n_needed), texts.words_per_row
        if words is not None:
            wants = wants._replace(word_ids=False, max_tokens=None)
        tokens = self.tokens(texts.texts, wants)
        if_first: dict[int, tuple[int, int]] = {}
        if self.trimmer is not None and wants.offsets is not None:
            if_first = self.trimmer.trim(tokens, texts.texts, wants.offsets, self.make_pipeline)
        if words is not None:
            tokens = join_words(tokens, words, word_ids=self.request.word_ids)
        return _Content(tokens, if_first)

    def counted(
        self,
        texts: tuple[_Readable, _Readable],
        lengths: tuple[NDArray[np.int64], NDArray[np.int64]],
        rows: NDArray[np.int64],
        limit: int | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the tokens of pairs on, until it is known which text of each is longer.

        That is when the shorter one has ended: of the longer one, no more is read. All texts of
        `rows` have at least `limit` tokens.
        """
        counted = lengths[0].copy(), lengths[1].copy()
        while len(rows) and limit is not None:
            limit = limit * _COUNT_ON if limit < _MOST_COUNTED else None
            for side in range(2):
                part = texts[side].texts.take(rows.tolist())
                counted[side][rows] = self.tokens(part, Wants(max_tokens=limit)).lengths
            if limit is not None:
                rows = rows[(counted[0][rows] >= limit) & (counted[1][rows] >= limit)]
        return counted

    def tokens(
        self,
        texts: StrTexts | Utf8Texts,
        wants: Wants,
        around: Around = NOTHING_AROUND,
        output: Output = _CONTENT,
    ) -> Batch:
        """Return the tokens of single texts, `around` put around them."""
        return encode_texts(self.encoder, texts, around, self.effort, output, wants)


class _Content(NamedTuple):
    """The tokens of texts alone.

    Attributes
    ----------
    tokens : Batch
    if_first : mapping of int to (int, int)
        What :meth:`~piecework.trimming.Trimmer.trim` returned for them.
    """

    tokens: Batch
    if_first: Mapping[int, tuple[int, int]]


def _assembled(
    contents: tuple[_Content, ...],
    plan: Plan,
    n_uncut: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> Batch:
    """Return the rows of texts, or of pairs, as the plan says."""
    first, second = contents[0].tokens, contents[1].tokens if plan.is_pair else None
    batch = assemble(first, second, plan, n_uncut)
    if any(content.if_first for content in contents):
        from piecework.trimming import keep_first_spaces  # as seldom needed as a Trimmer

        # The same rows once more, with numbers of all tokens in place of those of words.
        numbers, if_first, n = [], {}, 1  # special tokens get -1, and must be no neighbours of any
        for content in contents:
            ids = content.tokens.ids
            word_ids = np.arange(n, n + len(ids), dtype=np.int32)
            numbers.append(Batch(ids, content.tokens.row_splits, word_ids=word_ids))
            if_first.update({n + at: place for at, place in content.if_first.items()})
            n += len(ids) + 1  # no token of one text is beside one of the other
        numbering = replace(plan, details=Details(word_ids=True))
        rows = assemble(numbers[0], numbers[1] if plan.is_pair else None, numbering, n_uncut)
        assert rows.word_ids is not None
        keep_first_spaces(batch, rows.word_ids, if_first)
    return batch


def _finished(batch: Batch, output: Output) -> Batch:
    """Return the batch, its ids in the caller's array if there is one."""
    out = output.out
    if out is None:
        return batch
    n_tokens = len(batch.ids)
    if n_tokens > len(out):
        raise ValueError(f"out has room for {len(out)} ids, but there are {n_tokens}")
    out[:n_tokens] = batch.ids
    batch.ids = out[:n_tokens]
    return batch


class _Readable(NamedTuple):
    """Texts as the kernel reads them; or their words, and how many each text has."""

    texts: StrTexts | Utf8Texts
    words_per_row: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.texts) if self.words_per_row is None else len(self.words_per_row) - 1


def _split_words(name: str, rows: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of all rows in one list, and where each row begins in it."""
    expected = "the words of a text, an iterable of str"
    if isinstance(rows, _NO_WORDS) or not isinstance(rows, Iterable):
        raise TypeError(f"{name}: expected rows of words, got {short_repr(rows)}")
    words: list[str] = []
    splits = [0]
    for row, text in enumerate(rows):
        if isinstance(text, _NO_WORDS) or not isinstance(text, Iterable):
            raise TypeError(f"{name}[{row}]: expected {expected}, got {short_repr(text)}")
        own = list(text)
        if set(map(type, own)) - {str}:
            for i, word in enumerate(own):
                if not isinstance(word, str):
                    raise TypeError(f"{name}[{row}][{i}]: expected a str, got {short_repr(word)}")
        words += own
        splits.append(len(words))
    return words, np.array(splits, np.int64)
