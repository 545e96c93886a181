"""Names that a domain's file tells: known without the source, and beside the names that a source lists."""

from __future__ import annotations

import pytest

from kg.domain import Column, Table, Value
from kg.link import Known, Linker
from kg.link.said import said_names, with_said
from kg.load import BUILT_IN, load_domains

CITIES = Table(
    "city",
    "cities",
    ("code",),
    (Column("code", "TEXT", "code"), Column("name", "TEXT", "name")),
    label="name",
    names=(Value("NYC", ("New York", "Big Apple")), Value("YRK", ("York",))),
)
DOMAINS = load_domains([BUILT_IN])
LISTED = [Known("New York", "city", "NYC", 8.0), Known("Lagos", "city", "LOS", 15.0)]


def test_the_earlier_is_better_known() -> None:
    assert list(said_names(CITIES)) == [
        Known("NYC", "city", "NYC", 2.0),
        Known("New York", "city", "NYC", 2.0),
        Known("Big Apple", "city", "NYC", 2.0),
        Known("YRK", "city", "YRK", 1.0),
        Known("York", "city", "YRK", 1.0),
    ]


def test_names_are_added_to_what_a_source_lists_and_to_nothing_else() -> None:
    assert list(with_said(CITIES, LISTED)) == [
        *LISTED,
        Known("NYC", "city", "NYC", pytest.approx(7.6)),
        Known("Big Apple", "city", "NYC", pytest.approx(7.6)),
    ]
    assert list(with_said(CITIES, [])) == []


@pytest.mark.parametrize(
    "domain, said, key",
    [
        pytest.param("sports", "Los Angeles Lakers", "Los Angeles Lakers", id="the full name"),
        pytest.param("sports", "lakers", "Los Angeles Lakers", id="without the city"),
        pytest.param("sports", "la lakers", "Los Angeles Lakers", id="the city shortened"),
        pytest.param("sports", "los angeles", "Los Angeles Lakers", id="the city"),
        pytest.param("sports", "blazers", "Portland Trail Blazers", id="half of a nickname"),
        pytest.param("sports", "hornets", "Charlotte Hornets", id="those of today, not those who moved"),
        pytest.param("sports", "man united", "Manchester Utd", id="a club for short"),
        pytest.param("sports", "nottingham forest", "Nott'ham Forest", id="a club in full"),
        pytest.param("sports", "barca", "Barcelona", id="a nickname without its accent"),
        pytest.param("finance", "coke", "KO", id="what a company is best known for"),
        pytest.param("finance", "brk-b", "BRK-B", id="a key"),
        pytest.param("finance", "best buy", "BBY", id="common words"),
    ],
)
def test_what_people_say_is_known_without_the_source(domain: str, said: str, key: str) -> None:
    linker = Linker(n for table in DOMAINS[domain].entities for n in said_names(table))
    assert linker.lookup(said)[0].key == key
