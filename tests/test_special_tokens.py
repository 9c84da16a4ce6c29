"""Splitting special tokens out of raw text, against brute force and the incumbent."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from itertools import product

import helpers
import pytest
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer
from piecework.special_tokens import SpecialTokens


def split_by_hand(text: str, contents: Mapping[str, int]) -> list[str | int]:
    """Try every content at every position, the longest first."""
    pieces: list[str | int] = []
    position = plain_from = 0
    while position < len(text):
        found = [c for c in contents if text.startswith(c, position)]
        if found:
            longest = max(found, key=len)
            pieces += [text[plain_from:position], contents[longest]]
            position = plain_from = position + len(longest)
        else:
            position += 1
    return [piece for piece in [*pieces, text[plain_from:]] if piece != ""]


def words(alphabet: str, lengths: Iterable[int]) -> list[str]:
    return ["".join(letters) for n in lengths for letters in product(alphabet, repeat=n)]


def test_split_is_leftmost_longest_on_all_short_texts() -> None:
    rng = random.Random(3)
    candidates = words("ab", range(1, 5))
    texts = words("ab", range(9))
    for _ in range(120):
        contents = {c: i for i, c in enumerate(rng.sample(candidates, rng.randint(1, 5)))}
        tokens = SpecialTokens(contents)
        for text in rng.sample(texts, 200):
            assert list(tokens.split(text)) == split_by_hand(text, contents), (contents, text)


def test_split_is_leftmost_longest_on_long_random_texts() -> None:
    rng = random.Random(4)
    for alphabet in ("ab", "a日😀", "[M]\ud800"):
        for _ in range(100):
            contents = {
                "".join(rng.choices(alphabet, k=rng.randint(1, 6))): id_ for id_ in range(8)
            }
            text = "".join(rng.choices(alphabet + "z", k=rng.randint(0, 400)))
            assert list(SpecialTokens(contents).split(text)) == split_by_hand(text, contents)


@pytest.mark.parametrize("text", ["", "plain", "[MASK]", "a[MASK]b", "[MASK][MASK]", "[MASK", "[["])
def test_pieces_join_to_the_text_and_none_is_empty(text: str) -> None:
    contents = {"[MASK]": 0}
    pieces = list(SpecialTokens(contents).split(text))
    assert "" not in pieces
    assert "".join("[MASK]" if piece == 0 else str(piece) for piece in pieces) == text


def test_without_special_tokens_a_text_is_one_piece() -> None:
    assert list(SpecialTokens({}).split("a [MASK]")) == ["a [MASK]"]
    assert list(SpecialTokens({}).split("")) == []


def test_matching_is_literal() -> None:
    tokens = SpecialTokens({"[MASK]": 4, "é": 5})
    assert list(tokens.split("[mask] e\u0301 ［MASK］")) == ["[mask] e\u0301 ［MASK］"]
    assert list(tokens.split("x[MASK]ED[CLS]é")) == ["x", 4, "ED[CLS]", 5]


def test_many_overlapping_matches_take_linear_time() -> None:
    # 8 matches end at each of 200,000 characters; in quadratic time this would not end.
    tokens = SpecialTokens({"a" * n: n for n in range(1, 9)})
    assert list(tokens.split("a" * 200_001)) == [8] * 25_000 + [1]


def test_an_empty_content_is_refused() -> None:
    with pytest.raises(ValueError, match=r"got an empty one \(id 7\)"):
        SpecialTokens({"[MASK]": 4, "": 7})


def test_contents_are_copied() -> None:
    contents = {"[MASK]": 4}
    tokens = SpecialTokens(contents)
    contents.clear()
    assert list(tokens.split("[MASK]")) == [4]


def test_splits_where_the_incumbent_does(hf_tokenizer: Callable[..., Tokenizer]) -> None:
    specials = ["[MASK]", "[MASK]ED", "X[MASK]Y", "[[", "]]", "[]"]
    plain = list("[]mxyeds") + [f"##{ch}" for ch in "mxyaskeds"] + list("ak")
    vocab = {token: i for i, token in enumerate(["[UNK]", *specials, *plain])}
    hf = hf_tokenizer(vocab, special_tokens=specials, template=False)
    tokens = SpecialTokens({content: vocab[content] for content in specials})
    rng = random.Random(5)
    parts = [*specials, "X", "Y", "[", "]", "MASK", "[MASK", "ED", " "]
    for _ in range(2000):
        text = "".join(rng.choices(parts, k=rng.randint(0, 8)))
        ours = [piece for piece in tokens.split(text) if isinstance(piece, int)]
        theirs = [id_ for id_ in hf.encode(text).ids if 1 <= id_ <= len(specials)]
        assert ours == theirs, text


@pytest.mark.parametrize("text", helpers.NEAR_SPECIAL)
def test_near_special_text_splits_as_by_hand(text: str) -> None:
    contents = {token: i for i, token in enumerate(helpers.SPECIALS)}
    assert list(SpecialTokens(contents).split(text * 2)) == split_by_hand(text * 2, contents)


# What a special token may begin with: each kind of character that the scanner tells apart.
BEGINNINGS = [
    " ",
    "\n",
    "\u1680",
    "\t ",
    "a",
    "É",
    "한",
    "日",
    "!",
    "[",
    "\u0301",
    "\x00",
    "\u200b",
    "😀",
]


@pytest.mark.parametrize("beginning", BEGINNINGS, ids=ascii)
def test_a_special_token_may_begin_with_anything(
    beginning: str, hf_tokenizer: Callable[..., Tokenizer]
) -> None:
    specials = [beginning + "x", beginning + "xx", beginning * 2]
    tokens = ["[UNK]", *specials, *"abx!,日", "##x", "##a", "##b", "x!"]
    vocab = {token: i for i, token in enumerate(tokens)}
    hf = hf_tokenizer(vocab, special_tokens=specials, template=False)
    ours = WordPieceTokenizer.from_hf_json(hf.to_str())
    rng = random.Random(6)
    parts = [*specials, *BEGINNINGS, beginning, "a", "ab", "x", "!", "abq", "a" * 101, " "]
    texts = ["".join(rng.choices(parts, k=rng.randint(1, 7))) for _ in range(400)]
    assert ours.encode_batch(texts).tolist() == [each.ids for each in hf.encode_batch(texts)]
    assert [ours.encode(text) for text in texts] == ours.encode_batch(texts).tolist()


@pytest.mark.parametrize("length", [31, 32, 33, 5000])
def test_a_long_special_token(length: int, hf_tokenizer: Callable[..., Tokenizer]) -> None:
    special = "a" * length + "b"
    vocab = {"[UNK]": 0, "a": 1, "##a": 2, "##b": 3, special: 4}
    hf = hf_tokenizer(vocab, special_tokens=[special], template=False)
    ours = WordPieceTokenizer.from_hf_json(hf.to_str())
    for text in (special[1:], special[:-1], f"aa{special}a {special}", f" {special[:-1]}{special}"):
        assert ours.encode(text) == hf.encode(text).ids
    # In time that does not grow with the special token's length.
    assert ours.encode("aa " * 30_000 + "a" * 100_000) == [1, 2] * 30_000 + [0]


def test_many_matches_take_little_memory() -> None:
    tokens = SpecialTokens({"b": 1, "bb" * 40: 2})
    text = "b" * 200_000
    tracemalloc.start()
    try:
        found = sum(1 for _ in tokens.split(text))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == 2500
    assert peak < 4 << 20
