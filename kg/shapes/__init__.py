"""From a reply to rows: the objects in it, and for each table they fill, its columns.

Works a column at a time: `frames` finds the rows, `cells` gives their values the declared types.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any

from kg.domain import Column, Domain, Fetch, Fill, partition
from kg.errors import BadReply
from kg.shapes import made, paths
from kg.shapes.cells import Cells, converted, typed
from kg.shapes.derive import FUNCTIONS, LISTS, Counts
from kg.shapes.frames import Frame, Place, frame, walk, within
from kg.text import fold

__all__ = ["Cells", "Found", "Row", "columns", "matches", "objects"]

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """One object of a reply: its key, the object itself as it came, and the arguments of the call."""

    key: tuple[Any, ...]
    body: Any
    args: Mapping[str, Any]


def objects(reply: Any, fetch: Fetch, domain: Domain, args: Mapping[str, Any]) -> list[Found]:
    """Return the objects in `reply`, each key once; none if it says "not found" (null, or an empty list or object).

    What the arguments identify is known by an empty reply too: a company that never paid a dividend.
    """
    if reply is None or (reply in ([], {}) and not _is_known_by_arguments(fetch, domain)):
        return []
    if fetch.fixed:
        args = {**dict(fetch.fixed), **args}
    there = walk(reply, fetch.rows, Place(fetch.endpoint, "$"))
    bodies = frame(there, fetch.shape, fetch.names, Place(fetch.endpoint, fetch.rows)).bodies()
    place = _of_rows(fetch)
    fields = domain.key_fields[fetch.gives]
    parts = [_key_field(bodies, field, column, args, place) for field, column in fields]
    keys: list[Row] = list(zip(*parts, strict=True)) if parts else [()] * len(bodies)
    return list({key: Found(key, body, args) for key, body in zip(keys, bodies, strict=True)}.values())


def columns(found: Sequence[Found], marks: Sequence[int], fetch: Fetch, domain: Domain) -> dict[str, list[Cells]]:
    """Return the rows of every partition that `found`, objects of `fetch`, fill; a column at a time.

    The columns are the table's in their order, and then the mark of the row's object; `marks` are parallel to
    `found`. Raises BadReply naming the path.
    """
    out: dict[str, list[Cells]] = {}
    bodies = [f.body for f in found]
    for fill in domain.object_by_name[fetch.gives].fills:
        rows = _Rows(found, bodies, fill, fetch)
        filled: dict[str, Cells] = {}
        for column in domain.table(fill.table).columns:
            if column.name in fill.lacks:
                filled[column.name] = [None] * len(rows.frame.records)
            elif column.year_of:
                filled[column.name] = [d.year if d else None for d in filled[column.year_of]]
            elif column.of:
                filled[column.name] = made.cells(column, filled)
            else:
                filled[column.name] = rows.column(column)
        filled[""] = _spread(array("q", marks), rows.counts)
        name = partition(fill.table, fetch.gives)
        new = list(filled.values())
        # an object may fill a table twice
        out[name] = [_both(a, b) for a, b in zip(out[name], new, strict=True)] if name in out else new
    return out


def matches(found: Found, fetch: Fetch, domain: Domain) -> bool:
    """Whether an object of a search has what was searched for, as its columns are compared."""
    obj = domain.object_by_name[fetch.gives]
    wanted = {source for _, source in fetch.args}
    fill = next(f for f in obj.fills if f.is_object and wanted <= set(domain.table(f.table).by_name))
    table = domain.table(fill.table)
    rows = _Rows([found], [found.body], fill, fetch)
    for arg, source in fetch.args:
        column = table.column(source)
        has, asked = rows.column(column)[0], found.args[arg]
        if column.match != "exact" and isinstance(has, str):
            has, asked = f" {fold(has)} ", f" {fold(str(asked))} "
        if not (asked in has if column.match == "contains" and has else has == asked):
            return False
    return True


def _is_known_by_arguments(fetch: Fetch, domain: Domain) -> bool:
    key = domain.object_by_name[fetch.gives].key
    return bool(key) and fetch.rows == "$" and not fetch.shape and all(field.startswith("@") for field in key)


class _Rows:
    """The rows of one fill of `found`. `counts` are the rows of each object, None if each object is one."""

    def __init__(self, found: Sequence[Found], bodies: list[Any], fill: Fill, fetch: Fetch):
        self.found, self.bodies = found, bodies
        self.outer = _of_rows(fetch)
        self.paths = dict(fill.columns)
        values, counts = _values(bodies, fill.each, self.outer)
        at = paths.joined(self.outer.path, fill.each)
        self.frame: Frame = frame(values, fill.shape, fill.names, Place(fetch.endpoint, at))
        self.place = Place(fetch.endpoint, at + (".*" if fill.shape == "entries" else ""))
        if self.frame.counts is not None and counts is not None:
            each = iter(self.frame.counts)
            counts = [sum(islice(each, n)) for n in counts]
        self.counts: Counts = self.frame.counts if counts is None else counts

    def column(self, column: Column) -> Cells:
        """The values of `column`. Raises BadReply."""
        path = paths.cell(self.paths.get(column.name, "")) or paths.Cell("", (column.name,))
        place, steps = (self.place if not path.origin else self.outer), path.steps
        if path.origin == "@":
            cells = [f.args[steps[0]] for f in self.found]
        elif path.origin == "=":
            cells = [steps[0]] * len(self.found)
        elif path.origin == "^":
            cells = within(self.bodies, steps, self.outer)
        else:
            cells = self.frame.cells(steps, place)
        at = paths.joined(place.path, ".".join(steps))
        for name in path.functions:
            if name not in LISTS and {list, dict} & set(map(type, cells)):
                came = next(v for v in cells if type(v) in (list, dict))
                raise Place(place.endpoint, at).bad(f"a value for {name}()", came)
            cells = FUNCTIONS[name](cells, None if path.origin else self.counts)
        done = typed(cells, column, at, place.endpoint)
        return _spread(done, self.counts) if path.origin else done


def _of_rows(fetch: Fetch) -> Place:
    return Place(fetch.endpoint, fetch.rows + (".*" if fetch.shape == "entries" else ""))


def _key_field(bodies: list[Any], field: str, column: Column, args: Mapping[str, Any], place: Place) -> list[Any]:
    """A field of the key of every object. Raises BadReply if one has none."""
    if field.startswith("@"):
        return [args[field[1:]]] * len(bodies)
    steps = () if field == "." else (field,)
    values = within(bodies, steps, place)
    path = paths.joined(place.path, ".".join(steps))
    if not (column.numeric and set(map(type, values)) <= {int}):
        values = list(converted(values, column, path, place.endpoint))
    if None in values:
        raise BadReply(f"the key '{field}' is missing", endpoint=place.endpoint, path=path)
    return [v.isoformat() for v in values] if column.type in ("DATE", "TIMESTAMP") else values


def _values(bodies: list[Any], each: str, place: Place) -> tuple[list[Any], list[int] | None]:
    """What is at `each` of every object, and how many each object has; None if each object is its own."""
    if each == "$":
        return bodies, None
    first = each.removesuffix("[*]")
    if each == f"{first}[*]" and first.isidentifier():
        inner: list[Any] = [0 if type(b) is not dict else () if (v := b.get(first)) is None else v for b in bodies]
        if set(map(type, inner)) <= {list, tuple}:  # nearly always: a plain list in every object
            return list(chain.from_iterable(inner)), list(map(len, inner))
    per_object = [walk(b, each, place) for b in bodies]
    return list(chain.from_iterable(per_object)), list(map(len, per_object))


def _spread(values: Cells, counts: Counts) -> Cells:
    """Each value as often as its object has records."""
    if counts is None:
        return values
    repeated = chain.from_iterable(map(repeat, values, counts))
    return array(values.typecode, repeated) if isinstance(values, array) else list(repeated)


def _both(one: Cells, two: Cells) -> Cells:
    if isinstance(one, array) and isinstance(two, array):
        return one + two
    return [*one, *two]
