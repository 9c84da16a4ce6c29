"""What stands behind a Tokenizer of the facade: an immutable tokenizer, and what is read off it.

Made once for each WordPieceTokenizer and shared by copies of the facade. It knows the strings that
`Encoding.tokens` shows, and the template in the form in which encodings are put together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import Any

from piecework.added_tokens import NewToken, count_added_tokens
from piecework.pipeline import Pipeline
from piecework.spec import (
    NO_TEMPLATE,
    AddedToken,
    SequencePiece,
    SpecialPiece,
    Template,
    TemplatePieces,
)
from piecework.tokenizer import WordPieceTokenizer
from piecework.tokenizer_json import to_json

PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
_OWN_KEY = "piecework"  # of the model: what the reference has no place for


class Processing(Enum):
    """How a post-processor puts a text into its template."""

    NONE = "none"  # there is none
    TEMPLATE = "TemplateProcessing"
    BERT = "BertProcessing"
    ROBERTA = "RobertaProcessing"  # says type 0 of all, what overflows included


class Behind:
    """A tokenizer and what is made from it when it is first needed.

    Notes
    -----
    Thread-safety: one can be used by any number of threads at once.
    """

    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        self.tokenizer = tokenizer

    @property
    def template(self) -> Template:
        """What is put around texts; nothing, where the tokenizer has no template."""
        return self.tokenizer.spec.template or NO_TEMPLATE

    @cached_property
    def processing(self) -> Processing:
        """What the post-processor does, the last one of a sequence."""
        template = self.template
        written = template.post_processor
        if template == NO_TEMPLATE:
            return Processing.NONE
        while written is not None and written.get("type") == "Sequence":
            written = written["processors"][-1] if written["processors"] else None
        if written is None or written["type"] not in (each.value for each in Processing):
            return Processing.TEMPLATE
        return Processing(written["type"])

    @property
    def pipeline(self) -> Pipeline:
        """The steps one by one."""
        return self._pipelines[False]

    @property
    def added_tokens(self) -> dict[int, AddedToken]:
        """The added tokens by id."""
        return {token.id: token for token in self.tokenizer.spec.added_tokens}

    def pieces(self, is_pair: bool) -> TemplatePieces:
        """Return the template of one text or of a pair."""
        return self.template.pair if is_pair else self.template.single

    def names_all(self, is_pair: bool) -> bool:
        """Return whether the template has a place for each text."""
        pieces = self.pieces(is_pair)
        named = {piece.sequence for piece in pieces if isinstance(piece, SequencePiece)}
        return len(named) == (2 if is_pair else 1)

    def n_special(self, is_pair: bool, add_special: bool = True) -> int:
        """Return how many tokens the template adds."""
        if not add_special:
            return 0
        return sum(len(piece.ids) for piece in _special_pieces(self.pieces(is_pair)))

    @cached_property
    def token_strings(self) -> Mapping[int, str]:
        """The string of each id: for an added token what it looks for, normalized if it is."""
        tokenizer = self.tokenizer
        # Ids may be shared: the vocabulary's first token counts.
        strings = dict(tokenizer.spec.vocabulary.tokens_by_id)
        for id_ in self.added_tokens:
            strings[id_] = tokenizer.id_to_token(id_) or ""
        return strings

    @cached_property
    def is_as_written(self) -> bool:
        """Whether the template's tokens are those of the vocabulary."""
        strings = self.token_strings
        return all(
            [strings.get(id_) for id_ in piece.ids] == list(piece.tokens)
            for piece in _special_pieces(self.template.single + self.template.pair)
        )

    def template_strings(self, is_pair: bool) -> list[str] | None:
        """Return the strings of the special tokens in their order, which the template says.

        None: there are not as many as ids.
        """
        pieces = list(_special_pieces(self.pieces(is_pair)))
        if any(len(piece.ids) != len(piece.tokens) for piece in pieces):
            return None
        return [token for piece in pieces for token in piece.tokens]

    @cached_property
    def by_text(self) -> Mapping[int, AddedToken]:
        """The added tokens whose string depends on the text, by id.

        Those that take the white space beside them, and those that have the id of a token of the
        vocabulary and another string: the unk token's, if it is looked for in normalized text.
        """
        in_vocabulary = self.tokenizer.spec.vocabulary.tokens_by_id
        return {
            id_: token
            for id_, token in self.added_tokens.items()
            if token.lstrip
            or token.rstrip
            or in_vocabulary.get(id_, self.token_strings[id_]) != self.token_strings[id_]
        }

    def plain_tokens(self, ids: list[int]) -> list[str] | None:
        """Return the strings of the tokens of a row; None, where ids do not tell all of them."""
        if not self.is_as_written:
            return None
        if (by_text := self.by_text) and not by_text.keys().isdisjoint(ids):
            return None
        return self.strings_of(ids)

    @cached_property
    def textless_pair(self) -> WordPieceTokenizer | None:
        """A tokenizer that makes of any text what the template makes of a pair, if it names none.

        None, if the template of a pair has a place for a text.
        """
        pieces = self.template.pair
        if any(isinstance(piece, SequencePiece) for piece in pieces):
            return None
        template = replace(self.template, single=pieces)
        return WordPieceTokenizer.from_spec(replace(self.tokenizer.spec, template=template))

    def matched(self, text: str, *, split_special: bool) -> dict[tuple[int, int, int], str]:
        """Return what the added tokens of a text have matched, by id, start and stop."""
        found = self._pipelines[split_special].added_tokens(text)
        return {(token.id, *place): stretch for token, stretch, place in found}

    @cached_property
    def _pipelines(self) -> tuple[Pipeline, Pipeline]:
        spec = self.tokenizer.spec
        return Pipeline(spec), Pipeline(spec, split_special_tokens=True)

    @cached_property
    def parts(self) -> Mapping[str, Mapping[str, Any] | None]:
        """The objects of the tokenizer.json for its five parts, without the vocabulary."""
        document = json.loads(to_json(self.tokenizer.spec))
        for key in ("vocab", _OWN_KEY):
            document["model"].pop(key, None)
        return {name: document[name] for name in PARTS}

    @cached_property
    def content_tokenizer(self) -> WordPieceTokenizer:
        """A tokenizer whose ``add_special=False`` gives a text's tokens once, and untrimmed."""
        names = [
            each.sequence for each in self.template.single if not isinstance(each, SpecialPiece)
        ]
        if names == ["A"] and not self.template.trim_offsets:
            return self.tokenizer
        spec = replace(self.tokenizer.spec, template=NO_TEMPLATE)
        return WordPieceTokenizer.from_spec(spec)

    def strings_of(self, ids: Iterable[int]) -> list[str]:
        """Return the strings of ids."""
        return list(map(self.token_strings.__getitem__, ids))

    def n_tokens(self, with_added: bool) -> int:
        """Return the number of tokens, which is no more than the highest id + 1."""
        ids = self.tokenizer.spec.vocabulary.ids
        new = (token for token in self.added_tokens.values() if token.content not in ids)
        return len(ids) + (sum(1 for _ in new) if with_added else 0)

    def check_stride(self, max_length: int, stride: int) -> None:
        """Raise for a stride that the reference refuses when truncation is switched on.

        That is not every one that can't work: what is left for a text depends on the call.
        """
        room = max_length - self.n_special(is_pair=False)
        if stride and stride > room >= 0:
            raise ValueError(
                f"stride={stride}: expected at most {room}, what max_length={max_length} leaves "
                f"for a text beside {max_length - room} special tokens"
            )

    def with_tokens(self, tokens: Sequence[NewToken]) -> tuple[Behind, int]:
        """Return a tokenizer with added tokens, and how many of them it did not have so."""
        n_added = count_added_tokens(self.tokenizer.spec, tokens)
        if not n_added:
            return self, 0
        return Behind(self.tokenizer.add_tokens(tokens)), n_added

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tokenizer,)


def _special_pieces(pieces: TemplatePieces) -> Iterator[SpecialPiece]:
    return (piece for piece in pieces if isinstance(piece, SpecialPiece))
