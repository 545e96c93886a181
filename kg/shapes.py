"""From a reply to rows: the objects in it, and for each table they fill, its columns.

Works a column at a time: a list per column for all rows of a batch, because a Python loop over cells would
cost more than DuckDB's appender. Values that do not have the declared type become NULL when the type is a
date, number or flag that merely was not filled in; a list or object where a value should be is a BadReply.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .domain import Column, Domain, Fetch, Fill, Object, partition
from .errors import BadReply

Row = tuple[Any, ...]
_STEP = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\*)\]")


@dataclass(frozen=True)
class Found:
    """One object of a reply: its key, and the object itself as it came."""

    key: tuple[Any, ...]
    body: Any


def objects(reply: Any, fetch: Fetch, domain: Domain, args: Mapping[str, Any]) -> list[Found]:
    """Return the objects in `reply`; none if it says "not found" (null or an empty list)."""
    if reply is None:
        return []
    bodies = _walk(reply, fetch.rows, fetch.endpoint)
    obj = domain.object_by_name[fetch.gives]
    return [Found(tuple(_key_field(body, field, args, fetch) for field in obj.key), body) for body in bodies]


def rows(found: Sequence[Found], obj: Object, domain: Domain, args: Mapping[str, Any], endpoint: str) -> dict[str, list[Row]]:
    """Return the rows of every partition that `found` fill, columns in the table's order."""
    out = {}
    for fill in obj.fills:
        table = domain.table(fill.table)
        records, owners = _records(found, fill, endpoint)
        paths = dict(fill.columns)
        columns: dict[str, list[Any]] = {}
        for column in table.columns:
            if column.name in fill.lacks:
                columns[column.name] = [None] * len(records)
            elif column.year_of:
                columns[column.name] = [d.year if d else None for d in columns[column.year_of]]
            else:
                cells = _cells(paths.get(column.name, column.name), records, owners, args)
                columns[column.name] = _typed(cells, column, f"{fill.each}.{column.name}", endpoint)
        out[partition(fill.table, obj.name)] = list(zip(*columns.values(), strict=True))
    return out


def _walk(value: Any, path: str, endpoint: str) -> list[Any]:
    """The values at `path` ("$", "$[*]", "$.a[*].b", "cast[*]"), always as a list."""
    here = [value]
    walked = "$"
    for name, star in _STEP.findall(path.removeprefix("$")):
        walked += f".{name}" if name else "[*]"
        if star:
            for v in here:
                if not isinstance(v, list):
                    raise BadReply(f"a list was expected, {_kind(v)} came", endpoint=endpoint, path=walked)
            here = [item for v in here for item in v]
        else:
            for v in here:
                if not isinstance(v, dict):
                    raise BadReply(f"an object was expected, {_kind(v)} came", endpoint=endpoint, path=walked)
            # a field that is absent or null holds no rows
            here = [v[name] for v in here if v.get(name) is not None]
    return here


def _key_field(body: Any, field: str, args: Mapping[str, Any], fetch: Fetch) -> Any:
    if field.startswith("@"):
        return args[field[1:]]
    if not isinstance(body, dict):
        raise BadReply(f"an object was expected, {_kind(body)} came", endpoint=fetch.endpoint, path=fetch.rows)
    if not isinstance(body.get(field), (str, int)):
        raise BadReply(f"the key '{field}' is missing", endpoint=fetch.endpoint, path=f"{fetch.rows}.{field}")
    return body[field]


def _records(found: Sequence[Found], fill: Fill, endpoint: str) -> tuple[list[Any], list[Any]]:
    """The records of a fill and, parallel to them, the objects they belong to."""
    if fill.each == "$":
        bodies = [f.body for f in found]
        return bodies, bodies
    records: list[Any] = []
    owners: list[Any] = []
    for f in found:
        inner = _walk(f.body, fill.each, endpoint)
        records += inner
        owners += [f.body] * len(inner)
    wants_fields = any(p not in (".",) and p[:1] not in "^@" for _, p in fill.columns) or not fill.columns
    if wants_fields:
        for r in records:
            if not isinstance(r, dict):
                raise BadReply(f"an object was expected, {_kind(r)} came", endpoint=endpoint, path=f"$.{fill.each}")
    return records, owners


def _cells(path: str, records: list[Any], owners: list[Any], args: Mapping[str, Any]) -> list[Any]:
    if path == ".":
        return records
    if path.startswith("@"):
        return [args[path[1:]]] * len(records)
    if path.startswith("^"):
        return [o.get(path[1:]) for o in owners]
    if "." not in path:
        # a record may lack any field: CRAG's persons have no birthday key when it is not known
        return [r.get(path) if isinstance(r, dict) else None for r in records]
    first, _, rest = path.partition(".")
    return _cells(rest, _cells(first, records, owners, args), owners, args)


def _typed(cells: list[Any], column: Column, path: str, endpoint: str) -> list[Any]:
    plain, convert = _TYPES[column.type]
    kinds = set(map(type, cells))
    if list in kinds or dict in kinds:
        raise BadReply(f"{column.type} was expected, {'a list' if list in kinds else 'an object'} came", endpoint=endpoint, path=path)
    if not kinds <= plain:
        cells = [None if v is None else convert(v) for v in cells]
    if column.null_when:
        nothing = column.null_when
        cells = [None if v in nothing else v for v in cells]
    return cells


def _text(v: Any) -> str | None:
    return None if v != v else str(v)  # NaN, pandas' way to say "missing", is not text


def _number(v: Any) -> int | None:
    try:
        return int(float(v))
    except (ValueError, OverflowError):
        return None


def _real(v: Any) -> float | None:
    try:
        x = float(v)
    except ValueError:
        return None
    return None if x != x else x


def _date(v: Any) -> dt.date | None:
    try:
        return dt.date.fromisoformat(str(v)[:10])
    except ValueError:
        return None


def _moment(v: Any) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(str(v))
    except ValueError:
        return None


def _flag(v: Any) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(str(v).lower())


# type -> (the Python types that need no conversion, the conversion of any other)
_TYPES: dict[str, tuple[set[type], Callable[[Any], Any]]] = {
    "TEXT": ({str, type(None)}, _text),
    "INTEGER": ({int, type(None)}, _number),
    "BIGINT": ({int, type(None)}, _number),
    "DOUBLE": ({int, type(None)}, _real),
    "DATE": ({type(None)}, _date),
    "TIMESTAMP": ({type(None)}, _moment),
    "BOOLEAN": ({bool, type(None)}, _flag),
}


def _kind(v: Any) -> str:
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "a flag", type(None): "nothing"}
    return names.get(type(v), "a number")
