r"""Patterns of a tokenizer.json: strings, and those regular expressions that Python matches alike.

The reference matches with Oniguruma. What is translated to ``re`` here is what means the same in
both: characters, ``.``, classes, groups, alternatives, greedy and lazy quantifiers and lookahead,
with ``\s``, ``\d``, ``\w`` and some categories (``\p{L}``) by measured tables. Everything else is
refused: anchors, backreferences, lookbehind, options, possessive and atomic groups, POSIX brackets,
set operations, and quantifiers on what can match nothing, where the two disagree on when to stop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from piecework.json_part import Part
from piecework.normalization import regex_ranges
from piecework.rules.rule_set import N_CODE_POINTS, CodePoints
from piecework.rules.step_tables import step_tables

_MAX_REPEAT = 1_000
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_CODE_POINT = re.compile(r"u([0-9a-fA-F]{4})|x\{(?:0{0,2})([0-9a-fA-F]{1,6})\}")
_LITERAL = re.compile(r"[^\\\[\](){}.*+?|^$]")
_QUANTIFIER = re.compile(r"[*+?]|\{(\d{1,9})(?:(,)(\d{0,9}))?\}")


def read_pattern(part: Part, key: str) -> re.Pattern[str]:
    r"""Return the pattern of a step, which is ``{"String": …}`` or ``{"Regex": …}``.

    Returns
    -------
    re.Pattern
        For :func:`find_matches`. The empty string matches between all characters.

    Raises
    ------
    UnsupportedTokenizerError
        For a regular expression that is not known to match alike.
    ValueError
        For what is neither.

    Examples
    --------
    >>> part = Part({"pattern": {"Regex": r"\d{2,}"}}, "pre_tokenizer", "tokenizer.json")
    >>> list(find_matches(read_pattern(part, "pattern"), "a12b3"))
    [(1, 3)]
    """
    pattern = part.part(key)
    if list(pattern.value) == ["String"]:
        return re.compile(re.escape(pattern.field("String", str)))
    if list(pattern.value) != ["Regex"]:
        part.malformed(key, 'an object with "String" or "Regex"')
    try:
        return re.compile(_Translator(pattern.field("Regex", str)).translate(), re.DOTALL)
    except (_NotTranslatedError, RecursionError, OverflowError, re.error) as error:
        reason = error if isinstance(error, _NotTranslatedError) else "too large"
        pattern.unsupported("Regex", f"a pattern that Python matches alike ({reason})")


def find_matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield the matches as the reference finds them: none empty right behind another one."""
    start, last_stop = 0, -1
    while text and start <= len(text) and (match := pattern.search(text, start)):
        own_start, stop = match.span()
        if own_start == stop == last_stop:
            start += 1
            continue
        yield own_start, stop
        start = last_stop = stop


class _NotTranslatedError(Exception):
    """The pattern holds something that may mean something else in ``re``."""


class _Translator:
    """Reads a pattern of Oniguruma and writes it for ``re``, escaping all that is literal."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def translate(self) -> str:
        translated, _ = self._alternatives()
        if self._at < len(self._pattern):
            self._refuse()
        return translated

    def _refuse(self, why: str = "") -> NoReturn:
        place = f"{self._pattern[self._at : self._at + 10]!r} at {self._at}"
        raise _NotTranslatedError(why or f"not {place}")

    def _peek(self, n_chars: int = 1) -> str:
        return self._pattern[self._at : self._at + n_chars]

    def _take(self) -> str:
        if self._at == len(self._pattern):
            raise _NotTranslatedError("it ends early")
        self._at += 1
        return self._pattern[self._at - 1]

    # Each of these returns what it read, and whether that can match nothing.

    def _alternatives(self) -> tuple[str, bool]:
        branches = [self._branch()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._branch())
        return "|".join(own for own, _ in branches), any(empty for _, empty in branches)

    def _branch(self) -> tuple[str, bool]:
        parts, empty = [], True
        while self._peek() not in ("", "|", ")"):
            part, own_empty = self._quantified()
            parts.append(part)
            empty = empty and own_empty
        return "".join(parts), empty

    def _quantified(self) -> tuple[str, bool]:
        atom, empty = self._atom()
        quantifier = _QUANTIFIER.match(self._pattern, self._at)
        if not quantifier:
            return atom, empty
        if empty:
            self._refuse("a quantifier on what can match nothing")
        low, comma, high = quantifier.groups()
        if max(int(low or 0), int(high or 0)) > _MAX_REPEAT:
            self._refuse("too large")
        if comma and high and int(high) < int(low):
            self._refuse()  # Oniguruma turns the two round, and makes it possessive
        self._at = quantifier.end()
        lazy = "?" if self._peek() == "?" else ""
        self._at += len(lazy)
        if self._peek() in ("+", "*", "?", "{") or (lazy and low and not comma):
            self._refuse()  # possessive, stacked, or {n}?, which is optional there and lazy here
        return f"{atom}{quantifier[0]}{lazy}", quantifier[0] in "*?" or int(low or 1) == 0

    def _atom(self) -> tuple[str, bool]:
        ch = self._peek()
        if ch == "(":
            return self._group()
        if ch == "[":
            return self._class(), False
        if ch == ".":
            self._at += 1
            return r"[^\n]", False
        if ch == "\\":
            self._at += 1
            return self._set_text(self._escape("w")), False
        if not _LITERAL.match(ch):
            self._refuse()
        return re.escape(self._take()), False

    def _group(self) -> tuple[str, bool]:
        heads = ("(?:", "(?=", "(?!")
        head = self._peek(3)
        looks_ahead = head in heads[1:]
        if head not in heads:
            if self._peek(2) == "(?":
                self._refuse()
            head = "("
        self._at += len(head)
        body, empty = self._alternatives()
        if self._peek() != ")":
            self._refuse()
        self._at += 1
        return f"{'(?:' if head == '(' else head}{body})", empty or looks_ahead

    def _class(self) -> str:
        self._at += 1
        negated = self._peek() == "^"
        self._at += negated
        ranges: list[tuple[int, int]] = []
        while self._peek() != "]" or not ranges:
            low = self._member()
            if self._peek() == "-" and self._peek(2) != "-]":
                self._at += 1
                high = self._member()
                first, last = self._single(low), self._single(high)
                if last < first:
                    self._refuse()
                ranges.append((first, last))
            else:
                ranges += low.ranges
        self._at += 1
        return self._set_text(_union(ranges), negated=negated)

    def _member(self) -> CodePoints:
        if self._peek() == "\\":
            self._at += 1
            return self._escape("[w]")
        # Nested classes, set operations, and what is read in more than one way.
        if self._peek() in ("[", "]", "^", "-") or self._peek(2) == "&&":
            self._refuse()
        return CodePoints.of([ord(self._take())])

    def _single(self, code_points: CodePoints) -> int:
        if len(code_points) != 1:
            self._refuse()
        return code_points.ranges[0][0]

    def _escape(self, word: str) -> CodePoints:
        """Read what follows a backslash; `word` names the class of ``w``."""
        ch = self._take()
        classes = step_tables().regex
        if ch in "pP":
            closing = self._pattern.find("}", self._at)
            name = self._pattern[self._at + 1 : closing]
            if self._peek() != "{" or closing < 0 or len(name) > 2 or name not in classes:
                self._refuse()
            self._at = closing + 1
            return classes[name] if ch == "p" else _complement(classes[name])
        if ch in "sdwSDW":
            members = classes[word if ch in "wW" else ch.lower()]
            return members if ch.islower() else _complement(members)
        if ch in _ESCAPED:
            return CodePoints.of([ord(_ESCAPED[ch])])
        if code := _CODE_POINT.match(self._pattern, self._at - 1):
            self._at = code.end()
            return CodePoints.of([int(code[1] or code[2], 16)])
        if ch.isalnum() or not ch.isascii() or ch == "_":
            self._at -= 1
            self._refuse()
        return CodePoints.of([ord(ch)])

    def _set_text(self, code_points: CodePoints, *, negated: bool = False) -> str:
        if not code_points.ranges:
            self._refuse("an empty class")
        return f"[{'^' * negated}{regex_ranges(code_points)}]"


def _complement(code_points: CodePoints) -> CodePoints:
    edges = [-1, *(edge for each in code_points.ranges for edge in each), N_CODE_POINTS]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return CodePoints(tuple((low + 1, high - 1) for low, high in gaps if low + 1 < high))


def _union(ranges: list[tuple[int, int]]) -> CodePoints:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return CodePoints(tuple(joined))
