"""The encoder's trie leaves out what no text gives, and only that."""

import helpers
import pytest

from piecework import WordPieceTokenizer, reference
from piecework._alphabet import Alphabet
from piecework._char_table import word_letters
from piecework._trie import DoubleTrie
from piecework.normalization import Normalizer
from piecework.rules import RULE_SET_NAMES, rule_set
from piecework.rules.char_classes import char_classes


@pytest.mark.parametrize("name", RULE_SET_NAMES)
@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_every_letter_that_a_word_has_is_kept(name, flags):
    normalizer = Normalizer(rule_set(name), **flags)
    texts = helpers.random_texts("letters", name, 300)
    words = [word for text in texts for word in normalizer.basic_tokenize(text)]
    letters = {ch for word in words if len(word) > 1 for ch in word}
    alphabet = Alphabet(sorted(letters))
    classes = char_classes(name, **flags)
    found = word_letters(classes.page_index, classes.pages, classes.runs, alphabet)
    assert found[1:] == b"\1" * len(letters)


@pytest.mark.parametrize(
    ("ch", "flags", "expected"),
    [
        ("a", {}, True),
        ("A", {}, False),
        ("A", {"lowercase": False}, True),
        ("é", {}, False),
        ("é", {"strip_accents": False}, True),
        ("#", {}, False),
        ("=", {"clean_text": False}, False),
        (" ", {}, False),
        ("\x01", {}, False),
        ("\x05", {"clean_text": False}, True),
        ("日", {}, False),
        ("日", {"handle_chinese_chars": False}, True),
        ("\u1112", {}, True),  # a part of Hangul syllables
        ("한", {}, False),
        ("\ufffd", {}, False),
    ],
)
def test_which_characters_are_letters(ch, flags, expected):
    flags = dict.fromkeys(helpers.FLAG_NAMES, True) | flags
    classes = char_classes("huggingface", **flags)
    tables = (classes.page_index, classes.pages, classes.runs)
    assert bool(word_letters(*tables, Alphabet([ch]))[1]) is expected


def test_words_that_no_text_gives_take_no_room():
    words = ["#", *(f"{i:04}" for i in range(1000))]
    tokens = [*words, *(f"{word}#" for word in words), *(f"###{word}" for word in words)]
    alphabet = Alphabet(tokens)
    letters = bytearray(b"\1" * (len(alphabet) + 1))
    letters[1] = 0  # the most frequent character: "#"

    def n_units(tokens, letters):
        ids = list(range(len(tokens)))
        return DoubleTrie(tokens, ids, "##", 100, alphabet, 0, letters).n_units

    assert n_units(tokens, bytes(letters)) == n_units(words, None) < n_units(tokens, None) / 2


@pytest.mark.parametrize("letters", [b"", b"\1", b"\1" * 100])
def test_letters_of_another_alphabet_are_refused(letters):
    with pytest.raises(ValueError, match="letters: expected a byte for each of 3 symbols"):
        DoubleTrie(["ab"], [0], None, 100, Alphabet(["ab"]), 0, letters)


@pytest.mark.parametrize("word", ["##able", "##", "#", "#a", "able##", "[UNK]x", "日本", "Aé"])
def test_wordpiece_finds_tokens_that_no_text_gives(word):
    tokens = ["[UNK]", "##able", "##", "#", "###a", "able", "####", "日本", "A", "##é", "[UNK]x"]
    vocab = {token: id_ for id_, token in enumerate(tokens)}
    tokenizer = WordPieceTokenizer(vocab)
    expected = reference.wordpiece(word, vocab, vocab["[UNK]"], "##", 100)
    assert tokenizer.wordpiece(word) == expected
    assert tokenizer.encode(word) == reference.encode(word, vocab, rule_set("huggingface"))


@pytest.mark.parametrize("prefix", ["un", "日", "#a", "a#", "É", "e\u0301", "\ufffd", "한"])
@pytest.mark.parametrize("flags", helpers.ALL_FLAGS, ids=helpers.flags_id)
def test_prefixes_that_words_can_and_cannot_begin_with(prefix, flags):
    parts = ["u", "n", "un", "日", "本", "#", "a", "É", "e", "\u0301", "한", "\u1112\u1161\u11ab"]
    tokens = ["[UNK]", *parts, *(prefix + part for part in parts), prefix]
    vocab = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = WordPieceTokenizer(vocab, prefix=prefix, **flags)
    rules = rule_set("huggingface")
    for text in [*vocab, *(a + b + a for a in vocab for b in parts)]:
        expected = reference.encode(text, vocab, rules, prefix=prefix, **flags)
        assert tokenizer.encode(text) == expected, ascii(text)


def test_tokens_that_begin_alike_and_one_inside_another():
    """Groups of words of every size, with ends inside and at the end."""
    tokens = ["[UNK]", *("ab" * n for n in range(1, 40)), *(f"##{'ba' * n}b" for n in range(40))]
    vocab = {token: i for i, token in enumerate(tokens)}
    tokenizer = WordPieceTokenizer(vocab)
    for n_chars in range(1, 101):
        text = ("ab" * 60)[:n_chars]
        expected = reference.encode(text, vocab, rule_set("huggingface"))
        assert tokenizer.encode(text) == expected
