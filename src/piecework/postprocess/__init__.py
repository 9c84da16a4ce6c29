"""From the tokens of texts to complete rows: truncation, windows of what overflows, the template.

*Content* is a :class:`~piecework.batch.Batch` with one row for each text, of its tokens alone. A
:class:`Plan` says what shall become of it, and :func:`assemble` does that, in a kernel. The order
is the reference's: texts are cut first, to what the template leaves room for; then the template is
filled in; padding (:meth:`~piecework.batch.Batch.to_padded`) comes last. Where the reference
panics, or silently does not truncate, there is a ValueError.
"""

from piecework.postprocess.assemble import assemble
from piecework.postprocess.needs import TokensNeeded, rows_undecided, tokens_needed
from piecework.postprocess.plan import Details, Piece, Plan, Truncation, template_pieces
from piecework.postprocess.words import join_words

__all__ = [
    "Details",
    "Piece",
    "Plan",
    "TokensNeeded",
    "Truncation",
    "assemble",
    "join_words",
    "rows_undecided",
    "template_pieces",
    "tokens_needed",
]
