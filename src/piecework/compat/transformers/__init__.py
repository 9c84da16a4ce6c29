"""A tokenizer of transformers 5 whose work is done by piecework.

:class:`PieceworkTokenizer` is a ``PreTrainedTokenizerFast``: it is called, saved and loaded as
``BertTokenizer`` is, and goes where that goes, into data collators, ``datasets.map``, data loaders
and sentence-transformers. Needs the extra ``piecework[transformers]``.
"""

try:
    import transformers
except ImportError as error:
    raise ImportError(
        'piecework.compat.transformers needs transformers 5: pip install "piecework[transformers]"'
    ) from error
if int(transformers.__version__.partition(".")[0]) < 5:
    raise ImportError(
        f"piecework.compat.transformers needs transformers 5, and {transformers.__version__} is "
        'installed: pip install "piecework[transformers]"'
    )

from piecework.compat.transformers.tokenizer import PieceworkTokenizer

__all__ = ["PieceworkTokenizer"]
