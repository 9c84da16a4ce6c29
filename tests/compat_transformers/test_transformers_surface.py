"""What else there is to a tokenizer of transformers, against the real one: all but ``__call__``."""

from __future__ import annotations

import copy
import json
import pickle
import threading

import numpy as np
import pytest

pytest.importorskip("transformers", "5", reason="needs the extra test-transformers")

import compare
from tokenizers import AddedToken

TEXTS = ["Hello, world!", "The UNAFFABLE café", "", "don't [MASK] we 've"]
ATTRIBUTES = [
    "vocab_size", "model_max_length", "padding_side", "truncation_side", "model_input_names",
    "is_fast", "special_tokens_map", "all_special_tokens", "all_special_ids", "pad_token_type_id",
    "extra_special_tokens", "max_len_single_sentence", "max_len_sentences_pair", "vocab",
    "added_tokens_encoder", "added_tokens_decoder", "split_special_tokens", "do_lower_case",
    "clean_up_tokenization_spaces", "add_prefix_space", "can_save_slow_tokenizer", "backend",
    "add_bos_token", "add_eos_token", "model", "vocab_file",
    *(f"{name}_token{end}" for name in ("pad", "unk", "cls", "sep", "mask", "bos", "eos")
      for end in ("", "_id")),
]  # fmt: skip


def same(both, call):
    """Return what both give, if that is the same."""
    real, ours = (compare.outcome(call, each) for each in both)
    assert type(ours.error) is type(real.error), (ours, real)
    assert ours.value == real.value
    return ours.value


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_are_those_of_transformers(both, name):
    same(both, lambda each: getattr(each, name))


def test_lengths_and_vocabulary_are_those_of_transformers(both):
    same(both, len)
    same(both, bool)
    same(both, lambda each: each.get_vocab())
    same(both, lambda each: each.get_added_vocab())
    same(both, lambda each: [each.num_special_tokens_to_add(pair) for pair in (True, False)])


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("clean_up", [None, True, False])
@pytest.mark.parametrize(
    "ids",
    [
        7592,
        [],
        [101, 7592, 1010, 2088, 999, 102, 0, 0],
        (101, 2123, 1005, 1056),
        [[101, 7592, 102], [], [2057, 1005, 2310]],
        np.array([[101, 7592, 102], [0, 0, 0]]),
        np.array([7592, 999]),
        {"input_ids": [101, 7592]},
        [7592, 999_999],
        [-1],
        [7592, -100],
        [[7592, 999_999], (101,)],
        [[7592], [-1]],
        [2**32 - 1],
        [[2**32]],
        [[], [7592]],
        [np.array([101, 7592]), np.array([999])],
        [np.int64(7592), np.int64(999)],
        np.zeros((0, 3), np.int64),
        np.zeros((2, 0), np.int64),
        [True],
        [[7592], "text"],
        "text",
        [1.5],
        None,
    ],
)
def test_decode_is_that_of_transformers(both, ids, skip, clean_up):
    options = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean_up}
    same(both, lambda each: each.decode(ids, **options))
    if not isinstance(ids, (int, dict)):
        same(both, lambda each: each.batch_decode(ids, **options))


def test_decode_takes_tensors(both):
    torch = pytest.importorskip("torch", reason="needs torch")
    for ids in (torch.tensor([[101, 7592], [999, 102]]), torch.tensor([7592]), torch.tensor(7592)):
        same(both, lambda each, ids=ids: each.decode(ids))


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(
    "ids", [7592, [101, 7592, 0], np.array([101, 2]), [10**6], 10**6, [-1], -1]
)
def test_ids_become_the_tokens_of_transformers(both, ids, skip):
    same(both, lambda each: each.convert_ids_to_tokens(ids, skip_special_tokens=skip))


@pytest.mark.parametrize(
    "tokens",
    ["hello", "no such", "[MASK]", ["un", "##aff", "x y"], [], "", ("un", "##aff"), [5], None, 5],
)
def test_tokens_become_the_ids_and_texts_of_transformers(both, tokens):
    same(both, lambda each: each.convert_tokens_to_ids(tokens))
    same(both, lambda each: each.convert_tokens_to_string(tokens))


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_and_ids_of_a_text_are_those_of_transformers(both, text):
    same(both, lambda each: each.tokenize(text))
    same(both, lambda each: each.tokenize(text, pair="b", add_special_tokens=True))
    same(both, lambda each: each.encode(text))
    same(both, lambda each: each.encode(text, "b", max_length=5, truncation=True))
    same(both, lambda each: each.encode(text, add_special_tokens=False, padding="max_length"))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("abc", r"^token_ids: expected ids, .* got 'abc'"),
        (None, r"^token_ids: expected ids, .* got None"),
        ([7592, "a"], r"^token_ids\[1\]: expected an id, got 'a'"),
        ([[7592], [999, -1]], r"^token_ids\[1\]\[1\]: .* got -1"),
        ([[7592], 5], r"^token_ids\[1\]: expected ids, .* got 5"),
    ],
)
def test_decode_says_what_is_wrong_and_where(both, ids, message):
    with pytest.raises((TypeError, OverflowError), match=message):
        both[1].decode(ids)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        ["<x>"],
        [AddedToken("<l>", lstrip=True)],
        [AddedToken("Abc", normalized=True)],
        [AddedToken("[UNK]", lstrip=True, special=True)],
    ],
    ids=str,
)
@pytest.mark.parametrize("split", [False, True])
def test_tokens_of_texts_with_added_tokens_are_those_of_transformers(pair_of, tokens, split):
    pair = pair_of(split_special_tokens=split)
    for each in pair:
        each.add_tokens(tokens)
    for text in ["a <x>b  <l> ABC abc", " [UNK] \u2603 [MASK]", "", *TEXTS]:
        same(pair, lambda each, text=text: each.tokenize(text))


@pytest.mark.parametrize("side", [None, "left"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding": "max_length", "max_length": 9},
        {"pad_to_multiple_of": 8},
        {"return_tensors": "np"},
    ],
)
def test_pad_is_that_of_transformers(both, options, side):
    for each in ([both[0](text) for text in TEXTS], both[0](TEXTS), both[0]("a"), {"x": [1]}):
        real, ours = (
            compare.outcome(it.pad, copy.deepcopy(each), padding_side=side, **options)
            for it in both
        )
        assert type(ours.error) is type(real.error)
        if real.error is None:
            assert compare.columns(ours.value) == compare.columns(real.value)


@pytest.mark.parametrize("text", [*TEXTS, "日本 x", "e\u0301a \u200bb"])
def test_places_of_words_and_characters_are_those_of_transformers(both, text):
    real, ours = (each(text, "un affable?", return_offsets_mapping=True) for each in both)
    for i in range(len(real["input_ids"])):
        for name in ("token_to_word", "token_to_chars", "token_to_sequence"):
            assert getattr(ours, name)(i) == getattr(real, name)(i)
    for sequence, length in enumerate((len(text), 11)):
        for i in range(length):
            assert ours.char_to_token(i, sequence_index=sequence) == real.char_to_token(
                i, sequence_index=sequence
            )
            assert ours.char_to_word(i, sequence_index=sequence) == real.char_to_word(
                i, sequence_index=sequence
            )
        for i in range(4):
            assert ours.word_to_tokens(i, sequence_index=sequence) == real.word_to_tokens(
                i, sequence_index=sequence
            )
    assert [type(ours.token_to_chars(1)), type(ours.word_to_tokens(0))] == [
        type(real.token_to_chars(1)), type(real.word_to_tokens(0)),
    ]  # fmt: skip


# ---- added tokens ----

ADDED = [
    ["<x>"],
    ["hello", "<x>", "<x>", ""],
    AddedToken("Abc"),
    [AddedToken("<l>", lstrip=True), AddedToken("<r>", rstrip=True)],
    [AddedToken("Word", single_word=True, normalized=False)],
]
WITH_ADDED = ["a <x> b<x>hello xhellox", "ABC abcd", "a  <l>  b <r> c", "Word Words word", "<x>"]


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("tokens", ADDED, ids=str)
def test_added_tokens_are_those_of_transformers(pair_of, tokens, special):
    pair = pair_of()
    same(pair, lambda each: each.add_tokens(tokens, special_tokens=special))
    same(pair, len)
    same(pair, lambda each: each.added_tokens_decoder)
    real, ours = (each(WITH_ADDED, padding=True) for each in pair)
    compare.assert_same(real, ours)
    ids = real["input_ids"]
    same(pair, lambda each: each.batch_decode(ids, skip_special_tokens=True))
    same(pair, lambda each: each.batch_decode(ids))


@pytest.mark.parametrize(
    "tokens",
    [
        {"cls_token": "<c>", "extra_special_tokens": ["<x>", "<y>"]},
        {"additional_special_tokens": ["<x>"]},
        {"pad_token": AddedToken("<p>", lstrip=True)},
        {"eos_token": "[SEP]"},
        {"wrong": "<x>"},
        {"pad_token": 5},
        {},
    ],
)
def test_added_special_tokens_are_those_of_transformers(pair_of, tokens):
    pair = pair_of()
    same(pair, lambda each: each.add_special_tokens(dict(tokens)))
    for name in ("special_tokens_map", "all_special_tokens", "all_special_ids", "pad_token_id"):
        same(pair, lambda each, name=name: getattr(each, name))
    real, ours = (each([*WITH_ADDED, "a <p> <y>"], padding=True) for each in pair)
    compare.assert_same(real, ours)


def test_special_tokens_that_are_set_are_those_of_transformers(pair_of):
    pair = pair_of(pad_token="[unused3]", mask_token=None, extra_special_tokens=["<new>"])
    for each in pair:
        each.sep_token = "hello"
        each.cls_token_id = 7592
    for name in ("special_tokens_map", "pad_token_id", "mask_token_id", "all_special_ids"):
        same(pair, lambda each, name=name: getattr(each, name))
    real, ours = (each(["a <new>", "hello b c d"], padding=True) for each in pair)
    compare.assert_same(real, ours)


# ---- files ----


def test_saved_folder_is_loaded_by_all(both, folder, tmp_path):
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    from piecework import WordPieceTokenizer
    from piecework.compat.transformers import PieceworkTokenizer

    written = both[1].save_pretrained(tmp_path)
    assert sorted(path.rpartition("/")[2] for path in written) == [
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    expected = both[0](TEXTS, padding=True)
    for kind in (PieceworkTokenizer, AutoTokenizer, PreTrainedTokenizerFast):
        loaded = kind.from_pretrained(tmp_path)
        assert compare.columns(loaded(TEXTS, padding=True)) == compare.columns(expected)
        assert loaded.model_max_length == 512
        assert loaded.special_tokens_map == both[0].special_tokens_map
    assert WordPieceTokenizer.from_pretrained(tmp_path) == both[1].wordpiece


def test_saved_folder_keeps_added_tokens_and_settings(pair_of, tmp_path):
    tokenizer = pair_of(padding_side="left", model_max_length=99)[1]
    tokenizer.add_tokens([AddedToken("<l>", lstrip=True)])
    tokenizer.add_special_tokens({"extra_special_tokens": ["<x>"]})
    tokenizer.save_pretrained(tmp_path)
    loaded = type(tokenizer).from_pretrained(tmp_path)
    assert loaded(WITH_ADDED).data == tokenizer(WITH_ADDED).data
    assert loaded.added_tokens_decoder == tokenizer.added_tokens_decoder
    assert loaded.extra_special_tokens == ["<x>"]
    assert (loaded.padding_side, loaded.model_max_length) == ("left", 99)


def test_saved_files_do_not_depend_on_calls(both, tmp_path):
    both[1].save_pretrained(tmp_path / "before")
    both[1](TEXTS, truncation=True, max_length=4, padding=True, stride=1)
    both[1].save_pretrained(tmp_path / "after")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "before" / name).read_bytes() == (tmp_path / "after" / name).read_bytes()
    document = json.loads((tmp_path / "after" / "tokenizer.json").read_text("utf-8"))
    assert (document["truncation"], document["padding"]) == (None, None)


def test_vocab_txt_is_written_on_request(both, folder, tmp_path):
    (path,) = both[1].save_vocabulary(tmp_path, "my")
    assert path == str(tmp_path / "my-vocab.txt")
    both[1].save_pretrained(tmp_path, legacy_format=True)
    expected = (folder("embedded") / "vocab.txt").read_bytes()
    assert (tmp_path / "vocab.txt").read_bytes() == expected
    assert (tmp_path / "my-vocab.txt").read_bytes() == expected


def test_from_pretrained_reads_a_subfolder_a_file_and_the_embedded_one(both, folder, tmp_path):
    kind = type(both[1])
    both[1].save_pretrained(tmp_path / "inner")
    loaded = [
        kind.from_pretrained(tmp_path, subfolder="inner"),
        kind.from_pretrained(tmp_path / "inner" / "tokenizer.json"),
        kind.from_pretrained(folder("embedded") / "vocab.txt"),
        kind.from_pretrained("bert-base-uncased"),
        kind(vocab=str(folder("embedded") / "vocab.txt")),
        kind(vocab=both[1].get_vocab()),
        kind(tokenizer_object=both[1].wordpiece),
        kind(tokenizer_object=both[0].backend_tokenizer),
    ]
    expected = both[0](TEXTS)
    for each in loaded:
        assert each(TEXTS).data == expected.data


def test_from_pretrained_reads_the_cache_of_the_hub(both, tmp_path):
    snapshot = tmp_path / "models--an--example" / "snapshots" / "abc"
    both[1].save_pretrained(snapshot)
    refs = tmp_path / "models--an--example" / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    loaded = type(both[1]).from_pretrained("an/example", cache_dir=tmp_path)
    assert loaded(TEXTS).data == both[0](TEXTS).data
    with pytest.raises(OSError, match="another"):
        type(both[1]).from_pretrained("an/another", cache_dir=tmp_path)


@pytest.mark.parametrize("flag", [{"do_lower_case": False}, {"strip_accents": False}])
def test_options_of_from_pretrained_win_as_in_transformers(both, pair_of, tmp_path, flag):
    real = pair_of(**flag)[0]
    both[1].save_pretrained(tmp_path)
    for ours in (pair_of(**flag)[1], type(both[1]).from_pretrained(tmp_path, **flag)):
        assert ours(TEXTS).data == real(TEXTS).data


def test_columns_are_those_that_the_named_class_takes(both, tmp_path):
    both[1].save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    config = {**json.loads(path.read_text()), "tokenizer_class": "DistilBertTokenizer"}
    del config["model_input_names"]
    path.write_text(json.dumps(config))
    loaded = type(both[1]).from_pretrained(tmp_path)
    assert list(loaded("a")) == ["input_ids", "attention_mask"]


def test_constructor_refuses_what_is_no_tokenizer(both):
    kind = type(both[1])
    with pytest.raises(TypeError, match="tokenizer_object"):
        kind()
    with pytest.raises(TypeError, match="int"):
        kind(tokenizer_object=5)


@pytest.mark.parametrize(
    "args",
    [
        (),
        (False,),
        (True, "[MASK]", "[PAD]", "[SEP]", "hello", "world", False, True),
        (False, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]", True, None),
    ],
)
def test_constructor_takes_arguments_by_their_places_as_transformers_does(both, args):
    real, ours = (type(each)(each.get_vocab(), *args) for each in both)
    compare.assert_same(real(TEXTS, padding=True), ours(TEXTS, padding=True))
    assert ours.special_tokens_map == real.special_tokens_map


@pytest.mark.parametrize(("args", "options"), [((True,), {"do_lower_case": True}), ((1,) * 9, {})])
def test_constructor_refuses_arguments_that_are_too_many(both, args, options):
    for each in both:
        with pytest.raises(TypeError):
            type(each)(both[0].get_vocab(), *args, **options)


def test_constructor_says_where_a_tokenizer_belongs(both):
    with pytest.raises(TypeError, match="tokenizer_object="):
        type(both[1])(both[1].wordpiece)


@pytest.mark.parametrize("options", [{"add_bos_token": True}, {"add_prefix_space": True}])
def test_options_of_other_models_are_taken_as_in_transformers(pair_of, options):
    pair = pair_of(**options)
    compare.assert_same(*(each(TEXTS, padding=True) for each in pair))
    same(pair, lambda each: each.add_prefix_space)


def test_decoder_is_that_of_transformers(both):
    same(both, lambda each: each.decoder.decode(["un", "##aff", "!"]))


def test_truncation_and_padding_can_be_set_on_the_backend(pair_of):
    from transformers.tokenization_utils_base import TruncationStrategy
    from transformers.utils import PaddingStrategy

    pair = pair_of()
    for each in pair:
        each.set_truncation_and_padding(
            padding_strategy=PaddingStrategy.LONGEST,
            truncation_strategy=TruncationStrategy.LONGEST_FIRST,
            max_length=5,
            stride=1,
            pad_to_multiple_of=4,
            padding_side="left",
        )
    same(pair, lambda each: each.backend_tokenizer.truncation)
    same(pair, lambda each: each.backend_tokenizer.padding)
    same(pair, lambda each: [row.ids for row in each.backend_tokenizer.encode_batch(TEXTS)])
    compare.assert_same(*(each(TEXTS, padding=True) for each in pair))


# ---- state ----


def test_calls_change_nothing_and_pickles_are_equal(pair_of):
    tokenizer = pair_of()[1]
    before = pickle.dumps(tokenizer)
    tokenizer(TEXTS, padding=True, truncation=True, max_length=4).word_ids(0)
    tokenizer.decode([101, 7592])
    tokenizer.tokenize("a")
    tokenizer.encode("a")
    tokenizer.convert_tokens_to_ids("a")
    assert len(tokenizer) == 30522
    assert pickle.dumps(tokenizer) == before
    for other in (pickle.loads(before), copy.deepcopy(tokenizer)):
        compare.assert_same(tokenizer(TEXTS, padding=True), other(TEXTS, padding=True))


def test_encodings_survive_pickling(both):
    encoded = both[1](TEXTS, padding=True, return_tensors="np")
    loaded = pickle.loads(pickle.dumps(encoded))
    assert compare.columns(loaded) == compare.columns(encoded)
    assert loaded.word_ids(1) == both[0](TEXTS, padding=True).word_ids(1)


@pytest.mark.parametrize("is_backend", [False, True])
def test_encodings_are_those_of_the_call_as_in_transformers(pair_of, is_backend):
    pair = pair_of()
    encoded = [each("a hello b", padding=True) for each in pair]
    for each in pair:
        (each.backend_tokenizer if is_backend else each).add_tokens(["hello b"])
        each.backend_tokenizer.enable_truncation(3)
    compare.assert_same(*encoded)


@pytest.mark.parametrize(
    ("args", "is_split_into_words", "spoil"),
    [
        ((["a b", "c"],), False, lambda args: args[0].reverse()),
        ((["a b", "c"],), False, lambda args: args[0].clear()),
        ((["a b", "c"], ["d", "e f"]), False, lambda args: args[1].__setitem__(0, "x y z")),
        (([["a b", "c"], ["d", "e f"]],), False, lambda args: args[0][0].reverse()),
        ((["a b", "c"],), True, lambda args: args[0].append("d")),
        ((["a b", "c"], ["d"]), True, lambda args: args[1].insert(0, "x y")),
        (([["a b", "c"], ["d"]],), True, lambda args: args[0][1].append("e")),
        (([["a"]], [["b"]]), True, lambda args: args[1][0].append("e")),
        (([(["a"], ["b"])],), True, lambda args: args[0][0][1].append("e")),
    ],
)
def test_encodings_do_not_follow_what_the_caller_changes(both, args, is_split_into_words, spoil):
    encoded = []
    for each in both:
        texts = copy.deepcopy(args)
        encoded.append(each(*texts, is_split_into_words=is_split_into_words))
        spoil(texts)
    compare.assert_same(*encoded)


def test_encodings_do_not_follow_an_array(both):
    texts = np.array(["a b", "c"], object)
    encoded = both[1](texts)
    texts[0] = "x"
    compare.assert_same(both[0](["a b", "c"]), encoded)


def test_tokens_added_reach_a_backend_that_was_taken_before(pair_of):
    pair = pair_of()
    backends = [each.backend_tokenizer for each in pair]
    for each in pair:
        each.add_tokens(["hello b"])
    same(backends, lambda backend: backend.encode("a hello b").tokens)
    assert pair[1]._tokenizer is backends[1]


def test_tokens_added_to_the_backend_are_added(pair_of):
    tokenizer = pair_of()[1]
    tokenizer.backend_tokenizer.add_tokens(["hello b"])
    assert tokenizer.tokenize("a hello b") == ["a", "hello b"]


def test_threads_with_different_options_do_not_meet(both):
    text = "word " * 100
    wrong = []

    def work(max_length: int) -> None:
        for _ in range(500):
            encoded = both[1]([text, "x"], max_length=max_length, truncation=True, padding=True)
            if {len(row) for row in encoded["input_ids"]} != {max_length}:
                wrong.append(max_length)

    threads = [threading.Thread(target=work, args=(8 + i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
