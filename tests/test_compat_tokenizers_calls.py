"""piecework.compat.tokenizers beside tokenizers: each call's value, or the type of its error."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from compat_calls import PANIC, THEIRS, bert_json, both, outcome, shared, with_parts

import piecework.compat.tokenizers as ours

ENCODE = """
t.encode()
t.encode(None)
t.encode(3)
t.encode(b"x")
t.encode(["a"])
t.encode(("a", "b"))
t.encode("a", 3)
t.encode("a", ["b"])
t.encode("a", is_pretokenized=True)
t.encode(["a", 3], is_pretokenized=True)
t.encode(["a"], "b", is_pretokenized=True)
t.encode("a", add_special_tokens=1)
t.encode("a", add_special_tokens=None)
t.encode("a", is_pretokenized=0)
t.encode("Hello unaffable World!")
t.encode("Hello [MASK] café", "日本 x")
t.encode("", "")
t.encode("a", "")
t.encode("")
t.encode("a", None, False, False)
t.encode("a", "b", add_special_tokens=False)
t.encode(sequence="a", pair="b")
t.encode(("Hello", "", "unaffable x"), is_pretokenized=True)
t.encode([], is_pretokenized=True)
t.encode(["a b"], ["c", "d"], is_pretokenized=True)
t.encode(np.str_("abc"))
t.encode_batch()
t.encode_batch(None)
t.encode_batch("abc")
t.encode_batch(x for x in "ab")
t.encode_batch({"a": 1})
t.encode_batch({"a"})
t.encode_batch(range(3))
t.encode_batch([])
t.encode_batch(())
t.encode_batch(["a", 3])
t.encode_batch([None])
t.encode_batch([("a", None)])
t.encode_batch([("a", "b", "c")])
t.encode_batch([("a",)])
t.encode_batch([["a", "b"], "c", ("d", "e f")])
t.encode_batch((("a", "b"), "c"))
t.encode_batch(["a"], False, False)
t.encode_batch(["a b", ["a", "b"]], is_pretokenized=True)
t.encode_batch([["a", "b"], ["a", "b", "c"]], is_pretokenized=True)
t.encode_batch([(["a", "b"], ["c"])], is_pretokenized=True)
t.encode_batch([[["a", "b"], ("c",)], ["x", "y"]], is_pretokenized=True)
t.encode_batch([("a", "b"), ("a", "b", "c")], is_pretokenized=True)
t.encode_batch([[], ([], [])], is_pretokenized=True)
t.encode_batch([(["a"], "b")], is_pretokenized=True)
t.encode_batch(np.array(["a", "b"]))
t.encode_batch([np.array(["a", "b"]), np.array(["c"], object)], is_pretokenized=True)
t.encode_batch(input=["Hello"], is_pretokenized=False, add_special_tokens=True)
t.encode_batch([A("a")])
t.encode_batch_fast(["Hello world", ("a", "b")])
t.encode_batch_fast([["Hello", "world"]], is_pretokenized=True)
t.encode_batch_fast("a")
"""

DECODE = """
t.decode([101, 7592, 102])
t.decode([101, 7592, 102], False)
t.decode(ids=[101, 7592], skip_special_tokens=False)
t.decode([])
t.decode([10**6, 7592])
t.decode([30522])
t.decode((7592, 1010))
t.decode(range(1996, 2000))
t.decode(np.array([7592]))
t.decode(np.array([7592], np.uint8))
t.decode(np.array([7592.0]))
t.decode([True, 7592])
t.decode("a")
t.decode(None)
t.decode(5)
t.decode({7592})
t.decode([1, "a"])
t.decode([1.0])
t.decode([-1])
t.decode([2**33])
t.decode([2**70])
t.decode([2**32 - 1])
t.decode([101], 1)
t.decode_batch([[101], [7592]])
t.decode_batch([(7592,), range(3), []])
t.decode_batch(np.array([[7592, 102], [101, 2088]]))
t.decode_batch(sequences=[[7592]], skip_special_tokens=False)
t.decode_batch([])
t.decode_batch([101])
t.decode_batch("a")
t.decode_batch(None)
t.decode_batch([[-1]])
"""

VOCABULARY = """
t.token_to_id("hello")
t.token_to_id("zzzz")
t.token_to_id(3)
t.id_to_token(7592)
t.id_to_token(10**6)
t.id_to_token(-1)
t.id_to_token(2**40)
t.id_to_token("a")
t.id_to_token(3.0)
t.id_to_token(np.int64(7592))
t.get_vocab()
t.get_vocab(False)
t.get_vocab(with_added_tokens=3)
t.get_vocab_size()
t.get_vocab_size(with_added_tokens=False)
t.get_vocab_size(None)
t.get_added_tokens_decoder()
t.num_special_tokens_to_add(True)
t.num_special_tokens_to_add(is_pair=False)
t.num_special_tokens_to_add()
t.num_special_tokens_to_add(1)
t.num_special_tokens_to_add(pair=True)
"""

STATE = """
(t.truncation, t.padding)
t.enable_truncation()
t.enable_truncation(5, "x")
t.enable_truncation(-1)
t.enable_truncation(2.0)
t.enable_truncation(None)
t.enable_truncation(2**64)
t.enable_truncation(5, strategy="x")
t.enable_truncation(5, strategy=None)
t.enable_truncation(5, direction="x")
t.enable_truncation(5, direction=None)
t.enable_truncation(5, stride=None)
t.enable_truncation(5, stride=-1)
t.enable_truncation(5, stride=4)
(t.enable_truncation(5, stride=3), t.truncation)
(t.enable_truncation(0), t.truncation)
(t.enable_truncation(True), t.truncation)
(t.enable_truncation(max_length=5, strategy="only_first", stride=1, direction="left"), t.truncation)
(t.enable_truncation(9, strategy="only_second"), t.truncation, t.no_truncation(), t.truncation)
t.enable_padding(5)
t.enable_padding(length=-1)
t.enable_padding(direction="x")
t.enable_padding(direction=None)
t.enable_padding(pad_id=-1)
t.enable_padding(pad_id=2**32)
t.enable_padding(pad_token=3)
t.enable_padding(length=1.5)
(t.enable_padding(), t.padding)
(t.enable_padding(length=None, pad_to_multiple_of=None), t.padding)
(t.enable_padding(pad_to_multiple_of=0), t.padding, t.no_padding(), t.padding)
(t.enable_padding(length=9, pad_id=3, pad_type_id=2, pad_token="x", direction="left"), t.padding)
(t.enable_padding(length=6), t.encode_batch(["a", ("b", "c d e f g")]))
(t.enable_padding(pad_to_multiple_of=4), t.encode_batch(["a", "b c d e f g h i", ("j", "k")]))
(t.enable_truncation(4), t.encode_batch_fast(["a b c", ("d e", "f g h")]))
setattr(t, "truncation", None)
setattr(t, "padding", None)
t.encode_special_tokens
setattr(t, "encode_special_tokens", 1)
(setattr(t, "encode_special_tokens", True), t.encode("a [MASK]"), t.encode_special_tokens)
"""

POST_PROCESS = """
t.post_process(3)
t.post_process(t.encode("a"), 3)
t.post_process(t.encode("a"), add_special_tokens=0)
t.post_process(t.encode("a b", add_special_tokens=False))
t.post_process(t.encode("a b"))
t.post_process(t.encode("a b", add_special_tokens=False), t.encode("c"))
t.post_process(t.encode("a b"), None, False)
(t.enable_truncation(5), t.enable_padding(length=8), t.post_process(t.encode("a b"), t.encode("e")))
t.post_processor.process(t.encode("a"))
t.post_processor.process(t.encode("a"), t.encode("b"), False)
t.post_processor.num_special_tokens_to_add(True)
t.post_processor.num_special_tokens_to_add(False)
"""

PARTS = """
t.normalizer.normalize_str("HÉllo\\t日本")
t.normalizer.normalize_str(3)
(t.normalizer.lowercase, t.normalizer.strip_accents)
(t.normalizer.clean_text, t.normalizer.handle_chinese_chars)
t.normalizer.foo
repr(t.normalizer)
t.pre_tokenizer.pre_tokenize_str("héy you!  中x")
t.pre_tokenizer.pre_tokenize_str("")
t.pre_tokenizer.pre_tokenize_str(3)
repr(t.pre_tokenizer)
t.decoder.decode(["a", "##b", "."])
t.decoder.decode([])
t.decoder.decode(("##a", "##b"))
t.decoder.decode("ab")
t.decoder.decode([3])
(t.decoder.prefix, t.decoder.cleanup)
repr(t.decoder)
[type(getattr(t, part)).__name__ for part in ("normalizer", "pre_tokenizer", "decoder", "model")]
type(t.post_processor).__name__
[json.loads(getattr(t, part).__getstate__()) for part in ("normalizer", "pre_tokenizer", "decoder")]
json.loads(t.post_processor.__getstate__())
json.loads(t.model.__getstate__())
json.loads(t.__getstate__())
A("a").__getstate__()
t.model.tokenize("unaffable")
t.model.tokenize("unaffablé")
t.model.tokenize("[UNK]")
t.model.tokenize(3)
t.model.token_to_id("un")
t.model.token_to_id("unaffable")
t.model.id_to_token(1000)
t.model.id_to_token(10**6)
t.model.id_to_token(-1)
(t.model.unk_token, t.model.continuing_subword_prefix, t.model.max_input_chars_per_word)
pickle.loads(pickle.dumps(t.normalizer)).normalize_str("A")
"""

FILES = """
json.loads(t.to_str())
t.to_str(True) == t.to_str(pretty=True) != t.to_str()
t.to_str(1)
t.save()
t.save(3)
T.Tokenizer.from_file(3)
T.Tokenizer.from_str(3)
T.Tokenizer.from_str(b"{}")
T.Tokenizer.from_buffer("x")
T.Tokenizer.from_buffer(bytearray(b"x"))
T.Tokenizer.from_buffer(b"x")
T.Tokenizer.from_buffer(t.to_str().encode()).encode("Hello")
T.Tokenizer(3)
T.Tokenizer()
(t.enable_truncation(7, stride=2), json.loads(t.to_str())["truncation"])
(t.enable_padding(pad_to_multiple_of=8), json.loads(t.to_str())["padding"])
(t.enable_padding(length=8), json.loads(t.to_str())["padding"])
(t.enable_truncation(3), t.enable_padding(length=8), pickle.loads(pickle.dumps(t)).encode("a b c"))
(t.enable_truncation(3), t.enable_padding(length=8), copy.deepcopy(t).encode("a b c"))
(t.enable_truncation(3), t.enable_padding(length=8), T.Tokenizer.from_str(t.to_str()).encode("a b"))
t == t
t == copy.copy(t)
"""

ADDED_TOKENS = """
A("a")
A()
A(None)
A(content="x")
A(3)
A("a", True)
A("a", special=True)
A("a", special=True, normalized=True)
A("a", lstrip=1)
A("a", lstrip=None)
A("a") == A("a", lstrip=True)
A("a") == A("a")
A("a") == "a"
A("a") != A("b")
A("a", normalized=None)
sorted([A("b"), A("a"), A("a", lstrip=True)])
(A("a") < A("b"), A("b") < A("a"), A("a") <= A("a"), A("a") > A("b"), A("b") >= A("a"))
A("a") < "b"
hash(A("a")) == hash(A("a", lstrip=True))
str(A("é"))
pickle.loads(pickle.dumps(A("a", special=True)))
copy.copy(A("a", rstrip=True))
copy.deepcopy(A("a", single_word=True))
(A("a").normalized, A("a", special=True).normalized, A("a", normalized=False).normalized)
setattr(A("a"), "lstrip", True)
[(setattr(a, "content", "b"), setattr(a, "special", True), a, a.normalized) for a in [A("a")]]
t.add_tokens()
t.add_tokens("abc")
t.add_tokens(("q",))
t.add_tokens({"a"})
t.add_tokens([3])
t.add_tokens([])
t.add_tokens(["", ""])
(t.add_tokens(["newtok", "hello"]), t.token_to_id("newtok"), t.get_vocab_size())
(t.add_tokens(["newtok"]), t.add_tokens(["newtok"]), t.get_added_tokens_decoder())
(t.add_tokens(["x", "newtok", "x"]), t.add_special_tokens(["newtok"]), t.get_added_tokens_decoder())
(t.add_tokens([A("dup"), A("dup")]), t.add_tokens([A("dup"), A("dup", lstrip=True)]))
(t.add_special_tokens([A("sp"), "s2", A("sq", normalized=True)]), t.get_added_tokens_decoder())
(t.add_tokens([A("spx", special=True)]), t.get_added_tokens_decoder(), t.encode("a spx b"))
(t.add_tokens(tokens=["newtok"]), t.encode("a NEWTOK newtoknewtok"), t.decode([30522, 101]))
(t.add_special_tokens(["newtok"]), t.encode("a NEWTOK newtok"), t.decode([30522, 7592]))
(t.add_tokens([A("New T")]), t.id_to_token(30522), t.token_to_id("New T"), t.token_to_id("new t"))
(t.add_tokens([A("New Tok")]), "New Tok" in t.get_vocab(), "new tok" in t.get_vocab())
(t.add_tokens([A("New Tok")]), t.encode("a NEW TOK b"), t.decode([30522]))
(t.add_tokens([A("xx", lstrip=True)]), t.encode("a   xx b"), t.encode_batch_fast(["a   xx b"]))
(t.add_tokens([A("lol", lstrip=True, rstrip=True)]), t.encode("中lol\\t \\u3000文"))
(t.add_tokens([A("lol", lstrip=True, rstrip=True)]), t.encode("a \\t \\x00 LÓL\\n  b", "LOL"))
(t.add_tokens([A("<m>", lstrip=True, normalized=False)]), t.encode(" \\t<m> <M>"))
(t.add_tokens([A("<m>", rstrip=True, normalized=False)]), t.encode(["a<m> ", "<m> b"], None, True))
(t.add_tokens([A("中文", lstrip=True)]), t.encode("文中文b"))
(t.add_special_tokens([A("[UNK]", lstrip=True)]), t.encode("a  日本ጵጵ  [UNK] b"))
(t.add_tokens([A("ab", single_word=True)]), t.encode("ab xab ab!"))
(t.add_tokens(["newtok"]), json.loads(t.to_str())["added_tokens"])
(t.add_tokens([A("New Tok", lstrip=True)]), T.Tokenizer.from_str(t.to_str()).encode("a  NEW TOK"))
(t.add_tokens([A("New T", lstrip=True)]), pickle.loads(pickle.dumps(t)).encode("a  NEW T"))
(t.add_tokens(["nt"]), copy.copy(t).encode("nt"), t.add_tokens(["another"]), t.get_vocab_size())
(t.enable_padding(length=9), t.add_special_tokens(["x y"]), t.encode("a x y b", "x  y"))
"""


def _lines(*texts: str) -> list[str]:
    return [line for text in texts for line in text.strip().split("\n")]


@pytest.mark.parametrize(
    "expression",
    _lines(ENCODE, DECODE, VOCABULARY, STATE, POST_PROCESS, PARTS, FILES, ADDED_TOKENS),
)
def test_call_gives_the_value_or_the_error_of_the_reference(expression: str) -> None:
    theirs, mine = both(bert_json()) if "t.add_" in expression else shared()
    expected = outcome(expression, THEIRS, theirs)
    assert expected != PANIC
    assert outcome(expression, ours, mine) == expected


def _template(single: str, pair: str) -> dict[str, Any]:
    special = {"[CLS]": 101, "[SEP]": 102, "x": 5}
    pieces = THEIRS.processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=list(special.items())
    )
    return json.loads(pieces.__getstate__())


_ENDS = {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
PROCESSORS = {
    "bert": {"type": "BertProcessing", **_ENDS},
    "roberta": {
        "type": "RobertaProcessing", **_ENDS, "trim_offsets": False, "add_prefix_space": False
    },
    "none": None,
    "twice": _template("$A $A", "$B:2 $A:1 [SEP]:3 $A"),
    "no text": _template("[CLS] [SEP]", "[CLS] $A $B"),
    "types": _template("[CLS] $A:3", "$B:2 x $A:1 [SEP]:7"),
}  # fmt: skip
BATCH = ["a b c d e f", "", ("a b c d e f", "1 2 3 4 5 6 7"), ("x", "1 2 3 4 5 6"), ("a b", "")]


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("stride", [0, 1])
def test_template_with_truncation_and_overflow(processor: str, strategy: str, stride: int) -> None:
    theirs, mine = both(with_parts(post_processor=PROCESSORS[processor]))
    for max_length, side in product((6, 7, 8, 30), ("right", "left")):
        for tokenizer in (theirs, mine):
            tokenizer.enable_truncation(
                max_length, strategy=strategy, stride=stride, direction=side
            )
        for item, add_special in product(BATCH, (True, False)):
            call = f"t.encode_batch([{item!r}], add_special_tokens={add_special})"
            expected, got = outcome(call, THEIRS, theirs), outcome(call, ours, mine)
            if expected in ("Exception", PANIC):
                expected = "ValueError"
            assert got == expected, (call, max_length, side)
