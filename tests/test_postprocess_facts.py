"""What was measured of the incumbent's templates, truncation and padding, case by case."""

import json

import helpers
import numpy as np
import pytest
from postprocess_oracle import ALL, batch_of_encodings

from piecework.postprocess import Plan, Truncation, assemble, template_pieces
from piecework.spec import SequencePiece, SpecialPiece, Template

FACTS = helpers.DATA.parent / "facts" / "q9_templates_truncation_padding.json"
CLS, SEP = ("[CLS]", 101), ("[SEP]", 102)
IDS = {"[CLS]": (101,), "[SEP]": (102,), "XX": (101, 102)}
# The templates by the names that the cases have for them, as the incumbent writes them.
TEMPLATES = {
    "roberta": ("[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B [SEP]"),
    "roberta_notrim": ("[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B [SEP]"),
    "tmpl_default_types": ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]"),
    "tmpl_types": ("[CLS]:3 $A:4 [SEP]:5", "[CLS]:0 $A:1 [SEP]:2 $B:7 [SEP]:8"),
    "tmpl_swap": ("$A [SEP]", "$B:1 [SEP]:1 $A [SEP]"),
    "tmpl_repeat": ("$A [SEP] $A", "$A $B:1 $A"),
    "tmpl_noA": ("[SEP]", "$A $B"),
    "tmpl_multi": ("XX $A XX", "$A XX $B"),
    "tmpl_$1": ("[CLS]:1 $A:1 [SEP]", "$A:2 $B:3"),
}


def cases():
    if not FACTS.exists():
        return []
    return [
        pytest.param(case, id=f"{i} {case['case']}")
        for i, case in enumerate(json.loads(FACTS.read_text()))
        if case["case"] != "template ctor"  # of the reader of files
    ]


def template_named(name):
    if name in (None, "bert"):
        return Template.bert(CLS, SEP)

    def piece(text):
        name, _, type_id = text.partition(":")
        if name in ("$A", "$B"):
            return SequencePiece(name[1], int(type_id or 0))
        return SpecialPiece(name, (name,) * len(IDS[name]), IDS[name], int(type_id or 0))

    single, pair = (tuple(map(piece, text.split())) for text in TEMPLATES[name])
    processor = {"type": "RobertaProcessing"} if name.startswith("roberta") else None
    return Template(single, pair, processor)


@pytest.fixture(scope="module")
def hf(request):
    return helpers.hf_tokenizer(helpers.embedded_vocab())


def assembled(hf, config):
    """Return what we make of the texts of one case: the first row and those of overflow."""
    options = dict(config["truncation"] or {"max_length": None})
    options["side"] = options.pop("direction", "right")
    truncation = None if options["max_length"] is None else Truncation(**options)
    texts = [config["a"]] if config["b"] is None else [config["a"], config["b"]]
    template = template_named(config.get("post_processor"))
    is_pair = len(texts) == 2
    pieces = template_pieces(template, is_pair=is_pair, add_special=config["add_special_tokens"])
    plan = Plan(pieces, is_pair, truncation, return_overflow=True, details=ALL)
    contents = [batch_of_encodings([hf.encode(text, add_special_tokens=False)]) for text in texts]
    return assemble(contents[0], contents[1] if is_pair else None, plan)


def padded_rows(batch, padding, longest):
    """Return the rows as the cases show them, each padded by itself to the common length."""
    padding = {"length": 0} if padding is None else padding
    length = longest if padding.get("length") is None else padding["length"]
    names = {"pad_id": "pad_id", "pad_type_id": "pad_type_id", "direction": "side"}
    options = {ours: padding[theirs] for theirs, ours in names.items() if theirs in padding}
    options["multiple_of"] = padding.get("pad_to_multiple_of") or 1
    target = batch[:0].to_padded(length, **options).input_ids.shape[1]
    rows = []
    for i in range(len(batch)):
        padded = batch[i : i + 1].to_padded(
            max(target, len(batch[i])), **{**options, "multiple_of": 1}
        )
        lists = {name: array[0].tolist() for name, array in padded.as_dict().items()}
        rows.append(
            {
                "ids": lists["input_ids"],
                "type_ids": lists["token_type_ids"],
                "special": lists["special_tokens_mask"],
                "attn": lists["attention_mask"],
                "seq": [None if text < 0 else text for text in lists["sequence_ids"]],
                "word_ids": [None if word < 0 else word for word in lists["word_ids"]],
                "offsets": lists["offsets"],
            }
        )
    return rows


def expected_rows(case):
    fields = ("ids", "type_ids", "special", "attn", "seq", "word_ids", "offsets")
    return [{name: row[name] for name in fields} for row in (case, *case["overflow"])]


def is_refused(config, n_special):
    """Tell the calls that we refuse where the incumbent does not truncate, and says nothing."""
    return bool(config["truncation"]) and 0 <= config["truncation"]["max_length"] < n_special


@pytest.mark.skipif(not FACTS.exists(), reason=f"no {FACTS.name} beside the data")
@pytest.mark.parametrize("case", cases())
def test_a_measured_case(hf, case):
    if "config" not in case or case["case"].startswith("single template uses $B"):
        template = Template((SequencePiece("B", 0),), ())
        with pytest.raises(ValueError, match="for one text has a place for a second one"):
            template_pieces(template, is_pair=False, add_special=True)
        return
    config = case["config"]
    inputs = config.get("inputs")
    if inputs is not None:
        texts = [text if isinstance(text, list) else [text, None] for text in inputs]
        configs = [{**config, "a": a, "b": b, "add_special_tokens": True} for a, b in texts]
        batches = [assembled(hf, each) for each in configs]
        longest = max((len(batch[0]) for batch in batches), default=0)
        found = [padded_rows(batch, config["padding"], longest) for batch in batches]
        assert found == [expected_rows(each) for each in case["ok"]]
        return
    is_pair = config["b"] is not None
    pieces = template_pieces(
        template_named(config.get("post_processor")),
        is_pair=is_pair,
        add_special=config["add_special_tokens"],
    )
    if "error" in case or is_refused(config, Plan(pieces, is_pair).n_special):
        with pytest.raises(ValueError, match=r"max_length|truncation|side|stride"):
            padded_rows(assembled(hf, config), config["padding"], 0)
        return
    batch = assembled(hf, config)
    assert padded_rows(batch, config["padding"], len(batch[0])) == expected_rows(case["ok"])
    assert batch.overflow_to_sample.tolist() == np.zeros(len(batch), int).tolist()
