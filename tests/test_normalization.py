"""The normalizer against the library whose rules it follows, and against the specification.

What the installed ``tokenizers`` says is asked in two ways: 0.x has its normalizer and its
pre-tokenizer in Python; 1.x only encodes, so there a vocabulary of all characters makes the ids
tell.
"""

import itertools
import random
import unicodedata
from collections.abc import Callable
from functools import cache

import helpers
import pytest

from piecework import reference
from piecework.normalization import Normalizer, decompose, join_surrogates, survivors
from piecework.rules import RULE_SET_NAMES, rule_set
from piecework.rules.rule_set import FROZEN_NAMES

SCALAR_VALUES = [*range(0xD800), *range(0xE000, 0x110000)]
PER_TEXT = 1000  # code points

FLAG_NAMES = helpers.FLAG_NAMES
UNCASED = dict.fromkeys(FLAG_NAMES, True)
NOTHING = dict.fromkeys(FLAG_NAMES, False)
CASED = UNCASED | {"lowercase": False, "strip_accents": False}

every_choice = pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)


def make(name="huggingface", **flags):
    return Normalizer(rule_set(name), **{**UNCASED, **flags})


# ---- the installed library ----


@pytest.fixture(params=FROZEN_NAMES)
def name(request):
    """Each frozen rule set, if the library it was measured on is the installed one."""
    if request.param != helpers.HF_RULES:
        pytest.skip(f"{request.param!r} is not the rule set of tokenizers {helpers.HF_VERSION}")
    return request.param


@pytest.fixture
def quick_name(name):
    if name != "huggingface":
        pytest.skip("tokenizers 1.x shows its normalizer through a vocabulary of millions only")
    return name


def hf_normalize(flags) -> Callable[[str], str]:
    if helpers.HF_RULES == "huggingface":
        from tokenizers.normalizers import BertNormalizer

        return BertNormalizer(**flags).normalize_str
    from piecework.rules.measure import Probe

    probe = Probe({"type": "BertNormalizer", **flags})
    # The letter in front keeps a text's own "[UNK]" or "##" from being read as an entry.
    return lambda text: "".join(probe.words(["a" + text])[0])[1:]


def hf_split() -> Callable[[str], list[str]]:
    if helpers.HF_RULES == "huggingface":
        from tokenizers.pre_tokenizers import BertPreTokenizer

        splitter = BertPreTokenizer()
        return lambda text: [word for word, _ in splitter.pre_tokenize_str(text)]
    from piecework.rules.measure import Probe

    probe = Probe(None, {"type": "BertPreTokenizer"})
    return lambda text: probe.words([text])[0]


@cache
def texts_of_every_code_point() -> list[str]:
    """Each alone, and between letters; spaces keep marks from changing places."""
    chars = [ch for ch in map(chr, SCALAR_VALUES) if ch not in helpers.MISREAD_BY_HF]
    return [
        " ".join(f"{ch} a{ch}b" for ch in chars[start : start + PER_TEXT])
        for start in range(0, len(chars), PER_TEXT)
    ]


def random_texts(seed: str, name: str, n_texts: int) -> list[str]:
    texts = helpers.random_texts(seed, name, n_texts)
    return ["".join(ch for ch in text if ch not in helpers.MISREAD_BY_HF) for text in texts]


def assert_same(ours, theirs, texts):
    for text in texts:
        if ours(text) != theirs(text):
            small = helpers.shrink(text, lambda part: bool(part) and ours(part) != theirs(part))
            pytest.fail(f"on {small!a}: expected {theirs(small)!a}, got {ours(small)!a}")


@every_choice
def test_random_texts_normalize_as_in_the_library(quick_name, flags):
    texts = random_texts(f"quick {flags}", quick_name, 500)
    assert_same(make(**flags).normalize, hf_normalize(flags), texts)


@pytest.mark.parametrize("flags", [UNCASED, NOTHING], ids=helpers.flags_id)
def test_code_points_normalize_as_in_the_library(quick_name, flags):
    # A fifth of them; the exhaustive tests take all.
    assert_same(make(**flags).normalize, hf_normalize(flags), texts_of_every_code_point()[::5])


def test_words_are_those_of_the_library(quick_name):
    texts = texts_of_every_code_point()[::5] + random_texts("words", quick_name, 1000)
    assert_same(make().split, hf_split(), texts)


@pytest.mark.exhaustive
@every_choice
def test_all_code_points_and_random_texts_normalize_as_in_the_library(name, flags):
    texts = texts_of_every_code_point() + random_texts(f"all {flags}", name, 20_000)
    assert_same(make(name, **flags).normalize, hf_normalize(flags), texts)


@pytest.mark.exhaustive
def test_all_words_are_those_of_the_library(name):
    texts = texts_of_every_code_point() + random_texts("all words", name, 20_000)
    assert_same(make(name).split, hf_split(), texts)


@pytest.mark.exhaustive
def test_all_pairs_of_marks_that_stay_are_ordered_as_in_the_library(name):
    flags = UNCASED | {"lowercase": False}
    marks = helpers.survivors(name)
    texts = ["".join(f"a{mark}{other}" for other in marks) for mark in marks]
    assert_same(make(name, **flags).normalize, hf_normalize(flags), texts)


# ---- the specification ----


@pytest.mark.parametrize("rules_name", RULE_SET_NAMES)
@every_choice
def test_random_texts_normalize_as_specified(rules_name, flags):
    rules = rule_set(rules_name)
    ours = Normalizer(rules, **flags)
    for text in helpers.random_texts(f"specified {flags}", rules_name, 60):
        normalized = reference.normalize(text, rules, **flags)
        assert ours.normalize(text) == normalized, ascii(text)
        assert ours.split(normalized) == reference.split_words(normalized, rules), ascii(text)


@pytest.mark.exhaustive
@pytest.mark.parametrize("flags", [UNCASED, CASED, NOTHING], ids=helpers.flags_id)
def test_all_code_points_normalize_as_specified_under_unicode(flags):
    rules = rule_set("unicode")
    assert_same(
        Normalizer(rules, **flags).normalize,
        lambda text: reference.normalize(text, rules, **flags),
        texts_of_every_code_point(),
    )


def test_unicode_decomposes_as_the_running_python():
    # Whole texts, so that the order of marks counts.
    for text in helpers.random_texts("nfd", "unicode", 2000):
        decomposed = reference.decompose(text, rule_set("unicode"))
        assert decomposed == unicodedata.normalize("NFD", text), ascii(text)


# ---- worked examples, all measured on tokenizers 0.23.3 ----


@pytest.mark.parametrize(
    ("text", "uncased", "lower_only", "cased"),
    [
        ("Café", "cafe", "café", "Café"),
        ("cafe\u0301", "cafe", "cafe\u0301", "cafe\u0301"),
        ("ΣΑΣ", "σασ", "σασ", "ΣΑΣ"),
        ("İ", "i", "i\u0307", "İ"),
        ("ẞ", "ß", "ß", "ẞ"),
        ("ﬁ", "ﬁ", "ﬁ", "ﬁ"),
        ("\u2126", "ω", "ω", "\u2126"),
        ("\u212a", "k", "k", "\u212a"),
        ("\u212b", "a", "å", "\u212b"),
        ("\uf900", " \u8c48 ", " \uf900 ", " \uf900 "),
        ("≠", "=", "≠", "≠"),
        ("\u1fef", "`", "\u1fef", "\u1fef"),
        ("\u0958", "\u0915", "\u0958", "\u0958"),
        ("\u0b94", "\u0b92\u0bd7", "\u0b94", "\u0b94"),
        ("\u01c5", "\u01c6", "\u01c6", "\u01c5"),
        ("\u1f88", "α", "\u1f80", "\u1f88"),
        ("\u13a0\u13f8", "\uab70\u13f8", "\uab70\u13f8", "\u13a0\u13f8"),
        ("\U0001112e", "", "\U0001112e", "\U0001112e"),
        ("한", "\u1112\u1161\u11ab", "한", "한"),
        ("का", "का", "का", "का"),  # U+093E is a vowel, not an accent
        ("a\x00b\x0bc\x0cd\x85e\u200bf\ufffdg", *["abcdefg"] * 3),
        ("a\tb\nc\rd\u00a0e\u3000f", *["a b c d e f"] * 3),
    ],
    ids=ascii,
)
def test_normalize_examples(text, uncased, lower_only, cased):
    assert make(**UNCASED).normalize(text) == uncased
    assert make(**UNCASED | {"strip_accents": False}).normalize(text) == lower_only
    assert make(**CASED).normalize(text) == cased


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("\u302e\u0301\u1b44", "\u1b44\u302e"),  # a stripped mark does not end the run
        ("\u302e\u0e31\u1b44", "\u302e\u1b44"),  # one of class 0 does
        ("\u302e\u200d\u1b44", "\u1b44\u302e"),  # a removed control was never there
        ("\u302e\U0001d15e", "\u302e\U0001d157\U0001d165"),
    ],
    ids=ascii,
)
def test_marks_that_stay_are_ordered(marks, expected):
    assert make().normalize(f"a{marks}b") == f"a{expected}b"


def test_a_kept_control_ends_a_run_of_marks():
    assert make(clean_text=False).normalize("a\u302e\u200d\u1b44") == "a\u302e\u200d\u1b44"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n\u3000", []),
        ("The UNAFFABLE!", ["the", "unaffable", "!"]),
        ("日本x y", ["日", "本", "x", "y"]),
        ("a$b+c^«d»", ["a", "$", "b", "+", "c", "^", "«", "d", "»"]),
        ("豈更", ["豈", "更"]),
        ("...", [".", ".", "."]),
    ],
)
def test_basic_tokenize_examples(text, words):
    assert make().basic_tokenize(text) == words


def test_ideographs_without_spacing_stay_glued():
    assert make(handle_chinese_chars=False).basic_tokenize("x\uf900y") == ["x\u8c48y"]


def test_white_space_separates_words_without_cleaning_too():
    uncleaned = make(clean_text=False)
    assert uncleaned.basic_tokenize("a\x0bb\x0cc\x85d\x1ce") == ["a", "b", "c", "d\x1ce"]


def test_hangul_decomposes_by_arithmetic():
    for ch in map(chr, range(0xAC00, 0xD7A4)):
        assert decompose(ch, rule_set("huggingface")) == unicodedata.normalize("NFD", ch)


def test_survivors():
    # 20 spacing marks and 63 marks that are newer than the library's table of nonspacing ones.
    assert len(survivors(rule_set("huggingface"))) == 83
    assert len(survivors(rule_set("huggingface-1"))) == 83 + 154


# ---- size ----


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("\u0301", []),
        ("\u302e\u1b44", ["\u1b44" * 500_000 + "\u302e" * 500_000]),
        (" ", []),
        ("xy", ["xy" * 500_000]),
        ("\ud800", []),
    ],
    ids=["stripped marks", "kept marks", "spaces", "letters", "surrogates"],
)
def test_a_million_of_the_same(unit, words):
    assert make().basic_tokenize(unit * (1_000_000 // len(unit))) == words


# ---- surrogates ----


def test_surrogates_are_joined_as_specified():
    rng = random.Random(0)
    for n_chars in itertools.chain.from_iterable(itertools.repeat(range(9), 1000)):
        text = "".join(rng.choice("a\ud800\udbff\udc00\udfff\U0001f600é") for _ in range(n_chars))
        expected = reference.join_surrogates(text, clean_text=True)
        assert join_surrogates(text, clean_text=True) == expected, ascii(text)
        if "\ufffd" not in expected:
            assert join_surrogates(text, clean_text=False) == expected, ascii(text)
            continue
        with pytest.raises(UnicodeEncodeError) as specified:
            reference.join_surrogates(text, clean_text=False)
        with pytest.raises(UnicodeEncodeError) as ours:
            join_surrogates(text, clean_text=False)
        assert (ours.value.start, ours.value.end) == (specified.value.start, specified.value.end)


def test_a_lone_surrogate_is_replaced_not_removed():
    assert join_surrogates("[MA\ud800SK]", clean_text=True) == "[MA\ufffdSK]"


def test_the_error_for_a_lone_surrogate_names_row_and_position():
    with pytest.raises(UnicodeEncodeError, match=r"position 2: lone surrogate in row 7") as error:
        join_surrogates("\U0001f600a\udc00b", clean_text=False, row=7)
    assert (error.value.start, error.value.end) == (2, 3)


def test_normalize_joins_and_refuses_surrogates():
    assert make(clean_text=False).normalize("\ud801\udc00") == "\U00010428"
    assert make().normalize("a\ud800b") == "ab"
    with pytest.raises(UnicodeEncodeError, match="position 1"):
        make(clean_text=False).normalize("a\ud800b")
