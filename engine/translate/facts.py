"""Questions about the properties of things: "the capital of Chad", "who was born later", "is Laos landlocked".

A table of facts (`properties:` in its domain file) has a row for each field of an infobox, and every thing has its own
fields. So what is there is looked up first, one call a thing, and the question is matched with that. A property
that no word speaks of is never taken, and words that nothing explains, or that speak of another property, leave the
question unread: what an encyclopaedia does not say must not be answered by what it says beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from .facts_of_one import OfThing
from .facts_of_several import OfGroup
from .facts_scored import RATHER, FactReader
from .matching import UNLIKELY, Thing, choose, things
from .reading import Reading

LOOKED_UP = 8  # things that are looked up for a question
DOUBTFUL = 2  # names among these that may well be none
FEW = 6  # things that are compared


class OfFacts(FactReader):
    """Reads a question as one about properties of one thing, or of several."""

    def readings(self) -> Iterator[Reading]:
        if self.table is None or self.composer.facts is None:
            return
        found = things(self.question, self.things_table.name, self._look_up(self._keys()))
        one = OfThing(self.composer, self.parts, self.now)
        for thing in found:
            yield from one.of(thing)
        several = OfGroup(self.composer, self.parts, self.now)
        for group in self._groups(found):
            yield from several.of(group)

    def _keys(self) -> tuple[object, ...]:
        named = sorted(self.question.named, key=lambda n: n.cost - 0.3 * n.mask.bit_count())
        named = [n for n in named if n.table == self.things_table.name and n.cost < UNLIKELY]
        doubtful = [n for n in named if n.cost >= RATHER][DOUBTFUL:]
        keys = [e.key for n in named if n not in doubtful for e in (*n.namesakes[:4], *n.fuller)]
        return tuple(dict.fromkeys(keys))[:LOOKED_UP]

    def _groups(self, found: list[Thing]) -> Iterator[list[Thing]]:
        """Two or more things that are named side by side."""
        best: dict[int, Thing] = {}
        for t in sorted(found, key=lambda t: t.cost):
            best.setdefault(t.mask, t)
        chosen = [
            best[n.mask]
            for n in choose([n for n in self.question.named if n.table == self.things_table.name and n.mask in best])
        ]
        if 2 <= len(chosen) <= FEW:
            yield chosen
