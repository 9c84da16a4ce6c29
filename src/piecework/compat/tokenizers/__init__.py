"""The part of Hugging Face's `tokenizers` that users of WordPiece use, with piecework behind it.

Users import :class:`Tokenizer`, :class:`BertWordPieceTokenizer`, :class:`Encoding` and
:class:`AddedToken` from here and change nothing else. The results are those of `tokenizers` 0.23.3,
which need not be installed; docs/compat-tokenizers.md has a table of what differs on purpose.
Truncation and padding are state of a :class:`Tokenizer` here, as there; the
:class:`~piecework.WordPieceTokenizer` behind it never changes.

>>> from piecework.compat.tokenizers import Tokenizer
>>> tokenizer = Tokenizer.from_pretrained("bert-base-uncased")
>>> encoding = tokenizer.encode("Hello, world!")
>>> encoding.tokens
['[CLS]', 'hello', ',', 'world', '!', '[SEP]']
>>> encoding.offsets
[(0, 0), (0, 5), (5, 6), (7, 12), (12, 13), (0, 0)]
"""

from piecework.compat.tokenizers.added_token import AddedToken
from piecework.compat.tokenizers.bert_word_piece import BertWordPieceTokenizer
from piecework.compat.tokenizers.encoding import Encoding
from piecework.compat.tokenizers.parts import Token
from piecework.compat.tokenizers.tokenizer import Tokenizer

__all__ = ["AddedToken", "BertWordPieceTokenizer", "Encoding", "Token", "Tokenizer"]
