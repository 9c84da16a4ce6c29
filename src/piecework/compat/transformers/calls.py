"""What a call of a transformers tokenizer asks for, and how that is asked of a WordPieceTokenizer.

In come the keyword arguments that ``PreTrainedTokenizerBase`` hands on, strategies worked out; out
come the arguments of ``encode_batch``, the padding, and the names of the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from transformers import PreTrainedTokenizerBase
from transformers.tokenization_utils_base import TruncationStrategy
from transformers.utils import PaddingStrategy

from piecework.compat.transformers.columns import Padding
from piecework.protocol import as_int


@dataclass
class Call:
    """The arguments of one call.

    Attributes are named as in ``PreTrainedTokenizerBase._encode_plus`` and have its defaults.
    """

    add_special_tokens: bool = True
    padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD
    truncation_strategy: TruncationStrategy = TruncationStrategy.DO_NOT_TRUNCATE
    max_length: int | None = None
    stride: int = 0
    is_split_into_words: bool = False
    pad_to_multiple_of: int | None = None
    padding_side: Literal["right", "left"] | None = None
    return_tensors: Any = None
    return_token_type_ids: bool | None = None
    return_attention_mask: bool | None = None
    return_overflowing_tokens: bool = False
    return_special_tokens_mask: bool = False
    return_offsets_mapping: bool = False
    return_length: bool = False
    verbose: bool = True
    split_special_tokens: bool | None = None
    sanitize_control_tokens: bool = False

    @classmethod
    def read(cls, arguments: dict[str, Any]) -> Call:
        """Return the call with these arguments; others mean nothing, as in transformers.

        Raises
        ------
        NotImplementedError
            For ``sanitize_control_tokens``.
        """
        try:
            call = cls(**arguments)
        except TypeError:
            call = cls(**{name: arguments[name] for name in _NAMES & arguments.keys()})
        if call.sanitize_control_tokens:
            raise NotImplementedError("sanitize_control_tokens=True is not supported")
        return call

    def column_names(self, model_input_names: list[str]) -> list[str]:
        """Return the names of the columns, in the order of transformers."""
        asked = (
            ("token_type_ids", self.return_token_type_ids),
            ("attention_mask", self.return_attention_mask),
            ("special_tokens_mask", self.return_special_tokens_mask),
            ("offset_mapping", self.return_offsets_mapping),
            ("length", self.return_length),
        )
        return ["input_ids"] + [
            name
            for name, wanted in asked
            if (name in model_input_names if wanted is None else wanted)
        ]

    def encode_options(self, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
        """Return the arguments of ``WordPieceTokenizer.encode_batch``."""
        options: dict[str, Any] = {"add_special": self.add_special_tokens}
        if self.is_split_into_words:
            options["is_split_into_words"] = True
        split_special = self.split_special_tokens
        if tokenizer.split_special_tokens if split_special is None else split_special:
            options["split_special_tokens"] = True
        if self.truncation_strategy != TruncationStrategy.DO_NOT_TRUNCATE:
            options["max_length"] = self.max_length
            options["truncation"] = self.truncation_strategy.value
            options["truncation_side"] = tokenizer.truncation_side
            options["stride"] = self.stride
        if self.return_overflowing_tokens:
            options["return_overflow"] = True
        return options

    def padding(self, tokenizer: PreTrainedTokenizerBase) -> Padding | None:
        """Return how rows are filled up; None: not at all.

        Raises
        ------
        TypeError, ValueError
            For a number that is none or negative, and an unknown side.
        """
        if self.padding_strategy == PaddingStrategy.DO_NOT_PAD:
            return None
        side = tokenizer.padding_side if self.padding_side is None else self.padding_side
        if side not in ("right", "left"):
            raise ValueError(f"padding_side: expected 'right' or 'left', got {side!r}")
        length = multiple = None
        if self.padding_strategy == PaddingStrategy.MAX_LENGTH and self.max_length is not None:
            length = as_int("max_length", self.max_length, minimum=0)
        if self.pad_to_multiple_of is not None:
            multiple = as_int("pad_to_multiple_of", self.pad_to_multiple_of, minimum=0)
        return Padding(
            length,
            multiple or 1,
            side,
            tokenizer.pad_token_id,
            tokenizer.pad_token_type_id,
        )


_NAMES = {field.name for field in fields(Call)}
