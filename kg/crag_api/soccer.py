"""The /sports/soccer endpoint over sports/soccer_team_match_stats.pkl: a row for each team in each game.

Without that file, soccer_team_match_stats.json, a list of rows {league, season, team, game, ...}, takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from kg.crag_api.endpoints import Endpoint, Param
from kg.crag_api.files import DataFileError, Once, existing, read_rows
from kg.crag_api.frames import Frame, load_frame
from kg.crag_api.to_json import by_column

PICKLE = "sports/soccer_team_match_stats.pkl"
LABELS = ("league", "season", "team", "game")  # what names a row


class Soccer:
    """The games of soccer teams over the data directory `base`."""

    files: tuple[str, ...] = (PICKLE,)

    def __init__(self, base: Path):
        self._games = Once(lambda: read_games(base))
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "/sports/soccer/get_games_on_date",
                "The soccer games of a day, a month or a year, of one team or of all, by column; null if there are"
                " none. A game has a row for each of its teams.",
                lambda date, team_name: self._games().find(date, team_name),
                {"date": Param(str, "2024-03-09"), "team_name": Param(str | None, "Everton")},
            ),
        )

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, key, weight) of the teams."""
        if table == "soccer_team":
            yield from self._games().names()


class TeamGames:
    """The rows of a frame whose index is LABELS and which has a column `date`; rows without a league are left out."""

    def __init__(self, frame: Frame):
        self._columns = {name: _written(values) for name, values in frame.columns.items()}
        self._labels: list[str] = []
        self._on: dict[str, list[int]] = {}  # "2023", "2023-01" and "2023-01-05" -> rows
        self._of: dict[Any, set[int]] = {}  # team -> rows
        labels = zip(*(frame.index[level] for level in LABELS), strict=True)
        for row, (label, date) in enumerate(zip(labels, self._columns["date"], strict=True)):
            self._labels.append(str(label))
            if _missing(label[0]):
                continue
            for period in (date[:4], date[:7], date[:10]) if date else ():
                self._on.setdefault(period, []).append(row)
            self._of.setdefault(label[2], set()).add(row)

    def find(self, date: str, team: str | None) -> dict[str, dict[str, Any]] | None:
        """Return the rows of the games on `date` (YYYY, YYYY-MM or YYYY-MM-DD) by column, or None."""
        rows = self._on.get(date, [])
        if team is not None:
            of_team = self._of.get(team, set())
            rows = [row for row in rows if row in of_team]
        labels = [self._labels[row] for row in rows]
        if not rows or len(set(labels)) < len(labels):  # pandas refuses to write labels that are not distinct
            return None
        return by_column(labels, {name: [values[row] for row in rows] for name, values in self._columns.items()})

    def names(self) -> Iterator[tuple[str, str, float]]:
        """Yield (name, the same name, weight) of each team; the weight grows with its games."""
        for team, rows in self._of.items():
            if isinstance(team, str) and team:
                yield team, team, math.log10(1 + len(rows))


def read_games(base: Path) -> TeamGames:
    """Return the games of the pickle or, if there is none, of the JSON file. Raises DataFileError."""
    path = existing(base / PICKLE)
    frame = _framed(read_rows(path)) if path.suffix == ".json" else load_frame(path)
    if lacking := [name for name in LABELS if name not in frame.index]:
        raise DataFileError(f"The data file {path} should have {lacking[0]} in its index.")
    if any(not isinstance(date, datetime | None) for date in frame.columns.get("date", [0])):
        raise DataFileError(f"The data file {path} should have a column date, of dates.")
    return TeamGames(frame)


def _framed(rows: Sequence[Mapping[str, Any]]) -> Frame:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [_moment(row.get(name)) if name == "date" else row.get(name) for row in rows] for name in names}
    return Frame(columns, {level: columns.pop(level) for level in LABELS if level in columns}, len(rows))


def _moment(value: Any) -> Any:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _written(values: Sequence[Any]) -> list[Any]:
    return [v.isoformat(timespec="milliseconds") if isinstance(v, datetime) else v for v in values]


def _missing(value: Any) -> bool:
    return value is None or value != value  # NaN
