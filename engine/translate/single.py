"""Questions about one set: its names, a column of it, how many there are, whether there is one."""

from __future__ import annotations

from collections.abc import Iterator

from .lexicon import Atom
from .meaning import (
    Aggregate,
    Calculate,
    Count,
    Exists,
    Given,
    Is,
    Names,
    Set,
    To,
    Where,
)
from .question import Part, distance, year_column
from .reading import Reader, Reading
from .wanted import FITS, asked_before


class OfOne(Reader):
    """Reads a question as one about a single set."""

    def readings(self) -> Iterator[Reading]:
        for part in self.parts:
            table = self.domain.table(part.set.table)
            if table.moment and part.set.top is not None and part.set.top.column == table.moment:
                continue  # the latest up to now, or the next: rows of dated tables are read by themselves
            if table.is_entity and not part.set.is_entity:
                # a name that the question itself gives is no answer to it
                given = 1.5 if self._given(part.set) else 0.0
                fit = self.wanted.fit_rows(table.name)
                yield self.reading(Names(part.set), part.mask, part.cost + given, fit)
                n, word = self._wanted_number(table.name)
                if n and part.set.top is None and not word & part.mask:
                    yield self.reading(Names(part.set, n=n), part.mask | word, part.cost + given, fit)
            yield from self._kinds(part)
            yield from self._age_now(part)
            yield from self._columns(part)
            yield from self._named_by_key(part)
            yield from self._counts(part)
            if self.wanted.yes_no and part.set.is_entity and table.is_entity:
                for a in self.question.of("value"):
                    # "was she born in barbados"
                    if a.meant.table == table.name and a.meant.values and not a.mask & part.solid:
                        where = Where(a.meant.column, "=" if len(a.meant.values) == 1 else "in", a.meant.values)
                        words = part.mask | a.mask | 1
                        for b in self.question.of("column"):
                            words |= b.mask if (b.meant.table, b.meant.column) == (table.name, a.meant.column) else 0
                        yield self.reading(Exists(part.set.also(where)), words, part.cost, FITS)
            if self.wanted.yes_no and not part.set.is_entity and part.set.top is None:
                yield self.reading(Exists(part.set), part.mask | 1, part.cost, FITS)

    def _wanted_number(self, table: str) -> tuple[int, int]:
        """(n, words) of "name three films": a number right before the table's noun, behind a word that asks."""
        numbers = self.composer.lexicon.generic["numbers"]
        for a in self.question.of("table"):
            i = a.first - 1
            if a.meant.table == table and i >= 1 and self.question.words[i - 1].text in ("name", "list", "give", "me"):
                word = self.question.words[i].text
                n = numbers.get(word) or (int(word) if word.isdigit() and len(word) < 3 else 0)
                if n:
                    return n, 1 << i
        return 0, 0

    def _kinds(self, part: Part) -> Iterator[Reading]:
        """ "Which oscars did it win": what tells the rows of a detail table apart, the first text of its key."""
        table = self.domain.table(part.set.table)
        if (
            table.is_entity
            or table.roles
            or table.name not in self.wanted.tables
            or not any(isinstance(c, To) for c in part.set.conditions)
        ):
            return
        column = next((table.column(k) for k in table.key if table.column(k).type == "TEXT"), None)
        bound = {c.set.table for c in part.set.conditions if isinstance(c, To)}
        if column is not None and not (column.links and column.links.table in bound):
            yield self.reading(Names(part.set, column.name), part.mask, part.cost, FITS)

    def _given(self, rows: Set) -> bool:
        """Whether the set is one thing that the question names."""
        return any(isinstance(c, Is) and not c.series for c in rows.conditions)

    def _is_given(self, column: str, part: Part) -> bool:
        """Whether the question names a thing by this column: its label, or its key ("the ticker cmg")."""
        by_key = all(e.text == e.key for e in part.set.entities)
        table = self.domain.table(part.set.table)
        return column == (table.key[0] if by_key and table.label != table.key[0] else table.label)

    def _named_by_key(self, part: Part) -> Iterator[Reading]:
        """ "What company trades under the ticker cmg": the name of what is named by its key."""
        table = self.domain.table(part.set.table)
        if not part.set.is_entity or not self._is_given(table.key[0], part):
            return
        for a in self.question.of("column"):
            if a.meant.table == table.name and a.meant.column == table.key[0] and not a.mask & part.solid:
                yield self.reading(Names(part.set, table.label), part.mask | a.mask, part.cost, FITS)

    def _columns(self, part: Part) -> Iterator[Reading]:
        table = self.domain.table(part.set.table)
        for a in self.question.of("column") + self.question.of("ask"):
            if a.meant.table != table.name or a.mask & part.solid:
                continue
            column = table.column(a.meant.column)
            if part.set.is_entity and self._is_given(column.name, part):
                continue
            if any(
                isinstance(c, Where) and c.column == column.name and c.op in ("=", "in") for c in part.set.conditions
            ):
                continue  # the question itself gives it
            cost = part.cost + 0.02 * distance(a.mask, part.solid)
            # "who did she play" is a question for the column itself
            fit = 0.0 if a.meant.kind == "ask" and a.phrase.startswith("who") else self.wanted.fit_column(column)
            if a.meant.kind == "column" and table.roles == () and not table.is_entity:
                linked = column.links.table if column.links else ""
                fit += (
                    self.wanted.fit_rows(linked)
                    if linked and column.links and column.links.column == self.domain.table(linked).label
                    else 0.0
                )
            only_year = column.type == "DATE" and self.wanted.year
            yield self.reading(Names(part.set, column.name, only_year), part.mask | a.mask, cost, fit)
            for name in ("sum", "average"):
                for op in self.question.of("op", name):
                    if column.numeric and not part.set.is_entity:
                        function = {"sum": "sum", "average": "avg"}[name]
                        yield self.reading(
                            Aggregate(function, part.set, column.name), part.mask | a.mask | op.mask, cost, FITS
                        )
        year = year_column(table)
        if (
            self.wanted.date
            and not table.is_entity
            and year is not None
            and any(isinstance(c, To) for c in part.set.conditions)
        ):
            yield self.reading(Names(part.set, year.name), part.mask, part.cost, FITS)

    def _age_now(self, part: Part) -> Iterator[Reading]:
        birth = self.birth(part)
        past = any(w.text in ("was", "were") for w in self.question.words)
        for op in self.question.of("op", "age") if birth is not None and not past else ():
            if birth is not None and not op.mask & part.solid:
                meaning = Calculate("years", Names(part.set, birth.name), Given(self.now))
                yield self.reading(meaning, part.mask | op.mask, part.cost, FITS)

    def _counts(self, part: Part) -> Iterator[Reading]:
        if part.set.is_entity:
            return
        for op in self.question.of("op", "count"):
            if op.mask & part.solid:
                continue
            counted = 0.0 if self._named_near(part, op) else 0.5
            if self._given(part.set) or asked_before(self.question, [op]):
                counted += 1.5
            yield self.reading(Count(part.set), part.mask | op.mask, part.cost + counted, FITS)

    def _named_near(self, part: Part, op: Atom) -> bool:
        """Whether what is counted stands right behind "how many"."""
        nouns = [
            a
            for a in self.question.atoms
            if a.meant.table == part.set.table and a.meant.kind in ("table", "value", "column")
        ]
        nouns += [
            a for a in self.question.of("role") if a.meant.name == "noun" and part.set.table in self._role_ends(a)
        ]
        return any(op.last < a.first <= op.last + 3 for a in nouns)
