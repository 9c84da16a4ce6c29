"""What assemble refuses, how much of a text it needs, words given split, and its arrays."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from postprocess_oracle import ALL, batch_of_encodings, hf_tokenizer, roberta_processing

from piecework._assemble import Assembly, Pieces
from piecework.batch import Batch
from piecework.postprocess import (
    Details,
    Plan,
    TokensNeeded,
    Truncation,
    assemble,
    join_words,
    rows_undecided,
    template_pieces,
    tokens_needed,
)
from piecework.spec import NO_TEMPLATE, SequencePiece, Template

BERT = Template.bert(("[CLS]", 101), ("[SEP]", 102))


def content(*rows, dtype=np.int32):
    ids = np.array([id_ for row in rows for id_ in row], dtype)
    return Batch(ids, np.cumsum([0, *map(len, rows)]))


def plan(*, is_pair=False, add_special=True, template=BERT, truncation=None, **options):
    pieces = template_pieces(template, is_pair=is_pair, add_special=add_special)
    return Plan(pieces, is_pair, truncation, **options)


FIRSTS = content([1], [2, 3, 4, 5, 6, 7, 8])
SECONDS = content([11], [12, 13, 14])


# ---- options ----


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_length": -1}, ValueError, "max_length must be at least 0, not -1"),
        ({"max_length": 4.0}, TypeError, "max_length must be an integer, not 4.0"),
        ({"max_length": True}, TypeError, "max_length must be an integer, not True"),
        ({"max_length": 2**31}, ValueError, "max_length must be at most 2147483647"),
        ({"stride": -2}, ValueError, "stride must be at least 0, not -2"),
        ({"stride": "1"}, TypeError, "stride must be an integer, not '1'"),
        (
            {"strategy": "only_third"},
            ValueError,
            "truncation must be 'longest_first', 'only_first' or 'only_second', not 'only_third'",
        ),
        ({"strategy": None}, ValueError, "truncation must be .*, not None"),
        ({"side": "up"}, ValueError, "truncation_side must be 'right' or 'left', not 'up'"),
        ({"side": ["left"]}, ValueError, "truncation_side must be .*, not "),
    ],
)
def test_truncation_refuses_options(options, error, message):
    with pytest.raises(error, match=message):
        Truncation(**{"max_length": 9, **options})


@pytest.mark.parametrize(("is_pair", "n_special"), [(False, 2), (True, 3)])
def test_max_length_below_the_special_tokens_is_refused(is_pair, n_special):
    message = f"max_length={n_special - 1} leaves no room for the template's {n_special} special"
    with pytest.raises(ValueError, match=message):
        plan(is_pair=is_pair, truncation=Truncation(n_special - 1))
    assert plan(is_pair=is_pair, truncation=Truncation(n_special)).room == 0
    assert plan(is_pair=is_pair, add_special=False, truncation=Truncation(0)).room == 0


@pytest.mark.parametrize("stride", [3, 4])
def test_stride_not_below_the_room_is_refused(stride):
    message = rf"stride={stride} must be less than the 3 tokens .* max_length=5 .* 2 special"
    with pytest.raises(ValueError, match=message):
        plan(truncation=Truncation(5, stride=stride))


def test_templates_that_can_not_be_filled_are_refused():
    with pytest.raises(ValueError, match="has no form for pairs of texts"):
        template_pieces(Template(BERT.single, ()), is_pair=True, add_special=True)
    with pytest.raises(ValueError, match="for one text has a place for a second one"):
        template_pieces(Template((SequencePiece("B", 0),), ()), is_pair=False, add_special=True)


# ---- rows that can't be cut ----


@pytest.mark.parametrize(
    ("firsts", "seconds", "truncation", "message"),
    [
        (
            FIRSTS,
            None,
            Truncation(4, "only_second"),
            (
                "row 1: only_second can't cut 7 tokens to max_length=4 with 2 special tokens: "
                "there is no second text"
            ),
        ),
        (
            FIRSTS,
            SECONDS,
            Truncation(6, "only_first"),
            (
                "row 1: only_first can't cut texts of 7 and 3 tokens to max_length=6 with 3 "
                "special tokens: it has to leave a token of the text it cuts"
            ),
        ),
        (
            SECONDS,
            FIRSTS,
            Truncation(6, "only_second"),
            "row 1: only_second can't cut texts of 3 and 7 tokens to max_length=6",
        ),
        (
            FIRSTS,
            SECONDS,
            Truncation(8, stride=2),
            (
                "row 1: stride=2 is not less than what stays of a text that is cut, so there "
                "are no windows: texts of 7 and 3 tokens, max_length=8"
            ),
        ),
    ],
)
def test_rows_that_can_not_be_cut_are_named(firsts, seconds, truncation, message):
    options = {"is_pair": seconds is not None, "truncation": truncation, "return_overflow": True}
    with pytest.raises(ValueError, match=f"^{message}"):
        assemble(firsts, seconds, plan(**options))


def test_stride_does_not_matter_where_there_are_no_windows():
    without = plan(is_pair=True, truncation=Truncation(8, stride=2))
    assert assemble(FIRSTS, SECONDS, without).lengths.tolist() == [5, 8]


def test_contents_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="expected as many second texts as first ones, 2: got 1"):
        assemble(FIRSTS, SECONDS[:1], plan(is_pair=True))
    with pytest.raises(ValueError, match="expected pairs of texts, as the plan is made for them"):
        assemble(FIRSTS, None, plan(is_pair=True))
    with pytest.raises(ValueError, match="expected single texts"):
        assemble(FIRSTS, SECONDS, plan())
    with pytest.raises(ValueError, match="expected content with word_ids"):
        assemble(FIRSTS, None, plan(details=Details(word_ids=True)))


def test_more_windows_than_memory_holds_are_refused():
    repeated = Template((SequencePiece("A", 0),) * 12, ())
    options = {"template": repeated, "truncation": Truncation(1), "return_overflow": True}
    with pytest.raises(MemoryError, match="row 0: 100 tokens would give more tokens than any"):
        assemble(content(range(100)), None, plan(**options))


# ---- what is made ----


@pytest.mark.parametrize("name", ALL._fields)
def test_only_wanted_arrays_are_made(name):
    encodings = [hf_tokenizer().encode(text) for text in ("ab c", "", "d")]
    first = batch_of_encodings(encodings)
    everything = assemble(first, first, plan(is_pair=True, details=ALL))
    one = assemble(first, first, plan(is_pair=True, details=Details(**{name: True})))
    assert list(one.details()) == [name]
    assert np.array_equal(one.details()[name], everything.details()[name])
    assert one == Batch(one.ids, one.row_splits, **one.details())  # passes the checks


def test_overflow_to_sample_is_there_without_truncation():
    batch = assemble(FIRSTS, None, plan(return_overflow=True))
    assert batch.overflow_to_sample.tolist() == [0, 1]
    assert assemble(FIRSTS, None, plan()).overflow_to_sample is None


def test_an_empty_batch_stays_empty():
    for second in (None, content()):
        made = assemble(content(), second, plan(is_pair=second is not None, details=Details()))
        assert (len(made), made.tolist()) == (0, [])


@pytest.mark.parametrize("given", [np.int32, np.uint16])
@pytest.mark.parametrize("wanted", ["int32", "uint16"])
def test_ids_of_both_types_are_taken_and_made(given, wanted):
    first, second = content([1, 2**16 - 1], [5], dtype=given), content([7], [], dtype=np.int32)
    batch = assemble(first, second, plan(is_pair=True, dtype=wanted))
    assert batch.ids.dtype == wanted
    assert batch.tolist() == [[101, 1, 2**16 - 1, 102, 7, 102], [101, 5, 102, 102]]


@pytest.mark.parametrize("id_", [2**16, -1])
def test_ids_that_uint16_can_not_hold_are_refused(id_):
    with pytest.raises(ValueError, match=f"id {id_} does not fit into dtype uint16"):
        assemble(content([id_]), None, plan(dtype="uint16"))
    template = Template.bert(("[CLS]", 2**16), ("[SEP]", 1))
    with pytest.raises(ValueError, match="id 65536 does not fit into dtype uint16"):
        assemble(content([5]), None, plan(template=template, dtype="uint16"))


def test_arrays_with_gaps_are_taken():
    gaps = Batch(np.repeat(FIRSTS.ids, 2)[::2], np.repeat(FIRSTS.row_splits, 2)[::2])
    assert assemble(gaps, None, plan()) == assemble(FIRSTS, None, plan())


def test_windows_of_roberta_have_types_of_zero_only_with_its_special_tokens():
    processor, template = roberta_processing()
    truncation = Truncation(7)
    for add_special in (True, False):
        theirs = hf_tokenizer(processor, truncation).encode(
            "a b c d e", "f g h i j", add_special_tokens=add_special
        )
        first, second = (
            batch_of_encodings([hf_tokenizer().encode(text)]) for text in ("a b c d e", "f g h i j")
        )
        pieces = template_pieces(template, is_pair=True, add_special=add_special)
        made = assemble(first, second, Plan(pieces, True, truncation, True, ALL))
        types = np.split(made.type_ids, made.row_splits[1:-1])
        expected = [encoding.type_ids for encoding in (theirs, *theirs.overflowing)]
        assert [row.tolist() for row in types] == expected
        assert any(1 in row for row in types) != add_special


def test_threads_assemble_with_one_plan():
    shared = plan(is_pair=True, truncation=Truncation(7), return_overflow=True)
    expected = assemble(FIRSTS, SECONDS, shared)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: assemble(FIRSTS, SECONDS, shared), range(500)))
    assert all(result == expected for result in results)


# ---- how much of a text is needed ----


def cut(batch, limit, side):
    """Leave out what is more than a limit, as an encoder does that stops early."""
    rows = batch.tolist()
    if limit is not None:
        rows = [row[:limit] if side == "right" else row[max(0, len(row) - limit) :] for row in rows]
    return content(*rows)


def test_tokens_needed_suffice_wherever_the_result_is_decided():
    rng = random.Random(5)
    n_undecided = n_cut = n_refused = 0
    for _ in range(2_000):
        is_pair = rng.random() < 0.8
        truncation = Truncation(
            rng.randint(3, 12),
            rng.choice(["longest_first", "longest_first", "only_first", "only_second"]),
            rng.choice(["right", "left"]),
        )
        this = plan(is_pair=is_pair, truncation=truncation)
        first, second = (
            content([rng.randint(0, 99) for _ in range(rng.randint(0, 14))]) for _ in range(2)
        )
        needed = tokens_needed(this)
        short_first = cut(first, needed.first, truncation.side)
        short_second = cut(second, needed.second, truncation.side)
        n_cut += len(short_first.ids) < len(first.ids)
        lengths = (first.lengths, second.lengths)
        undecided = []
        if is_pair:
            undecided = rows_undecided(this, short_first.lengths, short_second.lengths).tolist()
        try:
            expected = assemble(first, second if is_pair else None, this)
        except ValueError:
            n_refused += 1
            with pytest.raises(ValueError, match="row 0: only_"):
                assemble(short_first, short_second if is_pair else None, this)
            continue
        n_undecided += len(undecided)
        if not undecided:
            assert assemble(short_first, short_second if is_pair else None, this) == expected
        if is_pair:
            assert assemble(short_first, short_second, this, lengths) == expected
    assert min(n_undecided, n_cut, n_refused) > 50


def test_tokens_needed_are_all_where_all_may_matter():
    everything = TokensNeeded(None, None)
    assert tokens_needed(plan()) == everything
    assert tokens_needed(plan(truncation=Truncation(9), return_overflow=True)) == everything
    assert tokens_needed(plan(truncation=Truncation(9, "only_second"))) == everything
    assert tokens_needed(plan(truncation=Truncation(9))).first == 7
    pair = {"is_pair": True}
    assert tokens_needed(plan(truncation=Truncation(9, "only_first"), **pair)) == (6, None)
    assert tokens_needed(plan(truncation=Truncation(3, "only_first"), **pair)) == (0, 0)


def test_an_even_number_of_tokens_is_always_decided():
    lengths = np.array([6, 6]), np.array([6, 6])
    even, odd = (plan(is_pair=True, truncation=Truncation(n)) for n in (9, 8))
    assert rows_undecided(even, *lengths).tolist() == []
    assert rows_undecided(odd, *lengths).tolist() == [0, 1]
    assert rows_undecided(odd, np.array([4, 5]), np.array([99, 5])).tolist() == [1]


def test_less_than_is_needed_is_refused():
    this = plan(is_pair=True, truncation=Truncation(8))
    with pytest.raises(ValueError, match="row 0: expected more of the content than is there"):
        assemble(content([1]), content([2, 3]), this, (np.array([9]), np.array([9])))
    with pytest.raises(ValueError, match="row 0: the arrays of the content do not fit together"):
        assemble(content([1]), content([2, 3]), this, (np.array([0]), np.array([9])))
    windows = plan(truncation=Truncation(3), return_overflow=True)
    with pytest.raises(ValueError, match="row 0: expected more of the content than is there"):
        assemble(content([1, 2]), None, windows, (np.array([9]), np.array([0])))


# ---- the kernel ----


def test_the_kernel_refuses_arrays_that_do_not_fit():
    pieces = Pieces([(0, 0, 0, 0, ())])
    ids, splits = np.zeros(3, np.int32), np.array([0, 3])
    with pytest.raises(ValueError, match="expected an array of 3 items, not of 2"):
        Assembly(pieces, (ids, splits, np.zeros((2, 2), np.int32), None, None), None)
    with pytest.raises(ValueError, match="expected an array of 1 items, not of 2"):
        Assembly(pieces, (ids, splits, None, None, np.zeros(2, np.int64)), None)
    assembly = Assembly(pieces, (ids, splits, None, None, None), None)
    row_splits, out = np.zeros(2, np.int64), np.zeros(3, np.int32)
    for arguments in ((row_splits[:1], out), (row_splits, out[:2])):
        with pytest.raises(ValueError, match="expected an array of"):
            assembly.fill(*arguments)
    with pytest.raises(ValueError, match="expected contents with what is wanted of them"):
        assembly.fill(row_splits, out, word_ids=np.zeros(3, np.int32))
    with pytest.raises(ValueError, match="expected a piece of kind 0, 1 or 2, got 3"):
        Pieces([(3, 0, 0, 0, ())])


@pytest.mark.parametrize("splits", [[0, 3, 99], [0, 99, 3], [-9, 0, 3], [0, -(2**62), 3]])
def test_splits_that_were_changed_write_nowhere_else(splits):
    first = content([1, 2], [3])
    pieces = Pieces([(0, 0, 0, 0, ()), (0, 0, 0, 0, ())])
    options = {"room": 1, "all_windows": True}
    assembly = Assembly(pieces, (first.ids, first.row_splits, None, None, None), None, **options)
    around = np.full(assembly.n_tokens + 20, -7, np.int32)
    first.row_splits[:] = splits
    row_splits = np.zeros(assembly.n_rows + 1, np.int64)
    with pytest.raises(ValueError, match="the tokens changed while they were put together"):
        assembly.fill(row_splits, around[10:-10])
    assert (around[:10] == -7).all()
    assert (around[-10:] == -7).all()


# ---- words ----


def test_words_given_split_are_joined_as_the_incumbent_has_them():
    hf = hf_tokenizer()
    texts = [["ab!", "", "c d", "q"], [], [""], ["e"]]
    words = batch_of_encodings([hf.encode(word) for text in texts for word in text])
    splits = np.cumsum([0, *map(len, texts)])
    joined = join_words(words, splits)
    theirs = [hf.encode(text, is_pretokenized=True) for text in texts if text]
    theirs.insert(1, hf.encode(""))
    assert joined == batch_of_encodings(theirs)
    assert np.shares_memory(joined.offsets, words.offsets)
    assert join_words(words, splits, word_ids=False).word_ids is None


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "must start with 0 and never fall"),
        ([1, 2], "must start with 0 and never fall"),
        ([0, 2, 1, 2], "must start with 0 and never fall"),
        ([0, 3], "must end with 2, not 3"),
    ],
)
def test_words_per_row_that_do_not_fit_are_refused(splits, message):
    with pytest.raises(ValueError, match=message):
        join_words(content([1], [2]), np.array(splits, np.int64))


def test_no_template_puts_pairs_side_by_side():
    options = {"template": NO_TEMPLATE, "is_pair": True, "details": Details(type_ids=True)}
    made = assemble(FIRSTS, SECONDS, plan(**options))
    theirs = hf_tokenizer().encode("a", "b")
    assert made.tolist()[0] == [1, 11]
    assert made.type_ids[:2].tolist() == theirs.type_ids
