"""How fast replies become stored rows, next to DuckDB's own appender given the same rows ready-made.

    python -m benchmarks.fill
    python -m benchmarks.fill --base ../shared/cragkg

Takes every movie of a data directory in CRAG's layout ($KG_BASE_DIRECTORY if --base is not given, else the bundled
sample, often over) as the reply of a call of its own. Ours is all that happens to a reply: objects, columns, types,
ledger entries, one transaction. The appender has nothing to do but append. The ratio is what counts; both run in turn
several times, and the best of each is taken.

After that, for each shape in which APIs write tables (kg/shapes/frames.py), 100,000 made-up rows of prices from one
reply.
"""

from __future__ import annotations

import argparse
import datetime as dt
import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from kg.domain import Column, Domain, Fetch, Fill, Object, Shape, Table
from kg.fetch import BATCH
from kg.ledger import call_of
from kg.load import BUILT_IN, load_domain
from kg.shapes import Row, columns, objects
from kg.sources import SAMPLE
from kg.store import Arrival, Store

NOW = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
AT_LEAST = 5_000  # movies
RUNS = 5
SHAPED = 100_000  # rows
FIELDS = ("open", "high", "low", "close", "volume")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fill", description=__doc__)
    parser.add_argument("--base", type=Path, default=os.environ.get("KG_BASE_DIRECTORY") or SAMPLE)
    base = Path(parser.parse_args(argv).base)
    domain = load_domain(BUILT_IN / "movie.yaml")
    movies = read(base)
    ready = ready_made(domain, movies)
    count = sum(map(len, ready.values()))
    gc.freeze()  # or every collection would walk through the replies, which nobody else keeps
    ours, appender = 1e9, 1e9
    for _ in range(RUNS):
        appender = min(appender, append(domain, ready))
        ours = min(ours, fill(domain, movies))
    gc.unfreeze()
    print(f"{len(movies):,} movies of {base.name}, {count:,} rows")
    print(f"replies to rows, stored: {ours:.2f} s, {count / ours:,.0f} rows/s")
    print(f"DuckDB's appender:       {appender:.2f} s, {count / appender:,.0f} rows/s")
    print(f"ratio: {appender / ours:.2f} of the appender's speed")
    for shape, reply in prices().items():
        print(f"{SHAPED:,} rows of the shape {shape}, stored: {min(store(shape, reply) for _ in range(RUNS)):.2f} s")
    return 0


def read(base: Path) -> list[dict[str, Any]]:
    """The movies; of a small directory often enough, each time with other ids."""
    movies = list(json.loads((base / "movie" / "movie_db.json").read_text(encoding="utf-8")).values())
    again = range(-(-AT_LEAST // len(movies)))
    return [{**m, "id": m["id"] + 10_000_000 * i} for i in again for m in movies]


def arrivals(domain: Domain, movies: list[dict[str, Any]]) -> list[Arrival]:
    fetch = next(f for f in domain.fetches if f.name == "movie_by_id")
    out = []
    for m in movies:
        call = call_of(fetch, domain.name, {"id": m["id"]})
        out.append(Arrival(call, fetch, objects(m, fetch, domain, dict(call.args)), False, NOW))
    return out


def fill(domain: Domain, movies: list[dict[str, Any]]) -> float:
    """The seconds that storing takes, batch by batch as the fetcher does it."""
    store = Store()
    store.open_domain(domain, "")
    started = time.perf_counter()
    for start in range(0, len(movies), BATCH):
        store.add(domain, arrivals(domain, movies[start : start + BATCH]))
    seconds = time.perf_counter() - started
    store.close()
    return seconds


def prices() -> dict[Shape, Any]:
    """Shape to a reply of that shape with the same prices, by the minute."""
    begin = dt.datetime.fromisoformat("2024-01-01")
    at = [f"{begin + dt.timedelta(minutes=i)} EST" for i in range(SHAPED)]
    rows = {t: {f: i + n / 10 for n, f in enumerate(FIELDS)} for i, t in enumerate(at)}
    by_column = {f: {t: row[f] for t, row in rows.items()} for f in FIELDS}
    return {
        "entries": rows,
        "columns": by_column,
        "parallel": [at, *(list(cells.values()) for cells in by_column.values())],
        "tuple": [[t, *row.values()] for t, row in rows.items()],
    }


def store(shape: Shape, reply: Any) -> float:
    """The seconds from a reply to rows in a table."""
    index = {"entries": "key", "columns": "index"}.get(shape, "at")
    numbers = tuple(Column(f, "DOUBLE", "a price") for f in FIELDS)
    columns = (Column("ticker", "TEXT", "its ticker"), Column("at", "TIMESTAMP", "the minute"), *numbers)
    names = ("at", *FIELDS) if shape in ("parallel", "tuple") else ()
    each = "$[*]" if shape == "tuple" else "$"
    fill_ = Fill("price", each, (("ticker", "@query"), ("at", index)), shape=shape, names=names)
    fetch = Fetch("prices", "/prices", "prices", (("query", "ticker"),))
    table = Table("price", "One row per minute.", ("ticker", "at"), columns)
    domain = Domain("market", "Prices.", "none", (table,), (Object("prices", ("@query",), (fill_,)),), (fetch,), shape)
    call = call_of(fetch, domain.name, {"ticker": "ABC"})
    stored = Store()
    stored.open_domain(domain, "")
    started = time.perf_counter()
    stored.add(domain, [Arrival(call, fetch, objects(reply, fetch, domain, dict(call.args)), False, NOW)])
    seconds = time.perf_counter() - started
    stored.close()
    return seconds


def ready_made(domain: Domain, movies: list[dict[str, Any]]) -> dict[str, list[Row]]:
    fetch = next(f for f in domain.fetches if f.name == "movie_by_id")
    found = [f for a in arrivals(domain, movies) for f in a.found]
    filled = columns(found, range(len(found)), fetch, domain)
    return {name: list(zip(*(np.array(c, dtype=object) for c in cells), strict=True)) for name, cells in filled.items()}


def append(domain: Domain, ready: dict[str, list[Row]]) -> float:
    """The seconds that appending ready-made rows to the same tables takes, in one transaction."""
    con = duckdb.connect()
    for name in ready:
        columns = ", ".join(f'"{c.name}" {c.type}' for c in domain.table(name.partition("__")[0]).columns)
        con.execute(f'CREATE TABLE "{name}" ({columns}, _call BIGINT)')
    started = time.perf_counter()
    con.begin()
    for name, stored in ready.items():
        appender = con.appender(f'"{name}"')
        appender.append_rows(stored)
        appender.flush()
    con.commit()
    seconds = time.perf_counter() - started
    con.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
