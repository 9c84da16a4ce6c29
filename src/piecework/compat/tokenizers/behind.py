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

from piecework.added_tokens import NewToken, count_added_tokens, with_added_tokens
from piecework.decoding import Decoder
from piecework.pipeline import Pipeline
from piecework.spec import (
    NO_TEMPLATE,
    AddedToken,
    SequencePiece,
    SpecialPiece,
    Template,
    TemplatePieces,
    TokenizerSpec,
)
from piecework.tokenizer import WordPieceTokenizer
from piecework.tokenizer_json import to_json

_NO_FORMS: Mapping[int, str] = {}
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

    Parameters
    ----------
    base : WordPieceTokenizer
    spec : TokenizerSpec, optional
        That of `base` with more added tokens. The tokenizer is built when something is encoded or
        decoded, so that adding token by token takes no time.
    normal_forms : mapping of int to str, optional
        What the ids of the tokens that were added as normalized ones are called. As in the
        reference they keep that when the token is added again and is not normalized any more.

    Notes
    -----
    Thread-safety: one can be used by any number of threads at once.
    """

    def __init__(
        self,
        base: WordPieceTokenizer,
        spec: TokenizerSpec | None = None,
        normal_forms: Mapping[int, str] = _NO_FORMS,
    ) -> None:
        self._base = base
        self.spec = base.spec if spec is None else spec
        self._normal_forms = normal_forms

    @cached_property
    def tokenizer(self) -> WordPieceTokenizer:
        """The tokenizer, with all tokens that were added."""
        base, spec = self._base, self.spec
        return base if spec is base.spec else WordPieceTokenizer.from_spec(spec)

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token; None, if there is no such token."""
        added = self._added_ids.get(token)
        return self.spec.vocabulary.ids.get(token) if added is None else added

    def id_to_token(self, id_: int) -> str | None:
        """Return what an id is called; None, if no token has it."""
        if (form := self._normal_forms.get(id_)) is not None:
            return form
        if (token := self.added_tokens.get(id_)) is not None:
            return self._form(token)
        return self.spec.vocabulary.tokens_by_id.get(id_)

    def vocab(self) -> dict[str, int]:
        """Return tokens and ids, with the added ones."""
        return {**self.spec.vocabulary.ids, **self._added_ids}

    @cached_property
    def _added_ids(self) -> Mapping[str, int]:
        return {token.content: token.id for token in self.spec.added_tokens}

    def _form(self, token: AddedToken) -> str:
        return self._base.normalize(token.content) if token.normalized else token.content

    @cached_property
    def decoder(self) -> WordPieceTokenizer | Decoder:
        """What decodes: the tokenizer, unless ids are called otherwise than it knows."""
        names = {id_: self.id_to_token(id_) or "" for id_ in self.added_tokens}
        if all(self._form(token) == names[id_] for id_, token in self.added_tokens.items()):
            return self.tokenizer
        spec = self.spec
        strings = {**spec.vocabulary.tokens_by_id, **names}
        return Decoder(strings, spec.vocab_size, spec.special_tokens, spec.decoder)

    @property
    def template(self) -> Template:
        """What is put around texts; nothing, where the tokenizer has no template."""
        return self.spec.template or NO_TEMPLATE

    @cached_property
    def processing(self) -> Processing:
        """What the post-processor does, the last one of a sequence."""
        template = self.template
        if template == NO_TEMPLATE:
            return Processing.NONE
        kinds: dict[str | None, Processing] = {each.value: each for each in Processing}
        return kinds.get(template.processor_type, Processing.TEMPLATE)

    @property
    def pipeline(self) -> Pipeline:
        """The steps one by one."""
        return self._pipelines[False]

    @cached_property
    def added_tokens(self) -> Mapping[int, AddedToken]:
        """The added tokens by id."""
        return {token.id: token for token in self.spec.added_tokens}

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
        # Ids may be shared: the vocabulary's first token counts.
        strings = dict(self.spec.vocabulary.tokens_by_id)
        return strings | {id_: self._form(token) for id_, token in self.added_tokens.items()}

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
        in_vocabulary = self.spec.vocabulary.tokens_by_id
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
        return WordPieceTokenizer.from_spec(replace(self.spec, template=template))

    def matched(self, text: str, *, split_special: bool) -> dict[tuple[int, int, int], str]:
        """Return what the added tokens of a text have matched, by id, start and stop."""
        found = self._pipelines[split_special].added_tokens(text)
        return {(token.id, *place): stretch for token, stretch, place in found}

    @cached_property
    def _pipelines(self) -> tuple[Pipeline, Pipeline]:
        spec = self.spec
        return Pipeline(spec), Pipeline(spec, split_special_tokens=True)

    @cached_property
    def parts(self) -> Mapping[str, Mapping[str, Any] | None]:
        """The objects of the tokenizer.json for its five parts, without the vocabulary."""
        document = json.loads(to_json(self.spec))
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
        spec = replace(self.spec, template=NO_TEMPLATE)
        return WordPieceTokenizer.from_spec(spec)

    def strings_of(self, ids: Iterable[int]) -> list[str]:
        """Return the strings of ids."""
        return list(map(self.token_strings.__getitem__, ids))

    def n_tokens(self, with_added: bool) -> int:
        """Return the number of tokens, which is no more than the highest id + 1."""
        ids = self.spec.vocabulary.ids
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
        n_added = count_added_tokens(self.spec, tokens)
        if not n_added:
            return self, 0
        forms = dict(self._normal_forms)
        for token in self.added_tokens.values():
            if token.normalized and token.id not in forms:
                forms[token.id] = self._form(token)
        return Behind(self._base, with_added_tokens(self.spec, tokens), forms), n_added

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tokenizer, None, self._normal_forms)


def _special_pieces(pieces: TemplatePieces) -> Iterator[SpecialPiece]:
    return (piece for piece in pieces if isinstance(piece, SpecialPiece))
