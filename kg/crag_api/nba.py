"""The two /sports/nba endpoints over sports/nba.sqlite, which is only ever read.

The original scans a table for every call. Here the first call notes in which rows the games of a day and of a team
are, and the plays of a game, so that later calls read just those. Without that file, nba_game.json and
nba_play_by_play.json, lists of rows {column: value}, take its place.
"""

from __future__ import annotations

import math
import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kg.crag_api.endpoints import Endpoint, Param
from kg.crag_api.files import DataFileError, Once, read_rows
from kg.crag_api.to_json import as_read_from_sql, by_column

SQLITE, GAMES, PLAYS = "sports/nba.sqlite", "sports/nba_game.json", "sports/nba_play_by_play.json"

Reply = dict[str, dict[str, Any]]


class Nba:
    """The NBA's games and plays over the data directory `base`."""

    files: tuple[str, ...] = (SQLITE, GAMES, PLAYS)

    def __init__(self, base: Path):
        self._data = Once(lambda: Database(base))
        self._games = Once(lambda: GameRows(self._data()))
        self._plays = Once(lambda: play_rows(self._data()))
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "/sports/nba/get_games_on_date",
                "The NBA games of a day, a month or a year, of one team or of all, by column; null if there are none.",
                self._on_date,
                {"date": Param(str, "2022-10-11"), "team_name": Param(str | None, "Chicago Bulls")},
            ),
            Endpoint(
                "/sports/nba/get_play_by_play_data_by_game_ids",
                "The plays of some NBA games, by column; null if there are none.",
                self._by_game,
                {"game_ids": Param(list[str], ["0022200547", "0029600027"])},
            ),
        )

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, key, weight) of the teams or of the players."""
        if table == "nba_team":
            yield from self._games().names()
        elif table == "nba_player":
            named = "SELECT player1_name, count(*) FROM play_by_play WHERE player1_name IS NOT NULL GROUP BY 1"
            for name, plays in list(self._data().scan(named)):
                yield str(name), name, math.log10(1 + plays)

    def _on_date(self, date: str, team_name: str | None) -> Reply | None:
        return self._data().reply("game", self._games().find(date, team_name))

    def _by_game(self, game_ids: list[str]) -> Reply | None:
        if any("'" in game_id for game_id in game_ids):
            return None  # a quote breaks the query of the original, whose users see null
        runs = [run for game_id in dict.fromkeys(game_ids) for run in self._plays().get(game_id, ())]
        return self._data().reply("play_by_play", sorted(runs))


NOT_SAID = frozenset({"MIN", "WAS"})  # abbreviations of teams that are words of questions
Run = tuple[int, int]  # the first and the last of consecutive row ids


class Database:
    """One connection, which threads take in turn. Raises DataFileError, which names the file that cannot be used."""

    def __init__(self, base: Path):
        self._lock = threading.Lock()
        in_json = not (base / SQLITE).exists() and (base / GAMES).exists()
        self._path = base / (GAMES if in_json else SQLITE)
        if in_json:
            games, plays = read_rows(base / GAMES), read_rows(base / PLAYS)
        with self._errors():
            # immutable: SQLite takes no locks and leaves no journal beside a file that is not ours
            source = ":memory:" if in_json else f"{self._path.absolute().as_uri()}?mode=ro&immutable=1"
            self._connection = sqlite3.connect(source, uri=True, check_same_thread=False)
            weakref.finalize(self, self._connection.close)
            if in_json:
                _fill(self._connection, "game", games)
                _fill(self._connection, "play_by_play", plays)
            self._connection.execute("SELECT name FROM sqlite_master")  # fails now if it is no database

    def scan(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that `query` selects, without ever having all of them. Read them to the end."""
        with self._lock, self._errors():
            yield from self._connection.execute(query)

    def reply(self, table: str, runs: Sequence[Run]) -> Reply | None:
        """Return these rows of `table` by column, numbered from 0, or None if there are none."""
        rows: list[tuple[Any, ...]] = []
        columns: list[str] = []
        with self._lock, self._errors():
            for run in runs:
                cursor = self._connection.execute(f"SELECT * FROM {table} WHERE rowid BETWEEN ? AND ?", run)
                rows += cursor
                columns = [about[0] for about in cursor.description]
        if not rows:
            return None
        values = map(as_read_from_sql, zip(*rows, strict=True))
        return by_column([str(i) for i in range(len(rows))], dict(zip(columns, values, strict=True)))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OverflowError, UnicodeEncodeError) as e:  # the last two: what SQLite cannot hold
            raise DataFileError(f"The data file {self._path} cannot be read ({e}).") from e


class GameRows:
    """In which rows of the table `game` the games of a day, month, year or team are."""

    def __init__(self, data: Database):
        self._on: dict[str, list[int]] = {}  # "2023", "2023-01" and "2023-01-05" -> row ids, ascending
        self._of: dict[str, set[int]] = {}  # team -> row ids, at home or away
        self._all: list[int] = []
        self._last: dict[str, str] = {}  # team -> the day of its last game
        short_for: dict[str, Counter[str]] = {}
        for row, day, home, away, home_short, away_short in data.scan(
            "SELECT rowid, strftime('%Y-%m-%d', game_date), team_name_home, team_name_away,"
            " team_abbreviation_home, team_abbreviation_away FROM game ORDER BY rowid"
        ):
            self._all.append(row)
            for period in (day[:4], day[:7], day) if day else ():
                self._on.setdefault(period, []).append(row)
            for team, short in ((home, home_short), (away, away_short)):
                self._of.setdefault(team, set()).add(row)
                self._last[team] = max(self._last.get(team, ""), day or "")
                short_for.setdefault(team, Counter())[short] += 1
        self._short = {team: seen.most_common(1)[0][0] for team, seen in short_for.items()}

    def find(self, date: str, team: str | None) -> list[Run]:
        """Return the rows of the games on `date` (YYYY, YYYY-MM or YYYY-MM-DD), all games if it has more parts."""
        rows = self._all if date.count("-") > 2 else self._on.get(date, [])
        if team is not None:
            of_team = self._of.get(team, set())
            rows = [row for row in rows if row in of_team]
        return runs_of(rows)

    def names(self) -> Iterator[tuple[str, str, float]]:
        """Yield (name, full name, weight) of teams and their abbreviations; more games, and recent ones, weigh more."""
        lately = str(int((max(self._last.values(), default="") or "0")[:4]) - 1)
        for team, rows in self._of.items():
            if not team:
                continue
            weight = math.log10(1 + len(rows))
            if self._last[team] < lately:  # "Hornets" are those of today, not those who have moved
                weight /= 2
            yield team, team, weight
            short = self._short[team]
            if short and short not in NOT_SAID:
                yield short, team, 0.9 * weight


def play_rows(data: Database) -> dict[str, list[Run]]:
    """Return game id -> the rows of its plays in the table `play_by_play`; they mostly follow one another."""
    found: dict[str, list[Run]] = {}
    game: Any = None
    first = last = 0
    for row, of_game in data.scan("SELECT rowid, game_id FROM play_by_play ORDER BY rowid"):
        if of_game == game and row == last + 1:
            last = row
            continue
        if last:
            found.setdefault(game, []).append((first, last))
        game, first, last = of_game, row, row
    if last:
        found.setdefault(game, []).append((first, last))
    return found


def runs_of(rows: Iterable[int]) -> list[Run]:
    """Return ascending row ids as runs.

    >>> runs_of([3, 4, 5, 9])
    [(3, 5), (9, 9)]
    """
    runs: list[Run] = []
    for row in rows:
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return runs


def _fill(connection: sqlite3.Connection, table: str, rows: list[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    named = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    connection.execute(f"CREATE TABLE {table} ({named or 'game_id'})")
    if columns:
        marks = ", ".join("?" * len(columns))
        values = ([row.get(name) for name in columns] for row in rows)
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
