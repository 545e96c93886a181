"""Does an API answer as its domain file says? One call of each fetch, and what of the reply did not match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kg import shapes
from kg.domain import Domain, Fetch, partition
from kg.errors import SourceError
from kg.plan.inputs import as_input
from kg.sources.base import Source


@dataclass(frozen=True)
class Probed:
    """What came of one fetch: the arguments it was called with, how many objects came, and what was wrong."""

    fetch: str
    args: Mapping[str, Any]
    objects: int
    problems: tuple[str, ...] = ()


def probe(domain: Domain, source: Source, given: Mapping[str, str], *, seconds: float = 20.0) -> Iterator[Probed]:
    """Yield what comes of each fetch of `domain`, each called once, at most `seconds` long.

    An argument takes its value from `given`, under its own name, `fetch.argument` or the name of its column; else one
    that an earlier reply had in that column. A fetch whose arguments nobody knows comes last, as a problem.
    """
    waiting, known = list(domain.fetches), _Known(domain, given)
    while ready := [(f, args) for f in waiting if (args := known.args(f)) is not None]:
        fetch, args = ready[0]
        waiting.remove(fetch)
        yield _called(domain, source, fetch, args, known, seconds)
    for fetch in waiting:
        missing = [arg for arg, _ in fetch.args if known.value(fetch, arg) is None]
        said = f"not called: no example of {', '.join(missing)} is known; give one by --with {missing[0]}=VALUE."
        yield Probed(fetch.name, {}, 0, (said,))


def _called(
    domain: Domain, source: Source, fetch: Fetch, args: Mapping[str, Any], known: _Known, seconds: float
) -> Probed:
    sent = {k: str(v) if k in fetch.as_text else [v] if k in fetch.as_list else v for k, v in args.items()}
    try:
        reply = source.call(fetch.endpoint, sent, timeout=seconds)
        found = shapes.objects(reply, fetch, domain, {**dict(fetch.fixed), **args})
        tables = shapes.columns(found, [0] * len(found), fetch, domain)
    except SourceError as e:
        return Probed(fetch.name, args, 0, (str(e).removeprefix(f"{e.endpoint}: "),))
    problems = [] if found else ["nothing came: no object is in the reply."]
    for fill in domain.object_by_name[fetch.gives].fills if found else ():
        table = domain.table(fill.table)
        columns = dict(zip(table.by_name, tables[partition(table.name, fetch.gives)], strict=False))
        rows = len(next(iter(columns.values())))
        if not rows:
            problems.append(f"{table.name}: no row came (at {fill.each}).")
        empty = [c for c, cells in columns.items() if c not in fill.lacks and all(v is None for v in cells)]
        if rows and empty:
            problems.append(f"{table.name}: no value came in {', '.join(empty)} (rows: {rows}).")
        for name, cells in columns.items():
            known.note(table.name, name, cells)
    return Probed(fetch.name, args, len(found), tuple(dict.fromkeys(problems)))


@dataclass
class _Known:
    """Values that arguments can be given."""

    domain: Domain
    given: Mapping[str, str]
    _values: dict[tuple[str, str], Any] = field(default_factory=dict)

    def note(self, table: str, column: str, cells: Any) -> None:
        """Remember a value of a column, and of the column that it links to."""
        value = next((v for v in cells if v is not None), None)
        if value is not None:
            self._values.setdefault((table, column), value)
            if link := self.domain.table(table).column(column).links:
                self._values.setdefault((link.table, link.column), value)

    def args(self, fetch: Fetch) -> dict[str, Any] | None:
        """The arguments of a call, None if one is not known yet."""
        values = {arg: self.value(fetch, arg) for arg, _ in fetch.args}
        return None if None in values.values() else values

    def value(self, fetch: Fetch, arg: str) -> Any:
        """A value for an argument."""
        source = dict(fetch.args)[arg]
        obj = self.domain.object_by_name[fetch.gives]
        for fill in obj.fills:
            landing = dict(zip((k.removeprefix("@") for k in obj.key), obj.key_columns(fill.table), strict=True))
            table, name = self.domain.table(fill.table), landing.get(source, source)
            if name not in table.by_name:
                continue
            column = table.column(name)
            for said in (f"{fetch.name}.{arg}", arg, source, f"{table.name}.{name}"):
                if said in self.given:
                    return as_input(self.given[said], column)
            places = [(table.name, name)] + ([(column.links.table, column.links.column)] if column.links else [])
            for place in places:
                if place in self._values:
                    return as_input(self._values[place], column)
        return None
