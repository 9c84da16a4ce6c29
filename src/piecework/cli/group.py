"""The group of commands, and how errors, warnings and Ctrl-C look to users.

Exit codes: 0, 1 when something failed, 2 for wrong usage, 130 for Ctrl-C. Results go to standard
output, everything else to standard error; no error of the user's making shows a traceback.
"""

from __future__ import annotations

import warnings
from typing import Any

import click

from piecework.cli.bench import bench
from piecework.cli.decode import decode
from piecework.cli.encode import encode
from piecework.cli.show import show

INTERRUPTED = 130


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader has seen enough (piecework decode OUT | head): click ends silently
        except (OSError, ValueError, ImportError) as error:
            raise click.ClickException(_describe(error)) from error
        except KeyboardInterrupt:
            click.echo("\nInterrupted.", err=True)
            ctx.exit(INTERRUPTED)


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"Warning: {message}", err=True)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    commands=[encode, decode, show, bench],
)
@click.version_option(package_name="piecework")
def main() -> None:
    """WordPiece tokenization with Hugging Face's exact ids.

    \b
    piecework encode corpus.txt -o corpus-ids    text files to token ids
    piecework decode corpus-ids --row 0          token ids to text
    piecework show "An unaffable text"           the pieces of a text and their ids
    piecework bench corpus.txt                   the speed of piecework and others
    """  # noqa: D301  (click takes a real backspace as "keep these lines")
