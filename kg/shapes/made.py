"""Columns that are made of others of their row: the margin of a game, the points a result is worth.

`of` names one or two columns that stand above, `codes` what the values of one stand for. Of two numbers it says the sum
("a + b"), the difference ("a - b"), or in a TEXT column both, as a score is written. What is made of something
unknown is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kg.domain import Column
from kg.shapes.cells import Cells

PATTERN = r"[a-z0-9_]+(?: [-+] [a-z0-9_]+)?"


def sources(of: str) -> list[str]:
    """Return the columns in `of`.

    >>> sources("goals - goals_against")
    ['goals', 'goals_against']
    """
    return re.split(r" [-+] ", of)


def cells(column: Column, filled: Mapping[str, Cells]) -> Cells:
    """Return the values of `column` from those of the columns above it."""
    first, *second = (filled[name] for name in sources(column.of))
    if not second:
        codes: dict[Any, Any] = dict(column.codes)
        return [codes.get(v) if codes else v for v in first]
    function = _function(column)
    return [None if a is None or b is None else function(a, b) for a, b in zip(first, second[0], strict=True)]


def _function(column: Column) -> Callable[[Any, Any], Any]:
    if column.type == "TEXT":
        return lambda a, b: f"{a}-{b}"
    return (lambda a, b: a + b) if " + " in column.of else (lambda a, b: a - b)


def expression(column: Column, shown: Mapping[str, str]) -> str:
    """Return the SQL of `column`, of the SQL of the columns above it."""
    first, *second = (shown[name] for name in sources(column.of))
    if second:
        sign = "|| '-' ||" if column.type == "TEXT" else "+" if " + " in column.of else "-"
        value = f"{first} {sign} {second[0]}"
    elif column.codes:
        cases = " ".join(f"WHEN {_literal(a)} THEN {_literal(b)}" for a, b in column.codes)
        value = f"CASE {first} {cases} END"
    else:
        value = first
    return f"CAST({value} AS {column.type})"


def _literal(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
