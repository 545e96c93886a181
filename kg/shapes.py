"""From a reply to rows: the objects in it, and for each table they fill, its columns.

Works a column at a time: a list per column for all rows of a batch, because a Python loop over cells would
cost more than DuckDB's appender. Values that do not have the declared type become NULL when the type is a
date, number or flag that merely was not filled in; a list or object where a value should be, or a number that
does not fit, is a BadReply.
"""

from __future__ import annotations

import datetime as dt
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from .domain import Column, Domain, Fetch, Fill, partition
from .errors import BadReply
from .text import fold

Row = tuple[Any, ...]
Cells = Sequence[Any]  # a column; an `array` where all are whole numbers
_STEP = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\*)\]")


@dataclass(frozen=True, slots=True)
class Found:
    """One object of a reply: its key, the object itself as it came, and the arguments of the call."""

    key: tuple[Any, ...]
    body: Any
    args: Mapping[str, Any]


def objects(reply: Any, fetch: Fetch, domain: Domain, args: Mapping[str, Any]) -> list[Found]:
    """Return the objects in `reply`, each key once; none if it says "not found" (null, or an empty list or object)."""
    if reply is None or reply in ([], {}):
        return []
    bodies = _walk(reply, fetch.rows, "", fetch.endpoint)
    fields = domain.key_fields[fetch.gives]
    found = {}
    for body in bodies:
        key = tuple(_key_field(body, field, column, args, fetch) for field, column in fields)
        found[key] = Found(key, body, args)
    return list(found.values())


def columns(found: Sequence[Found], marks: Sequence[int], fetch: Fetch, domain: Domain) -> dict[str, list[Cells]]:
    """Return the rows of every partition that `found`, objects of `fetch`, fill; a column at a time.

    The columns are the table's in their order, and then the mark of the row's object; `marks` are parallel to
    `found`. Raises BadReply naming the path.
    """
    out = {}
    for fill in domain.object_by_name[fetch.gives].fills:
        table = domain.table(fill.table)
        records, counts = _records(found, fill, fetch)
        where = fetch.rows if fill.each == "$" else f"{fetch.rows}.{fill.each}"
        paths = dict(fill.columns)
        filled: dict[str, Cells] = {}
        for column in table.columns:
            path = paths.get(column.name, column.name)
            if column.name in fill.lacks:
                filled[column.name] = [None] * len(records)
            elif column.year_of:
                filled[column.name] = [d.year if d else None for d in filled[column.year_of]]
            elif path[0] in "@^":
                values, at = [f.args[path[1:]] for f in found] if path[0] == "@" else [], f"{fetch.rows}.{path[1:]}"
                if path[0] == "^":
                    values = _cells(path[1:], [f.body for f in found], fetch.rows, fetch)
                filled[column.name] = _spread(_typed(values, column, at, fetch), counts)
            else:
                at = where if path == "." else f"{where}.{path}"
                filled[column.name] = _typed(_cells(path, records, where, fetch), column, at, fetch)
        filled[""] = _spread(array("q", marks), counts)
        out[partition(fill.table, fetch.gives)] = list(filled.values())
    return out


def matches(found: Found, fetch: Fetch, domain: Domain) -> bool:
    """Whether an object of a search has what was searched for, as its columns are compared."""
    obj = domain.object_by_name[fetch.gives]
    wanted = {source for _, source in fetch.args}
    fill = next(f for f in obj.fills if f.each == "$" and wanted <= set(domain.table(f.table).by_name))
    table, paths = domain.table(fill.table), dict(fill.columns)
    for arg, source in fetch.args:
        column = table.column(source)
        cells = _cells(paths.get(source, source), [found.body], fetch.rows, fetch)
        has, asked = _typed(cells, column, fetch.rows, fetch)[0], found.args[arg]
        if column.match != "exact" and isinstance(has, str):
            has, asked = f" {fold(has)} ", f" {fold(str(asked))} "
        if not (asked in has if column.match == "contains" and has else has == asked):
            return False
    return True


def _walk(value: Any, path: str, prefix: str, endpoint: str) -> list[Any]:
    """The values at `path` ("$", "$[*]", "$.a[*].b", "cast[*]"), always as a list."""
    here = [value]
    if path == "$":
        return here
    walked = prefix or "$"
    for name, star in _STEP.findall(path.removeprefix("$")):
        if star:
            for v in here:
                if type(v) is not list:
                    raise BadReply(f"a list was expected, {_kind(v)} came", endpoint=endpoint, path=walked)
            here = list(chain.from_iterable(here))
        else:
            for v in here:
                if type(v) is not dict:
                    raise BadReply(f"an object was expected, {_kind(v)} came", endpoint=endpoint, path=walked)
            # a field that is absent or null holds no rows
            here = [v[name] for v in here if v.get(name) is not None]
        walked += f".{name}" if name else "[*]"
    return here


def _key_field(body: Any, field: str, column: Column, args: Mapping[str, Any], fetch: Fetch) -> Any:
    if field.startswith("@"):
        return args[field[1:]]
    if type(body) is not dict:
        raise BadReply(f"an object was expected, {_kind(body)} came", endpoint=fetch.endpoint, path=fetch.rows)
    value = body.get(field)
    path = f"{fetch.rows}.{field}"
    if value is not None:
        value = value if type(value) is int and column.numeric else _converted([value], column, path, fetch)[0]
    if value is None:
        raise BadReply(f"the key '{field}' is missing", endpoint=fetch.endpoint, path=path)
    return value.isoformat() if isinstance(value, dt.date) else value


def _records(found: Sequence[Found], fill: Fill, fetch: Fetch) -> tuple[list[Any], list[int] | None]:
    """The records of a fill, and how many each object has; None if each object is its own."""
    if fill.each == "$":
        return [f.body for f in found], None
    first = fill.each.removesuffix("[*]")
    if fill.each == f"{first}[*]" and first.isidentifier():
        inner: list[Any] = [
            0 if type(f.body) is not dict else () if (v := f.body.get(first)) is None else v for f in found
        ]
        if set(map(type, inner)) <= {list, tuple}:  # nearly always: a plain list in every object
            return list(chain.from_iterable(inner)), list(map(len, inner))
    per_object = [_walk(f.body, fill.each, fetch.rows, fetch.endpoint) for f in found]
    return list(chain.from_iterable(per_object)), list(map(len, per_object))


def _spread(values: Cells, counts: list[int] | None) -> Cells:
    """Each value as often as its object has records."""
    if counts is None:
        return values
    repeated = chain.from_iterable(map(repeat, values, counts))
    return array(values.typecode, repeated) if isinstance(values, array) else list(repeated)


def _cells(path: str, records: list[Any], where: str, fetch: Fetch) -> list[Any]:
    if path == ".":
        return records
    for i, name in enumerate(path.split(".")):
        try:
            records = list(map(itemgetter(name), records))
        except (KeyError, TypeError):
            kinds = set(map(type, records))
            if not kinds <= ({dict, type(None)} if i else {dict}):
                other = next(r for r in records if type(r) is not dict and not (i and r is None))
                said = f"an object was expected, {_kind(other)} came"
                raise BadReply(said, endpoint=fetch.endpoint, path=where) from None
            # a record may lack any field: CRAG's persons have no birthday key when it is not known
            records = [None if r is None else r.get(name) for r in records]
    return records


def _typed(cells: Sequence[Any], column: Column, path: str, fetch: Fetch) -> Cells:
    """`cells` with the type of `column`. Raises BadReply."""
    plain = _plain(cells, column.type)
    if plain is None:
        plain = _converted(cells, column, path, fetch)
    if column.null_when:
        nothing = column.null_when
        return [None if v in nothing else v for v in plain]
    return plain


def _plain(cells: Sequence[Any], type_: str) -> Cells | None:
    """`cells` if all are texts that can be written, or whole numbers that fit; the other types are not looked at."""
    try:
        if type_ == "TEXT":
            "".join(cells).encode()
            return cells
        if type_ in _WIDTHS:
            return array(_WIDTHS[type_], cells)
    except (TypeError, OverflowError, UnicodeEncodeError):
        pass
    return None


def _converted(cells: Sequence[Any], column: Column, path: str, fetch: Fetch) -> Sequence[Any]:
    kinds = set(map(type, cells))
    if list in kinds or dict in kinds:
        came = "a list" if list in kinds else "an object"
        raise BadReply(f"{column.type} was expected, {came} came", endpoint=fetch.endpoint, path=path)
    plain, convert = _TYPES[column.type]
    if not kinds <= plain:
        cells = [None if v is None else convert(v) for v in cells]
    held = [v for v in cells if v is not None]
    if column.type in _WIDTHS and _plain(held, column.type) is None:
        raise BadReply(f"a number does not fit in {column.type}", endpoint=fetch.endpoint, path=path)
    if column.type == "TEXT" and _plain(held, "TEXT") is None:
        # JSON can spell halves of characters, no database can hold them
        return [None if t is None else t.encode(errors="replace").decode() for t in cells]
    return cells


def _text(v: Any) -> str | None:
    if type(v) is bool:
        return "true" if v else "false"
    return None if v != v else str(v)  # NaN, pandas' way to say "missing", is not text


def _number(v: Any) -> int | None:
    try:
        return (
            v if type(v) is int else int(v) if isinstance(v, str) and v.strip().lstrip("-").isdigit() else int(float(v))
        )
    except (ValueError, OverflowError):
        return None


def _real(v: Any) -> float | None:
    try:
        x = float(v)
    except (ValueError, OverflowError):
        return None
    return None if x != x else x


def _date(v: Any) -> dt.date | None:
    try:
        return dt.date.fromisoformat(str(v)[:10])
    except ValueError:
        return None


def _moment(v: Any) -> dt.datetime | None:
    try:
        moment = dt.datetime.fromisoformat(str(v))
    except ValueError:
        return None
    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)


def _flag(v: Any) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(str(v).lower())


# type -> (the Python types that need no conversion, the conversion of any other)
_TYPES: dict[str, tuple[set[type], Callable[[Any], Any]]] = {
    "TEXT": ({str, type(None)}, _text),
    "INTEGER": ({int, type(None)}, _number),
    "BIGINT": ({int, type(None)}, _number),
    "DOUBLE": ({type(None)}, _real),
    "DATE": ({type(None)}, _date),
    "TIMESTAMP": ({type(None)}, _moment),
    "BOOLEAN": ({bool, type(None)}, _flag),
}
_WIDTHS = {"INTEGER": "i", "BIGINT": "q"}  # as `array` calls them


def _kind(v: Any) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "a flag", type(None): "nothing"}
    return names.get(type(v), "a number")
