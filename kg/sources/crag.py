"""The source "crag" in process: CRAG's API over a data directory, without a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kg.crag_api import CragApi
from kg.errors import DeadlineExceeded
from kg.sources.base import Name

SAMPLE = Path(__file__).resolve().parents[1] / "sample"


class CragSource:
    """Calls over the data directory `base`. Files are read when they are first needed."""

    parallel = 1  # in one process, Python runs one call at a time anyway

    def __init__(self, base: Path = SAMPLE, *, name: str = "crag"):
        self.name = name
        self._api = CragApi(base)

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        """Return what the server would put under "result". A call once begun is finished: it takes milliseconds.

        Raises SourceError with the server's status; a data file that cannot be used is named.
        """
        if timeout <= 0:
            raise DeadlineExceeded("no time was left for this call.", endpoint=endpoint, retry=True)
        return self._api.call(endpoint, args)

    def names(self, table: str) -> Iterator[Name]:
        """Yield the names of all movies or people; nothing for another table. Raises SourceError."""
        return (Name(text, key, weight) for text, key, weight in self._api.names(table))

    def fingerprint(self) -> str:
        return f"{self.name}:{self._api.fingerprint()}"

    def close(self) -> None:
        """Nothing to give back."""
