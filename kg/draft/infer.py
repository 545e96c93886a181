"""A recorded reply to a draft of a domain file: tables from lists of objects, types from the values that are there."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kg.draft import Draft, Kind, Object, Table, column_name, key_of, path_of, scalar, singular, spoken
from kg.errors import DomainError

_DATA = re.compile(r"-?\d+(\.\d+)?|\d{4}-\d\d(-\d\d)?([T ].*)?")  # keys that are numbers or times are data, no names
_ENOUGH = 4  # objects under keys of their own that are all alike: they are rows
_DEEP = 12


def draft_of_reply(reply: Any, name: str) -> Draft:
    """Return the draft for a domain with one call, which answers with `reply`.

    The call itself is a guess to be replaced. Raises DomainError if nothing in the reply could be a row.
    """
    domain = column_name(name) or "reply"
    source = ["source:", "  url: https://api.example.com # write where the API is"]
    draft = Draft(domain, f"What {domain} holds.", source)
    rows, value = _rows_in(reply)
    if (shape := _shape_of(value)) and not rows.endswith("[*]"):
        _shaped(draft, shape, value, rows, singular(domain))
    else:
        samples = value if rows.endswith("[*]") else [value]
        obj = draft.record(_kind(samples), singular(domain)) if isinstance(samples[0], dict) else None
        if obj is None:
            raise DomainError(draft.left_out or [f"At {rows} there are no objects that could be rows."])
        draft.relate()
        _call(draft, obj.name, f"/{domain}/{{{column_name(obj.key)}}}", f"{{{column_name(obj.key)}: {obj.key}}}", rows)
    draft.left_out.insert(0, "the call of each fetch: the path is made up, the reply does not tell it.")
    return draft


def _call(draft: Draft, obj: str, path: str, args: str, rows: str, more: str = "") -> None:
    where = f', rows: "{rows}"' if rows != "$" else ""
    draft.fetches[f"get_{obj}"] = f"{{call: {scalar(f'GET {path}')}, args: {args}, gives: {obj}{where}{more}}}"


def _rows_in(reply: Any, path: str = "$", depth: int = 0) -> tuple[str, Any]:
    """Where the rows are in a reply, and they themselves: its one list of objects, or the object itself."""
    if isinstance(reply, list):
        return (f"{path}[*]", reply) if reply and all(isinstance(v, dict) for v in reply) else (path, reply)
    if not isinstance(reply, dict) or key_of(_kind([reply]), "") is not None or _shape_of(reply):
        return path, reply
    inner = [(f, v) for f, v in reply.items() if isinstance(v, (dict, list)) and v]
    lists = [(f, v) for f, v in inner if isinstance(v, list) and isinstance(v[0], dict)]
    if len(lists) == 1:
        return _rows_in(lists[0][1], path_of(f"{path}.", lists[0][0]), depth + 1)
    if len(inner) == 1 and depth < 4:
        return _rows_in(inner[0][1], path_of(f"{path}.", inner[0][0]), depth + 1)
    return path, reply


def _shape_of(value: Any) -> str:
    """The shape, as in `Fill`, of a value that is no list of objects; nothing if it is a plain object."""
    if isinstance(value, dict) and value:
        inner = list(value.values())
        if all(isinstance(v, list) and not any(isinstance(x, (dict, list)) for x in v) for v in inner):
            return "columns" if len(inner) > 1 and len({len(v) for v in inner}) == 1 and len(inner[0]) > 1 else ""
        if all(isinstance(v, dict) and v for v in inner):
            keys = [tuple(v) for v in inner]
            if len(set(keys)) == 1 and len(keys) > 1 and all(_DATA.fullmatch(k) for k in keys[0]):
                return "columns"
            alike = len(set(keys)) == 1 and len(keys) >= _ENOUGH
            return "entries" if alike or all(_DATA.fullmatch(k) for k in value) else ""
        return "entries" if len(value) > 1 and all(_DATA.fullmatch(k) for k in value) else ""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(v, list) and v for v in value):
        lengths = {len(v) for v in value}
        return ("tuple" if len(value) > len(value[0]) else "parallel") if len(lengths) == 1 else ""
    return ""


def _shaped(draft: Draft, shape: str, value: Any, rows: str, name: str) -> None:
    """The draft of a reply that is one thing, with rows in it of a `shape`."""
    more = f", shape: {shape}"
    if shape == "entries":
        samples = list(value.values())
        inner = _kind(samples).fields if isinstance(samples[0], dict) else {"value": _kind(samples)}
        fields = {"key": _kind(list(value)), **(inner or {})}
    elif shape == "columns":
        columns = {c: list(v.values()) if isinstance(v, dict) else v for c, v in value.items()}
        index = next((list(v) for v in value.values() if isinstance(v, dict)), [])
        fields = {c: _kind(v) for c, v in columns.items()}
        times = [c for c, k in fields.items() if k.type in ("DATE", "TIMESTAMP")]
        if index or not times:
            fields = {"index": _kind(index) if index else Kind("BIGINT"), **fields}
        else:
            fields = {times[0]: fields.pop(times[0]), **fields}
    else:
        lists = list(zip(*value, strict=True)) if shape == "tuple" else value
        fields = {f"field_{i}": _kind(v) for i, v in enumerate(lists, 1)}
        more += f", names: [{', '.join(fields)}]"
        draft.left_out.append("the names of the fields: the reply has none.")
        rows = f"{rows}[*]" if shape == "tuple" else rows
    key = next(iter(fields))
    obj = draft.objects[name] = Object(name, key)
    table = draft.tables[name] = Table(name, f"One row per {spoken(name)}.", [], noun=spoken(name))
    paths = {}
    for field, kind in fields.items():
        column = column_name(field)
        if kind.fields is not None or kind.items is not None or not column or column in table.columns:
            draft.left_out.append(f"{name}.{field}: it is nested too deep, or cannot be the name of a column.")
            continue
        table.columns[column] = {"type": kind.type, "about": spoken(column), "says": f"[{scalar(spoken(column))}]"}
        if (path := path_of("", field)) != column:
            paths[column] = path
    table.key = [column_name(key)]
    obj.fills.append((name, "$", paths))
    _call(draft, name, f"/{name}", "{}", rows, more)


# -- kinds -------------------------------------------------------------------------------------------------------------


def _kind(samples: Sequence[Any], depth: int = 0) -> Kind:
    """What all `samples`, values of one field, are."""
    there = [v for v in samples if v is not None]
    kinds = {type(v) for v in there}
    if not there:
        return Kind(unsure="it is null wherever it is")
    if kinds == {dict} and depth < _DEEP:
        if shape := next((s for v in there if (s := _shape_of(v))), ""):
            return Kind(unsure=f"it looks like shape: {shape}, and needs a fill of its own")
        fields = dict.fromkeys(f for v in there for f in v)
        if not fields:
            return Kind(unsure="it is empty wherever it is")
        return Kind(fields={f: _kind([v.get(f) for v in there], depth + 1) for f in fields})
    if kinds == {list} and depth < _DEEP:
        items = [x for v in there for x in v]
        return Kind(items=_kind(items, depth + 1)) if items else Kind(unsure="it is an empty list wherever it is")
    if dict in kinds or list in kinds:
        return Kind(unsure="it is not of one kind")
    return Kind(_type(there, kinds))


def _type(values: Iterable[Any], kinds: set[type]) -> str:
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        return "BIGINT" if all(-(2**63) <= v < 2**63 for v in values) else "TEXT"
    if kinds <= {int, float}:
        return "DOUBLE"
    texts = [v for v in values if isinstance(v, str)]
    if kinds == {str} and all(re.fullmatch(r"\d{4}-\d\d-\d\d", t) and _is_time(t) for t in texts):
        return "DATE"
    if kinds == {str} and all(re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", t) and _is_time(t) for t in texts):
        return "TIMESTAMP"
    return "TEXT"


def _is_time(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
