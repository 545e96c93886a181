"""The superlatives of a question, as columns to order by: "longest", "the highest grossing", "third film", "top 3".

Sets of rows, comparisons and series all ask by which column, in which direction, and for how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kg.domain import Column, Domain, Table

from .lexicon import Atom, Lexicon
from .question import Question, distance


@dataclass
class Superlatives:
    """Finds the superlatives of a question."""

    lexicon: Lexicon
    question: Question

    @property
    def domain(self) -> Domain:
        return self.lexicon.domain

    def superlatives(self, table: Table, *, generic: bool = True) -> Iterator[tuple[Column, bool, int]]:
        """(column, descending, words) for every superlative of `table` in the question."""
        for a in self.question.of("most"):
            if a.meant.table == table.name:
                yield table.column(a.meant.column), a.meant.flag, a.mask
        if not generic:
            return
        yield from self._nth(table)
        for name, descending in (("highest", True), ("lowest", False), ("higher", True), ("lower", False)):
            for op in self.question.of("op", name):
                for a in self.question.of("column") + self.question.of("ask"):
                    column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                    if (
                        column is not None
                        and (column.numeric or column.type == "DATE")
                        and distance(op.mask, a.mask) <= 3
                        and not op.mask & a.mask
                        and not self.says_most(op, column, table)
                    ):
                        yield column, descending != turns(op, column, descending), op.mask | a.mask

    def says_most(self, op: Atom, column: Column, table: Table) -> bool:
        """Whether a general word is a superlative of the column's own: the higher rank is the lower number."""
        return any(
            a.meant.table == table.name and a.meant.column == column.name and a.mask & op.mask
            for a in self.question.of("most")
        )

    def _nth(self, table: Table) -> Iterator[tuple[Column, bool, int]]:
        """ "Third film": an ordinal before the table's noun counts by the date that "first" speaks of."""
        dated = next((c for c in table.columns if c.type == "DATE" and "first" in c.least), None)
        for a in self.question.of("table") if dated is not None and table.is_entity else ():
            i = a.first - 1
            if (
                a.meant.table == table.name
                and i >= 0
                and self.lexicon.generic["ordinals"].get(self.question.words[i].text, 0) > 1
            ):
                assert dated is not None
                yield dated, False, a.mask

    def how_many(self, mask: int, solid: int) -> tuple[int, int, int]:
        """(n, skip, words) of "top 3", "three latest", "second highest"."""
        first = (mask & -mask).bit_length() - 1
        generic = self.lexicon.generic
        for i in range(max(0, first - 2), min(len(self.question.words), first + 3)):
            bit, word = 1 << i, self.question.words[i].text
            after = self.question.words[i + 1].stem if i + 1 < len(self.question.words) else ""
            if bit & solid or after == "year":
                continue
            if not bit & mask and generic["ordinals"].get(word, 0) > 1 and i < first:
                return 1, generic["ordinals"][word] - 1, bit
            number = generic["numbers"].get(word) or (int(word) if word.isdigit() and int(word) <= 50 else 0)
            if number > 1:
                return number, 0, bit
        return 1, 0, 0


def turns(op: Atom, column: Column, descending: bool) -> bool:
    """Whether a general word goes the other way for a column, as its own superlatives tell: the highest rank is the
    lowest number."""
    words = op.phrase.split()
    return any(set(words) <= set(phrase.split()) for phrase in (column.least if descending else column.most))
