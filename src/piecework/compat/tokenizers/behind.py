"""What stands behind a Tokenizer of the facade: an immutable tokenizer, and what is read off it.

Made once for each WordPieceTokenizer and shared by copies of the facade. It knows the strings that
`Encoding.tokens` shows, and the template in the form in which encodings are put together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from piecework.added_tokens import NewToken, count_added_tokens
from piecework.pipeline import Pipeline
from piecework.spec import NO_TEMPLATE, AddedToken, SpecialPiece, Template, TemplatePieces
from piecework.tokenizer import WordPieceTokenizer
from piecework.tokenizer_json import to_json

PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "model")
_OWN_KEY = "piecework"  # of the model: what the reference has no place for

# Roberta's post-processor says type 0 of all that it puts around, what overflows included.
_ROBERTA = "RobertaProcessing"


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

    @property
    def is_roberta(self) -> bool:
        """Whether the post-processor of the file is Roberta's."""
        written = self.template.post_processor
        return written is not None and written.get("type") == _ROBERTA

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

    def n_special(self, is_pair: bool, add_special: bool = True) -> int:
        """Return how many tokens the template adds."""
        if not add_special:
            return 0
        special = (each for each in self.pieces(is_pair) if isinstance(each, SpecialPiece))
        return sum(len(each.ids) for each in special)

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
    def template_strings(self) -> Mapping[int, str]:
        """The strings of the template's special tokens, which it says itself."""
        pieces = (*self.template.single, *self.template.pair)
        special = (each for each in pieces if isinstance(each, SpecialPiece))
        return {
            id_: token
            for piece in special
            for id_, token in zip(piece.ids, piece.tokens, strict=True)
        }

    @cached_property
    def is_as_written(self) -> bool:
        """Whether the template's tokens are those of the vocabulary."""
        strings = self.token_strings
        return all(strings.get(id_) == token for id_, token in self.template_strings.items())

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
