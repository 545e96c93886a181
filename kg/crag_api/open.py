"""The two /open endpoints over open/kg.0.jsonl.bz2 and open/kg.1.jsonl.bz2: excerpts of an encyclopedia.

A line is [name, record]. Names are kept as they are and the lines compressed, in blocks, as there are hundreds of
megabytes of them in CRAG's own files; only a record that is asked for is decoded. Plain kg.0.jsonl, with or without
kg.1.jsonl, serves as well.
"""

from __future__ import annotations

import bz2
import json
import math
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kg.crag_api.bm25 import BM25, normalise
from kg.crag_api.endpoints import Endpoint, Param
from kg.crag_api.files import DataFileError, Once

TOP = 10  # a search returns no more
BLOCK = 1 << 16  # bytes: takes a fraction of a millisecond to decompress

_FIRST = re.compile(rb'\s*\[\s*("(?:[^"\\]|\\.)*")\s*,')
_QUALIFIED = re.compile(r"(.+?)\s*\([^()]+\)")


class Open:
    """The open endpoints over the data directory `base`; nothing is read before the first call."""

    files: tuple[str, ...] = (
        "open/kg.0.jsonl.bz2",
        "open/kg.1.jsonl.bz2",
        "open/kg.0.jsonl",
        "open/kg.1.jsonl",
    )

    def __init__(self, base: Path):
        self._records = Once(lambda: read_records(base))
        self._names = Once(lambda: Names(self._records()))
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "/open/search_entity_by_name",
                "The names of the entities that match best, at most 10, best first.",
                lambda query: self._names().search(query),
                {"query": Param(str, "florida")},
            ),
            Endpoint(
                "/open/get_entity",
                "What there is about the entity of exactly this name, or null: summary_text, summary_structured (the"
                " infobox) and raw_mediawiki.",
                lambda query: self._records().get(query),
                {"query": Param(str, "Florida City, Florida")},
            ),
        )

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, key, weight) of every entity; "Mercury (planet)" is also called "Mercury"."""
        if table != "entity":
            return
        records = self._records()
        for name in records:
            weight = math.log10(records.size(name))
            yield name, name, weight
            if qualified := _QUALIFIED.fullmatch(name):
                yield qualified[1], name, 0.9 * weight


class Records:
    """Lines by name, compressed."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}  # name -> its place in the arrays; of several lines the last one counts
        self._block, self._start, self._size = array("l"), array("l"), array("l")
        self._packed: list[bytes] = []
        self._sources: list[tuple[int, Path]] = []  # the first block of each file
        self._open: list[bytes] = []
        self._filled = 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def size(self, name: str) -> int:
        """Return how long the line of `name` is, in bytes: what is known best has most to be said."""
        return self._size[self._place[name]]

    def add(self, path: Path, lines: Iterable[bytes]) -> None:
        """Take the lines of a file. Raises DataFileError if one does not begin with a name."""
        self._sources.append((len(self._packed), path))
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                first = _FIRST.match(line)
                name = json.loads(first[1]) if first else None
            except ValueError:
                name = None
            if name is None:
                raise DataFileError(f'The data file {path} should hold ["name", object] in line {number}.')
            self._place[name] = len(self._size)
            self._block.append(len(self._packed))
            self._start.append(self._filled)
            self._size.append(len(line))
            self._open.append(line)
            self._filled += len(line)
            if self._filled >= BLOCK:
                self._close()
        self._close()

    def get(self, name: str) -> Any:
        """Return the record of `name`, or None. Raises DataFileError if its line is not JSON."""
        place = self._place.get(name)
        if place is None:
            return None
        block, start = self._block[place], self._start[place]
        line = zlib.decompress(self._packed[block])[start : start + self._size[place]]
        try:
            return json.loads(line, parse_constant=_nothing)[1]
        except (ValueError, RecursionError) as e:
            path = [path for first, path in self._sources if first <= block][-1]
            raise DataFileError(f"The data file {path} is not valid JSON at {name!r} ({e}).") from e

    def _close(self) -> None:
        if self._open:
            self._packed.append(zlib.compress(b"".join(self._open), 1))
            self._open, self._filled = [], 0


class Names:
    """The search over the names of `records`. A hit is a normalised name, and stands for all that normalise to it."""

    def __init__(self, records: Records):
        self._records = records
        self._meant: dict[str, list[str]] = {}
        for name in records:
            self._meant.setdefault(normalise(name), []).append(name)
        self._corpus = sorted(self._meant)
        self._index = BM25(self._corpus)

    def search(self, query: str) -> list[str]:
        """Return at most 10 names, by BM25; of equal scores the one with the longest record first, then by name."""
        best = self._index.best(query, TOP, self._prefer)
        return [name for place in best for name in self._meant[self._corpus[place]]][:TOP]

    def _prefer(self, place: int) -> tuple[int, str]:
        normalised = self._corpus[place]
        return -max(map(self._records.size, self._meant[normalised])), normalised


def read_records(base: Path) -> Records:
    """Return the records of both files. Raises DataFileError."""
    records = Records()
    for name in ("kg.0.jsonl", "kg.1.jsonl"):
        packed, plain = base / "open" / f"{name}.bz2", base / "open" / name
        try:
            if plain.exists() and not packed.exists():
                with plain.open("rb") as lines:
                    records.add(plain, lines)
            elif packed.exists() or not (base / "open" / "kg.0.jsonl").exists():
                with bz2.open(packed, "rb") as lines:
                    records.add(packed, lines)
        except (OSError, EOFError) as e:  # EOFError: half a file
            raise DataFileError(f"The data file {packed} cannot be read ({_reason(e)}).") from e
    return records


def _reason(error: OSError | EOFError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _nothing(_: str) -> None:
    return None
