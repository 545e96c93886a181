"""From replies to rows: which shapes are taken, and what is said of others."""

from __future__ import annotations

import datetime as dt
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import CINEMA, NOW, YAML, domain_of

from kg.domain import Domain, Fetch
from kg.errors import BadReply
from kg.ledger import call_of
from kg.shapes import Found, columns, matches, objects
from kg.store import Arrival, Store

FETCH = {f.name: f for f in CINEMA.fetches}
FILM = {"id": 1, "title": "Up", "made": "2009-05-29", "gross": 5, "parts": [], "awards": []}


def rows(found: list[Found], marks: list[int], fetch: Fetch, domain: Domain) -> dict[str, list[tuple[Any, ...]]]:
    return {name: list(zip(*cells, strict=True)) for name, cells in columns(found, marks, fetch, domain).items()}


def told(reply: Any, fetch: str = "film_by_id", args: dict[str, Any] | None = None) -> dict[str, list[tuple[Any, ...]]]:
    found = objects(reply, FETCH[fetch], CINEMA, args or {"id": 1})
    return rows(found, [7] * len(found), FETCH[fetch], CINEMA)


def test_an_object_fills_its_tables() -> None:
    part, award = (
        {"id": 3, "name": "Ann", "role": "Ada"},
        {"year": 2010, "category": "BEST FILM", "name": "Ann", "film": "Up", "won": True},
    )
    assert told({**FILM, "parts": [part], "awards": [award]}) == {
        "film__film": [(1, "Up", dt.date(2009, 5, 29), 2009, 5, 7)],
        "part__film": [(1, 3, "Ann", "Ada", 7)],
        "award__film": [(2010, "BEST FILM", "Ann", "Up", True, 1, None, 7)],
    }


def test_a_list_of_scalars_and_an_argument_fill_columns() -> None:
    reply = {"films": [1, 2], "awards": []}
    assert told(reply, "year_info", {"query": 1999}) == {
        "listed__year": [(1999, 1, 7), (1999, 2, 7)],
        "award__year": [],
    }


@pytest.mark.parametrize("reply", [None, [], {}], ids=str)
@pytest.mark.parametrize("fetch", ["film_by_id", "film_search"])
def test_not_found_has_no_objects(fetch: str, reply: Any) -> None:
    assert objects(reply, FETCH[fetch], CINEMA, {"id": 1, "query": 1999}) == []


@pytest.mark.parametrize("reply, count", [(None, 0), ([], 1), ({}, 1)], ids=str)
def test_an_empty_reply_tells_that_what_the_arguments_name_has_nothing(reply: Any, count: int) -> None:
    assert len(objects(reply, FETCH["year_info"], CINEMA, {"id": 1, "query": 1999})) == count


def test_an_object_that_comes_twice_counts_once() -> None:
    assert len(objects([FILM, {**FILM, "gross": 6}], FETCH["film_search"], CINEMA, {"query": "Up"})) == 1


@pytest.mark.parametrize(
    "field, came, stored",
    [
        pytest.param("title", None, None, id="null"),
        pytest.param("title", 300, "300", id="a number where a text is declared"),
        pytest.param("title", True, "true", id="a flag where a text is declared"),
        pytest.param("title", float("nan"), None, id="pandas' nothing"),
        pytest.param("title", "bad \ud800 half", "bad ? half", id="half a character"),
        pytest.param("title", "'; DROP TABLE film; --", "'; DROP TABLE film; --", id="text is text"),
        pytest.param("made", "", None, id="an empty date"),
        pytest.param("made", "2009-05", None, id="half a date"),
        pytest.param("made", "2009-05-29T10:00:00Z", dt.date(2009, 5, 29), id="a moment where a date is declared"),
        pytest.param("gross", "12", 12, id="a number as text"),
        pytest.param("gross", "9007199254740993", 9007199254740993, id="a large number as text"),
        pytest.param("gross", 12.0, 12, id="a whole number as a float"),
        pytest.param("gross", "many", None, id="no number"),
        pytest.param("gross", float("inf"), None, id="too large to be a number"),
        pytest.param("gross", 0, None, id="null_when"),
    ],
)
def test_values_get_the_declared_type(field: str, came: Any, stored: Any) -> None:
    place = [c.name for c in CINEMA.table("film").columns].index(field)
    assert told({**FILM, field: came})["film__film"][0][place] == stored


def test_a_field_that_is_absent_is_null() -> None:
    assert told({"id": 1}) == {"film__film": [(1, None, None, None, None, 7)], "part__film": [], "award__film": []}


def test_the_key_has_the_type_of_its_column() -> None:
    assert [f.key for f in objects({**FILM, "id": "1"}, FETCH["film_by_id"], CINEMA, {"id": 1})] == [(1,)]


@pytest.mark.parametrize(
    "fetch, reply, path, said",
    [
        pytest.param("film_by_id", [FILM], "$", "an object was expected, a list came", id="a list for an object"),
        pytest.param("film_by_id", "sorry", "$", "an object was expected, a text came", id="a text for an object"),
        pytest.param("film_search", FILM, "$", "a list was expected, an object came", id="an object for a list"),
        pytest.param(
            "film_search", [FILM, 5], "$[*]", "an object was expected, a number came", id="a number in a list"
        ),
        pytest.param("film_by_id", {"title": "Up"}, "$.id", "the key 'id' is missing", id="no key"),
        pytest.param("film_by_id", {"id": [1]}, "$.id", "BIGINT was expected, a list came", id="a list for a key"),
        pytest.param(
            "film_by_id",
            {**FILM, "title": {"en": "Up"}},
            "$.title",
            "TEXT was expected, an object came",
            id="an object for a text",
        ),
        pytest.param(
            "film_by_id",
            {**FILM, "gross": 2**70},
            "$.gross",
            "a number does not fit in BIGINT",
            id="too large a number",
        ),
        pytest.param(
            "film_by_id",
            {**FILM, "parts": {"id": 1}},
            "$.parts",
            "a list was expected, an object came",
            id="an object for a nested list",
        ),
        pytest.param(
            "film_by_id",
            {**FILM, "parts": ["Ann"]},
            "$.parts[*]",
            "an object was expected, a text came",
            id="texts for nested objects",
        ),
        pytest.param(
            "film_search",
            [{**FILM, "parts": [{"id": 1, "role": []}]}],
            "$[*].parts[*].role",
            "TEXT was expected, a list came",
            id="deep inside",
        ),
        pytest.param(
            "year_info",
            {"films": [{"id": 1}]},
            "$.films[*]",
            "BIGINT was expected, an object came",
            id="objects for scalars",
        ),
        pytest.param(
            "year_info", [1, 2], "$", "an object was expected, a list came", id="a list where the key is an argument"
        ),
    ],
)
def test_a_reply_of_another_shape_is_refused_with_its_path(fetch: str, reply: Any, path: str, said: str) -> None:
    with pytest.raises(BadReply) as e:
        told(reply, fetch, {"query": 1999})
    assert (e.value.path, str(e.value)) == (path, f"{FETCH[fetch].endpoint}: {said} (at {path})")


@pytest.mark.parametrize(
    "path, record, stored",
    [
        pytest.param("money.takings", {"money": {"takings": 5}}, 5, id="inside an object"),
        pytest.param("money.takings", {"money": None}, None, id="inside nothing"),
        pytest.param("money.takings", {}, None, id="inside what is absent"),
    ],
)
def test_a_path_leads_into_objects(path: str, record: dict[str, Any], stored: Any) -> None:
    domain = domain_of(YAML.replace("      film:  {}", f"      film:  {{columns: {{gross: {path}}}}}"))
    found = objects({**FILM, **record}, FETCH["film_by_id"], domain, {"id": 1})
    assert rows(found, [7], FETCH["film_by_id"], domain)["film__film"][0][4] == stored


def test_a_path_into_a_list_is_refused() -> None:
    domain = domain_of(YAML.replace("      film:  {}", "      film:  {columns: {gross: money.takings}}"))
    found = objects({**FILM, "money": [5]}, FETCH["film_by_id"], domain, {"id": 1})
    with pytest.raises(BadReply, match="an object was expected, a list came"):
        rows(found, [7], FETCH["film_by_id"], domain)


@pytest.mark.parametrize(
    "type_, came, stored",
    [
        pytest.param(
            "TIMESTAMP",
            "2024-02-29T12:00:00+02:00",
            dt.datetime.fromisoformat("2024-02-29T10:00"),
            id="moments are UTC",
        ),
        pytest.param("TIMESTAMP", "noon", None, id="no moment"),
        pytest.param("DOUBLE", 1.5, 1.5, id="a float"),
        pytest.param("DOUBLE", "1.5", 1.5, id="a float as text"),
        pytest.param("DOUBLE", float("nan"), None, id="not a number"),
        pytest.param("DOUBLE", 10**400, None, id="beyond floats"),
        pytest.param("BOOLEAN", 1, True, id="a flag as number"),
        pytest.param("BOOLEAN", "False", False, id="a flag as text"),
        pytest.param("BOOLEAN", "maybe", None, id="no flag"),
        pytest.param("INTEGER", "-5", -5, id="a negative number"),
    ],
)
def test_other_types(type_: str, came: Any, stored: Any) -> None:
    domain = domain_of(
        YAML.replace("gross: {type: BIGINT,", f"gross: {{type: {type_},").replace(", null_when: [0]", "")
    )
    found = objects({**FILM, "gross": came}, FETCH["film_by_id"], domain, {"id": 1})
    assert rows(found, [7], FETCH["film_by_id"], domain)["film__film"][0][4] == stored


def test_each_object_keeps_its_own_mark_and_arguments() -> None:
    fetch = FETCH["year_info"]
    found = [f for y in (1990, 1991) for f in objects({"films": [y]}, fetch, CINEMA, {"query": y})]
    assert rows(found, [1, 2], fetch, CINEMA)["listed__year"] == [(1990, 1990, 1), (1991, 1991, 2)]


@pytest.mark.parametrize(
    "title, asked, yes",
    [("Pan's Café", "pans cafe", True), ("Up", "Upside", False), (None, "None", False)],
    ids=["folded", "part of it", "nothing"],
)
def test_what_a_search_was_for(title: str | None, asked: str, yes: bool) -> None:
    fetch: Fetch = FETCH["film_search"]
    (found,) = objects([{**FILM, "title": title}], fetch, CINEMA, {"query": asked})
    assert matches(found, fetch, CINEMA) is yes


def test_nothing_is_nothing() -> None:
    assert rows([], [], FETCH["film_by_id"], CINEMA) == {"film__film": [], "part__film": [], "award__film": []}


# -- shapes --------------------------------------------------------------------------------------------------------------

MARKET = domain_of(
    """
domain: market
about: Every shape that replies come in.
source: small
tables:
  price:
    about: One row per day.
    key: [ticker, day]
    moment: day
    columns:
      ticker: {type: TEXT, about: ticker}
      day:    {type: DATE, about: day}
      year:   {type: INTEGER, about: its year, year_of: day}
      close:  {type: DOUBLE, about: price}
      before: {type: DOUBLE, about: price of the day before}
  minute:
    about: One row per minute.
    key: [ticker, at]
    moment: at
    columns:
      ticker: {type: TEXT, about: ticker}
      at:     {type: TIMESTAMP, about: the clock of the exchange}
      open:   {type: DOUBLE, about: price}
  fact:
    about: Facts of a company.
    key: [ticker]
    columns:
      ticker:  {type: TEXT, about: ticker}
      cap:     {type: BIGINT, about: value}
      eps:     {type: DOUBLE, about: earnings}
      founded: {type: DATE, about: first day}
      year:    {type: INTEGER, about: its year, year_of: founded}
  game:
    about: One row per game.
    key: [id]
    changes: fast
    columns:
      id:     {type: TEXT, about: number}
      league: {type: TEXT, about: league}
      day:    {type: DATE, about: day}
      plan:   {type: TEXT, about: formation}
  side:
    about: One row per game and team.
    key: [game, team]
    columns:
      game: {type: TEXT, about: game}
      day:  {type: DATE, about: day}
      team: {type: TEXT, about: team}
      home: {type: INTEGER, about: points}
  song:
    about: One row per song on a list.
    changes: fast
    key: [rank, title]
    columns:
      rank:   {type: INTEGER, about: rank}
      title:  {type: TEXT, about: title}
      artist: {type: TEXT, about: artist}
  note:
    about: One row per entry of an infobox.
    key: [entity, name]
    columns:
      entity: {type: TEXT, about: entity}
      name:   {type: TEXT, about: entry}
      value:  {type: TEXT, about: text}
      number: {type: DOUBLE, about: number in it}
      day:    {type: DATE, about: day in it}
objects:
  prices: {key: ["@query"], fills: {price: {shape: entries, columns: {ticker: "@query", day: key, close: Close, before: previous(Close)}}}}
  minutes: {key: ["@query"], fills: {minute: {shape: entries, columns: {ticker: "@query", at: key, open: value}}}}
  cap: {key: ["@query"], fills: {fact: {shape: value, columns: {ticker: "@query", cap: value}}}}
  life: {key: ["@query"], fills: {fact: {shape: tuple, names: [founded, eps], columns: {ticker: "@query"}}}}
  game:
    key: [index]
    fills:
      game: {columns: {id: index, league: index_0, day: date, plan: Opp Formation}}
      side:
        - {columns: {game: index, day: date, team: home_team, home: '["home.points"]'}}
        - {columns: {game: index, day: date, team: away_team}}
  hits: {key: ["@rank"], fills: {song: {each: lists, shape: parallel, names: [title, artist], columns: {rank: "@rank"}}}}
  entity: {key: [key], fills: {note: {each: box, shape: entries, columns: {entity: "^key", name: key, value: plain(value), number: number(plain(value)), day: day(value)}}}}
  name: {key: ["."], fills: {song: {columns: {title: "."}}}}
  all: {key: [], fills: {song: {each: "songs[*]", shape: tuple, names: [title, rank]}}}
  column: {key: ["@query"], fills: {price: {shape: columns, columns: {ticker: "@query", day: index, close: Close, before: previous(Close)}}}}
fetches:
  prices:  {call: POST /prices, args: {query: ticker}, gives: prices}
  minutes: {call: POST /minutes, args: {query: ticker}, gives: minutes}
  column:  {call: POST /column, args: {query: ticker}, gives: column}
  cap:     {call: POST /cap, args: {query: ticker}, gives: cap}
  life:    {call: POST /life, args: {query: ticker}, gives: life}
  games:   {call: POST /games, args: {date: day}, periods: [date], gives: game, shape: columns}
  hits:    {call: POST /hits, args: {rank: rank}, fixed: {kind: hot}, gives: hits}
  entity:  {call: POST /entity, args: {}, gives: entity, rows: "$", shape: entries}
  name:    {call: POST /name, args: {query: title}, gives: name, rows: "$[*]", search: 10}
  all:     {call: GET /all, args: {}, gives: all}
"""
)
SHAPED = {f.name: f for f in MARKET.fetches}


def shaped(fetch: str, reply: Any, **args: Any) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each table, without their marks."""
    found = objects(reply, SHAPED[fetch], MARKET, args)
    filled = rows(found, [7] * len(found), SHAPED[fetch], MARKET)
    return {name.partition("__")[0]: [row[:-1] for row in cells] for name, cells in filled.items()}


def days(n: int) -> list[dt.date]:
    return [dt.date(2024, 2, 28 + i) for i in range(n)]


GAMES = {
    "date": {"('ENG', 'g1')": "2024-03-01 00:00:00", "('ESP', 'g2')": 1709337600000},
    "Opp Formation": {"('ENG', 'g1')": "4-4-2", "('ESP', 'g2')": None},
    "home_team": {"('ENG', 'g1')": "A", "('ESP', 'g2')": "C"},
    "away_team": {"('ENG', 'g1')": "B", "('ESP', 'g2')": "D"},
    "home.points": {"('ENG', 'g1')": 3.0, "('ESP', 'g2')": 1},
}


@pytest.mark.parametrize(
    "fetch, reply, args, stored",
    [
        pytest.param(
            "prices",
            {"2024-02-28 00:00:00 EST": {"Close": 1.5}, "2024-02-29 00:00:00 EST": {"Close": 2}},
            {"query": "ABC"},
            {"price": [("ABC", days(1)[0], 2024, 1.5, None), ("ABC", days(2)[1], 2024, 2.0, 1.5)]},
            id="entries with fields, and the value of the row before",
        ),
        pytest.param(
            "minutes",
            {"2024-07-15 10:30:00 EST": 5},
            {"query": "ABC"},
            {"minute": [("ABC", dt.datetime.fromisoformat("2024-07-15 10:30"), 5.0)]},
            id="entries that are values; the clock of the exchange, in summer too",
        ),
        pytest.param(
            "prices",
            {"2024-02-28": None, "2024-02-29": {"Close": 2}},
            {"query": "ABC"},
            {"price": [("ABC", days(1)[0], 2024, None, None), ("ABC", days(2)[1], 2024, 2.0, None)]},
            id="an entry with nothing in it",
        ),
        pytest.param("cap", 3.1e12, {"query": "ABC"}, {"fact": [("ABC", 3_100_000_000_000, None, None, None)]}, id="a value"),
        pytest.param("cap", 0, {"query": "ABC"}, {"fact": [("ABC", 0, None, None, None)]}, id="a value that is zero"),
        pytest.param("cap", None, {"query": "ABC"}, {"fact": []}, id="no value"),
        pytest.param(
            "life", ["1999-01-02", None], {"query": "ABC"},
            {"fact": [("ABC", None, None, dt.date(1999, 1, 2), 1999)]}, id="a tuple",
        ),
        pytest.param("life", [None, None], {"query": "ABC"}, {"fact": [("ABC", None, None, None, None)]}, id="a tuple of nothing"),
        pytest.param(
            "games", GAMES, {"date": "2024-03"},
            {
                "game": [
                    ("('ENG', 'g1')", "ENG", dt.date(2024, 3, 1), "4-4-2"),
                    ("('ESP', 'g2')", "ESP", dt.date(2024, 3, 2), None),
                ],
                "side": [
                    ("('ENG', 'g1')", dt.date(2024, 3, 1), "A", 3),
                    ("('ESP', 'g2')", dt.date(2024, 3, 2), "C", 1),
                    ("('ENG', 'g1')", dt.date(2024, 3, 1), "B", None),
                    ("('ESP', 'g2')", dt.date(2024, 3, 2), "D", None),
                ],
            },
            id="columns as objects, which fill a table twice",
        ),
        pytest.param("games", json.dumps({"date": {"0": None}}), {"date": "2024"}, {"game": [("0", None, None, None)], "side": [("0", None, None, None)] * 2}, id="columns as text"),
        pytest.param("games", "{}", {"date": "2024"}, {"game": [], "side": []}, id="columns as text, none"),
        pytest.param("games", '{"date": {"0": NaN}}', {"date": "2024"}, {"game": [("0", None, None, None)], "side": [("0", None, None, None)] * 2}, id="text that is Python's JSON"),
        pytest.param(
            "column", {"Close": [1, 2]}, {"query": "ABC"}, {"price": [("ABC", None, None, 1.0, None), ("ABC", None, None, 2.0, 1.0)]},
            id="columns that are lists",
        ),
        pytest.param(
            "column", {"Close": {"2024-02-28": 1, "2024-02-29": 2}, "Open": {"2024-02-29": 5}}, {"query": "ABC"},
            {"price": [("ABC", days(1)[0], 2024, 1.0, None), ("ABC", days(2)[1], 2024, 2.0, 1.0)]},
            id="columns of which one is shorter",
        ),
        pytest.param("hits", {"lists": [["a", "b"], ["x", None]]}, {"rank": 1}, {"song": [(1, "a", "x"), (1, "b", None)]}, id="parallel lists"),
        pytest.param("hits", {"lists": [None, None]}, {"rank": 1}, {"song": []}, id="parallel lists of nothing"),
        pytest.param("hits", {"lists": None}, {"rank": 1}, {"song": []}, id="no parallel lists"),
        pytest.param(
            "entity",
            {"Ulm": {"box": {"area": "118.7 [[km2]]", "founded": "22 July 854"}}, "Neu": {"box": None}},
            {},
            {"note": [("Ulm", "area", "118.7 km2", 118.7, None), ("Ulm", "founded", "22 July 854", 22.0, dt.date(854, 7, 22))]},
            id="entries as objects, with entries in them, and functions",
        ),
        pytest.param("name", ["a", "b", "a"], {"query": "a"}, {"song": [(None, "a", None), (None, "b", None)]}, id="a list of texts"),
        pytest.param("all", {"songs": [["a", 1], ["b", 2]]}, {}, {"song": [(1, "a", None), (2, "b", None)]}, id="a list of tuples; the only object"),
        pytest.param("all", {"songs": []}, {}, {"song": []}, id="no tuples"),
    ],
)  # fmt: skip
def test_a_reply_of_a_declared_shape_becomes_rows(
    fetch: str, reply: Any, args: dict[str, Any], stored: dict[str, list[Any]]
) -> None:
    assert shaped(fetch, reply, **args) == stored


@pytest.mark.parametrize(
    "fetch, reply, path, said",
    [
        pytest.param("prices", [1], "$", "an object was expected, a list came", id="a list for entries"),
        pytest.param("prices", {"a": {"Close": 1}, "b": 2}, "$.*", "an object was expected, a number came", id="mixed entries"),
        pytest.param("prices", {"a": {"Close": [1]}}, "$.*.Close", "DOUBLE was expected, a list came", id="a list for a number"),
        pytest.param("minutes", {"a": [1]}, "$.*.value", "DOUBLE was expected, a list came", id="a list for a value"),
        pytest.param("cap", {"raw": 1}, "$.value", "BIGINT was expected, an object came", id="an object for a value"),
        pytest.param("cap", 2**80, "$.value", "a number does not fit in BIGINT", id="too large a value"),
        pytest.param("life", ["1999"], "$", "a list of 2 was expected (founded, eps), one of 1 came", id="a short tuple"),
        pytest.param("life", 1999, "$", "a list was expected, a number came", id="a number for a tuple"),
        pytest.param("games", {"date": {"0": "x"}, "n": 5}, "$", "an object for each column was expected, a number came", id="a number for a column"),
        pytest.param("games", {"date": ["x"], "n": []}, "$", "the columns are not of one length", id="columns of two lengths"),
        pytest.param("games", "sorry", "$", "JSON was expected, a text came", id="a text that is no JSON"),
        pytest.param("games", "[" * 100_000, "$", "JSON was expected, a text came", id="a text that would overflow the stack"),
        pytest.param("games", [[1]], "$", "an object was expected, a list came", id="rows for columns"),
        pytest.param("hits", {"lists": [["a"], []]}, "$.lists", "lists of one length were expected, 1 title, 0 artist came", id="lists that do not belong together"),
        pytest.param("hits", {"lists": [["a"], None]}, "$.lists[1]", "a list was expected, nothing came", id="one list is missing"),
        pytest.param("hits", {"lists": [["a"]]}, "$.lists", "a list of 2 was expected (title, artist), one of 1 came", id="too few lists"),
        pytest.param("name", ["a", None], "$[*]", "the key '.' is missing", id="nothing among texts"),
        pytest.param("name", ["a", {}], "$[*]", "TEXT was expected, an object came", id="an object among texts"),
        pytest.param("entity", {"Ulm": {"box": {"a": [1]}}}, "$.*.box.*.value", "a value for plain() was expected, a list came", id="a list for a function"),
        pytest.param("entity", {"Ulm": {}, "Neu": []}, "$.*", "an object was expected, a list came", id="mixed entries as objects"),
        pytest.param("entity", {"Ulm": {"box": [1]}}, "$.*.box", "an object was expected, a list came", id="a list for inner entries"),
    ],
)  # fmt: skip
def test_a_reply_that_has_not_its_shape_is_refused_with_its_path(fetch: str, reply: Any, path: str, said: str) -> None:
    with pytest.raises(BadReply) as e:
        shaped(fetch, reply, query="ABC", rank=1, date="2024")
    assert (e.value.path, str(e.value)) == (path, f"{SHAPED[fetch].endpoint}: {said} (at {path})")


@pytest.mark.parametrize(
    "index, league",
    [
        pytest.param("('ENG', 'g1')", "ENG", id="plain"),
        pytest.param("""("Côte d'Or", 'g1')""", "Côte d'Or", id="an apostrophe"),
        pytest.param("('ENG', 1, None)", "ENG", id="numbers and nothing"),
        pytest.param("(Timestamp('2024-01-01'), 'g1')", None, id="not a literal"),
        pytest.param("('ENG', 'g1'", None, id="not closed"),
        pytest.param("((1, 2), 'g1')", None, id="nested"),
        pytest.param("(" * 5000, None, id="deep"),
        pytest.param("('\\d', 1)", None, id="what Python would warn of"),
        pytest.param("7", None, id="no tuple"),
    ],
)
def test_the_places_of_an_index_are_fields_where_it_is_a_tuple(index: str, league: str | None) -> None:
    assert shaped("games", {"date": {index: None}}, date="2024")["game"] == [(index, league, None, None)]


@pytest.mark.parametrize(
    "came, stored",
    [
        pytest.param("2024-03-15 10:30:00 EST", "2024-03-15T10:30", id="a zone's name is dropped"),
        pytest.param("2024-07-15 10:30:00 EDT", "2024-07-15T10:30", id="in summer too"),
        pytest.param("2024-03-15T10:30:00Z", "2024-03-15T10:30", id="UTC"),
        pytest.param("2024-03-15T10:30:00-05:00", "2024-03-15T15:30", id="an offset counts"),
        pytest.param(1710498600000, "2024-03-15T10:30", id="pandas' milliseconds"),
        pytest.param(-1000000000000, "1938-04-24T22:13:20", id="before 1970"),
        pytest.param(10**20, None, id="no such time"),
        pytest.param("noon EST", None, id="no moment"),
    ],
)
def test_moments(came: Any, stored: str | None) -> None:
    domain = domain_of(
        YAML.replace("gross: {type: BIGINT,", "gross: {type: TIMESTAMP,").replace(", null_when: [0]", "")
    )
    found = objects({**FILM, "gross": came}, FETCH["film_by_id"], domain, {"id": 1})
    has = rows(found, [7], FETCH["film_by_id"], domain)["film__film"][0][4]
    assert has == (stored and dt.datetime.fromisoformat(stored))


@pytest.mark.parametrize(
    "came, stored", [(1710498600000, dt.date(2024, 3, 15)), (20240315, dt.date(2024, 3, 15)), (2024, None)]
)
def test_days_as_numbers(came: int, stored: dt.date | None) -> None:
    assert told({**FILM, "made": came})["film__film"][0][2] == stored


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["{}", "('a', 1)"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3) | st.sampled_from(["Close", "box", "lists", "songs", "date"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("fetch", SHAPED)
@settings(max_examples=60, deadline=None)
@given(reply=JSON)
def test_any_reply_is_taken_or_refused(fetch: str, reply: Any) -> None:
    try:
        found = objects(reply, SHAPED[fetch], MARKET, {"query": "ABC", "rank": 1, "date": "2024"})
        filled = columns(found, list(range(len(found))), SHAPED[fetch], MARKET)
    except BadReply:
        return
    assert all(len({len(c) for c in cells}) == 1 for cells in filled.values())


def store(fetch: str, reply: Any, into: Store, now: dt.datetime = NOW, **values: Any) -> None:
    call = call_of(SHAPED[fetch], MARKET.name, values)
    found = objects(reply, SHAPED[fetch], MARKET, dict(call.args))
    into.add(MARKET, [Arrival(call, SHAPED[fetch], found, False, now)])


@pytest.fixture
def market() -> Store:
    made = Store()
    made.open_domain(MARKET, "x")
    return made


@pytest.mark.parametrize(
    "fetch, first, second, values, table, count",
    [
        pytest.param("games", GAMES, {**GAMES, "away_team": {}}, {"day": "2024-03"}, "side__game", 4, id="an object that fills a table twice"),
        pytest.param("all", {"songs": [["a", 1]]}, {"songs": [["b", 2], ["c", 3]]}, {}, "song__all", 2, id="the only object"),
    ],
)  # fmt: skip
def test_what_comes_again_replaces_what_was_there(
    market: Store, fetch: str, first: Any, second: Any, values: dict[str, Any], table: str, count: int
) -> None:
    store(fetch, first, market, **values)
    store(fetch, second, market, NOW + dt.timedelta(days=400), **values)
    assert market.run(f'SELECT count(*) FROM market."{table}"').rows == [(count,)]


@pytest.mark.parametrize(
    "fetch, reply",
    [
        pytest.param(
            "prices",
            {f"{d} 00:00:00 EST": {"Open": 1.0, "Close": 2.5, "Volume": 7} for d in map(dt.date.fromordinal, range(600_000, 700_000))},
            id="entries",
        ),
        pytest.param("column", {"Close": {str(i): i / 2 for i in range(100_000)}}, id="columns"),
    ],
)  # fmt: skip
def test_a_hundred_thousand_rows_are_stored_at_once(market: Store, fetch: str, reply: Any) -> None:
    started = time.perf_counter()
    store(fetch, reply, market, ticker="ABC")
    assert time.perf_counter() - started < 3  # 0.2 s where nothing else runs
    assert market.run(f'SELECT count(close), count(before) FROM market."price__{SHAPED[fetch].gives}"').rows == [
        (100_000, 99_999)
    ]
