"""The tokenizer that users hold: WordPiece behind the contract that a plain-Python one has.

Takes texts and gives ids, as lists for one text and as flat arrays for many; takes ids and gives
text. It puts the parts together and checks arguments; rules, matching, files and decoding live in
modules of their own. It does not truncate or pad.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from piecework._numpy import np
from piecework.batch import Batch
from piecework.decoding import Decoder
from piecework.encoding import Encoding
from piecework.errors import listed, short_repr
from piecework.inputs import Missing, arrow_texts, texts_of, utf8_texts
from piecework.jobs import Template, checked_effort, checked_output, count_tokens, encode_texts
from piecework.pretrained import bert_spec, load_pretrained
from piecework.spec import TokenizerSpec, checked_options
from piecework.tokenizer_json import read_tokenizer_json, to_json, write_tokenizer_json
from piecework.vocabulary import Vocabulary, read_vocabulary, write_vocabulary

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_NO_TEMPLATE = Template((), ())


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
        template = spec.template
        self._template = Template(
            tuple(id_ for _, id_ in template.before) if template else (),
            tuple(id_ for _, id_ in template.after) if template else (),
        )

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
        return {**self._spec.vocabulary.ids, **self._spec.special_tokens}

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
        return self._encoding.normalizer.normalize(_checked_text(text))

    def basic_tokenize(self, text: str) -> list[str]:
        """Return the normalized words: the input of WordPiece.

        Special tokens are not looked for.

        Examples
        --------
        >>> WordPieceTokenizer({"[UNK]": 0}).basic_tokenize("日本x y!")
        ['日', '本', 'x', 'y', '!']
        """
        return self._encoding.normalizer.basic_tokenize(_checked_text(text))

    def wordpiece(self, word: str) -> list[int]:
        """Return the ids of one word, taken as it is: no normalization, no splitting.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer({"[UNK]": 0, "un": 1, "##able": 2})
        >>> tokenizer.wordpiece("unable"), tokenizer.wordpiece("Unable")
        ([1, 2], [0])
        """
        return self._encoding.matcher.match(_checked_text(word, "word"))

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of a text: those of :meth:`encode`, as strings."""
        return list(map(self._tokens_by_id.__getitem__, self.encode(text)))

    def encode(self, text: str, add_special: bool = False) -> list[int]:
        """Return the ids of a text.

        Parameters
        ----------
        text : str
        add_special : bool
            Put the template's special tokens around it, [CLS] and [SEP] for BERT.

        Raises
        ------
        ValueError
            For ``add_special`` where the vocabulary has no [CLS] or [SEP], or the configuration
            names none. A tokenizer.json without a post-processor is no error: it adds nothing, as
            in the reference.
        UnicodeEncodeError
            For a lone surrogate where ``clean_text`` is off.
        """
        if not add_special:
            return self._encoder.encode(text)
        return self._encoder.encode(text, *self._special_template())

    def encode_batch(
        self,
        texts: Iterable[str | None] | Any,
        *,
        add_special: bool = False,
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
        add_special : bool
            As for :meth:`encode`.
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
            int64.

        Raises
        ------
        TypeError
            For a single str, and for a text that is no str or is missing, with its row.
        ValueError, UnicodeEncodeError
            As for :meth:`encode`; the latter names the row. ValueError too for an `out` that is too
            small, with what is needed, and for a `dtype` that the vocabulary does not fit.
        UnicodeDecodeError
            For invalid UTF-8 in an Arrow array, with the row and the byte in it.

        Examples
        --------
        >>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
        >>> tokenizer.encode_batch(["Hello!", "", "world"], add_special=True).tolist()
        [[101, 7592, 999, 102], [101, 102], [101, 2088, 102]]
        >>> tokenizer.encode_batch(["Hello!", None], missing="empty", dtype="uint16").ids
        array([7592,  999], dtype=uint16)
        """
        return encode_texts(
            self._encoder,
            texts_of(texts, missing),
            self._special_template() if add_special else _NO_TEMPLATE,
            checked_effort(threads, memo_bytes),
            checked_output(dtype, out, self._spec),
        )

    def encode_utf8(
        self,
        buffer: Any,
        row_splits: NDArray[np.int64] | NDArray[np.int32],
        *,
        add_special: bool = False,
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
        add_special, threads, memo_bytes, dtype, out
            As for :meth:`encode_batch`.

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
        return encode_texts(
            self._encoder,
            utf8_texts(buffer, row_splits),
            self._special_template() if add_special else _NO_TEMPLATE,
            checked_effort(threads, memo_bytes),
            checked_output(dtype, out, self._spec),
        )

    def encode_arrow(
        self,
        array: Any,
        *,
        add_special: bool = False,
        missing: Missing = "error",
        threads: int | None = None,
        memo_bytes: int | None = None,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
    ) -> Batch:
        """Return the ids of a string array of pyarrow.

        The same as :meth:`encode_batch`, which takes these arrays among others. See
        :meth:`Batch.to_arrow` for the way back.

        Parameters
        ----------
        array : pyarrow Array or ChunkedArray
            Of ``string`` or ``large_string``, which are read in place, slices too; of
            ``string_view`` or a dictionary of strings, which are cast.
        add_special, missing, threads, memo_bytes, dtype, out
            As for :meth:`encode_batch`.

        Raises
        ------
        TypeError
            For another array, and for a null, with its row.
        ValueError, UnicodeDecodeError
            As for :meth:`encode_batch`.
        """
        return encode_texts(
            self._encoder,
            arrow_texts(array, missing),
            self._special_template() if add_special else _NO_TEMPLATE,
            checked_effort(threads, memo_bytes),
            checked_output(dtype, out, self._spec),
        )

    def count_tokens(
        self,
        texts: Iterable[str | None] | Any,
        *,
        add_special: bool = False,
        missing: Missing = "error",
        threads: int | None = None,
        memo_bytes: int | None = None,
    ) -> NDArray[np.int64]:
        """Return the number of tokens of many texts; the ids are not kept.

        Parameters
        ----------
        texts, add_special, missing, threads, memo_bytes
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
        template = self._special_template() if add_special else _NO_TEMPLATE
        effort = checked_effort(threads, memo_bytes)
        return count_tokens(self._encoder, texts_of(texts, missing), template, effort)

    def decode(self, ids: Sequence[int], skip_special: bool = False) -> str:
        """Return the text of ids, as Hugging Face's WordPiece decoder does.

        Case, accents and white space that the encoding removed do not come back.

        Parameters
        ----------
        ids : sequence of int, or integer array, shape (n_tokens,)
        skip_special : bool
            Leave special tokens out.

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
        return self._decoder.decode(ids, skip_special)

    def decode_batch(
        self,
        rows: Iterable[Sequence[int] | NDArray[Any]] | NDArray[Any],
        skip_special: bool = False,
    ) -> list[str]:
        """Return the texts of many rows of ids: a :class:`Batch`, a 2-D array, a list of lists.

        Raises
        ------
        ValueError, TypeError
            As for :meth:`decode`, with the row.
        """
        return self._decoder.decode_batch(rows, skip_special)

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
            for token, id_ in spec.special_tokens.items()
            if token not in spec.vocabulary.ids
        ]:
            raise ValueError(
                f"added tokens are not in the vocabulary, and a vocab.txt can't hold them: "
                f"{listed(added)}; save() writes a tokenizer.json with all of it"
            )
        write_vocabulary(spec.vocabulary, path)

    def _special_template(self) -> Template:
        if self._spec.template is None:
            missing = [
                token for token in ("[CLS]", "[SEP]") if token not in self._spec.vocabulary.ids
            ]
            raise ValueError(
                "add_special needs [CLS] and [SEP] in the vocabulary; "
                f"it has no {' and no '.join(missing)}"
                if missing
                else "add_special needs a template, and the files of this tokenizer give none: "
                "they name no cls_token or no sep_token"
            )
        return self._template

    @cached_property
    def _content_hash(self) -> str:
        import hashlib  # seldom needed, and slow to import

        return hashlib.sha256(to_json(self._spec).encode()).hexdigest()

    @cached_property
    def _hash(self) -> int:
        # Not the content hash: equal specs may give texts with keys in another order.
        ids, spec = self._spec.vocabulary.ids, self._spec
        options = (spec.unk_token, spec.prefix, spec.lowercase, spec.strip_accents, spec.rules)
        return hash((frozenset(ids.items()), frozenset(spec.special_tokens.items()), options))

    @cached_property
    def _tokens_by_id(self) -> dict[int, str]:
        # An added token may share its id with an entry (a sparse vocabulary): it decodes to itself.
        added = {id_: content for content, id_ in self._spec.special_tokens.items()}
        return {**self._spec.vocabulary.tokens_by_id, **added}

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


def _checked_text(text: str, name: str = "text") -> str:
    if not isinstance(text, str):
        raise TypeError(f"{name}: expected a str, got {type(text).__name__}")
    return text
