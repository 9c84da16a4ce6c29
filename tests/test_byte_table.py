"""Which characters share a byte in the memo of words: those that are equal to the scanner.

Some vocabularies have more characters than there are bytes. So characters of many scripts stand in
words that differ in them alone, and the memo is asked about all of these: of two that share a byte
without being equal, one gets the ids of the other.
"""

import random
from itertools import pairwise

import pytest

from piecework import WordPieceTokenizer, reference
from piecework.rules import rule_set

KEY = 16  # bytes of a word that the memo holds
MEMO_BYTES = 1 << 18  # room for all words here
PLAIN = "ab ba bab abba " * 3  # so that one character without a byte does not keep a row out

LETTERS = [
    *map(chr, range(0xC0, 0x180)),  # Latin
    *map(chr, range(0x388, 0x3D0)),  # Greek
    *map(chr, range(0x400, 0x460)),  # Cyrillic
    *map(chr, range(0x5D0, 0x5EB)),  # Hebrew
    *map(chr, range(0x620, 0x64B)),  # Arabic
    *map(chr, range(0x904, 0x93A)),  # Devanagari
    *map(chr, range(0xE01, 0xE31)),  # Thai
    *map(chr, range(0x10D0, 0x10F1)),  # Georgian
]
ISOLATED = [
    *map(chr, range(0xA1, 0xC0)),
    *map(chr, range(0x2010, 0x2028)),
    *map(chr, range(0x2030, 0x205F)),
    *map(chr, range(0x3001, 0x3020)),
    *map(chr, range(0x4E00, 0x4E20)),
]
DROPPED = ["\0", "\x01", "\x08", "\x0b", "\x1f", "\x7f", "\x80", "\x9f", "\xad", "\u200b", "\u200d"]
DROPPED += ["\u202e", "\u2060", "\ufeff", "\ufffd", "\u0301", "\u0345", "\u05b0", "\u093c"]
FLAGS = [
    {"lowercase": True, "strip_accents": None, "clean_text": True},
    {"lowercase": True, "strip_accents": False, "clean_text": False},
    {"lowercase": False, "strip_accents": None, "clean_text": True},
    {"lowercase": False, "strip_accents": True, "clean_text": False},
]


def vocab_of(chars, rules, flags):
    """Make each character a token, and the first ones part of more of them than the last ones."""
    tokens = {"[UNK]", "a", "##a", "b", "##b", "ab", "##ab", *chars, *("##" + ch for ch in chars)}
    for rank, ch in enumerate(chars):
        small = reference.normalize(ch, rules, **flags).strip()
        tokens |= {small, "##" + small, *("ab" * n + small for n in range(1, 4 - rank // 100))}
    return {token: i for i, token in enumerate(sorted(tokens - {""}))}


def assert_as_specified(tails, vocab, rules="huggingface", limit=100, **flags):
    """Encode with an empty memo, and twice with one that holds the words, in another order."""
    ours = WordPieceTokenizer(vocab, rules=rules, max_input_chars_per_word=limit, **flags)

    def specified(text):
        return reference.encode(text, vocab, rule_set(rules), max_chars=limit, **flags)

    plain = specified(PLAIN)  # always the same, as it ends with a space
    expected = {PLAIN + tail: plain + specified(tail) for tail in tails}
    rows = list(expected)
    for order in (rows, rows[::-1], random.Random(0).sample(rows, len(rows))):
        batch = ours.encode_batch(order, memo_bytes=MEMO_BYTES, threads=1)
        for row, got in zip(order, batch.tolist(), strict=True):
            assert got == expected[row], row


@pytest.mark.parametrize(
    ("rules", "flags"),
    [
        *(("huggingface", flags) for flags in FLAGS),
        ("huggingface-1", FLAGS[0]),
        ("unicode", FLAGS[0]),
    ],
    ids=str,
)
@pytest.mark.parametrize("n_known", [20, len(LETTERS)])
def test_letters_of_many_scripts(n_known, rules, flags):
    # Those that the vocabulary lacks are all alike; it has more than there are bytes, or few.
    known = random.Random(0).sample(LETTERS, n_known)
    vocab = vocab_of(known, rule_set(rules), flags)
    tails = [f"a{letter} A{letter}B {letter}" for letter in LETTERS]
    tails += [f"b{first}{second}" for first, second in pairwise(known)]
    assert_as_specified(tails, vocab, rules, **flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("n_known", [5, len(ISOLATED)])
def test_isolated_characters(n_known, flags):
    known = random.Random(0).sample(ISOLATED, n_known)
    vocab = vocab_of(known, rule_set("huggingface"), flags)
    assert_as_specified([f"a{ch}b {ch}{ch} {ch}" for ch in ISOLATED], vocab, **flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("limit", [2, KEY - 1, 100])
def test_dropped_characters_in_words(limit, flags):
    # As many bytes as a key holds or one off, and fewer letters: by these a word is too long.
    vocab = vocab_of(DROPPED[::2], rule_set("huggingface"), flags)
    tails = []
    for ch in DROPPED:
        tails += [f"a{ch}b", f"ab{ch}", f"{ch}ab", f"a{ch}{ch}b", "ab", ch, f"!{ch}a{ch}!{ch}"]
        tails += [
            ("ab" * KEY)[:n_letters] + ch * (n_bytes - n_letters) + last
            for n_bytes in range(KEY - 2, KEY + 1)
            for n_letters in (1, 2, KEY - 3, KEY - 2)
            for last in "ab"
        ]
    assert_as_specified([*tails, " ".join(tails)], vocab, limit=limit, **flags)
