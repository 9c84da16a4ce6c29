"""Random tokenizers of any steps, flags and added tokens, for comparison with the incumbent.

A case is the tokenizer.json of a tokenizer and texts to encode. Its vocabulary is made of the words
that the incumbent finds in those texts, so that little of them is unknown and faults show. Nothing
here knows an expected value.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import helpers
from tokenizers import Tokenizer

from piecework.json_part import parse_json
from piecework.pipeline import Pipeline, bert_flags_of, check_steps
from piecework.spec import AddedToken, TokenizerSpec
from piecework.vocabulary import Vocabulary

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")


class Case(NamedTuple):
    """A tokenizer.json, and texts."""

    document: dict[str, Any]
    texts: list[str]


# ---- steps ----

# fmt: off
# Patterns that occur in files or are easily got wrong; all are to be translated.
PATTERNS = (
    r"\s+", r"\d+", r"\w+", r"\W", r"[^\w\s]+", r" {2,}", r"[0-9]", r"\d{1,3}", r"\p{L}+",
    r"\P{L}", r"\p{Lu}\p{Ll}*", r"[\p{N}\p{P}]", r"a|ab", r"(?:ab|a)c?", r".", r"e+?",
    r"(e|s){2}", r"(?=[A-Z])", r"[^a]", r"\s?\w+|\s?[^\s\w]+|\s+(?!\S)|\s+", r"a*", r"x?",
    r"[a-e\-\]]+", r"\.", r"\S+", r"[\u3042-\u3050]", r"\x{1F600}+", "[ぁ-ん]+", "▁", r"\p{M}",
    r"\p{S}+", r"\p{Z}",
)
# fmt: on
STRINGS = (" ", "a", "ab", "aa", "é", "日", "##", "", "\u0301", "e\u0301", "▁", "[MASK]", "\u200d")
PIECES = ("", "_", "x", "▁", " ", "é", "日本", "e\u0301", "\u0301", "##", "Ab")
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


def bert_normalizer(rng: random.Random) -> dict[str, Any]:
    flags = {name: rng.random() < 0.5 for name in ("clean_text", "handle_chinese_chars")}
    return {
        "type": "BertNormalizer",
        **flags,
        "strip_accents": rng.choice((None, True, False)),
        "lowercase": rng.random() < 0.5,
    }


def pattern(rng: random.Random) -> dict[str, str]:
    if rng.random() < 0.5:
        return {"String": rng.choice(STRINGS)}
    return {"Regex": rng.choice(PATTERNS)}


def normalizer(rng: random.Random, depth: int = 0) -> dict[str, Any] | None:
    kind = rng.randrange(12 if depth < 2 else 10)
    if kind < 4:
        return {"type": ("NFC", "NFD", "NFKC", "NFKD")[kind]}
    if kind >= 10:
        if depth == 0 and rng.random() < 0.3:
            return None
        members = [normalizer(rng, depth + 1) for _ in range(rng.randint(0, 3))]
        return {"type": "Sequence", "normalizers": [each for each in members if each]}
    return (
        {"type": "Lowercase"},
        {"type": "StripAccents"},
        {"type": "Strip", "strip_left": rng.random() < 0.6, "strip_right": rng.random() < 0.6},
        {"type": "Prepend", "prepend": rng.choice(PIECES)},
        {"type": "Replace", "pattern": pattern(rng), "content": rng.choice(PIECES)},
        bert_normalizer(rng),
    )[kind - 4]


def pre_tokenizer(rng: random.Random, depth: int = 0) -> dict[str, Any] | None:
    kind = rng.randrange(11 if depth < 2 else 9)
    if kind >= 9:
        if depth == 0 and rng.random() < 0.3:
            return None
        members = [pre_tokenizer(rng, depth + 1) for _ in range(rng.randint(0, 3))]
        return {"type": "Sequence", "pretokenizers": [each for each in members if each]}
    return (
        {"type": "BertPreTokenizer"},
        {"type": "Whitespace"},
        {"type": "WhitespaceSplit"},
        {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)},
        {"type": "Digits", "individual_digits": rng.random() < 0.5},
        {
            "type": "Metaspace",
            "replacement": rng.choice("▁_a"),
            "prepend_scheme": rng.choice(("always", "first", "never")),
            "split": rng.random() < 0.7,
        },
        {"type": "CharDelimiterSplit", "delimiter": rng.choice(" ae日")},
        *[
            {
                "type": "Split",
                "pattern": pattern(rng),
                "behavior": rng.choice(BEHAVIORS),
                "invert": rng.random() < 0.4,
            }
        ]
        * 2,
    )[kind]


def bert_steps(rng: random.Random) -> dict[str, Any]:
    return {"normalizer": bert_normalizer(rng), "pre_tokenizer": {"type": "BertPreTokenizer"}}


def other_steps(rng: random.Random) -> dict[str, Any]:
    return {"normalizer": normalizer(rng), "pre_tokenizer": pre_tokenizer(rng)}


# ---- added tokens ----

# fmt: off
CONTENTS = (
    "[MASK]", "[MASK]ED", "X[MASK]Y", "<m>", "<M>", "a", "A", "ab", "bc", "abc", "é", "e\u0301",
    "HÉ", "\u0301", "\u200b", " ", "  ", " a", "a ", "日", "日本", "한", "ᄒ", "\u302e", "İ",
    "x\u00ady", "##", "e\u1b44", "▁", "_", "9", ".", "\u00a0", "\t", "ǅ", "ﬁ", "＜", "😀", "hello",
    "New Tok",
)
# fmt: on


def added_tokens(rng: random.Random) -> list[dict[str, Any]]:
    """Draw tokens; none whose result the reference does not define."""
    contents = rng.sample(CONTENTS, rng.choice((0, 1, 2, 3, 5, 8)))
    return [
        {"content": content, **{flag: rng.random() < 0.4 for flag in FLAGS}} for content in contents
    ]


def with_contents(rng: random.Random, text: str, tokens: Sequence[Mapping[str, Any]]) -> str:
    """Put contents of tokens between the characters of a text."""
    if not tokens:
        return text
    parts = []
    for ch in text:
        parts.append(ch)
        pick = rng.random()
        if pick < 0.15:
            parts.append(rng.choice(tokens)["content"])
        elif pick < 0.22:
            parts.append(rng.choice((" ", "  ", "\u3000", "\t", "_", "a", "\u0301")))
    return "".join(parts)


# ---- tokenizers ----


def defined_cases(
    draw_steps: Callable[[random.Random], Mapping[str, Any]], seeds: Iterable[int]
) -> Iterator[tuple[int, Case]]:
    """Yield a case for each seed, but for those in which the incumbent panics or is not defined."""
    for seed in seeds:
        rng = random.Random(f"{draw_steps.__name__} {seed}")
        try:
            case = draw(rng, draw_steps(rng))
            defined = is_defined(case)
        except BaseException as error:
            reraise_but_panics(error)
            continue
        if defined:
            yield seed, case


def reraise_but_panics(error: BaseException) -> None:
    """Let pass what the incumbent raises for faults of its own, which has no public type."""
    if type(error).__name__ != "PanicException":
        raise error


def draw(rng: random.Random, steps: Mapping[str, Any], n_texts: int = 8) -> Case:
    """Draw a tokenizer with these steps, and texts for it."""
    tokens = added_tokens(rng)
    texts = [
        with_contents(rng, helpers.random_text(rng, "huggingface", rng.randint(1, 25)), tokens)
        for _ in range(n_texts)
    ]
    document = {
        **steps,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": rng.choice(("##", "##", "##", "", "@@", "a", "#", "é")),
            "max_input_chars_per_word": rng.choice((100, 100, 100, 5, 1)),
            "vocab": {"[UNK]": 0},
        },
    }
    vocab = made_vocab(rng, document, texts)
    for token in tokens:
        if rng.random() < 0.2:
            vocab.setdefault(token["content"], len(vocab))
    document["model"]["vocab"] = vocab
    document["added_tokens"] = with_ids(tokens, vocab)
    return Case(document, texts)


def with_ids(tokens: Sequence[Mapping[str, Any]], vocab: Mapping[str, int]) -> list[dict[str, Any]]:
    """Give added tokens the ids that the reference hands out."""
    following = len(vocab)
    numbered = []
    for token in tokens:
        id_ = vocab.get(token["content"], following)
        following += token["content"] not in vocab
        numbered.append({**token, "id": id_})
    return numbered


def made_vocab(
    rng: random.Random, document: Mapping[str, Any], texts: Sequence[str]
) -> dict[str, int]:
    """Make a vocabulary of characters and stretches of the incumbent's words."""
    hf = Tokenizer.from_str(json.dumps(document))
    prefix = document["model"]["continuing_subword_prefix"]
    pieces = {"", prefix}
    for text in texts:
        normalized = hf.normalizer.normalize_str(text) if hf.normalizer else text
        words = [normalized]
        if hf.pre_tokenizer:
            words = [word for word, _ in hf.pre_tokenizer.pre_tokenize_str(normalized)]
        for word in words:
            pieces.update(word, (prefix + ch for ch in word))
            start = rng.randrange(len(word)) if word else 0
            stretch = word[start : start + rng.randint(2, 6)]
            pieces.add(stretch if rng.random() < 0.5 else prefix + stretch)
    tokens = sorted(token for token in pieces if rng.random() >= 0.03)
    rng.shuffle(tokens)
    return {token: i for i, token in enumerate(dict.fromkeys(["[UNK]", *tokens]))}


def spec_of(document: Mapping[str, Any]) -> TokenizerSpec:
    """Return the spec of a tokenizer.json, read without the package's reader of files."""
    part = parse_json(json.dumps(document), "case")
    model = document["model"]
    return TokenizerSpec(
        Vocabulary.from_mapping(model["vocab"]),
        unk_token=model["unk_token"],
        prefix=model["continuing_subword_prefix"],
        max_input_chars_per_word=model["max_input_chars_per_word"],
        added_tokens=tuple(AddedToken(**token) for token in document["added_tokens"]),
        steps=check_steps(part),
        **(bert_flags_of(part) or {}),
    )


# ---- comparing ----


def ours(pipeline: Pipeline, text: str) -> list[tuple[int, tuple[int, int], int]]:
    tokens = pipeline.encode(text)
    spans = zip(tokens.starts, tokens.stops, strict=True)
    return list(zip(tokens.ids, spans, tokens.words, strict=True))


def theirs(hf: Tokenizer, text: str) -> list[tuple[int, tuple[int, int], int]] | None:
    """Return ids, offsets and word ids; None where the incumbent panics."""
    try:
        encoding = hf.encode(text, add_special_tokens=False)
    except BaseException as error:
        reraise_but_panics(error)
        return None
    return list(zip(encoding.ids, encoding.offsets, encoding.word_ids, strict=True))


def is_defined(case: Case) -> bool:
    """Whether the incumbent's result depends on nothing but the case."""
    hf = Tokenizer.from_str(json.dumps({**case.document, "added_tokens": []}))
    forms = [
        hf.normalizer.normalize_str(token["content"]) if hf.normalizer else token["content"]
        for token in case.document["added_tokens"]
        if token["normalized"]
    ]
    return "" not in forms and len(set(forms)) == len(forms)


def assert_same(case: Case, *, split_special_tokens: bool = False) -> int:
    """Compare all texts of a case; return how many the incumbent has a result for."""
    hf = Tokenizer.from_str(json.dumps(case.document))
    hf.encode_special_tokens = split_special_tokens
    pipeline = Pipeline(spec_of(case.document), split_special_tokens=split_special_tokens)
    n_compared = 0
    for text in case.texts:
        expected = theirs(hf, text)
        if expected is None:
            continue
        n_compared += 1
        if ours(pipeline, text) != expected:
            small = helpers.shrink(
                text, lambda part: theirs(hf, part) not in (None, ours(pipeline, part))
            )
            raise AssertionError(
                f"{small!a}: expected {theirs(hf, small)}, got {ours(pipeline, small)}, with "
                f"{json.dumps({k: case.document[k] for k in case.document if k != 'model'})}"
            )
    return n_compared
