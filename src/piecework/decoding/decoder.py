"""Decoding rows of ids, in any form that callers have them.

In go one row or many, out comes a str for each. Ids are checked on the way: by the kernel where it
can read them, and by `piecework.protocol` where it can't, and for the message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from piecework._decode import PieceTable
from piecework._numpy import np
from piecework.batch import Batch, PaddedBatch
from piecework.decoding.pieces import piece_form
from piecework.decoding.steps import AsList, RowDecoder, decoder_step
from piecework.protocol import as_flag, as_int_list

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Decoder:
    """Turns ids into text.

    Parameters
    ----------
    tokens_by_id : mapping of int to str
        Ids below ``vocab_size`` that are missing (gaps, shadowed lines) are left out of a text. An
        added token that is looked for in normalized text stands here in its normalized form.
    vocab_size : int
    special : collection of str
        Contents of the special tokens, left out when asked for. One whose normalized form is
        another string is not, as the reference compares with these.
    decoder : mapping or None
        A decoder as :func:`check_decoder` returns it. None joins the tokens with spaces and changes
        nothing in them.

    Notes
    -----
    Thread-safety: one object serves many threads. The table of pieces is made from what doesn't
    change when it is first used, so two threads that make it at once make the same.

    Examples
    --------
    >>> tokens = {0: "[CLS]", 1: "un", 2: "##able", 3: "!"}
    >>> wordpiece = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    >>> decoder = Decoder(tokens, 4, {"[CLS]"}, wordpiece)
    >>> decoder.decode([0, 1, 2, 3])
    '[CLS] unable!'
    >>> decoder.decode([0, 2, 3], skip_special=True)
    '##able!'
    """

    def __init__(
        self,
        tokens_by_id: Mapping[int, str],
        vocab_size: int,
        special: Collection[str],
        decoder: Mapping[str, Any] | None,
    ) -> None:
        self._tokens_by_id = tokens_by_id
        self._vocab_size = vocab_size
        self._special = frozenset(special)
        self._decoder = decoder

    def decode(
        self,
        ids: Sequence[int] | Any,
        skip_special: bool = False,
        *,
        unknown: Literal["error", "skip"] = "error",
    ) -> str:
        """Return the text of one row of ids.

        Parameters
        ----------
        ids : sequence of int, or integer array, shape (n_tokens,)
        skip_special : bool
            Leave special tokens out. The first token that remains is the first of the text: it
            keeps its ``##``.
        unknown : "error" or "skip"
            What to do with an id that is negative, or not below `vocab_size`: raise, or leave it
            out.

        Raises
        ------
        ValueError, TypeError
            See :func:`piecework.check_ids`.
        """
        skip_special, skip_unknown = as_flag("skip_special", skip_special), _skips(unknown)
        as_list = self._as_any_list if skip_unknown else self._as_list
        try:
            return self._table.join_row(ids, skip_special, skip_unknown, as_list)
        except TypeError as error:
            if _holds_rows(ids):
                raise TypeError(f"{error}; decode_batch takes many rows") from error
            raise

    def decode_batch(
        self,
        rows: Iterable[Any],
        skip_special: bool = False,
        *,
        unknown: Literal["error", "skip"] = "error",
    ) -> list[str]:
        """Return the texts of many rows.

        Parameters
        ----------
        rows : Batch, PaddedBatch, integer array of shape (n_rows, n_tokens), or iterable
            An iterable of what `decode` takes.
        skip_special : bool
        unknown : "error" or "skip"
            As for :meth:`decode`.

        Raises
        ------
        ValueError, TypeError
            See :func:`piecework.check_ids`; the message names the row.
        """
        skip_special, skip_unknown = as_flag("skip_special", skip_special), _skips(unknown)
        if isinstance(rows, PaddedBatch):
            rows = rows.input_ids
        if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
            raise TypeError(f"expected rows of ids, got {type(rows).__name__}")
        as_list = self._as_any_list if skip_unknown else self._as_list
        table = self._table
        if isinstance(table, PieceTable) and (flat := _flat_rows(rows)) is not None:
            texts = table.join_splits(*flat, skip_special, skip_unknown)
            if len(texts) < len(flat[1]) - 1:
                self._refuse_row(rows, len(texts), as_list)
            return texts
        return table.join_rows(rows, skip_special, skip_unknown, as_list)

    @cached_property
    def _table(self) -> PieceTable | RowDecoder:
        decoder, tokens_by_id = self._decoder, self._tokens_by_id
        if decoder is None or decoder["type"] == "WordPiece":
            form = piece_form(decoder)
            return PieceTable(dict(tokens_by_id), self._vocab_size, self._special, form)
        return RowDecoder(tokens_by_id, self._special, decoder_step(decoder))

    @staticmethod
    def _refuse_row(rows: Any, number: int, as_list: AsList) -> NoReturn:
        """Raise because of a row that the kernel did not read."""
        as_list(rows[number], number)
        raise ValueError(f"row {number} was changed while it was decoded")

    def _as_list(self, ids: Any, row: int | None) -> list[int]:
        return list(as_int_list(ids, self._vocab_size, row))

    def _as_any_list(self, ids: Any, row: int | None) -> list[int]:
        return list(as_int_list(ids, None, row))


def _skips(unknown: str) -> bool:
    if unknown not in ("error", "skip"):
        raise ValueError(f"unknown must be 'error' or 'skip', not {unknown!r}")
    return unknown == "skip"


def _holds_rows(ids: Any) -> bool:
    if isinstance(ids, (list, tuple)):
        return len(ids) > 0 and isinstance(ids[0], (list, tuple, np.ndarray))
    return isinstance(ids, (Batch, PaddedBatch)) or getattr(ids, "ndim", 1) == 2


def _flat_rows(rows: Any) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return rows as ids and row splits that the kernel can read, if they lie in one array."""
    if isinstance(rows, Batch):
        return _plain(rows.ids), _plain(rows.row_splits)
    if not hasattr(rows, "__array__"):
        return None
    matrix = np.asarray(rows)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iu":
        return None
    if matrix.dtype not in (np.int32, np.int64, np.uint16):
        matrix = matrix.astype(np.int64)  # what becomes negative had no token either
    row_splits = np.arange(len(matrix) + 1, dtype=np.int64) * matrix.shape[1]
    return _plain(matrix).reshape(-1), row_splits


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, or a copy without gaps."""
    return np.require(array, None, ["C", "A"])
