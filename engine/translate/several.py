"""Questions about several things that are named: which is the longest, is one older than the other, their total."""

from __future__ import annotations

from collections.abc import Iterator

from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Count,
    Is,
    Meaning,
    Names,
    Set,
    Which,
)
from .question import Part
from .reading import Reader, Reading
from .wanted import FITS


class OfSeveral(Reader):
    """Reads a question as one about two to five things of one table."""

    def readings(self) -> Iterator[Reading]:
        for options in self.options():
            table = self.domain.table(options[0].set.table)
            names = tuple(o.set.entities[0].text for o in options)
            mask = cost = 0
            solid = 0
            total_cost = float(cost)
            for o in options:
                mask |= o.mask
                solid |= o.solid
                total_cost += o.cost
            sets = tuple(o.set for o in options)
            ors = sum(a.mask for a in self.question.of("op", "or")[:1])
            for column, descending, words in self.composer.superlatives(table):
                if words & solid:
                    continue
                if self.wanted.yes_no and len(options) == 2:
                    meaning: Meaning = Compare(Names(sets[0], column.name), Names(sets[1], column.name), descending)
                    yield self.reading(meaning, mask | words | 1, total_cost, FITS)
                elif not self.wanted.yes_no:
                    fit = FITS if ors or self.wanted.person or self.wanted.tables else 0.2
                    fit = min(fit, self._fit_which())
                    values = tuple(Names(s, column.name) for s in sets)
                    yield self.reading(Which(values, names, descending), mask | words | ors, total_cost, fit)
            yield from self._by_measure(options, names, mask, solid, total_cost)
            yield from self._by_count(options, names, mask, solid, total_cost)
            yield from self._aggregates(options, mask, solid, total_cost)

    def _by_measure(
        self, options: list[Part], names: tuple[str, ...], mask: int, solid: int, cost: float
    ) -> Iterator[Reading]:
        """Who lived longer: a quantity that a domain's template file makes of two columns."""
        for a in self.question.of("most_measure"):
            m = self.composer.lexicon.measures[a.meant.name]
            if m.table != options[0].set.table or a.mask & solid:
                continue
            exact = _finer(m.function)
            values = tuple(Calculate(exact, Names(o.set, m.first), Names(o.set, m.second)) for o in options)
            if self.wanted.yes_no and len(options) == 2:
                yield self.reading(Compare(values[0], values[1], a.meant.flag), mask | a.mask | 1, cost, FITS)
            elif not self.wanted.yes_no:
                yield self.reading(Which(values, names, a.meant.flag), mask | a.mask, cost, FITS)

    def _by_count(
        self, options: list[Part], names: tuple[str, ...], mask: int, solid: int, cost: float
    ) -> Iterator[Reading]:
        """Who has directed more films; which film won more oscars."""
        for name, descending in (("higher", True), ("highest", True), ("lower", False), ("lowest", False)):
            for op in self.question.of("op", name):
                if op.mask & solid:
                    continue
                for counted in self._counted(options):
                    sets = tuple(p.set for p in counted)
                    words = mask | op.mask | sum(c.mask for c in self.question.of("op", "count")[:1])
                    for p in counted:
                        words |= p.mask
                    extra = cost + max(p.cost for p in counted) - min(o.cost for o in options)
                    if self.wanted.yes_no and len(options) == 2:
                        yield self.reading(Compare(Count(sets[0]), Count(sets[1]), descending), words | 1, extra, FITS)
                    elif not self.wanted.yes_no:
                        yield self.reading(
                            Which(tuple(map(Count, sets)), names, descending),
                            words,
                            extra,
                            min(FITS if self.wanted.person or self.wanted.tables else 0.2, self._fit_which()),
                        )

    def _counted(self, options: list[Part]) -> Iterator[list[Part]]:
        """For each option the set grown from it, all in the same way."""
        shapes: dict[str, dict[int, Part]] = {}
        for p in self.parts:
            for i, o in enumerate(options):
                if p.solid & o.solid and p.set != o.set and p.set.top is None:
                    shape = _shape(p.set, o.set)
                    if shape is not None:
                        shapes.setdefault(shape, {}).setdefault(i, p)
        for grown in shapes.values():
            if len(grown) == len(options):
                yield [grown[i] for i in range(len(options))]

    def _aggregates(self, options: list[Part], mask: int, solid: int, cost: float) -> Iterator[Reading]:
        table = self.domain.table(options[0].set.table)
        merged = Set(table.name, (Is(tuple(e for o in options for e in o.set.entities)),))
        for name, function in (("sum", "sum"), ("average", "avg")):
            for op in self.question.of("op", name):
                for a in self.question.of("column") + self.question.of("ask"):
                    column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                    if column is not None and column.numeric and not (a.mask | op.mask) & solid:
                        yield self.reading(
                            Aggregate(function, merged, column.name), mask | op.mask | a.mask, cost, FITS
                        )


def _finer(function: str) -> str:
    """Days where years are said: two people may have lived as many years."""
    return "days" if function == "years" else function


def _shape(grown: Set, origin: Set) -> str | None:
    """`grown` written with a hole where `origin` stands; None if it is not grown from it."""
    text, hole = repr(grown), repr(origin)
    return text.replace(hole, "_") if hole in text else None
