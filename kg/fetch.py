"""Carry out a plan: make the calls that the ledger does not cover, and store what comes back.

Calls of one step run in parallel where the source likes it. Whatever has arrived is committed together with its
ledger entry, so a killed process, Ctrl-C or a failing call loses at most the calls in flight.
"""

from __future__ import annotations

import datetime as dt
import itertools
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from . import shapes
from .domain import Domain, Fetch
from .errors import BudgetExceeded, DeadlineExceeded
from .ledger import Call, Entry, Key, call_of
from .physical import physical
from .plan import Lookup, Plan, Step
from .sources.base import Source
from .store import Arrival, Store

# In-process calls are answered faster than they can be stored: this many are committed at once.
BATCH = 512


@dataclass(frozen=True)
class Limits:
    """What one question may use: calls, and seconds until `deadline` (of time.monotonic())."""

    max_calls: int
    deadline: float

    def left(self) -> float:
        return self.deadline - time.monotonic()


@dataclass(frozen=True)
class Gap:
    """A region that is not wholly known, and why: cut_off (a search's top n), clipped (outside the API's range)."""

    table: str
    reason: str
    detail: str

    def __str__(self) -> str:
        return f"{self.table}: {self.detail}"


@dataclass
class Filled:
    """What was done for a plan: calls made, calls the ledger already covered, entries used, gaps left."""

    made: list[Call] = field(default_factory=list)
    covered: int = 0
    entries: dict[int, Entry] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    seconds: float = 0.0


class Fetcher:
    """Fills the tables of one domain."""

    def __init__(self, domain: Domain, source: Source, store: Store):
        self.domain, self.source, self.store = domain, source, store

    def fill(self, plan: Plan, limits: Limits, now: dt.datetime) -> Filled:
        """Make every call of `plan` that is needed at `now`.

        Raises BudgetExceeded before the first call too many, SourceError when a call fails (what arrived before
        it is kept), DeadlineExceeded when time is up.
        """
        done = Filled()
        started = time.monotonic()
        for step in plan.steps:
            self._step(step, done, limits, now)
        done.seconds = time.monotonic() - started
        return done

    def calls(self, step: Step) -> list[Call]:
        """The calls of `step`, given what earlier steps have stored."""
        columns = [self._values(sources) for sources in step.sources]
        inputs = [source for _, source in step.access.fetch.args]
        return [
            call_of(step.access.fetch, self.domain.name, dict(zip(inputs, values, strict=True)))
            for values in itertools.product(*columns)
        ]

    def _values(self, sources: tuple[Any, ...]) -> list[Any]:
        values: dict[Any, None] = {}
        for source in sources:
            if isinstance(source, Lookup):
                found = self.store.run(physical(source.query, self.domain).sql("duckdb"), max_rows=1_000_000)
                values.update((_plain(row[0]), None) for row in found.rows if row[0] is not None)
            else:
                values.update((v, None) for v in source)
        return list(values)

    def _step(self, step: Step, done: Filled, limits: Limits, now: dt.datetime) -> None:
        fetch = step.access.fetch
        calls = self.calls(step)
        entries = [self.store.ledger.covers(c, fetch, self.domain, now) for c in calls]
        needed = [c for c, e in zip(calls, entries, strict=True) if e is None]
        done.covered += len(calls) - len(needed)
        if len(done.made) + len(needed) > limits.max_calls:
            raise BudgetExceeded(step.access.table, len(done.made) + len(needed), limits.max_calls)
        for batch in self._answers(fetch, needed, limits):
            seen: set[Key] = set()
            self.store.add(self.domain, [self._arrival(fetch, call, reply, seen, now) for call, reply in batch])
            done.made += [call for call, _ in batch]
        for call in calls:
            entry = self.store.ledger.covers(call, fetch, self.domain, now)
            if entry is not None:
                done.entries[entry.id] = entry
                if fetch.search and entry.cut_off:
                    said = f"the search for {call.text} was cut off at {fetch.search}"
                    done.gaps.append(Gap(step.access.table, "cut_off", said))
        if step.clipped:
            done.gaps.append(Gap(step.access.table, "clipped", f"{fetch.name} does not reach every value asked for"))

    def _answers(self, fetch: Fetch, calls: Sequence[Call], limits: Limits) -> Iterator[list[tuple[Call, Any]]]:
        """Yield replies in groups, as they come. On a failure what has come is yielded before it is raised."""
        if self.source.parallel <= 1 or len(calls) <= 1:
            yield from self._one_by_one(fetch, calls, limits)
            return
        with ThreadPoolExecutor(self.source.parallel) as pool:
            running = {pool.submit(self._call, fetch, c, limits): c for c in calls}
            try:
                while running:
                    ready, _ = wait(running, return_when=FIRST_COMPLETED)
                    failed = next((f for f in ready if f.exception() is not None), None)
                    yield [(running.pop(f), f.result()) for f in ready if f.exception() is None]
                    if failed is not None:
                        failed.result()
            finally:
                _cancel(running)

    def _one_by_one(self, fetch: Fetch, calls: Sequence[Call], limits: Limits) -> Iterator[list[tuple[Call, Any]]]:
        batch: list[tuple[Call, Any]] = []
        try:
            for call in calls:
                batch.append((call, self._call(fetch, call, limits)))
                if len(batch) >= BATCH:
                    full, batch = batch, []
                    yield full
        except Exception:
            if batch:
                yield batch
            raise
        if batch:
            yield batch

    def _call(self, fetch: Fetch, call: Call, limits: Limits) -> Any:
        left = limits.left()
        if left <= 0:
            raise DeadlineExceeded("the time for this question is up", endpoint=fetch.endpoint)
        args = {k: str(v) if k in fetch.as_text else v for k, v in call.args}
        return self.source.call(fetch.endpoint, args, timeout=left)

    def _arrival(self, fetch: Fetch, call: Call, reply: Any, seen: set[Key], now: dt.datetime) -> Arrival:
        """Return `reply` as rows; `seen` are the objects that earlier replies of the same batch have brought."""
        args = dict(call.args)
        found = {f.key: f for f in shapes.objects(reply, fetch, self.domain, args)}
        ledger = self.store.ledger
        held = {k: ledger.holds(self.domain.name, fetch.gives, k) for k in found}
        # an object that is stored and fresh came again: its rows stay as they are
        new = [f for k, f in found.items() if k not in seen and ((e := held[k]) is None or not e.fresh(now))]
        seen.update(found)
        obj = self.domain.object_by_name[fetch.gives]
        rows = shapes.rows(new, obj, self.domain, args, fetch.endpoint)
        cut_off = bool(fetch.search) and len(found) >= fetch.search
        return Arrival(call, fetch.gives, list(found), [f.key for f in new], rows, cut_off, now)


def _cancel(running: dict[Future[Any], Call]) -> None:
    for future in running:
        future.cancel()


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, (dt.date, dt.datetime)) else value
