"""What the encodings of one call share: the flat arrays of a batch, and where its rows are.

Arrays are read for a row when an encoding is asked for them. What nobody asks for is not made:
padding, strings, the windows that truncation cut off, and of a batch without offsets all but ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from piecework._numpy import np
from piecework.batch import Batch
from piecework.compat.tokenizers.behind import Behind, Processing
from piecework.compat.tokenizers.columns import ARRAYS, NO_WORD, Columns, Pad, padded
from piecework.compat.tokenizers.post_process import put_together
from piecework.compat.tokenizers.state import Padding, State, Truncation
from piecework.spec import SequencePiece
from piecework.tokenizer import WordPieceTokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Call:
    """How texts are encoded: the state of the tokenizer, and the options of the call."""

    state: State
    add_special: bool
    is_pretokenized: bool
    has_offsets: bool = True

    @property
    def behind(self) -> Behind:
        """The tokenizer and what is read off it."""
        return self.state.behind

    @property
    def truncation(self) -> Truncation | None:
        """To what length texts are cut."""
        return self.state.truncation

    def encode(self, texts: Sequence[Any], pairs: Sequence[Any] | None, *, details: bool) -> Batch:
        """Return the tokens of texts or of pairs, truncated, with the template."""
        behind, tokenizer = self.behind, self.behind.tokenizer
        # A tokenizer without a template adds nothing here, as in the reference.
        add_special = self.add_special and tokenizer.spec.template is not None
        options: dict[str, Any] = {"add_special": add_special, "return_details": details}
        if pairs is not None and (textless := behind.textless_pair) is not None:
            return self._encode(
                textless, [[] if self.is_pretokenized else ""] * len(texts), None, **options
            )
        if (cut := self.truncation) is not None:
            options |= {
                "max_length": cut.max_length,
                "truncation": cut.strategy,
                "truncation_side": cut.side,
                "stride": cut.stride,
            }
        return self._encode(tokenizer, texts, pairs, **options)

    @property
    def has_types(self) -> bool:
        """Whether the second text has a type of its own before a post-processor sees it.

        The reference gives none where it gives no offsets.
        """
        return self.has_offsets or self.behind.processing is not Processing.NONE

    def content(self, texts: Sequence[Any]) -> Batch:
        """Return the tokens of texts, whole and without a template."""
        return self._encode(self.behind.content_tokenizer, texts, None, return_details=True)

    def _encode(
        self,
        tokenizer: WordPieceTokenizer,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        **options: Any,
    ) -> Batch:
        return tokenizer.encode_batch(
            texts,
            pairs,
            is_split_into_words=self.is_pretokenized,
            split_special_tokens=self.state.encode_special_tokens,
            **options,
        )


class TextRows:
    """The rows of texts, or of pairs, that were encoded together.

    Parameters
    ----------
    call : Call
    texts : sequence of str, or of sequences of words
    pairs : the same, optional
    batch : Batch
        Their tokens; with all details, if the call has offsets.
    is_content : bool
        Whether they are texts alone, to be put into a template later.
    numbers : sequence of int, optional
        The numbers of the rows in the caller's batch.

    Notes
    -----
    Thread-safety: what is made on demand is the same whoever makes it.
    """

    def __init__(
        self,
        call: Call,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        batch: Batch,
        *,
        is_content: bool = False,
        numbers: Sequence[int] | None = None,
    ) -> None:
        self._call = call
        self._texts = texts
        self._pairs = pairs
        self._batch = batch
        self._is_content = is_content
        self._numbers = numbers
        self._splits: list[int] = batch.row_splits.tolist()
        self._padding: Padding | None = None
        self._target = 0

    @classmethod
    def of(
        cls,
        call: Call,
        texts: Sequence[Any],
        pairs: Sequence[Any] | None,
        numbers: Sequence[int] | None = None,
    ) -> TextRows:
        """Encode texts or pairs.

        Raises
        ------
        ValueError
            For a truncation that can't be done.
        """
        batch = call.encode(texts, pairs, details=call.has_offsets)
        rows = cls(call, texts, pairs, batch, numbers=numbers)
        if pairs is not None and call.truncation is not None and call.truncation.stride:
            _ = rows._overflow  # whether there is any, with this stride, hangs on both texts
        return rows

    def __len__(self) -> int:
        return len(self._splits) - 1

    def lengths(self) -> list[int]:
        """Return the number of tokens of each row, without padding."""
        return self._batch.lengths.tolist()  # type: ignore[no-any-return]

    def pad(self, padding: Padding, target: int) -> None:
        """Say to what length the rows are filled up; before an encoding reads them."""
        self._padding, self._target = padding, target

    def length(self, row: int) -> int:
        """Return the number of tokens of a row, padding included."""
        return max(self._target, self._splits[row + 1] - self._splits[row])

    def array(self, name: str, row: int) -> NDArray[Any]:
        """Return one of the arrays of a row, padding included."""
        array = self._unpadded(name, row)
        n_missing = self._target - len(array)
        if n_missing <= 0 or self._padding is None:
            return array
        filled = np.full((self._target, *array.shape[1:]), _filling(name, self._padding.pad))
        start = n_missing if self._padding.side == "left" else 0
        filled[start : start + len(array)] = array
        return filled

    def listed(self, name: str, row: int) -> list[Any]:
        """Return one of the arrays of a row as a list, padding included."""
        listed: list[Any] = self.array(name, row).tolist()
        return listed

    def tokens(self, row: int) -> list[str]:
        """Return the tokens of a row as strings, padding included."""
        tokens = self._strings(row)
        # Not of the strings: a template may have more of them than ids, or fewer.
        n_missing = self._target - (self._splits[row + 1] - self._splits[row])
        if n_missing <= 0 or self._padding is None:
            return tokens
        padding = [self._padding.pad.token] * n_missing
        return padding + tokens if self._padding.side == "left" else tokens + padding

    def sequences(self, row: int) -> dict[int, tuple[int, int]]:
        """Return the stretches of tokens of the sequences of a row."""
        if self._call.behind.processing is Processing.NONE and self._pairs is None:
            return {}
        before = self._n_before(row)
        start, stop = self._splits[row], self._splits[row + 1]
        sequence_ids = _there(self._details.sequence_ids)[start:stop]
        stretches = {}
        for sequence in self._named_sequences:
            places = np.flatnonzero(sequence_ids == sequence)
            first, last = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
            stretches[sequence] = (before + first, before + last)
        return stretches

    def overflowing(self, row: int) -> tuple[Columns, ...]:
        """Return what truncation has cut off a row, in windows, padding included."""
        windows = self._overflow.get(row, ())
        if (padding := self._padding) is None:
            return windows
        return tuple(padded(each, self._target, padding.pad, padding.side) for each in windows)

    @cached_property
    def _details(self) -> Batch:
        """The batch with all details; that of a call without offsets is encoded again."""
        if self._batch.special_tokens_mask is not None:
            return self._batch
        return self._call.encode(self._texts, self._pairs, details=True)

    @cached_property
    def _named_sequences(self) -> list[int]:
        pieces = self._call.behind.pieces(self._pairs is not None)
        named = {each.sequence for each in pieces if isinstance(each, SequencePiece)}
        return sorted(map("AB".index, named))

    @cached_property
    def _overflow(self) -> dict[int, tuple[Columns, ...]]:
        """The windows of the rows that have any, all made when the first is asked for."""
        if (truncation := self._call.truncation) is None:
            return {}
        rows = list(range(len(self)))
        if self._call.behind.names_all(self._pairs is not None):
            rows = [row for row, n in enumerate(self.lengths()) if n >= truncation.max_length]
        if not rows:
            return {}
        together = self._put_together(rows)
        return {row: each.overflowing for row, each in zip(rows, together, strict=True)}

    def _put_together(self, rows: list[int]) -> list[Columns]:
        """Return rows with what overflows, made one by one."""
        call = self._call
        texts = [self._content(self._texts, rows, type_id=0)]
        if self._pairs is not None:
            # The reference gives no types where it gives no offsets, and what overflows shows it.
            texts.append(self._content(self._pairs, rows, type_id=int(call.has_offsets)))
        return [
            put_together(
                call.behind,
                each,
                call.truncation,
                add_special=call.add_special,
                row=None if self._numbers is None else self._numbers[row],
            )
            for row, each in zip(rows, zip(*texts, strict=True), strict=True)
        ]

    def _content(self, texts: Sequence[Any], rows: list[int], type_id: int) -> list[Columns]:
        """Return the tokens of some of the texts, whole and without a template."""
        chosen = [texts[row] for row in rows]
        content = TextRows(self._call, chosen, None, self._call.content(chosen), is_content=True)
        found = []
        for row in range(len(rows)):
            arrays: dict[str, Any] = {name: content.array(name, row) for name in ARRAYS}
            found.append(Columns(**arrays, tokens=content.tokens(row)).of_type(type_id))
        return found

    def _n_before(self, row: int) -> int:
        if self._padding is None or self._padding.side == "right":
            return 0
        return self.length(row) - (self._splits[row + 1] - self._splits[row])

    def _unpadded(self, name: str, row: int) -> NDArray[Any]:
        start, stop = self._splits[row], self._splits[row + 1]
        if name == "ids":
            return self._batch.ids[start:stop]
        if name == "attention_mask":
            return np.ones(stop - start, np.int64)
        if name == "word_ids" and not self._call.has_offsets:
            return np.full(stop - start, NO_WORD)
        if name == "offsets" and not self._call.has_offsets:
            return np.zeros((stop - start, 2), np.int64)
        if name == "type_ids" and not self._call.has_types:
            return np.zeros(stop - start, np.int64)
        array: NDArray[Any] = _there(getattr(self._details, name))[start:stop]
        return array

    def _strings(self, row: int) -> list[str]:
        behind, ids = self._call.behind, self._unpadded("ids", row).tolist()
        if self._call.has_offsets and (plain := behind.plain_tokens(ids)) is not None:
            return plain
        by_text = not behind.by_text.keys().isdisjoint(ids)
        inserted: list[str] | None = []  # of a text alone
        if not self._is_content:
            inserted = behind.template_strings(self._pairs is not None)
            if inserted is None or (by_text and not self._tells_matches):
                return self._put_together([row])[0].tokens
        tokens = behind.strings_of(ids)
        mask = self._unpadded("special_tokens_mask", row).tolist()
        names = iter(inserted or ())
        for place, is_inserted in enumerate(mask):
            if is_inserted:
                tokens[place] = next(names)
            elif not self._call.has_offsets:
                tokens[place] = ""  # as in the reference, which makes no strings then
        if self._call.has_offsets and by_text:
            self._fill_in_matches(row, ids, mask, tokens)
        return tokens

    @cached_property
    def _tells_matches(self) -> bool:
        """Whether a token's sequence id and place tell what it has matched.

        Not, if places are trimmed, or if a text stands twice: one of them has no sequence id.
        """
        pieces = self._call.behind.pieces(self._pairs is not None)
        n_texts = sum(isinstance(each, SequencePiece) for each in pieces)
        is_trimmed = self._call.behind.template.trim_offsets
        return not is_trimmed and n_texts == len(self._named_sequences)

    def _fill_in_matches(
        self, row: int, ids: list[int], mask: list[int], tokens: list[str]
    ) -> None:
        """Put in the strings of the added tokens of which the text decides."""
        behind, offsets = self._call.behind, self._unpadded("offsets", row).tolist()
        start, stop = self._splits[row], self._splits[row + 1]
        sequence_ids = _there(self._details.sequence_ids)[start:stop].tolist()
        word_ids = self._unpadded("word_ids", row).tolist()
        in_vocabulary = behind.spec.vocabulary.tokens_by_id
        known: dict[str, dict[tuple[int, int, int], str]] = {}
        for place, id_ in enumerate(ids):
            if mask[place] or id_ not in behind.by_text:
                continue
            texts = self._pairs if self._pairs and sequence_ids[place] == 1 else self._texts
            text = texts[row][word_ids[place]] if self._call.is_pretokenized else texts[row]
            if text not in known:
                split_special = self._call.state.encode_special_tokens
                known[text] = behind.matched(text, split_special=split_special)
            # What is no match is a word of which the model has made that token.
            otherwise = in_vocabulary.get(id_, tokens[place])
            tokens[place] = known[text].get((id_, *offsets[place]), otherwise)


def _filling(name: str, pad: Pad) -> int:
    filling = {
        "ids": pad.id,
        "type_ids": pad.type_id,
        "word_ids": NO_WORD,
        "special_tokens_mask": 1,
    }
    return filling.get(name, 0)


def _there(array: NDArray[Any] | None) -> NDArray[Any]:
    if array is None:
        raise AssertionError("a batch with all details has them")  # what was asked for
    return array
