"""Questions about the rows that a thing has by the day or by the piece: prices, games, payments, chart weeks.

`engine.translate.frames` finds the rows that are spoken of; here stands what may be asked of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from kg.domain import Column, Table

from .frames import AGAINST, Frame, stands_alone
from .lexicon import Atom
from .meaning import (
    Aggregate,
    Calculate,
    Condition,
    Count,
    Exists,
    Meaning,
    Names,
    Same,
    Set,
    Than,
    Through,
    To,
    Top,
    Where,
)
from .moves import Mover
from .question import Time, distance
from .reading import Reading
from .superlatives import turns
from .wanted import CLASHES, FITS

NUMBER_OF = 1.2  # what it costs to answer "who" with a number
ALL_OF_THEM = 1.3  # what it costs to list everybody who has rows of a kind: "who won the league"
WEEK = 7  # days
SUMMED = 0.3  # what it costs to add up where nobody said so: "goals this season"


class OfRecords(Mover):
    """Reads a question as one about the rows of one dated table."""

    def readings(self) -> Iterator[Reading]:
        for table in self.domain.tables:
            if not table.moment or table.is_entity or not self._is_spoken_of(table) or self._lacks_clock(table):
                continue
            for anchored in self._anchored(table):
                narrowed = self._narrowed(anchored)
                for frame in self._timed(narrowed):
                    yield from self._asked(frame)
                yield from self._on_that_day(narrowed)

    def _on_that_day(self, frame: Frame) -> Iterator[Reading]:
        """Of a row the day of which another table tells: the price on the last ex-dividend day."""
        column = frame.table.column(frame.table.moment)
        if frame.anchor is None or column.type != "DATE":
            return
        for table in self.domain.tables:
            if table is frame.table or not table.moment or table.column(table.moment).type != "DATE":
                continue
            if not self._is_spoken_of(table):
                continue
            for anchored in self._anchored(table):
                if anchored.anchor is not frame.anchor or anchored.mask != anchored.anchor.mask:
                    continue
                for day in self._timed(self._narrowed(anchored)):
                    if day.one and day.mask != anchored.mask:
                        same = Same(frame.table.moment, day.rows, table.moment)
                        words = day.mask | self._date_words(day)
                        on = frame.also(same, mask=words, solid=words, cost=day.cost)
                        yield from self._asked(replace(on, one=True))

    # -- what is asked ---------------------------------------------------------------------------------------------

    def _asked(self, frame: Frame) -> Iterator[Reading]:
        for meaning, mask, cost, fit in self._asks(frame):
            alternatives = isinstance(meaning, Names) and self._names_alternatives(frame.table, meaning.column)
            if isinstance(meaning, Exists) or not self.wanted.yes_no or alternatives:
                cost += NUMBER_OF if self._asks_for_things(frame.table) and self._is_number(meaning) else 0.0
                fit = FITS if alternatives and self.wanted.yes_no else fit
                yield self.reading(meaning, frame.mask | mask, frame.cost + cost, fit)
            if isinstance(meaning, (Names, Aggregate)) and self._is_priced(frame, meaning):
                yield from self._dealt(meaning, frame.mask | mask, frame.cost + cost)
            yield from self._compared(frame, meaning, mask, cost)
        if frame.others and frame.top is None and any(self._is_narrow(frame, c) for c in frame.conditions):
            # "who has more wins": rows of a kind are counted, although nobody says so
            yield from self._compared(frame, Count(frame.rows), 0, 0.0)
        if frame.others and frame.anchor is not None:
            for column, _, mask in self.composer.superlatives(frame.table):
                if column.numeric and not mask & frame.solid:
                    if frame.one:
                        yield from self._compared(frame, Names(frame.rows, column.name), mask, 0.0)
                        continue
                    yield from self._compared(frame, Aggregate("sum", frame.rows, column.name), mask, SUMMED)
                    averages = self._masks(op.mask for op in self.question.of("op", "average")) & ~frame.solid
                    if averages:
                        average = Aggregate("avg", frame.rows, column.name)
                        yield from self._compared(frame, average, mask | averages, 0.0)
        yield from self._changed(frame)

    def _names_alternatives(self, table: Table, column: str) -> bool:
        """Whether the question names the choice that a column holds: "at home or away"."""
        return any(a.meant.column == column and " or " in a.phrase for a in self._columns_of_table(table))

    def _asks_for_things(self, table: Table) -> bool:
        """Whether "who" or "which team" asks for what the rows link to, and nothing asks for a number."""
        linked = {c.links.table for c in table.columns if c.links}
        asked = {a.meant.table for a in self.question.of("wh") if a.phrase in ("who", "whom")}
        return bool(linked & (asked | self.wanted.tables)) and not self.wanted.number

    def _is_number(self, meaning: Meaning) -> bool:
        if isinstance(meaning, Names):
            return self.domain.table(meaning.set.table).column(meaning.column).numeric
        return isinstance(meaning, (Aggregate, Calculate, Count))

    def _is_priced(self, frame: Frame, value: Names | Aggregate) -> bool:
        """Whether a value is one amount of money."""
        one = frame.one if isinstance(value, Names) else value.function == "sum"
        return one and frame.anchor is not None and frame.table.column(value.column).unit == "USD"

    def _asks(self, frame: Frame) -> Iterator[tuple[Meaning, int, float, float]]:
        """(meaning, words, cost, fit) of everything that can be asked of the rows."""
        if frame.sides:
            # of two that met, what is said tells one: who won
            yield from self._of_sides(frame) if frame.said else ()
            return
        yield from self._of_columns(frame)
        yield from self._of_best(frame)
        yield from self._of_sides(frame)
        yield from self._of_all(frame)
        yield from self._of_two_columns(frame)
        for a in self.question.of("measure"):
            m = self.composer.lexicon.measures[a.meant.name]
            if m.table == frame.table.name and frame.one and not a.mask & frame.solid:
                yield Calculate(m.function, Names(frame.rows, m.first), Names(frame.rows, m.second)), a.mask, 0.0, FITS

    def _of_columns(self, frame: Frame) -> Iterator[tuple[Meaning, int, float, float]]:
        said = self._columns_of_table(frame.table)
        if frame.others and frame.one:
            # "which was ranked higher": what is compared is said by how
            said = said + [a for a in self.question.of("most") if a.meant.table == frame.table.name]
        for a in said:
            column = frame.table.column(a.meant.column)
            if a.mask & frame.solid or column.links or self._is_fixed(frame, column) or self._is_far(frame, column):
                continue
            fit = self._fit(a, column)
            far = 0.02 * distance(a.mask, frame.solid)
            counted = self._counted(a, frame) if column.numeric and column.unit != "USD" else 0
            if frame.one or not column.numeric:
                yield Names(frame.rows, column.name), a.mask | counted, far, FITS if counted else fit
            if not column.numeric or frame.one:
                continue
            aggregated = False
            for name, function in (("sum", "sum"), ("average", "avg"), ("highest", "max"), ("lowest", "min")):
                ops = [op for op in self.question.of("op", name) if not op.mask & (a.mask | frame.solid)]
                again = self._masks(op.mask for op in ops) if function in ("sum", "avg") else 0
                for op in ops if function != "sum" or not column.range else ():
                    if self.composer.says_most(op, column, frame.table) or turns(op, column, name == "highest"):
                        continue  # a superlative of its own
                    near = function in ("sum", "avg") or distance(op.mask, a.mask) <= 2
                    if near:
                        aggregated = True
                        yield (
                            Aggregate(function, frame.rows, column.name),
                            a.mask | op.mask | again,
                            far,
                            self._fit_number(),
                        )
            if (function := self._extreme(a)) and not aggregated:
                yield Aggregate(function, frame.rows, column.name), a.mask, far, self._fit_number()
            elif not aggregated and frame.top is None:
                # "how many shares were traded" asks for their sum
                extra = (0.0, self._fit_number()) if counted or a.meant.kind == "ask" else (SUMMED, fit)
                if column.adds:
                    yield Aggregate("sum", frame.rows, column.name), a.mask | counted, far + extra[0], extra[1]
                yield Names(frame.rows, column.name), a.mask, far + (2 * SUMMED if column.adds else SUMMED), fit

    def _of_two_columns(self, frame: Frame) -> Iterator[tuple[Meaning, int, float, float]]:
        """The difference between two numbers of one row."""
        numbers = [
            a
            for a in self._columns_of_table(frame.table)
            if frame.table.column(a.meant.column).numeric and not a.mask & frame.solid
        ]
        for a, b in itertools.combinations(numbers, 2):
            if a.meant.column == b.meant.column or a.mask & b.mask:
                continue
            moves = [op for name in ("difference", "change", "gain", "loss") for op in self.question.of("op", name)]
            for op in moves:
                if op.mask & (a.mask | b.mask | frame.solid):
                    continue
                columns = [x.meant.column for x in (a, b)]
                if frame.one:
                    one, other = (Names(frame.rows, c) for c in columns)
                    yield Calculate("distance", one, other), a.mask | b.mask | op.mask, 0.0, FITS
                elif frame.top is None and all(frame.table.column(c).adds for c in columns):
                    sums = [Aggregate("sum", frame.rows, c) for c in columns]
                    yield Calculate("distance", sums[0], sums[1]), a.mask | b.mask | op.mask, 0.0, FITS

    def _counted(self, a: Atom, frame: Frame) -> int:
        """The "how many" right before a column, but for names: "number of microsoft shares traded"."""
        for op in self.question.of("op", "count"):
            between = [
                k for k in range(op.last + 1, a.first) if not frame.solid >> k & 1 and self.question.weights[k] > 0
            ]
            if op.last < a.first and not between and "time" not in op.phrase:
                return op.mask
        return 0

    def _fit(self, a: Atom, column: Column) -> float:
        """How well a column answers the question word."""
        w = self.wanted
        if self._asks_for_days(a.meant.table):
            return FITS if a.meant.column == self.domain.table(a.meant.table).moment else CLASHES
        if a.meant.kind == "ask":
            return FITS
        if w.count and column.unit == "USD" and not self._unit_words(column, a.mask):
            return CLASHES
        if column.numeric and (w.number or w.money) and not w.yes_no:
            return FITS if w.number or column.unit == "USD" else 0.0
        if w.place and column.numeric:
            return 0.0  # "where did it close"
        return w.fit_column(column)

    def _fit_number(self) -> float:
        """How well a number that was worked out answers the question word."""
        w = self.wanted
        return CLASHES if w.person or (w.date and not w.count) else FITS

    def _asks_for_days(self, table: str) -> bool:
        """Whether "which days", "on what date" ask for the moment of rows."""
        moment = self.domain.table(table).moment
        return any(
            a.meant.table == table and a.meant.column == moment and self.question.is_asked_for(a)
            for a in self.question.of("column")
        )

    def _of_best(self, frame: Frame) -> Iterator[tuple[Meaning, int, float, float]]:
        """The row with the most of something: its day, the other side, another of its columns."""
        if frame.top is not None or (frame.one and (not frame.table.every or self._is_single(frame))):
            return
        for column, descending, mask in self.composer.superlatives(frame.table):
            if column.name == frame.table.moment or mask & frame.solid or self._is_far(frame, column):
                continue
            best = replace(frame, top=Top(column.name, descending), one=True)
            cost = 0.02 * distance(mask, frame.mask)
            if column.numeric:
                fit = FITS if self.wanted.number or self.wanted.money else 0.0
                yield Aggregate("max" if descending else "min", frame.rows, column.name), mask, cost, fit
            if frame.table.moment and (self.wanted.date or self._date_words(frame)):
                yield Names(best.rows, frame.table.moment), mask | self._date_words(frame), cost, FITS
            side = self.open_side(frame) if frame.anchor is not None and self._asks_for_things(frame.table) else None
            if side is not None:
                yield Names(best.rows, side.name), mask, cost, FITS
            for a in self._columns_of_table(frame.table):
                asked = frame.table.column(a.meant.column)
                if asked != column and not a.mask & (frame.solid | mask) and asked.name != frame.table.moment:
                    yield Names(best.rows, asked.name), mask | a.mask, cost, self._fit(a, asked)

    def open_side(self, frame: Frame) -> Column | None:
        """The first column that links to things and is still open."""
        bound = {c.column for c in frame.conditions if isinstance(c, To)}
        linked = [c for c in frame.table.columns if c.links and self.domain.table(c.links.table).is_entity]
        return next((c for c in linked if c.name not in bound), None)

    def _of_sides(self, frame: Frame) -> Iterator[tuple[Meaning, int, float, float]]:
        """The things that the rows link to: who beat them, whom they played, which of these."""
        open_ends = 0
        for column in frame.table.columns:
            if not column.links or not self.domain.table(column.links.table).is_entity:
                continue
            target = column.links.table
            bound = next((c for c in frame.conditions if isinstance(c, To) and c.column == column.name), None)
            if bound is not None and len(bound.set.entities) == 1:
                continue
            # "who did they beat": the verb both asks and says the result
            free = frame.solid & ~self._masks(mask for _, mask in frame.said)
            asked = [a for a in self._columns_of_table(frame.table) if a.meant.column == column.name]
            rows = _in_order(frame)
            fit = self.wanted.fit_rows(target)
            said = fit if self.wanted.number or self.wanted.yes_no or self.wanted.person else max(fit, 0.0)
            cost = AGAINST if open_ends else 0.0
            open_to_all = not any(isinstance(c, To) for c in frame.conditions) and frame.top is None
            if open_to_all and self._has_future(frame.table.column(frame.table.moment)):
                cost += 0.0 if any(_is_short(t) for t in frame.times) else ALL_OF_THEM
            for a in asked:
                if not a.mask & (free if a.meant.kind == "ask" else frame.solid):
                    yield Names(rows, column.name), a.mask, cost, FITS if a.meant.kind == "ask" else said
            fit = FITS if self.picks and self._is_chosen(frame) else fit
            if fit > 0 and not asked:
                # "who had the number one song": what the rows link to besides is what they are
                besides = (
                    0
                    if self._has_future(frame.table.column(frame.table.moment))
                    else self._words_of_others(frame, column)
                )
                yield Names(rows, column.name), besides, cost, fit
            open_ends += 1
            for op in self.question.of("op", "count") if frame.top is None else ():
                # "how many (different) songs": the things, each once
                nouns = [a for a in (*asked, *self.question.of("table")) if a in asked or a.meant.table == target]
                near = [a for a in nouns if op.last < a.first <= op.last + 6 and not a.mask & (op.mask | frame.solid)]
                other = any(
                    a.mask & op.mask == op.mask and a.meant.table != frame.table.name for a in self.question.of("ask")
                )
                if near and bound is None and not other:
                    first = min(near, key=lambda a: a.first)
                    things = Set(target, (Through(frame.rows),))
                    yield Count(things), op.mask | first.mask, 0.02 * (first.first - op.last - 1), FITS

    def _tops_said(self, frame: Frame) -> bool:
        return next(self._by_moment(frame), None) is not None

    def _is_chosen(self, frame: Frame) -> bool:
        """Whether something is said of the rows that may hold for some of several things."""
        return any(isinstance(c, Than) or self._is_narrow(frame, c) for c in frame.conditions)

    def _words_of_others(self, frame: Frame, column: Column) -> int:
        others = {c.name for c in frame.table.columns if c.links and c.name != column.name}
        return self._masks(
            a.mask
            for a in self._columns_of_table(frame.table)
            if a.meant.column in others and not a.mask & frame.solid and self.wanted.person
        )

    def _of_all(self, frame: Frame) -> Iterator[tuple[Meaning, int, float, float]]:
        """How many rows, whether there are any, when they are, which part of all they are."""
        narrowed = any(self._is_narrow(frame, c) for c in frame.conditions)
        words = sum(a.mask for a in self.question.of("table") if a.meant.table == frame.table.name)
        for op in self.question.of("op", "count"):
            if not op.mask & frame.solid and frame.top is None and not self._is_single(frame):
                near = 0.0 if words or narrowed else 0.6
                total = self._masks(a.mask for a in self.question.of("op", "sum"))  # "how many weeks in total"
                yield Count(frame.rows), op.mask | total, near, FITS
        if frame.table.every and any(w.text in self.composer.lexicon.generic["lasting"] for w in self.question.words):
            yield Count(frame.rows), words, 0.0, 0.0
        for op in self.question.of("op", "sum") if frame.top is None and not self._is_single(frame) else ():
            # "total weeks", of which nothing else is to be added up
            if words >> (op.last + 1) & 1 and not op.mask & frame.solid:
                yield Count(frame.rows), op.mask | words, 0.0, FITS
        if self.wanted.yes_no and (narrowed or (frame.times and words)):
            rows = self._of_chosen(frame) if frame.top is not None else frame.rows
            if rows.conditions != frame.conditions or frame.top is None:
                yield Exists(rows), 1, 0.0, FITS
        # "when" alone asks for the day of something that is said of the rows
        spoken = (
            words or narrowed or bool(frame.top and self._tops_said(frame)) or self._date_words(frame).bit_count() > 1
        )
        if frame.table.moment and spoken and (self.wanted.date or self._date_words(frame)):
            year = self.wanted.year and not any(t.grain == "year" for t in frame.times)
            counted = self.wanted.count and not self.wanted.date
            yield (
                Names(frame.rows, frame.table.moment, year),
                self._date_words(frame),
                0.0,
                CLASHES if counted else FITS,
            )
        for op in self.question.of("op", "percent") if narrowed and frame.top is None else ():
            if not op.mask & frame.solid:
                yield Calculate("percent", Count(frame.rows), Count(self._every(frame, op))), op.mask, 0.0, FITS

    def _is_far(self, frame: Frame, column: Column) -> bool:
        """Whether a column can be had only day by day, and no day is named."""
        if not self.domain.is_asked_by_day(frame.table) or column.name == frame.table.moment:
            return False
        dated = any(
            (isinstance(c, Where) and c.column == frame.table.moment)
            or (isinstance(c, Same) and c.own == frame.table.moment)
            for c in frame.conditions
        )
        whole = [a for a in self.domain.accesses[frame.table.name] if frame.table.moment in a.lacks]
        return not dated and frame.top is None and not any(column.name not in a.lacks for a in whole)

    def _is_single(self, frame: Frame) -> bool:
        """Whether there is at most one row: how a thing did on a day."""
        bound = {c.column for c in frame.conditions if isinstance(c, To)}
        return frame.one and {*frame.table.key} <= {frame.table.moment, *bound}

    def _of_chosen(self, frame: Frame) -> Set:
        """What is said of the row that is chosen: "did they win their last home game" chooses a home game."""
        assert frame.top is not None
        inside, outside = self._split(frame)
        moment = frame.table.moment
        chosen = Set(frame.table.name, inside, frame.top)
        whose = tuple(c for c in inside if isinstance(c, To))
        return Set(frame.table.name, (*whose, *outside, Same(moment, chosen, moment)))

    def _split(self, frame: Frame) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
        """The conditions of a frame: those that choose rows, and those that are said of the rows chosen.

        What stands between "last" and the table's noun ("their last home game") chooses.
        """
        starts = [a.last for a in self.question.of("most") if a.meant.column == frame.table.moment]
        nouns = [a.first for a in self.question.of("table") if a.meant.table == frame.table.name]
        spans = [(s, min((n for n in nouns if n > s), default=s)) for s in starts]
        outside = {column for column, mask in frame.said if not any(s < mask.bit_length() - 1 <= n for s, n in spans)}
        apart = tuple(c for c in frame.conditions if isinstance(c, Where) and c.column in outside)
        return tuple(c for c in frame.conditions if c not in apart), apart

    def _every(self, frame: Frame, op: Atom) -> Set:
        """The rows of a frame without what stands next to "percentage": "the winning percentage at home"."""
        fixtures = self._has_future(frame.table.column(frame.table.moment))
        if not fixtures and stands_alone(frame.table, self.domain) and frame.anchor is not None:
            # of all weeks, not of its own: those when anything was there
            return Set(frame.table.name, tuple(c for c in frame.conditions if not isinstance(c, To)))
        near = min((distance(mask, op.mask), column) for column, mask in frame.said)[1] if frame.said else ""
        kept = (
            c
            for c in frame.conditions
            if not self._is_narrow(frame, c) or (near and not (isinstance(c, Where) and c.column == near))
        )
        return Set(frame.table.name, tuple(kept))

    def _is_narrow(self, frame: Frame, c: Condition) -> bool:
        """Whether a condition chooses among the rows of a thing and a time."""
        return isinstance(c, Than) or (isinstance(c, Where) and c.column != frame.table.moment)


def _is_short(time: Time) -> bool:
    """Whether a time is a week at most."""
    return time.first is not None and time.last is not None and (time.last - time.first).days < WEEK


def _in_order(frame: Frame) -> Set:
    """The rows of a frame in the order of their places, if it has the first of these: "the top five"."""
    for c in frame.conditions:
        if isinstance(c, Where) and c.op == "<=" and frame.one and frame.top is None and isinstance(c.values[0], int):
            return replace(frame.rows, top=Top(c.column, False, c.values[0]))
    return frame.rows
