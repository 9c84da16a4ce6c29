"""What is looked up in a tokenizer, as dicts.

In goes an immutable tokenizer; what is made of it, when it is first needed, serves any number of
look-ups. It adds no tokens: a tokenizer with other tokens has another one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from piecework import WordPieceTokenizer


class Lookup:
    """The tokens and ids of a tokenizer.

    Parameters
    ----------
    tokenizer : WordPieceTokenizer

    Notes
    -----
    Thread-safety: what is made on demand is the same whoever makes it.
    """

    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each token, added ones included."""
        return self.tokenizer.vocab

    @cached_property
    def tokens(self) -> dict[int, str | None]:
        """The token of each id, added ones included."""
        added = (token.id for token in self.tokenizer.spec.added_tokens)
        return {
            **self.tokenizer.spec.vocabulary.tokens_by_id,
            **{id_: self.tokenizer.id_to_token(id_) for id_ in added},
        }

    @cached_property
    def n_tokens(self) -> int:
        """The number of tokens, added ones included."""
        spec = self.tokenizer.spec
        in_vocabulary = spec.vocabulary.ids
        return len(in_vocabulary) + sum(
            token.content not in in_vocabulary for token in spec.added_tokens
        )

    @cached_property
    def has_one_string_for_each_id(self) -> bool:
        """Whether the tokens of a text are told by their ids.

        They are not, where an added token takes the white space beside it, or has the id of a token
        with another string.
        """
        spec = self.tokenizer.spec
        in_vocabulary = spec.vocabulary.tokens_by_id
        return all(
            not (token.lstrip or token.rstrip)
            and in_vocabulary.get(token.id) in (None, self.tokens[token.id])
            for token in spec.added_tokens
        )


class Lookups:
    """Holds the look-up of the tokenizer that was asked last.

    Attributes
    ----------
    last : Lookup or None

    Notes
    -----
    It is pickled without it, so that what holds this has the same hash before and after use.
    """

    def __init__(self) -> None:
        self.last: Lookup | None = None

    def renew(self, tokenizer: WordPieceTokenizer) -> Lookup:
        """Return the look-up of another tokenizer."""
        self.last = lookup = Lookup(tokenizer)
        return lookup

    def __reduce__(self) -> tuple[Any, ...]:
        return Lookups, ()
