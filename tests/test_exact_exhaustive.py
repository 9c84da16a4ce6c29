"""Every code point, every vocabulary on every corpus, and 100,000 random texts: all ids equal.

``pytest -m exhaustive`` runs this, in minutes. The rule set under test is the one that the
installed ``tokenizers`` is the measure of; "unicode" is compared with the specification.
"""

from __future__ import annotations

import json
import warnings
from functools import cache

import helpers
import numpy as np
import pytest
import tokenizers

from piecework import VocabularyWarning, WordPieceTokenizer, reference
from piecework.rules import rule_set
from piecework.vocabulary import Vocabulary

pytestmark = pytest.mark.exhaustive

SCALAR_VALUES = [
    cp for cp in (*range(0xD800), *range(0xE000, 0x110000)) if chr(cp) not in helpers.MISREAD_BY_HF
]
WORDS_PER_TEXT = 1000
TEXTS_PER_CALL = 100  # the incumbent takes some 100 bytes for each token until the call is over

FORMS = {"alone": "{}", "between letters": "a{}b"}

# Whether the model's own files lower-case; where there is none, what its authors say of the model.
LOWERCASE = {
    "bert-base-cased": False,
    "bert-base-chinese": False,
    "bert-base-japanese-v3": False,
    "bert-base-multilingual-cased": False,
    "bert-base-uncased": True,
    "beto-spanish-cased": False,
    "bge-small-en": True,
    "koelectra-korean": False,
    "norbert-norwegian": False,
    "scibert-scivocab-uncased": True,
}
CORPORA = sorted(path.stem for path in helpers.DATA.glob("corpora/*.txt")) or ["none"]
DOCUMENTS_PER_CALL = 2000
DECODED_DOCUMENTS = 100


@pytest.fixture(params=["huggingface", "huggingface-1"])
def rules(request):
    """Each frozen rule set, if the library it was measured on is the installed one."""
    if request.param != helpers.HF_RULES:
        pytest.skip(f"{request.param!r} is not the rule set of tokenizers {helpers.HF_VERSION}")
    return request.param


# ---- every code point ----


def texts_of_every_code_point(form: str) -> list[str]:
    words = [form.format(chr(cp)) for cp in SCALAR_VALUES]
    starts = range(0, len(words), WORDS_PER_TEXT)
    return [" ".join(words[start : start + WORDS_PER_TEXT]) for start in starts]


@cache
def vocab_of_every_code_point() -> dict[str, int]:
    tokens = [
        *helpers.SPECIALS,
        *map(chr, SCALAR_VALUES),
        *("##" + chr(cp) for cp in SCALAR_VALUES),
    ]
    return {token: i for i, token in enumerate(tokens)}


@cache
def hf_of_every_code_point() -> helpers.Tokenizer:
    return helpers.hf_tokenizer(vocab_of_every_code_point())


def hf_tokenizer(made: bool, flags: dict[str, bool]) -> helpers.Tokenizer:
    if not made:
        return helpers.hf_tokenizer(helpers.embedded_vocab(), **flags)
    if not hasattr(helpers.Tokenizer, "normalizer"):
        return helpers.hf_tokenizer(vocab_of_every_code_point(), **flags)
    hf = hf_of_every_code_point()  # building it takes longer than the comparison
    hf.normalizer = tokenizers.normalizers.BertNormalizer(**flags)
    return hf


@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
@pytest.mark.parametrize("made", [False, True], ids=["bert-base-uncased", "every code point"])
def test_every_code_point(rules, made, flags):
    vocab = vocab_of_every_code_point() if made else helpers.embedded_vocab()
    ours = WordPieceTokenizer(vocab, rules=rules, **flags)
    hf = hf_tokenizer(made, flags)

    def hf_row(text):
        return helpers.hf_ids(hf, [text])[0]

    for name, form in FORMS.items():
        texts = texts_of_every_code_point(form)
        for start in range(0, len(texts), TEXTS_PER_CALL):
            some = texts[start : start + TEXTS_PER_CALL]
            got, expected = ours.encode_batch(some), helpers.hf_ids(hf, some)
            if not same_rows(got, expected):
                helpers.assert_same_ids(ours.encode, hf_row, some, got, expected, name)


def same_rows(batch, rows):
    return np.array_equal(batch.lengths, list(map(len, rows))) and np.array_equal(
        batch.ids, np.concatenate([np.array(row, np.int32) for row in rows])
    )


@pytest.mark.parametrize(
    "flags",
    [
        {"lowercase": True},
        {"lowercase": False},
        {"lowercase": False, "strip_accents": True, "clean_text": False},
        {"lowercase": True, "strip_accents": False, "handle_chinese_chars": False},
    ],
    ids=helpers.flags_id,
)
def test_every_code_point_under_unicode(flags):
    unicode = rule_set("unicode")
    vocab = vocab_of_every_code_point()
    ours = WordPieceTokenizer(vocab, rules="unicode", **flags)

    def specified(text):
        return reference.encode(text, vocab, unicode, special_tokens={}, **flags)

    texts = texts_of_every_code_point(FORMS["between letters"])
    for text, row in zip(texts, ours.encode_batch(texts), strict=True):
        expected = specified(text)
        if row.tolist() != expected:
            helpers.assert_same_ids(ours.encode, specified, [text], [row], [expected], "unicode")


# ---- every vocabulary, every corpus ----


@cache
def pair(model: str, rules: str) -> tuple[WordPieceTokenizer, helpers.Tokenizer]:
    """Our tokenizer and the incumbent over one mapping: that of our reader."""
    if model == "bge-small-en":
        text = helpers.data_path("vocabs", model, "tokenizer.json").read_bytes()
        vocabulary = Vocabulary.from_mapping(json.loads(text)["model"]["vocab"])
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VocabularyWarning)
            vocabulary = Vocabulary.from_file(helpers.data_path("vocabs", model, "vocab.txt"))
    if refused := [token for token in vocabulary.ids if set(token) & set(helpers.MISREAD_BY_HF)]:
        pytest.skip(f"tokenizers {helpers.HF_VERSION} refuses the entries {refused!a} of {model}")
    flags = {"lowercase": LOWERCASE[model]}
    ours = WordPieceTokenizer(vocabulary.ids, rules=rules, **flags)
    return ours, helpers.hf_tokenizer(vocabulary.ids, **flags)


@pytest.mark.parametrize("model", LOWERCASE)
@pytest.mark.parametrize("corpus_name", CORPORA)
def test_every_vocabulary_on_every_corpus(rules, model, corpus_name, corpus):
    documents = corpus(corpus_name)
    ours, hf = pair(model, rules)

    def ours_row(text):
        return ours.encode(text, add_special=True)

    def hf_row(text):
        return helpers.hf_ids(hf, [text], add_special=True)[0]

    for start in range(0, len(documents), DOCUMENTS_PER_CALL):
        some = documents[start : start + DOCUMENTS_PER_CALL]
        got = ours.encode_batch(some, add_special=True)
        expected = helpers.hf_ids(hf, some, add_special=True)
        if not same_rows(got, expected):
            helpers.assert_same_ids(ours_row, hf_row, some, got, expected, model)
        # The template adds one token at each end; the rest is the bare result.
        assert same_rows(ours.encode_batch(some), [row[1:-1] for row in expected])

    some = documents[:DECODED_DOCUMENTS]
    assert ours.encode_batch(some).tolist() == helpers.hf_ids(hf, some)
    rows = helpers.hf_ids(hf, some, add_special=True)
    for skip in (False, True):
        decoded = [hf.decode(row, skip_special_tokens=skip) for row in rows]
        assert ours.decode_batch(rows, skip_special=skip) == decoded


# ---- random texts ----


@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_random_texts(rules, flags):
    for group in range(25):
        texts = helpers.random_texts(f"exhaustive {group} {flags}", rules, 250)
        vocab = helpers.made_vocab(group, texts, rule_set(rules), **flags)
        ours = WordPieceTokenizer(vocab, rules=rules, **flags)
        hf = helpers.hf_tokenizer(vocab, **flags)
        got = ours.encode_batch(texts).tolist()
        helpers.assert_same_ids(
            ours.encode,
            lambda text, hf=hf: helpers.hf_ids(hf, [text])[0],
            texts,
            got,
            helpers.hf_ids(hf, texts),
        )
        assert list(map(ours.encode, texts)) == got
