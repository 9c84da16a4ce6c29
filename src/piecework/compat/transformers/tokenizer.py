"""PieceworkTokenizer: what transformers asks of a tokenizer, answered by a WordPieceTokenizer.

It reads and writes files and keeps settings as ``PreTrainedTokenizerFast`` does, whose methods it
inherits where they only rearrange, or ask the backend, which is a facade here. All that is about
tokens is done by an immutable :class:`~piecework.WordPieceTokenizer`: a call takes its options as
arguments and leaves nothing behind, and adding tokens puts another one in its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, NoReturn, cast

import numpy as np
from tokenizers.models import WordPiece
from transformers import (
    AddedToken,
    BatchEncoding,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from piecework import Batch, WordPieceTokenizer
from piecework.compat.tokenizers import Tokenizer
from piecework.compat.transformers import columns, loading
from piecework.compat.transformers.calls import Call
from piecework.compat.transformers.decode import decode, holds_rows
from piecework.compat.transformers.encode import encode
from piecework.compat.transformers.encodings import Encodings, Request
from piecework.compat.transformers.inputs import read_inputs
from piecework.compat.transformers.lookup import Lookup, Lookups
from piecework.compat.transformers.special_tokens import (
    facade_token,
    flags_of,
    tokens_to_add,
    with_template,
)
from piecework.errors import short_repr

_SOURCES = ("tokenizer_object", "tokenizer_file", "vocab", "vocab_file")
_RARE = {"text_target", "text_pair_target", "tokenizer_kwargs"}
_EMBEDDED = "bert-base-uncased"
_EMBEDDED_MAX_LENGTH = 512  # the positions that the model has


class PieceworkTokenizer(PreTrainedTokenizerFast):  # type: ignore[misc]  # Any without transformers
    """A WordPiece tokenizer of transformers, with the columns of ``BertTokenizer``.

    Parameters
    ----------
    vocab : mapping of str to int, or path of a vocab.txt, optional
    *args
        What ``BertTokenizer`` takes in this order: `do_lower_case`, `unk_token`, `sep_token`,
        `pad_token`, `cls_token`, `mask_token`, `tokenize_chinese_chars`, `strip_accents`.
    tokenizer_object : WordPieceTokenizer or tokenizers.Tokenizer, optional
        Instead of `vocab`.
    tokenizer_file, vocab_file : path, optional
        A tokenizer.json or a vocab.txt: what :meth:`from_pretrained` finds in a folder.
    do_lower_case, strip_accents, tokenize_chinese_chars : bool, optional
        By default as the file says, and as BERT does for a vocabulary. They mean nothing for a
        tokenizer.json with another normalizer than BERT's.
    **kwargs
        Those of ``PreTrainedTokenizerBase``: special tokens, `model_max_length`, `padding_side` and
        so on. A special token that the vocabulary lacks is added; `cls_token` and `sep_token` are
        put around texts, where the template is BERT's, and `unk_token` is what an unknown word
        becomes, which has to be in the vocabulary.

    Raises
    ------
    TypeError, ValueError
        As for :class:`~piecework.WordPieceTokenizer` and the readers of files.

    Notes
    -----
    What differs from ``BertTokenizer`` on purpose is in docs/compat-transformers.md.

    Thread-safety: calls, with whatever options, from any number of threads. Not while tokens are
    added or attributes are set.

    Examples
    --------
    >>> tokenizer = PieceworkTokenizer.from_pretrained("bert-base-uncased")
    >>> batch = tokenizer(["Hello!", "unaffable"], padding=True, return_tensors="np")
    >>> batch["input_ids"]
    array([[  101,  7592,   999,   102,     0],
           [  101, 14477, 20961,  3468,   102]])
    """

    # As class attributes, which is where transformers looks for them.
    vocab_files_names: ClassVar = {"vocab_file": "vocab.txt", "tokenizer_file": "tokenizer.json"}
    model_input_names: ClassVar = loading.BERT_INPUT_NAMES
    model: ClassVar = WordPiece

    def __init__(self, vocab: Any = None, *args: Any, **kwargs: Any) -> None:
        kwargs = loading.with_positional(args, kwargs)
        source = {"vocab": vocab, **{name: kwargs.pop(name, None) for name in _SOURCES[:2]}}
        source["vocab_file"] = kwargs.pop("vocab_file", None)
        options = {name: kwargs.pop(name) for name in loading.FLAGS if name in kwargs}
        self._lookups = Lookups()
        # Named as in transformers, whose pipelines read it.
        self._tokenizer = Tokenizer(loading.make_tokenizer(source, options, kwargs))
        file = source["tokenizer_file"] or source["vocab_file"]
        decoder = kwargs.pop("added_tokens_decoder", None) or {}
        settings = {**loading.default_settings(self.wordpiece.spec, file), **kwargs}
        # Not that of PreTrainedTokenizerFast, which makes a tokenizer of the tokenizers library.
        super(PreTrainedTokenizerFast, self).__init__(**settings)
        self.add_prefix_space = settings.get("add_prefix_space", False)
        if source["vocab_file"] is not None:
            self.vocab_file = source["vocab_file"]
        for name in loading.FLAGS:
            setattr(self, name, settings.get(name))
        named = [token for token in self._special_tokens_map.values() if token is not None]
        missing = tokens_to_add(
            self.added_tokens_decoder, named, self._extra_special_tokens, decoder
        )
        if missing:
            self.add_tokens(missing)
        self._tokenizer = Tokenizer(with_template(self.wordpiece, kwargs))

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str], *args: Any, **kwargs: Any
    ) -> PieceworkTokenizer:
        """Load a model's tokenizer, from a folder, the cache of the Hub, or the Hub.

        Parameters
        ----------
        pretrained_model_name_or_path : str or path
            As for ``AutoTokenizer.from_pretrained``. ``"bert-base-uncased"`` comes with piecework,
            where there is no folder of that name and no revision or cache is named.
        *args, **kwargs
            As for ``PreTrainedTokenizerBase.from_pretrained`` (`cache_dir`, `revision`,
            `subfolder`, `local_files_only`, ...), the rest as for the class.

        Raises
        ------
        OSError
            There is no such folder, and the Hub is out of reach or has no such model.
        ValueError
            The tokenizer is not WordPiece, or a file is malformed.
        """
        is_embedded = pretrained_model_name_or_path == _EMBEDDED and not Path(_EMBEDDED).is_dir()
        if is_embedded and not args and not {"revision", "cache_dir", "subfolder"} & kwargs.keys():
            for name in ("local_files_only", "token", "force_download", "trust_remote_code"):
                kwargs.pop(name, None)  # there is nothing to fetch
            kwargs.setdefault("model_max_length", _EMBEDDED_MAX_LENGTH)
            return cls(
                tokenizer_object=WordPieceTokenizer.from_pretrained(_EMBEDDED),
                name_or_path=_EMBEDDED,
                **kwargs,
            )
        loaded = super().from_pretrained(pretrained_model_name_or_path, *args, **kwargs)
        return cast("PieceworkTokenizer", loaded)

    @classmethod
    def convert_to_native_format(cls, **kwargs: Any) -> dict[str, Any]:
        """Refuse a place without files, before the constructor misses them."""
        if not any(kwargs.get(name) is not None for name in _SOURCES):
            raise FileNotFoundError(
                f"{kwargs.get('name_or_path')}: expected a folder, or a model in the cache or on "
                "the Hub, with tokenizer.json or vocab.txt"
            )
        return kwargs

    @property
    def wordpiece(self) -> WordPieceTokenizer:
        """The tokenizer that does the work, as it is now: adding tokens makes another one."""
        return self._tokenizer.tokenizer

    @property
    def backend_tokenizer(self) -> Tokenizer:
        """The same as a ``tokenizers.Tokenizer``: tokens that are added to it are added here."""
        return self._tokenizer

    # ---- special tokens ----

    # Each call asks for these two; PreTrainedTokenizerBase gives them too, from __getattr__.
    @property
    def pad_token(self) -> str | None:
        """The token to fill rows up with; None: none."""
        token = self._special_tokens_map["pad_token"]
        return self.__getattr__("pad_token") if token is None else str(token)

    @property
    def pad_token_id(self) -> int | None:
        """Its id."""
        token = self._special_tokens_map["pad_token"]
        return self._convert_token_to_id_with_added_voc(str(token)) if token else None

    # ---- vocabulary ----

    @property
    def vocab_size(self) -> int:
        """The number of tokens of the vocabulary, without those that were added to it."""
        return len(self.wordpiece.spec.vocabulary.ids)

    def __len__(self) -> int:
        return self._lookup.n_tokens

    @property
    def _lookup(self) -> Lookup:
        tokenizer, last = self._tokenizer.tokenizer, self._lookups.last
        if last is None or last.tokenizer is not tokenizer:
            return self._lookups.renew(tokenizer)
        return last

    def get_vocab(self) -> dict[str, int]:
        """Return the tokens and their ids, added ones included."""
        return self.wordpiece.vocab

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens, special ones among them, by id."""
        return {
            token.id: AddedToken(token.content, **flags_of(token))
            for token in self.wordpiece.spec.added_tokens
        }

    def _add_tokens(
        self, new_tokens: Sequence[str | AddedToken], special_tokens: bool = False
    ) -> int:
        backend = self._tokenizer
        add = backend.add_special_tokens if special_tokens else backend.add_tokens
        n_added: int = add([facade_token(token) for token in new_tokens])
        return n_added

    def convert_tokens_to_ids(self, tokens: str | Sequence[str]) -> int | list[int] | None:
        """Return the id of a token, or those of many; of one that is not there, the unk token's."""
        if isinstance(tokens, str):
            id_ = self._lookup.ids.get(tokens)
            return self.unk_token_id if id_ is None else id_
        tokens = list(tokens)
        ids: list[Any] = list(map(self._lookup.ids.get, tokens))
        if None not in ids:
            return ids
        for i, token in enumerate(tokens):
            if not isinstance(token, str):
                raise TypeError(f"tokens[{i}]: expected a str, got {short_repr(token)}")
        unk_id = self.unk_token_id
        return [unk_id if id_ is None else id_ for id_ in ids]

    def _convert_token_to_id_with_added_voc(self, token: str) -> int | None:
        return cast("int | None", self.convert_tokens_to_ids(token))

    def convert_ids_to_tokens(
        self, ids: int | Sequence[int], skip_special_tokens: bool = False
    ) -> str | list[str | None] | None:
        """Return the token of an id, or those of many; None for an id that no token has.

        Raises
        ------
        OverflowError
            For a negative id.
        """
        tokens = self._lookup.tokens
        if isinstance(ids, int):
            return tokens[ids] if ids in tokens else tokens.get(_checked_id(ids))
        plain = list(map(int, ids))
        _checked_id(min(plain, default=0))
        skipped = set(self.all_special_ids) if skip_special_tokens else ()
        return [tokens.get(id_) for id_ in plain if id_ not in skipped]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Return the number of tokens that the template adds to a text, or to a pair."""
        return self.wordpiece.num_special_tokens(pair)

    # ---- encoding ----

    @wraps(PreTrainedTokenizerBase.__call__)
    def __call__(
        self, text: Any = None, text_pair: Any = None, *args: Any, **kwargs: Any
    ) -> BatchEncoding:
        """Encode texts; the arguments are those of ``PreTrainedTokenizerBase``."""
        if args or text is None or not _RARE.isdisjoint(kwargs):
            return super().__call__(text, text_pair, *args, **kwargs)
        # What the method above does for the rest, in a third of the time.
        padding, truncation, max_length, _ = self._get_padding_truncation_strategies(
            kwargs.pop("padding", False),
            kwargs.pop("truncation", None),
            kwargs.pop("max_length", None),
            kwargs.get("pad_to_multiple_of"),
            kwargs.get("verbose", True),
        )
        return self._encode_plus(
            text,
            text_pair,
            padding_strategy=padding,
            truncation_strategy=truncation,
            max_length=max_length,
            **kwargs,
        )

    @wraps(PreTrainedTokenizerBase.encode)
    def encode(self, text: Any = None, *args: Any, **kwargs: Any) -> list[int]:
        """Return the ids of a text; the arguments are those of ``PreTrainedTokenizerBase``."""
        if type(text) is str and not (args or kwargs or self.split_special_tokens):
            ids = self.wordpiece.encode(text, add_special=True)
            if len(ids) <= self.model_max_length:  # if not, there is a warning
                return ids
        return cast("list[int]", super().encode(text, *args, **kwargs))

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """Return the tokens of a text, or of a pair of texts.

        Parameters
        ----------
        text, pair : str
        add_special_tokens : bool
        **kwargs
            ``split_special_tokens`` and what else is about tokens; truncation is not.
        """
        is_plain = type(text) is str and pair is None and not (add_special_tokens or kwargs)
        if is_plain and self._lookup.has_one_string_for_each_id and not self.split_special_tokens:
            ids = self.wordpiece.encode(text)
            return cast("list[str]", list(map(self._lookup.tokens.__getitem__, ids)))
        encoded = self._encode_plus(
            text, text_pair=pair, add_special_tokens=add_special_tokens, **kwargs
        )
        return cast("list[str]", encoded.tokens())

    def _encode_plus(self, text: Any, text_pair: Any = None, **kwargs: Any) -> BatchEncoding:
        """Encode what `__call__` was given; `kwargs` are the fields of a `Call`."""
        call = Call.read(kwargs)
        inputs = read_inputs(text, text_pair, call.is_split_into_words)
        names, padding = call.column_names(self.model_input_names), call.padding(self)
        options = call.encode_options(self)
        options["return_details"] = self._needs_details(names, inputs.pairs is not None)
        batch, options = encode(self.wordpiece, inputs, options)
        is_list = call.return_tensors is None
        make = columns.lists if is_list else columns.arrays
        data: dict[str, Any] = make(batch, names, padding)
        if call.return_overflowing_tokens:
            samples: Any = batch.overflow_to_sample
            data["overflow_to_sample_mapping"] = samples.tolist() if is_list else samples
        elif is_list and not inputs.is_batched:
            data = {name: _of_one_row(column) for name, column in data.items()}
        if call.max_length is None:
            self._warn_of_length(batch, call.verbose)
        if not is_list:
            data = columns.as_tensors(data, call.return_tensors)
        request = Request(copy(self._tokenizer), inputs, options, padding)
        encodings = Encodings(len(batch), request.make)
        n_sequences = None if not len(batch) else 1 if inputs.pairs is None else 2
        result = BatchEncoding(None, encodings, n_sequences=n_sequences)
        result.data = data  # as it is: the constructor would copy it key by key
        return result

    def _needs_details(self, names: Sequence[str], has_pairs: bool) -> bool:
        if "special_tokens_mask" in names or "offset_mapping" in names:
            return True
        # The type ids of single texts are nearly always 0, and then nobody has to write them.
        template = self.wordpiece.spec.template
        return not (has_pairs or template is None) and any(
            piece.type_id for piece in template.single
        )

    def _warn_of_length(self, batch: Batch, verbose: bool) -> None:
        limit = self.model_max_length
        if verbose and len(batch) and batch.lengths.max() > limit:
            first = batch[int(np.argmax(batch.lengths > limit))]
            self._eventual_warn_about_too_long_sequence(first, None, verbose)

    def train_new_from_iterator(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not there yet."""
        raise NotImplementedError("train_new_from_iterator: piecework does not train yet")

    # ---- decoding ----

    def decode(
        self, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any
    ) -> str | list[str]:
        """Return the text of ids, or the texts of rows of ids.

        Parameters
        ----------
        token_ids : int, sequence of int, array or tensor, or rows of them
            Ids that no token has are left out.
        skip_special_tokens : bool
        **kwargs
            ``clean_up_tokenization_spaces``: by default as the attribute of that name.

        Raises
        ------
        OverflowError
            For a negative id.
        """
        if isinstance(token_ids, Mapping):
            token_ids = token_ids["input_ids"]
        decoded = decode(self.wordpiece, token_ids, skip_special_tokens)
        clean_up = kwargs.get("clean_up_tokenization_spaces")
        if not (self.clean_up_tokenization_spaces if clean_up is None else clean_up):
            return decoded
        clean = self.clean_up_tokenization
        return clean(decoded) if isinstance(decoded, str) else list(map(clean, decoded))

    @wraps(PreTrainedTokenizerBase.batch_decode)
    def batch_decode(self, sequences: Any, *args: Any, **kwargs: Any) -> list[str]:
        """Return the texts of rows of ids; the arguments are those of `decode`."""
        if args or not holds_rows(sequences):
            return cast("list[str]", super().batch_decode(sequences, *args, **kwargs))
        # What the method above does, without looking at each id.
        return cast("list[str]", self.decode(sequences, **kwargs))

    # ---- files ----

    def save_vocabulary(
        self, save_directory: str | os.PathLike[str], filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write a vocab.txt.

        Raises
        ------
        ValueError
            For a vocabulary that it can't hold, see
            :meth:`piecework.WordPieceTokenizer.save_vocab`.
        """
        path = _prefixed(save_directory, filename_prefix, "vocab.txt")
        self.wordpiece.save_vocab(path)
        return (path,)

    def _save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        file_names: tuple[str, ...],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
    ) -> tuple[str, ...]:
        """Write a tokenizer.json, and with `legacy_format` a vocab.txt beside it."""
        _name_class(Path(file_names[0]))
        path = _prefixed(save_directory, filename_prefix, "tokenizer.json")
        self.wordpiece.save(path)
        written = (*file_names, path)
        if legacy_format:
            written += self.save_vocabulary(save_directory, filename_prefix)
        return written


def _name_class(config: Path) -> None:
    """Have a configuration name a class that reads the tokenizer.json, where piecework is not."""
    document = json.loads(config.read_text("utf-8"))
    document["tokenizer_class"] = "PreTrainedTokenizerFast"
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    config.write_text(f"{text}\n", "utf-8")


def _of_one_row(column: list[Any]) -> Any:
    return column[0] if column and isinstance(column[0], list) else column


def _prefixed(folder: str | os.PathLike[str], prefix: str | None, name: str) -> str:
    return str(Path(folder, f"{prefix}-{name}" if prefix else name))


def _checked_id(id_: int) -> int:
    if id_ < 0:
        raise OverflowError(f"expected ids from 0 on, got {id_}")
    return id_
