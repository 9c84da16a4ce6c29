"""Tokenizer as users of `tokenizers` call it: truncation and padding are its state.

It holds one immutable value: the tokenizer behind, truncation, padding. Calls read it once, setters
replace it. It checks arguments, hands texts on to a :class:`~piecework.WordPieceTokenizer`, and
gives the flat arrays that come back out as encodings.
"""

from __future__ import annotations

import threading
from asyncio import Future
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from piecework.compat.tokenizers import files, parts
from piecework.compat.tokenizers.added_token import AddedToken, new_token
from piecework.compat.tokenizers.arguments import U32, checked, unsigned, without_unknown
from piecework.compat.tokenizers.behind import Behind
from piecework.compat.tokenizers.calls import (
    decode_rows,
    encode_groups,
    in_background,
    post_processed,
)
from piecework.compat.tokenizers.encoding import Encoding
from piecework.compat.tokenizers.inputs import Group, groups, one_group
from piecework.compat.tokenizers.one_row import AtOnce
from piecework.compat.tokenizers.rows import Call
from piecework.compat.tokenizers.state import Padding, State, Truncation
from piecework.tokenizer import WordPieceTokenizer

_PADDING_OPTIONS = (
    "direction",
    "pad_to_multiple_of",
    "pad_id",
    "pad_type_id",
    "pad_token",
    "length",
)
_FEW = 4  # texts that are encoded one by one in less time than a batch takes to begin


class Tokenizer:
    """A tokenizer that truncates and pads as it was last told to.

    Parameters
    ----------
    model : WordPieceTokenizer
        It is not changed, and can be shared.

    Notes
    -----
    Copies and pickles keep truncation, padding and `encode_special_tokens`.
    Thread-safety: a call sees the state as it was when the call began. Threads that need different
    truncation use copies (`copy.copy`), which share what is big.

    Examples
    --------
    >>> from piecework import WordPieceTokenizer
    >>> tokenizer = Tokenizer(WordPieceTokenizer.from_pretrained("bert-base-uncased"))
    >>> tokenizer.enable_truncation(max_length=4)
    >>> tokenizer.enable_padding(length=6)
    >>> [encoding.ids for encoding in tokenizer.encode_batch(["Hello big world", "Hi"])]
    [[101, 7592, 2502, 102, 0, 0], [101, 7632, 102, 0, 0, 0]]
    """

    def __init__(self, model: WordPieceTokenizer) -> None:
        if not isinstance(model, WordPieceTokenizer):
            raise TypeError(
                "model: expected a piecework.WordPieceTokenizer, got "
                f"{type(model).__name__}; from_file, from_str and from_pretrained read others"
            )
        self._begin(State(Behind(model)))

    def _begin(self, state: State) -> None:
        self._state = state
        self._writing = threading.Lock()  # two setters at once: no change is lost
        self._known_at_once: tuple[State, dict[tuple[bool, bool], AtOnce | None]] = state, {}

    @classmethod
    def _with(cls, state: State) -> Tokenizer:
        tokenizer = cls.__new__(cls)
        tokenizer._begin(state)
        return tokenizer

    @staticmethod
    def from_file(path: str) -> Tokenizer:
        """Read a tokenizer.json; its truncation and padding are on."""
        return Tokenizer._with(files.read(Path(checked("path", path, str))))

    @staticmethod
    def from_str(json: str) -> Tokenizer:
        """Read the text of a tokenizer.json."""
        return Tokenizer._with(files.read_text(checked("json", json, str)))

    @staticmethod
    def from_buffer(buffer: bytes) -> Tokenizer:
        """Read the UTF-8 text of a tokenizer.json."""
        return Tokenizer._with(files.read_text(checked("buffer", buffer, bytes).decode()))

    @staticmethod
    def from_pretrained(
        identifier: str, revision: str = "main", token: str | None = None
    ) -> Tokenizer:
        """Load a model's tokenizer: a folder, or a name on the Hugging Face Hub.

        See :meth:`piecework.WordPieceTokenizer.from_pretrained`.
        """
        return Tokenizer._with(files.load(checked("identifier", identifier, str), revision, token))

    def save(self, path: str, pretty: bool = True) -> None:
        """Write a tokenizer.json, with truncation and padding; atomic."""
        files.write(self._state, checked("path", path, str), checked("pretty", pretty, bool))

    def to_str(self, pretty: bool = False) -> str:
        """Return the text of the tokenizer.json."""
        return files.text(self._state, checked("pretty", pretty, bool))

    @property
    def tokenizer(self) -> WordPieceTokenizer:
        """The tokenizer behind, with the tokens that were added."""
        return self._state.behind.tokenizer

    # ---- state ----

    def _change(self, **changes: Any) -> None:
        with self._writing:
            self._state = replace(self._state, **changes)

    @property
    def truncation(self) -> dict[str, Any] | None:
        """What `enable_truncation` has set, or None."""
        truncation = self._state.truncation
        return None if truncation is None else truncation.options()

    def enable_truncation(
        self,
        max_length: int,
        *,
        stride: int = 0,
        strategy: str = "longest_first",
        direction: str = "right",
    ) -> None:
        """Cut texts to `max_length` tokens, special ones included.

        Raises
        ------
        ValueError
            For a `stride` greater than what is left of `max_length` beside the special tokens.
        """
        truncation = Truncation.from_options(max_length, stride, strategy, direction)
        self._state.behind.check_stride(truncation.max_length, truncation.stride)
        self._change(truncation=truncation)

    def no_truncation(self) -> None:
        """Don't truncate."""
        self._change(truncation=None)

    @property
    def padding(self) -> dict[str, Any] | None:
        """What `enable_padding` has set, or None."""
        padding = self._state.padding
        return None if padding is None else padding.options()

    def enable_padding(self, **options: Any) -> None:
        """Fill rows up to the same length.

        Parameters
        ----------
        direction : "right" or "left"
        pad_to_multiple_of : int, optional
        pad_id, pad_type_id : int
        pad_token : str
        length : int, optional
            By default that of the longest row of a batch.
        """
        known = without_unknown("enable_padding", options, _PADDING_OPTIONS)
        self._change(padding=Padding.from_options(known))

    def no_padding(self) -> None:
        """Don't pad."""
        self._change(padding=None)

    @property
    def encode_special_tokens(self) -> bool:
        """Whether special tokens typed in a text are read as plain text."""
        return self._state.encode_special_tokens

    @encode_special_tokens.setter
    def encode_special_tokens(self, value: bool) -> None:
        self._change(encode_special_tokens=checked("encode_special_tokens", value, bool))

    # ---- encoding ----

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Return the encoding of a text or of a pair.

        Parameters
        ----------
        sequence, pair : str, or a list of words
            Words where `is_pretokenized` is set.
        is_pretokenized, add_special_tokens : bool
        """
        encoding = self._encode_at_once(sequence, pair, is_pretokenized, add_special_tokens)
        if encoding is not None:
            return encoding
        return self._one(sequence, pair, is_pretokenized, add_special_tokens)()

    def _encode_at_once(
        self, text: object, pair: object, is_pretokenized: bool, add_special: bool
    ) -> Encoding | None:
        """Return the encoding of what is quickly done; None for all else, errors included."""
        if (
            isinstance(text, str)
            and (pair is None or isinstance(pair, str))
            and is_pretokenized is False
            and isinstance(add_special, bool)
            and (at_once := self._at_once(add_special, pair is not None)) is not None
            and (row := at_once.encode(text, pair)) is not None
        ):
            return Encoding._view(row, 0)
        return None

    def _at_once(self, add_special: bool, is_pair: bool) -> AtOnce | None:
        """Return what encodes single texts or pairs in the state as it is."""
        state, known = self._known_at_once
        if state is not self._state:
            state, known = self._known_at_once = self._state, {}
        if (add_special, is_pair) not in known:
            known[add_special, is_pair] = AtOnce.of(state, add_special, is_pair)
        return known[add_special, is_pair]

    def encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the encodings of texts and of pairs (tuples or lists of two texts)."""
        if isinstance(input, list) and len(input) <= _FEW:
            options = is_pretokenized, add_special_tokens
            with suppress(UnicodeEncodeError):  # the error of a batch names the row
                found = [self._encode_at_once(item, None, *options) for item in input]
                encodings = [each for each in found if each is not None]
                if len(encodings) == len(input):
                    return encodings
        return self._many(input, is_pretokenized, add_special_tokens)()

    def encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the same without offsets, word ids and strings: (0, 0), None and ""."""
        return self._many(input, is_pretokenized, add_special_tokens, has_offsets=False)()

    def async_encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Future[Encoding]:
        """Return what `encode` does, without stopping other coroutines."""
        call = self._one(sequence, pair, is_pretokenized, add_special_tokens)
        return in_background(call)

    def async_encode_batch(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Future[list[Encoding]]:
        """Return what `encode_batch` does, without stopping other coroutines."""
        return in_background(self._many(input, is_pretokenized, add_special_tokens))

    def async_encode_batch_fast(
        self, input: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Future[list[Encoding]]:
        """Return what `encode_batch_fast` does, without stopping other coroutines."""
        call = self._many(input, is_pretokenized, add_special_tokens, has_offsets=False)
        return in_background(call)

    def _one(
        self, sequence: Any, pair: Any, is_pretokenized: bool, add_special_tokens: bool
    ) -> Callable[[], Encoding]:
        call = self._call(is_pretokenized, add_special_tokens)
        group = one_group(sequence, pair, is_pretokenized=is_pretokenized)
        return lambda: encode_groups(call, [group])[0]

    def _many(
        self,
        batch: Sequence[Any],
        is_pretokenized: bool,
        add_special_tokens: bool,
        has_offsets: bool = True,
    ) -> Callable[[], list[Encoding]]:
        call = self._call(is_pretokenized, add_special_tokens, has_offsets)
        found: list[Group] = groups(batch, is_pretokenized=is_pretokenized)
        return lambda: encode_groups(call, found)

    def _call(
        self, is_pretokenized: bool, add_special_tokens: bool, has_offsets: bool = True
    ) -> Call:
        return Call(
            self._state,
            checked("add_special_tokens", add_special_tokens, bool),
            checked("is_pretokenized", is_pretokenized, bool),
            has_offsets,
        )

    def post_process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return encodings of a text or of a pair truncated, in the template, and padded."""
        add_special = checked("add_special_tokens", add_special_tokens, bool)
        return post_processed(self._state, parts.columns_of(encoding, pair), add_special)

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens the template adds to a text or to a pair."""
        return self._state.behind.n_special(checked("is_pair", is_pair, bool))

    # ---- decoding ----

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids; those that no token has are left out."""
        return decode_rows(self._state, [ids], skip_special_tokens)[0]

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the texts of rows of ids; those that no token has are left out."""
        return decode_rows(self._state, sequences, skip_special_tokens)

    def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> Future[list[str]]:
        """Return what `decode_batch` does, without stopping other coroutines."""
        state = self._state
        return in_background(lambda: decode_rows(state, sequences, skip_special_tokens))

    # ---- vocabulary ----

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token; None, if there is no such token."""
        return self._state.behind.token_to_id(checked("token", token, str))

    def id_to_token(self, id: int) -> str | None:
        """Return the token of an id; None, if no token has it."""
        return self._state.behind.id_to_token(unsigned("id", id, U32))

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        """Return tokens and ids."""
        if checked("with_added_tokens", with_added_tokens, bool):
            return self._state.behind.vocab()
        return dict(self._state.behind.spec.vocabulary.ids)

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens."""
        return self._state.behind.n_tokens(checked("with_added_tokens", with_added_tokens, bool))

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Return the added tokens by id, in the order of their ids."""
        added = self._state.behind.added_tokens
        return {id_: AddedToken._of(token) for id_, token in added.items()}

    def add_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add tokens that are looked for in texts; return how many were new or changed."""
        return self._add(tokens, special=False)

    def add_special_tokens(self, tokens: list[str | AddedToken]) -> int:
        """Add special tokens, which decoding leaves out; return how many were new or changed."""
        return self._add(tokens, special=True)

    def _add(self, tokens: list[str | AddedToken], special: bool) -> int:
        wanted = [new_token(token, special) for token in checked("tokens", tokens, list)]
        with self._writing:
            behind, n_added = self._state.behind.with_tokens(wanted)
            self._state = replace(self._state, behind=behind)
        return n_added

    # ---- parts ----

    normalizer = parts.PartOf("The step that cleans texts, to look at; None, if there is none.")
    pre_tokenizer = parts.PartOf("The step that splits texts into words; None, if there is none.")
    post_processor = parts.PartOf("The step that adds special tokens; None, if there is none.")
    decoder = parts.PartOf("The step that makes text of tokens; None, if there is none.")
    model = parts.PartOf("The step that cuts words into pieces.")

    def train(self, files: Sequence[str], trainer: Any = None) -> NoReturn:
        """Not there yet."""
        _refuse_training("train")

    def train_from_iterator(
        self, iterator: Any, trainer: Any = None, length: int | None = None
    ) -> NoReturn:
        """Not there yet."""
        _refuse_training("train_from_iterator")

    def __copy__(self) -> Tokenizer:
        return self._with(self._state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tokenizer:
        return self._with(self._state)  # it is immutable

    def __getstate__(self) -> bytes:
        return self.to_str().encode()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._with, (self._state,)

    def __repr__(self) -> str:
        behind = self._state.behind
        return (
            f"Tokenizer(truncation={self.truncation}, padding={self.padding}, "
            f"added_tokens={len(behind.added_tokens)}, normalizer={self.normalizer}, "
            f"pre_tokenizer={self.pre_tokenizer}, post_processor={self.post_processor}, "
            f"decoder={self.decoder}, model={self.model})"
        )


def _refuse_training(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: training comes with the next milestone of piecework; until then train with "
        "tokenizers, save, and read the file with from_file"
    )
