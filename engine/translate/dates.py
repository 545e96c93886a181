"""Times by their place in the calendar: "march 9, 2024", "q1 2023", "the 1990s". Without a year, the latest one."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace

from .periods import (
    ANY,
    MONTH,
    NO_GAP,
    THING,
    WD,
    YEAR,
    YEARISH,
    Asked,
    Period,
    Rules,
    full_year,
    gap_of,
    in_said_year,
    into,
    month_of,
    ordinal,
    said_year,
    unit_of,
)

RULES: Rules = []
_rule = into(RULES)

_NTH_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"


@_rule(
    rf"(?:{WD},?\s+)?{MONTH}\s*(?:the\s+)?{_NTH_DAY}(?!{THING}|:\d|[-/]\d)(?:(?:,\s*|\s+)(?:of\s+|in\s+)?{YEARISH})?",
    rf"(?<!top )(?:{WD},?\s+)?(?:the\s+)?{_NTH_DAY}(?:\s+of)?[\s-]+{MONTH}(?:,?[\s-]*(?:of\s+|in\s+)?{YEARISH})?",
)
def _month_and_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    def make(year: int) -> Period:
        day = dt.date(year, month_of(m["month"]), int(m["day"]))
        return Period(day, day, "day")

    for period in in_said_year(said_year(m, asked), asked, make):
        # "may 3 of them": the rest of the months are no verbs
        yield replace(period, weak=m["month"].lower() in ("may", "march") and period.weak)


_TO = r"\s*(?:-|\u2013|\u2014|to|and|until|till|through|thru)\s*(?:the\s+)?"
_NTH_DAY_2 = _NTH_DAY.replace("day", "day2")


@_rule(
    rf"{MONTH}\s+(?:the\s+)?{_NTH_DAY}{_TO}{_NTH_DAY_2}(?!{THING}|:\d)(?:(?:,\s*|\s+)(?:of\s+|in\s+)?{YEARISH})?",
    rf"(?:the\s+)?{_NTH_DAY}{_TO}{_NTH_DAY_2}\s+(?:of\s+)?{MONTH}(?:,?\s*(?:of\s+|in\s+)?{YEARISH})?",
)
def _days_of_a_month(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    def make(year: int) -> Period:
        month = month_of(m["month"])
        return Period(dt.date(year, month, int(m["day"])), dt.date(year, month, int(m["day2"])), "day", between=True)

    for period in in_said_year(said_year(m, asked), asked, make):
        if period.first < period.last:
            yield replace(period, weak=False)


@_rule(
    r"(?P<y>\d{4})(?P<mark>[-/.])(?P<m>\d\d?)(?P=mark)(?P<d>\d\d?)",
    r"(?P<m>\d\d?)/(?P<d>\d\d?)/(?P<y>\d{4}|\d\d)",
    r"(?P<m>\d\d?)-(?P<d>\d\d?)-(?P<y>\d{4})",
    r"(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})",
)
def _in_figures(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year, month, day = int(m["y"]), int(m["m"]), int(m["d"])
    if len(m["y"]) == 2:
        year = full_year(year, asked.today)
    if month > 12:  # the month comes first, as in America, unless it cannot
        month, day = day, month
    date = dt.date(year, month, day)
    yield Period(date, date, "day")


@_rule(r"(?!9/11)(?P<m>1[0-2]|0?[1-9])/(?P<d>[0-3]?\d)(?![/\d])")
def _in_figures_without_year(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    def make(year: int) -> Period:
        date = dt.date(year, int(m["m"]), int(m["d"]))
        return Period(date, date, "day", needs=ANY - {"in", "at"})

    yield from in_said_year(None, asked, make)


@_rule(
    rf"(?:the\s+month\s+of\s+)?{MONTH},?\s*(?:of\s+|in\s+)?{YEARISH}",
    rf"(?:the\s+month\s+of\s+)?(?:(?P<near>last|this|next|this\s+past|past)\s+)?{MONTH}",
)
def _month(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    word = m["month"].lower()
    near = m.groupdict().get("near")
    bare = "year" not in m.groupdict() and near is None

    def make(year: int) -> Period:
        return unit_of(dt.date(year, month_of(word), 1), "month")

    which = near.split()[-1].lower() if near else None
    for period in in_said_year(
        said_year(m, asked), asked, make, {"past": "last", "this": "this"}.get(which or "", which)
    ):
        # "may", "dec" and "mar" are too often something else
        needs = ANY | {"of"} if bare and (word == "may" or len(word) < 4) else None
        yield replace(period, weak=bare, needs=needs)


@_rule(r"(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![-\d])")
def _iso_month(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year, month = int(m["y"]), int(m["m"])
    if month == (year + 1) % 100:
        yield unit_of(dt.date(year, 7, 1), "season")
    yield unit_of(dt.date(year, month, 1), "month")


@_rule(rf"(?:the\s+)?(?:calendar\s+)?(?:year\s+)?{YEAR}")
def _year(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year = int(m["year"])
    # "blade runner 2049"
    yield replace(unit_of(dt.date(year, 1, 1), "year"), weak=year > asked.today.year + 10)


_AGES = dict(
    zip(
        ["twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties"],
        range(20, 100, 10),
        strict=True,
    )
)


@_rule(
    r"(?:the\s+)?(?:decade\s+of\s+the\s+)?(?P<full>(?:1[5-9]|20)\d0)['\u2019]?s",
    r"(?:the\s+['\u2019]?|['\u2019])(?P<two>\d0)['\u2019]?s",
    r"(?<!his )(?<!her )(?<!their )(?P<two>[5-9]0)['\u2019]?s",
    rf"(?<!his )(?<!her )(?<!their )(?:the\s+)?(?P<word>{'|'.join(_AGES)})",
)
def _decade(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    said = m.groupdict()
    if said.get("full"):
        year = int(m["full"])
    else:
        year = 2000 + (int(said["two"]) if said.get("two") else _AGES[m["word"].lower()])
        year -= 100 * (year > asked.today.year)
    yield unit_of(dt.date(year, 1, 1), "decade")


_QUARTER_OF = rf"(?:,?\s*(?:of\s+|in\s+)?{YEARISH})"


@_rule(
    rf"q(?P<q>[1-4]){_QUARTER_OF}?(?!\s+of\s+the)",
    rf"{YEAR}\s*-?q(?P<q>[1-4])",
    rf"(?:the\s+)?(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th|last|final)\s+quarter{_QUARTER_OF}",
)
def _quarter(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    said = m.groupdict()
    quarter = int(m["q"]) if said.get("q") else ordinal(m["nth"]) % 5  # the last is the fourth

    def make(year: int) -> Period:
        return unit_of(dt.date(year, quarter * 3, 1), "quarter")

    yield from in_said_year(said_year(m, asked), asked, make)


@_rule(rf"(?:h(?P<h>[12])|(?:the\s+)?(?P<nth>first|second|1st|2nd|last)\s+half){_QUARTER_OF}")
def _half(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year = said_year(m, asked)
    assert year is not None, "the rule asks for one"
    if (m["h"] or m["nth"]).lower() in ("1", "first", "1st"):
        yield Period(dt.date(year, 1, 1), dt.date(year, 6, 30), "month", between=True)
    else:
        yield Period(dt.date(year, 7, 1), dt.date(year, 12, 31), "month", between=True)


@_rule(
    r"(?:the\s+)?(?P<a>\d{4}|\d\d)\s?(?P<mark>[-/\u2013])\s?(?P<b>\d{4}|\d\d)"
    rf"(?P<word>(?P<gap>(?:\s+{NO_GAP}[\w'.&-]+){{0,3}}?)\s+(?:season|campaign))?"
)
def _season_in_figures(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    a, b = int(m["a"]), int(m["b"])
    if (a + 1) % 100 != b % 100 or (len(m["b"]) == 4 and b != a + 1):
        return
    # "2022-2023" alone is a range of years, and "2011-12" a month's as well
    if not m["word"] and (len(m["a"]) == 2 or (m["mark"] != "/" and (len(m["b"]) == 4 or 1 <= b <= 12))):
        return
    year = a if len(m["a"]) == 4 else full_year(a, asked.today)
    yield replace(unit_of(dt.date(year, 7, 1), "season"), gap=gap_of(m))
