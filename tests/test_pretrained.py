"""Published tokenizers: embedded, in a folder, and in a cache laid out as the Hub's client does."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import helpers
import pytest

from piecework.errors import TokenizerFileWarning, UnsupportedTokenizerError
from piecework.pretrained import bert_spec, load_pretrained
from piecework.spec import AddedToken, Template
from piecework.tokenizer_json import read_tokenizer_json, write_tokenizer_json
from piecework.vocabulary import Vocabulary

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "<x>"]
CONFIG = "tokenizer_config.json"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def vocabulary(*tokens: str) -> Vocabulary:
    return Vocabulary.from_mapping({token: i for i, token in enumerate(tokens)}, "here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with a vocab.txt and nothing else."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "vocab.txt").write_text("\n".join(TOKENS), "utf-8")
    return tmp_path / "model"


def configure(folder: Path, file: str = "tokenizer_config.json", **config: Any) -> Path:
    (folder / file).write_text(json.dumps(config), "utf-8")
    return folder


# ---- bert_spec ----


def test_bert_spec_of_a_full_vocabulary() -> None:
    spec = bert_spec(vocabulary(*TOKENS), prefix="@@", lowercase=False, rules="unicode")
    assert list(spec.special_tokens.items()) == [
        ("[PAD]", 0),
        ("[UNK]", 1),
        ("[CLS]", 2),
        ("[SEP]", 3),
        ("[MASK]", 4),
    ]
    assert spec.template == Template.bert(("[CLS]", 2), ("[SEP]", 3))
    assert spec.decoder == {"type": "WordPiece", "prefix": "@@", "cleanup": True}
    assert (spec.prefix, spec.lowercase, spec.rules) == ("@@", False, "unicode")


@pytest.mark.parametrize("tokens", [["[UNK]", "[CLS]"], ["[SEP]", "[UNK]"], ["[UNK]"]])
def test_bert_spec_without_cls_or_sep_has_no_template(tokens: list[str]) -> None:
    spec = bert_spec(vocabulary(*tokens))
    assert spec.template is None
    assert set(spec.special_tokens) == set(tokens)


def test_bert_spec_needs_the_unk_token() -> None:
    with pytest.raises(ValueError, match=r"^here: unk_token '\[UNK\]' is not in the vocabulary"):
        bert_spec(vocabulary("a"))
    assert bert_spec(vocabulary("a"), unk_token="a").unk_token == "a"


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (1.0, TypeError), (None, TypeError)])
def test_bert_spec_needs_a_limit_of_at_least_one(limit: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"^max_input_chars_per_word: expected an integer.*{limit}$"):
        bert_spec(vocabulary("[UNK]"), max_input_chars_per_word=limit)


# ---- the embedded one ----


def test_the_embedded_vocabulary_is_the_published_file() -> None:
    file = resources.files("piecework") / "data" / "bert-base-uncased" / "vocab.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == (
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    )
    spec = load_pretrained("bert-base-uncased")
    assert spec.vocabulary.ids == helpers.embedded_vocab()
    assert spec == bert_spec(spec.vocabulary)
    assert spec.special_tokens["[MASK]"] == 103


def test_a_folder_of_that_name_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(folder.rename(folder.with_name("bert-base-uncased")), do_lower_case=False)
    monkeypatch.chdir(folder.parent)
    assert load_pretrained("bert-base-uncased").vocabulary.size == len(TOKENS)


# ---- folders ----


def test_tokenizer_json_decides_where_there_is_one(folder: Path) -> None:
    spec = bert_spec(vocabulary("[UNK]", "b"), lowercase=False)
    write_tokenizer_json(spec, folder / "tokenizer.json")
    configure(folder, do_lower_case=True, tokenizer_class="BertJapaneseTokenizer")
    assert load_pretrained(folder) == load_pretrained(str(folder)) == spec


@pytest.mark.parametrize(
    ("config", "options"),
    [
        ({}, {}),
        ({"do_lower_case": False}, {"lowercase": False}),
        ({"do_lower_case": None, "strip_accents": None}, {}),
        ({"strip_accents": False}, {"strip_accents": False}),
        ({"tokenize_chinese_chars": False}, {"handle_chinese_chars": False}),
        ({"clean_text": False}, {"clean_text": False}),
        ({"wordpieces_prefix": "@@"}, {"prefix": "@@"}),
        ({"tokenizer_class": "BertTokenizer", "never_split": None, "do_basic_tokenize": True}, {}),
        ({"tokenizer_class": "ElectraTokenizerFast", "never_split": []}, {}),
        ({"unk_token": "[UNK]", "pad_token": {"content": "[PAD]", "lstrip": False}}, {}),
        ({"model_max_length": 512, "padding_side": "left", "name_or_path": "x"}, {}),
        ({"added_tokens_decoder": {"4": {"content": "[MASK]", "special": True}}}, {}),
    ],
)
def test_vocab_txt_is_read_with_the_options_of_its_config(
    folder: Path, config: dict[str, Any], options: dict[str, Any]
) -> None:
    spec = load_pretrained(configure(folder, **config))
    assert spec == bert_spec(vocabulary(*TOKENS), **options)


@pytest.mark.parametrize(
    "config",
    [
        {"additional_special_tokens": ["<x>"]},
        {"extra_special_tokens": {"image_token": "<x>"}},
        {"extra_special_tokens": [{"content": "<x>", "special": True}]},
        {"added_tokens_decoder": {"7": {"content": "<x>", "special": True, "lstrip": False}}},
    ],
)
def test_further_special_tokens_of_the_vocabulary_are_known(
    folder: Path, config: dict[str, Any]
) -> None:
    assert load_pretrained(configure(folder, **config)).special_tokens == {
        "[PAD]": 0,
        "[UNK]": 1,
        "[CLS]": 2,
        "[SEP]": 3,
        "[MASK]": 4,
        "<x>": 7,
    }


def test_tokens_of_other_names_are_those_of_the_config(folder: Path) -> None:
    configure(folder, "special_tokens_map.json", unk_token="a", cls_token="<x>", mask_token=None)
    spec = load_pretrained(configure(folder, cls_token={"content": "<x>", "normalized": False}))
    assert spec.unk_token == "a"
    assert spec.template == Template.bert(("<x>", 7), ("[SEP]", 3))
    assert spec.special_tokens == {"[PAD]": 0, "a": 5, "<x>": 7, "[SEP]": 3}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tokenizer_class": "BertJapaneseTokenizer"}, 'tokenizer_class: .*"BertJapaneseTokenizer'),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, "tokenizer_class"),
        ({"word_tokenizer_type": "mecab"}, 'word_tokenizer_type: expected .*, got "mecab"'),
        ({"do_basic_tokenize": False}, "do_basic_tokenize: expected true or null, got false"),
        ({"never_split": ["x"]}, "never_split"),
        ({"split_special_tokens": True}, "split_special_tokens"),
        ({"added_tokens_decoder": {"6": {"content": "<x>"}}}, "id 7 for '<x>', got 6"),
        ({"added_tokens_decoder": {"9": {"content": "<y>"}}}, "9: expected id 8 for '<y>', got 9"),
    ],
)
def test_what_would_differ_is_unsupported(
    folder: Path, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=rf"tokenizer_config\.json: .*{message}"):
        load_pretrained(configure(folder, **config))


# What transformers 5.24.0 gives for these folders; see also the comparison below.
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({CONFIG: {"pad_token": "<pad>"}}, [AddedToken("<pad>", 8)]),
        (
            {CONFIG: {"mask_token": {"content": "[MASK]", "lstrip": True}}},
            [AddedToken("[MASK]", 4, lstrip=True)],
        ),
        ({CONFIG: {"bos_token": "<y>"}}, [AddedToken("<y>", 8)]),
        ({CONFIG: {"image_token": "<y>", "add_bos_token": True}}, [AddedToken("<y>", 8)]),
        (
            {CONFIG: {"additional_special_tokens": ["<y>", "<z>"]}},
            [AddedToken("<y>", 8), AddedToken("<z>", 9)],
        ),
        (
            {CONFIG: {"extra_special_tokens": ["<y>"], "additional_special_tokens": ["<z>"]}},
            [AddedToken("<y>", 8)],
        ),
        (
            {CONFIG: {"added_tokens_decoder": {"7": {"content": "<x>", "special": False}}}},
            [AddedToken("<x>", 7, special=False, normalized=True)],
        ),
        (
            {
                CONFIG: {
                    "added_tokens_decoder": {
                        "9": {"content": "<z>", "special": True, "normalized": True},
                        "8": {"content": "<y>", "single_word": True, "normalized": False},
                        "4": {"content": "[MASK]", "rstrip": True},
                    },
                },
                # Not looked at: all is said above.
                "special_tokens_map.json": {"mask_token": "<m>"},
                "added_tokens.json": {"<n>": 10},
            },
            [
                AddedToken("[MASK]", 4, rstrip=True),
                AddedToken("<y>", 8, special=False, single_word=True),
                AddedToken("<z>", 9, normalized=True),
            ],
        ),
        (
            {CONFIG: {"pad_token": "<p>"}, "special_tokens_map.json": {"pad_token": "<q>"}},
            [AddedToken("<q>", 8)],
        ),
        (
            {
                CONFIG: {},
                "special_tokens_map.json": {"pad_token": "<z>"},
                "added_tokens.json": {"<z>": 9, "<y>": 8},
            },
            [AddedToken("<y>", 8, special=False, normalized=True), AddedToken("<z>", 9)],
        ),
    ],
)
def test_tokens_beyond_the_vocabulary_are_added(
    folder: Path, files: dict[str, Any], expected: list[AddedToken]
) -> None:
    for file, content in files.items():
        configure(folder, file, **content)
    spec = load_pretrained(folder)
    assert [token for token in spec.added_tokens if token.id > 7 or token in expected] == expected


def test_bert_s_own_tokens_are_added_where_the_vocabulary_lacks_them(folder: Path) -> None:
    (folder / "vocab.txt").write_text("[UNK]\na\n", "utf-8")
    spec = load_pretrained(configure(folder, do_lower_case=True))
    ids = {"[UNK]": 0, "[SEP]": 2, "[PAD]": 3, "[CLS]": 4, "[MASK]": 5}
    assert spec.special_tokens == ids
    assert spec.template == Template.bert(("[CLS]", 4), ("[SEP]", 2))
    without = load_pretrained(configure(folder, cls_token=None))
    assert (without.template, "[CLS]" in without.special_tokens) == (None, False)


def test_an_unknown_token_that_the_vocabulary_lacks_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"unk_token '<u>' is not in the vocabulary"):
        load_pretrained(configure(folder, unk_token="<u>"))


def drawn_files(rng: random.Random) -> dict[str, Any]:
    """Draw the files beside a vocab.txt of TOKENS."""

    def token(**more: Any) -> Any:
        content = rng.choice(["<x>", "<y>", "<Z>", "[MASK]", "a", "[CLS]", "[PAD]"])
        flags = ("single_word", "lstrip", "rstrip", "normalized")
        return {"content": content, **{f: rng.random() < 0.5 for f in flags}, **more}

    def with_ids(contents: list[str]) -> dict[str, int]:
        new = iter(range(len(TOKENS), 99))
        return {c: TOKENS.index(c) if c in TOKENS else next(new) for c in contents}

    config: dict[str, Any] = {"do_lower_case": True}
    for key in ("bos_token", "mask_token", "cls_token", "pad_token", "image_token"):
        if rng.random() < 0.3:
            config[key] = rng.choice(["<y>", "[PAD]", token(__type="AddedToken")])
    if rng.random() < 0.3:
        config["extra_special_tokens"] = rng.choice([["<y>", "<q>"], {"v_token": "<v>"}, []])
    files: dict[str, Any] = {CONFIG: config}
    ids = with_ids(rng.sample(["<y>", "<Z>", "[MASK]", "a", "<x>"], k=3))
    pick = rng.random()
    if pick < 0.4:
        config["added_tokens_decoder"] = {
            str(id_): {**token(special=rng.random() < 0.5), "content": content}
            for content, id_ in ids.items()
        }
    elif pick < 0.6:
        files["added_tokens.json"] = ids
    elif pick < 0.8:
        keys = rng.sample(["bos_token", "mask_token", "cls_token", "pad_token"], k=2)
        files["special_tokens_map.json"] = {key: rng.choice(["<k>", token()]) for key in keys}
    return files


def test_random_folders_give_the_tokens_of_transformers(folder: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="needs transformers 5")
    rng = random.Random(3)
    for _ in range(60):
        files = drawn_files(rng)
        for file in (CONFIG, "special_tokens_map.json", "added_tokens.json"):
            (folder / file).unlink(missing_ok=True)
            if file in files:
                configure(folder, file, **files[file])
        theirs = transformers.BertTokenizer.from_pretrained(folder)
        spec = load_pretrained(folder)
        assert {
            t.id: (t.content, t.single_word, t.lstrip, t.rstrip, t.normalized)
            for t in spec.added_tokens
        } == {
            id_: (t.content, t.single_word, t.lstrip, t.rstrip, t.normalized)
            for id_, t in theirs.added_tokens_decoder.items()
        }, files
        assert spec.template is not None
        assert [*spec.template.around[0], *spec.template.around[1]] == theirs("")["input_ids"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"do_lower_case": "no"}, 'do_lower_case: expected a bool, got "no"'),
        ({"strip_accents": 0}, "strip_accents: expected a bool, got 0"),
        ({"do_basic_tokenize": 1}, "do_basic_tokenize: expected a bool, got 1"),
        ({"never_split": "x"}, 'never_split: expected an array, got "x"'),
        ({"wordpieces_prefix": 5}, "wordpieces_prefix: expected a string, got 5"),
        ({"tokenizer_class": ["BertTokenizer"]}, "tokenizer_class: expected a string"),
        ({"pad_token": 0}, "pad_token: expected a token, got 0"),
        ({"pad_token": {}}, "pad_token.content is missing"),
        ({"pad_token": {"content": 5}}, "pad_token.content: expected a string, got 5"),
        ({"pad_token": {"content": "[PAD]", "lstrip": 0}}, "pad_token.lstrip: expected a bool"),
        (
            {"additional_special_tokens": "aa"},
            'additional_special_tokens: expected an array, got "',
        ),
        ({"additional_special_tokens": 5}, "additional_special_tokens: expected an array, got 5"),
        ({"additional_special_tokens": ["a", 5]}, "additional_special_tokens[1]: expected a token"),
        ({"additional_special_tokens": {"x": "a"}}, "additional_special_tokens: expected an array"),
        ({"extra_special_tokens": "aa"}, "extra_special_tokens: expected an array, got"),
        ({"extra_special_tokens": {"x": 5}}, "extra_special_tokens.x: expected a token, got 5"),
        ({"added_tokens_decoder": ["a"]}, "added_tokens_decoder: expected an object, got"),
        (
            {"added_tokens_decoder": {"x": {"content": "a"}}},
            "added_tokens_decoder.x: expected a key",
        ),
        ({"added_tokens_decoder": {"5": 5}}, "added_tokens_decoder.5: expected a token, got 5"),
    ],
)
def test_a_malformed_config_is_refused(folder: Path, config: dict[str, Any], message: str) -> None:
    with pytest.raises(
        ValueError, match=rf"tokenizer_config\.json: {re.escape(message)}"
    ) as caught:
        load_pretrained(configure(folder, **config))
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("special_tokens_map.json", {"pad_token": 5}, "pad_token: expected a token, got 5"),
        ("special_tokens_map.json", {"additional_special_tokens": "aa"}, "additional_.* an array"),
        ("special_tokens_map.json", {"cls_token": ""}, "cls_token: expected a token, got an empty"),
        ("added_tokens.json", {"<x>": "7"}, "<x>: expected an int, got"),
        ("added_tokens.json", {"<x>": 6}, "<x>: expected id 7 for '<x>', got 6"),
        ("added_tokens.json", {"<y>": 9}, "<y>: expected id 8 for '<y>', got 9"),
        ("tokenizer_config.json", {"wordpieces_prefix": "\ud800"}, "lone surrogate"),
    ],
)
def test_a_fault_is_reported_under_its_own_file(
    folder: Path, file: str, content: dict[str, Any], message: str
) -> None:
    configure(folder, do_lower_case=True)
    with pytest.raises(ValueError, match=f"{re.escape(str(folder / file))}: {message}"):
        load_pretrained(configure(folder, file, **content))


@pytest.mark.parametrize("name", [None, 5, b"model"])
def test_a_name_that_is_neither_text_nor_path_is_refused(name: Any) -> None:
    with pytest.raises(TypeError, match=r"^name_or_dir: expected a str or a path, got "):
        load_pretrained(name)


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^name_or_dir: expected a folder or .*, got an empty str"
    ):
        load_pretrained("")


def test_a_vocab_txt_alone_is_taken_for_uncased_with_a_warning(folder: Path) -> None:
    with pytest.warns(TokenizerFileWarning, match="no tokenizer_config.json beside vocab.txt"):
        spec = load_pretrained(folder)
    assert spec == bert_spec(vocabulary(*TOKENS))


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected tokenizer\.json or vocab\.txt"):
        load_pretrained(tmp_path)


def test_a_file_is_refused_with_a_hint(folder: Path) -> None:
    with pytest.raises(NotADirectoryError, match="from_vocab"):
        load_pretrained(folder / "vocab.txt")


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere", "a/b/c", "~/model", "a\\b"])
def test_a_missing_folder_is_not_looked_for_on_the_hub(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        load_pretrained(name)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        load_pretrained(Path("nowhere"))


def test_published_folders(data_path: Callable[..., Path], tmp_path: Path) -> None:
    for model, lowercase in (("bert-base-uncased", True), ("bert-base-cased", False)):
        for file in ("vocab.txt", "tokenizer_config.json"):
            shutil.copy(data_path("vocabs", model, file), tmp_path / file)
        spec = load_pretrained(tmp_path)
        assert spec.vocabulary.ids == helpers.read_vocab(tmp_path / "vocab.txt")
        assert (spec.lowercase, spec.strip_accents) == (lowercase, None)
        assert spec.special_tokens.keys() == set(helpers.SPECIALS)
    with pytest.warns(TokenizerFileWarning, match="switches on truncation"):
        from_json = load_pretrained(data_path("vocabs", "bert-base-uncased"))
    assert from_json.vocabulary.ids == helpers.embedded_vocab()


def test_a_tokenizer_behind_mecab_is_refused(data_path: Callable[..., Path]) -> None:
    with pytest.raises(UnsupportedTokenizerError, match=r"tokenizer_class: .*BertJapanese"):
        load_pretrained(data_path("vocabs", "bert-base-japanese-v3"))


# ---- the Hub ----


def test_without_the_client_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ImportError, match=r"'owner/model' is no local .*piecework\[hub\]"):
        load_pretrained("owner/model")


def cached(cache: Path, files: dict[str, Path], name: str = "owner/model") -> Path:
    """Lay files out as the client's cache has them."""
    pytest.importorskip("huggingface_hub", reason="needs the extra piecework[hub]")
    repository = cache / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    for file, source in files.items():
        shutil.copy(source, snapshot / file)
    return cache


def test_a_cached_tokenizer_json_is_found(folder: Path, tmp_path: Path) -> None:
    spec = bert_spec(vocabulary(*TOKENS), lowercase=False)
    write_tokenizer_json(spec, folder / "t.json")
    cache = cached(tmp_path / "cache", {"tokenizer.json": folder / "t.json"})
    assert load_pretrained("owner/model", cache_dir=cache, local_files_only=True) == spec
    by_commit = load_pretrained(
        "owner/model", cache_dir=cache, local_files_only=True, revision=COMMIT
    )
    assert by_commit == spec


def test_a_cached_vocab_txt_is_found_with_its_config(folder: Path, tmp_path: Path) -> None:
    configure(folder, do_lower_case=False)
    files = {name: folder / name for name in ("vocab.txt", "tokenizer_config.json")}
    cache = cached(tmp_path / "cache", files, "model")
    spec = load_pretrained("model", cache_dir=cache, local_files_only=True)
    assert spec == bert_spec(vocabulary(*TOKENS), lowercase=False)


def test_what_is_not_cached_is_named(folder: Path, tmp_path: Path) -> None:
    cache = cached(tmp_path / "cache", {"config.json": folder / "vocab.txt"})
    for name in ("owner/model", "owner/other", "bert-base-uncased"):
        with pytest.raises(FileNotFoundError, match=f"'{name}' is no local folder, and neither"):
            load_pretrained(name, cache_dir=cache, local_files_only=True, revision="main")


def test_what_can_be_no_name_is_refused() -> None:
    pytest.importorskip("huggingface_hub", reason="needs the extra piecework[hub]")
    with pytest.raises(ValueError, match="'what is this' is no local folder and can't be the name"):
        load_pretrained("what is this", local_files_only=True)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("RepositoryNotFoundError", FileNotFoundError, "neither tokenizer.json nor vocab.txt"),
        ("RevisionNotFoundError", FileNotFoundError, "neither tokenizer.json nor vocab.txt"),
        ("HfHubHTTPError", OSError, "it can't be fetched from the Hugging Face Hub: as the Hub"),
    ],
)
def test_what_the_hub_refuses_is_said_to_be_no_folder_first(
    name: str, kind: type[OSError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs the extra piecework[hub]")
    error_type = getattr(hub.errors, name)

    def refuse(*_: Any, **__: Any) -> None:
        error = error_type.__new__(error_type)  # its arguments differ from version to version
        error.args = ("as the Hub says it",)
        raise error

    monkeypatch.setattr(hub, "hf_hub_download", refuse)
    with pytest.raises(kind, match=f"^'no-such-model' is no local folder, and {message}") as caught:
        load_pretrained("no-such-model")
    assert type(caught.value) is kind
    assert type(caught.value.__cause__) is error_type


def test_a_hub_out_of_reach_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs the extra piecework[hub]")
    asked: list[bool] = []

    def refuse(*_: Any, local_files_only: bool, **__: Any) -> None:
        asked.append(local_files_only)
        raise hub.errors.LocalEntryNotFoundError("no network")

    monkeypatch.setattr(hub, "hf_hub_download", refuse)
    with pytest.raises(FileNotFoundError, match="no local folder"):
        load_pretrained("no-such-model")
    assert asked == [False, True]


def test_the_environment_of_the_client_is_respected(folder: Path, tmp_path: Path) -> None:
    spec = bert_spec(vocabulary(*TOKENS))
    write_tokenizer_json(spec, folder / "t.json")
    cache = cached(tmp_path / "cache", {"tokenizer.json": folder / "t.json"})
    code = (
        "from piecework.pretrained import load_pretrained\n"
        "from piecework.tokenizer_json import write_tokenizer_json\n"
        "write_tokenizer_json(load_pretrained('owner/model'), 'out.json')\n"
        "try:\n"
        "    load_pretrained('owner/other')\n"
        "except FileNotFoundError as error:\n"
        "    print(error)\n"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("'owner/other' is no local folder, and neither")
    assert read_tokenizer_json(tmp_path / "out.json") == spec
