"""Frames of dated tables: whose rows, of when, and which of them a question speaks of.

Where the composer lets pieces float, here the table gives a frame whose slots the question fills (Fillmore 1976;
Bobrow et al., GUS, 1977). Slots that the question leaves open have a default: the latest row up to the time of the
question.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kg.domain import Column, Domain, Table

from .lexicon import Atom
from .meaning import (
    Condition,
    Is,
    Same,
    Set,
    Than,
    To,
    Top,
    Where,
)
from .question import FEW, Named, Time, distance
from .reading import Reader
from .wanted import SURE

LATEST = 0.3  # what it costs to take the latest row where no time is named
NAMED = 0.5  # what a name may cost that is meant
UNTIMED = 1.3  # what it costs to take all the rows of all years where no time is named
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


class Framer(Reader):
    """Fills the frames of dated tables from the question: whose rows, which of them, and of when."""

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

    # -- whose rows ------------------------------------------------------------------------------------------------

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
        alone = stands_alone(table, self.domain)
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

    # -- which of them ---------------------------------------------------------------------------------------------

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

    # -- of when ---------------------------------------------------------------------------------------------------

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

    def _date_words(self, frame: Frame) -> int:
        mask = 0
        for a in self._columns_of_table(frame.table):
            if a.meant.column == frame.table.moment and not a.mask & frame.solid:
                mask |= a.mask
        return mask

    def _is_fixed(self, frame: Frame, column: Column) -> bool:
        return any(isinstance(c, Where) and c.column == column.name for c in frame.conditions)

    def _masks(self, masks: Iterable[int]) -> int:
        out = 0
        for m in masks:
            out |= m
        return out


def stands_alone(table: Table, domain: Domain) -> bool:
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
