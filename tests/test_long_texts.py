"""Texts that are longer than what the kernel reads, and walks, at a time.

The scanner reads some hundred characters and to the end of the word, the walk takes some thousand
in parts, and any of these borders may fall on whatever stands there. So: long texts made of
awkward characters over small vocabularies, against the specification, at every offset.
"""

import dataclasses
import random

import pytest

from piecework import WordPieceTokenizer, reference
from piecework.rules import rule_set
from piecework.spec import AddedToken

RULES = rule_set("huggingface")
# Letters, marks that go, that stay and that change places, what vanishes, joins and separates,
# letters that become several, characters that are in no token, of each width in a str.
PLAIN = ["a", "b", "c", "ab", "ba"]
AWKWARD = [*PLAIN, "Á", "\u0301", "\u302e", "\u1d165", "\u200b", "\x0b", " ", "\t", "!", "日", "本"]
AWKWARD += ["한", "İ", "z", "\U0001f600", "\U00020000"]
LIMITS = [1, 2, 3, 7, 64, 100, 1 << 40]


def vocabulary(rng):
    """Make pieces over three letters: long ones too, so that failure links pop several."""

    def piece():
        return "".join(rng.choices("abc\u302e", (9, 9, 9, 1), k=rng.choice([1, 1, 2, 3, 5, 9])))

    tokens = ["[UNK]", "a", "##a", "b", "##b", "!", "日", "ᄒ", "##ᅡ", "##ᆫ"]
    tokens += [piece() for _ in range(rng.randint(0, 20))]
    tokens += ["##" + piece() for _ in range(rng.randint(0, 20))]
    return {token: i for i, token in enumerate(dict.fromkeys(tokens))}


def text(rng, n_pieces):
    """Mix stretches of words, of awkward characters, and words that go on and on."""
    out = []
    while len(out) < n_pieces:
        n = rng.choice([1, 5, 60, 270, 600])
        kind = rng.randrange(4)
        if kind == 0:
            out += rng.choices([*PLAIN, " "], k=n)
        elif kind == 1:
            out += rng.choices(AWKWARD, k=n)
        elif kind == 2:
            out += rng.choices(PLAIN, k=n)
        else:
            out += [rng.choice(AWKWARD)] * n
    return "".join(out[:n_pieces])


def encode(texts, vocab, **options):
    limit = options.pop("max_input_chars_per_word", 100)
    return [reference.encode(row, vocab, RULES, max_chars=limit, **options) for row in texts]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("strip_accents", [True, False])
def test_long_texts_equal_the_specification(limit, strip_accents):
    for seed in range(6):
        rng = random.Random(f"{limit} {strip_accents} {seed}")
        vocab = vocabulary(rng)
        options = {"max_input_chars_per_word": limit, "strip_accents": strip_accents}
        texts = [text(rng, n) for n in (3000, 0, 1, 255, 256, 257, 511, 9, 1200, 40)]
        ours = WordPieceTokenizer(vocab, **options)
        expected = encode(texts, vocab, **options)
        assert ours.encode_batch(texts).tolist() == expected
        assert [ours.encode(row) for row in texts] == expected


@pytest.mark.parametrize(
    "joint",
    [
        "ab ",
        "z",
        "zab",
        "Á",
        "한",
        "\u302e\u302e",
        "\u200b",
        "!",
        "日",
        "[M]",
        "[M",
        "\ud800",
        "b" * 9,
    ],
)
def test_every_offset_of_a_border(joint):
    vocab = {
        token: i for i, token in enumerate(["[UNK]", "a", "##a", "##b", "!", "##aab", "[", "]"])
    }
    added = {"[M]": 40}
    spec = dataclasses.replace(
        WordPieceTokenizer(vocab).spec, added_tokens=(AddedToken("[M]", 40),)
    )
    ours = WordPieceTokenizer.from_spec(spec)
    words = ["a" * 7 + " "] * 200
    for border in (256, 512, 1024):
        for offset in range(-len(joint) - 2, 3):
            before = "".join(words)[: border + offset]
            row = before + joint + "ab a"
            rows = ["a", row, "", row + before, "b"]
            expected = encode(rows, vocab, special_tokens=added)
            assert ours.encode_batch(rows).tolist() == expected, (border, offset)


@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 300, 5000])
def test_rows_keep_their_borders(n_rows):
    rng = random.Random(n_rows)
    vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##a": 4, "b": 5}
    ours = WordPieceTokenizer(vocab)
    rows = [
        rng.choice(["", " ", "a", "ab", "a b", "aa a", "[SEP]", "\u200b", "z", "\ud800"])
        * rng.choice([0, 1, 1, 2, 90])
        for _ in range(n_rows)
    ]
    for add_special in (False, True):
        batch = ours.encode_batch(rows, add_special=add_special)
        assert batch.tolist() == [ours.encode(row, add_special) for row in rows]
        assert (
            ours.encode_batch(rows[::-1], add_special=add_special).tolist() == batch.tolist()[::-1]
        )
