"""What a tokenizer encodes with: the compiled encoder, and the same steps in Python.

In goes a :class:`~piecework.spec.TokenizerSpec`, out come the objects that encode by it. Those that
texts rarely need are made when they are first asked for.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from piecework._encode import Encoder, WordMatcher
from piecework.kernel_encoder import bert_flags, kernel_encoder, word_matcher
from piecework.normalization import Normalizer, join_surrogates
from piecework.python_rows import RowEncoder
from piecework.rules import rule_set
from piecework.spec import TokenizerSpec

if TYPE_CHECKING:
    from piecework.pipeline import Pipeline, Tokens


class Encoding:
    """What a tokenizer encodes with.

    Parameters
    ----------
    spec : TokenizerSpec

    Attributes
    ----------
    encoder : Encoder, or RowEncoder where the steps are not BERT's
        Encodes texts.

    Notes
    -----
    Thread-safety: threads that ask for the same part at once may each make it; all are equal.
    """

    def __init__(self, spec: TokenizerSpec) -> None:
        self._spec = spec
        self.encoder = self._make_encoder(split_special=False)

    def encoder_for(self, split_special: bool) -> Encoder | RowEncoder:
        """Return the encoder that takes special tokens for plain text, or the one that does not."""
        return self._text_encoder if split_special else self.encoder

    def pipeline_for(self, split_special: bool) -> Pipeline:
        """Return the steps in Python for the same."""
        return self._text_pipeline if split_special else self.pipeline

    @cached_property
    def pipeline(self) -> Pipeline:
        """The steps in Python, with the place of each token in the text."""
        return self._make_pipeline(split_special=False)

    @cached_property
    def normalizer(self) -> Normalizer:
        """BERT's rules in Python."""
        return Normalizer(rule_set(self._spec.rules), **bert_flags(self._spec))

    def normalize(self, text: str) -> str:
        """Return the normalized text."""
        if self._spec.steps is None:
            return self.normalizer.normalize(text)
        return self.pipeline.normalize(text)

    def words(self, text: str) -> list[str]:
        """Return the words of a text, which is normalized first."""
        if self._spec.steps is None:
            return self.normalizer.basic_tokenize(text)
        return self.pipeline.words(text)

    @cached_property
    def matcher(self) -> WordMatcher:
        """Matches single words as they are."""
        return word_matcher(self._spec)

    @cached_property
    def _text_encoder(self) -> Encoder | RowEncoder:
        return self._make_encoder(split_special=True)

    @cached_property
    def _text_pipeline(self) -> Pipeline:
        return self._make_pipeline(split_special=True)

    def _make_encoder(self, *, split_special: bool) -> Encoder | RowEncoder:
        rows = RowEncoder(
            self._encode_as_text if split_special else self._encode,
            partial(_repair, self._spec.clean_text and self._spec.steps is None),
        )
        if self._spec.steps is not None:
            return rows
        return kernel_encoder(
            self._spec, rows, lambda: self.normalizer, split_special=split_special
        )

    def _make_pipeline(self, *, split_special: bool) -> Pipeline:
        from piecework.pipeline import Pipeline  # most texts don't need it

        return Pipeline(self._spec, split_special_tokens=split_special)

    def _encode(self, text: str) -> Tokens:
        return self.pipeline.encode(text)

    def _encode_as_text(self, text: str) -> Tokens:
        return self._text_pipeline.encode(text)


def _repair(clean_text: bool, text: str, row: int | None) -> str:
    """Answer for a text with a surrogate in it."""
    return join_surrogates(text, clean_text=clean_text, row=row)
