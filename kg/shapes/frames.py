"""What is at a place of a reply, as rows: one of the shapes in which APIs write tables.

A `Frame` keeps a list per field where the reply has one, so that a hundred thousand prices are never made into a
hundred thousand dictionaries.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

import orjson

from kg.domain import Shape
from kg.errors import BadReply
from kg.shapes.cells import Cells
from kg.shapes.paths import steps_of

# An index of more characters is not taken apart: ast reads deep nesting slowly, and there is none in an index.
_LONGEST_INDEX = 1_000
_BAD_ESCAPE = re.compile(r"\\[^\\'\"abfnrtvxuUN0-7]")  # Python warns of them on the terminal
_NO_FIELDS: dict[str, Any] = {}


@dataclass(frozen=True)
class Place:
    """Where in a reply we are, for what is said when it is not as declared."""

    endpoint: str
    path: str

    def bad(self, wanted: str, value: Any, within: str = "") -> BadReply:
        return self.wrong(f"{wanted} was expected, {kind(value)} came", within)

    def wrong(self, sentence: str, within: str = "") -> BadReply:
        return BadReply(sentence, endpoint=self.endpoint, path=self.path + within)


@dataclass(frozen=True)
class Frame:
    """Rows: what each is, and the `fields` that are not in it but beside it. `counts` are the rows that each value
    of the reply became; None if each became one."""

    records: list[Any]
    fields: dict[str, Cells] = field(default_factory=dict)
    counts: list[int] | None = None

    def cells(self, steps: Sequence[str], place: Place) -> list[Any]:
        """What is at `steps` in every row; None where there is nothing. Raises BadReply."""
        if steps and steps[0] in self.fields:
            found = list(self.fields[steps[0]])
            return within(found, steps[1:], place, below=True) if steps[1:] else found
        return within(self.records, steps, place)

    def bodies(self) -> list[Any]:
        """The rows, each as one value."""
        if not self.fields:
            return self.records
        rows = [dict(zip(self.fields, row, strict=True)) for row in zip(*self.fields.values(), strict=True)]
        if self.fields.get("value") is self.records:
            return rows
        return [{**record, **row} for record, row in zip(self.records, rows, strict=True)]


def frame(values: list[Any], shape: Shape, names: Sequence[str], place: Place) -> Frame:
    """Return the rows of `values`, each of which has the `shape`. Raises BadReply."""
    if not shape:
        return Frame(values)
    if shape == "value":
        return Frame(values, {"value": values})
    make: Callable[[list[Any], Sequence[str], Place], Frame] = {
        "entries": _entries, "columns": _columns, "parallel": _parallel, "tuple": _tuples
    }[shape]  # fmt: skip
    return make(values, names, place)


def walk(value: Any, path: str, place: Place) -> list[Any]:
    """The values at `path` ("$", "$[*]", "$.a[*].b", "cast[*]") in `value`, always as a list."""
    here = [value]
    if path == "$":
        return here
    walked = ""
    for name in steps_of(path):
        if name is None:
            for v in here:
                if type(v) is not list:
                    raise place.bad("a list", v, walked)
            here = list(chain.from_iterable(here))
        else:
            for v in here:
                if type(v) is not dict:
                    raise place.bad("an object", v, walked)
            # a field that is absent or null holds no rows
            here = [v[name] for v in here if v.get(name) is not None]
        walked += f".{name}" if name else "[*]"
    return here


def within(records: list[Any], steps: Sequence[str], place: Place, *, below: bool = False) -> list[Any]:
    """What is at `steps` in every record. A record may be None only `below` the row itself. Raises BadReply."""
    for i, name in enumerate(steps):
        try:
            records = list(map(itemgetter(name), records))
        except (KeyError, TypeError):
            kinds = set(map(type, records))
            inner = below or i > 0
            if not kinds <= ({dict, type(None)} if inner else {dict}):
                raise place.bad("an object", _first_not(dict, records, none=inner)) from None
            # a record may lack any field: CRAG's persons have no birthday key when it is not known
            records = [None if r is None else r.get(name) for r in records]
    return records


def kind(v: Any) -> str:
    """What a JSON value is, in words."""
    names: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "a flag", type(None): "nothing"}
    return names.get(type(v), "a number")


def _first_not(wanted: type, values: list[Any], *, none: bool) -> Any:
    return next(v for v in values if type(v) is not wanted and not (none and v is None))


def _entries(values: list[Any], names: Sequence[str], place: Place) -> Frame:
    """{k: {..}} or {k: v}: the keys are data."""
    if not set(map(type, values)) <= {dict}:
        raise place.bad("an object", _first_not(dict, values, none=False))
    keys = list(chain.from_iterable(values))
    records: list[Any] = list(chain.from_iterable(map(dict.values, values)))
    kinds = set(map(type, records))
    fields: dict[str, Cells] = {"key": keys}
    if dict not in kinds:
        fields["value"] = records
    elif not kinds <= {dict, type(None)}:
        raise place.bad("an object", _first_not(dict, records, none=True), ".*")
    elif type(None) in kinds:  # an entry with nothing in it still has its key
        records = [_NO_FIELDS if r is None else r for r in records]
    return Frame(records, fields, list(map(len, values)))


def _columns(values: list[Any], names: Sequence[str], place: Place) -> Frame:
    """{column: {index: v}}, as pandas writes it, or {column: [v]}; perhaps as text."""
    tables = [_table(_decoded(v, place), place) for v in values]
    sizes = [len(t["index"]) for t in tables]
    fields: dict[str, Cells] = {}
    for name in dict.fromkeys(chain.from_iterable(tables)):
        parts = [t[name] if name in t else [None] * n for t, n in zip(tables, sizes, strict=True)]
        fields[name] = parts[0] if len(parts) == 1 else list(chain.from_iterable(parts))
    fields |= _taken_apart(fields.get("index", ()))
    return Frame([_NO_FIELDS] * sum(sizes), fields, sizes)


def _decoded(value: Any, place: Place) -> Any:
    if type(value) is not str:
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        try:
            return json.loads(value)  # pandas and Python write NaN, which is not JSON
        except (ValueError, RecursionError):
            raise place.bad("JSON", value) from None


def _table(value: Any, place: Place) -> dict[str, list[Any]]:
    """Column to cells, with the index as a column of that name."""
    if type(value) is not dict:
        raise place.bad("an object", value)
    columns = list(value.values())
    kinds = set(map(type, columns))
    if kinds <= {list}:
        if len(set(map(len, columns))) > 1:
            raise place.wrong("the columns are not of one length")
        return {"index": list(map(str, range(len(columns[0])))) if columns else [], **value}
    if kinds != {dict}:
        raise place.bad("an object for each column", _first_not(dict, columns, none=False))
    index = list(columns[0])
    if all(list(c) == index for c in columns[1:]):
        return {"index": index, **{name: list(c.values()) for name, c in value.items()}}
    index = list(dict.fromkeys(chain.from_iterable(columns)))
    return {"index": index, **{name: list(map(c.get, index)) for name, c in value.items()}}


def _taken_apart(index: Cells) -> dict[str, Cells]:
    """The places of an index that is made of tuples, each as a column.

    >>> _taken_apart(["('ENG', '2324')", '("Ligue 1", None)'])
    {'index_0': ['ENG', 'Ligue 1'], 'index_1': ['2324', None]}
    >>> _taken_apart(["0", "1"]), _taken_apart(["(see below)"])
    ({}, {})
    """
    if not index or not str(index[0]).startswith("("):
        return {}
    tuples = [_tuple(str(i)) for i in index]
    longest = max(map(len, tuples))
    return {f"index_{i}": [t[i] if i < len(t) else None for t in tuples] for i in range(longest)}


def _tuple(text: str) -> tuple[Any, ...]:
    """The tuple that `text` is the repr of; an empty one if it is none."""
    if text.startswith("('") and text.endswith("')") and '"' not in text and "\\" not in text:
        plain = tuple(text[2:-2].split("', '"))  # the plain case, thirty times as fast
        if not any("'" in part for part in plain):
            return plain
    if not text.startswith("(") or len(text) > _LONGEST_INDEX or _BAD_ESCAPE.search(text):
        return ()
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    if not isinstance(found, tuple):
        return ()
    return found if all(v is None or isinstance(v, str | int | float) for v in found) else ()


def _parallel(values: list[Any], names: Sequence[str], place: Place) -> Frame:
    """[[..], [..]]: lists that belong together. Nothing in all of their places is no rows."""
    columns: list[list[Any]] = [[] for _ in names]
    sizes = []
    for value in values:
        lists = _of_size(value, names, place)
        if all(v is None for v in lists):
            sizes.append(0)
            continue
        for i, v in enumerate(lists):
            if type(v) is not list:
                raise place.bad("a list", v, f"[{i}]")
        if len(set(map(len, lists))) > 1:
            said = ", ".join(f"{len(v)} {name}" for v, name in zip(lists, names, strict=True))
            raise place.wrong(f"lists of one length were expected, {said} came")
        for column, v in zip(columns, lists, strict=True):
            column += v
        sizes.append(len(lists[0]))
    return Frame([_NO_FIELDS] * sum(sizes), dict(zip(names, columns, strict=True)), sizes)


def _tuples(values: list[Any], names: Sequence[str], place: Place) -> Frame:
    """[a, b]: one row whose places have names."""
    rows = [_of_size(value, names, place) for value in values]
    columns = map(list, zip(*rows, strict=True)) if rows else ([] for _ in names)
    return Frame([_NO_FIELDS] * len(rows), dict(zip(names, columns, strict=True)))


def _of_size(value: Any, names: Sequence[str], place: Place) -> list[Any]:
    if type(value) is not list:
        raise place.bad("a list", value)
    if len(value) != len(names):
        raise place.wrong(f"a list of {len(names)} was expected ({', '.join(names)}), one of {len(value)} came")
    return value
