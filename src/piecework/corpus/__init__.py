"""From files of text to files of token ids, in bounded memory.

:func:`encode_files` reads text files, one document a line, and writes the ids of all documents as a
pair of numpy files. Reading and writing are modules of their own, so that further formats can join.
"""

from piecework.corpus.encode_files import EncodeReport, encode_files

__all__ = ["EncodeReport", "encode_files"]
