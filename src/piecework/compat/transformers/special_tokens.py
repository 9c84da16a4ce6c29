"""The special tokens that the arguments of a transformers tokenizer name, in the tokenizer.

In come a tokenizer and the names; out come the tokens to add to it, and the tokenizer with them in
its template. Which of them a vocabulary has to begin with is decided where it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transformers import AddedToken

from piecework import WordPieceTokenizer
from piecework.compat.tokenizers import AddedToken as FacadeToken
from piecework.folder_config import SPECIAL_TOKENS
from piecework.spec import SpecialPiece, Template, TokenizerSpec


def tokens_to_add(
    known: Mapping[int, AddedToken],
    named: Sequence[AddedToken | str],
    extra: Sequence[AddedToken | str],
    decoder: Mapping[int, AddedToken],
) -> list[AddedToken]:
    """Return the tokens that the arguments name and a tokenizer lacks, as transformers does.

    Parameters
    ----------
    known : mapping of int to AddedToken
        The added tokens that are there.
    named, extra : sequence
        The special tokens that have a name, and those that have none.
    decoder : mapping of int to AddedToken
        ``added_tokens_decoder``: also tokens that are there with other flags.
    """
    as_they_are = {repr(token) for token in known.values()}
    missing = [token for _, token in sorted(decoder.items()) if repr(token) not in as_they_are]
    contents = {token.content for token in known.values()} | {str(token) for token in missing}
    for token in (*named, *extra):
        if str(token) not in contents:
            contents.add(str(token))
            missing.append(
                token if isinstance(token, AddedToken) else AddedToken(token, special=True)
            )
    special = {str(token) for token in named}
    return [_as_special(token) if token.content in special else token for token in missing]


def _as_special(token: AddedToken) -> AddedToken:
    """Return a token as a special one; where nobody said if it is normalized, it then is not."""
    was_special = token.special
    token.special = True  # it alone knows what it was given
    state = token.__getstate__()
    token.special = was_special
    return AddedToken(**state)


def facade_token(token: str | AddedToken) -> str | FacadeToken:
    """Return a token of the tokenizers library as one of its facade."""
    if isinstance(token, str):
        return token
    return FacadeToken(token.content, **flags_of(token))


def flags_of(token: Any) -> dict[str, bool]:
    """Return the flags of an added token of any of the libraries."""
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {name: getattr(token, name) for name in names}


def with_template(tokenizer: WordPieceTokenizer, names: Mapping[str, Any]) -> WordPieceTokenizer:
    """Return the tokenizer with the cls_token and the sep_token given in BERT's template.

    Parameters
    ----------
    tokenizer : WordPieceTokenizer
        With these tokens in its vocabulary or added. One with other steps or another template than
        BERT's is returned as it is.
    names : mapping
        The special tokens that were given, by ``cls_token`` and so on.
    """
    spec = tokenizer.spec
    written = bert_tokens(spec.template)
    if spec.steps is not None or written is None:
        return tokenizer
    ids, tokens = known_ids(spec), dict(written)
    for key in ("cls_token", "sep_token"):
        given = names.get(key)
        name = str(SPECIAL_TOKENS[key] if given is None else given)
        if name in ids and (given is not None or key not in written):
            tokens[key] = (name, ids[name])
    if tokens == written or len(tokens) < 2:
        return tokenizer
    template = Template.bert(tokens["cls_token"], tokens["sep_token"])
    return WordPieceTokenizer.from_spec(replace(spec, template=template))


def bert_tokens(template: Template | None) -> dict[str, tuple[str, int]] | None:
    """Return the tokens of BERT's template, with their ids; None for another template."""
    if template is None:
        return {}
    pieces = [piece for piece in template.single if isinstance(piece, SpecialPiece)]
    if [len(piece.ids) for piece in pieces] != [1, 1]:
        return None
    first, last = ((piece.tokens[0], piece.ids[0]) for piece in pieces)
    if Template.bert(first, last) != replace(template, post_processor=None):
        return None
    return {"cls_token": first, "sep_token": last}


def known_ids(spec: TokenizerSpec) -> dict[str, int]:
    """Return the ids of all tokens."""
    return {**spec.vocabulary.ids, **{token.content: token.id for token in spec.added_tokens}}
