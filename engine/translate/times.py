"""The times a question names, as ranges of days. `now` is an argument: nothing here looks at a clock.

>>> from engine.clock import moment_of
>>> [span] = times("who won the game on the day before yesterday", moment_of("03/10/2024, 12:00:00 PT"))
>>> span.first, span.last, span.grain
(datetime.date(2024, 3, 8), datetime.date(2024, 3, 8), 'day')

Superlatives without a unit of the calendar ("the latest film", "his last game") are no times.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal
from zoneinfo import ZoneInfo

from engine.calendars import NEW_YORK, trading_day_after, trading_day_before, trading_days

from . import dates, nearby
from .periods import DAY, NUM, ORD, WD, Asked, Grain, Period, number, ordinal, step, unit_of, weekday_of

Kind = Literal["on", "since", "after", "before", "until", "between"]


@dataclass(frozen=True)
class Span:
    """Words that name a time, and the days they mean.

    `start` and `end` are offsets of the words without their preposition, which begins at `prep_start` (`start` where
    there is none). `first` and `last` are included; None is an open side. Kind `between` is a range that is no unit of
    the calendar. `at` is New York's clock. `trading`: counted on the exchange's calendar. `weak`: the words may name
    something else, such as a title or a verb. `gap`: words inside that are not the time's ("this bundesliga season").
    """

    start: int
    end: int
    prep_start: int
    first: dt.date | None
    last: dt.date | None
    grain: Grain
    kind: Kind
    at: dt.time | None = None
    trading: bool = False
    weak: bool = False
    gap: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    period: Period
    prep_start: int | None = None  # where it is known already: "between", "from"


_AHEAD = re.compile(r"\b(?:will|won't|upcoming|going\s+to|scheduled|shall)\b", re.IGNORECASE)


def times(text: str, now: dt.datetime, zone: str | None = None) -> list[Span]:
    """Return the times `text` names, in its order; the same words twice where they mean two things, the likelier first.

    Days are those of the zone of `now`, or of `zone` (such as "America/New_York"). A day without a year is the latest
    that has come, or the next where the question speaks of the future.
    """
    if zone is not None:
        now = now.astimezone(ZoneInfo(zone))
    found = _uncovered(_single(text, Asked(now, bool(_AHEAD.search(text)))))
    if not found:
        return []
    for _ in range(3):  # "the day after the last trading day of last week"
        more = [f for f in _grown(text, found, now.date()) if f not in found]
        if not more:
            break
        found += more
    found += list(_clocked(text, found))
    found += list(_ranges(text, found, now.date()))
    spans = (_span(text, f) for f in _dated(text, _longest(found)))
    return [s for s in spans if s is not None]


def _single(text: str, asked: Asked) -> list[_Found]:
    found, impossible = [], []
    for pattern, rule in (*dates.RULES, *nearby.RULES):
        for m in pattern.finditer(text):
            try:
                found += [_Found(m.start(), m.end(), period) for period in rule(m, asked)]
            except (ValueError, OverflowError):  # February 30, or five thousand years ago
                impossible.append(m)
    return [f for f in found if not any(m.start() <= f.start and f.end <= m.end() for m in impossible)]


def _uncovered(found: list[_Found]) -> list[_Found]:
    # "march" in "march 8" is not to become "the close of march"
    sure = [f for f in found if f.period.needs is None]
    return [
        f
        for f in found
        if not any(o.start <= f.start and f.end <= o.end and o.end - o.start > f.end - f.start for o in sure)
    ]


Grow = Callable[[re.Match[str], Period, dt.date], Period | None]
_GROW: list[tuple[re.Pattern[str], Grow]] = []
_TRADING = r"(?:trading|business|market)\s+(?:day|session)"


def _grow(pattern: str) -> Callable[[Grow], Grow]:
    def keep(rule: Grow) -> Grow:
        _GROW.append((re.compile(rf"\b{pattern}$", re.IGNORECASE), rule))
        return rule

    return keep


def _day(day: dt.date, *, trading: bool = False) -> Period:
    return replace(unit_of(day, "day"), trading=trading)


@_grow(rf"(?:the\s+)?(?P<nth>{ORD})\s+(?:{_TRADING}|clos(?:e|ing)|open(?:ing)?)(?:\s+price)?\s+(?:of|in|for|during)\s+")
def _nth_trading_day(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    days = trading_days(of.first, of.last)
    nth = ordinal(m["nth"])
    if of.grain == "day" and not of.between:
        return None
    return _day(days[nth - (nth > 0)], trading=True) if abs(nth) <= len(days) else None


@_grow(r"(?:(?:at|by|until|since)\s+the|the\s+final)\s+clos(?:e|ing)\s+of\s+")
def _close(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    if of.grain in ("day", "minute") or of.between:  # "the close of march 8" is a price
        return None
    days = trading_days(of.first, of.last)
    return _day(days[-1], trading=True) if days else None


@_grow(
    rf"(?:the\s+)?(?:(?P<nth>{ORD})\s+(?P<unit>day|week|weekend|month|quarter)|(?P<n1>first|last)\s+(?P<n>{NUM})\s+(?P<units>day|week|month|quarter|year)s)\s+(?:of|in)\s+"
)
def _part(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    unit = (m["unit"] or m["units"]).lower()
    if unit == "weekend":
        return _nth_weekday(of, 5, ordinal(m["nth"]), 2)
    if m["n"]:
        n = number(m["n"])
        edge = (
            (of.first, step(of.first, unit, n) - DAY)
            if m["n1"].lower() == "first"
            else (step(of.last + DAY, unit, -n), of.last)
        )
    elif (nth := ordinal(m["nth"])) > 0:
        edge = step(of.first, unit, nth - 1), step(of.first, unit, nth) - DAY
    else:
        edge = step(of.last + DAY, unit, nth), step(of.last + DAY, unit, nth + 1) - DAY
    if edge[0] < of.first or edge[1] > of.last or of.grain == unit:
        return None
    grain = unit_of(edge[0], unit).grain
    return Period(*edge, grain, between=bool(m["n"]))


@_grow(rf"(?:the\s+)?(?P<nth>{ORD})\s+(?P<wd>{WD})\s+(?:of|in)\s+")
def _nth_weekday_of(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    return _nth_weekday(of, weekday_of(m["wd"]), ordinal(m["nth"]), 1)


def _nth_weekday(of: Period, weekday: int, nth: int, days: int) -> Period | None:
    first = of.first + (weekday - of.first.weekday()) % 7 * DAY
    all_of_them = range((of.last - first).days // 7 + 1)
    if not -len(all_of_them) <= nth - (nth > 0) < len(all_of_them):
        return None
    day = first + 7 * all_of_them[nth - (nth > 0)] * DAY
    return Period(day, day + (days - 1) * DAY, "day")


@_grow(r"(?:the\s+)?(?:very\s+)?(?P<edge>start|beginning|end)\s+of\s+")
def _edge(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    if of.grain in ("day", "minute"):
        return None
    return _day(of.last if m["edge"].lower() == "end" else of.first)


@_grow(r"(?:the\s+)?week(?P<end>end)?\s+(?:of|ending|starting|beginning)\s+")
def _week_of(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    return unit_of(of.first, "weekend" if m["end"] else "week") if of.grain == "day" else None


@_grow(
    rf"(?:the\s+(?:last\s+|first\s+|next\s+)?|(?P<n>{NUM})\s+)(?P<unit>{_TRADING}|day|week|month|quarter|year)s?\s+(?:right\s+|just\s+|immediately\s+)?"
    r"(?P<side>before|after|prior\s+to|preceding|following)\s+"
)
def _beside(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    later, n, unit = m["side"].lower() in ("after", "following"), number(m["n"] or "one"), m["unit"].lower()
    if not m["n"] and re.search(r"s\s+\w+\s+(?:to\s+)?$", m[0]):
        return None  # "the days before"
    edge = of.last if later else of.first
    if " " in unit:
        for _ in range(min(n, 10_000)):
            edge = trading_day_after(edge) if later else trading_day_before(edge)
        return _day(edge, trading=True)
    if unit == "day" or m["n"]:
        return _day(step(edge, unit, n if later else -n))
    if of.grain == unit:
        return unit_of(step(edge, unit, 1 if later else -1), unit)
    grain = unit_of(edge, unit).grain
    if later:
        return Period(edge + DAY, step(edge, unit, 1), grain, between=True)
    return Period(step(edge, unit, -1), edge - DAY, grain, between=True)


@_grow(r"(?:so\s+far|(?:year|month|quarter)[\s-]+to[\s-]+date)\s+(?:in\s+|during\s+|for\s+)?")
def _so_far_before(m: re.Match[str], of: Period, today: dt.date) -> Period | None:
    return replace(of, last=min(of.last, today), between=True) if of.first <= today else None


_SO_FAR = re.compile(
    r"\s+(?:so\s+far|to\s+date|up\s+(?:to|until)\s+(?:today|now)|(?:un)?till?\s+(?:now|today))\b", re.IGNORECASE
)
_TO_NOW = re.compile(
    r"\s*(?:-|to|until|till|through|up\s+to)\s*(?:the\s+)?(?:present|now|date)(?:\s+day)?\b", re.IGNORECASE
)
_ONWARD = re.compile(r"\s+(?:on|onwards?|and\s+(?:later|after|onwards?)|or\s+later)\b(?!\s+(?:the|a)\b)", re.IGNORECASE)


def _grown(text: str, found: list[_Found], today: dt.date) -> Iterator[_Found]:
    for f in found:
        period = replace(f.period, needs=None, weak=False, in_year=None)
        if period.grain == "minute":
            continue
        for pattern, rule in _GROW:
            if m := pattern.search(text, 0, f.start):
                try:
                    grown = rule(m, period, today)
                except (ValueError, OverflowError):
                    continue
                if grown is not None:
                    yield _Found(m.start(), f.end, grown)
        if (m := _SO_FAR.match(text, f.end)) and period.first <= today:
            yield _Found(f.start, m.end(), replace(period, last=min(period.last, today), between=True))


_AT = re.compile(r",?\s*(?:at|@|by|around)?\s*(?:about\s+)?", re.IGNORECASE)
_ON = re.compile(r",?\s*(?:on|of)?\s*", re.IGNORECASE)


def _clocked(text: str, found: list[_Found]) -> Iterator[_Found]:
    """Yield days together with the clock times beside them."""
    clocks = [f for f in found if f.period.at is not None]
    for clock in clocks:
        for day in found:
            p = day.period
            if p.grain != "day" or p.first != p.last or p.needs is not None:
                continue
            joined = replace(p, grain="minute", at=clock.period.at, zone=clock.period.zone, weak=False)
            if _AT.fullmatch(text, day.end, clock.start) and day.end < clock.start:
                yield _Found(day.start, clock.end, joined)
            elif _ON.fullmatch(text, clock.end, day.start) and clock.end < day.start:
                yield _Found(clock.start, day.end, joined)


_BETWEEN = re.compile(r"(?<!difference )(?<!differ )(?<!ratio )\bbetween\s+(?:the\s+years?\s+)?$", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|starting(?:\s+(?:on|in|from))?)\s+(?:the\s+years?\s+)?$", re.IGNORECASE)
_TO = re.compile(r"\s*(?:-|\u2013|\u2014|to|until|till|through|thru|up\s+to)\s*", re.IGNORECASE)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)


def _ranges(text: str, found: list[_Found], today: dt.date) -> Iterator[_Found]:
    """Yield "between a and b" and "from a to b" of the times `found`."""
    compares = re.search(r"\bcompar", text, re.IGNORECASE)
    for a in found:
        if a.period.grain == "minute":
            continue
        between, since = _BETWEEN.search(text, 0, a.start), _FROM.search(text, 0, a.start)
        begins = between or since
        if a.period.between and begins:
            # "between february 20 and 28" was read at once
            yield replace(a, prep_start=begins.start())
        if since and (m := _TO_NOW.match(text, a.end)):
            yield _Found(a.start, m.end(), Period(a.period.first, today, a.period.grain, between=True), since.start())
        for b in found:
            if b.start < a.end or b.period.grain == "minute":
                continue
            if not (_TO.fullmatch(text, a.end, b.start) and (begins or not compares)) and not (
                between and _AND.fullmatch(text, a.end, b.start)
            ):
                continue
            one, other = _same_year(a.period, b.period)
            if one.first <= other.last:
                coarser = one.grain if one.grain == other.grain else "day"
                joined = Period(one.first, other.last, coarser, between=True, trading=one.trading and other.trading)
                yield _Found(a.start, b.end, joined, begins.start() if begins else None)


def _same_year(a: Period, b: Period) -> tuple[Period, Period]:
    """Return both, the one without a year in the year of the other, or in the latest that puts them in order."""
    try:
        if a.in_year and (b.in_year is None or a.first > b.first):
            same = a.in_year(b.first.year)
            a = same if same.first <= b.last else a.in_year(b.first.year - 1)
        elif b.in_year and a.in_year is None:
            same = b.in_year(a.first.year)
            b = same if a.first <= same.last else b.in_year(a.first.year + 1)
    except ValueError:
        pass
    return a, b


def _dated(text: str, found: list[_Found]) -> list[_Found]:
    """Put a day without a year into the year right before it: "the last week of 2005 (december 31)"."""
    out = []
    for f in found:
        for year in found:
            beside = text[year.end : f.start].strip(" ,-") == "(" and year.period.grain == "year"
            if beside and f.period.in_year is not None:
                try:
                    f = replace(f, period=f.period.in_year(year.period.first.year))
                except ValueError:  # February 29
                    break
        out.append(f)
    return out


def _longest(found: list[_Found]) -> list[_Found]:
    """Return those that overlap no longer one, by place; readings of the same words stay in their order."""
    taken: list[_Found] = []
    for f in sorted(found, key=lambda f: (f.start - f.end, f.prep_start is None)):
        if all(f.end <= t.start or t.end <= f.start or (f.start, f.end) == (t.start, t.end) for t in taken):
            same = [t for t in taken if (f.start, f.end) == (t.start, t.end)]
            if not any((t.period.first, t.period.last) == (f.period.first, f.period.last) for t in same):
                taken.append(f)
    return sorted(taken, key=lambda f: f.start)


_SINCE = ("since", "starting", "beginning", "starting in", "starting from")
_UNTIL = ("until", "till", "up to", "up until", "through", "by", "as of", "no later than", "as at")
_ON_PREPS = ("in", "on", "during", "at", "over", "within", "throughout", "across", "for", "from", "of", "around")
_KINDS: dict[str, Kind] = {}
_KINDS |= dict.fromkeys(_SINCE, "since")
_KINDS |= dict.fromkeys(_UNTIL, "until")
_KINDS |= {
    "after": "after",
    "following": "after",
    "later than": "after",
    "before": "before",
    "prior to": "before",
    "earlier than": "before",
}
_KINDS |= dict.fromkeys(_ON_PREPS, "on")
_PREP = re.compile(
    r"\b(?P<prep>"
    + "|".join(sorted(_KINDS, key=len, reverse=True)).replace(" ", r"\s+")
    + r")(?:\s+the\s+years?)?\s+$",
    re.IGNORECASE,
)


def _span(text: str, f: _Found) -> Span | None:
    p = f.period
    m = _PREP.search(text, 0, f.start)
    prep = " ".join(m["prep"].lower().split()) if m else ""
    if p.needs is not None and prep not in p.needs:
        return None
    kind: Kind = "between" if p.between else _KINDS.get(prep, "on")
    end = f.end
    if kind == "on" and prep in ("in", "from") and (onward := _ONWARD.match(text, end)):
        kind, end = "since", onward.end()
    first, last, at = p.first, p.last, p.at
    if at is not None and p.zone:
        there = dt.datetime.combine(first, at, tzinfo=ZoneInfo(p.zone)).astimezone(NEW_YORK)
        first = last = there.date()
        at = there.time()
    sides: dict[Kind, tuple[dt.date | None, dt.date | None]] = {
        "since": (first, None),
        "after": (last + DAY, None),
        "before": (None, first - DAY),
        "until": (None, last),
    }
    opened = sides.get(kind, (first, last))
    prep_start = f.prep_start if f.prep_start is not None else m.start() if m else f.start
    # Nobody says "in friday" of the day
    weak = p.weak and (prep in ("", "of", "for", "from") or (prep == "in" and p.grain == "day"))
    return Span(f.start, end, prep_start, *opened, p.grain, kind, at, p.trading, weak, p.gap)
