"""Where the data come from: a server, a data directory, or a recording. All answer `call(endpoint, args)`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kg.domain import Api, Domain, Files
from kg.errors import SourceError
from kg.sources.base import Name, Source
from kg.sources.crag import SAMPLE, CragSource
from kg.sources.files import FileSource
from kg.sources.http import HttpSource
from kg.sources.replay import RecordingSource, ReplaySource
from kg.sources.rest import RestSource

__all__ = [
    "SAMPLE",
    "CragSource",
    "FileSource",
    "HttpSource",
    "Name",
    "RecordingSource",
    "ReplaySource",
    "RestSource",
    "Source",
    "open_source",
]


def open_source(
    of: str | Domain,
    *,
    base: Path | None = None,
    server: str | None = None,
    listing_timeout: float = 10.0,
    env: Mapping[str, str] | None = None,
) -> Source:
    """Return the source of a domain, or the one of that name.

    "crag" is in process over `base` (None: the bundled sample), or the server at the address `server`, which may take
    `listing_timeout` seconds to list the names of a table. The secret of an API is taken from `env`. Nothing is read
    or asked yet. Raises SourceError on an unknown name or an address that is none.
    """
    source = of if isinstance(of, str) else of.source
    if isinstance(source, Api):
        assert isinstance(of, Domain)
        return RestSource(source, of.fetches, env=env or {}, name=of.name)
    if isinstance(source, Files):
        assert isinstance(of, Domain)
        return FileSource(of)
    if source != "crag":
        raise SourceError("there is no source of this name; there is crag.", endpoint=source)
    if server is not None:
        return HttpSource(server, name=source, listing_timeout=listing_timeout)
    return CragSource(SAMPLE if base is None else base, name=source)
