"""The paths of domain files: where objects and rows are in a reply, and where a cell is in its row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

# A field is written as it is, if it is a word or words; any other as ["1. open"].
_WORDS = r"[A-Za-z_][\w-]*(?: [\w-]+)*"
_QUOTED = r'\["[^"\]]+"\]'
_FIELDS = rf"(?:{_WORDS}|{_QUOTED})(?:\.{_WORDS}|{_QUOTED})*"
ROWS = rf"\$?(?:\.?{_WORDS}|{_QUOTED}|\[\*\])*"
# Also for editors: JSON Schema knows no named groups.
CELL = rf"((?:[a-z_]\w*\()*)(\.|\^\.|=[^()]+|@{_WORDS}|\^?{_FIELDS})(\)*)"
_STEP = re.compile(rf'({_WORDS})|\["([^"\]]+)"\]|(\[\*\])')


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a column's values are: `steps` into the row, the object around it ("^"), the call's argument ("@"), or
    in the path itself ("=": the same for all rows).
    The `functions` are then applied, in this order."""

    origin: Literal["", "^", "@", "="]
    steps: tuple[str, ...]
    functions: tuple[str, ...] = ()


@cache
def cell(text: str) -> Cell | None:
    """Return what `text` says, None if it is no such path.

    >>> cell("number(plain(^land.area))")
    Cell(origin='^', steps=('land', 'area'), functions=('plain', 'number'))
    >>> cell("."), cell("number(area"), cell('["1. open"]').steps
    (Cell(origin='', steps=(), functions=()), None, ('1. open',))
    """
    m = re.fullmatch(CELL, text)
    if m is None or m[1].count("(") != len(m[3]):
        return None
    functions = tuple(reversed(m[1].split("(")[:-1]))
    path: str = m[2]
    if path[0] in "@=":
        return Cell("@" if path[0] == "@" else "=", (path[1:],), functions)
    steps = tuple(name for name in steps_of(path.removeprefix("^").removeprefix(".")) if name is not None)
    return Cell("^" if path[0] == "^" else "", steps, functions)


def steps_of(path: str) -> Iterator[str | None]:
    """The steps of a path: names of fields, and None for "every item of the list"."""
    return (None if star else word or quoted for word, quoted, star in _STEP.findall(path))


def joined(path: str, inner: str) -> str:
    """Return the JSON path of `inner` within what is at `path`.

    >>> joined("$[*]", "parts[*]"), joined("$", "$.parts"), joined("$.a", "$")
    ('$[*].parts[*]', '$.parts', '$.a')
    """
    inner = inner.removeprefix("$").removeprefix(".")
    return path + ("" if not inner or inner[0] == "[" else ".") + inner
