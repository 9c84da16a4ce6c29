"""Splits texts at their added tokens, so that the kernel can encode what is between them.

In goes a text, out come ids and stretches of text, each as it was or normalized. Where a token
stands in the text is not asked here: then all of it goes through the
:class:`~piecework.pipeline.pipeline.Pipeline`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from piecework.normalization import Normalizer
from piecework.pipeline.added_tokens import Finder, Finders
from piecework.spec import AddedToken


class TextSplitter:
    """Splits texts at the added tokens of one tokenizer with BERT's steps.

    Parameters
    ----------
    tokens : iterable of AddedToken
        In the order of their ids.
    normalizer : Normalizer
    encode : callable
        str -> its ids, for texts whose normalized stretches the normalizer would change again.
    split_special_tokens : bool
        Special ones are plain text.

    Notes
    -----
    Thread-safety: that of `encode`.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    >>> normalizer = Normalizer(rule_set("huggingface"), **dict.fromkeys(flags, True))
    >>> tokens = [AddedToken("[MASK]", 4), AddedToken("Été", 9, special=False, normalized=True)]
    >>> splitter = TextSplitter(tokens, normalizer, list, split_special_tokens=False)
    >>> list(splitter.split("En ETE [MASK] Bien"))
    ['en ', 9, ' ', 4, ' bien']
    """

    def __init__(
        self,
        tokens: Iterable[AddedToken],
        normalizer: Normalizer,
        encode: Callable[[str], Sequence[int]],
        *,
        split_special_tokens: bool,
    ) -> None:
        self._normalizer = normalizer
        self._encode = encode
        self._raw, self._normalized = Finders.of(
            tokens, normalizer.normalize, split_special_tokens=split_special_tokens
        )

    def split(self, text: str) -> Iterator[str | int]:
        """Yield ids, and the stretches of text between them, none of them empty."""
        if self._normalized is None:
            yield from _split(self._raw, text)
            return
        normalizer = self._normalizer
        parts = [
            part if isinstance(part, int) else normalizer.normalize(part)
            for part in _split(self._raw, text)
        ]
        if not all(isinstance(part, int) or normalizer.is_final(part) for part in parts):
            yield from self._encode(text)
            return
        for part in parts:
            if isinstance(part, int):
                yield part
            else:
                yield from _split(self._normalized, part)


def _split(finder: Finder | None, text: str) -> Iterator[str | int]:
    done = 0
    for start, stop, token in finder.find(text) if finder else ():
        if done < start:
            yield text[done:start]
        yield token.id
        done = stop
    if done < len(text):
        yield text[done:]
