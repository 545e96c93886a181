"""From the call spelling to SQL: the lines of a program become one SELECT over the domain's tables.

A call joins the tables it names along their links. An entity table that is neither bound nor used is left out where
a link to it stands for it: fewer calls. A line that a later line refers to becomes a CTE holding the columns that
are asked of it; `sort` over an uncut call is folded into that call. Listing texts through a join, or of a table
without a label, lists each once; a plain lookup of an entity table, and numbers and dates, are listed as they come.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

from sqlglot import exp

from kg.dialect.calls import Before, Condition, Func, Get, Literal, Name, Neg, Op, Rows, Star, Value, listed
from kg.dialect.selects import BINARY, Select, literal, spelled, wrapped
from kg.domain import Domain
from kg.errors import QueryError

Line = Value | exp.Query


def lower(lines: list[Line], domain: Domain) -> exp.Query:
    """Return one SELECT for the lines; a line of SQL is a query already. Raises QueryError with a hint.

    Of several lines that no later line uses, each gives a column of one row.
    """
    return Program(lines, domain).query()


class Program:
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
        self.selects: dict[int, Select] = {}

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
            return Select(self, line).answer()
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

    def select(self, k: int) -> Select:
        """The select of line `k`, to which columns are added as later lines ask for them."""
        if k not in self.selects:
            line = self.lines[k]
            assert isinstance(line, Rows)
            self.selects[k] = Select(self, line)
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
                hint=f"It shows {listed(spelled(v) for v in shown)}. Name one in brackets.",
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

    def scalar(self, value: Value, scope: Select | None = None) -> exp.Expr:
        """`value` as a SQL expression; names are columns of `scope`."""
        match value:
            case Literal():
                return literal(value)
            case Name():
                if scope is None:
                    raise QueryError(
                        f"{value.column} stands alone.", hint=f"Say of which row, as in get_...(...)[{value.column}]."
                    )
                return scope.column(value)
            case Op():
                left, right = self.scalar(value.left, scope), self.scalar(value.right, scope)
                return BINARY[value.sign](this=wrapped(left), expression=wrapped(right))
            case Neg():
                return exp.Neg(this=wrapped(self.scalar(value.value, scope)))
            case Func():
                return exp.Anonymous(this=value.name, expressions=[self.scalar(a, scope) for a in value.args])
            case Star():
                return self.first_of(value.line)
            case Rows():
                folded = self.folded(value)
                assert isinstance(folded, Rows)
                return exp.Subquery(this=Select(self, folded).one())

    def first_of(self, k: int) -> exp.Expr:
        query = self.values(k, self.shown(k))
        line = self.lines[k]
        if isinstance(line, Rows) and not line.aggregate:
            select = self.select(k)
            for key, down in select.order():
                name = exp.column(select.export(key), table=self.names[k])
                query = query.order_by(exp.Ordered(this=name, desc=down or None), copy=False)
        return exp.Subquery(this=query.limit(1))


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
