"""What is known to be stored: which calls were made, when, whether cut off, and which objects came.

The ledger is the reason a repeated question makes no call, and the reason a LIMIT, a top-10 search or a failed
call is never taken for the whole truth. Its rows are written by `kg.store` in the same transaction as the rows they
speak of; here they are only read and judged, in memory.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .domain import CHANGES, Changes, Domain, Fetch

# How long a stored fact is believed. Static facts never age.
KEEP: dict[Changes, dt.timedelta | None] = {
    "static": None,
    "slow": dt.timedelta(days=30),
    "fast": dt.timedelta(hours=1),
    "real-time": dt.timedelta(seconds=30),
}

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Call:
    """A call as the ledger names it: the same fetch with the same arguments is the same call."""

    domain: str
    fetch: str
    args: tuple[tuple[str, Any], ...]

    @property
    def text(self) -> str:
        return json.dumps(dict(self.args), ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        return f"{self.fetch}({', '.join(f'{k}={v!r}' for k, v in self.args)})"


@dataclass(frozen=True)
class Entry:
    """One call that was answered: how many objects came, whether the reply was cut off, and when it expires."""

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
    """The entries of one store: by call, and by the object they brought."""

    calls: dict[Call, Entry] = field(default_factory=dict)
    objects: dict[tuple[str, str], dict[Key, Entry]] = field(default_factory=dict)

    def put(self, entry: Entry, obj: str, keys: list[Key]) -> None:
        self.calls[entry.call] = entry
        held = self.objects.setdefault((entry.call.domain, obj), {})
        for key in keys:
            held[key] = entry

    def covers(self, call: Call, fetch: Fetch, domain: Domain, now: dt.datetime) -> Entry | None:
        """The fresh entry that makes `call` unnecessary: the call itself, or the object it would bring."""
        entry = self.calls.get(call)
        if entry is None and not fetch.search:
            entry = self.objects.get((domain.name, fetch.gives), {}).get(object_key(call, fetch, domain))
        return entry if entry is not None and entry.fresh(now) else None

    def holds(self, domain: str, obj: str, key: Key) -> Entry | None:
        """The entry under which an object is stored, fresh or not."""
        return self.objects.get((domain, obj), {}).get(key)


def object_key(call: Call, fetch: Fetch, domain: Domain) -> Key:
    """The key of the one object that a complete (not a search) call asks for."""
    bound = {source: value for (_, source), (_, value) in zip(fetch.args, call.args, strict=True)}
    return tuple(bound[k.removeprefix("@")] for k in domain.object_by_name[fetch.gives].key)


def expiry(domain: Domain, obj: str, fetched: dt.datetime) -> dt.datetime | None:
    """When an object fetched at `fetched` stops being believed: its fastest table decides."""
    fills = domain.object_by_name[obj].fills
    fastest = max((domain.table(f.table).changes for f in fills), key=CHANGES.index)
    keep = KEEP[fastest]
    return None if keep is None else fetched + keep


def call_of(fetch: Fetch, domain: str, values: Mapping[str, Any]) -> Call:
    """The call of `fetch` with its inputs bound to `values` (input to value)."""
    return Call(domain, fetch.name, tuple((arg, values[source]) for arg, source in fetch.args))
