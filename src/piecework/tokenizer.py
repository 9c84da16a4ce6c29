"""The tokenizer that users hold: WordPiece behind the contract that a plain-Python one has.

Takes texts and gives ids, as lists for one text and as flat arrays for many; takes ids and gives
text. It puts the parts together and checks arguments; rules, matching, files and decoding live in
modules of their own. It does not truncate or pad.
"""

from __future__ import annotations

import copy
import os
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from piecework._numpy import np
from piecework.added_tokens import TokenLike, with_added_tokens
from piecework.batch import Batch
from piecework.decoding import Decoder
from piecework.encoded_text import EncodedText
from piecework.encoding import Encoding
from piecework.errors import listed, short_repr
from piecework.inputs import Missing, arrow_texts, texts_of, utf8_texts
from piecework.jobs import (
    NOTHING_AROUND,
    Around,
    checked_effort,
    checked_output,
    count_tokens,
    encode_texts,
)
from piecework.postprocess import Truncation
from piecework.pretrained import bert_spec, load_pretrained
from piecework.protocol import as_flag
from piecework.request import Request, RowMaker, checked_unit
from piecework.spec import (
    NO_TEMPLATE,
    AddedToken,
    SequencePiece,
    SpecialPiece,
    Template,
    TokenizerSpec,
    checked_options,
)
from piecework.tokenizer_json import read_tokenizer_json, to_json, write_tokenizer_json
from piecework.vocabulary import Vocabulary, read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

Strategy: TypeAlias = Literal["longest_first", "only_first", "only_second"]
Side: TypeAlias = Literal["right", "left"]


class WordPieceTokenizer:
    """BERT's tokenizer: basic tokenization, then greedy longest-match WordPiece.

    Parameters
    ----------
    vocab : mapping of str to int
        Tokens and their ids, 0 to n - 1 without a gap.
    unk_token : str
        Stands for a word that has no segmentation; must be in the vocabulary.
    prefix : str
        What a piece inside a word begins with.
    max_input_chars_per_word : int
        Longer words, counted in code points after normalization, become one ``unk_token``.
    lowercase : bool
        Lower each code point by itself: no final sigma.
    strip_accents : bool or None
        Decompose and drop nonspacing marks. None: as ``lowercase``.
    clean_text : bool
        Drop controls and U+FFFD, treat all white space alike. Where it is off, a lone surrogate in
        a text is an error.
    handle_chinese_chars : bool
        Make each ideograph a word of its own.
    rules : {"huggingface", "huggingface-1", "unicode"}
        The Unicode tables to go by, see :mod:`piecework.rules`.

    Raises
    ------
    ValueError
        For a vocabulary with a gap, without ``unk_token``, or with ids that are no integers below
        2**28, for a limit that is not from 1 to 2**64 - 1, for a `prefix` that UTF-8 can't hold and
        for an unknown rule set.
    TypeError
        For an option of another type. numpy's bools and integers are taken as Python's.

    Notes
    -----
    Special tokens ([PAD], [UNK], [CLS], [SEP], [MASK], as far as the vocabulary has them) are split
    out of the raw text first, as written.

    Immutable: compares and hashes by content, pickles as vocabulary and options.
    Thread-safety: one tokenizer can be used by any number of threads at once.

    Examples
    --------
    >>> tokens = "[PAD] [UNK] [CLS] [SEP] [MASK] the un ##aff ##able ##a ! u ##n cafe ##s".split()
    >>> tokenizer = WordPieceTokenizer({token: i for i, token in enumerate(tokens)})
    >>> tokenizer.encode("The UNAFFABLE!")
    [5, 6, 7, 8, 10]
    >>> tokenizer.tokenize("cafés [MASK]")
    ['cafe', '##s', '[MASK]']
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        unk_token: str = "[UNK]",
        prefix: str = "##",
        max_input_chars_per_word: int = 100,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        *,
        clean_text: bool = True,
        handle_chinese_chars: bool = True,
        rules: str = "huggingface",
    ) -> None:
        if hasattr(self, "_spec"):
            raise TypeError("a tokenizer does not change once it is made; make a new one")
        self._use(
            _bert_spec(
                Vocabulary.from_mapping(vocab),
                unk_token=unk_token,
                prefix=prefix,
                max_input_chars_per_word=max_input_chars_per_word,
                lowercase=lowercase,
                strip_accents=strip_accents,
                clean_text=clean_text,
                handle_chinese_chars=handle_chinese_chars,
                rules=rules,
            )
        )

    def _use(self, spec: TokenizerSpec) -> None:
        self._spec = spec
        self._encoding = Encoding(spec)
        self._encoder = self._encoding.encoder
        around = spec.template.around if spec.template else None
        self._around = Around(*around) if around else None
        self._pad_id = _pad_id(spec)
        # Without the special tokens of a template, its texts stay: none, or the same one twice.
        self._nothing_around = NOTHING_AROUND if around or spec.template is None else None

    @classmethod
    def from_spec(cls, spec: TokenizerSpec) -> WordPieceTokenizer:
        """Build the tokenizer that a spec describes."""
        tokenizer = cls.__new__(cls)
        tokenizer._use(spec)
        return tokenizer

    @classmethod
    def from_vocab(
        cls,
        vocab_txt: str | os.PathLike[str],
        lowercase: bool = True,
        strip_accents: bool | None = None,
        **options: Any,
    ) -> WordPieceTokenizer:
        r"""Read a vocab.txt: line n is id n, from 0.

        Parameters
        ----------
        vocab_txt : path, or str with a newline
            The file, or the text itself.
        lowercase, strip_accents, **options
            As for the class.

        Raises
        ------
        ValueError
            With file and line, for invalid UTF-8, an empty file, lines of ``token<TAB>id``, and a
            vocabulary without ``unk_token``; for options, as for the class.
        TypeError
            For an option of a wrong type or name.
        FileNotFoundError
            For a str without a newline that is no path of a file.

        Examples
        --------
        >>> WordPieceTokenizer.from_vocab("[UNK]\nun\n##able\n").encode("Unable")
        [1, 2]
        """
        options |= {"lowercase": lowercase, "strip_accents": strip_accents}
        return cls.from_spec(_bert_spec(read_vocabulary(vocab_txt), **options))

    @classmethod
    def from_hf_json(cls, tokenizer_json: str | os.PathLike[str]) -> WordPieceTokenizer:
        """Read a Hugging Face tokenizer.json.

        Truncation and padding that the file sets are not applied: they are kept as
        :attr:`file_truncation` and :attr:`file_padding`, and a warning says so.

        Parameters
        ----------
        tokenizer_json : path, or str that starts with ``{``
            The file, or the text itself.

        Raises
        ------
        UnsupportedTokenizerError
            For a component whose results would differ, with its path in the file.
        ValueError
            For a file that is no valid tokenizer.json, and for ids of 2**28 and above.
        TypeError
            For what is neither a path nor a text.
        """
        return cls.from_spec(read_tokenizer_json(tokenizer_json))

    @classmethod
    def from_pretrained(
        cls,
        name_or_dir: str | os.PathLike[str],
        *,
        revision: str | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        token: str | bool | None = None,
        local_files_only: bool = False,
    ) -> WordPieceTokenizer:
        """Load a model's tokenizer.

        Parameters
        ----------
        name_or_dir : str or path
            A local folder (its tokenizer.json, else vocab.txt and tokenizer_config.json);
            ``"bert-base-uncased"``, which comes with the package; else the name of a model on the
            Hugging Face Hub (needs the extra ``piecework[hub]``).
        revision, cache_dir, token, local_files_only
            For the Hub, see :func:`piecework.pretrained.load_pretrained`.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.encode("Hello!", add_special=True)
        [101, 7592, 999, 102]
        """
        spec = load_pretrained(
            name_or_dir,
            revision=revision,
            cache_dir=cache_dir,
            token=token,
            local_files_only=local_files_only,
        )
        return cls.from_spec(spec)

    @property
    def spec(self) -> TokenizerSpec:
        """Vocabulary and options, all that determines the results."""
        return self._spec

    @property
    def vocab(self) -> dict[str, int]:
        """Tokens and ids, special tokens included: a new dict each time, so not for loops."""
        return {**self._spec.vocabulary.ids, **self._added_ids}

    @property
    def vocab_size(self) -> int:
        """Highest id + 1, added tokens included: the rows of an embedding matrix."""
        return self._spec.vocab_size

    @property
    def special_ids(self) -> dict[str, int]:
        """Special tokens and their ids."""
        return dict(self._spec.special_tokens)

    @property
    def unk_token(self) -> str:
        """The token of a word that has no segmentation."""
        return self._spec.unk_token

    @property
    def unk_id(self) -> int:
        """The id of :attr:`unk_token`."""
        return self._spec.vocabulary.ids[self._spec.unk_token]

    @property
    def pad_id(self) -> int:
        """The id of the padding token: what rows of a batch are filled up with.

        That of the padding in the tokenizer.json, if it has any, else of [PAD] or <pad>; 0 where
        there is no such token.
        """
        return self._pad_id

    @property
    def prefix(self) -> str:
        """What a piece inside a word begins with."""
        return self._spec.prefix

    @property
    def max_input_chars_per_word(self) -> int:
        """The longest word, in code points after normalization, that is segmented."""
        return self._spec.max_input_chars_per_word

    @property
    def lowercase(self) -> bool:
        """Whether text is lower-cased."""
        return self._spec.lowercase

    @property
    def strip_accents(self) -> bool | None:
        """Whether nonspacing marks are dropped; None: as :attr:`lowercase`."""
        return self._spec.strip_accents

    @property
    def clean_text(self) -> bool:
        """Whether controls are dropped."""
        return self._spec.clean_text

    @property
    def handle_chinese_chars(self) -> bool:
        """Whether each ideograph is a word of its own."""
        return self._spec.handle_chinese_chars

    @property
    def rules(self) -> str:
        """The name of the rule set."""
        return self._spec.rules

    @property
    def file_truncation(self) -> Mapping[str, Any] | None:
        """The ``truncation`` of the tokenizer.json that was read, a copy; not applied."""
        return copy.deepcopy(self._spec.file_truncation)

    @property
    def file_padding(self) -> Mapping[str, Any] | None:
        """The ``padding`` of the tokenizer.json that was read, a copy; not applied."""
        return copy.deepcopy(self._spec.file_padding)

    @property
    def content_hash(self) -> str:
        """SHA-256 of what :meth:`save` writes, in hexadecimal: the same on every machine."""
        return self._content_hash

    def normalize(self, text: str) -> str:
        """Return the normalized text, before it is split into words.

        Examples
        --------
        >>> WordPieceTokenizer({"[UNK]": 0}).normalize("Café")
        'cafe'
        """
        return self._encoding.normalize(_checked_text(text))

    def basic_tokenize(self, text: str) -> list[str]:
        """Return the normalized words: the input of WordPiece.

        Special tokens are not looked for.

        Examples
        --------
        >>> WordPieceTokenizer({"[UNK]": 0}).basic_tokenize("日本x y!")
        ['日', '本', 'x', 'y', '!']
        """
        return self._encoding.words(_checked_text(text))

    def wordpiece(self, word: str) -> list[int]:
        """Return the ids of one word, taken as it is: no normalization, no splitting.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer({"[UNK]": 0, "un": 1, "##able": 2})
        >>> tokenizer.wordpiece("unable"), tokenizer.wordpiece("Unable")
        ([1, 2], [0])
        """
        return self._encoding.matcher.match(_checked_text(word, "word"))

    def tokenize(self, text: str, *, split_special_tokens: bool = False) -> list[str]:
        """Return the tokens of a text: those of :meth:`encode`, as strings."""
        ids = self.encode(text, split_special_tokens=split_special_tokens)
        return list(map(self._tokens_by_id.__getitem__, ids))

    def encode(
        self, text: str, add_special: bool = False, *, split_special_tokens: bool = False
    ) -> list[int]:
        """Return the ids of a text; :meth:`encode_text` takes a pair.

        Parameters
        ----------
        text : str
        add_special : bool
            Put the template's special tokens around it, [CLS] and [SEP] for BERT.
        split_special_tokens : bool
            Special tokens that are written in the text are read as plain text.

        Raises
        ------
        ValueError
            For ``add_special`` where the vocabulary has no [CLS] or [SEP], or the configuration
            names none. A tokenizer.json without a post-processor is no error: it adds nothing, as
            in the reference.
        UnicodeEncodeError
            For a lone surrogate where ``clean_text`` is off.
        """
        around = self._around if add_special else self._nothing_around
        encoder = self._encoder
        if split_special_tokens:
            encoder = self._encoding.encoder_for(
                as_flag("split_special_tokens", split_special_tokens)
            )
        if around is None or type(add_special) is not bool:
            ids: list[int] = self.encode_batch(
                [_checked_text(text)],
                add_special=add_special,
                split_special_tokens=split_special_tokens,
            )[0].tolist()
            return ids
        return encoder.encode(text, *around)

    def encode_text(
        self,
        text: str | Sequence[str],
        pair: str | Sequence[str] | None = None,
        *,
        add_special: bool = False,
        is_split_into_words: bool = False,
        split_special_tokens: bool = False,
        max_length: int | None = None,
        truncation: Strategy = "longest_first",
        truncation_side: Side = "right",
        stride: int = 0,
        return_overflow: bool = False,
    ) -> EncodedText:
        """Return the tokens of a text, or of a pair, with all that is known of each.

        Parameters
        ----------
        text, pair : str, or sequence of str with `is_split_into_words`
        add_special, is_split_into_words, split_special_tokens
            As for :meth:`encode_batch`, as are all others.

        Returns
        -------
        EncodedText
            Tokens, places in the text, words, and ways from one to the other.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> encoded = tokenizer.encode_text("Unaffable café!")
        >>> encoded.tokens, encoded.offsets[-2:]
        (['una', '##ffa', '##ble', 'cafe', '!'], [(10, 14), (14, 15)])
        >>> encoded.char_to_token(4), encoded.word_to_tokens(0)
        (1, (0, 3))
        """
        if not is_split_into_words:
            _checked_text(text)
            _checked_text("" if pair is None else pair, "pair")
        batch = self.encode_batch(
            [text],
            None if pair is None else [pair],
            add_special=add_special,
            return_details=True,
            is_split_into_words=is_split_into_words,
            split_special_tokens=split_special_tokens,
            max_length=max_length,
            truncation=truncation,
            truncation_side=truncation_side,
            stride=stride,
            return_overflow=return_overflow,
            threads=1,
        )
        n_texts = 1 if pair is None else 2
        return EncodedText(batch, 0, self._names_by_id.__getitem__, n_texts=n_texts)

    def encode_batch(
        self,
        texts: Iterable[str | None] | Any,
        pairs: Iterable[str | None] | Any | None = None,
        *,
        add_special: bool = False,
        return_offsets: bool | Literal["bytes"] = False,
        return_word_ids: bool = False,
        return_details: bool = False,
        is_split_into_words: bool = False,
        split_special_tokens: bool = False,
        max_length: int | None = None,
        truncation: Strategy = "longest_first",
        truncation_side: Side = "right",
        stride: int = 0,
        return_overflow: bool = False,
        missing: Missing = "error",
        threads: int | None = None,
        memo_bytes: int | None = None,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> Batch:
        """Return the ids of many texts.

        Parameters
        ----------
        texts : iterable of str
            A list, a tuple, a generator; an array of numpy (of str, object or StringDType), a
            Series, Index or array of pandas, a string array of pyarrow. What Arrow holds, pandas'
            columns over it too, is read in place.
        pairs : as `texts`, optional
            Second texts, one for each of `texts`: each row is then of a pair.
        add_special : bool
            As for :meth:`encode`.
        return_offsets : bool, or "bytes"
            Whether the batch has ``offsets``: where each token begins and ends in its text as it
            was given, in code points, or in bytes of UTF-8; (0, 0) for those of the template.
        return_word_ids : bool
            Whether it has ``word_ids``: to which word of its text each token belongs, counted from
            0; -1 for those of the template.
        return_details : bool
            Whether it has both, and ``sequence_ids``, ``type_ids`` and ``special_tokens_mask``.
        is_split_into_words : bool
            Each text is given as its words, an iterable of str. Offsets then count within a word,
            and word ids are the numbers of these words.
        split_special_tokens : bool
            Special tokens that are written in a text are read as plain text.
        max_length : int, optional
            The most tokens of a row, those of the template included; what is longer is cut. Of a
            long text no more is read than it takes, unless what overflows is wanted. Where two
            texts have to share an odd number of tokens, the longer one keeps one more, so both are
            counted until one ends. Words that are split already are all read.
        truncation : "longest_first", "only_first" or "only_second"
            Which text of a pair is cut. The first of these cuts the longer one until both are
            equally long, then both.
        truncation_side : "right" or "left"
            Which end of a text is cut off.
        stride : int
            Tokens that a window of what overflows has in common with the one before it.
        return_overflow : bool
            Whether each row is followed by rows of what was cut off, in windows of the same length;
            ``overflow_to_sample`` then has the number of its text for each row.
        missing : "error" or "empty"
            What a missing value is (None, NaN, pandas.NA, a null): an error, or an empty text.
        threads : int, optional
            At most so many threads work. By default as many as the process may use cores, for a
            batch of half a million characters and more, and the calling thread alone for a smaller
            one. A forked child has no other threads. The result does not depend on it.
        memo_bytes : int, optional
            The size of the memo in which each thread keeps the ids of words that it has seen, from
            its first text on; 0 for none. By default 4 MiB, once a thread has seen so much text
            that they pay. It is kept for the calls that come, until one asks for another size. The
            result does not depend on it.
        dtype : int32 or uint16, optional
            Of the ids: int32, or what `out` has.
        out : int32 or uint16 array, shape (any,), optional
            The ids are written here, from the beginning on; those of the batch are a view of it.
            It shares no memory with the texts. After an error, what it holds is undefined.

        Returns
        -------
        Batch
            One row for each text: ``ids``, int32 unless asked for otherwise, and ``row_splits``,
            int64. What else was asked for; with `pairs`, ``type_ids`` too.

        Raises
        ------
        TypeError
            For a single str, and for a text that is no str or is missing, with its row.
        ValueError, UnicodeEncodeError
            As for :meth:`encode`; the latter names the row. ValueError too for an `out` that is too
            small, with what is needed, for a `dtype` that the vocabulary does not fit, for a
            `max_length` below the number of tokens of the template (the reference does not cut
            then), for a `stride` with which no window ends, and for texts that can't be cut as
            `truncation` says.
        UnicodeDecodeError
            For invalid UTF-8 in an Arrow array, with the row and the byte in it.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.encode_batch(["Hello!", "", "world"], add_special=True).tolist()
        [[101, 7592, 999, 102], [101, 102], [101, 2088, 102]]
        >>> tokenizer.encode_batch(["Hello!", None], missing="empty", dtype="uint16").ids
        array([7592,  999], dtype=uint16)
        >>> texts, pairs = ["Hello there!"], ["Bye"]
        >>> batch = tokenizer.encode_batch(texts, pairs, add_special=True, max_length=6)
        >>> batch.tolist(), batch.type_ids
        ([[101, 7592, 2045, 102, 9061, 102]], array([0, 0, 0, 0, 1, 1], dtype=int32))
        >>> tokenizer.encode_batch(["Héllo!"], return_offsets=True).offsets
        array([[0, 5],
               [5, 6]], dtype=int32)
        """
        effort, output = checked_effort(threads, memo_bytes), checked_output(dtype, out, self._spec)
        around = self._around if add_special else self._nothing_around
        if (
            around is not None
            and type(add_special) is bool
            and not (
                return_offsets
                or return_word_ids
                or return_details
                or is_split_into_words
                or split_special_tokens
                or return_overflow
                or pairs is not None
                or max_length is not None
            )
        ):
            batch = encode_texts(self._encoder, texts_of(texts, missing), around, effort, output)
            if self._pad_id:
                batch.pad_id = self._pad_id
            return batch
        all_details = as_flag("return_details", return_details)
        request = Request(
            add_special=as_flag("add_special", add_special),
            split_special=as_flag("split_special_tokens", split_special_tokens),
            split_words=as_flag("is_split_into_words", is_split_into_words),
            offsets=checked_unit(return_offsets) or ("chars" if all_details else None),
            word_ids=as_flag("return_word_ids", return_word_ids) or all_details,
            all_details=all_details,
            truncation=None
            if max_length is None
            else Truncation(max_length, truncation, truncation_side, stride),
            return_overflow=as_flag("return_overflow", return_overflow),
            missing=missing,
        )
        self._checked_template(add_special)
        if pairs is None:
            batch = self._row_maker.of_texts(texts, request, effort, output)
        else:
            batch = self._row_maker.of_pairs(texts, pairs, request, effort, output)
        batch.pad_id = self._pad_id
        return batch

    def encode_utf8(
        self,
        buffer: Any,
        row_splits: NDArray[np.int64] | NDArray[np.int32],
        *,
        add_special: bool = False,
        return_offsets: bool | Literal["bytes"] = False,
        return_word_ids: bool = False,
        split_special_tokens: bool = False,
        max_length: int | None = None,
        truncation_side: Side = "right",
        threads: int | None = None,
        memo_bytes: int | None = None,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> Batch:
        """Return the ids of many texts that lie in one buffer as UTF-8, without a str for each.

        Parameters
        ----------
        buffer : bytes, or another buffer of bytes
            ``mmap``, ``bytearray``, a uint8 array. Not changed by anybody while this runs.
        row_splits : int64 or int32 array, shape (n_rows + 1,)
            Row i is ``buffer[row_splits[i]:row_splits[i + 1]]``. The rows need not begin with the
            buffer, nor end with it.
        add_special, return_offsets, return_word_ids, split_special_tokens
            As for :meth:`encode_batch`, as are all others.

        Returns
        -------
        Batch
            What :meth:`encode_batch` returns for the decoded rows.

        Raises
        ------
        UnicodeDecodeError
            For invalid UTF-8: ``start`` is the byte in the row, ``reason`` names the row.
        ValueError
            For row splits that fall or leave the buffer, with the row; else as for
            :meth:`encode_batch`.
        TypeError
            For arguments of other types.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.encode_utf8("Hello!café".encode(), np.array([0, 6, 11])).tolist()
        [[7592, 999], [7668]]
        """
        return self.encode_batch(
            utf8_texts(buffer, row_splits),
            add_special=add_special,
            return_offsets=return_offsets,
            return_word_ids=return_word_ids,
            split_special_tokens=split_special_tokens,
            max_length=max_length,
            truncation_side=truncation_side,
            threads=threads,
            memo_bytes=memo_bytes,
            dtype=dtype,
            out=out,
        )

    def encode_arrow(
        self,
        array: Any,
        *,
        add_special: bool = False,
        return_offsets: bool | Literal["bytes"] = False,
        return_word_ids: bool = False,
        split_special_tokens: bool = False,
        max_length: int | None = None,
        truncation_side: Side = "right",
        missing: Missing = "error",
        threads: int | None = None,
        memo_bytes: int | None = None,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> Batch:
        """Return the ids of a string array of pyarrow.

        What :meth:`encode_batch` does, which takes these arrays among others. See
        :meth:`Batch.to_arrow` for the way back.

        Parameters
        ----------
        array : pyarrow Array or ChunkedArray
            Of ``string`` or ``large_string``, which are read in place, slices too; of
            ``string_view`` or a dictionary of strings, which are cast.
        add_special, return_offsets, return_word_ids, split_special_tokens
            As for :meth:`encode_batch`, as are all others.

        Raises
        ------
        TypeError
            For another array, and for a null, with its row.
        ValueError, UnicodeDecodeError
            As for :meth:`encode_batch`.
        """
        return self.encode_batch(
            arrow_texts(array, missing),
            add_special=add_special,
            return_offsets=return_offsets,
            return_word_ids=return_word_ids,
            split_special_tokens=split_special_tokens,
            max_length=max_length,
            truncation_side=truncation_side,
            threads=threads,
            memo_bytes=memo_bytes,
            dtype=dtype,
            out=out,
        )

    def count_tokens(
        self,
        texts: Iterable[str | None] | Any,
        *,
        add_special: bool = False,
        split_special_tokens: bool = False,
        missing: Missing = "error",
        threads: int | None = None,
        memo_bytes: int | None = None,
    ) -> NDArray[np.int64]:
        """Return the number of tokens of many texts; the ids are not kept.

        Parameters
        ----------
        texts, add_special, split_special_tokens, missing, threads, memo_bytes
            As for :meth:`encode_batch`, and so are the errors.

        Returns
        -------
        int64 array, shape (n_texts,)
            The :attr:`Batch.lengths` of what :meth:`encode_batch` returns.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.count_tokens(["Hello!", "", "unaffable"], add_special=True)
        array([4, 2, 5])
        """
        effort = checked_effort(threads, memo_bytes)
        encoder = self._encoding.encoder_for(as_flag("split_special_tokens", split_special_tokens))
        pieces = self._checked_template(as_flag("add_special", add_special)).single
        counts = count_tokens(encoder, texts_of(texts, missing), NOTHING_AROUND, effort)
        if not add_special and self._nothing_around is not None:
            return counts  # as nearly always; what follows takes as long as counting a sentence
        n_copies = sum(isinstance(piece, SequencePiece) for piece in pieces)
        return counts * n_copies + (self.num_special_tokens() if add_special else 0)

    def num_special_tokens(self, pair: bool = False) -> int:
        """Return how many tokens the template adds to a text, or to a pair of texts.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.num_special_tokens(), tokenizer.num_special_tokens(pair=True)
        (2, 3)
        """
        template = self._checked_template(add_special=True)
        pieces = template.pair if pair else template.single
        return sum(len(piece.ids) for piece in pieces if isinstance(piece, SpecialPiece))

    def token_to_id(self, token: str) -> int | None:
        """Return the id of a token, an added one too; None if there is no such token."""
        added = self._added_ids.get(token)
        return self._spec.vocabulary.ids.get(token) if added is None else added

    def id_to_token(self, id_: int) -> str | None:
        """Return the token of an id; None if it has none.

        An added token that is looked for in normalized text comes in its normalized form, as in the
        reference.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.id_to_token(7592), tokenizer.id_to_token(-1)
        ('hello', None)
        """
        return self._tokens_by_id.get(id_)

    def decode(
        self,
        ids: Sequence[int] | NDArray[Any],
        skip_special: bool = False,
        *,
        unknown: Literal["error", "skip"] = "error",
    ) -> str:
        """Return the text of ids, as Hugging Face's WordPiece decoder does.

        Case, accents and white space that the encoding removed do not come back.

        Parameters
        ----------
        ids : sequence of int, or integer array, shape (n_tokens,)
        skip_special : bool
            Leave special tokens out.
        unknown : "error" or "skip"
            What an id is that is negative or not below :attr:`vocab_size`: an error, or left out.

        Raises
        ------
        ValueError
            For an id out of range, with its position.
        TypeError
            For what is no integer.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.decode([101, 4895, 10354, 7011, 3468, 999, 102], skip_special=True)
        'unaffable!'
        """
        return self._decoder.decode(ids, skip_special, unknown=unknown)

    def decode_batch(
        self,
        rows: Iterable[Sequence[int] | NDArray[Any]] | NDArray[Any],
        skip_special: bool = False,
        *,
        unknown: Literal["error", "skip"] = "error",
    ) -> list[str]:
        """Return the texts of many rows of ids.

        Parameters
        ----------
        rows : Batch, integer array of shape (n_rows, n_tokens), or iterable of rows
        skip_special, unknown
            As for :meth:`decode`.

        Raises
        ------
        ValueError, TypeError
            As for :meth:`decode`, with the row.
        """
        return self._decoder.decode_batch(rows, skip_special, unknown=unknown)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a tokenizer.json that Hugging Face loads to the same ids; atomic.

        What Hugging Face does not know (rule set, shadowed lines of a vocab.txt, the truncation and
        padding of a file that was read) goes into a key that it ignores.
        """
        write_tokenizer_json(self._spec, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> WordPieceTokenizer:
        """Read what :meth:`save` wrote, or any tokenizer.json that :meth:`from_hf_json` reads."""
        return cls.from_hf_json(path)

    def save_vocab(self, path: str | os.PathLike[str]) -> None:
        """Write a vocab.txt; atomic.

        Raises
        ------
        ValueError
            For what that format can't hold: a gap in the ids, a token with a line end in it, added
            tokens of a tokenizer.json that are not in its vocabulary.
        """
        spec = self._spec
        if added := [
            f"{short_repr(token)} (id {id_})"
            for token, id_ in self._added_ids.items()
            if token not in spec.vocabulary.ids
        ]:
            raise ValueError(
                f"added tokens are not in the vocabulary, and a vocab.txt can't hold them: "
                f"{listed(added)}; save() writes a tokenizer.json with all of it"
            )
        write_vocabulary(spec.vocabulary, path)

    def _checked_template(self, add_special: bool) -> Template:
        """Return the template, or raise if special tokens are wanted of one that is not there."""
        template = self._spec.template
        if template is not None:
            return template
        if not add_special:
            return NO_TEMPLATE
        missing = [token for token in ("[CLS]", "[SEP]") if token not in self._spec.vocabulary.ids]
        raise ValueError(
            "add_special needs [CLS] and [SEP] in the vocabulary; "
            f"it has no {' and no '.join(missing)}"
            if missing
            else "add_special needs a template, and the files of this tokenizer give none: "
            "they name no cls_token or no sep_token"
        )

    @cached_property
    def _row_maker(self) -> RowMaker:
        template = self._spec.template or NO_TEMPLATE
        trimmer = None
        if template.trim_offsets:
            from piecework.trimming import Trimmer  # few templates say so

            trimmer = Trimmer(self._spec, self._tokens_by_id)
        return RowMaker(self._encoding, template, trimmer)

    @cached_property
    def _content_hash(self) -> str:
        import hashlib  # seldom needed, and slow to import

        return hashlib.sha256(to_json(self._spec).encode()).hexdigest()

    @cached_property
    def _hash(self) -> int:
        # Not the content hash: equal specs may give texts with keys in another order.
        ids, spec = self._spec.vocabulary.ids, self._spec
        options = (spec.unk_token, spec.prefix, spec.lowercase, spec.strip_accents, spec.rules)
        return hash((frozenset(ids.items()), spec.added_tokens, options))

    def add_tokens(
        self, tokens: Iterable[str | TokenLike], *, special: bool = False
    ) -> WordPieceTokenizer:
        """Return a tokenizer that has more tokens, which are looked for before text is cut.

        Parameters
        ----------
        tokens : iterable of str, NewToken or what is like it
            A str is looked for in normalized text, in any case in an uncased tokenizer; a
            :class:`~piecework.NewToken`, or a ``tokenizers.AddedToken``, says how.
        special : bool
            As :meth:`add_special_tokens`.

        Returns
        -------
        WordPieceTokenizer
            Another one, or this one if nothing is new. What the vocabulary has keeps its id, other
            tokens get the highest id + 1.

        Raises
        ------
        TypeError, ValueError
            For what is no token, with its position.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> more = tokenizer.add_tokens(["ZipTok"])
        >>> more.encode("a ziptok"), len(more.vocab), len(tokenizer.vocab)
        ([1037, 30522], 30523, 30522)
        """
        spec = with_added_tokens(self._spec, tokens, special=special)
        return self if spec is self._spec else type(self).from_spec(spec)

    def add_special_tokens(self, tokens: Iterable[str | TokenLike]) -> WordPieceTokenizer:
        """Return a tokenizer that has more special tokens.

        As :meth:`add_tokens`; but a str is looked for in the text as written, ``skip_special``
        leaves the tokens out of decoded text, and ``split_special_tokens`` takes them for text.
        """
        return self.add_tokens(tokens, special=True)

    @cached_property
    def _added_ids(self) -> dict[str, int]:
        return {token.content: token.id for token in self._spec.added_tokens}

    @cached_property
    def _tokens_by_id(self) -> dict[int, str]:
        # An added token may share its id with an entry (a sparse vocabulary): it decodes to itself.
        added = {token.id: self._form(token) for token in self._spec.added_tokens}
        return {**self._spec.vocabulary.tokens_by_id, **added}

    @cached_property
    def _names_by_id(self) -> dict[int, str]:
        """The tokens by their ids, and those of the template that have an id of no token."""
        template = self._spec.template or NO_TEMPLATE
        of_template = {
            id_: token
            for piece in (*template.single, *template.pair)
            if isinstance(piece, SpecialPiece)
            for id_, token in zip(piece.ids, piece.tokens, strict=False)
        }
        return {**of_template, **self._tokens_by_id}

    def _form(self, token: AddedToken) -> str:
        """Return what an added token decodes to: what it is looked for by, as in the reference."""
        if not token.normalized:
            return token.content
        return self._encoding.normalize(token.content)

    @cached_property
    def _decoder(self) -> Decoder:
        spec = self._spec
        return Decoder(self._tokens_by_id, self.vocab_size, spec.special_tokens, spec.decoder)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordPieceTokenizer):
            return NotImplemented
        return self._spec == other._spec

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_spec, (self._spec,)

    def __repr__(self) -> str:
        spec = self._spec
        return (
            f"WordPieceTokenizer({len(spec.vocabulary.ids):,} tokens, "
            f"{'uncased' if spec.lowercase else 'cased'}, rules={spec.rules!r})"
        )


def _bert_spec(vocabulary: Vocabulary, /, **options: Any) -> TokenizerSpec:
    return bert_spec(vocabulary, **checked_options(options))


def _pad_id(spec: TokenizerSpec) -> int:
    if spec.file_padding is not None and type(pad_id := spec.file_padding.get("pad_id")) is int:
        return pad_id
    ids = ChainMap(spec.special_tokens, spec.vocabulary.ids)
    return ids.get("[PAD]", ids.get("<pad>", 0))


def _checked_text(text: object, name: str = "text") -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected a str, got {type(text).__name__}")
    return text
