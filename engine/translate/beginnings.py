"""The sets that a question names outright, before anything is joined: things, rows named by their values, years.

What the composer grows and merges begins with these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kg.domain import Table

from .lexicon import Atom
from .meaning import Is, Set, Top, Where
from .question import Part, distance, year_column
from .superlatives import Superlatives

# What a piece costs that no word of the question asks for, and what every further join costs.
UNSAID_ROWS, JOIN = 0.8, 0.25
PICKED = 0.3  # what it costs to ask something of one of several things


@dataclass
class Beginnings(Superlatives):
    """Finds where sets begin."""

    def parts(self) -> Iterator[Part]:
        """Yield the sets that the question names; the same one perhaps more than once."""
        yield from self._entities()
        yield from self._picked()
        yield from self._bare_rows()
        yield from self._of_a_year()

    def _entities(self) -> Iterator[Part]:
        # of two spans with the same name the later one is the thing: "who played rocky in rocky"
        for n in sorted(self.question.named, key=lambda n: -n.mask):
            yield Part(Set(n.table, (Is((n.best,)),)), n.mask, n.mask, n.cost)
            table = self.domain.table(n.table)
            column = year_column(table)
            for moment in self.question.moments if column is not None else ():
                if not moment.mask & n.mask and moment.op == "=" and column is not None:
                    where = Where(column.name, moment.op, moment.values)
                    both = n.mask | moment.mask
                    cost = n.cost + 0.1 * distance(n.mask, moment.mask)
                    yield Part(Set(n.table, (Is(n.namesakes), where)), both, both, cost)
            if len(n.series) > 1:
                end = n.mask.bit_length()
                nouns = [a for a in self.question.of("table") if a.meant.table == n.table and end <= a.first <= end + 1]
                nouns = [a for a in self.question.of("op", "series") if end <= a.first <= end + 2] + nouns
                if nouns:
                    yield Part(Set(n.table, (Is(n.series, series=True),)), n.mask | nouns[0].mask, n.mask, n.cost + 0.3)

    def _picked(self) -> Iterator[Part]:
        """ "Whichever of A and B is worth more": of the things of a table that are named, the one with the most."""
        for table in self.domain.entities:
            named = self.question.things(table.name)
            if len(named) < 2:
                continue
            mask = 0
            for n in named:
                mask |= n.mask
            things = Is(tuple(n.best for n in named))
            cost = PICKED + sum(n.cost for n in named)
            for column, descending, words in self.superlatives(table):
                if not words & mask:
                    picked = Set(table.name, (things,), Top(column.name, descending))
                    yield Part(picked, mask | words, mask | words, cost)

    def _of_a_year(self) -> Iterator[Part]:
        """ "The films of 1994": all rows of a year, where a table and a year are named."""
        for a in self.question.of("table"):
            table = self.domain.table(a.meant.table)
            column = year_column(table)
            if table.is_entity and column is not None:
                for m in self.question.moments:
                    if not m.mask & a.mask:
                        yield Part(
                            Set(table.name, (Where(column.name, m.op, m.values),)), a.mask | m.mask, m.mask, 2 * JOIN
                        )

    def _bare_rows(self) -> Iterator[Part]:
        """Rows of detail tables named by their values ("best picture"), or just by their own name ("oscars")."""
        for table in self.domain.tables:
            if table.is_entity or table.roles or not table.says or table.every:
                continue  # a series is read by `records`
            values = [a for a in self.question.of("value") if a.meant.table == table.name]
            # "how popular is it" names the rows by what it asks for; "what year" may ask of anything
            asks = [a for a in self.question.of("ask") if a.meant.table == table.name and self._is_clear(a)]
            names = [a for a in self.question.of("table") if a.meant.table == table.name] or asks
            if not values and not names:
                continue
            mask = names[0].mask if names else 0
            start = Part(
                Set(table.name), mask, 0, (UNSAID_ROWS / 2 if names == asks else 0.0) if names else UNSAID_ROWS
            )
            parts = [start] if names else []
            for a in values:
                parts += [p for base in [start, *parts] if (p := self._with_value(base, a, table)) is not None]
            parts = list({p.set: p for p in parts}.values())[:24]
            yield from (self._assumed(p, table) for p in parts)

    def _is_clear(self, ask: Atom) -> bool:
        """Whether no other table is asked of by the same words, or by some of them."""
        others = self.question.of("ask") + self.question.of("column")
        return not any(a.mask & ask.mask and a.meant.table != ask.meant.table for a in others)

    def _with_value(self, part: Part, atom: Atom, table: Table) -> Part | None:
        column = atom.meant.column
        if any(isinstance(c, Where) and c.column == column for c in part.set.conditions):
            return None
        if not atom.meant.values:  # "nominated": any value will do, said on purpose
            return replace(part, mask=part.mask | atom.mask, set=part.set.also(Where(column, "any", ())))
        if part.solid & atom.mask:
            return None
        solid = atom.mask if table.column(column).type != "BOOLEAN" else 0
        # a phrase of several words ("best picture", "visual effects") speaks for its table by itself
        clear = solid and solid.bit_count() > 1
        return part.also(
            is_value(atom),
            *self._apart(atom),
            mask=atom.mask,
            solid=solid,
            cost=-min(part.cost, UNSAID_ROWS) if clear else 0.0,
        )

    def _apart(self, atom: Atom) -> tuple[Where, ...]:
        """What keeps rows away whose text has the value, but as a part of another."""
        patterns = self.lexicon.apart.get(f"{atom.meant.table}.{atom.meant.column}", ())
        return tuple(
            Where(atom.meant.column, "apart", ("|".join(p.format(re.escape(str(v))) for p in patterns),))
            for v in atom.meant.values
            if patterns
        )

    def _assumed(self, part: Part, table: Table) -> Part:
        """What holds when the question says nothing of it, and no trace of columns where anything goes."""
        spoken = {c.column for c in part.set.conditions if isinstance(c, Where)}
        kept = tuple(c for c in part.set.conditions if not (isinstance(c, Where) and c.op == "any"))
        extra = tuple(Where(c, "=", (v,)) for c, v in table.assume if c not in spoken)
        return replace(part, set=replace(part.set, conditions=kept + extra))


def is_value(atom: Atom) -> Where:
    values = atom.meant.values
    return Where(atom.meant.column, "=" if len(values) == 1 else "in", values)
