"""BertWordPieceTokenizer: a Tokenizer made of a vocabulary and BERT's options.

In go a vocabulary, or the path of a vocab.txt, and options; the tokenizer.json that they come to is
what the tokenizer is read from. It has the calls of the reference's class and no training.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from piecework.compat.tokenizers.added_token import AddedToken
from piecework.compat.tokenizers.arguments import checked
from piecework.compat.tokenizers.encoding import Encoding
from piecework.compat.tokenizers.tokenizer import Tokenizer
from piecework.vocabulary import read_vocabulary, write_atomically

# What is the same for the tokenizer inside.
_SHARED = (
    *("add_tokens", "get_added_tokens_decoder", "num_special_tokens_to_add", "post_process"),
    *("get_vocab", "get_vocab_size", "id_to_token", "token_to_id", "save", "to_str"),
    *("no_padding", "no_truncation", "padding", "truncation"),
    *("normalizer", "pre_tokenizer", "post_processor", "decoder", "model"),
)
_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
_NO_TRAINING = (
    "training comes with the next milestone of piecework; until then train with tokenizers, and "
    "hand the vocabulary over"
)


class BertWordPieceTokenizer:
    """BERT's tokenizer over a vocabulary.

    Parameters
    ----------
    vocab : mapping of str to int, or path of a vocab.txt
    unk_token, sep_token, cls_token, pad_token, mask_token : str or AddedToken
        Special tokens as far as the vocabulary has them; `sep_token` and `cls_token` it must have.
    clean_text, handle_chinese_chars, lowercase : bool
    strip_accents : bool, optional
        By default as `lowercase`.
    wordpieces_prefix : str
        Of the decoder. (Words are cut into pieces with "##" whatever it says, as in the reference.)

    Raises
    ------
    TypeError
        The vocabulary has no `sep_token` or no `cls_token`.
    NotImplementedError
        Without a vocabulary, which only training could make.

    Notes
    -----
    Thread-safety: as for :class:`Tokenizer`.

    Examples
    --------
    >>> vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##able": 4}
    >>> BertWordPieceTokenizer(vocab).encode("Unable").tokens
    ['[CLS]', 'un', '##able', '[SEP]']
    """

    def __init__(
        self,
        vocab: Mapping[str, int] | str | None = None,
        unk_token: str | AddedToken = "[UNK]",
        sep_token: str | AddedToken = "[SEP]",
        cls_token: str | AddedToken = "[CLS]",
        pad_token: str | AddedToken = "[PAD]",
        mask_token: str | AddedToken = "[MASK]",
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        lowercase: bool = True,
        wordpieces_prefix: str = "##",
    ) -> None:
        if vocab is None:
            raise NotImplementedError(f"vocab: expected one; {_NO_TRAINING}")
        special = {
            "unk_token": unk_token,
            "sep_token": sep_token,
            "cls_token": cls_token,
            "pad_token": pad_token,
            "mask_token": mask_token,
        }
        flags = {
            "clean_text": clean_text,
            "handle_chinese_chars": handle_chinese_chars,
            "strip_accents": strip_accents,
            "lowercase": lowercase,
        }
        self._parameters: dict[str, Any] = {
            "model": "BertWordPiece", **special, **flags, "wordpieces_prefix": wordpieces_prefix
        }  # fmt: skip
        ids = read_vocabulary(vocab).ids if isinstance(vocab, str) else vocab
        names = {name: str(token) for name, token in special.items()}
        document = _document(dict(ids), names, flags, wordpieces_prefix)
        self._tokenizer = Tokenizer.from_str(json.dumps(document))

    @staticmethod
    def from_file(vocab: str, **options: Any) -> BertWordPieceTokenizer:
        """Read a vocab.txt; the options are those of the class."""
        ids = read_vocabulary(Path(checked("vocab", vocab, str))).ids
        return BertWordPieceTokenizer(dict(ids), **options)

    def __getattr__(self, name: str) -> Any:
        if name in _SHARED:
            return getattr(self._tokenizer, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def enable_padding(
        self,
        direction: str = "right",
        pad_to_multiple_of: int | None = None,
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
    ) -> None:
        """Fill rows up, see :meth:`Tokenizer.enable_padding`."""
        self._tokenizer.enable_padding(
            direction=direction,
            pad_to_multiple_of=pad_to_multiple_of,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
            pad_token=pad_token,
            length=length,
        )

    def enable_truncation(
        self, max_length: int, stride: int = 0, strategy: str = "longest_first"
    ) -> None:
        """Cut texts, see :meth:`Tokenizer.enable_truncation`."""
        self._tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)

    def add_special_tokens(self, special_tokens: list[str | AddedToken]) -> int:
        """Add special tokens; return how many were new or changed."""
        return self._tokenizer.add_special_tokens(special_tokens)

    def normalize(self, sequence: str) -> str:
        """Return the normalized text."""
        return str(self._tokenizer.normalizer.normalize_str(sequence))

    def encode(
        self,
        sequence: Any,
        pair: Any = None,
        is_pretokenized: bool = False,
        add_special_tokens: bool = True,
    ) -> Encoding:
        """Return the encoding of a text or of a pair, see :meth:`Tokenizer.encode`."""
        _refuse_none("sequence", sequence)
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> list[Encoding]:
        """Return the encodings of texts and of pairs."""
        _refuse_none("inputs", inputs)
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    def async_encode_batch(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Awaitable[list[Encoding]]:
        """Return what `encode_batch` does, without stopping other coroutines."""
        _refuse_none("inputs", inputs)
        return self._tokenizer.async_encode_batch(inputs, is_pretokenized, add_special_tokens)

    def async_encode_batch_fast(
        self, inputs: Sequence[Any], is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Awaitable[list[Encoding]]:
        """Return the same without offsets, word ids and strings."""
        _refuse_none("inputs", inputs)
        return self._tokenizer.async_encode_batch_fast(inputs, is_pretokenized, add_special_tokens)

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Return the text of ids."""
        _refuse_none("ids", ids)
        return self._tokenizer.decode(ids, skip_special_tokens)

    def decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> list[str]:
        """Return the texts of rows of ids."""
        _refuse_none("sequences", sequences)
        return self._tokenizer.decode_batch(sequences, skip_special_tokens)

    def async_decode_batch(
        self, sequences: Sequence[Sequence[int]], skip_special_tokens: bool = True
    ) -> Awaitable[list[str]]:
        """Return what `decode_batch` does, without stopping other coroutines."""
        _refuse_none("sequences", sequences)
        return self._tokenizer.async_decode_batch(sequences, skip_special_tokens)

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Write the vocabulary as a vocab.txt into a folder; return its path in a list."""
        ids = self._tokenizer.get_vocab(with_added_tokens=False)
        name = "vocab.txt" if prefix is None else f"{prefix}-vocab.txt"
        path = Path(directory) / name
        lines = "".join(f"{token}\n" for token in sorted(ids, key=ids.__getitem__))
        write_atomically(path, lines.encode())
        return [str(path)]

    def train(self, *_: Any, **__: Any) -> NoReturn:
        """Not there yet."""
        raise NotImplementedError(f"train: {_NO_TRAINING}")

    def train_from_iterator(self, *_: Any, **__: Any) -> NoReturn:
        """Not there yet."""
        raise NotImplementedError(f"train_from_iterator: {_NO_TRAINING}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._tokenizer, self._parameters)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {shown})"


def _restored(tokenizer: Tokenizer, parameters: dict[str, Any]) -> BertWordPieceTokenizer:
    made = BertWordPieceTokenizer.__new__(BertWordPieceTokenizer)
    made._tokenizer, made._parameters = tokenizer, dict(parameters)
    return made


def _refuse_none(name: str, value: object) -> None:
    if value is None:
        raise ValueError(f"{name}: expected one, got None")


def _document(
    ids: dict[str, int], names: Mapping[str, str], flags: Mapping[str, Any], decoder_prefix: str
) -> dict[str, Any]:
    """Return the tokenizer.json of a vocabulary and the names of its special tokens."""
    for name in ("sep_token", "cls_token"):
        if names[name] not in ids:
            raise TypeError(f"{name} not found in the vocabulary")
    special = sorted({token for token in names.values() if token in ids}, key=ids.__getitem__)
    ends = {key: [names[f"{key}_token"], ids[names[f"{key}_token"]]] for key in ("sep", "cls")}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": ids[token], "content": token, **_FLAGS, "special": True} for token in special
        ],
        "normalizer": {"type": "BertNormalizer", **flags},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", **ends},
        "decoder": {"type": "WordPiece", "prefix": decoder_prefix, "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": names["unk_token"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }
