"""The bundled encyclopedia: summaries, infoboxes and sources agree, and well-known facts are in it."""

from __future__ import annotations

import json
import re
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import kg

LINES = (Path(kg.__file__).parent / "sample" / "open" / "kg.0.jsonl").read_text(encoding="utf-8").splitlines()
NAMED: list[tuple[str, dict[str, Any]]] = [(name, entry) for name, entry in map(json.loads, LINES)]
ENTRIES = dict(NAMED)
BOXES: dict[str, dict[str, str]] = {name: entry["summary_structured"] for name, entry in NAMED}
COUNTRIES = {name: box for name, box in BOXES.items() if "conventional_long_name" in box}
ELEMENTS = {name: box for name, box in BOXES.items() if "symbol" in box}
PEOPLE = {name: box for name, box in BOXES.items() if "birth_date" in box}


def plain(name: str) -> str:
    return re.sub(r" \(.*\)$", "", name)


def test_it_is_large_enough_to_play_with_and_in_order():
    assert len(COUNTRIES) >= 50
    assert len(ELEMENTS) >= 30
    assert len(PEOPLE) >= 60
    assert [name for name, _ in NAMED] == sorted(ENTRIES, key=str.casefold)


def test_an_entry_has_a_summary_an_infobox_and_a_source():
    assert [n for n, e in NAMED if set(e) != {"summary_text", "summary_structured", "raw_mediawiki"}] == []
    assert [n for n, e in NAMED if plain(n).lower() not in e["summary_text"].lower()] == []
    assert [n for n, e in NAMED if not e["summary_text"].endswith(".") or len(e["summary_text"]) < 20] == []


def test_every_value_of_an_infobox_is_a_text_that_says_something():
    assert [(n, k) for n, box in BOXES.items() for k, v in box.items() if not isinstance(v, str) or not v.strip()] == []
    assert [n for n, box in BOXES.items() if len(box) < 2] == []


def test_markup_is_closed():
    assert [n for n, e in NAMED if e["raw_mediawiki"].count("[[") != e["raw_mediawiki"].count("]]")] == []
    assert [n for n, e in NAMED if e["raw_mediawiki"].count("{{") != e["raw_mediawiki"].count("}}")] == []


def test_the_source_holds_the_infobox_and_the_summary():
    for name, entry in NAMED:
        box = "".join(f"| {key} = {value}\n" for key, value in entry["summary_structured"].items())
        assert box in entry["raw_mediawiki"], name
        assert entry["raw_mediawiki"].replace("'''", "").endswith(entry["summary_text"]), name


def test_dates_in_templates_are_dates():
    template = re.compile(r"\{\{(?:birth date|start date|death date)\|(\d+)\|(\d+)\|(\d+)\}\}")
    aged = re.compile(r"\{\{death date and age\|(\d+)\|(\d+)\|(\d+)\|(\d+)\|(\d+)\|(\d+)\}\}")
    values = [value for box in BOXES.values() for value in box.values()]
    found = [date(*map(int, m.groups())) for value in values for m in template.finditer(value)]
    lives = [tuple(map(int, m.groups())) for value in values for m in aged.finditer(value)]
    assert len(found) >= 100
    assert [life for life in lives if not 20 <= (date(*life[:3]) - date(*life[3:])).days / 365.25 <= 105] == []
    assert sum(" date" in value for value in values if "{{" in value) == len(found) + len(lives)


def test_the_lifetime_in_a_summary_is_the_infoboxs():
    year = re.compile(r"\d{4}")
    for name, box in PEOPLE.items():
        lifetime = ENTRIES[name]["summary_text"].partition(")")[0]
        assert year.findall(lifetime) == year.findall(box["birth_date"]) + year.findall(box.get("death_date", ""))[:1]


def test_a_country_has_a_code_for_its_money_and_a_domain():
    assert [n for n, box in COUNTRIES.items() if not re.fullmatch("[A-Z]{3}", box["currency_code"])] == []
    assert len({box["cctld"] for box in COUNTRIES.values()}) == len(COUNTRIES)
    assert {box["currency_code"] for box in COUNTRIES.values() if box["currency"] == "[[Euro]]"} == {"EUR"}
    assert [
        n for n, box in COUNTRIES.items() if ("population_estimate" in box) != ("population_estimate_year" in box)
    ] == []


def test_a_country_that_has_a_capital_says_so():
    capitals = {name: box["capital"].strip("[]") for name, box in COUNTRIES.items() if "capital" in box}
    assert [n for n, city in capitals.items() if f"Its capital is {city}" not in ENTRIES[n]["summary_text"]] == []
    assert len(capitals) >= 50


def test_heavier_elements_have_higher_numbers():
    by_number = sorted(ELEMENTS.values(), key=lambda box: int(box["number"]))
    weights = [float(box["standard atomic weight"]) for box in by_number if "standard atomic weight" in box]
    swapped = [(a, b) for a, b in pairwise(weights) if a >= b]
    assert swapped == [(39.95, 39.098)], "only argon is heavier than the next one, potassium"
    assert len({box["symbol"] for box in by_number}) == len({box["number"] for box in by_number}) == len(by_number)


def test_an_element_melts_before_it_boils():
    both = {n: box for n, box in ELEMENTS.items() if "melting point C" in box and "boiling point C" in box}
    assert [n for n, box in both.items() if float(box["melting point C"]) >= float(box["boiling point C"])] == []
    assert len(both) >= 20


@pytest.mark.parametrize(
    "name, key, value",
    [
        pytest.param("Australia", "capital", "[[Canberra]]", id="a capital that is not the largest city"),
        pytest.param("Japan", "currency_code", "JPY", id="a currency"),
        pytest.param(
            "Switzerland", "official_languages", "[[German]], [[French]], [[Italian]], [[Romansh]]", id="list"
        ),
        pytest.param("Albert Einstein", "birth_date", "{{birth date|1879|3|14}}", id="a birthday"),
        pytest.param("Ada Lovelace", "death_date", "{{death date and age|1852|11|27|1815|12|10}}", id="a death"),
        pytest.param("Gold", "symbol", "Au", id="a symbol"),
        pytest.param("Mercury (element)", "number", "80", id="of two with one name, the element"),
        pytest.param("Mercury (planet)", "satellites", "0", id="of two with one name, the planet"),
        pytest.param("Mount Everest", "elevation_m", "8848.86", id="a height"),
        pytest.param("Mona Lisa", "artist", "[[Leonardo da Vinci]]", id="an artist"),
        pytest.param("Microsoft", "founders", "[[Bill Gates]], [[Paul Allen]]", id="founders"),
        pytest.param("Florida", "Capital", "[[Tallahassee, Florida|Tallahassee]]", id="a link with a text of its own"),
    ],
)
def test_a_fact(name, key, value):
    assert BOXES[name][key] == value
