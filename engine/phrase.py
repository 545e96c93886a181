"""From rows to a short answer, by rule: what people would say, with units, at most some 75 tokens."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

from kg.domain import Column, Domain

from .translate.fields import unit_of
from .translate.meaning import (
    Aggregate,
    Calculate,
    Compare,
    Count,
    Excerpt,
    Exists,
    Leader,
    Listed,
    Meaning,
    Names,
    Scaled,
    Set,
    Tally,
    To,
    Value,
    Where,
    Which,
)
from .translate.program import ranked
from .translate.question import is_year

MAX_CHARACTERS = 280  # about 75 tokens
_UNITS = {"min": " minutes", "%": "%"}  # units that are said


def phrase(meaning: Meaning | None, rows: Sequence[tuple[Any, ...]], domain: Domain) -> str:
    """Return the answer that `rows`, none of them unknown, give to `meaning` (None: a program somebody wrote)."""
    match meaning:
        case Exists() | Compare():
            return "yes" if rows[0][0] else "no"
        case Which():
            return str(rows[0][0])
        case Leader():
            return join([str(r[0]) for r in rows if r[1] == rows[0][1]])
        case Tally(set=s, column=name):
            values = [v.value for v in domain.table(s.table).by_name[name].values]
            counts = {r[0]: r[1] for r in rows}
            return f"{'-'.join(str(counts.get(v, 0)) for v in values)} ({'-'.join(map(str, values))})"
        case Names(year=True):
            return join(sorted(str(r[0]) for r in rows if r[0] is not None))
        case Names(set=s, column=name) if unit := _unit(s, name, domain):
            return join([_with_unit(r[0], unit) for r in rows if r[0] is not None])
        case Scaled(unit=unit):
            return _with_unit(round(rows[0][0], 1), unit)
        case Excerpt():
            return _settled(str(rows[0][0]))
        case Names(set=s, column=name):
            table = domain.table(s.table)
            column = table.by_name.get(name or table.label)
            named = _as_named(s, column, domain)
            said = [(named.get(r[0]) or say(r[0], column)) + _beside(r) for r in rows if r[0] is not None]
            if table.properties and column is not None and column.type == "INTEGER":
                said = [str(r[0]) for r in rows if r[0] is not None]  # a year
            if table.properties and name == table.value:
                said = [_settled(s) for s in said]
            # a set has no order of its own: give it one that is the same every time
            return join(said if s.top or ranked(s) else sorted(said))
        case Aggregate(set=s, column=name, function=function):
            value = rows[0][0]
            if unit := _unit(s, name, domain):
                return _with_unit(value, unit)
            return say(round(value, 2) if function == "avg" else value, domain.table(s.table).by_name[name])
        case Calculate(function=function, first=first):
            unit = _unit(first.set, first.column, domain) if isinstance(first, Names) else ""
            if unit and function in ("difference", "distance", "total"):
                return _with_unit(rows[0][0], unit)
            return _calculated(function, rows[0][0], _column(first, domain))
        case Count() | Listed():
            return say(rows[0][0], None)
    return join([", ".join(say(v, None) for v in r if v is not None) for r in rows])


def _beside(row: tuple[Any, ...]) -> str:
    """What is shown with a value, if anything: "Win (3-1)"."""
    return f" ({row[1]})" if len(row) > 1 and row[1] is not None else ""


def _as_named(rows: Set, column: Column | None, domain: Domain) -> dict[Any, str]:
    """By their keys, what the question calls the things that a column links to, if the key is no name (a ticker)."""
    if column is None or not column.links or column.links.column == domain.table(column.links.table).label:
        return {}
    return {e.key: e.text for c in rows.conditions if isinstance(c, To) for e in c.set.entities}


def _unit(rows: Set, name: str, domain: Domain) -> str:
    """The unit of a number that is a property of a thing, which the name of the property tells."""
    table = domain.table(rows.table)
    column = table.by_name.get(name)
    if not table.properties or column is None or column.type != "DOUBLE":
        return ""
    named = (str(c.values[0]) for c in rows.conditions if isinstance(c, Where) and c.column == table.properties)
    return unit_of(next(named, ""))


def _with_unit(value: int | float, unit: str) -> str:
    return f"{_number(float(value), '', None)} {unit}"


def _settled(text: str) -> str:
    """A text without what trails, at most a sentence long."""
    cut = text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS].rpartition(" ")[0] + " ..."
    if re.fullmatch(r"-\d{1,4}", cut):
        return f"{cut[1:]} BC"
    return {"True": "yes", "False": "no"}.get(cut, cut).strip(" ,;")


def say(value: Any, column: Column | None) -> str:
    """A value as people write it.

    >>> say(135000000, Column("budget", "BIGINT", "cost", unit="USD"))
    '$135,000,000'
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    unit = column.unit if column else ""
    if isinstance(value, (int, float)):
        return _number(value, unit, column)
    if column is not None:
        for known in column.values:
            # a code that nobody says ("es", "ACTOR IN A LEADING ROLE") is given as the first word for it
            if known.value == value and (str(value).lower() not in known.says or str(value).isupper()):
                said = known.says[0]
                if len(str(value)) > 2:
                    return said.capitalize()
                # "US" stands for a name
                return " ".join(w if w in ("and", "of") else w.capitalize() for w in said.split())
    return str(value)


def _number(value: int | float, unit: str, column: Column | None) -> str:
    if column is not None and is_year(column):
        return str(value)
    if unit == "USD":
        # what is counted in cents is said with them
        cents = 2 if isinstance(value, float) and (column is None or column.type == "DOUBLE") else 0
        return f"{'-' if value < 0 else ''}${abs(value):,.{cents}f}"
    if isinstance(value, float) and value.is_integer() and unit != "of 10":
        value = int(value)
    text = f"{value:,}" if isinstance(value, int) else f"{round(value, 2):,}"
    return f"{text}{_UNITS[unit]}" if unit in _UNITS else text


def join(values: Sequence[str]) -> str:
    """The values in one line, each once; what would make the answer too long is counted instead.

    >>> join(["Ethan Coen", "Joel Coen", "Ethan Coen"])
    'Ethan Coen, Joel Coen'
    """
    once = list(dict.fromkeys(values))
    out = ""
    for i, v in enumerate(once):
        longer = f"{out}, {v}" if out else v
        rest = len(once) - i - 1
        if len(longer) > MAX_CHARACTERS and rest:
            return f"{out} and {rest + 1} more"
        out = longer
    return out


def _calculated(function: str, value: Any, column: Column | None) -> str:
    """What was reckoned from values of `column`."""
    if function == "ratio":
        return f"{value:.1f} times"
    if function in ("percent", "change", "fall"):
        return f"{value:.1f}%"
    if function == "years":
        return say(value, None)
    if function == "whole":
        return say(int(value), None)
    if function == "days":
        return f"{value} days"
    return say(value, column)


def _column(value: Value, domain: Domain) -> Column | None:
    match value:
        case Names(set=s, column=name) | Aggregate(set=s, column=name):
            return domain.table(s.table).by_name.get(name)
        case Calculate(function=function, first=first) if function in ("difference", "distance", "total", "times"):
            return _column(first, domain)
    return None
