"""Facts held against what the question says of them: "is French spoken in Chad", "her Nobel prize in physics".

A question may give a year, a kind or a value along with a property. Where the facts say the same, it narrows the answer
or is confirmed; where they say otherwise, that is the answer; where they say nothing, there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from .facts_scored import FactReader
from .lexicon import Atom, stem
from .matching import Match, Thing, described, held, items, said_in
from .meaning import Condition, Exists, Names, Where
from .properties import Known
from .reading import Reading
from .wanted import FITS

SURELY = 0.5  # what a name costs that is surely meant


class Confirmed(FactReader):
    """Reads what the question says of a fact, and whether it is so."""

    def _is_a(self, thing: Thing) -> Iterator[Reading]:
        """ "Is neon a noble gas": yes, if a field that says what a thing is says so. If none does, nobody knows."""
        end = thing.mask.bit_length()
        rest = [
            i for i in range(end, len(self.question.words)) if self.question.words[i].text not in ("a", "an", "the")
        ]
        words = [self.question.words[i].text for i in rest]
        for name in self.composer.lexicon.vocabulary.kinds_of if 1 <= len(words) <= 3 else ():
            m = self._held(thing, name)
            spelled = said_in(m.fact, words) if m is not None and m.fact is not None else []
            if m is not None and spelled:
                mask = thing.mask | 1 | sum(1 << i for i in rest)
                rows = self._rows(m, Where(self.facts.value, "says", tuple(spelled)))
                yield self.reading(Exists(rows), mask, thing.cost, FITS)

    def _conditions(self, m: Match) -> tuple[tuple[Condition, ...] | None, int]:
        """What the question adds: the year of a day, a kind that the value says or denies. None: it says it already."""
        assert m.fact is not None
        mask, more = 0, []
        for i, w in enumerate(self.question.words):
            if m.thing.mask >> i & 1 or not (len(w.text) == 4 and w.text.isdigit() and 1000 <= int(w.text) <= 2100):
                continue
            if m.gives == "date" and m.fact.year is not None:
                if self.wanted.year and m.fact.year == int(w.text):
                    return None, 0
                more.append(Where(self.columns.year, "=", (int(w.text),)))
                mask |= 1 << i
            elif (dated := self._dated(m, int(w.text))) is not None:
                return dated, 1 << i
            elif self._is_of_year(m.thing.known, int(w.text)):
                mask |= 1 << i
            else:
                return None, 0  # nobody knows what was so then
        for decade in self.question.moments if m.gives == "date" and m.fact.year is not None else ():
            if decade.op == "between" and not decade.mask & m.thing.mask:
                more.append(Where(self.columns.year, "between", decade.values))
                mask |= decade.mask
        kinds = self._kinds(m.thing)
        if kinds:
            atom, fact_property, is_so = kinds
            if is_so and m.fact.property == fact_property:
                return None, 0  # "the Nobel in physics": it is no answer
            if is_so:
                mask |= atom.mask
            else:
                return None, 0
        return tuple(more), mask

    def _dated(self, m: Match, year: int) -> tuple[Condition, ...] | None:
        """A condition that fails, if another field tells that it was in another year: the prize of 1952."""
        concepts = self.composer.lexicon.vocabulary.concepts
        if m.concept is None or m.concept.dated not in concepts:
            return None
        by = self._held(m.thing, m.concept.dated)
        if by is None or by.fact is None or by.fact.year in (None, year) or self._is_of_year(m.thing.known, year):
            return None
        return (Where(self.columns.year, "=", (year,)),)

    def _is_of_year(self, known: Known, year: int) -> bool:
        return any(f.year == year or str(year) in f.value for f in known.facts) or str(year) in known.text

    def _kinds(self, thing: Thing) -> tuple[Atom, str, bool] | None:
        """A kind that the question names ("physics"), the property that has kinds, and whether it has this one."""
        for a in self.question.of("property", "kinds"):
            concept = self.composer.lexicon.vocabulary.concepts[a.meant.column]
            for m in held(thing, concept, a.mask):
                if m.fact is not None and not a.mask & thing.mask:
                    is_so = bool(said_in(m.fact, a.phrase.split()))
                    if not is_so and stem(a.phrase) in thing.known.text_stems:
                        return None  # the field holds one prize, perhaps there were two
                    return a, m.fact.property, is_so
        return None

    def _denied(self, thing: Thing) -> Iterator[Reading]:
        """What there cannot be, by what is known: the coast of a landlocked country, a Nobel prize of another kind."""
        for a in self.question.of("property", "denies"):
            concept = self.composer.lexicon.vocabulary.concepts[a.meant.column]
            for m in held(thing, concept, a.mask):
                if m.fact is not None and m.fact.value in ("True", "Yes", "yes") and not self.wanted.yes_no:
                    rows = self._rows(m, Where(self.facts.value, "=", ("False",)))
                    yield self.reading(Names(rows, self.facts.value), (1 << len(self.question.words)) - 1, 0.0, FITS)
        kinds = self._kinds(thing)
        if kinds and not kinds[2] and not self.wanted.yes_no and not self._names_another(thing.mask):
            atom = kinds[0]
            concept = self.composer.lexicon.vocabulary.concepts[atom.meant.column]
            said = [b.mask for b in self.question.of("property", "says") if b.meant.column == concept.name]
            if said:
                m = next(m for m in held(thing, concept, atom.mask) if m.fact is not None)
                rows = self._rows(m, Where(self.facts.value, "says", tuple(atom.phrase.split())))
                everything = (1 << len(self.question.words)) - 1
                yield self.reading(Names(rows, self.facts.value), everything, thing.cost, FITS)

    def _confirmed(self, m: Match, mask: int, cost: float) -> Iterator[Reading]:
        """Whether a property is as the question says: "is French spoken in Chad"."""
        assert m.fact is not None
        if m.gives == "flag":
            yield from self._read(
                Exists(self._rows(m, Where(self.facts.value, "=", ("True",)))), mask | 1, cost, FITS, m.thing
            )
            return
        mask |= described(m.thing, self.question, self.composer.lexicon)
        rest = [
            (i, w)
            for i, w in enumerate(self.question.words)
            if not mask >> i & 1 and self.question.weights[i] > 0 and not self._function_words >> i & 1
        ]
        if not rest or len(rest) > 5:
            return
        used = sum(1 << i for i, _ in rest)
        if m.gives == "date":
            if len(rest) == 1 and len(rest[0][1].text) == 4 and rest[0][1].text.isdigit() and m.fact.year:
                when = Where(self.columns.year, "=", (int(rest[0][1].text),))
                yield from self._read(Exists(self._rows(m, when)), mask | used | 1, cost, FITS, m.thing)
            return
        if m.gives == "number":
            return
        words = [w.text for _, w in rest]
        named = any(n.cost < SURELY and n.mask & used for n in self.question.named)
        if named and m.gives not in ("list", "place", "person"):
            return  # "do France and Brazil use the same currency"
        spelled = said_in(m.fact, words)
        if not spelled and (len(words) > 3 or not self._is_whole(m)):
            return
        says = Where(self.facts.value, "says", tuple(spelled or words))
        yield from self._read(Exists(self._rows(m, says)), mask | used | 1, cost, FITS, m.thing)

    def _is_whole(self, m: Match) -> bool:
        """Whether what a field does not say is not so. A town is said without its country, perhaps."""
        assert m.fact is not None
        return m.concept is not None and (m.gives in ("list", "person", "text") or len(items(m.fact.value)) == 1)
