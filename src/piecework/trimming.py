"""Offsets without the white space at the ends of tokens, as RobertaProcessing and ByteLevel say.

In go texts, and a batch with their tokens and offsets, which are changed in place. Only tokens that
hold white space at an end are concerned, so nearly none: added ones, mostly those with ``lstrip``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from piecework._numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from piecework._texts import Texts
    from piecework.batch import Batch
    from piecework.pipeline import Pipeline
    from piecework.spec import AddedToken, TokenizerSpec

# White_Space, and what byte-level vocabularies have for a space.
_TRIMMED = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000Ġ"
)


class Trim(NamedTuple):
    """What is taken off a token's place, in characters.

    Attributes
    ----------
    start, stop : int
        How many at each end.
    if_not_first : bool
        The one at the start stays, if this is the first token of its text in a row.
    """

    start: int
    stop: int
    if_not_first: bool

    def of(self, start: int, stop: int) -> tuple[int, int]:
        """Return a place, in characters, without what is taken off."""
        start = min(start + self.start, stop)
        # The reference's: what would reach in front of the text is not taken off.
        return start, max(stop - self.stop, start) if stop >= self.stop else stop


def trim_of(token: str, *, at_start: bool, add_prefix_space: bool) -> Trim:
    """Say what is taken off the place of a token.

    Parameters
    ----------
    token : str
        As the reference calls it: for an added token the stretch that it matched, in normalized
        text for a normalized one.
    at_start : bool
        It begins where its text begins.
    add_prefix_space : bool
        A single space before the first token, or at the start of the text, is kept.

    Examples
    --------
    >>> trim_of("  <m> ", at_start=False, add_prefix_space=True)
    Trim(start=2, stop=1, if_not_first=False)
    >>> trim_of(" <m>", at_start=False, add_prefix_space=True)
    Trim(start=1, stop=0, if_not_first=True)
    """
    n_leading = len(token) - len(token.lstrip(_TRIMMED))
    n_trailing = len(token) - len(token.rstrip(_TRIMMED))
    is_prefix = add_prefix_space and n_leading == 1
    return Trim(0 if is_prefix and at_start else n_leading, n_trailing, is_prefix and not at_start)


class Trimmer:
    """Trims the offsets of a tokenizer's tokens.

    Parameters
    ----------
    spec : TokenizerSpec
        Whose template says that offsets are trimmed.
    forms : mapping of int to str
        The token of each id, an added one in the form that it is looked for by.
    """

    def __init__(self, spec: TokenizerSpec, forms: Mapping[int, str]) -> None:
        added = {token.id: token for token in spec.added_tokens}
        # What is no added token where it stands has the name of the vocabulary.
        self._tokens = {**forms, **spec.vocabulary.tokens_by_id}
        self._add_prefix_space = spec.template is not None and spec.template.add_prefix_space
        self._ids = np.array(
            [
                id_
                for id_, token in self._tokens.items()
                if any(name != name.strip(_TRIMMED) for name in (token, forms[id_]))
                or _takes_white_space(added.get(id_))
            ],
            np.int64,
        )

    def trim(
        self, content: Batch, texts: Texts, unit: str, make_pipeline: Callable[[], Pipeline]
    ) -> dict[int, tuple[int, int]]:
        """Trim offsets in place.

        Parameters
        ----------
        content : Batch
            The tokens of texts alone, with offsets.
        texts : Texts
            A row for each of those of `content`.
        unit : "chars" or "bytes"
            Of the offsets.
        make_pipeline : callable
            Gives what finds the added tokens of the texts.

        Returns
        -------
        dict of int to (int, int)
            For tokens whose white space stays if they are the first in a row: their index in
            ``content.ids``, and their place then. See :func:`keep_first_spaces`.
        """
        assert content.offsets is not None
        indices = np.flatnonzero(np.isin(content.ids, self._ids))
        rows = np.searchsorted(content.row_splits, indices, side="right") - 1
        if_first = {}
        last_row, text = -1, None
        for index, row in zip(indices.tolist(), rows.tolist(), strict=True):
            if row != last_row or text is None:
                last_row, text = row, _Text(texts.row(row), unit, make_pipeline())
            id_, place = int(content.ids[index]), tuple(content.offsets[index].tolist())
            trim = trim_of(
                text.matched.get((id_, *place), self._tokens[id_]),
                at_start=place[0] == 0,
                add_prefix_space=self._add_prefix_space,
            )
            if trim.if_not_first:
                if_first[index] = text.trimmed(place, trim._replace(start=0))
            content.offsets[index] = text.trimmed(place, trim)
        return if_first


class _Text:
    """A text whose places are counted in characters, or in bytes of its UTF-8.

    Attributes
    ----------
    matched : dict of (int, int, int) to str
        What its added tokens have matched, by id, start and stop.
    """

    def __init__(self, text: str, unit: str, pipeline: Pipeline) -> None:
        self._text: str | bytes = text if unit == "chars" else text.encode("utf-8", "surrogatepass")
        self.matched = {}
        at_char = at = 0
        for token, matched, (start, stop) in pipeline.added_tokens(text):
            # Two that share white space overlap.
            first = at + self._size(text[at_char:start]) - self._size(text[start:at_char])
            at_char, at = stop, first + self._size(text[start:stop])
            self.matched[token.id, first, at] = matched

    def trimmed(self, place: tuple[int, int], trim: Trim) -> tuple[int, int]:
        """Return a place without what is trimmed."""
        matched = self._slice(*place)
        n_before = len(self._slice(0, place[0])) if trim.stop > len(matched) else 0
        in_chars = trim.of(n_before, n_before + len(matched))
        start, stop = (place[0] + self._size(matched[: at - n_before]) for at in in_chars)
        return start, stop

    def _slice(self, start: int, stop: int) -> str:
        part = self._text[start:stop]
        return part if isinstance(part, str) else part.decode("utf-8", "surrogatepass")

    def _size(self, part: str) -> int:
        return len(part if isinstance(self._text, str) else part.encode("utf-8", "surrogatepass"))


def keep_first_spaces(
    batch: Batch, origins: NDArray[np.int32], if_first: Mapping[int, tuple[int, int]]
) -> None:
    """Undo the trimming of a single space before tokens that became the first in a row.

    Parameters
    ----------
    batch : Batch
        With offsets, which are changed in place.
    origins : int32 array, shape (n_tokens,)
        Which token of the content each one is; neighbours there have successive numbers.
    if_first : mapping of int to (int, int)
        Where tokens, by these numbers, stand if they are the first.

    Examples
    --------
    >>> from piecework import Batch
    >>> ids, offsets = np.array([7, 8, 9], np.int32), np.array([[0, 1], [1, 2], [3, 4]], np.int32)
    >>> batch = Batch(ids, np.array([0, 2, 3]), offsets=offsets)
    >>> keep_first_spaces(batch, np.arange(3, dtype=np.int32), {2: (2, 4)})
    >>> batch.offsets.tolist()
    [[0, 1], [1, 2], [2, 4]]
    """
    assert batch.offsets is not None
    places = np.flatnonzero(np.isin(origins, list(if_first)))
    is_first = np.isin(places, batch.row_splits[:-1]) | (origins[places - 1] != origins[places] - 1)
    for place in places[is_first].tolist():
        batch.offsets[place] = if_first[int(origins[place])]


def _takes_white_space(token: AddedToken | None) -> bool:
    return token is not None and (token.lstrip or token.rstrip)
