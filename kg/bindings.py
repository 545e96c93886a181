"""What the conditions of one SELECT bind: constants, equalities between sources, ranges of years.

Only what must hold for every row of the result may bind an input, so: conjuncts of WHERE and of inner joins, an OR
if each of its branches binds; never anything under NOT. Casts and case functions around a column are seen through.
The rows fetched are a superset; the query itself filters them again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

Ref = tuple[str, str]  # (alias, column)


@dataclass(frozen=True)
class Const:
    """The column has one of these values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Edge:
    """The column equals a column of another source, here or in an enclosing query."""

    source: Ref


@dataclass(frozen=True)
class Within:
    """The column is among what a subquery returns."""

    query: exp.Query


@dataclass(frozen=True)
class Any_:
    """One of several holds (an OR of which every branch binds the same column)."""

    options: tuple[Binding, ...]


Binding = Const | Edge | Within | Any_


@dataclass
class Range:
    """Inclusive bounds of an ordered column, as far as they are known."""

    low: Any = None
    high: Any = None


@dataclass
class Facts:
    """Everything a conjunction says that a planner can use."""

    bound: dict[Ref, list[Binding]] = field(default_factory=dict)
    ranges: dict[Ref, Range] = field(default_factory=dict)
    branches: list[list[Facts]] = field(default_factory=list)

    def add(self, ref: Ref, binding: Binding) -> None:
        self.bound.setdefault(ref, []).append(binding)

    def constant(self, ref: Ref) -> tuple[Any, ...] | None:
        """The constants that `ref` must be among, if any; several conditions intersect."""
        sets = [b.values for b in self.bound.get(ref, ()) if isinstance(b, Const)]
        if not sets:
            return None
        return tuple(v for v in sets[0] if all(v in s for s in sets[1:]))


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of `condition` that must all hold."""
    if condition is None:
        return
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition


def facts(conditions: list[exp.Expr]) -> Facts:
    """Return what `conditions`, all of which hold, bind."""
    out = Facts()
    for condition in conditions:
        _read(condition.unnest(), out)
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
        _bound(c.this, c.args["low"], "low", out)
        _bound(c.this, c.args["high"], "high", out)
    elif isinstance(c, (exp.GTE, exp.GT)):
        _bound(c.left, c.right, "low", out)
        _bound(c.right, c.left, "high", out)
    elif isinstance(c, (exp.LTE, exp.LT)):
        _bound(c.left, c.right, "high", out)
        _bound(c.right, c.left, "low", out)
    elif isinstance(c, exp.Column):  # a flag by itself: WHERE winner
        out.add((c.table, c.name), Const((True,)))


def _read_equality(side: exp.Expr, other: exp.Expr, out: Facts) -> None:
    column, year = _column(side)
    if column is None:
        return
    ref = (column.table, column.name)
    value = literal(other)
    if value is not None:
        if year:
            _widen(out, ref, f"{value}-01-01", f"{value}-12-31")
        else:
            out.add(ref, Const((value,)))
            _widen(out, ref, value, value)
        return
    if year:
        return
    target, target_year = _column(other)
    if target is not None and not target_year:
        if target.table != column.table:
            out.add(ref, Edge((target.table, target.name)))
    elif isinstance(query := other.unnest(), exp.Query):
        out.add(ref, Within(query))
    elif isinstance(other, exp.Subquery) and isinstance(other.this, exp.Query):
        out.add(ref, Within(other.this))


def _read_in(c: exp.In, out: Facts) -> None:
    column, year = _column(c.this)
    if column is None:
        return
    ref = (column.table, column.name)
    query = c.args.get("query")
    if query is not None:
        inner = query.this if isinstance(query, exp.Subquery) else query
        if not year:
            out.add(ref, Within(inner))
        return
    values = [literal(v) for v in c.expressions]
    if any(v is None for v in values):
        return
    if year:
        _widen(out, ref, f"{min(values)}-01-01", f"{max(values)}-12-31")
    else:
        out.add(ref, Const(tuple(dict.fromkeys(values))))


def _read_or(c: exp.Or, out: Facts) -> None:
    branches = [facts(list(conjuncts(b))) for b in c.flatten()]
    refs = set.intersection(*(set(b.bound) for b in branches))
    for ref in refs:
        options = tuple(b.bound[ref][0] for b in branches)
        if all(isinstance(o, Const) for o in options):
            out.add(ref, Const(tuple(dict.fromkeys(itertools.chain.from_iterable(o.values for o in options if isinstance(o, Const))))))
        else:
            out.add(ref, Any_(options))
    for ref in set.intersection(*(set(b.ranges) for b in branches)):
        lows, highs = [b.ranges[ref].low for b in branches], [b.ranges[ref].high for b in branches]
        _widen(out, ref, None if None in lows else min(lows), None if None in highs else max(highs))
    out.branches.append(branches)


def _bound(side: exp.Expr, other: exp.Expr, which: str, out: Facts) -> None:
    column, year = _column(side)
    value = literal(other)
    if column is None or value is None:
        return
    if year:
        value = f"{value}-01-01" if which == "low" else f"{value}-12-31"
    ref = (column.table, column.name)
    _widen(out, ref, value if which == "low" else None, value if which == "high" else None)


def _widen(out: Facts, ref: Ref, low: Any, high: Any) -> None:
    """Tighten the range of `ref`; bounds of different types (a bad program) are left to DuckDB to refuse."""
    r = out.ranges.setdefault(ref, Range())
    if low is not None and (r.low is None or (type(low) is type(r.low) and low > r.low)):
        r.low = low
    if high is not None and (r.high is None or (type(high) is type(r.high) and high < r.high)):
        r.high = high


_SEEN_THROUGH = (exp.Cast, exp.TryCast, exp.Lower, exp.Upper, exp.Trim, exp.Paren)


def _column(e: exp.Expr) -> tuple[exp.Column | None, bool]:
    """The column under casts and case functions, and whether its year was taken."""
    year = False
    while True:
        if isinstance(e, exp.Column):
            return e, year
        if isinstance(e, exp.Year):
            e, year = e.this, True
        elif isinstance(e, exp.TsOrDsToDate):
            e = e.this
        elif isinstance(e, exp.Extract) and e.name.lower() == "year":
            e, year = e.expression, True
        elif isinstance(e, _SEEN_THROUGH):
            e = e.this
        else:
            return None, False


def literal(e: exp.Expr) -> Any:
    """The Python value of a literal (None if it is not one)."""
    if isinstance(e, (exp.Cast, exp.TryCast, exp.Paren, exp.Lower)):
        return literal(e.this)
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
