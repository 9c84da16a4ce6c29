"""The Unicode rules of BERT's basic tokenizer, by name, and the four questions they answer.

``rule_set(name)`` gives the tables; the predicates here ask them about one character. What is done
with the answers is in ``normalization.py``.
"""

from __future__ import annotations

from piecework.rules.rule_set import RULE_SET_NAMES, RuleSet, rule_set

__all__ = [
    "RULE_SET_NAMES",
    "RuleSet",
    "is_bert_control",
    "is_bert_punctuation",
    "is_bert_whitespace",
    "is_cjk",
    "rule_set",
]


def is_bert_whitespace(ch: str, *, rules: str = "huggingface") -> bool:
    r"""Tell whether a character separates words.

    Parameters
    ----------
    ch : str
        One character; anything else is a ValueError.
    rules : str
        The name of a rule set.

    Examples
    --------
    >>> is_bert_whitespace("\u3000"), is_bert_whitespace("\x1c")
    (True, False)
    """
    return rule_set(rules).is_whitespace(_code_point(ch))


def is_bert_control(ch: str, *, rules: str = "huggingface") -> bool:
    r"""Tell whether clean_text drops a character as a control. Parameters as above.

    TAB, LF and CR are white space only. U+000B is both, and it vanishes before white space is
    looked for.

    Examples
    --------
    >>> is_bert_control("\x0b"), is_bert_control("\t"), is_bert_control("\u200b")
    (True, False, True)
    """
    return rule_set(rules).is_control(_code_point(ch))


def is_bert_punctuation(ch: str, *, rules: str = "huggingface") -> bool:
    """Tell whether a character is a word of its own: category P* or an ASCII symbol.

    Parameters as in :func:`is_bert_whitespace`.

    Examples
    --------
    >>> is_bert_punctuation("$"), is_bert_punctuation("«"), is_bert_punctuation("€")
    (True, True, False)
    """
    return rule_set(rules).is_punctuation(_code_point(ch))


def is_cjk(ch: str, *, rules: str = "huggingface") -> bool:
    """Tell whether handle_chinese_chars puts spaces around a character.

    Parameters as in :func:`is_bert_whitespace`.

    Examples
    --------
    >>> is_cjk("日"), is_cjk("の")
    (True, False)
    """
    return rule_set(rules).is_cjk(_code_point(ch))


def _code_point(ch: str) -> int:
    if not isinstance(ch, str):
        raise TypeError(f"ch: expected a str of one character, got {type(ch).__name__}")
    if len(ch) != 1:
        raise ValueError(f"ch: expected one character, got {len(ch)}: {ch[:20]!r}")
    return ord(ch)
