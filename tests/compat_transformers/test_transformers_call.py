"""``__call__`` against BertTokenizerFast: grids of arguments, random ones, and bad ones."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("transformers", "5", reason="needs the extra test-transformers")

import compare

LONG = "A rather long sentence, of unaffable words! [MASK] and naïve café-goers in 日本. " * 3
TEXTS = ["Hello world", "", "The UNAFFABLE café", "x", LONG, "[CLS] [MASK]s\u200b \t"]
PAIRS = ["who?", "a b c d e f g h i", "日本", "", LONG, "é"]
WORDS = [text.split(" ") for text in TEXTS]
INPUTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "text": ((LONG,), {}),
    "short-text": (("hi",), {}),
    "empty-text": (("",), {}),
    "batch": ((TEXTS,), {}),
    "tuple": ((tuple(TEXTS[:3]),), {}),
    "one-row": ((["hi"],), {}),
    "pair": ((LONG, "who?"), {}),
    "batch-of-pairs": ((TEXTS, PAIRS), {}),
    "list-of-pairs": ((list(zip(TEXTS, PAIRS, strict=True)),), {}),
    "list-of-lists": (([["a", "b c d e f"], [LONG, LONG]],), {}),
    "words": ((WORDS[2],), {"is_split_into_words": True}),
    "words-pair": ((WORDS[2], ["who", "?!"]), {"is_split_into_words": True}),
    "batch-of-words": ((WORDS,), {"is_split_into_words": True}),
    "batch-of-word-pairs": ((WORDS, WORDS[::-1]), {"is_split_into_words": True}),
    "list-of-word-pairs": (([(["a", "b"], ["c"]), (["ä"], [])],), {"is_split_into_words": True}),
}
OPTIONS: dict[str, list[Any]] = {
    "add_special_tokens": [True, False],
    "padding": [False, True, "longest", "max_length", "do_not_pad"],
    "truncation": [None, False, True, "longest_first", "only_first", "only_second"],
    "max_length": [None, 3, 4, 7, 8, 16, 40],
    "stride": [0, 0, 1, 3, 5],
    "pad_to_multiple_of": [None, None, None, 8],
    "padding_side": [None, "left", "right"],
    "return_tensors": [None, "np", "pt"],
    "return_token_type_ids": [None, None, False, True],
    "return_attention_mask": [None, None, False],
    "return_overflowing_tokens": [False, False, True],
    "return_special_tokens_mask": [False, True],
    "return_offsets_mapping": [False, True],
    "return_length": [False, True],
    "split_special_tokens": [False, False, True],
}
WINDOWS = {"truncation": True, "return_overflowing_tokens": True}


def refused_with(error: BaseException | None) -> type[BaseException]:
    """Return what we raise where the real one raises that."""
    assert error is not None
    # The reference's truncation errors, its panics, and what it says of negative numbers.
    is_odd = type(error) in (Exception, OverflowError) or type(error).__name__ == "PanicException"
    return ValueError if is_odd else type(error)


def is_refused(real: Any, args: Any, options: dict[str, Any], error: BaseException) -> bool:
    """Tell whether docs/compat-transformers.md says that we refuse what the real one answers."""
    rows = real(*args, **{**options, "return_tensors": None})["input_ids"]
    lengths = {len(row) for row in rows if isinstance(row, list)}
    is_ragged = options.get("return_tensors") == "np" and len(lengths) > 1
    has_no_room = "leaves no room for the template" in str(error)
    return isinstance(error, ValueError) and (is_ragged or has_no_room)


def check(both: tuple[Any, Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Compare what the two make of a call."""
    real, ours = (compare.outcome(each, *args, verbose=False, **options) for each in both)
    if real.error is not None:
        assert type(ours.error) is refused_with(real.error), (ours, real)
    elif ours.error is not None:
        assert is_refused(both[0], args, options, ours.error), ours.error
    else:
        compare.assert_same(real.value, ours.value)


@pytest.mark.parametrize("name", INPUTS)
def test_call_without_options_is_that_of_transformers(both, name):
    args, options = INPUTS[name]
    compare.assert_same(both[0](*args, **options), both[1](*args, **options))


@pytest.mark.parametrize("name", INPUTS)
def test_call_pads_and_truncates_as_transformers(both, name):
    args, options = INPUTS[name]
    names = ("padding", "truncation", "max_length", "return_tensors")
    for values in product(*(OPTIONS[name] for name in names)):
        check(both, args, {**options, **dict(zip(names, values, strict=True))})


@pytest.mark.parametrize("vocab", ["embedded", "bert-base-cased"])
@pytest.mark.parametrize("seed", range(8))
def test_call_with_random_options_is_that_of_transformers(pair_of, vocab, seed):
    rng = random.Random(seed)
    sides = {"truncation_side": rng.choice(["left", "right"]), "padding_side": "left"}
    pair = pair_of(vocab, **(sides if seed % 2 else {}))
    for _ in range(250):
        args, options = INPUTS[rng.choice(list(INPUTS))]
        chosen = {name: rng.choice(values) for name, values in OPTIONS.items()}
        check(pair, args, {**options, **chosen})


@pytest.mark.parametrize("padding", [True, False])
def test_call_gives_targets_as_labels(both, padding):
    for args in (
        {"text": TEXTS, "text_target": PAIRS},
        {"text_target": TEXTS},
        {"text": TEXTS, "text_target": PAIRS, "max_length": 8, "max_target_length": 5,
         "truncation": True},
    ):  # fmt: skip
        real, ours = (each(**args, padding=padding) for each in both)
        assert compare.columns(ours) == compare.columns(real)


def test_call_takes_options_in_a_dict_as_well(both):
    options = {"max_length": 6, "truncation": True, "padding": "max_length"}
    real, ours = (each(TEXTS, tokenizer_kwargs=options, return_tensors="np") for each in both)
    compare.assert_same(real, ours)


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((), {}),
        ((5,), {}),
        ((None,), {}),
        (([1, 2],), {}),
        (({"a": 1},), {}),
        ((["a", None],), {}),
        ((["a", 5],), {}),
        (([["a", "b", "c"]],), {}),
        ((["a", "b"], "c"), {}),
        ((["a", "b"], ["c"]), {}),
        (("a", 5), {}),
        (("a b",), {"is_split_into_words": True}),
        ((["a", 5],), {"is_split_into_words": True}),
        (("a",), {"padding": "much"}),
        (("a",), {"padding": True, "padding_side": "top"}),
        (("a",), {"truncation": "some", "max_length": 5}),
        (("a",), {"return_tensors": "xx"}),
        ((["a", "b c"],), {"return_tensors": "pt"}),
        (("a",), {"padding": True, "truncation": True, "max_length": 5, "pad_to_multiple_of": 4}),
        (("a " * 9,), {"truncation": "only_second", "max_length": 5}),
        (("a", "b " * 9), {"truncation": "only_first", "max_length": 5}),
        (("a " * 9,), WINDOWS | {"max_length": 5, "stride": 4}),
        (("a " * 9,), WINDOWS | {"max_length": 5, "stride": 3}),
        (("a",), {"truncation": True, "max_length": -1}),
        (("a",), {"truncation": True, "max_length": 5, "stride": -1}),
        (("a",), {"truncation": True, "max_length": 5, "stride": "1"}),
        (("a",), {"padding": True, "pad_to_multiple_of": -2}),
        (("a",), {"padding": True, "pad_to_multiple_of": "8"}),
        (("a",), {"padding": "max_length", "max_length": -5}),
        (("a",), {"padding": "max_length", "max_length": 5.5}),
    ],
)
def test_call_refuses_what_transformers_refuses(both, args, options):
    real, ours = (compare.outcome(each, *args, **options) for each in both)
    assert type(ours.error) is refused_with(real.error), (real, ours)


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("add_special", [False, True])
@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
def test_call_minds_stride_where_transformers_does(both, windows, add_special, strategy):
    words = ["a", "b", "c", "d", "e", "f", "g"]
    texts = [" ".join(words[:n]) for n in (0, 2, 3, 4, 7)]
    rows = [(text,) for text in texts] + list(product(texts, texts))
    for max_length, stride, row in product((4, 5, 6), range(1, 7), rows):
        options = {
            "truncation": strategy,
            "max_length": max_length,
            "stride": stride,
            "add_special_tokens": add_special,
            "return_overflowing_tokens": windows,
        }
        check(both, tuple([text] for text in row), options)


MESSAGES = [
    ((["a", None],), {}, r"^text\[1\]: expected a str, got None$"),
    ((["a"], [5]), {}, r"^text_pair\[0\]: expected a str, got 5 of type int"),
    (("a", ["c", "d"]), {}, r"^text_pair: expected a str, got \['c', 'd'\] of type list"),
    (([("a", "b"), ("c", 5)],), {}, r"^text\[1\]\[1\]: .* 5 of type int"),
    (([("a", "b", "c")],), {}, r"^text\[0\]: expected two texts, .* got \('a', 'b', 'c'\)"),
    (([("a", "b"), "c"],), {}, r"^text\[1\]: expected two texts, as text holds pairs, got 'c'"),
    (([5],), {}, r"^text\[0\]: expected a str, got 5 of type int"),
    (([b"abc"],), {}, r"^text\[0\]: expected a str, got b'abc' of type bytes"),
    (([["a"], [[5]]],), {"is_split_into_words": True}, r"^text\[1\]\[0\]: .* list"),
    ((["a"], [None]), {}, r"^text_pair\[0\]: expected a str, got None"),
    ((["a", "b"], ["c"]), {}, r"^text_pair: expected 2 texts"),
    ((["a", 5],), {"is_split_into_words": True}, r"^text\[1\]: expected a str, got 5"),
    (([["a"], "b"],), {"is_split_into_words": True}, r"^text\[1\]: expected a list of words"),
    ((np.array(["a", None], object),), {}, r"^text\[1\]: expected a str, got None"),
    (("a",), {"padding": True, "padding_side": "middle"}, r"^padding_side: .*'middle'"),
    (("a",), {"padding": True, "pad_to_multiple_of": -2}, r"^pad_to_multiple_of must .* -2"),
    (("a b c d",), {"truncation": True, "max_length": 5, "stride": 3}, r"^stride=3: .* 3 tokens"),
]


@pytest.mark.parametrize(("args", "options", "message"), MESSAGES)
def test_call_says_what_is_wrong_and_where(both, args, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        both[1](*args, **options)


# ---- on purpose: docs/compat-transformers.md ----


def test_call_takes_arrays_as_batches(both):
    expected = both[0](["a", "b c"], padding=True)
    for texts in (np.array(["a", "b c"]), np.array(["a", "b c"], object)):
        assert compare.columns(both[1](texts, padding=True)) == compare.columns(expected)


def test_call_takes_arrays_of_words(both):
    words = [["hello"], np.array(["new", "york"], object), ("a", "b")]
    real, ours = (each(words, is_split_into_words=True) for each in both)
    compare.assert_same(real, ours)


def test_call_of_an_empty_batch_is_an_empty_batch(both):
    assert both[1]([]).data == {"input_ids": [], "token_type_ids": [], "attention_mask": []}
    arrays = both[1]([], padding=True, return_tensors="np")
    assert [column.shape[0] for column in arrays.values()] == [0, 0, 0]


def test_call_of_an_empty_second_text_is_a_pair_as_in_a_batch(both):
    expected = {name: column[0] for name, column in both[0](["a"], [""]).items()}
    assert both[1]("a", "").data == expected


def test_call_refuses_a_max_length_below_the_special_tokens(both):
    with pytest.raises(ValueError, match=r"max_length=1 .* 2"):
        both[1]("a", max_length=1, truncation=True)


def test_call_refuses_rows_of_different_lengths_as_an_array(both):
    with pytest.raises(ValueError, match="padding=True"):
        both[1](["a", "a b"], return_tensors="np")


def test_call_warns_once_of_a_text_that_is_too_long(pair_of, caplog):
    import logging

    tokenizer = pair_of(model_max_length=8)[1]
    with caplog.at_level(logging.WARNING):
        logging.getLogger("transformers").propagate = True
        for _ in range(2):
            tokenizer(["a", LONG])
    # A record comes to the root's handler and to that of the logger.
    found = {id(record) for record in caplog.records if "longer than" in record.message}
    assert len(found) == 1
