"""The compiled passes over a vocabulary do what json and plain Python do."""

import json
import random

import pytest

from piecework._vocab import any_ends_in, count_ids, scan_ids
from piecework.json_part import parse_json

OBJECTS = [
    '{"a":0}',
    '{"[UNK]": 0, "a": 1, "##b": 2}',
    ' \t\r\n{ "a" \n:\t1\r, "b" : 2 \n}',
    '{"a": 1, "b": 2, "a": 3}',
    r'{"\"": 1, "\\": 2, "\u00e9\/\n": 3, "\ud83d\ude00": 4}',
    '{"é": 0, "日本": 1, "😀": 999999999, "": 5}',
    r'{"\ud800": 1}',
]
OTHERS = [
    "",
    "[]",
    "{",
    "{}",
    '{"a"}',
    '{"a": 1',
    '{"a": 1,}',
    '{"a": -1}',
    '{"a": 01}',
    '{"a": 1.5}',
    '{"a": 1e5}',
    '{"a": 1234567890}',
    '{"a": true}',
    '{"a": null}',
    '{"a": "1"}',
    '{"a": {"b": 1}}',
    '{"a": }',
    '{"a" 1}',
    "{a: 1}",
    '{"a": 1 "b": 2}',
    '{"a',
    '{"a\\',
    '{"a\n": 1}',
    '{"a": 1\x0b}',
    '{"a": ١}',
]


@pytest.mark.parametrize("text", OBJECTS)
@pytest.mark.parametrize("kind", ["", "\xff", "\u3042", "\U0001f600"], ids=ascii)
def test_scan_ids_reads_what_json_reads(text, kind):
    """Between other text, which decides how wide the characters are stored."""
    ids, stop = scan_ids(f"{kind}{text}{kind}", len(kind))
    expected = json.loads(text)
    assert list(ids.items()) == list(expected.items())
    assert stop == len(kind) + len(text)


@pytest.mark.parametrize("text", OTHERS)
def test_scan_ids_leaves_the_rest_to_json(text):
    assert scan_ids(text, 0) is None


def test_scan_ids_agrees_with_json_on_damaged_texts():
    rng = random.Random(0)
    decoder = json.JSONDecoder()
    n_read = 0
    for _ in range(20_000):
        chars = list(rng.choice(OBJECTS + OTHERS))
        for _ in range(rng.randrange(3)):
            place = rng.randrange(len(chars) + 1)
            chars[place : place + rng.randrange(2)] = rng.choice('{}":,\\ \n019eu-aé')
        text = "".join(chars)
        try:
            scanned = scan_ids(text, 0)
        except ValueError:
            scanned = None
        if scanned is not None:
            n_read += 1
            start = len(text) - len(text.lstrip(" \t\r\n"))
            assert scanned == decoder.raw_decode(text, start), text
    assert n_read > 2_000


@pytest.mark.parametrize("start", [-1, -(2**62), 100, 2**62])
def test_scan_ids_reads_nothing_outside_the_text(start):
    assert scan_ids("x", start) is None


VOCAB = '{"[UNK]": 0, "a": 1}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"model": {{"vocab": {VOCAB}}}}}',
        f'{{"vocab": {VOCAB}, "model": {{"vocab": {VOCAB}, "x": "vocab"}}}}',
        f'{{"model": {{"vocab": {VOCAB}, "vocab": {{"b": 7}}}}}}',
        f'{{"model": {{"vocab": {VOCAB}}}, "model": 5}}',
        f'{{"a": "vocab\\": {{", "vocab" : {VOCAB}}}',
        f'{{"x\\"vocab": {VOCAB}}}',
        f'{{"x\\\\":1, "vocab":\n{VOCAB}}}',
        f'{{"x": "\\\\"vocab": {VOCAB}}}',
        f'{{"x"vocab": {VOCAB}}}',
        f'{{"vocab": {VOCAB}, "x": NaN}}',
        f'{{"x": -Infinity, "vocab": {VOCAB}}}',
        f'{{"vocab": {VOCAB}',
        f'{{"vocab": {VOCAB}}} x',
        f'{{"vocab": {VOCAB} "x": 1}}',
        '{"vocab": {"a": 1,}}',
        '{"vocab": {"\\x": 1}}',
        '{"vocab": {"a": [1]}}',
        '{"vocab": NaN}',
    ],
)
def test_parse_json_gives_what_json_gives(text):
    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    def outcome(read):
        try:
            return read()
        except ValueError as error:
            return str(error).removeprefix("file: invalid JSON: ")

    expected = outcome(lambda: json.loads(text, parse_constant=refuse))
    assert outcome(lambda: parse_json(text, "file").value) == expected


@pytest.mark.parametrize(
    "ids",
    [
        {},
        {"a": 0},
        {"a": 3, "b": 3, "日": 0, "😀": 99},
        {f"t{i}": i * i % 1_000 for i in range(5_000)},
    ],
    ids=len,
)
def test_count_ids(ids):
    values = ids.values()
    assert count_ids(ids, 1_000) == (max(values, default=-1), len(set(values)))


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "ids",
    [
        {"a": -1},
        {"a": 1_000},
        {"a": 2**100},
        {"a": True},
        {"a": 1.0},
        {"a": "1"},
        {"a": None},
        {b"a": 1},
        {Text("a"): 1},
        {"\ud800": 1},
        {"日\udfff": 1},
        {"😀\udc00": 1},
    ],
    ids=ascii,
)
def test_count_ids_gives_up_on_what_is_unusual(ids):
    assert count_ids({"first": 0, **ids}, 1_000) is None


@pytest.mark.parametrize(
    "last", ["a", "\n", " ", "\x7f", "\x80", "\xa0", "\u3000", "😀"], ids=ascii
)
@pytest.mark.parametrize("chars", ["", " ", "\t \xa0\u3000"], ids=ascii)
def test_any_ends_in(last, chars):
    lines = ["", "x", f"{last}x", f"x{last}"]
    assert any_ends_in(lines, chars) is any(line.endswith(tuple(chars)) for line in lines)
