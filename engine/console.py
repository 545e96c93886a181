"""What the commands print with: answers and tables to stdout, everything said about them to stderr."""

from __future__ import annotations

import sys

import typer
from rich.console import Console, RenderableType

from . import show

WIDE = 100_000  # columns of a table that goes to a file: no cell is folded


def say(text: str, *, dim: bool = True) -> None:
    """Say something about the output, on stderr."""
    typer.secho(show.plain(text), err=True, dim=dim or None)


def put(what: RenderableType) -> None:
    """Print a table."""
    terminal = sys.stdout.isatty()
    Console(file=sys.stdout, width=None if terminal else WIDE, markup=False, emoji=False, highlight=False).print(what)
