"""The values an input can take: constants as the API wants them, whole numbers of a range, and the API's limits."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterable, Sequence
from typing import Any

from kg.domain import Column, Domain, Fetch, Scalar, Table
from kg.plan.bindings import Facts, Ref

Limits = tuple[int, int]
MAX_RANGE = 100_000  # a range with more numbers than this is not worth writing out


def limits_of(fetch: Fetch, arg: str) -> Limits | None:
    """The lowest and highest value that the API takes for `arg`, if it has limits."""
    return next(((low, high) for a, low, high in fetch.limits if a == arg), None)


def as_input(value: Any, column: Column) -> Scalar | None:
    """Return `value` as a call would be given it, None if no row can have it in `column`.

    Equal inputs of equal calls must be equal here, whether they were written in the query or come from stored rows.
    """
    if value is None:
        return None
    if column.type in ("INTEGER", "BIGINT"):
        return _whole(value)
    if column.type == "DOUBLE":
        try:
            return float(value)
        except (TypeError, ValueError):
            return None
    if column.type == "BOOLEAN":
        return {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}.get(str(value).lower())
    if column.type in ("DATE", "TIMESTAMP"):
        try:
            moment = (
                value if isinstance(value, (dt.date, dt.datetime)) else dt.datetime.fromisoformat(str(value).strip())
            )
        except ValueError:
            return None
        return _moment(moment, column.type)
    return str(value).encode(errors="replace").decode()  # a terminal can send halves of characters


def _whole(value: Any) -> int | None:
    try:
        number = decimal.Decimal(str(int(value) if isinstance(value, bool) else value).strip())
        return int(number) if number == number.to_integral_value() and abs(number) < 2**63 else None
    except (decimal.InvalidOperation, OverflowError, ValueError):
        return None


def _moment(moment: dt.date | dt.datetime, type_: str) -> str | None:
    if type_ == "TIMESTAMP":
        return moment.isoformat() if isinstance(moment, dt.datetime) else f"{moment.isoformat()}T00:00:00"
    if not isinstance(moment, dt.datetime):
        return moment.isoformat()
    return moment.date().isoformat() if moment.time() == dt.time() else None


def constants(known: Facts, ref: Ref, column: Column) -> tuple[Scalar, ...] | None:
    """The constants that `ref` is among, as inputs; None if nothing says so. Conditions that contradict leave none."""
    sets: list[dict[Scalar, None]] = [
        dict.fromkeys(v for c in values if (v := as_input(c, column)) is not None) for values in known.constants(ref)
    ]
    if not sets:
        return None
    if column.match != "exact":
        # names that differ may be equal in how they are compared
        fewest = min(sets, key=lambda values: len(values))
        return tuple(fewest)
    return tuple(v for v in sets[0] if all(v in s for s in sets[1:]))


def within(values: Iterable[Any], limits: Limits | None) -> tuple[Any, ...]:
    """Those of `values` that the API takes; the limits of a time are years."""
    if limits is None:
        return tuple(values)
    return tuple(v for v in values if limits[0] <= (year_in(v) or 0 if isinstance(v, str) else v) <= limits[1])


def whole_range(
    known: Facts, refs: Iterable[tuple[Ref, bool]], limits: Limits | None, every: Sequence[int] = ()
) -> tuple[range | None, bool]:
    """The whole numbers a column can be, and whether limits cut some off; None if it is not bounded.

    `refs` are the column, and the date whose year it is: that is bounded by the bounds of the date. `every` are the
    least and the greatest number there are, if they are known: an open end ends there.
    """
    low: int | None = None
    high: int | None = None
    for ref, is_date in refs:
        r = known.ranges.get(ref)
        if r is None:
            continue
        first, last = (year_in(r.low), year_in(r.high)) if is_date else (above(r.low), below(r.high))
        low = first if low is None or (first is not None and first > low) else low
        high = last if high is None or (last is not None and last < high) else high
    if every:
        low, high = every[0] if low is None else low, every[1] if high is None else high
    if low is None and high is None:
        return None, False
    clipped = False
    if limits is not None:
        # what is counted from one has nothing below that could be missing
        begins = limits[0] if low is None and limits[0] in (0, 1) else low
        clipped = begins is None or high is None or begins < limits[0] or high > limits[1]
        low = limits[0] if low is None else max(low, limits[0])
        high = limits[1] if high is None else min(high, limits[1])
    if low is None or high is None or high - low >= MAX_RANGE:
        return None, False
    return range(low, max(high + 1, low)), clipped


def year_in(value: Any) -> int | None:
    """The year that an ISO date begins with."""
    try:
        return int(str(value)[:4])
    except ValueError:
        return None


def above(value: Any) -> int | None:
    """The least whole number that is not less."""
    try:
        return math.ceil(decimal.Decimal(str(value)))
    except (decimal.InvalidOperation, OverflowError, ValueError):
        return None


def below(value: Any) -> int | None:
    """The greatest whole number that is not more."""
    try:
        return math.floor(decimal.Decimal(str(value)))
    except (decimal.InvalidOperation, OverflowError, ValueError):
        return None


def words(domain: Domain, table: Table, need: str) -> str:
    """How people say an input: a movie's id is said by naming the movie."""
    column = table.column(need)
    if column.links:
        return (domain.table(column.links.table).says or (column.links.table,))[0]
    if table.is_entity and need in (*table.key, table.label):
        return (table.says or (table.name,))[0]
    return (column.says or (column.name.replace("_", " "),))[0]
