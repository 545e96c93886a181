"""A domain's knowledge graph: a program in, rows out, with the calls that were needed in between."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlglot import exp

from kg.check import check
from kg.dialect import parse, to_calls, to_sql
from kg.domain import Access, Domain, Files, Scalar
from kg.errors import BudgetExceeded, SourceError
from kg.fetch import Fetcher, Filled, Gap, Limits
from kg.ledger import Entry
from kg.plan import plan
from kg.plan.physical import duckdb_sql
from kg.plan.steps import CALL, PARTITION, Lookup, Plan, Step
from kg.shapes import Row
from kg.sources.base import Source
from kg.store import Rows, Store

EXPLAIN_SECONDS = 5.0  # for the queries that give a step's inputs


REMEMBERED = 256  # plans and results kept for programs that are run again

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Prepared:
    """A program that was read, checked and planned, and the seconds that took."""

    program: str
    tree: exp.Query
    plan: Plan
    seconds: float

    @property
    def sql(self) -> str:
        return to_sql(self.tree)


@dataclass(frozen=True)
class Result:
    """What a program returned. `columns` are output names; `gaps` say what is not wholly known.

    `complete` is False when the answer could change if the gaps were filled.
    """

    prepared: Prepared
    columns: tuple[str, ...]
    rows: list[Row]
    filled: Filled
    cut_off: bool = False
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def gaps(self) -> list[Gap]:
        return self.filled.gaps

    @property
    def complete(self) -> bool:
        return not self.gaps


class Graph:
    """One domain over one source, filled lazily into a store."""

    def __init__(self, domain: Domain, source: Source, store: Store, *, max_calls: int = 20_000):
        self.domain, self.source, self.store, self.max_calls = domain, source, store, max_calls
        self.fetcher = Fetcher(domain, source, store)
        self._opened = False
        self._prepared: dict[str, Prepared] = {}
        self._results: dict[tuple[str, int], tuple[int, Result]] = {}
        self._spelled: dict[str, str] = {}

    def open(self) -> None:
        """Make the tables. Called by the first run: a domain that is not asked about costs nothing.

        Tables in files are looked at again each time: a file may have changed. Raises SourceError if one is gone.
        """
        in_files = isinstance(self.domain.source, Files)
        if not self._opened or in_files:
            try:
                fingerprint: str | None = self.source.fingerprint()
            except SourceError:
                if in_files:
                    raise
                fingerprint = None  # a server that is away: what is stored stays, and it is asked again next time
            self.store.open_domain(self.domain, fingerprint)
            self._opened = fingerprint is not None

    def prepare(self, program: str) -> Prepared:
        """Read, check and plan `program` (either spelling), once: a plan depends on nothing else. Raises QueryError."""
        if program in self._prepared:
            return self._prepared[program]
        started = time.perf_counter()
        tree = check(parse(program, self.domain), self.domain)
        planned = plan(tree, self.domain)
        prepared = Prepared(program, tree, planned, time.perf_counter() - started)
        _remember(self._prepared, program, prepared)
        return prepared

    def run(self, program: str | Prepared, *, deadline: float, now: dt.datetime, max_rows: int = 1000) -> Result:
        """Return the rows of `program`, filling first what is missing.

        `deadline` is a moment of time.monotonic(); `now` decides which stored rows are still fresh.
        Raises QueryError for the program, SourceError for a call.
        """
        self.open()
        asked = (program if isinstance(program, str) else program.program, max_rows)
        if (again := self._again(asked, now)) is not None:
            return again
        started = time.monotonic()
        prepared = self.prepare(program) if isinstance(program, str) else program
        planned = time.monotonic() - started
        filled = self.fetcher.fill(prepared.plan, Limits(self.max_calls, deadline), now)
        version = self.store.version
        started = time.monotonic()
        rows = self._rows(prepared.plan.tree, max_rows, deadline)
        timings = {"plan": planned, "fetch": filled.seconds, "run": time.monotonic() - started}
        result = Result(prepared, rows.columns, rows.rows, filled, rows.cut_off, timings)
        _remember(self._results, asked, (version, result))
        return result

    def ask(self, access: Access, values: Iterable[Scalar], *, deadline: float, now: dt.datetime) -> Filled:
        """Make the calls of `access`, which has one input, for each of `values`, but for those the ledger covers.

        For who wants this very call, where the planner might choose another. Raises SourceError.
        """
        self.open()
        step = Step(access, ((tuple(values),),), 1.0)
        return self.fetcher.fill(Plan(exp.select(), (step,)), Limits(self.max_calls, deadline), now)

    def _again(self, asked: tuple[str, int], now: dt.datetime) -> Result | None:
        """The result of the same program over the same rows, while every call it rests on is fresh."""
        version, result = self._results.get(asked, (-1, None))
        if result is None or version != self.store.version:
            return None
        if not all(e.fresh(now) for e in result.filled.entries.values()):
            return None
        covered = result.filled.covered + len(result.filled.made)
        return replace(result, filled=replace(result.filled, made=[], covered=covered, seconds=0.0), timings={})

    def _rows(self, tree: exp.Query, max_rows: int, deadline: float) -> Rows:
        timeout = max(deadline - time.monotonic(), 0.01)
        return self.store.run(duckdb_sql(tree, self.domain), max_rows=max_rows, timeout=timeout)

    def explain(self, program: str, *, now: dt.datetime) -> list[Explained]:
        """Return what `program` would cost at `now`, step by step, without making a call.

        The calls of a step are exact unless what earlier ones will bring decides them; then they are an estimate.
        """
        prepared = self.prepare(program)
        self.open()
        limits = Limits(self.max_calls, time.monotonic() + EXPLAIN_SECONDS)
        out: list[Explained] = []
        coming: set[str] = set()  # objects that calls not yet made will bring
        for step in prepared.plan.steps:
            gives = step.access.fetch.gives
            if coming and (gives in coming or any(isinstance(i, Lookup) for source in step.sources for i in source)):
                out.append(Explained(str(step), round(step.calls), 0, exact=False))
                continue
            try:
                calls = self.fetcher.calls(step, limits).calls
            except BudgetExceeded as e:
                out.append(Explained(str(step), e.needed, 0, exact=True))
                coming.add(gives)
                continue
            ledger, fetch = self.store.ledger, step.access.fetch
            covered = sum(ledger.covers(c, fetch, self.domain, now) is not None for c in calls)
            out.append(Explained(str(step), len(calls), covered, exact=True))
            if covered < len(calls):
                coming.add(gives)
        return out

    def requests(self, result: Result) -> list[list[Entry]]:
        """For each row of `result`, the calls its values came from.

        Exact for a plain SELECT over stored tables; for groups, sets and CTEs it is every call the query read.
        """
        everything = list(result.filled.entries.values())
        tree = result.prepared.plan.tree
        traced = _with_calls(tree)
        if traced is None:
            return [everything] * len(result.rows)
        rows = self._rows(traced, len(result.rows), time.monotonic() + 5).rows
        width = len(result.columns)
        if [r[:width] for r in rows] != result.rows:
            return [everything] * len(result.rows)
        return [self.store.entries(sorted(set(_flat(r[width:])) - {None})) for r in rows]

    def spell(self, prepared: Prepared) -> str:
        """The program in the call spelling, where it has one."""
        if prepared.program not in self._spelled:
            _remember(self._spelled, prepared.program, to_calls(prepared.tree, self.domain))
        return self._spelled[prepared.program]


@dataclass(frozen=True)
class Explained:
    """One step of EXPLAIN: what it asks, how many calls, how many of these the ledger covers."""

    step: str
    calls: int
    covered: int
    exact: bool

    def __str__(self) -> str:
        count = f"{'' if self.exact else 'about '}{self.calls:,} call{'s' * (self.calls != 1)}"
        return f"{self.step}: {count}" + (f", {self.covered:,} covered" if self.covered else "")


def _with_calls(tree: exp.Query) -> exp.Query | None:
    """`tree` with the call of every table added as columns at the end; None where rows are not one to one."""
    if (
        not isinstance(tree, exp.Select)
        or tree.args.get("with_")
        or tree.args.get("group")
        or tree.args.get("distinct")
    ):
        return None
    if any(p.find(exp.AggFunc, exp.Window) for p in tree.selects):
        return None
    sources = [tree.args["from_"].this] if tree.args.get("from_") else []
    sources += [j.this for j in tree.args.get("joins") or ()]
    if not sources or not all(isinstance(s, exp.Table) for s in sources):
        return None
    traced = tree.copy()
    for i, s in enumerate(sources):
        if s.meta.get(PARTITION) == s.name:
            continue  # a table in place: no call brought it
        traced = traced.select(exp.alias_(exp.column(CALL, s.alias_or_name, quoted=True), f"call_{i}"), copy=False)
    return traced


def _flat(calls: Iterable[Any]) -> Iterator[Any]:
    """The ids of calls; a row that is joined from pieces has a list of them."""
    for c in calls:
        yield from c if isinstance(c, list) else (c,)


def _remember(kept: dict[K, V], key: K, value: V) -> None:
    """Keep `value`, and not more than REMEMBERED of its kind: the oldest goes."""
    if len(kept) >= REMEMBERED:
        kept.pop(next(iter(kept)), None)
    kept[key] = value
