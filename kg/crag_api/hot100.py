"""The Billboard Hot 100 of CRAG: who was at a rank in a week, and how a song stood in a week.

The files hold 130,000 rows each, with a dict or a list of texts for each row. Here every text is held once and a
row takes a quarter of the room.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from kg.crag_api.files import DataFileError
from kg.crag_api.keyed import read_dict

Row = tuple[Any, Any, Any, Any]  # rank_last_week, weeks_in_chart, top_position, rank

_PLACE = {"rank_last_week": 0, "weeks_in_chart": 1, "top_position": 2}  # any other attribute is the rank


class Ranks:
    """For each rank, which song of which artist held it, week by week. Raises DataFileError."""

    def __init__(self, path: Path):
        self._weeks: dict[str, tuple[list[Any], list[Any], list[Any]]] = {}  # rank -> dates, songs, artists
        for rank, rows in read_dict(path).items():
            try:
                self._weeks[rank] = (
                    [_one(row["Date"]) for row in rows],
                    [_one(row["Song"]) for row in rows],
                    [_one(row["Artist"]) for row in rows],
                )
            except (KeyError, TypeError) as e:
                raise DataFileError(f"The data file {path} has a row without date, song or artist at {rank!r}.") from e

    def at(self, rank: int, date: str | None) -> list[list[Any] | None]:
        """Return the songs and the artists at `rank` in the week `date`, or in all; [None, None] if no such rank."""
        if str(rank) not in self._weeks:
            return [None, None]
        dates, songs, artists = self._weeks[str(rank)]
        if not date:
            return [list(songs), list(artists)]
        if date not in dates:
            return [[], []]
        week = dates.index(date)
        return [[songs[week]], [artists[week]]]

    def weeks_of_artists(self) -> Counter[Any]:
        """Return in how many rows each artist, as credited, is."""
        return Counter(artist for _, _, artists in self._weeks.values() for artist in artists)


class Places:
    """For each song, how it stood week by week. Raises DataFileError."""

    def __init__(self, path: Path):
        self._songs: dict[str, dict[Any, Row]] = {}
        for song, weeks in read_dict(path).items():
            try:
                self._songs[song] = {_one(date): _row(row) for date, row in weeks.items()}
            except (AttributeError, IndexError, KeyError, TypeError) as e:
                raise DataFileError(f"The data file {path} has a row of too few values at {song!r:.60}.") from e

    def value(self, song: str, date: str, attribute: str) -> Any:
        """Return an attribute of a song in a week, None if it was not in the chart."""
        row = self._songs.get(song, {}).get(date)
        return None if row is None else row[_PLACE.get(attribute, 3)]

    def weeks(self) -> dict[str, int]:
        """Return in how many weeks' charts each title was."""
        return {song: len(weeks) for song, weeks in self._songs.items()}


def _one(value: Any) -> Any:
    return sys.intern(value) if type(value) is str else value


def _row(row: list[Any]) -> Row:
    # A row is date, song, artist, rank, last week, peak, weeks; of a song that was not there last week it is
    # date, song, artist, rank, peak, weeks, "-".
    last, weeks, peak = (row[6], row[5], row[4]) if row[6] == "-" else (row[4], row[6], row[5])
    return _one(last), _one(weeks), _one(peak), _one(row[3])
