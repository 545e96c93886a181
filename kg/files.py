"""Tables in files (CSV, JSON, Parquet, SQLite, DuckDB) as tables of a DuckDB schema, read in place.

A database of DuckDB is attached read-only and a Parquet file scanned where it is: their tables are views. What DuckDB
would have to read anew for every query (CSV, JSON, SQLite) is read once. Values are cast to the declared types; one
that cannot be is unknown. Nothing is ever written to a file.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb

from kg.domain import Column, Domain, Files, Scalar, Table
from kg.errors import SourceError
from kg.load.nodes import suggest
from kg.shapes.made import expression

_READERS = {
    ".csv": "read_csv({}, all_varchar=true, header=true)",
    ".tsv": "read_csv({}, all_varchar=true, header=true)",
    ".json": "read_json({}, format='auto')",
    ".jsonl": "read_json({}, format='auto')",
    ".ndjson": "read_json({}, format='auto')",
    ".parquet": "read_parquet({})",
}
_LARGE = 500_000_000  # bytes of a CSV or JSON file from which on it is not kept in memory
_BATCH = 10_000  # rows of SQLite that are copied at a time
_VARIABLE = re.compile(r"\${(\w+)}")


def place(files: Files) -> Path:
    """Return the file or directory that `files` names. Raises SourceError if an environment variable is not set."""
    written = files.file or files.directory
    for name in _VARIABLE.findall(written):
        if name not in os.environ:
            raise SourceError(f"the environment variable {name} is not set.", endpoint=written)
    return Path(files.home) / _VARIABLE.sub(lambda m: os.environ[m[1]], written)


def unlock(domains: Iterable[Domain]) -> str:
    """Return the setting that lets a locked DuckDB connection read the files of `domains`, and no others."""
    paths: list[str] = []
    for domain in domains:
        if isinstance(domain.source, Files):
            with contextlib.suppress(SourceError):  # it is said when the domain is asked
                path = place(domain.source)
                if domain.source.directory:
                    tables = (t for t in domain.tables if not t.lists)
                    paths += [str(p) for t in tables for p in _candidates(path, t)]
                else:
                    paths += [str(path), f"{path}.wal"]
    return f"SET allowed_paths=[{', '.join(map(_quoted, dict.fromkeys(paths)))}]; " if paths else ""


def fingerprint(domain: Domain) -> str:
    """Return a text that changes when a file of `domain` does. Raises SourceError if one is not there."""
    marks = []
    for path in dict.fromkeys(_file(domain, t) for t in domain.tables if not t.lists):
        try:
            stat = path.stat()
        except OSError as e:
            raise SourceError(f"the file cannot be read: {e.strerror}.", endpoint=str(path)) from e
        marks.append(f"{path}:{stat.st_size}:{stat.st_mtime_ns}")
    return "files:" + ";".join(marks)


def stated(domain: Domain, table: Table) -> tuple[str, dt.datetime]:
    """Return the file, as the domain names it, that the rows of `table` come from, and when it was last changed."""
    assert isinstance(domain.source, Files)
    origin = domain.table(table.lists[0].partition(".")[0]) if table.lists else table
    path = _file(domain, origin)
    changed = dt.datetime.fromtimestamp(path.stat().st_mtime, dt.UTC)
    return path.name, changed


def attach(con: duckdb.DuckDBPyConnection, domain: Domain) -> None:
    """Attach the database of `domain`, as it is now, if it has one. Raises SourceError."""
    path = _database(domain)
    if path is None or _is_sqlite(path):
        return
    name = _alias(path)
    with _said(path):
        con.execute(f"DETACH DATABASE IF EXISTS {name}")
        con.execute(f"ATTACH {_quoted(str(path))} AS {name} (READ_ONLY)")


def make_tables(con: duckdb.DuckDBPyConnection, domain: Domain) -> None:
    """Make a table or a view for each table of `domain` in the schema of its name; `attach` comes first.

    Raises SourceError naming the file, and what it lacks.
    """
    for table in domain.tables:
        if not table.lists:
            _make(con, domain, table)
    for table in domain.tables:
        if table.lists:
            column = _name(table.columns[0].name)
            listed = (o.partition(".") for o in table.lists)
            parts = (f"SELECT {_name(c)} AS {column} FROM {_name(domain.name)}.{_name(t)}" for t, _, c in listed)
            rows = f"SELECT DISTINCT {column} FROM ({' UNION ALL '.join(parts)}) WHERE {column} IS NOT NULL ORDER BY 1"
            con.execute(f"CREATE TABLE {_name(domain.name)}.{_name(table.name)} AS {rows}")


def _make(con: duckdb.DuckDBPyConnection, domain: Domain, table: Table) -> None:
    path, target = _file(domain, table), f"{_name(domain.name)}.{_name(table.name)}"
    is_text = _database(domain) is None and _suffix(path) != ".parquet"
    with _said(path):
        if _database(domain) is None:
            rows = _scan(path)
        elif _is_sqlite(path):
            _copy(con, path, table, target)
            return
        else:
            rows = f"{_alias(path)}.{_dotted(table.origin or table.name)}"
            if not _is_known(con, rows):
                raise SourceError(f"there is no table '{table.origin or table.name}' in it.", endpoint=str(path))
        has = [name for name, *_ in con.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()]
        shown = _columns(table, has, path, read=is_text)
        kept = is_text and path.stat().st_size <= _LARGE
        con.execute(f"CREATE {'TABLE' if kept else 'VIEW'} {target} AS SELECT {shown} FROM {rows}")


def _is_known(con: duckdb.DuckDBPyConnection, rows: str) -> bool:
    try:
        con.execute(f"SELECT 1 FROM {rows} LIMIT 0").fetchall()
    except duckdb.CatalogException:
        return False
    return True


def _columns(table: Table, has: Sequence[str], path: Path, *, read: bool) -> str:
    """What is selected for the columns of `table` from rows that have the columns `has`; `read`: they are text."""
    by_lower = {name.lower(): name for name in has}
    shown: dict[str, str] = {}
    for c in table.columns:
        stored = by_lower.get((c.origin or c.name).lower())
        if stored is not None:
            shown[c.name] = _cast(_name(stored), c, read)
        elif c.year_of and not c.origin:
            shown[c.name] = f"CAST(year({shown[c.year_of]}) AS {c.type})"
        elif c.of and not c.origin:
            shown[c.name] = expression(c, shown)
        else:
            said = f"{table.name}: it has no column '{c.origin or c.name}'.{suggest(c.origin or c.name, has)}"
            raise SourceError(said, endpoint=str(path))
    return ", ".join(f"{value} AS {_name(name)}" for name, value in shown.items())


def _cast(value: str, column: Column, read: bool) -> str:
    if read and column.type != "TEXT":
        # a bare cast becomes the type that DuckDB 2.0 reads a CSV file with, and then fails for what cannot be cast
        value = f"trim(CAST({value} AS VARCHAR))"
    value = f"TRY_CAST({value} AS {column.type})"
    if column.null_when:
        nothing = ", ".join(_literal(v) for v in column.null_when)
        value = f"CASE WHEN {value} IN ({nothing}) THEN NULL ELSE {value} END"
    return value


# -- files ---------------------------------------------------------------------------------------------------------


def _database(domain: Domain) -> Path | None:
    """The database that holds the tables of `domain`, if one does."""
    assert isinstance(domain.source, Files)
    path = place(domain.source)
    return path if domain.source.file and _suffix(path) not in _READERS else None


def _file(domain: Domain, table: Table) -> Path:
    """The file with the rows of `table`."""
    assert isinstance(domain.source, Files)
    path = place(domain.source)
    if domain.source.file:
        return path
    there = [p for p in _candidates(path, table) if table.origin or p.exists()]
    if len(there) != 1:
        said = "no file" if not there else "more than one file"
        raise SourceError(f"there is {said} for the table {table.name} in it.", endpoint=str(path))
    return there[0]


def _candidates(directory: Path, table: Table) -> list[Path]:
    """The files that may hold the rows of `table`."""
    if table.origin:
        return [directory / table.origin]
    return [directory / f"{table.name}{suffix}{gz}" for suffix in _READERS for gz in ("", ".gz")]


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _scan(path: Path) -> str:
    reader = _READERS.get(_suffix(path))
    if reader is None:
        raise SourceError(
            f"'{path.suffix}' is no kind of table file; there is {', '.join(_READERS)}.", endpoint=str(path)
        )
    return reader.format(_quoted(str(path)))


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as f:
            return f.read(16) == b"SQLite format 3\0"
    except OSError as e:
        raise SourceError(f"the file cannot be read: {e.strerror}.", endpoint=str(path)) from e


def _copy(con: duckdb.DuckDBPyConnection, path: Path, table: Table, target: str) -> None:
    """Copy a table of a SQLite database, of which DuckDB's wheel has no reader."""
    origin = table.origin or table.name
    with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as lite:
        has = [str(row[1]) for row in lite.execute(f"PRAGMA table_info({_name(origin)})")]
        if not has:
            raise SourceError(f"there is no table '{origin}' in it.", endpoint=str(path))
        con.execute(f"CREATE TEMP TABLE lite ({', '.join(f'{_name(c)} VARCHAR' for c in has)})")
        try:
            shown = _columns(table, has, path, read=True)
            # as text: a column of SQLite holds values of any type, and our types are declared
            texts = ", ".join(f"CAST({_name(c)} AS TEXT)" for c in has)
            rows = lite.execute(f"SELECT {texts} FROM {_name(origin)}")
            appender = con.appender("temp.lite")
            while batch := rows.fetchmany(_BATCH):
                appender.append_rows(batch)
            appender.flush()
            con.execute(f"CREATE TABLE {target} AS SELECT {shown} FROM temp.lite")
        finally:
            con.execute("DROP TABLE temp.lite")


@contextlib.contextmanager
def _said(path: Path) -> Iterator[None]:
    """Say which file an error is about."""
    try:
        yield
    except (duckdb.Error, sqlite3.Error) as e:
        first = (str(e).splitlines() or [type(e).__name__])[0]
        raise SourceError(f"the file cannot be read: {first}", endpoint=str(path)) from e


# -- SQL -----------------------------------------------------------------------------------------------------------


def _alias(path: Path) -> str:
    return "_file_" + hashlib.sha256(str(path).encode()).hexdigest()[:12]


def _dotted(name: str) -> str:
    """A name in a database, perhaps with its schema."""
    return ".".join(map(_name, name.split(".")))


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _literal(value: Scalar) -> str:
    return _quoted(value) if isinstance(value, str) else str(value)
