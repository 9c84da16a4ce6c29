"""Random texts, encoded by us, by the incumbent and by the specification: all ids equal.

The vocabularies are made of the texts' own characters and stretches, since under a real one most
odd characters are [UNK], which hides faults. test_exact_exhaustive.py is the long form.
"""

from __future__ import annotations

import random

import helpers
import numpy as np
import pytest

from piecework import WordPieceTokenizer, reference
from piecework.rules import RULE_SET_NAMES, rule_set

pytestmark = pytest.mark.skipif(
    helpers.HF_RULES is None, reason=f"no rule set measures tokenizers {helpers.HF_VERSION}"
)
RULES = helpers.HF_RULES or "huggingface"


class Trio:
    """One tokenizer three times: ours, the incumbent, the specification."""

    def __init__(self, vocab, *, unk_token="[UNK]", prefix="##", max_chars=100, **flags):
        self.ours = WordPieceTokenizer(
            vocab,
            unk_token=unk_token,
            prefix=prefix,
            max_input_chars_per_word=max_chars,
            rules=RULES,
            **flags,
        )
        self.options = {"unk_token": unk_token, "prefix": prefix, "max_chars": max_chars, **flags}
        self.vocab = vocab
        self.hf = helpers.hf_tokenizer(vocab, **self.options)

    def hf_row(self, text):
        return helpers.hf_ids(self.hf, [text])[0]

    def reference_row(self, text):
        return reference.encode(text, self.vocab, rule_set(RULES), **self.options)

    def assert_equal_on(self, texts):
        expected = helpers.hf_ids(self.hf, texts)
        by_batch = self.ours.encode_batch(texts).tolist()
        one_by_one = list(map(self.ours.encode, texts))
        specified = list(map(self.reference_row, texts))
        for name, got, ours in (
            ("encode_batch", by_batch, lambda text: self.ours.encode_batch([text]).tolist()[0]),
            ("encode", one_by_one, self.ours.encode),
            ("reference", specified, self.reference_row),
        ):
            where = f"{name} with {self.options}"
            helpers.assert_same_ids(ours, self.hf_row, texts, got, expected, where)

    def known_share(self, texts):
        ids = self.ours.encode_batch(texts).ids
        return float(np.mean(ids != self.ours.unk_id))


@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
@pytest.mark.parametrize("seed", range(3))
def test_random_texts(flags, seed):
    texts = helpers.random_texts(f"quick {seed} {flags}", RULES, 500)
    vocab = helpers.made_vocab(seed, texts, rule_set(RULES), **flags)
    trio = Trio(vocab, **flags)
    assert trio.known_share(texts) > 0.9
    trio.assert_equal_on(texts)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [None, True, False])
def test_strip_accents_none_follows_lowercase(lowercase, strip_accents):
    flags = {"lowercase": lowercase, "strip_accents": strip_accents}
    texts = helpers.random_texts(f"accents {flags}", RULES, 300)
    Trio(helpers.made_vocab(0, texts, rule_set(RULES), **flags), **flags).assert_equal_on(texts)


@pytest.mark.parametrize("prefix", ["##", "", "@@", "a", "é", "#", " ", "▁", "[MASK]"])
@pytest.mark.parametrize("max_chars", [1, 2, 5, 100])
def test_other_prefixes_limits_and_unk(prefix, max_chars):
    texts = helpers.random_texts(f"prefix {prefix} {max_chars}", RULES, 250)
    vocab = helpers.made_vocab(
        max_chars, texts, rule_set(RULES), prefix=prefix, unk_token="<unk>", missing=0.1
    )
    Trio(vocab, prefix=prefix, max_chars=max_chars, unk_token="<unk>").assert_equal_on(texts)


@pytest.mark.parametrize("max_chars", [1, 7, 100, 300])
@pytest.mark.parametrize(
    "letter", ["a", "é", "İ", "한", "\u0958", "\U00010400", "\u0301", "\u1b44"]
)
def test_words_around_the_limit(letter, max_chars):
    """Letters of one, two and three normalized characters, and of none."""
    lengths = (1, 2, 3, max_chars - 1, max_chars, max_chars + 1, max_chars // 2, max_chars // 3)
    texts = [lead + letter * length for length in lengths for lead in ("", "x", "xy ")]
    for lowercase in (True, False):
        vocab = helpers.made_vocab(
            0, [*texts, "xy"], rule_set(RULES), missing=0, lowercase=lowercase
        )
        Trio(vocab, max_chars=max_chars, lowercase=lowercase).assert_equal_on(texts)


@pytest.mark.parametrize("clean_text", [True, False])
def test_marks_that_change_places(clean_text):
    """Survivors in every order, with what joins a run of marks and what ends it between them."""
    rng = random.Random(5)
    survivors = helpers.survivors(RULES)
    between = ["", "a", " ", *"\u0301\u0e31\u200d\xad\ufffd\x01\u20dd\u0378"]
    texts = []
    for _ in range(3000):
        marks = rng.choices(survivors, k=rng.randint(2, 4))
        texts.append("a" + "".join(mark + rng.choice(between) for mark in marks) + "b")
    flags = {"clean_text": clean_text}
    Trio(helpers.made_vocab(5, texts, rule_set(RULES), **flags), **flags).assert_equal_on(texts)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("clean_text", [True, False])
def test_near_special_text(lowercase, clean_text):
    rng = random.Random(6)
    parts = [*helpers.NEAR_SPECIAL, "a", "\u0301", "\u200b", " ", "\x0b", "日", "\U0001f600"]
    texts = ["".join(rng.choices(parts, k=rng.randint(1, 8))) for _ in range(1500)]
    flags = {"lowercase": lowercase, "clean_text": clean_text}
    Trio(helpers.made_vocab(6, texts, rule_set(RULES), **flags), **flags).assert_equal_on(texts)


@pytest.mark.parametrize("specials", [(), ("[MASK]",), ("[UNK]", "[PAD]"), helpers.SPECIALS])
def test_fewer_special_tokens(specials):
    texts = helpers.random_texts(f"specials {specials}", RULES, 300)
    texts += ["".join(pair) for pair in zip(helpers.NEAR_SPECIAL, texts, strict=False)]
    vocab = helpers.made_vocab(7, texts, rule_set(RULES), specials=specials, unk_token="?")
    Trio(vocab, unk_token="?").assert_equal_on(texts)


def test_vocabulary_with_odd_entries():
    """Capitals, accents, spaces, an empty token, a bare prefix: they match only what is there."""
    # fmt: off
    odd = [
        "[UNK]", "", "##", "###", "####", "#", "A", "##A", "é", "##é", "a b", "##a b", " ", "a ",
        "a", "##a", "b", "##b", "[mask]", "[", "]", "mask", "##\u0301", "\u0301", "\x0b", "##\x0b",
        "\u2028", "##\u2028", "##\t", "\ufeffa", "日", "##日", "日本", "##日本", "!", "##!", "!!",
        "a!", "\u1112", "##\u1161", "##\u11ab", "한", "##한", "\U0001f600", "##\U0001f600",
    ]
    # fmt: on
    vocab = {token: i for i, token in enumerate(odd)}
    rng = random.Random(8)
    parts = [token.removeprefix("##") for token in odd] + ["Á", "É", "e", "#", "##", " "]
    texts = ["".join(rng.choices(parts, k=rng.randint(1, 9))) for _ in range(1500)]
    for flags in helpers.ALL_FLAGS:
        Trio(vocab, **flags).assert_equal_on(texts[:400])
    Trio(vocab, lowercase=False, clean_text=False).assert_equal_on(texts)


@pytest.mark.parametrize("alphabet", ["ab", "abc", "aé日"])
@pytest.mark.parametrize("prefix", ["##", "", "a"])
def test_dense_vocabularies_of_a_small_alphabet(alphabet, prefix):
    """Long matches that fail late, over and over: what the greedy search can get wrong."""
    rng = random.Random(f"dense {alphabet} {prefix}")
    for _ in range(40):
        longest = rng.randint(1, 8)
        starts, inside = (
            {"".join(rng.choices(alphabet, k=rng.randint(1, longest))) for _ in range(n_pieces)}
            for n_pieces in (rng.randint(1, 20), rng.randint(1, 40))
        )
        tokens = dict.fromkeys(["[UNK]", *sorted(starts), *(prefix + p for p in sorted(inside))])
        vocab = {token: i for i, token in enumerate(tokens)}
        limit = rng.choice([3, 12, 100])
        flags = {"lowercase": False, "handle_chinese_chars": False}
        trio = Trio(vocab, prefix=prefix, max_chars=limit, **flags)
        words = ["".join(rng.choices(alphabet, k=rng.randint(1, 40))) for _ in range(30)]
        # Made of pieces, so that most can be cut, at least by a better search than the greedy one.
        words += ["".join(rng.choices(sorted(inside), k=rng.randint(1, 6))) for _ in range(30)]
        trio.assert_equal_on([*words, " ".join(words)])
        expected = [reference.wordpiece(word, vocab, 0, prefix, limit) for word in words]
        assert list(map(trio.ours.wordpiece, words)) == expected


def test_ids_need_not_follow_the_order_of_the_mapping():
    texts = helpers.random_texts("shuffled", RULES, 200)
    vocab = helpers.made_vocab(9, texts, rule_set(RULES))
    items = list(vocab.items())
    random.Random(9).shuffle(items)
    Trio(dict(items)).assert_equal_on(texts)


def test_long_and_many_texts(bert_vocab):
    """Rows keep their bounds whatever the size of a batch or of a text."""
    texts = helpers.random_texts("long", RULES, 300, max_items=60)
    trio = Trio(bert_vocab)
    trio.assert_equal_on([" ".join(texts), "", "\n".join(texts[:50]) * 20, *texts, ""])
    batch = trio.ours.encode_batch(texts * 40)
    assert batch.tolist() == trio.ours.encode_batch(texts).tolist() * 40


@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_normalize_and_basic_tokenize(flags):
    texts = helpers.random_texts(f"normalize {flags}", RULES, 300)
    ours = WordPieceTokenizer({"[UNK]": 0}, rules=RULES, **flags)
    for text in texts:
        normalized = reference.normalize(text, rule_set(RULES), **flags)
        assert ours.normalize(text) == normalized
        assert ours.basic_tokenize(text) == reference.split_words(normalized, rule_set(RULES))


@pytest.mark.parametrize("rules", RULE_SET_NAMES)
@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_every_rule_set_against_the_specification(rules, flags):
    texts = helpers.random_texts(f"{rules} {flags}", rules, 150)
    vocab = helpers.made_vocab(10, texts, rule_set(rules), **flags)
    ours = WordPieceTokenizer(vocab, rules=rules, **flags)

    def specified(text):
        return reference.encode(text, vocab, rule_set(rules), **flags)

    got = ours.encode_batch(texts).tolist()
    expected = list(map(specified, texts))
    helpers.assert_same_ids(ours.encode, specified, texts, got, expected, rules)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False])
def test_surrogates_against_the_specification(lowercase, strip_accents):
    flags = {"lowercase": lowercase, "strip_accents": strip_accents}
    rng = random.Random(11)
    parts = [
        "\ud800",
        "\udbff",
        "\udc00",
        "\udfff",
        "\ud83d\ude00",
        "a",
        "[MA",
        "SK]",
        "\u0301",
        " ",
    ]
    texts = ["".join(rng.choices(parts, k=rng.randint(1, 8))) for _ in range(500)]
    vocab = helpers.made_vocab(11, texts, rule_set(RULES), **flags)
    ours = WordPieceTokenizer(vocab, rules=RULES, **flags)
    expected = [reference.encode(text, vocab, rule_set(RULES), **flags) for text in texts]
    assert list(map(ours.encode, texts)) == expected
    assert ours.encode_batch(texts).tolist() == expected


@pytest.mark.parametrize("skip_special", [False, True])
@pytest.mark.parametrize("prefix", ["##", "", "@@"])
def test_decode(prefix, skip_special):
    vocab = {token: i for i, token in enumerate(helpers.DECODED_TOKENS)}
    trio = Trio(vocab, prefix=prefix)
    rng = random.Random(12)
    rows = [rng.choices(range(len(vocab)), k=rng.randint(0, 7)) for _ in range(3000)]
    expected = [trio.hf.decode(row, skip_special_tokens=skip_special) for row in rows]
    assert [trio.ours.decode(row, skip_special=skip_special) for row in rows] == expected
    assert trio.ours.decode_batch(rows, skip_special=skip_special) == expected


def test_long_tokens_of_few_letters():
    # Where the failure links are longest: what is read of a token is many pieces, if it ends early.
    rng = random.Random(11)
    for n_tokens, longest in [(3, 6), (20, 12), (200, 100), (2000, 100)]:
        words = ["".join(rng.choices("ab", k=rng.randint(2, longest))) for _ in range(n_tokens)]
        tokens = dict.fromkeys(
            ["[UNK]", "a", "b", "##a", *words, *("##" + word for word in words[::2])]
        )
        vocab = {token: i for i, token in enumerate(tokens)}
        hf = helpers.hf_tokenizer(vocab)
        ours = WordPieceTokenizer(vocab, rules=RULES)
        for _ in range(500):
            first, second = rng.choices(words, k=2)
            text = first[: rng.randint(0, longest)] + second[: rng.randint(0, longest)]
            assert ours.encode(text) == hf.encode(text).ids, text


def test_a_very_long_token():
    long = "a" * 2_000 + "b"  # the incumbent takes quadratic time
    vocab = {"[UNK]": 0, "a": 1, "##a": 2, "##b": 3, long: 4}
    hf = helpers.hf_tokenizer(vocab, max_chars=3_000)
    ours = WordPieceTokenizer(vocab, max_input_chars_per_word=3_000, rules=RULES)
    for text in (long, long[:-1], long + "a", long + "c"):
        assert ours.encode(text) == hf.encode(text).ids
