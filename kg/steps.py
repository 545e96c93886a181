"""What a plan is made of: steps, each a kind of call and where its inputs come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from .domain import Access, Scalar

PARTITION = "partition"  # in the meta of a table: the name of the stored table that holds its rows


@dataclass(frozen=True)
class Lookup:
    """Inputs that come from a query (one column) over what earlier steps have stored."""

    query: exp.Expr

    def __str__(self) -> str:
        shown = self.query.selects[0] if isinstance(self.query, exp.Query) else self.query
        return f"each {shown.unalias().sql('duckdb').replace(chr(34), '')}"


Inputs = tuple[Scalar, ...] | range | Lookup


@dataclass(frozen=True)
class Step:
    """Fill `access.table` for every combination of the values of `sources`, which are parallel to `access.needs`.

    `calls` is an estimate. `clipped`: values were asked for that the API does not have.
    """

    access: Access
    sources: tuple[tuple[Inputs, ...], ...]
    calls: float
    clipped: bool = False

    def __str__(self) -> str:
        needs = zip(self.access.needs, self.sources, strict=True)
        inputs = ", ".join(f"{need}={_shown(source)}" for need, source in needs)
        return f"{self.access.table} <- {self.access.fetch.method} {self.access.fetch.endpoint} ({inputs})"


@dataclass(frozen=True)
class Plan:
    """The steps in dependent order, and the query with each table bound to the partition that will hold its rows."""

    tree: exp.Query
    steps: tuple[Step, ...]


def _shown(sources: Iterable[Inputs]) -> str:
    parts = []
    for s in sources:
        if isinstance(s, Lookup):
            parts.append(str(s))
        elif not s:
            parts.append("nothing")
        elif isinstance(s, range) and len(s) > 3:
            parts.append(f"{s[0]} to {s[-1]}")
        else:
            parts.append(", ".join(repr(v) for v in s[:3]) + (f", ... ({len(s)})" if len(s) > 3 else ""))
    return " or ".join(parts)
