"""From the planned tree to the SQL that DuckDB runs: partitions for tables, folded names, our functions spelled out."""

from __future__ import annotations

from sqlglot import exp

from .domain import Column, Domain
from .plan import COLUMN, PARTITION
from .text import fold

_FOLD = "kg_fold"


def physical(tree: exp.Query, domain: Domain) -> exp.Query:
    """Return `tree` as it is run: every table its partition, names compared folded, our functions as DuckDB's."""
    out = tree.copy()
    for table in list(out.find_all(exp.Table)):
        stored = table.meta.get(PARTITION)
        if stored is not None:
            alias = table.alias_or_name
            named = exp.table_(stored, db=domain.name, quoted=True, alias=exp.to_identifier(alias, quoted=True))
            table.replace(named)
    for node in list(out.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like)):
        _fold_comparison(node)
    for call in list(out.find_all(exp.Anonymous)):
        _spell_out(call)
    return out


def _fold_comparison(node: exp.Expr) -> None:
    """Compare names by their folding, and texts that are matched by containing as whole words."""
    if isinstance(node, exp.In):
        column = _declared(node.this)
        if column is None or column.match == "exact":
            return
        if column.match == "contains" and node.expressions:
            node.replace(exp.paren(exp.or_(*(_contains(node.this, v) for v in node.expressions))))
            return
        node.this.replace(_folded(node.this))
        for value in list(node.expressions):
            value.replace(_folded(value))
        query = node.args.get("query")
        inner = query.this if isinstance(query, exp.Subquery) else query
        if isinstance(inner, exp.Select) and len(inner.selects) == 1:
            shown = inner.selects[0]
            shown.replace(exp.alias_(_folded(shown.unalias().copy()), "folded"))
        return
    left, right = node.args["this"], node.args["expression"]
    matches = [column.match if (column := _declared(side)) else "" for side in (left, right)]
    if not {"name", "contains"} & set(matches):
        return
    if isinstance(node, exp.Like):
        left.replace(exp.func("lower", left.copy()))
        right.replace(exp.func("lower", right.copy()))
    elif "contains" in matches and isinstance(node, exp.EQ):
        text, part = (left, right) if matches[0] == "contains" else (right, left)
        node.replace(_contains(text, part))
    else:
        left.replace(_folded(left))
        right.replace(_folded(right))


def _declared(e: exp.Expr) -> Column | None:
    found = e.meta.get(COLUMN) if isinstance(e, exp.Column) else None
    return found if isinstance(found, Column) else None


def _folded(e: exp.Expr) -> exp.Expr:
    if isinstance(e, exp.Literal) and e.is_string:
        return exp.Literal.string(fold(e.this))
    return exp.func(_FOLD, e.copy())


def _contains(text: exp.Expr, part: exp.Expr) -> exp.Expr:
    """`text` has the words of `part`, in a row."""
    padded = [exp.func("concat", exp.Literal.string(" "), _folded(e), exp.Literal.string(" ")) for e in (text, part)]
    return exp.func("contains", *padded)


def _spell_out(call: exp.Anonymous) -> None:
    name, args = call.name.lower(), [a.copy() for a in call.expressions]
    if name in ("years_between", "days_between"):
        # complete years, as people count ages; which of the two comes first does not matter
        unit = exp.Literal.string(name.partition("s_")[0])
        call.replace(exp.Anonymous(this="abs", expressions=[exp.Anonymous(this="date_sub", expressions=[unit, *args])]))
    elif name == "percent":
        nonzero = exp.Anonymous(this="nullif", expressions=[args[1], exp.Literal.number(0)])
        call.replace(exp.paren(exp.Div(this=exp.Mul(this=exp.Literal.number("100.0"), expression=exp.paren(args[0])), expression=nonzero)))
