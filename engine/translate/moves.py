"""Several frames at once: which of several things has the most, how far a value moved, what dealing in it brings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .frames import Frame, Framer
from .lexicon import Atom
from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Condition,
    Count,
    Given,
    Is,
    Meaning,
    Names,
    Same,
    Set,
    Than,
    To,
    Value,
    Where,
    Which,
)
from .question import Named, Time
from .reading import Reading
from .superlatives import turns
from .wanted import FITS


class Mover(Framer):
    """Reads what frames are compared by, and how far a value moved between them."""

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

    def _extreme(self, a: Atom) -> str:
        """The function that a phrase for a column implies over several rows: the "highest price" of a month."""
        first = a.phrase.split()[0]
        generic = self.composer.lexicon.generic
        column = self.domain.table(a.meant.table).column(a.meant.column)
        if any(first in phrase.split() for phrase in (*column.least, *column.most)):
            return ""  # a superlative of its own: the highest place is the lowest number
        return "max" if first in generic["highest"] else "min" if first in generic["lowest"] else ""

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
