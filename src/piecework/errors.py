"""Exceptions and warnings that piecework defines.

Everything else is a plain ValueError, TypeError or UnicodeEncodeError whose text says what was
expected, what came and where. Nothing here has behaviour.
"""


class UnsupportedTokenizerError(ValueError):
    """A tokenizer file holds a component whose results piecework would not reproduce exactly.

    The message names the component and its path in the file, such as ``normalizer.type``.
    """


class VocabularyWarning(UserWarning):
    """A vocabulary was read, and some line of it is probably not what its author meant."""


class TokenizerFileWarning(UserWarning):
    """A tokenizer file was read, and part of it is kept but not applied."""
