"""Offsets without the white space at the ends of tokens, as RobertaProcessing and ByteLevel say.

In go texts, and a batch with their tokens and offsets, which are changed in place. Only tokens that
hold white space at an end are concerned, so nearly none: added ones, mostly those with ``lstrip``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from piecework._numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework._texts import Texts
    from piecework.batch import Batch
    from piecework.spec import AddedToken, TokenizerSpec

# White_Space, and what byte-level vocabularies have for a space.
_TRIMMED = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000Ġ"
)


def trim_offsets(
    tokens: Sequence[str], offsets: NDArray[np.int32], *, add_prefix_space: bool
) -> None:
    """Trim the offsets of the tokens of one text.

    Parameters
    ----------
    tokens : sequence of str
        As the reference calls them: for an added token the stretch that it matched, in normalized
        text for a normalized one.
    offsets : int32 array, shape (n_tokens, 2)
        Changed in place.
    add_prefix_space : bool
        A single space before the first token, or at the start of the text, is kept.

    Examples
    --------
    >>> offsets = np.array([[0, 1], [1, 7]], np.int32)
    >>> trim_offsets(["a", "  <m> "], offsets, add_prefix_space=False)
    >>> offsets.tolist()
    [[0, 1], [3, 6]]
    """
    for index, token in enumerate(tokens):
        n_leading = len(token) - len(token.lstrip(_TRIMMED))
        n_trailing = len(token) - len(token.rstrip(_TRIMMED))
        if not n_leading and not n_trailing:
            continue
        start, stop = offsets[index].tolist()
        if n_leading:
            if add_prefix_space and n_leading == 1 and (index == 0 or start == 0):
                n_leading = 0
            start = min(start + n_leading, stop)
        if n_trailing and stop >= n_trailing:
            stop = max(stop - n_trailing, start)
        offsets[index] = start, stop


class Trimmer:
    """Trims the offsets of a tokenizer's tokens.

    Parameters
    ----------
    spec : TokenizerSpec
        Whose template says that offsets are trimmed.
    forms : mapping of int to str
        The token of each id, an added one in the form that it is looked for by.
    normalize : callable
        str -> str, the tokenizer's normalizer.

    Notes
    -----
    Tokens are trimmed before a text is cut, in the reference behind that: with `add_prefix_space`
    the single space before the first token that a cut left is trimmed here, and kept there.
    """

    def __init__(
        self, spec: TokenizerSpec, forms: Mapping[int, str], normalize: Callable[[str], str]
    ) -> None:
        self._added = {token.id: token for token in spec.added_tokens}
        self._forms = forms
        self._normalize = normalize
        self._add_prefix_space = spec.template is not None and spec.template.add_prefix_space
        self._ids = np.array(
            [
                id_
                for id_, form in forms.items()
                if form != form.strip(_TRIMMED) or _takes_white_space(self._added.get(id_))
            ],
            np.int64,
        )

    def trim(self, batch: Batch, texts: Texts, unit: str) -> None:
        """Trim the offsets of content in place; `unit` is theirs, "chars" or "bytes"."""
        if batch.offsets is None:
            return
        places = np.flatnonzero(np.isin(batch.ids, self._ids))
        rows = np.searchsorted(batch.row_splits, places, side="right") - 1
        for row in np.unique(rows).tolist():
            text = texts.row(row)
            start, stop = batch.row_splits[row : row + 2].tolist()
            offsets = batch.offsets[start:stop]
            tokens = [""] * (stop - start)
            for place in (places[rows == row] - start).tolist():
                tokens[place] = self._matched(
                    text, int(batch.ids[start + place]), offsets[place], unit
                )
            trim_offsets(tokens, offsets, add_prefix_space=self._add_prefix_space)

    def _matched(self, text: str, id_: int, span: NDArray[np.int32], unit: str) -> str:
        """Return a token as the reference calls it."""
        token = self._added.get(id_)
        if token is None:
            return self._forms[id_]
        start, stop = span.tolist()
        if unit == "chars":
            matched = text[start:stop]
        else:
            matched = text.encode("utf-8", "surrogatepass")[start:stop].decode("utf-8", "replace")
        return self._normalize(matched) if token.normalized else matched


def _takes_white_space(token: AddedToken | None) -> bool:
    return token is not None and (token.lstrip or token.rstrip)
