"""Questions about what came next: "who did they play after losing to the heat", "their first game after the cup".

The clause behind "after" tells of one row; what is asked is the row that follows it (or, behind "before", precedes it).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

from kg.domain import Table

from .compose import Composer
from .frames import Frame
from .meaning import Exists, Names, Same, Set, To, Top, Where
from .question import Question
from .reading import Reading
from .records import OfRecords
from .wanted import FITS

REACH = dt.timedelta(days=250)  # a season's break, and some


class OfSequels(OfRecords):
    """Reads a question as one about the row after another row."""

    def readings(self) -> Iterator[Reading]:
        for word, end, later in self._clauses():
            inside = self._masks(1 << i for i in range(word + 1, end))
            for table in self.domain.tables:
                if table.moment and not table.is_entity and self._is_spoken_of(table):
                    yield from self._following(table, inside, 1 << word, later)

    def _clauses(self) -> Iterator[tuple[int, int, bool]]:
        """(word, end, whether it looks forward) of each clause behind "after" or "before" that is no time."""
        text, words = self.question.text, self.question.words
        for i, w in enumerate(words[:-1]):
            later = w.text in self.composer.lexicon.generic["sequels"]
            if not later and w.text not in self.composer.lexicon.generic["preludes"]:
                continue
            if any(t.mask >> i & 1 for t in self.question.times):
                continue
            gaps = ((k, text[words[k].end : words[k + 1].start]) for k in range(i + 1, len(words) - 1))
            # a comma inside of a date is not the clause's end
            end = next((k + 1 for k, gap in gaps if set(",;:-?") & set(gap) and not self._in_time(k)), len(words))
            yield i, end, later

    def _in_time(self, k: int) -> bool:
        return any(t.mask >> k & 3 == 3 for t in self.question.times)

    def _following(self, table: Table, inside: int, word: int, later: bool) -> Iterator[Reading]:
        clause = OfRecords(self._of_words(inside, with_names=True), [], self.now)
        rest = OfSequels(self._of_words(~(inside | word)), [], self.now)
        moment = table.moment
        for anchored in clause._anchored(table):
            if anchored.sides or anchored.anchor is None or not self._is_subject(table, anchored):
                continue
            for event in clause._timed(clause._narrowed(anchored)):
                if not event.one or not (event.said or event.times or len(event.conditions) > 2):
                    continue
                subject = next(c for c in event.conditions if isinstance(c, To))
                after = Same(moment, replace(event.rows, top=event.top), moment, op=">" if later else "<")
                around = self._around(event, later)
                words = event.mask | word
                start = Frame(table, (subject, *around), words, words, event.cost, event.anchor)
                yield from rest._of_next(start, after, later)

    def _around(self, event: Frame, later: bool) -> tuple[Where, ...]:
        """Days between which the next row must be, from those of the event: a listing needs them."""
        moment = event.table.moment
        if not event.times or event.times[0].first is None or event.times[0].last is None:
            return (Where(moment, "<=", (self.now,)),)
        first, last = event.times[0].first, event.times[0].last
        low, high = (first, last + REACH) if later else (first - REACH, last)
        return (Where(moment, "between", (low.isoformat(), high.isoformat())),)

    def _is_subject(self, table: Table, frame: Frame) -> bool:
        """Whether it is the thing's own row that is told of, not one of the other side."""
        links = [c.name for c in table.columns if c.links]
        return any(isinstance(c, To) and c.column == links[0] for c in frame.conditions) if links else False

    def _of_next(self, start: Frame, after: Same, later: bool) -> Iterator[Reading]:
        narrowed = self._narrowed(start)
        table, moment = start.table, start.table.moment
        words = self._masks(a.mask for a in self.question.of("most") if a.meant.column == moment)
        top = Top(moment, not later)
        if self.wanted.yes_no:
            if narrowed.said:
                following = Set(table.name, (*start.conditions, after), top)
                said = tuple(c for c in narrowed.conditions if c not in start.conditions)
                rows = Set(table.name, (*start.conditions, *said, Same(moment, following, moment)))
                yield self.reading(Exists(rows), narrowed.mask | words | 1, narrowed.cost, FITS)
            return
        frame = replace(narrowed.also(after, mask=words), top=top, one=True)
        for meaning, mask, cost, fit in self._asks(frame):
            if not (
                isinstance(meaning, Names) and table.column(meaning.column).links and meaning.column == _own(table)
            ):
                yield self.reading(meaning, frame.mask | mask, frame.cost + cost, fit)

    def _of_words(self, mask: int, *, with_names: bool = False) -> Composer:
        """A composer for some of the words; `with_names`: with names from elsewhere too, as "their" may mean them."""
        q = self.question
        named = [n for n in q.named if n.mask & mask == n.mask]
        if with_names:
            named += [n for n in q.named if not n.mask & mask]
        part = Question(
            q.text,
            q.words,
            [a for a in q.atoms if a.mask & mask == a.mask],
            named,
            [m for m in q.moments if m.mask & mask == m.mask],
            [t for t in q.times if t.mask & mask == t.mask],
            [n for n in q.numbers if mask >> n[0] & 1],
            q.weights,
        )
        return Composer(self.composer.lexicon, part, None)


def _own(table: Table) -> str:
    return next((c.name for c in table.columns if c.links), "")
