"""CRAG's mock API in process: the same endpoints over the same files, without a server.

A domain is a module with a class that lists its `endpoints`, its `files` and its `names`; DOMAINS names it here.
It never reads the environment: the caller says which directory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from kg.crag_api.endpoints import Endpoint
from kg.crag_api.files import DataFileError, existing
from kg.crag_api.finance import Finance
from kg.crag_api.movie import Movie
from kg.crag_api.music import Music
from kg.crag_api.open import Open
from kg.crag_api.sports import Sports
from kg.errors import SourceError

__all__ = ["CragApi"]


class Domain(Protocol):
    """The endpoints of one domain over the data directory `base`. Making one is cheap: files are read when needed."""

    files: tuple[str, ...]
    endpoints: tuple[Endpoint, ...]

    def __init__(self, base: Path): ...

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, id, weight) of the rows of a table, nothing if the table is not this domain's."""


DOMAINS: tuple[type[Domain], ...] = (Open, Movie, Finance, Music, Sports)


class CragApi:
    """The API over the data directory `base`. Threads may share it. Replies are not copies: do not change them."""

    def __init__(self, base: Path):
        self.base = base
        self._domains: tuple[Domain, ...] = tuple(domain(base) for domain in DOMAINS)
        self.endpoints = {e.path: e for domain in self._domains for e in domain.endpoints}

    def call(self, endpoint: str, args: Mapping[str, Any]) -> Any:
        """Return what the server would put under "result".

        Raises SourceError with the server's status: 404 for an unknown endpoint, 422 for wrong arguments, 500 where
        the original fails or a data file (the message names it) cannot be used.
        """
        if endpoint not in self.endpoints:
            alike = [path for path in self.endpoints if path.split("/")[:2] == endpoint.split("/")[:2]]
            known = ", ".join(alike or self.endpoints)
            raise SourceError(f"there is no such endpoint; there are {known}.", endpoint=endpoint, status=404)
        try:
            return self.endpoints[endpoint].call(args)
        except DataFileError as e:
            raise SourceError(str(e), endpoint=endpoint, status=500) from e

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, id, weight) of the rows of `table`; larger weights are better known, within one table.

        Raises SourceError naming the data file that cannot be used; 404 if there are no data of the domain at all.
        """
        for domain in self._domains:
            try:
                yield from domain.names(table)
            except DataFileError as e:
                has_data = any((self.base / Path(name).parts[0]).is_dir() for name in domain.files)
                raise SourceError(str(e), endpoint=table, status=500 if has_data else 404) from e

    def fingerprint(self) -> str:
        """Return a text that changes when a data file does: its name, size or time of change."""
        digest = hashlib.sha256()
        for domain in self._domains:
            for name in domain.files:
                try:
                    stat = existing(self.base / name).stat()
                    digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
                except OSError:
                    digest.update(f"{name} missing\n".encode())
        return digest.hexdigest()[:16]
