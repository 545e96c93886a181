"""Which rows names stand for, where a search brings nothing but names: their keys, and how well known they are.

A stock exchange's search says "NVIDIA Corporation Common Stock"; what is asked of that company is asked by its ticker,
which another call tells. That call is made for the few names that a question may mean. And a key that people write
("nvda") is looked up as it is.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from kg.domain import Access, Domain, Table
from kg.graph import Graph
from kg.link import Candidate, Known, Mention
from kg.link.companies import KNOWN, first_words, short_names

NAMES = 8  # whose keys are asked for, for one question
CLOSE = 0.2  # how much worse than the best a name may fit to be one of them


@dataclass(frozen=True)
class Unkeyed:
    """Stands for the key of the row that has this name, until that is known."""

    name: str


class Keys:
    """The keys of rows of `graph`'s entity tables. `clock` decides which stored rows are fresh."""

    def __init__(self, graph: Graph, clock: Callable[[], dt.datetime]):
        self._graph, self._clock = graph, clock
        self._by_name = {t.name: a for t in graph.domain.entities if (a := _by_name(t, graph.domain))}
        self._written = tuple((t, a) for t in graph.domain.entities if (a := _by_code(t, graph.domain)))

    def spoken(self, table: Table, name: str) -> Iterator[Known]:
        """Yield a name without its key as people say it: in full, and shorter; best known first."""
        for text in dict.fromkeys((name, *(short_names(name) if table.column(table.label).short else ()))):
            yield Known(text, table.name, Unkeyed(name))

    def settled(self, known: Iterable[Known], mentions: Iterable[Mention], deadline: float) -> list[Known]:
        """Return `known` with keys: those that `mentions` may mean are asked for, the others left out."""
        found = list(known)
        meant: dict[str, dict[str, None]] = {}
        rivals: set[str] = set()
        for mention in mentions:
            for table in self._by_name:
                names = [c.key.name for c in _likely(mention, table) if isinstance(c.key, Unkeyed)]
                meant.setdefault(table, {}).update(dict.fromkeys(names))
                rivals |= set(names) if len(names) > 1 else set()
        out = [k for k in found if not isinstance(k.key, Unkeyed)]
        for table, wanted in meant.items():
            out += self._keyed(self._graph.domain.table(table), list(wanted)[:NAMES], rivals, found, deadline)
        return out

    def written(self, word: str, deadline: float) -> Iterator[Known]:
        """Yield the rows whose key `word` is. Raises SourceError."""
        for table, access in self._written:
            for code in _spellings(word, table):
                if self._asked(access, table.key[0], [code], deadline):
                    yield Known(code, table.name, code)
                    break

    def _keyed(
        self, table: Table, names: Collection[str], rivals: Collection[str], known: Iterable[Known], deadline: float
    ) -> Iterator[Known]:
        found = self._asked(self._by_name[table.name], table.key[0], names, deadline)
        keys = {name: row[0] for name, row in found.items()}
        weights = self._weights(table, {key for name, key in keys.items() if name in rivals}, deadline)
        shares: list[tuple[str, Any, float]] = []
        for k in known:
            if k.table == table.name and isinstance(k.key, Unkeyed) and k.key.name in keys:
                key = keys[k.key.name]
                weight = weights.get(key, KNOWN)
                yield Known(k.text, table.name, key, weight)
                if k.text != k.key.name:
                    shares.append((k.text, key, weight))
        yield from (Known(word, table.name, key, weight) for word, key, weight in first_words(shares))

    def _weights(self, table: Table, keys: Collection[Any], deadline: float) -> dict[Any, float]:
        """How well known the rows are that share a name, by the logarithm of what ranks them."""
        rank = table.rank.removeprefix("-")
        access = next((a for a in _of(table, table.key, self._graph.domain) if rank and rank not in a.lacks), None)
        if access is None or not keys:
            return {}
        found = self._asked(access, rank, list(keys), deadline)
        return {key: math.log10(max(float(row[0]), 1.0)) for key, row in found.items() if _is_number(row[0])}

    def _asked(
        self, access: Access, wanted: str, values: Collection[Any], deadline: float
    ) -> dict[Any, tuple[Any, ...]]:
        """Ask for rows by one input, and return for each of its `values` that has one what came: `wanted` first."""
        if not values:
            return {}
        self._graph.ask(access, values, deadline=deadline, now=self._clock())
        table, need = self._graph.domain.table(access.table), access.needs[0]
        brought = [c.name for c in table.columns if c.name not in (*access.lacks, need)]
        columns = [exp.column(c, quoted=True) for c in dict.fromkeys((need, wanted, *brought))]
        query = (
            exp.select(*columns)
            .from_(exp.table_(access.partition, db=self._graph.domain.name, quoted=True))
            .where(columns[0].isin(*map(exp.convert, values)))
        )
        rows = self._graph.store.run(query.sql("duckdb")).rows
        # of what an API does not know, some say null
        return {row[0]: row[1:] for row in rows if any(v is not None for v in row[1:])}


def _of(table: Table, needs: tuple[str, ...], domain: Domain) -> Iterator[Access]:
    return (a for a in domain.accesses[table.name] if a.needs == needs and not a.fetch.search)


def _by_name(table: Table, domain: Domain) -> Access | None:
    """The call that tells the key of a row by its exact name."""
    if len(table.key) != 1 or table.key[0] == table.label:
        return None
    return next((a for a in _of(table, (table.label,), domain) if table.key[0] not in a.lacks), None)


def _by_code(table: Table, domain: Domain) -> Access | None:
    """The call that tells whether there is a row with a key that people write: a text that they have words for."""
    if len(table.key) != 1 or table.key[0] == table.label:
        return None
    key = table.column(table.key[0])
    return next(_of(table, table.key, domain), None) if key.type == "TEXT" and key.says else None


def _spellings(word: str, table: Table) -> list[str]:
    """How `word` may be written as a key, going by the keys that the domain's file has names for.

    Codes are mostly stored in capitals, though not everyone writes them so.
    """
    known = [str(v.value) for v in table.names]
    if known and len(word) > max(map(len, known)):
        return []
    return [word.upper()] if known and all(map(str.isupper, known)) else list(dict.fromkeys((word.upper(), word)))


def _likely(mention: Mention, table: str) -> list[Candidate]:
    found = mention.of(table)
    return [c for c in found if c.score >= found[0].score - CLOSE]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
