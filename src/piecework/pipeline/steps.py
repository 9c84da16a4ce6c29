"""The steps of a tokenizer.json: which file has BERT's, and which others are supported."""

from __future__ import annotations

from typing import Any

from piecework.json_part import Part
from piecework.pipeline.normalizers import Normalize, make_normalizer
from piecework.pipeline.pre_tokenizers import PreTokenize, make_pre_tokenizer
from piecework.rules.rule_set import RuleSet, rule_set
from piecework.spec import Steps
from piecework.tokenizer_json.bert_normalizer import bert_flags


def check_steps(document: Part) -> Steps | None:
    """Return the steps of a tokenizer.json; None if they are BERT's.

    Parameters
    ----------
    document : Part
        The whole file; its keys ``normalizer`` and ``pre_tokenizer`` may be missing or null.

    Returns
    -------
    Steps or None
        None, if the options of a spec can express them: :func:`bert_flags_of` gives those.

    Raises
    ------
    UnsupportedTokenizerError
        For a step whose results piecework would not reproduce, naming its path in the file.
    ValueError
        For a step that is malformed.

    Examples
    --------
    >>> document = Part({"pre_tokenizer": {"type": "Whitespace"}}, "", "tokenizer.json")
    >>> check_steps(document)
    Steps(normalizer=None, pre_tokenizer={'type': 'Whitespace'})
    """
    if bert_flags_of(document) is not None:
        return None
    steps = Steps(document.optional("normalizer", dict), document.optional("pre_tokenizer", dict))
    try:
        _make(document, rule_set("huggingface"))
    except RecursionError:
        raise ValueError(f"{document.source}: its steps are nested too deeply") from None
    return steps


def bert_flags_of(document: Part) -> dict[str, Any] | None:
    """Return the options of a spec that a tokenizer.json's steps come to; None if none do.

    They are a BertNormalizer and a BertPreTokenizer, each perhaps alone in a Sequence. Parameters
    and errors as in :func:`check_steps`.

    Examples
    --------
    >>> flags = dict.fromkeys(("clean_text", "handle_chinese_chars", "lowercase"), True)
    >>> document = Part(
    ...     {
    ...         "normalizer": {"type": "BertNormalizer", **flags},
    ...         "pre_tokenizer": {"type": "BertPreTokenizer"},
    ...     },
    ...     "",
    ...     "tokenizer.json",
    ... )
    >>> bert_flags_of(document)["strip_accents"], bert_flags_of(document)["lowercase"]
    (None, True)
    """
    normalizer = _alone(document, "normalizer", "normalizers")
    pre_tokenizer = _alone(document, "pre_tokenizer", "pretokenizers")
    if normalizer is None or normalizer.value.get("type") != "BertNormalizer":
        return None
    if pre_tokenizer is None or pre_tokenizer.value.get("type") != "BertPreTokenizer":
        return None
    return bert_flags(normalizer)


def make_steps(steps: Steps, rules: RuleSet) -> tuple[Normalize, PreTokenize]:
    """Return the two functions that checked steps stand for."""
    document = {"normalizer": steps.normalizer, "pre_tokenizer": steps.pre_tokenizer}
    return _make(Part(document, "", "steps"), rules)


def drops_replacement(steps: Steps) -> bool:
    """Whether some normalizer of the steps drops U+FFFD, and so what stands for lone surrogates."""
    todo = [steps.normalizer] if steps.normalizer else []
    while todo:
        step = todo.pop()
        if step["type"] == "BertNormalizer" and step["clean_text"]:
            return True
        todo += step.get("normalizers", ()) if step["type"] == "Sequence" else ()
    return False


def _make(document: Part, rules: RuleSet) -> tuple[Normalize, PreTokenize]:
    return (
        make_normalizer(_part_or_none(document, "normalizer"), rules),
        make_pre_tokenizer(_part_or_none(document, "pre_tokenizer"), rules),
    )


def _part_or_none(document: Part, key: str) -> Part | None:
    return None if document.value.get(key) is None else document.part(key)


def _alone(document: Part, key: str, members: str) -> Part | None:
    """Return a step, or the only one of a Sequence that it is."""
    part = _part_or_none(document, key)
    while part is not None and part.value.get("type") == "Sequence":
        own = part.parts(members)
        part = own[0] if len(own) == 1 else None
    return part
