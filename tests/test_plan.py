"""The planner: which calls a query needs, in which order, and what it says when there is no way."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from small import CINEMA
from sqlglot import exp

from kg.check import check
from kg.dialect import parse
from kg.errors import MissingInput, QueryError
from kg.plan import plan
from kg.plan.steps import PARTITION, Plan


def planned(sql: str) -> Plan:
    return plan(check(parse(sql, CINEMA), CINEMA), CINEMA)


def steps(sql: str) -> list[str]:
    return [str(s) for s in planned(sql).steps]


BY_ID = "film <- POST /film (id={})"
SEARCH = "film <- POST /films (title={})"


@pytest.mark.parametrize(
    "where, expected",
    [
        pytest.param("id = 10", [BY_ID.format("10")], id="equality"),
        pytest.param("10 = id", [BY_ID.format("10")], id="equality the other way round"),
        pytest.param("title = 'Up'", [SEARCH.format("'Up'")], id="equality of a searched column"),
        pytest.param("title = 'Up' AND id = 10", [BY_ID.format("10")], id="a complete call before a search"),
        pytest.param("id IN (1, 2, 3, 4)", [BY_ID.format("1, 2, 3, ... (4)")], id="in is several calls"),
        pytest.param("id IN (1, 1.0, 1)", [BY_ID.format("1")], id="equal values are one call"),
        pytest.param("id = 1 OR id = 2", [BY_ID.format("1, 2")], id="or of one column"),
        pytest.param("id = 1 OR id IN (2, 3)", [BY_ID.format("1, 2, 3")], id="or of equality and in"),
        pytest.param("id = 1 OR title = 'Up'", [BY_ID.format("1"), SEARCH.format("'Up'")], id="or of two columns"),
        pytest.param("id IN (1, 2) AND id IN (2, 3)", [BY_ID.format("2")], id="conditions intersect"),
        pytest.param("id IN (1, 2) AND id = 3", [BY_ID.format("nothing")], id="a contradiction asks nothing"),
        pytest.param("id = 5.5", [BY_ID.format("nothing")], id="no row can have it"),
        pytest.param("CAST(id AS TEXT) = '7'", [BY_ID.format("7")], id="a cast is seen through"),
        pytest.param("id = CAST('7' AS BIGINT) AND title = 'Up'", [SEARCH.format("'Up'")], id="a literal whose cast changes it is not"),
        pytest.param("lower(title) = 'up'", [SEARCH.format("'up'")], id="lower of a name is seen through"),
        pytest.param("title = 'Up' AND title = 'up'", [SEARCH.format("'Up'")], id="spellings of a name do not contradict"),
        pytest.param("title = 'O''Brien; DROP TABLE film'", [SEARCH.format('"O\'Brien; DROP TABLE film"')], id="a name is only a value"),
        pytest.param("id BETWEEN 1 AND 3", [BY_ID.format("1, 2, 3")], id="a short range of ids"),
        pytest.param("id > 0 AND id < 3.5", [BY_ID.format("1, 2, 3")], id="bounds of two conditions"),
    ],
)  # fmt: skip
def test_conditions_become_inputs(where: str, expected: list[str]) -> None:
    assert steps(f"SELECT title FROM film WHERE {where}") == expected


@pytest.mark.parametrize(
    "where",
    [
        pytest.param("NOT id = 10", id="not"),
        pytest.param("id <> 10", id="inequality"),
        pytest.param("id NOT IN (10, 11)", id="not in"),
        pytest.param("id = 10 OR gross > 5", id="an or with an unbound branch"),
        pytest.param("id = 10 OR id <> 11", id="an or with a negative branch"),
        pytest.param("(id = 10) = (gross = 5)", id="equality of conditions"),
        pytest.param("coalesce(id, 0) = 10", id="a function that changes the value"),
        pytest.param("id + 0 = 10", id="arithmetic"),
        pytest.param("CASE WHEN id = 10 THEN TRUE ELSE FALSE END", id="case"),
        pytest.param("id BETWEEN 1 AND 1000000000000", id="a range that nobody wants to write out"),
        pytest.param("title LIKE 'Night%'", id="like"),
        pytest.param("TRUE", id="nothing"),
    ],
)
def test_what_would_lose_rows_is_not_pushed(where: str) -> None:
    with pytest.raises(MissingInput) as e:
        planned(f"SELECT title FROM film WHERE {where}")
    assert e.value.table == "film"
    assert e.value.inputs == ("id", "title", "year")
    assert str(e.value) == "film can only be looked up by id or title or year. Say which film or year is meant."


LISTED = "listed <- POST /year (year={})"
EACH_LISTED = "film <- POST /film (id=each listed.film_id)"


@pytest.mark.parametrize(
    "where, years, clipped",
    [
        pytest.param("year = 1993", "1993", False, id="a year"),
        pytest.param("year IN (1993, 1995)", "1993, 1995", False, id="years"),
        pytest.param("year BETWEEN 1993 AND 1995", "1993, 1994, 1995", False, id="between"),
        pytest.param("year > 1992 AND year <= 1995", "1993, 1994, 1995", False, id="bounds"),
        pytest.param("year(made) = 1993", "1993", False, id="the year of the date"),
        pytest.param("extract(year FROM made) IN (1993, 1994)", "1993, 1994", False, id="extract"),
        pytest.param("date_part('year', made) = 1993", "1993", False, id="date_part"),
        pytest.param("made = DATE '1993-07-01'", "1993", False, id="a date"),
        pytest.param("made BETWEEN DATE '1993-07-01' AND DATE '1994-02-01'", "1993, 1994", False, id="dates"),
        pytest.param("made >= DATE '1998-06-01'", "1998, 1999", True, id="an open end is clipped"),
        pytest.param("year >= 1985 AND year < 1992", "1990, 1991", True, id="years before the first are clipped"),
        pytest.param("year IN (1980, 1995)", "1995", True, id="a year outside is clipped"),
        pytest.param("year > 1995 AND year < 1993", "nothing", False, id="no year at all"),
        pytest.param("year = 1993 OR year(made) = 1994", "1993 or 1994", False, id="or"),
    ],
)
def test_years_come_from_dates_and_stay_within_limits(where: str, years: str, clipped: bool) -> None:
    found = planned(f"SELECT title FROM film WHERE {where}").steps
    first = [s for s in found if s.access.table == "listed"]
    assert " or ".join(str(s).partition("year=")[2].rstrip(")") for s in first) == years
    assert any(s.clipped for s in found) == clipped
    assert str(found[-1]) == EACH_LISTED


@pytest.mark.parametrize("where", ["year = 1985", "year < 1990", "made < DATE '1989-01-01'", "year IN (1980, 2050)"])
def test_years_out_of_reach_are_told(where: str) -> None:
    with pytest.raises(QueryError, match=r"film is only known for year 1990 to 1999\.") as e:
        planned(f"SELECT title FROM film WHERE {where}")
    assert not isinstance(e.value, MissingInput)


@pytest.mark.parametrize(
    "sql, expected",
    [
        pytest.param(
            "SELECT f.title FROM person x JOIN played p ON p.person_id = x.id JOIN film f ON f.id = p.film_id "
            "JOIN part t ON t.film_id = f.id WHERE x.name = 'Bo Li'",
            ["person <- POST /people (name='Bo Li')", "played <- POST /person (person_id=each x.id)",
             "film <- POST /film (id=each p.film_id)", "part <- POST /film (film_id=each f.id)"],
            id="person, the ids of their films, the films, their parts",
        ),
        pytest.param(
            "SELECT t.role FROM part t WHERE t.person_id = 2",
            ["played <- POST /person (person_id=2)", "part <- POST /film (film_id=each played.film_id)"],
            id="over a helper table",
        ),
        pytest.param(
            "SELECT f.title FROM film f JOIN part t ON CAST(t.film_id AS TEXT) = CAST(f.id AS TEXT) WHERE f.title = 'Up'",
            ["film <- POST /films (title='Up')", "part <- POST /film (film_id=each f.id)"],
            id="casts in a join",
        ),
        pytest.param(
            "SELECT f.title FROM film f, part t WHERE t.film_id = f.id AND t.person_id = 2 AND f.year = 1993",
            ["played <- POST /person (person_id=2)", "part <- POST /film (film_id=each played.film_id)",
             "film <- POST /film (id=each t.film_id)"],
            id="a person before a year, whose list is long",
        ),
        pytest.param(
            "SELECT f.title, t.role FROM film f LEFT JOIN part t ON t.film_id = f.id AND t.role = 'Ada' WHERE f.id = 10",
            [BY_ID.format("10"), "part <- POST /film (film_id=10)"],
            id="the optional side of a left join is bound by the other",
        ),
        pytest.param(
            "SELECT f.title, t.role FROM part t RIGHT JOIN film f ON t.film_id = f.id WHERE f.id = 10",
            [BY_ID.format("10"), "part <- POST /film (film_id=10)"],
            id="of a right join too",
        ),
        pytest.param(
            "SELECT f.title, x.name FROM film f LEFT JOIN part t ON t.film_id = f.id JOIN person x ON x.id = t.person_id WHERE f.id = 10",
            [BY_ID.format("10"), "part <- POST /film (film_id=10)", "person <- POST /person (id=each t.person_id)"],
            id="an inner join after a left one",
        ),
        pytest.param(
            "SELECT a.film_id FROM part a JOIN part b ON b.film_id = a.film_id JOIN listed c ON c.film_id = b.film_id AND c.year = 1993",
            ["listed <- POST /year (year=1993)", "part <- POST /film (film_id=each c.film_id)", "part <- POST /film (film_id=each c.film_id)"],
            id="equalities are passed on",
        ),
        pytest.param(
            "SELECT t.role FROM part t JOIN film f ON CAST(f.id AS TEXT) = CAST(t.film_id AS TEXT) WHERE CAST(t.film_id AS TEXT) = '10'",
            ["part <- POST /film (film_id=10)", BY_ID.format("10")],
            id="a constant is passed on",
        ),
        pytest.param(
            "SELECT x.born FROM award a JOIN person x ON x.name = a.name WHERE a.name = 'Ann' AND a.year = 1994",
            ["award <- POST /year (year=1994)", "person <- POST /people (name=each a.name)"],
            id="but not to what need only contain it",
        ),
        pytest.param(
            "SELECT title FROM film WHERE id = 1 UNION SELECT title FROM film WHERE id = 2",
            [BY_ID.format("1"), BY_ID.format("2")],
            id="union",
        ),
        pytest.param(
            "WITH c AS (SELECT id FROM film WHERE title = 'Up') SELECT t.role FROM c JOIN part t ON t.film_id = c.id",
            [SEARCH.format("'Up'"), "part <- POST /film (film_id=each c.id)"],
            id="with",
        ),
        pytest.param(
            "SELECT title FROM film WHERE id IN (SELECT film_id FROM listed WHERE year = 1993)",
            ["listed <- POST /year (year=1993)", "film <- POST /film (id=each listed.film_id)"],
            id="a subquery that stands alone",
        ),
        pytest.param(
            "SELECT title FROM film WHERE id = (SELECT max(film_id) FROM listed WHERE year = 1993)",
            ["listed <- POST /year (year=1993)", "film <- POST /film (id=each MAX(listed.film_id))"],
            id="a value of a subquery",
        ),
        pytest.param(
            "SELECT title FROM film WHERE title = 'Up' AND id IN (SELECT film_id FROM part WHERE role = 'Ada')",
            [SEARCH.format("'Up'"), "part <- POST /film (film_id=each film.id)"],
            id="a subquery that only the outer query binds",
        ),
        pytest.param(
            "SELECT film.title FROM film WHERE film.title = 'Up' AND film.id IN (SELECT film.id FROM film WHERE film.gross > 5)",
            [SEARCH.format("'Up'"), BY_ID.format("each film.id")],
            id="with the alias of the outer query",
        ),
        pytest.param(
            "SELECT title FROM film WHERE title = 'Up' AND EXISTS (SELECT 1 FROM part t WHERE t.film_id = film.id AND t.role = 'Ada')",
            [SEARCH.format("'Up'"), "part <- POST /film (film_id=each film.id)"],
            id="correlated",
        ),
        pytest.param(
            "SELECT title FROM film WHERE title = 'Up' AND id IN (SELECT t.film_id FROM part t WHERE t.film_id = film.id)",
            [SEARCH.format("'Up'"), "part <- POST /film (film_id=each film.id)"],
            id="correlated and in",
        ),
        pytest.param(
            "SELECT title, (SELECT count(*) FROM part t WHERE t.film_id = film.id) AS n FROM film WHERE id = 10",
            [BY_ID.format("10"), "part <- POST /film (film_id=10)"],
            id="correlated, shown",
        ),
        pytest.param(
            "SELECT f.title, c.n FROM film f JOIN (SELECT film_id, count(*) AS n FROM part GROUP BY film_id) c ON c.film_id = f.id WHERE f.id = 10",
            [BY_ID.format("10"), "part <- POST /film (film_id=10)"],
            id="a derived table that only the outer query binds, by its group key",
        ),
        pytest.param(
            "WITH c AS (SELECT film_id, count(*) AS n FROM part GROUP BY film_id) SELECT c.n FROM film f JOIN c ON c.film_id = f.id WHERE f.id = 10",
            [BY_ID.format("10"), "part <- POST /film (film_id=10)"],
            id="a with that only the query binds",
        ),
        pytest.param(
            "SELECT title FROM film WHERE title IN (SELECT film FROM award WHERE year = 1994) OR id = 10",
            ["award <- POST /year (year=1994)", BY_ID.format("10"), "film <- POST /films (title=each award.film)"],
            id="or of a constant and a subquery",
        ),
    ],
)  # fmt: skip
def test_calls_are_chained(sql: str, expected: list[str]) -> None:
    assert sorted(steps(sql)) == sorted(expected)
    assert steps(sql)[-1] in expected[-2:]


@pytest.mark.parametrize(
    "sql, table",
    [
        pytest.param("SELECT title FROM film WHERE id IN (SELECT film_id FROM part ORDER BY role LIMIT 3)", "part",
                     id="which rows come first must not depend on the outer query"),
        pytest.param("SELECT f.title FROM film f JOIN (SELECT film_id, rank() OVER (ORDER BY role) AS r FROM part) c ON c.film_id = f.id WHERE f.id = 10",
                     "part", id="nor may a rank"),
        pytest.param("SELECT f.title FROM film f JOIN (SELECT max(film_id) AS m FROM part) c ON c.m = f.id WHERE f.id = 10", "part",
                     id="nor a maximum"),
        pytest.param("SELECT f.title FROM film f FULL JOIN part t ON t.film_id = f.id AND f.id = 10", "film", id="full join"),
        pytest.param("SELECT f.title FROM film f LEFT JOIN part t ON t.film_id = f.id AND f.id = 10", "film",
                     id="a condition on the preserved side keeps its rows"),
        pytest.param("WITH c AS (SELECT film_id FROM part) SELECT a.film_id FROM c a JOIN c b ON a.film_id = b.film_id WHERE a.film_id = 10",
                     "part", id="a with that is used twice"),
    ],
)  # fmt: skip
def test_bindings_that_would_change_the_answer_are_not_used(sql: str, table: str) -> None:
    with pytest.raises(MissingInput) as e:
        planned(sql)
    assert e.value.table == table


@pytest.mark.parametrize(
    "sql, stored",
    [
        pytest.param("SELECT category FROM award WHERE year = 1994", "award__year", id="by year"),
        pytest.param("SELECT category FROM award WHERE film_id = 10", "award__film", id="by film"),
        pytest.param(
            "SELECT category FROM award WHERE film_id = 10 AND year = 1994", "award__film", id="by film: year lacks it"
        ),
        pytest.param(
            "SELECT category, person_id FROM award WHERE person_id = 1 AND year = 1994", "award__person", id="by person"
        ),
    ],
)
def test_the_partition_has_the_columns_that_are_used(sql: str, stored: str) -> None:
    assert [t.meta[PARTITION] for t in planned(sql).tree.find_all(exp.Table)] == [stored]


@pytest.mark.parametrize(
    "sql, kind, said",
    [
        pytest.param("SELECT category FROM award WHERE year = 1994 AND film_id > 0", MissingInput,
                     "award can only be looked up by film_id. Say which film is meant.", id="used in a condition"),
        pytest.param("SELECT count(person_id) FROM award WHERE year = 1994", MissingInput,
                     "award can only be looked up by person_id. Say which person is meant.", id="counted"),
        pytest.param("SELECT name FROM person WHERE id IN (SELECT person_id FROM award WHERE year = 1994)", MissingInput,
                     "award can only be looked up by person_id. Say which person is meant.", id="looked for"),
        pytest.param("SELECT category FROM award WHERE film_id = 10 AND person_id = 1", QueryError,
                     "No call brings rows of award that have all of person_id, film_id. Leave one out.", id="no call has both"),
    ],
)  # fmt: skip
def test_a_column_that_no_call_brings_is_refused(sql: str, kind: type[QueryError], said: str) -> None:
    with pytest.raises(kind) as e:
        planned(sql)
    assert str(e.value) == said


def test_a_shown_column_is_worth_a_dearer_call() -> None:
    sql = "SELECT a.category{} FROM award a JOIN played p ON p.film_id = a.film_id WHERE p.person_id = 1 AND a.film_id = 10"
    assert "award__film" in planned(sql.format(", a.film_id")).tree.find(exp.Table).meta.values()  # type: ignore[union-attr]


def test_ten_thousand_ids_are_planned_as_one_step() -> None:
    ids = ", ".join(map(str, range(10_000)))
    tree = check(parse("SELECT title FROM film WHERE id IN (1)", CINEMA), CINEMA)
    where = tree.find(exp.In)
    assert where is not None
    where.set("expressions", [exp.Literal.number(i) for i in ids.split(", ")])
    started = time.perf_counter()
    (step,) = plan(tree, CINEMA).steps
    assert step.calls == 10_000
    assert time.perf_counter() - started < 2


def test_a_long_or_is_planned() -> None:
    tests = " OR ".join(f"id = {i}" for i in range(100))
    (step,) = planned(f"SELECT title FROM film WHERE {tests}").steps
    assert step.sources == ((tuple(range(100)),),)


@pytest.mark.parametrize("shape", ["SELECT q.id FROM ({}) q", "SELECT id FROM film WHERE id IN ({})"])
def test_nesting_does_not_multiply_the_work(shape: str) -> None:
    sql = "SELECT id FROM film"
    for _ in range(12):
        sql = shape.format(sql)
    started = time.perf_counter()
    with pytest.raises(QueryError):
        planned(sql)
    assert time.perf_counter() - started < 5


def test_planning_leaves_the_tree_alone() -> None:
    tree = check(parse("SELECT title FROM film WHERE id = 10", CINEMA), CINEMA)
    before = tree.sql()
    plan(tree, CINEMA)
    assert tree.sql() == before
    assert PARTITION not in tree.find(exp.Table).meta  # type: ignore[union-attr]


def test_a_query_without_tables_needs_no_call() -> None:
    assert steps("SELECT 1 + 1") == []


def test_a_table_in_place_needs_no_call_and_binds_others() -> None:
    domain = replace(CINEMA, tables=tuple(replace(t, in_place=t.name == "listed") for t in CINEMA.tables))
    sql = "SELECT f.title FROM listed l JOIN film f ON f.id = l.film_id WHERE l.year > 1993"
    found = plan(check(parse(sql, domain), domain), domain)
    assert [str(s) for s in found.steps] == ["film <- POST /film (id=each l.film_id)"]
    assert [t.meta[PARTITION] for t in found.tree.find_all(exp.Table)] == ["listed", "film__film"]


@pytest.mark.parametrize(
    "first, where, clipped",
    [
        pytest.param(1, "year <= 10", False, id="nothing is counted below one"),
        pytest.param(1, "year >= 90", True, id="but something may be above the last"),
        pytest.param(2, "year <= 10", True, id="or below another first"),
    ],
)
def test_an_open_range_of_numbers_is_clipped_where_more_may_be(first: int, where: str, clipped: bool) -> None:
    fetches = tuple(replace(f, limits=(("query", first, 100),)) if f.limits else f for f in CINEMA.fetches)
    domain = replace(CINEMA, fetches=fetches)
    (step,) = plan(check(parse(f"SELECT film_id FROM listed WHERE {where}", domain), domain), domain).steps
    assert step.clipped == clipped
