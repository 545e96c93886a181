"""Which calls a query needs, and in which order. Pure: no I/O, no model.

Every table reference of the tree gets a *step*: the access by which its rows are had, and where the inputs come
from: constants of the query, or a query over sources filled by earlier steps (a bind join). The cheapest step that
is possible goes first, so that a person's films are looked up by the person and not year by year. A reference that
no step can reach raises MissingInput; it is never silently empty.

After access-pattern query planning: Florescu, Levy, Manolescu, Suciu, "Query optimization in the presence of
limited access patterns", SIGMOD 1999.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from .bindings import Any_, Binding, Const, Edge, Facts, Ref, Within, conjuncts, facts
from .domain import Access, Column, Domain, Fetch, Table, Via, partition
from .errors import MissingInput, QueryError

# Rows a call is expected to bring, by what it asks: enough to order steps, and shown by EXPLAIN as "about".
ROWS_OF_ENTITY, ROWS_OF_SEARCH, ROWS_OF_CHILDREN = 1, 3, 20
PARTITION, COLUMN = "partition", "column"


@dataclass(frozen=True)
class Lookup:
    """Inputs that come from a query (one column) over what earlier steps have stored."""

    query: exp.Query

    def __str__(self) -> str:
        shown = self.query.selects[0]
        return f"each {shown.unalias().sql('duckdb')}"


Source = tuple[Any, ...] | Lookup


@dataclass(frozen=True)
class Step:
    """Fill `access.table` for every combination of the values of `sources`, which are parallel to `access.needs`."""

    access: Access
    sources: tuple[tuple[Source, ...], ...]
    calls: float
    clipped: bool = False

    def __str__(self) -> str:
        inputs = ", ".join(f"{need}={_shown(source)}" for need, source in zip(self.access.needs, self.sources, strict=True))
        return f"{self.access.table} <- {self.access.fetch.method} {self.access.fetch.endpoint} ({inputs})"


@dataclass(frozen=True)
class Plan:
    """The steps in dependent order, and the query with each table bound to the partition that will hold its rows.

    `whole` is set when the answer is only right if every row was seen (a count, a superlative, an absence).
    """

    tree: exp.Query
    steps: tuple[Step, ...]
    whole: bool


def plan(tree: exp.Query, domain: Domain) -> Plan:
    """Return the calls that the checked `tree` needs. Raises MissingInput, or QueryError for a dead end."""
    planner = _Planner(domain)
    tree = tree.copy()
    planner.query(tree, _Env())
    return Plan(tree, tuple(planner.steps), _needs_all_rows(tree))


@dataclass
class _Source:
    """A table reference, or a derived table, of one SELECT."""

    alias: str
    node: exp.Expr
    table: Table | None = None  # None: derived
    outputs: dict[str, Column | None] = field(default_factory=dict)
    conditioned: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    preserved: bool = True  # False: the nullable side of an outer join
    rows: float = 0
    filled: bool = False

    def column(self, name: str) -> Column | None:
        return self.table.by_name.get(name) if self.table else self.outputs.get(name)


@dataclass
class _Scope:
    sources: dict[str, _Source]
    conditions: list[exp.Expr]
    env: _Env
    facts: Facts = field(default_factory=Facts)

    def local(self) -> list[exp.Expr]:
        """The conditions that can filter a binding query: of this scope only, with no subquery in them."""
        return [c for c in self.conditions if not c.find(exp.Query) and _aliases(c) <= set(self.sources)]


@dataclass
class _Env:
    ctes: dict[str, tuple[exp.CTE, dict[str, Column | None]]] = field(default_factory=dict)
    scopes: tuple[_Scope, ...] = ()  # enclosing SELECTs, innermost first

    def resolve(self, alias: str) -> tuple[_Scope, _Source] | None:
        for scope in self.scopes:
            if alias in scope.sources:
                return scope, scope.sources[alias]
        return None


class _Planner:
    def __init__(self, domain: Domain):
        self.domain = domain
        self.steps: list[Step] = []

    def query(self, query: exp.Expr, env: _Env, inherited: Facts | None = None) -> dict[str, Column | None]:
        """Plan a query and everything in it; return its output columns. `inherited` binds its first output column."""
        query = query.unnest()
        with_ = query.args.get("with_")
        if with_ is not None:
            env = _Env(dict(env.ctes), env.scopes)
            for cte in with_.expressions:
                env.ctes[cte.alias] = (cte, _renamed(self.query(cte.this, env), cte))
        if isinstance(query, exp.SetOperation):
            outputs = self.query(query.left, env, inherited)
            self.query(query.right, env, inherited)
            return outputs
        assert isinstance(query, exp.Select)
        return self._select(query, env, inherited)

    def _select(self, select: exp.Select, env: _Env, inherited: Facts | None) -> dict[str, Column | None]:
        scope = _Scope({}, [], env)
        for node, side in _from(select):
            source = self._source(node, env)
            source.preserved = side not in ("LEFT", "FULL")
            if side in ("RIGHT", "FULL"):
                for earlier in scope.sources.values():
                    earlier.preserved = False
            scope.sources[source.alias] = source
        inner = _Env(env.ctes, (scope, *env.scopes))
        self._annotate(select, inner)
        scope.conditions, outer_join = _conditions(select)
        scope.facts = facts(scope.conditions)
        for alias, condition in outer_join:
            _merge(scope.facts, facts([condition]), only=alias)
        if inherited is not None:
            shown = select.selects[0].unalias()
            if isinstance(shown, exp.Column):
                for binding in inherited.bound.get(("", ""), ()):
                    scope.facts.add((shown.table, shown.name), binding)
        waiting = self._subqueries(select, inner)
        self._fill(scope)
        for query, bound in waiting:
            self.query(query, inner, bound)
        return {p.alias_or_name: p.unalias().meta.get(COLUMN) for p in select.selects}

    # -- sources and names ----------------------------------------------------------------------------------

    def _source(self, node: exp.Expr, env: _Env) -> _Source:
        if isinstance(node, exp.Table):
            if node.name in env.ctes:
                return _Source(node.alias_or_name, node, None, env.ctes[node.name][1], filled=True, rows=ROWS_OF_CHILDREN)
            return _Source(node.alias_or_name, node, self.domain.table(node.name))
        if isinstance(node, exp.Subquery):
            outputs = self.query(node.this, env)
            return _Source(node.alias_or_name, node, None, outputs, filled=True, rows=ROWS_OF_CHILDREN)
        raise QueryError(f"{type(node).__name__} cannot be read from.")

    def _annotate(self, select: exp.Select, env: _Env) -> None:
        """Say for every column of this SELECT, and of subqueries that reach out to it, which declared column it is."""
        scope = env.scopes[0]
        shown = {id(c) for p in select.selects for c in p.find_all(exp.Column)}
        for column in select.find_all(exp.Column):
            source = scope.sources.get(column.table)
            if source is None or column.parent_select is not select and _shadowed(column, select, column.table):
                continue
            column.meta[COLUMN] = source.column(column.name)
            (source.shown if id(column) in shown else source.conditioned).add(column.name)

    # -- subqueries in conditions and projections --------------------------------------------------------------

    def _subqueries(self, select: exp.Select, env: _Env) -> list[tuple[exp.Expr, Facts | None]]:
        """Plan the subqueries that stand alone now; return those that must wait, with what then binds them."""
        waiting: list[tuple[exp.Expr, Facts | None]] = []
        scope = env.scopes[0]
        for query in _nested(select):
            if _correlated(query, set(scope.sources)):
                waiting.append((query, None))
                continue
            mark = len(self.steps)
            try:
                self.query(query, _Env(env.ctes, env.scopes[1:]))
            except MissingInput:
                del self.steps[mark:]
                waiting.append((query, _bound_by(query)))
                _drop_within(scope.facts, query)
        return waiting

    # -- filling -------------------------------------------------------------------------------------------------

    def _fill(self, scope: _Scope) -> None:
        """Append steps until every table of the scope is filled, the cheapest first."""
        todo = [s for s in scope.sources.values() if not s.filled]
        while todo:
            ways = [(way.cost, i, source, way) for i, source in enumerate(todo) for way in self._ways(source, scope)]
            if not ways:
                raise self._dead_end(todo, scope)
            _, _, source, way = min(ways, key=lambda w: w[:2])
            self.steps += way.steps
            source.node.meta[PARTITION] = way.partition
            source.filled, source.rows = True, way.rows
            todo.remove(source)

    def _ways(self, source: _Source, scope: _Scope) -> Iterator[_Way]:
        assert source.table is not None
        single = list(self._single_ways(source, scope, scope.facts))
        yield from single
        if single:
            return
        # an OR whose branches bind different columns: one way for each branch, into the same partition
        for branches in scope.facts.branches:
            chosen = [min(self._single_ways(source, scope, b), key=lambda w: w.cost, default=None) for b in branches]
            kept = [w for w in chosen if w is not None]
            if len(kept) == len(branches) and len({w.partition for w in kept}) == 1:
                steps = tuple(s for w in kept for s in w.steps)
                yield _Way(steps, sum(w.cost for w in kept), sum(w.rows for w in kept), kept[0].partition)

    def _single_ways(self, source: _Source, scope: _Scope, known: Facts) -> Iterator[_Way]:
        table = source.table
        assert table is not None
        for access in self.domain.accesses[table.name]:
            if source.conditioned & set(access.lacks):
                continue
            way = self._direct(source, access, scope, known)
            if way is not None:
                # a column that would come back empty is worth a dearer call
                penalty = 100.0 * len(source.shown & set(access.lacks))
                yield _Way(way.steps, way.cost + penalty, way.rows, way.partition)
        for via in table.via:
            if all(known.constant((source.alias, c)) == (v,) for c, v in via.only):
                yield from self._over(source, via, scope, known)

    def _direct(self, source: _Source, access: Access, scope: _Scope, known: Facts) -> _Way | None:
        sources, calls, clipped = [], 1.0, False
        for need, (arg, _) in zip(access.needs, access.fetch.args, strict=True):
            found = self._inputs(source, need, scope, known, _limits(access.fetch, arg))
            if found is None:
                return None
            values, n, cut = found
            sources.append(values)
            calls *= n
            clipped = clipped or cut
        step = Step(access, tuple(sources), calls, clipped)
        assert source.table is not None
        each = _rows_per_call(access, source.table)
        cost = calls * (ROWS_OF_SEARCH if access.fetch.search else 1)
        return _Way((step,), cost, calls * each, access.partition)

    def _over(self, source: _Source, via: Via, scope: _Scope, known: Facts) -> Iterator[_Way]:
        """The ways that reach `source` through a helper table."""
        assert source.table is not None
        for helper in self.domain.accesses[via.through]:
            if helper.needs != (via.match,) or helper.fetch.search:
                continue
            found = self._inputs(source, via.needs, scope, known, _limits(helper.fetch, helper.fetch.args[0][0]))
            if found is None:
                continue
            values, n, clipped = found
            first = Step(helper, (values,), n, clipped)
            lookup = Lookup(self._helper_query(via, helper.partition, values))
            for access in self.domain.accesses[source.table.name]:
                if access.needs == (via.gives,) and not access.fetch.search and not source.conditioned & set(access.lacks):
                    calls = n * ROWS_OF_CHILDREN
                    second = Step(access, ((lookup,),), calls)
                    rows = calls * _rows_per_call(access, source.table)
                    yield _Way((first, second), n + calls, rows, access.partition)

    def _helper_query(self, via: Via, stored: str, values: tuple[Source, ...]) -> exp.Query:
        take, match = exp.column(via.take, via.through, quoted=True), exp.column(via.match, via.through, quoted=True)
        conditions: list[exp.Expr] = []
        for v in values:
            if isinstance(v, Lookup):
                conditions.append(exp.In(this=match.copy(), query=exp.Subquery(this=v.query.copy())))
            else:
                conditions.append(exp.In(this=match.copy(), expressions=[exp.convert(x) for x in v]))
        table = exp.to_table(via.through, alias=via.through)
        table.meta[PARTITION] = stored
        return exp.select(take).distinct().from_(table).where(exp.or_(*conditions), copy=False)

    # -- inputs ----------------------------------------------------------------------------------------------

    def _inputs(
        self, source: _Source, need: str, scope: _Scope, known: Facts, limits: tuple[int, int] | None
    ) -> tuple[tuple[Source, ...], float, bool] | None:
        """Where the values of `need` come from, how many there will be, and whether limits cut some off."""
        assert source.table is not None
        column = source.table.column(need)
        ref = (source.alias, need)
        constants = known.constant(ref)
        clipped = False
        if constants is None:
            constants, clipped = _from_ranges(source, column, known, limits)
        if constants is not None:
            typed = [v for v in (_as_input(c, column) for c in constants) if v is not None]
            inside = [v for v in typed if limits is None or limits[0] <= v <= limits[1]]
            if typed and not inside:
                return None
            return (tuple(inside),), len(inside), clipped or len(inside) < len(typed)
        best: tuple[tuple[Source, ...], float] | None = None
        for binding in known.bound.get(ref, ()):
            found = self._bound(binding, source, scope, column)
            if found is not None and (best is None or found[1] < best[1]):
                best = found
        return None if best is None else (*best, limits is not None)

    def _bound(self, binding: Binding, source: _Source, scope: _Scope, column: Column) -> tuple[tuple[Source, ...], float] | None:
        if isinstance(binding, Const):
            values = tuple(v for v in (_as_input(c, column) for c in binding.values) if v is not None)
            return (values,), len(values)
        if isinstance(binding, Within):
            return (Lookup(_distinct(binding.query, scope.env)),), ROWS_OF_CHILDREN
        if isinstance(binding, Any_):
            parts = [self._bound(o, source, scope, column) for o in binding.options]
            if any(p is None for p in parts):
                return None
            kept = [p for p in parts if p is not None]
            return tuple(s for p in kept for s in p[0]), sum(p[1] for p in kept)
        found = _Env(scope.env.ctes, (scope, *scope.env.scopes)).resolve(binding.source[0])
        if found is None or not found[1].filled or found[1] is source:
            return None
        # rows of the preserved side survive without a partner: the nullable side may not decide which are fetched
        if found[0] is scope and source.preserved and not found[1].preserved:
            return None
        return (Lookup(_binding_query(found[0], binding.source)),), max(found[1].rows, 1)

    def _dead_end(self, todo: list[_Source], scope: _Scope) -> QueryError:
        source = todo[0]
        table = source.table
        assert table is not None
        for access in self.domain.accesses[table.name]:
            for need, (arg, _) in zip(access.needs, access.fetch.args, strict=True):
                limits = _limits(access.fetch, arg)
                if limits and (scope.facts.constant((source.alias, need)) or (source.alias, need) in scope.facts.ranges):
                    return QueryError(f"{table.name} is only known for {need} {limits[0]} to {limits[1]}.")
        inputs = list(dict.fromkeys(n for a in self.domain.accesses[table.name] for n in a.needs))
        inputs += [v.needs for v in table.via if v.needs not in inputs]
        return MissingInput(table.name, tuple(inputs), tuple(dict.fromkeys(_words(self.domain, table, i) for i in inputs)))


@dataclass(frozen=True)
class _Way:
    """The steps that would fill a source, what they cost, the rows they bring, and where these will be."""

    steps: tuple[Step, ...]
    cost: float
    rows: float
    partition: str


def _from(select: exp.Select) -> Iterator[tuple[exp.Expr, str]]:
    from_ = select.args.get("from_")
    if from_ is not None:
        yield from_.this, ""
    for join in select.args.get("joins") or ():
        yield join.this, (join.side or "").upper()


def _conditions(select: exp.Select) -> tuple[list[exp.Expr], list[tuple[str, exp.Expr]]]:
    """The conditions every row must meet, and those that only choose partners: (nullable alias, condition)."""
    where = select.args.get("where")
    must = list(conjuncts(where.this if where else None))
    partner: list[tuple[str, exp.Expr]] = []
    for join in select.args.get("joins") or ():
        on = list(conjuncts(join.args.get("on")))
        side = (join.side or "").upper()
        if not side:
            must += on
        elif side == "LEFT":
            partner += [(join.this.alias_or_name, c) for c in on]
        elif side == "RIGHT":
            partner += [(alias, c) for c in on for alias in _aliases(c) if alias != join.this.alias_or_name]
    return must, partner


def _merge(into: Facts, more: Facts, only: str) -> None:
    for ref, bindings in more.bound.items():
        if ref[0] == only:
            for b in bindings:
                into.add(ref, b)


def _aliases(e: exp.Expr) -> set[str]:
    return {c.table for c in e.find_all(exp.Column)}


def _nested(select: exp.Select) -> list[exp.Expr]:
    """The queries directly inside the expressions of `select` (not its sources, not deeper ones)."""
    found = []
    for node in select.find_all(exp.Select, exp.SetOperation):
        if node is select or node.find_ancestor(exp.CTE, exp.From) is not None and _inside_source(node, select):
            continue
        parent = node.parent
        while parent is not None and not isinstance(parent, (exp.Select, exp.SetOperation)):
            parent = parent.parent
        if parent is select and not _inside_source(node, select):
            found.append(node)
    return found


def _inside_source(node: exp.Expr, select: exp.Select) -> bool:
    """Whether `node` is (in) a FROM item, a joined table or a CTE of `select`."""
    child: exp.Expr = node
    while child.parent is not None and child.parent is not select:
        parent = child.parent
        if isinstance(parent, exp.Join) and child is parent.this and parent.parent is select:
            return True
        child = parent
    return isinstance(child, (exp.From, exp.With))


def _correlated(query: exp.Expr, outer: set[str]) -> bool:
    own = {t.alias_or_name for t in query.find_all(exp.Table, exp.Subquery)}
    return any(c.table in outer and c.table not in own for c in query.find_all(exp.Column))


def _shadowed(column: exp.Column, select: exp.Select, alias: str) -> bool:
    """Whether a SELECT between `column` and `select` has a source of the same alias."""
    inner = column.parent_select
    while inner is not None and inner is not select:
        if isinstance(inner, exp.Select) and any(node.alias_or_name == alias for node, _ in _from(inner)):
            return True
        inner = inner.parent_select
    return inner is None


def _bound_by(query: exp.Expr) -> Facts | None:
    """For `x IN (query)` with x a column: the fact that the query's output is bound by x."""
    parent = query.parent
    if isinstance(parent, exp.Subquery):
        parent = parent.parent
    if isinstance(parent, exp.In) and isinstance(parent.this, exp.Column):
        out = Facts()
        out.add(("", ""), Edge((parent.this.table, parent.this.name)))
        return out
    return None


def _drop_within(known: Facts, query: exp.Expr) -> None:
    for ref, bindings in known.bound.items():
        known.bound[ref] = [b for b in bindings if not (isinstance(b, Within) and b.query is query)]


def _binding_query(scope: _Scope, ref: Ref) -> exp.Query:
    """`SELECT DISTINCT ref` over the filled sources of `scope` that are connected with it, filtered as far as known."""
    usable = {a: s for a, s in scope.sources.items() if s.filled and (s.preserved or a == ref[0])}
    conditions = [c for c in scope.local() if _aliases(c) <= set(usable)]
    joined = {ref[0]}
    while grown := {a for c in conditions if _aliases(c) & joined for a in _aliases(c)} - joined:
        joined |= grown
    query = exp.select(exp.column(ref[1], ref[0], quoted=True)).distinct()
    query.selects[0].meta[COLUMN] = scope.sources[ref[0]].column(ref[1])
    for i, alias in enumerate(sorted(joined, key=lambda a: a != ref[0])):
        node = scope.sources[alias].node.copy()
        query = query.from_(node, copy=False) if i == 0 else query.join(node, join_type="cross", copy=False)
    for c in conditions:
        if _aliases(c) <= joined:
            query = query.where(c.copy(), copy=False)
    return _with_ctes(query, scope.env)


def _distinct(query: exp.Query, env: _Env) -> exp.Query:
    """A copy of `query` that can run by itself."""
    return _with_ctes(query.copy(), env)


def _with_ctes(query: exp.Query, env: _Env) -> exp.Query:
    used = {t.name for t in query.find_all(exp.Table)}
    if used & set(env.ctes) and not query.args.get("with_"):
        query.set("with_", exp.With(expressions=[cte.copy() for cte, _ in env.ctes.values()]))
    return query


def _renamed(outputs: dict[str, Column | None], cte: exp.CTE) -> dict[str, Column | None]:
    alias = cte.args["alias"]
    names = [c.name for c in alias.columns] if alias.columns else list(outputs)
    return dict(zip(names, outputs.values(), strict=False))


def _limits(fetch: Fetch, arg: str) -> tuple[int, int] | None:
    return next(((low, high) for a, low, high in fetch.limits if a == arg), None)


def _rows_per_call(access: Access, table: Table) -> float:
    if access.fetch.search:
        return ROWS_OF_SEARCH
    return ROWS_OF_ENTITY if access.needs == table.key else ROWS_OF_CHILDREN


def _from_ranges(source: _Source, column: Column, known: Facts, limits: tuple[int, int] | None) -> tuple[tuple[int, ...] | None, bool]:
    """The whole numbers a bounded column can be, and whether an open end had to be closed by `limits`.

    A year is also bounded by the bounds of the date it is the year of.
    """
    if not column.numeric:
        return None, False
    low = high = None
    for name, of_date in ((column.name, False), (column.year_of, True)):
        r = known.ranges.get((source.alias, name)) if name else None
        if r is None:
            continue
        new = [_year(v) if of_date else v for v in (r.low, r.high)]
        low = new[0] if isinstance(new[0], int) and (low is None or new[0] > low) else low
        high = new[1] if isinstance(new[1], int) and (high is None or new[1] < high) else high
    if low is None and high is None:
        return None, False
    if limits is None:
        return (None, False) if low is None or high is None else (tuple(range(low, high + 1)), False)
    clipped = low is None or high is None or low < limits[0] or high > limits[1]
    first, last = max(low or limits[0], limits[0]), min(high or limits[1], limits[1])
    return (tuple(range(first, last + 1)) if first <= last else None), clipped


def _year(value: Any) -> int | None:
    try:
        return int(str(value)[:4])
    except ValueError:
        return None


def _as_input(value: Any, column: Column) -> Any:
    """`value` as the API wants it, None if no row can have it."""
    if column.numeric and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return int(number) if number.is_integer() else None
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    return value


def _shown(sources: Iterable[Source]) -> str:
    parts = []
    for s in sources:
        if isinstance(s, Lookup):
            parts.append(str(s))
        else:
            parts.append(", ".join(repr(v) for v in s[:3]) + (f", ... ({len(s)})" if len(s) > 3 else ""))
    return " or ".join(parts)


def _words(domain: Domain, table: Table, need: str) -> str:
    """How people say an input: a movie's id is said by naming the movie."""
    column = table.column(need)
    if column.links:
        return (domain.table(column.links.table).says or (column.links.table,))[0]
    if need in (*table.key, table.label):
        return (table.says or (table.name,))[0]
    return (column.says or (column.name.replace("_", " "),))[0]


def _needs_all_rows(tree: exp.Query) -> bool:
    if tree.find(exp.AggFunc, exp.Except, exp.Window):
        return True
    if any(isinstance(n.this, (exp.Exists, exp.In)) for n in tree.find_all(exp.Not)):
        return True
    return any(s.args.get("order") and s.args.get("limit") for s in tree.find_all(exp.Select))
