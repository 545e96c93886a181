"""The grammar of the dialect for one domain, for constrained decoding.

EBNF as xgrammar, llama.cpp and guidance read it. Names are those of the domain, so a model cannot invent one, and
text is free only within quotes. It is narrower than what `kg.dialect` reads: one way to write a thing, small enough to
compile fast. What a grammar cannot say (that a first line has no line before) is left to the reader's errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from kg.dialect.calls import AGGREGATES, COMPARISONS
from kg.domain import Domain, Table

_COMMON = r"""
root ::= calls | select
calls ::= line ("\n" line)*
line ::= "ALL " rows | rows | formula | aggregate "(" one ")"
formula ::= operand " " operator " " operand | pair "(" operand ", " operand ")"
operand ::= one | number | text | "*"
operator ::= "+" | "-" | "*" | "/" | "=" | "<>" | ">" | ">=" | "<" | "<="
pair ::= "years_between" | "days_between" | "percent" | "coalesce"
arg ::= text | number | "NONE" | "*"
value ::= literal | "*"
literal ::= text | number | "TRUE" | "FALSE"
compare ::= {compare}
aggregate ::= {aggregates}
cut ::= "[:" [1-9] [0-9]? "]"
text ::= "\"" [^"\n]* "\""
number ::= "-"? [0-9]+ ("." [0-9]+)?
"""

_SQL = r"""
select ::= core ((" UNION " | " INTERSECT " | " EXCEPT ") core)? order? (" LIMIT " [1-9] [0-9]*)?
order ::= " ORDER BY " key (", " key)*
core ::= "SELECT " "DISTINCT "? item (", " item)* " FROM " table join* (" WHERE " test)? group?
join ::= (" JOIN " | " LEFT JOIN ") table " ON " column " = " column
group ::= " GROUP BY " column (", " column)* (" HAVING " measure " " sign " " number)?
item ::= expression (" AS " alias)?
alias ::= "a" [1-9]
expression ::= term (" " [-+*/] " " term)?
term ::= column | measure | sqlfunction "(" column ")" | number
measure ::= "COUNT(*)" | "COUNT(DISTINCT " column ")" | sqlaggregate "(" column ")"
sqlaggregate ::= "COUNT" | "SUM" | "AVG" | "MIN" | "MAX" | "MEDIAN"
sqlfunction ::= "YEAR" | "MONTH" | "DAY" | "LOWER" | "UPPER" | "LENGTH" | "ABS" | "ROUND"
test ::= condition ((" AND " | " OR ") condition)*
condition ::= "NOT "? (compared | among | "(" test ")")
compared ::= term " " sign " " (constant | term | "(" core ")") | column " BETWEEN " constant " AND " constant
among ::= column (" IN (" (constant (", " constant)* | core) ")" | " LIKE " string | " IS NULL" | " IS NOT NULL")
sign ::= "=" | "<>" | ">" | ">=" | "<" | "<="
constant ::= string | number | "TRUE" | "FALSE"
string ::= "'" ([^'\n] | "''")* "'"
key ::= (column | measure | alias) " DESC"?
"""


def grammar(domain: Domain) -> str:
    """Return the grammar, one rule a line, beginning with `root`.

    Calls join up to three tables, two entities and a table that links them at most.
    """
    groups = list(_groups(domain))
    names = ["_".join(t.name for t in group) for group in groups]
    aggregates = _either(_quote(a) for a in AGGREGATES if a != "len")
    lines = [_COMMON.strip().format(compare=_either(_quote(c) for c in COMPARISONS), aggregates=aggregates)]
    lines.append(f"rows ::= {_either([*(f'rows_{n}' for n in names), 'sort'])}")
    lines.append(f"one ::= {_either(f'one_{n}' for n in names)}")
    for name, group in zip(names, groups, strict=True):
        lines.extend(_group_rules(name, group))
    every = sorted({c.name for t in domain.tables for c in t.columns})
    lines.append(f"any_column ::= {_either(_quote(c) for c in every)}")
    lines.append('any_condition ::= compare "(" any_column ", " literal ")"')
    lines.append('any_list ::= any_column (", " any_column)*')
    lines.append('sort ::= "sort(" ("NONE" | any_condition) (", " "-"? any_column)+ ")" ("[" any_list "]")? cut?')
    lines.append(_SQL.strip())
    lines.append(f"table ::= {_either(_quote(t.name) for t in domain.tables)}")
    columns = (f"{_quote(t.name + '.')} ({_either(_quote(c.name) for c in t.columns)})" for t in domain.tables)
    lines.append(f"column ::= {_either(columns)}")
    return "\n".join(lines) + "\n"


def _groups(domain: Domain) -> Iterator[tuple[Table, ...]]:
    """The tables that one call may name together, entities first."""
    for table in domain.tables:
        yield (table,)
    for table in domain.tables:
        linked = {c.links.table for c in table.columns if c.links} - {table.name}
        for other in domain.tables:
            if other.name in linked:
                yield (other, table)
    for one, two in combinations(domain.entities, 2):
        for table in domain.tables:
            linked = {c.links.table for c in table.columns if c.links}
            if {one.name, two.name} <= linked and not table.is_entity:
                yield (one, two, table)


def _group_rules(name: str, group: tuple[Table, ...]) -> Iterator[str]:
    owners: dict[str, list[str]] = {}
    for table in group:
        for own in table.columns:
            owners.setdefault(own.name, []).append(table.name)
    spelled = [(c, f"{t.name}.{c.name}" if len(owners[c.name]) > 1 else c.name) for t in group for c in t.columns]
    numbers = [s for c, s in spelled if c.numeric]
    column, condition = f"column_{name}", f"condition_{name}"
    arguments = ' ", " '.join("arg" for t in group if t.is_entity)
    more = f'(", " {condition})*'
    inner = f"{arguments} {more}" if arguments else f"({condition} {more})?"
    yield f"{column} ::= {_either(_quote(s) for _, s in spelled)}"
    yield (
        f'{condition} ::= compare "(" {column} ", " value ")" | ("eq" | "neq") "(" {column} ", NONE)"'
        f' | "like(" {column} ", " text ")" | "between(" {column} ", " literal ", " literal ")"'
        f' | "in(" {column} ", " ("*" | "[" literal (", " literal)* "]") ")"'
        f' | "any(" {condition} (", " {condition})+ ")" | "not(" {condition} ")"'
    )
    yield f"get_{name} ::= {_quote(f'get_{name}(')} {inner} {_quote(')')}"
    aggregated = f' | get_{name} "[" aggregate "(" ({_either(_quote(n) for n in numbers)}) ")]"' if numbers else ""
    counted = f'get_{name} "[len]" | get_{name} "[" {column} "][len]"{aggregated}'
    yield f'rows_{name} ::= get_{name} ("[" {column} (", " {column})* "]")? cut? | {counted}'
    yield f'one_{name} ::= get_{name} "[" {column} "]"'


def _either(options: Iterator[str] | list[str]) -> str:
    return " | ".join(options)


def _quote(text: str) -> str:
    return f'"{text}"'
