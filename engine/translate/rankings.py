"""Questions about the rows of a dated table taken together: who has the most of them, how they are shared out.

"Which team won the most games", "their record in january", "how many of the last five did they win". Slots are
filled as in `records`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .frames import Frame
from .lexicon import Atom
from .meaning import Calculate, Count, Leader, Meaning, Names, Same, Set, Tally, To, Top, Where
from .question import distance
from .reading import Reading
from .records import OfRecords
from .wanted import FITS

SINGLE = (("in", "a"), ("in", "one"), ("in", "a", "single"), ("of", "a"), ("of", "any"))


class OfRankings(OfRecords):
    """Reads a question as one about groups of rows."""

    def readings(self) -> Iterator[Reading]:
        for table in self.domain.tables:
            if not table.moment or table.is_entity or not self._is_spoken_of(table):
                continue
            for anchored in self._anchored(table):
                if anchored.sides:
                    continue
                narrowed = self._narrowed(anchored)
                for frame in self._timed(narrowed):
                    for meaning, mask, cost in self._of_groups(frame):
                        yield self.reading(meaning, frame.mask | mask, frame.cost + cost, FITS)
                for meaning, mask, cost in self._among_last(narrowed):
                    yield self.reading(meaning, narrowed.mask | mask, narrowed.cost + cost, FITS)

    def _of_groups(self, frame: Frame) -> Iterator[tuple[Meaning, int, float]]:
        if frame.top is None and not frame.others and self._asks_for_things(frame.table):
            yield from self._leaders(frame)
        if frame.one:
            return
        for a in self._columns_of_table(frame.table):
            column = frame.table.column(a.meant.column)
            if len(column.values) > 1 and a.meant.kind == "column" and not a.mask & frame.solid and not column.links:
                yield Tally(frame.rows, column.name), a.mask, 0.0
        if frame.top is None:
            yield from self._shares(frame)

    # -- who has the most ----------------------------------------------------------------------------------------

    def _leaders(self, frame: Frame) -> Iterator[tuple[Meaning, int, float]]:
        """The thing with the most rows, or the largest sum over its rows, or the row with the most."""
        by = self.open_side(frame)
        if by is None:
            return
        single = frame.one or self._single(frame)
        averages = [op for op in self.question.of("op", "average") if not op.mask & frame.solid]
        for column, descending, mask in self.composer.superlatives(frame.table):
            if not column.numeric or mask & frame.solid:
                continue
            if single:
                best = replace(frame, top=Top(column.name, descending), one=True)
                yield Names(best.rows, by.name), mask | (single if single is not True else 0), 0.0
            elif frame.anchor is not None:
                continue  # of its own rows the best is meant, which `records` reads
            elif averages and not averages[0].mask & mask:
                yield Leader(frame.rows, by.name, "avg", column.name, descending), mask | averages[0].mask, 0.0
            elif column.adds:
                yield Leader(frame.rows, by.name, "sum", column.name, descending), mask, 0.0
        if not frame.said or single:
            return
        for name, descending in (("highest", True), ("lowest", False)):
            for op in self.question.of("op", name):
                if not op.mask & frame.solid:
                    near = min(distance(op.mask, mask) for _, mask in frame.said)
                    yield Leader(frame.rows, by.name, "count", "", descending), op.mask, 0.05 * near

    def _single(self, frame: Frame) -> int:
        """The words of "in a game", "in a single match"."""
        words = [w.text for w in self.question.words]
        for a in self.question.of("table"):
            if a.meant.table == frame.table.name:
                for before in SINGLE:
                    start = a.first - len(before)
                    if start >= 0 and tuple(words[start : a.first]) == before:
                        return a.mask | self._masks(1 << i for i in range(start, a.first))
        return 0

    # -- how they are shared out ---------------------------------------------------------------------------------

    def _shares(self, frame: Frame) -> Iterator[tuple[Meaning, int, float]]:
        """ "How many wins and losses", "more wins than losses": two values of one column."""
        for column, _ in frame.said:
            atoms = self._values_of(frame, column)
            if len(atoms) < 2:
                continue
            words = self._masks(a.mask for a in atoms)
            every = Set(frame.table.name, tuple(c for c in frame.conditions if not _is_about(c, column)))
            differences = [*self.question.of("op", "difference"), *self.question.of("op", "higher")]
            if len(atoms) == 2 and differences:
                counts = [Count(every.also(Where(column, "in", a.meant.values))) for a in atoms]
                yield (
                    Calculate("difference", counts[0], counts[1]),
                    words | self._masks(d.mask for d in differences),
                    0.0,
                )
            for op in self.question.of("op", "count")[:1]:
                yield Tally(every, column), words | op.mask, 0.0

    def _values_of(self, frame: Frame, column: str) -> list[Atom]:
        found: list[Atom] = []
        for a in self.question.of("value"):
            same = a.meant.table == frame.table.name and a.meant.column == column and a.meant.values
            if same and not any(a.mask & f.mask or a.meant.values == f.meant.values for f in found):
                found.append(a)
        return sorted(found, key=lambda a: a.first)

    # -- of the last so many -------------------------------------------------------------------------------------

    def _among_last(self, frame: Frame) -> Iterator[tuple[Meaning, int, float]]:
        """ "How many of their last five did they win": what is said holds of some of these rows."""
        if frame.anchor is None or not frame.said:
            return
        inside, said = self._split(frame)
        if not said:
            return
        moment = frame.table.moment
        whose = tuple(c for c in inside if isinstance(c, To))
        for top, mask in self._by_moment(frame):
            if top.n < 2:
                continue
            last = Set(frame.table.name, (*inside, *self._until_now(frame)), top)
            among = Set(frame.table.name, (*whose, Same(moment, last, moment)))
            for op in self.question.of("op", "count"):
                if not op.mask & (frame.solid | mask):
                    yield Count(among.also(*said)), mask | op.mask, 0.0
            for op in self.question.of("op", "percent"):
                yield Calculate("percent", Count(among.also(*said)), Count(among)), mask | op.mask, 0.0


def _is_about(condition: object, column: str) -> bool:
    return isinstance(condition, Where) and condition.column == column
