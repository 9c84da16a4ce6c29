"""What the tests share: where the data lies, the incumbent over our own vocabulary, hard text.

`hf_tokenizer` builds the tokenizer that ids are compared with; it works with tokenizers 0.23.3
and 1.0.0rc3, whose Python interfaces have little in common but the file format. Nothing here knows
an expected value.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata, resources
from itertools import product
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from piecework import reference
from piecework.pipeline import Pipeline
from piecework.rules import RuleSet, rule_set
from piecework.spec import SpecialPiece, TokenizerSpec

DATA = Path(os.environ.get("PIECEWORK_DATA") or Path(__file__).parents[2] / "shared" / "data")

HF_VERSION = metadata.version("tokenizers")
# The rule set that the installed incumbent is the measure of.
HF_RULES = {"0.23.3": "huggingface", "1.0.0rc3": "huggingface-1"}.get(HF_VERSION)

# 1.0.0rc3 refuses vocabulary entries that hold U+0000, and where clean_text is off its trie skips
# the character in front of a piece ("\0a" is "a"). "huggingface-1" does not repeat that.
MISREAD_BY_HF = "\0" if HF_RULES == "huggingface-1" else ""

SPECIALS = reference.SPECIAL_TOKENS

FLAG_NAMES = ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars")
ALL_FLAGS = [
    dict(zip(FLAG_NAMES, values, strict=True)) for values in product((True, False), repeat=4)
]


def flags_id(flags: Mapping[str, bool | None]) -> str:
    """Name a combination by what is on, such as ``lowercase+clean_text``."""
    return "+".join(name for name, value in flags.items() if value) or "none"


def data_path(*parts: str) -> Path:
    """Give the path of a data file, or skip the test that needs it."""
    path = DATA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no {'/'.join(parts)} in {DATA}: set PIECEWORK_DATA to the data folder")
    return path


def read_lines(path: Path) -> list[str]:
    """Read a file of one item a line; only LF ends a line."""
    return path.read_bytes().decode().removesuffix("\n").split("\n")


def read_vocab(path: Path) -> dict[str, int]:
    """Read a vocab.txt as a plain mapping: nothing trimmed, the last of equal lines counts."""
    return {token: i for i, token in enumerate(read_lines(path))}


@cache
def embedded_vocab() -> Mapping[str, int]:
    """Give the vocabulary of bert-base-uncased, read from the package without its help."""
    file = resources.files("piecework") / "data" / "bert-base-uncased" / "vocab.txt"
    tokens = file.read_bytes().decode().removesuffix("\n").split("\n")
    return {token: i for i, token in enumerate(tokens)}


# ---- the incumbent ----


def hf_tokenizer(
    vocab: Mapping[str, int],
    *,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    max_chars: int = 100,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    special_tokens: Iterable[str] = SPECIALS,
    template: bool | None = None,
) -> Tokenizer:
    """Build the incumbent's BERT pipeline over our mapping.

    Of `special_tokens` those count that the vocabulary holds. `template` is by default on where
    [CLS] and [SEP] are among them.
    """
    specials = {token: vocab[token] for token in special_tokens if token in vocab}
    if template is None:
        template = specials.keys() >= {"[CLS]", "[SEP]"}
    parts = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_hf_special(*item) for item in specials.items()],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": clean_text,
            "handle_chinese_chars": handle_chinese_chars,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _bert_template(specials) if template else None,
        "decoder": {"type": "WordPiece", "prefix": prefix, "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": unk_token,
            "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": max_chars,
            "vocab": dict(vocab),
        },
    }
    with tempfile.TemporaryDirectory() as folder:  # 1.0.0rc3 reads this format from files only
        path = Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(parts), "utf-8")
        return Tokenizer.from_file(str(path))


def _hf_special(content: str, token_id: int) -> dict[str, object]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": token_id, "content": content, **flags, "special": True}


def _bert_template(specials: Mapping[str, int]) -> dict[str, object]:
    cls, sep = ({"SpecialToken": {"id": token, "type_id": 0}} for token in ("[CLS]", "[SEP]"))
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "type": "TemplateProcessing",
        "single": [cls, first, sep],
        "pair": [cls, first, sep, second, sep],
        "special_tokens": {
            token: {"id": token, "ids": [specials[token]], "tokens": [token]}
            for token in ("[CLS]", "[SEP]")
        },
    }


def hf_ids(hf: Tokenizer, texts: Sequence[str], *, add_special: bool = False) -> list[list[int]]:
    """Encode texts with the incumbent, by its fastest call."""
    encode_batch = getattr(hf, "encode_batch_fast", hf.encode_batch)
    return [encoding.ids for encoding in encode_batch(texts, add_special_tokens=add_special)]


def spec_ids(spec: TokenizerSpec, text: str, *, add_special: bool = True) -> list[int]:
    """Encode a text in plain Python: the pipeline, then the template piece by piece."""
    content = Pipeline(spec).encode(text).ids
    if not add_special or spec.template is None:
        return content
    ids: list[int] = []
    for piece in spec.template.single:
        ids += piece.ids if isinstance(piece, SpecialPiece) else content
    return ids


# What decoding treats in a way of its own, first or later in a row.
# fmt: off
DECODED_TOKENS = (
    *SPECIALS, "a", "##a", "@@a", "##", "###", "", ".", "?", "!", ",", "'", "n't", "'m", "'s",
    "'ve", "'re", "do not", " do not", " not", "do", "##do not", "a .", " .", "##.", "## .", " ' ",
    "' ", "##'s", "we do not", "x ' m", "@@", "@@'s", "  ", "é", "日",
)
# fmt: on


# ---- comparing ----


def assert_same_ids(
    ours: Callable[[str], list[int]],
    theirs: Callable[[str], list[int]],
    texts: Sequence[str],
    got: Sequence[Sequence[int]],
    expected: Sequence[Sequence[int]],
    where: str = "",
) -> None:
    """Compare rows of ids; on a difference show the smallest text that still has one."""
    assert len(got) == len(expected) == len(texts)
    for text, got_row, expected_row in zip(texts, got, expected, strict=True):
        if list(got_row) == list(expected_row):
            continue
        small = shrink(text, lambda part: ours(part) != theirs(part))
        if ours(small) == theirs(small):
            raise AssertionError(f"{where}: ids differ only in the batch, on {text[:2000]!a}")
        raise AssertionError(
            f"{where}: ids differ on {small!a}: expected {theirs(small)}, got {ours(small)}"
        )


def shrink(text: str, fails: Callable[[str], bool]) -> str:
    """Drop ever smaller stretches of `text` for as long as it still fails."""
    size = len(text)
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if fails(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


# ---- hard text ----

# fmt: off
NEAR_SPECIAL = (
    "[MASK]", "[MAS", "ASK]", "[[MASK]]", "[mask]", "[MA\u200bSK]", "[MA\u0301SK]", "[ MASK ]",
    "[MASK][CLS]", "MASK", "[", "]", "［MASK］", "[UNK]", "[PAD]", "[CLS", "[SEP]SEP]", "[S[SEP]",
)
# fmt: on


@cache
def survivors(rules_name: str) -> str:
    """Give the marks that stay when accents go, and can still change places (see `decompose`)."""
    rules = rule_set(rules_name)
    return "".join(chr(cp) for cp in rules.combining_classes if not rules.is_mark(cp))


@cache
def character_classes(rules_name: str) -> Mapping[str, Sequence[str]]:
    """Sort what is hard about characters into classes to draw from; some items are sequences."""
    rules = rule_set(rules_name)
    marks = [chr(cp) for cp in rules.combining_classes if rules.is_mark(cp)]
    composed = [chr(cp) for cp in rules.decompositions]
    stay = set(survivors(rules_name))
    classes = {
        "ascii letters": "abcdefghijklmnopqrstuvwxyzABCXYZ",
        "ascii": [chr(cp) for cp in range(128)],
        "common marks": "\u0300\u0301\u0302\u0308\u0323\u0327\u0345\u0e31\u05b4\u064b\u0f71\u3099",
        "marks": marks,
        "survivors": survivors(rules_name),
        "bring survivors": [
            ch for ch in composed if stay.intersection(reference.decompose(ch, rules))
        ],
        "spacing marks": "\u093e\u0903\u0b57\u0bd7\u1b35\u0dcf\u20dd\u0488",
        "composed": composed,
        "unusual lower case": "İıΣςßẞǅᾈΩKÅꭰᏸᲐჀ\U00010400\ua7ce\U00016ea0ﬁŉ",
        "controls": [chr(cp) for cp in (*range(0x20), *range(0x7F, 0xA0), 0xAD)],
        "format": "\u200b\u200c\u200d\u200e\u061c\u180e\u2060\u2066\ufeff\ufff9\ufffd\U000e0041",
        "private": "\ue000\U000f0000\U0010fffd",
        "unassigned": "\u0378\u0870\u2fe0\ufdd0\ufffe\U0001fffe\U0003ffff\U000e0fff",
        "white space": [chr(cp) for cp in range(0x3001) if rules.is_whitespace(cp)],
        "hangul": "가각한글뷁힣\u1100\u1161\u11a8\u115f\u302e\u302f",
        "ideographs": "日本中国㐀䶿一鿿豈舘﨎\U00020000\U0002a6df\U0002b81f\U0002b820\U0002b91f"
        "\U0002b920\U0002ceaf\U0002f800\U0002fa1d\U00030000々〇⺀⼀",
        "kana and thai": "がかゝアパーｶﾞกำเ์ไทย",
        "punctuation": "!$+^`~«»¿·—…、。「】；᙭\u2e4f\U000111c9€¬×≠≮\u037e\u0387\u1fef",
        "emoji": "😀🍎👍🏽👩\u200d👧🇫🇷\ufe0f\u20e3",
        "near special": NEAR_SPECIAL,
    }
    # A rule set may have no survivors.
    return {name: items for name, items in classes.items() if items}


def random_text(rng: random.Random, rules_name: str, n_items: int) -> str:
    """Draw a text of two to five classes, so that what a text holds of them meets often."""
    classes = character_classes(rules_name)
    chosen = rng.sample(sorted(classes), rng.randint(2, 5))
    items = []
    for _ in range(n_items):
        pick = rng.random()
        if pick < 0.12:
            items.append(" ")
        elif pick < 0.3:
            items.append(rng.choice("aeosxA"))
        elif pick < 0.34:
            items.append(chr(random_code_point(rng)))
        else:
            items.append(rng.choice(classes[rng.choice(chosen)]))
    return "".join(items).translate(dict.fromkeys(map(ord, MISREAD_BY_HF)))


def random_code_point(rng: random.Random) -> int:
    """Draw a scalar value, low planes more often."""
    cp = rng.randrange(rng.choice((0x250, 0x3100, 0x10000, 0x20000, 0x110000)))
    return cp if not 0xD800 <= cp <= 0xDFFF else 0xFFFD


def random_texts(seed: int | str, rules_name: str, n_texts: int, max_items: int = 30) -> list[str]:
    """Draw texts that depend on the seed alone."""
    rng = random.Random(seed)
    return [random_text(rng, rules_name, rng.randint(1, max_items)) for _ in range(n_texts)]


def made_vocab(
    seed: int | str,
    texts: Iterable[str],
    rules: RuleSet,
    *,
    prefix: str = "##",
    unk_token: str = "[UNK]",
    specials: Iterable[str] = SPECIALS,
    missing: float = 0.02,
    **flags: bool | None,
) -> dict[str, int]:
    """Make a vocabulary under which little of `texts` is unknown, so that faults show in the ids.

    It holds nearly every character of the normalized texts, alone and as a continuation, and random
    stretches of their words of two to six characters.
    """
    rng = random.Random(seed)
    words = [
        word
        for text in texts
        for word in reference.split_words(reference.normalize(text, rules, **flags), rules)
    ]
    alphabet = sorted(set("".join(words)))
    pieces = [ch for ch in alphabet if rng.random() >= missing]
    continuations = [prefix + ch for ch in alphabet if rng.random() >= missing]
    for word in words:
        if len(word) > 1:
            start = rng.randrange(len(word) - 1)
            stretch = word[start : start + rng.randint(2, 6)]
            (pieces if rng.random() < 0.5 else continuations).append(
                stretch if rng.random() < 0.5 else prefix + stretch
            )
    tokens = list(dict.fromkeys([*pieces, *continuations]))
    rng.shuffle(tokens)
    return {token: i for i, token in enumerate(dict.fromkeys([*specials, unk_token, *tokens]))}
