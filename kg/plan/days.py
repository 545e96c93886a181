"""Which days a DATE can be, and what an API is asked for so that all of them come: each day, or the fewest periods.

Of an argument that takes a year, a month or a day ("2024", "2024-03", "2024-03-09") one call for each year is enough,
with the smallest period that holds all days of that year; fewer calls cannot do.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kg.domain import Column
from kg.plan.bindings import Facts, Ref
from kg.plan.inputs import MAX_RANGE, Limits, above, below, constants

Span = tuple[dt.date | None, dt.date | None]  # first and last day; None: open
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


def days_of(known: Facts, ref: Ref, column: Column, years: Iterable[tuple[Ref, Column]]) -> list[Span] | None:
    """The days that the DATE `ref` can be; None if nothing bounds them. `years` are the columns that hold its year."""
    found: list[Span] = [(None, None)]
    values = constants(known, ref, column)
    if values is not None:
        found = single_days(values)
    for bounds in ([known.ranges[ref]] if ref in known.ranges else [], *known.spans.get(ref, ())):
        if bounds:
            found = _meet(found, [(_day(r.low), _day(r.high)) for r in bounds])
    for year, declared in years:
        numbers = constants(known, year, declared)
        if numbers is not None:
            found = _meet(found, [(_january(n), _december(n)) for n in numbers])
        elif (r := known.ranges.get(year)) is not None:
            found = _meet(found, [(_january(above(r.low)), _december(below(r.high)))])
    return None if (None, None) in found else found


def single_days(values: Iterable[Any]) -> list[Span]:
    """The days of ISO dates."""
    return [(day, day) for v in values if (day := _day(v)) is not None]


def clip(spans: Sequence[Span], limits: Limits | None) -> tuple[list[Span], bool]:
    """`spans` within the years that the API takes, and whether that cut off days that were named.

    An open end ends with the limits: what the API has is what was asked for.
    """
    if limits is None:
        return list(spans), False
    first, last = _january(limits[0]), _december(limits[1])
    assert first is not None
    assert last is not None
    inside = _meet(spans, [(first, last)])
    cut = any((low is not None and low < first) or (high is not None and high > last) for low, high in spans)
    return inside, cut or (bool(spans) and not inside)


def each_day(spans: Sequence[Span]) -> tuple[str, ...] | None:
    """Every day of `spans`; None if they are open or too many."""
    days: dict[str, None] = {}
    for low, high in spans:
        if low is None or high is None or (high - low).days + len(days) >= MAX_RANGE:
            return None
        days.update(dict.fromkeys((low + dt.timedelta(n)).isoformat() for n in range((high - low).days + 1)))
    return tuple(days)


def periods(spans: Sequence[Span]) -> tuple[str, ...] | None:
    """The fewest years, months and days that hold `spans`, and of these the smallest; None if one is open."""
    years: dict[int, tuple[dt.date, dt.date]] = {}
    for low, high in spans:
        if low is None or high is None:
            return None
        for year in range(low.year, high.year + 1):
            first, last = max(low, dt.date(year, 1, 1)), min(high, dt.date(year, 12, 31))
            before = years.get(year, (first, last))
            years[year] = min(first, before[0]), max(last, before[1])
    return tuple(_period(*years[year]) for year in sorted(years))


def wider(period: str) -> tuple[str, ...]:
    """The periods that hold all of `period`, itself among them."""
    return tuple(period[:n] for n in (10, 7, 4) if n <= len(period))


def _period(first: dt.date, last: dt.date) -> str:
    if first == last:
        return first.isoformat()
    return f"{first.year:04}-{first.month:02}" if first.month == last.month else f"{first.year:04}"


def _meet(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """The days that are both in `some` and in `others`."""
    out = []
    for one in some:
        for two in others:
            low = max((d for d in (one[0], two[0]) if d is not None), default=None)
            high = min((d for d in (one[1], two[1]) if d is not None), default=None)
            if low is None or high is None or low <= high:
                out.append((low, high))
    return out


def _day(value: Any) -> dt.date | None:
    """The day of an ISO date; None of anything else, which then bounds nothing."""
    text = str(value)
    try:
        return dt.date.fromisoformat(text[:10]) if _ISO.match(text) else None
    except ValueError:
        return None


def _january(year: Any) -> dt.date | None:
    return None if year is None else dt.date(min(max(year, 1), 9999), 1, 1)


def _december(year: Any) -> dt.date | None:
    return None if year is None else dt.date(min(max(year, 1), 9999), 12, 31)
