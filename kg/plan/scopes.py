"""Who is who in a checked query: the sources of each SELECT, and which of them every column belongs to.

Read once, before anything is planned; `kg.plan` then only changes which sources are filled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from kg.domain import Column, Domain, Table
from kg.errors import QueryError
from kg.plan.bindings import COLUMN, Binding, Const, Edge, Facts, Ref, conjuncts, facts

Outputs = dict[str, Column | None]  # output name -> the declared column it shows, if it shows one as it is


@dataclass(eq=False)
class Item:
    """A source of one SELECT: a table, or (`table` is None) what a subquery or a CTE returns.

    `names` are its columns as this query calls them. `conditioned` are those used for more than being shown.
    A `nullable` item is on the optional side of an outer join. `rows` is an estimate, once it is filled.
    """

    alias: str
    node: exp.Expr
    table: Table | None
    names: Outputs
    nullable: bool = False
    conditioned: set[str] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    filled: bool = False
    rows: float = 0

    def ref(self, column: str) -> Ref:
        """The table's `column` as this query calls it."""
        return self.alias, next((n for n, c in self.names.items() if c is not None and c.name == column), column)

    def uses(self, columns: tuple[str, ...], used: set[str]) -> list[str]:
        """Those of the table's `columns` that are among `used`."""
        return [c for c in columns if self.ref(c)[1] in used]


@dataclass(eq=False)
class Condition:
    """A conjunct of WHERE or of an ON, and the aliases in it.

    It holds wherever an item of `holds_for` has a row of its own and not the NULLs of an outer join.
    `is_partner`: it only chooses partners, rows that do not meet it stay.
    """

    test: exp.Expr
    aliases: frozenset[str]
    holds_for: frozenset[str]
    is_partner: bool = False

    @cached_property
    def queries(self) -> tuple[exp.Expr, ...]:
        return tuple(n.unnest() for n, _ in _within(self.test) if isinstance(n, exp.Query))

    @property
    def needs_rows(self) -> bool:
        """Whether it can only hold between rows that are there: an equality of columns is never true of NULLs."""
        sides = self.test.args.get("this"), self.test.args.get("expression")
        return isinstance(self.test, exp.EQ) and all(isinstance(s, exp.Column) for s in sides)


@dataclass(eq=False)
class Scope:
    """One SELECT. `outer` are the scopes around it, innermost first; `nested` the queries in its expressions.

    `ctes` are those it can see. `refers` are the scopes (own or outer) that its columns belong to. `runnable` are the
    ids of those of `nested` that can be run by themselves. `borrowed` is what binds its columns from outside: names
    in these bindings belong to the scope beside them.
    """

    select: exp.Select
    ctes: dict[str, exp.CTE]
    outer: tuple[Scope, ...]
    items: dict[str, Item] = field(default_factory=dict)
    nested: list[exp.Expr] = field(default_factory=list)
    refers: list[Scope] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)
    runnable: set[int] = field(default_factory=set)
    borrowed: list[tuple[Ref, Binding, Scope]] = field(default_factory=list)

    def resolve(self, alias: str) -> tuple[Scope, Item] | None:
        """The scope and the item that `alias` means here."""
        return next(((s, s.items[alias]) for s in (self, *self.outer) if alias in s.items), None)


class Scopes:
    """All scopes of `tree`; marks each column of it with the declared column it is."""

    def __init__(self, tree: exp.Query, domain: Domain):
        self.domain = domain
        self._scopes: dict[int, Scope] = {}
        self._references: dict[int, int] = {}
        self._cte_outputs: dict[int, Outputs] = {}
        self._query(tree, {}, (), top=True)

    def of(self, select: exp.Expr) -> Scope:
        return self._scopes[id(select)]

    def references(self, cte: exp.CTE) -> int:
        """How many sources are this CTE."""
        return self._references.get(id(cte), 0)

    def reach(self, query: exp.Expr) -> list[Scope]:
        """The scopes outside `query` that it refers to; without any it can be run by itself."""
        inside = [self.of(s) for s in query.find_all(exp.Select)]
        return [r for s in inside for r in s.refers if r not in inside]

    def _query(self, query: exp.Expr, ctes: dict[str, exp.CTE], outer: tuple[Scope, ...], *, top: bool) -> Outputs:
        """Read a query and all in it; return its outputs. `top`: its outputs are shown and no more."""
        query = query.unnest()
        if with_ := query.args.get("with_"):
            ctes = dict(ctes)
            for cte in with_.expressions:
                outputs = self._query(cte.this, ctes, outer, top=False)
                self._cte_outputs[id(cte)] = _renamed(outputs, cte)
                ctes.pop(cte.alias, None)
                ctes[cte.alias] = cte
        if isinstance(query, exp.SetOperation):
            top = top and isinstance(query, exp.Union)  # the others compare what they show
            outputs = self._query(query.left, ctes, outer, top=top)
            self._query(query.right, ctes, outer, top=top)
            return outputs
        assert isinstance(query, exp.Select)
        return self._select(query, ctes, outer, top=top)

    def _select(self, select: exp.Select, ctes: dict[str, exp.CTE], outer: tuple[Scope, ...], *, top: bool) -> Outputs:
        scope = self._scopes[id(select)] = Scope(select, ctes, outer)
        for node, side in _from(select):
            item = self._item(node, ctes, outer)
            item.nullable = side in ("LEFT", "FULL")
            if side in ("RIGHT", "FULL"):
                for earlier in scope.items.values():
                    earlier.nullable = True
            scope.items[item.alias] = item
        for node, shown in _expressions(select):
            if isinstance(node, exp.Column):
                self._own(node, scope, shown=shown and top)
            else:
                scope.nested.append(node.unnest())
        for query in scope.nested:
            exists = isinstance(query.parent, exp.Exists) or isinstance(
                query.parent and query.parent.parent, exp.Exists
            )
            self._query(query, ctes, (scope, *outer), top=exists)
        scope.conditions = list(_conditions(select))
        scope.facts = facts(c.test for c in scope.conditions if not c.is_partner)
        for condition in scope.conditions:
            if condition.is_partner:
                for alias in condition.holds_for:
                    scope.facts.also(facts([condition.test]), alias)
        return {p.alias_or_name: p.unalias().meta.get(COLUMN) for p in select.selects}

    def _item(self, node: exp.Expr, ctes: dict[str, exp.CTE], outer: tuple[Scope, ...]) -> Item:
        alias = node.alias_or_name
        if isinstance(node, exp.Subquery):
            return Item(alias, node, None, _renamed(self._query(node.this, ctes, outer, top=False), node))
        if not isinstance(node, exp.Table):
            raise QueryError(f"{type(node).__name__} cannot be read from.")
        cte = ctes.get(node.name)
        if cte is not None:
            self._references[id(cte)] = self.references(cte) + 1
            return Item(alias, node, None, _renamed(self._cte_outputs[id(cte)], node))
        table = self.domain.table(node.name)
        return Item(alias, node, table, _renamed(dict(table.by_name), node))

    def _own(self, column: exp.Column, scope: Scope, *, shown: bool) -> None:
        found = scope.resolve(column.table)
        if found is None:
            return
        owner, item = found
        column.meta[COLUMN] = item.names.get(column.name)
        (item.shown if shown and owner is scope else item.conditioned).add(column.name)
        if owner not in scope.refers:
            scope.refers.append(owner)


def binding_query(scope: Scope, *refs: Ref) -> exp.Expr:
    """`SELECT DISTINCT refs`, which are columns of one source, over the filled sources of `scope` that are connected
    with it, filtered as far as known. Only sources that have a row wherever that one has may filter it.
    """
    alias = refs[0][0]
    filled = {a for a, item in scope.items.items() if item.filled}
    known = [c for c in scope.conditions if c.aliases <= filled and all(id(q) in scope.runnable for q in c.queries)]
    there = {a for a in filled if not scope.items[a].nullable} | {alias}
    while more := {a for c in known if c.needs_rows and c.holds_for & there for a in c.aliases} - there:
        there |= more
    conditions = [c for c in known if c.aliases <= there and (not c.is_partner or c.holds_for & there)]
    joined = {alias}
    while more := {a for c in conditions if c.aliases & joined for a in c.aliases} - joined:
        joined |= more
    query = exp.select(*(_shown(scope, ref) for ref in refs), copy=False).distinct(copy=False)
    query.from_(scope.items[alias].node.copy(), copy=False)
    for other in sorted(joined - {alias}):
        query.join(scope.items[other].node.copy(), join_type="cross", copy=False)
    for condition in conditions:
        if condition.aliases <= joined:
            query.where(condition.test.copy(), copy=False)
    for own, binding, home in scope.borrowed:
        if own[0] in joined and (limited := _borrowed(_shown(scope, own), binding, home)) is not None:
            query.where(limited, copy=False)
    return with_ctes(query, scope)


def _shown(scope: Scope, ref: Ref) -> exp.Column:
    column = exp.column(ref[1], ref[0], quoted=True)
    column.meta[COLUMN] = scope.items[ref[0]].names.get(ref[1])
    return column


def _borrowed(column: exp.Column, binding: Binding, home: Scope) -> exp.Expr | None:
    """The condition that `binding`, of the scope `home`, is for `column` in a query that runs by itself."""
    if isinstance(binding, Const):
        return exp.In(this=column, expressions=[exp.convert(v) for v in binding.values])
    if isinstance(binding, Edge):
        found = home.resolve(binding.source[0])
        if found is not None and found[1].filled:
            return exp.In(this=column, query=exp.Subquery(this=binding_query(found[0], binding.source)))
    return None


def with_ctes(query: exp.Expr, scope: Scope) -> exp.Expr:
    """`query`, which belongs to `scope`, with the CTEs that it reads from outside itself."""
    names = list(scope.ctes)
    own = query.args.get("with_")
    held = [] if own is None else [c.alias for c in own.expressions]
    wanted = {t.name for t in query.find_all(exp.Table)}
    needed: list[exp.CTE] = []
    for name in reversed(names):
        if name in wanted and name not in held:
            needed.insert(0, scope.ctes[name])
            wanted |= {t.name for t in scope.ctes[name].find_all(exp.Table)}
    if needed:
        rest = [] if own is None else own.expressions
        query.set("with_", exp.With(expressions=[*(c.copy() for c in needed), *rest]))
    return query


def _from(select: exp.Select) -> Iterator[tuple[exp.Expr, str]]:
    """The sources, each with the side of its join."""
    from_ = select.args.get("from_")
    if from_ is not None:
        yield from_.this, ""
    for join in select.args.get("joins") or ():
        yield join.this, (join.side or "").upper()


def _expressions(select: exp.Select) -> Iterator[tuple[exp.Expr, bool]]:
    """The columns and the queries in the expressions of `select` itself, and whether each is shown as it is."""
    for projection in select.expressions:
        bare = projection.unalias()
        if isinstance(bare, exp.Column):
            yield bare, True
        else:
            yield from _within(bare)
    joins = [j.args["on"] for j in select.args.get("joins") or () if j.args.get("on")]
    parts = [select.args.get(p) for p in ("where", "group", "having", "qualify", "order", "distinct")]
    for root in (*joins, *parts):
        if root is not None:
            yield from _within(root)


def _within(root: exp.Expr) -> Iterator[tuple[exp.Expr, bool]]:
    for node in root.walk(prune=lambda n: isinstance(n, exp.Query)):
        if isinstance(node, (exp.Column, exp.Query)):
            yield node, False


def _conditions(select: exp.Select) -> Iterator[Condition]:
    where = select.args.get("where")
    for test in conjuncts(where.this if where else None):
        yield Condition(test, _aliases(test), _aliases(test))
    for join in select.args.get("joins") or ():
        side, alias = (join.side or "").upper(), join.this.alias_or_name
        for test in conjuncts(join.args.get("on")):
            aliases = _aliases(test)
            if not side:
                yield Condition(test, aliases, aliases)
            elif side in ("LEFT", "RIGHT"):
                yield Condition(test, aliases, frozenset([alias]) if side == "LEFT" else aliases - {alias}, True)


def _aliases(test: exp.Expr) -> frozenset[str]:
    return frozenset(c.table for c, _ in _within(test) if isinstance(c, exp.Column))


def _renamed(outputs: Outputs, node: exp.Expr) -> Outputs:
    """`outputs` under the column names of an alias such as line1(a, b)."""
    alias = node.args.get("alias")
    names = [c.name for c in alias.columns] if alias is not None and alias.columns else list(outputs)
    return dict(zip(names, outputs.values(), strict=False))
