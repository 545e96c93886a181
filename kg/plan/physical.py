"""From the planned tree to the SQL that DuckDB runs: partitions for tables, folded names, our functions spelled out."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from kg.domain import Column, Domain
from kg.plan.bindings import COLUMN
from kg.plan.pieces import joined
from kg.plan.steps import PARTITION, Pieces
from kg.text import fold

_FOLD = "kg_fold"


def physical(tree: exp.Expr, domain: Domain) -> exp.Expr:
    """Return `tree` as it is run: every table its partition, names compared folded, our functions as DuckDB's."""
    out = tree.copy()
    nodes = list(out.walk())
    for node in nodes:
        if isinstance(node, exp.Table) and (stored := node.meta.get(PARTITION)) is not None:
            if isinstance(stored, Pieces):
                _store_pieces(node, stored, domain)
            else:
                _store(node, stored, domain)
    # inner ones first: what is rewritten is moved, not copied
    for node in reversed(nodes):
        if isinstance(node, exp.In):
            _fold_in(node)
        elif isinstance(node, (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)):
            _fold_equality(node)
        elif isinstance(node, exp.Like) and _match(node.this) != "exact":
            node.set("this", exp.func("lower", node.this))
            node.set("expression", exp.func("lower", node.expression))
        elif isinstance(node, exp.Anonymous):
            _spell_out(node)
    return out


def duckdb_sql(tree: exp.Expr, domain: Domain) -> str:
    """Return the text that DuckDB is given for a planned `tree`."""
    return physical(tree, domain).sql("duckdb", comments=False, unsupported_level=ErrorLevel.IGNORE)


def _store(table: exp.Table, stored: str, domain: Domain) -> None:
    name = _named(table)
    table.set("this", exp.to_identifier(stored, quoted=True))
    table.set("db", exp.to_identifier(domain.name, quoted=True))
    table.set("alias", name)


def _store_pieces(table: exp.Table, stored: Pieces, domain: Domain) -> None:
    rows = joined(domain.table(table.name), stored, domain.name)
    table.replace(exp.Subquery(this=rows, alias=_named(table)))


def _named(table: exp.Table) -> exp.TableAlias:
    alias = table.args.get("alias")
    columns = alias.columns if alias is not None else []
    return exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True), columns=list(columns))


def _match(*sides: exp.Expr) -> str:
    """How values are compared of which one is among `sides`: the loosest way of those."""
    found = {c.match for side in sides if (c := _declared(side)) is not None}
    return next((m for m in ("contains", "name") if m in found), "exact")


def _declared(e: exp.Expr) -> Column | None:
    e = e.unnest()
    found = e.meta.get(COLUMN) if isinstance(e, exp.Column) else None
    return found if isinstance(found, Column) else None


def _fold_equality(node: exp.Expr) -> None:
    left, right = node.args["this"], node.args["expression"]
    how = _match(left, right)
    if how == "exact":
        return
    if how == "contains" and isinstance(node, (exp.EQ, exp.NEQ)) and _match(left) != _match(right):
        text, part = (left, right) if _match(left) == "contains" else (right, left)
        found = _contains(text, part)
        node.replace(exp.Not(this=found) if isinstance(node, exp.NEQ) else found)
        return
    node.set("this", _folded(left))
    node.set("expression", _folded(right))


def _fold_in(node: exp.In) -> None:
    query = node.args.get("query")
    if query is None:
        _fold_list(node)
        return
    own, theirs = _match(node.this), _match(*_outputs(query))
    if own == theirs == "exact":
        return
    # the values are folded around the query: its own names and order stay as they are
    alias = exp.TableAlias(this=exp.to_identifier("kg_in"), columns=[exp.to_identifier("kg_value")])
    values = exp.Subquery(this=query.unnest(), alias=alias)
    value = exp.column("kg_value", "kg_in")
    if own != theirs and "contains" in (own, theirs):
        text, part = (node.this, value) if own == "contains" else (value, node.this)
        node.replace(exp.Exists(this=_select(exp.Literal.number(1), values).where(_contains(text, part), copy=False)))
    else:
        node.set("this", _folded(node.this))
        node.set("query", exp.Subquery(this=_select(_folded(value), values)))


def _fold_list(node: exp.In) -> None:
    how = _match(node.this)
    if how == "contains" and node.expressions:
        options = [_contains(node.this, v) for v in node.expressions]
        node.replace(exp.paren(exp.or_(*options, copy=False), copy=False))
    elif _match(node.this, *node.expressions) != "exact":
        node.set("this", _folded(node.this))
        node.set("expressions", [_folded(v) for v in node.expressions])


def _select(shown: exp.Expr, source: exp.Expr) -> exp.Select:
    return exp.select(shown, copy=False).from_(source, copy=False)


def _outputs(query: exp.Expr | None) -> list[exp.Expr]:
    body = query.unnest() if query is not None else None
    return [p.unalias() for p in body.selects[:1]] if isinstance(body, exp.Query) else []


def _folded(e: exp.Expr) -> exp.Expr:
    if isinstance(e, exp.Literal) and e.this.isascii():
        return exp.Literal.string(fold(e.this))
    return exp.Anonymous(this=_FOLD, expressions=[e])


def _contains(text: exp.Expr, part: exp.Expr) -> exp.Expr:
    """`text` has the words of `part`, in a row. NULL if one of them is."""

    def padded(e: exp.Expr) -> exp.Expr:
        space = exp.Literal.string(" ")
        return exp.paren(exp.DPipe(this=exp.DPipe(this=space, expression=_folded(e.copy())), expression=space.copy()))

    return exp.Anonymous(this="contains", expressions=[padded(text), padded(part)])


def _spell_out(call: exp.Anonymous) -> None:
    name, args = call.name.lower(), call.expressions
    if name in ("years_between", "days_between"):
        # complete years, as people count ages; the order of the two does not matter
        unit = exp.Literal.string(name.partition("s_")[0])
        call.replace(exp.func("abs", exp.Anonymous(this="date_sub", expressions=[unit, *args])))
    elif name == "percent":
        nonzero = exp.Anonymous(this="nullif", expressions=[exp.paren(args[1]), exp.Literal.number(0)])
        hundredfold = exp.Mul(this=exp.Literal.number("100.0"), expression=exp.paren(args[0]))
        call.replace(exp.paren(exp.Div(this=hundredfold, expression=nonzero)))
