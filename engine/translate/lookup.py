"""What is known of things, from the tables that hold their properties and the sentences about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kg.domain import Domain, Table
from kg.errors import QueryError

from .properties import Fact, Known

MAX_FACTS = 5_000  # rows that are looked at for a question
KEPT = 5_000  # things that are remembered


class Lookup:
    """Looks things up by `ask`, which runs a program; what was found is kept. A thing there is not is left out."""

    def __init__(self, domain: Domain, ask: Callable[[str], list[tuple[Any, ...]]]):
        self.domain, self.ask = domain, ask
        self._known: dict[Any, Known | None] = {}

    def __call__(self, table: Table, keys: tuple[Any, ...]) -> dict[Any, Known]:
        new = tuple(k for k in keys if k not in self._known)
        if new:
            if len(self._known) + len(new) > KEPT:
                self._known.clear()
            self._known.update(self._look_up(table, new))
        found = {k: self._known.get(k) for k in keys}
        return {k: known for k, known in found.items() if known is not None}

    def _look_up(self, table: Table, keys: tuple[Any, ...]) -> dict[Any, Known | None]:
        link = next(c for c in table.columns if c.links)
        assert link.links is not None
        about = self.domain.table(link.links.table)
        types = {c.type: c.name for c in reversed(table.columns)}
        columns = [link.name, table.properties, table.value, *(types[t] for t in ("DOUBLE", "DATE", "INTEGER"))]
        listed = ", ".join("'" + str(k).replace("'", "''") + "'" for k in keys)
        facts: dict[Any, list[Fact]] = {}
        try:
            for row in self.ask(f"SELECT {', '.join(columns)} FROM {table.name} WHERE {link.name} IN ({listed})"):
                if row[2] is not None:
                    facts.setdefault(row[0], []).append(Fact(*row[1:]))
            key = about.key[0]
            texts = dict(self.ask(f"SELECT {key}, {about.text} FROM {about.name} WHERE {key} IN ({listed})"))
        except QueryError:
            return dict.fromkeys(keys)
        return {
            k: Known(tuple(facts.get(k, ())), texts.get(k) or "") if k in facts or k in texts else None for k in keys
        }
