"""The DuckDB store: rows and the ledger of where they came from, written in one transaction.

A table is kept in one partition for each kind of object that fills it, so that the same award told by a film and
by a year is never counted twice. Every stored row has `_call`, the id of the ledger entry that brought it.
The connection is locked (no files, no settings); only `kg.check`ed trees are run on it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from .domain import Domain, partition
from .errors import QueryError, StoreError
from .ledger import Call, Entry, Key, Ledger, expiry
from .shapes import Row
from .text import FOLD_SQL

CALL = "_call"
_LEDGER_SQL = """
CREATE SCHEMA IF NOT EXISTS ledger;
CREATE TABLE IF NOT EXISTS ledger.domain (name TEXT PRIMARY KEY, digest TEXT);
CREATE TABLE IF NOT EXISTS ledger.call (
    id BIGINT PRIMARY KEY, domain TEXT, fetch_name TEXT, args TEXT, object TEXT, objects INTEGER, cut_off BOOLEAN,
    fetched TIMESTAMP, expires TIMESTAMP);  -- UTC; of two rows for the same call the later counts
CREATE TABLE IF NOT EXISTS ledger.object (domain TEXT, object TEXT, key TEXT, call BIGINT);
"""


@dataclass(frozen=True)
class Arrival:
    """A call that was answered, ready to be stored.

    `keys` are the keys of its objects; `rows` (partition to rows) belong to the keys that are `new` to the store.
    """

    call: Call
    object: str
    keys: list[Key]
    new: list[Key]
    rows: Mapping[str, list[Row]]
    cut_off: bool
    fetched: dt.datetime


@dataclass(frozen=True)
class Rows:
    """What a query returned. `cut_off` is set when there were more rows than the limit."""

    columns: tuple[str, ...]
    rows: list[Row]
    cut_off: bool = False


class Store:
    """Tables of all domains in one DuckDB database, in a file or in memory.

    `notice` is a sentence for the user when the file could not be used and the store works in memory.
    """

    def __init__(self, path: Path | None = None):
        self.path, self.notice = path, ""
        self._lock = threading.RLock()
        self._con = self._connect(path)
        self._con.execute(FOLD_SQL)
        self._con.execute(_LEDGER_SQL)
        self._con.execute("SET TimeZone='UTC'; SET enable_external_access=false; SET lock_configuration=true")
        self.ledger = self._read_ledger()
        self._next = 1 + max((e.id for e in self.ledger.calls.values()), default=0)
        self._domains: dict[str, str] = {}

    def _connect(self, path: Path | None) -> duckdb.DuckDBPyConnection:
        if path is None:
            return duckdb.connect(":memory:")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return duckdb.connect(str(path))
        except (duckdb.Error, OSError) as e:
            if "lock" not in str(e).lower():
                raise StoreError(f"The store {path} cannot be opened: {str(e).splitlines()[0]}") from e
            self.notice = f"The store {path.name} is in use by another process; this one works in memory."
            self.path = None
            return duckdb.connect(":memory:")

    def close(self) -> None:
        with self._lock:
            self._con.close()

    def open_domain(self, domain: Domain, fingerprint: str) -> None:
        """Make the tables of `domain`. What was stored under another schema or from other data is dropped."""
        digest = f"{domain.digest}/{fingerprint}"
        with self._lock:
            if self._domains.get(domain.name) == digest:
                return
            known = self._con.execute("SELECT digest FROM ledger.domain WHERE name = ?", [domain.name]).fetchall()
            if known != [(digest,)]:
                with self._transaction():
                    self._drop(domain.name)
                    self._con.execute(f'CREATE SCHEMA "{domain.name}"')
                    for statement in _tables_sql(domain):
                        self._con.execute(statement)
                    self._con.execute("INSERT INTO ledger.domain VALUES (?, ?)", [domain.name, digest])
            self._domains[domain.name] = digest

    def _drop(self, name: str) -> None:
        self._con.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
        for table in ("call", "object"):
            self._con.execute(f"DELETE FROM ledger.{table} WHERE domain = ?", [name])
        self._con.execute("DELETE FROM ledger.domain WHERE name = ?", [name])
        self.ledger.calls = {c: e for c, e in self.ledger.calls.items() if c.domain != name}
        self.ledger.objects = {k: v for k, v in self.ledger.objects.items() if k[0] != name}

    def add(self, domain: Domain, arrivals: Sequence[Arrival]) -> None:
        """Store `arrivals` and their ledger entries, all or nothing."""
        if not arrivals:
            return
        with self._lock:
            entries = []
            with self._transaction():
                for a in arrivals:
                    entry = Entry(self._next, a.call, len(a.keys), a.cut_off, a.fetched, expiry(domain, a.object, a.fetched))
                    self._next += 1
                    entries.append((entry, a))
                self._forget(domain, arrivals)
                self._append_rows(domain, entries)
                self._append_entries(entries)
            for entry, a in entries:
                self.ledger.put(entry, a.object, a.new)

    def _forget(self, domain: Domain, arrivals: Sequence[Arrival]) -> None:
        """Delete what is stored of objects that have come again."""
        for obj in {a.object for a in arrivals}:
            again = [k for a in arrivals if a.object == obj for k in a.new if self.ledger.holds(domain.name, obj, k)]
            if not again:
                continue
            o = domain.object_by_name[obj]
            for fill in o.fills:
                columns = o.key_columns(fill.table)
                where = " AND ".join(f'"{c}" = ?' for c in columns)
                self._con.executemany(f'DELETE FROM "{domain.name}"."{partition(fill.table, obj)}" WHERE {where}', again)
            self._con.executemany(
                "DELETE FROM ledger.object WHERE domain = ? AND object = ? AND key = ?",
                [(domain.name, obj, _key_text(k)) for k in again],
            )

    def _append_rows(self, domain: Domain, entries: list[tuple[Entry, Arrival]]) -> None:
        gathered: dict[str, list[Row]] = {}
        for entry, a in entries:
            suffix = (entry.id,)
            for name, rows in a.rows.items():
                gathered.setdefault(name, []).extend([row + suffix for row in rows])
        for name, rows in gathered.items():
            if rows:
                appender = self._con.appender(f'"{domain.name}"."{name}"')
                appender.append_rows(rows)
                appender.flush()

    def _append_entries(self, entries: list[tuple[Entry, Arrival]]) -> None:
        calls = [
            (e.id, e.call.domain, e.call.fetch, e.call.text, a.object, e.objects, e.cut_off, _plain(e.fetched), _plain(e.expires))
            for e, a in entries
        ]
        objects = [(e.call.domain, a.object, _key_text(k), e.id) for e, a in entries for k in a.new]
        for name, rows in (("call", calls), ("object", objects)):
            if rows:
                appender = self._con.appender(f"ledger.{name}")
                appender.append_rows(rows)
                appender.flush()

    def run(self, sql: str, *, max_rows: int = 10_000, timeout: float | None = None) -> Rows:
        """Return the rows of a checked query. Raises QueryError if DuckDB refuses it or time runs out."""
        with self._lock:
            timer = threading.Timer(timeout, self._con.interrupt) if timeout is not None else None
            if timer:
                timer.start()
            try:
                cursor = self._con.execute(sql)
                columns = tuple(d[0] for d in cursor.description or ())
                rows = cursor.fetchmany(max_rows + 1)
                if len(rows) > max_rows:
                    cursor.fetchall()  # a result left open blocks the connection
            except duckdb.InterruptException as e:
                raise QueryError(f"The query took longer than {timeout:.0f} s.") from e
            except duckdb.Error as e:
                raise QueryError(f"The query failed: {str(e).splitlines()[0]}") from e
            finally:
                if timer:
                    timer.cancel()
        return Rows(columns, rows[:max_rows], len(rows) > max_rows)

    def entries(self, ids: Sequence[int]) -> list[Entry]:
        """The ledger entries with these ids, in their order; unknown ids are left out."""
        by_id = {e.id: e for e in self.ledger.calls.values()}
        for held in self.ledger.objects.values():
            by_id.update({e.id: e for e in held.values()})
        return [by_id[i] for i in ids if i in by_id]

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._con.begin()
        try:
            yield
        except BaseException:  # Ctrl-C too: nothing half-stored
            self._con.rollback()
            raise
        self._con.commit()

    def _read_ledger(self) -> Ledger:
        ledger, by_id = Ledger(), {}
        calls = "SELECT id, domain, fetch_name, args, objects, cut_off, fetched, expires FROM ledger.call ORDER BY id"
        for id_, domain, fetch, args, objects, cut_off, fetched, expires in self._con.execute(calls).fetchall():
            entry = Entry(id_, Call(domain, fetch, tuple(json.loads(args).items())), objects, cut_off, fetched.replace(tzinfo=dt.UTC),
                          expires and expires.replace(tzinfo=dt.UTC))
            by_id[id_] = ledger.calls[entry.call] = entry
        for domain, obj, key, id_ in self._con.execute("SELECT domain, object, key, call FROM ledger.object").fetchall():
            if id_ in by_id:
                ledger.objects.setdefault((domain, obj), {})[tuple(json.loads(key))] = by_id[id_]
        return ledger


def _plain(moment: dt.datetime | None) -> dt.datetime | None:
    """UTC without a zone: DuckDB needs another package to hand out moments that have one."""
    return moment and moment.astimezone(dt.UTC).replace(tzinfo=None)


def _key_text(key: Key) -> str:
    return json.dumps(key, ensure_ascii=False)


def _tables_sql(domain: Domain) -> Iterator[str]:
    for obj in domain.objects:
        for fill in obj.fills:
            columns = ", ".join(f'"{c.name}" {c.type}' for c in domain.table(fill.table).columns)
            yield f'CREATE TABLE "{domain.name}"."{partition(fill.table, obj.name)}" ({columns}, {CALL} BIGINT)'
