"""Where the inputs of a call can come from: constants, ranges, subqueries, and columns of sources that are filled.

Of several inputs that one source has, the pairs that its rows have are looked up, not every value with every other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from kg.domain import Access, Column, Fetch, Scalar
from kg.plan.bindings import Binding, Const, Edge, Facts, OneOf, Ref, Within, facts_of
from kg.plan.days import Span, clip, days_of, each_day, periods, single_days
from kg.plan.inputs import Limits, as_input, constants, limits_of, whole_range, within
from kg.plan.scopes import Item, Scope, binding_query, with_ctes
from kg.plan.steps import Inputs, Lookup

ROWS_OF_SUBQUERY = 20  # expected, to order steps by


@dataclass(frozen=True)
class Known:
    """What binds the inputs of a scope: its own facts, and what it was given, whose names belong to `home`."""

    facts: Facts
    given: Mapping[Ref, Sequence[Binding]] = field(default_factory=dict)
    home: Scope | None = None

    @cached_property
    def told(self) -> Facts:
        """The constants and ranges that were given."""
        return facts_of(self.given)

    def under(self, branch: Facts) -> Known:
        return Known(self.facts.joined(branch), self.given, self.home)


@dataclass(frozen=True, eq=False)
class Origin:
    """A column of a filled source, whose values are inputs."""

    scope: Scope
    item: Item
    ref: Ref

    @property
    def source(self) -> tuple[int, str]:
        return id(self.scope), self.ref[0]


@dataclass(frozen=True)
class Bound:
    """Where the values of one input come from, how many there will be, and whether limits cut some off.

    Those with an `origin` are looked up there, and have no `sources` before it is known together with which others.
    `spare`: the input is known without a look-up, which is worth it only together with another input's.
    """

    sources: tuple[Inputs, ...]
    count: float
    clipped: bool = False
    origin: Origin | None = None
    spare: bool = False


@dataclass(frozen=True)
class Argument:
    """What a call takes for an input: values of `column`, within `limits`, as periods or each by itself."""

    column: Column
    limits: Limits | None
    in_periods: bool

    @classmethod
    def of(cls, column: Column, fetch: Fetch, place: int) -> Argument:
        name = fetch.args[place][0]
        return cls(column, limits_of(fetch, name), column.type == "DATE" and name in fetch.periods)

    def values(self, values: Sequence[Scalar]) -> Bound:
        """Those of `values` that the API takes."""
        if self.in_periods:
            found = self.days(single_days(values))
            assert found is not None
            return found
        inside = within(values, self.limits)
        return Bound((inside,), len(inside), len(inside) < len(values))

    def days(self, spans: Sequence[Span]) -> Bound | None:
        """The inputs that bring all days of `spans`; None if these are open or too many."""
        inside, clipped = clip(spans, self.limits)
        inputs = periods(inside) if self.in_periods else each_day(inside)
        return None if inputs is None else Bound((inputs,), len(inputs), clipped)

    def bounded(self, item: Item, known: Facts) -> Bound | None:
        """The inputs that the conditions on `item` leave, if they leave so few that these can be written out."""
        if self.column.type == "DATE":
            spans = days_of(known, item.ref(self.column.name), self.column, _years(item, self.column))
            if self.column.range:
                spans, _ = clip(
                    [(None, None)] if spans is None else spans, (self.column.range[0], self.column.range[1])
                )
            return None if spans is None else self.days(spans)
        values = constants(known, item.ref(self.column.name), self.column)
        if values is not None:
            return self.values(values)
        if self.column.type not in ("INTEGER", "BIGINT"):
            return None
        numbers, clipped = whole_range(known, _year_refs(item, self.column), self.limits, self.column.range)
        return None if numbers is None else Bound((numbers,), len(numbers), clipped)


def candidates(item: Item, access: Access, place: int, scope: Scope, known: Known) -> list[Bound]:
    """What binds the input at `place` of `access` to `item`."""
    assert item.table is not None
    argument = Argument.of(item.table.column(access.needs[place]), access.fetch, place)
    ref = item.ref(argument.column.name)
    found = []
    fixed = constants(known.facts, ref, argument.column) is not None
    bounded = argument.bounded(item, known.facts)
    if bounded is not None and (bounded.count or not bounded.clipped):
        found.append(bounded)
    if fixed and (not found or len(access.needs) == 1):
        return found  # or nothing of what is asked for can be had
    homes = [(b, scope) for b in known.facts.bound.get(ref, ())]
    if known.home is not None:
        homes += [(b, known.home) for b in known.given.get(ref, ())]
    told = argument.bounded(item, known.told) if known.given and not fixed else None
    if told is not None and (told.count or not told.clipped):
        found.append(told)
    for binding, home in homes:
        for bound in _bounds(binding, item, home, argument):
            if not fixed:
                found.append(bound)
            elif bound.origin is not None:
                found.append(replace(bound, spare=True))
    return found


def fewest(found: Sequence[Bound]) -> Bound | None:
    """The one with the fewest values that binds an input by itself."""
    return min((f for f in found if not f.spare), key=lambda f: f.count, default=None)


def together(choices: Sequence[Sequence[Bound]]) -> tuple[list[Bound], float] | None:
    """For each input one of its candidates, with the fewest combinations of values, and how many these are.

    Inputs that one source has are looked up there together. None if an input has no candidate.
    """
    chosen = [b for b in map(fewest, choices) if b is not None]
    if len(chosen) < len(choices):
        return None
    alone = [b.count for b in chosen]
    total = math.prod(alone)
    joint: dict[tuple[int, str], dict[int, Bound]] = {}
    if len(choices) > 1:
        for place, found in enumerate(choices):
            for b in found:
                if b.origin is not None and (alone[place] > 1 or b is chosen[place]):
                    joint.setdefault(b.origin.source, {}).setdefault(place, b)
    paired: set[int] = set()
    for places in joint.values():
        free = {place: b for place, b in places.items() if place not in paired}
        if len(free) < 2:
            continue
        # every look-up of a source counts its rows, once
        fewer = total / math.prod(max(alone[p], 1) for p in free) * next(iter(free.values())).count
        if fewer <= total:
            total = fewer
            paired |= set(free)
            for place, b in free.items():
                chosen[place] = b
    return chosen, total


def inputs(chosen: Sequence[Bound]) -> tuple[tuple[Inputs, ...], ...]:
    """The sources of each input, those of one origin looked up together."""
    queries: dict[tuple[int, str], tuple[Inputs, ...]] = {}
    origins: dict[tuple[int, str], list[Origin]] = {}
    for b in chosen:
        if b.origin is not None:
            origins.setdefault(b.origin.source, []).append(b.origin)
    for source, found in origins.items():
        query = binding_query(found[0].scope, *(o.ref for o in found))
        queries[source] = tuple(Lookup(query, place) for place in range(len(found)))
    out = []
    for b in chosen:
        if b.origin is None:
            out.append(b.sources)
        else:
            first, *rest = queries[b.origin.source]
            queries[b.origin.source] = tuple(rest)
            out.append((first,))
    return tuple(out)


def is_outside(item: Item, column: Column, known: Facts, fetch: Fetch, place: int) -> bool:
    """Whether nothing of what is asked for is within the limits of the API."""
    bounded = Argument.of(column, fetch, place).bounded(item, known)
    return bounded is not None and bounded.clipped and not bounded.count


def _bounds(binding: Binding, item: Item, home: Scope, argument: Argument) -> Iterator[Bound]:
    """The values that `binding` allows. Looked-up values are held against the limits when they are known."""
    if isinstance(binding, Const):
        yield argument.values([v for c in binding.values if (v := as_input(c, argument.column)) is not None])
    elif isinstance(binding, Within):
        if id(binding.query) in home.runnable:
            yield Bound((Lookup(with_ctes(binding.query.copy(), home)),), ROWS_OF_SUBQUERY)
    elif isinstance(binding, OneOf):
        parts = [fewest(list(_bounds(o, item, home, argument))) for o in binding.options]
        kept = [p for p in parts if p is not None]
        if len(kept) == len(parts):
            sources = tuple(s for p in kept for s in inputs([p])[0])
            yield Bound(sources, sum(p.count for p in kept), any(p.clipped for p in kept))
    elif isinstance(binding, Edge):
        yield from _of_edge(binding, item, home, argument)


def _of_edge(edge: Edge, item: Item, home: Scope, argument: Argument) -> Iterator[Bound]:
    found = home.resolve(edge.source[0])
    if found is None or found[1] is item:
        return
    scope, other = found
    values = _constants(scope, other, edge, argument.column)
    if values is not None:
        bound = argument.values(values)
        if bound.count or not values:
            yield bound
    if other.filled:
        yield Bound((), max(other.rows, 1), origin=Origin(scope, other, edge.source), spare=values is not None)


def _constants(scope: Scope, item: Item, edge: Edge, column: Column) -> tuple[Scalar, ...] | None:
    """The constants that the other side of an equality is among: then nothing need be looked up."""
    other = item.table.by_name.get(edge.source[1]) if item.table is not None else None
    if other is None or edge.loose:  # to contain one text is not to be it
        return None
    values = constants(scope.facts, edge.source, other)
    return None if values is None else tuple(v for c in values if (v := as_input(c, column)) is not None)


def _year_refs(item: Item, column: Column) -> list[tuple[Ref, bool]]:
    """The column, and the date whose year it is, as `whole_range` takes them."""
    own = (item.ref(column.name), False)
    return [own, (item.ref(column.year_of), True)] if column.year_of else [own]


def _years(item: Item, column: Column) -> list[tuple[Ref, Column]]:
    """The columns that hold the year of a date."""
    assert item.table is not None
    return [(item.ref(c.name), c) for c in item.table.columns if c.year_of == column.name]
