"""Carry out a plan: make the calls that the ledger does not cover, and store what comes back.

Calls of one step run in parallel where the source likes it. Whatever has arrived is committed together with its
ledger entry, so a killed process, Ctrl-C or a failing call loses at most the calls in flight.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from kg import shapes
from kg.domain import Column, Domain, Fetch
from kg.errors import BadReply, BudgetExceeded, DeadlineExceeded, QueryError
from kg.ledger import Call, Entry, call_of
from kg.plan.inputs import as_input, limits_of, within
from kg.plan.physical import duckdb_sql
from kg.plan.steps import Lookup, Plan, Step
from kg.sources.base import Source
from kg.store import Arrival, Store

# In-process calls are answered faster than one by one they could be stored: so many, or for so long, are gathered.
BATCH = 2048
BATCH_SECONDS = 0.05
MAX_INPUTS = 1_000_000


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


@dataclass(frozen=True)
class Calls:
    """The calls of a step, and whether some that were wanted are outside what the API takes."""

    calls: list[Call]
    clipped: bool


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
        self.store.expire(self.domain, now)
        for step in plan.steps:
            self._step(step, done, limits, now)
        done.seconds = time.monotonic() - started
        return done

    def calls(self, step: Step, limits: Limits) -> Calls:
        """The calls of `step`, given what earlier steps have stored. Raises BudgetExceeded if they are far too many."""
        fetch = step.access.fetch
        table = self.domain.table(step.access.table)
        takes = [
            (table.column(need), limits_of(fetch, arg))
            for need, (arg, _) in zip(step.access.needs, fetch.args, strict=True)
        ]
        parts, clipped, order = [], step.clipped, []
        for places in step.together:
            values = self._values(places, [takes[p][0] for p in places], step, limits)
            inside = [v for v in values if all(within([x], takes[p][1]) for p, x in zip(places, v, strict=True))]
            clipped = clipped or len(inside) < len(values)
            parts.append(inside)
            order += [fetch.args[p][1] for p in places]
        wanted = math.prod(map(len, parts))
        if wanted > max(MAX_INPUTS, limits.max_calls):
            raise BudgetExceeded(step.access.table, wanted, limits.max_calls)
        bound = (dict(zip(order, itertools.chain(*values), strict=True)) for values in itertools.product(*parts))
        return Calls([call_of(fetch, self.domain.name, values) for values in bound], clipped)

    def _values(
        self, places: Sequence[int], columns: Sequence[Column], step: Step, limits: Limits
    ) -> list[tuple[Any, ...]]:
        """The values of the inputs at `places`, which come together, each once, as the API wants them."""
        values: dict[tuple[Any, ...], None] = {}
        for source in step.sources[places[0]]:
            if isinstance(source, Lookup):
                sql = duckdb_sql(source.query, self.domain)
                found = self.store.run(sql, max_rows=MAX_INPUTS, timeout=max(limits.left(), 0.01))
                if found.cut_off:
                    raise BudgetExceeded(step.access.table, MAX_INPUTS, limits.max_calls)
                # in a fixed order, so that the same question makes the same calls
                rows = {tuple(map(as_input, row, columns)) for row in found.rows}
                values.update(dict.fromkeys(sorted(row for row in rows if None not in row)))
            else:
                values.update(((v,), None) for v in source)
        return list(values)

    def _step(self, step: Step, done: Filled, limits: Limits, now: dt.datetime) -> None:
        fetch, table = step.access.fetch, step.access.table
        wanted = self.calls(step, limits)
        covering = [self.store.ledger.covers(c, fetch, self.domain, now) for c in wanted.calls]
        needed = [c for c, e in zip(wanted.calls, covering, strict=True) if e is None]
        done.covered += len(wanted.calls) - len(needed)
        if len(done.made) + len(needed) > limits.max_calls:
            raise BudgetExceeded(table, len(done.made) + len(needed), limits.max_calls)
        gathered = _Gathered(self, fetch, now, done)
        if self.source.parallel <= 1 or len(needed) <= 1:
            self._in_turn(fetch, needed, limits, gathered)
        else:
            self._in_parallel(fetch, needed, limits, gathered)
        if gathered.bad is not None:
            raise gathered.bad
        for call in wanted.calls:
            entry = self.store.ledger.covers(call, fetch, self.domain, now)
            if entry is None:  # another session's clock or domain file has dropped it in the meantime
                raise QueryError(f"{table} was changed while it was read.", hint="Ask again.")
            done.entries[entry.id] = entry
            if fetch.search and entry.cut_off:
                done.gaps.append(Gap(table, "cut_off", f"the search for {call.text} was cut off at {fetch.search}"))
        if wanted.clipped:
            done.gaps.append(Gap(table, "clipped", f"{fetch.name} does not reach every value asked for"))

    def _in_turn(self, fetch: Fetch, calls: Sequence[Call], limits: Limits, gathered: _Gathered) -> None:
        try:
            for call in calls:
                gathered.add(call, self._call(fetch, call, limits))
                if gathered.bad is not None:
                    break
        finally:
            gathered.commit()  # on Ctrl-C too

    def _in_parallel(self, fetch: Fetch, calls: Sequence[Call], limits: Limits, gathered: _Gathered) -> None:
        """Store replies as they come. After a failure those under way are waited for and kept, no more are begun."""
        pool = ThreadPoolExecutor(self.source.parallel)
        running = {pool.submit(self._call, fetch, c, limits): c for c in calls}
        failed: BaseException | None = None
        try:
            while running:
                ready, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    call, error = running.pop(future), future.exception()
                    failed = failed or error
                    if error is None:
                        gathered.add(call, future.result())
                gathered.commit()
                if failed is not None or gathered.bad is not None:
                    running = {f: c for f, c in running.items() if not f.cancel()}
        finally:
            # on Ctrl-C those under way are not waited for
            pool.shutdown(wait=not running, cancel_futures=True)
            gathered.commit()
        if failed is not None:
            raise failed

    def _call(self, fetch: Fetch, call: Call, limits: Limits) -> Any:
        left = limits.left()
        if left <= 0:
            raise DeadlineExceeded("the time for this question is up", endpoint=fetch.endpoint)
        args: dict[str, Any] = dict(fetch.fixed)
        for name, value in call.args:
            value = str(value) if name in fetch.as_text else value
            args[name] = [value] if name in fetch.as_list else value
        return self.source.call(fetch.endpoint, args, timeout=left)


class _Gathered:
    """Replies on their way into the store. `bad` is what is wrong with one of them; the others are stored."""

    def __init__(self, fetcher: Fetcher, fetch: Fetch, now: dt.datetime, done: Filled):
        self.domain, self.store = fetcher.domain, fetcher.store
        self.fetch, self.now, self.done = fetch, now, done
        self.bad: BadReply | None = None
        self._arrivals: list[Arrival] = []
        self._committed = time.monotonic()

    def add(self, call: Call, reply: Any) -> None:
        try:
            found = shapes.objects(reply, self.fetch, self.domain, dict(call.args))
            self._arrivals.append(Arrival(call, self.fetch, found, self._cut_off(found), self.now))
        except BadReply as e:
            self.bad = self.bad or e
        if len(self._arrivals) >= BATCH or time.monotonic() - self._committed > BATCH_SECONDS:
            self.commit()

    def _cut_off(self, found: list[shapes.Found]) -> bool:
        """Whether there may be more of what was searched for than came.

        A search puts what matches before what is only similar: if it went on to the latter, all of the former came.
        If nothing matches, it proves nothing.
        """
        if not self.fetch.search or len(found) < self.fetch.search:
            return False
        matching = sum(shapes.matches(f, self.fetch, self.domain) for f in found)
        return matching in (0, len(found))

    def commit(self) -> None:
        """Store what was taken, but for replies that are not as declared."""
        waiting, self._arrivals = [self._arrivals], []
        self._committed = time.monotonic()
        while waiting:
            arrivals = waiting.pop()
            try:
                self.store.add(self.domain, arrivals)
                self.done.made += [a.call for a in arrivals]
            except BadReply as e:
                self.bad = self.bad or e
                if len(arrivals) > 1:
                    half = len(arrivals) // 2
                    waiting += [arrivals[:half], arrivals[half:]]
