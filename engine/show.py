"""How answers, rows and schemas look on a terminal; shared by the command line and the REPL.

Everything shown may come from an API. It is never read as rich markup, and characters that steer a terminal are
taken out, so that a film's title cannot recolour, move or forge what stands beside it.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rich import box
from rich.table import Table as Grid
from rich.text import Text

from kg.dialect import to_sql
from kg.domain import Access, Domain, Table
from kg.graph import Explained, Graph, Prepared, Result

from .answers import Answer

# Control characters but tab and newline, marks that turn the direction of writing, halves of surrogate pairs.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NULL = "NULL"


def plain(text: str) -> str:
    """Return `text` without the characters that steer a terminal; lines and tabs stay.

    >>> plain("Alien\\x1b[31m\\r\\n3")
    'Alien[31m\\n3'
    """
    return _STEERING.sub("", text)


def value_text(value: Any) -> str:
    """Return one value as a cell shows it, on one line."""
    if value is None:
        return NULL
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, list | tuple):
        return ", ".join(value_text(v) for v in value)
    return " ".join(plain(str(value)).split())


def grid(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Grid:
    """Return rows as a table; numbers are on the right."""
    rows = list(rows)
    out = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for i, name in enumerate(columns):
        numbers = [isinstance(r[i], int | float) and not isinstance(r[i], bool) for r in rows if r[i] is not None]
        right = bool(numbers) and all(numbers)
        out.add_column(Text(value_text(name)), justify="right" if right else "left", overflow="fold")
    for r in rows:
        out.add_row(*(Text(value_text(v), style="dim" if v is None else "") for v in r))
    return out


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV with a header; NULL is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([plain(c) for c in columns])
    writer.writerows([plain(v) if isinstance(v, str) else jsonable(v) for v in r] for r in rows)
    return out.getvalue()


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """Return `value` as JSON that is also safe to look at: what steers a terminal is written as an escape."""
    text = json.dumps(jsonable(value), ensure_ascii=False, indent=indent, allow_nan=False)
    return _STEERING.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def jsonable(value: Any) -> Any:
    """Return `value` as JSON knows it: dates in ISO, dataclasses as objects, NaN and infinity as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if is_dataclass(value):
        return {f.name: jsonable(getattr(value, f.name)) for f in fields(value)}
    return str(value)


# -- answers and results -------------------------------------------------------------------------------------------


def doubt(answer: Answer) -> str:
    """Return why an answer is "i don't know", with its type; nothing for an answer."""
    return plain(f"{answer.reason}: {answer.detail}") if answer.reason else ""


def counted(number: int, noun: str) -> str:
    """Return the number with its noun.

    >>> counted(1, "call"), counted(1200, "call")
    ('1 call', '1,200 calls')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def notes(result: Result, more: str) -> list[str]:
    """Return a sentence for each thing that `result` lacks; `more` says how to see more rows."""
    out = []
    if not result.complete:
        out.append(f"The result may be incomplete. {plain('; '.join(dict.fromkeys(map(str, result.gaps))))}.")
    if result.cut_off:
        out.append(f"Only the first {counted(len(result.rows), 'row')} came; {more}.")
    return out


def requests(graph: Graph, result: Result, most: int = 10) -> Iterator[str]:
    """Yield, for the first rows of `result`, the row and the calls that its values came from, a line each."""
    for row, entries in list(zip(result.rows, graph.requests(result), strict=True))[:most]:
        yield " | ".join(value_text(v) for v in row)
        yield from (f"    from {plain(str(e.call))}" for e in entries[:most])
        if len(entries) > most:
            yield f"    and {counted(len(entries) - most, 'more call')}"
    if len(result.rows) > most:
        yield f"and {counted(len(result.rows) - most, 'more row')}"


def program_text(graph: Graph, prepared: Prepared) -> str:
    """Return a program in SQL, then in the call spelling where it has one."""
    calls = graph.spell(prepared)
    parts = [to_sql(prepared.tree, pretty=True)]
    if calls != prepared.sql:
        parts.append(calls)
    return plain("\n\n".join(parts))


def plan_text(steps: Sequence[Explained]) -> str:
    """Return the steps of a plan, a line each, and the calls that are left to make."""
    if not steps:
        return "No calls are needed."
    total = sum(s.calls - s.covered for s in steps)
    about = "" if all(s.exact for s in steps) else "about "
    lines = [f"{i}. {plain(str(s))}" for i, s in enumerate(steps, 1)]
    return "\n".join([*lines, f"To make: {about}{counted(total, 'call')}."])


# -- schemas -------------------------------------------------------------------------------------------------------


def tables_grid(domain: Domain) -> Grid:
    """Return the tables of `domain`: what a row is, which columns, by what they can be looked up."""
    rows = [(t.name, t.about, ", ".join(t.by_name), ", ".join(_inputs(domain, t))) for t in domain.tables]
    return grid(("table", "about", "columns", "looked up by"), rows)


def columns_grid(table: Table) -> Grid:
    """Return the columns of `table`: type, unit, what they hold, and the words people use for them."""
    rows = []
    for c in table.columns:
        about = c.about + (f" ({c.links.table}.{c.links.column})" if c.links else "")
        rows.append((c.name, c.type, c.unit, about, ", ".join(c.says)))
    return grid(("column", "type", "unit", "about", "people say"), rows)


def lookups(domain: Domain, table: Table) -> Iterator[str]:
    """Yield the ways to get rows of `table`: which inputs must be bound, and the call that is then made."""
    if table.in_place:
        yield "nothing: its rows are in a file"
    for a in domain.accesses[table.name]:
        kind = f"search, at most {a.fetch.search}" if a.fetch.search else "complete"
        limits = "".join(f", {_column(a, arg)} {low} to {high}" for arg, low, high in a.fetch.limits)
        limits += "".join(f", {_column(a, arg)} by day, month or year" for arg in a.fetch.periods)
        yield f"{' and '.join(a.needs) or 'nothing'}: {a.fetch.method} {a.fetch.endpoint} ({kind}{limits})"
    for v in table.via:
        only = "".join(f", where {column} is {value}" for column, value in v.only)
        yield f"{v.needs}: through {v.through}{only}"


def _inputs(domain: Domain, table: Table) -> list[str]:
    """The inputs of which one must be bound; the same inputs once."""
    if table.in_place:
        return ["nothing"]
    found = [" and ".join(a.needs) or "nothing" for a in domain.accesses[table.name]] + [v.needs for v in table.via]
    return list(dict.fromkeys(found))


def _column(access: Access, arg: str) -> str:
    """The column that is bound to the argument `arg`."""
    return next(need for need, (a, _) in zip(access.needs, access.fetch.args, strict=True) if a == arg)
