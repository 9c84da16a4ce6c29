"""The tokenizer as an object: shared between threads and processes, copied, and fed huge input."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest
from tokenizers import Tokenizer as HFTokenizer

from piecework import Batch, Tokenizer, VocabularyWarning, WordPieceTokenizer

TEXTS = [
    "The UNAFFABLE! café",
    "",
    "[MASK] in the [SEP] middle",
    "한국어 日本語 русский",
    "a\u302e\u1d165b \ud83d\ude00 \udc00 x",
    "word " * 300,
]


@pytest.fixture(scope="module")
def tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer.from_pretrained("bert-base-uncased")


def test_a_batch_is_the_rows_that_encode_gives(tokenizer):
    for add_special in (False, True):
        batch = tokenizer.encode_batch(TEXTS, add_special=add_special)
        assert batch.tolist() == [tokenizer.encode(text, add_special) for text in TEXTS]
        assert (batch.ids.dtype, batch.row_splits.dtype) == (np.int32, np.int64)


def test_any_iterable_of_str_is_a_batch(tokenizer):
    expected = tokenizer.encode_batch(["a b", "c"])
    for texts in (("a b", "c"), iter(["a b", "c"]), np.array(["a b", "c"])):
        assert tokenizer.encode_batch(texts) == expected
    assert len(tokenizer.encode_batch([])) == 0


@pytest.mark.parametrize("texts", ["a text", b"bytes", None, 3, ["a", None], ["a", b"b"]])
def test_what_is_no_iterable_of_str_is_a_type_error(tokenizer, texts):
    with pytest.raises(TypeError, match="expected"):
        tokenizer.encode_batch(texts)


def test_the_row_of_what_is_no_str_is_named(tokenizer):
    with pytest.raises(TypeError, match=r"texts\[5000\]: expected a str, got int"):
        tokenizer.encode_batch(["a"] * 5000 + [1])


def test_eight_threads_get_what_one_gets(tokenizer):
    texts = TEXTS * 50
    expected = tokenizer.encode_batch(texts)
    results: list[Batch | None] = [None] * 8

    def work(number: int) -> None:
        for _ in range(5):
            results[number] = tokenizer.encode_batch(texts)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected for result in results)


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_encodes_after_threads_were_used(tokenizer):
    test_eight_threads_get_what_one_gets(tokenizer)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(tokenizer.encode, ("The UNAFFABLE!",)) == tokenizer.encode(
            "The UNAFFABLE!"
        )


def test_copies_are_equal_and_encode_the_same(tokenizer):
    for twin in (pickle.loads(pickle.dumps(tokenizer)), copy.copy(tokenizer)):
        assert twin == tokenizer
        assert hash(twin) == hash(tokenizer)
        assert twin.encode("The UNAFFABLE!", True) == tokenizer.encode("The UNAFFABLE!", True)


def test_tokenizers_differ_by_their_options(tokenizer):
    cased = WordPieceTokenizer(tokenizer.vocab, lowercase=False)
    assert cased != tokenizer
    assert cased.content_hash != tokenizer.content_hash


def test_the_content_hash_is_the_same_in_another_process(tokenizer):
    code = (
        "from piecework import WordPieceTokenizer as T;"
        "print(T.from_pretrained('bert-base-uncased').content_hash)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == tokenizer.content_hash


def test_equal_tokenizers_hash_alike():
    vocab = {"[UNK]": 0, "a": 1, "[CLS]": 2, "[SEP]": 3}
    plain = WordPieceTokenizer(vocab, max_input_chars_per_word=7)
    numpy = WordPieceTokenizer(
        {np.str_(token): np.int32(id_) for token, id_ in reversed(vocab.items())},
        unk_token=np.str_("[UNK]"),
        prefix=np.str_("##"),
        max_input_chars_per_word=np.uint8(7),
        lowercase=np.True_,
    )
    assert plain == numpy
    assert hash(plain) == hash(numpy)
    assert plain.content_hash == numpy.content_hash


def test_equal_tokenizers_of_files_with_keys_in_another_order_hash_alike(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text("utf-8"))
    document["post_processor"] = {"type": "BertProcessing", "sep": ["!", 999], "cls": ["[CLS]", 1]}
    one = WordPieceTokenizer.from_hf_json(json.dumps(document))
    document["post_processor"] = dict(reversed(document["post_processor"].items()))
    other = WordPieceTokenizer.from_hf_json(json.dumps(document))
    assert one == other
    assert hash(one) == hash(other)


# ---- it does not change ----


def test_changing_the_vocab_dict_changes_nothing(tokenizer):
    twin = copy.copy(tokenizer)
    twin.vocab["hello"] = 5
    twin.vocab.clear()
    assert isinstance(twin.vocab, dict)
    assert twin.vocab == tokenizer.vocab
    assert len(twin.vocab) == 30522
    assert twin.encode("hello") == tokenizer.encode("hello")


PROPERTIES = [name for name, kind in vars(WordPieceTokenizer).items() if isinstance(kind, property)]


@pytest.mark.parametrize("name", PROPERTIES)
def test_attributes_cannot_be_set(tokenizer, name):
    with pytest.raises(AttributeError):
        setattr(tokenizer, name, {})


def test_all_that_is_public_is_a_property_or_a_method(tokenizer):
    tokenizer = copy.copy(tokenizer)
    assert {"vocab", "content_hash", "file_truncation"} <= set(PROPERTIES)
    for name in PROPERTIES:
        getattr(tokenizer, name)
    assert [name for name in vars(tokenizer) if not name.startswith("_")] == []


def test_init_runs_once(tokenizer):
    with pytest.raises(TypeError, match="does not change once it is made"):
        tokenizer.__init__({"[UNK]": 0})
    assert tokenizer.vocab_size == 30522


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("truncation", {"max_length": 5, "strategy": "LongestFirst", "stride": 0}),
        (
            "padding",
            {
                "strategy": {"Fixed": 5},
                "direction": "Right",
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
        ),
    ],
)
def test_what_a_file_switches_on_is_handed_out_as_a_copy(tokenizer, tmp_path, key, value):
    tokenizer.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text("utf-8")) | {key: value}
    with pytest.warns(UserWarning, match=f"switches on {key}"):
        ours = WordPieceTokenizer.from_hf_json(json.dumps(document))
    handed_out = getattr(ours, f"file_{key}")
    handed_out["strategy"] = "x"
    if key == "padding":
        ours.file_padding["strategy"]["Fixed"] = 3
    assert getattr(ours, f"file_{key}") == value


# ---- options, files, messages ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"foo": 1}, "foo: no such option; expected one of unk_token, prefix"),
        ({"vocabulary": 1}, "vocabulary: no such option"),
        ({"lowercase": 1}, "lowercase: expected a bool, got 1"),
        ({"strip_accents": "no"}, "strip_accents: expected a bool or None, got 'no'"),
    ],
)
def test_from_vocab_names_a_wrong_option(options, message):
    with pytest.raises(TypeError, match=message):
        WordPieceTokenizer.from_vocab("[UNK]\n", **options)


def test_from_pretrained_names_itself_and_no_inner_function():
    with pytest.raises(TypeError, match=r"from_pretrained\(\) .*'lowercase'") as caught:
        WordPieceTokenizer.from_pretrained("bert-base-uncased", lowercase=False)
    assert "load_pretrained" not in str(caught.value)


def test_warnings_point_at_the_callers_line():
    with pytest.warns(VocabularyWarning) as caught:
        WordPieceTokenizer.from_vocab("[UNK]\na\na\n")
    assert [each.filename for each in caught] == [__file__]


def test_save_vocab_refuses_added_tokens(tmp_path):
    WordPieceTokenizer({"[UNK]": 0, "a": 1}).save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text("utf-8"))
    document["added_tokens"].append({**document["added_tokens"][0], "id": 2, "content": "<x>"})
    tokenizer = WordPieceTokenizer.from_hf_json(json.dumps(document))
    assert tokenizer.encode("a<x>") == [1, 2]
    with pytest.raises(ValueError, match=r"can't hold them: '<x>' \(id 2\); save\(\) writes"):
        tokenizer.save_vocab(tmp_path / "vocab.txt")
    assert not (tmp_path / "vocab.txt").exists()


def test_add_special_without_a_template_says_what_is_missing(tmp_path):
    vocab = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}
    with pytest.raises(ValueError, match=r"it has no \[CLS\] and no \[SEP\]$"):
        WordPieceTokenizer({"[UNK]": 0}).encode("", add_special=True)
    (tmp_path / "vocab.txt").write_text("\n".join(vocab))
    (tmp_path / "tokenizer_config.json").write_text('{"cls_token": null}')
    tokenizer = WordPieceTokenizer.from_pretrained(tmp_path)
    with pytest.raises(ValueError, match="they name no cls_token or no sep_token"):
        tokenizer.encode("", add_special=True)


def test_a_tokenizer_json_without_a_post_processor_adds_nothing(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.json")
    document = json.loads((tmp_path / "t.json").read_text("utf-8")) | {"post_processor": None}
    ours = WordPieceTokenizer.from_hf_json(json.dumps(document))
    theirs = HFTokenizer.from_str(json.dumps(document))
    assert ours.encode("hello", add_special=True) == theirs.encode("hello").ids == [7592]


def test_it_follows_the_protocol(tokenizer):
    assert isinstance(tokenizer, Tokenizer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * 10_000_000, [100]),
        ("é" * 10_000_000, [100]),
        (" " * 10_000_000, []),
        ("\u0301" * 10_000_000, []),
        ("!" * 1_000_000, [999] * 1_000_000),
    ],
    ids=["letters", "accents", "spaces", "marks", "punctuation"],
)
def test_huge_texts_take_little_memory(tokenizer, text, expected):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert tokenizer.encode_batch([text]).tolist() == [expected]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 12 * len(text.encode()) + 64 * len(expected) + 2**22


def test_a_million_empty_texts_are_a_million_rows(tokenizer):
    batch = tokenizer.encode_batch([""] * 1_000_000, add_special=True)
    assert len(batch) == 1_000_000
    assert batch.ids[:4].tolist() == [101, 102, 101, 102]


def test_a_long_word_within_a_long_limit_is_segmented():
    tokenizer = WordPieceTokenizer(
        {"[UNK]": 0, "a": 1, "##a": 2, "##aab": 3}, max_input_chars_per_word=10**7
    )
    assert tokenizer.encode("a" * 1_000_000) == [1] + [2] * 999_999
    assert tokenizer.encode("a" * 1_000_000 + "b")[-2:] == [2, 3]


MEMORY_FAILS = """
import _testcapi
from piecework import WordPieceTokenizer

tokenizer = WordPieceTokenizer({"[UNK]": 0, "a": 1, "##a": 2, "[CLS]": 3, "[SEP]": 4})
rows = ["a"] * 7500 + ["a " * 9000, "aaa" * 900]
expected = tokenizer.encode_batch(rows, add_special=True)
failures = 0
for n_fine in range(200):
    try:
        _testcapi.set_nomemory(n_fine, n_fine + N_FAILING)
        tokenizer.encode_batch(rows, add_special=True)
    except MemoryError:
        failures += 1
    finally:
        _testcapi.remove_mem_hooks()
assert failures > 20, failures
assert tokenizer.encode_batch(rows, add_special=True) == expected
"""


@pytest.mark.parametrize("n_failing", [1, 1000])
def test_a_failed_allocation_is_a_memory_error_wherever_it_comes(n_failing):
    pytest.importorskip("_testcapi")
    script = MEMORY_FAILS.replace("N_FAILING", str(n_failing))
    env = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_CHECK_": "3"}
    subprocess.run([sys.executable, "-c", script], env=env, check=True, timeout=300)


def test_other_threads_run_while_one_long_text_is_walked():
    tokenizer = WordPieceTokenizer({"[UNK]": 0, "a": 1, "##a": 2}, max_input_chars_per_word=1 << 40)
    text = "a" * 5_000_000 + "b"
    ticks = 0
    done = threading.Event()

    def encode():
        assert tokenizer.encode(text) == [0]
        done.set()

    thread = threading.Thread(target=encode)
    thread.start()
    while not done.wait(0.002):
        ticks += 1
    thread.join()
    assert ticks > 5


def test_the_first_texts_of_a_tokenizer_may_all_be_empty(bert_vocab) -> None:
    tokenizer = WordPieceTokenizer(bert_vocab)  # a new one: no memory of an earlier call
    batch = tokenizer.encode_batch(["", ""], return_offsets=True, return_word_ids=True)
    assert batch.tolist() == [[], []]
    assert batch.offsets is not None
    assert batch.offsets.shape == (0, 2)
