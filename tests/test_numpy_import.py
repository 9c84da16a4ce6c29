"""numpy is imported when it is needed, and not before."""

import subprocess
import sys

import numpy
import pytest

from piecework._numpy import np

MAKE = """
import sys, piecework
tokenizer = piecework.WordPieceTokenizer.from_pretrained("bert-base-uncased")
tokenizer.save("tokenizer.json")
tokenizer = piecework.WordPieceTokenizer.from_hf_json("tokenizer.json")
assert tokenizer.encode("Unaffable [MASK]") == [14477, 20961, 3468, 103]
"""


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        ("tokenizer.tokenize('x')", False),
        ("tokenizer.normalize('x'), tokenizer.wordpiece('x')", False),
        ("tokenizer.encode_batch(['x'])", False),
        ("assert tokenizer.encode_batch(['x']).ids.tolist() == [1060]", True),
        ("assert tokenizer.decode([1060]) == 'x'", False),
    ],
)
def test_single_texts_need_no_numpy(code, imported, tmp_path):
    program = f"{MAKE}{code}\nprint('numpy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert result.stdout == f"{imported}\n"


def test_it_is_numpy():
    assert np.int32 is numpy.int32
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        np.nothing  # noqa: B018
