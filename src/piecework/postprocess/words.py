"""Joins the tokens of words that the caller has split, into rows of texts.

In: content with one row for each word, and how many words each text has. Out: content with one row
for each text. Offsets count from the beginning of each word, as the reference has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from piecework._numpy import np
from piecework.batch import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def join_words(content: Batch, words_per_row: NDArray[np.int64], *, word_ids: bool = True) -> Batch:
    """Return the content of texts whose words were encoded one by one.

    Parameters
    ----------
    content : Batch
        One row for each word.
    words_per_row : int64 array, shape (n_rows + 1,)
        The words of text i are the rows from ``words_per_row[i]`` to ``words_per_row[i + 1]``.
    word_ids : bool
        Whether word ids are made: for each token the number of its word in its text.

    Returns
    -------
    Batch
        One row for each text, which shares the arrays of `content`.

    Raises
    ------
    ValueError
        The row splits are none of `content`.

    Examples
    --------
    >>> content = Batch(np.array([5, 6, 7], np.int32), np.array([0, 2, 2, 3]))
    >>> joined = join_words(content, np.array([0, 3]))
    >>> joined.tolist(), joined.word_ids.tolist()
    ([[5, 6, 7]], [0, 0, 2])
    """
    splits = np.asarray(words_per_row, np.int64)
    if splits.ndim != 1 or not len(splits) or splits[0] or (splits[1:] < splits[:-1]).any():
        raise ValueError("words_per_row must start with 0 and never fall")
    if splits[-1] != len(content):
        raise ValueError(f"words_per_row must end with {len(content)}, not {splits[-1]}")
    details = {} if content.offsets is None else {"offsets": content.offsets}
    if word_ids:
        n_words = np.diff(splits)
        in_text = np.arange(len(content), dtype=np.int32) - np.repeat(splits[:-1], n_words)
        details["word_ids"] = np.repeat(in_text.astype(np.int32), content.lengths)
    return Batch._unchecked(content.ids, content.row_splits[splits], **details)
