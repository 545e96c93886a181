"""From replies to rows: which shapes are taken, and what is said of others."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from small import CINEMA, YAML, domain_of

from kg.domain import Domain, Fetch
from kg.errors import BadReply
from kg.shapes import Found, columns, matches, objects

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
@pytest.mark.parametrize("fetch", ["film_by_id", "film_search", "year_info"])
def test_not_found_has_no_objects(fetch: str, reply: Any) -> None:
    assert objects(reply, FETCH[fetch], CINEMA, {"id": 1, "query": 1999}) == []


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
