"""The texts of a call to a batch of tokens, with the errors of transformers' arguments.

In come the rows of a call and the arguments of ``encode_batch``, out comes the batch. What
``encode_batch`` knows nothing of is done here: that transformers minds `stride` only where a text
is cut, and that its texts are arguments of other names.
"""

from __future__ import annotations

from typing import Any, NoReturn

from piecework import Batch, WordPieceTokenizer
from piecework.compat.transformers.inputs import Inputs, check_texts
from piecework.protocol import as_int


def encode(
    tokenizer: WordPieceTokenizer, inputs: Inputs, options: dict[str, Any]
) -> tuple[Batch, dict[str, Any]]:
    """Return the batch, and the options with which ``encode_batch`` gives it.

    Parameters
    ----------
    tokenizer : WordPieceTokenizer
    inputs : Inputs
    options : dict
        The arguments of ``encode_batch``.

    Raises
    ------
    TypeError
        For a text that is none, with its place in the arguments of the call.
    ValueError
        As ``encode_batch``; for a `stride` only where the reference fails too.
    """
    texts, pairs = inputs.texts, inputs.pairs
    try:
        if options.get("stride"):
            options = _without_idle_stride(tokenizer, inputs, options)
        return tokenizer.encode_batch(texts, pairs, **options), options
    except TypeError:
        check_texts(inputs, options.get("is_split_into_words", False))
        raise


def _without_idle_stride(
    tokenizer: WordPieceTokenizer, inputs: Inputs, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the options with a stride only where windows need it, after a look if it can work.

    The reference first compares it with the room beside the special tokens of a single text,
    whatever the texts are, and then with what stays of each text that is cut.
    """
    max_length = as_int("max_length", options["max_length"], minimum=0)
    stride = as_int("stride", options["stride"], minimum=0)
    room_of_single = max_length - _n_special(tokenizer, is_pair=False)
    if stride > room_of_single >= 0:
        _refuse(stride, max_length, room_of_single)
    room = max_length
    if options["add_special"]:
        room -= _n_special(tokenizer, is_pair=inputs.pairs is not None)
    if stride >= room:
        options = {**options, "stride": 0}  # no window can have it, so that nothing may be cut
        batch = _all_windows(tokenizer, inputs, options)
        if room > 0 and len(batch) > len(inputs.texts):
            _refuse(stride, max_length, room)
    elif not options.get("return_overflow"):
        _all_windows(tokenizer, inputs, options)  # raises for a text that is cut shorter
        options = {**options, "stride": 0}
    return options


def _all_windows(tokenizer: WordPieceTokenizer, inputs: Inputs, options: dict[str, Any]) -> Batch:
    options = {**options, "return_overflow": True, "return_details": False}
    return tokenizer.encode_batch(inputs.texts, inputs.pairs, **options)


def _n_special(tokenizer: WordPieceTokenizer, *, is_pair: bool) -> int:
    return 0 if tokenizer.spec.template is None else tokenizer.num_special_tokens(is_pair)


def _refuse(stride: int, max_length: int, room: int) -> NoReturn:
    raise ValueError(
        f"stride={stride}: expected less than the {room} tokens of a text that "
        f"max_length={max_length} leaves room for beside special tokens"
    )
