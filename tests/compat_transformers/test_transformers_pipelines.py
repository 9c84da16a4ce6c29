"""The pipelines of transformers that take a BERT model, with the real tokenizer and with ours."""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("transformers", "5", reason="needs the extra test-transformers")
torch = pytest.importorskip("torch", reason="needs torch")

TEXTS = ["Unaffable people of Wolfeschlegelsteinhausen, in 日本!", "naïve ☃ embeddings don't"]
STRATEGIES = ["none", "simple", "first", "average", "max"]
LABELS = {0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"}


@pytest.fixture(scope="module")
def config():
    from transformers import BertConfig

    return BertConfig(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        num_labels=len(LABELS),
        id2label=LABELS,
        label2id={label: i for i, label in LABELS.items()},
    )


@pytest.fixture
def results(both, config):
    """What a pipeline around a model without training gives for a call, with each tokenizer."""
    from transformers import pipeline

    def run(task, model_class, call, **options):
        torch.manual_seed(5)
        model = model_class(config).eval()
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="Tokenizer does not support real words")
            return [call(pipeline(task, model, tokenizer=each, **options)) for each in both]

    return run


@pytest.mark.parametrize(
    ("strategy", "options"),
    [(strategy, {}) for strategy in STRATEGIES]
    + [(strategy, {"stride": 3}) for strategy in STRATEGIES[1:]],
)
def test_token_classification_finds_the_same_entities(results, strategy, options):
    from transformers import BertForTokenClassification

    real, ours = results(
        "token-classification",
        BertForTokenClassification,
        lambda pipe: pipe(TEXTS),
        aggregation_strategy=strategy,
        **options,
    )
    assert ours == real
    assert any(real)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_token_classification_takes_words(results, strategy):
    from transformers import BertForTokenClassification

    real, ours = results(
        "token-classification",
        BertForTokenClassification,
        lambda pipe: pipe(TEXTS[0].split(), is_split_into_words=True, delimiter=" "),
        aggregation_strategy=strategy,
    )
    assert ours == real


def test_other_pipelines_give_the_same(results):
    from transformers import BertForMaskedLM, BertForSequenceClassification, BertModel

    for task, model, call in (
        ("fill-mask", BertForMaskedLM, lambda pipe: pipe("The [MASK] of it", targets=["end"])),
        ("text-classification", BertForSequenceClassification, lambda pipe: pipe(TEXTS)),
        ("zero-shot-classification", BertForSequenceClassification,
         lambda pipe: pipe(TEXTS, candidate_labels=["a", "b c"])),
        ("feature-extraction", BertModel, lambda pipe: pipe(TEXTS)),
    ):  # fmt: skip
        real, ours = results(task, model, call)
        assert ours == real


def test_backend_is_that_of_transformers(both):
    # By which pipelines of documents, and processors, tell that there are offsets.
    assert both[1].backend == both[0].backend == "tokenizers"
