"""The three /sports endpoints, of the NBA and of soccer. Results are objects {column: {row: value}}."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kg.crag_api.nba import Nba
from kg.crag_api.soccer import Soccer


class Sports:
    """The sports endpoints over the data directory `base`; nothing is read before the first call."""

    files: tuple[str, ...] = Soccer.files + Nba.files

    def __init__(self, base: Path):
        self._parts = Soccer(base), Nba(base)
        self.endpoints = tuple(endpoint for part in self._parts for endpoint in part.endpoints)

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, key, weight) of the rows of nba_team, nba_player or soccer_team."""
        for part in self._parts:
            yield from part.names(table)
