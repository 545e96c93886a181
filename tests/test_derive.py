"""The named functions of domain files: what they find in texts as people and encyclopedias write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg.shapes.derive import FUNCTIONS, LISTS, count, day, number, plain, previous, year

NBSP, MINUS, DASH = "\N{NO-BREAK SPACE}", "\N{MINUS SIGN}", "\N{EN DASH}"


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param("1,234.5 km²", 1234.5, id="thousands and decimals"),
        pytest.param("US$1.2 billion", 1_200_000_000, id="a scale"),
        pytest.param(f"$2.880{NBSP}trillion", 2_880_000_000_000, id="a scale after a hard space"),
        pytest.param("65 million people", 65_000_000, id="a whole scale"),
        pytest.param("5 millionaires", 5, id="no scale"),
        pytest.param(f"{MINUS}38.8 °C", -38.8, id="a typographer's minus"),
        pytest.param("-4", -4, id="a hyphen as minus"),
        pytest.param(f"1998{DASH}2001", 1998, id="a range"),
        pytest.param("COVID-19", 19, id="a hyphen within a word"),
        pytest.param("1 234 567", 1_234_567, id="thousands parted by spaces"),
        pytest.param("3,5,7", 3, id="a list of numbers"),
        pytest.param("1,23", 1, id="a decimal comma is not guessed"),
        pytest.param(".5", 0.5, id="no digit before the point"),
        pytest.param("6.02e23 of them", 6.02e23, id="a power"),
        pytest.param("12.", 12, id="the end of a sentence"),
        pytest.param("many", None, id="none"),
        pytest.param("", None, id="empty"),
        pytest.param(7, 7, id="a number already"),
        pytest.param(True, None, id="a flag is no number"),
        pytest.param("9" * 50, None, id="too long to be one"),
        pytest.param("1.5e999", None, id="beyond floats"),
    ],
)
def test_number(text, found):
    assert number(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param("1879-03-14 (aged 76)", "1879-03-14", id="ISO"),
        pytest.param("1879-03-14T10:00:00Z", "1879-03-14", id="a moment"),
        pytest.param("14 March 1879", "1879-03-14", id="day first"),
        pytest.param("March 14, 1879", "1879-03-14", id="month first"),
        pytest.param("Friday, 14th of March, 1879", "1879-03-14", id="in full"),
        pytest.param("Sept. 3 1939", "1939-09-03", id="a short month"),
        pytest.param("{{birth date|1879|3|14}}", "1879-03-14", id="a template"),
        pytest.param("{{Birth date and age|df=yes|1989|7|23}}", "1989-07-23", id="a template with a named argument"),
        pytest.param("{{death date and age|2012|2|16|1929|8|22}}", "2012-02-16", id="the first of two"),
        pytest.param("{{Start date|1883}}", None, id="a template with a year only"),
        pytest.param("1879", None, id="a year"),
        pytest.param("March 1879", None, id="a month"),
        pytest.param("3/4/1999", None, id="two days at once"),
        pytest.param("31 February 1999", None, id="no such day"),
        pytest.param("30 Feb 1999, corrected to 2 March 1999", "1999-03-02", id="the first that exists"),
        pytest.param("15 March 44 BC", None, id="before our era"),
        pytest.param("14 August 1040", "1040-08-14", id="long ago"),
    ],
)
def test_day(text, found):
    assert day(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param("c. 1450", 1450, id="about"),
        pytest.param("{{Start date and age|df=yes|1883}}", 1883, id="a template"),
        pytest.param(f"1998{DASH}99 season", 1998, id="a season"),
        pytest.param("12,1999 people", None, id="the end of a number"),
        pytest.param("1,998 people", None, id="a number"),
        pytest.param("1998.5", None, id="a decimal"),
        pytest.param("in 2001.", 2001, id="the end of a sentence"),
        pytest.param("570 BC", None, id="before our era"),
        pytest.param("3021", None, id="not plausible"),
        pytest.param(1879, 1879, id="a number already"),
    ],
)
def test_year(text, found):
    assert year(text) == found


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param("Ulm, Germany", "Ulm, Germany", id="plain already"),
        pytest.param("[[Tyler, Texas|Tyler]], [[Texas]]", "Tyler, Texas", id="links"),
        pytest.param("[https://x.org The site] and [https://y.org]", "The site and", id="links to the web"),
        pytest.param("A<br>B<br />C<br/>(1999)", "A, B, C (1999)", id="breaks"),
        pytest.param('390<ref name="a"/>', "390", id="a note"),
        pytest.param("X<ref>{{cite news|title=Y|date=1999}}</ref> Z", "X Z", id="a note with a template"),
        pytest.param("{{nowrap|{{birth date|1929|8|22}}}}", "1929-08-22", id="a template in a template"),
        pytest.param("{{convert|1.80|m|ftin|abbr=on}}", "1.80 m ftin", id="a measure"),
        pytest.param("{{hlist|class=x|[[A]]|[[B]]}}", "A, B", id="a list in arguments"),
        pytest.param("{{plainlist|\n* A\n* B\n}}", "A, B", id="a list in lines"),
        pytest.param("{{ubl|1=A|2=B}}", "A, B", id="numbered arguments"),
        pytest.param("{{lang|fr|Les Misérables}}", "Les Misérables", id="a language"),
        pytest.param("'''''Heat''''' &amp; ''Dust''", "Heat & Dust", id="quotes and entities"),
        pytest.param("<small>about</small> <!-- check --> 5", "about 5", id="tags and comments"),
        pytest.param("[[File:x.jpg|thumb]]", None, id="nothing left"),
        pytest.param("{{unclosed|a", "unclosed|a", id="damaged"),
    ],
)
def test_plain(text, found):
    assert plain(text) == found


def test_previous_starts_anew_with_every_object():
    assert previous([1, 2, 3, 4, 5], [2, 0, 3]) == [None, 1, None, 3, 4]
    assert previous([], [0, 0]) == []


def test_count_is_of_lists():
    assert count([[1, 2], {"a": 1}, "ab", None], None) == [2, 1, None, None]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_stays_nothing(name):
    assert FUNCTIONS[name]([None, None], [2]) == [None, None]


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - LISTS))
@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from("{}[]|<>ref/br=,.- 19\n'*!jan"), max_size=60) | st.text(max_size=20))
def test_any_text_can_be_read(name, text):
    (found,) = FUNCTIONS[name]([text], [1])
    assert found is None or isinstance(found, str | int | float)


@pytest.mark.parametrize("piece", ["<ref>", "{{", "{{a|", "[[a|", "<!--", "<br ", "\n", "1,", "1 ", "[http://", "jan "])
def test_a_hostile_text_takes_no_longer_than_others(piece):
    started = time.perf_counter()
    for function in (number, day, year, plain):
        function(piece * 20_000)
    assert time.perf_counter() - started < 2
