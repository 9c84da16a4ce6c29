"""The state of a Tokenizer of piecework.compat.tokenizers: whose it is, and what it survives."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from compat_calls import THEIRS, bert_json, both, content

import piecework.compat.tokenizers as tokenizers
from piecework import WordPieceTokenizer
from piecework.compat.tokenizers import AddedToken, Tokenizer

TEXTS = ["Hello unaffable big World!", "a b c d e f g h i j", ("x y z 1 2 3 4 5 6", "y"), ""]


@pytest.fixture
def tokenizer() -> Tokenizer:
    return Tokenizer.from_str(bert_json())


def _ids(tokenizer: Any) -> list[list[int]]:
    return [encoding.ids for encoding in tokenizer.encode_batch(TEXTS)]


def test_import_does_not_import_what_it_stands_in_for() -> None:
    code = "import sys, piecework.compat.tokenizers; sys.exit('tokenizers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_facades_over_one_tokenizer_share_no_state() -> None:
    behind = WordPieceTokenizer.from_hf_json(bert_json())
    first, second = Tokenizer(behind), Tokenizer(behind)
    before = _ids(second)
    first.enable_truncation(4)
    first.enable_padding(length=9)
    first.add_tokens(["hello"])
    first.encode_special_tokens = True
    assert (second.truncation, second.padding) == (None, None)
    assert not second.encode_special_tokens
    assert _ids(second) == before != _ids(first)
    assert behind == WordPieceTokenizer.from_hf_json(bert_json())


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))]
)
def test_a_copy_has_the_state_and_goes_its_own_way(tokenizer: Tokenizer, copied: Any) -> None:
    tokenizer.enable_truncation(6, stride=1, strategy="only_first", direction="left")
    tokenizer.enable_padding(pad_to_multiple_of=4, pad_id=7)
    tokenizer.add_tokens([AddedToken("big", lstrip=True)])
    tokenizer.encode_special_tokens = True
    other = copied(tokenizer)
    before = _ids(tokenizer)
    assert (other.truncation, other.padding) == (tokenizer.truncation, tokenizer.padding)
    assert other.encode_special_tokens
    assert _ids(other) == before
    other.no_truncation()
    other.no_padding()
    other.add_tokens(["unaffable"])
    assert _ids(tokenizer) == before != _ids(other)


def test_threads_with_truncations_of_their_own_never_meet_one_of_another(
    tokenizer: Tokenizer,
) -> None:
    text = "a b c d e f g h i j k l m n o p"
    wrong: list[tuple[int, int]] = []

    def work(max_length: int) -> None:
        own = copy.copy(tokenizer)
        for _ in range(200):
            own.enable_truncation(max_length)
            own.enable_padding(length=max_length + 3)
            encodings = own.encode_batch([text, (text, text)])
            wrong.extend(
                (max_length, len(each.ids))
                for each in encodings
                if sum(each.attention_mask) != max_length or len(each.ids) != max_length + 3
            )

    threads = [threading.Thread(target=work, args=(length,)) for length in range(5, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_call_sees_all_of_a_change_or_nothing(tokenizer: Tokenizer) -> None:
    text = "a b c d e f g h i j k l m n o p"
    stop = threading.Event()

    def switch() -> None:
        while not stop.is_set():
            tokenizer.enable_truncation(6, strategy="only_first", direction="right")
            tokenizer.enable_truncation(9, strategy="only_first", direction="left")

    switching = threading.Thread(target=switch)
    tokenizer.enable_truncation(6, strategy="only_first", direction="right")
    allowed = {tuple(tokenizer.encode(text).ids)}
    tokenizer.enable_truncation(9, strategy="only_first", direction="left")
    allowed.add(tuple(tokenizer.encode(text).ids))
    switching.start()
    try:
        seen = {tuple(tokenizer.encode(text).ids) for _ in range(2_000)}
    finally:
        stop.set()
        switching.join()
    assert seen <= allowed


def test_adding_from_many_threads_loses_no_token(tokenizer: Tokenizer) -> None:
    counts = []

    def add(number: int) -> None:
        counts.append(sum(tokenizer.add_tokens([f"<{number}-{i}>"]) for i in range(5)))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [5] * 4
    assert tokenizer.get_vocab_size() - tokenizer.get_vocab_size(False) == 20


def test_an_encoding_keeps_what_was_true_when_it_was_made(tokenizer: Tokenizer) -> None:
    theirs, _ = both(bert_json())
    for each in (theirs, tokenizer):
        each.enable_truncation(5)
        each.enable_padding(length=8)
    expected, encoding = theirs.encode("a b c d e f"), tokenizer.encode("a b c d e f")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.add_tokens(["c d"])
    assert content(encoding) == content(expected)


@pytest.mark.parametrize("padding", ["BatchLongest", {"Fixed": 12}])
def test_truncation_and_padding_of_a_file_are_on(tmp_path: Path, padding: Any) -> None:
    document = json.loads(bert_json())
    document["truncation"] = {
        "direction": "Left", "max_length": 7, "strategy": "OnlyFirst", "stride": 1
    }  # fmt: skip
    document["padding"] = {
        "strategy": padding, "direction": "Left", "pad_to_multiple_of": 5, "pad_id": 1,
        "pad_type_id": 2, "pad_token": "[unused0]",
    }  # fmt: skip
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    theirs, mine = THEIRS.Tokenizer.from_file(str(path)), Tokenizer.from_file(str(path))
    assert (mine.truncation, mine.padding) == (theirs.truncation, theirs.padding)
    batch = ["a b c d e f g h", "a", ("a b c d e f g", "x y")]
    expected = [*map(content, theirs.encode_batch(batch))]
    assert [*map(content, mine.encode_batch(batch))] == expected
    saved = tmp_path / "saved.json"
    mine.save(str(saved))
    assert [*map(content, THEIRS.Tokenizer.from_file(str(saved)).encode_batch(batch))] == expected
    assert json.loads(saved.read_text()) == json.loads(theirs.to_str())


def test_a_saved_state_is_read_back_and_piecework_reads_the_file_too(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    tokenizer.add_tokens([AddedToken("New Tok", lstrip=True)])
    tokenizer.enable_truncation(6, stride=1)
    tokenizer.enable_padding(length=8)
    for pretty in (True, False):
        path = tmp_path / f"{pretty}.json"
        tokenizer.save(str(path), pretty)
        again = Tokenizer.from_file(str(path))
        assert (again.truncation, again.padding) == (tokenizer.truncation, tokenizer.padding)
        assert _ids(again) == _ids(tokenizer)
        assert again.get_added_tokens_decoder() == tokenizer.get_added_tokens_decoder()


def test_async_calls_give_what_the_others_give(tokenizer: Tokenizer) -> None:
    async def run() -> None:
        one = await tokenizer.async_encode("Hello", "world")
        assert content(one) == content(tokenizer.encode("Hello", "world"))
        many = await tokenizer.async_encode_batch(TEXTS)
        assert [*map(content, many)] == [*map(content, tokenizer.encode_batch(TEXTS))]
        fast = await tokenizer.async_encode_batch_fast(TEXTS)
        assert [*map(content, fast)] == [*map(content, tokenizer.encode_batch_fast(TEXTS))]
        assert await tokenizer.async_decode_batch([[7592]]) == ["hello"]
        waiting = tokenizer.async_encode("a b c d e f")
        tokenizer.enable_truncation(3)
        assert len(await waiting) == 8
        with pytest.raises(TypeError):
            await tokenizer.async_encode(3)

    asyncio.run(run())


@pytest.mark.parametrize(
    "part", ["normalizer", "pre_tokenizer", "post_processor", "decoder", "model"]
)
def test_a_part_can_be_looked_at_and_not_be_set(tokenizer: Tokenizer, part: str) -> None:
    assert repr(getattr(tokenizer, part))
    with pytest.raises(AttributeError, match=rf"{part} can't be set: .*from_str"):
        setattr(tokenizer, part, None)
    with pytest.raises(AttributeError, match=r"can't be set"):
        getattr(tokenizer, part).lowercase = False


def test_training_says_that_it_is_not_there_yet(tokenizer: Tokenizer) -> None:
    with pytest.raises(NotImplementedError, match="next milestone"):
        tokenizer.train(["file"])
    with pytest.raises(NotImplementedError, match="next milestone"):
        tokenizer.train_from_iterator(["text"])


# What differs on purpose; docs/compat-tokenizers.md has the reasons.


@pytest.mark.parametrize(("max_length", "texts"), [(1, ("a",)), (2, ("a", "b")), (0, ("",))])
def test_a_max_length_below_the_special_tokens_is_an_error(
    tokenizer: Tokenizer, max_length: int, texts: tuple[str, ...]
) -> None:
    tokenizer.enable_truncation(max_length)
    with pytest.raises(ValueError, match=f"max_length={max_length}"):
        tokenizer.encode(*texts)
    with pytest.raises(ValueError, match=f"max_length={max_length}"):
        tokenizer.post_process(
            *(tokenizer.encode(each, add_special_tokens=False) for each in texts)
        )


def test_a_stride_without_progress_is_an_error(tokenizer: Tokenizer) -> None:
    tokenizer.enable_truncation(5, stride=3)
    with pytest.raises(ValueError, match="stride=3"):
        tokenizer.encode("a b c d e f")
    with pytest.raises(ValueError, match="stride=3"):
        tokenizer.encode("a b c d e f", add_special_tokens=False).truncate(3, 3)


def test_too_short_a_text_for_its_strategy_is_a_value_error(tokenizer: Tokenizer) -> None:
    tokenizer.enable_truncation(4, strategy="only_second")
    with pytest.raises(ValueError, match="only_second"):
        tokenizer.encode("a b c d e f")
    with pytest.raises(ValueError, match="only_second"):
        tokenizer.encode("a b c d e f", "x")


def test_unknown_options_are_errors(tokenizer: Tokenizer) -> None:
    with pytest.raises(TypeError, match="max_len"):
        tokenizer.enable_padding(max_len=3)
    with pytest.raises(TypeError, match="foo"):
        tokenizer.enable_truncation(3, foo=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="foo"):
        AddedToken("a", foo=1)  # type: ignore[call-arg]


def test_files_that_are_missing_or_none_have_errors_of_their_own() -> None:
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_file("/no/such/file.json")
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        Tokenizer.from_str("x")
    with pytest.raises(ValueError, match="model"):
        Tokenizer.from_str("{}")


def test_what_a_call_gave_does_not_change_with_what_it_was_given(tokenizer: Tokenizer) -> None:
    theirs, _ = both(bert_json())
    for each in (theirs, tokenizer):
        each.enable_truncation(8, stride=1)
    words: list[Any] = [["a", "b c d"], ["e f", "g"], (["h"], ["i", "j k l m"])]
    texts: list[Any] = ["a b c d e f g h i j", ("x", "y z a b c d e f")] * 4
    batches = [(words, True), (texts, False), (["a b"], False)]
    for name in ("encode_batch", "encode_batch_fast"):
        for batch, is_pretokenized in batches:
            expected = [*map(content, getattr(theirs, name)(batch, is_pretokenized))]
            given = copy.deepcopy(batch)
            encodings = getattr(tokenizer, name)(given, is_pretokenized)
            for row in given:
                for part in row if isinstance(row, tuple) else (row,):
                    if isinstance(part, list):
                        part[:] = ["zzz"] * 9
            given[:] = ["zzz"]
            tokenizer.no_truncation()
            assert [*map(content, encodings)] == expected
            tokenizer.enable_truncation(8, stride=1)


def test_a_stride_that_a_text_of_a_pair_is_too_short_for_names_the_row(
    tokenizer: Tokenizer,
) -> None:
    tokenizer.enable_truncation(6, stride=2, direction="left")
    text = "a b c d e f g h"
    with pytest.raises(ValueError, match=r"^row 0: max_length=6: stride=2: .* 1, .* text of 8$"):
        tokenizer.encode(text, text)
    with pytest.raises(ValueError, match=r"^row 1: max_length=6: stride=2: "):
        tokenizer.encode_batch(["a", (text, text)])


def test_types_are_named_as_one_says_them() -> None:
    with pytest.raises(TypeError, match="buffer: expected bytes, got 'x'"):
        Tokenizer.from_buffer("x")  # type: ignore[arg-type]


ADDITIONS = [("add_tokens", {}), ("add_tokens", {"normalized": False}),
             ("add_tokens", {"special": True}), ("add_special_tokens", {}),
             ("add_special_tokens", {"normalized": True})]  # fmt: skip


@pytest.mark.parametrize("content_", ["New T", "hello", "Hello"])
def test_a_token_that_is_added_again_with_other_flags(content_: str) -> None:
    for first, second in itertools.product(ADDITIONS, repeat=2):
        results = []
        for module, each in zip((THEIRS, tokenizers), both(bert_json()), strict=True):
            counts = [
                getattr(each, name)([module.AddedToken(content_, **flags)])
                for name, flags in (first, second)
            ]
            id_ = each.token_to_id(content_)
            rows = [[id_, 7592, 102]]
            strings = [each.id_to_token(id_), each.decode_batch(rows), each.decode(rows[0], False)]
            results.append(
                [counts, id_, strings, content(each.encode("a NEW T New T hello Hello"))]
            )
        is_special = "special" in first[1] or "special" in first[0]
        if is_special and second[0] == "add_tokens":  # stays special, there it doesn't
            del results[0][0], results[1][0]
        assert results[1] == results[0], (first, second)


def test_adding_token_by_token_builds_nothing(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, _ = both(bert_json())
    with monkeypatch.context() as patch:
        patch.setattr(WordPieceTokenizer, "from_spec", lambda spec: pytest.fail("it was built"))
        for i in range(20):
            assert tokenizer.add_tokens([f"New{i}", "hello"]) == 1 + (i == 0)
        assert tokenizer.token_to_id("New7") == 30529
        assert tokenizer.id_to_token(30529) == "new7"
        assert tokenizer.get_vocab()["New19"] == 30541
        assert (tokenizer.get_vocab_size(), len(tokenizer.get_added_tokens_decoder())) == (
            30542,
            26,
        )
    for i in range(20):
        theirs.add_tokens([f"New{i}", "hello"])
    assert content(tokenizer.encode("new3 NEW19")) == content(theirs.encode("new3 NEW19"))
    assert tokenizer.get_vocab() == theirs.get_vocab()
