"""How the tables that one call names hang together: whose column a name is, and which links join them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sqlglot import exp, parse_one

from kg.dialect.calls import Condition, Get, Group, Literal, Name, Test, Value, did_you_mean, listed
from kg.domain import Column, Domain, Link, Table
from kg.errors import QueryError

_BINDING = ("eq", "in", "ge", "gt", "le", "lt", "between")


class Joins:
    """The tables of one call. `entities` are the entity tables among them, each with its argument."""

    def __init__(self, get: Get, domain: Domain):
        self.get, self.domain = get, domain
        named = [t for t in get.tables if domain.table(t).is_entity]
        none = Literal("word", "NONE")
        args = (*get.args, *(none for _ in named[len(get.args) :]))
        self.entities: dict[str, Value] = dict(zip(named, args, strict=True))
        self.bound = self._bound_columns()

    def find(self, name: Name) -> tuple[str, str]:
        """The table and column that `name` means among the tables of the call."""
        tables = [self.domain.table(t) for t in self.get.tables]
        if name.table:
            if name.table not in self.get.tables:
                raise QueryError(
                    f"{name.table} is not a table of get_{'_'.join(self.get.tables)}.",
                    hint=f"It has: {listed(self.get.tables)}.",
                )
            tables = [self.domain.table(name.table)]
        else:
            tables.sort(key=lambda t: self._rank(t, name.column))
        for table in tables:
            if name.column in table.by_name:
                return table.name, name.column
        known = [c.name for t in tables for c in t.columns]
        where = listed(t.name for t in tables)
        hint = f"It has: {listed(dict.fromkeys(known))}. {did_you_mean(name.column, known)}".strip()
        raise QueryError(f"Column '{name.column}' is not in {where}.", hint=hint)

    def _rank(self, table: Table, column: str) -> int:
        # what an unbound entity is called is often repeated in the table that leads to it: then it need not be fetched
        if not table.is_entity:
            labels = {self.domain.table(t).label for t in self.free()}
            return 1 if column in labels else 3
        return 0 if table.name not in self.free() else 2

    def free(self) -> list[str]:
        """The entity tables that are not bound by their argument."""
        return [t for t, arg in self.entities.items() if isinstance(arg, Literal) and arg.is_none]

    def _bound_columns(self) -> dict[str, set[str]]:
        """Table to the columns that a condition or a bound entity fixes; tells which link will be at hand."""
        bound: dict[str, set[str]] = {}
        for condition in flat(self.get.where):
            if isinstance(condition, Test) and condition.op in _BINDING and isinstance(condition.left, Name):
                table, column = self.find(condition.left)
                bound.setdefault(table, set()).add(column)
        for table in self.get.tables:
            for own in self.domain.table(table).columns:
                to = own.links.table if own.links else ""
                if to in self.entities and (to not in self.free() or to in bound):
                    bound.setdefault(table, set()).add(own.name)
        return bound

    def lacks(self, table: str) -> set[str]:
        """The columns that `table` cannot have, given what is bound."""
        have = self.bound.get(table, set())
        usable = [a for a in self.domain.accesses[table] if set(a.needs) <= have]
        return set.intersection(*(set(a.lacks) for a in usable)) if usable else set()

    def links_to(self, table: Table) -> Iterator[tuple[Name, Link]]:
        """The columns among the call's tables that lead to `table` and can be had."""
        for name in self.get.tables:
            lacks = self.lacks(name)
            for column in self.domain.table(name).columns:
                if column.links and column.links.table == table.name and column.name not in lacks:
                    yield Name(column.name, name), column.links

    # -- FROM

    def add_to(self, query: exp.Select, needed: set[str]) -> exp.Select:
        """`query` with a FROM of the tables it needs. `needed` are those of which a column is used."""
        tables = self.tables(needed)
        query = query.from_(_table(tables[0]), copy=False)
        waiting, have = tables[1:], tables[:1]
        while waiting:
            name, on = next(((t, on) for t in waiting if (on := self.edges(t, have, needed))), ("", []))
            if not name:
                raise self.unlinked(have[-1], waiting[0])
            waiting.remove(name)
            have.append(name)
            query.append("joins", exp.Join(this=_table(name), on=exp.and_(*on)))
        return query

    def tables(self, needed: set[str]) -> list[str]:
        """The tables to join: those named, less the entities that nothing is asked of and a link stands for."""
        kept = list(self.get.tables)
        for name in self.free():
            others = [t for t in kept if t != name]
            linked = any(c.links and c.links.table == name for t in others for c in self.domain.table(t).columns)
            if name not in needed and linked and self.connected(others, needed):
                kept = others
        return kept

    def connected(self, tables: list[str], needed: set[str]) -> bool:
        have, waiting = tables[:1], tables[1:]
        while waiting:
            name = next((t for t in waiting if self.edges(t, have, needed)), None)
            if name is None:
                return False
            waiting.remove(name)
            have.append(name)
        return True

    def edges(self, new: str, have: list[str], needed: set[str]) -> list[exp.Expr]:
        """The conditions that join `new` to the tables already there; none if nothing links them."""
        found: list[exp.Expr] = []
        for old in have:
            found.extend(self.between(new, old) or self.between(old, new, flip=True))
        gone = [t for t in self.get.tables if t not in have and t not in needed and self.domain.table(t).is_entity]
        for old, entity in product(have, gone):
            # two tables that link to the same entity, which itself is not needed
            pairs = product(self.links(new, entity), self.links(old, entity))
            for one, two in ((a, b) for a, b in pairs if a.links == b.links and a.links and not a.links.where):
                this, that = exp.column(one.name, table=new), exp.column(two.name, table=old)
                found.append(exp.EQ(this=this, expression=that))
                break
        return found

    def links(self, source: str, target: str) -> list[Column]:
        """The columns of `source` that link to `target`, the best first: those at hand, then those to its key."""
        lacks, key = self.lacks(source), self.domain.table(target).key
        links = [c for c in self.domain.table(source).columns if c.links and c.links.table == target]
        return sorted(links, key=lambda c: (c.name in lacks, c.links is not None and c.links.column not in key))

    def between(self, source: str, target: str, *, flip: bool = False) -> list[exp.Expr]:
        """The join along the best link from `source` to `target`: by key if the key is at hand."""
        for column in self.links(source, target)[:1]:
            assert column.links
            one, two = exp.column(column.name, table=source), exp.column(column.links.column, table=target)
            on: list[exp.Expr] = [exp.EQ(this=two, expression=one) if flip else exp.EQ(this=one, expression=two)]
            if column.links.where:
                on.append(parse_one(column.links.where, dialect="duckdb"))
            return on
        return []

    def unlinked(self, one: str, other: str) -> QueryError:
        between = [
            t.name
            for t in self.domain.tables
            if t.name not in self.get.tables and {one, other} <= {c.links.table for c in t.columns if c.links}
        ]
        hint = f"Tables that link them: {listed(between)}." if between else ""
        if between:
            hint += f" Write get_{'_'.join((*self.get.tables, between[0]))}(...)."
        return QueryError(f"Nothing links {one} and {other} in get_{'_'.join(self.get.tables)}.", hint=hint)


def flat(conditions: tuple[Condition, ...]) -> Iterator[Condition]:
    """The conditions, with lists of them taken apart."""
    for condition in conditions:
        if isinstance(condition, Group) and condition.how == "all":
            yield from flat(condition.conditions)
        else:
            yield condition


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name))
