"""Ids back to text, as the reference's decoders do it.

In go ids, out comes a str. What the basic tokenizer removed (case, accents, white space) can't
come back, and the spacing of punctuation is a guess: offsets into the original text are the way to
recover it. `pieces` says what a token adds to a text where that depends on it and its place alone;
`steps` holds the decoders of which that is not true, and `check` reads both from a file.
"""

from piecework.decoding.check import check_decoder
from piecework.decoding.decoder import Decoder

__all__ = ["Decoder", "check_decoder"]
