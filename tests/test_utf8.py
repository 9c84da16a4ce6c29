"""encode_utf8: the ids of the decoded rows, and the errors of bytes.decode, by row."""

import itertools
import mmap
import random

import helpers
import numpy as np
import pytest

from piecework import WordPieceTokenizer, reference
from piecework.rules import rule_set

RULES = rule_set("huggingface")


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


def utf8(rows, dtype=np.int64):
    """Give the buffer and the row splits of rows."""
    encoded = [row if isinstance(row, bytes) else row.encode() for row in rows]
    splits = np.array([0, *itertools.accumulate(map(len, encoded))], dtype)
    return b"".join(encoded), splits


def texts_of_all_widths(seed, n_texts):
    """Mix what fits into one, two and four bytes a character, and what needs Python."""
    rng = random.Random(seed)
    stretches = [
        "the cat ",
        "cafés ",
        "naïve ",
        "русский ",
        "日本語",
        "한국 ",
        "\U0001f600",
        "[SEP]",
        "",
    ]
    stretches += ["“quoted” text, ", "a\u302e\u1d165b ", "\u0301", "\0", " ", "\x7f\x80", "ÿ", "Ā"]
    return [
        "".join(rng.choices(stretches, k=rng.choice([0, 1, 3, 30])))[rng.randrange(3) :]
        for _ in range(n_texts)
    ]


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("add_special", [True, False])
def test_ids_are_those_of_the_incumbent(bert_vocab, hf_tokenizer, dtype, threads, add_special):
    rows = helpers.random_texts("utf8", "huggingface", 500) + texts_of_all_widths(1, 500)
    expected = helpers.hf_ids(hf_tokenizer(bert_vocab), rows, add_special=add_special)
    tokenizer = WordPieceTokenizer(bert_vocab)
    got = tokenizer.encode_utf8(*utf8(rows, dtype), add_special=add_special, threads=threads)
    assert got.tolist() == expected


@pytest.mark.parametrize(
    "start", [0, 0x80, 0x7C0, 0xFC0, 0xD780, 0xE000, 0xFFC0, 0x1F5C0, 0x10FF80]
)
@pytest.mark.parametrize("beside", ["", "ÿ", "\u0178", "\U00010000"], ids=ascii)
def test_every_character_of_a_stretch_is_read(start, beside):
    chars = [chr(cp) for cp in range(start, start + 0x80) if not 0xD800 <= cp <= 0xDFFF]
    assert chars
    vocab = {token: i for i, token in enumerate(dict.fromkeys(["[UNK]", "ÿ", "\u0178", *chars]))}
    off = dict.fromkeys(helpers.FLAG_NAMES, False)
    expected = [reference.encode(ch + " " + beside, vocab, RULES, **off) for ch in chars]
    got = WordPieceTokenizer(vocab, **off).encode_utf8(*utf8([ch + " " + beside for ch in chars]))
    assert got.tolist() == expected


# The first and last characters of three bytes, those around the surrogates, and what is none.
THREES = [ch.encode() for ch in "\u0800\u0fff\u1000\u4e00\ud7ff\ue000\uffff"]
NO_THREES = [b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xe4\x41\x80", b"\xe4\x80\xc0"]
NO_THREES += [
    b"abc",
    "éa".encode(),
    "aé".encode(),
    b"\xf0\x90\x80",
    b"\x80\x80\x80",
    b"\xff\xbf\xbf",
]


@pytest.mark.parametrize("behind", [b"", b"a", b" b", "日".encode(), "日本".encode() * 3])
def test_characters_of_three_bytes_are_read_in_pairs_of_any_kind(behind):
    vocab = {token: i for i, token in enumerate(["[UNK]", *(ch.decode() for ch in THREES)])}
    vocab |= {token: len(vocab) + i for i, token in enumerate("ab日本é")}
    vocab |= {f"##{token}": len(vocab) + i for i, token in enumerate(list(vocab)[1:])}
    off = dict.fromkeys(helpers.FLAG_NAMES, False)
    tokenizer = WordPieceTokenizer(vocab, **off)
    for pair in itertools.product(THREES + NO_THREES, repeat=2):
        row = b"".join(pair) + behind
        if error := python_error(row):
            with pytest.raises(UnicodeDecodeError) as raised:
                tokenizer.encode_utf8(row, np.array([0, len(row)]))
            assert (raised.value.start, raised.value.end) == (error.start, error.end)
        else:
            expected = reference.encode(row.decode(), vocab, RULES, **off)
            assert tokenizer.encode_utf8(row, np.array([0, len(row)])).tolist() == [expected]


@pytest.mark.parametrize("n_before", range(18))
def test_ascii_is_read_in_steps_of_any_length(tokenizer, n_before):
    rows = [
        "b" * n_before + middle + "ab c" * n_after
        for middle in ("", "é", "я", "日", "\U0001f600")
        for n_after in range(6)
    ]
    expected = [tokenizer.encode(row) for row in rows]
    assert tokenizer.encode_utf8(*utf8(rows)).tolist() == expected


def test_rows_longer_than_the_scratch_are_decoded_whole():
    tokenizer = WordPieceTokenizer({"[UNK]": 0, "é": 1, "日": 2, "\U0001f600": 3}, lowercase=False)
    rows = ["é " * 400_000, "a", "日" * 300_000, "", "\U0001f600 " * 200_000, "b é"]
    expected = [[1] * 400_000, [0], [2] * 300_000, [], [3] * 200_000, [0, 1]]
    for threads in (1, 2):
        assert tokenizer.encode_utf8(*utf8(rows), threads=threads).tolist() == expected


def test_many_rows_share_the_scratch(tokenizer):
    rows = texts_of_all_widths(2, 300) * 40
    expected = [tokenizer.encode(row) for row in rows[:300]] * 40
    assert tokenizer.encode_utf8(*utf8(rows)).tolist() == expected


@pytest.mark.parametrize("kind", ["bytes", "bytearray", "memoryview", "uint8", "int8", "mmap"])
def test_any_buffer_of_bytes_is_read(tokenizer, kind, tmp_path):
    data, splits = utf8(["The café", "", "日本"])
    if kind == "mmap":
        (tmp_path / "text").write_bytes(data)
        with (tmp_path / "text").open("rb") as file:
            buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    else:
        made = {"bytes": bytes, "bytearray": bytearray, "memoryview": memoryview}
        buffer = made[kind](data) if kind in made else np.frombuffer(data, kind)
    got = tokenizer.encode_utf8(buffer, splits)
    assert got.tolist() == [[1996, 7668], [], [1864, 1876]]
    if kind == "mmap":
        buffer.close()  # nothing holds on to it


def test_rows_may_be_a_part_of_the_buffer(tokenizer):
    data, splits = utf8(["zz", "The café", "", "日本", "\udc80".encode("utf-8", "surrogatepass")])
    assert tokenizer.encode_utf8(data, splits[1:-1]).tolist() == [[1996, 7668], [], [1864, 1876]]
    strided = np.repeat(splits, 2)[::2]
    assert tokenizer.encode_utf8(data, strided[1:-1]).tolist() == [[1996, 7668], [], [1864, 1876]]


def test_no_rows_and_empty_rows(tokenizer):
    assert len(tokenizer.encode_utf8(b"", np.array([0]))) == 0
    assert tokenizer.encode_utf8(b"", np.array([0, 0, 0]), add_special=True).tolist() == [
        [101, 102],
        [101, 102],
    ]


# ---- invalid UTF-8 ----

EDGES = (0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1)
EDGES += (0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF)


def sequences():
    """Give all of one and two bytes, and the edges of three and four."""
    for n in (1, 2):
        yield from map(bytes, itertools.product(range(256), repeat=n))
    for n in (3, 4):
        yield from map(bytes, itertools.product(EDGES, repeat=n))


def python_error(data):
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error
    return None


def test_invalid_is_what_python_calls_invalid():
    """Each sequence in a row alone, as valid ones are: the incumbent here is bytes.decode."""
    tokenizer = WordPieceTokenizer({"[UNK]": 0})
    every = list(sequences())
    valid = [data for data in every if python_error(data) is None]
    expected = tokenizer.encode_batch([data.decode() for data in valid])
    assert tokenizer.encode_utf8(*utf8(valid)) == expected
    invalid = [data for data in every if python_error(data) is not None]
    assert len(invalid) > 400_000
    for data in random.Random(5).sample(invalid, 20_000):
        with pytest.raises(UnicodeDecodeError):
            tokenizer.encode_utf8(*utf8([data]))


INVALID = {
    "a byte that begins nothing": b"\xff",
    "a byte that continues nothing": b"\x80",
    "an overlong slash": b"\xc0\xaf",
    "overlong in three bytes": b"\xe0\x9f\xbf",
    "overlong in four bytes": b"\xf0\x8f\xbf\xbf",
    "an encoded surrogate": b"\xed\xa0\x80",
    "an encoded pair": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond U+10FFFF": b"\xf4\x90\x80\x80",
    "cut short": b"\xe6\x97",
    "cut short in four": b"\xf0\x9f\x98",
}


@pytest.mark.parametrize("name", INVALID)
@pytest.mark.parametrize("before", ["", "abc", "é", "日本", "\U0001f600 abcdefghijkl"], ids=ascii)
@pytest.mark.parametrize("threads", [1, 2])
def test_the_error_names_row_and_byte(tokenizer, name, before, threads):
    rows = ["fine é日"] * 9000
    rows[7001] = data = before.encode() + INVALID[name]
    rows[8500] = b"\xff"  # not the first
    expected = python_error(data)
    with pytest.raises(UnicodeDecodeError) as caught:
        tokenizer.encode_utf8(*utf8(rows), threads=threads)
    error = caught.value
    assert (error.start, error.end) == (expected.start, expected.end)
    assert error.reason == f"{expected.reason} (row 7001)"
    assert error.object == data


def test_a_character_that_the_next_row_would_complete_is_cut_short(tokenizer):
    data, _ = utf8(["a日"])
    with pytest.raises(UnicodeDecodeError, match=r"unexpected end of data \(row 0\)"):
        tokenizer.encode_utf8(data, np.array([0, 2, 4]))


# ---- other arguments ----


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([0, 1, 4], "buffer of 3 bytes, but row 1 goes from 1 to 4"),
        ([0, 2, 1, 3], "buffer of 3 bytes, but row 1 goes from 2 to 1"),
        ([-1, 2], "buffer of 3 bytes, but row 0 goes from -1 to 2"),
        ([-(2**62), 2], "row 0 goes from -4611686018427387904 to 2"),
        ([2**62, 2**62], "row 0 goes from 4611686018427387904 to 4611686018427387904"),
        ([4], "buffer of 3 bytes, but is \\[4\\]"),
        ([], "n_rows \\+ 1 numbers in one dimension, not shape \\(0,\\)"),
        ([[0, 3]], "n_rows \\+ 1 numbers in one dimension, not shape \\(1, 2\\)"),
    ],
)
def test_row_splits_that_make_no_rows_are_refused(tokenizer, splits, message):
    with pytest.raises(ValueError, match=message):
        tokenizer.encode_utf8(b"abc", np.array(splits, np.int64))


def test_out_is_not_to_share_memory_with_what_is_read(tokenizer):
    memory = np.zeros(8, np.int64)
    for arguments in (memory.view(np.uint8)[9:], np.array([0, 3])), (b"abc", memory[:2]):
        with pytest.raises(ValueError, match=r"^out must share no memory with the texts"):
            tokenizer.encode_utf8(*arguments, out=memory.view(np.int32)[2:])


@pytest.mark.parametrize(
    ("buffer", "splits", "message"),
    [
        ("abc", np.array([0, 3]), "buffer: expected bytes or another buffer, got a str"),
        (np.arange(3), np.array([0, 3]), "buffer: expected bytes without a gap, got items of"),
        (np.zeros(6, np.uint8)[::2], np.array([0, 3]), r"without a gap, .* strides \(2,\)"),
        (b"abc", [0, 3], "row_splits must be a 1-D int64 or int32 array, not list"),
        (b"abc", np.array([0.0]), "row_splits must be a 1-D int64 or int32 array, not float64"),
        (b"abc", np.array([0, 3], np.uint64), "row_splits .* not uint64"),
    ],
)
def test_arguments_of_another_type_are_refused(tokenizer, buffer, splits, message):
    with pytest.raises(TypeError, match=message):
        tokenizer.encode_utf8(buffer, splits)
