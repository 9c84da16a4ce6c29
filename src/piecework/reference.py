"""WordPiece as BERT does it, in plain Python: the specification, and the file to read first.

Text goes in, a list of token ids comes out. Each step is one function, in the order they run::

    text ─ join_surrogates ─ split_special ─┬─ a special token: its id
                                            └─ the rest: normalize ─ split_words ─ wordpiece ─ ids
    normalize = clean, space_cjk, decompose, strip_marks, lower

What it does: exactly what Hugging Face's ``tokenizers`` does with BertNormalizer, BertPreTokenizer
and WordPiece, for every rule set of `piecework.rules`. The fast code is tested against this file.
What it does not do: be fast, read or write files, report offsets, or handle pairs, truncation,
padding and added tokens with flags. Nothing in the package imports it.

Behind the specification stand the textbook's versions of the same ideas: `wordpiece_tokenize` and
`wordpiece_word` without BERT's normalization, and the trainer `train_wordpiece`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from piecework.rules import RuleSet, rule_set  # noqa: F401 - the examples use rule_set

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# Applied in this order to each decoded piece, with the space before it.
CLEANUPS = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


# ---- from text to words ----


def join_surrogates(text: str, *, clean_text: bool = True) -> str:
    r"""Join surrogate pairs; a lone surrogate becomes U+FFFD, or an error where nothing cleans it.

    It is not dropped here, or "[MA", a surrogate and "SK]" would turn into a special token.

    >>> join_surrogates("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"
    True
    """
    joined = []
    i = 0
    while i < len(text):
        cp = ord(text[i])
        following = ord(text[i + 1]) if i + 1 < len(text) else 0
        if 0xD800 <= cp <= 0xDBFF and 0xDC00 <= following <= 0xDFFF:
            cp = 0x10000 + ((cp - 0xD800) << 10) + (following - 0xDC00)
            i += 1
        elif 0xD800 <= cp <= 0xDFFF:
            if not clean_text:
                raise UnicodeEncodeError("utf-8", text, i, i + 1, "surrogates not allowed")
            cp = 0xFFFD
        joined.append(chr(cp))
        i += 1
    return "".join(joined)


def split_special(text: str, contents: Iterable[str]) -> list[tuple[str, bool]]:
    """Cut the special tokens out of raw text, as written: the leftmost first, the longest there.

    >>> split_special("x[MASK]y [mask]", ["[MASK]"])
    [('x', False), ('[MASK]', True), ('y [mask]', False)]
    """
    longest_first = sorted(contents, key=len, reverse=True)
    pieces = []
    start = i = 0
    while i < len(text):
        found = next((content for content in longest_first if text.startswith(content, i)), "")
        if found:
            pieces += [(text[start:i], False), (found, True)]
            start = i = i + len(found)
        else:
            i += 1
    pieces.append((text[start:], False))
    return [(piece, is_special) for piece, is_special in pieces if piece]


def clean(text: str, rules: RuleSet) -> str:
    r"""Drop U+0000, U+FFFD and controls, then make all white space U+0020.

    In that order: U+000B is a control and white space, so it vanishes and joins its neighbours.

    >>> clean("a\x00b\x0bc\u200bd\te\u3000f", rule_set("huggingface"))
    'abcd e f'
    """
    kept = []
    for ch in text:
        if ch == "\ufffd" or rules.is_control(ord(ch)):
            continue
        kept.append(" " if rules.is_whitespace(ord(ch)) else ch)
    return "".join(kept)


def space_cjk(text: str, rules: RuleSet) -> str:
    """Put a space on both sides of every ideograph: Chinese has none, BERT has one token for each.

    >>> space_cjk("日本x", rule_set("huggingface"))
    ' 日  本 x'
    """
    return "".join(f" {ch} " if rules.is_cjk(ord(ch)) else ch for ch in text)


def decompose(text: str, rules: RuleSet) -> str:
    r"""Unicode's NFD: take every character apart, then order each run of marks by class.

    >>> decompose("\xe9", rule_set("huggingface")) == "e\u0301"
    True
    >>> decompose("\ud55c", rule_set("huggingface")) == "\u1112\u1161\u11ab"
    True

    A mark below (class 220) goes before one above (230), and nothing crosses a letter:

    >>> decompose("a\u0301\u0323b\u0301", rule_set("huggingface")) == "a\u0323\u0301b\u0301"
    True
    """
    class_of = rules.combining_classes
    ordered: list[int] = []
    marks: list[int] = []
    for ch in text:
        for cp in _decompose_char(ord(ch), rules):
            if cp in class_of:
                marks.append(cp)
            else:  # a letter ends the run of marks; sorted() keeps the order of equal classes
                ordered += [*sorted(marks, key=class_of.__getitem__), cp]
                marks = []
    ordered += sorted(marks, key=class_of.__getitem__)
    return "".join(map(chr, ordered))


def _decompose_char(cp: int, rules: RuleSet) -> Sequence[int]:
    if 0xAC00 <= cp <= 0xD7A3:  # a Hangul syllable: its number spells out its letters
        lead, vowel, tail = (cp - 0xAC00) // 588, (cp - 0xAC00) % 588 // 28, (cp - 0xAC00) % 28
        letters = [0x1100 + lead, 0x1161 + vowel, 0x11A7 + tail]
        return letters if tail else letters[:2]
    return rules.decompositions.get(cp, (cp,))


def strip_marks(text: str, rules: RuleSet) -> str:
    r"""Drop nonspacing marks (Mn). A spacing one such as U+093E is a vowel, no accent: it stays.

    >>> strip_marks("e\u0301 \u0915\u093e", rule_set("huggingface")) == "e \u0915\u093e"
    True
    """
    return "".join(ch for ch in text if not rules.is_mark(ord(ch)))


def lower(text: str, rules: RuleSet) -> str:
    """Lower-case each character by itself, so a sigma that ends a word stays σ.

    >>> lower("ΣΑΣ", rule_set("huggingface"))
    'σασ'
    """
    lowered: list[str] = []
    for ch in text:
        lowered += map(chr, rules.lowercase.get(ord(ch), (ord(ch),)))
    return "".join(lowered)


def normalize(
    text: str,
    rules: RuleSet,
    *,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    lowercase: bool = True,
) -> str:
    """Run the steps asked for. Accents go when capitals go, unless strip_accents says otherwise.

    >>> normalize("Café", rule_set("huggingface"))
    'cafe'
    >>> normalize("Café", rule_set("huggingface"), lowercase=False)
    'Café'
    """
    text = join_surrogates(text, clean_text=clean_text)
    if clean_text:
        text = clean(text, rules)
    if handle_chinese_chars:
        text = space_cjk(text, rules)
    if lowercase if strip_accents is None else strip_accents:
        text = strip_marks(decompose(text, rules), rules)
    return lower(text, rules) if lowercase else text


def split_words(normalized: str, rules: RuleSet) -> list[str]:
    """Split at white space, and make every punctuation character a word of its own.

    >>> split_words("it costs $5 («net»)", rule_set("huggingface"))
    ['it', 'costs', '$', '5', '(', '«', 'net', '»', ')']
    """
    words = [""]
    for ch in normalized:
        if rules.is_whitespace(ord(ch)):
            words.append("")
        elif rules.is_punctuation(ord(ch)):
            words += [ch, ""]
        else:
            words[-1] += ch
    return [word for word in words if word]


# ---- from words to ids, and back ----


def _longest_matches(word: str, vocab: Container[str], prefix: str = "##") -> list[str] | None:
    """Greedily take the longest entry at each position; None if some position has none."""
    pieces = []
    start = 0
    while start < len(word):
        stop = len(word)
        while stop > start and (prefix if start else "") + word[start:stop] not in vocab:
            stop -= 1
        if stop == start:
            return None
        pieces.append((prefix if start else "") + word[start:stop])
        start = stop
    return pieces


def wordpiece(
    word: str, vocab: Mapping[str, int], unk_id: int, prefix: str = "##", max_chars: int = 100
) -> list[int]:
    """Cut one word into pieces. One gap, or a character too many, and the whole word is unknown.

    >>> vocab = {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "##a": 4}
    >>> wordpiece("unaffable", vocab, 0), wordpiece("unaffablex", vocab, 0)
    ([1, 2, 3], [0])
    >>> wordpiece("aff", vocab, 0), wordpiece("una", vocab, 0, max_chars=2)
    ([0], [0])
    """
    pieces = _longest_matches(word, vocab, prefix) if len(word) <= max_chars else None
    return [unk_id] if pieces is None else [vocab[piece] for piece in pieces]


def encode(
    text: str,
    vocab: Mapping[str, int],
    rules: RuleSet,
    *,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    max_chars: int = 100,
    clean_text: bool = True,
    handle_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    lowercase: bool = True,
    special_tokens: Mapping[str, int] | None = None,
    add_special: bool = False,
) -> list[int]:
    """Text to ids. `special_tokens` are by default those of the five BERT ones that `vocab` has.

    >>> vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "the": 3, "un": 4, "##able": 5, "!": 6}
    >>> encode("The UNABLE!", vocab, rule_set("huggingface"), add_special=True)
    [1, 3, 4, 5, 6, 2]
    """
    specials = _default_specials(vocab) if special_tokens is None else special_tokens
    ids = []
    for piece, is_special in split_special(join_surrogates(text, clean_text=clean_text), specials):
        if is_special:
            ids.append(specials[piece])
            continue
        normalized = normalize(
            piece,
            rules,
            clean_text=clean_text,
            handle_chinese_chars=handle_chinese_chars,
            strip_accents=strip_accents,
            lowercase=lowercase,
        )
        for word in split_words(normalized, rules):
            ids += wordpiece(word, vocab, vocab[unk_token], prefix, max_chars)
    return [specials["[CLS]"], *ids, specials["[SEP]"]] if add_special else ids


def decode(
    ids: Iterable[int],
    vocab: Mapping[str, int],
    *,
    prefix: str = "##",
    special_tokens: Mapping[str, int] | None = None,
    skip_special: bool = False,
    cleanup: bool = True,
) -> str:
    """Ids to text. Case, accents and the original spaces are gone: no decoder can restore them.

    Every piece but the first loses its prefix or gets a space; then each is cleaned up by itself.
    "First" is what comes first after skipping, so it may keep a prefix:

    >>> vocab = {"[CLS]": 0, "un": 1, "##able": 2, "!": 3}
    >>> decode([1, 2, 3], vocab), decode([0, 2], vocab), decode([0, 2], vocab, skip_special=True)
    ('unable!', '[CLS]able', '##able')
    """
    specials = _default_specials(vocab) if special_tokens is None else special_tokens
    tokens = {token_id: token for token, token_id in [*vocab.items(), *specials.items()]}
    text = ""
    is_first = True
    for token_id in ids:
        token = tokens[token_id]
        if skip_special and token in specials:
            continue
        if not is_first:
            token = token[len(prefix) :] if token.startswith(prefix) else " " + token
        for old, new in CLEANUPS if cleanup else ():
            token = token.replace(old, new)
        text += token
        is_first = False
    return text


def _default_specials(vocab: Mapping[str, int]) -> dict[str, int]:
    return {token: vocab[token] for token in SPECIAL_TOKENS if token in vocab}


# ---- the textbook ----


def wordpiece_word(word: str, vocab: Iterable[str], unk: str = "[UNK]") -> list[str]:
    """One word to its pieces as strings; no limit, no normalization.

    >>> wordpiece_word("unaffordable", ["un", "##aff", "##ord", "##able"])
    ['un', '##aff', '##ord', '##able']
    """
    pieces = _longest_matches(word, set(vocab))
    return [unk] if pieces is None else pieces


def wordpiece_tokenize(
    text: str, vocab: Mapping[str, int], unk_token: str = "[UNK]", max_word_length: int = 100
) -> list[str]:
    """Lower-case the text, split it at white space, cut each word into pieces.

    >>> wordpiece_tokenize("Unhappiness  xyz", {"[UNK]": 0, "un": 1, "##happi": 2, "##ness": 3})
    ['un', '##happi', '##ness', '[UNK]']
    """
    tokens = []
    for word in text.lower().split():
        pieces = _longest_matches(word, vocab) if len(word) <= max_word_length else None
        tokens += [unk_token] if pieces is None else pieces
    return tokens


def train_wordpiece(
    corpus: Iterable[str], vocab_size: int = 50
) -> tuple[dict[str, int], dict[str, list[str]], dict[str, int]]:
    """Learn a vocabulary: start from characters, merge the pair that most deserves it, repeat.

    The score of a pair is P(ab) / (P(a) P(b)): how much more often a and b stand together than
    chance would have it. It is compared exactly, without rounding; of equal scores the pair that
    comes first wins, reading the words in the order of their first occurrence. Ends at `vocab_size`
    entries or when every word is one piece; the characters all go in, even beyond `vocab_size`.

    Returns the vocabulary (ids from 0, characters first, then merges), each word's pieces, and each
    word's count. Adds no special tokens, and reads all words again for every merge.

    Here h-u, u-g, p-u and g-s score alike at first, so hu comes first. That leaves p and its u with
    nothing but each other, which beats the more frequent hu-g:

    >>> vocab, pieces, counts = train_wordpiece(["Hug, hugs!", "a pug."], 9)
    >>> list(vocab)
    ['h', '##u', '##g', '##s', 'a', 'p', 'hu', 'pu', 'hug']
    >>> pieces["hugs"], counts
    (['hug', '##s'], {'hug': 1, 'hugs': 1, 'a': 1, 'pug': 1})
    """
    word_counts: dict[str, int] = {}
    for sentence in corpus:
        for word in sentence.lower().split():
            if word := word.strip(".,!?;:'\"()"):
                word_counts[word] = word_counts.get(word, 0) + 1
    splits = {word: [word[0], *("##" + ch for ch in word[1:])] for word in word_counts}
    vocab: dict[str, int] = {}
    for pieces in splits.values():
        for piece in pieces:
            vocab.setdefault(piece, len(vocab))
    while len(vocab) < vocab_size:
        scores = _pair_scores(splits, word_counts)
        if not scores:
            break
        best = max(scores, key=scores.__getitem__)  # the first of equals: dicts keep their order
        vocab.setdefault(best[0] + best[1][2:], len(vocab))
        splits = {word: _merge_pair(pieces, best) for word, pieces in splits.items()}
    return vocab, splits, word_counts


def _pair_scores(
    splits: Mapping[str, list[str]], word_counts: Mapping[str, int]
) -> dict[tuple[str, str], Fraction]:
    piece_counts: dict[str, int] = {}
    pair_counts: dict[tuple[str, str], int] = {}
    for word, pieces in splits.items():
        for piece in pieces:
            piece_counts[piece] = piece_counts.get(piece, 0) + word_counts[word]
        for pair in pairwise(pieces):
            pair_counts[pair] = pair_counts.get(pair, 0) + word_counts[word]
    total = sum(piece_counts.values())  # of pieces; the textbook counts pairs against it too
    return {
        (a, b): Fraction(count * total, piece_counts[a] * piece_counts[b])
        for (a, b), count in pair_counts.items()
    }


def _merge_pair(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    merged: list[str] = []
    i = 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            merged.append(pair[0] + pair[1][2:])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged
