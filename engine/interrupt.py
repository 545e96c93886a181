"""Ctrl-C during a query of DuckDB, which hides it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt where DuckDB made a RuntimeError of it.

    Without this, whoever survives errors (the REPL, an evaluation) would survive Ctrl-C too.
    """
    try:
        yield
    except RuntimeError as e:
        if str(e) == "Query interrupted":
            raise KeyboardInterrupt from e
        raise
