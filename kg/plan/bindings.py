"""What the conditions of one SELECT bind: constants, equalities between sources, ranges of years.

Only what must hold for every row of the result may bind an input, so: conjuncts of WHERE and of inner joins, an OR
if each of its branches binds; never anything under NOT. Casts and case functions around a column are seen through
where they lose nothing. The rows fetched are a superset; the query itself filters them again.

The columns of the conditions carry the declared column they are (`meta[COLUMN]`, put there by `kg.plan.scopes`).
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from kg.domain import Column

COLUMN = "column"  # in the meta of a column: the declared Column it is, or None
Ref = tuple[str, str]  # (alias, column)


@dataclass(frozen=True)
class Const:
    """The column has one of these values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Edge:
    """The column equals a column of another source, here or in an enclosing query.

    `loose`: one of the two need only contain the other.
    """

    source: Ref
    loose: bool = False


@dataclass(frozen=True)
class Within:
    """The column is among what a subquery returns."""

    query: exp.Expr


@dataclass(frozen=True)
class OneOf:
    """One of several holds (an OR of which every branch binds the same column)."""

    options: tuple[Binding, ...]


@dataclass
class Range:
    """Inclusive bounds of an ordered column, as far as they are known."""

    low: Any = None
    high: Any = None


@dataclass(frozen=True)
class Among:
    """The column is in one of these ranges."""

    parts: tuple[Range, ...]


Binding = Const | Edge | Within | OneOf | Among


@dataclass
class Facts:
    """Everything a conjunction says that a planner can use. `branches` are its ORs.

    `ranges` has the outermost bounds of a column; where an OR leaves gaps in a time, `spans` has its parts.
    """

    bound: dict[Ref, list[Binding]] = field(default_factory=dict)
    ranges: dict[Ref, Range] = field(default_factory=dict)
    branches: list[list[Facts]] = field(default_factory=list)
    spans: dict[Ref, list[tuple[Range, ...]]] = field(default_factory=dict)

    def add(self, ref: Ref, binding: Binding) -> None:
        self.bound.setdefault(ref, []).append(binding)

    def constants(self, ref: Ref) -> list[tuple[Any, ...]]:
        """The sets of constants that `ref` must be among; all of them hold."""
        return [b.values for b in self.bound.get(ref, ()) if isinstance(b, Const)]

    def also(self, more: Facts, alias: str | None = None) -> None:
        """Take over what `more` says (of `alias` only)."""
        for ref, bindings in more.bound.items():
            if alias in (None, ref[0]):
                for b in bindings:
                    self.add(ref, b)
        for ref, r in more.ranges.items():
            if alias in (None, ref[0]):
                _tighten(self, ref, r.low, r.high)
        for ref, spans in more.spans.items():
            if alias in (None, ref[0]):
                self.spans.setdefault(ref, []).extend(spans)

    def said(self, ref: Ref) -> Iterator[Binding]:
        """Everything that binds `ref`, its ranges too."""
        yield from self.bound.get(ref, ())
        if ref in self.ranges:
            yield Among((self.ranges[ref],))
        yield from map(Among, self.spans.get(ref, ()))

    def joined(self, more: Facts) -> Facts:
        """What holds when `more` holds as well."""
        out = Facts({ref: list(b) for ref, b in self.bound.items()}, {}, [])
        out.also(Facts(ranges=self.ranges, spans=self.spans))
        out.also(more)
        return out


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of `condition` that must all hold."""
    if condition is None:
        return
    waiting = [condition]
    while waiting:
        part = waiting.pop().unnest()
        if isinstance(part, exp.And):
            waiting += [part.right, part.left]
        else:
            yield part


def facts(conditions: Iterable[exp.Expr]) -> Facts:
    """Return what `conditions`, all of which hold, bind."""
    out = Facts()
    for condition in conditions:
        _read(condition, out)
    _spread(out)
    return out


def facts_of(said: Mapping[Ref, Iterable[Binding]]) -> Facts:
    """The constants and the ranges of `said`."""
    out = Facts()
    for ref, bindings in said.items():
        for b in bindings:
            if isinstance(b, Const):
                out.add(ref, b)
            elif isinstance(b, Among) and len(b.parts) == 1:
                _tighten(out, ref, b.parts[0].low, b.parts[0].high)
            elif isinstance(b, Among):
                out.spans.setdefault(ref, []).append(b.parts)
    return out


def _read(c: exp.Expr, out: Facts) -> None:
    if isinstance(c, exp.Or):
        _read_or(c, out)
    elif isinstance(c, exp.EQ):
        _read_equality(c.left, c.right, out)
        _read_equality(c.right, c.left, out)
    elif isinstance(c, exp.In):
        _read_in(c, out)
    elif isinstance(c, exp.Between):
        _read_bound(c.this, c.args["low"], "low", out)
        _read_bound(c.this, c.args["high"], "high", out)
    elif isinstance(c, (exp.GTE, exp.GT, exp.LTE, exp.LT)):
        strict, low = isinstance(c, (exp.GT, exp.LT)), isinstance(c, (exp.GTE, exp.GT))
        _read_bound(c.left, c.right, "low" if low else "high", out, strict=strict)
        _read_bound(c.right, c.left, "high" if low else "low", out, strict=strict)
    elif isinstance(c, exp.Column):  # a flag by itself: WHERE winner
        out.add((c.table, c.name), Const((True,)))


def _read_equality(side: exp.Expr, other: exp.Expr, out: Facts) -> None:
    column, of_year = _column(side)
    if column is None:
        return
    ref = (column.table, column.name)
    value = literal(other)
    if value is not None:
        if of_year:
            _tighten(out, ref, _day(value, first=True), _day(value, first=False))
        else:
            out.add(ref, Const((value,)))
            _tighten(out, ref, value, value)
        return
    if of_year:
        return
    target, target_of_year = _column(other)
    if target is not None:
        if not target_of_year and target.table != column.table:
            loose = any(isinstance(d := c.meta.get(COLUMN), Column) and d.match == "contains" for c in (column, target))
            out.add(ref, Edge((target.table, target.name), loose))
    elif isinstance(other.unnest(), exp.Query):
        out.add(ref, Within(other.unnest()))


def _read_in(c: exp.In, out: Facts) -> None:
    column, of_year = _column(c.this)
    if column is None:
        return
    ref = (column.table, column.name)
    query = c.args.get("query")
    if query is not None:
        if not of_year:
            out.add(ref, Within(query.unnest()))
        return
    values = [literal(v) for v in c.expressions]
    if not values or any(v is None for v in values):
        return
    if of_year:
        days = [(_day(v, first=True), _day(v, first=False)) for v in values]
        if all(low is not None for low, _ in days):
            _tighten(out, ref, min(low for low, _ in days if low), max(high for _, high in days if high))
            out.spans.setdefault(ref, []).append(tuple(Range(low, high) for low, high in days))
        return
    out.add(ref, Const(tuple(dict.fromkeys(values))))
    if len({type(v) for v in values}) == 1:
        _tighten(out, ref, min(values), max(values))


def _read_or(c: exp.Or, out: Facts) -> None:
    branches = [facts(conjuncts(b)) for b in c.flatten()]
    for ref in set.intersection(*(set(b.bound) for b in branches)):
        # of several conditions in one branch a constant asks least
        options = tuple(min(b.bound[ref], key=lambda o: not isinstance(o, Const)) for b in branches)
        constants = [o.values for o in options if isinstance(o, Const)]
        if len(constants) == len(options):
            out.add(ref, Const(tuple(dict.fromkeys(itertools.chain.from_iterable(constants)))))
        else:
            out.add(ref, OneOf(options))
    for ref in set.intersection(*(set(b.ranges) for b in branches)):
        lows, highs = [b.ranges[ref].low for b in branches], [b.ranges[ref].high for b in branches]
        _tighten(out, ref, _outermost(lows, min), _outermost(highs, max))
        if all(isinstance(bound, (str, type(None))) for bound in (*lows, *highs)):
            parts = (b.spans.get(ref, [(b.ranges[ref],)])[0] for b in branches)
            out.spans.setdefault(ref, []).append(tuple(itertools.chain.from_iterable(parts)))
    out.branches.append(branches)


def _outermost(bounds: list[Any], which: Any) -> Any:
    """The bound that holds for all branches; None if one has none, or they do not compare (a bad program)."""
    return which(bounds) if None not in bounds and len({type(b) for b in bounds}) == 1 else None


def _read_bound(side: exp.Expr, other: exp.Expr, which: str, out: Facts, *, strict: bool = False) -> None:
    column, of_year = _column(side)
    value = literal(other)
    if column is None or value is None:
        return
    declared = column.meta.get(COLUMN)
    whole = of_year or (isinstance(declared, Column) and declared.type in ("INTEGER", "BIGINT"))
    if strict and whole and type(value) is int:
        value += 1 if which == "low" else -1
    if of_year:
        value = _day(value, first=which == "low")
    elif strict and isinstance(declared, Column) and declared.type == "DATE":
        value = _beside(value, 1 if which == "low" else -1)
    ref = (column.table, column.name)
    _tighten(out, ref, value if which == "low" else None, value if which == "high" else None)


def _tighten(out: Facts, ref: Ref, low: Any, high: Any) -> None:
    """Narrow the range of `ref`; bounds of different types (a bad program) are left to DuckDB to refuse."""
    r = out.ranges.setdefault(ref, Range())
    if low is not None and (r.low is None or (type(low) is type(r.low) and low > r.low)):
        r.low = low
    if high is not None and (r.high is None or (type(high) is type(r.high) and high < r.high)):
        r.high = high


def _spread(out: Facts) -> None:
    """Let each of several columns that are equal have the bindings of all: a = b AND b = c binds a by c."""
    groups: dict[Ref, set[Ref]] = {}
    for ref, bindings in out.bound.items():
        for b in bindings:
            if isinstance(b, Edge) and not b.loose and Edge(ref) in out.bound.get(b.source, ()):
                merged = groups.get(ref, {ref}) | groups.get(b.source, {b.source})
                groups.update(dict.fromkeys(merged, merged))
    for ref, group in groups.items():
        have = {b.source for b in out.bound[ref] if isinstance(b, Edge)}
        for other in sorted(group - have - {ref}):
            if other[0] != ref[0]:
                out.add(ref, Edge(other))


def _day(year: Any, *, first: bool) -> str | None:
    """The first or last day of a year, in ISO format."""
    try:
        number = int(year)
    except (TypeError, ValueError):
        return None
    return f"{number:04d}-01-01" if first else f"{number:04d}-12-31"


def _beside(day: Any, step: int) -> Any:
    """The day after or before `day`, if that is one: a moment within a day leaves the day possible."""
    try:
        return (dt.date.fromisoformat(day) + dt.timedelta(step)).isoformat() if len(day) == 10 else day
    except (TypeError, ValueError, OverflowError):
        return day


def _column(e: exp.Expr) -> tuple[exp.Column | None, bool]:
    """The column under casts and case functions that lose nothing, and whether its year was taken."""
    of_year = False
    casts: list[str] = []
    folds = False
    while not isinstance(e, exp.Column):
        if isinstance(e, exp.Year):
            e, of_year = e.this, True
        elif isinstance(e, exp.TsOrDsToDate):
            e = e.this
        elif isinstance(e, exp.Extract) and e.name.lower() == "year":
            e, of_year = e.expression, True
        elif isinstance(e, exp.Anonymous) and e.name.lower() in ("date_part", "datepart"):
            if literal(e.expressions[0]) != "year":
                return None, False
            e, of_year = e.expressions[1], True
        elif isinstance(e, (exp.Cast, exp.TryCast)):
            casts.append(_type_name(e))
            e = e.this
        elif isinstance(e, (exp.Lower, exp.Upper, exp.Trim)):
            folds = True
            e = e.this
        elif isinstance(e, exp.Paren):
            e = e.this
        else:
            return None, False
    declared = e.meta.get(COLUMN)
    if isinstance(declared, Column):
        if folds and declared.match == "exact":
            return None, False  # the API must be asked for the value as it is stored
        if not all(c in _LOSSLESS[declared.type] for c in casts):
            return None, False
    return e, of_year


_TEXTS = {"TEXT", "VARCHAR", "CHAR"}
_WHOLE = {"BIGINT", "DOUBLE", "DECIMAL", *_TEXTS}
# type -> the casts after which two values differ if they did before
_LOSSLESS: dict[str, set[str]] = {
    "TEXT": _TEXTS,
    "INTEGER": {"INT", *_WHOLE},
    "BIGINT": {"INT", *_WHOLE},
    "DOUBLE": {"DOUBLE"},
    "DATE": {"DATE", "TIMESTAMP", *_TEXTS},
    "TIMESTAMP": {"TIMESTAMP", *_TEXTS},
    "BOOLEAN": {"BOOLEAN", *_TEXTS},
}


def _type_name(cast: exp.Expr) -> str:
    to = cast.args["to"].this
    return str(to.value if isinstance(to, exp.DataType.Type) else to)


def literal(e: exp.Expr) -> Any:
    """The Python value of a literal; dates as ISO text. None if it is not one, or its cast changes it."""
    if isinstance(e, exp.Paren):
        return literal(e.this)
    if isinstance(e, (exp.Cast, exp.TryCast)):
        return _cast(literal(e.this), _type_name(e))
    if isinstance(e, exp.Lower):
        value = literal(e.this)
        return value.lower() if isinstance(value, str) else None
    if isinstance(e, exp.Boolean):
        return bool(e.this)
    if isinstance(e, exp.Neg):
        value = literal(e.this)
        return -value if isinstance(value, (int, float)) else None
    if not isinstance(e, exp.Literal):
        return None
    if e.is_string:
        return str(e.this)
    try:
        return int(e.this)
    except ValueError:
        return float(e.this)


def _cast(value: Any, to: str) -> Any:
    if isinstance(value, str) and to in ("DATE", "TIMESTAMP"):
        try:
            moment = dt.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        return moment.date().isoformat() if to == "DATE" else moment.isoformat()
    if isinstance(value, str):
        return value if to in _TEXTS else None
    if isinstance(value, int):
        return value if to in {"INT", "BIGINT", "DOUBLE", "DECIMAL"} and not isinstance(value, bool) else None
    return value if isinstance(value, float) and to in ("DOUBLE", "DECIMAL") else None
