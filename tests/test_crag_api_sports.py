"""The /sports endpoints: games and plays by column as pandas writes them, from CRAG's files and from safe ones."""

from __future__ import annotations

import json
import math
import sqlite3
import struct
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pandas_pickle import Made, array, dumps, frame, frame_pickle, levels

from kg.crag_api import CragApi
from kg.crag_api.to_json import as_read_from_sql, by_column, decimal
from kg.errors import SourceError

NBA, PLAYS = "/sports/nba/get_games_on_date", "/sports/nba/get_play_by_play_data_by_game_ids"
SOCCER = "/sports/soccer/get_games_on_date"

Row = dict[str, Any]


def game(game_id: str, day: str, home: str, away: str, pts_home: float, video: int | None = 0) -> Row:
    return {
        "game_id": game_id, "game_date": day and f"{day} 00:00:00", "team_name_home": home, "team_name_away": away,
        "team_abbreviation_home": home[:3].upper(), "team_abbreviation_away": away[:3].upper(),
        "pts_home": pts_home, "fg_pct_home": 0.444, "min": 240, "video_available_home": video,
    }  # fmt: skip


GAMES = [
    game("001", "2023-01-05", "Chicago Bulls", "Miami Heat", 101.0),
    game("002", "2023-01-07", "Miami Heat", "Los Angeles Lakers", 99.0, None),
    game("003", "2023-02-01", "Chicago Bulls", "Los Angeles Lakers", 120.0),
    game("004", "2022-12-30", "Portland Trail Blazers", "Chicago Bulls", 87.5),
    game("005", "", "Miami Heat", "Chicago Bulls", 90.0) | {"game_date": None},
    game("006", "2010-02-01", "New Jersey Nets", "Chicago Bulls", 90.0),
]
GAME_PLAYS = [
    {"game_id": "001", "eventnum": 2, "homedescription": None, "player1_name": "Nikola Vučević"},
    {"game_id": "001", "eventnum": 4, "homedescription": "Jump Ball", "player1_name": None},
    {"game_id": "003", "eventnum": 1, "homedescription": None, "player1_name": None},
    {"game_id": "001", "eventnum": None, "homedescription": "late", "player1_name": "Nikola Vučević"},
]


def sqlite_file(sports: Path) -> None:
    connection = sqlite3.connect(sports / "nba.sqlite")
    for table, rows in (("game", GAMES), ("play_by_play", GAME_PLAYS)):
        kinds = {"game_date": "TIMESTAMP", "min": "INTEGER", "pts_home": "REAL", "eventnum": "INTEGER"}
        columns = ", ".join(f"{name} {kinds.get(name, '')}" for name in rows[0])
        connection.execute(f"CREATE TABLE {table} ({columns})")
        connection.executemany(
            f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", map(tuple, (row.values() for row in rows))
        )
    connection.commit()
    connection.close()


def nba_json(sports: Path) -> None:
    (sports / "nba_game.json").write_text(json.dumps(GAMES), encoding="utf-8")
    (sports / "nba_play_by_play.json").write_text(json.dumps(GAME_PLAYS), encoding="utf-8")


@pytest.fixture(params=[sqlite_file, nba_json], ids=["sqlite", "json"])
def nba(request: pytest.FixtureRequest, tmp_path: Path) -> CragApi:
    (tmp_path / "sports").mkdir()
    request.param(tmp_path / "sports")
    return CragApi(tmp_path)


def found(reply: dict[str, dict[str, Any]] | None, column: str = "game_id") -> list[Any] | None:
    if reply is None:
        return None
    values = reply[column]
    assert list(values) == [str(i) for i in range(len(values))]
    return list(values.values())


@pytest.mark.parametrize(
    "date, team, wanted",
    [
        pytest.param("2023-01-05", None, ["001"], id="a day"),
        pytest.param("2023-01", None, ["001", "002"], id="a month"),
        pytest.param("2023", None, ["001", "002", "003"], id="a year"),
        pytest.param("2023", "Chicago Bulls", ["001", "003"], id="a team at home"),
        pytest.param("2022-12", "Chicago Bulls", ["004"], id="a team away"),
        pytest.param("2023-01-05-01", "Miami Heat", ["001", "002", "005"], id="four parts: the date does not count"),
        pytest.param("---", None, ["001", "002", "003", "004", "005", "006"], id="four parts without a team"),
        pytest.param("2023-03", "Chicago Bulls", None, id="no game"),
        pytest.param("2023-1-5", None, None, id="without the zeros"),
        pytest.param("2023-", None, None, id="half a month"),
        pytest.param("", None, None, id="no date"),
        pytest.param("2023", "chicago bulls", None, id="case matters"),
        pytest.param("2023", "Bulls", None, id="only the full name is known"),
        pytest.param("2023", "", None, id="an empty name is not no name"),
        pytest.param("2023", "x' OR '1'='1", None, id="a name is no SQL"),
    ],
)
def test_nba_games(nba: CragApi, date: str, team: str | None, wanted: list[str] | None) -> None:
    assert found(nba.call(NBA, {"date": date, "team_name": team})) == wanted


def test_an_nba_game_is_written_as_pandas_does(nba: CragApi) -> None:
    assert nba.call(NBA, {"date": "2022"}) == {
        "game_id": {"0": "004"},
        "game_date": {"0": "2022-12-30 00:00:00"},
        "team_name_home": {"0": "Portland Trail Blazers"},
        "team_name_away": {"0": "Chicago Bulls"},
        "team_abbreviation_home": {"0": "POR"},
        "team_abbreviation_away": {"0": "CHI"},
        "pts_home": {"0": 87.5},
        "fg_pct_home": {"0": 0.444},
        "min": {"0": 240},
        "video_available_home": {"0": 0},
    }


@pytest.mark.parametrize(
    "ids, wanted",
    [
        pytest.param(["001"], [2, 4, None], id="a game, of which a row is elsewhere"),
        pytest.param(["003", "001"], [2, 4, 1, None], id="two games, in the order of the table"),
        pytest.param(["003", "003", "nope"], [1], id="an id counts once, an unknown one not at all"),
        pytest.param(["1"], None, id="ids are texts"),
        pytest.param([], None, id="no id"),
        pytest.param(["003", "x'y"], None, id="a quote: the query of the original fails"),
    ],
)
def test_plays(nba: CragApi, ids: list[str], wanted: list[Any] | None) -> None:
    assert found(nba.call(PLAYS, {"game_ids": ids}), "eventnum") == wanted


@pytest.mark.parametrize(
    "endpoint, args, sentence",
    [
        pytest.param(NBA, {"team_name": "Miami Heat"}, "date is missing", id="no date"),
        pytest.param(NBA, {"date": 2023}, "date must be a text", id="a number for a date"),
        pytest.param(SOCCER, {"date": "2023", "team_name": 5}, "team_name must be a text", id="a number for a team"),
        pytest.param(PLAYS, {"game_ids": "001"}, "game_ids must be a list of texts", id="a text for a list"),
        pytest.param(PLAYS, {"game_ids": [1]}, "game_ids must be a list of texts", id="numbers for texts"),
    ],
)
def test_refused(tmp_path: Path, endpoint: str, args: Row, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence) as caught:
        CragApi(tmp_path).call(endpoint, args)
    assert caught.value.status == 422


def test_nba_teams_are_known_by_name_and_abbreviation(nba: CragApi) -> None:
    names = [text for text, key, _ in nba.names("nba_team") if key == "Portland Trail Blazers"]
    assert names == ["Portland Trail Blazers", "POR"]


def test_names_weigh_by_games_and_players_by_plays(nba: CragApi) -> None:
    weights = {text: weight for text, _, weight in nba.names("nba_team")}
    assert weights["Chicago Bulls"] > weights["Miami Heat"] > weights["Portland Trail Blazers"]
    assert weights["Portland Trail Blazers"] > weights["New Jersey Nets"], "that team has moved on"
    assert [(text, key) for text, key, _ in nba.names("nba_player")] == [("Nikola Vučević", "Nikola Vučević")]


def test_nothing_is_written_beside_the_database(tmp_path: Path) -> None:
    sports = tmp_path / "sports"
    sports.mkdir()
    sqlite_file(sports)
    before = (sports / "nba.sqlite").read_bytes()
    api = CragApi(tmp_path)
    api.call(NBA, {"date": "2023"})
    api.call(PLAYS, {"game_ids": ["001"]})
    list(api.names("nba_team"))
    assert [path.name for path in sports.iterdir()] == ["nba.sqlite"]
    assert (sports / "nba.sqlite").read_bytes() == before


def test_threads_share_the_database(nba: CragApi) -> None:
    replies: list[Any] = []

    def ask() -> None:
        for _ in range(20):
            replies.append((found(nba.call(NBA, {"date": "2023"})), found(nba.call(PLAYS, {"game_ids": ["003"]}))))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert replies == [(["001", "002", "003"], ["003"])] * 120


# -- soccer -------------------------------------------------------------------------------------------------------

EPL, LIGA = "ENG-Premier League", "ESP-La Liga"
TEAM_GAMES: list[Row] = [
    {"league": EPL, "season": "2324", "team": "Everton", "game": "2024-03-09 Manchester Utd-Everton", "date": "2024-03-09",
     "GF": "0", "xG": 1.6, "Attendance": 73601, "Captain": "James Tarkowski"},
    {"league": EPL, "season": "2324", "team": "Manchester Utd", "game": "2024-03-09 Manchester Utd-Everton",
     "date": "2024-03-09", "GF": "2", "xG": 2.7, "Attendance": 73601, "Captain": None},
    {"league": EPL, "season": "2324", "team": "Nott'ham Forest", "game": "2023-03-11 Tottenham-Nott'ham Forest",
     "date": "2023-03-11", "GF": "1", "xG": None, "Attendance": None, "Captain": None},
    {"league": None, "season": "2324", "team": "Everton", "game": "cup", "date": "2024-03-09", "GF": "5", "xG": 9.9,
     "Attendance": 1, "Captain": None},
    {"league": LIGA, "season": "2324", "team": "Betis", "game": "twice", "date": "2024-04-01", "GF": "1", "xG": 1.0,
     "Attendance": 1, "Captain": None},
    {"league": LIGA, "season": "2324", "team": "Betis", "game": "twice", "date": "2024-04-02", "GF": "1", "xG": 1.0,
     "Attendance": 1, "Captain": None},
    {"league": LIGA, "season": "2324", "team": "Betis", "game": "undated", "date": None, "GF": "1", "xG": 1.0,
     "Attendance": 1, "Captain": None},
]  # fmt: skip
FOREST = """('ENG-Premier League', '2324', "Nott'ham Forest", "2023-03-11 Tottenham-Nott'ham Forest")"""
LABEL_EVERTON = "('ENG-Premier League', '2324', 'Everton', '2024-03-09 Manchester Utd-Everton')"


def soccer_json(sports: Path) -> None:
    (sports / "soccer_team_match_stats.json").write_text(json.dumps(TEAM_GAMES), encoding="utf-8")


def soccer_pickle(sports: Path) -> None:
    count = len(TEAM_GAMES)

    def column(name: str) -> list[Any]:
        return [row[name] for row in TEAM_GAMES]

    def days(values: list[str | None]) -> bytes:
        since = [v and (date.fromisoformat(v) - date(1970, 1, 1)).days for v in values]
        nanoseconds = [-(2**63) if n is None else n * 86400 * 10**9 for n in since]
        return struct.pack(f"<{count}q", *nanoseconds)

    named: dict[str, list[Any]] = {}
    codes = []
    for level in ("league", "season", "team", "game"):
        labels = list(dict.fromkeys(value for value in column(level) if value is not None))
        named[level] = labels
        places = [labels.index(value) if value is not None else -1 for value in column(level)]
        codes.append(array("i1", (count,), struct.pack(f"<{count}b", *places)))
    whole = struct.pack(f"<{count}q", *[value or 0 for value in column("Attendance")])
    mask = struct.pack(f"<{count}?", *[value is None for value in column("Attendance")])
    attendance = Made(
        "IntegerArray", state={"_data": array("i8", (count,), whole), "_mask": array("b1", (count,), mask)}
    )
    goals = struct.pack(f"<{count}d", *[math.nan if value is None else value for value in column("xG")])
    made = frame(
        ["date", "GF", "Captain", "xG", "Attendance"],
        levels(named, codes),
        (array("M8", (1, count), days(column("date"))), slice(0, 1, 1)),
        (array("O8", (2, count), column("GF") + column("Captain")), slice(1, 3, 1)),
        (array("f8", (1, count), goals), slice(3, 4, 1)),
        (attendance, slice(4, 5, 1)),
    )
    (sports / "soccer_team_match_stats.pkl").write_bytes(dumps(made))


@pytest.fixture(params=[soccer_pickle, soccer_json], ids=["pickle", "json"])
def soccer(request: pytest.FixtureRequest, tmp_path: Path) -> CragApi:
    (tmp_path / "sports").mkdir()
    request.param(tmp_path / "sports")
    return CragApi(tmp_path)


@pytest.mark.parametrize(
    "date, team, teams",
    [
        pytest.param("2024-03-09", None, ["Everton", "Manchester Utd"], id="a day: a row for each team"),
        pytest.param("2024-03", "Everton", ["Everton"], id="a month of a team, without the row that has no league"),
        pytest.param("2023", None, ["Nott'ham Forest"], id="a year"),
        pytest.param("2024-04-01", "Betis", ["Betis"], id="one of two rows with one label"),
        pytest.param("2024-04", "Betis", None, id="both: pandas does not write them, and the server says null"),
        pytest.param("2024", None, None, id="nor among others"),
        pytest.param("2024-03-09-1", "Everton", None, id="four parts: null, unlike in the NBA"),
        pytest.param("2024-3", "Everton", None, id="without the zero"),
        pytest.param("2024-03-10", "Everton", None, id="no game"),
        pytest.param("2024-03-09", "everton", None, id="case matters"),
        pytest.param("2024-03-09", "", None, id="an empty name"),
    ],
)
def test_soccer_games(soccer: CragApi, date: str, team: str | None, teams: list[str] | None) -> None:
    reply = soccer.call(SOCCER, {"date": date, "team_name": team})
    labels = [str(tuple(row[level] for level in ("league", "season", "team", "game"))) for row in TEAM_GAMES]
    names = [row["team"] for row in TEAM_GAMES]
    assert (reply and [names[labels.index(label)] for label in reply["GF"]]) == teams


def test_a_soccer_game_is_written_as_pandas_does(soccer: CragApi) -> None:
    assert soccer.call(SOCCER, {"date": "2023-03-11"}) == {
        "date": {FOREST: "2023-03-11T00:00:00.000"},
        "GF": {FOREST: "1"},
        "xG": {FOREST: None},
        "Attendance": {FOREST: None},
        "Captain": {FOREST: None},
    }
    assert soccer.call(SOCCER, {"date": "2024-03-09", "team_name": "Everton"}) == {
        "date": {LABEL_EVERTON: "2024-03-09T00:00:00.000"},
        "GF": {LABEL_EVERTON: "0"},
        "xG": {LABEL_EVERTON: 1.6},
        "Attendance": {LABEL_EVERTON: 73601},
        "Captain": {LABEL_EVERTON: "James Tarkowski"},
    }


def test_soccer_teams_are_known_by_their_names(soccer: CragApi) -> None:
    assert {key for _, key, _ in soccer.names("soccer_team")} == {row["team"] for row in TEAM_GAMES}


# -- files and numbers --------------------------------------------------------------------------------------------


def no_database(sports: Path) -> None:
    (sports / "nba.sqlite").write_bytes(b"version https://git-lfs.github.com/spec/v1\n" * 20)


def no_plays(sports: Path) -> None:
    (sports / "nba_game.json").write_text("[]")


def game_objects(sports: Path) -> None:
    (sports / "nba_game.json").write_text("{}")


def nested_value(sports: Path) -> None:
    (sports / "nba_game.json").write_text('[{"game_id": ["001"]}]')
    (sports / "nba_play_by_play.json").write_text("[]")


def no_date(sports: Path) -> None:
    (sports / "soccer_team_match_stats.json").write_text(json.dumps([TEAM_GAMES[0] | {"date": "soon"}]))


def no_league(sports: Path) -> None:
    (sports / "soccer_team_match_stats.json").write_text('[{"team": "Everton", "date": "2024-01-01"}]')


def no_pickle(sports: Path) -> None:
    (sports / "soccer_team_match_stats.pkl").write_bytes(b"not a pickle")


def numbered_rows(sports: Path) -> None:
    (sports / "soccer_team_match_stats.pkl").write_bytes(frame_pickle({"team": ["Everton"]}))


@pytest.mark.parametrize(
    "endpoint, write, sentence",
    [
        pytest.param(NBA, lambda _: None, r"nba\.sqlite cannot be read", id="no file"),
        pytest.param(
            NBA, no_database, r"nba\.sqlite cannot be read \(file is not a database\)", id="a Git LFS pointer"
        ),
        pytest.param(NBA, no_plays, r"nba_play_by_play\.json cannot be read", id="games without plays"),
        pytest.param(NBA, game_objects, r"nba_game\.json should hold a list of objects", id="no list"),
        pytest.param(NBA, nested_value, r"nba_game\.json cannot be read", id="a list for a value"),
        pytest.param(SOCCER, lambda _: None, r"soccer_team_match_stats\.pkl cannot be read", id="no soccer file"),
        pytest.param(SOCCER, no_pickle, r"soccer_team_match_stats\.pkl is not a valid pickle", id="no pickle"),
        pytest.param(SOCCER, numbered_rows, r"should have league in its index", id="rows without labels"),
        pytest.param(
            SOCCER, no_league, r"soccer_team_match_stats\.json should have league in its index", id="no league"
        ),
        pytest.param(SOCCER, no_date, r"should have a column date, of dates", id="a date that is none"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, endpoint: str, write: Callable[[Path], None], sentence: str
) -> None:
    (tmp_path / "sports").mkdir()
    write(tmp_path / "sports")
    with pytest.raises(SourceError, match=sentence) as caught:
        CragApi(tmp_path).call(endpoint, {"date": "2024"})
    assert caught.value.status == 500


def test_a_database_put_right_is_read_without_a_restart(tmp_path: Path) -> None:
    (tmp_path / "sports").mkdir()
    no_database(tmp_path / "sports")
    api = CragApi(tmp_path)
    with pytest.raises(SourceError, match="cannot be read"):
        api.call(NBA, {"date": "2022"})
    (tmp_path / "sports" / "nba.sqlite").unlink()
    sqlite_file(tmp_path / "sports")
    assert found(api.call(NBA, {"date": "2022"})) == ["004"]


@pytest.mark.parametrize(
    "value, wanted",
    [
        pytest.param(0.444, 0.444, id="as it is"),
        pytest.param(0.1 + 0.2, 0.3, id="to ten decimals"),
        pytest.param(2 / 3, 0.6666666667, id="rounded"),
        pytest.param(-2 / 3, -0.6666666667, id="below zero"),
        pytest.param(0.99999999999, 1.0, id="up to the next whole number"),
        pytest.param(3e-11, 0.0, id="too small for ten decimals"),
        pytest.param(1e-16, 1e-16, id="so small that it gets an exponent"),
        pytest.param(1.23456789012345e17, 1.23456789e17, id="so large that it gets an exponent"),
        pytest.param(math.inf, None, id="infinity is null"),
        pytest.param(math.nan, None, id="NaN is null"),
    ],
)
def test_numbers_are_written_as_pandas_does(value: float, wanted: float | None) -> None:
    assert decimal(value) == wanted
    assert by_column(["0"], {"x": [value]}) == {"x": {"0": wanted}}


@pytest.mark.parametrize(
    "values, wanted",
    [
        pytest.param([1, 2], "[1, 2]", id="whole numbers"),
        pytest.param([1, None], "[1.0, None]", id="whole numbers with a null become floats"),
        pytest.param([1, 0.5], "[1.0, 0.5]", id="and with a fraction"),
        pytest.param([1, "a", None], "[1, 'a', None]", id="but not with a text"),
        pytest.param([None, None], "[None, None]", id="nothing but nulls"),
    ],
)
def test_columns_are_read_as_pandas_does(values: list[Any], wanted: str) -> None:
    assert repr(as_read_from_sql(values)) == wanted
