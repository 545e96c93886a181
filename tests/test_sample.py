"""The bundled movie graph: its three files agree with each other, and well-known facts are in it."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import kg

MOVIE = Path(kg.__file__).parent / "sample" / "movie"
YEARS = range(1990, 2022)
WON_EVERY_YEAR = (
    "BEST PICTURE",
    "DIRECTING",
    "ACTOR IN A LEADING ROLE",
    "ACTRESS IN A LEADING ROLE",
    "ACTOR IN A SUPPORTING ROLE",
    "ACTRESS IN A SUPPORTING ROLE",
)
# named on an award of a film, but somebody else
NAMESAKES = {("John Barry", "Star Wars"), ("Peter Morgan", "American Sniper")}


def read(name: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), f"a key of {name} is there twice: {Counter(keys).most_common(1)}"
        return dict(pairs)

    loaded: dict[str, Any] = json.loads((MOVIE / name).read_text(encoding="utf-8"), object_pairs_hook=once)
    return loaded


FILMS, PEOPLE, BY_YEAR = read("movie_db.json"), read("person_db.json"), read("year_db.json")


def normalised(name: str) -> str:
    return " ".join(name.lower().translate(str.maketrans("", "", string.punctuation)).split())


def frozen(award: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(award[f] for f in ("year_ceremony", "ceremony", "category", "name", "film", "winner"))


def test_it_is_large_enough_to_play_with_and_small_enough_to_ship():
    assert len(FILMS) >= 60
    assert sum(p["birthday"] is not None for p in PEOPLE.values()) >= 150
    assert list(BY_YEAR) == [str(year) for year in YEARS]
    assert sum(f.stat().st_size for f in MOVIE.iterdir()) < 1_500_000


@pytest.mark.parametrize(
    "entries, field", [pytest.param(FILMS, "title", id="films"), pytest.param(PEOPLE, "name", id="people")]
)
def test_keys_are_normalised_names_in_order_and_ids_are_unique(entries, field):
    assert {key: normalised(e[field]) for key, e in entries.items()} == {key: key for key in entries}
    assert list(entries) == sorted(entries)
    assert len({e["id"] for e in entries.values()}) == len(entries)


def test_every_credit_is_in_the_filmography_of_its_person_and_the_other_way_round():
    acted = {(c["id"], f["id"]) for f in FILMS.values() for c in f["cast"]}
    directed = {(c["id"], f["id"]) for f in FILMS.values() for c in f["crew"] if c["job"] == "Director"}
    assert acted == {(p["id"], film) for p in PEOPLE.values() for film in p["acted_movies"]}
    assert directed == {(p["id"], film) for p in PEOPLE.values() for film in p["directed_movies"]}
    assert {f["title"] for f in FILMS.values() if not any(c["job"] == "Director" for c in f["crew"])} == set()


def test_credits_name_the_person_of_their_id_and_nobody_is_there_without_one():
    credited = {(c["id"], c["name"]) for f in FILMS.values() for c in f["cast"] + f["crew"]}
    assert credited == {(p["id"], p["name"]) for p in PEOPLE.values()}


def test_the_cast_is_numbered_from_the_lead_and_everybody_has_one_gender():
    assert [f["title"] for f in FILMS.values() if [c["order"] for c in f["cast"]] != list(range(len(f["cast"])))] == []
    genders = {(c["name"], c["gender"]) for f in FILMS.values() for c in f["cast"]}
    assert {g for _, g in genders} == {1, 2}
    assert [name for name, n in Counter(name for name, _ in genders).items() if n > 1] == []


def test_a_year_lists_the_films_that_came_out_in_it():
    assert {year: sorted(y["movie_list"]) for year, y in BY_YEAR.items()} == {
        str(year): sorted(f["id"] for f in FILMS.values() if f["release_date"].startswith(str(year))) for year in YEARS
    }


def test_dates_parse_and_numbers_are_plausible():
    # fromisoformat also takes other spellings of a date, so the text has to come back
    dates = [f["release_date"] for f in FILMS.values()] + [p["birthday"] for p in PEOPLE.values() if p["birthday"]]
    assert [d for d in dates if date.fromisoformat(d).isoformat() != d] == []
    assert [f["title"] for f in FILMS.values() if not (60 <= f["length"] <= 240 and 5 <= f["rating"] <= 9)] == []
    assert [f["title"] for f in FILMS.values() if any(0 < f[m] < 500_000 for m in ("budget", "revenue"))] == []


def test_nobody_made_a_film_before_birth():
    born = {p["id"]: p["birthday"] for p in PEOPLE.values() if p["birthday"]}
    early = {
        (c["name"], f["title"])
        for f in FILMS.values()
        for c in f["cast"] + f["crew"]
        if c["id"] in born and int(f["release_date"][:4]) - int(born[c["id"]][:4]) < 5
    }
    assert early == set()


def test_awards_of_a_film_are_in_the_film_and_in_the_year():
    in_years = {frozen(a) for y in BY_YEAR.values() for a in y["oscar_awards"]}
    in_films = {frozen(a) for f in FILMS.values() for a in f["oscar_awards"]}
    title_year = {f["title"]: int(f["release_date"][:4]) for f in FILMS.values()}
    of_films = {a for a in in_years if a[4] in title_year and 0 <= a[0] - title_year[a[4]] <= 2}
    assert of_films == {a for a in in_films if a[0] in YEARS}
    assert [a for f in FILMS.values() for a in f["oscar_awards"] if a["film"] != f["title"]] == []


def test_awards_of_a_person_are_in_the_person_and_in_the_year():
    named = {n: re.compile(rf"(?<!\w){re.escape(n)}(?!\w)") for n in (p["name"] for p in PEOPLE.values())}
    everywhere = {frozen(a) for y in BY_YEAR.values() for a in y["oscar_awards"]}
    everywhere |= {frozen(a) for f in FILMS.values() for a in f["oscar_awards"]}
    expected = {(n, a) for a in everywhere for n, form in named.items() if form.search(a[3])}
    expected = {(n, a) for n, a in expected if (n, a[4]) not in NAMESAKES}
    ours = {(p["name"], frozen(a)) for p in PEOPLE.values() for a in p["oscar_awards"]}
    assert expected - ours == set()
    # beyond these a person may only have awards of other films in years that have no list
    assert {(n, a) for n, a in ours - expected if a[0] in YEARS or not named[n].search(a[3])} == set()


def test_an_award_is_listed_once_and_its_ceremony_is_the_years():
    for entry in [*FILMS.values(), *PEOPLE.values(), *BY_YEAR.values()]:
        listed = [frozen(a) for a in entry["oscar_awards"]]
        assert len(listed) == len(set(listed)), entry
        assert [a for a in listed if a[0] - a[1] != 1928] == []
    assert [a for year, y in BY_YEAR.items() for a in y["oscar_awards"] if str(a["year_ceremony"]) != year] == []


@pytest.mark.parametrize("category", WON_EVERY_YEAR)
def test_every_year_has_one_winner_of(category):
    winners = {
        y: sum(a["category"] == category and a["winner"] for a in BY_YEAR[str(y)]["oscar_awards"]) for y in YEARS
    }
    assert winners == dict.fromkeys(YEARS, 1)


@pytest.mark.parametrize("category", WON_EVERY_YEAR[1:])
def test_every_year_has_all_five_nominees_for(category):
    nominees = {y: sum(a["category"] == category for a in BY_YEAR[str(y)]["oscar_awards"]) for y in YEARS}
    assert nominees == dict.fromkeys(YEARS, 5)


@pytest.mark.parametrize(
    "key, field, value",
    [
        pytest.param("titanic", "release_date", "1997-12-19", id="date"),
        pytest.param("titanic", "length", 194, id="length"),
        pytest.param("avatar", "budget", 237_000_000, id="budget"),
        pytest.param("avengers endgame", "revenue", 2_799_439_100, id="revenue"),
        pytest.param("pans labyrinth", "original_title", "El laberinto del fauno", id="title in another language"),
        pytest.param("parasite", "original_language", "ko", id="language"),
        pytest.param("the matrix", "id", 603, id="TMDB's id"),
    ],
)
def test_a_fact_of_a_film(key, field, value):
    assert FILMS[key][field] == value


@pytest.mark.parametrize(
    "key, birthday",
    [
        pytest.param("leonardo dicaprio", "1974-11-11", id="an actor"),
        pytest.param("meryl streep", "1949-06-22", id="an actress"),
        pytest.param("christopher nolan", "1970-07-30", id="a director"),
        pytest.param("hans zimmer", "1957-09-12", id="a composer"),
        pytest.param("jrr tolkien", "1892-01-03", id="a novelist"),
    ],
)
def test_a_birthday(key, birthday):
    assert PEOPLE[key]["birthday"] == birthday


@pytest.mark.parametrize(
    "key, people",
    [
        pytest.param("the matrix", {"Lana Wachowski", "Lilly Wachowski"}, id="two"),
        pytest.param("the hurt locker", {"Kathryn Bigelow"}, id="a woman"),
        pytest.param("toy story 3", {"Lee Unkrich"}, id="not the series' usual one"),
        pytest.param("the empire strikes back", {"Irvin Kershner"}, id="not the creator"),
    ],
)
def test_the_directors_of(key, people):
    assert {c["name"] for c in FILMS[key]["crew"] if c["job"] == "Director"} == people


@pytest.mark.parametrize(
    "key, character, actor",
    [
        pytest.param("the dark knight", "Joker", "Heath Ledger", id="a villain"),
        pytest.param("the silence of the lambs", "Clarice Starling", "Jodie Foster", id="a lead"),
        pytest.param("finding nemo", "Dory (voice)", "Ellen DeGeneres", id="a voice"),
    ],
)
def test_who_plays(key, character, actor):
    assert [c["name"] for c in FILMS[key]["cast"] if c["character"] == character] == [actor]


@pytest.mark.parametrize(
    "key, oscars",
    [
        pytest.param("titanic", 11, id="the record"),
        pytest.param("the lord of the rings the return of the king", 11, id="the record again"),
        pytest.param("the godfather part ii", 6, id="before the years that have lists"),
        pytest.param("the shawshank redemption", 0, id="nominated only"),
        pytest.param("dune", 6, id="after the years that have lists"),
    ],
)
def test_how_many_oscars_a_film_won(key, oscars):
    assert sum(a["winner"] for a in FILMS[key]["oscar_awards"]) == oscars


@pytest.mark.parametrize(
    "key, oscars",
    [
        pytest.param("leonardo dicaprio", 1, id="after several nominations"),
        pytest.param("meryl streep", 3, id="two before 1990"),
        pytest.param("frances mcdormand", 4, id="as an actress and as a producer"),
        pytest.param("john williams", 5, id="a composer, one of them for a film outside"),
        pytest.param("glenn close", None, id="in no film of the sample"),
    ],
)
def test_how_many_oscars_a_person_won(key, oscars):
    person = PEOPLE.get(key)
    assert (sum(a["winner"] for a in person["oscar_awards"]) if person else None) == oscars


@pytest.mark.parametrize(
    "year, category, name, film",
    [
        pytest.param(
            2013, "BEST PICTURE", "Grant Heslov, Ben Affleck and George Clooney, Producers", "Argo", id="2013"
        ),
        pytest.param(2010, "DIRECTING", "Kathryn Bigelow", "The Hurt Locker", id="first woman"),
        pytest.param(2017, "ACTRESS IN A LEADING ROLE", "Emma Stone", "La La Land", id="actress"),
        pytest.param(2003, "ANIMATED FEATURE FILM", "Hayao Miyazaki", "Spirited Away", id="animation"),
        pytest.param(2019, "FOREIGN LANGUAGE FILM", "Mexico", "Roma", id="last of its name"),
        pytest.param(2020, "INTERNATIONAL FEATURE FILM", "South Korea", "Parasite", id="first of its name"),
    ],
)
def test_who_won(year, category, name, film):
    won = [a for a in BY_YEAR[str(year)]["oscar_awards"] if a["category"] == category and a["winner"]]
    assert [(a["name"], a["film"], a["ceremony"]) for a in won] == [(name, film, year - 1928)]
