"""Rule sets: their tables, where they come from, and the four public predicates."""

import dataclasses
import random
import unicodedata

import helpers
import pytest

from piecework.rules import (
    RULE_SET_NAMES,
    is_bert_control,
    is_bert_punctuation,
    is_bert_whitespace,
    is_cjk,
    rule_set,
)
from piecework.rules.rule_set import FROZEN_NAMES, CodePoints, RuleSet, from_json, to_json

TABLES = [each.name for each in dataclasses.fields(RuleSet) if each.name not in ("name", "source")]

SCALAR_VALUES = [*range(0xD800), *range(0xE000, 0x110000)]

# ---- sets of code points ----


def test_code_points_equal_a_plain_set():
    rng = random.Random(0)
    for _ in range(200):
        plain = {rng.randrange(40) for _ in range(rng.randrange(30))}
        ours = CodePoints.of(plain)
        assert [cp for cp in range(-1, 42) if cp in ours] == list(ours) == sorted(plain)
        assert len(ours) == len(plain)


def test_code_points_merge_neighbours():
    assert CodePoints.of([5, 3, 4, 4, 9]).ranges == ((3, 5), (9, 9))


# ---- rule sets by name ----


def test_an_unknown_rule_set_lists_the_known_ones():
    with pytest.raises(ValueError, match="'huggingface', 'huggingface-1', 'unicode', got 'bert'"):
        rule_set("bert")


@pytest.mark.parametrize("name", [None, [], 1])
@pytest.mark.parametrize(
    "ask",
    [
        rule_set,
        lambda name: is_cjk("a", rules=name),
        lambda name: is_bert_control("a", rules=name),
        lambda name: is_bert_punctuation("a", rules=name),
        lambda name: is_bert_whitespace("a", rules=name),
    ],
)
def test_a_rule_set_that_is_no_str_is_a_type_error(ask, name):
    with pytest.raises(TypeError, match=r"rules: expected one of 'huggingface', .*, got"):
        ask(name)


def test_a_rule_set_is_made_once():
    assert rule_set("unicode") is rule_set("unicode")


def test_sources_name_their_versions():
    assert [rule_set(name).source for name in RULE_SET_NAMES] == [
        "tokenizers 0.23.3",
        "tokenizers 1.0.0rc3",
        f"unicodedata {unicodedata.unidata_version}",
    ]


@pytest.mark.parametrize("name", RULE_SET_NAMES)
def test_json_holds_all_of_a_rule_set(name):
    rules = rule_set(name)
    again = from_json(to_json(rules))
    assert all(getattr(again, table) == getattr(rules, table) for table in TABLES)
    assert (again.name, again.source) == (rules.name, rules.source)


# ---- what the tables hold ----


def test_frozen_tables_of_tokenizers_0_have_the_sizes_of_their_unicode_versions():
    # Unicode 8: Cc Cf Co less TAB LF CR, P* and the ASCII symbols, Mn; Unicode 9: decompositions,
    # combining classes (the latter two sets less what decomposes); Unicode 17: lower case.
    sizes = {table: len(getattr(rule_set("huggingface"), table)) for table in TABLES}
    assert sizes == {
        "control": 137_680,
        "whitespace": 25,
        "punctuation": 726,
        "cjk": 81_264,
        "marks": 1_549,
        "decompositions": 2_060,
        "combining_classes": 810,
        "lowercase": 1_488,
    }


def test_tokenizers_1_differs_in_punctuation_decompositions_and_combining_classes():
    old, new = (rule_set(name) for name in FROZEN_NAMES)
    differences = {
        table: len(_items(getattr(old, table)) ^ _items(getattr(new, table))) for table in TABLES
    }
    assert differences == dict.fromkeys(TABLES, 0) | {
        "punctuation": 143,
        "decompositions": 21,
        "combining_classes": 154,
    }


def _items(table):
    return set(table) if isinstance(table, CodePoints) else set(table.items())


@pytest.mark.parametrize("name", RULE_SET_NAMES)
def test_white_space_is_the_unicode_property(name):
    # fmt: off
    expected = [
        0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029,
        0x202F, 0x205F, 0x3000,
    ]
    # fmt: on
    assert list(rule_set(name).whitespace) == expected


def test_cjk_blocks():
    frozen, textbook = (
        [f"{first:X}-{last:X}" for first, last in rule_set(name).cjk.ranges]
        for name in ("huggingface", "unicode")
    )
    # What Hugging Face leaves out is 2B820-2B91F.
    assert "2B920-2CEAF" in frozen
    assert textbook == [
        *("3400-4DBF", "4E00-9FFF", "F900-FAFF", "20000-2A6DF"),
        *("2A700-2B73F", "2B740-2B81F", "2B820-2CEAF", "2F800-2FA1F"),
    ]


def test_unicode_sets_are_categories_of_the_running_unicodedata():
    rules = rule_set("unicode")
    categories = [unicodedata.category(chr(cp)) for cp in range(0x110000)]
    ascii_symbols = set(map(ord, "$+<=>^`|~"))
    assert set(rules.marks) == {cp for cp, own in enumerate(categories) if own == "Mn"}
    assert set(rules.control) == {
        cp for cp, own in enumerate(categories) if own[0] == "C" and cp not in (9, 10, 13)
    }
    assert set(rules.punctuation) == ascii_symbols | {
        cp for cp, own in enumerate(categories) if own[0] == "P"
    }


def test_unicode_mappings_are_those_of_the_running_python():
    rules = rule_set("unicode")
    chars = list(map(chr, SCALAR_VALUES))
    whole = [ch for ch in chars if not "가" <= ch <= "힣"]  # Hangul decomposes by arithmetic
    nfd = {ch: unicodedata.normalize("NFD", ch) for ch in whole}
    assert _texts(rules.decompositions) == {ch: to for ch, to in nfd.items() if to != ch}
    assert _texts(rules.lowercase) == {ch: ch.lower() for ch in chars if ch.lower() != ch}
    classes = {ord(ch): unicodedata.combining(ch) for ch in chars}
    assert rules.combining_classes == {cp: value for cp, value in classes.items() if value}


def _texts(mapping):
    return {chr(cp): "".join(map(chr, to)) for cp, to in mapping.items()}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FROZEN_NAMES)
def test_measuring_the_installed_tokenizers_gives_the_frozen_tables(name):
    if name != helpers.HF_RULES:
        pytest.skip(f"{name!r} is not the rule set of tokenizers {helpers.HF_VERSION}")
    from piecework.rules.measure import measure

    measured = measure(name, rule_set(name).source)
    assert to_json(measured) == to_json(rule_set(name))


# ---- predicates ----


@pytest.mark.parametrize("rules", RULE_SET_NAMES)
def test_u000b_is_white_space_and_control(rules):
    assert is_bert_whitespace("\x0b", rules=rules)
    assert is_bert_control("\x0b", rules=rules)


@pytest.mark.parametrize("ch", "\t\n\r")
def test_tab_and_line_ends_are_white_space_only(ch):
    assert is_bert_whitespace(ch)
    assert not is_bert_control(ch)


@pytest.mark.parametrize("ch", "\x00\x1c\x7f\xad\u200b\ufeff\ue000")
def test_controls(ch):
    assert is_bert_control(ch)
    assert not is_bert_whitespace(ch)


@pytest.mark.parametrize("ch", ["\ufffd", "a", " ", "\u3000"])
def test_no_controls(ch):
    assert not is_bert_control(ch)


def test_unassigned_is_a_control_by_the_textbook_only():
    assert not is_bert_control("\u0378")
    assert is_bert_control("\u0378", rules="unicode")


@pytest.mark.parametrize("ch", "!$+<=>^`|~«»¿—、。᙭")
def test_punctuation(ch):
    assert is_bert_punctuation(ch)


@pytest.mark.parametrize("ch", "a0 €¬×日\u0301")
def test_no_punctuation(ch):
    assert not is_bert_punctuation(ch)


def test_predicates_follow_the_rule_set():
    assert not is_bert_punctuation("\u2e4f")
    assert is_bert_punctuation("\u2e4f", rules="huggingface-1")
    assert not is_cjk("\U0002b820")
    assert is_cjk("\U0002b820", rules="unicode")


@pytest.mark.parametrize("ch", "日㐀豈\U00020000\U0002fa1f")
def test_ideographs(ch):
    assert is_cjk(ch)


@pytest.mark.parametrize("ch", "a々〇ア한⺀⼀\U00030000")
def test_no_ideographs(ch):
    assert not is_cjk(ch)


PREDICATES = [is_bert_whitespace, is_bert_control, is_bert_punctuation, is_cjk]


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("text", ["", "ab", "e\u0301"])
def test_predicates_refuse_what_is_not_one_character(predicate, text):
    with pytest.raises(ValueError, match=f"expected one character, got {len(text)}"):
        predicate(text)


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("value", [32, b" ", None])
def test_predicates_refuse_what_is_no_text(predicate, value):
    with pytest.raises(TypeError, match=f"got {type(value).__name__}"):
        predicate(value)
