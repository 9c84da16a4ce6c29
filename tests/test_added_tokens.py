"""Added tokens in the compiled encoder: every flag, thousands of them, against the incumbent."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import helpers
import pipeline_cases
import pytest
from tokenizers import AddedToken as HfToken
from tokenizers import Tokenizer

from piecework import WordPieceTokenizer
from piecework.encoding import Encoding
from piecework.kernel_encoder import _Splitter
from piecework.python_rows import RowEncoder
from piecework.spec import AddedToken, TokenizerSpec

pytestmark = pytest.mark.skipif(
    helpers.HF_RULES != "huggingface", reason="the incumbent is to be tokenizers 0.23.3"
)

FACTS = helpers.DATA.parent / "facts" / "q6_added_tokens.json"
MEMO_BYTES = 1 << 18
# What a text is encoded with: without a memo, with one that has room for two words, with one that
# has seen all words, on threads.
WAYS: tuple[dict[str, Any], ...] = (
    {"memo_bytes": 0, "threads": 1},
    {"memo_bytes": 64, "threads": 1},
    {"memo_bytes": MEMO_BYTES, "threads": 1},
    {"memo_bytes": MEMO_BYTES, "threads": 1},
    {"memo_bytes": MEMO_BYTES, "threads": 2},
)


def token(content: str, id_: int = -1, **flags: bool) -> dict[str, Any]:
    return {"content": content, "id": id_, **dict.fromkeys(pipeline_cases.FLAGS, False), **flags}


def document_of(
    vocab: Mapping[str, int],
    tokens: Iterable[Mapping[str, Any]],
    *,
    max_chars: int = 100,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    lowercase: bool = True,
) -> dict[str, Any]:
    """Make a tokenizer.json with BERT's steps; ids of tokens are those that the incumbent gives."""
    return {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": clean_text,
            "handle_chinese_chars": handle_chinese_chars,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": max_chars,
            "vocab": dict(vocab),
        },
        "added_tokens": pipeline_cases.with_ids(list(tokens), vocab),
    }


class Pair:
    """The incumbent and our tokenizer of one tokenizer.json."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.hf = Tokenizer.from_str(json.dumps(document))
        self.spec = pipeline_cases.spec_of(document)
        self.tokenizer = WordPieceTokenizer.from_spec(self.spec)

    def theirs(self, text: str) -> list[int] | None:
        """Return the incumbent's ids, or None where it panics."""
        rows = pipeline_cases.theirs(self.hf, text)
        return None if rows is None else [id_ for id_, _, _ in rows]

    def compare(self, texts: Sequence[str], *, alone: int = 20) -> int:
        """Compare all texts in all ways, and some one by one; return how many tokens were found."""
        answers = [(text, self.theirs(text)) for text in texts]
        known = [(text, ids) for text, ids in answers if ids is not None]
        texts, expected = [text for text, _ in known], [ids for _, ids in known]
        for way in WAYS:
            got = self.tokenizer.encode_batch(texts, **way).tolist()
            helpers.assert_same_ids(
                self.tokenizer.encode, self.hf_ids, texts, got, expected, f"{way}"
            )
        for text, ids in known[:alone]:
            assert self.tokenizer.encode(text) == ids, text
        added = {each.id for each in self.spec.added_tokens}
        return sum(id_ in added for ids in expected for id_ in ids)

    def hf_ids(self, text: str) -> list[int]:
        return self.theirs(text) or []


@pytest.fixture
def python_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the texts that the kernel hands to Python."""
    calls: list[str] = []
    for kind, name in ((RowEncoder, "__call__"), (_Splitter, "split")):
        answer: Callable[..., Any] = getattr(kind, name)

        def noted(self: Any, text: str, *rest: Any, answer: Any = answer) -> Any:
            calls.append(text)
            return answer(self, text, *rest)

        monkeypatch.setattr(kind, name, noted)
    return calls


# ---- small alphabets, so that tokens overlap ----

LETTERS = "abAB.[é中 \u200b\u0301"
SMALL_VOCAB = [
    "[UNK]",
    "a",
    "b",
    "e",
    "##a",
    "##b",
    "##e",
    "ab",
    "##ab",
    "A",
    "##B",
    ".",
    "[",
    "中",
    "ba",
    "##ba",
    "##.",
]


def small_case(rng: random.Random) -> Pair | None:
    """Draw a tokenizer; None if the incumbent's result would depend on a hash table's order."""
    vocab = [piece for piece in SMALL_VOCAB if piece == "[UNK]" or rng.random() < 0.9]
    contents = {letters(rng, rng.choice((1, 2, 2, 3, 3, 4, 5))) for _ in range(rng.randint(1, 8))}
    flags = pipeline_cases.FLAGS if rng.random() < 0.7 else ()
    tokens = [
        token(content, **{name: rng.random() < 0.3 for name in flags})
        for content in sorted(contents)
    ]
    document = document_of(
        {piece: i for i, piece in enumerate(vocab)},
        tokens,
        max_chars=rng.choice((100, 100, 3)),
        clean_text=rng.random() < 0.8,
        handle_chinese_chars=rng.random() < 0.8,
        strip_accents=rng.choice((None, True, False)),
        lowercase=rng.random() < 0.6,
    )
    if not pipeline_cases.is_defined(pipeline_cases.Case(document, [])):
        return None
    return Pair(document)


def letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choices(LETTERS, k=n))


def small_texts(rng: random.Random, spec: TokenizerSpec, n: int) -> Iterator[str]:
    contents = [each.content for each in spec.added_tokens]
    for _ in range(n):
        text = letters(rng, rng.choice((2, 5, 10, 30)))
        pick = rng.random()
        if pick < 0.4:  # words that the memo can hold
            text = " ".join(rng.choices(("ab", "ba", "aab", "b.a", "abab"), k=rng.randint(3, 12)))
        if pick < 0.1:
            text += rng.choice(("", " ", "a")) + rng.choice(contents)
        if pick > 0.97:  # a word that is too long, a text that is cut for the stage
            text = f"{text} {'ab' * 60}{text} {'ab ' * rng.choice((1, 4000))}{text}"
        yield text


@pytest.mark.parametrize("seed", range(60))
def test_random_tokens_on_random_texts(seed: int) -> None:
    rng = random.Random(seed)
    pair = small_case(rng)
    if pair is not None:
        pair.compare(list(small_texts(rng, pair.spec, 60)))


@pytest.mark.parametrize("seed", range(40))
def test_random_tokens_on_hard_texts(seed: int) -> None:
    rng = random.Random(f"hard {seed}")
    case = pipeline_cases.draw(rng, pipeline_cases.bert_steps(rng), n_texts=12)
    if pipeline_cases.is_defined(case):
        Pair(case.document).compare([*case.texts, " ".join(case.texts)])


@pytest.mark.parametrize("seed", range(20))
def test_special_tokens_as_plain_text(seed: int) -> None:
    rng = random.Random(f"split {seed}")
    pair = small_case(rng)
    if pair is None:
        return
    pair.hf.encode_special_tokens = True
    encoder = Encoding(pair.spec).encoder_for(True)
    for text in small_texts(rng, pair.spec, 60):
        expected = pair.theirs(text)
        if expected is not None:
            assert encoder.encode(text) == expected, text


def test_special_tokens_as_plain_text_need_no_python(python_calls: list[str]) -> None:
    vocab = {piece: i for i, piece in enumerate(["[UNK]", "[MASK]", "[", "mask", "]", "a", "##a"])}
    encoding = Encoding(Pair(document_of(vocab, [token("[MASK]", special=True)])).spec)
    assert encoding.encoder_for(True).encode("a[MASK] aa") == [5, 2, 3, 4, 5, 6]
    assert encoding.encoder_for(False).encode("a[MASK] aa") == [5, 1, 5, 6]
    assert python_calls == []


# ---- what the search could miss ----

NORMALIZED = {"normalized": True}
VOCAB = {
    piece: i
    for i, piece in enumerate(
        [
            "[UNK]",
            "[MASK]",
            "hello",
            "new",
            "york",
            "city",
            "cat",
            "##s",
            "the",
            "a",
            "b",
            ".",
            "-",
            "[",
            "]",
            "mask",
            "##k",
            "<",
            "m",
            ">",
            "10",
            "##0",
            "3",
        ]
    )
}


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([token("hello", **NORMALIZED)], "the HÉL\u00adLO, xhellox hell o"),
        ([token("New York", **NORMALIZED)], "new york New  York NEW YORK newyork york new"),
        ([token(" york", **NORMALIZED)], "a york[MASK]york york"),
        ([token("new ", **NORMALIZED)], "new[MASK]new york new"),
        ([token("w yor", **NORMALIZED)], "new york"),
        ([token("10.3", **NORMALIZED)], "10.3 10. 3 110.30 3.10 10 .3"),
        ([token("...", **NORMALIZED)], "a. b.. c... d.... .\u200b.\u200b."),
        ([token(" ", **NORMALIZED)], "a b"),
        ([token("\n", **NORMALIZED)], "a\nb c"),
        ([token("\n")], "a\nb c"),
        ([token("\u200b")], "a\u200bb a"),
        ([token("😀", **NORMALIZED), token("龘")], "a😀 😀 😁 龘龙 中"),
        ([token("\u302e\u1b44x", **NORMALIZED)], "a\u302e\u1b44x a\u1b44\u302ex"),
        ([token("k\u302e", **NORMALIZED)], "mask\u302e\u0301 mask\u1b44\u302e"),
        ([token("MASK"), token("[MASK]", special=True)], "[MASK] MASK [MASKED] mask"),
        ([token("a[MA"), token("[MASK]", special=True)], "a[MASK] b[MASK] a[MA"),
        ([token("[MASK]", special=True), token("K] b", **NORMALIZED)], "a[MASK] b mask] b"),
        ([token("<m>", lstrip=True, special=True)], "a  <m>b < m > <m"),
        ([token("<m>", single_word=True), token("<m>s")], "a<m> <m>b <m>s <m>"),
        ([token("cat", single_word=True)], "cats cat concat [cat] Cat"),
        ([token("cat", rstrip=True, **NORMALIZED)], "Cat  s cats"),
        ([token("the" * 20)], f"{'the' * 21} {'the' * 19}"),
    ],
)
def test_what_is_hard_to_find(tokens: list[dict[str, Any]], text: str) -> None:
    pair = Pair(document_of(VOCAB, tokens))
    clean = "new york, the cats. " * 3
    assert pair.compare([text, clean, text[::-1], text * 3, f"{clean}{text} {clean}"])


@pytest.mark.parametrize("flags", [{}, NORMALIZED])
def test_words_that_are_remembered_are_clean(flags: dict[str, bool]) -> None:
    """The word that leads to a token stands in texts without it, before and after."""
    pair = Pair(document_of(VOCAB, [token("new york", **flags)]))
    clean = ["york new city", "the new cat", "york", "new-york city"] * 50
    assert pair.compare([*clean, "the new york cats", *clean, "new york"]) == 2


@pytest.mark.parametrize("flags", [{}, NORMALIZED])
def test_a_token_across_the_border_of_two_segments(flags: dict[str, bool]) -> None:
    """Long rows are cut at spaces, wherever the stage is full."""
    pair = Pair(document_of(VOCAB, [token("new york", **flags)]))
    texts = ["cat " * n + "new york" + " cat" * 3000 for n in (2043, 2044, 2045, 2046, 2047, 2048)]
    odd = ["cat " * 2045 + "new york" + " \U00010400\U00010401" * 3000]
    assert pair.compare(texts + odd) == 7


def test_a_token_inside_a_word_that_is_too_long() -> None:
    pair = Pair(document_of(VOCAB, [token("new", **NORMALIZED)]))
    texts = [f"{'a' * n}new{'b' * 200}" for n in (0, 99, 100, 101, 300)]
    assert pair.compare([*texts, "a" * 600, *(f"{text} 日本" for text in texts)]) == 10


def test_surrogates_beside_added_tokens() -> None:
    pair = Pair(document_of(VOCAB, [token("hello", **NORMALIZED), token("cat")]))
    for text in ("hello \ud83d\ude00 cat", "he\ud83dllo", "new \udc00", "cat \ud83d"):
        repaired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        assert pair.tokenizer.encode(text) == pair.theirs(repaired)
        assert pair.tokenizer.encode_batch([text]).tolist() == [pair.theirs(repaired)]


@pytest.mark.parametrize("normalized", [False, True])
def test_marks_that_come_together_beside_an_added_token(normalized: bool) -> None:
    """What stands between two marks is stripped: normalized again, these would change places."""
    words = ["a\u302e\u1b44", "a\u1b44\u302e"]
    vocab = {piece: i for i, piece in enumerate(["[UNK]", "cat", *words])}
    pair = Pair(document_of(vocab, [token("cat", normalized=normalized)]))
    texts = [f"{word}cat {word}" for word in ("a\u302e\u034f\u1b44", *words)]
    assert pair.compare(texts) == len(texts)
    assert pair.theirs(texts[0]) == [2, 1, 2]


def test_ids_beyond_16_bits() -> None:
    big = token("cat", 70_000, **NORMALIZED)
    document = document_of(VOCAB, [])
    document["added_tokens"] = [big, token("[x]", 80_000)]
    spec = pipeline_cases.spec_of(document)
    tokenizer = WordPieceTokenizer.from_spec(spec)
    text = "the cat[x] new"
    for way in WAYS:
        got = tokenizer.encode_batch([text, "new"] * 3000, **way).tolist()
        assert got == [[VOCAB["the"], 70_000, 80_000, VOCAB["new"]], [VOCAB["new"]]] * 3000


# ---- facts ----


def facts() -> list[dict[str, Any]]:
    if not FACTS.exists():
        return []
    cases = json.loads(FACTS.read_text("utf-8"))
    return [
        case
        for case in cases
        if "added" in case and "ids" in case and "normalizer" not in case["case"]
    ]


@cache
def bert_document() -> str:
    vocab = helpers.embedded_vocab()
    specials = [token(name, special=True) for name in helpers.SPECIALS]
    return json.dumps(document_of(vocab, specials))


def test_the_facts_about_added_tokens() -> None:
    cases = facts()
    if not cases:
        pytest.skip(f"no {FACTS.name} beside the data folder")
    n_compared = 0
    for case in cases:
        hf = Tokenizer.from_str(bert_document())
        hf.add_tokens([HfToken(content, **flags) for content, flags in case["added"]])
        document = json.loads(hf.to_str())
        if not pipeline_cases.is_defined(pipeline_cases.Case(document, [])):
            continue
        encoding = Encoding(pipeline_cases.spec_of(document))
        encoder = encoding.encoder_for(case["encode_special_tokens"])
        assert encoder.encode(case["input"]) == case["ids"], case
        n_compared += 1
    assert n_compared > 150


# ---- thousands ----


def rubert() -> dict[str, Any]:
    path = helpers.data_path("vocabs", "rubert-tiny2-1644-added", "tokenizer.json")
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


def corpus_lines(*names: str) -> list[str]:
    lines = []
    for name in names:
        lines += helpers.read_lines(helpers.data_path("corpora", f"{name}.txt"))[:1500]
    return lines


def planted(rng: random.Random, text: str, contents: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    content = rng.choice(contents)
    return text[:at] + rng.choice((content, f" {content} ", content.upper())) + text[at:]


def test_the_1639_normalized_tokens_of_a_real_file() -> None:
    document = rubert()
    contents = [each["content"] for each in document["added_tokens"] if each["normalized"]]
    assert len(contents) == 1639
    rng = random.Random(1)
    texts = corpus_lines("ru-help", "en-wikitext2", "messy-markdown-urls")
    texts += [planted(rng, text, contents) for text in rng.sample(texts, 300)]
    assert Pair(document).compare(texts, alone=300) > 300


def made_contents(kind: str, n: int) -> list[str]:
    """Make contents that the corpora hold rarely, or not at all."""
    rng = random.Random(kind)
    if kind == "<tok>":
        return [f"<tok{i}>" for i in range(n)]
    words = set()
    while len(words) < n:
        word = "".join(rng.choices("bcdfghjklmnpqrstvwxyz", k=4)) + "".join(
            rng.choices("aeio", k=3)
        )
        words.add(word if kind == "word" else f"{word} {word[:3]}")
    return sorted(words)


@pytest.mark.parametrize("kind", ["<tok>", "word", "words"])
@pytest.mark.parametrize("flags", [{}, NORMALIZED], ids=["raw", "normalized"])
def test_thousands_of_tokens_on_real_text(kind: str, flags: dict[str, bool]) -> None:
    contents = made_contents(kind, 5000)
    rng = random.Random(kind)
    tokens = [token(content, **flags) for content in contents]
    tokens += [token("[MASK]", special=True, lstrip=True), token("Wiki", rstrip=True, **flags)]
    texts = corpus_lines("en-wikitext2", "multi-tatoeba", "zh-wiki", "code-python")
    texts += [planted(rng, text, contents) for text in rng.sample(texts, 200)]
    assert Pair(document_of(helpers.embedded_vocab(), tokens)).compare(texts, alone=100) > 100


def holds_any(text: str, contents: Iterable[str]) -> bool:
    return any(content in text for content in contents)


def assert_no_python(spec: TokenizerSpec, texts: Sequence[str], python_calls: list[str]) -> None:
    """Encode texts that hold no added token, and look at what went to Python."""
    tokenizer = WordPieceTokenizer.from_spec(spec)
    plain = WordPieceTokenizer.from_spec(
        TokenizerSpec(spec.vocabulary, lowercase=spec.lowercase, added_tokens=())
    )
    assert tokenizer.encode_batch(texts).tolist() == plain.encode_batch(texts).tolist()
    assert python_calls == []


def test_text_without_any_of_1639_tokens_needs_no_python(python_calls: list[str]) -> None:
    spec = pipeline_cases.spec_of(rubert())
    contents = [each.content for each in spec.added_tokens]
    texts = corpus_lines("ru-help", "uk-novels", "en-wikitext2")
    clean = [text for text in texts if text.isprintable() and not holds_any(text, contents)]
    # What normalization leaves out could join the parts of a token.
    clean = [text for text in clean if not any(ch in text for ch in "\u00ad\u200b\u200d\ufeff")]
    # The kernel passes over white space between words: "1806 . 300" may hold "06.30".
    clean = [text for text in clean if not holds_any(text.replace(" ", ""), contents)]
    assert len(clean) > 2000
    assert_no_python(spec, clean, python_calls)


@pytest.mark.parametrize("kind", ["<tok>", "word", "words"])
@pytest.mark.parametrize("flags", [{}, NORMALIZED], ids=["raw", "normalized"])
def test_text_without_any_of_20000_tokens_needs_no_python(
    kind: str, flags: dict[str, bool], python_calls: list[str]
) -> None:
    contents = made_contents(kind, 20_000)
    document = document_of(helpers.embedded_vocab(), [token(each, **flags) for each in contents])
    texts = [
        text
        for text in corpus_lines("en-wikitext2", "ru-help", "zh-wiki")
        if text.isascii() or text.isprintable()
    ]
    known = {each[:4] for each in contents}
    clean = [
        text
        for text in texts
        if not any(text.lower()[i : i + 4] in known for i in range(len(text)))
    ]
    assert len(clean) > 100
    assert_no_python(pipeline_cases.spec_of(document), clean, python_calls)


def test_tokens_are_split_in_python_once_a_row(python_calls: list[str]) -> None:
    pair = Pair(document_of(VOCAB, [token("hello", **NORMALIZED)]))
    texts = ["hello hello the cat", "the cat", "hell o", "HELLO"]
    pair.tokenizer.encode_batch(texts * 10)
    assert python_calls == ["hello hello the cat", "HELLO"] * 10


def test_an_added_token_that_never_matches() -> None:
    tokens = (AddedToken("\u200b", 50, normalized=True), AddedToken("", 51))
    spec = TokenizerSpec(
        pipeline_cases.spec_of(document_of(VOCAB, [])).vocabulary, added_tokens=tokens
    )
    assert WordPieceTokenizer.from_spec(spec).encode("the\u200b cat") == [
        VOCAB["the"],
        VOCAB["cat"],
    ]
