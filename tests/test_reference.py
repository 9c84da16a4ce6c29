"""The specification: its examples run, the incumbent agrees, the textbook parts are as told."""

from __future__ import annotations

import doctest
import json
import os
import random
import subprocess
import sys

import helpers
import pytest

from piecework import reference
from piecework.rules import rule_set

RULES = rule_set(helpers.HF_RULES or "huggingface")

needs_known_hf = pytest.mark.skipif(
    helpers.HF_RULES is None, reason=f"no rule set measures tokenizers {helpers.HF_VERSION}"
)


def test_examples_in_the_docstrings_run():
    results = doctest.testmod(reference)
    assert results.attempted > 20
    assert results.failed == 0


@needs_known_hf
@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_encode_equals_hf(flags):
    texts = helpers.random_texts(f"reference {flags}", RULES.name, 300)
    vocab = helpers.made_vocab(1, texts, RULES, **flags)
    hf = helpers.hf_tokenizer(vocab, **flags)

    def ours(text):
        return reference.encode(text, vocab, RULES, add_special=True, **flags)

    def theirs(text):
        return helpers.hf_ids(hf, [text], add_special=True)[0]

    expected = helpers.hf_ids(hf, texts, add_special=True)
    helpers.assert_same_ids(ours, theirs, texts, list(map(ours, texts)), expected)


@needs_known_hf
@pytest.mark.parametrize("prefix", ["##", "", "@@", "a", "é", " "])
@pytest.mark.parametrize("max_chars", [1, 3, 100])
def test_encode_equals_hf_with_another_prefix_and_limit(prefix, max_chars):
    texts = helpers.random_texts(f"{prefix} {max_chars}", RULES.name, 100)
    options = {"prefix": prefix, "max_chars": max_chars, "unk_token": "<unk>"}
    vocab = helpers.made_vocab(2, texts, RULES, prefix=prefix, unk_token="<unk>")
    expected = helpers.hf_ids(helpers.hf_tokenizer(vocab, **options), texts)
    assert [reference.encode(text, vocab, RULES, **options) for text in texts] == expected


@needs_known_hf
@pytest.mark.parametrize("skip_special", [False, True])
def test_decode_equals_hf(skip_special):
    vocab = {token: i for i, token in enumerate(helpers.DECODED_TOKENS)}
    hf = helpers.hf_tokenizer(vocab)
    rng = random.Random(3)
    for _ in range(3000):
        ids = [rng.randrange(len(vocab)) for _ in range(rng.randint(0, 6))]
        assert reference.decode(ids, vocab, skip_special=skip_special) == hf.decode(
            ids, skip_special_tokens=skip_special
        )


@pytest.mark.parametrize(
    "contents", [("ab", "abc", "b"), ("a", "aa", "aab"), ("cb", "bcb", "abca")]
)
def test_split_special_takes_the_leftmost_and_there_the_longest(contents):
    rng = random.Random(4)
    for _ in range(500):
        text = "".join(rng.choices("abc", k=rng.randint(0, 9)))
        pieces = reference.split_special(text, contents)
        assert "".join(piece for piece, _ in pieces) == text
        start = 0
        for piece, is_special in pieces:
            matches = [c for c in contents if text.startswith(c, start)]
            if is_special:
                assert piece == max(matches, key=len)
            else:
                inside = range(start, start + len(piece))
                assert not any(text.startswith(c, i) for c in contents for i in inside)
            start += len(piece)


def test_a_lone_surrogate_does_not_make_a_special_token():
    vocab = {"[UNK]": 0, "[MASK]": 1, "[": 2, "mask": 3, "]": 4}
    assert reference.encode("[MA\ud800SK]", vocab, RULES) == [2, 3, 4]


def test_a_lone_surrogate_is_an_error_where_nothing_cleans_it():
    with pytest.raises(UnicodeEncodeError) as caught:
        reference.join_surrogates("\ud83d\ude00 \udc00", clean_text=False)
    assert (caught.value.start, caught.value.end) == (3, 4)


def test_textbook_functions_take_any_vocabulary():
    assert reference.wordpiece_word("ab", iter(["a", "##b"])) == ["a", "##b"]
    assert reference.wordpiece_word("xyz", {"a"}, unk="?") == ["?"]
    assert reference.wordpiece_word("", {"a"}) == []


def test_wordpiece_tokenize_limit_is_inclusive():
    vocab = {"[UNK]": 0, "a": 1, "##a": 2}
    assert reference.wordpiece_tokenize("aaa aaaa", vocab, max_word_length=3) == [
        "a",
        "##a",
        "##a",
        "[UNK]",
    ]


def test_trainer_scores_exactly():
    # Both pairs score 15/5; in floating point the second would come out higher.
    vocab, _, _ = reference.train_wordpiece(["ab ab ab a a", "cd cd c c c"], 5)
    assert list(vocab) == ["a", "##b", "c", "##d", "ab"]


def test_trainer_stops_when_nothing_is_left_to_merge():
    vocab, pieces, counts = reference.train_wordpiece(["ab ab", "ab."], 100)
    assert list(vocab) == ["a", "##b", "ab"]
    assert pieces == {"ab": ["ab"]}
    assert counts == {"ab": 3}


def test_trainer_gives_every_character_even_beyond_the_size():
    vocab, _, _ = reference.train_wordpiece(["abcdef"], 3)
    assert list(vocab.items()) == [("a", 0), *(("##" + c, i) for i, c in enumerate("bcdef", 1))]


def test_trainer_does_not_depend_on_the_hash_seed():
    code = (
        "import json; from piecework.reference import train_wordpiece;"
        "print(json.dumps(train_wordpiece(['the cat sat on the mat', 'a cat, a hat'], 30)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert len(json.loads(outputs.pop())[0]) > 20
