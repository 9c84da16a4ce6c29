"""piecework: WordPiece at memory speed, with exact ids.

>>> from piecework import WordPieceTokenizer
>>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
>>> tokenizer.encode("Hello, world!")
[7592, 1010, 2088, 999]
"""

from piecework._version import __version__
from piecework.added_tokens import NewToken
from piecework.batch import Batch, PaddedBatch
from piecework.encoded_text import EncodedText
from piecework.errors import (
    TokenizerFileWarning,
    UnsupportedTokenizerError,
    VocabularyWarning,
)
from piecework.protocol import Tokenizer, check_ids
from piecework.rules import (
    is_bert_control,
    is_bert_punctuation,
    is_bert_whitespace,
    is_cjk,
)
from piecework.tokenizer import WordPieceTokenizer

__all__ = [
    "Batch",
    "EncodedText",
    "NewToken",
    "PaddedBatch",
    "Tokenizer",
    "TokenizerFileWarning",
    "UnsupportedTokenizerError",
    "VocabularyWarning",
    "WordPieceTokenizer",
    "__version__",
    "check_ids",
    "is_bert_control",
    "is_bert_punctuation",
    "is_bert_whitespace",
    "is_cjk",
]
