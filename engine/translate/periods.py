"""What the readers of times share: days in units of the calendar, the words for them, and when a question was asked.

The rules in `dates` and `nearby` are our own because no library that was tried serves: dateparser, parsedatetime,
recurrent, ctparse and timefhuman give one moment where a question needs a range, and take "q1 2023" for a clock time,
a day or a month. `times` puts what the rules find together.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

Grain = Literal["minute", "day", "week", "month", "quarter", "season", "year", "decade"]

DAY = dt.timedelta(days=1)
NUMBERS = {
    "a": 1,
    "an": 1,
    "couple": 2,
    "couple of": 2,
    "few": 3,
    **{
        w: n
        for n, w in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
        )
    },
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
UNITS: dict[str, tuple[Grain, int]] = {  # grain and, from the month on, months
    "day": ("day", 0),
    "week": ("week", 0),
    "month": ("month", 1),
    "quarter": ("quarter", 3),
    "season": ("season", 12),
    "year": ("year", 12),
    "decade": ("decade", 120),
}
# Prepositions that say how long, which tell "over the last year" from "the last year that ..."
LONG = frozenset({"in", "over", "during", "within", "for", "throughout", "across"})
ANY = frozenset(
    {"in", "on", "during", "at", "since", "before", "after", "until", "till", "by", "through", "over", "prior to"}
)
ANY |= {"as of", "from", "around", "between", "up to", "throughout", "within", "following"}


@dataclass(frozen=True)
class Asked:
    """When a question was asked, and whether it looks ahead."""

    now: dt.datetime
    future: bool = False

    @property
    def today(self) -> dt.date:
        return self.now.date()


@dataclass(frozen=True)
class Period:
    """Days from `first` to `last`, both included.

    `between`: not a unit of the calendar; `weak`: may be no time at all without a preposition; `needs`: is none unless
    one of these prepositions stands before it; `in_year`: the same in another year, where none was said; `gap`: words
    inside that are not the time's.
    """

    first: dt.date
    last: dt.date
    grain: Grain
    between: bool = False
    weak: bool = False
    needs: frozenset[str] | None = None
    trading: bool = False
    at: dt.time | None = None
    zone: str = ""
    gap: tuple[int, int] | None = None
    in_year: Callable[[int], Period] | None = None


Rule = Callable[[re.Match[str], Asked], Iterator[Period]]
Rules = list[tuple[re.Pattern[str], Rule]]


def into(rules: Rules) -> Callable[..., Callable[[Rule], Rule]]:
    """Return a decorator that keeps a rule with its patterns in `rules`."""

    def matching(*patterns: str) -> Callable[[Rule], Rule]:
        def keep(rule: Rule) -> Rule:
            rules.extend((re.compile(rf"(?<![\w$.]){p}(?![\w%])", re.IGNORECASE), rule) for p in patterns)
            return rule

        return keep

    return matching


def unit_of(day: dt.date, unit: str) -> Period:
    """Return the unit of the calendar that `day` lies in. Weeks begin on Monday, seasons on July 1."""
    match unit:
        case "day":
            return Period(day, day, "day")
        case "week":
            monday = day - day.weekday() * DAY
            return Period(monday, monday + 6 * DAY, "week")
        case "weekend":
            saturday = day + (5 - day.weekday()) * DAY
            return Period(saturday, saturday + DAY, "day")
        case "season":
            year = day.year - (day.month < 7)
            return Period(dt.date(year, 7, 1), dt.date(year + 1, 6, 30), "season")
    grain, months = UNITS[unit]
    start = (day.year // 10 * 120) if unit == "decade" else (day.year * 12 + (day.month - 1) // months * months)
    first = dt.date(start // 12, start % 12 + 1, 1)
    return Period(first, step(first, unit, 1) - DAY, grain)


def step(day: dt.date, unit: str, n: int) -> dt.date:
    """Return `day` moved by `n` units; the 31st becomes the last day of a shorter month.

    Raises ValueError or OverflowError where the calendar ends.
    """
    if unit in ("day", "week", "weekend"):
        return day + n * (1 if unit == "day" else 7) * DAY
    year, month = divmod(day.year * 12 + day.month - 1 + n * UNITS[unit][1], 12)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise ValueError(f"year {year} is out of range")
    return dt.date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def number(word: str) -> int:
    """Return the number that `word` writes, in digits or letters."""
    word = " ".join(word.lower().split())
    return int(word) if word.isdigit() else NUMBERS[word]


def weekday_of(word: str) -> int:
    """Return the weekday called `word`, Monday being 0."""
    return _WEEKDAYS.index(word[:3].lower())


def month_of(word: str) -> int:
    return _MONTHS.index(word[:3].lower()) + 1


NUM = r"(?:\d{1,4}|couple(?:\s+of)?|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
WD = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b(?:\.(?=\s*\d))?"
)
THING = (
    r"\s*(?:%|percent|million|billion|thousand|dollars|usd|people|employees|miles|km|points|feet|meters|votes|copies"
    r"|shares)"
)
YEAR = rf"(?P<year>(?:1[5-9]|20|21)\d\d)\b(?![.,]\d|{THING}\b)"
YEARISH = (
    rf"(?:{YEAR}|['\u2019](?P<yy>\d\d)\b|(?:of\s+)?(?:the\s+)?(?P<which>this|last|next|previous|current)\s+year\b)"
)
_ORD = {
    w: n
    for n, w in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
ORD = rf"(?:{'|'.join(_ORD)}|1st|2nd|3rd|[4-9]th|10th|last|final|penultimate)"
BACK = {"last": -1, "past": -1, "previous": -1, "prior": -1, "this": 0, "current": 0, "the": 0}


def ordinal(word: str) -> int:
    """Return the place that `word` names: 1 for the first, -1 for the last."""
    word = word.lower()
    return {"last": -1, "final": -1, "penultimate": -2}.get(word) or _ORD.get(word) or int(word[:-2])


def full_year(yy: int, today: dt.date) -> int:
    # Two digits are a year up to ten years ahead, else one of the century before
    return 2000 + yy if yy <= today.year % 100 + 10 else 1900 + yy


def said_year(m: re.Match[str], asked: Asked) -> int | None:
    said = m.groupdict()
    if said.get("year"):
        return int(said["year"])
    if said.get("yy"):
        return full_year(int(said["yy"]), asked.today)
    if which := said.get("which"):
        return asked.today.year + BACK.get(which.lower(), 1)
    return None


def in_said_year(
    year: int | None, asked: Asked, make: Callable[[int], Period], which: str | None = None
) -> Iterator[Period]:
    """Yield the period of `year`; without one, the latest that has begun, or the next if the question looks ahead."""
    if year is not None:
        yield make(year)
        return
    today, this = asked.today, asked.today.year
    ahead = which in ("next", "coming", "upcoming") or (asked.future and which != "last")
    for n in range(10):  # February 29 may be eight years away
        try:
            period = make(this + n if ahead else this - n)
        except ValueError:
            continue
        if period.last > today if ahead and which else period.last >= today if ahead else period.first <= today:
            if which == "last" and period.last >= today:
                continue
            yield replace(period, in_year=make, weak=which is None)
            return
    raise ValueError("no year has such a day")


NO_GAP = r"(?!(?:last|this|next|in|on|the|of|for|and|or|a|did|has|have|during|is|was|were|tv|final)\b)"


def gap_of(m: re.Match[str]) -> tuple[int, int] | None:
    """Return where the words inside `m` are that are not the time's."""
    return (m.start("gap") + 1, m.end("gap")) if m["gap"] else None
