"""Templates, truncation and overflow as the incumbent has them, for random ones of each."""

import random

import pytest
from postprocess_oracle import (
    assembled,
    bert_processing,
    both_templates,
    hf_row,
    hf_tokenizer,
    no_processing,
    our_rows,
    roberta_processing,
)

from piecework.postprocess import Truncation

# A panic is no Exception, and its class can't be imported.
PANIC = "PanicException"


def random_text(rng):
    n_words = rng.choice([0, 1, 2, 3, 5, 9])
    return " ".join("".join(rng.choices("abcdefghij", k=rng.randint(1, 3))) for _ in range(n_words))


def random_template(rng):
    def pieces(texts):
        special = ["[CLS]", "[SEP]", "XY"]
        names = [*texts, *rng.choices(special, k=rng.randint(0, 3))]
        names += rng.choices(texts, k=rng.choice([0, 0, 0, 1])) if texts else []
        rng.shuffle(names)
        return " ".join(name + rng.choice(["", "", ":0", ":1", ":7"]) for name in names)

    single = pieces(rng.choice([["$A"], ["$A"], ["$A"], []])) or "$A"
    return both_templates(single, pieces(["$A", "$B"]))


def random_processing(rng):
    return rng.choice(
        [bert_processing, roberta_processing, no_processing, *[lambda: random_template(rng)] * 4]
    )()


def result_or_none(call):
    """Return the result of the incumbent's call, or None for an error or a panic."""
    try:
        return call()
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == PANIC:
            return None
        raise


def hf_groups(hf, inputs, add_special):
    """Return the incumbent's rows with overflow for each input; None for an error."""
    encodings = result_or_none(lambda: hf.encode_batch(inputs, add_special_tokens=add_special))
    if encodings is None:
        return None
    return [[hf_row(e), *map(hf_row, e.overflowing)] for e in encodings]


def random_truncation(rng):
    return rng.choice(
        [
            None,
            *[
                Truncation(
                    rng.randint(0, 14),
                    rng.choice(["longest_first", "longest_first", "only_first", "only_second"]),
                    rng.choice(["right", "left"]),
                    rng.choice([0, 0, 1, 2, 3]),
                )
            ]
            * 6,
        ]
    )


def check_random_call(rng):
    """Compare one call; return whether there was a result."""
    processor, template = random_processing(rng)
    is_pair = rng.random() < 0.6
    firsts = [random_text(rng) for _ in range(rng.choice([1, 1, 3]))]
    seconds = [random_text(rng) for _ in firsts] if is_pair else None
    options = {"add_special": rng.random() < 0.8, "truncation": random_truncation(rng)}
    truncation = options["truncation"]
    if truncation is not None:
        n_special = hf_tokenizer(processor).num_special_tokens_to_add(is_pair)
        room = truncation.max_length - n_special * options["add_special"]
        if room < 0 or (truncation.stride and truncation.stride >= room):  # our choice
            with pytest.raises(ValueError, match="max_length="):
                assembled(template, firsts, seconds, **options)
            return False
    inputs = list(zip(firsts, seconds, strict=True)) if is_pair else firsts
    expected = hf_groups(hf_tokenizer(processor, truncation), inputs, options["add_special"])
    if expected is None:
        with pytest.raises(ValueError, match=r"row \d: "):
            assembled(template, firsts, seconds, **options)
        return False
    found = our_rows(assembled(template, firsts, seconds, **options))
    if processor is None and is_pair:  # the incumbent's sequence ids of overflow name wrong texts
        for rows in (*expected, *found):
            for row in rows[1:]:
                del row["sequence_ids"]
    assert found == expected
    return True


@pytest.mark.parametrize("seed", range(20))
def test_random_calls_give_the_rows_of_the_incumbent(seed):
    rng = random.Random(seed)
    n_results = sum(check_random_call(rng) for _ in range(100))
    assert n_results > 50  # and errors where there were none


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_many_random_calls_give_the_rows_of_the_incumbent(seed):
    rng = random.Random(seed)
    assert sum(check_random_call(rng) for _ in range(1_000)) > 500
