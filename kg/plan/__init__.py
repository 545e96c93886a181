"""Which calls a query needs, and in which order. Pure: no I/O, no model.

Every table reference of the tree gets a *step*: the access by which its rows are had, and where the inputs come
from: constants of the query, or a query over sources filled by earlier steps (a bind join). The cheapest step that
is possible goes first, so that a person's films are looked up by the person and not year by year. A reference that
no step can reach raises MissingInput; it is never silently empty.

After access-pattern query planning: Florescu, Levy, Manolescu, Suciu, "Query optimization in the presence of
limited access patterns", SIGMOD 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from kg.domain import Access, Domain, Via
from kg.errors import MissingInput, QueryError
from kg.plan.bindings import Binding, Edge, Ref, Within
from kg.plan.candidates import Bound, Known, candidates, fewest, inputs, is_outside, together
from kg.plan.inputs import constants, limits_of, words
from kg.plan.pieces import cheapest, groups, pieces
from kg.plan.scopes import Item, Scope, Scopes
from kg.plan.steps import PARTITION, Inputs, Lookup, Pieces, Plan, Step

__all__ = ["Lookup", "Plan", "Step", "plan"]

# Rows a call is expected to bring, by what it asks: enough to order steps, and shown by EXPLAIN as "about".
# A list (the films of a year) is asked for by no entity and is long.
ROWS_OF_ENTITY, ROWS_OF_SEARCH, ROWS_OF_CHILDREN, ROWS_OF_LIST = 1, 3, 20, 500
SEARCH_COSTS = 3.0  # a search may be cut off: a complete call is worth a few more
LACKING_COSTS = 100.0  # a column that would come back empty is worth dearer calls
MAX_ATTEMPTS = 500
MAX_UNASKED = 10_000  # calls that are worth making for inputs that a query leaves open

Given = Mapping[int, Sequence[Binding]]  # output position -> what the surrounding query binds it to


def plan(tree: exp.Query, domain: Domain) -> Plan:
    """Return the calls that the checked `tree` needs. Raises MissingInput, or QueryError for a dead end."""
    tree = tree.copy()
    planner = _Planner(tree, domain)
    planner.query(tree, {}, None)
    return Plan(tree, tuple(planner.steps))


@dataclass(frozen=True)
class _Way:
    """How a source would be filled: the steps, made only for the way that is taken, what they cost, how many rows they
    bring, and where. `lacks` are columns that the rows do not have, `bound` how many inputs narrow down what comes.
    """

    steps: Callable[[], tuple[Step, ...]]
    cost: float
    rows: float
    partition: str | Pieces
    lacks: tuple[str, ...] = ()
    bound: int = 1


class _Planner:
    def __init__(self, tree: exp.Query, domain: Domain):
        self.domain = domain
        self.scopes = Scopes(tree, domain)
        self.steps: list[Step] = []
        self.waiting: dict[int, MissingInput] = {}  # ids of CTEs that only the query around them can bind
        self.missing: dict[int, MissingInput] = {}  # ids of queries that cannot stand alone, so as not to try again
        self.attempts = 0

    def query(self, query: exp.Expr, given: Given, home: Scope | None) -> None:
        """Append the steps of a query and everything in it. `given` binds outputs; its names belong to `home`."""
        query = query.unnest()
        if with_ := query.args.get("with_"):
            for cte in with_.expressions:
                self._cte(cte)
        if query.args.get("limit") or query.args.get("offset"):
            given = {}  # which rows come first must not depend on what is asked of them
        if isinstance(query, exp.SetOperation):
            self.query(query.left, given, home)
            self.query(query.right, given, home)
            return
        scope = self.scopes.of(query)
        self._select(scope, Known(scope.facts, _given_to(scope, given), home))

    def _select(self, scope: Scope, known: Known) -> None:
        for item in scope.items.values():
            item.filled = False
            if item.table is None and isinstance(item.node, exp.Subquery):
                item.filled = self._attempt(item.node.this, {}, None) is None
            elif item.table is None:
                item.filled = id(scope.ctes[item.node.name]) not in self.waiting
            elif item.table.in_place:
                item.filled = True
                item.node.meta[PARTITION] = item.table.name
            item.rows = ROWS_OF_CHILDREN
            if (
                item.filled
                and item.table is not None
                and not any(known.facts.constants((item.alias, name)) for name in item.names)
            ):
                item.rows = ROWS_OF_LIST
        scope.borrowed = list(_borrowed(known, scope))
        waiting = self._subqueries(scope)
        self._fill(scope, known)
        for query, binding in waiting:
            self.query(query, binding, scope)

    def _cte(self, cte: exp.CTE) -> None:
        missing = self._attempt(cte.this, {}, None)
        if missing is None:
            self.waiting.pop(id(cte), None)
            return
        if self.scopes.references(cte) != 1:
            raise missing
        self.waiting[id(cte)] = missing

    def _attempt(self, query: exp.Expr, given: Given, home: Scope | None) -> MissingInput | None:
        """Plan `query` if it can be; otherwise leave the steps as they were and return what is missing."""
        if not given and id(query) in self.missing:
            return self.missing[id(query)]
        self.attempts += 1
        if self.attempts > MAX_ATTEMPTS:
            raise QueryError("The subqueries are nested in too many ways.", hint="Use a WITH, or fewer levels.")
        mark = len(self.steps)
        try:
            self.query(query, given, home)
        except MissingInput as e:
            del self.steps[mark:]
            if not given and not self.scopes.reach(query):
                self.missing[id(query)] = e
            return e
        return None

    def _subqueries(self, scope: Scope) -> list[tuple[exp.Expr, Given]]:
        """Plan the subqueries that stand alone now; return those that must wait, with what then binds them."""
        waiting: list[tuple[exp.Expr, Given]] = []
        for query in scope.nested:
            reach = self.scopes.reach(query)
            if scope in reach or self._attempt(query, {}, None) is not None:
                scope.runnable.discard(id(query))
                waiting.append((query, _bound_by(query)))
            elif not reach:
                scope.runnable.add(id(query))
        return waiting

    # -- filling -------------------------------------------------------------------------------------------------

    def _fill(self, scope: Scope, known: Known) -> None:
        """Append steps until every source of the scope is filled, the cheapest first."""
        todo = [item for item in scope.items.values() if not item.filled]
        while todo:
            tables = [item for item in todo if item.table is not None]
            ways = [
                (way.cost, i, -way.bound, way)
                for i, item in enumerate(tables)
                for way in self._ways(item, scope, known)
            ]
            if ways:
                _, place, _, way = min(ways, key=lambda w: w[:3])
                item = tables[place]
                self.steps += way.steps()
                item.node.meta[PARTITION] = way.partition
                item.rows = way.rows
            else:
                item = self._derived(todo, scope, known)
            item.filled = True
            todo.remove(item)

    def _derived(self, todo: list[Item], scope: Scope, known: Known) -> Item:
        """Plan the first of `todo` that is a subquery or a CTE and can be, given what binds its outputs here."""
        error: MissingInput | None = None
        for item in todo:
            if item.table is not None:
                continue
            given: dict[int, list[Binding]] = {}
            for i, name in enumerate(item.names):
                for binding in known.facts.said((item.alias, name)):
                    if not isinstance(binding, Edge) or self._reaches(binding, item, scope):
                        given.setdefault(i, []).append(binding)
            body = item.node.this if isinstance(item.node, exp.Subquery) else scope.ctes[item.node.name].this
            missing = self._attempt(body, given, scope)
            if missing is None:
                return item
            error = error or missing
        tables = [item for item in todo if item.table is not None]
        raise error if error is not None and not tables else self._dead_end(tables[0], scope)

    def _ways(self, item: Item, scope: Scope, known: Known) -> Iterator[_Way]:
        yield from self._plain_ways(item, scope, known)
        # an OR whose branches bind different columns: one way for each branch, into the same partition
        for branches in known.facts.branches:
            chosen = [_by_partition(self._plain_ways(item, scope, known.under(b))) for b in branches]
            for stored in set.intersection(*(set(c) for c in chosen)):
                kept = [c[stored] for c in chosen]
                yield _Way(_all_steps(kept), sum(w.cost for w in kept), sum(w.rows for w in kept), stored)

    def _plain_ways(self, item: Item, scope: Scope, known: Known) -> Iterator[_Way]:
        """The ways into one partition or into pieces that belong together, where they have what is used."""
        assert item.table is not None
        joint = list(groups(self.domain, item.table))
        ways = list(self._single_ways(item, scope, known, every=bool(joint)))
        for group in joint:
            way = self._pieces(item, group, ways)
            if way is not None:
                yield way
                ways = [w for w in ways if w.partition not in group]
        for way in ways:
            if not item.uses(way.lacks, item.conditioned):
                yield replace(way, cost=way.cost + LACKING_COSTS * len(item.uses(way.lacks, item.shown)))

    def _pieces(self, item: Item, group: Mapping[str, tuple[str, ...]], ways: Sequence[_Way]) -> _Way | None:
        """The cheapest way into several of `group` that have what is used; None if one has as much, or none can."""
        assert item.table is not None
        best = {p: w for p, w in _by_partition(ways).items() if isinstance(p, str) and p in group}
        if not best:
            return None
        used = set(item.uses(tuple(c.name for c in item.table.columns), item.conditioned | item.shown))
        lacked = {p: used & set(group[p]) for p in best}
        never = set.intersection(*lacked.values())
        if not all(lacks - never for lacks in lacked.values()) or item.uses(tuple(never), item.conditioned):
            return None
        chosen = cheapest(used - never, group, {p: w.cost for p, w in best.items()})
        parts = {p: lacks for p, lacks in group.items() if p in chosen}
        kept = [best[p] for p in parts]
        cost = sum(w.cost for w in kept) + LACKING_COSTS * len(never)
        return _Way(_all_steps(kept), cost, max(w.rows for w in kept), pieces(item.table, parts))

    def _single_ways(self, item: Item, scope: Scope, known: Known, *, every: bool) -> Iterator[_Way]:
        """The ways into one partition; only those that have what conditions use, unless `every` is wanted."""
        table = item.table
        assert table is not None
        for access in self.domain.accesses[table.name]:
            if every or not item.uses(access.lacks, item.conditioned):
                yield from self._direct(item, access, scope, known)
        for via in table.via:
            if all(constants(known.facts, item.ref(c), table.column(c)) == (v,) for c, v in via.only):
                yield from self._over(item, via, scope, known)

    def _direct(self, item: Item, access: Access, scope: Scope, known: Known) -> Iterator[_Way]:
        choices = []
        for place in range(len(access.needs)):
            choices.append(candidates(item, access, place, scope, known))
            if not choices[-1]:
                return
        found = together(choices)
        if found is None:
            return
        chosen, calls = found
        if calls > MAX_UNASKED and any(_is_open(item, access, i, known) for i in range(len(access.needs))):
            return  # nobody asked for so much

        def steps() -> tuple[Step, ...]:
            return (Step(access, inputs(chosen), calls, any(b.clipped for b in chosen)),)

        cost = calls * (SEARCH_COSTS if access.fetch.search else 1.0)
        rows = calls * self._rows_per_call(access)
        yield _Way(steps, cost, rows, access.partition, access.lacks, len(access.needs))

    def _over(self, item: Item, via: Via, scope: Scope, known: Known) -> Iterator[_Way]:
        """The ways that reach `item` through a helper table."""
        assert item.table is not None
        for helper in self.domain.accesses[via.through]:
            if helper.needs != (via.match,) or helper.fetch.search or {via.take, via.match} & set(helper.lacks):
                continue
            found = fewest(candidates(item, replace(helper, needs=(via.needs,)), 0, scope, known))
            if found is None:
                continue
            calls = found.count * self._rows_per_call(helper)
            for access in self.domain.accesses[item.table.name]:
                if access.needs != (via.gives,) or access.fetch.search:
                    continue
                steps = partial(_over_helper, via, helper, access, found, calls)
                rows = calls * self._rows_per_call(access)
                yield _Way(steps, found.count + calls, rows, access.partition, access.lacks)

    def _rows_per_call(self, access: Access) -> float:
        if access.fetch.search:
            return ROWS_OF_SEARCH
        table, obj = self.domain.table(access.table), self.domain.object_by_name[access.fetch.gives]
        needs = set(access.needs)
        whole = obj.is_row_of(table.name) and needs >= set(obj.key_columns(table.name))
        if needs and (whole or needs == set(table.key)):
            return ROWS_OF_ENTITY
        return ROWS_OF_CHILDREN if any(table.column(n).links for n in needs) else ROWS_OF_LIST

    def _reaches(self, edge: Edge, item: Item, home: Scope) -> bool:
        """Whether the other side of an equality is filled already."""
        found = home.resolve(edge.source[0])
        return found is not None and found[1].filled and found[1] is not item

    # -- dead ends -----------------------------------------------------------------------------------------------

    def _dead_end(self, item: Item, scope: Scope) -> QueryError:
        """Why no call can bring the rows of `item`."""
        table = item.table
        assert table is not None
        for ref, bindings in scope.facts.bound.items():
            for b in bindings:
                if ref[0] == item.alias and isinstance(b, Within) and id(b.query) in self.missing:
                    return self.missing[id(b.query)]  # the subquery would have bound it
        accesses = self.domain.accesses[table.name]
        joint = [g for g in groups(self.domain, table) if not item.uses(_all_lack(g), item.conditioned)]
        usable = [
            a
            for a in accesses
            if not item.uses(a.lacks, item.conditioned) or any(a.partition in group for group in joint)
        ]
        ways = [(need, a.fetch, i) for a in usable for i, need in enumerate(a.needs)]
        ways += [
            (v.needs, h.fetch, 0) for v in table.via for h in self.domain.accesses[v.through] if h.needs == (v.match,)
        ]
        for need, fetch, i in ways:
            limits = limits_of(fetch, fetch.args[i][0])
            if limits and is_outside(item, table.column(need), scope.facts, fetch, i):
                return QueryError(f"{table.name} is only known for {need} {limits[0]} to {limits[1]}.")
        asked = [(a.needs, self._unbound(item, a, scope)) for a in usable]
        asked = [one for one in asked if not any(set(needs) < set(one[0]) for needs, _ in asked)]
        asked += [((v.needs,), (v.needs,)) for v in table.via if any(v.gives in a.needs for a in usable)]
        if not asked:
            used = ", ".join(item.uses(tuple(dict.fromkeys(c for a in accesses for c in a.lacks)), item.conditioned))
            return QueryError(f"No call brings rows of {table.name} that have all of {used}.", hint="Leave one out.")
        needs = dict.fromkeys(" and ".join(needs) for needs, _ in asked)
        said = dict.fromkeys(" and ".join(words(self.domain, table, n) for n in unbound) for _, unbound in asked)
        return MissingInput(table.name, tuple(needs), tuple(said))

    def _unbound(self, item: Item, access: Access, scope: Scope) -> tuple[str, ...]:
        """The inputs of `access` that nothing binds; all of them if they are bound, but to what cannot be had."""
        known = Known(scope.facts)
        found = (need for i, need in enumerate(access.needs) if not candidates(item, access, i, scope, known))
        return tuple(found) or access.needs


def _is_open(item: Item, access: Access, place: int, known: Known) -> bool:
    """Whether an input is not narrowed by anything, so that its whole range is looked up."""
    assert item.table is not None
    ref = item.ref(access.needs[place])
    return bool(item.table.column(ref[1]).range) and ref not in known.facts.bound and ref not in known.facts.ranges


def _borrowed(known: Known, scope: Scope) -> Iterator[tuple[Ref, Binding, Scope]]:
    """What binds columns of `scope` from outside it, and the scope that the names in it belong to."""
    for ref, bindings in known.facts.bound.items():
        for b in bindings:
            if isinstance(b, Edge) and b.source[0] not in scope.items:
                yield ref, b, scope
    if known.home is not None:
        for ref, given in known.given.items():
            for b in given:
                yield ref, b, known.home


def _given_to(scope: Scope, given: Given) -> dict[Ref, Sequence[Binding]]:
    """`given`, by the columns that the outputs show; not where fewer rows would change the values of others."""
    select = scope.select
    if select.args.get("qualify") or any(p.find(exp.Window) for p in select.selects):
        return {}
    group = select.args.get("group")
    keys = {(c.table, c.name) for c in group.expressions if isinstance(c, exp.Column)} if group else None
    out: dict[Ref, Sequence[Binding]] = {}
    for place, bindings in given.items():
        shown = select.selects[place].unalias()
        if isinstance(shown, exp.Column) and (keys is None or (shown.table, shown.name) in keys):
            out[shown.table, shown.name] = bindings
    return out


def _bound_by(query: exp.Expr) -> Given:
    """For `x IN (query)` with x a column: the output of the query is bound by x."""
    parent = query.parent
    if isinstance(parent, exp.Subquery):
        parent = parent.parent
    if isinstance(parent, exp.In) and isinstance(parent.this, exp.Column):
        return {0: [Edge((parent.this.table, parent.this.name))]}
    return {}


def _over_helper(via: Via, helper: Access, access: Access, found: Bound, calls: float) -> tuple[Step, ...]:
    """The calls that fill the helper table, and those for what it then holds."""
    (sources,) = inputs([found])
    lookup = Lookup(_helper_query(via, helper, sources))
    return Step(helper, (sources,), found.count, found.clipped), Step(access, ((lookup,),), calls)


def _all_steps(ways: Sequence[_Way]) -> Callable[[], tuple[Step, ...]]:
    """The steps of all `ways`, each once."""
    return lambda: tuple(dict.fromkeys(step for way in ways for step in way.steps()))


def _all_lack(group: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The columns that none of the stored tables has."""
    return tuple(set.intersection(*map(set, group.values())))


def _by_partition(ways: Iterable[_Way]) -> dict[str | Pieces, _Way]:
    """The cheapest way into each partition."""
    found: dict[str | Pieces, _Way] = {}
    for way in ways:
        if way.partition not in found or way.cost < found[way.partition].cost:
            found[way.partition] = way
    return found


def _helper_query(via: Via, helper: Access, values: tuple[Inputs, ...]) -> exp.Select:
    """`SELECT take FROM through WHERE match IN values`."""
    match = exp.column(via.match, via.through, quoted=True)
    conditions: list[exp.Expr] = []
    for v in values:
        if isinstance(v, Lookup):
            assert isinstance(v.query, exp.Query)
            conditions.append(exp.In(this=match.copy(), query=exp.Subquery(this=v.query.copy())))
        elif isinstance(v, range):
            low, high = exp.Literal.number(v.start), exp.Literal.number(v.stop - 1)
            conditions.append(exp.Between(this=match.copy(), low=low, high=high))
        elif helper.fetch.periods:
            text = exp.cast(match, "TEXT")
            conditions += [exp.StartsWith(this=text.copy(), expression=exp.convert(x)) for x in v] or [exp.false()]
        else:
            conditions.append(exp.In(this=match.copy(), expressions=[exp.convert(x) for x in v]) if v else exp.false())
    table = exp.Table(this=exp.to_identifier(via.through, quoted=True))
    table.meta[PARTITION] = helper.partition
    take = exp.column(via.take, via.through, quoted=True)
    return (
        exp.select(take, copy=False)
        .distinct(copy=False)
        .from_(table, copy=False)
        .where(exp.or_(*conditions), copy=False)
    )
