"""Whole calls beside the incumbent's: random texts, pairs, options; all arrays compared."""

from __future__ import annotations

import json
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import helpers
import numpy as np
import pytest
from hard_strings import HARD_STRINGS
from tokenizers import Encoding, Tokenizer

from piecework import (
    EncodedText,
    NewToken,
    TokenizerFileWarning,
    VocabularyWarning,
    WordPieceTokenizer,
)

pytestmark = pytest.mark.skipif(
    helpers.HF_RULES != "huggingface", reason="1.0.0rc3 has no offsets and no overflow"
)

STRATEGIES = ("longest_first", "only_first", "only_second")
TOKENS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "b",
    "c",
    "ab",
    "abc",
    "##a",
    "##b",
    "##c",
    "##ab",
    "e",
    "un",
    "##able",
    "the",
    "cafe",
    "!",
    ".",
    ",",
    "日",
    "本",
    "ᄒ",
    "##ᅡ",
    "##ᆫ",
    "°",
    "1",
    "##1",
    "##0",
    "x",
    "##x",
]
WORDS = [
    *"abcex1",
    "abc",
    "caab",
    "unable",
    "the",
    "café",
    "cafe\u0301",
    "é",
    "한",
    "日本",
    "!",
    ".",
]
GLUE = ["", " ", "  ", "\t", "\u200b", "\u00ad", "\u0301", "\u3000", "[MASK]", "[SEP]", "\x00"]


def random_text(rng: random.Random, most: int = 12) -> str:
    parts = []
    for _ in range(rng.randint(0, most)):
        parts += [rng.choice(WORDS), rng.choice(GLUE) if rng.random() < 0.3 else " "]
    if rng.random() < 0.1:
        parts.append(rng.choice(HARD))
    return "".join(parts)


HARD = [text for text in HARD_STRINGS if not any("\ud800" <= ch <= "\udfff" for ch in text)]


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> tuple[WordPieceTokenizer, Tokenizer]:
    path = tmp_path_factory.mktemp("calls") / "tokenizer.json"
    tokenizer = WordPieceTokenizer({token: i for i, token in enumerate(TOKENS)})
    tokenizer.save(path)
    return tokenizer, Tokenizer.from_file(str(path))


def columns(encoding: Encoding) -> tuple[list, ...]:
    return (
        encoding.ids,
        encoding.type_ids,
        encoding.special_tokens_mask,
        encoding.offsets,
        encoding.word_ids,
        encoding.sequence_ids,
    )


def ours(text: EncodedText) -> tuple[list, ...]:
    return (
        text.ids,
        text.type_ids,
        text.special_tokens_mask,
        text.offsets,
        text.word_ids,
        text.sequence_ids,
    )


def random_options(rng: random.Random) -> dict:
    options: dict = {"add_special": rng.random() < 0.7}
    if rng.random() < 0.7:
        options["max_length"] = rng.randint(3, 16)
        options["truncation"] = rng.choice(STRATEGIES)
        options["truncation_side"] = rng.choice(["right", "left"])
        options["return_overflow"] = rng.random() < 0.5
        if options["return_overflow"]:
            options["stride"] = rng.randint(0, 4)
    return options


def expected(hf: Tokenizer, texts, pairs, options: dict, *, is_split: bool) -> list | None:
    """Return what the incumbent gives, None where it raises."""
    if "max_length" in options:
        try:
            hf.enable_truncation(
                options["max_length"],
                stride=options.get("stride", 0),
                strategy=options["truncation"],
                direction=options["truncation_side"],
            )
        except ValueError:
            return None
    else:
        hf.no_truncation()
    inputs = texts if pairs is None else list(zip(texts, pairs, strict=True))
    try:
        return hf.encode_batch(
            inputs, is_pretokenized=is_split, add_special_tokens=options["add_special"]
        )
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise
        return None
    finally:
        hf.no_truncation()


def check_call(both, rng: random.Random) -> bool:
    """Compare one random call; say whether there was something to compare."""
    tokenizer, hf = both
    is_split = rng.random() < 0.2
    n_rows, is_pair = rng.randint(1, 4), rng.random() < 0.5

    def draw():
        if is_split:
            return [random_text(rng, 2) for _ in range(rng.randint(0, 5))]
        return random_text(rng)

    texts = [draw() for _ in range(n_rows)]
    pairs = [draw() for _ in range(n_rows)] if is_pair else None
    options = random_options(rng)
    wanted = expected(hf, texts, pairs, options, is_split=is_split)
    call = f"{texts!r}, {pairs!r}, {options}, is_split={is_split}"
    try:
        batch = tokenizer.encode_batch(
            texts, pairs, return_details=True, is_split_into_words=is_split, **options
        )
    except ValueError:
        # Where there is no room, the incumbent cuts nothing.
        limit = (
            options["max_length"] - tokenizer.num_special_tokens(is_pair) * options["add_special"]
        )
        assert wanted is None or limit < 0 or options.get("stride", 0) >= limit, call
        return False
    if wanted is None and options.get("stride", 0) > options["max_length"] - 3:
        # It refuses strides as if special tokens were always put around, and a pair's too.
        return False
    assert wanted is not None, call
    rows = []
    for encoding in wanted:
        rows.append(encoding)
        if options.get("return_overflow"):
            rows += encoding.overflowing
    got = [EncodedText(batch, row, str, n_texts=1 + is_pair) for row in range(len(batch))]
    assert [ours(row) for row in got] == [columns(row) for row in rows], call
    check_plain(tokenizer, texts, pairs, {**options, "is_split_into_words": is_split}, batch)
    return True


def check_plain(tokenizer, texts, pairs, options: dict, details) -> None:
    """Compare what a call gives that asks for less, and takes another way."""
    bare = tokenizer.encode_batch(texts, pairs, **options)
    assert np.array_equal(bare.ids, details.ids)
    assert np.array_equal(bare.row_splits, details.row_splits)
    some = tokenizer.encode_batch(
        texts, pairs, return_offsets=True, return_word_ids=True, **options
    )
    assert np.array_equal(some.offsets, details.offsets)
    assert np.array_equal(some.word_ids, details.word_ids)


def test_random_calls_equal_the_incumbents(both):
    rng = random.Random(4)
    assert sum(check_call(both, rng) for _ in range(2_000)) > 1_200


@pytest.mark.exhaustive
def test_many_random_calls_equal_the_incumbents(both):
    rng = random.Random(44)
    assert sum(check_call(both, rng) for _ in range(5_000)) > 3_000


def test_threads_that_want_other_lengths_get_them(both):
    tokenizer, _ = both
    n_calls, texts = 100_000 // 8, ["a b c " * 20, "ab"]

    def wrong_lengths(length: int) -> int:
        rows = (
            tokenizer.encode_batch(texts, add_special=True, max_length=length)
            for _ in range(n_calls)
        )
        return sum(row.lengths.tolist() != [length, 3] for row in rows)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(wrong_lengths, range(5, 13))) == 0


@pytest.mark.parametrize("text", ["", " ", "\u200b"])
def test_the_first_text_of_a_tokenizer_may_give_nothing(text):
    tokenizer = WordPieceTokenizer({"[UNK]": 0})  # which has no memory for ids yet
    batch = tokenizer.encode_batch([text], return_offsets=True, return_word_ids=True)
    assert batch.offsets.shape == (0, 2)
    assert batch.word_ids.shape == (0,)


def test_rows_that_do_not_match_are_refused(both):
    tokenizer, _ = both
    with pytest.raises(ValueError, match="pairs: expected as many as there are texts, 2, got 1"):
        tokenizer.encode_batch(["a", "b"], ["c"])
    with pytest.raises(TypeError, match=r"pairs\[1\]: expected a str, got None"):
        tokenizer.encode_batch(["a", "b"], ["c", None])
    with pytest.raises(TypeError, match=r"texts\[1\]: expected the words of a text"):
        tokenizer.encode_batch([["a"], "b"], is_split_into_words=True)
    with pytest.raises(TypeError, match=r"pairs\[0\]\[1\]: expected a str, got 3"):
        tokenizer.encode_batch([["a"]], [["b", 3]], is_split_into_words=True)
    with pytest.raises(ValueError, match="return_offsets must be True, False or 'bytes'"):
        tokenizer.encode_batch(["a"], return_offsets="words")


def test_no_rows_are_no_rows(both):
    tokenizer, _ = both
    batch = tokenizer.encode_batch([], [], add_special=True, return_details=True, max_length=5)
    assert (len(batch), batch.offsets.shape, batch.to_padded().input_ids.shape) == (
        0,
        (0, 2),
        (0, 0),
    )
    assert len(tokenizer.encode_batch([], is_split_into_words=True)) == 0


def test_ids_go_where_they_are_told(both):
    tokenizer, _ = both
    out = np.zeros(10, np.uint16)
    batch = tokenizer.encode_batch(["a b c d"], ["e"], add_special=True, max_length=5, out=out)
    assert batch.ids.base is out or batch.ids.base is out.base
    assert out[: len(batch.ids)].tolist() == batch[0].tolist()
    with pytest.raises(ValueError, match="out has room for 2 ids, but there are 5"):
        tokenizer.encode_batch(
            ["a b c d"], ["e"], add_special=True, max_length=5, out=np.zeros(2, np.int32)
        )


@pytest.mark.parametrize("n", [7, 60, 5_000, 200_000])
def test_which_text_is_longer_is_found_out_late(both, n):
    tokenizer, _ = both  # the incumbent makes all windows of such pairs, whose number is squared
    rows = [("a " * n, "b " * (n - 1)), ("a " * (n - 1), "b " * n), ("a " * n, "b " * n)]
    firsts, seconds = zip(*rows, strict=True)
    got = tokenizer.encode_batch(firsts, seconds, add_special=True, max_length=8)
    a, b, cls, sep = map(tokenizer.token_to_id, ("a", "b", "[CLS]", "[SEP]"))
    assert got.tolist() == [
        [cls, *[a] * 3, sep, *[b] * 2, sep],
        [cls, *[a] * 2, sep, *[b] * 3, sep],
        [cls, *[a] * 2, sep, *[b] * 3, sep],
    ]


@pytest.mark.parametrize("form", ["A [SEP] A", "A A", "[SEP]", "A [SEP]"])
@pytest.mark.parametrize("add_special", [True, False])
def test_a_template_of_another_form(both, tmp_path, form, add_special):
    tokenizer, _ = both
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    document = json.loads(path.read_text("utf-8"))
    pieces = {
        "A": {"Sequence": {"id": "A", "type_id": 0}},
        "[SEP]": {"SpecialToken": {"id": "[SEP]", "type_id": 2}},
    }
    document["post_processor"]["single"] = list(map(pieces.__getitem__, form.split()))
    path.write_text(json.dumps(document), "utf-8")
    ours, hf = WordPieceTokenizer.load(path), Tokenizer.from_file(str(path))
    texts = ["a b", "", "c"]
    wanted = [e.ids for e in hf.encode_batch(texts, add_special_tokens=add_special)]
    assert ours.encode_batch(texts, add_special=add_special).tolist() == wanted
    assert [ours.encode(text, add_special=add_special) for text in texts] == wanted
    assert [ours.encode_text(text, add_special=add_special).ids for text in texts] == wanted
    assert ours.count_tokens(texts, add_special=add_special).tolist() == list(map(len, wanted))
    assert ours.num_special_tokens() == hf.num_special_tokens_to_add(False)
    if not add_special:
        strings = [e.tokens for e in hf.encode_batch(texts, add_special_tokens=False)]
        assert list(map(ours.tokenize, texts)) == strings


@pytest.mark.parametrize(
    "rows",
    [
        [["the", "a b"], np.array(["a", "c"], dtype=object)],
        [np.array(["the"], dtype=object), np.array(["a"]), ["c"]],
        [np.array(["the", "the"]), ("a", "b")],
        [iter(["the"]), (word for word in ["a", "b"])],
    ],
)
def test_rows_of_words_may_be_any_iterables(both, rows):
    tokenizer, hf = both
    lists = [list(row) for row in rows]
    if not isinstance(rows[0], (list, np.ndarray)):  # they are used up
        rows = [iter(row) for row in lists]
    words = [[str(word) for word in row] for row in lists]
    wanted = hf.encode_batch(words, is_pretokenized=True, add_special_tokens=False)
    got = tokenizer.encode_batch(rows, is_split_into_words=True, return_word_ids=True)
    assert got.tolist() == [encoding.ids for encoding in wanted]
    assert got.word_ids.tolist() == [word for encoding in wanted for word in encoding.word_ids]


@pytest.mark.parametrize("kind", ["BertProcessing", "RobertaProcessing"])
@pytest.mark.parametrize("n_sequences", [0, 1, 2])
def test_types_of_what_overflows_are_those_of_the_processor(both, tmp_path, kind, n_sequences):
    tokenizer, _ = both
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    document = json.loads(path.read_text("utf-8"))
    ends = {
        name: [f"[{name.upper()}]", TOKENS.index(f"[{name.upper()}]")] for name in ("sep", "cls")
    }
    flags = {"trim_offsets": False, "add_prefix_space": False}
    processor = {"type": kind, **ends, **(flags if kind == "RobertaProcessing" else {})}
    byte_level = {"type": "ByteLevel", "use_regex": True, **flags}
    for _ in range(n_sequences):
        processor = {"type": "Sequence", "processors": [byte_level, processor]}
    document["post_processor"] = processor
    path.write_text(json.dumps(document), "utf-8")
    ours, hf = WordPieceTokenizer.load(path), Tokenizer.from_file(str(path))
    hf.enable_truncation(8)
    for add_special in (True, False):
        for pair in ([], ["c"], ["a b c a b c a b c"]):
            text = "a b c e x a b c e"
            first = hf.encode(text, *pair, add_special_tokens=add_special)
            wanted = [each.type_ids for each in (first, *first.overflowing)]
            got = ours.encode_batch(
                [text],
                pair or None,
                add_special=add_special,
                max_length=8,
                return_overflow=True,
                return_details=True,
            )
            assert got.type_ids.tolist() == [id_ for window in wanted for id_ in window]


def test_a_template_may_have_an_id_of_no_token(both, tmp_path):
    tokenizer, _ = both
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    document = json.loads(path.read_text("utf-8"))
    vocab = document["model"]["vocab"]
    gap = vocab.pop("x")
    document["added_tokens"] = []
    document["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "X", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"],
        "special_tokens": {"X": {"id": "X", "ids": [gap], "tokens": ["<gap>"]}},
    }
    path.write_text(json.dumps(document), "utf-8")
    wanted = Tokenizer.from_file(str(path)).encode("a b")
    with pytest.warns(VocabularyWarning, match="1 ids below"):
        encoded = WordPieceTokenizer.load(path).encode_text("a b", add_special=True)
    assert (encoded.ids, encoded.tokens) == (wanted.ids, wanted.tokens)


@pytest.mark.parametrize("name", ["add_special", "split_special_tokens"])
def test_flags_are_bools_everywhere(both, name):
    tokenizer, _ = both
    text = np.frombuffer(b"a", np.uint8)
    for call in (
        lambda **flag: tokenizer.encode("a", **flag),
        lambda **flag: tokenizer.encode_text("a", **flag),
        lambda **flag: tokenizer.encode_batch(["a"], **flag),
        lambda **flag: tokenizer.encode_utf8(text, np.array([0, 1]), **flag),
        lambda **flag: tokenizer.count_tokens(["a"], **flag),
    ):
        with pytest.raises(TypeError, match=f"^{name}: expected a bool, got 'no'$"):
            call(**{name: "no"})
        call(**{name: np.True_})


def test_other_flags_are_bools(both):
    tokenizer, _ = both
    with pytest.raises(TypeError, match=r"^add_special: expected a bool, got 'an answer'$"):
        tokenizer.encode("a question", "an answer")
    for name in ("is_split_into_words", "return_word_ids", "return_details", "return_overflow"):
        with pytest.raises(TypeError, match=f"^{name}: expected a bool, got 2$"):
            tokenizer.encode_batch([["a"]], **{name: 2})
    for decode, ids in ((tokenizer.decode, [5]), (tokenizer.decode_batch, [[5]])):
        with pytest.raises(TypeError, match=r"^skip_special: expected a bool, got 'no'$"):
            decode(ids, "no")


def test_special_tokens_as_plain_text_in_every_call(both):
    tokenizer, hf = both
    hf = Tokenizer.from_str(hf.to_str())
    hf.encode_special_tokens = True
    text = "a [SEP] [MASK]b"
    wanted = hf.encode(text, add_special_tokens=False)
    assert wanted.ids != tokenizer.encode(text)
    assert tokenizer.encode(text, split_special_tokens=True) == wanted.ids
    assert tokenizer.tokenize(text, split_special_tokens=True) == wanted.tokens
    assert tokenizer.count_tokens([text], split_special_tokens=True) == len(wanted.ids)
    row_splits = np.array([0, len(text)])
    batch = tokenizer.encode_utf8(text.encode(), row_splits, split_special_tokens=True)
    assert batch.tolist() == [wanted.ids]


@pytest.mark.parametrize(
    ("tokens", "padding", "pad_id"),
    [
        ("[UNK] [PAD] a", None, 1),
        ("[UNK] a <pad>", None, 2),
        ("<pad> [UNK] a [PAD]", None, 3),
        ("[UNK] a", None, 0),
        ("[UNK] a [PAD]", 1, 1),
    ],
)
def test_batches_are_padded_with_the_padding_token(tmp_path, tokens, padding, pad_id):
    tokenizer = WordPieceTokenizer({token: i for i, token in enumerate(tokens.split())})
    if padding is not None:
        path = tmp_path / "tokenizer.json"
        tokenizer.save(path)
        hf = Tokenizer.from_file(str(path))
        hf.enable_padding(pad_id=padding)
        hf.save(str(path))
        with pytest.warns(TokenizerFileWarning):
            tokenizer = WordPieceTokenizer.load(path)
    assert tokenizer.pad_id == pad_id
    for options in ({}, {"return_details": True}):
        batch = tokenizer.encode_batch(["a", "", "a a"], **options)
        again = pickle.loads(pickle.dumps(batch))
        for each in (batch, batch[:], batch[::2], again):
            assert each.pad_id == pad_id
        assert batch.to_padded().input_ids[1].tolist() == [pad_id] * 2
        assert again.to_padded(pad_id=7).input_ids[1].tolist() == [7, 7]
        texts = batch.to_padded()
        assert tokenizer.decode_batch(texts) == list(map(tokenizer.decode, texts.input_ids))


@pytest.mark.parametrize("add_prefix_space", [True, False])
def test_offsets_without_white_space(both, tmp_path, add_prefix_space):
    tokenizer, _ = both
    mask, wide = NewToken("<m>", lstrip=True, rstrip=True), NewToken("W W ", normalized=True)
    path = tmp_path / "tokenizer.json"
    tokenizer.add_special_tokens([mask]).add_tokens([wide]).save(path)
    document = json.loads(path.read_text("utf-8"))
    document["post_processor"] = {
        "type": "RobertaProcessing",
        "cls": ["[CLS]", tokenizer.token_to_id("[CLS]")],
        "sep": ["[SEP]", tokenizer.token_to_id("[SEP]")],
        "trim_offsets": True,
        "add_prefix_space": add_prefix_space,
    }
    path.write_text(json.dumps(document), "utf-8")
    ours, hf = WordPieceTokenizer.load(path), Tokenizer.from_file(str(path))
    texts = ["a  <m> b", " <m>", "<m>", "a W W b", "w w <m> ", "\u3000<m>\t a", "a b", " a"]
    wanted = hf.encode_batch(texts)
    got = ours.encode_batch(texts, add_special=True, return_offsets=True)
    assert got.tolist() == [encoding.ids for encoding in wanted]
    expected = [list(span) for encoding in wanted for span in encoding.offsets]
    assert got.offsets.tolist() == expected
    pairs = ours.encode_batch(texts, texts[::-1], add_special=True, return_offsets=True)
    wanted = hf.encode_batch(list(zip(texts, texts[::-1], strict=True)))
    assert pairs.offsets.tolist() == [list(span) for pair in wanted for span in pair.offsets]
