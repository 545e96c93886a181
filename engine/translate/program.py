"""From a meaning to its program, in SQL. `kg` checks and plans it like a program that anybody else wrote.

Names and values are literals, quoted in one place. A thing that was linked is asked for by its name and its key: the
name is for the reader, the key makes the call exact.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from kg.domain import Column, Domain, Table

from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Count,
    Entity,
    Excerpt,
    Exists,
    Given,
    Is,
    Leader,
    Listed,
    Meaning,
    Names,
    Other,
    Same,
    Scaled,
    Set,
    Tally,
    Than,
    Through,
    To,
    Top,
    Value,
    Where,
    Which,
)

PLACES = 5  # of a ranking that are looked at: the first may be shared
LONG = 2  # roles in a chain


def sql(meaning: Meaning, domain: Domain) -> str:
    """Return the program of `meaning`."""
    match meaning:
        case Names(set=rows, column=column, year=year, n=n):
            named = _names(rows, column, domain, year)
            if not n or rows.top is not None:
                return named
            return f"{named} LIMIT {n}" if " ORDER BY " in named else f"{named} ORDER BY 1 LIMIT {n}"
        case Count(set=rows):
            return _count(rows, domain)
        case Aggregate(function=function, set=rows, column=column):
            return _aggregate(function, rows, column, domain)
        case Exists(set=rows) if rows.entities and isinstance(value := rows.conditions[-1], Where):
            # what is not known of a thing is not false
            q = _Query(domain)
            alias = q.add(replace(rows, conditions=rows.conditions[:-1], top=None))
            return q.select(f"max({_condition(alias, value)})")
        case Exists(set=rows):
            q = _Query(domain)
            alias = q.add(replace(rows, top=None))
            return q.select(f"count(DISTINCT {_q(alias)}.{_q(domain.table(rows.table).key[0])}) > 0")
        case Which():
            return _which(meaning, domain)
        case Leader():
            return _leader(meaning, domain)
        case Tally(set=rows, column=column):
            q = _Query(domain)
            shown = f"{_q(q.add(rows))}.{_q(column)}"
            if rows.top is None:
                return f"{q.select(f'{shown}, count(*)')} GROUP BY {shown} ORDER BY 2 DESC"
            chosen = f"chosen.{_q(column)}"
            inner = f"WITH chosen AS ({q.select(shown)})"
            return f"{inner} SELECT {chosen}, count(*) FROM chosen GROUP BY {chosen} ORDER BY 2 DESC"
        case Compare(first=first, second=second, greater=greater):
            return f"SELECT {_scalar(first, domain)} {'>' if greater else '<'} {_scalar(second, domain)} AS answer"
        case Calculate(function=function, first=first, second=second):
            a, b = _scalar(first, domain), _scalar(second, domain)
            return f"SELECT {_FUNCTIONS[function].format(a=a, b=b)} AS answer"
        case Listed(set=rows, column=column):
            return _of_column(rows, column, "length({c}) - length(replace({c}, ',', '')) + 1", domain)
        case Excerpt(set=rows, column=column, pattern=pattern):
            return _of_column(rows, column, f"regexp_extract({{c}}, {_literal(pattern)}, 1)", domain)
        case Scaled(set=rows, column=column, factor=factor, plus=plus):
            times = "" if factor == 1 else f" * {factor!r}"
            return _of_column(rows, column, f"{{c}}{times}{f' {plus:+}' if plus else ''}", domain)


def _of_column(rows: Set, column: str, made: str, domain: Domain) -> str:
    """What is made of a column, written {c}."""
    q = _Query(domain)
    return q.select(made.replace("{c}", f"{_q(q.add(rows))}.{_q(column)}"))


def _aggregate(function: str, rows: Set, column: str, domain: Domain) -> str:
    q = _Query(domain)
    if rows.top is None:
        alias = q.add(rows)
        if len(q.sources) == 1:
            return q.select(f"{function}({_q(alias)}.{_q(column)})")
        q = _Query(domain)
    elif len(domain.table(rows.table).key) > 1:
        inner = _Query(domain)
        shown = f"{_q(inner.add(rows))}.{_q(column)}"
        return f"WITH chosen AS ({inner.select(shown)}) SELECT {function}(chosen.{_q(column)}) FROM chosen"
    # a join may meet a row twice, and a limit comes before the sum: the rows are chosen first
    key = _q(domain.table(rows.table).key[0])
    alias = q.add(rows)
    chosen = q.select(f"{_q(alias)}.{key}")
    return (
        f"SELECT {function}({rows.table}.{_q(column)}) FROM {_q(rows.table)} WHERE {_q(rows.table)}.{key} IN ({chosen})"
    )


def _scalar(value: Value, domain: Domain) -> str:
    """A value as a scalar subquery, or the literal it is."""
    if isinstance(value, Given):
        return _literal(value.value)
    return f"({sql(value, domain)})"


_FUNCTIONS = {
    "difference": "{a} - {b}",
    "distance": "abs({a} - {b})",
    "total": "{a} + {b}",
    "ratio": "{a} / {b}",
    "percent": "percent({a}, {b})",
    "change": "percent({b} - {a}, {a})",
    "fall": "percent({a} - {b}, {a})",
    "years": "years_between({a}, {b})",
    "times": "{a} * {b}",
    "whole": "floor({a} / {b})",
    "days": "days_between({a}, {b})",
}


def _names(rows: Set, column: str, domain: Domain, year: bool = False) -> str:
    q = _Query(domain)
    table = domain.table(rows.table)
    copied = None if column and column != table.label else _copied_label(rows, domain)
    if copied is not None:
        # "who directed it" needs the credit's name, not the person: one table and often one call less
        through, label = copied
        alias = q.add(through)
        if rows.top is not None:
            q.order(alias, rows.top)
        shown = f"{_q(alias)}.{_q(label)}"
        others = tuple(c for c in rows.conditions if isinstance(c, Other))
        q.at(shown, Set(rows.table, others))
    else:
        alias = q.add(rows)
        shown = f"{_q(alias)}.{_q(column or table.label or table.columns[0].name)}"
        if column and table.column(column).beside:
            shown += f", {_q(alias)}.{_q(table.column(column).beside)}"
        if year:
            return q.select(f"year({shown}) AS year", distinct=True)
    if ranked(rows):
        return f"{q.select(shown)} GROUP BY {shown} ORDER BY count(*) DESC, {shown}"
    # rows of a file come in any order: the same question gets the same answer every time
    order = f" ORDER BY {shown}" if table.in_place and not q.ordering else ""
    return q.select(shown, distinct=True) + order


def _same(rows: Set, column: str, days: int, domain: Domain) -> str:
    """The values of a column, or the days from them on."""
    if days == 1:
        return _names(rows, column, domain)
    q = _Query(domain)
    shown = f"{_q(q.add(rows))}.{_q(column)}"
    return " UNION ALL ".join(q.select(f"{shown} + {n}") for n in range(days))


def ranked(rows: Set) -> bool:
    """Whether the names of a set come in the order of how many ways lead to them: at the end of a long chain there
    are many, and those that are tied to the start in most ways are most surely meant."""
    steps = sum(isinstance(c, Through) for s in rows.nested for c in s.conditions)
    return steps >= LONG and all(s.top is None for s in rows.nested)


def _copied_label(rows: Set, domain: Domain) -> tuple[Set, str] | None:
    """For a set known only through one detail table that also holds its label: that table's rows, and the column."""
    others = [c for c in rows.conditions if isinstance(c, Other)]
    if len(rows.conditions) != 1 + len(others) or not isinstance(through := rows.conditions[0], Through):
        return None
    table = domain.table(rows.table)
    if others and not (
        table.label == table.key[0] and _is_known_by(table.label, Set(table.name, tuple(others)), domain)
    ):
        return None
    if rows.top is not None and rows.top.via != through.rows.table:
        return None
    own = _bound_by_name(through.rows)
    for column in domain.table(through.rows.table).columns:
        if (
            column.name not in own
            and column.links
            and (column.links.table, column.links.column) == (table.name, table.label)
        ):
            return through.rows, column.name
    return None


def _bound_by_name(rows: Set) -> frozenset[str]:
    """The columns by which the rows of a set are told to link to others."""
    return frozenset(c.column for c in rows.conditions if isinstance(c, To) and c.column)


def _free_link(detail: Table, table: Table, bound: frozenset[str]) -> Column:
    """The column of `detail` that links to `table` and is not bound yet."""
    links = [c for c in detail.columns if c.links and c.links.table == table.name]
    return next((c for c in links if c.name not in bound), links[0])


def _count(rows: Set, domain: Domain) -> str:
    q = _Query(domain)
    copied = _copied_label(replace(rows, top=None), domain)
    named_by_key = domain.table(rows.table).key == (domain.table(rows.table).label,)
    if copied is not None and (named_by_key or not _self_keyed(copied[0], domain.table(rows.table))):
        return q.select(f"count(DISTINCT {_q(q.add(copied[0]))}.{_q(copied[1])})")
    alias = q.add(replace(rows, top=None))
    table = domain.table(rows.table)
    if not table.is_entity:
        own = next((c for c in table.columns if c.links and c.name in table.key[1:]), None)
        if own is not None and not any(isinstance(c, To) for c in rows.conditions):
            # a game has a row for either side
            return q.select(f"count(DISTINCT {_q(alias)}.{_q(table.key[0])})")
        return q.select("count(*)")
    return q.select(f"count(DISTINCT {_q(alias)}.{_q(table.key[0])})")


def _leader(leader: Leader, domain: Domain) -> str:
    q = _Query(domain)
    alias = _q(q.add(replace(leader.set, top=None)))
    by, direction = f"{alias}.{_q(leader.by)}", "DESC" if leader.descending else "ASC"
    value = f"{leader.function}({alias}.{_q(leader.column)})" if leader.column else "count(*)"
    return f"{q.select(f'{by}, {value} AS n')} GROUP BY {by} ORDER BY n {direction}, 1 LIMIT {PLACES}"


def _which(which: Which, domain: Domain) -> str:
    direction = "DESC" if which.descending else "ASC"
    columns = {v.column for v in which.values if isinstance(v, Names)}
    things = [v.set for v in which.values if isinstance(v, Names) and v.set.is_entity]
    if len(things) < len(which.values) or len(columns) != 1:
        parts = [
            f"SELECT {_literal(n)} AS name, {_scalar(v, domain)} AS n"
            for n, v in zip(which.names, which.values, strict=True)
        ]
        return f"{' UNION ALL '.join(parts)} ORDER BY n {direction}"
    table = domain.table(things[0].table)
    label, column = _q(table.label), _q(columns.pop())
    if all(len(s.conditions) == 1 for s in things):
        merged = Set(table.name, (Is(tuple(e for s in things for e in s.entities)),))
        q = _Query(domain)
        alias = _q(q.add(merged))
        body = q.select(f"{alias}.{label}, {alias}.{column}")
        return f"{body} ORDER BY {alias}.{column} {direction}"
    parts = []
    for thing in things:
        q = _Query(domain)
        alias = _q(q.add(thing))
        parts.append(q.select(f"{alias}.{label}, {alias}.{column}"))
    return f"{' UNION ALL '.join(parts)} ORDER BY {column} {direction}"


class _Query:
    """One SELECT being put together."""

    def __init__(self, domain: Domain):
        self.domain = domain
        self.sources: list[str] = []
        self.where: list[str] = []
        self.ordering = ""
        self.aliases: dict[str, int] = {}

    def add(self, rows: Set, join: str = "", linked: Column | None = None) -> str:
        """Put the rows of a set into FROM, with everything they depend on; return their alias.

        `linked` is the column by which `join` reaches them: no other key that comes in other replies may be used.
        """
        alias = self._alias(rows.table)
        table = self.domain.table(rows.table)
        source = _q(rows.table) + (f" AS {_q(alias)}" if alias != rows.table else "")
        self.sources.append(f"JOIN {source} ON {join.format(alias=_q(alias))}" if join else source)
        used = [linked] if linked else []
        for c in rows.conditions:
            match c:
                case Is(entities=entities):
                    self._is(alias, table, entities)
                case Where():
                    self.where.append(_condition(alias, c))
                case Than(column=one, op=op, other=other_column):
                    self.where.append(f"{_q(alias)}.{_q(one)} {op} {_q(alias)}.{_q(other_column)}")
                case To(set=target, column=by):
                    linking = self.domain.table(target.table)
                    column = table.column(by) if by else _link(table, linking, self.domain, used)
                    used.append(column)
                    self._join(alias, table, column, target)
                case Through(rows=detail):
                    self._through(alias, table, rows, detail)
                case Other(entities=entities):
                    self._is(alias, table, entities, "NOT IN")
                case Same(own=own, set=other, column=column_name, days=days, op=op):
                    same = _same(other, column_name, days, self.domain)
                    self.where.append(f"{_q(alias)}.{_q(own)} {'IN' if op == '=' else op} ({same})")
        if rows.top is not None and not rows.top.via:
            self.order(alias, rows.top)
        return alias

    def _through(self, alias: str, table: Table, rows: Set, detail: Set) -> None:
        others = [c for c in rows.conditions if not (isinstance(c, Through) and c.rows is detail)]
        by_label = not others and _self_bound(detail, self.domain)
        # rows that a named thing brings have that thing's key, and perhaps no other
        anchor = next((c.set for c in detail.conditions if isinstance(c, To)), None) if by_label else None
        detail_table = self.domain.table(detail.table)
        if own := _bound_by_name(detail):
            # both ends are of one kind: a band and its members
            column = _free_link(detail_table, table, own)
            links = column.links
            assert links is not None
            self.add(detail, f"{{alias}}.{_q(column.name)} = {_q(alias)}.{_q(links.column)}")
            return
        used = [_link(detail_table, self.domain.table(anchor.table), self.domain, [])] if anchor else []
        column = _link(detail_table, table, self.domain, used, by_label=by_label)
        links = column.links
        assert links is not None
        joined = self.add(
            detail, f"{{alias}}.{_q(column.name)} = {_q(alias)}.{_q(links.column)}", None if anchor else column
        )
        self._narrow(column, joined, detail_table, alias, table)
        if rows.top is not None and rows.top.via == detail.table:
            self.order(joined, rows.top)

    def _narrow(self, column: Column, detail: str, detail_table: Table, alias: str, table: Table) -> None:
        """Add the condition that a link declares; it speaks of the tables by name."""
        if column.links and column.links.where:
            where = column.links.where.replace(f"{table.name}.", f"{alias}.")
            self.where.append(where.replace(f"{detail_table.name}.", f"{detail}."))

    def _join(self, alias: str, table: Table, column: Column, target: Set) -> None:
        links = column.links
        assert links is not None
        keys = _readable_keys(target, links.column, self.domain)
        if keys:
            self.where.append(_among(f"{_q(alias)}.{_q(column.name)}", keys))
            return
        if not links.where and _is_known_by(links.column, target, self.domain):
            self.at(f"{_q(alias)}.{_q(column.name)}", target)
            return
        if target.top is None:
            joined = self.add(target, f"{{alias}}.{_q(links.column)} = {_q(alias)}.{_q(column.name)}")
            self._narrow(column, alias, table, joined, self.domain.table(target.table))
            return
        inner = _Query(self.domain)
        inner_alias = inner.add(target)
        body = inner.select(f"{_q(inner_alias)}.{_q(links.column)}")
        self.where.append(f"{_q(alias)}.{_q(column.name)} IN ({body})")

    def at(self, value: str, rows: Set) -> None:
        """Add the conditions of a set whose key is `value`: its own table would add nothing."""
        table = self.domain.table(rows.table)
        for c in rows.conditions:
            match c:
                case Is(entities=entities) | Other(entities=entities):
                    keys = ", ".join(_literal(e.key) for e in entities)
                    one = isinstance(c, Is) and len(entities) == 1
                    is_in = "IN" if isinstance(c, Is) else "NOT IN"
                    self.where.append(f"{value} = {keys}" if one else f"{value} {is_in} ({keys})")
                case Through(rows=detail):
                    column = _link(self.domain.table(detail.table), table, self.domain, [])
                    self.add(detail, f"{{alias}}.{_q(column.name)} = {value}", column)

    def order(self, alias: str, top: Top) -> None:
        column = f"{_q(alias)}.{_q(top.column)}"
        column = f"length({column})" if top.shortest else column
        skip = f" OFFSET {top.skip}" if top.skip else ""
        self.ordering = f" ORDER BY {column} {'DESC' if top.descending else 'ASC'} LIMIT {top.n}{skip}"
        # what has no value cannot be the first or the last by it
        self.where.append(f"{column} IS NOT NULL")

    def _is(self, alias: str, table: Table, entities: tuple[Entity, ...], is_in: str = "IN") -> None:
        label, key = f"{_q(alias)}.{_q(table.label)}", f"{_q(alias)}.{_q(table.key[0])}"
        known = [e for e in entities if e.key is not None]
        names = list(dict.fromkeys(e.text for e in entities))
        if len(known) == len(entities) and table.column(table.key[0]).type == "TEXT":
            self.where.append(_among(key, [e.key for e in entities], is_in))
            return
        if is_in == "IN" and len(names) == 1:
            self.where.append(f"{label} = {_literal(names[0])}")
        elif len(known) < len(entities):
            self.where.append(f"{label} {is_in} ({', '.join(map(_literal, names))})")
        if len(known) == len(entities):
            self.where.append(_among(key, [e.key for e in entities], is_in))

    def _alias(self, table: str) -> str:
        n = self.aliases[table] = self.aliases.get(table, 0) + 1
        return table if n == 1 else f"{table}_{n}"

    def select(self, what: str, distinct: bool = False) -> str:
        ordering = self.ordering
        where = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        once = "DISTINCT " if distinct and not ordering else ""
        return f"SELECT {once}{what} FROM {' '.join(self.sources)}{where}{ordering}"


def _readable_keys(target: Set, linked: str, domain: Domain) -> list[Any]:
    """The keys of things that are merely named, if a link holds them and people can read them (a ticker)."""
    table = domain.table(target.table)
    if target.top is not None or len(target.conditions) != 1 or not target.is_entity or linked != table.key[0]:
        return []
    keys = [e.key for e in target.entities]
    return keys if table.column(linked).type == "TEXT" and None not in keys else []


def _among(column: str, values: list[Any], is_in: str = "IN") -> str:
    listed = ", ".join(map(_literal, values))
    return f"{column} = {listed}" if len(values) == 1 and is_in == "IN" else f"{column} {is_in} ({listed})"


def _is_known_by(key: str, rows: Set, domain: Domain) -> bool:
    """Whether all that is said of a set holds of its key, so that its table need not be read. Only of tables in place:
    of others it is the row itself that tells what to ask for next."""
    table = domain.table(rows.table)
    if not table.in_place or table.key != (key,) or rows.top is not None:
        return False
    return all(
        all(e.key is not None for e in c.entities)
        if isinstance(c, (Is, Other))
        else isinstance(c, Through) and not _narrowed(c.rows.table, table.name, domain)
        for c in rows.conditions
    )


def _narrowed(detail: str, table: str, domain: Domain) -> bool:
    """Whether the link between two tables holds only under a condition."""
    return any(c.links and c.links.table == table and c.links.where for c in domain.table(detail).columns)


def _self_keyed(detail: Set, table: Table) -> bool:
    """Whether the rows of a detail table are bound so that they have the key of `table`, not only its label."""
    return any(isinstance(c, To) for c in detail.conditions)


def _self_bound(detail: Set, domain: Domain) -> bool:
    """Whether rows of a detail table can be had without the row they lead to."""
    return any(
        isinstance(c, To) or (isinstance(c, Where) and _is_input(detail.table, c.column, domain))
        for c in detail.conditions
    )


def _is_input(table: str, column: str, domain: Domain) -> bool:
    return any(column in a.needs for a in domain.accesses[table])


def _link(detail: Table, table: Table, domain: Domain, used: list[Column], *, by_label: bool = False) -> Column:
    """The column of `detail` that links to `table`: by its key, or by its label where the key may not be there.

    The key is not there when the rows come in replies that lack it: a year's awards name a film, not its id. `used`
    are the columns by which the rows are already reached.
    """
    links = [c for c in detail.columns if c.links and c.links.table == table.name]
    keys = [c for c in links if c.links and c.links.column in table.key]
    labels = [c for c in links if c not in keys]
    ways = domain.accesses[detail.name]
    together = any(not {c.name for c in (*used, *keys)} & set(a.lacks) for a in ways)
    lacking = any(c.name in a.lacks for a in ways for c in keys)
    if labels and (not together or (by_label and lacking)):
        return labels[0]
    return (keys or labels)[0]


def _condition(alias: str, c: Where) -> str:
    column = f"{_q(alias)}.{_q(c.column)}"
    if c.op == "in":
        return f"{column} IN ({', '.join(map(_literal, c.values))})"
    if c.op == "between":
        return f"{column} BETWEEN {_literal(c.values[0])} AND {_literal(c.values[1])}"
    if c.op == "says":
        return " AND ".join(f"regexp_matches({column}, {_literal(_word(v))})" for v in c.values)
    if c.op == "apart":
        return f"NOT regexp_matches({column}, {_literal(f'(?i){c.values[0]}')})"
    return f"{column} {c.op} {_literal(c.values[0])}"


def _word(text: str) -> str:
    """A regular expression for a word, however it goes on: "france" says French as little as "niger" says Nigeria."""
    return rf"(?i)(^|[^\p{{L}}]){re.escape(text)}($|[^\p{{L}}])"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


_PLAIN = frozenset(["cast", "order"])


def _q(name: str) -> str:
    return f'"{name}"' if name in _PLAIN else name
