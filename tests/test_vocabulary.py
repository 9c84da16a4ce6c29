"""Reading and writing vocabularies, against the incumbent's reader and the rules written down."""

from __future__ import annotations

import os
import pickle
import random
import stat
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import helpers
import numpy as np
import pytest
from tokenizers import models

from piecework.errors import VocabularyWarning
from piecework.vocabulary import (
    Vocabulary,
    check_unk_token,
    read_vocabulary,
    write_atomically,
    write_vocabulary,
)

# What the incumbent's reader trims: White_Space of Unicode, typed in once more.
WHITE_SPACE = "\t\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)

MODELS = [
    "bert-base-cased",
    "bert-base-chinese",
    "bert-base-japanese-v3",
    "bert-base-multilingual-cased",
    "bert-base-uncased",
    "beto-spanish-cased",
    "koelectra-korean",
    "norbert-norwegian",
    "scibert-scivocab-uncased",
]


def read_silently(text: str) -> Vocabulary:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VocabularyWarning)
        return Vocabulary.from_text(text)


def lines_of(vocabulary: Vocabulary) -> dict[int, str]:
    return {**vocabulary.shadowed, **vocabulary.tokens_by_id}


# ---- vocab.txt ----


@pytest.mark.skipif(helpers.HF_VERSION != "0.23.3", reason="the reader of tokenizers 0.23.3")
@pytest.mark.parametrize(
    "data",
    [
        b"[UNK]\na\nb\n",
        b"[UNK]\na\nb",
        b"[UNK]\r\na\r\nb\r\n",
        b"[UNK]\r\na\nb\r\r\n",
        b"[UNK]\na  \nb\t\n",
        b"[UNK]\n  a\nb\n",
        b"[UNK]\na\n\nb\n",
        b"[UNK]\n\n\nb\n",
        b"[UNK]\na\nb\na\n",
        b"[UNK]\na\n\n",
        b"\n",
        "[UNK]\na\xa0 \nb\u3000\nc\x85\n##\u2028\n".encode(),
        "[UNK]\n\xa0 \nb\n".encode(),
        b"[UNK]\ra\rb",
        "[UNK]\na\u2028b\nc\x85d\n".encode(),
        b"[UNK]\na\x0bb\nc\x0cd\n",
        b"[UNK]\na b\nc\n",
        b"[UNK]\na\x00\nb\n",
        "[UNK]\na\u200b\nb\u001f\n".encode(),
    ],
)
def test_from_file_differs_from_the_incumbent_only_in_trimming(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(data)
    lines = lines_of(read_silently(data.decode()))
    trimmed = {lines[id_].rstrip(WHITE_SPACE): id_ for id_ in sorted(lines)}
    assert trimmed == models.WordPiece.read_file(str(path))


@pytest.mark.parametrize("model", MODELS)
def test_from_file_reads_every_line_of_published_files(
    model: str, vocab_path: Callable[[str], Path]
) -> None:
    path = vocab_path(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VocabularyWarning)
        vocabulary = Vocabulary.from_file(path)
    assert vocabulary.ids == helpers.read_vocab(path)
    assert vocabulary.size == len(helpers.read_lines(path))
    assert vocabulary.shadowed == {}
    assert vocabulary.to_text() == path.read_bytes().decode().removesuffix("\n") + "\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_lines_end_at_lf_and_crlf(end: str, last: bool) -> None:
    text = end.join(["[UNK]", "a", "", "b"]) + end * last
    assert Vocabulary.from_text(text).ids == {"[UNK]": 0, "a": 1, "": 2, "b": 3}


def test_a_cr_that_ends_no_line_belongs_to_the_token() -> None:
    with pytest.warns(VocabularyWarning, match=r"'b\\r' on line 3"):
        vocabulary = Vocabulary.from_text("[UNK]\r\na\rc\nb\r")
    assert vocabulary.ids == {"[UNK]": 0, "a\rc": 1, "b\r": 2}


def test_a_repeated_token_has_its_last_id_and_the_warning_names_both_lines() -> None:
    with pytest.warns(VocabularyWarning) as caught:
        vocabulary = Vocabulary.from_text("[UNK]\na\nb\na\n")
    assert vocabulary.ids == {"[UNK]": 0, "b": 2, "a": 3}
    assert vocabulary.shadowed == {1: "a"}
    assert vocabulary.size == 4
    assert 1 not in vocabulary.tokens_by_id
    (message,) = [str(warning.message) for warning in caught]
    assert message == (
        "<text>: a repeated token has the id of its last line, and the earlier line's id stands "
        "for nothing: 'a' on line 2, again on line 4"
    )


def test_a_repeated_last_line_counts_in_the_size() -> None:
    with pytest.warns(VocabularyWarning, match="again on line 4"):
        vocabulary = Vocabulary.from_text("[UNK]\n\nb\n\n")
    assert (vocabulary.ids[""], vocabulary.shadowed, vocabulary.size) == (3, {1: ""}, 4)


def test_one_warning_for_a_kind_names_the_first_lines_and_the_count() -> None:
    with pytest.warns(VocabularyWarning) as caught:
        Vocabulary.from_text("[UNK]\na \nb\t\nc\u3000\nd\xa0\n")
    assert len(caught) == 1
    assert str(caught[0].message).endswith(
        r"'a ' on line 2; 'b\t' on line 3; 'c\u3000' on line 4; 4 in all"
    )


@pytest.mark.parametrize("space", WHITE_SPACE.replace("\r", ""))  # a CR there ends the line
def test_white_space_at_a_line_end_is_kept_and_warned_about(space: str) -> None:
    with pytest.warns(VocabularyWarning, match="kept as part of the token"):
        vocabulary = Vocabulary.from_text(f"[UNK]\nx{space}\ny\n")
    assert vocabulary.ids == {"[UNK]": 0, f"x{space}": 1, "y": 2}


@pytest.mark.parametrize("line", ["  a", "a b", "a\u200b", "a\x1f", "\u2028a"])
def test_other_white_space_is_not_warned_about(line: str) -> None:
    assert Vocabulary.from_text(f"[UNK]\n{line}\n").ids[line] == 1


def test_a_byte_order_mark_is_dropped_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\xef\xbb\xbf[UNK]\na\n")
    with pytest.warns(VocabularyWarning, match=r"line 1 of .*vocab\.txt: dropped the byte order"):
        vocabulary = Vocabulary.from_file(path)
    assert vocabulary.ids == {"[UNK]": 0, "a": 1}


def test_a_byte_order_mark_elsewhere_is_text() -> None:
    assert Vocabulary.from_text("[UNK]\n\ufeffa\n").ids == {"[UNK]": 0, "\ufeffa": 1}


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes(data)
    with pytest.raises(ValueError, match=r"vocab\.txt: expected one token a line, got an empty"):
        Vocabulary.from_file(tmp_path / "vocab.txt")


def test_invalid_utf8_is_refused_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes("[UNK]\né\n".encode() + b"ab\xff\n")
    expected = r"line 3 of .*vocab\.txt: expected UTF-8, got byte 0xff at offset 11"
    with pytest.raises(ValueError, match=expected):
        Vocabulary.from_file(tmp_path / "vocab.txt")


def test_lines_of_token_tab_id_are_refused(data_path: Callable[..., Path]) -> None:
    path = data_path("vocabs", "traps", "ernie-1.0.tab-id.vocab.txt")
    with pytest.raises(ValueError, match=r"line 1 of .*: expected a token, got '\[PAD\]\\t0'.*TAB"):
        Vocabulary.from_file(path)


def test_a_token_with_a_tab_is_no_reason_to_refuse() -> None:
    assert Vocabulary.from_text("a\t1\n[UNK]\n").ids == {"a\t1": 0, "[UNK]": 1}


def test_a_hand_edited_file_loads_with_its_shifted_ids(data_path: Callable[..., Path]) -> None:
    path = data_path("vocabs", "traps", "scibert-duplicated-pad-line.vocab.txt")
    with pytest.warns(VocabularyWarning, match=r"'\[PAD\]' on line 1, again on line 2"):
        vocabulary = Vocabulary.from_file(path)
    assert vocabulary.ids == helpers.read_vocab(path)
    assert (vocabulary.ids["[PAD]"], vocabulary.shadowed) == (1, {0: "[PAD]"})
    assert (len(vocabulary.ids), vocabulary.size) == (31090, 31091)


def test_the_smallest_file(data_path: Callable[..., Path]) -> None:
    vocabulary = Vocabulary.from_file(str(data_path("vocabs", "traps", "fbt-minimal.txt")))
    assert vocabulary.ids == {"[UNK]": 0, "[SEP]": 1, "[CLS]": 2, "[PAD]": 3}


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        Vocabulary.from_file(tmp_path / "nowhere.txt")
    with pytest.raises(IsADirectoryError, match=tmp_path.name):
        Vocabulary.from_file(tmp_path)


def test_a_lone_surrogate_in_a_text_is_refused_with_its_line() -> None:
    with pytest.raises(ValueError, match="line 2 of <text>: the token holds a lone surrogate"):
        Vocabulary.from_text("[UNK]\na\ud800\n")


def test_read_vocabulary_takes_a_path_or_the_text(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\na\n")
    read = [read_vocabulary(source) for source in (path, str(path), "[UNK]\na\n")]
    assert read == [Vocabulary({"[UNK]": 0, "a": 1})] * 3


@pytest.mark.parametrize("source", ["[UNK]", "[UNK]\ra\r"])
def test_a_str_without_a_line_feed_is_a_path_and_the_message_says_so(source: str) -> None:
    with pytest.raises(FileNotFoundError, match="without a line feed is taken as a path") as caught:
        read_vocabulary(source)
    assert caught.value.filename == source


def test_a_whole_text_taken_for_a_path_is_not_echoed() -> None:
    with pytest.raises(FileNotFoundError, match="is taken as a path") as caught:
        read_vocabulary("token " * 10_000)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("", ValueError, "vocab_txt: expected the path of a file, got an empty str"),
        (None, TypeError, "vocab_txt: expected a str or a path, got None"),
        (b"a\n", TypeError, r"vocab_txt: expected a str or a path, got b'a\\n'"),
    ],
)
def test_read_vocabulary_refuses_what_is_no_path(
    source: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_vocabulary(source)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[PAD]\r[UNK]\ra\r", "end in bare carriage returns"),
        ("[PAD]\n[UNK] \na\n", r"it has '\[UNK\] ' \(id 1\)$"),
        ("<pad>\n[unk]\n", r"it has '\[unk\]' \(id 1\)$"),
        ("[PAD] 0\n[UNK] 1\n", r"first line is '\[PAD\] 0': .*token<SPACE>id"),
        ('{"[UNK]": 0, "a": 1}', "looks like JSON"),
        ('{\n  "[UNK]": 0,\n  "a": 1\n}', "looks like JSON"),
        ('["[UNK]", "a"]', "looks like JSON"),
        ("{\na\n", "vocabulary$"),
        ("<unk> 1\na\n", "vocabulary$"),
    ],
)
def test_without_the_unk_token_the_message_says_what_the_file_looks_like(
    text: str, message: str
) -> None:
    with pytest.raises(ValueError, match=rf"<text>: unk_token '\[UNK\]' is not in .*{message}"):
        check_unk_token(read_silently(text), "[UNK]")


def test_a_warning_does_not_echo_a_whole_file() -> None:
    with pytest.warns(VocabularyWarning, match="white space") as caught:
        Vocabulary.from_text("[UNK]\r" * 10_000)
    assert len(str(caught[0].message)) < 500


def test_a_warning_points_at_the_callers_line() -> None:
    with pytest.warns(VocabularyWarning) as caught:
        read_vocabulary("\ufeff[UNK]\na \na\na\n")
    line = sys._getframe().f_lineno - 1
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)] * 3


# ---- to_text ----


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({"[UNK]": 0, "a": 2}, "no token has id 1"),
        ({"[UNK]": 1}, "no token has id 0"),
        ({"[UNK]": 0, "a": 1, "b": 1}, "tokens 'a' and 'b' both have id 1"),
        ({"[UNK]": 0, "a\nb": 1}, r"token 'a\\nb' \(id 1\) holds a line end"),
        ({"[UNK]": 0, "a\r": 1}, r"token 'a\\r' \(id 1\) holds a line end"),
        ({"\ufeff[UNK]": 0}, r"\(id 0\): a vocab.txt that starts so"),
        ({"a\t0": 0, "b\t1": 1}, r"token 'a\\t0' \(id 0\): a vocab.txt that starts so"),
    ],
)
def test_to_text_refuses_what_the_format_cannot_hold(ids: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocabulary(ids).to_text()


def test_to_text_reads_back_to_the_same_ids_and_shadowed_lines() -> None:
    rng = random.Random(7)
    letters = ["a", "b", "0", " ", "\t", "\r", "\n", "\ufeff", "\x85", "\u2028", "\x0b", "日", ""]
    n_round_trips = 0
    for _ in range(3000):
        lines = [
            "".join(rng.choices(letters, k=rng.randint(0, 3))) for _ in range(rng.randint(1, 6))
        ]
        ids = {line: id_ for id_, line in enumerate(lines)}
        vocabulary = Vocabulary(
            ids, {id_: line for id_, line in enumerate(lines) if ids[line] != id_}
        )
        try:
            text = vocabulary.to_text()
        except ValueError:
            continue
        assert read_silently(text) == vocabulary
        n_round_trips += 1
    assert n_round_trips > 1000


def test_write_vocabulary_replaces_the_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("before")
    with pytest.raises(ValueError, match="no token has id 1"):
        write_vocabulary(Vocabulary({"a": 0, "b": 2}), path)
    assert path.read_text() == "before"
    write_vocabulary(Vocabulary({"é": 0, "b": 1}), path)
    assert path.read_bytes() == "é\nb\n".encode()
    assert [file.name for file in tmp_path.iterdir()] == ["vocab.txt"]


def test_a_failed_write_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "vocab.txt"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, b"")
    assert caught.value.filename == str(path)


@pytest.mark.parametrize(("path", "error"), [("", ValueError), (None, TypeError)])
def test_a_write_to_no_path_is_refused(path: object, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^path: expected"):
        write_atomically(path, b"")  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_a_replaced_file_keeps_its_mode_and_a_new_one_has_the_usual(tmp_path: Path) -> None:
    new, plain = tmp_path / "new", tmp_path / "plain"
    plain.touch()
    write_atomically(new, b"")
    assert new.stat().st_mode == plain.stat().st_mode
    for mode in (0o640, 0o400, 0o666):
        new.chmod(mode)
        write_atomically(new, b"again")
        assert stat.S_IMODE(new.stat().st_mode) == mode


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="got a device or a pipe"):
        write_atomically(tmp_path / "pipe", b"")
    assert (tmp_path / "pipe").is_fifo()


# ---- mappings ----


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "expected a vocabulary, got an empty mapping"),
        ({"[UNK]": 0, "a": 2}, "expected ids 0 to 1 for 2 tokens, but no token has id 1"),
        ({"[UNK]": 1, "a": 2}, "no token has id 0 and 'a' has 2"),
        ({"[UNK]": 0, "a": 1, "b": 1}, "tokens 'a' and 'b' both have id 1"),
        ({"[UNK]": 0, "a": -1}, "token 'a': expected an integer id .*, got -1"),
        ({"[UNK]": 0, "a": 1.0}, r"token 'a': expected an integer id .*, got 1\.0"),
        ({"[UNK]": 0, "a": "1"}, "token 'a': expected an integer id .*, got '1'"),
        ({"[UNK]": 0, "a": None}, "token 'a': expected an integer id .*, got None"),
        ({"[UNK]": 0, "a": True}, "token 'a': expected an integer id .*, got True"),
        ({"[UNK]": 0, "a": np.True_}, "token 'a': expected an integer id"),
        ({"[UNK]": 0, "a": 1 << 28}, "from 0 to 268,435,455, got 268435456"),
        ({"[UNK]": 0, 5: 1}, "expected tokens that are strings, got 5"),
        ({"[UNK]": 0, b"a": 1}, "expected tokens that are strings, got b'a'"),
        ({"[UNK]": 0, "a\udc00": 1}, r"token 'a\\udc00' holds a lone surrogate"),
    ],
)
def test_from_mapping_refuses(mapping: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"<mapping>: .*{message}"):
        Vocabulary.from_mapping(mapping)


def test_from_mapping_refuses_what_is_no_mapping() -> None:
    with pytest.raises(TypeError, match="expected a mapping of tokens to ids, got list"):
        Vocabulary.from_mapping(["[UNK]"])  # type: ignore[arg-type]


def test_from_mapping_makes_plain_ints_of_numpy_integers() -> None:
    ids = Vocabulary.from_mapping({"[UNK]": np.int64(1), "a": np.uint8(0)}).ids
    assert {token: type(id_) for token, id_ in ids.items()} == {"[UNK]": int, "a": int}


def test_from_mapping_makes_plain_strs_of_subclasses() -> None:
    class Shouting(str):
        def __str__(self) -> str:
            return self.upper() + "!"

    ids = Vocabulary.from_mapping({np.str_("[UNK]"): 0, Shouting("a"): 1}).ids
    assert ids == {"[UNK]": 0, "a": 1}
    assert set(map(type, ids)) == {str}
    with pytest.raises(ValueError, match="holds a lone surrogate"):
        Vocabulary.from_mapping({np.str_("a\ud800"): 0})


def test_from_mapping_copies() -> None:
    mapping = {"[UNK]": 0}
    vocabulary = Vocabulary.from_mapping(mapping)
    mapping["a"] = 1
    assert vocabulary.ids == {"[UNK]": 0}


# ---- the value ----


def test_equality_is_by_content() -> None:
    vocabulary = Vocabulary({"a": 0, "b": 1}, source="here")
    assert vocabulary == Vocabulary({"b": 1, "a": 0}, source="there")
    assert vocabulary != Vocabulary({"a": 1, "b": 0})
    assert vocabulary != Vocabulary({"a": 0, "b": 1}, {2: "b"})
    assert vocabulary != {"a": 0, "b": 1}


def test_an_id_of_two_tokens_is_that_of_the_first() -> None:
    assert Vocabulary({"a": 0, "b": 0}).tokens_by_id == {0: "a"}
    assert Vocabulary({"a": 0, "b": 0}) != Vocabulary({"b": 0, "a": 0})


def test_pickles_without_what_it_caches() -> None:
    vocabulary = read_silently("[UNK]\na\na\n")
    before = pickle.dumps(vocabulary)
    assert (vocabulary.tokens_by_id, vocabulary.size) == ({0: "[UNK]", 2: "a"}, 3)
    assert pickle.dumps(vocabulary) == before
    assert pickle.loads(before) == vocabulary
