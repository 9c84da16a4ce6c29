"""encode_files: which bytes are documents, what lies on disk, and what remains after a failure."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from helpers import embedded_vocab, hf_ids, hf_tokenizer

from piecework import Batch, WordPieceTokenizer
from piecework.corpus import EncodeReport, encode_files, write_npy
from piecework.corpus.read_text import read_documents
from piecework.corpus.write_npy import _GrowingNpy, _header, open_batch_writer

FINAL_NAMES = ["ids.npy", "row_splits.npy"]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


@pytest.fixture(scope="module")
def hf():
    return hf_tokenizer(embedded_vocab())


def load(folder):
    return Batch(*(np.load(folder / name, mmap_mode="r") for name in FINAL_NAMES))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- documents ----

CONTENTS = {
    "nothing": b"",
    "one empty document": b"\n",
    "two empty documents": b"\n\n",
    "last line ended": b"one\ntwo\n",
    "last line open": b"one\ntwo",
    "empty ones between": b"\n\none\n\n\ntwo\n\n",
    "carriage returns": b"one\r\ntwo\rthree\r\n\r",
    "other line ends": "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\n".encode(),
    "zero bytes": b"\0one\0\n\0",
    "byte order mark": b"\xef\xbb\xbfone\ntwo\n",
    "several bytes a character": "é日本😀\n한국어 ѣ\n😀".encode(),
    "long between short": b"a\n" + b"word " * 500 + b"\nb\n",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 64, 2**20])
def test_documents_are_what_line_feeds_end(content, block_bytes):
    expected = [line.removesuffix(b"\n").decode() for line in io.BytesIO(content)]
    blocks = list(read_documents(io.BytesIO(content), "x", block_bytes))
    assert [text for block in blocks for text in block.texts] == expected
    assert sum(block.byte_len for block in blocks) == len(content)


def test_blocks_stay_near_their_size():
    blocks = read_documents(io.BytesIO(b"a document\n" * 10_000), "x", block_bytes=1000)
    assert all(900 < block.byte_len <= 1100 for block in list(blocks)[:-1])


@pytest.mark.parametrize("block_bytes", [1, 5, 2**20])
@pytest.mark.parametrize(
    ("content", "line", "byte", "detail"),
    [
        (b"\xff", 1, 0, "0xff: invalid start byte"),
        (b"one\ntwo\nth\xe9e\n", 3, 10, "0xe9: invalid continuation byte"),
        ("é\né\n".encode() + b"\x80", 3, 6, "0x80: invalid start byte"),
        (b"one\ntwo \xe6\x97\nthree", 2, 8, "0xe6: invalid continuation byte"),
        (b"one\n\xf0\x9f\x98", 2, 4, "0xf0: unexpected end of data"),
        (b"\xed\xa0\x80\n", 1, 0, "0xed: invalid continuation byte"),
    ],
)
def test_invalid_utf8_is_named_by_file_line_and_byte(content, line, byte, detail, block_bytes):
    where = rf"x\.txt, line {line}, byte {byte} of the input: invalid UTF-8 \({detail}\)"
    with pytest.raises(ValueError, match=where):
        list(read_documents(io.BytesIO(content), "x.txt", block_bytes))


@pytest.mark.parametrize("block_bytes", [1, 2**20])
@pytest.mark.parametrize(
    ("content", "kind", "command"),
    [
        (gzip.compress(b"text"), "gzip", "gzip -dc"),
        (bz2.compress(b"text"), "bzip2", "bzip2 -dc"),
        (lzma.compress(b"text"), "xz", "xz -dc"),
        (b"\x28\xb5\x2f\xfd\x04\x00", "zstd", "zstd -dc"),
        (b"PK\x03\x04\n\xff", "zip", "unzip -p"),
    ],
)
def test_compressed_input_is_named_with_the_command_that_unpacks_it(
    content, kind, command, block_bytes
):
    message = rf"^x is compressed \({kind}\), but text is expected: .* {command} FILE \| piecework"
    with pytest.raises(ValueError, match=message):
        list(read_documents(io.BytesIO(content), "x", block_bytes))


def test_text_may_begin_as_compressed_data_does():
    (block,) = read_documents(io.BytesIO(b"BZh9 and PK\x03\x04"), "x")
    assert block.texts == ["BZh9 and PK\x03\x04"]
    with pytest.raises(ValueError, match="line 2, byte 3 of the input"):
        list(read_documents(io.BytesIO(b"a\n\x1f\x8b"), "x", 2))


# ---- the result ----

FIRST = "The UNAFFABLE cafés!\n\n[MASK] [mask] 日本語\r\na\u2028b\0c\u200bd 🫠 xqzwv\n".encode()
SECOND = b"no line end here"
EMPTY = b""
THIRD = b"\n" + b"a long document " * 50 + b"\nend\n"


@pytest.fixture
def inputs(tmp_path):
    paths = []
    for number, content in enumerate([FIRST, SECOND, EMPTY, THIRD]):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_bytes(content)
    return paths


@pytest.fixture
def texts():
    lines = [line for part in (FIRST, SECOND, EMPTY, THIRD) for line in io.BytesIO(part)]
    return [line.removesuffix(b"\n").decode() for line in lines]


@pytest.mark.parametrize("add_special", [True, False])
@pytest.mark.parametrize("block_bytes", [1, 30, 2**23])
def test_encode_files_writes_the_ids_of_the_incumbent(
    inputs, texts, tmp_path, tokenizer, hf, add_special, block_bytes
):
    out = tmp_path / "new" / "out"
    encode_files(inputs, out, tokenizer, add_special=add_special, block_bytes=block_bytes)
    assert load(out).tolist() == hf_ids(hf, texts, add_special=add_special)
    assert names(out) == FINAL_NAMES


def test_encode_files_writes_a_corpus_as_the_incumbent(data_path, tmp_path, tokenizer, hf):
    path = data_path("corpora", "multi-udhr.txt")
    encode_files([path], tmp_path / "out", tokenizer, block_bytes=2**16)
    lines = [line.removesuffix(b"\n").decode() for line in io.BytesIO(path.read_bytes())]
    assert load(tmp_path / "out").tolist() == hf_ids(hf, lines, add_special=True)


@pytest.mark.parametrize("add_special", [True, False])
def test_report_counts_what_was_written(inputs, texts, tmp_path, tokenizer, hf, add_special):
    report = encode_files(inputs, tmp_path / "out", tokenizer, add_special=add_special)
    rows = hf_ids(hf, texts, add_special=add_special)
    plain = [token for row in hf_ids(hf, texts) for token in row]
    assert report.documents == len(texts)
    assert report.tokens == sum(map(len, rows))
    assert report.added_specials == report.tokens - len(plain)
    assert report.unknown == plain.count(hf.token_to_id("[UNK]"))
    assert report.unknown_rate == report.unknown / len(plain) > 0
    assert report.bytes == sum(path.stat().st_size for path in inputs)
    assert report.megabytes_per_second == report.bytes / 1e6 / report.seconds


def test_rates_of_nothing_are_zero():
    assert EncodeReport().unknown_rate == EncodeReport().megabytes_per_second == 0.0
    assert EncodeReport(documents=1, tokens=2, added_specials=2).unknown_rate == 0.0


def test_no_documents_give_an_empty_pair_that_can_be_mapped(tmp_path, tokenizer):
    (tmp_path / "empty.txt").touch()
    report = encode_files([tmp_path / "empty.txt"], tmp_path / "out", tokenizer)
    assert report.documents == report.tokens == 0
    assert load(tmp_path / "out").row_splits.tolist() == [0]


def test_dash_is_standard_input_in_its_place(inputs, tmp_path, tokenizer, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"from a pipe\nwithout end"))
    monkeypatch.setattr(sys, "stdin", stdin)
    encode_files([inputs[1], "-", str(inputs[1])], tmp_path / "out", tokenizer)
    texts = ["no line end here", "from a pipe", "without end", "no line end here"]
    assert load(tmp_path / "out") == tokenizer.encode_batch(texts, add_special=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_named_pipe_is_read_once(tmp_path, tokenizer):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"one\ntwo"])
    writer.start()
    encode_files([tmp_path / "pipe"], tmp_path / "out", tokenizer)
    writer.join()
    assert load(tmp_path / "out") == tokenizer.encode_batch(["one", "two"], add_special=True)


def test_progress_is_told_the_counts_after_each_block(inputs, tmp_path, tokenizer):
    reports = []
    result = encode_files(
        inputs, tmp_path / "out", tokenizer, block_bytes=64, progress=reports.append
    )
    counts = [(r.documents, r.tokens, r.unknown, r.bytes, r.seconds) for r in reports]
    assert len(counts) > 4
    assert counts == sorted(counts)
    assert counts[-1][:4] == (result.documents, result.tokens, result.unknown, result.bytes)


def test_memory_follows_the_block_not_the_file(tmp_path, tokenizer):
    line = b"a document of some length that says nothing new at all, nothing\n"
    (tmp_path / "big.txt").write_bytes(line * (4 * 2**20 // len(line)))
    tokenizer.encode("tables that are made on first use")
    tracemalloc.start()
    try:
        encode_files([tmp_path / "big.txt"], tmp_path / "out", tokenizer, block_bytes=2**14)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**20


# ---- refused before work starts ----


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ([], ValueError, "at least one file"),
        (["gone.txt"], FileNotFoundError, r"input .*gone\.txt does not exist"),
        (["a.txt", "folder"], IsADirectoryError, r"input .*folder is a folder; a text file is exp"),
        (["-", "a.txt", "-"], ValueError, r"standard input \(-\) can be read only once"),
        ("a.txt", TypeError, "inputs must be a sequence of paths, not one str"),
        (["a.txt", ""], ValueError, "inputs and out_dir must be paths, but one of them is empty"),
    ],
)
def test_unfit_inputs_are_refused_before_anything_is_made(
    tmp_path, tokenizer, monkeypatch, inputs, error, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").write_bytes(b"a")
    with pytest.raises(error, match=message):
        encode_files(inputs, "out", tokenizer)
    assert names(tmp_path) == ["a.txt", "folder"]


def test_empty_output_is_not_the_current_folder(inputs, tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = names(tmp_path)
    with pytest.raises(ValueError, match="out_dir must be paths, but one of them is empty"):
        encode_files(inputs, "", tokenizer)
    assert names(tmp_path) == before


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_unreadable_input_is_refused(inputs, tmp_path, tokenizer):
    inputs[0].chmod(0)
    with pytest.raises(PermissionError, match=r"0\.txt can't be read"):
        encode_files(inputs, tmp_path / "out", tokenizer)


def test_output_that_is_a_file_is_refused(inputs, tmp_path, tokenizer):
    with pytest.raises(NotADirectoryError, match=r"output .*0\.txt is a file; a folder is"):
        encode_files(inputs, inputs[0], tokenizer)
    assert inputs[0].read_bytes() == FIRST


def test_output_as_input_is_refused(inputs, tmp_path, tokenizer):
    out = tmp_path / "out"
    encode_files(inputs, out, tokenizer)
    before = (out / "ids.npy").read_bytes()
    with pytest.raises(ValueError, match=r"input .*ids\.npy is the output itself"):
        encode_files([out / "ids.npy"], out, tokenizer, overwrite=True)
    assert (out / "ids.npy").read_bytes() == before


def test_template_that_is_missing_is_refused(inputs, tmp_path):
    tokenizer = WordPieceTokenizer({"[UNK]": 0, "a": 1})
    with pytest.raises(ValueError, match=r"\[CLS\]"):
        encode_files(inputs, tmp_path / "out", tokenizer)
    assert not (tmp_path / "out").exists()
    assert encode_files(inputs, tmp_path / "out", tokenizer, add_special=False).documents


@pytest.mark.parametrize("name", FINAL_NAMES)
def test_finished_result_is_kept_unless_overwrite(inputs, tmp_path, tokenizer, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_bytes(b"precious")
    with pytest.raises(FileExistsError, match=f"already holds {name}"):
        encode_files(inputs, out, tokenizer)
    assert (out / name).read_bytes() == b"precious"
    encode_files(inputs, out, tokenizer, overwrite=True)
    assert names(out) == FINAL_NAMES
    assert len(load(out)) == 8


# ---- failures on the way ----


def interrupt(report):
    raise KeyboardInterrupt


def terminate(report):
    raise SystemExit(143)


def fill_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(params=["interrupted", "terminated", "disk full", "invalid UTF-8", "last rename"])
def failing(request, inputs, monkeypatch, tokenizer):
    """A run that fails, as a function of its output folder."""
    options, error = {}, OSError
    if request.param == "interrupted":
        options, error = {"progress": interrupt}, KeyboardInterrupt
    elif request.param == "terminated":
        options, error = {"progress": terminate}, SystemExit
    elif request.param == "disk full":
        monkeypatch.setattr(os, "fsync", fill_disk)
    elif request.param == "invalid UTF-8":
        inputs[-1].write_bytes(b"good\nbad\xff\n")
        error = ValueError
    else:
        move = _GrowingNpy.move_to_final

        def move_ids_only(file):
            move(file) if file.final.name == "ids.npy" else fill_disk()

        monkeypatch.setattr(_GrowingNpy, "move_to_final", move_ids_only)

    def run(out, **more):
        with pytest.raises(error):
            encode_files(inputs, out, tokenizer, block_bytes=8, **options, **more)
        return request.param

    return run


def test_failed_run_leaves_no_file_and_no_new_folder(failing, tmp_path):
    failing(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_failed_run_removes_the_folders_it_made_and_no_other(failing, tmp_path):
    (tmp_path / "old" / "empty").mkdir(parents=True)
    failing(tmp_path / "old" / "empty" / "new" / "newer" / "out")
    assert names(tmp_path / "old") == ["empty"]
    assert names(tmp_path / "old" / "empty") == []


def test_failed_run_leaves_new_folders_that_others_use(inputs, tmp_path, tokenizer):
    def use_and_fail(report):
        (tmp_path / "new" / "notes").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_files(inputs, tmp_path / "new" / "out", tokenizer, progress=use_and_fail)
    assert names(tmp_path / "new") == ["notes"]


def test_failed_run_leaves_other_files_of_its_folder(failing, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes").touch()
    failing(tmp_path / "out")
    assert names(tmp_path / "out") == ["notes"]


def test_failed_overwrite_keeps_the_old_result_or_none(failing, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    np.save(out / "ids.npy", np.array([5], dtype=np.int32))
    np.save(out / "row_splits.npy", np.array([0, 1], dtype=np.int64))
    failure = failing(out, overwrite=True)
    if failure == "last rename":  # one file was replaced already: half a pair would look right
        assert names(out) == []
    else:
        assert load(out).tolist() == [[5]]
        assert names(out) == FINAL_NAMES


def test_full_disk_names_the_file(inputs, tmp_path, tokenizer, monkeypatch):
    monkeypatch.setattr(os, "fsync", fill_disk)
    with pytest.raises(OSError, match=r"No space left on device: '.*ids\.npy'"):
        encode_files(inputs, tmp_path / "out", tokenizer)


def test_failed_read_names_the_file(tmp_path, tokenizer):
    memory = Path("/proc/self/mem")  # its first page can't be read
    if not memory.exists():
        pytest.skip("no /proc on this system")
    with pytest.raises(OSError, match=r"'/proc/self/mem'"):
        encode_files([memory], tmp_path / "out", tokenizer)
    assert not (tmp_path / "out").exists()


def test_nothing_bears_a_final_name_before_the_end(inputs, tmp_path, tokenizer):
    seen = []
    encode_files(
        inputs, tmp_path / "out", tokenizer, progress=lambda _: seen.append(names(tmp_path / "out"))
    )
    assert all(
        re.fullmatch(r"(ids|row_splits)\.npy\.\w+\.part", name) for each in seen for name in each
    )
    assert all(len(each) == 2 for each in seen)


# ---- beyond 2**31 ----


def test_row_splits_go_beyond_31_bits(tmp_path):
    batch = Batch(np.array([5, 6], dtype=np.int32), np.array([0, 1, 2], dtype=np.int64))
    with open_batch_writer(tmp_path) as writer:
        writer.append(batch)
        writer.n_tokens = 2**33
        writer.append(batch)
    assert np.load(tmp_path / "row_splits.npy").tolist() == [0, 1, 2, 2**33 + 1, 2**33 + 2]


@pytest.mark.skipif(sys.platform == "win32", reason="needs files with holes")
def test_file_of_more_than_2_to_the_31_ids_can_be_mapped(tmp_path):
    n_ids = 2**31 + 5
    with _GrowingNpy(tmp_path / "ids.npy", np.dtype(np.int32)) as file:
        file.append(np.array([7], dtype=np.int32))
        file._file.seek(4 * (n_ids - 2), os.SEEK_CUR)  # the ids between are a hole: zeros
        file.append(np.array([8], dtype=np.int32))
        file.length = n_ids
        file.complete()
        file.move_to_final()
    ids = np.load(tmp_path / "ids.npy", mmap_mode="r")
    assert ids.shape == (n_ids,)
    assert (ids[0], ids[1], ids[-2], ids[-1]) == (7, 0, 0, 8)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_header_has_one_size_whatever_the_length(dtype):
    sizes = {len(_header(np.dtype(dtype), length)) for length in (0, 1, 10**9, 2**63 - 1)}
    assert len(sizes) == 1
    assert sizes.pop() % 64 == 0


@pytest.mark.parametrize("call", [1, 2])
def test_ctrl_c_right_behind_the_making_of_a_file_leaves_nothing(tmp_path, monkeypatch, call):
    calls = []

    def header(dtype, length):
        calls.append(dtype)
        if len(calls) == call:
            raise KeyboardInterrupt
        return _header(dtype, length)

    monkeypatch.setattr(write_npy, "_header", header)
    with pytest.raises(KeyboardInterrupt), open_batch_writer(tmp_path / "new" / "out"):
        pass
    assert list(tmp_path.iterdir()) == []
