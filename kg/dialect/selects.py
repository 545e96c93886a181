"""One call of a program on its way to a SELECT: its conditions, what is shown of it, its order and its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp, parse_one

from kg.dialect.calls import Before, Condition, Get, Group, Literal, Name, Rows, Star, Value, listed
from kg.dialect.joins import Joins, flat
from kg.domain import Column, Domain, Link, Table
from kg.errors import QueryError

if TYPE_CHECKING:
    from kg.dialect.lower import Program

BINARY: dict[str, type[exp.Binary]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "/": exp.Div,
    "=": exp.EQ,
    "<>": exp.NEQ,
    ">": exp.GT,
    ">=": exp.GTE,
    "<": exp.LT,
    "<=": exp.LTE,
    "eq": exp.EQ,
    "neq": exp.NEQ,
    "gt": exp.GT,
    "ge": exp.GTE,
    "lt": exp.LT,
    "le": exp.LTE,
}


def default_columns(get: Get, domain: Domain) -> tuple[Name, ...]:
    """What a call shows that names no columns: the labels of its unbound entities, else what is known of its rows."""
    tables = [domain.table(t) for t in get.tables]
    entities = [t for t in tables if t.is_entity]
    free = [t for i, t in enumerate(entities) if i >= len(get.args) or not _fixed(get.args[i])]
    if free:
        return tuple(Name(t.label, t.name) for t in free)
    rows = [t for t in tables if not t.is_entity] or tables
    return tuple(
        Name(c.name, t.name)
        for t in rows
        for c in t.columns
        if not (c.links and c.links.table in get.tables) and not (c.links and c.links.column in _key(c.links, domain))
    )


def _key(link: Link, domain: Domain) -> tuple[str, ...]:
    return domain.table(link.table).key


def _fixed(arg: Value) -> bool:
    return isinstance(arg, Literal) and not arg.is_none


class Select:
    """One call on its way to a SELECT: the columns it was asked for, and the tables that these need."""

    def __init__(self, program: Program, rows: Rows):
        self.program, self.rows, self.domain = program, rows, program.domain
        self.needed: set[str] = set()
        self.exports: dict[str, tuple[str, exp.Expr]] = {}
        self.line_joins: list[exp.Join] = []
        assert not isinstance(rows.source, Rows)
        self.source = rows.source
        self.joins = Joins(rows.source, self.domain) if isinstance(rows.source, Get) else None
        self.entities = self.joins.entities if self.joins else {}
        self.where: list[exp.Expr] = []
        for table, arg in self.entities.items():
            if not (isinstance(arg, Literal) and arg.is_none):
                self.where.extend(self.binding(self.domain.table(table), arg))
        self.where.extend(self.condition(c) for c in flat(self.source.where))

    # -- names

    def column(self, name: Name) -> exp.Column:
        if isinstance(self.source, Before):
            line = self.source.line
            return exp.column(self.program.column(line, name), table=self.program.names[line])
        assert self.joins is not None
        table, column = self.joins.find(name)
        self.needed.add(table)
        return exp.column(column, table=table)

    def type_of(self, value: Value) -> Column | None:
        """The column that `value` is, if it is one."""
        if not isinstance(value, Name):
            return None
        if self.joins is not None:
            table, column = self.joins.find(value)
            return self.domain.table(table).column(column)
        assert isinstance(self.source, Before)
        before = self.program.lines[self.source.line]
        if isinstance(before, Rows) and not before.aggregate:
            return self.program.select(self.source.line).type_of(value)
        return None

    def defaults(self) -> tuple[Value, ...]:
        if isinstance(self.source, Before):
            before = self.program.lines[self.source.line]
            if isinstance(before, exp.Query):
                return tuple(Name(n) for n in before.named_selects)
            if isinstance(before, Rows) and not before.aggregate:
                return before.show or self.program.select(self.source.line).defaults()
            return (Name(self.program.shown(self.source.line)),)
        return default_columns(self.source, self.domain)

    def export(self, value: Value) -> str:
        """Add a column to what the rows give; return the name it has there."""
        found = self.program.scalar(value, self)
        text = found.sql("duckdb")
        if text not in self.exports:
            name = found.name if isinstance(found, exp.Column) else "value"
            names = {alias for alias, _ in self.exports.values()}
            if name in names:
                base = f"{found.table}_{found.name}" if isinstance(found, exp.Column) else "value"
                name = base if base not in names else next(n for i in range(2, 99) if (n := f"{base}_{i}") not in names)
            self.exports[text] = (name, found)
        return self.exports[text][0]

    # -- conditions

    def binding(self, table: Table, arg: Value) -> Iterator[exp.Expr]:
        """What the argument of an entity table says of its rows."""
        if isinstance(arg, Literal):
            column = table.label
            if arg.kind == "number":
                if len(table.key) != 1:
                    raise QueryError(f"{table.name} has no single number as its key.", hint=f"Write its {table.label}.")
                column = table.key[0]
            yield exp.EQ(
                this=self.column(Name(column, table.name)),
                expression=literal(_coerced(arg, table.column(column))),
            )
            return
        assert isinstance(arg, Star)
        column, given, where = self.link_to_line(table, arg.line)
        name = self.program.names[arg.line]
        own = self.column(Name(column, table.name))
        if not where:
            yield exp.In(this=own, query=exp.Subquery(this=self.program.values(arg.line, given)))
            return
        on: exp.Expr = exp.EQ(this=own, expression=exp.column(given, table=name))
        extra = parse_one(where, dialect="duckdb")
        for found in list(extra.find_all(exp.Column)):
            if found.table == table.name:
                self.needed.add(table.name)
            else:
                there = self.program.column(arg.line, Name(found.name, found.table))
                found.replace(exp.column(there, table=name))
        self.line_joins.append(exp.Join(this=exp.to_table(name), on=exp.and_(on, extra)))

    def link_to_line(self, table: Table, k: int) -> tuple[str, str, str]:
        """How `table` hangs on line `k`: its own column, the line's, and a further condition."""
        line = self.program.lines[k]
        if isinstance(line, exp.Query):
            for key in table.key[:1]:
                for name in (f"{table.name}_{key}", key):
                    if name in line.named_selects:
                        return key, name, ""
            return table.label, self.program.shown(k), ""
        there = self.program.select(k) if isinstance(line, Rows) and not line.aggregate else None
        if there is None or there.joins is None or not isinstance(line, Rows):
            return table.label, self.program.shown(k), ""
        links = list(there.joins.links_to(table))
        keys = [(name, link) for name, link in links if link.column in table.key]
        bound = table.name in there.entities and table.name not in there.joins.free()
        if not keys and bound and len(table.key) == 1:
            return table.key[0], there.export(Name(table.key[0], table.name)), ""
        if not keys and len(line.show) == 1 and isinstance(line.show[0], Name):
            # a link that is not to the key holds if it is the one shown
            shown = there.joins.find(line.show[0])
            links.sort(key=lambda found: (found[0].table, found[0].column) != shown)
        for own, link in [*keys, *links]:
            return link.column, there.export(own), link.where
        if table.name in there.entities and len(table.key) == 1:
            return table.key[0], there.export(Name(table.key[0], table.name)), ""
        return table.label, self.program.shown(k), ""

    def condition(self, condition: Condition) -> exp.Expr:
        if isinstance(condition, Group):
            parts = [self.condition(c) for c in condition.conditions]
            if condition.how == "not":
                return exp.Not(this=wrapped(parts[0], connectors=True))
            joined = exp.and_(*parts) if condition.how == "all" else exp.or_(*parts)
            return exp.Paren(this=joined) if len(parts) > 1 else parts[0]
        left = wrapped(self.program.scalar(condition.left, self))
        column = self.type_of(condition.left)
        values = [_coerced(v, column) if isinstance(v, Literal) else v for v in condition.values]
        first = values[0]
        if condition.op == "in" or (condition.op in ("eq", "neq") and isinstance(first, Star)):
            found: exp.Expr = self.membership(left, condition.left, values)
            return exp.Not(this=found) if condition.op == "neq" else found
        if isinstance(first, Literal) and first.is_none:
            if condition.op not in ("eq", "neq"):
                raise QueryError(f"{condition.op}(...) cannot compare with NONE.", hint="eq and neq can.")
            absent = exp.Is(this=left, expression=exp.null())
            return exp.Not(this=absent) if condition.op == "neq" else absent
        if condition.op == "between":
            low, high = (wrapped(self.program.scalar(v, self)) for v in values)
            return exp.Between(this=left, low=low, high=high)
        if condition.op == "like":
            if not isinstance(first, Literal) or first.kind != "text":
                raise QueryError("like(column, text) needs a text in quotes.")
            pattern = first.text if "%" in first.text else f"%{first.text}%"
            return exp.ILike(this=left, expression=exp.Literal.string(pattern))
        return BINARY[condition.op](this=left, expression=wrapped(self.program.scalar(first, self)))

    def membership(self, left: exp.Expr, value: Value, values: list[Value]) -> exp.In:
        first = values[0]
        if isinstance(first, Star):
            given = self.program.shown(first.line) if not isinstance(value, Name) else self.given(value, first.line)
            return exp.In(this=left, query=exp.Subquery(this=self.program.values(first.line, given)))
        if isinstance(first, Rows):
            folded = self.program.folded(first)
            assert isinstance(folded, Rows)
            return exp.In(
                this=left, query=exp.Subquery(this=Select(self.program, replace(folded, every=True)).answer())
            )
        return exp.In(this=left, expressions=[self.program.scalar(v, self) for v in values])

    def given(self, name: Name, k: int) -> str:
        """What of line `k` the values of a column are looked up in: what it shows, or else the same thing."""
        line = self.program.lines[k]
        there = self.program.select(k) if isinstance(line, Rows) and not line.show and not line.aggregate else None
        if self.joins is None or there is None or there.joins is None:
            return self.program.shown(k)
        table, column = self.joins.find(name)
        own = self.domain.table(table).column(column)
        same = {(table, column)} | ({(own.links.table, own.links.column)} if own.links else set())
        for other in there.joins.get.tables:
            for c in self.domain.table(other).columns:
                linked = (c.links.table, c.links.column) if c.links else None
                if ((other, c.name) in same or linked in same) and c.name not in there.joins.lacks(other):
                    return there.export(Name(c.name, other))
        return self.program.shown(k)

    # -- the select

    def order(self) -> list[tuple[Value, bool]]:
        """The sort keys; without any, the best known of the entities that share a name comes first."""
        if self.rows.keys:
            return list(self.rows.keys)
        found: list[tuple[Value, bool]] = []
        for name, arg in self.entities.items():
            rank = self.domain.table(name).rank
            if rank and isinstance(arg, Literal) and arg.kind == "text":
                found.append((Name(rank.lstrip("-"), name), rank.startswith("-")))
        return found

    def answer(self) -> exp.Select:
        """The select of a last line: its first row, unless all are wanted."""
        take = self.rows.take
        if take is None and not self.rows.every:
            take = (0, 1)
        return self.shown(take)

    def one(self) -> exp.Select:
        """The select as a single value."""
        shown = self.rows.show or self.defaults()
        if not self.rows.aggregate and len(shown) != 1:
            raise QueryError(
                f"{listed(spelled(v) for v in shown)} cannot be one value.", hint="Name one column in brackets."
            )
        return self.shown((self.rows.take[0] if self.rows.take else 0, 1))

    def shown(self, take: tuple[int, int | None] | None) -> exp.Select:
        if self.rows.aggregate:
            return self.aggregated()
        for value in self.rows.show or self.defaults():
            self.export(value)
        return self.listing(take)

    def rows_asked(self) -> exp.Select:
        """The select of a line before: the columns that later lines asked for, of all its rows unless it is cut."""
        return self.listing(self.rows.take)

    def listing(self, take: tuple[int, int | None] | None) -> exp.Select:
        # [:1] has one row to show, so repeats are no matter
        keys = self.order() if take or self.rows.keys else []
        columns = [
            e.copy() if isinstance(e, exp.Column) and a == e.name else exp.alias_(e, a) for a, e in self._exported()
        ]
        order = [exp.Ordered(this=self.program.scalar(key, self), desc=down or None) for key, down in keys]
        query = self.joined(exp.Select(expressions=columns))
        if take != (0, 1) and self.repeats(query):
            missing = [o.this for o in order if o.this.sql("duckdb") not in self.exports]
            if missing:  # ORDER BY may not name what DISTINCT leaves out
                query.set(
                    "group",
                    exp.Group(expressions=[e.copy() for _, e in self._exported()] + [m.copy() for m in missing]),
                )
            else:
                query.set("distinct", exp.Distinct())
        if order:
            query.set("order", exp.Order(expressions=order))
        return _cut(query, take)

    def _exported(self) -> list[tuple[str, exp.Expr]]:
        return list(self.exports.values())

    def repeats(self, query: exp.Select) -> bool:
        """Whether texts are listed that may come several times."""
        if isinstance(self.source, Before):
            return False
        joined = bool(query.args.get("joins"))
        for _, found in self._exported():
            if isinstance(found, exp.Column) and found.table in self.domain.by_name:
                table = self.domain.table(found.table)
                if table.column(found.name).type == "TEXT" and (joined or not table.is_entity):
                    return True
        return False

    def aggregated(self) -> exp.Select:
        name = self.rows.aggregate
        show = self.rows.show
        if self.rows.take is not None or (len(show) > 1 and name == "len"):
            inner = Select(self.program, replace(self.rows, aggregate="", every=True)).answer()
            if name != "len" and len(inner.expressions) != 1:
                raise QueryError(f"{name} needs one column.", hint=f"Write [{name}(column)].")
            value: exp.Expr = (
                exp.Star() if name == "len" else exp.column(inner.expressions[0].alias_or_name, table="rows")
            )
            query = exp.Select(expressions=[exp.alias_(_aggregate(name, value), name)])
            return query.from_(inner.subquery("rows", copy=False), copy=False)
        if len(show) > 1 or (not show and name != "len"):
            raise QueryError(f"{name} needs one column.", hint=f"Write get_...(...)[{name}(column)].")
        value = self.program.scalar(show[0], self) if show else self.counted()
        own = exp.Select(expressions=[exp.alias_(_aggregate(name, value, distinct=name == "len"), name)])
        query = self.joined(own)
        table = value.table if isinstance(value, exp.Column) else ""
        if name in ("avg", "sum", "median") and query.args.get("joins") and table in self.entities:
            # an actor with two roles is joined twice to a film, which counts once
            key = [self.column(Name(k, table)) for k in self.domain.table(table).key if k != value.name]
            query.set("expressions", [value.copy(), *key])
            query.set("distinct", exp.Distinct())
            outer = exp.Select(expressions=[exp.alias_(_aggregate(name, exp.column(value.name, table="rows")), name)])
            return outer.from_(query.subquery("rows", copy=False), copy=False)
        return query

    def counted(self) -> exp.Expr:
        """What [len] counts: the different entities that the rows lead to if there is one kind, else the rows."""
        free = self.joins.free() if self.joins else []
        if self.joins and len(free) == 1 and len(self.joins.get.tables) > 1:
            table = self.domain.table(free[0])
            if len(table.key) == 1:
                for name, link in self.joins.links_to(table):
                    if link.column == table.key[0]:
                        return self.column(name)
                return self.column(Name(table.key[0], table.name))
        return exp.Star()

    def joined(self, query: exp.Select) -> exp.Select:
        """`query` with its FROM, joins and WHERE."""
        if self.joins is None:
            assert isinstance(self.source, Before)
            query = query.from_(exp.to_table(self.program.names[self.source.line]), copy=False)
        else:
            query = self.joins.add_to(query, self.needed)
        for join in self.line_joins:
            query.append("joins", join)
        if self.where:
            query = query.where(*self.where, copy=False)
        return query


def _cut(query: exp.Select, take: tuple[int, int | None] | None) -> exp.Select:
    if take is not None:
        offset, limit = take
        query = query if limit is None else query.limit(limit, copy=False)
        query = query.offset(offset, copy=False) if offset else query
    return query


def _aggregate(name: str, value: exp.Expr, *, distinct: bool = False) -> exp.Expr:
    if name == "len":
        inner = value if isinstance(value, exp.Star) or not distinct else exp.Distinct(expressions=[value])
        return exp.Count(this=inner)
    kinds: dict[str, type[exp.Func]] = {
        "avg": exp.Avg,
        "sum": exp.Sum,
        "min": exp.Min,
        "max": exp.Max,
        "median": exp.Median,
    }
    return kinds[name](this=value)


def literal(value: Literal) -> exp.Expr:
    if value.kind == "text":
        return exp.Literal.string(value.text)
    if value.kind == "number":
        if value.text.startswith("-"):
            return exp.Neg(this=exp.Literal.number(value.text[1:]))
        return exp.Literal.number(value.text)
    return exp.null() if value.is_none else exp.Boolean(this=value.text == "TRUE")


def _coerced(value: Literal, column: Column | None) -> Literal:
    """The literal as the column's type would have it written: models put numbers and truth in quotes."""
    if column is None:
        return value
    if value.kind == "text" and column.numeric:
        text = value.text.strip().replace(",", "")
        return Literal("number", text) if text.removeprefix("-").replace(".", "", 1).isdigit() else value
    if column.type == "BOOLEAN" and value.text.lower() in ("true", "false", "1", "0"):
        return Literal("word", "TRUE" if value.text.lower() in ("true", "1") else "FALSE")
    if value.kind == "number" and column.type == "TEXT":
        return Literal("text", value.text)
    return value


def wrapped(value: exp.Expr, *, connectors: bool = False) -> exp.Expr:
    binary = isinstance(value, exp.Binary) or (connectors and isinstance(value, exp.Between | exp.In | exp.Is))
    return exp.Paren(this=value) if binary else value


def spelled(value: Value) -> str:
    return (
        f"{value.table}.{value.column}"
        if isinstance(value, Name) and value.table
        else getattr(value, "column", "value")
    )
