"""tokenizer.json: Hugging Face's one-file format, read into a TokenizerSpec and written from one.

In goes a path or the text itself, out comes a :class:`~piecework.spec.TokenizerSpec`, and back.
What piecework would not reproduce exactly is refused with the component's path in the file; nothing
is approximated, and truncation and padding that a file switches on are kept, not applied.
"""

from piecework.tokenizer_json.reading import from_json, read_tokenizer_json
from piecework.tokenizer_json.writing import to_json, write_tokenizer_json

__all__ = ["from_json", "read_tokenizer_json", "to_json", "write_tokenizer_json"]
