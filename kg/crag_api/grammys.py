"""The Grammy awards of CRAG: a table of year, category, nominee, artist and workers."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

from kg.crag_api.files import DataFileError, existing, read_json
from kg.crag_api.frames import load_frame

YEARS = range(1957, 2020)  # the years of which the original server knows anything

_COLUMNS = ("year", "category", "nominee", "artist", "workers")


class Grammys:
    """The awards of a file: a pickled DataFrame, or a JSON list of row objects in its place. Raises DataFileError."""

    def __init__(self, path: Path):
        self._years, self._categories, self._nominees, self._artists, self._workers = _read(existing(path))
        # The original looks for a name in the text of each cell, so that "nan" is in every empty one.
        self._texts = [[str(value) for value in column] for column in (self._nominees, self._artists, self._workers)]

    def best(self, category: str, year: int) -> list[Any] | None:
        """Return the nominees of a category in a year, None outside 1957..2019."""
        if year not in YEARS:
            return None
        rows = zip(self._categories, self._years, self._nominees, strict=True)
        return [_said(nominee) for kind, when, nominee in rows if kind == category and when == year]

    def nominees(self, category: str) -> list[Any]:
        """Return the distinct nominees of a category, in the order of the rows."""
        rows = zip(self._categories, self._nominees, strict=True)
        return list(dict.fromkeys(nominee for kind, nominee in rows if kind == category and _said(nominee) is not None))

    def count(self, name: str) -> int:
        """Return how many nominees, artists and workers contain `name`; an award can count three times."""
        return sum(name in text for column in self._texts for text in column)

    def count_of_nominee(self, name: str) -> int:
        """Return how many nominees are `name`."""
        return self._nominees.count(name)

    def years(self, name: str) -> list[int]:
        """Return the years of the awards that `count` counts, each once."""
        rows = [row for column in self._texts for row, text in enumerate(column) if name in text]
        # by way of two sets, as in the original, so that the years come in its order
        return list({self._years[row] for row in list(set(rows))})

    def named(self) -> Counter[Any]:
        """Return how many awards each nominee and artist has: whole names, as written."""
        return Counter(
            value for column in (self._nominees, self._artists) for value in column if isinstance(value, str)
        )


def _read(path: Path) -> list[list[Any]]:
    if path.suffix != ".json":
        columns = load_frame(path).columns
        missing = [name for name in _COLUMNS if name not in columns]
        found = [] if missing else [columns[name] for name in _COLUMNS]
    else:
        rows = read_json(path)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataFileError(f"The data file {path} should hold a list of objects.")
        missing = [name for name in _COLUMNS if not any(name in row for row in rows)]
        found = [[math.nan if row.get(name) is None else row[name] for row in rows] for name in _COLUMNS]
    if missing:
        raise DataFileError(f"The data file {path} has no column {missing[0]}.")
    if not all(isinstance(year, int) for year in found[0]):
        raise DataFileError(f"The data file {path} has a year that is not a whole number.")
    return found


def _said(value: Any) -> Any:
    # NaN stands for "no value", and JSON does not have it
    return None if isinstance(value, float) and not math.isfinite(value) else value
