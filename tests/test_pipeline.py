"""The pipeline in Python: the facts about offsets and added tokens, own definitions, errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import helpers
import pipeline_cases
import pytest
from tokenizers import Regex, normalizers, pre_tokenizers

from piecework.errors import UnsupportedTokenizerError
from piecework.json_part import Part
from piecework.pipeline import Pipeline, bert_flags_of, check_steps, normalized_content
from piecework.pipeline.words import WordPieces
from piecework.spec import AddedToken, Steps, TokenizerSpec
from piecework.vocabulary import Vocabulary

FACTS = helpers.DATA.parent / "facts"
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
BERT_PRE_TOKENIZER = {"type": "BertPreTokenizer"}
PLAIN = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def facts(name: str) -> list[dict[str, Any]]:
    path = FACTS / name
    if not path.exists():
        pytest.skip(f"no {path.name} in {FACTS}: set PIECEWORK_DATA to the data folder beside it")
    return json.loads(path.read_text("utf-8"))


def added_in_order(vocab: dict[str, int], added: Sequence[Sequence[Any]]) -> list[AddedToken]:
    """Give the special tokens, then these (content, flags), their ids, as add_tokens does."""
    tokens = {token: {"special": True} for token in helpers.SPECIALS}
    tokens |= {content: flags for content, flags in added if content}
    own = [{"content": content, **flags} for content, flags in tokens.items()]
    return [
        AddedToken(**{"special": False, "normalized": not token.get("special", False), **token})
        for token in pipeline_cases.with_ids(own, vocab)
    ]


def bert_spec(added: Sequence[Sequence[Any]] = (), **options: Any) -> TokenizerSpec:
    vocab = dict(helpers.embedded_vocab())
    tokens = added_in_order(vocab, added)
    return TokenizerSpec(Vocabulary.from_mapping(vocab), added_tokens=tuple(tokens), **options)


def small_spec(*tokens: str, **options: Any) -> TokenizerSpec:
    vocab = {token: i for i, token in enumerate(("[UNK]", *tokens))}
    return TokenizerSpec(Vocabulary.from_mapping(vocab), **options)


def with_steps(normalizer: Any, pre_tokenizer: Any, *tokens: str) -> Pipeline:
    return Pipeline(small_spec(*tokens, steps=Steps(normalizer, pre_tokenizer)))


def spans(pipeline: Pipeline, text: str) -> list[tuple[int, int]]:
    tokens = pipeline.encode(text)
    return list(zip(tokens.starts, tokens.stops, strict=True))


# ---- facts ----


def test_offsets_are_those_of_the_facts():
    for case in facts("q8_offsets.json"):
        if case.get("pair") or case.get("is_pretokenized") or case.get("add_special_tokens"):
            continue
        if not isinstance(case["input"], str):
            continue
        names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        flags = case.get("normalizer")
        options = dict(zip(names, flags, strict=True)) if isinstance(flags, list) else {}
        tokens = Pipeline(bert_spec(case.get("added", ()), **options)).encode(case["input"])
        got = [tokens.ids, list(map(list, zip(tokens.starts, tokens.stops, strict=True)))]
        assert [*got, tokens.words] == [case["ids"], case["offsets"], case["word_ids"]], case


def test_added_tokens_are_found_as_in_the_facts():
    cases = [case for case in facts("q6_added_tokens.json") if "offsets" in case]
    n_compared = 0
    for case in cases:
        no_normalizer = case["case"].endswith("with normalizer None")
        steps = Steps(None, BERT_PRE_TOKENIZER) if no_normalizer else None
        spec = bert_spec(case["added"], steps=steps)
        forms = [normalized_content(spec, token) for token in spec.added_tokens]
        if "" in forms or len(set(forms)) < len(forms):
            continue  # defined otherwise, see below
        n_compared += 1
        pipeline = Pipeline(spec, split_special_tokens=case["encode_special_tokens"])
        tokens = pipeline.encode(case["input"])
        got = [tokens.ids, list(map(list, zip(tokens.starts, tokens.stops, strict=True)))]
        assert [*got, tokens.words] == [case["ids"], case["offsets"], case["word_ids"]], case
    assert n_compared > 150


def test_normalization_of_single_characters_is_that_of_the_facts():
    flags = {
        "uncased": (True, True, True, True),
        "lower_only": (True, True, False, True),
        "strip_only": (True, True, True, False),
        "cased": (True, True, False, False),
        "raw_strip_lower": (False, False, True, True),
    }
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    pipelines = {
        key: Pipeline(small_spec(**dict(zip(names, own, strict=True))))
        for key, own in flags.items()
    }

    def parse(text: str) -> str:
        return "".join(chr(int(cp, 16)) for cp in text.split())

    for case in facts("q3_single_cases.json"):
        for key, pipeline in pipelines.items():
            assert pipeline.normalize(parse(case["in"])) == parse(case[key]), case


# ---- real text ----


@pytest.mark.parametrize("name", ["en-wikitext2", "ko-help", "vi-help", "messy-emoji", "hi-help"])
def test_real_lines_are_encoded_as_the_incumbent_does(name, corpus, bert_vocab):
    lines = corpus(name)[:: max(1, len(corpus(name)) // 60)]
    hf = helpers.hf_tokenizer(bert_vocab)
    pipeline = Pipeline(bert_spec())
    for line in lines:
        assert pipeline_cases.ours(pipeline, line) == pipeline_cases.theirs(hf, line)


@pytest.mark.parametrize("name", ["en-wikitext2", "ja-wiki", "fr-novels"])
def test_real_lines_are_encoded_as_the_incumbent_does_with_other_steps(name, corpus, bert_vocab):
    lines = corpus(name)[:: max(1, len(corpus(name)) // 60)]
    document = {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "NFKC"}, {"type": "NFD"}, {"type": "StripAccents"}],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Whitespace"},
                {"type": "Digits", "individual_digits": True},
            ],
        },
        "added_tokens": [],
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": dict(bert_vocab),
        },
    }
    pipeline_cases.assert_same(pipeline_cases.Case(document, lines))


# ---- what the reference leaves open ----


def test_a_match_in_white_space_that_is_taken_is_none():
    # The reference panics: "AddedVocabulary bad split".
    tokens = (AddedToken("<r>", 1, rstrip=True), AddedToken(" ", 2, lstrip=True))
    pipeline = Pipeline(small_spec("x", added_tokens=tokens))
    got = pipeline.encode("<r>   x")
    assert got.ids == [1, 1]  # <r> and x share the id
    assert spans(pipeline, "<r>   x") == [(0, 6), (6, 7)]


def test_of_two_tokens_with_one_normal_form_the_lower_id_is_found():
    tokens = [AddedToken(content, id_, normalized=True) for content, id_ in (("É", 7), ("e", 5))]
    assert Pipeline(small_spec(added_tokens=tuple(tokens))).encode("é").ids == [5]


def test_a_token_with_an_empty_normal_form_is_never_found():
    tokens = (AddedToken("\u0301", 5, normalized=True), AddedToken("x", 6, normalized=True))
    assert Pipeline(small_spec("ab", added_tokens=tokens)).encode("ab\u0301x").ids == [1, 6]


# ---- surrogates ----


def test_a_pair_of_surrogates_spans_two_code_points():
    pipeline = Pipeline(small_spec("a", "😀"))
    assert spans(pipeline, "a \ud83d\ude00 a") == [(0, 1), (2, 4), (5, 6)]
    assert pipeline.encode("a \ud83d\ude00 a").ids == [1, 2, 1]


def test_a_lone_surrogate_is_dropped_by_cleaning_and_keeps_its_place():
    pipeline = Pipeline(small_spec("ab", "[", "m", "]", added_tokens=(AddedToken("[m]", 9),)))
    assert spans(pipeline, "a\ud800b") == [(0, 3)]
    assert pipeline.encode("[\ud800m]").ids == [2, 3, 4]


@pytest.mark.parametrize(
    "options",
    [{"clean_text": False}, {"steps": Steps({"type": "NFC"}, None)}],
    ids=["not cleaned", "other steps"],
)
def test_a_lone_surrogate_is_an_error_where_nothing_drops_it(options):
    with pytest.raises(UnicodeEncodeError) as caught:
        Pipeline(small_spec(**options)).encode("ab\udc00")
    assert (caught.value.start, caught.value.end) == (2, 3)


def test_steps_that_clean_drop_a_lone_surrogate():
    steps = {"type": "Sequence", "normalizers": [{"type": "NFC"}, BERT]}
    assert spans(with_steps(steps, None, "ab"), "a\ud800b") == [(0, 3)]


# ---- words ----


def test_tokens_that_share_an_id_keep_their_lengths():
    words = WordPieces(
        {"[UNK]": 0, "a": 1, "ab": 1, "##c": 2, "##cd": 2}, "##", unk_id=0, max_chars=9
    )
    assert words["abcd"] == ((1, 0, 2), (2, 2, 4))
    assert words["ac"] == ((1, 0, 1), (2, 1, 2))


@pytest.mark.parametrize("prefix", ["##", "", "a"])
def test_the_bare_prefix_and_the_empty_token_are_never_used(prefix):
    ids = {
        token: i for i, token in enumerate(dict.fromkeys(["[UNK]", "", prefix, "b", f"{prefix}b"]))
    }
    document = {
        "added_tokens": [],
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": 4,
            "vocab": ids,
        },
    }
    texts = ["b", "bb", "bbbb", "bbbbb", "ba", "a", "ab", "", prefix, f"b{prefix}"]
    assert pipeline_cases.assert_same(pipeline_cases.Case(document, texts)) == len(texts)


def test_words_are_kept_up_to_a_limit(monkeypatch):
    monkeypatch.setattr("piecework.pipeline.words._MAX_KEPT_WORDS", 3)
    words = WordPieces({"[UNK]": 0}, "##", unk_id=0, max_chars=100)
    for i in range(10):
        assert words[str(i)] == ((0, 0, 1),)
        assert len(words) <= 3
    assert "x" * 99 not in words
    assert words["x" * 99] == ((0, 0, 99),)
    assert "x" * 99 not in words


# ---- the parts by themselves ----


def test_normalize_words_and_pre_tokenize_are_the_incumbents(bert_vocab):
    hf = helpers.hf_tokenizer(bert_vocab)
    pipeline = Pipeline(bert_spec())
    for text in helpers.random_texts("parts", "huggingface", 200):
        normalized = hf.normalizer.normalize_str(text)
        assert pipeline.normalize(text) == normalized
        words = hf.pre_tokenizer.pre_tokenize_str(normalized)
        assert pipeline.words(text) == [word for word, _ in words]
        assert pipeline.pre_tokenize(text) == hf.pre_tokenizer.pre_tokenize_str(text)


def test_the_normal_form_of_an_added_token_is_that_of_the_steps():
    spec = small_spec(steps=Steps({"type": "Prepend", "prepend": "▁"}, None))
    assert normalized_content(spec, AddedToken("É", 1, normalized=True)) == "▁É"
    assert normalized_content(spec, AddedToken("É", 1)) == "É"


# ---- Unicode ----


# Where characters lie that a normal form or lower case changes, and marks; of all planes that hold
# none a few.
CHARACTERS = [
    chr(cp)
    for first, stop in (
        (0, 0x3400),
        (0xA000, 0xD800),
        (0xE000, 0x20000),
        (0x2F800, 0x2FB00),
        (0xE0000, 0xE0200),
    )
    for cp in range(first, stop)
]


@pytest.mark.parametrize("name", ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"])
def test_normalizers_agree_on_all_characters(name):
    hf = getattr(normalizers, name)()
    pipeline = with_steps({"type": name}, None)
    for start in range(0, len(CHARACTERS), 1000):
        text = "x".join(CHARACTERS[start : start + 1000])
        assert pipeline.normalize(text) == hf.normalize_str(text)


# ---- reading a file's steps ----


def document(normalizer: Any = None, pre_tokenizer: Any = None) -> Part:
    return Part({"normalizer": normalizer, "pre_tokenizer": pre_tokenizer}, "", "a.json")


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        (BERT, BERT_PRE_TOKENIZER),
        ({"type": "Sequence", "normalizers": [BERT]}, BERT_PRE_TOKENIZER),
        (BERT, {"type": "Sequence", "pretokenizers": [BERT_PRE_TOKENIZER]}),
    ],
    ids=["plain", "normalizer in a Sequence", "pre-tokenizer in a Sequence"],
)
def test_berts_steps_are_flags(normalizer, pre_tokenizer):
    assert check_steps(document(normalizer, pre_tokenizer)) is None
    assert bert_flags_of(document(normalizer, pre_tokenizer)) == {
        name: value for name, value in BERT.items() if name != "type"
    }


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer"),
    [
        (None, None),
        (BERT, None),
        (None, BERT_PRE_TOKENIZER),
        ({"type": "Sequence", "normalizers": []}, BERT_PRE_TOKENIZER),
        ({"type": "Sequence", "normalizers": [BERT, {"type": "NFC"}]}, BERT_PRE_TOKENIZER),
        (BERT, {"type": "Whitespace"}),
    ],
)
def test_other_steps_are_kept_as_they_are(normalizer, pre_tokenizer):
    assert check_steps(document(normalizer, pre_tokenizer)) == Steps(normalizer, pre_tokenizer)
    assert bert_flags_of(document(normalizer, pre_tokenizer)) is None


def test_missing_steps_are_none():
    assert check_steps(Part({}, "", "a.json")) == Steps(None, None)


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "message"),
    [
        ({"type": "Nmt"}, None, r"a\.json: normalizer\.type: expected one of .*, got \"Nmt\""),
        ({**BERT, "type": "Foo"}, None, r"normalizer\.type: .*got \"Foo\""),
        ({"lowercase": True}, None, r"normalizer\.type: .*got nothing"),
        ({"type": ["NFC"]}, None, r"normalizer\.type"),
        (
            {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Precompiled"}]},
            None,
            r"a\.json: normalizer\.normalizers\[1\]\.type",
        ),
        (None, {"type": "ByteLevel"}, r"a\.json: pre_tokenizer\.type: .*got \"ByteLevel\""),
        (
            None,
            {
                "type": "Metaspace",
                "replacement": "_",
                "prepend_scheme": "never",
                "add_prefix_space": True,
            },
            r"pre_tokenizer\.add_prefix_space",
        ),
    ],
)
def test_a_step_that_is_not_supported_is_refused_with_its_path(normalizer, pre_tokenizer, message):
    with pytest.raises(UnsupportedTokenizerError, match=message):
        check_steps(document(normalizer, pre_tokenizer))


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "message"),
    [
        ({"type": "Strip", "strip_left": True}, None, r"normalizer\.strip_right is missing"),
        ({"type": "Prepend"}, None, r"normalizer\.prepend is missing"),
        ({"type": "Sequence"}, None, r"normalizer\.normalizers is missing"),
        ({**BERT, "lowercase": "yes"}, BERT_PRE_TOKENIZER, r"lowercase: expected a bool"),
        (
            {"type": "Replace", "pattern": {"Sring": "a"}, "content": ""},
            None,
            r"normalizer\.pattern",
        ),
        ("NFC", None, r"normalizer: expected an object"),
        (None, {"type": "Punctuation", "behavior": "isolated"}, r"pre_tokenizer\.behavior"),
        (None, {"type": "CharDelimiterSplit", "delimiter": "ab"}, r"pre_tokenizer\.delimiter"),
        (None, {"type": "Metaspace", "replacement": "_", "prepend_scheme": "x"}, r"prepend_scheme"),
        (None, {"type": "Sequence", "pretokenizers": [3]}, r"pretokenizers\[0\]"),
    ],
)
def test_a_step_that_is_malformed_is_an_error_with_its_path(normalizer, pre_tokenizer, message):
    with pytest.raises(ValueError, match=message):
        check_steps(document(normalizer, pre_tokenizer))


def test_steps_that_are_nested_too_deeply_are_an_error():
    step: dict[str, Any] = {"type": "NFC"}
    for _ in range(3000):
        step = {"type": "Sequence", "normalizers": [step]}
    with pytest.raises(ValueError, match=r"a\.json: its steps are nested too deeply"):
        check_steps(document(step))


# fmt: off
REFUSED = (
    r"^a", r"a$", r"\ba", r"\Aa", r"a\z", r"a++", r"a*+", r"a{2}+", r"a{2}?", r"a{3,1}", r"(a)\1",
    r"(?i)a", r"(?<=a)b", r"(?<!a)b", r"(?>a)", r"(?<n>a)", r"[[:alpha:]]", r"[a[b]]", r"[a&&b]",
    r"\h", r"\R", r"\X", r"\xff", r"\p{Greek}", r"\p{^L}", r"(a*)*", r"(?=a)+", r"(a", r"a)", "[a",
    r"[]a]", r"[b-a]", r"[\w-z]", "a{5000}", "*a", "a{", "\\", r"\pL", "[]",
)
# fmt: on


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_pattern_that_may_match_otherwise_is_refused_with_its_path(pattern):
    step = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    with pytest.raises(UnsupportedTokenizerError, match=r"a\.json: pre_tokenizer\.pattern\.Regex"):
        check_steps(document(None, step))


@pytest.mark.parametrize("pattern", pipeline_cases.PATTERNS)
def test_patterns_match_as_the_incumbents(pattern):
    step = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    hf = pre_tokenizers.Split(Regex(pattern), "isolated")
    pipeline = with_steps(None, step)
    for text in helpers.random_texts(pattern, "huggingface", 60):
        assert pipeline.pre_tokenize(text) == hf.pre_tokenize_str(text)
