"""The ledger: what covers a call, and for how long."""

from __future__ import annotations

import datetime as dt

import pytest
from small import CINEMA, NOW, changing

from kg.domain import Fetch
from kg.ledger import KEEP, Call, Entry, Ledger, call_of, expiry

FETCH: dict[str, Fetch] = {f.name: f for f in CINEMA.fetches}
LATER = NOW + dt.timedelta(days=40)


def call(fetch: str, value: object) -> Call:
    f = FETCH[fetch]
    return call_of(f, CINEMA.name, {f.args[0][1]: value})


def entry(id_: int, c: Call, at: dt.datetime = NOW, days: int = 30) -> Entry:
    return Entry(id_, c, 1, False, at, at + dt.timedelta(days=days))


@pytest.fixture
def ledger() -> Ledger:
    """A search brought the films 10 and 13; film 99 was asked for and is not known; so was the year 1993."""
    out = Ledger()
    out.put(entry(1, call("film_search", "Night Train")), "film", [(10,), (13,)])
    out.put(entry(2, call("film_by_id", 99)), "film", [])
    out.put(Entry(3, call("year_info", 1993), 1, False, NOW, None), "year", [(1993,)])
    return out


@pytest.mark.parametrize(
    "fetch, value, covered_by",
    [
        pytest.param("film_search", "Night Train", 1, id="the same search"),
        pytest.param("film_search", "night train", None, id="a search for other words"),
        pytest.param("film_by_id", 10, 1, id="an object that a search brought"),
        pytest.param("film_by_id", 11, None, id="another object"),
        pytest.param("film_by_id", 99, 2, id="not found is known too"),
        pytest.param("person_by_id", 10, None, id="the same key of another object"),
        pytest.param("year_info", 1993, 3, id="an object whose key is the argument"),
    ],
)
def test_what_covers_a_call(ledger: Ledger, fetch: str, value: object, covered_by: int | None) -> None:
    found = ledger.covers(call(fetch, value), FETCH[fetch], CINEMA, NOW)
    assert (found and found.id) == covered_by


@pytest.mark.parametrize(
    "fetch, value, covered",
    [
        ("film_search", "Night Train", False),
        ("film_by_id", 10, False),
        ("film_by_id", 99, False),
        ("year_info", 1993, True),
    ],
)
def test_what_expires(ledger: Ledger, fetch: str, value: object, covered: bool) -> None:
    assert (ledger.covers(call(fetch, value), FETCH[fetch], CINEMA, LATER) is not None) is covered


def test_an_expired_call_is_covered_by_an_object_that_came_later(ledger: Ledger) -> None:
    ledger.put(entry(4, call("film_search", "Train"), LATER), "film", [(99,)])
    found = ledger.covers(call("film_by_id", 99), FETCH["film_by_id"], CINEMA, LATER)
    assert found is not None
    assert found.id == 4


def test_the_later_of_two_entries_counts(ledger: Ledger) -> None:
    ledger.put(entry(4, call("film_by_id", 10), LATER), "film", [(10,)])
    assert ledger.holds(CINEMA.name, "film", (10,)) is ledger.by_id[4]
    assert ledger.holds(CINEMA.name, "film", (13,)) is ledger.by_id[1]


def test_expired_entries_are_listed_and_dropped(ledger: Ledger) -> None:
    assert ledger.expired(CINEMA.name, NOW) == []
    old = ledger.expired(CINEMA.name, LATER)
    assert old == [1, 2]
    ledger.drop(CINEMA.name, set(old))
    assert ledger.expired(CINEMA.name, LATER) == []
    assert list(ledger.by_id) == [3]
    assert ledger.holds(CINEMA.name, "film", (10,)) is None


def test_another_domain_is_left_alone(ledger: Ledger) -> None:
    ledger.drop("music")
    assert len(ledger.by_id) == 3
    ledger.drop(CINEMA.name)
    assert (ledger.by_id, ledger.calls, ledger.first) == ({}, {}, {})


@pytest.mark.parametrize("speed, keep", KEEP.items())
def test_an_object_lives_as_long_as_its_fastest_table(speed: str, keep: dt.timedelta | None) -> None:
    domain = changing(CINEMA, film="static", part=speed, award="static")
    assert expiry(domain, "film", NOW) == (None if keep is None else NOW + keep)


def test_a_call_is_shown_as_it_is_made() -> None:
    assert str(call("film_search", "O'Brien")) == """film_search(query="O'Brien")"""
    assert call("film_search", "Zoë").text == '{"query":"Zoë"}'
