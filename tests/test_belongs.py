"""Which domain a program or a table is of, where nobody says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small import CINEMA

from engine.belongs import domain_of, domain_with
from kg.domain import Domain
from kg.errors import QueryError
from kg.load import BUILT_IN, load_domains

BUILT = load_domains([BUILT_IN])
TWICE: dict[str, Domain] = {"cinema": CINEMA, "theatre": replace(CINEMA, name="theatre"), **BUILT}
SHARED = CINEMA.tables[0].name
COLUMN = CINEMA.tables[0].columns[0].name


@pytest.mark.parametrize(
    "program, domain",
    [
        pytest.param("SELECT title FROM movie WHERE id = 1", "movie", id="SQL"),
        pytest.param('get_movie_person_crew("titanic", NONE)[name]', "movie", id="a call of several tables"),
        pytest.param("SELECT close FROM Daily_Price WHERE ticker = 'AAPL'", "finance", id="capitals"),
        pytest.param("SELECT title FROM movie WHERE title = 'song'", "movie", id="a text is called like another table"),
        pytest.param("SELECT m.title AS song FROM movie m WHERE id = 1", "movie", id="a column is called like another table"),
        pytest.param("WITH fact AS (SELECT 1 AS n) SELECT name FROM company, fact WHERE ticker = 'A'", "finance", id="a CTE is called like another table"),
        pytest.param("SELECT name FROM person WHERE year(birthday) = extract(year FROM DATE '1974-11-11') AND name = 'x'", "movie", id="a FROM of a function"),
        pytest.param("SELECT nme FROM company WHERE ticker = 'A'", "finance", id="a program with a mistake"),
        pytest.param("SELECT 1", next(iter(BUILT)), id="no table: any will do"),
    ],
)  # fmt: skip
def test_a_program_is_of_the_domain_whose_tables_it_names(program: str, domain: str) -> None:
    assert domain_of(program, BUILT) == domain


@pytest.mark.parametrize(
    "program, said",
    [
        pytest.param("SELECT title FROM film", "There is no table 'film'.", id="a table nobody has"),
        pytest.param("get_film('x')", "get_film names no table.", id="a call nobody has"),
        pytest.param("SELECT title FROM movies", "There is no table 'movies'. Did you mean movie?", id="nearly a table"),
        pytest.param("SELECT title FROM movie JOIN company ON true", "these are of several: movie (movie), company (finance).", id="tables of two domains"),
    ],
)  # fmt: skip
def test_what_is_of_no_domain_is_said(program: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        domain_of(program, BUILT)
    assert said in str(caught.value)


def test_a_table_of_two_domains_must_be_told_apart() -> None:
    said = f"{SHARED} is in several domains: cinema, theatre. Say which one is meant."
    with pytest.raises(QueryError, match=said):
        domain_with(SHARED, TWICE)
    with pytest.raises(QueryError, match=said):
        domain_of(f"SELECT {COLUMN} FROM {SHARED} WHERE {COLUMN} = 1", TWICE)


def test_where_one_domain_is_chosen_its_own_errors_are_said() -> None:
    assert domain_of("SELECT title FROM company", {"movie": BUILT["movie"]}) == "movie"
