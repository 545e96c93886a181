"""The companies of CRAG's finance data: names and tickers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kg.crag_api.bm25 import BM25, normalise
from kg.crag_api.files import DataFileError, Once

TOP = 10  # a search returns no more

# What the original's CSV reader, pandas 2, takes for "no value"; "NA" is also a ticker.
NO_VALUE = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
     "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
)  # fmt: skip


class Companies:
    """The rows of company_name.dict, a CSV file with columns Name and Symbol. Raises DataFileError.

    Of equally good matches in a search, the one with the smallest `prefer` (of name and ticker) comes first.
    """

    def __init__(self, path: Path, prefer: Callable[[str, str], Any]):
        self._tickers = {name: ticker for name, ticker in _read(path) if name not in NO_VALUE}
        self._names = list(self._tickers)
        self._rank = Once(lambda: self._ranked(prefer))
        normal = [normalise(name) for name in self._names]
        alike: dict[str, list[str]] = {}
        for text, name in zip(normal, self._names, strict=True):
            alike.setdefault(text, []).append(name)
        self._alike = [alike[text] for text in normal]
        self._index = Once(lambda: BM25(normal))

    def ticker(self, name: str) -> str | None:
        """Return the ticker of the company of exactly this name."""
        return self._tickers.get(name)

    def listed(self) -> Iterator[tuple[str, str]]:
        """Yield (name, ticker) of every company that has a ticker."""
        return ((name, ticker) for name, ticker in self._tickers.items() if ticker)

    def search(self, query: str) -> list[str]:
        """Return at most 10 names, best first.

        Names that differ in case and punctuation only are separate matches that each bring all of them, as in the
        original.
        """
        places = self._index().best(query, TOP, self._rank().__getitem__)
        return [name for place in places for name in self._alike[place]][:TOP]

    def _ranked(self, prefer: Callable[[str, str], Any]) -> list[int]:
        # For each name, how many are preferred to it. "Common stock" finds four thousand names equally well.
        order = sorted(
            range(len(self._names)),
            key=lambda i: (prefer(self._names[i], self._tickers[self._names[i]]), self._names[i]),
        )
        ranks = [0] * len(order)
        for rank, place in enumerate(order):
            ranks[place] = rank
        return ranks


def _read(path: Path) -> list[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if missing := {"Name", "Symbol"} - set(rows.fieldnames or ()):
                raise DataFileError(f"The data file {path} has no column {min(missing)}.")
            return [(row["Name"] or "", row["Symbol"] or "") for row in rows]
    except OSError as e:
        raise DataFileError(f"The data file {path} cannot be read ({e.strerror or e}).") from e
    except (UnicodeDecodeError, csv.Error) as e:
        raise DataFileError(f"The data file {path} is not a CSV file in UTF-8 ({e}).") from e
