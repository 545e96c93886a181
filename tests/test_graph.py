"""A program in, rows out: lazily filled tables answer as full ones would."""

from __future__ import annotations

import datetime as dt
import random
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from queries import Writer, random_world
from small import CINEMA, NOW, World, ask, changing, filled, film, graph, person, world

from kg.errors import BudgetExceeded, KgError, MissingInput
from kg.plan.physical import duckdb_sql
from kg.store import Store
from kg.text import fold

# -- lazy = eager -----------------------------------------------------------------------------------------------------


def sorted_rows(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9))
@example(seed=1123)  # a RIGHT JOIN whose inputs grew with what was stored
def test_lazy_is_eager_and_asking_again_is_free(seed: int) -> None:
    source = random_world(random.Random(seed))
    sql = Writer(random.Random(seed)).query()
    g = graph(source)
    try:
        result = ask(g, sql)
    except KgError:
        assume(False)
        raise
    everything = filled(source).run(duckdb_sql(result.prepared.plan.tree, CINEMA)).rows
    if result.complete:
        assert sorted_rows(result.rows) == sorted_rows(everything), sql
    made = len(source.calls)
    again = ask(g, sql)
    assert len(source.calls) == made, sql
    assert sorted_rows(again.rows) == sorted_rows(result.rows)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9))
def test_what_others_asked_changes_neither_rows_nor_calls(seed: int) -> None:
    r = random.Random(seed)
    source = random_world(r)
    sql = Writer(r).query()
    try:
        alone = ask(graph(source), sql)
    except KgError:
        assume(False)
        raise
    calls = set(source.calls)
    g = graph(source)
    for _ in range(3):
        try:
            ask(g, Writer(r).query())
        except KgError:
            continue
    made = len(source.calls)
    result = ask(g, sql)
    assert set(source.calls[made:]) <= calls, sql
    if alone.complete:  # else more may be known by now
        assert result.complete
        assert sorted_rows(result.rows) == sorted_rows(alone.rows), sql


def test_random_queries_are_mostly_worth_running() -> None:
    """The properties above would hold of a planner that refuses everything."""
    ran = complete = found = 0
    for seed in range(120):
        source = random_world(random.Random(seed))
        try:
            result = ask(graph(source), Writer(random.Random(seed)).query())
        except KgError:
            continue
        ran, complete, found = ran + 1, complete + result.complete, found + bool(result.rows and result.complete)
    assert ran > 35
    assert complete > 30
    assert found > 10


# -- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "where, ids",
    [
        pytest.param("f.title = 'pans cafe'", [12], id="case, accents and punctuation do not count"),
        pytest.param("(f.title) = 'pans cafe'", [12], id="in brackets"),
        pytest.param("'PANS CAFE' = f.title", [12], id="the other way round"),
        pytest.param("f.title <> 'night train'", [11, 12, 14], id="inequality"),
        pytest.param("NOT f.title = 'night train'", [11, 12, 14], id="not"),
        pytest.param("f.title IN ('pans cafe', 'last stop!')", [12, 14], id="in"),
        pytest.param("f.title NOT IN ('pans cafe', 'night-train')", [11, 14], id="not in"),
        pytest.param("f.title LIKE 'NIGHT%'", [10, 13], id="like ignores case"),
        pytest.param("f.title IS NOT DISTINCT FROM 'pans cafe'", [12], id="is not distinct from"),
        pytest.param("f.title IN (SELECT 'PANS CAFE' AS x UNION SELECT 'Day-Boat' AS x)", [11, 12], id="in a union"),
        pytest.param("f.title IN (SELECT g.title FROM film g WHERE g.id = 13)", [10, 13], id="in a subquery"),
        pytest.param(
            "f.title IN (SELECT upper(g.title) AS t FROM film g WHERE g.id IN (11, 12) ORDER BY t LIMIT 1)",
            [11],
            id="in an ordered one",
        ),
        pytest.param(
            "f.title = (SELECT upper(g.title) FROM film g WHERE g.id = 13)",
            [10, 13],
            id="equal to a value of a subquery",
        ),
        pytest.param("lower(f.title) = 'night train'", [10, 13], id="lower"),
        pytest.param(
            "EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role = 'ada')", [10, 11], id="contains words"
        ),
        pytest.param(
            "EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role = 'ad')", [], id="but not parts of words"
        ),
        pytest.param(
            "EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role IN ('waiter', 'guard'))",
            [10, 12],
            id="contains one of",
        ),
        pytest.param(
            "EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role <> 'ada')",
            [10, 11, 12, 13, 14],
            id="does not contain",
        ),
        pytest.param(
            "EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role IN (SELECT 'guard' AS g))",
            [10],
            id="contains what a subquery gives",
        ),
        pytest.param(
            "EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role NOT IN (SELECT 'ada' AS g))",
            [10, 11, 12, 13, 14],
            id="contains none of a subquery",
        ),
        pytest.param("EXISTS (SELECT 1 FROM part p WHERE p.film_id = f.id AND p.role = '')", [], id="contains nothing"),
        pytest.param("'Day Boat' IN (f.title, 'x')", [11], id="a value among columns"),
    ],
)
def test_names_are_compared_folded(where: str, ids: list[int]) -> None:
    sql = f"SELECT f.id FROM film f WHERE f.id IN (10, 11, 12, 13, 14) AND {where} ORDER BY f.id"
    assert ask(graph(world()), sql).rows == [(i,) for i in ids]


@pytest.mark.parametrize(
    "sql, rows",
    [
        pytest.param("SELECT x.name FROM person x JOIN award a ON x.name = a.name WHERE a.year = 1994 AND a.category = 'BEST SONG' AND x.id IN (1, 2, 3) ORDER BY x.id",
                     [("Ann O'Brien",), ("Zoë Day",)], id="a name within a text, on the right"),
        pytest.param("SELECT x.name FROM person x JOIN award a ON a.name = x.name WHERE a.year = 1994 AND a.category = 'BEST SONG' AND x.id IN (1, 2, 3) ORDER BY x.id",
                     [("Ann O'Brien",), ("Zoë Day",)], id="and on the left"),
        pytest.param("WITH c AS (SELECT upper(title) AS t FROM film WHERE id IN (10, 12)) SELECT f.id FROM film f JOIN c ON f.title = c.t WHERE f.id IN (11, 12, 13) ORDER BY f.id",
                     [(12,), (13,)], id="a name and a column of a with"),
        pytest.param("WITH c AS (SELECT title AS t FROM film WHERE id IN (10, 12)) SELECT c.t FROM c WHERE c.t = 'pans cafe'",
                     [("Pan's Café",)], id="a column of a with that shows a name"),
        pytest.param("SELECT q.t FROM (SELECT f.title AS t FROM film f WHERE f.id = 12) q WHERE q.t = 'pans cafe'", [("Pan's Café",)], id="of a subquery"),
    ],
)  # fmt: skip
def test_names_are_joined_folded(sql: str, rows: list[tuple[Any, ...]]) -> None:
    assert ask(graph(world()), sql).rows == rows


def test_both_foldings_agree() -> None:
    words = [
        "Amélie & Pan's",
        "ΟΔΥΣΣΕΥΣ ΣΑΣ",
        "İstanbul",
        "Straße",
        "गाँव",
        "한국",
        "ﬁn",
        "a\u0301b",
        "E.T.",
        "x_y-z",
        "\u2019tis",
        " ",
    ]
    words += [f"a{c}b" for i in range(1, 0x3000) if unicodedata.category(c := chr(i)) not in ("Cn", "Cs")]
    texts = ", ".join("'" + w.replace("'", "''") + "'" for w in words)
    rows = Store().run(f"SELECT w, kg_fold(w) FROM (SELECT unnest([{texts}]) AS w)", max_rows=len(words)).rows
    assert len(rows) == len(words)
    assert [(w, f) for w, f in rows if fold(w) != f] == []


# -- our functions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, expected",
    [
        ("years_between(DATE '2000-02-29', DATE '2001-02-27')", 0),
        ("years_between(DATE '2001-03-01', DATE '2000-02-29')", 1),
        ("years_between(CAST(NULL AS DATE), DATE '2000-01-01')", None),
        ("days_between('2000-01-03', '2000-01-01')", 2),
        ("percent(1, 4)", 25.0),
        ("percent(1 + 1, 4 - 4)", None),
        ("percent(1, 2 + 2)", 25.0),
    ],
)
def test_functions(value: str, expected: Any) -> None:
    assert ask(graph(world()), f"SELECT {value} AS v").rows == [(expected,)]


# -- explain ---------------------------------------------------------------------------------------------------------


def test_explain_tells_calls_and_makes_none() -> None:
    source = world()
    g = graph(source)
    sql = "SELECT t.role FROM film f JOIN part t ON t.film_id = f.id WHERE f.year IN (1991, 1993)"

    def told() -> list[str]:
        return [str(e) for e in g.explain(sql, now=NOW)]

    assert told() == [
        "listed <- POST /year (year=1991, 1993): 2 calls",
        "film <- POST /film (id=each listed.film_id): about 1,000 calls",
        "part <- POST /film (film_id=each f.id): about 1,000 calls",
    ]
    assert source.calls == []
    ask(g, "SELECT film_id FROM listed WHERE year = 1991")
    assert told()[0] == "listed <- POST /year (year=1991, 1993): 2 calls, 1 covered"
    ask(g, sql)
    assert told() == [
        "listed <- POST /year (year=1991, 1993): 2 calls, 2 covered",
        "film <- POST /film (id=each listed.film_id): 2 calls, 2 covered",
        "part <- POST /film (film_id=each f.id): 2 calls, 2 covered",
    ]
    later = NOW + dt.timedelta(days=60)
    assert str(g.explain(sql, now=later)[1]) == "film <- POST /film (id=each listed.film_id): 2 calls"


def test_explain_of_too_much_tells_how_much() -> None:
    (step,) = graph(world()).explain("SELECT title FROM film WHERE id BETWEEN 1 AND 50000", now=NOW)
    assert str(step) == "film <- POST /film (id=1 to 50000): 50,000 calls"


def test_explain_of_a_missing_input_says_so() -> None:
    with pytest.raises(MissingInput):
        graph(world()).explain("SELECT title FROM film", now=NOW)


# -- where rows come from ----------------------------------------------------------------------------------------------


def requests(sql: str) -> list[list[str]]:
    g = graph(world())
    return [[str(e.call) for e in entries] for entries in g.requests(ask(g, sql))]


def test_each_row_names_its_requests() -> None:
    assert requests("SELECT f.title, x.name FROM film f JOIN part t ON t.film_id = f.id JOIN person x ON x.id = t.person_id WHERE f.id IN (10, 12) ORDER BY 1, 2") == [
        ["film_by_id(id=10)", "person_by_id(id=1)"],
        ["film_by_id(id=10)", "person_by_id(id=2)"],
        ["film_by_id(id=12)", "person_by_id(id=3)"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "sql, expected",
    [
        pytest.param("SELECT count(*) FROM film WHERE id IN (10, 12)", [["film_by_id(id=10)", "film_by_id(id=12)"]], id="a count names all"),
        pytest.param("SELECT DISTINCT title FROM film WHERE id IN (10, 13)", [["film_by_id(id=10)", "film_by_id(id=13)"]], id="distinct too"),
        pytest.param("SELECT title FROM film WHERE title = 'last stop'", [["film_search(query='last stop')"]], id="a search"),
        pytest.param("SELECT f.title, a.category FROM film f LEFT JOIN award a ON a.film_id = f.id WHERE f.id = 12", [["film_by_id(id=12)"]], id="no partner"),
        pytest.param("SELECT title FROM film WHERE id = 99", [], id="no row"),
        pytest.param("SELECT 1 AS one", [[]], id="no table"),
        pytest.param("SELECT title FROM film WHERE id = 10 UNION SELECT title FROM film WHERE id = 12",
                     [["film_by_id(id=10)", "film_by_id(id=12)"]] * 2, id="a union names all"),
    ],
)  # fmt: skip
def test_requests_of_other_queries(sql: str, expected: list[list[str]]) -> None:
    assert requests(sql) == expected


# -- time --------------------------------------------------------------------------------------------------------------


def test_facts_age_by_how_fast_they_change() -> None:
    domain = changing(CINEMA, film="fast", part="static", award="static", person="slow")
    source = world()
    g = graph(source, domain=domain)
    sql = "SELECT f.gross, x.name FROM film f JOIN part t ON t.film_id = f.id JOIN person x ON x.id = t.person_id WHERE f.id = 12"
    assert ask(g, sql).rows == [(None, "Zoë Day")]
    source.films[12]["gross"] = 7
    source.people[3]["name"] = "Zoë Night"
    source.calls.clear()
    assert ask(g, sql, now=NOW + dt.timedelta(minutes=59)).rows == [(None, "Zoë Day")]
    assert source.calls == []
    assert ask(g, sql, now=NOW + dt.timedelta(minutes=61)).rows == [(7, "Zoë Day")]
    assert source.calls == [("/film", 12)]
    assert ask(g, sql, now=NOW + dt.timedelta(days=31)).rows == [(7, "Zoë Night")]


def test_what_the_api_no_longer_tells_of_is_gone() -> None:
    source = world()
    g = graph(source)
    sql = "SELECT count(*) FROM film WHERE title = 'night train'"
    assert ask(g, sql).rows == [(2,)]
    del source.films[13]
    assert ask(g, sql, now=NOW + dt.timedelta(days=31)).rows == [(1,)]


def test_other_data_are_asked_again() -> None:
    store = Store()
    source, other = world(), world(mark="2")
    ask(graph(source, store=store), "SELECT title FROM film WHERE id = 10")
    ask(graph(other, store=store), "SELECT title FROM film WHERE id = 10")
    assert other.calls == [("/film", 10)]


# -- errors --------------------------------------------------------------------------------------------------------------


def test_a_missing_input_names_the_words_that_would_bind_it() -> None:
    with pytest.raises(MissingInput) as e:
        ask(graph(world()), "SELECT role FROM part")
    assert (e.value.table, e.value.inputs, e.value.words) == ("part", ("film_id", "person_id"), ("film", "person"))
    assert str(e.value) == "part can only be looked up by film_id or person_id. Say which film or person is meant."


def test_the_budget_names_both_numbers() -> None:
    with pytest.raises(BudgetExceeded, match="This needs 5 calls for film, and 4 are allowed for one question"):
        ask(graph(world(), max_calls=4), "SELECT title FROM film WHERE id IN (10, 11, 12, 13, 14)")


def test_rows_beyond_the_limit_are_told() -> None:
    result = graph(world()).run(
        "SELECT title FROM film WHERE id IN (10, 11, 12)", deadline=time.monotonic() + 9, now=NOW, max_rows=2
    )
    assert (len(result.rows), result.cut_off) == (2, True)


# -- speed ---------------------------------------------------------------------------------------------------------------


def test_a_join_of_three_is_planned_quickly() -> None:
    sql = (
        "SELECT f.title, x.name FROM film f JOIN part t ON t.film_id = f.id JOIN person x ON x.id = t.person_id "
        "JOIN award a ON a.film_id = f.id WHERE f.title = 'Up' AND t.role = 'Ada' ORDER BY f.gross DESC LIMIT 3"
    )
    # a graph remembers its plans: each time a new one
    best = min(graph(world()).prepare(sql).seconds for _ in range(10))
    assert best < 0.05  # 0.005 on a quiet machine


def test_names_are_joined_quickly() -> None:
    source = World.of(
        [film(i, f"Film {i}", "1993-01-01", won=[("BEST FILM", True)]) for i in range(2000)], [person(1, "Ann")]
    )
    g = graph(source)
    ask(g, "SELECT count(*) FROM film WHERE year = 1993")
    sql = "SELECT count(*) FROM film f JOIN award a ON a.film = f.title AND a.film_id = f.id WHERE f.year = 1993"
    results = [ask(g, f"{sql} AND f.id >= -{i}") for i in range(5)]
    assert [r.rows for r in results] == [[(2000,)]] * 5
    assert min(r.timings["run"] for r in results) < 1


def test_a_program_again_is_answered_anew_only_when_rows_have_changed() -> None:
    g = graph(world())
    first = ask(g, "SELECT count(*) FROM film WHERE id IN (10, 11)")
    again = ask(g, "SELECT count(*) FROM film WHERE id IN (10, 11)")
    assert again.rows == first.rows
    assert again.prepared is first.prepared
    assert (again.filled.made, again.filled.covered) == ([], 2)
