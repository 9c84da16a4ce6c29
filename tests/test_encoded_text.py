"""EncodedText beside the incumbent's Encoding: the same answers to the same questions."""

import random

import numpy as np
import pytest
from postprocess_oracle import (
    VOCAB,
    assembled,
    bert_processing,
    both_templates,
    hf_row,
    hf_tokenizer,
    no_processing,
    roberta_processing,
)

from piecework.batch import Batch
from piecework.encoded_text import EncodedText
from piecework.postprocess import Truncation

TOKENS = {id_: token for token, id_ in VOCAB.items()}
PROCESSINGS = {
    "bert": bert_processing,
    "roberta": roberta_processing,
    "swapped": lambda: both_templates("$A [SEP] [CLS]", "XY $B:1 $A:3 [SEP]"),
    "repeated": lambda: both_templates("$A:2 [SEP] $A", "$B $A [CLS] $B:1"),
    "no text": lambda: both_templates("[CLS] [SEP]", "$A $B"),
}
QUESTIONS = [
    "char_to_token",
    "char_to_word",
    "word_to_tokens",
    "word_to_chars",
]
QUESTIONS_OF_TOKENS = ["token_to_chars", "token_to_word", "token_to_sequence"]


def check_equal(ours, theirs):
    assert ours.tokens == theirs.tokens
    assert ours.n_sequences == theirs.n_sequences
    assert len(ours) == len(theirs)
    assert ours.attention_mask == theirs.attention_mask
    row = hf_row(theirs)
    assert ours.ids == row["ids"]
    assert ours.type_ids == row["type_ids"]
    assert ours.special_tokens_mask == row["special_tokens_mask"]
    assert ours.offsets == theirs.offsets
    assert ours.word_ids == theirs.word_ids
    assert ours.sequence_ids == theirs.sequence_ids
    for name in QUESTIONS:
        for number in range(40):
            for sequence in range(3):
                found = getattr(ours, name)(number, sequence)
                assert found == getattr(theirs, name)(number, sequence), (name, number, sequence)
    for name in QUESTIONS_OF_TOKENS:
        for token in [*range(len(ours)), len(ours) + 1, 1_000]:
            assert getattr(ours, name)(token) == getattr(theirs, name)(token), (name, token)


def random_text(rng):
    words = ["ab", "abc,d", "f", "jjjj", "qq", "Ab!", "e"]
    return " ".join(rng.choices(words, k=rng.choice([0, 1, 2, 4, 7])))


@pytest.mark.parametrize("processing", PROCESSINGS)
@pytest.mark.parametrize("is_pair", [False, True], ids=["single", "pair"])
def test_every_answer_is_that_of_an_encoding(processing, is_pair):
    rng = random.Random(f"{processing} {is_pair}")
    processor, template = PROCESSINGS[processing]()
    for _ in range(8):
        truncation = rng.choice([None, Truncation(8, side=rng.choice(["left", "right"]))])
        first, second = random_text(rng), random_text(rng) if is_pair else None
        theirs = hf_tokenizer(processor, truncation).encode(first, second)
        batch = assembled(template, [first], [second] if is_pair else None, truncation=truncation)
        ours = EncodedText(batch, 0, TOKENS.__getitem__, n_texts=1 + is_pair)
        check_equal(ours, theirs)
        assert len(ours.overflow) == len(theirs.overflowing)
        for our_window, their_window in zip(ours.overflow, theirs.overflowing, strict=True):
            check_equal(our_window, their_window)
            assert our_window.overflow == []


def test_a_text_without_a_template_is_sequence_0():
    _, template = no_processing()
    theirs = hf_tokenizer().encode("ab cd!")
    ours = EncodedText(assembled(template, ["ab cd!"]), -1, TOKENS.__getitem__)
    for token in range(len(ours)):
        assert ours.token_to_sequence(token) == theirs.token_to_sequence(token) == 0
        assert ours.token_to_chars(token) == theirs.token_to_chars(token)


@pytest.mark.parametrize("name", QUESTIONS_OF_TOKENS)
def test_there_is_nothing_behind_the_last_token(batch, name):
    # The incumbent says that it is of sequence 0, where the template has no text.
    assert getattr(EncodedText(batch, 0, TOKENS.__getitem__), name)(3) is None


@pytest.fixture
def batch():
    _, template = bert_processing()
    return assembled(template, ["a", "b c d e f", "a"], truncation=Truncation(4))


def test_overflow_is_what_follows_in_the_batch(batch):
    assert batch.overflow_to_sample.tolist() == [0, 1, 1, 1, 2]
    texts = [EncodedText(batch, row, TOKENS.__getitem__) for row in range(len(batch))]
    assert [len(text.overflow) for text in texts] == [0, 2, 0, 0, 0]
    assert [window.tokens[1:-1] for window in texts[1].overflow] == [["d", "e"], ["f"]]
    assert EncodedText(batch[1:], 0, TOKENS.__getitem__).overflow[1].tokens[1] == "f"


def test_texts_told_to_be_pairs_have_two_sequences(batch):
    text = EncodedText(batch, 0, TOKENS.__getitem__, n_texts=2)
    assert text.n_sequences == 2
    assert text.char_to_token(0, 1) is None
    assert EncodedText(batch, 0, TOKENS.__getitem__).char_to_token(0, 1) == 1


@pytest.mark.parametrize(
    "name", ["offsets", "word_ids", "sequence_ids", "type_ids", "special_tokens_mask"]
)
def test_a_batch_without_an_array_is_refused(batch, name):
    arrays = {key: array for key, array in batch.details().items() if key != name}
    with pytest.raises(ValueError, match=f"it has no {name}"):
        EncodedText(Batch(batch.ids, batch.row_splits, **arrays), 0, TOKENS.__getitem__)


def test_wrong_rows_and_numbers_are_refused(batch):
    with pytest.raises(IndexError, match="row 5 of a batch of 5 rows"):
        EncodedText(batch, 5, str)
    with pytest.raises(TypeError, match="row must be an integer, not True"):
        EncodedText(batch, True, str)
    with pytest.raises(ValueError, match="n_texts must be at most 2, not 3"):
        EncodedText(batch, 0, str, n_texts=3)
    text = EncodedText(batch, np.int64(0), TOKENS.__getitem__)
    for name in [*QUESTIONS, *QUESTIONS_OF_TOKENS]:
        with pytest.raises(ValueError, match="must be at least 0, not -1"):
            getattr(text, name)(-1)
        with pytest.raises(TypeError, match="must be an integer, not 'x'"):
            getattr(text, name)("x")


def test_repr_shows_the_first_tokens(batch):
    assert repr(EncodedText(batch, 0, TOKENS.__getitem__)) == "EncodedText(3 tokens: [CLS] a [SEP])"
