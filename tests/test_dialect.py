"""The dialect: what each program means in SQL, what is said of a wrong one, and that printing loses nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from kg.check import check
from kg.dialect import grammar, parse, to_calls, to_sql
from kg.dialect.names import KEYWORDS
from kg.domain import Column, Domain, Link, Table
from kg.errors import QueryError
from kg.load import BUILT_IN, load_domain

MOVIE = load_domain(BUILT_IN / "movie.yaml")

LOOKUPS = [
    pytest.param(
        'get_movie("titanic")[release_date]',
        "SELECT movie.release_date FROM movie WHERE movie.title = 'titanic' ORDER BY movie.revenue DESC LIMIT 1",
        id="of several films of one name the best known is meant",
    ),
    pytest.param(
        "get_movie('titanic')[\"release_date\", 'movie.revenue']",
        "SELECT movie.release_date, movie.revenue FROM movie WHERE movie.title = 'titanic' "
        "ORDER BY movie.revenue DESC LIMIT 1",
        id="both quotes, and columns in quotes as in the paper",
    ),
    pytest.param(
        "get_movie(5)[title]", "SELECT movie.title FROM movie WHERE movie.id = 5 LIMIT 1", id="number is the key"
    ),
    pytest.param(
        'ALL get_movie("it")[release_year]',
        "SELECT movie.release_year FROM movie WHERE movie.title = 'it'",
        id="ALL has no limit",
    ),
    pytest.param(
        "get_movie(NONE, gt(revenue, 5))[:3]",
        "SELECT movie.title FROM movie WHERE movie.revenue > 5 LIMIT 3",
        id="an unbound entity is shown by its label",
    ),
    pytest.param(
        "get_movie(gt(revenue, 5))[title][2:5]",
        "SELECT movie.title FROM movie WHERE movie.revenue > 5 LIMIT 3 OFFSET 2",
        id="fewer arguments are unbound; slice from the middle",
    ),
    pytest.param("get_movie()[title][2:]", "SELECT movie.title FROM movie OFFSET 2", id="slice without an end"),
    pytest.param("get_movie()[title][1]", "SELECT movie.title FROM movie LIMIT 1 OFFSET 1", id="index"),
    pytest.param(
        "get_released(eq(year, 1997))[len]",
        "SELECT COUNT(*) AS len FROM released WHERE released.year = 1997",
        id="a table without a label takes conditions only",
    ),
]

CONDITIONS = [
    ("eq(release_year, 1997)", "movie.release_year = 1997"),
    ("neq(release_year, 1997)", "movie.release_year <> 1997"),
    ("gt(revenue, 1e9)", "movie.revenue > 1e9"),
    ("ge(revenue, -1.5)", "movie.revenue >= -1.5"),
    ("lt(revenue, 1_000)", "movie.revenue < 1000"),
    ('le(release_date, "1997-12-31")', "movie.release_date <= '1997-12-31'"),
    ('like(title, "dark")', "movie.title ILIKE '%dark%'"),
    ('like(title, "dark%")', "movie.title ILIKE 'dark%'"),
    ("between(release_year, 1990, 1999)", "movie.release_year BETWEEN 1990 AND 1999"),
    ('in(original_language, ["fr", "it"])', "movie.original_language IN ('fr', 'it')"),
    ("eq(original_title, NONE)", "movie.original_title IS NULL"),
    ("neq(original_title, none)", "NOT movie.original_title IS NULL"),
    ("any(eq(id, 1), eq(id, 2))", "(movie.id = 1 OR movie.id = 2)"),
    ("[eq(id, 1), gt(budget, 2)]", "movie.id = 1 AND movie.budget > 2"),
    ("any([eq(id, 1), gt(budget, 2)], eq(id, 3))", "((movie.id = 1 AND movie.budget > 2) OR movie.id = 3)"),
    ("not(eq(id, 1))", "NOT (movie.id = 1)"),
    ("not([eq(id, 1), eq(id, 2)])", "NOT (movie.id = 1 AND movie.id = 2)"),
    ("gt(revenue, 2 * budget)", "movie.revenue > (2 * movie.budget)"),
    ("gt(revenue - budget, 5)", "(movie.revenue - movie.budget) > 5"),
    ("eq(year(release_date), 1997)", "YEAR(movie.release_date) = 1997"),
    ("eq(movie.title, original_title)", "movie.title = movie.original_title"),
    ('eq(revenue, "1,000")', "movie.revenue = 1000"),
    ("eq(title, 300)", "movie.title = '300'"),
    ('eq(title, "it\'s ""so"" \\ %")', "movie.title = 'it''s \"so\" \\ %'"),
    (
        'gt(revenue, get_movie("it")[revenue])',
        "movie.revenue > (SELECT movie.revenue FROM movie WHERE movie.title = 'it' ORDER BY movie.revenue DESC LIMIT 1)",
    ),
    (
        "in(id, get_cast(eq(person_id, 3))[movie_id])",
        'movie.id IN (SELECT "cast".movie_id FROM "cast" WHERE "cast".person_id = 3)',
    ),
]

JOINS = [
    pytest.param(
        'get_movie_person_crew(NONE, "walt becker", eq(job, "Director"))[title]',
        "SELECT movie.title FROM movie JOIN crew ON crew.movie_id = movie.id JOIN person ON person.id = crew.person_id "
        "WHERE person.name = 'walt becker' AND crew.job = 'Director' ORDER BY person.id LIMIT 1",
        id="join tables by their names",
    ),
    pytest.param(
        'ALL get_movie_person_cast("batman", NONE, ge(release_year, 1997))[name]',
        'SELECT DISTINCT "cast".name FROM movie JOIN "cast" ON "cast".movie_id = movie.id '
        "WHERE movie.title = 'batman' AND movie.release_year >= 1997",
        id="the name is in cast, so person is not fetched; a name listed through a join comes once",
    ),
    pytest.param(
        'ALL get_movie_person_cast("batman", NONE)[birthday]',
        'SELECT person.birthday FROM movie JOIN "cast" ON "cast".movie_id = movie.id '
        "JOIN person ON person.id = \"cast\".person_id WHERE movie.title = 'batman'",
        id="a column of person needs person",
    ),
    pytest.param(
        "get_movie_person_oscar_award(NONE, NONE, [eq(year_ceremony, 2012), eq(winner, 'true')])[\"name\"]",
        "SELECT oscar_award.name FROM oscar_award WHERE oscar_award.year_ceremony = 2012 AND oscar_award.winner = TRUE "
        "LIMIT 1",
        id="neither entity is needed; truth in quotes",
    ),
    pytest.param(
        'get_movie_oscar_award("titanic")[category]',
        "SELECT oscar_award.category FROM movie JOIN oscar_award ON oscar_award.movie_id = movie.id "
        "WHERE movie.title = 'titanic' ORDER BY movie.revenue DESC LIMIT 1",
        id="a film's awards are joined by its number",
    ),
    pytest.param(
        "get_movie_oscar_award(NONE, eq(year_ceremony, 2012))[revenue]",
        "SELECT movie.revenue FROM movie JOIN oscar_award ON oscar_award.film = movie.title "
        "AND movie.release_year BETWEEN oscar_award.year_ceremony - 2 AND oscar_award.year_ceremony "
        "WHERE oscar_award.year_ceremony = 2012 LIMIT 1",
        id="a year's awards have no film numbers, so they are joined by title",
    ),
    pytest.param(
        "get_movie_person_cast_crew(NONE, NONE, eq(job, 'Director'))[len]",
        'SELECT COUNT(*) AS len FROM "cast" JOIN crew ON crew.movie_id = "cast".movie_id '
        "AND crew.person_id = \"cast\".person_id WHERE crew.job = 'Director'",
        id="tables that link to the same entities need not fetch them",
    ),
]

SUFFIXES = [
    pytest.param(
        'get_movie_person_cast(NONE, "tom hanks")[len]',
        'SELECT COUNT(DISTINCT "cast".movie_id) AS len FROM person JOIN "cast" ON "cast".person_id = person.id '
        "WHERE person.name = 'tom hanks'",
        id="len counts the films, not the roles",
    ),
    pytest.param(
        'get_movie("it")["len"]', "SELECT COUNT(*) AS len FROM movie WHERE movie.title = 'it'", id="len in quotes"
    ),
    pytest.param(
        "get_movie()[original_language][len]",
        "SELECT COUNT(DISTINCT movie.original_language) AS len FROM movie",
        id="len of a column counts its different values",
    ),
    pytest.param("get_movie()[avg(revenue)]", "SELECT AVG(movie.revenue) AS avg FROM movie", id="avg inside"),
    pytest.param("avg(get_movie()[revenue])", "SELECT AVG(movie.revenue) AS avg FROM movie", id="avg outside"),
    pytest.param("get_movie()[revenue][sum]", "SELECT SUM(movie.revenue) AS sum FROM movie", id="sum after the column"),
    pytest.param("MIN(get_movie()[revenue])", "SELECT MIN(movie.revenue) AS min FROM movie", id="min"),
    pytest.param("get_movie()[max(revenue)]", "SELECT MAX(movie.revenue) AS max FROM movie", id="max"),
    pytest.param("get_movie()[median(revenue)]", "SELECT MEDIAN(movie.revenue) AS median FROM movie", id="median"),
    pytest.param(
        "avg(sort(get_movie(), -revenue)[budget][:3])",
        "SELECT AVG(rows.budget) AS avg FROM (SELECT movie.budget FROM movie ORDER BY movie.revenue DESC LIMIT 3) AS rows",
        id="an aggregate of the first few",
    ),
    pytest.param(
        'get_movie_person_cast(NONE, "tom hanks")[avg(revenue)]',
        "SELECT AVG(rows.revenue) AS avg FROM (SELECT DISTINCT movie.revenue, movie.id FROM movie "
        'JOIN "cast" ON "cast".movie_id = movie.id JOIN person ON person.id = "cast".person_id '
        "WHERE person.name = 'tom hanks') AS rows",
        id="a film counts once however many roles",
    ),
]

LINES = [
    pytest.param(
        'get_movie_person_crew(NONE, "walt becker", eq(job, "Director"))\nsort(NONE, -release_date)[title][:1]',
        "SELECT movie.title FROM movie JOIN crew ON crew.movie_id = movie.id JOIN person ON person.id = crew.person_id "
        "WHERE person.name = 'walt becker' AND crew.job = 'Director' ORDER BY movie.release_date DESC LIMIT 1",
        id="sort becomes a part of the line before",
    ),
    pytest.param(
        "get_movie(eq(release_year, 1997)); sort([gt(revenue, 5)], -revenue, title)[title]  # comment",
        "SELECT movie.title FROM movie WHERE movie.release_year = 1997 AND movie.revenue > 5 "
        "ORDER BY movie.revenue DESC, movie.title LIMIT 1",
        id="sort with a condition and two keys; semicolon; comment",
    ),
    pytest.param(
        'get_movie_person_cast(NONE, "tom hanks")\nALL sort(NONE, -release_date)[title]',
        'SELECT movie.title FROM movie JOIN "cast" ON "cast".movie_id = movie.id '
        "JOIN person ON person.id = \"cast\".person_id WHERE person.name = 'tom hanks' "
        "GROUP BY movie.title, movie.release_date ORDER BY movie.release_date DESC",
        id="each once, though the key is not shown",
    ),
    pytest.param(
        "get_movie(gt(revenue, 5))[:5]\nsort(eq(release_year, 1997), budget)[title]",
        "WITH line1 AS (SELECT movie.release_year, movie.title, movie.budget FROM movie WHERE movie.revenue > 5 LIMIT 5) "
        "SELECT line1.title FROM line1 WHERE line1.release_year = 1997 ORDER BY line1.budget LIMIT 1",
        id="a cut line keeps its own query",
    ),
    pytest.param(
        'get_movie_person_crew(NONE, "walt becker", eq(job, "Director"))\nget_movie(*)[budget]',
        "WITH line1 AS (SELECT crew.movie_id FROM person JOIN crew ON crew.person_id = person.id "
        "WHERE person.name = 'walt becker' AND crew.job = 'Director') "
        "SELECT movie.budget FROM movie WHERE movie.id IN (SELECT line1.movie_id FROM line1) LIMIT 1",
        id="star by the link column",
    ),
    pytest.param(
        "get_oscar_award(eq(year_ceremony, 2012))[film]\nALL get_movie(*)[revenue]",
        "WITH line1 AS (SELECT DISTINCT oscar_award.film, oscar_award.year_ceremony FROM oscar_award "
        "WHERE oscar_award.year_ceremony = 2012) SELECT movie.revenue FROM movie "
        "JOIN line1 ON movie.title = line1.film "
        "AND movie.release_year BETWEEN line1.year_ceremony - 2 AND line1.year_ceremony",
        id="star by the link of the column shown, with its condition",
    ),
    pytest.param(
        "get_oscar_award(eq(year_ceremony, 2012))[name]\nget_person(*)[birthday]",
        "WITH line1 AS (SELECT DISTINCT oscar_award.name FROM oscar_award WHERE oscar_award.year_ceremony = 2012) "
        "SELECT person.birthday FROM person WHERE person.name IN (SELECT line1.name FROM line1) LIMIT 1",
        id="star by the label where there is no number",
    ),
    pytest.param(
        'get_person("x")[birthday]\nALL get_movie(gt(release_date, *))[title]',
        "WITH line1 AS (SELECT person.birthday, person.id FROM person WHERE person.name = 'x') "
        "SELECT movie.title FROM movie WHERE movie.release_date > "
        "(SELECT line1.birthday FROM line1 ORDER BY line1.id LIMIT 1)",
        id="star as one value",
    ),
    pytest.param(
        'get_movie_person_cast(NONE, "a")\nALL get_movie_person_cast(*, "b")[title]',
        'WITH line1 AS (SELECT "cast".movie_id FROM person JOIN "cast" ON "cast".person_id = person.id '
        'WHERE person.name = \'a\') SELECT DISTINCT movie.title FROM movie JOIN "cast" ON "cast".movie_id = movie.id '
        'JOIN person ON person.id = "cast".person_id '
        "WHERE movie.id IN (SELECT line1.movie_id FROM line1) AND person.name = 'b'",
        id="films with both",
    ),
    pytest.param(
        "get_cast(eq(order, 0))\nALL get_crew(in(movie_id, *))[job]",
        'WITH line1 AS (SELECT "cast".movie_id FROM "cast" WHERE "cast"."order" = 0) '
        "SELECT DISTINCT crew.job FROM crew WHERE crew.movie_id IN (SELECT line1.movie_id FROM line1)",
        id="in(column, *) looks the column up in the line before",
    ),
    pytest.param(
        "SELECT id FROM movie\nWHERE revenue > 5\nget_movie(*)[title]",
        "WITH line1 AS (SELECT id FROM movie WHERE revenue > 5) "
        "SELECT movie.title FROM movie WHERE movie.id IN (SELECT line1.id FROM line1) LIMIT 1",
        id="the spellings mixed",
    ),
    pytest.param(
        'get_movie("a")[release_date]; get_movie("b")[release_date]',
        "SELECT (SELECT movie.release_date FROM movie WHERE movie.title = 'a' ORDER BY movie.revenue DESC LIMIT 1) "
        "AS release_date, (SELECT movie.release_date FROM movie WHERE movie.title = 'b' "
        "ORDER BY movie.revenue DESC LIMIT 1) AS release_date_2",
        id="lines that are not used answer side by side, as in the paper",
    ),
    pytest.param(
        "get_movie(1)[revenue] - 3 * (get_movie(2)[revenue] + 1)",
        "SELECT (SELECT movie.revenue FROM movie WHERE movie.id = 1 LIMIT 1) - "
        "(3 * ((SELECT movie.revenue FROM movie WHERE movie.id = 2 LIMIT 1) + 1)) AS value",
        id="arithmetic",
    ),
    pytest.param(
        "get_movie(1)[revenue] > get_movie(2)[revenue]",
        "SELECT (SELECT movie.revenue FROM movie WHERE movie.id = 1 LIMIT 1) > "
        "(SELECT movie.revenue FROM movie WHERE movie.id = 2 LIMIT 1) AS value",
        id="a comparison is a yes or no",
    ),
    pytest.param(
        'years_between(get_person(1)[birthday], "2020-01-01")',
        "SELECT YEARS_BETWEEN((SELECT person.birthday FROM person WHERE person.id = 1 LIMIT 1), "
        "CAST('2020-01-01' AS DATE)) AS value",
        id="a date in quotes is a date",
    ),
    pytest.param(
        "percent(get_movie(1)[budget], get_movie(1)[revenue])",
        "SELECT PERCENT((SELECT movie.budget FROM movie WHERE movie.id = 1 LIMIT 1), "
        "(SELECT movie.revenue FROM movie WHERE movie.id = 1 LIMIT 1)) AS value",
        id="percent",
    ),
    pytest.param(
        "get_movie(1)[revenue]\n* / 2",
        "WITH line1 AS (SELECT movie.revenue FROM movie WHERE movie.id = 1) "
        "SELECT (SELECT line1.revenue FROM line1 LIMIT 1) / 2 AS value",
        id="star is a value too",
    ),
]
PROGRAMS = [*LOOKUPS, *JOINS, *SUFFIXES, *LINES]


@pytest.mark.parametrize("program, sql", PROGRAMS)
def test_a_program_means_its_sql(program: str, sql: str) -> None:
    assert to_sql(parse(program, MOVIE)) == sql


@pytest.mark.parametrize("condition, sql", CONDITIONS, ids=[c for c, _ in CONDITIONS])
def test_a_condition_means_its_sql(condition: str, sql: str) -> None:
    assert to_sql(parse(f"ALL get_movie({condition})[id]", MOVIE)) == f"SELECT movie.id FROM movie WHERE {sql}"


@pytest.mark.parametrize("program, sql", PROGRAMS)
def test_printing_and_reading_again_changes_nothing(program: str, sql: str) -> None:
    tree = parse(program, MOVIE)
    assert parse(sql, MOVIE) == tree
    assert parse(to_calls(tree, MOVIE), MOVIE) == tree


@pytest.mark.parametrize("program, sql", [p for p in PROGRAMS if "SELECT" not in str(p.values[0])])
def test_a_call_program_is_already_checked_and_has_a_call_spelling(program: str, sql: str) -> None:
    tree = parse(program, MOVIE)
    assert check(tree, MOVIE) == tree
    assert "SELECT" not in to_calls(tree, MOVIE)


@pytest.mark.parametrize(
    "sql, calls",
    [
        pytest.param(
            "SELECT title FROM movie WHERE revenue > 5 ORDER BY release_date DESC LIMIT 3",
            "get_movie(gt(revenue, 5))\nsort(NONE, -release_date)[title][:3]",
            id="sorted",
        ),
        pytest.param(
            "SELECT COUNT(*) AS len FROM cast WHERE order = 0", "get_cast(eq(order, 0))[len]", id="keyword names"
        ),
        pytest.param(
            "SELECT title FROM movie WHERE title = 'say \"it''s\"'",
            'ALL get_movie("say ""it\'s""")[title]',
            id="both quotes in a text",
        ),
        pytest.param(
            "SELECT title FROM movie GROUP BY title HAVING COUNT(*) > 1",
            "SELECT movie.title FROM movie GROUP BY movie.title HAVING COUNT(*) > 1",
            id="no calls say this, so it stays SQL",
        ),
    ],
)
def test_sql_is_printed_as_calls_where_calls_can_say_it(sql: str, calls: str) -> None:
    assert to_calls(check(parse(sql, MOVIE), MOVIE), MOVIE) == calls


def test_names_are_lower_case_and_quoted_only_where_needed() -> None:
    tree = parse('SELECT "Movie"."TITLE", Cast.Order FROM Movie JOIN CAST ON cast.movie_ID = movie.id', MOVIE)
    assert to_sql(tree) == ('SELECT movie.title, "cast"."order" FROM movie JOIN "cast" ON "cast".movie_id = movie.id')


def test_pretty_sql_is_the_same_query() -> None:
    tree = parse('get_movie_person_cast("x", NONE)[name]', MOVIE)
    assert "\n" in to_sql(tree, pretty=True)
    assert parse(to_sql(tree, pretty=True), MOVIE) == tree


def test_our_reserved_words_are_those_of_duckdb() -> None:
    with duckdb.connect() as connection:
        query = "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
        theirs = connection.execute(query).fetchall()
    assert {word for (word,) in theirs} == KEYWORDS


@pytest.mark.parametrize(
    "program, said",
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param("  # only a comment", "empty", id="only a comment"),
        pytest.param("the answer is 42", "neither a call nor a SELECT", id="prose"),
        pytest.param('get_song("x")', "get_song names no table of movie", id="unknown table"),
        pytest.param('get_movies("x")', "Did you mean movie?", id="nearly a table"),
        pytest.param('get_movie("x")[titel]', "Did you mean title?", id="nearly a column"),
        pytest.param('get_movie("x", eq(person.name, 1))', "person is not a table of get_movie", id="table not named"),
        pytest.param('get_movie_person("a", "b")', "Write get_movie_person_cast(...)", id="no link between the tables"),
        pytest.param("get_movie(titanic)", 'Write "titanic"', id="name without quotes"),
        pytest.param('get_movie("a", "b")', "get_movie takes movie, in this order", id="too many arguments"),
        pytest.param("get_released(1997)", "get_released takes conditions only", id="no entity to bind"),
        pytest.param("get_movie(*)[title]", "this is the first line", id="star on the first line"),
        pytest.param("sort(NONE, title)", "this is the first line", id="sort on the first line"),
        pytest.param("get_movie(eq(title))", "Expected ','", id="condition without a value"),
        pytest.param("get_movie(between(id, 1))", "between(...) takes a column and two values", id="between needs two"),
        pytest.param("get_movie(in(id, 3))", "in(...) takes a column and a list", id="in needs a list"),
        pytest.param("get_movie(gt(id, NONE))", "cannot compare with NONE", id="NONE has no order"),
        pytest.param("get_movie(like(title, TRUE))", "needs a text in quotes", id="like needs a text"),
        pytest.param("eq(1, 2)", "is a condition and has no value", id="condition outside a call"),
        pytest.param("averge(get_movie()[revenue])", "Did you mean avg?", id="unknown function"),
        pytest.param("get_movie()[avg(revenue)] get_movie()", "One call a line", id="two calls on a line"),
        pytest.param('get_movie("x', "is not closed", id="open quote"),
        pytest.param("get_movie()[title", "Expected ']'", id="open bracket"),
        pytest.param("get_movie()[title][revenue]", "already chosen", id="columns twice"),
        pytest.param("get_movie(1)[title, id] + 1", "cannot be one value", id="two columns are no value"),
        pytest.param("ALL get_movie()[id]\nget_movie(1)[id]", "Line 1 lists several rows", id="a list nobody uses"),
        pytest.param(
            "get_movie(1)[title, id]\nget_movie(in(title, *))", "must show one column", id="which of two columns"
        ),
        pytest.param("SELECT 1 AS a\nSELECT 2 AS b", "not valid SQL", id="two statements without a semicolon"),
        pytest.param("SELECT 1 AS a; SELECT 2 AS b", "one query, not several", id="two statements"),
        pytest.param("SELECT FROM WHERE", "not valid SQL", id="broken SQL"),
        pytest.param("SELECT LATERAL ORDER", "not valid SQL", id="nonsense that sqlglot takes"),
        pytest.param("VALUES (1)", "Only a SELECT", id="VALUES"),
        pytest.param("- " * 3000 + "1", "nested too deeply", id="endless minus"),
        pytest.param("(" * 3000, "nested too deeply", id="endless brackets"),
        pytest.param("get_movie(" + "not(" * 50 + "eq(id, 1)" + ")" * 51, "nested too deeply", id="endless not"),
        pytest.param("SELECT " + "NOT " * 4000 + "TRUE", "nested too deeply", id="endless NOT in SQL"),
        pytest.param("get_movie('" + "x" * 20_001 + "')", "20,000 are allowed", id="too long"),
        pytest.param("get_movie('\0')", "zero byte", id="zero byte"),
    ],
)
def test_a_wrong_program_is_told_what_is_wrong(program: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(program, MOVIE)
    assert said in str(caught.value)


# -- what the SQL gives, on a few rows

ROWS = """
CREATE TABLE movie (id BIGINT, title TEXT, release_date DATE, release_year INT, revenue BIGINT);
INSERT INTO movie VALUES (1, 'A', '2001-01-01', 2001, 10), (2, 'B', '2002-01-01', 2002, 40), (3, 'A', '2003-01-01', 2003, 70);
CREATE TABLE person (id BIGINT, name TEXT, birthday DATE);
INSERT INTO person VALUES (1, 'P', '1970-05-05'), (2, 'Q', '1980-05-05');
CREATE TABLE "cast" (movie_id BIGINT, person_id BIGINT, name TEXT, "character" TEXT, "order" INT);
INSERT INTO "cast" VALUES (1, 1, 'P', 'x', 0), (2, 1, 'P', 'y', 0), (2, 1, 'P', 'z', 1), (3, 2, 'Q', 'x', 0);
"""


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(ROWS)
        yield connection


@pytest.mark.parametrize(
    "program, rows",
    [
        pytest.param('get_movie("A")[release_year]', [(2003,)], id="the best known of two"),
        pytest.param('get_movie_person_cast(NONE, "P")[sum(revenue)]', [(50,)], id="two roles in a film, one sum"),
        pytest.param('get_movie_person_cast(NONE, "P")[len]', [(2,)], id="two films"),
        pytest.param('get_person_cast("P")[character][len]', [(3,)], id="three roles"),
        pytest.param(
            'get_movie_person_cast(NONE, "P")\nALL sort(NONE, -revenue)[title]', [("B",), ("A",)], id="each once"
        ),
        pytest.param('get_movie_cast("B")\nget_person(*)[birthday][:5]\n', [("1970-05-05",)], id="one hop"),
        pytest.param('ALL get_movie_cast(eq(name, "P"), neq(id, 2))', [("A",)], id="another film of his"),
        pytest.param("get_movie(1)[revenue] < get_movie(2)[revenue]", [(True,)], id="compared"),
        pytest.param(
            "get_movie(2)[revenue]\nALL get_movie(gt(revenue, *))[id]", [(3,)], id="more than the line before"
        ),
    ],
)
def test_a_program_gives_the_rows_one_means(
    connection: duckdb.DuckDBPyConnection, program: str, rows: list[tuple[object]]
) -> None:
    found = connection.execute(to_sql(check(parse(program, MOVIE), MOVIE))).fetchall()
    assert [tuple(v if isinstance(v, int | str | bool) else str(v) for v in row) for row in found] == rows


# -- random programs

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
COLUMNS = st.sampled_from(["title", "revenue", "movie.id", "release_date", "budget", "original_title"])
NUMBERS = st.one_of(st.integers(-(10**12), 10**12).map(str), st.sampled_from(["0.5", "1e9", "-2.25"]))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


LITERALS = st.one_of(TEXTS.map(_quoted), NUMBERS, st.just("TRUE"), st.just("NONE"))
TESTS = st.one_of(
    st.builds("{}({}, {})".format, st.sampled_from(["eq", "neq"]), COLUMNS, LITERALS),
    st.builds("{}({}, {})".format, st.sampled_from(["gt", "ge", "lt", "le"]), COLUMNS, NUMBERS),
    st.builds("like({}, {})".format, COLUMNS, TEXTS.map(_quoted)),
    st.builds("between({}, {}, {})".format, COLUMNS, NUMBERS, NUMBERS),
    st.builds("in({}, [{}, {}])".format, COLUMNS, NUMBERS, TEXTS.map(_quoted)),
    st.builds("gt({}, {} - 2 * {})".format, COLUMNS, COLUMNS, COLUMNS),
)
CONDITION = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        st.builds("any({}, {})".format, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("not({})".format, inner),
    ),
    max_leaves=5,
)
CALLS = st.builds(
    "{}get_movie{}({}, {}){}".format,
    st.sampled_from(["", "ALL "]),
    st.sampled_from(["", "_cast", "_genre", "_cast_crew"]),
    st.one_of(st.just("NONE"), TEXTS.map(_quoted), st.integers(0, 10**9).map(str)),
    CONDITION,
    st.sampled_from(
        ["", "[title]", "[revenue, title]", "[len]", "[avg(budget)]", "[title][:3]", "[title][len]", "[1:]"]
    ),
)
MORE_LINES = st.lists(
    st.sampled_from(
        [
            "sort(NONE, -revenue, title)",
            "sort(gt(revenue, 3), budget)[title][:2]",
            "get_movie(*)[title]",
            "get_movie(in(id, *))[id]",
            "avg(sort(NONE, -revenue)[revenue][:3])",
            "* + 1",
        ]
    ),
    max_size=2,
)


@settings(max_examples=150, deadline=None)
@given(CALLS, MORE_LINES)
def test_any_call_program_survives_both_spellings(first: str, more: list[str]) -> None:
    try:
        tree = parse("\n".join([first, *more]), MOVIE)
    except QueryError:
        return  # such as a sort by a column that an aggregate does not have
    assert parse(to_sql(tree), MOVIE) == tree
    assert parse(to_calls(tree, MOVIE), MOVIE) == tree


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


TERMS = st.recursive(
    st.one_of(COLUMNS, NUMBERS, TEXTS.map(_sql_text), st.sampled_from(["NULL", "TRUE", "DATE '2020-02-29'"])),
    lambda inner: st.one_of(
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from(["+", "-", "*", "/", "//", "%", "||", "=", "<>", "<", "AND", "OR"]),
            inner,
        ),
        st.builds(
            "{}({})".format, st.sampled_from(["lower", "COUNT", "Year", "-", "NOT ", "sum", "count_if", "trim"]), inner
        ),
        st.builds(
            "{}({}, {})".format, st.sampled_from(["coalesce", "percent", "nullif", "years_between"]), inner, inner
        ),
        st.builds("CASE WHEN {} THEN {} END".format, inner, inner),
        st.builds("({} IN ({}, {}))".format, inner, inner, inner),
        st.builds("({} NOT BETWEEN {} AND {})".format, inner, inner, inner),
        st.builds("CAST({} AS {})".format, inner, st.sampled_from(["INT", "TEXT", "DATE", "DECIMAL(9, 2)"])),
        st.builds("(SELECT {} FROM person LIMIT 1)".format, inner),
    ),
    max_leaves=6,
)
SQL = st.builds(
    "SELECT {}{} AS x, {} FROM movie m JOIN cast ON cast.movie_id = m.id WHERE {} ORDER BY {} {}".format,
    st.sampled_from(["", "DISTINCT "]),
    TERMS,
    TERMS,
    TERMS,
    TERMS,
    st.sampled_from(["", "DESC", "ASC", "DESC NULLS LAST", "NULLS FIRST LIMIT 3", "LIMIT 2 OFFSET 1"]),
)


@settings(max_examples=150, deadline=None)
@given(SQL)
def test_any_sql_program_survives_both_spellings(sql: str) -> None:
    tree = parse(sql, MOVIE)
    assert parse(to_sql(tree), MOVIE) == tree
    assert parse(to_calls(tree, MOVIE), MOVIE) == tree


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_any_text_reaches_the_query_as_it_is(text: str) -> None:
    tree = parse(f"get_movie({_quoted(text)})[id]", MOVIE)
    found = tree.find(exp.EQ)
    assert found is not None
    assert found.expression == exp.Literal.string(text)


WORDS = st.sampled_from(
    [
        "get_movie(",
        "sort(",
        "get_",
        "ALL",
        "NONE",
        "*",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "-",
        "+",
        "=",
        "title",
        "movie",
        ".",
        "eq(",
        "in(",
        "any(",
        "not(",
        "1",
        "'a'",
        '"',
        "'",
        ";",
        "\n",
        "SELECT",
        "FROM",
        "WHERE",
        "WITH",
        "x",
        "AS",
        "movie",
        "cast",
        "JOIN",
        "ON",
        "ORDER",
        "BY",
        "LIMIT",
        "GROUP",
        "UNION",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "--",
        "/*",
        "*/",
        "$$",
        "$1",
        "?",
        "::",
        "DATE",
        "OVER",
        "#",
        "{",
        "}",
        "EXISTS",
        "avg(",
        "len",
        "percent(",
        "LATERAL",
        "VALUES",
        "DISTINCT",
        "INTERVAL",
        "USING",
        "BETWEEN",
        "AND",
        "LIKE",
        "ESCAPE",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.lists(WORDS, max_size=14).map(" ".join),
        st.lists(WORDS, max_size=12).map(lambda w: f"SELECT {' '.join(w)}"),
        TEXTS,
    )
)
def test_any_text_is_a_query_or_a_query_error(text: str) -> None:
    _complaint(text, checked=True)


# -- the grammar


class Rules:
    """A reader of the grammar: draws sentences of it, and tells whether a text is one."""

    TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(\[(?:[^\]\\]|\\.)*\])|([a-z_0-9]+)|([()|*+?]))')

    def __init__(self, text: str):
        self.rules: dict[str, object] = {}
        for line in text.splitlines():
            name, _, body = line.partition(" ::= ")
            assert name not in self.rules, f"{name} is defined twice"
            self.tokens = [m.groups() for m in self.TOKEN.finditer(body)]
            self.rules[name] = self._either()
            assert not self.tokens, f"{name} has something left"

    def _either(self) -> object:
        options = [self._sequence()]
        while self.tokens and self.tokens[0][3] == "|":
            self.tokens.pop(0)
            options.append(self._sequence())
        return ("either", options)

    def _sequence(self) -> object:
        items: list[object] = []
        while self.tokens and self.tokens[0][3] not in ("|", ")"):
            literal, chars, name, sign = self.tokens.pop(0)
            item: object
            if sign == "(":
                item = self._either()
                assert self.tokens.pop(0)[3] == ")"
            elif chars is not None:
                item = ("chars", re.compile(chars))
            elif name is not None:
                item = ("rule", name)
            else:
                item = ("text", literal.replace("\\n", "\n").replace('\\"', '"'))
            if self.tokens and self.tokens[0][3] in ("*", "+", "?"):
                item = ("repeat", item, self.tokens.pop(0)[3])
            items.append(item)
        return ("sequence", items)

    def named(self) -> set[str]:
        def walk(node: object) -> Iterator[str]:
            if isinstance(node, tuple) and node[0] == "rule":
                yield node[1]
            elif isinstance(node, tuple | list):
                for part in node:
                    yield from walk(part)

        return {name for body in self.rules.values() for name in walk(body)}

    def draw(self, rng: random.Random, node: object = ("rule", "root"), depth: int = 0) -> str:
        assert isinstance(node, tuple)
        kind, value = node[0], node[1]
        if kind == "text":
            return str(value)
        if kind == "chars":
            return rng.choice([c for c in "0123456789abcxyzé ()-+*/;#" if value.match(c)])
        if kind == "rule":
            return self.draw(rng, self.rules[value], depth + 1)
        if kind == "sequence":
            return "".join(self.draw(rng, item, depth + 1) for item in value)
        if kind == "either":
            return self.draw(rng, rng.choice(value[:1] if depth > 60 else value), depth + 1)
        least, most = {"*": (0, 2), "+": (1, 2), "?": (0, 1)}[node[2]]
        return "".join(
            self.draw(rng, value, depth + 1) for _ in range(least if depth > 40 else rng.randint(least, most))
        )

    def ends(self, node: object, text: str, at: int) -> set[int]:
        assert isinstance(node, tuple)
        kind, value = node[0], node[1]
        if kind == "text":
            return {at + len(value)} if text.startswith(value, at) else set()
        if kind == "chars":
            return {at + 1} if at < len(text) and value.match(text[at]) else set()
        if kind == "rule":
            return self.ends(self.rules[value], text, at)
        if kind == "either":
            return {end for option in value for end in self.ends(option, text, at)}
        if kind == "sequence":
            found = {at}
            for item in value:
                found = {end for start in found for end in self.ends(item, text, start)}
            return found
        found = set() if node[2] == "+" else {at}
        fresh = self.ends(value, text, at)
        while fresh - found:
            found |= fresh
            fresh = set() if node[2] == "?" else {e for s in fresh for e in self.ends(value, text, s)}
        return found

    def matches(self, text: str) -> bool:
        return len(text) in self.ends(("rule", "root"), text, 0)


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules(grammar(MOVIE))


def test_every_rule_of_the_grammar_is_defined_and_used(rules: Rules) -> None:
    assert rules.named() | {"root"} == set(rules.rules)


@pytest.mark.parametrize(
    "program, inside",
    [
        ('get_movie("titanic")[release_date]', True),
        ('get_movie_person_crew(NONE, "walt becker", eq(job, "Director"))\nsort(NONE, -release_date)[title][:1]', True),
        ('get_movie_person_cast(*, "b")[len]', True),
        ('ALL get_movie_person_cast("batman", NONE, ge(release_year, 1997))[character]', True),
        ('get_movie("a")[revenue] > get_movie("b")[revenue]', True),
        ('years_between(get_person("x")[birthday], "2020-01-01")', True),
        ("SELECT movie.title FROM movie WHERE movie.revenue > 5 ORDER BY movie.release_date DESC LIMIT 3", True),
        ('get_movie("titanic")[director]', False),
        ('get_film("titanic")[title]', False),
        ("get_movie(titanic)[title]", False),
        ('get_genre("x")[birthday]', False),
        ("SELECT movie.birthday FROM movie", False),
        ("SELECT movie.title FROM read_csv('x')", False),
        ("DROP TABLE movie", False),
    ],
)
def test_the_grammar_holds_what_can_be_asked_and_no_invented_name(rules: Rules, program: str, inside: bool) -> None:
    assert rules.matches(program) is inside


@pytest.mark.parametrize("seed", range(150))
def test_what_the_grammar_allows_can_be_read(rules: Rules, seed: int) -> None:
    program = rules.draw(random.Random(seed))
    said = _complaint(program, checked=False)
    # what a grammar cannot say: which lines there are, and what they show
    assert re.search(
        r"first line|Line \d|one value|cannot be cut|is not in|takes a text|like\(|nested|NONE|^$", said
    ), program


def _complaint(program: str, *, checked: bool) -> str:
    try:
        tree = parse(program, MOVIE)
        if checked:
            check(tree, MOVIE)
    except QueryError as e:
        return str(e)
    return ""


# -- other domains


def test_a_domain_with_keys_of_text_and_links_between_entities() -> None:
    artist = Table("artist", "", ("name",), (Column("name", "TEXT", ""), Column("born", "DATE", "")), label="name")
    link = Link("artist", "name")
    columns = (Column("title", "TEXT", ""), Column("artist", "TEXT", "", links=link), Column("plays", "BIGINT", ""))
    domain = Domain("music", "", "", (artist, Table("top_song", "", ("title", "artist"), columns, label="title")))
    assert to_sql(parse('ALL get_artist_top_song("sade")[title]', domain)) == (
        "SELECT DISTINCT top_song.title FROM artist JOIN top_song ON top_song.artist = artist.name "
        "WHERE artist.name = 'sade'"
    )
    assert to_sql(parse("get_artist(311)[born]", domain)) == (
        "SELECT artist.born FROM artist WHERE artist.name = '311' LIMIT 1"
    )
    assert Rules(grammar(domain)).matches('get_artist_top_song("sade", NONE)[plays]')
    with pytest.raises(QueryError, match="no single number"):
        parse("get_top_song(3)[plays]", domain)
