"""Adding tokens to a spec, against the incumbent's add_tokens and add_special_tokens."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from tokenizers import AddedToken as HFAddedToken
from tokenizers import Tokenizer

from piecework.added_tokens import NewToken, count_added_tokens, with_added_tokens
from piecework.pretrained import bert_spec
from piecework.spec import AddedToken, TokenizerSpec
from piecework.tokenizer_json import to_json
from piecework.vocabulary import MAX_IDS, Vocabulary

VOCAB = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##b": 4, "word": 5}
CONTENTS = ["", "a", "word", "<x>", "<X>", "[CLS]", "[UNK]", "new", " spaced ", "é", "😀"]


def spec_of(vocab: dict[str, int] = VOCAB) -> TokenizerSpec:
    return bert_spec(Vocabulary.from_mapping(vocab))


def flags_of(hf: Tokenizer) -> dict[int, tuple[Any, ...]]:
    return {
        id_: (t.content, t.single_word, t.lstrip, t.rstrip, t.normalized)
        for id_, t in hf.get_added_tokens_decoder().items()
    }


def our_flags(spec: TokenizerSpec) -> dict[int, tuple[Any, ...]]:
    return {
        t.id: (t.content, t.single_word, t.lstrip, t.rstrip, t.normalized)
        for t in spec.added_tokens
    }


def hf_of(spec: TokenizerSpec) -> Tokenizer:
    return Tokenizer.from_str(to_json(spec))


def drawn_token(rng: random.Random) -> Any:
    content = rng.choice(CONTENTS)
    if rng.random() < 0.4:
        return content
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"content": content, **{n: rng.random() < 0.5 for n in names if rng.random() < 0.5}}


@pytest.mark.parametrize("seed", range(5))
def test_random_calls_give_the_tokens_of_the_incumbent(seed: int) -> None:
    rng = random.Random(seed)
    n_special = 0
    for _ in range(60):
        spec = spec_of()
        hf = hf_of(spec)
        ever_special = {token.content for token in spec.added_tokens}
        for _ in range(rng.randint(1, 4)):
            drawn = [drawn_token(rng) for _ in range(rng.randint(0, 4))]
            special = rng.random() < 0.5
            theirs = [HFAddedToken(**t) if isinstance(t, dict) else t for t in drawn]
            # The incumbent changes its argument, so each has its own.
            kind = rng.choice([NewToken, HFAddedToken])
            ours = [kind(**t) if isinstance(t, dict) else t for t in drawn]
            ever_special |= {
                t if isinstance(t, str) else t["content"]
                for t in drawn
                if special or (isinstance(t, dict) and t.get("special"))
            }
            (hf.add_special_tokens if special else hf.add_tokens)(theirs)
            spec = with_added_tokens(spec, ours, special=special)
            assert our_flags(spec) == flags_of(hf)
            assert spec.special_tokens.keys() == ever_special - {""}
            assert spec.vocab_size == hf.get_vocab_size()
            n_special += len(spec.special_tokens)
        assert our_flags(spec) == flags_of(hf_of(spec))
    assert n_special > 500


def test_the_count_is_what_the_incumbent_returns() -> None:
    calls: list[tuple[list[Any], bool]] = [
        (["<x>", "", "<x>", "a"], False),
        (["<x>"], False),
        ([], False),
        ([HFAddedToken("<x>", lstrip=True), "<y>"], False),
        (["<x>", "<z>"], True),
        (["<z>"], True),
    ]
    spec, hf = spec_of(), hf_of(spec_of())
    for tokens, special in calls:
        expected = (hf.add_special_tokens if special else hf.add_tokens)(list(tokens))
        assert count_added_tokens(spec, tokens, special=special) == expected
        spec = with_added_tokens(spec, tokens, special=special)


@pytest.mark.parametrize(
    "tokens", [[], [""], ["[UNK]", "[CLS]"], [HFAddedToken("[SEP]", normalized=False)]]
)
def test_nothing_new_gives_the_same_spec(tokens: list[Any]) -> None:
    spec = spec_of()
    assert with_added_tokens(spec, tokens, special=True) is spec


def test_the_spec_that_is_added_to_stays_as_it_is() -> None:
    spec = spec_of()
    added = with_added_tokens(spec, (content for content in ["<x>"]))
    assert spec == spec_of() != added
    assert added.vocabulary is spec.vocabulary


def test_a_new_id_never_collides_where_ids_have_gaps() -> None:
    spec = TokenizerSpec(Vocabulary({"[UNK]": 0, "a": 9, "b": 3}))
    added = with_added_tokens(spec, ["<x>", "b", "<y>"])
    assert our_flags(added).keys() == {3, 10, 11}
    # The incumbent counts from the number of entries: its <x> has the id of b.
    hf = hf_of(spec)
    hf.add_tokens(["<x>"])
    assert hf.token_to_id("<x>") == hf.token_to_id("b") == 3


def test_shadowed_lines_of_a_vocab_txt_count() -> None:
    with pytest.warns(UserWarning, match="repeated token"):
        vocabulary = Vocabulary.from_text("[UNK]\na\nb\na\n")
    shadowed = bert_spec(vocabulary)
    assert with_added_tokens(shadowed, ["<x>"]).added_tokens[-1].id == 4


def test_a_token_of_a_spec_can_be_added_to_another() -> None:
    token = AddedToken("<x>", 77, special=False, normalized=True, rstrip=True)
    added = with_added_tokens(spec_of(), [token])
    assert added.added_tokens[-1] == replace(token, id=6)
    special = with_added_tokens(spec_of(), [token], special=True)
    assert special.added_tokens[-1] == replace(token, id=6, special=True)


def test_a_foreign_token_is_left_as_it_is() -> None:
    token = HFAddedToken("<x>")
    added = with_added_tokens(spec_of(), [token], special=True)
    assert (token.special, token.normalized) == (False, True)
    assert not added.added_tokens[-1].normalized


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ("<x>", TypeError, r"tokens: expected a list of tokens, got '<x>'"),
        (b"<x>", TypeError, r"tokens: expected a list of tokens, got b'<x>'"),
        (None, TypeError, r"tokens: expected a list of tokens, got None"),
        (5, TypeError, r"tokens: expected a list of tokens, got 5"),
        ({"bos_token": "<s>"}, TypeError, r"tokens: expected a list of tokens, got {'bos_token'"),
        ({"<x>"}, TypeError, r"tokens: expected a list of tokens, got {'<x>'}"),
        (["<x>", 5], TypeError, r"tokens\[1\]: expected a str or a token with flags, got 5"),
        (["<x>", None], TypeError, r"tokens\[1\]: expected a str or a token with flags, got None"),
        ([NewToken(5)], TypeError, r"tokens\[0\]: expected a str or a token with flags, got New"),
        ([NewToken("a", lstrip=1)], TypeError, r"tokens\[0\].lstrip: expected a bool, got 1"),
        ([NewToken("a", normalized="")], TypeError, r"tokens\[0\].normalized: expected a bool"),
        (["a", "\ud800"], ValueError, r"tokens\[1\]: .* got a lone surrogate in '\\ud800'"),
    ],
)
def test_what_is_no_token_is_refused_with_its_place(
    tokens: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        with_added_tokens(spec_of(), tokens)


def test_ids_that_no_longer_fit_are_refused() -> None:
    spec = TokenizerSpec(Vocabulary({"[UNK]": 0, "a": MAX_IDS - 2}))
    assert with_added_tokens(spec, ["<x>"]).vocab_size == MAX_IDS
    with pytest.raises(ValueError, match="at most 268,435,456 ids with them, got 268,435,457"):
        with_added_tokens(spec, ["<x>", "<y>"])
