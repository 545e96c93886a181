"""What is known to be stored: which calls were made, when, whether cut off, and which objects came.

The ledger is the reason a repeated question makes no call, and the reason a LIMIT, a top-10 search or a failed
call is never taken for the whole truth. Its rows are written by `kg.store` in the same transaction as the rows they
speak of; here they are only read and judged, in memory.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from kg.domain import CHANGES, Changes, Domain, Fetch
from kg.plan.days import wider

# How long a stored fact is believed. Static facts never age.
KEEP: dict[Changes, dt.timedelta | None] = {
    "static": None,
    "slow": dt.timedelta(days=30),
    "fast": dt.timedelta(hours=1),
    "real-time": dt.timedelta(seconds=30),
}

Key = tuple[Any, ...]
DAY = "2024-03-09"  # the form of the shortest period


@dataclass(frozen=True, slots=True)
class Call:
    """A call as the ledger names it: the same fetch with the same arguments is the same call."""

    domain: str
    fetch: str
    args: tuple[tuple[str, Any], ...]

    @property
    def text(self) -> str:
        return orjson.dumps(dict(self.args)).decode()

    def __str__(self) -> str:
        return f"{self.fetch}({', '.join(f'{k}={v!r}' for k, v in self.args)})"


@dataclass(frozen=True, slots=True)
class Entry:
    """One call that was answered: how many objects came, and when it expires.

    `cut_off`: there may be more of what was searched for than came.
    """

    id: int
    call: Call
    objects: int
    cut_off: bool
    fetched: dt.datetime
    expires: dt.datetime | None

    def fresh(self, now: dt.datetime) -> bool:
        return self.expires is None or now < self.expires


@dataclass
class Ledger:
    """The entries of one store: by call, by the object they brought, and by id."""

    calls: dict[Call, Entry] = field(default_factory=dict)
    objects: dict[tuple[str, str], dict[Key, Entry]] = field(default_factory=dict)
    by_id: dict[int, Entry] = field(default_factory=dict)
    first: dict[str, dt.datetime] = field(default_factory=dict)  # domain -> when the first of its entries expires

    def put(self, entry: Entry, obj: str = "", keys: Iterable[Key] = ()) -> None:
        """Note `entry`, under which the objects `keys` are stored from now on."""
        self.calls[entry.call] = self.by_id[entry.id] = entry
        ends, first = entry.expires, self.first.get(entry.call.domain)
        if ends is not None and (first is None or ends < first):
            self.first[entry.call.domain] = ends
        if held := dict.fromkeys(keys, entry):
            self.objects.setdefault((entry.call.domain, obj), {}).update(held)

    def covers(self, call: Call, fetch: Fetch, domain: Domain, now: dt.datetime) -> Entry | None:
        """The fresh entry that makes `call` unnecessary: the call itself, one that brings all it would (for fewer
        inputs, or for a period that holds the one it names), or the object it would bring."""
        for same in _broader(call, fetch, domain):
            entry = self.calls.get(same)
            if entry is not None and entry.fresh(now):
                return entry
        key = object_key(call, fetch, domain)
        entry = None if key is None else self.holds(domain.name, fetch.gives, key)
        return entry if entry is not None and entry.fresh(now) else None

    def drop(self, domain: str, ids: Container[int] | None = None) -> None:
        """Forget the entries `ids` of a domain, or all of them."""

        def kept(entry: Entry) -> bool:
            return entry.call.domain != domain or (ids is not None and entry.id not in ids)

        self.calls = {c: e for c, e in self.calls.items() if kept(e)}
        self.by_id = {i: e for i, e in self.by_id.items() if kept(e)}
        self.objects = {o: {k: e for k, e in held.items() if kept(e)} for o, held in self.objects.items()}
        self.first.pop(domain, None)
        ends = [e.expires for e in self.by_id.values() if e.call.domain == domain and e.expires is not None]
        if ends:
            self.first[domain] = min(ends)

    def expired(self, domain: str, now: dt.datetime) -> list[int]:
        """The ids of the entries of a domain that ceased to be believed before `now`."""
        if domain not in self.first or now < self.first[domain]:
            return []
        return [i for i, e in self.by_id.items() if e.call.domain == domain and not e.fresh(now)]

    def holds(self, domain: str, obj: str, key: Key) -> Entry | None:
        """The entry under which an object is stored, fresh or not."""
        return self.objects.get((domain, obj), {}).get(key)


def _broader(call: Call, fetch: Fetch, domain: Domain) -> Iterator[Call]:
    """`call`, and those that bring all it does."""
    yield call
    if fetch.periods:
        yield from _wider(call, fetch)
    if others := domain.broader.get(fetch.name):
        bound = {source: value for (_, source), (_, value) in zip(fetch.args, call.args, strict=True)}
        for other in others:
            yield from _wider(call_of(other, call.domain, bound), other)


def _wider(call: Call, fetch: Fetch) -> Iterator[Call]:
    """`call`, and those that ask for longer periods with the other arguments as they are."""
    options = [wider(value) if arg in fetch.periods else (value,) for arg, value in call.args]
    for values in itertools.product(*options):
        yield replace(call, args=tuple((arg, value) for (arg, _), value in zip(call.args, values, strict=True)))


def object_key(call: Call, fetch: Fetch, domain: Domain) -> Key | None:
    """The key of the one object that `call` asks for; None if it asks for several, as a listing does."""
    if fetch.search or any(arg in fetch.periods and len(str(value)) < len(DAY) for arg, value in call.args):
        return None
    bound = {source: value for (_, source), (_, value) in zip(fetch.args, call.args, strict=True)}
    fields = [k.removeprefix("@") for k in domain.object_by_name[fetch.gives].key]
    return tuple(bound[f] for f in fields) if all(f in bound for f in fields) else None


def expiry(domain: Domain, obj: str, fetched: dt.datetime) -> dt.datetime | None:
    """When an object fetched at `fetched` stops being believed: its fastest table decides. None: never."""
    fills = domain.object_by_name[obj].fills
    fastest = max((domain.table(f.table).changes for f in fills), key=CHANGES.index)
    keep = KEEP[fastest]
    return None if keep is None else fetched + keep


def call_of(fetch: Fetch, domain: str, values: Mapping[str, Any]) -> Call:
    """The call of `fetch` with its inputs bound to `values` (input to value)."""
    return Call(domain, fetch.name, tuple((arg, values[source]) for arg, source in fetch.args))
