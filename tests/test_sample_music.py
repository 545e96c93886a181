"""The bundled music: the two charts say the same, dates parse, and each year has its Grammys."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import kg

MUSIC = Path(kg.__file__).parent / "sample" / "music"
YEARS = range(1958, 2020)
PARTIAL_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


def read(name: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), f"a key of {name} is there twice: {Counter(keys).most_common(1)}"
        return dict(pairs)

    return json.loads((MUSIC / f"{name}.json").read_text(encoding="utf-8"), object_pairs_hook=once)


ARTISTS: dict[str, dict[str, Any]] = read("artist_dict_simplified")
SONGS: dict[str, dict[str, Any]] = read("song_dict_simplified")
WORKS: dict[str, list[str]] = read("artist_work_dict")
GRAMMYS: list[dict[str, Any]] = read("grammy_df")
RANKS: dict[str, list[dict[str, str]]] = read("rank_dict_hot100")
CHART: dict[str, dict[str, list[str | None]]] = read("song_dict_hot100")


def winners(category: str, year: int) -> list[dict[str, Any]]:
    return [a for a in GRAMMYS if a["category"] == category and a["year"] == year]


def first_and_last_day(text: str) -> tuple[date, date]:
    """Return the days a date may mean that has a year, or a year and a month, only."""
    assert PARTIAL_DATE.fullmatch(text), text
    return date.fromisoformat(text + "-01" * (2 - text.count("-"))), date.fromisoformat(
        text + ("-12-31", "-28", "")[text.count("-")]
    )


def test_it_is_large_enough_to_play_with():
    assert len(ARTISTS) >= 300
    assert len(SONGS) >= 250
    assert len(GRAMMYS) >= 200


@pytest.mark.parametrize(
    "entries, fields",
    [
        pytest.param(ARTISTS, {"birth_date", "country", "end_date", "members"}, id="artists"),
        pytest.param(SONGS, {"author", "country", "date"}, id="songs"),
    ],
)
def test_every_record_has_the_same_fields_and_a_code_for_the_country(entries, fields):
    assert [name for name, e in entries.items() if set(e) != fields] == []
    assert [name for name, e in entries.items() if not re.fullmatch("[A-Z]{2}", e["country"] or "US")] == []
    assert list(entries) == sorted(entries, key=str.casefold)


def test_nobody_ended_before_the_beginning():
    lives = {n: (a["birth_date"], a["end_date"]) for n, a in ARTISTS.items() if a["birth_date"] and a["end_date"]}
    assert [n for n, (b, e) in lives.items() if first_and_last_day(b)[0] >= first_and_last_day(e)[1]] == []
    assert len(lives) >= 50


def test_artists_have_a_whole_birthday_and_bands_a_year():
    people = {n: a["birth_date"] for n, a in ARTISTS.items() if a["members"] is None and len(a["birth_date"] or "") > 4}
    assert [n for n, born in people.items() if not date(1890, 1, 1) < date.fromisoformat(born) < date(2010, 1, 1)] == []
    assert [n for n, a in ARTISTS.items() if a["members"] and len(a["birth_date"] or "0000") != 4] == []


def test_members_are_two_or_more_and_named_once():
    bands = {n: a["members"] for n, a in ARTISTS.items() if a["members"] is not None}
    assert {n: m for n, m in bands.items() if len(m) < 2 or len(m) != len(set(m))} == {}
    assert len(bands) >= 70


def test_a_song_is_among_the_works_of_its_artist():
    assert [t for t, s in SONGS.items() if t not in WORKS[s["author"]]] == []
    assert {a: w for a, w in WORKS.items() if len(w) != len(set(w)) or not w} == {}


def test_no_song_came_out_before_its_artist_was_born():
    early = {
        title: (song["date"], begun)
        for title, song in SONGS.items()
        if song["date"]
        and (begun := ARTISTS.get(song["author"], {}).get("birth_date"))
        and first_and_last_day(song["date"])[1] <= first_and_last_day(begun)[0]
    }
    assert early == {}


def test_no_song_was_in_the_chart_before_it_came_out():
    first_week = {title: min(weeks) for title, weeks in CHART.items()}
    early = {
        title: (song["date"], first_week[title])
        for title, song in SONGS.items()
        if title in first_week and song["date"] and first_week[title] < song["date"]
    }
    assert early == {}


def test_the_chart_by_rank_is_the_chart_by_song():
    by_rank = {(row["Date"], rank, row["Song"], row["Artist"]) for rank, rows in RANKS.items() for row in rows}
    by_song = {(row[0], row[3], row[1], row[2]) for weeks in CHART.values() for row in weeks.values()}
    assert by_rank == by_song
    assert sum(map(len, RANKS.values())) == len(by_rank)


def test_a_row_of_the_chart_is_filed_under_its_song_and_week():
    assert [(s, w) for s, weeks in CHART.items() for w, row in weeks.items() if row[:2] != [w, s]] == []
    assert {len(row) for weeks in CHART.values() for row in weeks.values()} == {8}


def test_one_song_a_rank_and_week_one_week_a_chart():
    for rank, rows in RANKS.items():
        weeks = [row["Date"] for row in rows]
        assert weeks == sorted(set(weeks)), rank
    weeks = {date.fromisoformat(row["Date"]) for rows in RANKS.values() for row in rows}
    # Billboard dated its charts to Mondays until 1961, to Saturdays since
    assert {week.weekday() for week in weeks if week.year > 1961} == {5}


def test_a_new_song_has_a_short_row_and_is_in_its_first_week():
    new = [row for weeks in CHART.values() for row in weeks.values() if row[6] == "-"]
    assert [row for row in new if row[3] != row[4] or row[5] != "1" or row[7] is not None] == []
    assert len(new) >= 30


def test_the_row_of_a_week_follows_from_the_row_of_the_week_before():
    wrong = []
    for title, weeks in CHART.items():
        for week, row in weeks.items():
            before = weeks.get((date.fromisoformat(week) - timedelta(7)).isoformat())
            if before is None or row[4] is None:
                continue
            known_weeks = before[5] if before[6] == "-" else before[6]
            if row[4] != before[3] or (known_weeks and row[6] != str(int(known_weeks) + 1)):
                wrong.append((title, week))
    assert wrong == []


def test_no_rank_is_better_than_the_best():
    rows = [row for weeks in CHART.values() for row in weeks.values()]
    peaks = [(row[1], row[3], row[4] if row[6] == "-" else row[5]) for row in rows]
    assert [p for p in peaks if int(p[1] or 0) < int(p[2] or 0)] == []


@pytest.mark.parametrize(
    "category, without, twice",
    [
        pytest.param("Record Of The Year", set(), set(), id="records"),
        pytest.param("Album Of The Year", set(), set(), id="albums"),
        pytest.param("Song Of The Year", set(), {1977}, id="songs, a tie in 1977"),
        pytest.param("Best New Artist", {1958, 1966, 1989}, set(), id="new artists, not in three years"),
    ],
)
def test_every_year_has_a_winner(category, without, twice):
    expected = {y: 0 if y in without else 2 if y in twice else 1 for y in YEARS}
    assert {y: len(winners(category, y)) for y in YEARS} == expected


def test_the_ceremony_is_the_years():
    ordinal = re.compile(r"(\d+)(st|nd|rd|th) Annual GRAMMY Awards  \((\d{4})\)")
    parsed = [(a["year"], ordinal.fullmatch(a["title"])) for a in GRAMMYS]
    assert [(y, m) for y, m in parsed if not m or int(m[3]) != y or int(m[1]) != y - 1957] == []
    assert {a["winner"] for a in GRAMMYS} == {True}


@pytest.mark.parametrize(
    "category, filled",
    [
        pytest.param("Record Of The Year", ("artist",), id="records have an artist"),
        pytest.param("Album Of The Year", ("artist",), id="albums have an artist"),
        pytest.param("Song Of The Year", ("workers",), id="songs have their writers, then the artist"),
        pytest.param("Best New Artist", (), id="of an artist the name is all"),
    ],
)
def test_a_category_fills_its_own_fields(category, filled):
    of_it = [a for a in GRAMMYS if a["category"] == category]
    assert {f for a in of_it for f in ("artist", "workers") if a[f] is not None} == set(filled)
    assert [a["nominee"] for a in of_it if not all(a[f] for f in filled)] == []


@pytest.mark.parametrize(
    "name, field, value",
    [
        pytest.param("Adele", "birth_date", "1988-05-05", id="a birthday"),
        pytest.param("David Bowie", "end_date", "2016-01-10", id="a death"),
        pytest.param("Rihanna", "country", "BB", id="a country"),
        pytest.param("The Beatles", "birth_date", "1960", id="a beginning"),
        pytest.param("Queen", "members", ["Freddie Mercury", "Brian May", "Roger Taylor", "John Deacon"], id="a band"),
        pytest.param("Édith Piaf", "country", "FR", id="a name that is not ASCII"),
    ],
)
def test_a_fact_of_an_artist(name, field, value):
    assert ARTISTS[name][field] == value


@pytest.mark.parametrize(
    "category, year, nominee",
    [
        pytest.param("Best New Artist", 1998, "Lauryn Hill", id="artist"),
        pytest.param("Song Of The Year", 2016, "Hello", id="song"),
        pytest.param("Album Of The Year", 2011, "21", id="an album with a number for a name"),
        pytest.param("Record Of The Year", 1999, "Smooth", id="record"),
    ],
)
def test_who_won(category, year, nominee):
    assert [a["nominee"] for a in winners(category, year)] == [nominee]


@pytest.mark.parametrize(
    "week, rank, song",
    [
        pytest.param("1964-04-04", "5", "Please Please Me", id="the week one band had the first five"),
        pytest.param("2022-11-05", "10", "Vigilante Shit", id="the week one artist had the first ten"),
        pytest.param("2019-04-13", "1", "Old Town Road", id="a first week at the top"),
        pytest.param("2024-03-02", "1", "Texas Hold 'Em", id="an apostrophe"),
    ],
)
def test_a_rank(week, rank, song):
    assert [row["Song"] for row in RANKS[rank] if row["Date"] == week] == [song]
