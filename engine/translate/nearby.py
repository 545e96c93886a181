"""Times by their distance from now: "yesterday", "last week", "on friday", "the last trading day". And clock times."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace

from engine.calendars import DAY_NAMES, NEW_YORK, last_trading_day, named_day, trading_day_after, trading_day_before

from .periods import (
    BACK,
    DAY,
    LONG,
    NO_GAP,
    NUM,
    UNITS,
    WD,
    YEARISH,
    Asked,
    Period,
    Rules,
    gap_of,
    in_said_year,
    into,
    number,
    said_year,
    step,
    unit_of,
    weekday_of,
)

RULES: Rules = []
_rule = into(RULES)

_SHORT_WD = r"(?:mon|tues?|weds?|thur?s?|fri|sat|sun)"


@_rule(
    r"(?:the\s+)?(?P<near>this|last|next|current|previous|upcoming)"
    rf"(?P<gap>(?:\s+{NO_GAP}[\w'.&-]+){{0,3}}?)\s+(?:(?:post|pre)?-?season|campaign|playoffs)(?!\s+(?:of|finale|premiere|\d))"
)
def _season(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    near = m["near"].lower()
    if m[0].lower().startswith("the last"):
        return  # "the last season" of a series
    yield replace(unit_of(step(asked.today, "season", BACK.get(near, 1)), "season"), gap=gap_of(m))


@_rule(
    r"(?:(?P<the>the)\s+|this\s+(?=past))?(?P<near>last|past|this|next|previous|prior|current|coming|upcoming)\s+(?P<unit>week|month|quarter|year|decade)(?!\s+of)"
)
def _near(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    near, unit = m["near"].lower(), m["unit"].lower()
    today = asked.today
    grain = UNITS[unit][0]
    rolling = Period(step(today, unit, -1), today, grain, between=True)
    if near == "past":
        yield rolling
        return
    whole = unit_of(step(today, unit, BACK.get(near, 1)), unit)
    if near == "last" and m["the"]:
        yield replace(rolling, needs=LONG)
        yield replace(whole, needs=LONG)
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


@_rule(rf"(?:the\s+)?(?P<wd>{WD})\s+before\s+last")
def _weekday_before_last(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    latest = asked.today - ((asked.today.weekday() - weekday_of(m["wd"]) - 1) % 7 + 1) * DAY
    yield unit_of(latest - 7 * DAY, "day")


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
            yield Period(today, step(today, unit, n), UNITS[unit][0], between=True)
    elif " " in unit:
        first = last = last_trading_day(asked.now)
        for _ in range(min(n, 10_000) - 1):
            first = trading_day_before(first)
        yield Period(first, last, "day", between=True, trading=True)
    elif unit == "season":
        yield replace(unit_of(step(today, "season", 1 - n), "season"), last=today, between=True)
    else:
        yield Period(step(today, unit, -n), today, UNITS[unit][0], between=True)


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
    monday = unit_of(step(asked.today, "week", BACK.get(m["near"].lower(), 1)), "week").first
    yield unit_of(monday + weekday_of(m["wd"]) * DAY, "day")


def _spelled(name: str) -> str:
    # "new years eve" is also written "new year's eve"
    words = (
        re.sub(r"s$", "['\u2019]?s['\u2019]?", w) if w[-1] == "s" else w + r"\.?" * (w in ("st", "jr"))
        for w in name.split()
    )
    return r"\s+".join(words)


_NAMES = "|".join(map(_spelled, sorted(DAY_NAMES, key=len, reverse=True)))


@_rule(
    rf"(?:(?P<near>last|this|next|this\s+past)\s+)?(?P<name>{_NAMES})"
    rf"(?:,?\s+(?:of\s+|in\s+)?{YEARISH})?"
)
def _named_day(m: re.Match[str], asked: Asked) -> Iterator[Period]:
    name = " ".join("".join(c for c in m["name"].lower() if c.isalnum() or c.isspace()).split())

    def make(year: int) -> Period:
        day = named_day(name, year)
        if day is None:
            raise ValueError(f"{year} had no {name}")
        return unit_of(day, "day")

    near = m["near"].split()[-1].lower() if m["near"] else None
    yield from in_said_year(said_year(m, asked), asked, make, "last" if near == "past" else near)


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
_ZONE = (
    r"(?:\s*\(?(?P<zone>e[sd]?t|c[sd]?t|m[sd]?t|p[sd]?t|eastern|central|mountain|pacific|new\s+york|utc|gmt|london)"
    r"(?:\s+(?:standard\s+|daylight\s+)?time)?\b\)?)"
)
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
