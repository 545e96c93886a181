"""Readings of facts, scored: which words of the question a fact explains, and which it must not leave.

A question is easily matched with a fact it does not ask for. So the readings of facts, of one thing or of several,
pass here: none is given if a word speaks of another property, if another thing is named beside those it is about,
or if words are left that nothing explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kg.domain import Table

from .fields import unit_of
from .matching import Match, Thing, described, held, items
from .meaning import Aggregate, Calculate, Condition, Is, Listed, Meaning, Names, Scaled, Set, To, Where
from .properties import Known
from .reading import Reader, Reading

CONTEXT = 0.1  # what it costs that words are explained only by standing in what is known of a thing
LEADING = ("person", "place", "list")  # what leads from a thing to others
RATHER = 1.0  # what a name costs that is meant rather than not
LONG = 3  # so many things are a list
STRAY = 0.8  # more than this weight of words that nothing explains, and the question is not read


@dataclass(frozen=True)
class Columns:
    """The columns of a table of facts."""

    entity: str
    day: str
    year: str
    number: str


class FactReader(Reader):
    """What all readings of facts need: the table they are in, what is known of a thing, and what a reading scores."""

    @cached_property
    def table(self) -> Table | None:
        return next((t for t in self.domain.tables if t.properties), None)

    @cached_property
    def facts(self) -> Table:
        assert self.table is not None
        return self.table

    @cached_property
    def columns(self) -> Columns:
        table = self.facts
        of = {c.type: c.name for c in reversed(table.columns)}
        entity = next(c.name for c in table.columns if c.links)
        return Columns(entity, of.get("DATE", ""), of.get("INTEGER", ""), of.get("DOUBLE", ""))

    @cached_property
    def things_table(self) -> Table:
        links = self.facts.column(self.columns.entity).links
        assert links is not None
        return self.domain.table(links.table)

    def _look_up(self, keys: tuple[object, ...]) -> dict[str, Known]:
        assert self.composer.facts is not None
        return dict(self.composer.facts(self.facts, keys)) if keys else {}

    def _rows(self, m: Match, *more: Condition) -> Set:
        assert m.fact is not None
        table = self.facts
        to = To(Set(self.things_table.name, (Is((m.thing.entity,)),)), self.columns.entity)
        return Set(table.name, (to, Where(table.properties, "=", (m.fact.property,)), *more))

    def _held(self, thing: Thing, name: str) -> Match | None:
        concept = self.composer.lexicon.vocabulary.concepts.get(name)
        found = held(thing, concept, 0) if concept else iter(())
        return next((m for m in found if m.fact is not None), None)

    def _read(self, meaning: Meaning, mask: int, cost: float, fit: float, *about: Thing) -> Iterator[Reading]:
        """The reading, unless it leaves out a word that speaks of another property."""
        context = 0
        for thing in about:
            mask |= described(thing, self.question, self.composer.lexicon)
            context |= self._context(thing, mask)
        mask |= self._units(meaning)
        for a in self.question.of("property", "noun"):
            mask |= a.mask
        spoken = self._of_others(mask, about)
        if self.question.weight(spoken & ~mask & ~self._compound(meaning, spoken, mask)) > 0:
            return
        context &= ~(mask | spoken)
        mask |= context
        if self.question.weight((1 << len(self.question.words)) - 1 & ~mask & ~self._function_words) > STRAY + 1:
            return
        if self._names_another(mask) or self._goes_on(mask & ~context, about):
            return
        if context and self._is_long_list(meaning, about):
            return  # "which actor was the joker": one of those listed
        reading = self.reading(meaning, mask, cost + CONTEXT * context.bit_count(), fit)
        half = self.question.weight(context) / 2 / (self.question.total or 1.0)
        yield replace(reading, covered=reading.covered - half)

    def _goes_on(self, mask: int, about: Sequence[Thing]) -> bool:
        """Whether a further thing stands beside one of these, set apart by a comma or a conjunction."""
        words = self.question.words
        for t in about:
            for n in self.question.named:
                if n.table != self.things_table.name or n.cost >= RATHER or n.mask & mask:
                    continue
                first, second = sorted((t.mask, n.mask))
                last, begin = first.bit_length() - 1, (second & -second).bit_length() - 1
                between = self.question.text[words[last].end : words[begin].start].strip(" ") if last < begin else "."
                if re.fullmatch(r",|,? ?(?:and|or|plus|vs\.?|versus|&)(?: the)?", between.lower()):
                    return True
        return False

    def _names_another(self, mask: int) -> bool:
        """Whether a thing is named beside those whose words are in `mask`."""
        named = [n for n in self.question.named if n.table == self.things_table.name and n.cost < RATHER]
        return any(not n.mask & mask for n in named)

    @cached_property
    def _head(self) -> int:
        """The first word that matters: what is asked for, as a rule."""
        return next((1 << i for i, w in enumerate(self.question.weights) if w > 0), 0)

    def _of_others(self, mask: int, about: Sequence[Thing]) -> int:
        """The words that speak of another property, one which these things have, or which leads to other things."""
        spoken = 0
        for a in [*self.question.of("property", "kinds"), *self.question.of("property", "denies")]:
            spoken |= a.mask
        for a in self.question.of("property", "says"):
            if a.mask & ~mask:
                concept = self.composer.lexicon.vocabulary.concepts[a.meant.column]
                if (
                    a.mask & self._head
                    or concept.gives in LEADING
                    or any(True for t in about for _ in held(t, concept, 0))
                ):
                    spoken |= a.mask
        return spoken & ~mask

    def _compound(self, meaning: Meaning, spoken: int, mask: int) -> int:
        """Words right before those for what is counted: "major league clubs"."""
        return (mask >> 1 | mask >> 2) & spoken if isinstance(meaning, Listed) else 0

    def _is_long_list(self, meaning: Meaning, about: Sequence[Thing]) -> bool:
        if not isinstance(meaning, Names) or meaning.column != self.facts.value:
            return False
        name = self._property_of(meaning.set)
        return any(f.property == name and len(items(f.value)) >= LONG for t in about for f in t.known.facts)

    @cached_property
    def _function_words(self) -> int:
        mask = 0
        for a in [*self.question.of("op"), *self.question.of("wh"), *self.question.of("property", "noun")]:
            mask |= a.mask
        return mask

    def _context(self, thing: Thing, mask: int) -> int:
        """The words that stand in what is known of a thing, and the years that do."""
        stems = thing.known.stems
        return sum(
            1 << i
            for i, w in enumerate(self.question.words)
            if not mask >> i & 1 and w.stem in stems and self.question.weights[i] > 0
        )

    def _units(self, meaning: Meaning) -> int:
        """The words for the unit of what is asked for."""
        unit = ""
        match meaning:
            case Scaled(unit=unit):
                pass
            case Names(set=s):
                unit = unit_of(self._property_of(s))
            case Calculate(first=Names(set=s)) | Aggregate(set=s):
                unit = unit_of(self._property_of(s))
        return self._unit_words().get(unit, 0)

    def _unit_words(self) -> dict[str, int]:
        """The units that the question names, with their words."""
        return {a.meant.column: a.mask for a in self.question.of("property", "unit")}

    def _property_of(self, rows: Set) -> str:
        fixed = (c for c in rows.conditions if isinstance(c, Where) and c.column == self.facts.properties)
        return str(next(fixed).values[0]) if any(True for c in rows.conditions if isinstance(c, Where)) else ""
