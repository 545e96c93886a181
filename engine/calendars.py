"""Calendars that questions take for granted: New York's trading days, and days that have a name.

The days off come from the package holidays, which is light and typed; what it does not list, such as Black Friday, is
reckoned here.
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from zoneinfo import ZoneInfo

import holidays

NEW_YORK = ZoneInfo("America/New_York")
_DAY = dt.timedelta(days=1)
_CLOSE, _EARLY_CLOSE = dt.time(16), dt.time(13)

# What people say -> the name in `holidays` (United States), for names that are not the same
_SAME = {
    "christmas": "christmas day",
    "xmas": "christmas day",
    "xmas day": "christmas day",
    "xmas eve": "christmas eve",
    "easter": "easter sunday",
    "easter day": "easter sunday",
    "fourth of july": "independence day",
    "4th of july": "independence day",
    "juneteenth": "juneteenth national independence day",
    "mlk day": "martin luther king jr day",
    "martin luther king day": "martin luther king jr day",
    "new years": "new years day",
    "presidents day": "washingtons birthday",
    "st patricks day": "saint patricks day",
    "thanksgiving": "thanksgiving day",
    "valentines": "valentines day",
}
_FIXED = {"april fools": (4, 1), "april fools day": (4, 1), "may day": (5, 1), "boxing day": (12, 26)}
_FIXED |= {"earth day": (4, 22), "cinco de mayo": (5, 5)}
# Days after another named day
_AFTER = {
    "black friday": ("thanksgiving", 1),
    "cyber monday": ("thanksgiving", 4),
    "easter monday": ("easter", 1),
    "palm sunday": ("easter", -7),
}

DAY_NAMES: frozenset[str] = frozenset(
    {*_SAME, *_SAME.values(), *_FIXED, *_AFTER, "good friday", "memorial day", "labor day", "columbus day"}
    | {"veterans day", "mothers day", "fathers day", "groundhog day", "new years eve", "election day"}
)


def named_day(name: str, year: int) -> dt.date | None:
    """Return the day called `name` in `year`; None where there was none yet.

    `name` is one of DAY_NAMES: lower case, no punctuation.

    >>> named_day("thanksgiving", 2023)
    datetime.date(2023, 11, 23)
    """
    if name in _FIXED:
        return dt.date(year, *_FIXED[name])
    if name in _AFTER:
        other, days = _AFTER[name]
        day = named_day(other, year)
        return day + days * _DAY if day else None
    return _american_days(year).get(_SAME.get(name, name))


@lru_cache(maxsize=64)
def _american_days(year: int) -> dict[str, dt.date]:
    days = holidays.country_holidays("US", years=[year], categories=("public", "unofficial"))
    # A day may have two names, joined by "; "
    names = ((name, day) for day, both in days.items() for name in both.split("; "))
    return {"".join(c for c in name.lower() if c.isalpha() or c == " "): day for name, day in names}


def trading_days(first: dt.date, last: dt.date) -> list[dt.date]:
    """Return the days from `first` to `last`, both included, on which the New York Stock Exchange trades."""
    return [day for n in range((last - first).days + 1) if is_trading_day(day := first + n * _DAY)]


def is_trading_day(day: dt.date) -> bool:
    """Return whether the New York Stock Exchange opens on `day`."""
    return day.weekday() < 5 and day not in _days_off(day.year)


def trading_day_before(day: dt.date) -> dt.date:
    """Return the nearest trading day before `day`."""
    day -= _DAY
    while not is_trading_day(day):
        day -= _DAY
    return day


def trading_day_after(day: dt.date) -> dt.date:
    """Return the nearest trading day after `day`."""
    day += _DAY
    while not is_trading_day(day):
        day += _DAY
    return day


def last_trading_day(now: dt.datetime) -> dt.date:
    """Return the last trading day that is over at `now`: the closing bell of its day has rung in New York."""
    there = now.astimezone(NEW_YORK)
    day = there.date()
    closes = _EARLY_CLOSE if day in _half_days(day.year) else _CLOSE
    return day if is_trading_day(day) and there.time() >= closes else trading_day_before(day)


@lru_cache(maxsize=64)
def _days_off(year: int) -> frozenset[dt.date]:
    return frozenset(holidays.financial_holidays("NYSE", years=[year]))


@lru_cache(maxsize=64)
def _half_days(year: int) -> frozenset[dt.date]:
    return frozenset(holidays.financial_holidays("NYSE", years=[year], categories=("half_day",)))
