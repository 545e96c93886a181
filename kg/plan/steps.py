"""What a plan is made of: steps, each a kind of call and where its inputs come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from kg.domain import Access, Scalar

PARTITION = "partition"  # in the meta of a table: the stored table that holds its rows (its name), or the Pieces
CALL = "_call"  # the column of a stored table that has the id of the call that brought the row


@dataclass(frozen=True)
class Pieces:
    """Stored tables that each have some columns of a table, joined by its key. `parts` are pairs of stored table and
    the columns that it has."""

    key: tuple[str, ...]
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def __deepcopy__(self, memo: object) -> Pieces:
        return self  # frozen; sqlglot copies what hangs on a tree


@dataclass(frozen=True)
class Lookup:
    """Inputs that come from a query over what earlier steps have stored: those of its column `place`.

    Inputs of one step that name the same query (the same object) come together, a row at a time.
    """

    query: exp.Expr
    place: int = 0

    def __str__(self) -> str:
        shown = self.query.selects[self.place] if isinstance(self.query, exp.Query) else self.query
        return f"each {shown.unalias().sql('duckdb').replace(chr(34), '')}"


Inputs = tuple[Scalar, ...] | range | Lookup


@dataclass(frozen=True)
class Step:
    """Fill `access.table` for every combination of the values of `sources`, which are parallel to `access.needs`.

    Of sources that look up the same query only the combinations it returns are meant.

    `calls` is an estimate. `clipped`: values were asked for that the API does not have.
    """

    access: Access
    sources: tuple[tuple[Inputs, ...], ...]
    calls: float
    clipped: bool = False

    @property
    def together(self) -> list[list[int]]:
        """The places of `sources`, those whose values come together in one list."""
        groups: dict[int, list[int]] = {}
        for place, source in enumerate(self.sources):
            first = source[0] if len(source) == 1 else None
            groups.setdefault(id(first.query) if isinstance(first, Lookup) else -place - 1, []).append(place)
        return list(groups.values())

    def __str__(self) -> str:
        needs = zip(self.access.needs, self.sources, strict=True)
        inputs = [f"{need}={_shown(source)}" for need, source in needs]
        inputs += [f"{name}={value!r}" for name, value in self.access.fetch.fixed]
        return f"{self.access.table} <- {self.access.fetch.method} {self.access.fetch.endpoint} ({', '.join(inputs)})"


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
