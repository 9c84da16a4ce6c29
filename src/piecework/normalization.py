"""The basic tokenizer: from a text to its normalized words, exactly as Hugging Face does it.

In comes any ``str``; out come the normalized text (``BertNormalizer``) and its words
(``BertPreTokenizer``). This is the slow, complete way: the kernel walks tables that are computed
from it (``rules/char_classes.py``) and comes here only for words whose marks may change places.

It does not split out special tokens, and it does not look words up in a vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from piecework.rules.rule_set import FIRST_HANGUL, LAST_HANGUL, CodePoints, RuleSet

REPLACEMENT = "\ufffd"

# Hangul composition, Unicode chapter 3.12: a syllable is a leading consonant, a vowel and perhaps a
# trailing consonant, numbered in that order.
FIRST_LEAD, FIRST_VOWEL, BEFORE_FIRST_TRAIL = 0x1100, 0x1161, 0x11A7
N_VOWELS, N_TRAILS = 21, 28


class Normalizer:
    r"""The stages between a raw text and its words, for one rule set and one choice of flags.

    Parameters
    ----------
    rules : RuleSet
    clean_text : bool
        Drop controls and U+FFFD, make white space U+0020.
    handle_chinese_chars : bool
        Put a space on both sides of every ideograph.
    strip_accents : bool
        Decompose (NFD), then drop marks. Already resolved: in a tokenizer's options None means
        "as lowercase".
    lowercase : bool
        Lower each code point by itself: no final sigma.

    Attributes
    ----------
    before_order, after_order : Translation
        What becomes of a character before marks are put in order, and of the result after it.

    Notes
    -----
    Thread-safety: one normalizer can be used by many threads; its tables only ever grow, by entries
    that depend on nothing but their key, up to one for each code point.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> normalizer = Normalizer(
    ...     rule_set("huggingface"),
    ...     clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True,
    ... )
    >>> normalizer.normalize("Caf\u00e9\u200b 日本")
    'cafe  日  本 '
    >>> normalizer.basic_tokenize("Café, 日本!")
    ['cafe', ',', '日', '本', '!']
    """

    def __init__(
        self,
        rules: RuleSet,
        *,
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: bool,
        lowercase: bool,
    ) -> None:
        self.rules = rules
        self.clean_text = clean_text
        self.handle_chinese_chars = handle_chinese_chars
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        # Marks are sorted between decomposing and dropping them, so there are two passes.
        before = [
            (clean_text, self._clean),
            (handle_chinese_chars, self._space_cjk),
            (strip_accents, self._decompose),
        ]
        after = [(strip_accents, self._strip_mark), (lowercase, self._lower)]
        self.before_order = Translation([stage for wanted, stage in before if wanted])
        self.after_order = Translation([stage for wanted, stage in after if wanted])

    def normalize(self, text: str) -> str:
        r"""Return the normalized text.

        Raises
        ------
        UnicodeEncodeError
            For a lone surrogate, where clean_text is off.

        Examples
        --------
        >>> from piecework.rules import rule_set
        >>> off = dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents"), False)
        >>> Normalizer(rule_set("huggingface"), **off, lowercase=True).normalize("ΣΑΣ \u0130")
        'σασ i̇'
        """
        text = join_surrogates(text, clean_text=self.clean_text)
        text = text.translate(self.before_order)
        if self.strip_accents:
            text = order_marks(text, self.rules)
        return text.translate(self.after_order)

    def is_final(self, normalized: str) -> bool:
        r"""Say whether a normalized text has the same words if it is normalized once more.

        All have, but for some with marks that the stripping keeps (:func:`survivors`): those may
        change places once what stood between them is stripped.

        Examples
        --------
        >>> from piecework.rules import rule_set
        >>> flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        >>> normalizer = Normalizer(rule_set("huggingface"), **dict.fromkeys(flags, True))
        >>> texts = "Été", "\u302e\u034f\u1b44"
        >>> [normalizer.is_final(normalizer.normalize(text)) for text in texts]
        [True, False]
        """
        return not (self.strip_accents and _has_survivors(normalized, self.rules))

    def split(self, normalized: str) -> list[str]:
        """Return the words: white space goes, every punctuation character stands alone.

        Examples
        --------
        >>> from piecework.rules import rule_set
        >>> flags = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        >>> normalizer = Normalizer(rule_set("huggingface"), **dict.fromkeys(flags, True))
        >>> normalizer.split("cost: $5")
        ['cost', ':', '$', '5']
        """
        return words_pattern(self.rules).findall(normalized)

    def basic_tokenize(self, text: str) -> list[str]:
        """Return the words of a raw text: :meth:`normalize`, then :meth:`split`."""
        return self.split(self.normalize(text))

    def _clean(self, ch: str) -> str:
        # Controls first: U+000B and U+000C are white space too, and vanish.
        if ch == REPLACEMENT or self.rules.is_control(ord(ch)):
            return ""
        return " " if self.rules.is_whitespace(ord(ch)) else ch

    def _space_cjk(self, ch: str) -> str:
        return f" {ch} " if self.rules.is_cjk(ord(ch)) else ch

    def _decompose(self, ch: str) -> str:
        return decompose(ch, self.rules)

    def _strip_mark(self, ch: str) -> str:
        return "" if self.rules.is_mark(ord(ch)) else ch

    def _lower(self, ch: str) -> str:
        return "".join(map(chr, self.rules.lowercase.get(ord(ch), (ord(ch),))))


class Translation(dict[int, str]):
    """A table for str.translate that computes an entry when it is first met."""

    def __init__(self, stages: list[Callable[[str], str]]) -> None:
        super().__init__()
        self._stages = stages

    def __missing__(self, cp: int) -> str:
        text = chr(cp)
        for stage in self._stages:
            text = "".join(map(stage, text))
        self[cp] = text
        return text


def decompose(ch: str, rules: RuleSet) -> str:
    """Return the full canonical decomposition of one character.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> [f"{ord(part):04X}" for part in decompose("한", rule_set("huggingface"))]
    ['1112', '1161', '11AB']
    """
    cp = ord(ch)
    if FIRST_HANGUL <= cp <= LAST_HANGUL:
        rest, trail = divmod(cp - FIRST_HANGUL, N_TRAILS)
        lead, vowel = divmod(rest, N_VOWELS)
        jamo = chr(FIRST_LEAD + lead) + chr(FIRST_VOWEL + vowel)
        return jamo + chr(BEFORE_FIRST_TRAIL + trail) if trail else jamo
    return "".join(map(chr, rules.decompositions.get(cp, (cp,))))


def order_marks(decomposed: str, rules: RuleSet) -> str:
    r"""Sort each run of combining characters by class, as far as that shows after stripping.

    Only marks that stripping keeps (:func:`survivors`) can show their order, so a text without any
    comes back as it is.

    Examples
    --------
    U+302E (class 224) and U+1B44 (class 9) are kept by the stripping:

    >>> from piecework.rules import rule_set
    >>> order_marks("a\u302e\u1b44", rule_set("huggingface")) == "a\u1b44\u302e"
    True
    """
    if not _has_survivors(decomposed, rules):
        return decomposed
    _, run = _mark_patterns(rules)
    return run.sub(lambda match: _order_run(match[0], rules), decomposed)


def _order_run(run: str, rules: RuleSet) -> str:
    # One pass for each class instead of a sort: linear, and no list of ten million characters.
    classes = {ord(ch): rules.combining_classes[ord(ch)] for ch in set(run)}
    values = sorted(set(classes.values()))
    if len(values) == 1:
        return run
    others = ({cp: None for cp, own in classes.items() if own != value} for value in values)
    return "".join(map(run.translate, others))


@cache
def survivors(rules: RuleSet) -> CodePoints:
    """Return the code points that canonical ordering can move and accent stripping keeps.

    Examples
    --------
    >>> from piecework.rules import rule_set
    >>> len(survivors(rule_set("huggingface")))
    83
    """
    return CodePoints.of(cp for cp in rules.combining_classes if not rules.is_mark(cp))


def _has_survivors(text: str, rules: RuleSet) -> bool:
    survivor, _ = _mark_patterns(rules)
    return not text.isascii() and survivor.search(text) is not None


@cache
def _mark_patterns(rules: RuleSet) -> tuple[re.Pattern[str], re.Pattern[str]]:
    ordered = CodePoints.of(rules.combining_classes)
    # (?!) matches nowhere: a rule set may have no survivor.
    survivor = f"[{regex_ranges(survivors(rules))}]" if survivors(rules).ranges else "(?!)"
    return re.compile(survivor), re.compile(f"[{regex_ranges(ordered)}]{{2,}}")


@cache
def words_pattern(rules: RuleSet) -> re.Pattern[str]:
    """Return the pattern that finds the words of a normalized text."""
    alone = regex_ranges(rules.punctuation)
    return re.compile(f"[{alone}]|[^{alone}{regex_ranges(rules.whitespace)}]+")


def regex_ranges(code_points: CodePoints) -> str:
    """Return code points as they stand between the brackets of a character class of ``re``."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in code_points.ranges)


_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE_SURROGATE = re.compile(
    "[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
)


def join_surrogates(text: str, *, clean_text: bool, row: int | None = None) -> str:
    r"""Return the text with surrogate pairs joined, and with U+FFFD for lone surrogates.

    Lone surrogates are replaced here and dropped by cleaning, later: removed at once,
    ``"[MA\ud800SK]"`` would turn into a special token.

    Parameters
    ----------
    text : str
    clean_text : bool
        Off: nothing drops U+FFFD later, so a lone surrogate is an error.
    row : int, optional
        The text's number in its batch, for the message.

    Raises
    ------
    UnicodeEncodeError
        For a lone surrogate where clean_text is off; ``start`` and ``end`` say where in the text.

    Examples
    --------
    >>> join_surrogates("\ud83d\ude00 \ud800", clean_text=True)
    '😀 �'
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text
    if not clean_text and (lone := _LONE_SURROGATE.search(text)):
        place = "" if row is None else f" in row {row}"
        reason = f"lone surrogate{place}, which clean_text=True would drop"
        raise UnicodeEncodeError("utf-8", text, *lone.span(), reason)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
