"""From a query back to the call spelling, where it has the shape of one.

The shape is guessed and each guess is proved by reading it again (`kg.dialect.to_calls`), so nothing here needs to
know every rule of `kg.dialect.lower`: a wrong guess costs a try, never a wrong program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from sqlglot import exp

from kg.dialect.calls import AGGREGATES, FUNCTIONS
from kg.domain import Domain

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}
_CONDITIONS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "neq",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.LT: "lt",
    exp.LTE: "le",
}
_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Avg: "avg",
    exp.Sum: "sum",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
}
_CALLED: dict[type[exp.Expr], str] = {
    exp.Coalesce: "coalesce",
    exp.Abs: "abs",
    exp.Round: "round",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Greatest: "greatest",
    exp.Least: "least",
    exp.Year: "year",
    exp.Month: "month",
    exp.Day: "day",
    exp.Lower: "lower",
    exp.Upper: "upper",
    exp.Length: "length",
}


class _NoSpelling(Exception):
    """The query does not have the shape of calls."""


def spellings(tree: exp.Query, domain: Domain) -> Iterator[str]:
    """Yield the programs in the call spelling that may mean `tree`, the plainest first."""
    seen = set[str]()
    yes, no = (True, False), (False, True)
    for linked, first, by_position, columns in product(no, yes, yes, yes):
        try:
            text = _Speller(domain, first, by_position, columns, linked).program(tree)
        except _NoSpelling:
            continue
        if text not in seen:
            seen.add(text)
            yield text


class _Speller:
    """One guess: entities first or in the order of FROM, bound by position or by eq(), all columns or each, and
    only the tables there are or also the entities that these link to."""

    def __init__(self, domain: Domain, entities_first: bool, by_position: bool, all_columns: bool, linked: bool):
        self.domain, self.linked = domain, linked
        self.entities_first, self.by_position, self.all_columns = entities_first, by_position, all_columns
        self.ctes: dict[str, exp.Query] = {}
        self.before = ""  # the CTE that is the line before

    # -- lines

    def program(self, tree: exp.Query) -> str:
        if not isinstance(tree, exp.Select):
            raise _NoSpelling
        lines: list[str] = []
        clause = tree.args.get("with_")
        for cte in clause.expressions if clause else ():
            if cte.args["alias"].args.get("columns"):
                raise _NoSpelling
            try:
                lines.extend(self.lines(cte.this, whole=True))
            except _NoSpelling:
                if lines:
                    raise
                lines.append(cte.this.sql(dialect="duckdb", comments=False))
            self.ctes[cte.alias] = cte.this
            self.before = cte.alias
        body = tree.copy()
        body.set("with_", None)
        lines.extend(self.lines(body, whole=False))
        return "\n".join(lines)

    def lines(self, query: exp.Query, *, whole: bool) -> list[str]:
        """The lines of one query; `whole` is a line before, all of whose rows are there without ALL."""
        if not isinstance(query, exp.Select):
            raise _NoSpelling
        if not query.args.get("from_"):
            return self.scalars(query)
        call = _Call(self, query)
        return call.lines(whole=whole)

    def scalars(self, query: exp.Select) -> list[str]:
        if (
            not all(isinstance(e, exp.Alias) for e in query.expressions)
            or len([v for v in query.args.values() if v]) > 1
        ):
            raise _NoSpelling
        values = [e.this for e in query.expressions]
        if len(values) == 1:
            return [self.value(values[0], None)]
        if not all(isinstance(v, exp.Subquery) for v in values):
            raise _NoSpelling
        return [self.value(v, None) for v in values]

    # -- values

    def value(self, node: exp.Expr, call: _Call | None) -> str:
        if isinstance(node, exp.Column):
            if call is None:
                raise _NoSpelling
            return call.name(node)
        if isinstance(node, exp.Literal):
            return _text(node.this) if node.is_string else str(node.this)
        if isinstance(node, exp.Boolean):
            return "TRUE" if node.this else "FALSE"
        if isinstance(node, exp.Null):
            return "NONE"
        if isinstance(node, exp.Paren):
            return f"({self.value(node.this, call)})"
        if isinstance(node, exp.Neg):
            return f"-{self.value(node.this, call)}"
        if type(node) in _SIGNS and isinstance(node, exp.Binary):
            return f"{self.value(node.left, call)} {_SIGNS[type(node)]} {self.value(node.right, call)}"
        if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and isinstance(node.parent, exp.Anonymous):
            return self.value(node.this, call)
        if isinstance(node, exp.Subquery) and not node.alias:
            return self.subquery(node.this, call)
        return self.function(node, call)

    def function(self, node: exp.Expr, call: _Call | None) -> str:
        name = node.name.lower() if isinstance(node, exp.Anonymous) else _CALLED.get(type(node), "")
        if name not in FUNCTIONS:
            raise _NoSpelling
        parts: list[exp.Expr] = []
        for value in node.args.values():
            parts.extend(v for v in (value if isinstance(value, list) else [value]) if isinstance(v, exp.Expr))
        return f"{name}({', '.join(self.value(p, call) for p in parts)})"

    def subquery(self, query: exp.Query, call: _Call | None) -> str:
        if self.is_before(query):
            return "*"
        if not isinstance(query, exp.Select) or not query.args.get("from_"):
            raise _NoSpelling
        return _Call(self, query).inline(every=False)

    def is_before(self, query: exp.Expr | None) -> bool:
        """Whether the query reads nothing but a column of the line before."""
        if isinstance(query, exp.Subquery):
            query = query.this
        if not isinstance(query, exp.Select) or query.args.get("where") or query.args.get("joins"):
            return False
        source = query.args.get("from_")
        return bool(source and self.before and source.this.name == self.before)

    # -- conditions

    def condition(self, node: exp.Expr, call: _Call) -> str:
        def value(part: exp.Expr) -> str:
            return self.value(part, call)

        if isinstance(node, exp.Paren):
            return self.condition(node.this, call)
        if isinstance(node, exp.And | exp.Or):
            parts = ", ".join(self.condition(p, call) for p in node.flatten())
            return f"[{parts}]" if isinstance(node, exp.And) else f"any({parts})"
        if isinstance(node, exp.Not):
            inner = node.this
            if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
                return f"neq({value(inner.this)}, NONE)"
            return f"not({self.condition(inner, call)})"
        if type(node) in _CONDITIONS and isinstance(node, exp.Binary):
            return f"{_CONDITIONS[type(node)]}({value(node.left)}, {value(node.right)})"
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return f"eq({value(node.this)}, NONE)"
        if isinstance(node, exp.Between):
            return f"between({value(node.this)}, {value(node.args['low'])}, {value(node.args['high'])})"
        if isinstance(node, exp.ILike) and isinstance(node.expression, exp.Literal):
            pattern = node.expression.this
            plain = len(pattern) > 1 and pattern[0] == pattern[-1] == "%" and "%" not in pattern[1:-1]
            return f"like({value(node.this)}, {_text(pattern[1:-1] if plain else pattern)})"
        if isinstance(node, exp.In):
            return f"in({value(node.this)}, {self.members(node, value)})"
        raise _NoSpelling

    def members(self, node: exp.In, value: Callable[[exp.Expr], str]) -> str:
        query = node.args.get("query")
        if query is None:
            return f"[{', '.join(value(v) for v in node.expressions)}]"
        if self.is_before(query):
            return "*"
        inner = query.this if isinstance(query, exp.Subquery) else query
        if not isinstance(inner, exp.Select):
            raise _NoSpelling
        return _Call(self, inner).inline(every=True)


class _Call:
    """A SELECT read as a call: its tables, its arguments, its conditions and what is shown of it."""

    def __init__(self, speller: _Speller, query: exp.Select):
        self.speller, self.domain, self.query = speller, speller.domain, query
        self.line, self.joined_line = "", ""
        self.wrapped = ""
        self.unwrap()
        if any(self.query.args.get(p) for p in ("having", "qualify", "with_")):
            raise _NoSpelling
        self.tables: list[str] = []
        for table in (self.query.args["from_"].this, *(j.this for j in self.query.args.get("joins") or ())):
            if not isinstance(table, exp.Table) or table.alias not in ("", table.name):
                raise _NoSpelling
            if table.name in self.domain.by_name:
                self.tables.append(table.name)
            elif table.name == speller.before and not self.tables:
                self.line = table.name
            elif table.name == speller.before:
                self.joined_line = table.name
            else:
                raise _NoSpelling
        if speller.linked:
            to = {c.links.table for t in self.tables for c in self.domain.table(t).columns if c.links}
            self.tables += [t.name for t in self.domain.entities if t.name in to and t.name not in self.tables]
        if speller.entities_first:
            self.tables.sort(key=lambda t: not self.domain.table(t).is_entity)

    def unwrap(self) -> None:
        """Look through an aggregate over `(SELECT ...) AS rows`."""
        source = self.query.args["from_"].this
        if not isinstance(source, exp.Subquery):
            return
        inner, shown = source.this, self.query.expressions
        if not isinstance(inner, exp.Select) or len(shown) != 1 or self.query.args.get("where"):
            raise _NoSpelling
        aggregate = shown[0].unalias()
        name = "len" if isinstance(aggregate, exp.Count) else _AGGREGATES.get(type(aggregate), "")
        if not name:
            raise _NoSpelling
        self.wrapped, self.query = name, inner.copy()
        if not inner.args.get("limit") and not inner.args.get("offset"):
            # the key was added so that each entity counts once
            self.query.set("expressions", self.query.expressions[:1])

    def name(self, column: exp.Column) -> str:
        """The column as one would write it here: with its table only if another table has one of that name."""
        if column.table and column.table in (self.line, self.joined_line):
            origin = self.origin(column.name)
            return origin if origin else column.name
        if column.table not in self.tables:
            raise _NoSpelling
        return _name(column, self.tables, self.domain)

    def origin(self, alias: str) -> str:
        """How the line before calls the column that it gives as `alias`."""
        query = self.speller.ctes[self.line or self.joined_line]
        if isinstance(query, exp.Select):
            tables = [t.name for t in query.find_all(exp.Table) if t.name in self.domain.by_name]
            for projection in query.expressions:
                found = projection.unalias()
                if projection.alias_or_name == alias and isinstance(found, exp.Column) and found.table in tables:
                    return _name(found, tables, self.domain)
        return ""

    # -- parts

    def arguments(self) -> tuple[list[str], list[exp.Expr]]:
        """What is bound by position, and the conditions that remain."""
        where = self.query.args.get("where")
        rest = (
            list(where.this.flatten()) if where and isinstance(where.this, exp.And) else [where.this] if where else []
        )
        args: list[str] = []
        for name in (t for t in self.tables if self.domain.table(t).is_entity):
            found = self.argument(name, rest[0]) if rest and self.speller.by_position else ""
            if found:
                rest.pop(0)
            elif self.joined_line and "*" not in args:
                found = "*"
            args.append(found or "NONE")
        while args and args[-1] == "NONE":
            args.pop()
        return args, rest

    def argument(self, table: str, condition: exp.Expr) -> str:
        column = condition.this
        if not isinstance(column, exp.Column) or column.table != table:
            return ""
        own = self.domain.table(table)
        if isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Literal):
            is_text = condition.expression.is_string
            if column.name == own.label and is_text:
                return _text(condition.expression.this)
            if column.name in own.key:
                return str(condition.expression.this) if not is_text or condition.expression.this.isdigit() else ""
        if isinstance(condition, exp.In) and self.speller.is_before(condition.args.get("query")):
            return "*"
        return ""

    def get(self) -> str:
        args, rest = self.arguments()
        conditions = [self.speller.condition(c, self) for c in rest]
        return f"get_{'_'.join(self.tables)}({', '.join([*args, *conditions])})"

    def keys(self) -> list[str]:
        order = self.query.args.get("order")
        keys: list[str] = []
        for ordered in order.expressions if order else ():
            key = self.speller.value(ordered.this, self)
            if ordered.args.get("desc"):
                key = f"-{key}" if isinstance(ordered.this, exp.Column) else f"-({key})"
            keys.append(key)
        return keys

    def ranked(self) -> bool:
        """Whether the order is the one that a bound label brings along."""
        order, args = self.query.args.get("order"), self.arguments()[0]
        entities = [self.domain.table(t) for t in self.tables if self.domain.table(t).is_entity]
        ranks = [(t.name, t.rank) for t, a in zip(entities, args, strict=False) if a[:1] in "\"'" and t.rank]
        ordered = order.expressions if order else []
        if not all(isinstance(o.this, exp.Column) for o in ordered):
            return False
        found = [(o.this.table, ("-" if o.args.get("desc") else "") + o.this.name) for o in ordered]
        return bool(ranks) and found == ranks

    def suffix(self, *, whole: bool) -> str:
        query = self.query
        shown = [e.unalias() for e in query.expressions]
        if len(shown) == 1 and (aggregate := self.aggregate(shown[0])):
            return aggregate
        if whole and self.speller.all_columns:
            shown = shown[:1]  # what else is asked of a line before need not be shown
        names = ", ".join(self.speller.value(e, self) for e in shown)
        suffix = f"[{names}]"
        if self.speller.all_columns and len(shown) > 3:
            suffix = ""
        limit, offset = query.args.get("limit"), query.args.get("offset")
        start = int(offset.expression.this) if offset else 0
        if limit:
            end = start + int(limit.expression.this)
            if whole or self.wrapped or (start, end) != (0, 1):
                suffix += f"[{start or ''}:{end}]"
        elif offset:
            suffix += f"[{start}:]"
        return suffix

    def aggregate(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Count):
            inner = node.this
            if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1:
                return f"[{self.speller.value(inner.expressions[0], self)}][len]"
            return "[len]" if isinstance(inner, exp.Star) else ""
        if type(node) in _AGGREGATES:
            return f"[{_AGGREGATES[type(node)]}({self.speller.value(node.this, self)})]"
        return ""

    def every(self) -> bool:
        query = self.query
        aggregated = len(query.expressions) == 1 and isinstance(query.expressions[0].unalias(), exp.AggFunc)
        return not aggregated and not query.args.get("limit") and not query.args.get("offset") and not self.wrapped

    # -- the whole

    def lines(self, *, whole: bool) -> list[str]:
        everything = "ALL " if self.every() and not whole else ""
        sorts = bool(self.query.args.get("order")) and not self.ranked() if not self.line else True
        if not sorts or self.wrapped:
            return [self.inline(every=not everything, whole=whole)]
        if self.line:
            conditions = [self.speller.condition(c, self) for c in self.arguments()[1]]
            where = (
                "NONE" if not conditions else conditions[0] if len(conditions) == 1 else f"[{', '.join(conditions)}]"
            )
            return [f"{everything}sort({', '.join([where, *self.keys()])}){self.suffix(whole=whole)}"]
        first = self.get()
        kept, self.speller.before = self.speller.before, ""  # in the next line, * would be this one
        second = f"{everything}sort({', '.join(['NONE', *self.keys()])}){self.suffix(whole=whole)}"
        self.speller.before = kept
        return [first, second]

    def inline(self, *, every: bool, whole: bool = False) -> str:
        """The call on one line. `every` says that all rows are meant without saying so."""
        if self.line:
            raise _NoSpelling
        call = self.get()
        if self.query.args.get("order") and not self.ranked():
            call = f"sort({', '.join([call, *self.keys()])})"
        suffix = self.suffix(whole=whole)
        text = f"{'' if every or not self.every() else 'ALL '}{call}{suffix}"
        if not self.wrapped:
            return text
        assert self.wrapped in AGGREGATES
        return f"{self.wrapped}({text})"


def _name(column: exp.Column, tables: list[str], domain: Domain) -> str:
    owners = [t for t in tables if column.name in domain.table(t).by_name]
    return column.name if len(owners) == 1 else f"{column.table}.{column.name}"


def _text(text: str) -> str:
    """The text in quotes, preferably without doubling one."""
    quote = "'" if '"' in text and "'" not in text else '"'
    return f"{quote}{text.replace(quote, quote * 2)}{quote}"
