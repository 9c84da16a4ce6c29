"""Builds the incumbent over a small vocabulary, and reads what it makes of texts.

The content that piecework's postprocessing is given comes from the incumbent too, so that these
tests depend on no other part.
"""

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing, RobertaProcessing, TemplateProcessing

from piecework.batch import Batch
from piecework.postprocess import Details, Plan, assemble, template_pieces
from piecework.spec import NO_TEMPLATE, SequencePiece, SpecialPiece, Template

WORDS = [*"abcdefghij", *(f"##{letter}" for letter in "abcdefghij")]
VOCAB = {
    token: i for i, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "[X]", "[Y]", "[PAD]", *WORDS])
}
ALL = Details(*[True] * 5)


def hf_tokenizer(processor=None, truncation=None):
    """Return the incumbent. Its check of the stride takes no heed of add_special_tokens=False."""
    tokenizer = Tokenizer(WordPiece(VOCAB, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    if truncation is not None:
        tokenizer.enable_truncation(
            truncation.max_length,
            stride=truncation.stride,
            strategy=truncation.strategy,
            direction=truncation.side,
        )
    if processor is not None:  # behind enable_truncation, which subtracts its special tokens
        tokenizer.post_processor = processor
    return tokenizer


class Special:
    """A special token of a template: its name, and the tokens it stands for."""

    def __init__(self, name, tokens=None):
        self.name = name
        self.tokens = tokens or (name,)


SPECIALS = [Special("[CLS]"), Special("[SEP]"), Special("XY", ("[X]", "[Y]", "[X]"))]


def both_templates(single, pair):
    """Return the incumbent's processor and our template of the same pieces, written as for it."""
    known = {special.name: special.tokens for special in SPECIALS}
    processor = TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[
            {"id": name, "ids": [VOCAB[token] for token in tokens], "tokens": list(tokens)}
            for name, tokens in known.items()
        ],
    )

    def piece(text):
        name, _, type_id = text.partition(":")
        if name in ("$A", "$B"):
            return SequencePiece(name[1], int(type_id or 0))
        tokens = known[name]
        return SpecialPiece(name, tokens, tuple(VOCAB[each] for each in tokens), int(type_id or 0))

    return processor, Template(
        tuple(piece(text) for text in single.split()), tuple(piece(text) for text in pair.split())
    )


def bert_processing():
    cls, sep = ("[CLS]", VOCAB["[CLS]"]), ("[SEP]", VOCAB["[SEP]"])
    return BertProcessing(sep, cls), Template.bert(cls, sep)


def roberta_processing():
    cls, sep = ("[CLS]", VOCAB["[CLS]"]), ("[SEP]", VOCAB["[SEP]"])
    _, template = both_templates("[CLS] $A [SEP]", "[CLS] $A [SEP] [SEP] $B [SEP]")
    template = Template(template.single, template.pair, {"type": "RobertaProcessing"})
    return RobertaProcessing(sep, cls, trim_offsets=False), template


def no_processing():
    return None, NO_TEMPLATE


def content_of(texts):
    """Return the tokens of texts as the incumbent cuts them, without template and truncation."""
    return batch_of_encodings(hf_tokenizer().encode_batch(texts, add_special_tokens=False))


def batch_of_encodings(encodings):
    """Return what the incumbent found as a batch of content."""
    splits = np.cumsum([0, *(len(encoding) for encoding in encodings)])
    ids = [id_ for encoding in encodings for id_ in encoding.ids]
    return Batch(
        np.array(ids, np.int32),
        splits,
        offsets=np.array([o for e in encodings for o in e.offsets], np.int32).reshape(-1, 2),
        word_ids=np.array([w for e in encodings for w in e.word_ids], np.int32),
    )


def hf_row(encoding):
    """Return what the incumbent says of a row, in our terms."""
    return {
        "ids": encoding.ids,
        "offsets": [list(offset) for offset in encoding.offsets],
        "word_ids": [-1 if word is None else word for word in encoding.word_ids],
        "sequence_ids": [-1 if text is None else text for text in encoding.sequence_ids],
        "type_ids": encoding.type_ids,
        "special_tokens_mask": encoding.special_tokens_mask,
    }


def our_rows(batch):
    """Return the rows of a batch as dicts of lists, in groups of one text each."""
    groups = {}
    samples = batch.overflow_to_sample
    for row in range(len(batch)):
        start, stop = batch.row_splits[row : row + 2]
        found = {"ids": batch.ids[start:stop].tolist()}
        for name in ALL._fields:
            if getattr(batch, name) is not None:
                found[name] = getattr(batch, name)[start:stop].tolist()
        groups.setdefault(row if samples is None else int(samples[row]), []).append(found)
    return list(groups.values())


def assembled(template, firsts, seconds=None, *, add_special=True, **plan_options):
    """Return the rows that we make of texts."""
    pieces = template_pieces(template, is_pair=seconds is not None, add_special=add_special)
    plan_options = {"details": ALL, "return_overflow": True, **plan_options}
    plan = Plan(pieces, is_pair=seconds is not None, **plan_options)
    second = None if seconds is None else content_of(seconds)
    return assemble(content_of(firsts), second, plan)
