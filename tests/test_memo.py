"""The memo of words, and the window of rows whose words are looked up together.

A memo may change no id: so rows aimed at the borders of what the kernel does at a time, with memos
of all sizes and in changing order, against the specification.
"""

import dataclasses
import random
import subprocess
import sys

import pytest
from helpers import hf_ids, hf_tokenizer

from piecework import WordPieceTokenizer, reference
from piecework.rules import rule_set
from piecework.spec import AddedToken

RULES = rule_set("huggingface")
STAGE = 8192  # bytes of text that are looked up together
SEGMENTS = 512  # rows
BLOCK = 64  # bytes that are classified together
KEY = 16  # bytes of a word that the memo holds
LEAST = 1  # as memo_bytes: two cache lines, so that each word throws another one out
SIZES = [0, LEAST, 256, 1 << 16]

TOKENS = ["[UNK]", "a", "##a", "b", "##b", "ab", "##aab", "é", "!", "-", "\u2014", "日", "1", "A"]
TOKENS += ["\u2019", "\x7f", "\u302e", "##\u302e", "ᄒ", "##ᅡ", "##ᆫ", "##ᄒ", "##é", "##1"]
TOKENS += ["ab" * 7]  # so that words as long as a key, or longer, have few pieces
VOCAB = {token: i for i, token in enumerate(TOKENS)}
HIGH_VOCAB = {f"q{i}q": i for i in range((1 << 16) - len(TOKENS) // 2)}
HIGH_VOCAB |= {token: len(HIGH_VOCAB) + i for i, token in enumerate(TOKENS)}

# Beginnings of each other, with spaces, with capitals and other awkward first characters, and as
# long as what the scanner looks at, or one character off.
SPECIAL = ["[M]", "[M", "[M]]", "Abc", "a b", "[a b c]", "!!", "\u2014x", "日本", "\0x", "é-", "1"]
SPECIAL += ["x" * 31, "y" * 32, "z" * 33]
ADDED = {token: 90_000 + i for i, token in enumerate(SPECIAL)}

# No byte, a byte of two meanings, marks, what joins and what separates.
# fmt: off
AWKWARD = [
    "\0", "\x01", "\x0b", "\x0c", "\t", "\x7f", "\x80", "\x85", "\x9f", "\xa0", "\xad", "é", "É",
    "e\u0301", "\u0301\u0323", "\u302e", "\u2010", "\u2014", "\u2019", "\u2028", "\u202a", "\u202f",
    "\u3000", "\u200b", "日", "한", "İ", "ß", "ǅ", "\U0001f600", "\ud83d\ude00", "\udfff",
]
# fmt: on
FLAGS = [
    {"lowercase": True, "strip_accents": None},
    {"lowercase": False, "strip_accents": None},
    {"lowercase": True, "strip_accents": False},
    {"lowercase": False, "strip_accents": True, "handle_chinese_chars": False},
]


def tokenizer(vocab, special_tokens, **options):
    spec = WordPieceTokenizer(vocab, **options).spec
    added = tuple(AddedToken(*item) for item in special_tokens.items())
    return WordPieceTokenizer.from_spec(dataclasses.replace(spec, added_tokens=added))


def assert_no_memo_changes(rows, vocab=VOCAB, special_tokens=None, limit=100, **flags):
    """Encode by memos of all sizes, empty ones and those that hold words, and as specified."""
    special_tokens = special_tokens or {}
    expected = [
        reference.encode(row, vocab, RULES, max_chars=limit, special_tokens=special_tokens, **flags)
        for row in rows
    ]
    for memo_bytes in SIZES:
        # Of its own, as the kernel does not ask a memo for a while after it missed too much.
        ours = tokenizer(vocab, special_tokens, max_input_chars_per_word=limit, **flags)
        for _ in range(2):  # with an empty memo, and with one that holds words
            batch = ours.encode_batch(rows, memo_bytes=memo_bytes, threads=1)
            for row, got, wanted in zip(rows, batch.tolist(), expected, strict=True):
                assert got == wanted, (memo_bytes, row[:80], len(row))


def words_of(length):
    """Make words that differ in their last byte only, with pieces of one and of several letters."""
    return [("ab" * length)[: length - 1] + last for last in "ab1"]


@pytest.mark.parametrize("vocab", [VOCAB, HIGH_VOCAB], ids=["short ids", "long ids"])
@pytest.mark.parametrize("limit", [1, KEY - 1, KEY, KEY + 1, 100])
def test_words_of_every_length(vocab, limit):
    words = [
        word for n in (1, 2, 3, 4, 7, 8, KEY - 1, KEY, KEY + 1, 2 * KEY) for word in words_of(n)
    ]
    words += ["a" * n for n in range(1, 2 * KEY)]  # of n pieces, and a key that ends in zeros
    rows = [" ".join(words), " ".join(words[::-1]), "-".join(words), *words]
    assert_no_memo_changes(rows, vocab, limit=limit)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("joint", AWKWARD, ids=ascii)
def test_awkward_characters_in_rows_that_are_staged(joint, flags):
    plain = "ab ba aab " * 4  # so that one character without a byte does not keep the row out
    rows = [plain + around.format(joint) + plain for around in ("{}", "a{}b", "a{}", "!{0}{0} A")]
    rows += [plain.upper() + joint + plain, joint, joint * 40, "A a B b É é", plain]
    assert_no_memo_changes([*rows, *rows[:3]], **flags)


@pytest.mark.parametrize(
    "joint",
    ["ab", "a" * (KEY + 1), "\0", "한", "!", "[a b c]", "z" * 33, "\u302e\u302e"],
    ids=ascii,
)
@pytest.mark.parametrize("border", [BLOCK, STAGE // 4, STAGE])
def test_every_offset_of_a_border(joint, border):
    ours = tokenizer(VOCAB, ADDED)
    filler, n_fillers = "ab aab ", border // 7 - 9
    for start in range(63 - len(joint) - 4, 63 + 11):  # behind the fillers
        tail = (filler * 11)[:start] + joint + " b" + "a b" * 5
        # No special token begins in a filler, and its words end there: so it is always the same.
        expected = reference.encode(filler, VOCAB, RULES) * n_fillers
        expected += reference.encode(tail, VOCAB, RULES, special_tokens=ADDED)
        row = filler * n_fillers + tail
        # Alone, so that it begins with the stage; and behind another one.
        for rows in ([row], ["ab", row, "a"]):
            got = ours.encode_batch(rows, memo_bytes=256, threads=1).tolist()
            assert got[len(rows) // 2] == expected, (start, len(rows))


@pytest.mark.parametrize("n_rows", [SEGMENTS - 1, SEGMENTS, SEGMENTS + 1, 3 * SEGMENTS])
@pytest.mark.parametrize("row", ["", "a", "日", "[M]"])
def test_as_many_rows_as_segments(row, n_rows):
    rows = [row] * n_rows + ["ab"] + [row, "한 a"] * 3
    assert_no_memo_changes(rows, special_tokens=ADDED)


@pytest.mark.parametrize("fill", ["a", "日", "a日", "!", "[", "\0 ", "é", "\t"], ids=ascii)
def test_rows_longer_than_the_stage(fill):
    rows = ["ab", "ab " * (STAGE // 12) + fill * STAGE + " b", "a" + fill * (STAGE // 2), "ab"]
    assert_no_memo_changes([row[: STAGE + STAGE // 2] for row in rows])


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_special_tokens_in_rows_that_are_staged(flags):
    rng = random.Random(str(flags))
    pieces = [*SPECIAL, *SPECIAL, "a", "b", " ", "A", "abc", "ABC", "[", "]", "x", "é", "\u2014"]
    rows = ["".join(rng.choices(pieces, k=rng.choice([1, 2, 5, 40]))) for _ in range(60)]
    rows += [("ab " * 30 + row + " ba") * 3 for row in rows[:20]]
    rows += ["Abc abc ABC", "abc Abc [m] [M] [m"]  # the same bytes, special or not
    assert_no_memo_changes(rows, special_tokens=ADDED, **flags)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_texts_that_change_while_the_memo_stays(flags):
    rng = random.Random(str(flags))
    ours = tokenizer(VOCAB, ADDED, **flags)
    letters = "ab1A\xe9"
    for n_call in range(20):
        some = ["".join(rng.choices(letters, k=rng.randint(1, 20))) for _ in range(40)]
        some += rng.sample(SPECIAL, 3) + rng.sample(AWKWARD, n_call % 4)
        rows = [" ".join(rng.choices(some, k=rng.choice([1, 9, 60]))) for _ in range(6)]
        expected = [
            reference.encode(row, VOCAB, RULES, special_tokens=ADDED, **flags) for row in rows
        ]
        size = 1 << 12 if n_call % 7 else 256  # now and then an empty one
        assert ours.encode_batch(rows, memo_bytes=size, threads=1).tolist() == expected


LETTERS = "abcdefghij"


def vocab_of_letters(n_fillers=0):
    """Make a vocabulary under which a word has as many ids as letters, behind that many others."""
    tokens = ["[UNK]", "[CLS]", "[SEP]", *(f"q{i}q" for i in range(n_fillers))]
    tokens += [prefix + letter for letter in LETTERS for prefix in ("", "##")]
    return {token: i for i, token in enumerate(tokens)}


@pytest.mark.parametrize("n_fillers", [0, 1 << 16], ids=["short ids", "long ids"])
@pytest.mark.parametrize("memo_bytes", [LEAST, 1 << 10, 1 << 16])
def test_words_of_many_ids_and_of_few_that_throw_each_other_out(memo_bytes, n_fillers):
    rng = random.Random(0)
    vocab = vocab_of_letters(n_fillers)
    ours = tokenizer(vocab, {})
    words = ["".join(rng.choices(LETTERS, k=n)) for n in range(1, KEY + 2) for _ in range(4)]
    ids = {word: reference.encode(word, vocab, RULES) for word in words}
    for n_call in range(60):
        # Few in some calls, so that they are remembered, and many in others, to throw them out
        # while the same call needs them.
        some = rng.sample(words, (2, 6, 40)[n_call % 3])
        rows = [rng.choices(some, k=rng.choice([1, 9, 60])) for _ in range(4)]
        got = ours.encode_batch(map(" ".join, rows), memo_bytes=memo_bytes, threads=1).tolist()
        for row, got_row in zip(rows, got, strict=True):
            assert got_row == [i for word in row for i in ids[word]], (n_call, row)


@pytest.mark.parametrize(("row_chars", "memo_bytes"), [(40, 1 << 16), (30_000, 256)])
def test_the_memo_is_passed_by_where_all_words_are_new(row_chars, memo_bytes):
    # Once it misses too many, which can show in the middle of a row, it is not asked for some
    # 2**18 characters; then it is.
    rng = random.Random(0)
    vocab = vocab_of_letters()
    n_rows = (1 << 19) // row_chars * 9 // 8
    words = ["".join(rng.choices(LETTERS, k=9)) for _ in range(n_rows * row_chars // 10)]
    new = [" ".join(words[i::n_rows]) for i in range(n_rows)]
    known = [" ".join(rng.choices(["abc", "j", LETTERS], k=row_chars // 6)) for _ in range(9)]
    rows = [*known, *new, *known, *new[:9]]
    assert sum(map(len, new)) > 1 << 19
    ours = WordPieceTokenizer(vocab)
    batch = ours.encode_batch(rows, memo_bytes=memo_bytes, threads=1, add_special=True)
    expected = hf_ids(hf_tokenizer(vocab), rows, add_special=True)
    for i, (got, wanted) in enumerate(zip(batch.tolist(), expected, strict=True)):
        assert got == wanted, i


@pytest.mark.parametrize("special_id", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1])
def test_special_tokens_with_higher_ids_than_the_vocabulary(special_id):
    ours = tokenizer(VOCAB, {"[M]": special_id})
    assert ours.encode_batch(["a [M] a"], memo_bytes=256).tolist() == [[1, special_id, 1]]
    assert ours.encode("[M] a " * 5000) == [special_id, 1] * 5000


def test_a_row_that_is_left_out_after_its_beginning_was_staged():
    # The first row fills much of the stream. Of the second one, the beginning is all that is
    # staged, the rest fills the stream up, so that it is walked, and needs Python at its end.
    first = ("한" * 90 + " ") * 42
    second = "a " * 2060 + "a\t" + ("한" * 90 + "\t") * 44 + "한" * 76 + "\u302e\u302e"
    assert_no_memo_changes([first, second, "b a"], limit=1000)


HUGE = """
from piecework import WordPieceTokenizer

for memo_bytes in (1 << 61, (1 << 62) - 1, 1 << 62, (1 << 63) - 1):
    try:
        WordPieceTokenizer({"[UNK]": 0}).encode_batch(["a"], memo_bytes=memo_bytes)
    except MemoryError:
        continue
    raise AssertionError(memo_bytes)
"""


def test_a_memo_larger_than_any_memory():
    subprocess.run([sys.executable, "-c", HUGE], check=True, timeout=60)
