"""A question taken apart: its words, what the lexicon and the linker found in it, and what each word weighs.

Words are numbered; a set of words is a bit mask.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from functools import cached_property

from kg.domain import Column, Table

from .lexicon import Atom, Token
from .meaning import Condition, Entity, Set

PLAIN = 1.2  # what a name may cost to be one of several that are compared
FEW = 6  # things that are compared


@dataclass(frozen=True)
class Named:
    """A span of the question linked to rows of one table: the best one, its namesakes, and those whose longer names
    begin with it (a series); `fuller` are names with more words in between: "Max Karl Ernst Ludwig Planck"."""

    table: str
    mask: int
    best: Entity
    namesakes: tuple[Entity, ...]
    cost: float
    series: tuple[Entity, ...] = ()
    fuller: tuple[Entity, ...] = ()


@dataclass(frozen=True)
class Moment:
    """A year or a date in the question: `op` and values for a year column, and the words it explains."""

    mask: int
    op: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Time:
    """A time in the question as days, inclusive (None: open), and the words it explains; `at` is a clock time."""

    mask: int
    first: dt.date | None
    last: dt.date | None
    grain: str
    at: dt.time | None = None


@dataclass(frozen=True)
class Placed:
    """A number that a question says by its place ("top 5", "number 7"): a condition on a column of a table."""

    mask: int
    table: str
    column: str
    op: str
    value: int


@dataclass(frozen=True)
class Part:
    """A set, the words it explains, those of its names and values (which no other part may use), its cost."""

    set: Set
    mask: int
    solid: int
    cost: float

    def also(self, *conditions: Condition, mask: int, solid: int = 0, cost: float = 0.0) -> Part:
        return Part(self.set.also(*conditions), self.mask | mask, self.solid | solid, self.cost + cost)


_NONE: list[Atom] = []


@dataclass
class Question:
    """A question taken apart: its words, what the lexicon and the linker found, and how much each word matters."""

    text: str
    words: list[Token]
    atoms: list[Atom]
    named: list[Named]
    moments: list[Moment]
    times: list[Time]
    numbers: list[tuple[int, float]]  # (position, value)
    weights: list[float]
    placed: list[Placed] = field(default_factory=list)
    _of: dict[tuple[str, str], list[Atom]] = field(default_factory=dict)
    _weights: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for a in self.atoms:
            self._of.setdefault((a.meant.kind, ""), []).append(a)
            if a.meant.name:
                self._of.setdefault((a.meant.kind, a.meant.name), []).append(a)

    @property
    def dated(self) -> set[int]:
        """The words of each time and each place in a series that the question names."""
        masks = {m.mask for m in self.moments} | {t.mask for t in self.times}
        return masks | {p.mask for p in self.placed}

    def of(self, kind: str, name: str = "") -> list[Atom]:
        return self._of.get((kind, name), _NONE)

    def is_asked_for(self, atom: Atom) -> bool:
        """Whether a noun stands behind which, what, name or list: "which films", "list the movies"."""
        before = [w.text for w in self.words[max(0, atom.first - 3) : atom.first]]
        return bool({"which", "what", "name", "list", "all"} & set(before))

    def things(self, table: str) -> tuple[Named, ...]:
        """The things of a table that the question names, those that share no word, in its order."""
        chosen: list[Named] = []
        for n in sorted(self.named, key=lambda n: n.cost - 0.3 * n.mask.bit_count()):
            if n.table == table and n.cost < PLAIN and not any(n.mask & c.mask for c in chosen):
                same = next((c for c in chosen if c.best.key == n.best.key and n.best.key is not None), None)
                if same is not None:  # "google (googl)"
                    chosen[chosen.index(same)] = replace(same, mask=same.mask | n.mask)
                else:
                    chosen.append(n)
        return tuple(sorted(chosen[:FEW], key=lambda n: n.mask & -n.mask))

    def weight(self, mask: int) -> float:
        known = self._weights.get(mask)
        if known is None:
            known = self._weights[mask] = sum(w for i, w in enumerate(self.weights) if mask >> i & 1)
        return known

    @cached_property
    def total(self) -> float:
        return sum(self.weights)


def distance(a: int, b: int) -> int:
    """Words between two spans (0: they touch or overlap, or one is empty)."""
    if not a or not b or a & b:
        return 0
    low_a, high_a = (a & -a).bit_length(), a.bit_length()
    low_b, high_b = (b & -b).bit_length(), b.bit_length()
    return max(0, max(low_a, low_b) - min(high_a, high_b) - 1)


def year_column(table: Table) -> Column | None:
    """The column that a bare year speaks of."""
    return next((c for c in table.columns if c.numeric and (c.year_of or "year" in c.says)), None)


def is_year(column: Column) -> bool:
    """Whether the numbers of a column are years: the "year of birth" as much as the "year"."""
    return bool(column.year_of) or any("year" in phrase.split() for phrase in column.says)
