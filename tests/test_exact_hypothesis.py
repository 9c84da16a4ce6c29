"""Hypothesis against the specification: small vocabularies and texts over small alphabets.

Where the random texts of test_exact_quick are wide, these are deep: few characters, all of them
awkward, so that every way in which pieces, limits, special tokens and reordering meet is likely to
turn up, and a failure shrinks. PIECEWORK_HYPOTHESIS=thorough runs more examples.
"""

from __future__ import annotations

import dataclasses
import os

import pytest

from piecework import WordPieceTokenizer, reference
from piecework.rules import rule_set
from piecework.spec import AddedToken

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

N_EXAMPLES = {"fast": 200, "thorough": 5000}
PROFILE = os.environ.get("PIECEWORK_HYPOTHESIS", "fast")

settings.register_profile(
    "piecework", max_examples=N_EXAMPLES[PROFILE], deadline=None, derandomize=PROFILE == "fast"
)
RULES = rule_set("huggingface")

# Two letters, accents that go and marks that stay and change places, what joins and what separates.
LETTERS = "ab"
AWKWARD = "abAÁ\u0301\u302e\u1b44\u200b\x0b \t!$日한İ\u2260\ud800"

pieces = st.text(LETTERS + "\u302e\u1b44!日", min_size=1, max_size=4)
contents = st.text("ab[!", min_size=1, max_size=3)
texts = st.text(AWKWARD, max_size=12)


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[dict[str, int], str]:
    prefix = draw(st.sampled_from(["##", "", "a", "#"]))
    starts = draw(st.lists(pieces, max_size=8))
    inside = draw(st.lists(pieces, max_size=8))
    tokens = dict.fromkeys(["[UNK]", *starts, *(prefix + piece for piece in inside)])
    return {token: i for i, token in enumerate(tokens)}, prefix


@settings(settings.get_profile("piecework"))
@given(
    vocabularies(),
    st.lists(texts, max_size=4),
    st.integers(1, 6),
    st.booleans(),
    st.sampled_from([None, True, False]),
    st.booleans(),
)
def test_encode_equals_the_specification(vocabulary, rows, limit, lowercase, strip_accents, cjk):
    vocab, prefix = vocabulary
    flags = {
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "handle_chinese_chars": cjk,
    }
    ours = WordPieceTokenizer(vocab, prefix=prefix, max_input_chars_per_word=limit, **flags)
    expected = [
        reference.encode(text, vocab, RULES, prefix=prefix, max_chars=limit, **flags)
        for text in rows
    ]
    assert ours.encode_batch(rows).tolist() == expected
    assert [ours.encode(text) for text in rows] == expected


@settings(settings.get_profile("piecework"))
@given(vocabularies(), st.text(LETTERS + "\u302e#", max_size=10), st.integers(1, 12))
def test_wordpiece_equals_the_specification(vocabulary, word, limit):
    vocab, prefix = vocabulary
    ours = WordPieceTokenizer(vocab, prefix=prefix, max_input_chars_per_word=limit)
    expected = reference.wordpiece(word, vocab, vocab["[UNK]"], prefix, limit)
    assert ours.wordpiece(word) == expected


@settings(settings.get_profile("piecework"))
@given(texts, st.booleans(), st.booleans(), st.sampled_from([None, True, False]))
def test_normalize_equals_the_specification(text, lowercase, cjk, strip_accents):
    flags = {
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "handle_chinese_chars": cjk,
    }
    normalized = reference.normalize(text, RULES, **flags)
    ours = WordPieceTokenizer({"[UNK]": 0}, **flags)
    assert ours.normalize(text) == normalized
    assert ours.basic_tokenize(text) == reference.split_words(normalized, RULES)


@settings(settings.get_profile("piecework"))
@given(st.lists(contents, max_size=5, unique=True), st.text("ab[! ", max_size=14))
def test_special_tokens_equal_the_specification(specials, text):
    tokens = dict.fromkeys(["[UNK]", "a", "##a", "b", "##b", "[", "!"])
    vocab = {token: i for i, token in enumerate(tokens)}
    added = {content: vocab.get(content, len(vocab) + i) for i, content in enumerate(specials)}
    spec = WordPieceTokenizer(vocab).spec
    tokens = tuple(AddedToken(*item) for item in added.items())
    ours = WordPieceTokenizer.from_spec(dataclasses.replace(spec, added_tokens=tokens))
    assert ours.encode(text) == reference.encode(text, vocab, RULES, special_tokens=added)
