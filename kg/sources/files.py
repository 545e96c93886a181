"""The source of a domain whose tables are in files: it answers no calls, but lists names and notices changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import duckdb

from kg import files
from kg.domain import Domain, Table
from kg.errors import SourceError
from kg.sources.base import Name


class FileSource:
    """The files of `domain`."""

    parallel = 1

    def __init__(self, domain: Domain):
        self.domain, self.name = domain, domain.name

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> NoReturn:
        """There is nothing to call. Raises SourceError."""
        raise SourceError("the tables of this domain are in files; there is nothing to call.", endpoint=endpoint)

    def names(self, table: str) -> Iterator[Name]:
        """Yield the names of an entity table; of two, the one that more rows link to is better known."""
        entity = self.domain.table(table)
        with duckdb.connect() as con:
            con.execute(f'CREATE SCHEMA "{self.domain.name}"')
            files.attach(con, self.domain)
            files.make_tables(con, self.domain)
            found = con.execute(self._names_sql(entity)).fetchall()
        for text, key, rows in found:
            yield Name(text, key, math.log10(1 + rows))

    def _names_sql(self, entity: Table) -> str:
        schema, key = f'"{self.domain.name}"', entity.key[0]
        counted = [
            f'SELECT "{c.name}" AS key, count(*) AS rows FROM {schema}."{t.name}" GROUP BY 1'
            for t in self.domain.tables
            for c in t.columns
            if c.links and (c.links.table, c.links.column) == (entity.name, key)
        ]
        names = f'SELECT DISTINCT "{entity.label}" AS text, "{key}" AS key FROM {schema}."{entity.name}"'
        links = " UNION ALL ".join(counted) or "SELECT NULL AS key, 0 AS rows"
        return (
            f"SELECT text, n.key, coalesce(rows, 0) FROM ({names}) n LEFT JOIN "
            f"(SELECT key, sum(rows) AS rows FROM ({links}) GROUP BY 1) l ON l.key = n.key WHERE text IS NOT NULL"
        )

    def fingerprint(self) -> str:
        """The sizes and times of the files. Raises SourceError if one is not there."""
        return files.fingerprint(self.domain)

    def close(self) -> None:
        """Nothing to give back."""
