"""The encodings of a BatchEncoding, made when they are first asked for.

They answer ``word_ids``, ``char_to_token`` and the like. Most callers never ask, so a call keeps
what is needed to encode its texts once more, with all details.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple, overload

from piecework.compat.tokenizers import Encoding, Tokenizer
from piecework.compat.transformers.columns import Padding
from piecework.compat.transformers.inputs import Inputs


class Encodings(Sequence[Encoding]):
    """One encoding for each row, padding included.

    Parameters
    ----------
    n_rows : int
    make : callable
        Returns them. Called when the first one is asked for.

    Notes
    -----
    Pickled as a list. Thread-safety: two threads that ask first at once get equal ones.
    """

    def __init__(self, n_rows: int, make: Callable[[], list[Encoding]]) -> None:
        self._n_rows = n_rows
        self._make: Callable[[], list[Encoding]] | None = make
        self._made: list[Encoding] = []

    def __len__(self) -> int:
        return self._n_rows

    @overload
    def __getitem__(self, index: int) -> Encoding: ...
    @overload
    def __getitem__(self, index: slice) -> list[Encoding]: ...
    def __getitem__(self, index: int | slice) -> Encoding | list[Encoding]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Encoding]:
        return iter(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._all(),)

    def __repr__(self) -> str:
        return f"Encodings({self._n_rows} rows)"

    def _all(self) -> list[Encoding]:
        make = self._make
        if make is not None:
            self._made = make()
            self._make = None  # the texts are let go
        return self._made


class Request(NamedTuple):
    """What makes the encodings of a call.

    Attributes
    ----------
    backend : Tokenizer
        As it was when the call was made, and nobody else's.
    inputs : Inputs
        They are nobody else's either.
    options : mapping
        The arguments of ``WordPieceTokenizer.encode_batch``.
    padding : Padding or None
    """

    backend: Tokenizer
    inputs: Inputs
    options: Mapping[str, Any]
    padding: Padding | None

    def make(self) -> list[Encoding]:
        """Encode the texts with all details."""
        texts, pairs = self.inputs.texts, self.inputs.pairs
        encodings = self._facade().encode_batch(
            list(texts) if pairs is None else list(zip(texts, pairs, strict=True)),
            is_pretokenized=self.options.get("is_split_into_words", False),
            add_special_tokens=self.options["add_special"],
        )
        if not self.options.get("return_overflow"):
            return encodings
        return [row for each in encodings for row in (each, *each.overflowing)]

    def _facade(self) -> Tokenizer:
        """Return a tokenizer that truncates and pads as the call did."""
        facade, options = copy(self.backend), self.options
        facade.encode_special_tokens = options.get("split_special_tokens", False)
        facade.no_truncation()
        if "max_length" in options:
            facade.enable_truncation(
                options["max_length"],
                strategy=options["truncation"],
                direction=options["truncation_side"],
                stride=options["stride"],
            )
        facade.no_padding()
        if self.padding is not None:
            pad_token = facade.id_to_token(self.padding.pad_id)
            facade.enable_padding(**self.padding.as_options(), pad_token=pad_token)
        return facade
