"""Questions that are answered by reckoning: differences, ratios, ages."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from kg.domain import Table

from .lexicon import Atom
from .meaning import (
    Calculate,
    Names,
)
from .question import Part
from .reading import Reader, Reading
from .wanted import FITS


class Reckoned(Reader):
    """Reads a question as a calculation with two values."""

    def readings(self) -> Iterator[Reading]:
        yield from self._two_columns()
        yield from self._measures()
        yield from self._two_things()
        yield from self._ages()

    def _two_columns(self) -> Iterator[Reading]:
        """How much more it earned than it cost: two columns of one row."""
        for part in self.parts:
            table = self.domain.table(part.set.table)
            if not table.is_entity or (part.set.top is not None and not part.set.is_entity and part.cost > 1):
                continue
            nouns = [
                a
                for a in self.question.of("column") + self.question.of("ask") + self._verbs_of_columns(table.name)
                if a.meant.table == table.name and table.column(a.meant.column).numeric and not a.mask & part.solid
            ]
            for a, b in itertools.permutations(nouns, 2):
                if a.meant.column == b.meant.column or a.mask & b.mask or a.first > b.first:
                    continue
                yield from self._arithmetic(part, a, b)

    def _verbs_of_columns(self, table: str) -> list[Atom]:
        return [a for a in self.question.of("most") if a.meant.table == table]

    def _measures(self) -> Iterator[Reading]:
        """A quantity that a domain's template file makes of two columns: profit."""
        for op in self.question.of("measure"):
            m = self.composer.lexicon.measures[op.meant.name]
            for part in self.parts:
                if part.set.table == m.table and not op.mask & part.solid:
                    meaning = Calculate(m.function, Names(part.set, m.first), Names(part.set, m.second))
                    yield self.reading(meaning, part.mask | op.mask, part.cost, FITS)

    def _arithmetic(self, part: Part, a: Atom, b: Atom) -> Iterator[Reading]:
        table = self.domain.table(part.set.table)
        if table.column(a.meant.column).unit != table.column(b.meant.column).unit:
            return
        first, second = Names(part.set, a.meant.column), Names(part.set, b.meant.column)
        words = part.mask | a.mask | b.mask
        for name, function in (
            ("ratio", "ratio"),
            ("percent", "percent"),
            ("difference", "difference"),
            ("difference_lower", "difference"),
        ):
            for op in self.question.of("op", name):
                extra = 0.0 if not op.mask & part.solid else 1.0
                if function != "difference":
                    # "how many times its budget": what stands right behind the words is what is measured with
                    one, other = (second, first) if 0 <= a.first - op.last <= 2 else (first, second)
                    yield self.reading(Calculate(function, one, other), words | op.mask, part.cost + extra, FITS)
                    continue
                # "short of its budget", "more than its budget": the one compared with stands behind "of" or "than"
                lower = name == "difference_lower"
                one, other = (
                    (second, first)
                    if self._behind(a, ("of", "than")) and not self._behind(b, ("of", "than"))
                    else (first, second)
                )
                sign = 1 if lower or self.question.of("op", "higher") else 0
                meaning = Calculate(function, other, one, sign) if lower else Calculate(function, one, other, sign)
                near = sum(o.mask for o in self.question.of("op", "difference")[:1]) if lower else 0
                yield self.reading(meaning, words | op.mask | near, part.cost + extra - (0.1 if lower else 0.0), FITS)

    def _behind(self, atom: Atom, words: tuple[str, ...]) -> bool:
        return any(w.text in words for w in self.question.words[max(0, atom.first - 2) : atom.first])

    def _two_things(self) -> Iterator[Reading]:
        """How much longer one is than the other: one column of two rows."""
        for options in self.options():
            if len(options) != 2:
                continue
            table = self.domain.table(options[0].set.table)
            first, second = options
            yield from self._ratio(first, second, table)
            for op in self.question.of("op", "difference"):
                for a in self.question.of("column") + self.question.of("ask") + self._verbs_of_columns(table.name):
                    column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                    if (
                        column is None
                        or a.mask & (first.solid | second.solid)
                        or not (column.numeric or column.type == "DATE")
                    ):
                        continue
                    function = "distance"
                    if column.type == "DATE":
                        function = "years" if any(w.stem == "year" for w in self.question.words) else "days"
                    sign = 1 if function == "distance" and self._asserts_more(op, second) else 0
                    meaning = Calculate(
                        "difference" if sign else function,
                        Names(first.set, column.name),
                        Names(second.set, column.name),
                        sign,
                    )
                    words = first.mask | second.mask | op.mask | a.mask
                    yield self.reading(meaning, words, first.cost + second.cost, FITS)

    def _ratio(self, first: Part, second: Part, table: Table) -> Iterator[Reading]:
        """ "How many times bigger is the market cap of A than that of B"."""
        for op in self.question.of("op", "ratio"):
            for a in self.question.of("column") + self._verbs_of_columns(table.name):
                column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                if column is None or not column.numeric or (a.mask | op.mask) & (first.solid | second.solid):
                    continue
                meaning = Calculate("ratio", Names(first.set, column.name), Names(second.set, column.name))
                more = sum(o.mask for o in self.question.of("op", "higher")[:1])
                words = first.mask | second.mask | op.mask | a.mask | more
                yield self.reading(meaning, words, first.cost + second.cost, FITS)

    def _asserts_more(self, op: Atom, second: Part) -> bool:
        """Whether "how much more ... than" takes for granted that the first of two has more."""
        start = (second.solid & -second.solid).bit_length() - 1
        before = [w.text for w in self.question.words[max(0, start - 3) : start]]
        return op.phrase.split()[-1] in ("more", "higher", "bigger", "longer") and "than" in before

    def _ages(self) -> Iterator[Reading]:
        """How old somebody was when something came out, or in a year."""
        ages = self.question.of("op", "age")
        if not ages:
            return
        births = [(p, c) for p in self.parts if (c := self.birth(p)) is not None]
        for (person, birth), event in itertools.product(births[:6], self.parts[:24]):
            table = self.domain.table(event.set.table)
            dates = [c for c in table.columns if c.type == "DATE"]
            if (
                not table.is_entity
                or table.name == person.set.table
                or not dates
                or person.solid & event.solid
                or (person.solid | event.solid) & ages[0].mask
            ):
                continue
            meaning = Calculate("years", Names(person.set, birth.name), Names(event.set, dates[0].name))
            near = sum(
                a.mask
                for a in (self.question.of("column") + self.question.of("ask") + self.question.of("most"))
                if a.meant.table == table.name and a.meant.column == dates[0].name and not a.mask & ages[0].mask
            )
            yield self.reading(
                meaning, person.mask | event.mask | ages[0].mask | near, person.cost + event.cost, FITS + 0.2
            )
