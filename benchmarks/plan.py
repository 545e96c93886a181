"""How long a program takes to be read, checked, planned and made into DuckDB's SQL: `python -m benchmarks.plan`.

Five queries of the movie domain, from a look-up to three joins and a subquery. Milliseconds, the median of many runs;
nothing is fetched.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
from collections.abc import Sequence

from kg.check import check
from kg.dialect import parse
from kg.load import BUILT_IN, load_domain
from kg.plan import plan
from kg.plan.physical import duckdb_sql

RUNS = 50
QUERIES = {
    "a look-up": 'get_movie("titanic")[release_date]',
    "a join": (
        "SELECT c.name FROM movie m JOIN crew c ON c.movie_id = m.id WHERE m.title = 'titanic' AND c.job = 'Director'"
    ),
    "three joins": (
        "SELECT m.title, p.name, p.birthday FROM movie m JOIN crew c ON c.movie_id = m.id JOIN person p "
        "ON p.id = c.person_id JOIN genre g ON g.movie_id = m.id WHERE m.title = 'titanic' AND c.job = 'Director' "
        "AND g.name = 'Drama' ORDER BY m.revenue DESC LIMIT 3"
    ),
    "an OR of two columns": (
        "SELECT title FROM movie WHERE (title = 'titanic' OR id IN (597, 19995)) AND revenue > 1e9 "
        "AND release_date BETWEEN DATE '1990-01-01' AND DATE '2009-12-31'"
    ),
    "subqueries": (
        "WITH d AS (SELECT m.id AS id FROM crew c JOIN movie m ON m.id = c.movie_id "
        "JOIN person p ON p.id = c.person_id WHERE p.name = 'James Cameron' AND c.job = 'Director') "
        "SELECT m.title, (SELECT count(*) FROM cast c "
        "WHERE c.movie_id = m.id) AS n FROM movie m WHERE m.id IN (SELECT id FROM d) "
        "AND EXISTS (SELECT 1 FROM genre g WHERE g.movie_id = m.id AND g.name = 'Drama')"
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(prog="python -m benchmarks.plan", description=__doc__).parse_args(argv)
    domain = load_domain(BUILT_IN / "movie.yaml")
    stages = ("read", "check", "plan", "to SQL", "check + plan")
    print(f"{'':24}" + "".join(f"{s:>14}" for s in stages))
    for name, program in QUERIES.items():
        runs: list[list[float]] = []
        for _ in range(RUNS):
            marks = [time.perf_counter()]
            tree = parse(program, domain)
            marks.append(time.perf_counter())
            checked = check(tree, domain)
            marks.append(time.perf_counter())
            planned = plan(checked, domain)
            marks.append(time.perf_counter())
            duckdb_sql(planned.tree, domain)
            marks.append(time.perf_counter())
            spent = [1000 * (b - a) for a, b in itertools.pairwise(marks)]
            runs.append([*spent, spent[1] + spent[2]])
        medians = [statistics.median(column) for column in zip(*runs, strict=True)]
        print(f"{name:24}" + "".join(f"{m:>11.2f} ms" for m in medians))
    return 0


if __name__ == "__main__":
    sys.exit(main())
