"""Questions about the properties of things: "the capital of Chad", "who was born later", "is Laos landlocked".

A table of facts (`properties:` in its domain file) has a row for each field of an infobox, and every thing has its own
fields. So what is there is looked up first, one call a thing, and the question is matched with that. A property
that no word speaks of is never taken, and words that nothing explains, or that speak of another property, leave the
question unread: what an encyclopaedia does not say must not be answered by what it says beside it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kg.domain import Table

from .fields import conversion, unit_of
from .lexicon import Atom, stem
from .matching import (
    UNLIKELY,
    Match,
    Thing,
    choose,
    described,
    held,
    is_long_ago,
    is_number,
    items,
    matches,
    said_in,
    things,
)
from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Condition,
    Count,
    Entity,
    Excerpt,
    Exists,
    Given,
    Is,
    Listed,
    Meaning,
    Names,
    Scaled,
    Set,
    To,
    Value,
    Where,
    Which,
)
from .properties import Known
from .reading import Reader, Reading
from .wanted import CLASHES, FITS

LOOKED_UP = 8  # things that are looked up for a question
DOUBTFUL = 2  # names among these that may well be none
FEW = 6  # things that are compared
CONTEXT = 0.1  # what it costs that words are explained only by standing in what is known of a thing
HOP = 0.3  # what it costs to go on from a value to the thing of that name
PLACES = ("country", "city", "place", "town", "nation", "state", "continent")
EARLIER, LATER = ("first", "earlier", "earliest", "sooner", "before"), ("later", "last", "latest", "after")
NAME = re.compile(r"[^\W\d_a-z]\S+ [^\d]+")  # what may be somebody's name
LEADING = ("person", "place", "list")  # what leads from a thing to others
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
SUMMED = ("total", "combined", "together", "sum", "plus", "altogether")
RATHER = 1.0  # and that is meant rather than not
SURELY = 0.5  # what a name costs that is surely meant
SHORT = 9  # a number of so few characters is given as it is written
LONG = 3  # so many things are a list
STRAY = 0.8  # more than this weight of words that nothing explains, and the question is not read


@dataclass(frozen=True)
class _Columns:
    """The columns of a table of facts."""

    entity: str
    day: str
    year: str
    number: str


class OfFacts(Reader):
    """Reads a question as one about properties of one thing, or of several."""

    @cached_property
    def table(self) -> Table | None:
        return next((t for t in self.domain.tables if t.properties), None)

    @cached_property
    def facts(self) -> Table:
        assert self.table is not None
        return self.table

    @cached_property
    def columns(self) -> _Columns:
        table = self.facts
        of = {c.type: c.name for c in reversed(table.columns)}
        entity = next(c.name for c in table.columns if c.links)
        return _Columns(entity, of.get("DATE", ""), of.get("INTEGER", ""), of.get("DOUBLE", ""))

    @cached_property
    def things_table(self) -> Table:
        links = self.facts.column(self.columns.entity).links
        assert links is not None
        return self.domain.table(links.table)

    def readings(self) -> Iterator[Reading]:
        if self.table is None or self.composer.facts is None:
            return
        found = things(self.question, self.things_table.name, self._look_up(self._keys()))
        for thing in found:
            yield from self._of_thing(thing)
        for group in self._groups(found):
            yield from self._of_group(group)

    # -- what is known -------------------------------------------------------------------------------------------

    def _keys(self) -> tuple[object, ...]:
        named = sorted(self.question.named, key=lambda n: n.cost - 0.3 * n.mask.bit_count())
        named = [n for n in named if n.table == self.things_table.name and n.cost < UNLIKELY]
        doubtful = [n for n in named if n.cost >= RATHER][DOUBTFUL:]
        keys = [e.key for n in named if n not in doubtful for e in (*n.namesakes[:4], *n.fuller)]
        return tuple(dict.fromkeys(keys))[:LOOKED_UP]

    def _look_up(self, keys: tuple[object, ...]) -> dict[str, Known]:
        assert self.composer.facts is not None
        return dict(self.composer.facts(self.facts, keys)) if keys else {}

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

    # -- scoring -------------------------------------------------------------------------------------------------

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

    # -- one thing -----------------------------------------------------------------------------------------------

    def _of_thing(self, thing: Thing) -> Iterator[Reading]:
        found = self._matches(thing)
        for m in found:
            yield from self._asked(m)
            yield from self._hop(m)
        yield from self._between(found)
        yield from self._ages(thing)
        yield from self._denied(thing)
        if self.wanted.yes_no and self.question.words[0].text in ("is", "was", "are", "were"):
            yield from self._is_a(thing)

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

    def _matches(self, thing: Thing) -> list[Match]:
        found = matches(thing, self.question, self.composer.lexicon)
        if self.wanted.place and not any(m.gives == "place" for m in found):
            concept = self.composer.lexicon.vocabulary.concepts.get("location")
            if concept is not None and not found:
                found += held(thing, concept, 0, 0.2)
        return found

    def _rows(self, m: Match, *more: Condition) -> Set:
        assert m.fact is not None
        table = self.facts
        to = To(Set(self.things_table.name, (Is((m.thing.entity,)),)), self.columns.entity)
        return Set(table.name, (to, Where(table.properties, "=", (m.fact.property,)), *more))

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

    # -- conditions ----------------------------------------------------------------------------------------------

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

    # -- ages ----------------------------------------------------------------------------------------------------

    def _held(self, thing: Thing, name: str) -> Match | None:
        concept = self.composer.lexicon.vocabulary.concepts.get(name)
        found = held(thing, concept, 0) if concept else iter(())
        return next((m for m in found if m.fact is not None), None)

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

    # -- from a value to the thing of that name --------------------------------------------------------------------

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

    # -- several things ------------------------------------------------------------------------------------------

    def _of_group(self, group: list[Thing]) -> Iterator[Reading]:
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
