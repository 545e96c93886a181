"""Sets of rows composed from what the question names: entities, roles, values, years, superlatives.

A floating parser (Pasupat and Liang 2015): pieces may combine in any order, whatever their order in the question;
each says which words it explains, and pieces that no word asked for cost something. A beam keeps the sets that
explain most. What is then asked of a set is `engine.translate.ask`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .beginnings import Beginnings
from .chains import Chains
from .growth import UNSAID_ROLE, Counts, Growth, has_where
from .meaning import Is, Same, Set, Through, To, Where
from .properties import Facts
from .question import Part, distance, year_column
from .superlatives import Superlatives

BEAM, ROUNDS = 32, 5
# What is given back when two names stand side by side: "kubrick's the shining", "hard rain (morgan freeman)".
BESIDE = 0.8


@dataclass
class Composer(Superlatives):
    """Composes the sets that a question may speak of, best first."""

    counts: Counts | None = None
    facts: Facts | None = None
    pool: dict[Set, Part] = field(default_factory=dict)
    _rows: dict[Set, Part] = field(default_factory=dict)  # of these, the rows of detail tables without roles

    def compose(self) -> list[Part]:
        chains = Chains(self.domain, self.question, self.lexicon.generic["chain"])
        chained = list(chains.parts())
        if whole := [p for p in chained if chains.is_whole(p)]:
            return sorted(self._keep(whole), key=self.promise, reverse=True)
        frontier = self._keep([*Beginnings(self.lexicon, self.question).parts(), *chained])
        growth = Growth(self.lexicon, self.question, self.counts, self.pool, self._rows)
        for _ in range(ROUNDS):
            grown = [new for part in frontier for new in growth.grown(part)]
            grown += [*self._merge(frontier), *self._same_year(frontier)]
            frontier = self._keep(grown)
            if not frontier:
                break
        return sorted(self.pool.values(), key=self.promise, reverse=True)

    def promise(self, part: Part) -> float:
        return self.question.weight(part.mask) - part.cost

    def _keep(self, parts: list[Part]) -> list[Part]:
        """Add the best of `parts` that are new to the pool; return them."""
        fresh: dict[Set, Part] = {}
        for p in parts:
            for known in (self.pool.get(p.set), fresh.get(p.set)):
                if known is not None and self.promise(known) >= self.promise(p):
                    break
            else:
                fresh[p.set] = p
        best = sorted(fresh.values(), key=self.promise, reverse=True)[:BEAM]
        self.pool.update((p.set, p) for p in best)
        tables = self.domain.by_name
        self._rows.update(
            (p.set, p) for p in best if not tables[p.set.table].is_entity and not tables[p.set.table].roles
        )
        return best

    def _merge(self, frontier: list[Part]) -> Iterator[Part]:
        """Both at once: the films of two people, the film of that name by that director."""
        pool: dict[str, list[Part]] = {}
        for p in self.pool.values():
            if p.set.top is None and self.domain.table(p.set.table).is_entity:
                pool.setdefault(p.set.table, []).append(p)
        place = {id(p): i for i, p in enumerate(frontier)}
        for a in frontier:
            if a.set.top is not None or a.set.is_entity:
                continue
            for b in pool.get(a.set.table, ()):
                if a.solid & b.solid or b is a:
                    continue
                first, second = (b, a) if b.set.is_entity else (a, b)
                if not b.set.is_entity and place.get(id(b), -1) > place[id(a)]:
                    continue  # the other order of the same pair
                conditions = first.set.conditions + tuple(
                    c for c in second.set.conditions if c not in first.set.conditions
                )
                if len(conditions) > 4 or sum(isinstance(c, Is) for c in conditions) > 1:
                    continue
                if a.mask & b.mask and not _alike(a.set, b.set):
                    continue
                cost = a.cost + b.cost
                if (
                    first.set.is_entity
                    and 0 < distance(first.solid, second.solid) + 1 <= 2
                    and second.cost >= UNSAID_ROLE
                ):
                    cost -= BESIDE
                yield Part(Set(a.set.table, conditions), a.mask | b.mask, a.solid | b.solid, cost)

    def _same_year(self, frontier: list[Part]) -> Iterator[Part]:
        """ "The year she won, who ...": the year of other rows of the same table."""
        rows = list(self._rows.values())
        for other in frontier:
            table = self.domain.table(other.set.table)
            column = year_column(table)
            if (
                table.is_entity
                or table.roles
                or column is None
                or not any(isinstance(c, To) for c in other.set.conditions)
            ):
                continue
            first = (other.solid & -other.solid).bit_length() - 1
            years = [i for i in range(max(0, first - 3), first) if self.question.words[i].stem == "year"]
            for part in rows if years else ():
                if (
                    part.set.table == table.name
                    and part.set != other.set
                    and not part.mask & other.mask
                    and not has_where(part.set, column.name)
                ):
                    mask = other.mask | 1 << years[0]
                    yield part.also(
                        Same(column.name, other.set, column.name), mask=mask, solid=other.solid, cost=other.cost
                    )


def _alike(a: Set, b: Set) -> bool:
    """Whether both hang on the same role, as in "with X and Y": one phrase may then serve both."""
    if len(a.conditions) != 1 or len(b.conditions) != 1:
        return False
    first, second = a.conditions[0], b.conditions[0]
    if not isinstance(first, Through) or not isinstance(second, Through) or first.rows.table != second.rows.table:
        return False
    fixed = [[c for c in rows.conditions if isinstance(c, Where)] for rows in (first.rows, second.rows)]
    return fixed[0] == fixed[1]
