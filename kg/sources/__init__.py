"""Where the data come from: a server, a data directory, or a recording. All answer `call(endpoint, args)`."""

from __future__ import annotations

from pathlib import Path

from kg.errors import SourceError
from kg.sources.base import Name, Source
from kg.sources.crag import SAMPLE, CragSource
from kg.sources.files import FileSource
from kg.sources.http import HttpSource
from kg.sources.replay import RecordingSource, ReplaySource

__all__ = [
    "SAMPLE",
    "CragSource",
    "FileSource",
    "HttpSource",
    "Name",
    "RecordingSource",
    "ReplaySource",
    "Source",
    "open_source",
]


def open_source(
    name: str, *, base: Path | None = None, server: str | None = None, listing_timeout: float = 10.0
) -> Source:
    """Return the source a domain names. "crag" is in process over `base` (None: the bundled sample), or the
    server at the address `server`, which may take `listing_timeout` seconds to list the names of a table.

    Nothing is read or asked yet. Raises SourceError on an unknown name or an address that is none.
    """
    if name != "crag":
        raise SourceError("there is no source of this name; there is crag.", endpoint=name)
    if server is not None:
        return HttpSource(server, name=name, listing_timeout=listing_timeout)
    return CragSource(SAMPLE if base is None else base, name=name)
