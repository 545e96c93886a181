"""The parts of a domain file that speak of tables in files: its `source`, and what says where a table's rows are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from kg.domain import Files
from kg.load.forms import Key, Listing, Text
from kg.load.nodes import Map, Problems, suggest

FILE_KEYS = {
    "file": Key(Text(), "A database (DuckDB, SQLite) or a table (CSV, JSON, Parquet), beside this file."),
    "directory": Key(Text(), "A directory with a file (CSV, JSON, Parquet) for each table, beside this file."),
}
TABLE_KEYS = {
    "from": Key(Text(), "The file, or the table of a database, with its rows, if it has another name."),
    "lists": Key(
        Listing(Text(r"[a-z0-9_]+\.[a-z0-9_]+", "table.column")),
        "The columns of other tables whose values are its rows.",
    ),
}
COLUMN_KEYS = {"from": Key(Text(), "Its name in the file, if another.")}


def files_of(raw: Map, home: Path) -> Files | None:
    """Return the files that a checked `raw` declares in a domain file of the directory `home`, if any."""
    return Files(raw.get("file", ""), raw.get("directory", ""), str(home)) if FILE_KEYS.keys() & raw.keys() else None


def check_files(raw: Map, problems: Problems) -> None:
    """Add to `problems` what is wrong with the files, or said of files where there are none."""
    source, tables = raw.get("source"), raw.get("tables", Map(raw.line))
    if source is None:
        return
    if not FILE_KEYS.keys() & source.keys():
        for place, line in _said_of_files(tables):
            problems.add(line, f"{place}: the source is no file.")
    else:
        for part in ("objects", "fetches"):
            if part in raw:
                problems.add(raw.at[part], f"{part}: tables in files need no calls.")
        for name, table in tables.items():
            _check_origin(f"tables.{name}", table, tables, problems)


def _said_of_files(tables: Map) -> Iterator[tuple[str, int]]:
    for name, table in tables.items():
        yield from ((f"tables.{name}.{key}", table.at[key]) for key in TABLE_KEYS if key in table)
        for column, c in table.get("columns", {}).items():
            yield from ((f"tables.{name}.columns.{column}.{key}", c.at[key]) for key in COLUMN_KEYS if key in c)


def _check_origin(place: str, table: Map, tables: Map, problems: Problems) -> None:
    origin = PurePath(table.get("from", ""))
    if origin.is_absolute() or ".." in origin.parts:
        problems.add(table.at["from"], f"{place}.from: '{origin}' is outside the source; name a file in it.")
    if "lists" not in table:
        return
    if len(table.get("columns", ())) > 1 or "from" in table:
        problems.add(table.at["lists"], f"{place}.lists: a table of the values of columns has one column, and no file.")
    for other, line in zip(table["lists"], table["lists"].at, strict=True):
        name, _, column = other.partition(".")
        if name not in tables:
            problems.add(line, f"{place}.lists: '{name}' is not a table.{suggest(name, tables)}")
        elif "lists" in tables[name]:
            problems.add(line, f"{place}.lists: the rows of {name} are listed themselves; name where they come from.")
        elif column not in (columns := tables[name].get("columns", {})):
            problems.add(line, f"{place}.lists: '{column}' is not a column of {name}.{suggest(column, columns)}")
