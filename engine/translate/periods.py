"""The single expressions of time, such as "last week" or "march 9": which days each means to somebody who asks at a given moment.

The rules are our own because no library that was tried serves: dateparser, parsedatetime, recurrent, ctparse and timefhuman give one moment
where a question needs a range, and read "q1 2023" as a clock time or a day. `times` puts what is found here together.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from engine.calendars import DAY_NAMES, NEW_YORK, last_trading_day, named_day, trading_day_after, trading_day_before

Grain = Literal["minute", "day", "week", "month", "quarter", "season", "year", "decade"]

DAY = dt.timedelta(days=1)
NUMBERS = {
    "a": 1,
    "an": 1,
    "couple": 2,
    "couple of": 2,
    "few": 3,
    **{w: n for n, w in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)},
}
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_WEEKDAYS = "mon tue wed thu fri sat sun".split()
_UNITS: dict[str, tuple[Grain, int]] = {  # grain and, from the month on, months
    "day": ("day", 0),
    "week": ("week", 0),
    "month": ("month", 1),
    "quarter": ("quarter", 3),
    "season": ("season", 12),
    "year": ("year", 12),
    "decade": ("decade", 120),
}
# Prepositions that say how long, which tell "over the last year" from "the last year that ..."
_LONG = frozenset({"in", "over", "during", "within", "for", "throughout", "across"})
_ANY = frozenset(
    {"in", "on", "during", "at", "since", "before", "after", "until", "till", "by", "through", "over", "prior to"}
)
_ANY |= {"as of", "from", "around", "between", "up to", "throughout", "within", "following"}


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

    `between`: not a unit of the calendar; `weak`: may be no time at all without a preposition; `needs`: is none unless one of these
    prepositions stands before it; `in_year`: the same in another year, where none was said; `gap`: words inside that are not the time's.
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
RULES: list[tuple[re.Pattern[str], Rule]] = []


def _rule(*patterns: str) -> Callable[[Rule], Rule]:
    def keep(rule: Rule) -> Rule:
        RULES.extend((re.compile(rf"(?<![\w$.]){p}(?![\w%])", re.IGNORECASE), rule) for p in patterns)
        return rule

    return keep


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
    grain, months = _UNITS[unit]
    start = (day.year // 10 * 120) if unit == "decade" else (day.year * 12 + (day.month - 1) // months * months)
    first = dt.date(start // 12, start % 12 + 1, 1)
    return Period(first, step(first, unit, 1) - DAY, grain)


def step(day: dt.date, unit: str, n: int) -> dt.date:
    """Return `day` moved by `n` units; the 31st becomes the last day of a shorter month. Raises ValueError or OverflowError far away."""
    if unit in ("day", "week", "weekend"):
        return day + n * (1 if unit == "day" else 7) * DAY
    year, month = divmod(day.year * 12 + day.month - 1 + n * _UNITS[unit][1], 12)
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


def _month_of(word: str) -> int:
    return _MONTHS.index(word[:3].lower()) + 1


NUM = r"(?:\d{1,4}|couple(?:\s+of)?|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
WD = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_WD = r"(?:mon|tues?|weds?|thur?s?|fri|sat|sun)"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b(?:\.(?=\s*\d))?"
)
_THING = r"\s*(?:%|percent|million|billion|thousand|dollars|usd|people|employees|miles|km|points|feet|meters|votes|copies|shares)"
_YEAR = rf"(?P<year>(?:1[5-9]|20|21)\d\d)\b(?![.,]\d|{_THING}\b)"
_YEARISH = (
    rf"(?:{_YEAR}|['\u2019](?P<yy>\d\d)\b|(?:of\s+)?(?:the\s+)?(?P<which>this|last|next|previous|current)\s+year\b)"
)
_NTH_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b"
_ORD = {w: n for n, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)}
ORD = rf"(?:{'|'.join(_ORD)}|1st|2nd|3rd|[4-9]th|10th|last|final|penultimate)"
_BACK = {"last": -1, "past": -1, "previous": -1, "prior": -1, "this": 0, "current": 0, "the": 0}


def ordinal(word: str) -> int:
    """Return the place that `word` names: 1 for the first, -1 for the last."""
    word = word.lower()
    return {"last": -1, "final": -1, "penultimate": -2}.get(word) or _ORD.get(word) or int(word[:-2])


def _full(yy: int, today: dt.date) -> int:
    # Two digits are a year up to ten years ahead, else one of the century before
    return 2000 + yy if yy <= today.year % 100 + 10 else 1900 + yy


def _said_year(m: re.Match[str], asked: Asked) -> int | None:
    said = m.groupdict()
    if said.get("year"):
        return int(said["year"])
    if said.get("yy"):
        return _full(int(said["yy"]), asked.today)
    if which := said.get("which"):
        return asked.today.year + _BACK.get(which.lower(), 1)
    return None


def _in(year: int | None, asked: Asked, make: Callable[[int], Period], which: str | None = None) -> Iterator[Period]:
    """Yield the period of `year`; without one, the latest that has begun, or the next where the question looks ahead."""
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


@_rule(
    rf"(?:{WD},?\s+)?{_MONTH}\s*(?:the\s+)?{_NTH_DAY}(?!{_THING}|:|[-/]\d)(?:(?:,\s*|\s+)(?:of\s+|in\s+)?{_YEARISH})?",
    rf"(?<!top )(?:{WD},?\s+)?(?:the\s+)?{_NTH_DAY}(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]*(?:of\s+|in\s+)?{_YEARISH})?",
)
def _month_and_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    def make(year: int) -> Period:
        day = dt.date(year, _month_of(m["month"]), int(m["day"]))
        return Period(day, day, "day")

    for period in _in(_said_year(m, asked), asked, make):
        # "may 3 of them": the rest of the months are no verbs
        yield replace(period, weak=m["month"].lower() in ("may", "march") and period.weak)


_TO = r"\s*(?:-|\u2013|\u2014|to|and|until|till|through|thru)\s*(?:the\s+)?"
_NTH_DAY_2 = _NTH_DAY.replace("day", "day2")


@_rule(
    rf"{_MONTH}\s+(?:the\s+)?{_NTH_DAY}{_TO}{_NTH_DAY_2}(?!{_THING}|:)(?:(?:,\s*|\s+)(?:of\s+|in\s+)?{_YEARISH})?",
    rf"(?:the\s+)?{_NTH_DAY}{_TO}{_NTH_DAY_2}\s+(?:of\s+)?{_MONTH}(?:,?\s*(?:of\s+|in\s+)?{_YEARISH})?",
)
def _days_of_a_month(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    def make(year: int) -> Period:
        month = _month_of(m["month"])
        return Period(dt.date(year, month, int(m["day"])), dt.date(year, month, int(m["day2"])), "day", between=True)

    for period in _in(_said_year(m, asked), asked, make):
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
        year = _full(year, asked.today)
    if month > 12:  # the month comes first, as in America, unless it cannot
        month, day = day, month
    date = dt.date(year, month, day)
    yield Period(date, date, "day")


@_rule(r"(?!9/11)(?P<m>1[0-2]|0?[1-9])/(?P<d>[0-3]?\d)(?![/\d])")
def _in_figures_without_year(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    def make(year: int) -> Period:
        date = dt.date(year, int(m["m"]), int(m["d"]))
        return Period(date, date, "day", needs=_ANY - {"in", "at"})

    yield from _in(None, asked, make)


@_rule(
    rf"(?:the\s+month\s+of\s+)?{_MONTH},?\s*(?:of\s+|in\s+)?{_YEARISH}",
    rf"(?:the\s+month\s+of\s+)?(?:(?P<near>last|this|next|this\s+past|past)\s+)?{_MONTH}",
)
def _month(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    word = m["month"].lower()
    near = m.groupdict().get("near")
    bare = "year" not in m.groupdict() and near is None

    def make(year: int) -> Period:
        return unit_of(dt.date(year, _month_of(word), 1), "month")

    which = near.split()[-1].lower() if near else None
    for period in _in(_said_year(m, asked), asked, make, {"past": "last", "this": "this"}.get(which or "", which)):
        # "may", "dec" and "mar" are too often something else
        needs = _ANY | {"of"} if bare and (word == "may" or len(word) < 4) else None
        yield replace(period, weak=bare, needs=needs)


@_rule(r"(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![-\d])")
def _iso_month(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year, month = int(m["y"]), int(m["m"])
    if month == (year + 1) % 100:
        yield unit_of(dt.date(year, 7, 1), "season")
    yield unit_of(dt.date(year, month, 1), "month")


@_rule(rf"(?:the\s+)?(?:calendar\s+)?(?:year\s+)?{_YEAR}")
def _year(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year = int(m["year"])
    # "blade runner 2049"
    yield replace(unit_of(dt.date(year, 1, 1), "year"), weak=year > asked.today.year + 10)


_AGES = dict(
    zip(
        "twenties thirties forties fifties sixties seventies eighties nineties".split(), range(20, 100, 10), strict=True
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


_QUARTER_OF = rf"(?:,?\s*(?:of\s+|in\s+)?{_YEARISH})"


@_rule(
    rf"q(?P<q>[1-4]){_QUARTER_OF}?(?!\s+of\s+the)",
    rf"{_YEAR}\s*-?q(?P<q>[1-4])",
    rf"(?:the\s+)?(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th|last|final)\s+quarter{_QUARTER_OF}",
)
def _quarter(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    said = m.groupdict()
    quarter = int(m["q"]) if said.get("q") else ordinal(m["nth"]) % 5  # the last is the fourth

    def make(year: int) -> Period:
        return unit_of(dt.date(year, quarter * 3, 1), "quarter")

    yield from _in(_said_year(m, asked), asked, make)


@_rule(rf"(?:h(?P<h>[12])|(?:the\s+)?(?P<nth>first|second|1st|2nd|last)\s+half){_QUARTER_OF}")
def _half(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    year = _said_year(m, asked)
    assert year is not None, "the rule asks for one"
    if (m["h"] or m["nth"]).lower() in ("1", "first", "1st"):
        yield Period(dt.date(year, 1, 1), dt.date(year, 6, 30), "month", between=True)
    else:
        yield Period(dt.date(year, 7, 1), dt.date(year, 12, 31), "month", between=True)


_NO_GAP = r"(?!(?:last|this|next|in|on|the|of|for|and|or|a|did|has|have|during|is|was|were|tv|final)\b)"


@_rule(
    r"(?:the\s+)?(?P<a>\d{4}|\d\d)\s?(?P<mark>[-/\u2013])\s?(?P<b>\d{4}|\d\d)"
    rf"(?P<word>(?P<gap>(?:\s+{_NO_GAP}[\w'.&-]+){{0,3}}?)\s+(?:season|campaign))?"
)
def _season_in_figures(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    a, b = int(m["a"]), int(m["b"])
    if (a + 1) % 100 != b % 100 or (len(m["b"]) == 4 and b != a + 1):
        return
    # "2022-2023" alone is a range of years, and "2011-12" a month's as well
    if not m["word"] and (len(m["a"]) == 2 or (m["mark"] != "/" and (len(m["b"]) == 4 or 1 <= b <= 12))):
        return
    year = a if len(m["a"]) == 4 else _full(a, asked.today)
    yield replace(unit_of(dt.date(year, 7, 1), "season"), gap=_gap(m))


def _gap(m: re.Match[str]) -> tuple[int, int] | None:
    return (m.start("gap") + 1, m.end("gap")) if m["gap"] else None


@_rule(
    r"(?:the\s+)?(?P<near>this|last|next|current|previous|upcoming)"
    rf"(?P<gap>(?:\s+{_NO_GAP}[\w'.&-]+){{0,3}}?)\s+(?:season|campaign)(?!\s+(?:of|finale|premiere|\d))"
)
def _season(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    near = m["near"].lower()
    if m[0].lower().startswith("the last"):
        return  # "the last season" of a series
    yield replace(unit_of(step(asked.today, "season", _BACK.get(near, 1)), "season"), gap=_gap(m))


@_rule(
    r"(?:(?P<the>the)\s+)?(?P<near>last|past|this|next|previous|prior|current|coming|upcoming)\s+(?P<unit>week|month|quarter|year|decade)(?!\s+of)"
)
def _near(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    near, unit = m["near"].lower(), m["unit"].lower()
    today = asked.today
    grain = _UNITS[unit][0]
    rolling = Period(step(today, unit, -1), today, grain, between=True)
    if near == "past":
        yield rolling
        return
    whole = unit_of(step(today, unit, _BACK.get(near, 1)), unit)
    if near == "last" and m["the"]:
        yield replace(rolling, needs=_LONG)
        yield replace(whole, needs=_LONG)
        return
    yield whole
    if unit == "week" and today.weekday() == 6 and near in ("last", "this", "next"):
        # On a Sunday, those whose week begins with it mean another one
        yield unit_of(step(whole.first, "week", 1), "week")


@_rule(r"the\s+(?P<unit>week|month|quarter|year)(?!\s+of)")
def _the_unit(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    yield replace(unit_of(asked.today, m["unit"].lower()), needs=frozenset())  # only as in "the end of the year"


@_rule(r"(?:the\s+)?(?P<unit>week|month|year|weekend)\s+before\s+last")
def _before_last(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    unit = m["unit"].lower()
    yield unit_of(step(asked.today, unit, -2), unit)


@_rule(
    rf"(?:the\s+)?(?P<near>last|past|previous|prior|preceding|trailing|next|coming)\s+(?P<n>{NUM})[\s-]+"
    r"(?P<unit>hour|day|week|month|quarter|year|decade|season|(?:trading|business)\s+day)s?"
)
def _rolling(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    n, unit, today = number(m["n"]), m["unit"].lower(), asked.today
    if unit == "hour":
        n, unit = -(-n // 24), "day"
    if m["near"].lower() in ("next", "coming"):
        if " " not in unit:
            yield Period(today, step(today, unit, n), _UNITS[unit][0], between=True)
    elif " " in unit:
        first = last = last_trading_day(asked.now)
        for _ in range(min(n, 10_000) - 1):
            first = trading_day_before(first)
        yield Period(first, last, "day", between=True, trading=True)
    elif unit == "season":
        yield replace(unit_of(step(today, "season", 1 - n), "season"), last=today, between=True)
    else:
        yield Period(step(today, unit, -n), today, _UNITS[unit][0], between=True)


@_rule(
    rf"(?:exactly\s+)?(?:a\s+(?=couple|few))?(?P<n>{NUM})[\s-]+(?P<unit>day|week|month|year|decade)s?\s+ago(?P<today>\s+today)?"
)
def _ago(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    unit = m["unit"].lower()
    day = step(asked.today, unit, -number(m["n"]))
    exact, whole = unit_of(day, "day"), unit_of(day, unit)
    if unit == "day" or m["today"] or m[0].lower().startswith("exactly"):
        yield exact
    else:
        # A week ago means a day, five years ago the year
        yield from (exact, whole) if unit == "week" else (whole, exact)


_WORDS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1, "last night": -1}


@_rule(
    r"(?P<word>today|tonight|last\s+night)",
    r"(?P<word>yesterday|tomorrow)(?:\s+(?:morning|afternoon|evening|night))?",
    r"this\s+(?:morning|afternoon|evening)",
)
def _near_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    word = " ".join((m.groupdict().get("word") or "today").lower().split())
    yield unit_of(asked.today + _WORDS[word] * DAY, "day")


@_rule(r"the\s+other\s+(?:day|night|evening|week)")
def _other_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    days = 14 if m[0].lower().endswith("week") else 7
    yield Period(asked.today - days * DAY, asked.today - DAY, "day", between=True)


@_rule(r"(?:year|month|quarter|week)[\s-]+to[\s-]+date", "[ymq]td")
def _to_date(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    unit = {"y": "year", "m": "month", "q": "quarter", "w": "week"}[m[0][0].lower()]
    yield replace(unit_of(asked.today, unit), last=asked.today, between=True)


@_rule(r"(?:the\s+|this\s+)?(?P<near>last|past|previous|next|coming|upcoming|the|this)\s+weekend(?!\s+of)")
def _weekend(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    near, today = m["near"].lower(), asked.today
    this = unit_of(today, "weekend")
    if near == "this" or (near in ("next", "coming", "upcoming") and today.weekday() < 5 and near != "next"):
        yield this
    elif near in ("next", "coming", "upcoming"):
        yield unit_of(step(today, "weekend", 1), "weekend")
    elif near == "the" and (asked.future or today.weekday() >= 5):
        yield this
    else:
        yield unit_of(step(today, "weekend", -1), "weekend")


@_rule(
    rf"(?:(?:the\s+)?(?P<near>last|past|this\s+past|this|next|coming|previous)\s+)?(?P<wd>{WD})",
    rf"(?P<near>last|past|this\s+past|this|next|coming)\s+(?P<wd>{_SHORT_WD})",
)
def _weekday(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    near = m["near"].split()[-1].lower() if m["near"] else ""
    today, weekday = asked.today, weekday_of(m["wd"])
    in_this_week = today + (weekday - today.weekday()) * DAY
    before = in_this_week - 7 * DAY * (in_this_week >= today)
    ahead = in_this_week + 7 * DAY * (in_this_week <= today)
    if near == "this":
        days = [in_this_week]
    elif near in ("next", "coming"):
        # In the week after this one, or the nearest: people mean both
        days = [in_this_week + 7 * DAY, ahead] if near == "next" else [ahead]
    elif near in ("last", "previous"):
        days = [before, in_this_week - 7 * DAY]
    elif in_this_week == today:
        days = [ahead, today] if asked.future else [before, today]
    else:
        days = [ahead if asked.future else before]
    for day in dict.fromkeys(days):
        yield replace(unit_of(day, "day"), weak=not near)


@_rule(
    rf"(?P<wd>{WD})(?:\s+of)?\s+(?P<near>last|this|next)\s+week",
    rf"(?P<near>last|this|next)\s+week(?:['\u2019]s|\s+on)?\s+(?P<wd>{WD})",
)
def _weekday_of_week(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    monday = unit_of(step(asked.today, "week", _BACK.get(m["near"].lower(), 1)), "week").first
    yield unit_of(monday + weekday_of(m["wd"]) * DAY, "day")


def _spelled(name: str) -> str:
    # "new years eve" is also written "new year's eve"
    words = (
        re.sub(r"s$", "['\u2019]?s['\u2019]?", w) if w[-1] == "s" else w + r"\.?" * (w in ("st", "jr"))
        for w in name.split()
    )
    return r"\s+".join(words)


@_rule(
    rf"(?:(?P<near>last|this|next|this\s+past)\s+)?(?P<name>{'|'.join(map(_spelled, sorted(DAY_NAMES, key=len, reverse=True)))})"
    rf"(?:,?\s+(?:of\s+|in\s+)?{_YEARISH})?"
)
def _named_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    name = " ".join("".join(c for c in m["name"].lower() if c.isalnum() or c.isspace()).split())

    def make(year: int) -> Period:
        day = named_day(name, year)
        if day is None:
            raise ValueError(f"{year} had no {name}")
        return unit_of(day, "day")

    near = m["near"].split()[-1].lower() if m["near"] else None
    yield from _in(_said_year(m, asked), asked, make, "last" if near == "past" else near)


@_rule(
    r"(?:the\s+)?(?P<near>last|latest|most\s+recent|previous|prior|next)\s+(?:full\s+)?(?:trading|business|market)\s+(?:day|session)(?!\s+(?:of|in|before|after))"
)
def _trading_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    last = last_trading_day(asked.now)
    if m["near"].lower() == "next":
        last = trading_day_after(asked.now.astimezone(NEW_YORK).date())
    elif m["near"].lower() in ("previous", "prior"):
        last = min(last, trading_day_before(asked.now.astimezone(NEW_YORK).date()))
    yield replace(unit_of(last, "day"), trading=True)


ZONES = {
    "e": "America/New_York",
    "n": "America/New_York",
    "c": "America/Chicago",
    "m": "America/Denver",
    "p": "America/Los_Angeles",
    "u": "UTC",
    "g": "UTC",
    "l": "Europe/London",
}
_ZONE = r"(?:\s*\(?(?P<zone>e[sd]?t|c[sd]?t|m[sd]?t|p[sd]?t|eastern|central|mountain|pacific|new\s+york|utc|gmt|london)(?:\s+(?:standard\s+|daylight\s+)?time)?\b\)?)"
_PART = r"\s+in\s+the\s+(?P<part>morning|afternoon|evening)"


@_rule(
    rf"(?P<h>[01]?\d)(?::(?P<min>[0-5]\d))?(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b)\.?{_ZONE}?",
    rf"(?P<h>[01]?\d)(?::(?P<min>[0-5]\d))?(?:\s+o['\u2019]?clock)?{_PART}{_ZONE}?",
    rf"(?P<h>[0-2]?\d):(?P<min>[0-5]\d)(?::[0-5]\d)?{_ZONE}?",
    rf"(?P<noon>noon|midday|midnight){_ZONE}?",
)
def _clock(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    said = m.groupdict()
    half = (said.get("half") or said.get("part") or "").lower()[:1]
    if said.get("noon"):
        at = dt.time(0 if m["noon"].lower() == "midnight" else 12)
    else:
        hour = int(m["h"])
        hour = hour % 12 + 12 * (half in ("p", "e") or (half == "a" and bool(said.get("part")))) if half else hour
        at = dt.time(hour, int(said.get("min") or 0))
    sure = half or m["zone"]
    zone = ZONES[m["zone"][0].lower()] if m["zone"] else ""
    yield Period(
        asked.today,
        asked.today,
        "minute",
        at=at,
        zone=zone,
        needs=None if sure else frozenset({"at", "by", "around", "before", "after", "since"}),
    )
