"""The usual questions of a schema: every meaning of one or two steps, so that their utterances can be embedded ahead.

Deeper meanings nest these; what is not among them is embedded when it is first met.
"""

from __future__ import annotations

from collections.abc import Iterator

from kg.domain import Domain, Role, Table

from .meaning import Compare, Count, Entity, Exists, Is, Meaning, Names, Set, Through, To, Top, Where, Which

_SOME = Entity(None, "")


def usual_meanings(domain: Domain) -> Iterator[Meaning]:
    """Yield the meanings, each once, with masked entities."""
    for table in domain.entities:
        one = Set(table.name, (Is((_SOME,)),))
        yield from _columns(one, table)
        yield from _comparisons(one, table)
        for grown in [*_roles(domain, one, table), *_rows(domain, one, table)]:
            target = domain.table(grown.table)
            yield Names(grown)
            yield Count(grown)
            yield Exists(grown)
            yield from _columns(grown, target)
            for column in target.columns:
                for descending in [True] * bool(column.most) + [False] * bool(column.least):
                    best = Set(grown.table, grown.conditions, Top(column.name, descending))
                    yield Names(best)
                    yield from _columns(best, target)


def _columns(s: Set, table: Table) -> Iterator[Meaning]:
    for column in table.columns:
        if column.says or column.asks:
            yield Names(s, column.name)


def _comparisons(one: Set, table: Table) -> Iterator[Meaning]:
    for column in table.columns:
        if column.most or column.least:
            value = Names(one, column.name)
            for descending in (True, False):
                yield Which((value, value), ("", ""), descending)
                yield Compare(value, value, descending)


def _roles(domain: Domain, one: Set, table: Table) -> Iterator[Set]:
    for detail in domain.tables:
        for role in detail.roles:
            for near, far in ((role.of, role.to), (role.to, role.of)):
                if near == table.name:
                    yield Set(far, (Through(Set(detail.name, (*_fixed(role), To(one)))),))


def _rows(domain: Domain, one: Set, table: Table) -> Iterator[Set]:
    for detail in domain.tables:
        if not detail.is_entity and not detail.roles and detail.says:
            if any(c.links and c.links.table == table.name for c in detail.columns):
                yield Set(detail.name, (To(one),))
            for column in detail.columns:
                for value in column.values:
                    if value.value is not None:
                        yield Set(detail.name, (Where(column.name, "=", (value.value,)),))


def _fixed(role: Role) -> tuple[Where, ...]:
    return tuple(Where(c, "=", (v,)) for c, v in role.where)
