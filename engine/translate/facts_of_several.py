"""What the facts of several things answer together: which is the older, how far apart, which of them have something.

Things are only compared by a property that all of them have, in one unit, and that words of the question speak of.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .facts_scored import FactReader
from .fields import unit_of
from .matching import Match, Thing, is_number, matches, said_in
from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Condition,
    Count,
    Exists,
    Given,
    Is,
    Listed,
    Meaning,
    Names,
    Set,
    To,
    Value,
    Where,
    Which,
)
from .reading import Reading
from .wanted import FITS

EARLIER, LATER = ("first", "earlier", "earliest", "sooner", "before"), ("later", "last", "latest", "after")
SUMMED = ("total", "combined", "together", "sum", "plus", "altogether")


class OfGroup(FactReader):
    """Reads a question as one about the same property of several things."""

    def of(self, group: list[Thing]) -> Iterator[Reading]:
        """Yield what the question may ask of the things of `group`, in the order in which it names them."""
        mask, cost = 0, 0.0
        for t in group:
            mask |= t.mask
            cost += t.cost
        for found in self._shared(group):
            yield from self._compared(found, mask, cost)
            yield from self._reckoned(found, mask, cost)
            yield from self._those(found, mask, cost)
            yield from self._same(found, mask, cost)
        yield from self._those_of(group)
        yield from self._life_spans(group, mask, cost)
        yield from self._other_value(group)

    def _shared(self, group: list[Thing]) -> Iterator[list[Match]]:
        """The same property of each thing, for every property the question speaks of."""
        each = [matches(t, self.question, self.composer.lexicon, kinds=("says", "most", "least")) for t in group]
        for first in each[0]:
            if first.fact is None:
                continue
            rest = [
                next(
                    (
                        m
                        for m in found
                        if m.fact is not None
                        and m.concept == first.concept
                        and (m.concept or m.fact.property == first.fact.property)
                    ),
                    None,
                )
                for found in each[1:]
            ]
            if all(r is not None for r in rest):
                yield [first, *(r for r in rest if r is not None)]

    def _comparable(self, found: list[Match]) -> str:
        """The column by which values can be compared; empty if they cannot."""
        facts = [m.fact for m in found if m.fact is not None]
        if found[0].gives == "date":
            if all(f.day is not None for f in facts):
                return self.columns.day
            return self.columns.year if all(f.year is not None for f in facts) else ""
        if found[0].gives == "number" and all(is_number(f) for f in facts):
            return self.columns.number if len({unit_of(f.property) for f in facts}) == 1 else ""
        return ""

    def _directions(self, found: list[Match], mask: int) -> Iterator[tuple[bool, int]]:
        """(descending, words) of what compares: "older", "higher ... melting point"."""
        concept = found[0].concept
        own = False
        for kind, descending in (("most", True), ("least", False)):
            for a in self.question.of("property", kind):
                if concept is not None and a.meant.column == concept.name and not a.mask & mask:
                    own = True
                    yield descending, a.mask | found[0].mask
        named = (
            any(concept is not None and a.meant.column == concept.name for a in self.question.of("property", "says"))
            or concept is None
        )
        if own or not named:
            return
        for name, descending in (("higher", True), ("highest", True), ("lower", False), ("lowest", False)):
            for a in self.question.of("op", name):
                counted = a.phrase in ("more", "most", "fewer", "fewest", "less")
                if not a.mask & mask and (found[0].gives != "list" or counted):
                    yield descending, a.mask | found[0].mask
        for i, w in enumerate(self.question.words if found[0].gives == "date" else ()):
            if w.text in EARLIER + LATER and not mask >> i & 1:
                yield w.text in LATER, 1 << i | found[0].mask

    def _compared(self, found: list[Match], mask: int, cost: float) -> Iterator[Reading]:
        column = self._comparable(found)
        about = [m.thing for m in found]
        cost += max(m.cost for m in found)
        ors = sum({a.mask for a in self.question.of("op", "or")[:1]})
        for descending, words in self._directions(found, mask):
            values: list[Value]
            if column:
                values = [Names(self._rows(m), column) for m in found]
            elif found[0].gives == "list":
                values = [Listed(self._rows(m), self.facts.value) for m in found]
            else:
                continue
            if self.wanted.yes_no and len(found) == 2:
                compare = Compare(values[0], values[1], descending)
                yield from self._read(compare, mask | words | 1 | ors, cost, FITS, *about)
            elif self._asks_how_much() and column and len(found) == 2:
                yield from self._read(self._apart(found, column), mask | words, cost, FITS, *about)
            elif not self.wanted.yes_no and not self.question.of("op", "difference") and not self._asks_how_much():
                names = tuple(m.thing.entity.text for m in found)
                yield from self._read(Which(tuple(values), names, descending), mask | words | ors, cost, FITS, *about)

    def _asks_how_much(self) -> bool:
        words = [w.text for w in self.question.words]
        return any(a == "how" and b in ("many", "much") for a, b in itertools.pairwise(words[:4]))

    def _apart(self, found: list[Match], column: str) -> Calculate:
        """How far two values are apart: "how many days older"."""
        pair = [Names(self._rows(m), column) for m in found]
        if column != self.columns.day:
            return Calculate("distance", pair[0], pair[1])
        if self._is_later(found, column):
            pair.reverse()
        days = {"days", "day"} & {w.text for w in self.question.words}
        return Calculate("days" if days else "years", pair[0], pair[1])

    def _reckoned(self, found: list[Match], mask: int, cost: float) -> Iterator[Reading]:
        """Sums, differences and the like of two numbers."""
        column = self._comparable(found)
        if not column or self.wanted.yes_no:
            return
        about = [m.thing for m in found]
        words = mask
        for m in found:
            words |= m.mask
            cost += m.cost / len(found)
        first, *rest = (Names(self._rows(m), column) for m in found)
        functions = {"difference": "distance", "ratio": "ratio", "percent": "percent", "sum": "total"}
        if found[0].gives == "date":
            functions = {"difference": "years" if column == self.columns.day else "distance"}
            text = [w.text for w in self.question.words]
            if column == self.columns.day and ("days" in text or "day" in text):
                functions = {"difference": "days"}
        for name, function in functions.items():
            for a in self.question.of("op", name):
                if a.mask & mask or function == "total" or len(found) != 2:
                    continue
                pair = (first, rest[0])
                later = function in ("years", "days") and self._is_later(found, column)
                # "what percentage of A is B"
                if later or (function == "percent" and a.last < (mask & -mask).bit_length() - 1):
                    pair = (rest[0], first)
                yield from self._read(Calculate(function, *pair), words | a.mask, cost, FITS, *about)
        summed = sum(1 << i for i, w in enumerate(self.question.words) if w.text in SUMMED and not mask >> i & 1)
        if summed and found[0].gives == "number":
            if len(found) == 2:
                total: Meaning = Calculate("total", first, rest[0])
            else:
                total = Aggregate("sum", self._all(found), column)
            yield from self._read(total, words | summed, cost, FITS, *about)
        for a in self.question.of("op", "average"):
            if found[0].gives == "number":
                yield from self._read(Aggregate("avg", self._all(found), column), words | a.mask, cost, FITS, *about)

    def _is_later(self, found: list[Match], column: str) -> bool:
        a, b = found[0].fact, found[1].fact
        assert a is not None
        assert b is not None
        return bool(str(a.day) > str(b.day)) if column == self.columns.day else bool((a.year or 0) > (b.year or 0))

    def _all(self, found: list[Match], *more: Condition) -> Set:
        """The rows of one property of all things."""
        names = tuple(dict.fromkeys(m.fact.property for m in found if m.fact is not None))
        to = To(Set(self.things_table.name, (Is(tuple(m.thing.entity for m in found)),)), self.columns.entity)
        return Set(self.facts.name, (to, Where(self.facts.properties, "=" if len(names) == 1 else "in", names), *more))

    def _those(self, found: list[Match], mask: int, cost: float) -> Iterator[Reading]:
        """Which of several things have a property: "which of them are landlocked", "which speak French"."""
        if self.wanted.yes_no or any(m.fact is None for m in found):
            return
        for m in found:
            mask |= m.mask
            cost += m.cost / len(found)
        about = [m.thing for m in found]
        if found[0].gives == "flag":
            condition = Where(self.facts.value, "=", ("True",))
        else:
            rest = [
                i
                for i, w in enumerate(self.question.words)
                if not mask >> i & 1
                and self.question.weights[i] > 0
                and not self._function_words >> i & 1
                and w.text.isalnum()
            ]
            words = [self.question.words[i].text for i in rest]
            spelled = [s for m in found if m.fact is not None for s in [said_in(m.fact, words)] if s]
            if not 1 <= len(words) <= 3 or not spelled or found[0].gives in ("date", "number"):
                return
            condition = Where(self.facts.value, "says", tuple(spelled[0]))
            mask |= sum(1 << i for i in rest)
        rows = self._all(found, condition)
        counts = self.question.of("op", "count")
        if self.wanted.count and counts:
            yield from self._read(Count(rows), mask | counts[0].mask, cost, FITS, *about)
        else:
            yield from self._read(Names(rows, self.columns.entity), mask, cost, FITS, *about)

    def _those_of(self, group: list[Thing]) -> Iterator[Reading]:
        """Which of several things have the last one: "which of Norway, Austria and France border Germany"."""
        *group, last = group
        if self.wanted.yes_no or len(group) < 2:
            return
        mask = last.mask
        cost = last.cost
        for t in group:
            mask |= t.mask
            cost += t.cost
        for found in self._shared(group):
            spelled = [s for m in found if m.fact is not None for s in [said_in(m.fact, last.entity.text.split())] if s]
            if found[0].gives != "list" or not spelled:
                continue
            rows = self._all(found, Where(self.facts.value, "says", tuple(spelled[0])))
            words = mask | found[0].mask
            counts = self.question.of("op", "count")
            if self.wanted.count and counts:
                yield from self._read(Count(rows), words | counts[0].mask, cost, FITS, *group)
            else:
                yield from self._read(Names(rows, self.columns.entity), words, cost, FITS, *group)

    def _same(self, found: list[Match], mask: int, cost: float) -> Iterator[Reading]:
        """Whether two things have the same, or all of them have it: "do they use the same currency"."""
        words = [w.text for w in self.question.words]
        first, last = found[0].fact, found[-1].fact
        if not self.wanted.yes_no or first is None or last is None:
            return
        for m in found:
            mask |= m.mask
            cost += m.cost / len(found)
        about = [m.thing for m in found]
        if "same" in words and len(found) == 2:
            rows = self._rows(found[0], Where(self.facts.value, "=", (last.value,)))
            yield from self._read(Exists(rows), mask | 1 | 1 << words.index("same"), cost, FITS, *about)
        elif found[0].gives == "flag":
            rows = self._all(found, Where(self.facts.value, "=", ("True",)))
            both = sum({a.mask for a in self.question.of("op", "both")})
            every = Compare(Count(rows), Given(str(len(found) - 1)), True)
            yield from self._read(every, mask | 1 | both, cost, FITS, *about)

    def _life_spans(self, group: list[Thing], mask: int, cost: float) -> Iterator[Reading]:
        """Who lived longer."""
        words = [w.text for w in self.question.words]
        said = [i for i, w in enumerate(words) if w in ("lived", "live", "longer", "longest", "shorter", "shortest")]
        if len(said) < 2 or self.wanted.yes_no:
            return
        spans: list[Value] = []
        for t in group:
            born, died = self._held(t, "birth date"), self._held(t, "death date")
            if born is None or died is None or born.fact is None or died.fact is None:
                return
            if born.fact.day is None or died.fact.day is None:
                return
            first, last = Names(self._rows(born), self.columns.day), Names(self._rows(died), self.columns.day)
            spans.append(Calculate("days", first, last))
        longer = not {"shorter", "shortest"} & set(words)
        which = Which(tuple(spans), tuple(t.entity.text for t in group), longer)
        yield from self._read(which, mask | sum(1 << i for i in said), cost, FITS, *group)

    def _other_value(self, group: list[Thing]) -> Iterator[Reading]:
        """Whether a value of one thing is the other: "does Chad border Niger"."""
        words = {w.text for w in self.question.words}
        if not self.wanted.yes_no or len(group) != 2 or words & {"than", "same"}:
            return
        for thing, other in itertools.permutations(group):
            for m in matches(thing, self.question, self.composer.lexicon):
                if m.fact is None or m.gives not in ("list", "person", "place", "text"):
                    continue
                spelled = said_in(m.fact, other.entity.text.split())
                if not spelled and m.gives != "list":
                    continue
                says = Where(self.facts.value, "says", tuple(spelled or other.entity.text.split()))
                mask = thing.mask | other.mask | m.mask | 1
                yield from self._read(Exists(self._rows(m, says)), mask, thing.cost + other.cost + m.cost, FITS, thing)
