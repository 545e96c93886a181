"""Questions about the rows that a thing has by the day or by the piece: prices, games, payments, chart weeks.

Where the composer lets pieces float, here the table gives a frame whose slots the question fills (Fillmore 1976;
Bobrow et al., GUS, 1977): whose rows, of when, which of them, and what is asked of them. Slots that the
question leaves open have a default: the latest row up to the time of the question.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kg.domain import Column, Domain, Table

from .compose import turns
from .lexicon import Atom
from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Condition,
    Count,
    Exists,
    Given,
    Is,
    Meaning,
    Names,
    Same,
    Set,
    Than,
    Through,
    To,
    Top,
    Value,
    Where,
    Which,
)
from .question import FEW, Named, Time, distance
from .reading import Reader, Reading
from .wanted import CLASHES, FITS, SURE

LATEST = 0.3  # what it costs to take the latest row where no time is named
NUMBER_OF = 1.2  # what it costs to answer "who" with a number
NAMED = 0.5  # what a name may cost that is meant
UNTIMED = 1.3  # what it costs to take all the rows of all years where no time is named
ALL_OF_THEM = 1.3  # what it costs to list everybody who has rows of a kind: "who won the league"
WEEK = 7  # days
SUMMED = 0.3  # what it costs to add up where nobody said so: "goals this season"
UNANCHORED = 0.5  # what it costs to ask for the rows of everybody
HISTORY = 0.6  # what it costs to take all there ever was where no thing is named
EVENT = 0.2  # what it costs to take a day from what happened to somebody
SAID_WITH = 0.1  # what it costs to take a name for part of how another is said
AGAINST = 0.3  # what it costs to take the one that was beaten for the one whose row it is
BOTH = 0.3  # what it costs to take either of two sides for the one whose row it is
OPPOSED = 0.15  # what it costs to take the later of two names for the one whose row it is
REVERSED = 1.6  # what it costs where words say that it is the other side: "lost to X"


@dataclass(frozen=True)
class Frame:
    """A table with the slots that were filled: conditions, the words they explain, those no other piece may use.

    `times` are those used, `others` the things of the same table that are not, `one`: at most one row is meant.
    """

    table: Table
    conditions: tuple[Condition, ...] = ()
    mask: int = 0
    solid: int = 0
    cost: float = 0.0
    anchor: Named | None = None
    others: tuple[Named, ...] = ()
    times: tuple[Time, ...] = ()
    top: Top | None = None
    one: bool = False
    sides: bool = False  # either of two may be the one whose row it is
    said: tuple[tuple[str, int], ...] = ()  # the columns that values were found for, and their words

    @property
    def rows(self) -> Set:
        return Set(self.table.name, self.conditions, self.top)

    def also(self, *more: Condition, mask: int = 0, solid: int = 0, cost: float = 0.0) -> Frame:
        return replace(
            self,
            conditions=self.conditions + more,
            mask=self.mask | mask,
            solid=self.solid | solid,
            cost=self.cost + cost,
        )


class OfRecords(Reader):
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

    def _lacks_clock(self, table: Table) -> bool:
        """Whether rows go by the minute, but the question names neither a clock time nor the rows."""
        if table.column(table.moment).type != "TIMESTAMP":
            return False
        return not any(t.at for t in self.question.times) and not any(
            a.meant.table == table.name for a in self.question.of("table")
        )

    def _is_spoken_of(self, table: Table) -> bool:
        kinds = ("column", "ask", "most", "value", "table", "test", "measure")
        if any(a.meant.table == table.name for kind in kinds for a in self.question.of(kind)):
            return True
        if any(p.table == table.name for p in self.question.placed):
            return True
        moves = any(self.question.of("op", name) for name in ("gain", "loss", "change"))
        return moves and self._by_day(table) is not None and bool(self.question.named)

    def _by_day(self, table: Table) -> tuple[str, str] | None:
        """(column, the same of the row before) of a table whose rows follow each other: what moves up and down."""
        tests = self.composer.lexicon.tests.values()
        return next(((t.column, t.other) for t in tests if t.table == table.name), None)

    # -- whose rows ----------------------------------------------------------------------------------------------

    def _anchored(self, table: Table) -> Iterator[Frame]:
        """The frames of a table for whatever the question names that it links to."""
        links: dict[str, list[Column]] = {}
        for c in table.columns:
            if c.links and self.domain.table(c.links.table).is_entity:
                links.setdefault(c.links.table, []).append(c)
        for target, columns in links.items():
            named = self._named(target)
            for n in named:
                others = tuple(o for o in named if o is not n)
                own = self._with(Frame(table), columns[0], (n,), others)
                opposed = len(columns) > 1 and self._is_opposed(n)
                yield own.also(cost=AGAINST) if opposed and not others else own
                if opposed:
                    yield self._with(Frame(table), columns[1], (n,), others)
            if len(columns) > 1:
                for a, b in itertools.permutations(named, 2):
                    rest = tuple(o for o in named if o not in (a, b))
                    one = self._with(Frame(table), columns[0], (a,), rest)
                    cost = OPPOSED if a.mask > b.mask else 0.0
                    cost = REVERSED if self._is_opposed(a) and not self._is_opposed(b) else cost
                    yield replace(self._with(one, columns[1], (b,), rest), anchor=a, cost=one.cost + b.cost + cost)
                compares = any(self.question.of("op", name) for name in ("higher", "lower"))
                for a, b in itertools.combinations(named, 2) if not compares else ():
                    rest = tuple(o for o in named if o not in (a, b))
                    one = self._with(Frame(table, cost=BOTH, sides=True), columns[0], (a, b), rest)
                    yield self._with(one, columns[1], (a, b), rest).also(cost=-a.cost - b.cost)
            elif 2 <= len(named) <= FEW:
                yield self._with(Frame(table), columns[0], named, ())
        yield from self._doubly(table, links)
        alone = _stands_alone(table, self.domain)
        if self._has_future(table.column(table.moment)):
            # games of teams: a team that is named is meant, be it one of another table
            alone = False
            elsewhere = any(n.cost < NAMED for n in self.question.named) and self._is_one_of_several()
        else:
            elsewhere = False
        if alone or not (elsewhere or any(self._named(target) for target in links)):
            yield Frame(table, cost=UNANCHORED if links and not alone else 0.0)

    def _doubly(self, table: Table, links: dict[str, list[Column]]) -> Iterator[Frame]:
        """The frames of a table that links to things of two kinds, for one of each: that song by that artist."""
        for one, other in itertools.combinations(links, 2):
            for a, b in itertools.product(self._named(one), self._named(other)):
                if a.mask & b.mask:
                    continue
                for first, second in ((a, b), (b, a)):
                    frame = self._with(Frame(table), links[first.table][0], (first,), ())
                    both = self._with(frame, links[second.table][0], (second,), ())
                    yield replace(both, anchor=first)
                    break
                if _tells_apart(table, links[a.table][0]) and _tells_apart(table, links[b.table][0]):
                    continue
                # what tells the rows apart is enough, the other name is said with it: "X's song"
                first, second = (a, b) if _tells_apart(table, links[a.table][0]) else (b, a)
                frame = self._with(Frame(table), links[first.table][0], (first,), ())
                yield replace(
                    frame,
                    mask=frame.mask | second.mask,
                    solid=frame.solid | second.mask,
                    cost=frame.cost + second.cost + SAID_WITH,
                )

    def _is_one_of_several(self) -> bool:
        """Whether dated tables are about several kinds of things: a name of one is not passed over in another."""
        linked = (frozenset(c.links.table for c in t.columns if c.links) for t in self.domain.tables if t.moment)
        return len({tables for tables in linked if tables}) > 1

    def _named(self, target: str) -> tuple[Named, ...]:
        """The things of a table that the question names, in its order."""
        return tuple(n for n in self.question.things(target) if not self._is_a_value(n))

    def _is_a_value(self, n: Named) -> bool:
        """Whether the words of a doubtful name say a value: "number one" is a song, too."""
        said = self._masks(a.mask for a in self.question.of("value") if self.domain.table(a.meant.table).every)
        return n.cost > SURE and n.mask & said == n.mask

    def _with(self, frame: Frame, column: Column, things: Sequence[Named], others: tuple[Named, ...]) -> Frame:
        mask, cost = 0, 0.0
        for n in things:
            mask |= n.mask
            cost += n.cost
        assert column.links is not None
        to = To(Set(column.links.table, (Is(tuple(n.best for n in things)),)), column.name)
        anchored = frame.also(to, mask=mask, solid=mask, cost=cost)
        return replace(anchored, anchor=things[0] if len(things) == 1 else None, others=others)

    def _is_opposed(self, n: Named) -> bool:
        """Whether a name stands where the other side does: "beat X", "against X", "at X"."""
        first, end = (n.mask & -n.mask).bit_length() - 1, n.mask.bit_length()
        if end < len(self.question.words) and self.question.words[end].text == "'s":
            return False
        before = {w.text for w in self.question.words[max(0, first - 2) : first]}
        return bool(before & set(self.composer.lexicon.generic["opposed"]))

    # -- which of them -------------------------------------------------------------------------------------------

    def _narrowed(self, frame: Frame) -> Frame:
        """The frame with every value, idiom and number of its table that the question has."""
        held: dict[str, Atom] = {}
        for p in sorted(self.question.placed, key=lambda p: -p.mask.bit_count()):
            if p.table == frame.table.name and not p.mask & frame.solid:
                frame = frame.also(Where(p.column, p.op, (p.value,)), mask=p.mask, solid=p.mask)
                frame = replace(frame, said=(*frame.said, (p.column, p.mask)))
                break
        for a in sorted(self.question.of("value"), key=lambda a: -a.mask.bit_count()):
            if a.meant.table != frame.table.name or a.mask & frame.solid or not a.meant.values:
                continue
            if self._is_fixed(frame, frame.table.column(a.meant.column)):
                continue
            if self._is_small(a) and not self._leads_to_other(a, frame):
                continue
            if self._is_part_of_number(a, frame):
                continue
            if not any(h.mask & a.mask for h in held.values()):
                held.setdefault(a.meant.column, a)
        for column, a in held.items():
            values = a.meant.values
            # a flag or a result is said by a verb that may say other things too
            solid = a.mask if frame.table.column(column).type == "TEXT" else 0
            frame = frame.also(Where(column, "=" if len(values) == 1 else "in", values), mask=a.mask, solid=solid)
            frame = replace(frame, said=(*frame.said, (column, a.mask)))
        for a in sorted(self.question.of("test"), key=lambda a: -a.mask.bit_count()):
            if a.meant.table == frame.table.name and not a.mask & frame.solid and not self._weighs_up(a):
                test = self.composer.lexicon.tests[a.meant.name]
                said = sum(1 << i for i in self._words_of_test(a.meant.name))
                frame = frame.also(Than(test.column, test.op, test.other), mask=said, solid=said)
                for b in self._columns_of_table(frame.table):
                    if b.meant.column in (test.column, test.other):
                        frame = replace(frame, mask=frame.mask | b.mask)
                break
        return self._numbered(frame)

    def _weighs_up(self, test: Atom) -> bool:
        """Whether "closed higher" compares two things that are offered, not a day with the one before."""
        compares = any(a.mask & test.mask for name in ("higher", "lower") for a in self.question.of("op", name))
        return self.wanted.offers and compares and " than " not in f" {test.phrase} "

    def _words_of_test(self, name: str) -> list[int]:
        """The words of all phrases that say the same test: "finished lower" and "lower than the day before"."""
        masks = [a.mask for a in self.question.of("test", name)]
        return [i for i in range(len(self.question.words)) if any(m >> i & 1 for m in masks)]

    def _is_part_of_number(self, a: Atom, frame: Frame) -> bool:
        """Whether the words belong to a phrase that asks for a number: "drew" in "drew a crowd"."""
        return any(
            b.mask != a.mask and b.mask & a.mask == a.mask and frame.table.column(b.meant.column).numeric
            for b in (*self._columns_of_table(frame.table), *self.question.of("most"))
            if b.meant.table == frame.table.name
        )

    def _is_small(self, a: Atom) -> bool:
        return all(self.question.weights[i] == 0 for i in range(a.first, a.last + 1) if a.mask >> i & 1)

    def _leads_to_other(self, a: Atom, frame: Frame) -> bool:
        """Whether "at" stands before the name of the other side."""
        sides = [n for n in self.question.named if n.mask & frame.mask == n.mask and n is not frame.anchor]
        behind = 1 << (a.last + 1)
        return any(n.mask & -n.mask in (behind, behind << 1) for n in sides)

    def _numbered(self, frame: Frame) -> Frame:
        """ "More than 5 million shares": a number behind words that compare, near a column."""
        scales = self.composer.lexicon.generic["scales"]
        timed = 0
        for mask in [*(t.mask for t in self.question.times), *(p.mask for p in self.question.placed)]:
            timed |= mask
        for i, number in self.question.numbers:
            if (timed | frame.solid) >> i & 1:
                continue
            op, words = self._comparison(i)
            if not op:
                continue
            mask, words_after = 1 << i | words, self.question.words[i + 1 : i + 2]
            if words_after and words_after[0].text in scales:
                number *= scales[words_after[0].text]
                mask |= 1 << (i + 1)
            found = self._measure_near(frame, i)
            if found is not None:
                column, said = found
                value = int(number) if float(number).is_integer() else number
                mask |= self._unit_words(column, mask) | self._moves_to(op, mask)
                for a in self._columns_of_table(frame.table):
                    said |= a.mask if a.meant.column == column.name and not a.mask & frame.solid else 0
                return frame.also(Where(column.name, op, (value,)), mask=mask | said, solid=mask | said)
        return frame

    def _comparison(self, i: int) -> tuple[str, int]:
        """The operator that words around the number at `i` make, and the words."""
        for name, op in (("above", ">"), ("below", "<")):
            for a in self.question.of("op", name):
                between = range(a.last + 1, i)
                near = a.last < i and all(self.question.weights[k] == 0 for k in between) and len(between) <= 2
                if near or a.first == i + 1:
                    wide = any(b.mask == a.mask for b in self.question.of("op", "inclusive"))
                    return op + ("=" if wide else ""), a.mask
        words = self.question.words
        if i + 2 < len(words) and words[i + 1].text == "or":
            if words[i + 2].text in ("more", "higher", "greater"):
                return ">=", 0b110 << i
            if words[i + 2].text in ("less", "fewer", "lower"):
                return "<=", 0b110 << i
        return "", 0

    def _moves_to(self, op: str, mask: int) -> int:
        """The verb before a comparison that says the same: "fell below", "rose above"."""
        verbs = self.question.of("op", "gain" if op[0] == ">" else "loss")
        return sum(a.mask for a in verbs if not a.mask & mask and a.mask < mask and distance(a.mask, mask) <= 2)

    def _unit_words(self, column: Column, mask: int) -> int:
        """The words for the unit of a column right beside a number: "$", "dollars"."""
        units = {w for phrase in self.composer.lexicon.generic["units"].get(column.unit, ()) for w in phrase.split()}
        ends = ((mask & -mask).bit_length() - 2, mask.bit_length())
        words = self.question.words
        return sum(1 << i for i in ends if 0 <= i < len(words) and words[i].text in units)

    def _measure_near(self, frame: Frame, i: int) -> tuple[Column, int] | None:
        """The number that the words nearest to word `i` speak of, and these words."""
        found = [
            (distance(a.mask, 1 << i), a)
            for a in self._columns_of_table(frame.table)
            if frame.table.column(a.meant.column).numeric and not a.mask & frame.solid
        ]
        if not found:
            return None
        _, nearest = min(found, key=lambda f: f[0])
        return frame.table.column(nearest.meant.column), nearest.mask

    def _columns_of_table(self, table: Table) -> list[Atom]:
        found = [a for kind in ("column", "ask") for a in self.question.of(kind) if a.meant.table == table.name]
        spans = [a.mask for a in found if a.mask.bit_count() == a.last - a.first + 1]
        return [a for a in found if not any(a.mask != s and a.mask & s == a.mask for s in spans)]

    # -- of when -------------------------------------------------------------------------------------------------

    def _timed(self, frame: Frame) -> Iterator[Frame]:
        """The frame for each time the question names; without one, the latest row and all rows so far."""
        table = frame.table
        times = [t for t in self.question.times if self._is_free(t, frame)]
        until = self._until_now(frame)
        tops = list(self._by_moment(frame))
        for t in times:
            # "the last week of 2005 (December 31)": the year is said twice
            again = sum(o.mask for o in times if o is not t and _holds_time(o, t))
            # "on the day when it closed ..." and "went ex in august": other words for the day belong to its condition
            words = t.mask | again | self._date_words(frame)
            timed = frame.also(*self._within(t, table), mask=words, solid=t.mask | again)
            timed = replace(timed, times=(t,), one=t.first is not None and t.first == t.last)
            up_to = self.domain.is_asked_by_day(table) and t.first is None
            yield replace(timed, cost=timed.cost + LATEST) if up_to else timed
            if self.domain.is_asked_by_day(table) and t.first is None and t.last is not None:
                # "as of the chart of a day" is that chart
                that_day = replace(t, first=t.last)
                at_end = frame.also(*self._within(that_day, table), mask=t.mask, solid=t.mask)
                yield replace(at_end, times=(that_day,), one=True)
            for top, mask in tops:
                past = t.last is not None and t.last.isoformat() < self.now and self._is_coming(mask)
                if not mask & t.mask and not (past and t.first == t.last):
                    yield replace(timed, top=top, mask=timed.mask | mask, one=top.n == 1)
        if times and any(t.first is not None for t in times):
            extra = 1.0  # a time that was named was meant
        else:
            extra = 0.0
        for top, mask in tops:
            coming = not top.descending and self._is_coming(mask)
            ahead = ">=" if self._has_future(table.column(table.moment)) else ">"
            limit = (Where(table.moment, ahead, (self.now,)),) if coming else until
            if self.domain.is_asked_by_day(table) and top.descending:
                latest = frame.also(*self._latest(table), mask=mask, cost=extra)
                yield replace(latest, one=True)
            yield replace(frame.also(*limit, mask=mask, cost=extra), top=top, one=top.n == 1)
        yield from self._of_events(frame)
        if not tops:
            history = HISTORY if frame.anchor is None and self.domain.is_asked_by_day(table) else 0.0
            # of what goes on and on, all that ever was is seldom meant
            ever = UNTIMED if self._has_future(table.column(table.moment)) else history
            yield frame.also(*until, cost=extra + ever)
            if self.domain.is_asked_by_day(table):
                if not self.wanted.date:
                    latest_costs = LATEST if frame.anchor is None else 2 * LATEST
                    yield replace(frame.also(*self._latest(table), cost=latest_costs + extra), one=True)
            elif frame.anchor is not None:
                latest = frame.also(*until, cost=LATEST + extra)
                yield replace(latest, top=Top(table.moment, True), one=True)

    def _of_events(self, frame: Frame) -> Iterator[Frame]:
        """The rows of the day, or of the week, when something happened to somebody who is named: "the day X died"."""
        units = [i for i, w in enumerate(self.question.words) if w.stem in ("day", "week", "date", "when", "birthday")]
        for n in self.question.named if units else ():
            table = self.domain.table(n.table)
            if n.mask & frame.solid or n.cost > SURE:
                continue
            for a in (*self.question.of("column"), *self.question.of("ask")):
                if a.meant.table != table.name or table.column(a.meant.column).type != "DATE" or a.mask & frame.solid:
                    continue
                before = [i for i in units if i < n.mask.bit_length() and i + 5 >= (n.mask & -n.mask).bit_length()]
                if not before or distance(a.mask, n.mask) > 2:
                    continue
                day = Same(
                    frame.table.moment, Set(table.name, (Is((n.best,)),)), a.meant.column, max(frame.table.every, 1)
                )
                words = n.mask | a.mask | 1 << before[-1]
                yield replace(frame.also(day, mask=words, solid=words, cost=n.cost + EVENT), one=True)

    def _latest(self, table: Table) -> tuple[Condition, ...]:
        """The last rows of a series before the question, where days have to be named."""
        now = dt.date.fromisoformat(self.now)
        first = now - dt.timedelta(days=max(table.every, 1) - 1)
        return (Where(table.moment, "between", (first.isoformat(), self.now)),)

    def _is_free(self, t: Time, frame: Frame) -> bool:
        """Whether a time's words are not those of a name. With a value it may share some: "the regular season"."""
        shared = t.mask & frame.solid
        values = self._masks(mask for _, mask in frame.said)
        return not shared or (shared != t.mask and not shared & ~values)

    def _within(self, t: Time, table: Table) -> tuple[Condition, ...]:
        """The condition that a time puts on the moment of a table."""
        column = table.column(table.moment)
        first, last = t.first, t.last
        if column.type == "TIMESTAMP":
            if t.at is not None and first is not None:
                return (Where(column.name, "=", (f"{first.isoformat()} {t.at:%H:%M:%S}",)),)
            low = f"{first.isoformat()} 00:00:00" if first else ""
            high = f"{last.isoformat()} 23:59:59" if last else ""
        else:
            low, high = (d.isoformat() if d else "" for d in (first, last))
        if (low and not high) or (high and low < self.now[: len(low)] < high):
            high = high and self._last_known(column)
        if low and low == high and table.every > 1:
            # the rows that come next after a day are those of its week
            assert first is not None
            end = first + dt.timedelta(days=table.every - 1)
            return (Where(column.name, "between", (low, end.isoformat())),)
        if low and low == high:
            return (Where(column.name, "=", (low,)),)
        if low and high:
            return (Where(column.name, "between", (low, high)),)
        if low:
            return (Where(column.name, ">=", (low,)), *self._until_now_of(column))
        return (Where(column.name, "<=", (high,)),) if high else ()

    def _until_now(self, frame: Frame) -> tuple[Condition, ...]:
        if self.domain.is_asked_by_day(frame.table):
            return ()  # every day would have to be asked for by itself
        return self._until_now_of(frame.table.column(frame.table.moment))

    def _until_now_of(self, column: Column) -> tuple[Condition, ...]:
        if column.type == "DATE" and self._has_future(column):
            return (Where(column.name, "<", (self.now,)),)
        end = f"{self.now} 23:59:59" if column.type == "TIMESTAMP" else self.now
        return (Where(column.name, "<=", (end,)),)

    def _last_known(self, column: Column) -> str:
        """The last day all of whose rows have taken place."""
        today = dt.date.fromisoformat(self.now)
        return (today - dt.timedelta(days=1)).isoformat() if self._has_future(column) else self.now

    def _has_future(self, column: Column) -> bool:
        """Whether rows are known before they take place, as fixtures are: then today's are still to come."""
        return any(phrase in self.composer.lexicon.generic["coming"] for phrase in column.least)

    def _by_moment(self, frame: Frame) -> Iterator[tuple[Top, int]]:
        """Superlatives of time: the last, the first, the next; "last five"."""
        timed = 0
        for t in self.question.times:
            timed |= t.mask
        for a in self.question.of("most"):
            if a.meant.table == frame.table.name and a.meant.column == frame.table.moment and not a.mask & timed:
                n, skip, extra = self.composer.how_many(a.mask, frame.solid | timed)
                yield Top(frame.table.moment, a.meant.flag, n, skip), a.mask | extra

    def _is_coming(self, mask: int) -> bool:
        coming = set(self.composer.lexicon.generic["coming"])
        return any(w.text in coming for i, w in enumerate(self.question.words) if mask >> i & 1)

    # -- what is asked -------------------------------------------------------------------------------------------

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

    def _extreme(self, a: Atom) -> str:
        """The function that a phrase for a column implies over several rows: the "highest price" of a month."""
        first = a.phrase.split()[0]
        generic = self.composer.lexicon.generic
        column = self.domain.table(a.meant.table).column(a.meant.column)
        if any(first in phrase.split() for phrase in (*column.least, *column.most)):
            return ""  # a superlative of its own: the highest place is the lowest number
        return "max" if first in generic["highest"] else "min" if first in generic["lowest"] else ""

    def _counted(self, a: Atom, frame: Frame) -> int:
        """The "how many" right before a column, but for names: "number of microsoft shares traded"."""
        for op in self.question.of("op", "count"):
            between = [
                k for k in range(op.last + 1, a.first) if not frame.solid >> k & 1 and self.question.weights[k] > 0
            ]
            if op.last < a.first and not between and "time" not in op.phrase:
                return op.mask
        return 0

    def _masks(self, masks: Iterable[int]) -> int:
        out = 0
        for m in masks:
            out |= m
        return out

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

    def _is_fixed(self, frame: Frame, column: Column) -> bool:
        return any(isinstance(c, Where) and c.column == column.name for c in frame.conditions)

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

    def _date_words(self, frame: Frame) -> int:
        mask = 0
        for a in self._columns_of_table(frame.table):
            if a.meant.column == frame.table.moment and not a.mask & frame.solid:
                mask |= a.mask
        return mask

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
        if not fixtures and _stands_alone(frame.table, self.domain) and frame.anchor is not None:
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

    # -- several things, several times ---------------------------------------------------------------------------

    def _compared(self, frame: Frame, meaning: Meaning, mask: int, cost: float) -> Iterator[Reading]:
        """The same asked of each of several things, and which has the most of it."""
        if frame.anchor is None or not frame.others or not isinstance(meaning, (Names, Count, Aggregate, Calculate)):
            return
        if isinstance(meaning, Names) and not (frame.one and frame.table.column(meaning.column).numeric):
            return
        things = sorted((frame.anchor, *frame.others), key=lambda n: n.mask)
        values = tuple(_instead(meaning, frame.anchor, n) for n in things)
        words, cost = frame.mask | mask, frame.cost + cost
        for n in frame.others:
            words |= n.mask
            cost += n.cost
        ors = sum(a.mask for a in self.question.of("op", "or")[:1])
        extreme = isinstance(meaning, Aggregate) and meaning.function in ("max", "min")
        for descending, said in self._directions(frame, meaning):
            if said & frame.solid or (extreme and said & mask):
                continue
            if self.wanted.yes_no and len(things) == 2:
                yield self.reading(Compare(values[0], values[1], descending), words | said | 1, cost, FITS)
            elif not self.wanted.yes_no:
                names = tuple(n.best.text for n in things)
                which = Which(values, names, descending)
                yield self.reading(which, words | said | ors, cost, self._fit_which())
        if len(things) == 2:
            for op in self.question.of("op", "difference"):
                if not (op.mask & mask and (extreme or isinstance(meaning, Calculate))):
                    yield self.reading(Calculate("distance", values[0], values[1]), words | op.mask, cost, FITS)
        beside = len(things) == 2 and not any(self._is_opposed(n) for n in things)
        for op in self.question.of("op", "sum") if beside else ():
            yield self.reading(Calculate("total", values[0], values[1]), words | op.mask, cost, FITS)

    def _directions(self, frame: Frame, meaning: Value) -> Iterator[tuple[bool, int]]:
        column = getattr(meaning, "column", "")
        own = frame.table.by_name.get(column)
        for name, descending in (("higher", True), ("highest", True), ("lower", False), ("lowest", False)):
            for op in self.question.of("op", name):
                if own is None or not self.composer.says_most(op, own, frame.table):
                    yield descending != (own is not None and turns(op, own, descending)), op.mask
        for a in self._columns_of_table(frame.table):
            # "opened at the highest price"
            if a.meant.column != column and (function := self._extreme(a)):
                yield function == "max", a.mask
        for a in self.question.of("most"):
            if a.meant.table == frame.table.name and a.meant.column == column:
                yield a.meant.flag, a.mask
        if isinstance(meaning, Count) and frame.table.every:
            # "which stayed longer": of a series the more rows, the longer
            lasting = self.composer.lexicon.generic["lasting"]
            yield from ((True, 1 << i) for i, w in enumerate(self.question.words) if w.text in lasting)

    def _changed(self, frame: Frame) -> Iterator[Reading]:
        """How much a value went up or down from one day to another."""
        if frame.one and not any(
            isinstance(c, (Than, Where)) and c.column != frame.table.moment for c in frame.conditions
        ):
            yield from self._changed_on_a_day(frame)
        if len(frame.times) != 1 or frame.top is not None:
            return
        start = frame.times[0]
        later = [t for t in self.question.times if not t.mask & frame.solid and _is_later(t, start)]
        if not frame.one and start.first is not None and start.last is not None:
            # "between february 20 and 28": from the first day to the last
            later = [replace(start, first=start.last)]
            start = replace(start, last=start.first)
            frame = replace(frame, conditions=_at(frame, self._within(start, frame.table)), one=True)
        measured = self._measure_near(frame, (start.mask & -start.mask).bit_length() - 1)
        if measured is None and (moving := self._by_day(frame.table)) is not None:
            measured = frame.table.column(moving[0]), 0
        if measured is None or not later:
            return
        column, _ = measured
        if column.adds:
            return  # what is counted anew every time does not change
        end = replace(frame, conditions=_at(frame, self._within(later[0], frame.table)))
        first, last = Names(frame.rows, column.name), Names(end.rows, column.name)
        words = frame.mask | later[0].mask
        for a in self._columns_of_table(frame.table):
            words |= a.mask if a.meant.column == column.name else 0
        percent = self.question.of("op", "percent")
        forward = start.mask < later[0].mask
        for name, sign in (("gain", 1), ("loss", -1), ("change", 0), ("difference", 1 if not forward else -1)):
            for op in self.question.of("op", name):
                one, other = (first, last) if percent or sign < 0 else (last, first)
                meaning = Calculate(_moving(name, bool(percent)), one, other, 0 if percent and sign > 0 else abs(sign))
                said = words | op.mask | sum(p.mask for p in percent[:1])
                if not self.wanted.yes_no:
                    yield self.reading(meaning, said, frame.cost, FITS)
                if frame.anchor is not None and frame.others:
                    yield from self._compared(frame, meaning, said, 0.0)
        yield from self._dealt(Calculate("difference", last, first), words, frame.cost)

    def _numbers_of(self, frame: Frame) -> list[Atom]:
        """The words for numbers of the rows that nothing else uses."""
        found = [a for a in self._columns_of_table(frame.table) if not a.mask & frame.mask]
        return [a for a in found if frame.table.column(a.meant.column).numeric]

    def _changed_on_a_day(self, frame: Frame) -> Iterator[Reading]:
        """How much a value went up or down on one day: from the row before."""
        moving = self._by_day(frame.table)
        if moving is None:
            return
        if any(a.meant.column not in moving and a.meant.column != frame.table.moment for a in self._numbers_of(frame)):
            return  # "between the open and the close"
        close, before = (Names(frame.rows, name) for name in moving)
        words = frame.mask
        for a in self._columns_of_table(frame.table):
            words |= a.mask if a.meant.column in moving else 0
        ors = self.question.of("op", "or")
        for a in ors:
            words |= a.mask
        percent = self.question.of("op", "percent")
        moves = [(name, op) for name in ("gain", "loss", "change") for op in self.question.of("op", name)]
        names = {name for name, _ in moves}
        for name in dict.fromkeys(name for name, _ in moves):
            said = words | sum({o.mask for _, o in moves}) | sum(p.mask for p in percent[:1])
            sign = 0 if len(names) > 1 else {"gain": 0 if percent else 1, "loss": -1}.get(name, 0)
            one, other = (before, close) if percent or sign < 0 else (close, before)
            meaning = Calculate(
                _moving(name, bool(percent)) if sign or not percent else "change", one, other, abs(sign)
            )
            if not self.wanted.yes_no:
                yield self.reading(meaning, said, frame.cost, FITS)
            if frame.anchor is not None and frame.others:
                yield from self._compared(frame, meaning, said, 0.0)

    def _dealt(self, value: Value, words: int, cost: float) -> Iterator[Reading]:
        """ "50 shares of it": so many times a value; "how many shares for $5,000": how often it goes into a sum."""
        pieces = self.composer.lexicon.pieces
        if pieces is None or self.wanted.yes_no:
            return
        q = self.question
        dealing = sum(1 << i for i, w in enumerate(q.words) if w.stem in pieces.dealing)
        said = [i for i, w in enumerate(q.words) if w.stem in pieces.says]
        for op in [*q.of("op", "gain"), *q.of("op", "loss")]:
            dealing |= op.mask
        for i, number in q.numbers:
            if words >> i & 1:
                continue
            n = int(number) if float(number).is_integer() else number
            if i + 1 in said or (i + 2 in said and q.weights[i + 1] == 0):
                mask = words | 1 << i | dealing | sum(1 << k for k in said)
                yield self.reading(Calculate("times", value, Given(n)), mask, cost, FITS)
            elif i and q.words[i - 1].text == "$" and said and self.wanted.count:
                mask = words | 0b11 << (i - 1) | dealing | sum(1 << k for k in said)
                for op in q.of("op", "count"):
                    yield self.reading(Calculate("whole", Given(n), value), mask | op.mask, cost, FITS)


def _moving(name: str, percent: bool) -> str:
    """The function that reckons a move: a fall is said as what it fell by."""
    return ("fall" if name == "loss" else "change") if percent else "difference"


def _is_short(time: Time) -> bool:
    """Whether a time is a week at most."""
    return time.first is not None and time.last is not None and (time.last - time.first).days < WEEK


def _in_order(frame: Frame) -> Set:
    """The rows of a frame in the order of their places, if it has the first of these: "the top five"."""
    for c in frame.conditions:
        if isinstance(c, Where) and c.op == "<=" and frame.one and frame.top is None and isinstance(c.values[0], int):
            return replace(frame.rows, top=Top(c.column, False, c.values[0]))
    return frame.rows


def _stands_alone(table: Table, domain: Domain) -> bool:
    """Whether rows can be had without naming a thing that they link to."""
    links = {c.name for c in table.columns if c.links}
    return any(not links & set(a.needs) for a in domain.accesses[table.name])


def _tells_apart(table: Table, column: Column) -> bool:
    return column.name in table.key


def _holds_time(wide: Time, narrow: Time) -> bool:
    """Whether one time lies within another that is longer."""
    if None in (wide.first, wide.last, narrow.first, narrow.last) or wide == narrow:
        return False
    assert wide.first is not None
    assert wide.last is not None
    assert narrow.first is not None
    assert narrow.last is not None
    return wide.first <= narrow.first and narrow.last <= wide.last and wide.grain != narrow.grain


def _is_later(time: Time, start: Time) -> bool:
    """Whether one day comes after another."""
    if time.first is None or start.first is None or time.first != time.last:
        return False
    return time.first > start.first


def _instead(value: Value, old: Named, new: Named) -> Value:
    """`value` asked of another thing."""
    match value:
        case Names(set=s) | Count(set=s) | Aggregate(set=s):
            return replace(value, set=_of_other(s, old, new))
        case Calculate(first=a, second=b):
            return replace(value, first=_instead(a, old, new), second=_instead(b, old, new))
    return value


def _of_other(rows: Set, old: Named, new: Named) -> Set:
    conditions: list[Condition] = []
    for c in rows.conditions:
        if isinstance(c, To) and c.set.entities == (old.best,):
            c = replace(c, set=Set(c.set.table, (Is((new.best,)),)))
        elif isinstance(c, Same):
            c = replace(c, set=_of_other(c.set, old, new))
        conditions.append(c)
    return replace(rows, conditions=tuple(conditions))


def _at(frame: Frame, other: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conditions of a frame with another time."""
    kept = tuple(c for c in frame.conditions if not (isinstance(c, Where) and c.column == frame.table.moment))
    return kept + other
