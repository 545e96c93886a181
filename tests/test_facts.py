"""What is known of a thing by its infobox, and which of it a question asks for."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import pytest

from engine.phrase import phrase
from engine.translate.fields import Vocabulary, conversion, pieces, plain_name, unit_of
from engine.translate.lexicon import Lexicon
from engine.translate.lookup import Lookup
from engine.translate.matching import gives_of, is_number, items, pattern_of, said_in
from engine.translate.meaning import Entity, Excerpt, Is, Listed, Meaning, Names, Scaled, Set, To, Where
from engine.translate.program import sql
from engine.translate.properties import Fact, Known
from engine.translate.utter import Utterer
from kg.check import check
from kg.dialect import parse
from kg.domain import Domain
from kg.errors import QueryError
from kg.load import BUILT_IN, load_domain

CHAD = To(Set("entity", (Is((Entity("Chad", "Chad"),)),)), "entity")
BORDERS = Set("fact", (CHAD, Where("property", "=", ("borders",))))
AREA = Set("fact", (CHAD, Where("property", "=", ("area_km2",))))
LANDLOCKED = Set("fact", (CHAD, Where("property", "=", ("landlocked",))))


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain(BUILT_IN / "open.yaml")


@pytest.mark.parametrize(
    "name, words, plain, unit",
    [
        pytest.param("birth_date", ("birth", "date"), "birth date", "", id="underscores"),
        pytest.param("LargestCity", ("largest", "city"), "largest city", "", id="capitals"),
        pytest.param("population_density_sq_mi", ("population", "density", "sq", "mi"), "population density", "per sq mi", id="per a unit"),
        pytest.param("area_km2", ("area", "km2"), "area", "km²", id="a unit with a digit"),
        pytest.param("stat2value", ("stat", "2", "value"), "stat value", "", id="a digit inside"),
        pytest.param("sworn_in", ("sworn", "in"), "sworn in", "", id="in is no inch"),
        pytest.param("height_in", ("height", "in"), "height", "in", id="in is an inch"),
    ],
)  # fmt: skip
def test_the_name_of_a_field(name: str, words: tuple[str, ...], plain: str, unit: str) -> None:
    assert (pieces(name), plain_name(name), unit_of(name)) == (words, plain, unit)


def test_units_are_converted_where_that_is_known() -> None:
    assert conversion("K", "°C") == (1.0, -273.15)
    assert conversion("K", "km") is None


@pytest.mark.parametrize(
    "label, value",
    [
        pytest.param("stat2label", "stat2value", id="a label inside"),
        pytest.param("leader_title1", "leader_name1", id="a title and a name"),
        pytest.param("leader1_type", "leader1", id="a type of the bare name"),
        pytest.param("blank_name", "blank_info", id="a name and what it holds"),
    ],
)
def test_what_a_field_holds_is_told_by_another(label: str, value: str) -> None:
    assert Known((Fact(label, "Mayor"), Fact(value, "Ann Lee"))).labels[value] == "Mayor"


@pytest.mark.parametrize(
    "fact, gives",
    [
        pytest.param(Fact("area", "1,200", 1200.0), "number", id="a number"),
        pytest.param(Fact("code", "416, 437", 416.0), "list", id="two numbers are a list"),
        pytest.param(Fact("opened", "4 May 1990", 4.0, dt.date(1990, 5, 4), 1990), "date", id="a day"),
        pytest.param(Fact("fate", "Sank on 15 April 1912", 15.0, dt.date(1912, 4, 15), 1912), "text", id="a day in a sentence"),
        pytest.param(Fact("landlocked", "True"), "flag", id="a flag"),
    ],
)  # fmt: skip
def test_what_a_field_gives(fact: Fact, gives: str) -> None:
    assert gives_of(fact) == gives


def test_a_number_with_words_around_it_is_one() -> None:
    assert is_number(Fact("membership", "193 member states", 193.0))
    assert not is_number(Fact("seats", "12 of 30 seats", 12.0))


def test_what_a_text_lists() -> None:
    assert items("Niger, Nigeria (in part, by water), Sudan") == ["Niger", "Nigeria", "Sudan"]


@pytest.mark.parametrize(
    "words, found",
    [
        pytest.param(["niger"], ["Niger"], id="a whole word"),
        pytest.param(["nige"], [], id="a part of a word"),
        pytest.param(["niger", "chad"], [], id="one is missing"),
    ],
)
def test_the_words_of_a_value(words: list[str], found: list[str]) -> None:
    assert said_in(Fact("borders", "Libya, Niger, Nigeria"), words) == found


def test_names_in_sentences_end_where_the_names_do() -> None:
    text = "A 1996 film directed by Joel and Ethan Coen. It won."
    assert re.search(pattern_of("directed by {names}"), text)[1] == "Joel and Ethan Coen"  # type: ignore[index]


@pytest.mark.parametrize(
    "meaning, rows, said, uttered",
    [
        pytest.param(Names(BORDERS, "value"), [("Libya, Niger",)], "Libya, Niger", "what is the borders of Chad", id="a text"),
        pytest.param(Names(AREA, "number"), [(1284000.0,)], "1,284,000 km²", "what is the area km2 of Chad", id="a number has its unit"),
        pytest.param(Names(LANDLOCKED, "value"), [("True",)], "yes", "what is the landlocked of Chad", id="a flag"),
        pytest.param(Listed(BORDERS, "value"), [(6,)], "6", "how many does the borders of Chad list", id="how many are listed"),
        pytest.param(Scaled(AREA, "number", 0.386102, 0.0, "sq mi"), [(495754.96,)], "495,755 sq mi", "what is the area km2 of Chad in sq mi", id="another unit"),
        pytest.param(Excerpt(BORDERS, "value", "^([^,]+)"), [("Libya",)], "Libya", None, id="a part"),
    ],
)  # fmt: skip
def test_a_property_as_program_as_answer_and_in_words(
    meaning: Meaning, rows: Sequence[tuple[Any, ...]], said: str, uttered: str | None, domain: Domain
) -> None:
    check(parse(sql(meaning, domain), domain), domain)
    assert phrase(meaning, rows, domain) == said
    if uttered is not None:
        assert Utterer(Lexicon.of(domain), names=True).utter(meaning) == uttered


def test_what_is_known_is_asked_for_once(domain: Domain) -> None:
    asked: list[str] = []

    def ask(program: str) -> list[tuple[Any, ...]]:
        asked.append(program)
        facts = [("Chad", "capital", "N'Djamena", None, None, None)]
        return facts if "FROM fact" in program else [("Chad", "A country.")]

    lookup = Lookup(domain, ask)
    for _ in range(2):
        assert lookup(domain.table("fact"), ("Chad", "Tschad")) == {
            "Chad": Known((Fact("capital", "N'Djamena"),), "A country.")
        }
    assert len(asked) == 2
    assert "'Chad', 'Tschad'" in asked[0]


def test_what_cannot_be_asked_is_not_known(domain: Domain) -> None:
    def ask(program: str) -> list[tuple[Any, ...]]:
        raise QueryError("no")

    assert Lookup(domain, ask)(domain.table("fact"), ("Chad",)) == {}


def test_every_pattern_and_reference_of_the_vocabulary_holds(domain: Domain) -> None:
    vocabulary: Vocabulary = Lexicon.of(domain).vocabulary
    assert vocabulary.concepts
    for concept in vocabulary.concepts.values():
        assert concept.fields, concept.name
        assert not concept.dated or concept.dated in vocabulary.concepts
        assert all(re.compile(pattern_of(t)).groups == 1 for t in concept.text), concept.name
    assert set(vocabulary.kinds_of) <= set(vocabulary.concepts)
