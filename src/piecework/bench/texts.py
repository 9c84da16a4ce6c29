"""Texts to measure with: those of files, and one that every Python brings along.

Documents come out as lists of str. Nothing here measures.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from piecework.corpus.read_text import read_documents as read_blocks


def documentation_of_python() -> list[str]:
    """Return the paragraphs of the language reference that ``help()`` shows, in order.

    English technical prose of about 0.5 MB; the same for everybody with the same Python version.

    Examples
    --------
    >>> len(documentation_of_python()) > 1000
    True
    """
    from pydoc_data.topics import topics  # 0.5 MB that nothing else needs

    paragraphs = "\n\n".join(topics.values()).split("\n\n")
    return [paragraph for paragraph in paragraphs if paragraph.strip()]


def read_documents(paths: Iterable[str | os.PathLike[str]], most_bytes: int) -> list[str]:
    """Read text files, one document a line, until there are so many bytes.

    Parameters
    ----------
    paths : iterable of path
    most_bytes : int
        Reading stops behind the block, of some megabytes, that reaches it.

    Raises
    ------
    OSError
        A file can't be read.
    ValueError
        A file is no text in UTF-8.
    """
    documents: list[str] = []
    n_bytes = 0
    for path in map(Path, paths):
        with path.open("rb") as file:
            for block in read_blocks(file, str(path)):
                documents += block.texts
                n_bytes += block.byte_len
                if n_bytes >= most_bytes:
                    return documents
    return documents
