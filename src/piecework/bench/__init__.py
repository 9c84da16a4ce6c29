"""How fast piecework and other tokenizers are, on the same texts, with their ids compared.

:class:`Race` measures; ``piecework bench`` and the suite in ``benchmarks/`` both go by it, and by
one definition of the peers. What is here may be slow to import: the tokenizer needs none of it.

>>> import tempfile
>>> from piecework import WordPieceTokenizer
>>> tokenizer = WordPieceTokenizer.from_pretrained("bert-base-uncased")
>>> with tempfile.TemporaryDirectory() as folder:
...     course = Course.of_documents(folder, tokenizer, documentation_of_python()[:100])
...     with Race(course, [], "unseen") as race:
...         seconds = race.run_round()
...         results = race.results()
>>> [(result.peer, result.ids) for result in results]
[('piecework', 'equal')]
"""

from piecework.bench.peers import OURS, PEERS, NotThere
from piecework.bench.process import PeerProcess, parse_pythons
from piecework.bench.race import STATES, Course, Race, Result, State
from piecework.bench.texts import documentation_of_python, read_documents

__all__ = [
    "OURS",
    "PEERS",
    "STATES",
    "Course",
    "NotThere",
    "PeerProcess",
    "Race",
    "Result",
    "State",
    "documentation_of_python",
    "parse_pythons",
    "read_documents",
]
