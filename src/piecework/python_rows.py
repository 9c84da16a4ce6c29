"""Rows that are encoded in Python: those that the kernel hands back, and whole batches.

In: a function that encodes one text, such as that of a :class:`~piecework.pipeline.Pipeline`. Out:
tokens with their places in the text as it was given, surrogates included, or the
:class:`~piecework.batch.Batch` of a tokenizer whose steps the kernel does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from piecework._numpy import np
from piecework.batch import Batch

if TYPE_CHECKING:
    from piecework._texts import StrTexts, Utf8Texts
    from piecework.jobs import Around, Output, Wants
    from piecework.pipeline import Tokens


class RowEncoder:
    r"""Encodes texts one by one.

    Parameters
    ----------
    encode : callable
        str without surrogates -> Tokens.
    repair : callable
        (str, row or None) -> str without surrogates, or an exception: pairs are joined, and each
        lone one is one character.

    Notes
    -----
    Thread-safety: that of the two functions.

    Examples
    --------
    >>> from piecework.pipeline import Tokens
    >>> tokens = Tokens([0], [1], [3], [0])
    >>> RowEncoder(lambda text: tokens, lambda text, row: " 😀.")(" \ud83d\ude00.", None)
    Tokens(ids=[0], starts=[1], stops=[4], words=[0])
    """

    def __init__(
        self, encode: Callable[[str], Tokens], repair: Callable[[str, int | None], str]
    ) -> None:
        self._encode = encode
        self.repair = repair

    def __call__(self, text: str, row: int | None) -> Tokens:
        """Return the tokens of a text; `row` is its number in a batch, for errors."""
        repaired = self.repair(text, row)
        tokens = self._encode(repaired)
        if len(repaired) == len(text):
            return tokens
        # Where each character of the repaired text begins in the other one.
        places = [0]
        for char in repaired:
            is_pair = char > "\uffff" and text[places[-1]] != char
            places.append(places[-1] + (2 if is_pair else 1))
        starts, stops = ([places[at] for at in row] for row in (tokens.starts, tokens.stops))
        return tokens._replace(starts=starts, stops=stops)

    def encode(
        self, text: str, before: tuple[int, ...] = (), after: tuple[int, ...] = ()
    ) -> list[int]:
        """Return the ids of one text between the ids `before` and `after`."""
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        return [*before, *self(text, None).ids, *after]

    def batch(
        self, texts: StrTexts | Utf8Texts, around: Around, output: Output, wants: Wants
    ) -> Batch:
        """Return the tokens of the texts; arguments and errors as for `jobs.encode_texts`."""
        rows = [self._limited(texts.row(row), row, wants) for row in range(len(texts))]
        splits = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(
            [len(row.ids) + len(around.before + around.after) for row in rows], out=splits[1:]
        )
        ids = _joined(output.dtype, [(around.before, row.ids, around.after) for row in rows])
        details = {}
        if wants.offsets:
            spans = [
                _joined("int32", [_with_nothing(0, ends, around) for ends in side])
                for side in ([row.starts for row in rows], [row.stops for row in rows])
            ]
            details["offsets"] = np.stack(spans, axis=1)
        if wants.word_ids:
            words = [_with_nothing(-1, row.words, around) for row in rows]
            details["word_ids"] = _joined("int32", words)
        return Batch._unchecked(_in_place(ids, output.out), splits, **details)

    def _limited(self, text: str, row: int, wants: Wants) -> Tokens:
        """Return what is wanted of a row's tokens, with offsets in the unit that is."""
        tokens = self(text, row)
        if wants.max_tokens is not None:
            n = len(tokens.ids)
            start = max(0, n - wants.max_tokens) if wants.keep == "end" else 0
            tokens = type(tokens)(*(part[start : start + wants.max_tokens] for part in tokens))
        if wants.offsets == "bytes" and not text.isascii():
            sizes = [0, *(len(char.encode("utf-8", "surrogatepass")) for char in text)]
            places = np.cumsum(sizes).tolist()
            starts, stops = ([places[at] for at in row] for row in (tokens.starts, tokens.stops))
            tokens = tokens._replace(starts=starts, stops=stops)
        return tokens


def _with_nothing(
    nothing: int, numbers: Sequence[int], around: Around
) -> tuple[Sequence[int], ...]:
    """Return the numbers of a row's tokens with those of what is put around it."""
    return [nothing] * len(around.before), numbers, [nothing] * len(around.after)


def _joined(dtype: str, rows: list[tuple[Sequence[int], ...]]) -> Any:
    return np.array([number for row in rows for part in row for number in part], dtype)


def _in_place(ids: Any, out: Any) -> Any:
    """Return the ids, in the caller's array if there is one."""
    if out is None:
        return ids
    if len(ids) > len(out):
        raise ValueError(f"out has room for {len(out)} ids, but there are {len(ids)}")
    out[: len(ids)] = ids
    return out[: len(ids)]
