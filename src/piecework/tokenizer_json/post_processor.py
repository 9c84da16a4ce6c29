"""The post-processor of a tokenizer.json, as the template that it comes to.

In goes the object of the file, out comes a :class:`~piecework.spec.Template`, and back. What the
templates do to texts is the business of others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from piecework.json_part import Part, shown
from piecework.spec import NO_TEMPLATE, SequencePiece, SpecialPiece, Template, TemplatePieces

_MAX_TYPE_ID = 2**31 - 1  # the arrays of type ids are int32
# What each must have, in the order in which the reference tries them: it goes by the keys alone.
_KEYS = {
    "RobertaProcessing": {"sep", "cls", "trim_offsets", "add_prefix_space"},
    "BertProcessing": {"sep", "cls"},
    "ByteLevel": {"add_prefix_space", "trim_offsets"},
    "TemplateProcessing": {"single", "pair", "special_tokens"},
    "Sequence": {"processors"},
}


def read_post_processor(document: Part, vocab_size: int) -> Template:
    """Return the template of a file; what its ids are must be below `vocab_size`.

    Raises
    ------
    UnsupportedTokenizerError
        For a post-processor that comes to no template.
    ValueError
        For one that the reference does not load, or would panic at; for ids out of range.
    """
    if document.value.get("post_processor") is None:
        return NO_TEMPLATE
    part = document.part("post_processor")
    template = _read(part)
    for piece in template.single + template.pair:
        if isinstance(piece, SpecialPiece) and not all(0 <= id_ < vocab_size for id_ in piece.ids):
            raise ValueError(
                f"{part.source}: post_processor: expected ids from 0 to {vocab_size - 1}, got "
                f"{', '.join(map(str, piece.ids))} for {piece.name!r}"
            )
    is_made_anew = part.value == post_processor_object(template)
    return template if is_made_anew else replace(template, post_processor=part.value)


def _read(part: Part) -> Template:
    kind = part.value.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        part.unsupported("type", f"one of {', '.join(map(repr, _READERS))}")
    template = _READERS[kind](part)
    taken_for = next(name for name, keys in _KEYS.items() if keys <= part.value.keys())
    if taken_for != kind:
        part.unsupported("type", f"{taken_for!r} (by its keys the tokenizers library takes it so)")
    return template


def _read_template(part: Part) -> Template:
    return Template(_read_pieces(part, "single", "A"), _read_pieces(part, "pair", "AB"))


def _read_pieces(part: Part, key: str, sequences: str) -> TemplatePieces:
    part.field(key, list)
    definitions = part.part("special_tokens")
    pieces: list[SpecialPiece | SequencePiece] = []
    for piece in part.parts(key):
        match list(piece.value.items()):
            case [("SpecialToken", {"id": str(name), "type_id": int(type_id)})]:
                tokens, ids = _read_special_token(definitions, name)
                pieces.append(SpecialPiece(name, tokens, ids, type_id))
            case [("Sequence", {"id": "A" | "B" as sequence, "type_id": int(type_id)})]:
                if sequence not in sequences:  # the reference panics at the first text
                    part.malformed(key, "no $B, as there is one text only")
                pieces.append(SequencePiece(sequence, type_id))
            case _:
                raise ValueError(
                    f"{part.source}: {piece.path}: expected a SpecialToken or a Sequence, got "
                    f"{shown(piece.value)}"
                )
        if isinstance(type_id, bool) or not 0 <= type_id <= _MAX_TYPE_ID:
            raise ValueError(
                f"{part.source}: {piece.path}: expected a type_id from 0 to 2**31 - 1, got "
                f"{shown(type_id)}"
            )
    return tuple(pieces)


def _read_special_token(definitions: Part, token: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    definition = definitions.part(token)
    tokens, ids = definition.field("tokens", list), definition.field("ids", list)
    # As many of one as of the other, or not: the reference takes both.
    for name, values, kind in (("tokens", tokens, str), ("ids", ids, int)):
        if not {*map(type, values)} <= {kind}:
            definition.malformed(name, f"an array of {kind.__name__}")
    return tuple(tokens), tuple(ids)


def _read_bert(part: Part) -> Template:
    return Template.bert(_read_pair(part, "cls"), _read_pair(part, "sep"))


def _read_roberta(part: Part) -> Template:
    """Return `cls A sep`, and `cls A sep sep B sep`, all of type 0."""
    cls, sep = (
        SpecialPiece(token, (token,), (id_,), 0)
        for token, id_ in (_read_pair(part, "cls"), _read_pair(part, "sep"))
    )
    single = (cls, SequencePiece("A", 0), sep)
    return _read_trimming(part, Template(single, (*single, sep, SequencePiece("B", 0), sep)))


def _read_pair(part: Part, key: str) -> tuple[str, int]:
    match part.field(key, list):
        case [str(token), int(id_)] if not isinstance(id_, bool):
            return token, id_
        case other:
            raise ValueError(f"{part.name(key)}: expected [token, id], got {shown(other)}")


def _read_byte_level(part: Part) -> Template:
    return _read_trimming(part, NO_TEMPLATE)


def _read_trimming(part: Part, template: Template) -> Template:
    add_prefix_space = part.field("add_prefix_space", bool)
    if part.field("trim_offsets", bool):
        return replace(template, trim_offsets=True, add_prefix_space=add_prefix_space)
    return template


def _read_sequence(part: Part) -> Template:
    """Return the template of the last processor, before which there may be ByteLevel ones.

    Nothing may stand behind a template: it would take its special tokens for those of the text.
    """
    part.field("processors", list)
    processors = part.parts("processors")
    for processor in processors[:-1]:
        if processor.value.get("type") != "ByteLevel":
            processor.unsupported("type", "'ByteLevel' of all but the last processor")
    templates = [_read(processor) for processor in processors]
    trimming = [template for template in templates if template.trim_offsets]
    if len(trimming) > 1:
        part.unsupported("processors", "at most one with trim_offsets")
    last = templates[-1] if templates else NO_TEMPLATE
    if not trimming:
        return last
    return replace(last, trim_offsets=True, add_prefix_space=trimming[0].add_prefix_space)


_READERS: dict[str, Callable[[Part], Template]] = {
    "TemplateProcessing": _read_template,
    "BertProcessing": _read_bert,
    "RobertaProcessing": _read_roberta,
    "ByteLevel": _read_byte_level,
    "Sequence": _read_sequence,
}


def post_processor_object(template: Template | None) -> Mapping[str, Any] | None:
    """Return the file's own post-processor, or one made of the template's pieces."""
    if template is None:
        return None
    if template.post_processor is not None:
        return template.post_processor
    if template == NO_TEMPLATE:
        return None
    made = _template_object(template)
    if not template.trim_offsets:
        return made
    fields = {"trim_offsets": True, "add_prefix_space": template.add_prefix_space}
    byte_level = {"type": "ByteLevel", **fields, "use_regex": True}
    return {"type": "Sequence", "processors": [byte_level, made]}


def _template_object(template: Template) -> dict[str, Any]:
    return {
        "type": "TemplateProcessing",
        "single": [_piece_object(piece) for piece in template.single],
        "pair": [_piece_object(piece) for piece in template.pair],
        "special_tokens": {
            piece.name: {"id": piece.name, "ids": list(piece.ids), "tokens": list(piece.tokens)}
            for piece in template.single + template.pair
            if isinstance(piece, SpecialPiece)
        },
    }


def _piece_object(piece: SpecialPiece | SequencePiece) -> dict[str, Any]:
    if isinstance(piece, SpecialPiece):
        return {"SpecialToken": {"id": piece.name, "type_id": piece.type_id}}
    return {"Sequence": {"id": piece.sequence, "type_id": piece.type_id}}
