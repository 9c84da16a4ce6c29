"""``python -m piecework`` is the command ``piecework``."""

from piecework.cli import main

main(prog_name="piecework")
