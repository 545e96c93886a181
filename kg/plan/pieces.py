"""Tables whose columns come from several calls, a piece each: which stored tables have them all, and how these join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from kg.domain import Domain, Table
from kg.plan.steps import CALL, Pieces


def groups(domain: Domain, table: Table) -> Iterator[dict[str, tuple[str, ...]]]:
    """The stored tables that can be joined, with the columns each lacks: those of objects that have the same key."""
    found: dict[frozenset[str], dict[str, tuple[str, ...]]] = {}
    for access in domain.accesses[table.name]:
        if access.lacks and not set(access.lacks) & set(table.key):
            key = frozenset(domain.object_by_name[access.fetch.gives].key_columns(table.name))
            if key and key <= set(table.key):
                group = found.setdefault(key, {})
                group[access.partition] = tuple(dict.fromkeys((*group.get(access.partition, ()), *access.lacks)))
    for group in found.values():
        if len(group) > 1:
            yield group


def cheapest(wanted: set[str], lacks: Mapping[str, tuple[str, ...]], costs: Mapping[str, float]) -> tuple[str, ...]:
    """Those of `costs` that together lack none of `wanted` for the least cost; all of `wanted` must be had by one."""
    if not wanted:
        return ()
    column = min(wanted, key=lambda c: (sum(c not in lacks[p] for p in costs), c))
    options = [
        (p, *cheapest({c for c in wanted if c in lacks[p]}, lacks, costs)) for p in costs if column not in lacks[p]
    ]
    return min(options, key=lambda chosen: sum(costs[p] for p in chosen))


def pieces(table: Table, lacks: Mapping[str, tuple[str, ...]]) -> Pieces:
    """Stored tables that each lack some columns, with those that they have."""
    parts = ((name, tuple(c.name for c in table.columns if c.name not in lacks[name])) for name in lacks)
    return Pieces(table.key, tuple(parts))


def joined(table: Table, found: Pieces, schema: str) -> exp.Select:
    """The rows of `table` from its pieces: NULL where a piece has no row. `CALL` is the list of the calls of a row."""
    aliases = {f"piece_{i}": columns for i, (_, columns) in enumerate(found.parts)}
    shown: list[exp.Expr] = []
    for c in table.columns:
        if c.name in found.key:
            shown.append(exp.column(c.name, quoted=True))
            continue
        having = [exp.column(c.name, alias, quoted=True) for alias, columns in aliases.items() if c.name in columns]
        value: exp.Expr = having[0] if having else exp.cast(exp.null(), c.type)
        if len(having) > 1:
            value = exp.Coalesce(this=having[0], expressions=having[1:])
        shown.append(exp.alias_(value, c.name, quoted=True, copy=False))
    calls = [exp.column(CALL, alias, quoted=True) for alias in aliases]
    shown.append(exp.alias_(exp.array(*calls, copy=False), CALL, quoted=True, copy=False))
    sources = [
        exp.alias_(exp.table_(name, db=schema, quoted=True), alias, table=True, quoted=True)
        for alias, (name, _) in zip(aliases, found.parts, strict=True)
    ]
    query = exp.select(*shown, copy=False).from_(sources[0], copy=False)
    for source in sources[1:]:
        keys = [exp.to_identifier(k, quoted=True) for k in found.key]
        query.append("joins", exp.Join(this=source, side="FULL", using=keys))
    return query
