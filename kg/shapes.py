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


def rows(found: Sequence[Found], marks: Sequence[int], fetch: Fetch, domain: Domain) -> dict[str, list[Row]]:
    """Return the rows of every partition that `found`, objects of `fetch`, fill.

    A row has the table's columns in their order and then the mark of its object, of which `marks` are parallel to
    `found`. Raises BadReply naming the path.
    """
    out = {}
    for fill in domain.object_by_name[fetch.gives].fills:
        table = domain.table(fill.table)
        records, counts = _records(found, fill, fetch)
        where = fetch.rows if fill.each == "$" else f"{fetch.rows}.{fill.each}"
        paths = dict(fill.columns)
        columns: dict[str, Sequence[Any]] = {}
        for column in table.columns:
            path = paths.get(column.name, column.name)
            if column.name in fill.lacks:
                columns[column.name] = [None] * len(records)
            elif column.year_of:
                columns[column.name] = [d.year if d else None for d in columns[column.year_of]]
            elif path[0] in "@^":
                values, at = [f.args[path[1:]] for f in found] if path[0] == "@" else [], f"{fetch.rows}.{path[1:]}"
                if path[0] == "^":
                    values = _cells(path[1:], [f.body for f in found], fetch.rows, fetch)
                columns[column.name] = _spread(_typed(values, column, at, fetch), counts)
            else:
                at = where if path == "." else f"{where}.{path}"
                columns[column.name] = _typed(_cells(path, records, where, fetch), column, at, fetch)
        columns[""] = _spread(marks, counts)
        out[partition(fill.table, fetch.gives)] = list(zip(*columns.values(), strict=True))
    return out


def matches(found: Found, fetch: Fetch, domain: Domain) -> bool:
    """Whether an object of a search has what was searched for, as its columns are compared."""
    obj = domain.object_by_name[fetch.gives]
    fill = next(f for f in obj.fills if f.each == "$")
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
        value = _typed([value], column, path, fetch)[0]
    if value is None:
        raise BadReply(f"the key '{field}' is missing", endpoint=fetch.endpoint, path=path)
    return value.isoformat() if isinstance(value, dt.date) else value


def _records(found: Sequence[Found], fill: Fill, fetch: Fetch) -> tuple[list[Any], list[int] | None]:
    """The records of a fill, and how many each object has; None if each object is its own."""
    if fill.each == "$":
        return [f.body for f in found], None
    first = fill.each.removesuffix("[*]")
    if fill.each == f"{first}[*]" and first.isidentifier():
        inner: list[Any] = [f.body.get(first) if type(f.body) is dict else 0 for f in found]
        if set(map(type, inner)) <= {list}:  # nearly always: a plain list in every object
            return list(chain.from_iterable(inner)), list(map(len, inner))
    per_object = [_walk(f.body, fill.each, fetch.rows, fetch.endpoint) for f in found]
    return list(chain.from_iterable(per_object)), list(map(len, per_object))


def _spread(values: Sequence[Any], counts: list[int] | None) -> Sequence[Any]:
    """Each value as often as its object has records."""
    return values if counts is None else list(chain.from_iterable(map(repeat, values, counts)))


def _cells(path: str, records: list[Any], where: str, fetch: Fetch) -> list[Any]:
    if path == ".":
        return records
    for i, name in enumerate(path.split(".")):
        kinds = set(map(type, records))
        if not kinds <= ({dict, type(None)} if i else {dict}):
            other = next(r for r in records if type(r) is not dict and not (i and r is None))
            raise BadReply(f"an object was expected, {_kind(other)} came", endpoint=fetch.endpoint, path=where)
        try:
            records = list(map(itemgetter(name), records))
        except (KeyError, TypeError):
            # a record may lack any field: CRAG's persons have no birthday key when it is not known
            records = [None if r is None else r.get(name) for r in records]
    return records


def _typed(cells: Sequence[Any], column: Column, path: str, fetch: Fetch) -> Sequence[Any]:
    plain, convert = _TYPES[column.type]
    kinds = set(map(type, cells))
    if list in kinds or dict in kinds:
        came = "a list" if list in kinds else "an object"
        raise BadReply(f"{column.type} was expected, {came} came", endpoint=fetch.endpoint, path=path)
    if not kinds <= plain:
        cells = [None if v is None else convert(v) for v in cells]
    if column.type == "TEXT":
        cells = _writable(cells)
    elif column.type in _WIDTHS:
        _must_fit(cells if None not in cells else [n for n in cells if n is not None], column, path, fetch)
    if column.null_when:
        nothing = column.null_when
        cells = [None if v in nothing else v for v in cells]
    return cells


def _must_fit(numbers: Sequence[Any], column: Column, path: str, fetch: Fetch) -> None:
    try:
        array(_WIDTHS[column.type], numbers)
    except OverflowError as e:
        raise BadReply(f"a number does not fit in {column.type}", endpoint=fetch.endpoint, path=path) from e


def _writable(texts: Sequence[Any]) -> Sequence[Any]:
    """`texts` without halves of characters, which JSON can spell and no database can hold."""
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:
        return [None if t is None else t.encode(errors="replace").decode() for t in texts]
    return texts


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
