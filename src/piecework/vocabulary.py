"""The vocabulary: which token has which id, read from a mapping, a vocab.txt or its text.

In come a mapping, a path or a text; out comes one immutable :class:`Vocabulary` that has been
checked, or a ValueError that says what was expected, what came and where. Nothing is trimmed,
renumbered or repaired: what is probably a mistake gets a :class:`VocabularyWarning` and its id.
"""

from __future__ import annotations

import errno
import operator
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import SupportsIndex

from piecework._numpy import np
from piecework._vocab import any_ends_in, count_ids
from piecework.errors import VocabularyWarning, listed, short_repr, shorten, warn

MAX_IDS = 1 << 28  # an item of the kernel holds an id in 28 bits

# The White_Space characters that the reference's vocab.txt reader trims from the end of a line.
_WHITE_SPACE = (
    "\t\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_TAB_ID = re.compile(r"[^\t]*\t[0-9]+")
_SPACE_ID = re.compile(r"\S+ +[0-9]+")
_JSON_START = re.compile(r'\s*[{\[]\s*"[^"\n]+"')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BOM = "\ufeff"
_LINES_LOOKED_AT = 100  # one real token may look like token<TAB>id, the first 100 don't


@dataclass(frozen=True, eq=False)
class Vocabulary:
    r"""Tokens and their ids.

    Attributes
    ----------
    ids : dict of str to int
        Token to id. Shared, not copied: not to be changed.
    shadowed : dict of int to str
        Ids of vocab.txt lines whose token stands again on a later line, with their text. Such an
        id exists (it counts in ``size``), but no text encodes to it and it decodes to nothing.
    source : str
        Where the vocabulary came from, for messages. It has no part in equality.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_text("[UNK]\nun\n##able\n")
    >>> vocabulary.ids["##able"], vocabulary.size
    (2, 3)
    """

    ids: dict[str, int]
    shadowed: dict[int, str] = field(default_factory=dict)
    source: str = "<mapping>"

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, int], source: str = "<mapping>") -> Vocabulary:
        """Check a mapping of tokens to ids, which must be 0 … n-1, each once.

        Raises
        ------
        ValueError
            For an empty mapping, a gap, an id that occurs twice, is negative or no integer, and a
            token that is no string or can't be written as UTF-8.

        Examples
        --------
        >>> Vocabulary.from_mapping({"[UNK]": 0, "a": 2})
        Traceback (most recent call last):
            ...
        ValueError: <mapping>: expected ids 0 to 1 for 2 tokens, but no token has id 1 and 'a' has 2
        """
        if not isinstance(mapping, Mapping):
            raise TypeError(
                f"vocab: expected a mapping of tokens to ids, got {type(mapping).__name__}"
            )
        if not mapping:
            raise ValueError(f"{source}: expected a vocabulary, got an empty mapping")
        vocabulary = cls(checked_ids(mapping, source), {}, source)
        ids, n_tokens, highest = vocabulary.ids, len(vocabulary.ids), vocabulary.size - 1
        if vocabulary.n_ids < n_tokens:
            token, first = _find_repeated_id(ids)
            raise ValueError(f"{source}: tokens {first!r} and {token!r} both have id {ids[token]}")
        if highest != n_tokens - 1:
            last = next(token for token, id_ in ids.items() if id_ == highest)
            raise ValueError(
                f"{source}: expected ids 0 to {n_tokens - 1} for {n_tokens} tokens, but no token "
                f"has id {first_gap(ids.values())} and {last!r} has {highest}"
            )
        return vocabulary

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Vocabulary:
        r"""Read a vocab.txt: line number = id, counted from 0.

        Lines end at ``\n`` or ``\r\n`` only, and a blank line is the empty token. Three things are
        warned about: a token that stands on several lines (it has the id of the last), white space
        at the end of a line (it belongs to the token, where Hugging Face's reader trims it), and a
        byte order mark at the start of the file (it is dropped).

        Raises
        ------
        FileNotFoundError, IsADirectoryError
        ValueError
            With file and line, for an empty file, invalid UTF-8 and ``token<TAB>id`` lines.
        """
        return cls._from_valid_text(read_utf8(path), os.fspath(path))

    @classmethod
    def from_text(cls, text: str, source: str = "<text>") -> Vocabulary:
        r"""Read the text of a vocab.txt; the rules are those of :meth:`from_file`.

        Examples
        --------
        >>> Vocabulary.from_text("[UNK]\r\na\r\n").ids
        {'[UNK]': 0, 'a': 1}
        """
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise ValueError(f"line {line} of {source}: the token holds a lone surrogate") from None
        return cls._from_valid_text(text, source)

    @classmethod
    def _from_valid_text(cls, text: str, source: str) -> Vocabulary:
        if text in ("", _BOM):
            raise ValueError(f"{source}: expected one token a line, got an empty file")
        if text.startswith(_BOM):
            text = text[1:]
            _warn(f"line 1 of {source}: dropped the byte order mark before the first token")
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()  # what follows the last line's end is no line
        if _holds_tab_ids(lines):
            raise ValueError(
                f"line 1 of {source}: expected a token, got {short_repr(lines[0])}: this looks "
                "like a file of token<TAB>id lines, not like a BERT vocab.txt, where the line "
                "number is the id"
            )
        if any_ends_in(lines, _WHITE_SPACE):
            _warn_of_trailing_space(lines, source)
        if len(lines) > MAX_IDS:
            raise ValueError(f"{source}: expected at most {MAX_IDS:,} lines, got {len(lines):,}")
        ids = dict(zip(lines, range(len(lines)), strict=True))
        shadowed = {}
        if len(ids) < len(lines):
            shadowed = {id_: line for id_, line in enumerate(lines) if ids[line] != id_}
            _warn_of_repeated_lines(ids, shadowed, source)
        return cls(ids, shadowed, source)

    def to_text(self) -> str:
        r"""Write the text of a vocab.txt that reads back to the same ids and shadowed lines.

        Raises
        ------
        ValueError
            For what that format can't hold: a gap in the ids, two tokens with one id, a token
            with a line feed in it or a carriage return at its end.

        Examples
        --------
        >>> Vocabulary.from_mapping({"a": 1, "[UNK]": 0}).to_text()
        '[UNK]\na\n'
        """
        by_id = {**self.shadowed, **self.tokens_by_id}
        if len(by_id) < len(self.shadowed) + len(self.ids):
            token, first = _find_repeated_id(self.ids)
            raise ValueError(
                f"tokens {first!r} and {token!r} both have id {self.ids[token]}: "
                "a vocab.txt has one token a line"
            )
        if len(by_id) < self.size:
            gap = first_gap(by_id)
            raise ValueError(f"no token has id {gap}: a vocab.txt can't hold a gap in the ids")
        lines = [by_id[id_] for id_ in range(self.size)]
        text = "\n".join(lines) + "\n"
        if text.count("\n") != len(lines) or "\r\n" in text:
            id_, token = next((i, t) for i, t in enumerate(lines) if "\n" in t or t.endswith("\r"))
            raise ValueError(
                f"token {token!r} (id {id_}) holds a line end: a vocab.txt can't hold it"
            )
        if text.startswith(_BOM) or _holds_tab_ids(lines):
            raise ValueError(
                f"token {lines[0]!r} (id 0): a vocab.txt that starts so reads differently"
            )
        return text

    @cached_property
    def size(self) -> int:
        """Highest id + 1, shadowed lines included."""
        return max(self._highest_and_n_ids[0], max(self.shadowed, default=-1)) + 1

    @property
    def n_ids(self) -> int:
        """How many ids the tokens have; fewer than tokens, where several share one."""
        return self._highest_and_n_ids[1]

    @cached_property
    def _highest_and_n_ids(self) -> tuple[int, int]:
        counts = count_ids(self.ids, MAX_IDS)
        if counts is None:
            raise ValueError(f"{self.source}: expected tokens and ids that checked_ids lets pass")
        return counts

    @cached_property
    def tokens_by_id(self) -> dict[int, str]:
        """Id to token; an id that several tokens have is that of the first of them in ``ids``."""
        return dict(zip(reversed(self.ids.values()), reversed(self.ids), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        # tokens_by_id can differ where two tokens have one id.
        return (
            self.ids == other.ids
            and self.shadowed == other.shadowed
            and self.tokens_by_id == other.tokens_by_id
        )

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[dict[str, int], dict[int, str], str]]:
        return Vocabulary, (self.ids, self.shadowed, self.source)  # without what is cached

    def __repr__(self) -> str:
        return f"Vocabulary({len(self.ids):,} tokens, size {self.size:,}, from {self.source})"


def read_vocabulary(source: str | os.PathLike[str]) -> Vocabulary:
    r"""Read a vocab.txt: a path, or the text itself (a str with a line feed in it).

    Examples
    --------
    >>> read_vocabulary("[UNK]\na\n").size
    2
    """
    if isinstance(source, str) and "\n" in source:
        return Vocabulary.from_text(source)
    checked_path(source, "vocab_txt")
    try:
        return Vocabulary.from_file(source)
    except OSError as error:
        if isinstance(source, str) and error.errno in (errno.ENOENT, errno.ENAMETOOLONG):
            hint = "no such file (a str without a line feed is taken as a path, not as the text)"
            raise FileNotFoundError(errno.ENOENT, hint, error.filename) from None
        raise


def write_vocabulary(vocabulary: Vocabulary, path: str | os.PathLike[str]) -> None:
    """Write a vocab.txt, whole or not at all; ValueError for what the format can't hold."""
    write_atomically(path, vocabulary.to_text().encode("utf-8"))


def read_utf8(path: str | os.PathLike[str]) -> str:
    """Return a file's text as it is; ValueError with file and line for what is not UTF-8."""
    path = checked_path(path)
    try:
        is_folder = path.is_dir()
        data = b"" if is_folder else path.read_bytes()
    except OSError as error:
        # A text that was taken for a path is not shown whole.
        raise OSError(error.errno, error.strerror, shorten(str(path))) from None
    if is_folder:
        raise IsADirectoryError(f"{path}: expected a file, got a folder")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"line {line} of {path}: expected UTF-8, got byte 0x{data[error.start]:02x} "
            f"at offset {error.start} of the file"
        ) from error


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name beside its own, flush it to the disk, and rename it.

    A file that is replaced hands its mode on.
    """
    target = Path(os.path.realpath(checked_path(path)))  # through a symbolic link, not over it
    if target.exists() and not target.is_file():
        kind = IsADirectoryError if target.is_dir() else FileExistsError
        what = "a folder" if target.is_dir() else "a device or a pipe"
        raise kind(f"{target}: expected the path of a file, got {what}")
    try:
        _write_and_rename(target, data)
    except OSError as error:
        # It names the temporary file, which says nothing to the caller.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _write_and_rename(target: Path, data: bytes) -> None:
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.with_name(f".{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        # Never readable by more than the old file was; the umask may make it less for a while.
        with os.fdopen(os.open(temporary, flags, 0o666 if mode is None else mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def checked_path(path: str | os.PathLike[str], name: str = "path") -> Path:
    """Return a path; TypeError for what is none, ValueError for an empty str, which is no "."."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a str or a path, got {short_repr(path)}")
    if path == "":
        raise ValueError(f"{name}: expected the path of a file, got an empty str")
    return Path(path)


def check_unk_token(vocabulary: Vocabulary, unk_token: str) -> None:
    """Raise ValueError for an `unk_token` that the vocabulary lacks, and say why it may lack it."""
    if unk_token not in vocabulary.ids:
        raise ValueError(
            f"{vocabulary.source}: unk_token {short_repr(unk_token)} is not in the vocabulary"
            f"{_likely_cause(vocabulary.ids, unk_token)}"
        )


def _likely_cause(ids: Mapping[str, int], unk_token: str) -> str:
    tokens = list(ids)
    if _JSON_START.match("\n".join(tokens[:2])):
        return "; it looks like JSON: from_hf_json reads a tokenizer.json, not a vocab.txt"
    if all(map(_SPACE_ID.fullmatch, tokens[:_LINES_LOOKED_AT])):
        return (
            f"; its first line is {short_repr(tokens[0])}: this looks like a file of "
            "token<SPACE>id lines, not like a BERT vocab.txt, where the line number is the id"
        )
    for token in tokens:
        if unk_token in token.split("\r"):
            return "; its lines look as if they end in bare carriage returns, expected line feeds"
        if token.strip().casefold() == unk_token.casefold():
            return f"; it has {short_repr(token)} (id {ids[token]})"
    return ""


def checked_ids(mapping: Mapping[str, int], source: str) -> dict[str, int]:
    """Return a mapping as a dict of its own, of plain strs and ints.

    Raises
    ------
    ValueError
        For a token that is no string or holds a lone surrogate, and for an id that is no integer
        from 0 to 2**28 - 1.
    """
    ids = dict(mapping)
    if count_ids(ids, MAX_IDS) is not None:
        return ids
    # np.str_ for one: the kernels take no subclasses.
    ids = {_plain_token(token, source): _plain_int(id_) for token, id_ in ids.items()}
    for token, id_ in ids.items():
        if not 0 <= id_ < MAX_IDS:
            raise ValueError(
                f"{source}: token {short_repr(token)}: expected an integer id from 0 to "
                f"{MAX_IDS - 1:,}, got {short_repr(mapping[token])}"
            )
    return ids


def _plain_token(token: object, source: str) -> str:
    if not isinstance(token, str):
        raise ValueError(f"{source}: expected tokens that are strings, got {short_repr(token)}")
    if _LONE_SURROGATE.search(token):
        raise ValueError(f"{source}: token {short_repr(token)} holds a lone surrogate")
    return str.__str__(token)


def first_gap(ids: Iterable[int]) -> int:
    """Return the lowest number from 0 on that is not among the ids."""
    present = set(ids)
    return next(number for number in range(len(present) + 1) if number not in present)


def _plain_int(value: object) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsIndex):
        return -1  # no integer: the range check reports it with the value that came
    return operator.index(value)


def _find_repeated_id(ids: Mapping[str, int]) -> tuple[str, str]:
    """Return the first token whose id an earlier one has, and that earlier one."""
    seen: dict[int, str] = {}
    return next((t, seen[i]) for t, i in ids.items() if seen.setdefault(i, t) is not t)


def _holds_tab_ids(lines: list[str]) -> bool:
    return "\t" in lines[0] and all(_TAB_ID.fullmatch(line) for line in lines[:_LINES_LOOKED_AT])


def _warn_of_trailing_space(lines: list[str], source: str) -> None:
    found = [
        f"{short_repr(line)} on line {number}"
        for number, line in enumerate(lines, 1)
        if line.endswith(tuple(_WHITE_SPACE))
    ]
    _warn(
        f"{source}: white space at the end of a line is kept as part of the token, where Hugging "
        f"Face's reader trims it: {listed(found)}"
    )


def _warn_of_repeated_lines(ids: dict[str, int], shadowed: dict[int, str], source: str) -> None:
    found = [
        f"{short_repr(token)} on line {id_ + 1}, again on line {ids[token] + 1}"
        for id_, token in shadowed.items()
    ]
    _warn(
        f"{source}: a repeated token has the id of its last line, and the earlier line's id stands "
        f"for nothing: {listed(found)}"
    )


def _warn(message: str) -> None:
    warn(message, VocabularyWarning)
