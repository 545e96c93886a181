"""The wall between a program and the store: one query, over known tables and columns, with known functions.

Programs are written by models and strangers. Whatever is not on the lists below is refused, so a kind of SQL that
nobody thought of is refused too: files, settings, table functions, other schemas, anything that writes.
Names are resolved in `kg.dialect.names`.
"""

from __future__ import annotations

from sqlglot import exp

from kg.dialect.calls import did_you_mean, listed
from kg.dialect.names import resolve
from kg.domain import Domain
from kg.errors import QueryError

MAX_NODES = 5_000
MAX_DEPTH = 150
MAX_JOINS = 16
MAX_TABLES = 40

# Every kind of node that may occur and, of those with many parts, which parts; a part is checked only if it is set.
_PARTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        [
            "with_",
            "expressions",
            "distinct",
            "from_",
            "joins",
            "where",
            "group",
            "having",
            "qualify",
            "order",
            "limit",
            "offset",
        ]
    ),
    **dict.fromkeys(
        (exp.Union, exp.Intersect, exp.Except),
        frozenset(["with_", "this", "expression", "distinct", "order", "limit", "offset"]),
    ),
    exp.Subquery: frozenset(("this", "alias")),
    exp.With: frozenset(("expressions",)),
    exp.CTE: frozenset(("this", "alias")),
    exp.From: frozenset(("this",)),
    exp.Table: frozenset(("this", "alias")),
    exp.TableAlias: frozenset(("this", "columns")),
    exp.Join: frozenset(("this", "on", "side", "kind", "using")),
    exp.Group: frozenset(("expressions",)),
    exp.Ordered: frozenset(("this", "desc", "nulls_first")),
    exp.Limit: frozenset(("expression",)),
    exp.Offset: frozenset(("expression",)),
    exp.Distinct: frozenset(("expressions",)),
    exp.Column: frozenset(("this", "table")),
    exp.Star: frozenset(),
    exp.In: frozenset(("this", "expressions", "query")),
    exp.Cast: frozenset(("this", "to")),
    exp.TryCast: frozenset(("this", "to", "safe")),
    exp.DataType: frozenset(("this", "expressions", "nested")),
    exp.Window: frozenset(("this", "partition_by", "order", "spec", "over")),
}
_PLAIN = frozenset(
    {
        *(exp.Identifier, exp.Alias, exp.Where, exp.Having, exp.Qualify, exp.Order, exp.Tuple, exp.Paren),
        *(exp.Literal, exp.Boolean, exp.Null, exp.Var, exp.DataTypeParam, exp.Interval, exp.Case, exp.If, exp.Exists),
        *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.Between),
        *(exp.Like, exp.ILike, exp.Escape, exp.IgnoreNulls, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe),
        *(exp.WindowSpec, exp.Filter),
    }
)
_FUNCTIONS = frozenset(
    {
        *(exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Mode, exp.AnyValue, exp.First),
        *(exp.Last, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.PercentileCont),
        *(exp.ArgMax, exp.ArgMin, exp.GroupConcat, exp.LogicalAnd, exp.LogicalOr),
        *(exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Concat, exp.ConcatWs, exp.Substring, exp.Replace),
        *(exp.SplitPart, exp.RegexpLike, exp.RegexpReplace, exp.RegexpExtract, exp.StartsWith, exp.EndsWith),
        *(exp.Contains, exp.StrPosition, exp.Left, exp.Right, exp.Reverse),
        *(exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Sqrt, exp.Pow, exp.Ln, exp.Log, exp.Exp, exp.Sign),
        *(exp.Greatest, exp.Least, exp.Coalesce, exp.Nullif),
        *(exp.Year, exp.Month, exp.Day, exp.Quarter, exp.Week, exp.DayOfWeek, exp.DayOfWeekIso, exp.Dayname),
        *(exp.Monthname, exp.Hour, exp.Minute, exp.TimestampTrunc, exp.DateTrunc, exp.DateDiff, exp.DateAdd),
        *(exp.Extract, exp.TimeToStr, exp.DateFromParts, exp.LastDay),
        *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.Ntile, exp.CumeDist),
        *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue),
    }
)
# functions that sqlglot has no kind for, with the number of values they take
_ANONYMOUS = {
    "years_between": 2,
    "days_between": 2,
    "percent": 2,
    "date_part": 2,
    "datepart": 2,
    "date_sub": 3,
    "datesub": 3,
    "weekday": 1,
    "decade": 1,
    "prefix": 2,
    "suffix": 2,
}
_TYPES = frozenset(
    [
        "TEXT",
        "VARCHAR",
        "CHAR",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL",
        "BOOLEAN",
        "DATE",
        "TIMESTAMP",
        "TIME",
        "INTERVAL",
    ]
)
_ALLOWED = frozenset(_PARTS) | _PLAIN | _FUNCTIONS

# what to say of the kinds that are written in earnest
_HINTS: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "Write the date out, as in DATE '2024-02-29'.",
    exp.CurrentTimestamp: "Write the time out, as in TIMESTAMP '2024-02-29 12:00:00'.",
    exp.Lateral: "Use a plain join or a subquery.",
    exp.Unnest: "Tables hold no lists: join the table that holds the rows.",
}

_CLOCKS = ("now", "get_current_timestamp", "transaction_timestamp", "current_localtimestamp", "get_current_time")


def check(tree: exp.Query, domain: Domain) -> exp.Query:
    """Return a copy of `tree` in which every column has its table's alias, stars are written out and every
    output has a name. Raises QueryError naming what exists.

    A column and a table that already have their own name get no further alias: use `alias_or_name`.
    """
    if not isinstance(tree, exp.Select | exp.SetOperation):
        raise QueryError("Only a SELECT, or several joined by UNION, INTERSECT or EXCEPT, can be asked.")
    try:
        _limits(tree)
        checked = tree.copy()
        for node in checked.walk():
            _allowed(node)
        resolve(checked, domain)
    except RecursionError as e:
        raise QueryError("The program is nested too deeply.") from e
    return checked


def _limits(tree: exp.Expr) -> None:
    depth = {id(tree): 0}
    joins = tables = 0
    for count, node in enumerate(tree.walk()):
        joins += isinstance(node, exp.Join)
        tables += isinstance(node, exp.Table)
        if node.parent is not None and node is not tree:
            depth[id(node)] = level = depth[id(node.parent)] + 1
            if level > MAX_DEPTH:
                raise QueryError("The program is nested too deeply.", hint="Use IN for many values, and fewer levels.")
        if count >= MAX_NODES:
            raise QueryError(f"The program has more than {MAX_NODES:,} parts.")
    if joins > MAX_JOINS or tables > MAX_TABLES:
        raise QueryError(
            f"The program uses {tables} tables and {joins} joins; {MAX_TABLES} and {MAX_JOINS} are allowed."
        )


def _allowed(node: exp.Expr) -> None:
    """Raise QueryError unless the node, and each part of it that is set, is on the lists."""
    kind = type(node)
    if kind is exp.Anonymous:
        _known_function(node)
        return
    if kind not in _ALLOWED:
        raise QueryError(f"{_spelled(node)} is not allowed.", hint=_HINTS.get(kind, ""))
    parts = _PARTS.get(kind)
    if parts is None:
        return
    for part, value in node.args.items():
        if value and part not in parts:
            raise QueryError(*_refused(node, part))
    if kind is exp.Table and not isinstance(node.this, exp.Identifier):
        raise QueryError(f"{_spelled(node)} is not a table.", hint="Functions that make tables are not allowed.")
    if kind is exp.Join and node.args.get("kind") not in (None, "", "INNER", "OUTER", "CROSS"):
        raise QueryError(f"A {node.args['kind']} JOIN is not allowed.", hint="Use IN or EXISTS.")
    if kind in (exp.Limit, exp.Offset) and not _whole(node.expression):
        raise QueryError(f"{kind.__name__.upper()} takes a whole number.")
    if isinstance(node, exp.DataType):
        name = node.this.value if isinstance(node.this, exp.DataType.Type) else str(node.this)
        if name not in _TYPES or node.args.get("nested"):
            raise QueryError(f"The type {name} is not known.", hint=f"Types: {listed(sorted(_TYPES))}.")


def _refused(node: exp.Expr, part: str) -> tuple[str]:
    """What to say of a part that may not be set."""
    if isinstance(node, exp.Table):
        if part in ("db", "catalog"):
            return (f"{_spelled(node)} names a schema: tables have plain names here.",)
        return (f"{part.strip('_')} is not allowed on a table.",)
    if isinstance(node, exp.Column):
        return (f"{_spelled(node)} has too many parts: write table.column.",)
    if isinstance(node, exp.With):
        return ("A recursive WITH is not allowed.",)
    if isinstance(node, exp.Join) and part == "method":
        return (f"A {node.args['method']} JOIN is not allowed: write JOIN ... ON.",)
    if isinstance(node, exp.Star):
        return ("* takes no EXCLUDE, REPLACE or RENAME here: name the columns.",)
    if isinstance(node, exp.Distinct):
        return ("DISTINCT ON is not allowed: use GROUP BY, or row_number() with QUALIFY.",)
    words = {"laterals": "LATERAL", "pivots": "PIVOT", "limit_options": "%", "all": "ALL"}
    return (f"{words.get(part, part.strip('_').upper())} is not allowed in {type(node).__name__.upper()}.",)


def _known_function(node: exp.Expr) -> None:
    name, takes = node.name.lower(), len(node.expressions)
    if name not in _ANONYMOUS:
        if name in _CLOCKS:
            raise QueryError(
                f"{name}() is not allowed: what is now is told from outside.", hint=_HINTS[exp.CurrentTimestamp]
            )
        known = functions()
        hint = f"{did_you_mean(name, known)} Functions: {listed(known, 200)}.".strip()
        raise QueryError(f"There is no function {name} here.", hint=hint)
    if takes != _ANONYMOUS[name]:
        raise QueryError(f"{name} takes {_ANONYMOUS[name]} values, not {takes}.")


def functions() -> list[str]:
    """The names of the functions that a program may call, as DuckDB spells them."""
    named = {f.sql_names()[0].lower() for f in _FUNCTIONS}
    return sorted((named - set(_RENAMED)) | {_RENAMED[n] for n in named & set(_RENAMED)} | set(_ANONYMOUS))


# sqlglot's name for a function -> DuckDB's
_RENAMED = {
    "percentile_cont": "quantile_cont",
    "group_concat": "string_agg",
    "logical_and": "bool_and",
    "logical_or": "bool_or",
    "regexp_like": "regexp_matches",
    "str_position": "strpos",
    "timestamp_trunc": "date_trunc",
    "time_to_str": "strftime",
    "date_from_parts": "make_date",
    "datediff": "date_diff",
    "dayofweek_iso": "isodow",
    "day_of_week": "dayofweek",
    "variance_pop": "var_pop",
}


def _whole(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit()


def _spelled(node: exp.Expr) -> str:
    text = " ".join(node.sql(dialect="duckdb").split())
    return text if len(text) <= 60 else f"{text[:57]}..."
