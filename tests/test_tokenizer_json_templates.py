"""Post-processors of a tokenizer.json, against what the incumbent makes of texts and pairs."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from tokenizers import Tokenizer

from piecework.errors import UnsupportedTokenizerError
from piecework.pretrained import bert_spec
from piecework.spec import NO_TEMPLATE, SpecialPiece, Template, TemplatePieces
from piecework.tokenizer_json import from_json, to_json
from piecework.vocabulary import Vocabulary

VOCAB = {
    token: i
    for i, token in enumerate(
        ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "b", "Ġa", "##Ġ", "Ġ"]
    )
}
CLS, SEP = ["[CLS]", 1], ["[SEP]", 2]
BERT = {"type": "BertProcessing", "sep": SEP, "cls": CLS}
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": False,
    "use_regex": True,
}
TRIMMING = {**BYTE_LEVEL, "trim_offsets": True}
ROBERTA = {**BERT, "type": "RobertaProcessing", "trim_offsets": False, "add_prefix_space": True}
DEFINITIONS = {
    "[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
    "[SEP]": {"id": "other", "ids": [2], "tokens": ["[SEP]"]},
    "two": {"id": "two", "ids": [3, 4], "tokens": ["[MASK]", "odd"]},
}


def special(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": type_id}}


def sequence(name: str, type_id: int = 0) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": type_id}}


def template(single: list[Any], pair: list[Any]) -> dict[str, Any]:
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": DEFINITIONS,
    }


def chain(*processors: Any) -> dict[str, Any]:
    return {"type": "Sequence", "processors": list(processors)}


def document(post_processor: Any) -> str:
    spec = bert_spec(Vocabulary.from_mapping(VOCAB), lowercase=False)
    text = json.loads(to_json(spec))
    flags = {"single_word": False, "lstrip": True, "rstrip": True, "normalized": False}
    added = {"id": len(VOCAB), "content": "<m>", **flags, "special": True}
    return json.dumps(
        {**text, "post_processor": post_processor, "added_tokens": [*text["added_tokens"], added]}
    )


def assembled(
    pieces: TemplatePieces, contents: dict[str, list[int]], *, add_special: bool
) -> tuple[list[int], list[int]]:
    ids: list[int] = []
    type_ids: list[int] = []
    for piece in pieces:
        if isinstance(piece, SpecialPiece):
            new = list(piece.ids) if add_special else []
        else:
            new = contents[piece.sequence]
        ids += new
        type_ids += [piece.type_id] * len(new)
    return ids, type_ids


def check(post_processor: Any) -> Template:
    """Compare a template, and what is written of it, with the incumbent; return it."""
    text = document(post_processor)
    spec = from_json(text, "file")
    hf, again = Tokenizer.from_str(text), Tokenizer.from_str(to_json(spec))
    bare = Tokenizer.from_str(document(None))
    assert from_json(to_json(spec), "again") == spec
    assert spec.template is not None
    for texts in (("a b  <m> ab",), ("a Ġa", "b <m>"), ("", ""), ("",)):
        contents = dict(zip("AB", (bare.encode(part).ids for part in texts), strict=False))
        pieces = spec.template.single if len(texts) == 1 else spec.template.pair
        for add_special in (True, False):
            expected = hf.encode(*texts, add_special_tokens=add_special)
            ours = assembled(pieces, contents, add_special=add_special)
            assert ours == (expected.ids, expected.type_ids)
            written = again.encode(*texts, add_special_tokens=add_special)
            assert (written.ids, written.type_ids, written.offsets, written.tokens) == (
                expected.ids,
                expected.type_ids,
                expected.offsets,
                expected.tokens,
            )
    return spec.template


@pytest.mark.parametrize(
    "post_processor",
    [
        None,
        BERT,
        ROBERTA,
        {**ROBERTA, "trim_offsets": True},
        {**ROBERTA, "trim_offsets": True, "add_prefix_space": False},
        BYTE_LEVEL,
        TRIMMING,
        chain(),
        chain(BERT),
        chain(BYTE_LEVEL, BERT),
        chain(TRIMMING, BERT),
        chain(BYTE_LEVEL, BYTE_LEVEL, ROBERTA),
        chain(chain(BERT)),
        chain(BYTE_LEVEL, template([sequence("A")], [sequence("A"), sequence("B")])),
        template([sequence("A")], [sequence("A"), sequence("B", 1)]),
        template([special("[CLS]"), sequence("A"), special("[SEP]")], [sequence("A", 7)]),
        template([special("[CLS]")], [special("[SEP]")]),
        template([], []),
        template([sequence("A", 1), special("two", 3), sequence("A", 2)], [sequence("B")]),
        template([sequence("A")], [sequence("B", 1), special("two"), sequence("A"), sequence("B")]),
    ],
)
def test_a_post_processor_is_read_and_written_as_the_incumbent_has_it(post_processor: Any) -> None:
    check(post_processor)


def test_random_templates() -> None:
    rng = random.Random(9)
    pieces = [special(name) for name in DEFINITIONS] + [sequence("A"), sequence("A")]
    for _ in range(40):
        drawn = [
            [
                {kind: {**fields, "type_id": rng.randrange(4)}}
                for piece in rng.choices(options, k=rng.randint(0, 5))
                for kind, fields in piece.items()
            ]
            for options in (pieces, [*pieces, sequence("B"), sequence("B")])
        ]
        check(template(*drawn))


@pytest.mark.parametrize(
    ("post_processor", "message"),
    [
        (chain(BERT, BYTE_LEVEL), r"processors\[0\].type: expected 'ByteLevel' of all but"),
        (chain(BERT, BERT), r"processors\[0\].type: expected 'ByteLevel' of all but"),
        (chain(TRIMMING, {**ROBERTA, "trim_offsets": True}), "processors: expected at most one"),
        (chain(BYTE_LEVEL, {"type": "Foo"}), r"processors\[1\].type: expected one of"),
        ({**ROBERTA, "type": "BertProcessing"}, "type: expected 'RobertaProcessing' .by its keys"),
        ({**BERT, "type": ["BertProcessing"]}, r"type: expected one of .*, got \["),
    ],
)
def test_what_would_differ_is_unsupported(post_processor: Any, message: str) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=f"^file: post_processor.{message}"):
        from_json(document(post_processor), "file")


@pytest.mark.parametrize(
    ("post_processor", "message"),
    [
        ({"type": "Sequence"}, "post_processor.processors is missing"),
        ({**BERT, "type": "RobertaProcessing"}, "post_processor.add_prefix_space is missing"),
        ({**BERT, "cls": ["[CLS]"]}, r"post_processor.cls: expected \[token, id\], got"),
        ({**BERT, "cls": ["[CLS]", 77]}, r"expected ids from 0 to 10, got 77 for '\[CLS\]'"),
        ({**ROBERTA, "trim_offsets": 1}, "post_processor.trim_offsets: expected a bool, got 1"),
        (template([sequence("A", 1 << 31)], []), r"type_id from 0 to 2\*\*31 - 1, got 2147483648"),
        (template([sequence("A"), sequence("B")], []), r"post_processor.single: expected no \$B"),
    ],
)
def test_what_cannot_work_is_refused(post_processor: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^file: .*{message}"):
        from_json(document(post_processor), "file")


def test_a_template_of_ones_own_that_trims_is_written_as_a_sequence() -> None:
    spec = bert_spec(Vocabulary.from_mapping(VOCAB))
    for made in (
        replace(Template.bert(("[CLS]", 1), ("[SEP]", 2)), trim_offsets=True),
        replace(NO_TEMPLATE, trim_offsets=True, add_prefix_space=True),
    ):
        again = from_json(to_json(replace(spec, template=made)), "").template
        assert again is not None
        assert replace(again, post_processor=None) == made
        hf = Tokenizer.from_str(to_json(replace(spec, template=made)))
        assert hf.post_processor is not None
