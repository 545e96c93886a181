"""The DuckDB store: rows and the ledger of where they came from, written in one transaction.

A table is kept in one partition for each kind of object that fills it, so that the same award told by a film and
by a year is never counted twice. Every stored row has `_call`, the id of the ledger entry that brought it.
The connection is locked (no files, no settings); only `kg.check`ed trees are run on it. Threads may share a store.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson

from kg import files
from kg.domain import Domain, Fetch, Files, partition
from kg.errors import QueryError, StoreError
from kg.ledger import Call, Entry, Key, Ledger, expiry
from kg.plan.steps import CALL
from kg.shapes import Cells, Found, Row, columns
from kg.text import FOLD_SQL

# What has expired is deleted only so much later: another thread may be about to read it.
GRACE = dt.timedelta(minutes=1)
# From so many rows on DuckDB is given arrays, which it reads three times as fast as its appender takes rows.
MANY = 1_000
# Domain names begin with a letter, so none can be the ledger's. The number counts its layouts: an old one is ignored.
_LEDGER = "_ledger1"
_LEDGER_SQL = f"""
CREATE SCHEMA IF NOT EXISTS {_LEDGER};
CREATE TABLE IF NOT EXISTS {_LEDGER}.domain (name TEXT PRIMARY KEY, digest TEXT);
CREATE TABLE IF NOT EXISTS {_LEDGER}.call (
    id BIGINT, domain TEXT, fetch_name TEXT, args TEXT, object TEXT, objects INTEGER, cut_off BOOLEAN,
    fetched TIMESTAMP, expires TIMESTAMP);  -- UTC; of two rows for the same call the later counts
CREATE TABLE IF NOT EXISTS {_LEDGER}.object (domain TEXT, object TEXT, key TEXT, call BIGINT);
"""
_LOCK_SQL = "SET GLOBAL TimeZone='UTC'; SET enable_external_access=false; SET lock_configuration=true"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A call that was answered, ready to be stored: its objects, and whether there may be more of them."""

    call: Call
    fetch: Fetch
    found: list[Found]
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

    `notice` is a sentence for the user when the file could not be used and the store works in memory. Of the files
    that hold tables it can read those of `domains`.
    """

    def __init__(self, path: Path | None = None, domains: Iterable[Domain] = ()):
        self.path, self.notice = path, ""
        self._lock = threading.RLock()
        self.version = 0  # of the rows: counts up with every change
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._con = self._connect()
        try:
            # read before anything is written: a damaged file stays as it is
            self.ledger = self._read_ledger() if self.path is not None and self._is_ours() else Ledger()
            self._con.execute(FOLD_SQL)
            self._con.execute(_LEDGER_SQL)
            self._con.execute(files.unlock(domains) + _LOCK_SQL)
        except duckdb.Error as e:
            self._con.close()
            raise StoreError(f"The store {path or 'in memory'} cannot be used: {_first_line(e)}") from e
        self._next = 1 + max(self.ledger.by_id, default=0)
        self._domains: dict[str, str] = {}

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if self.path is None:
            return duckdb.connect(":memory:")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            con = duckdb.connect(str(self.path))
        except (duckdb.Error, OSError) as e:
            if "could not set lock" not in str(e).lower():
                raise StoreError(f"The store {self.path} cannot be opened: {_first_line(e)}") from e
            return self._in_memory("another process")
        if con.execute("SELECT current_setting('lock_configuration')").fetchall() == [(True,)]:
            con.close()  # DuckDB shares a file within a process, but two ledgers would not agree
            return self._in_memory("another session")
        return con

    def _is_ours(self) -> bool:
        """Whether this is a store. Raises StoreError for the database of another program: domains drop schemas."""
        schemas = {s for (s,) in self._con.execute("SELECT DISTINCT schema_name FROM duckdb_tables()").fetchall()}
        if schemas and not any(s.startswith("_ledger") for s in schemas):
            self._con.close()
            raise StoreError(f"{self.path} is the database of another program; name another file for the store.")
        return _LEDGER in schemas

    def _in_memory(self, other: str) -> duckdb.DuckDBPyConnection:
        assert self.path is not None
        self.notice = f"The store {self.path.name} is in use by {other}; this one works in memory."
        self.path = None
        return duckdb.connect(":memory:")

    def close(self) -> None:
        with self._lock:
            self._con.close()

    # -- domains -------------------------------------------------------------------------------------------------

    def open_domain(self, domain: Domain, fingerprint: str | None) -> None:
        """Make the tables of `domain`. What was stored under another schema or from other data is dropped.

        `fingerprint` names the data; None if that is not known now: then what is stored under this schema stays.
        Raises SourceError if a table is in a file that cannot be read.
        """
        digest = f"{domain.digest}/{fingerprint or ''}"
        with self._lock:
            if self._domains.get(domain.name) == digest:
                return
            known = self._con.execute(f"SELECT digest FROM {_LEDGER}.domain WHERE name = ?", [domain.name]).fetchall()
            if fingerprint is None and known and known[0][0].startswith(digest):
                return
            if isinstance(domain.source, Files):
                files.attach(self._con, domain)
            if known != [(digest,)]:
                with self._transaction():
                    self._con.execute(f'DROP SCHEMA IF EXISTS "{domain.name}" CASCADE')
                    for table, column in (("call", "domain"), ("object", "domain"), ("domain", "name")):
                        self._con.execute(f"DELETE FROM {_LEDGER}.{table} WHERE {column} = ?", [domain.name])
                    self._con.execute(f'CREATE SCHEMA "{domain.name}"')
                    for statement in _tables_sql(domain):
                        self._con.execute(statement)
                    if isinstance(domain.source, Files):
                        files.make_tables(self._con, domain)
                    self._con.execute(f"INSERT INTO {_LEDGER}.domain VALUES (?, ?)", [domain.name, digest])
                    self.ledger.drop(domain.name)
            self._domains[domain.name] = digest

    def expire(self, domain: Domain, now: dt.datetime) -> None:
        """Delete what has long ceased to be believed: an object that the API no longer tells of is gone."""
        with self._lock:
            old = self.ledger.expired(domain.name, now - GRACE)
            if not old:
                return
            with self._transaction():
                for obj in domain.objects:
                    for table in obj.tables:
                        self._delete(f'"{domain.name}"."{partition(table, obj.name)}"', (CALL,), [(i,) for i in old])
                self._delete(f"{_LEDGER}.object", ("call",), [(i,) for i in old])
                self._delete(f"{_LEDGER}.call", ("id",), [(i,) for i in old])
                self.ledger.drop(domain.name, set(old))

    # -- adding ----------------------------------------------------------------------------------------------------

    def add(self, domain: Domain, arrivals: Sequence[Arrival]) -> None:
        """Store `arrivals` (of one fetch) and their ledger entries, all or nothing.

        An object that is stored and fresh stays as it is; an old one is replaced. Raises BadReply if an object is not
        as declared, StoreError if the rows cannot be written.
        """
        if not arrivals:
            return
        with self._lock, self._transaction():
            seen: set[Key] = set()
            entries: list[tuple[Entry, Arrival, list[Found]]] = []
            expires = {m: expiry(domain, arrivals[0].fetch.gives, m) for m in {a.fetched for a in arrivals}}
            for a in arrivals:
                entry, new = self._entry(domain, a, expires[a.fetched], seen)
                entries.append((entry, a, new))
            self._forget(domain, arrivals[0].fetch, [f.key for _, _, new in entries for f in new])
            self._append_rows(domain, arrivals[0].fetch, entries)
            self._append_entries(entries)
            for entry, a, new in entries:
                self.ledger.put(entry, a.fetch.gives, (f.key for f in new))

    def _entry(
        self, domain: Domain, a: Arrival, expires: dt.datetime | None, seen: set[Key]
    ) -> tuple[Entry, list[Found]]:
        """The entry of `a`, and those of its objects that are not known yet; `seen` are those of the same batch."""
        known = self.ledger.objects.get((domain.name, a.fetch.gives), {})
        new = []
        for f in a.found:
            if f.key in seen:
                continue
            held = known.get(f.key)
            if held is None or not held.fresh(a.fetched):
                new.append(f)
                seen.add(f.key)
            elif expires is not None and held.expires is not None:
                expires = min(expires, held.expires)  # the rows are as old as the call that brought them
        entry = Entry(self._next, a.call, len(a.found), a.cut_off, a.fetched, expires)
        self._next += 1
        return entry, new

    def _forget(self, domain: Domain, fetch: Fetch, keys: list[Key]) -> None:
        """Delete what is stored of objects that have come again."""
        again = [k for k in keys if self.ledger.holds(domain.name, fetch.gives, k)]
        if not again:
            return
        obj = domain.object_by_name[fetch.gives]
        for table in obj.tables:
            self._delete(f'"{domain.name}"."{partition(table, obj.name)}"', obj.key_columns(table), again)
        texts = [(domain.name, obj.name, _key_text(k)) for k in again]
        self._delete(f"{_LEDGER}.object", ("domain", "object", "key"), texts)

    def _delete(self, table: str, columns: Sequence[str], keys: Sequence[Key]) -> None:
        """Delete the rows of `table` whose `columns` are one of `keys`; all rows if there are no columns."""
        if not columns:
            self._con.execute(f"DELETE FROM {table}")
            return
        names = ", ".join(f'"{c}"' for c in columns)
        self._con.execute(f"CREATE TEMP TABLE gone AS SELECT {names} FROM {table} LIMIT 0")
        self._append("temp.gone", list(zip(*keys, strict=True)))
        same = " AND ".join(f'kept."{c}" = gone."{c}"' for c in columns)
        self._con.execute(f"DELETE FROM {table} AS kept USING gone WHERE {same}")
        self._con.execute("DROP TABLE gone")

    def _append_rows(self, domain: Domain, fetch: Fetch, entries: list[tuple[Entry, Arrival, list[Found]]]) -> None:
        found = [f for _, _, new in entries for f in new]
        ids = [entry.id for entry, _, new in entries for _ in new]
        for name, stored in columns(found, ids, fetch, domain).items():
            self._append(f'"{domain.name}"."{name}"', stored)

    def _append_entries(self, entries: list[tuple[Entry, Arrival, list[Found]]]) -> None:
        made = [e for e, _, _ in entries]
        fetch, domain = entries[0][1].fetch, made[0].call.domain
        naive = {m: m and _naive(m) for e in made for m in (e.fetched, e.expires)}
        domains, fetches, objects = ([text] * len(made) for text in (domain, fetch.name, fetch.gives))
        ids = array("q", [e.id for e in made])
        calls: list[Cells] = [ids, domains, fetches, [e.call.text for e in made], objects]
        calls += [[e.objects for e in made], [e.cut_off for e in made]]
        calls += [[naive[e.fetched] for e in made], [naive[e.expires] for e in made]]
        self._append(f"{_LEDGER}.call", calls)
        keys = [_key_text(f.key) for _, _, new in entries for f in new]
        brought = array("q", [e.id for e, _, new in entries for _ in new])
        self._append(f"{_LEDGER}.object", [[domain] * len(keys), [fetch.gives] * len(keys), keys, brought])

    def _append(self, table: str, stored: Sequence[Cells]) -> None:
        """Append rows, given as columns."""
        if not stored or not len(stored[0]):
            return
        if len(stored[0]) < MANY:
            appender = self._con.appender(table)
            appender.append_rows(list(zip(*stored, strict=True)))
            appender.flush()
            return
        self._con.register("arrived", {f"c{i}": _as_array(c) for i, c in enumerate(stored)})
        self._con.execute(f"INSERT INTO {table} SELECT * FROM arrived").fetchall()
        self._con.unregister("arrived")

    # -- asking ----------------------------------------------------------------------------------------------------

    def run(self, sql: str, *, max_rows: int = 10_000, timeout: float | None = None) -> Rows:
        """Return the rows of a checked query. Raises QueryError if DuckDB refuses it or time runs out."""
        with self._lock:
            # a cursor of its own: an interrupt that comes late stops nothing else, and readers do not wait
            cursor = self._con.cursor()
            self._running.add(cursor)
        timer = threading.Timer(timeout, cursor.interrupt) if timeout is not None else None
        try:
            if timer:
                timer.start()
            cursor.execute(sql)
            columns = tuple(d[0] for d in cursor.description or ())
            found = cursor.fetchmany(max_rows + 1)
        except duckdb.InterruptException as e:
            raise QueryError(f"The query took longer than {timeout:.1f} s.") from e
        except duckdb.Error as e:
            raise QueryError(f"The query failed: {_first_line(e)}") from e
        finally:
            if timer:
                timer.cancel()
            self._running.discard(cursor)
            cursor.close()
        return Rows(columns, found[:max_rows], len(found) > max_rows)

    def interrupt(self) -> None:
        """Stop the queries that are running; each raises QueryError. May be called from any thread."""
        for cursor in tuple(self._running):
            cursor.interrupt()

    def entries(self, ids: Sequence[int]) -> list[Entry]:
        """The ledger entries with these ids, in their order; unknown ids are left out."""
        return [self.ledger.by_id[i] for i in ids if i in self.ledger.by_id]

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, in the file and in `self.ledger`, also on Ctrl-C."""
        try:
            self._con.begin()
            yield
            self._con.commit()
            self.version += 1
        except BaseException as e:
            with contextlib.suppress(duckdb.Error):  # there is none to roll back if committing failed
                self._con.rollback()
            self.ledger = self._read_ledger()
            if isinstance(e, duckdb.Error):
                raise StoreError(f"The store cannot be written: {_first_line(e)}") from e
            raise

    def _read_ledger(self) -> Ledger:
        ledger = Ledger()
        calls = (
            f"SELECT id, domain, fetch_name, args, objects, cut_off, fetched, expires FROM {_LEDGER}.call ORDER BY id"
        )
        for id_, domain, fetch, args, objects, cut_off, fetched, expires in self._con.execute(calls).fetchall():
            call = Call(domain, fetch, tuple(orjson.loads(args).items()))
            until = expires.replace(tzinfo=dt.UTC) if expires else None
            ledger.put(Entry(id_, call, objects, cut_off, fetched.replace(tzinfo=dt.UTC), until))
        keys = f"SELECT domain, object, key, call FROM {_LEDGER}.object"
        for domain, obj, key, id_ in self._con.execute(keys).fetchall():
            if id_ in ledger.by_id:
                ledger.objects.setdefault((domain, obj), {})[tuple(orjson.loads(key))] = ledger.by_id[id_]
        return ledger


def _as_array(cells: Cells) -> Any:
    import numpy as np  # takes longer to load than a question with few rows to be stored

    if isinstance(cells, array):
        return np.frombuffer(cells, cells.typecode)
    if type(next((v for v in cells if v is not None), None)) is int:
        # of objects DuckDB guesses the width from the first ones
        numbers = np.array(cells, dtype=object)
        absent = numbers == None  # noqa: E711
        numbers[absent] = 0
        return np.ma.masked_array(numbers.astype(np.int64), absent)
    return np.array(cells, dtype=object)


def _naive(moment: dt.datetime) -> dt.datetime:
    """UTC without a zone: DuckDB needs another package to hand out moments that have one."""
    return moment.astimezone(dt.UTC).replace(tzinfo=None)


def _key_text(key: Key) -> str:
    return orjson.dumps(key).decode()


def _first_line(e: BaseException) -> str:
    return (str(e).splitlines() or [type(e).__name__])[0]


def _tables_sql(domain: Domain) -> Iterator[str]:
    for obj in domain.objects:
        for table in obj.tables:
            columns = ", ".join(f'"{c.name}" {c.type}' for c in domain.table(table).columns)
            yield f'CREATE TABLE "{domain.name}"."{partition(table, obj.name)}" ({columns}, {CALL} BIGINT)'
