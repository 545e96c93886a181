"""What one thing's facts answer: a value, a part of it, how many it lists, an age, the capital of where she was born.

What a fact gives (a day, a number, a place, a list) must fit what the question word asks for, and is given in the form
it asks for.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from .facts_confirmed import Confirmed
from .fields import conversion, unit_of
from .lexicon import tokens
from .matching import Match, Thing, described, held, is_long_ago, is_number, items, matches
from .meaning import Calculate, Condition, Entity, Excerpt, Given, Is, Listed, Names, Scaled, Set
from .reading import Reading
from .wanted import CLASHES, FITS

HOP = 0.3  # what it costs to go on from a value to the thing of that name
PLACES = ("country", "city", "place", "town", "nation", "state", "continent")
NAME = re.compile(r"[^\W\d_a-z]\S+ [^\d]+")  # what may be somebody's name
COUNTED_UNITS = (
    "years",
    "year",
    "days",
    "months",
    "degrees",
    "square",
    "miles",
    "kilometers",
    "meters",
    "feet",
    "hours",
)
FEW_WORDS = 2  # beside its name: fewer do not tell which sentence about a thing is meant
IN_TEXT = 0.6  # what it costs to answer with a sentence
LONGEST = 240  # characters of a sentence that is an answer
SENTENCE_END = re.compile(r"(?<=[a-z0-9)\"'][.!?])\s+(?=[\"A-Z])")
SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")
SHORT = 9  # a number of so few characters is given as it is written


class OfThing(Confirmed):
    """Reads a question as one about properties of one thing."""

    def of(self, thing: Thing) -> Iterator[Reading]:
        """Yield what the question may ask of `thing`, which it names."""
        found = self._matches(thing)
        for m in found:
            yield from self._asked(m)
            yield from self._hop(m)
        yield from self._between(found)
        yield from self._ages(thing)
        yield from self._denied(thing)
        if self.wanted.yes_no and self.question.words[0].text in ("is", "was", "are", "were"):
            yield from self._is_a(thing)
        if not self.wanted.yes_no:
            yield from self._in_text(thing)

    def _in_text(self, thing: Thing) -> Iterator[Reading]:
        """The first sentence about the thing that has all other words of the question, and a number if one is asked."""
        q = self.question
        said = [i for i in range(len(q.words)) if q.weights[i] > 0 and not thing.mask >> i & 1]
        counted = self.wanted.date or self.wanted.year or self.wanted.number or self.wanted.money
        if len(said) < FEW_WORDS:
            return
        for sentence in SENTENCE_END.split(thing.known.text):
            stems = {w.stem for w in tokens(sentence)}
            if len(sentence) > LONGEST or not all(q.words[i].stem in stems for i in said):
                continue
            if counted and not any(c.isdigit() for c in sentence):
                continue
            text = Set(self.things_table.name, (Is((thing.entity,)),))
            pattern = "(" + SPECIAL.sub(lambda m: "\\" + m[0], sentence.strip()) + ")"
            mask = thing.mask | sum(1 << i for i in said)
            yield from self._read(
                Excerpt(text, self.things_table.text, pattern), mask, thing.cost + IN_TEXT, 0.0, thing
            )
            return

    def _between(self, found: list[Match]) -> Iterator[Reading]:
        """The difference of two numbers of one thing: between its boiling and its melting point."""
        numbers = [m for m in found if m.fact is not None and m.gives == "number" and is_number(m.fact)]
        for a in self.question.of("op", "difference"):
            for one, two in itertools.combinations(numbers, 2):
                if one.mask & two.mask == one.mask or one.fact is None or two.fact is None:
                    continue
                if unit_of(one.fact.property) == unit_of(two.fact.property):
                    values = [Names(self._rows(m), self.columns.number) for m in (one, two)]
                    mask = one.thing.mask | one.mask | two.mask | a.mask
                    pair = Calculate("distance", values[0], values[1])
                    yield from self._read(pair, mask, one.thing.cost, FITS, one.thing)

    def _matches(self, thing: Thing) -> list[Match]:
        found = matches(thing, self.question, self.composer.lexicon)
        if self.wanted.place and not any(m.gives == "place" for m in found):
            concept = self.composer.lexicon.vocabulary.concepts.get("location")
            if concept is not None and not found:
                found += held(thing, concept, 0, 0.2)
        return found

    def _asked(self, m: Match) -> Iterator[Reading]:
        cost, mask = m.thing.cost + m.cost, m.thing.mask | m.mask
        if m.fact is None:
            if not self.wanted.yes_no and (fit := self._fit(m)) > CLASHES:
                text = Set(self.things_table.name, (Is((m.thing.entity,)),))
                yield from self._read(Excerpt(text, self.things_table.text, m.pattern), mask, cost, fit, m.thing)
            return
        if self.wanted.yes_no:
            yield from self._confirmed(m, mask, cost)
            return
        more, said = self._conditions(m)
        if more is None:
            return
        mask |= said
        listed = items(m.fact.value)
        if self.wanted.count and m.gives == "text" and len(listed) == 1 and is_number(m.fact):
            yield from self._read(Names(self._rows(m, *more), self.columns.number), mask, cost, FITS, m.thing)
            return
        if self._counts_units() and m.gives != "number":
            return
        if self.wanted.count and m.gives in ("list", "text", "person") and listed:
            op = self.question.of("op", "count")
            yield from self._read(
                Listed(self._rows(m, *more), self.facts.value), mask | (op[0].mask if op else 0), cost, FITS, m.thing
            )
            return
        fit = self._fit(m)
        if fit <= CLASHES:
            return
        for to, words in self._unit_words().items():
            scale = conversion(unit_of(m.fact.property), to)
            if scale is not None and m.gives == "number":
                scaled = Scaled(self._rows(m, *more), self.columns.number, *scale, to)
                yield from self._read(scaled, mask | words, cost, fit, m.thing)
                return
        if pattern := self._item_of_year(m):
            excerpt = Excerpt(self._rows(m), self.facts.value, pattern)
            yield from self._read(excerpt, mask, cost, fit, m.thing)
            return
        if m.gives == "place" and len(items(m.fact.value)) > 1:
            asked = self._asked_noun(m)[0]
            country = r"([^,()]*[^,() ])(?: *\([^()]*\))?$"
            part = country if asked in ("country", "nation") else "^([^,(]*[^,( ])" if asked in ("city", "town") else ""
            if part:
                excerpt = Excerpt(self._rows(m, *more), self.facts.value, part)
                yield from self._read(excerpt, mask, cost, fit, m.thing)
                return
        if unit_of(m.fact.property) == "ft" and any(unit_of(f.property) == "in" for f in m.thing.known.facts):
            return  # so many feet, and inches
        yield from self._read(self._value(m, *more), mask, cost, fit, m.thing)

    def _counts_units(self) -> bool:
        """Whether "how many" asks for years, degrees and the like."""
        words = [w.text for w in self.question.words]
        return any(a == "many" and b in COUNTED_UNITS for a, b in itertools.pairwise(words))

    def _item_of_year(self, m: Match) -> str:
        """The part of a list that names the year of the question: "US$ 50 million (2014), US$ 53 million (2013)"."""
        assert m.fact is not None
        for w in self.question.words:
            if len(w.text) == 4 and w.text.isdigit() and m.fact.value.count("(") > 1 and f"({w.text})" in m.fact.value:
                return rf"([^()]*[^() ,]) *\({w.text}\)"
        return ""

    def _value(self, m: Match, *more: Condition) -> Names:
        """What is said of a property: a day or a year, a number, or the text."""
        assert m.fact is not None
        column = self.facts.value
        if m.gives == "date":
            # of "1916, moved 1997-04-04" the year is meant
            is_year = self.wanted.year or m.fact.day is None or m.fact.day.year != m.fact.year
            column = self.columns.year if is_year and m.fact.year is not None else self.columns.day
            column = self.facts.value if is_long_ago(m.fact) else column
        elif m.gives == "number" and is_number(m.fact) and (unit_of(m.fact.property) or len(m.fact.value) > SHORT):
            column = self.columns.number
        return Names(self._rows(m, *more), column)

    def _fit(self, m: Match) -> float:
        """How well what a property gives answers the question word."""
        w, gives = self.wanted, m.gives
        words = [x.text for x in self.question.words]
        if w.explanation or {"when", "where"} <= set(words):
            return CLASHES
        if self.question.of("op", "age") and gives != "number":
            return CLASHES
        if w.date or "month" in words:
            if m.concept is not None and gives in ("text", "list") and m.fact is not None and m.fact.year:
                return FITS / 2  # "years active"
            return FITS if gives == "date" else CLASHES
        if w.place:
            return FITS if gives == "place" else CLASHES
        if w.person:
            if m.concept is None and m.fact is not None and NAME.match(m.fact.value):
                return FITS
            return FITS if gives == "person" else 0.0 if gives in ("text", "list") else CLASHES
        if w.number or w.money:
            return FITS if gives == "number" else 0.0 if w.money and gives in ("text", "list") else CLASHES
        if "how" in words[:3]:
            return FITS if gives == "number" else CLASHES
        asked, is_said = self._asked_noun(m)
        if asked in PLACES and not is_said:
            return FITS if gives == "place" else 0.0 if gives in ("list", "text") else CLASHES
        if asked and not is_said and gives in ("number", "date", "flag"):
            return CLASHES  # "what team drafted him" asks for no number
        return -0.2 if gives == "date" else 0.1

    def _asked_noun(self, m: Match) -> tuple[str, bool]:
        """What "which" or "what" asks for, if it is a thing ("which team"), and whether the property says it."""
        for i, w in enumerate(self.question.words[:-1]):
            if w.text in ("which", "what"):
                noun = [a for a in self.question.of("property", "noun") if a.first == i + 1]
                text = self.question.words[i + 1].text
                if noun and text not in ("year", "month", "day", "date", "time"):
                    return text, bool(noun[0].mask & m.mask)
                return "", False
        return "", False

    def _ages(self, thing: Thing) -> Iterator[Reading]:
        """How old somebody is, was at the end, or in a year."""
        born, died = self._held(thing, "birth date"), self._held(thing, "death date")
        text = " ".join(w.text for w in self.question.words)
        asks = self.question.of("op", "age")
        lived = "how long" in text and any(w in text.split() for w in ("live", "lived"))
        if born is None or born.fact is None or born.fact.day is None or not (asks or lived):
            return
        mask = thing.mask | sum(a.mask for a in asks[:1])
        first = Names(self._rows(born), self.columns.day)
        deaths = 0
        for a in self.question.of("property", "says"):
            if a.meant.column == "death date":
                deaths |= a.mask
        if died is not None and died.fact is not None and died.fact.day is not None and (deaths or lived):
            for w in ("live", "lived", "long"):
                mask |= sum(1 << i for i, x in enumerate(self.question.words) if x.text == w)
            last = Names(self._rows(died), self.columns.day)
            yield from self._read(Calculate("years", first, last), mask | deaths, thing.cost, FITS, thing)
        elif died is None and not deaths and not {"was", "were", "when"} & set(text.split()):
            yield from self._read(Calculate("years", first, Given(self.now)), mask, thing.cost, FITS, thing)
        won = self._held(thing, "award year")
        said = 0
        for a in self.question.of("property", "says"):
            if a.meant.column == "award year":
                said |= a.mask
        if won is not None and won.fact is not None and said and born.fact.year and not deaths:
            year = Names(self._rows(won), self.columns.year)
            kinds = self._kinds(thing)
            if kinds and kinds[2]:
                said |= kinds[0].mask
            birth = Names(self._rows(born), self.columns.year)
            yield from self._read(Calculate("distance", year, birth), mask | said, thing.cost + 0.3, FITS, thing)

    def _hop(self, m: Match) -> Iterator[Reading]:
        """The property of a property: the capital of the country somebody was born in."""
        if m.fact is None or m.gives in ("date", "number", "flag"):
            return
        spoken = sum({a.mask for a in self.question.of("property", "says") if not a.mask & (m.mask | m.thing.mask)})
        if not spoken:
            return
        values = items(m.fact.value)
        keys = (
            [m.fact.value, *values]
            if len(values) == 1
            else [m.fact.value, values[-1], values[0]]
            if m.gives == "place"
            else []
        )
        known = self._look_up(tuple(dict.fromkeys(keys)))
        mask = m.mask | m.thing.mask | described(m.thing, self.question, self.composer.lexicon)
        more, said = self._conditions(m)
        for key, about in known.items():
            if key == m.thing.entity.key or more is None:
                continue
            then = Thing(Entity(key, key), mask | said, m.thing.cost + m.cost + HOP, about)
            for second in matches(then, self.question, self.composer.lexicon):
                if not second.mask & m.mask and second.fact is not None:
                    yield from self._asked(replace(second, thing=then))
