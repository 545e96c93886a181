"""From the call spelling to SQL: the lines of a program become one SELECT over the domain's tables.

A call joins the tables it names along their links. An entity table that is neither bound nor used is left out where
a link to it stands for it: fewer calls. A line that a later line refers to becomes a CTE holding the columns that
are asked of it; `sort` over an uncut call is folded into that call. Listing texts through a join, or of a table
without a label, lists each once; a plain lookup of an entity table, and numbers and dates, are listed as they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from sqlglot import exp, parse_one

from kg.calls import (
    Before,
    Condition,
    Func,
    Get,
    Group,
    Literal,
    Name,
    Neg,
    Op,
    Rows,
    Star,
    Test,
    Value,
    did_you_mean,
    listed,
)
from kg.domain import Column, Domain, Link, Table
from kg.errors import QueryError

Line = Value | exp.Query

_BINARY: dict[str, type[exp.Binary]] = {
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


def lower(lines: list[Line], domain: Domain) -> exp.Query:
    """Return one SELECT for the lines; a line of SQL is a query already. Raises QueryError with a hint.

    Of several lines that no later line uses, each gives a column of one row.
    """
    return _Program(lines, domain).query()


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


class _Program:
    def __init__(self, lines: list[Line], domain: Domain):
        self.domain = domain
        self.lines: list[Line] = []
        for line in lines:
            self.lines.append(line if isinstance(line, exp.Query) else self.folded(line))
        # a line folded into a later one is no answer of its own
        folded = {k for line in lines if not isinstance(line, exp.Query) for k in _references(line)}
        self.answers = [k for k in range(len(self.lines)) if k not in folded]
        taken = {t.name for line in self.lines if isinstance(line, exp.Query) for t in line.find_all(exp.Table)}
        free = (f"line{n}" for n in range(1, len(lines) + len(taken) + 1) if f"line{n}" not in taken)
        self.names = {k: next(free) for k in sorted(self._all_used())}
        self.selects: dict[int, _Select] = {}

    def _all_used(self) -> set[int]:
        """The lines that the answers need, directly or through other lines."""
        needed, waiting = set[int](), list(self.answers)
        while waiting:
            line = self.lines[waiting.pop()]
            for k in () if isinstance(line, exp.Query) else _references(line):
                if k not in needed:
                    needed.add(k)
                    waiting.append(k)
        return needed

    def folded(self, value: Value) -> Value:
        """`value` with each sort over an uncut call made a part of that call."""
        if isinstance(value, Op):
            return replace(value, left=self.folded(value.left), right=self.folded(value.right))
        if isinstance(value, Func):
            return replace(value, args=tuple(self.folded(a) for a in value.args))
        if isinstance(value, Neg):
            return Neg(self.folded(value.value))
        if not isinstance(value, Rows) or isinstance(value.source, Get):
            return value
        if isinstance(value.source, Rows):
            inner = self.folded(value.source)
            assert isinstance(inner, Rows)
            if inner.take is not None or inner.aggregate:
                raise QueryError("sort takes a call that is not cut.", hint="Write the call on a line of its own.")
            return _fold(replace(value, every=value.every or inner.every), inner, ())
        before = self.lines[value.source.line]
        if isinstance(before, Rows) and before.take is None and not before.aggregate:
            return _fold(value, before, value.source.where)
        return value

    def query(self) -> exp.Query:
        if len(self.answers) == 1:
            last = self.lines[self.answers[0]]
            if isinstance(last, exp.Query) and not self.names:
                return last
            query = self.answer(last)
        else:
            query = self.answers_together()
        ctes: list[exp.CTE] = []
        for k in sorted(self.names, reverse=True):
            name = exp.TableAlias(this=exp.to_identifier(self.names[k]))
            ctes.append(exp.CTE(this=self.rows_of(k), alias=name))
        if ctes:
            query.set("with_", exp.With(expressions=ctes[::-1]))
        return query

    def answer(self, line: Line) -> exp.Query:
        if isinstance(line, exp.Query):
            return line.copy()
        if isinstance(line, Rows):
            return _Select(self, line).answer()
        return exp.Select(expressions=[exp.alias_(self.scalar(line), "value")])

    def answers_together(self) -> exp.Select:
        columns: list[exp.Expr] = []
        names: list[str] = []
        for k in self.answers:
            line = self.lines[k]
            if isinstance(line, exp.Query):
                raise QueryError("A program is one query.", hint="Refer to an earlier line with *, or join.")
            if isinstance(line, Rows) and (line.every or line.take is not None):
                raise QueryError(
                    f"Line {k + 1} lists several rows, but no later line uses it.",
                    hint="Refer to it with *, or remove it.",
                )
            name = "value"
            if isinstance(line, Rows):
                shown = line.show or (() if line.aggregate else self.select(k).defaults())
                name = line.aggregate or (shown[0].column if shown and isinstance(shown[0], Name) else "value")
            if name in names:
                name = next(n for i in range(2, 99) if (n := f"{name}_{i}") not in names)
            names.append(name)
            columns.append(exp.alias_(self.scalar(line), name))
        return exp.Select(expressions=columns)

    def select(self, k: int) -> _Select:
        """The select of line `k`, to which columns are added as later lines ask for them."""
        if k not in self.selects:
            line = self.lines[k]
            assert isinstance(line, Rows)
            self.selects[k] = _Select(self, line)
        return self.selects[k]

    def rows_of(self, k: int) -> exp.Query:
        line = self.lines[k]
        if isinstance(line, exp.Query):
            return line.copy()
        if not isinstance(line, Rows) or line.aggregate:
            return self.answer(line)
        return self.select(k).rows_asked()

    # -- what an earlier line gives

    def shown(self, k: int) -> str:
        """The name under which line `k` gives the one column it shows."""
        line = self.lines[k]
        if isinstance(line, exp.Query):
            names = line.named_selects
            if len(names) != 1 or names[0] in ("", "*"):
                raise QueryError(f"Line {k + 1} must give one named column to be used as *.")
            return names[0]
        if not isinstance(line, Rows):
            return "value"
        if line.aggregate:
            return line.aggregate
        select = self.select(k)
        shown = line.show or select.defaults()
        if len(shown) != 1:
            raise QueryError(
                f"Line {k + 1} must show one column to be used as *.",
                hint=f"It shows {listed(_spelled(v) for v in shown)}. Name one in brackets.",
            )
        return select.export(shown[0])

    def column(self, k: int, name: Name) -> str:
        """The name under which line `k` gives the column."""
        line = self.lines[k]
        if isinstance(line, exp.Query):
            names = line.named_selects
            if name.column not in names and "*" not in names:
                raise QueryError(f"Line {k + 1} has no column {name.column}.", hint=f"It has: {listed(names)}.")
            return name.column
        if not isinstance(line, Rows) or line.aggregate:
            return self.shown(k)
        return self.select(k).export(name)

    def values(self, k: int, column: str) -> exp.Query:
        return exp.select(exp.column(column, table=self.names[k])).from_(exp.to_table(self.names[k]))

    # -- values

    def scalar(self, value: Value, scope: _Select | None = None) -> exp.Expr:
        """`value` as a SQL expression; names are columns of `scope`."""
        match value:
            case Literal():
                return _literal(value)
            case Name():
                if scope is None:
                    raise QueryError(
                        f"{value.column} stands alone.", hint=f"Say of which row, as in get_...(...)[{value.column}]."
                    )
                return scope.column(value)
            case Op():
                left, right = self.scalar(value.left, scope), self.scalar(value.right, scope)
                return _BINARY[value.sign](this=_wrapped(left), expression=_wrapped(right))
            case Neg():
                return exp.Neg(this=_wrapped(self.scalar(value.value, scope)))
            case Func():
                return exp.Anonymous(this=value.name, expressions=[self.scalar(a, scope) for a in value.args])
            case Star():
                return self.first_of(value.line)
            case Rows():
                folded = self.folded(value)
                assert isinstance(folded, Rows)
                return exp.Subquery(this=_Select(self, folded).one())

    def first_of(self, k: int) -> exp.Expr:
        query = self.values(k, self.shown(k))
        line = self.lines[k]
        if isinstance(line, Rows) and not line.aggregate:
            select = self.select(k)
            for key, down in select.order():
                name = exp.column(select.export(key), table=self.names[k])
                query = query.order_by(exp.Ordered(this=name, desc=down or None), copy=False)
        return exp.Subquery(this=query.limit(1))


class _Select:
    """One call on its way to a SELECT: the columns it was asked for, and the tables that these need."""

    def __init__(self, program: _Program, rows: Rows):
        self.program, self.rows, self.domain = program, rows, program.domain
        self.needed: dict[str, None] = {}
        self.exports: dict[str, tuple[str, exp.Expr]] = {}
        self.line_joins: list[exp.Join] = []
        assert not isinstance(rows.source, Rows)
        self.source = rows.source
        self.entities: dict[str, Value] = {}
        if isinstance(self.source, Get):
            named = [t for t in self.source.tables if self.domain.table(t).is_entity]
            none = Literal("word", "NONE")
            args = (*self.source.args, *(none for _ in named[len(self.source.args) :]))
            self.entities = dict(zip(named, args, strict=True))
        self.bound = self._bound_columns()
        self.where: list[exp.Expr] = []
        for table, arg in self.entities.items():
            if not (isinstance(arg, Literal) and arg.is_none):
                self.where.extend(self.binding(self.domain.table(table), arg))
        self.where.extend(self.condition(c) for c in _flat(self.source.where))

    # -- names

    def find(self, name: Name) -> tuple[str, str]:
        """The table and column that `name` means among the tables of the call."""
        assert isinstance(self.source, Get)
        tables = [self.domain.table(t) for t in self.source.tables]
        if name.table:
            if name.table not in self.source.tables:
                raise QueryError(
                    f"{name.table} is not a table of get_{'_'.join(self.source.tables)}.",
                    hint=f"It has: {listed(self.source.tables)}.",
                )
            tables = [self.domain.table(name.table)]
        else:
            tables.sort(key=lambda t: self._rank(t, name.column))
        for table in tables:
            if name.column in table.by_name:
                return table.name, name.column
        known = [c.name for t in tables for c in t.columns]
        where = f"{listed(t.name for t in tables)}"
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

    def column(self, name: Name) -> exp.Column:
        if isinstance(self.source, Before):
            line = self.source.line
            return exp.column(self.program.column(line, name), table=self.program.names[line])
        table, column = self.find(name)
        self.needed[table] = None
        return exp.column(column, table=table)

    def type_of(self, value: Value) -> Column | None:
        """The column that `value` is, if it is one."""
        if not isinstance(value, Name):
            return None
        if isinstance(self.source, Get):
            table, column = self.find(value)
            return self.domain.table(table).column(column)
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

    def _bound_columns(self) -> dict[str, set[str]]:
        """Table to the columns that a condition or a bound entity fixes; tells which link will be at hand."""
        bound: dict[str, set[str]] = {}
        if isinstance(self.source, Before):
            return bound
        for condition in _flat(self.source.where):
            if isinstance(condition, Test) and condition.op in ("eq", "in", "ge", "gt", "le", "lt", "between"):
                if isinstance(condition.left, Name):
                    table, column = self.find(condition.left)
                    bound.setdefault(table, set()).add(column)
        for table in self.source.tables:
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
                expression=_literal(_coerced(arg, table.column(column))),
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
                self.needed[table.name] = None
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
        if not isinstance(line, Rows) or line.aggregate or isinstance(line.source, Before):
            return table.label, self.program.shown(k), ""
        there = self.program.select(k)
        if len(line.show) == 1 and isinstance(line.show[0], Name):
            chosen = there.type_of(line.show[0])
            if chosen is not None and chosen.links and chosen.links.table == table.name:
                return chosen.links.column, there.export(line.show[0]), chosen.links.where
        for link_name, link in there.links_to(table):
            if link.column in table.key:
                return link.column, there.export(link_name), link.where
        if table.name in there.entities and len(table.key) == 1:
            return table.key[0], there.export(Name(table.key[0], table.name)), ""
        for link_name, link in there.links_to(table):
            return link.column, there.export(link_name), link.where
        return table.label, self.program.shown(k), ""

    def links_to(self, table: Table) -> Iterator[tuple[Name, Link]]:
        """The columns among the call's tables that lead to `table` and can be had."""
        assert isinstance(self.source, Get)
        for name in self.source.tables:
            lacks = self.lacks(name)
            for column in self.domain.table(name).columns:
                if column.links and column.links.table == table.name and column.name not in lacks:
                    yield Name(column.name, name), column.links

    def condition(self, condition: Condition) -> exp.Expr:
        if isinstance(condition, Group):
            parts = [self.condition(c) for c in condition.conditions]
            if condition.how == "not":
                return exp.Not(this=_wrapped(parts[0], connectors=True))
            joined = exp.and_(*parts) if condition.how == "all" else exp.or_(*parts)
            return exp.Paren(this=joined) if len(parts) > 1 else parts[0]
        left = _wrapped(self.program.scalar(condition.left, self))
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
            low, high = (_wrapped(self.program.scalar(v, self)) for v in values)
            return exp.Between(this=left, low=low, high=high)
        if condition.op == "like":
            if not isinstance(first, Literal) or first.kind != "text":
                raise QueryError("like(column, text) needs a text in quotes.")
            pattern = first.text if "%" in first.text else f"%{first.text}%"
            return exp.ILike(this=left, expression=exp.Literal.string(pattern))
        return _BINARY[condition.op](this=left, expression=_wrapped(self.program.scalar(first, self)))

    def membership(self, left: exp.Expr, value: Value, values: list[Value]) -> exp.In:
        first = values[0]
        if isinstance(first, Star):
            given = self.program.shown(first.line) if not isinstance(value, Name) else self.given(value, first.line)
            return exp.In(this=left, query=exp.Subquery(this=self.program.values(first.line, given)))
        if isinstance(first, Rows):
            folded = self.program.folded(first)
            assert isinstance(folded, Rows)
            return exp.In(
                this=left, query=exp.Subquery(this=_Select(self.program, replace(folded, every=True)).answer())
            )
        return exp.In(this=left, expressions=[self.program.scalar(v, self) for v in values])

    def given(self, name: Name, k: int) -> str:
        """What of line `k` the values of a column are looked up in: what it shows, or else the same thing."""
        line = self.program.lines[k]
        if isinstance(self.source, Get) and isinstance(line, Rows) and not line.show and not line.aggregate:
            if isinstance(line.source, Get):
                table, column = self.find(name)
                own = self.domain.table(table).column(column)
                same = {(table, column)} | ({(own.links.table, own.links.column)} if own.links else set())
                there = self.program.select(k)
                for other in line.source.tables:
                    for c in self.domain.table(other).columns:
                        linked = (c.links.table, c.links.column) if c.links else None
                        if ((other, c.name) in same or linked in same) and c.name not in there.lacks(other):
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
                f"{listed(_spelled(v) for v in shown)} cannot be one value.", hint="Name one column in brackets."
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
            inner = _Select(self.program, replace(self.rows, aggregate="", every=True)).answer()
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
        free = self.free()
        assert isinstance(self.source, Get) or not free
        if isinstance(self.source, Get) and len(free) == 1 and len(self.source.tables) > 1:
            table = self.domain.table(free[0])
            if len(table.key) == 1:
                for name, link in self.links_to(table):
                    if link.column == table.key[0]:
                        return self.column(name)
                return self.column(Name(table.key[0], table.name))
        return exp.Star()

    def joined(self, query: exp.Select) -> exp.Select:
        """`query` with its FROM, joins and WHERE."""
        if isinstance(self.source, Before):
            query = query.from_(exp.to_table(self.program.names[self.source.line]), copy=False)
        else:
            tables = self.tables()
            query = query.from_(_table(tables[0]), copy=False)
            waiting, have = tables[1:], tables[:1]
            while waiting:
                name, on = next(((t, on) for t in waiting if (on := self.edges(t, have))), ("", []))
                if not name:
                    raise self.unlinked(have[0] if len(have) == 1 else have[-1], waiting)
                waiting.remove(name)
                have.append(name)
                query.append("joins", exp.Join(this=_table(name), on=exp.and_(*on)))
        for join in self.line_joins:
            query.append("joins", join)
        if self.where:
            query = query.where(*self.where, copy=False)
        return query

    def tables(self) -> list[str]:
        """The tables to join: those named, less the entities that nothing is asked of and a link stands for."""
        assert isinstance(self.source, Get)
        kept = list(self.source.tables)
        for name in self.free():
            others = [t for t in kept if t != name]
            linked = any(c.links and c.links.table == name for t in others for c in self.domain.table(t).columns)
            if name not in self.needed and linked and self.connected(others):
                kept = others
        return kept

    def connected(self, tables: list[str]) -> bool:
        have, waiting = tables[:1], tables[1:]
        while waiting:
            name = next((t for t in waiting if self.edges(t, have)), None)
            if name is None:
                return False
            waiting.remove(name)
            have.append(name)
        return True

    def edges(self, new: str, have: list[str]) -> list[exp.Expr]:
        """The conditions that join `new` to the tables already there; none if nothing links them."""
        found: list[exp.Expr] = []
        for old in have:
            found.extend(self.between(new, old) or self.between(old, new, flip=True))
        assert isinstance(self.source, Get)
        gone = [
            t for t in self.source.tables if t not in have and t not in self.needed and self.domain.table(t).is_entity
        ]
        for old in have:
            # two tables that link to the same entity, which itself is not needed
            for column in self.domain.table(new).columns:
                for other in self.domain.table(old).columns:
                    if (
                        column.links
                        and column.links == other.links
                        and not column.links.where
                        and column.links.table in gone
                    ):
                        found.append(
                            exp.EQ(
                                this=exp.column(column.name, table=new), expression=exp.column(other.name, table=old)
                            )
                        )
        return found

    def between(self, source: str, target: str, *, flip: bool = False) -> list[exp.Expr]:
        """The join along the best link from `source` to `target`: by key if the key is at hand."""
        lacks = self.lacks(source)
        key = self.domain.table(target).key
        links = [c for c in self.domain.table(source).columns if c.links and c.links.table == target]
        links.sort(key=lambda c: (c.name in lacks, c.links is not None and c.links.column not in key))
        for column in links[:1]:
            assert column.links
            one, two = exp.column(column.name, table=source), exp.column(column.links.column, table=target)
            on: list[exp.Expr] = [exp.EQ(this=two, expression=one) if flip else exp.EQ(this=one, expression=two)]
            if column.links.where:
                on.append(parse_one(column.links.where, dialect="duckdb"))
            return on
        return []

    def unlinked(self, have: str, waiting: list[str]) -> QueryError:
        assert isinstance(self.source, Get)
        apart = (have, waiting[0])
        between = [
            t.name
            for t in self.domain.tables
            if t.name not in self.source.tables and set(apart) <= {c.links.table for c in t.columns if c.links}
        ]
        hint = f"Tables that link them: {listed(between)}." if between else ""
        if between:
            hint += f" Write get_{'_'.join((*self.source.tables, between[0]))}(...)."
        return QueryError(f"Nothing links {apart[0]} and {apart[1]} in get_{'_'.join(self.source.tables)}.", hint=hint)


# -- small things


def _fold(outer: Rows, inner: Rows, where: tuple[Condition, ...]) -> Rows:
    assert not isinstance(inner.source, Rows)
    return Rows(
        source=replace(inner.source, where=(*inner.source.where, *where)),
        every=outer.every,
        keys=outer.keys or inner.keys,
        show=outer.show or inner.show,
        aggregate=outer.aggregate,
        take=outer.take,
    )


def _references(node: object) -> set[int]:
    """The earlier lines that a syntax tree refers to."""
    if isinstance(node, Star):
        return {node.line}
    found = {node.line} if isinstance(node, Before) else set[int]()
    if isinstance(node, tuple):
        for item in node:
            found |= _references(item)
    elif is_dataclass(node):
        for field in fields(node):
            found |= _references(getattr(node, field.name))
    return found


def _flat(conditions: tuple[Condition, ...]) -> Iterator[Condition]:
    for condition in conditions:
        if isinstance(condition, Group) and condition.how == "all":
            yield from _flat(condition.conditions)
        else:
            yield condition


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name))


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


def _literal(value: Literal) -> exp.Expr:
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


def _wrapped(value: exp.Expr, *, connectors: bool = False) -> exp.Expr:
    binary = isinstance(value, exp.Binary) or (connectors and isinstance(value, exp.Between | exp.In | exp.Is))
    return exp.Paren(this=value) if binary else value


def _spelled(value: Value) -> str:
    return (
        f"{value.table}.{value.column}"
        if isinstance(value, Name) and value.table
        else getattr(value, "column", "value")
    )
