"""How answers are worded."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from engine.phrase import MAX_CHARACTERS, join, phrase, say
from engine.translate.meaning import Calculate, Compare, Count, Entity, Exists, Is, Meaning, Names, Set, Top, Which
from kg.domain import Column, Domain
from kg.load import BUILT_IN, load_domain

FILM = Set("movie", (Is((Entity(1, "Film"),)),))
BUDGET, LENGTH = Names(FILM, "budget"), Names(FILM, "length")


@pytest.fixture(scope="module")
def movie() -> Domain:
    return load_domain(BUILT_IN / "movie.yaml")


@pytest.mark.parametrize(
    "meaning, rows, text",
    [
        pytest.param(BUDGET, [(135_000_000,)], "$135,000,000", id="money has its sign and separators"),
        pytest.param(Names(FILM, "release_year"), [(1997,)], "1997", id="a year has no separators"),
        pytest.param(Names(FILM, "release_date", year=True), [(1997,)], "1997", id="nor has the year of a date"),
        pytest.param(Names(FILM, "release_date"), [(dt.date(1997, 12, 19),)], "1997-12-19", id="dates are ISO"),
        pytest.param(Names(FILM, "original_language"), [("es",)], "Spanish", id="a code is said as people say it"),
        pytest.param(
            Names(Set("oscar_award"), "category"),
            [("ACTOR IN A LEADING ROLE",)],
            "Best actor",
            id="so is a shouted name",
        ),
        pytest.param(
            Names(Set("genre"), "name"), [("Science Fiction",)], "Science Fiction", id="a name that people say stays"
        ),
        pytest.param(Names(Set("movie")), [("Up",), ("Big",), ("Up",)], "Big, Up", id="a set is sorted, each once"),
        pytest.param(
            Names(Set("movie", top=Top("revenue", True, 2))),
            [("Up",), ("Big",)],
            "Up, Big",
            id="a ranking keeps its order",
        ),
        pytest.param(Exists(FILM), [(True,)], "yes", id="yes"),
        pytest.param(Compare(BUDGET, BUDGET, greater=True), [(False,)], "no", id="no"),
        pytest.param(Count(FILM), [(12,)], "12", id="a count"),
        pytest.param(
            Which((Names(FILM, "budget"), Names(FILM, "budget")), ("A", "B"), True),
            [("B", 2), ("A", 1)],
            "B",
            id="the first of a comparison",
        ),
        pytest.param(Calculate("difference", BUDGET, BUDGET), [(-5,)], "-$5", id="a loss"),
        pytest.param(Calculate("ratio", BUDGET, BUDGET), [(73.748,)], "73.7 times", id="a ratio"),
        pytest.param(Calculate("percent", BUDGET, BUDGET), [(12.34,)], "12.3%", id="a share"),
        pytest.param(Calculate("years", BUDGET, BUDGET), [(28,)], "28", id="an age"),
        pytest.param(None, [("a", 1), ("b", None)], "a, 1, b", id="a program somebody wrote"),
    ],
)
def test_rows_are_said_as_people_would(
    meaning: Meaning | None, rows: list[tuple[Any, ...]], text: str, movie: Domain
) -> None:
    assert phrase(meaning, rows, movie) == text


def test_a_long_list_is_cut_and_counted() -> None:
    names = [f"Film number {i}" for i in range(100)]
    text = join(names)
    assert len(text) <= MAX_CHARACTERS + len(" and 100 more")
    assert text.endswith(f"and {100 - text.count('Film')} more")


@pytest.mark.parametrize(
    "value, text", [(True, "yes"), (1234567, "1,234,567"), (7.0, "7"), (7.256, "7.26"), ("x", "x")]
)
def test_values_without_a_column(value: Any, text: str) -> None:
    assert say(value, None) == text


def test_a_rating_keeps_its_decimals() -> None:
    assert say(7.0, Column("rating", "DOUBLE", "votes", unit="of 10")) == "7.0"
