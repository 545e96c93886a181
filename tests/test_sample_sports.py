"""The bundled games: both sides of each game agree, and the plays belong to games that are there."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import kg

SPORTS = Path(kg.__file__).parent / "sample" / "sports"
LEAGUES = {"ENG-Premier League", "ESP-La Liga", "FRA-Ligue 1", "GER-Bundesliga", "ITA-Serie A"}
REGULAR, OVERTIME = 240, 265


def read(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((SPORTS / name).read_text(encoding="utf-8"))
    return loaded


GAMES, PLAYS, SOCCER = read("nba_game.json"), read("nba_play_by_play.json"), read("soccer_team_match_stats.json")
BY_ID = {game["game_id"]: game for game in GAMES}


def finals(year: int) -> list[dict[str, Any]]:
    return [g for g in GAMES if g["season_type"] == "Playoffs" and g["game_date"].startswith(str(year))]


def winner(game: dict[str, Any]) -> str:
    name: str = game["team_name_home"] if game["wl_home"] == "W" else game["team_name_away"]
    return name


@pytest.mark.parametrize(
    "rows, columns",
    [
        pytest.param(GAMES, 55, id="games"),
        pytest.param(PLAYS, 34, id="plays"),
        pytest.param(SOCCER, 22, id="soccer"),
    ],
)
def test_every_row_has_the_same_columns(rows, columns):
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert len(rows[0]) == columns


def test_home_and_away_agree():
    for g in GAMES:
        home, away = g["pts_home"], g["pts_away"]
        assert home != away
        assert (g["wl_home"], g["wl_away"]) == (("W", "L") if home > away else ("L", "W"))
        assert g["plus_minus_home"] == home - away == -g["plus_minus_away"]
        assert g["matchup_home"] == f"{g['team_abbreviation_home']} vs. {g['team_abbreviation_away']}"
        assert g["matchup_away"] == f"{g['team_abbreviation_away']} @ {g['team_abbreviation_home']}"
        assert g["min"] in (REGULAR, OVERTIME)


def test_a_team_has_one_number_one_name_and_one_abbreviation():
    teams = {
        (g[f"team_id_{side}"], g[f"team_abbreviation_{side}"], g[f"team_name_{side}"])
        for g in GAMES
        for side in ("home", "away")
    }
    assert all(len({team[part] for team in teams}) == len(teams) for part in range(3))


def test_the_number_of_a_game_says_its_season_and_kind():
    assert len(BY_ID) == len(GAMES)
    for g in GAMES:
        kind = {"Regular Season": "2", "Playoffs": "4"}[g["season_type"]]
        season = int(g["season_id"][1:])
        assert g["season_id"][0] == kind
        assert re.fullmatch(rf"00{kind}{season % 100:02}\d{{5}}", g["game_id"])
        day = date.fromisoformat(g["game_date"].removesuffix(" 00:00:00"))
        assert day.year == season if kind == "2" else date(season + 1, 5, 1) < day or season == 2019


@pytest.mark.parametrize(
    "year, team, won, lost",
    [
        pytest.param(2013, "Miami Heat", 4, 3, id="2013"),
        pytest.param(2014, "San Antonio Spurs", 4, 1, id="2014"),
        pytest.param(2015, "Golden State Warriors", 4, 2, id="2015"),
        pytest.param(2016, "Cleveland Cavaliers", 4, 3, id="2016, after one to three"),
        pytest.param(2017, "Golden State Warriors", 4, 1, id="2017"),
        pytest.param(2018, "Golden State Warriors", 4, 0, id="2018, a sweep"),
        pytest.param(2019, "Toronto Raptors", 4, 2, id="2019"),
        pytest.param(2020, "Los Angeles Lakers", 4, 2, id="2020, in autumn"),
        pytest.param(2021, "Milwaukee Bucks", 4, 2, id="2021"),
        pytest.param(2022, "Golden State Warriors", 4, 2, id="2022"),
        pytest.param(2023, "Denver Nuggets", 4, 1, id="2023"),
        pytest.param(2024, "Boston Celtics", 4, 1, id="2024"),
    ],
)
def test_the_champion_of(year, team, won, lost):
    games = finals(year)
    assert Counter(winner(g) == team for g in games) == Counter({True: won, False: lost})
    assert winner(games[-1]) == team
    assert [g["game_id"][-3:] for g in games] == [f"40{n}" for n in range(1, won + lost + 1)]


def test_plays_are_of_games_that_are_there_and_in_order():
    assert {play["game_id"] for play in PLAYS} <= set(BY_ID)
    numbers: dict[str, list[int]] = defaultdict(list)
    clock: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for play in PLAYS:
        minutes, seconds = play["pctimestring"].split(":")
        numbers[play["game_id"]].append(play["eventnum"])
        clock[play["game_id"]].append((play["period"], -int(minutes) * 60 - int(seconds)))
    assert {g: n for g, n in numbers.items() if n != list(range(1, len(n) + 1))} == {}
    assert {g: c for g, c in clock.items() if c != sorted(c)} == {}


def test_the_score_of_a_play_is_away_then_home_and_its_margin_the_homes():
    for play in PLAYS:
        if play["score"] is None:
            assert play["scoremargin"] is None
        else:
            away, home = map(int, play["score"].split(" - "))
            assert play["scoremargin"] == ("TIE" if home == away else str(home - away))


def test_the_last_play_has_the_final_score():
    last = {play["game_id"]: play["score"] for play in PLAYS}
    assert last == {i: f"{BY_ID[i]['pts_away']:.0f} - {BY_ID[i]['pts_home']:.0f}" for i in last}


def test_a_player_is_of_one_of_the_two_teams():
    for play in PLAYS:
        game = BY_ID[play["game_id"]]
        for n in (1, 2, 3):
            teams = {None, game["team_abbreviation_home"], game["team_abbreviation_away"]}
            assert play[f"player{n}_team_abbreviation"] in teams
            assert (play[f"player{n}_name"] is None) == (play[f"player{n}_team_abbreviation"] is None)


def test_a_match_has_a_row_for_each_team_and_they_agree():
    matches: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in SOCCER:
        matches[row["league"], row["season"], row["game"]].append(row)
    swapped = {"W": "L", "L": "W", "D": "D"}
    for match in matches.values():
        one, other = match
        assert (one["team"], one["opponent"]) == (other["opponent"], other["team"])
        assert (one["GF"], one["GA"]) == (other["GA"], other["GF"])
        assert one["result"] == swapped[other["result"]]
        assert {one["venue"], other["venue"]} == {"Home", "Away"}
        assert [one[c] for c in ("date", "day", "round")] == [other[c] for c in ("date", "day", "round")]
    assert len(matches) >= 120


def test_a_row_says_one_thing():
    for row in SOCCER:
        day, goals = date.fromisoformat(row["date"]), int(row["GF"]) - int(row["GA"])
        home, away = (row["team"], row["opponent"]) if row["venue"] == "Home" else (row["opponent"], row["team"])
        assert row["game"] == f"{row['date']} {home}-{away}"
        assert row["day"] == day.strftime("%a")
        assert row["result"] == ("W" if goals > 0 else "L" if goals < 0 else "D")
        assert row["season"] == (f"{day:%y}{day.year % 100 + 1}" if day.month >= 7 else f"{day.year % 100 - 1}{day:%y}")
        assert row["round"] is None or re.fullmatch(r"Matchweek \d\d?", row["round"])
    assert {row["league"] for row in SOCCER} == LEAGUES


def test_no_team_plays_twice_on_a_day():
    assert [key for key, n in Counter((r["team"], r["date"]) for r in SOCCER).items() if n > 1] == []


@pytest.mark.parametrize("season", ["2122", "2223", "2324"])
def test_the_last_day_of_the_premier_league_is_whole(season):
    last = [
        r for r in SOCCER if (r["season"], r["round"]) == (season, "Matchweek 38") and r["league"].startswith("ENG")
    ]
    assert len(last) == len({r["team"] for r in last}) == 20
    assert len({r["date"] for r in last}) == 1


@pytest.mark.parametrize(
    "day, team, result, goals",
    [
        pytest.param("2023-03-05", "Liverpool", "W", ("7", "0"), id="at home"),
        pytest.param("2023-09-24", "Newcastle Utd", "W", ("8", "0"), id="away"),
        pytest.param("2023-11-12", "Chelsea", "D", ("4", "4"), id="a draw"),
        pytest.param("2024-04-21", "Barcelona", "L", ("2", "3"), id="in Spain"),
    ],
)
def test_a_result(day, team, result, goals):
    assert [(r["result"], (r["GF"], r["GA"])) for r in SOCCER if (r["date"], r["team"]) == (day, team)] == [
        (result, goals)
    ]
