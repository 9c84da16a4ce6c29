"""The command ``piecework``: encode files, decode ids, show how a text is cut, measure speed.

One module for each command, and one for what they share. Commands read arguments and write reports;
all work is done by the library. Only this package imports click and tqdm.
"""

from piecework.cli.group import main

__all__ = ["main"]
