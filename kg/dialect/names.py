"""Which source each name of a query means, and whether values are compared with their like.

An unqualified name is a column of the innermost SELECT's own sources, never of an outer query: a slip in a subquery
would otherwise bind to the outer row and filter nothing (tobymao/sqlglot#6639). An outer column is written with
its alias.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field

from sqlglot import exp

from kg.dialect.calls import did_you_mean, listed
from kg.domain import Domain
from kg.errors import QueryError

# DuckDB's reserved, function and column-name keywords: as names they need quotes (duckdb_keywords(), 2.0)
_KEYWORDS = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization between bigint binary bit
    boolean both by case cast char character check coalesce collate collation column columns concurrently
    constraint create cross dec decimal default deferrable desc describe distinct do else end except exists
    extract false fetch float for foreign freeze from full generated glob group grouping grouping_id having
    ilike in initially inner inout int integer intersect interval into is isnull join lambda lateral leading
    left like limit map national natural nchar none not notnull null nullif numeric offset on only or order out
    outer overlaps overlay pivot pivot_longer pivot_wider placing position positional precision primary qualify
    real references returning right row select semi setof show similar smallint some struct substring summarize
    symmetric table tablesample then time timestamp to trailing treat trim true try_cast tuple union unique
    unpack unpivot using values varchar variadic verbose when where window with xmlattributes xmlconcat
    xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable"""
KEYWORDS = frozenset(_KEYWORDS.split())
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")

Columns = dict[str, str]  # column -> type; "" where it is not known

_NUMBERS = ("INTEGER", "BIGINT", "DOUBLE")
_CAST_TYPES = {
    "TEXT": "TEXT",
    "VARCHAR": "TEXT",
    "CHAR": "TEXT",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "INTEGER",
    "SMALLINT": "INTEGER",
    "INT": "INTEGER",
    "BIGINT": "BIGINT",
    "FLOAT": "DOUBLE",
    "DOUBLE": "DOUBLE",
    "DECIMAL": "DOUBLE",
}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)


MAX_COPIED = 2_000


def identifier(name: str) -> exp.Identifier:
    """Return `name` as an identifier, in quotes only if DuckDB needs them."""
    return exp.Identifier(this=name, quoted=name in KEYWORDS or not _PLAIN.match(name))


@dataclass
class _Scope:
    """The sources of one SELECT. `merged` are columns joined by USING: alias -> columns already on the left."""

    sources: dict[str, Columns] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)  # alias -> the table it stands for
    merged: dict[str, set[str]] = field(default_factory=dict)
    types: dict[int, str] = field(default_factory=dict)  # id of a bound column -> type

    def owners(self, column: str) -> list[str]:
        return [a for a, c in self.sources.items() if column in c and column not in self.merged.get(a, ())]


def resolve(query: exp.Query, domain: Domain) -> None:
    """Qualify every column of `query` in place, write out stars, name every output. Raises QueryError."""
    _Names(domain).query(query, {}, ())


class _Names:
    def __init__(self, domain: Domain):
        self.domain, self.copied = domain, 0

    def query(self, query: exp.Expr, ctes: dict[str, Columns], outer: tuple[_Scope, ...]) -> Columns:
        """The output of `query`, whose names are bound in place."""
        ctes = self.with_clause(query, ctes, outer)
        if isinstance(query, exp.Subquery):
            return self.query(query.this, ctes, outer)
        if isinstance(query, exp.SetOperation):
            return self.set_operation(query, ctes, outer)
        assert isinstance(query, exp.Select)
        return self.select(query, ctes, outer)

    def with_clause(self, query: exp.Expr, ctes: dict[str, Columns], outer: tuple[_Scope, ...]) -> dict[str, Columns]:
        clause = query.args.get("with_")
        if clause is None:
            return ctes
        ctes = dict(ctes)
        for cte in clause.expressions:
            if cte.alias in self.domain.by_name:
                raise QueryError(f"WITH {cte.alias} hides the table {cte.alias}.", hint="Give it another name.")
            if cte.alias in ctes:
                raise QueryError(f"WITH {cte.alias} is defined twice.")
            ctes[cte.alias] = self.renamed(self.query(cte.this, ctes, outer), cte)
        return ctes

    def renamed(self, output: Columns, node: exp.Expr) -> Columns:
        """The output under the column names of an alias such as line1(a, b)."""
        names = node.args["alias"].args.get("columns") if node.args.get("alias") else None
        if not names:
            return output
        if len(names) != len(output):
            raise QueryError(f"{node.alias} names {len(names)} columns, and there are {len(output)}.")
        return {n.name: t for n, t in zip(names, output.values(), strict=True)}

    def set_operation(self, query: exp.SetOperation, ctes: dict[str, Columns], outer: tuple[_Scope, ...]) -> Columns:
        left, right = self.query(query.this, ctes, outer), self.query(query.expression, ctes, outer)
        if len(left) != len(right):
            raise QueryError(
                f"The sides of a {type(query).__name__.upper()} have {len(left)} and {len(right)} columns.",
                hint="Both need the same number.",
            )
        for ordered in query.args["order"].expressions if query.args.get("order") else ():
            key = ordered.this
            if isinstance(key, exp.Literal) and key.this.isdigit() and 0 < int(key.this) <= len(left):
                key.replace(exp.column(identifier(list(left)[int(key.this) - 1])))
            elif not (isinstance(key, exp.Column) and not key.table and key.name in left):
                raise QueryError(
                    f"ORDER BY {key.sql('duckdb')} is not a column of the {type(query).__name__.upper()}.",
                    hint=f"It has: {listed(left)}.",
                )
        return left

    def select(self, select: exp.Select, ctes: dict[str, Columns], outer: tuple[_Scope, ...]) -> Columns:
        scope = _Scope()
        if source := select.args.get("from_"):
            self.source(source.this, scope, ctes, outer)
        for join in select.args.get("joins") or ():
            self.source(join.this, scope, ctes, outer)
            self.join(join, scope, ctes, outer)
        self.stars(select, scope)
        output: Columns = {}
        aliases: dict[str, exp.Expr] = {}
        for i, projection in enumerate(list(select.expressions)):
            self.expression(projection, scope, ctes, outer, aliases)
            projection = select.expressions[i]
            name = projection.alias_or_name
            if isinstance(projection, exp.Alias):
                if name in output:
                    raise QueryError(f"Two columns are called {name}.", hint="Give each its own name with AS.")
                aliases[name] = projection.this
            elif not isinstance(projection, exp.Column) or name in output:
                own = name if isinstance(projection, exp.Column) else _output_name(projection)
                name = _free(own, {e.alias_or_name for e in select.expressions if e is not projection} | set(output))
                named = exp.Alias(alias=identifier(name))
                projection.replace(named)
                named.set("this", projection)
            output[name] = self.type_of(select.expressions[i].unalias(), scope)
        for part in ("where", "group", "having", "qualify", "order"):
            if clause := select.args.get(part):
                self.positions(clause, select)
                self.expression(clause, scope, ctes, outer, aliases, first=part == "order")
        if distinct := select.args.get("distinct"):
            self.expression(distinct, scope, ctes, outer, aliases)
        return output

    # -- sources

    def source(self, node: exp.Expr, scope: _Scope, ctes: dict[str, Columns], outer: tuple[_Scope, ...]) -> None:
        if isinstance(node, exp.Subquery):
            alias = node.alias
            columns = self.query(node, ctes, outer)
            if not alias:
                alias = _free("rows", set(scope.sources))
                node.set("alias", exp.TableAlias(this=identifier(alias)))
            columns = self.renamed(columns, node)
        elif isinstance(node, exp.Table):
            alias, name = node.alias_or_name, node.name
            if name in ctes:
                columns = ctes[name]
            elif name in self.domain.by_name:
                columns = {c.name: c.type for c in self.domain.table(name).columns}
            else:
                known = [*self.domain.by_name, *ctes]
                hint = f"Tables: {listed(known)}. {did_you_mean(name, known)}".strip()
                raise QueryError(f"There is no table {name}.", hint=hint)
            columns = self.renamed(columns, node)
            scope.tables[alias] = name
        else:
            raise QueryError(f"{node.sql('duckdb')[:60]} is not a table or a subquery.")
        if alias in scope.sources:
            raise QueryError(f"Two sources are called {alias}.", hint=f"Give one an alias, as in {alias} AS {alias}_2.")
        scope.sources[alias] = columns

    def join(self, join: exp.Join, scope: _Scope, ctes: dict[str, Columns], outer: tuple[_Scope, ...]) -> None:
        if using := join.args.get("using"):
            if join.side in ("RIGHT", "FULL"):
                raise QueryError(f"USING is not allowed in a {join.side} JOIN.", hint="Write ON.")
            right = join.this.alias_or_name
            conditions: list[exp.Expr] = []
            for identifier in using:
                name = identifier.name
                left = [a for a in scope.owners(name) if a != right]
                if not left or name not in scope.sources[right]:
                    raise QueryError(f"USING ({name}): both sides need a column {name}.", hint="Write ON.")
                if len(left) > 1:
                    raise QueryError(f"USING ({name}) could mean {listed(left)}.", hint="Write ON.")
                conditions.append(exp.EQ(this=_column(left[0], name), expression=_column(right, name)))
                scope.merged.setdefault(right, set()).add(name)
            join.set("using", None)
            join.set("on", exp.and_(*conditions))
        if on := join.args.get("on"):
            self.expression(on, scope, ctes, outer, {})

    def stars(self, select: exp.Select, scope: _Scope) -> None:
        if not any(p.is_star for p in select.expressions):
            return
        out: list[exp.Expr] = []
        for projection in select.expressions:
            if isinstance(projection, exp.Star):
                if not scope.sources:
                    raise QueryError("* needs a FROM.")
                for alias, columns in scope.sources.items():
                    out.extend(_column(alias, c) for c in columns if c not in scope.merged.get(alias, ()))
            elif isinstance(projection, exp.Column) and projection.is_star:
                out.extend(_column(projection.table, c) for c in self.own(projection.table, scope, ()))
            else:
                out.append(projection)
        select.set("expressions", out)

    # -- expressions

    def positions(self, clause: exp.Expr, select: exp.Select) -> None:
        """Write out ORDER BY 1 and GROUP BY 1."""
        if not isinstance(clause, exp.Order | exp.Group):
            return
        for item in clause.expressions:
            key = item.this if isinstance(item, exp.Ordered) else item
            if isinstance(key, exp.Literal) and not key.is_string:
                place = int(key.this) if key.this.isdigit() else 0
                if not 0 < place <= len(select.expressions):
                    raise QueryError(f"There is no column number {key.this}.", hint="Name the column.")
                key.replace(select.expressions[place - 1].unalias().copy())

    def expression(
        self,
        root: exp.Expr,
        scope: _Scope,
        ctes: dict[str, Columns],
        outer: tuple[_Scope, ...],
        aliases: dict[str, exp.Expr],
        *,
        first: bool = False,
    ) -> None:
        """Bind the columns under `root`. `aliases` are the outputs so far; with `first` they go before the sources."""
        nodes = list(root.walk(prune=lambda n: isinstance(n, exp.Query) and n is not root))
        for node in nodes:
            if isinstance(node, exp.Query):
                output = self.query(node, ctes, (*outer, scope))
                if len(output) != 1 and not isinstance(node.parent, exp.Exists):
                    raise QueryError(
                        "A subquery used as a value gives one column.", hint=f"This one gives {listed(output)}."
                    )
            elif isinstance(node, exp.Column):
                self.bind(node, scope, outer, aliases, first=first)
        for node in nodes:
            self.compared(node, scope)

    def bind(
        self,
        column: exp.Column,
        scope: _Scope,
        outer: tuple[_Scope, ...],
        aliases: dict[str, exp.Expr],
        *,
        first: bool,
    ) -> None:
        name = column.name
        if column.table:
            columns = self.own(column.table, scope, outer)
            if name not in columns:
                raise self.unknown(name, {column.table: columns})
            scope.types[id(column)] = columns[name]
            return
        owners = scope.owners(name)
        if name in aliases and (first or not owners):
            self.copied += sum(1 for _ in aliases[name].walk())
            if self.copied > MAX_COPIED:  # a = 1, b = a + a, c = b + b, ... doubles without end
                raise QueryError("Aliases are built on aliases too often.", hint="Use a WITH.")
            replacement = aliases[name].copy()
            for old, new in zip(aliases[name].find_all(exp.Column), replacement.find_all(exp.Column), strict=True):
                scope.types[id(new)] = scope.types.get(id(old), "")
            if isinstance(replacement, exp.Binary) and not isinstance(column.parent, exp.Ordered | exp.Group):
                replacement = exp.Paren(this=replacement)
            column.replace(replacement)
            return
        if len(owners) > 1:
            both = listed(f"{a}.{name}" for a in owners)
            raise QueryError(f"Column '{name}' could be {both}.", hint="Write which.")
        if not owners:
            around = [f"{a}.{name}" for s in reversed(outer) for a in s.owners(name)]
            if around:
                raise QueryError(
                    f"Column '{name}' is not in {listed(scope.sources) or 'the subquery'}.",
                    hint=f"If the outer query's is meant, write {around[0]}.",
                )
            raise self.unknown(name, scope.sources, quoted=column.this.args.get("quoted", False))
        column.set("table", identifier(owners[0]))
        scope.types[id(column)] = scope.sources[owners[0]][name]

    def own(self, alias: str, scope: _Scope, outer: tuple[_Scope, ...]) -> Columns:
        """The columns of the source `alias`, here or in an enclosing query."""
        for candidate in (scope, *reversed(outer)):
            if alias in candidate.sources:
                return candidate.sources[alias]
        renamed = [a for s in (scope, *reversed(outer)) for a, t in s.tables.items() if t == alias]
        if renamed:
            raise QueryError(f"{alias} is called {renamed[0]} here.", hint=f"Write {renamed[0]}.column.")
        known = [a for s in (scope, *reversed(outer)) for a in s.sources]
        hint = f"FROM has: {listed(known)}." if known else "There is no FROM."
        raise QueryError(f"There is no source {alias} in this query.", hint=hint)

    def unknown(self, name: str, sources: dict[str, Columns], *, quoted: bool = False) -> QueryError:
        if not sources:
            return QueryError(f"Column '{name}' stands in a SELECT without FROM.")
        known = list(dict.fromkeys(c for columns in sources.values() for c in columns))
        elsewhere = [t.name for t in self.domain.tables if name in t.by_name and t.name not in sources]
        hint = f"It has: {listed(known)}."
        if suggestion := did_you_mean(name, known):
            hint += f" {suggestion}"
        elif elsewhere:
            hint += f" {listed(elsewhere)} {'has' if len(elsewhere) == 1 else 'have'} a {name}."
        if quoted:
            hint += " A text goes in single quotes."
        return QueryError(f"Column '{name}' is not in {listed(sources)}.", hint=hint)

    # -- types

    def type_of(self, node: exp.Expr | None, scope: _Scope) -> str:
        """The type of a column, a cast or what keeps a column's type; "" if it is not known."""
        if isinstance(node, exp.Column):
            return scope.types.get(id(node), "")
        if isinstance(node, exp.Cast):
            to = node.to.this
            return _CAST_TYPES.get(to.value if isinstance(to, exp.DataType.Type) else "", "")
        if isinstance(node, exp.Min | exp.Max | exp.Paren | exp.AnyValue | exp.First | exp.Last):
            return self.type_of(node.this, scope)
        if isinstance(node, exp.Count):
            return "BIGINT"
        return ""

    def compared(self, node: exp.Expr, scope: _Scope) -> None:
        """Raise QueryError if `node` compares a column with something it can never equal."""
        if isinstance(node, _COMPARISONS):
            pairs = [(node.this, node.expression), (node.expression, node.this)]
        elif isinstance(node, exp.Between):
            pairs = [(node.this, node.args["low"]), (node.this, node.args["high"])]
        elif isinstance(node, exp.In):
            pairs = [(node.this, value) for value in node.expressions]
        elif isinstance(node, exp.Like | exp.ILike):
            kind = self.type_of(node.this, scope)
            if kind not in ("TEXT", ""):
                raise QueryError(
                    f"LIKE compares texts, and {_shown(node.this)} is {_article(kind)}.",
                    hint="Use =, BETWEEN, or year().",
                )
            return
        else:
            return
        for one, other in pairs:
            kind = self.type_of(one, scope)
            if not kind:
                continue
            value = other.this if isinstance(other, exp.Neg) else other
            if isinstance(value, exp.Literal):
                self.literal(one, kind, value)
            else:
                against = self.type_of(other, scope)
                if against and _family(kind) != _family(against):
                    raise QueryError(
                        f"{_shown(one)} is {_article(kind)} and {_shown(other)} {_article(against)}.",
                        hint="Compare like with like, or CAST one.",
                    )

    def literal(self, one: exp.Expr, kind: str, value: exp.Literal) -> None:
        shown = _shown(one)
        if value.is_string:
            if kind in _NUMBERS and not _is_number(value.this):
                raise QueryError(
                    f"{shown} is a number, and '{value.this}' is not.", hint="Write digits, without quotes."
                )
            if kind in ("DATE", "TIMESTAMP") and not _is_date(value.this):
                year = self.year_column(one) if value.this.strip().isdigit() else ""
                hint = f"Use {year}, or a date such as '1997-12-19'." if year else "Write it as '1997-12-19'."
                raise QueryError(f"{shown} is a {kind.lower()}, and '{value.this}' is not.", hint=hint)
            if kind == "BOOLEAN" and value.this.lower() not in ("true", "false", "t", "f"):
                raise QueryError(f"{shown} is TRUE or FALSE, and '{value.this}' is neither.")
        elif kind == "TEXT":
            raise QueryError(f"{shown} is a text, and {value.this} is a number.", hint=f"Write '{value.this}'.")
        elif kind in ("DATE", "TIMESTAMP"):
            year = self.year_column(one)
            raise QueryError(f"{shown} is a {kind.lower()}, and {value.this} is a number.", hint=f"Use {year}.")

    def year_column(self, column: exp.Expr) -> str:
        """How to ask for the year of a date."""
        if isinstance(column, exp.Column):
            for table in self.domain.tables:
                for c in table.columns:
                    if c.year_of == column.name and column.name in table.by_name:
                        return c.name
        return f"year({_shown(column)})"


def _column(alias: str, name: str) -> exp.Column:
    return exp.Column(this=identifier(name), table=identifier(alias))


def _free(name: str, taken: set[str]) -> str:
    return name if name not in taken else next(n for i in range(2, len(taken) + 3) if (n := f"{name}_{i}") not in taken)


def _output_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Window):
        return _output_name(node.this)
    return node.sql_names()[0].lower() if isinstance(node, exp.Func) and not isinstance(node, exp.Cast) else "value"


def _family(kind: str) -> str:
    if kind in _NUMBERS:
        return "number"
    return "date" if kind in ("DATE", "TIMESTAMP") else kind


def _article(kind: str) -> str:
    family = _family(kind).lower()
    return "TRUE or FALSE" if family == "boolean" else f"a {family}"


def _shown(node: exp.Expr) -> str:
    return node.sql(dialect="duckdb").replace('"', "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return "-" in text
