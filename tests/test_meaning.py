"""Meanings become programs that pass the check, plan, and say what was meant."""

from __future__ import annotations

import pytest

from engine.translate.meaning import (
    Aggregate,
    Calculate,
    Compare,
    Count,
    Entity,
    Exists,
    Given,
    Is,
    Meaning,
    Names,
    Same,
    Set,
    Through,
    To,
    Top,
    Where,
    Which,
)
from engine.translate.program import sql
from kg.check import check
from kg.dialect import parse
from kg.domain import Domain
from kg.load import BUILT_IN, load_domain
from kg.plan import plan

TITANIC = Set("movie", (Is((Entity(597, "Titanic"),)),))
CAMERON = Set("person", (Is((Entity(2710, "James Cameron"),)),))
WINSLET = Set("person", (Is((Entity(204, "Kate Winslet"),)),))
DIRECTED = Set("crew", (Where("job", "=", ("Director",)),))
HIS_FILMS = Set("movie", (Through(DIRECTED.also(To(CAMERON))),))
HIS_LATEST = Set("movie", HIS_FILMS.conditions, Top("release_date", descending=True))
BEST_PICTURE = Set("oscar_award", (Where("category", "=", ("BEST PICTURE",)), Where("winner", "=", (True,))))


@pytest.fixture(scope="module")
def movie() -> Domain:
    return load_domain(BUILT_IN / "movie.yaml")


CASES = [
    pytest.param(
        Names(TITANIC, "budget"),
        "SELECT DISTINCT movie.budget FROM movie WHERE movie.title = 'Titanic' AND movie.id = 597",
        id="a column of a thing",
    ),
    pytest.param(
        Names(Set("person", (Through(DIRECTED.also(To(TITANIC))),))),
        "SELECT DISTINCT crew.name FROM crew JOIN movie ON movie.id = crew.movie_id "
        "WHERE crew.job = 'Director' AND movie.title = 'Titanic' AND movie.id = 597",
        id="the credit has the name: no need to ask for the person",
    ),
    pytest.param(
        Names(Set("person", (Through(Set("cast", (To(HIS_LATEST),))),))),
        'SELECT DISTINCT "cast".name FROM "cast" WHERE "cast".movie_id IN (SELECT movie.id FROM movie '
        "JOIN crew ON crew.movie_id = movie.id JOIN person ON person.id = crew.person_id "
        "WHERE crew.job = 'Director' AND person.name = 'James Cameron' AND person.id = 2710 "
        "AND movie.release_date IS NOT NULL ORDER BY movie.release_date DESC LIMIT 1)",
        id="a superlative inside is a subquery",
    ),
    pytest.param(
        Count(HIS_FILMS),
        "SELECT count(DISTINCT movie.id) FROM movie JOIN crew ON crew.movie_id = movie.id "
        "JOIN person ON person.id = crew.person_id WHERE crew.job = 'Director' "
        "AND person.name = 'James Cameron' AND person.id = 2710",
        id="things are counted once however often a join meets them",
    ),
    pytest.param(
        Count(BEST_PICTURE.also(To(TITANIC))),
        "SELECT count(*) FROM oscar_award JOIN movie ON movie.id = oscar_award.movie_id WHERE "
        "oscar_award.category = 'BEST PICTURE' AND oscar_award.winner = TRUE AND movie.title = 'Titanic' AND movie.id = 597",
        id="rows of a detail table are counted as they are",
    ),
    pytest.param(
        Names(Set("movie", (Through(BEST_PICTURE.also(Where("year_ceremony", "=", (1998,)))),)), "budget"),
        "SELECT DISTINCT movie.budget FROM movie JOIN oscar_award ON oscar_award.film = movie.title WHERE "
        "oscar_award.category = 'BEST PICTURE' AND oscar_award.winner = TRUE AND oscar_award.year_ceremony = 1998 "
        "AND movie.release_year BETWEEN oscar_award.year_ceremony - 2 AND oscar_award.year_ceremony",
        id="a year's awards have no ids: they are joined by the film's name, narrowed as declared",
    ),
    pytest.param(
        Exists(BEST_PICTURE.also(To(TITANIC), To(CAMERON))),
        "SELECT count(DISTINCT oscar_award.year_ceremony) > 0 FROM oscar_award JOIN movie ON movie.id = oscar_award.movie_id "
        "JOIN person ON person.name = oscar_award.name WHERE oscar_award.category = 'BEST PICTURE' "
        "AND oscar_award.winner = TRUE AND movie.title = 'Titanic' AND movie.id = 597 "
        "AND person.name = 'James Cameron' AND person.id = 2710",
        id="a film's awards have no person ids: the second link goes by name",
    ),
    pytest.param(
        Which(
            (Names(CAMERON, "birthday"), Names(WINSLET, "birthday")),
            ("James Cameron", "Kate Winslet"),
            descending=False,
        ),
        "SELECT person.name, person.birthday FROM person WHERE person.id IN (2710, 204) ORDER BY person.birthday ASC",
        id="a comparison shows every value, so that an unknown one is seen",
    ),
    pytest.param(
        Compare(Names(CAMERON, "birthday"), Names(WINSLET, "birthday"), greater=False),
        "SELECT (SELECT DISTINCT person.birthday FROM person WHERE person.name = 'James Cameron' AND person.id = 2710) < "
        "(SELECT DISTINCT person.birthday FROM person WHERE person.name = 'Kate Winslet' AND person.id = 204) AS answer",
        id="yes or no",
    ),
    pytest.param(
        Calculate("years", Names(WINSLET, "birthday"), Given("2024-03-11")),
        "SELECT years_between((SELECT DISTINCT person.birthday FROM person WHERE person.name = 'Kate Winslet' "
        "AND person.id = 204), '2024-03-11') AS answer",
        id="an age at the time of the question",
    ),
    pytest.param(
        Aggregate("sum", Set("movie", HIS_FILMS.conditions, Top("release_date", descending=False, n=3)), "revenue"),
        "SELECT sum(movie.revenue) FROM movie WHERE movie.id IN (SELECT movie.id FROM movie "
        "JOIN crew ON crew.movie_id = movie.id JOIN person ON person.id = crew.person_id WHERE crew.job = 'Director' "
        "AND person.name = 'James Cameron' AND person.id = 2710 AND movie.release_date IS NOT NULL "
        "ORDER BY movie.release_date ASC LIMIT 3)",
        id="the first three are chosen before they are added up",
    ),
    pytest.param(
        Names(BEST_PICTURE.also(Same("year_ceremony", BEST_PICTURE.also(To(TITANIC)), "year_ceremony")), "film"),
        "SELECT DISTINCT oscar_award.film FROM oscar_award WHERE oscar_award.category = 'BEST PICTURE' "
        "AND oscar_award.winner = TRUE AND oscar_award.year_ceremony IN (SELECT DISTINCT oscar_award.year_ceremony "
        "FROM oscar_award JOIN movie ON movie.id = oscar_award.movie_id WHERE oscar_award.category = 'BEST PICTURE' "
        "AND oscar_award.winner = TRUE AND movie.title = 'Titanic' AND movie.id = 597)",
        id="the same year as",
    ),
    pytest.param(
        Names(Set("movie", (Is((Entity(1, "It's; DROP TABLE movie; --"),)),)), "budget"),
        "SELECT DISTINCT movie.budget FROM movie WHERE movie.title = 'It''s; DROP TABLE movie; --' AND movie.id = 1",
        id="a name is data",
    ),
]


@pytest.mark.parametrize("meaning, program", CASES)
def test_a_meaning_is_said_in_sql(meaning: Meaning, program: str, movie: Domain) -> None:
    assert sql(meaning, movie) == program


@pytest.mark.parametrize("meaning", [pytest.param(c.values[0], id=c.id) for c in CASES])
def test_every_meaning_passes_the_check_and_can_be_planned(meaning: Meaning, movie: Domain) -> None:
    assert plan(check(parse(sql(meaning, movie), movie), movie), movie).steps
