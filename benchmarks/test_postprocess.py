"""From the tokens of texts to the matrices of a model: assembling rows, and padding them.

Content is made of numbers, so that nothing else is measured; the incumbent's `post_process` is
timed on encodings of the same lengths. `extra_info` has nanoseconds for each token of the result.
"""

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import BertProcessing

from piecework.batch import Batch
from piecework.postprocess import Details, Plan, Truncation, assemble, template_pieces
from piecework.spec import Template

N_ROWS = 256
MAX_LENGTH = 128
TEMPLATE = Template.bert(("[CLS]", 1), ("[SEP]", 2))
DETAILS = {
    "ids": Details(),
    "types": Details(type_ids=True),
    "all": Details(*[True] * 5),
}


def lengths_of(which):
    return np.random.default_rng(which).integers(20, 200, N_ROWS)


def content(which):
    splits = np.concatenate([[0], np.cumsum(lengths_of(which))]).astype(np.int64)
    n_tokens = int(splits[-1])
    starts = np.arange(n_tokens, dtype=np.int32)
    return Batch(
        np.random.default_rng(which).integers(3, 99, n_tokens, dtype=np.int32),
        splits,
        offsets=np.stack([starts, starts + 1], axis=1),
        word_ids=starts,
    )


def plan_of(details, *, is_pair, overflow=False):
    pieces = template_pieces(TEMPLATE, is_pair=is_pair, add_special=True)
    truncation = Truncation(MAX_LENGTH, stride=16 if overflow else 0)
    return Plan(pieces, is_pair, truncation, overflow, DETAILS[details])


def record(benchmark, n_tokens):
    benchmark.extra_info["tokens"] = n_tokens
    if benchmark.stats:  # none with --benchmark-disable
        benchmark.extra_info["ns a token"] = benchmark.stats.stats.median / n_tokens * 1e9


@pytest.mark.parametrize("details", DETAILS)
@pytest.mark.parametrize("is_pair", [False, True], ids=["single", "pairs"])
def test_assemble(benchmark, is_pair, details):
    first, second = content(0), content(1) if is_pair else None
    plan = plan_of(details, is_pair=is_pair)
    record(benchmark, len(benchmark(assemble, first, second, plan).ids))


def test_assemble_windows(benchmark):
    plan = plan_of("all", is_pair=False, overflow=True)
    record(benchmark, len(benchmark(assemble, content(0), None, plan).ids))


@pytest.mark.parametrize("details", DETAILS)
def test_assemble_pairs_and_pad(benchmark, details):
    first, second, plan = content(0), content(1), plan_of(details, is_pair=True)

    def matrices():
        return assemble(first, second, plan).to_padded(MAX_LENGTH, dtype="int64")

    record(benchmark, benchmark(matrices).input_ids.size)


def test_pad_into_given_arrays(benchmark):
    batch = assemble(content(0), content(1), plan_of("types", is_pair=True))
    names = ("input_ids", "attention_mask", "token_type_ids")
    out = {name: np.empty((N_ROWS, MAX_LENGTH), np.int64) for name in names}
    record(benchmark, benchmark(batch.to_padded, MAX_LENGTH, out=out).input_ids.size)


def test_post_process_of_tokenizers(benchmark):
    """The incumbent's way from the tokens of pairs to rows, without the lists of Python."""
    hf = Tokenizer(WordPiece({"a": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}, unk_token="[UNK]"))
    hf.pre_tokenizer = WhitespaceSplit()
    pairs = [
        [hf.encode(" ".join("a" * int(n))) for n in lengths]
        for lengths in zip(lengths_of(0), lengths_of(1), strict=True)
    ]
    hf.post_processor = BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    hf.enable_truncation(MAX_LENGTH)
    hf.enable_padding(length=MAX_LENGTH)
    rows = benchmark(lambda: [hf.post_process(first, second) for first, second in pairs])
    record(benchmark, sum(map(len, rows)))
