"""What may be asked of the composed sets, and how well each reading accounts for the question's words.

A reading is a meaning with the words it explains. Its lexical score is the weight of these words, less the words it
leaves unexplained, less what it adds that nobody said, plus or minus how well the kind of answer fits the question word.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from kg.domain import Column

from .compose import Composer
from .lexicon import Atom
from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Count,
    Exists,
    Given,
    Is,
    Meaning,
    Names,
    Same,
    Set,
    To,
    Where,
    Which,
)
from .question import Part, distance, year_column

FITS, CLASHES = 0.6, -1.0
MISPLACED, LOOP = 0.8, 0.15
_OPENERS = frozenset(
    ["did", "does", "do", "is", "was", "were", "are", "has", "have", "had", "can", "could", "will", "would"]
)
_EXPLAIN = frozenset(["why", "how"])


@dataclass(frozen=True)
class Reading:
    """A meaning, the words of the question it explains, and its lexical score.

    `covered` is the share of the question's weight that is explained, `guessed` the cost of what nobody said.
    """

    meaning: Meaning
    mask: int
    score: float
    covered: float
    guessed: float


@dataclass(frozen=True)
class _Wanted:
    """What kind of answer the question's opening asks for."""

    yes_no: bool = False
    person: frozenset[str] = frozenset()  # tables whose rows "who" asks for
    date: bool = False
    year: bool = False
    number: bool = False
    money: bool = False
    place: bool = False
    explanation: bool = False
    tables: frozenset[str] = frozenset()


class Asker:
    """Reads a question as asks over the sets that a composer found."""

    def __init__(self, composer: Composer, parts: list[Part], now: str):
        self.composer, self.parts, self.now = composer, parts, now
        self.question, self.domain = composer.question, composer.domain
        self.wanted = self._wants()

    def readings(self) -> list[Reading]:
        """Return the readings, best first; of those with the same meaning the best."""
        best: dict[Meaning, Reading] = {}
        for r in itertools.chain(self._of_sets(), self._of_options(), self._calculations()):
            known = best.get(r.meaning)
            if known is None or r.score > known.score:
                best[r.meaning] = r
        return sorted(best.values(), key=lambda r: -r.score)

    # -- what the question wants -----------------------------------------------------------------------------

    def _wants(self) -> _Wanted:
        q = self.question
        words = [w.text for w in q.words]
        asking = [a for a in q.of("wh") if a.mask.bit_count() == 1]
        first_word = min((a.first for a in asking), default=0)
        # the first question word decides: in "what was the debut of whoever ..." it is not "whoever"
        who = frozenset(a.meant.table for a in asking if a.first == first_word and a.phrase.startswith("who"))
        counts = bool(q.of("op", "count"))
        first = words[0] if words else ""
        text = " ".join(words)
        explanation = (
            "why" in words
            or ("how" in words and not _how_is_measured(words))
            or text.startswith(("what made", "what led"))
        )
        return _Wanted(
            yes_no=first in _OPENERS and not counts and not any(a.first == 0 for a in q.of("op", "polite")),
            person=who,
            date="when" in words
            or "what day" in text
            or "what date" in text
            or "what year" in text
            or "which year" in text,
            year="what year" in text or "which year" in text,
            number=(counts and not self._asked_before(q.of("op", "count")))
            or "how long" in text
            or "how many" in text
            or "how old" in text,
            money="how much" in text,
            place="where" in words[:4],
            explanation=explanation,
            tables=frozenset(a.meant.table for a in q.of("table") if self.question.is_asked_for(a)),
        )

    def _asked_before(self, ops: list[Atom]) -> bool:
        """Whether "which" or "who" comes before a count: then things are asked for, by their number."""
        first = min(a.first for a in ops)
        return any(w.text in ("which", "who", "whose") for w in self.question.words[:first])

    def _misplaced_year(self, meaning: Meaning) -> float:
        """What it costs that a year speaks of a thing although rows with a year of their own are asked about."""
        sets = _role_sets(meaning)
        open_rows = dated = False
        for s in sets:
            table = self.domain.table(s.table)
            column = year_column(table)
            if column is None:
                continue
            said = any((isinstance(c, Where) and c.column == column.name) or isinstance(c, Same) for c in s.conditions)
            open_rows = open_rows or (not said and not table.is_entity)
            dated = dated or (said and table.is_entity and not s.is_entity)
        return MISPLACED if open_rows and dated else 0.0

    def _loops(self, meaning: Meaning) -> float:
        """What it costs to come back to where one was: films of people of films."""
        tables = [s.table for s in _role_sets(meaning)[:1] for s in s.nested if self.domain.table(s.table).is_entity]
        return LOOP * max((tables.count(t) - 1 for t in set(tables)), default=0) if len(tables) > 2 else 0.0

    # -- scoring -----------------------------------------------------------------------------------------------

    def _reading(self, meaning: Meaning, mask: int, cost: float, fit: float) -> Reading:
        q = self.question
        mask |= self._nouns_of(_tables(meaning)) | self._columns_of(_columns(meaning)) | self._roles_of(meaning)
        explained = q.weight(mask)
        covered = explained / q.total if q.total else 0.0
        cost += self._misplaced_year(meaning) + self._loops(meaning)
        score = explained - (q.total - explained) - cost + fit
        return Reading(meaning, mask, score, covered, cost)

    def _nouns_of(self, tables: frozenset[str]) -> int:
        """The words that merely name a table which the meaning has anyway: "the film", "which actor"."""
        mask = 0
        for a in self.question.of("table") + self.question.of("wh"):
            if a.meant.table in tables:
                mask |= a.mask
        for a in self.question.of("op", "list") + self.question.of("op", "both") + self.question.of("op", "polite"):
            mask |= a.mask
        for a in self.question.of("role", "noun"):
            # "which actor won": the noun says what kind of row is asked for, not a role in something
            if self._role_ends(a) & tables and self.question.is_asked_for(a):
                mask |= a.mask
        return mask

    def _columns_of(self, columns: frozenset[tuple[str, str]]) -> int:
        """Other words for a column that is asked for anyway, and its unit: "longer runtime", "in minutes"."""
        mask = 0
        for a in self.question.of("column") + self.question.of("ask") + self.question.of("most"):
            if (a.meant.table, a.meant.column) in columns:
                mask |= a.mask
        for table, name in columns:
            unit = self.domain.table(table).column(name).unit
            said = {w for phrase in self.composer.lexicon.generic["units"].get(unit, ()) for w in phrase.split()}
            mask |= sum(1 << i for i, w in enumerate(self.question.words) if w.text in said)
        return mask

    def _roles_of(self, meaning: Meaning) -> int:
        """Other words for a role or a value that the meaning has anyway: "composed the score"."""
        held = _role_sets(meaning)
        mask = 0
        for a in self.question.of("role"):
            role = self.domain.table(a.meant.table).roles[a.meant.role]
            if any(
                s.table == a.meant.table and role.where and all(_fixes(s, c, v) for c, v in role.where) for s in held
            ):
                mask |= a.mask
        for a in self.question.of("value"):
            # "awarded the best documentary honor": two words for the same value
            if a.meant.values and any(
                s.table == a.meant.table and all(_fixes(s, a.meant.column, v) for v in a.meant.values) for s in held
            ):
                mask |= a.mask
        return mask

    def _fit_rows(self, table: str) -> float:
        w = self.wanted
        if w.yes_no or w.explanation or w.place:
            return CLASHES
        if w.person:
            return FITS if table in w.person else CLASHES
        if w.date or w.number or w.money:
            return CLASHES
        return FITS if table in w.tables else (CLASHES / 2 if w.tables else 0.0)

    def _fit_column(self, column: Column, table: str) -> float:
        w = self.wanted
        if w.yes_no or w.explanation or w.place:
            return CLASHES
        if w.date:
            if "year" in column.says:
                return FITS if w.year else FITS / 2
            return CLASHES if column.type != "DATE" else FITS / 2 if w.year else FITS
        if w.money:
            return FITS if column.unit == "USD" else CLASHES
        if w.number:
            return FITS if column.unit == "min" else CLASHES
        if w.person:
            return CLASHES / 2
        return 0.0

    # -- of one set ----------------------------------------------------------------------------------------------

    def _of_sets(self) -> Iterator[Reading]:
        for part in self.parts:
            table = self.domain.table(part.set.table)
            if table.is_entity and not part.set.is_entity:
                # a name that the question itself gives is no answer to it
                given = 1.5 if self._given(part.set) else 0.0
                fit = self._fit_rows(table.name)
                yield self._reading(Names(part.set), part.mask, part.cost + given, fit)
                n, word = self._wanted_number(table.name)
                if n and part.set.top is None and not word & part.mask:
                    yield self._reading(Names(part.set, n=n), part.mask | word, part.cost + given, fit)
            yield from self._kinds(part)
            yield from self._age_now(part)
            yield from self._columns(part)
            yield from self._counts(part)
            if self.wanted.yes_no and not part.set.is_entity and part.set.top is None:
                yield self._reading(Exists(part.set), part.mask | 1, part.cost, FITS)

    def _wanted_number(self, table: str) -> tuple[int, int]:
        """(n, words) of "name three films": a number right before the table's noun, behind a word that asks."""
        numbers = self.composer.lexicon.generic["numbers"]
        for a in self.question.of("table"):
            i = a.first - 1
            if a.meant.table == table and i >= 1 and self.question.words[i - 1].text in ("name", "list", "give", "me"):
                word = self.question.words[i].text
                n = numbers.get(word) or (int(word) if word.isdigit() and len(word) < 3 else 0)
                if n:
                    return n, 1 << i
        return 0, 0

    def _kinds(self, part: Part) -> Iterator[Reading]:
        """ "Which oscars did it win": what tells the rows of a detail table apart, the first text of its key."""
        table = self.domain.table(part.set.table)
        if (
            table.is_entity
            or table.roles
            or table.name not in self.wanted.tables
            or not any(isinstance(c, To) for c in part.set.conditions)
        ):
            return
        column = next((table.column(k) for k in table.key if table.column(k).type == "TEXT"), None)
        if column is not None:
            yield self._reading(Names(part.set, column.name), part.mask, part.cost, FITS)

    def _given(self, rows: Set) -> bool:
        """Whether the set is one thing that the question names."""
        return any(isinstance(c, Is) and not c.series for c in rows.conditions)

    def _columns(self, part: Part) -> Iterator[Reading]:
        table = self.domain.table(part.set.table)
        for a in self.question.of("column") + self.question.of("ask"):
            if a.meant.table != table.name or a.mask & part.solid:
                continue
            column = table.column(a.meant.column)
            if column.name == table.label and part.set.is_entity:
                continue
            if any(
                isinstance(c, Where) and c.column == column.name and c.op in ("=", "in") for c in part.set.conditions
            ):
                continue  # the question itself gives it
            cost = part.cost + 0.02 * distance(a.mask, part.solid)
            # "who did she play" is a question for the column itself
            fit = 0.0 if a.meant.kind == "ask" and a.phrase.startswith("who") else self._fit_column(column, table.name)
            if a.meant.kind == "column" and table.roles == () and not table.is_entity:
                linked = column.links.table if column.links else ""
                fit += (
                    self._fit_rows(linked)
                    if linked and column.links and column.links.column == self.domain.table(linked).label
                    else 0.0
                )
            only_year = column.type == "DATE" and self.wanted.year
            yield self._reading(Names(part.set, column.name, only_year), part.mask | a.mask, cost, fit)
            for name in ("sum", "average"):
                for op in self.question.of("op", name):
                    if column.numeric and not part.set.is_entity:
                        function = {"sum": "sum", "average": "avg"}[name]
                        yield self._reading(
                            Aggregate(function, part.set, column.name), part.mask | a.mask | op.mask, cost, FITS
                        )
        year = year_column(table)
        if (
            self.wanted.date
            and not table.is_entity
            and year is not None
            and any(isinstance(c, To) for c in part.set.conditions)
        ):
            yield self._reading(Names(part.set, year.name), part.mask, part.cost, FITS)

    def _age_now(self, part: Part) -> Iterator[Reading]:
        birth = self._birth(part)
        past = any(w.text in ("was", "were") for w in self.question.words)
        for op in self.question.of("op", "age") if birth is not None and not past else ():
            if birth is not None and not op.mask & part.solid:
                meaning = Calculate("years", Names(part.set, birth.name), Given(self.now))
                yield self._reading(meaning, part.mask | op.mask, part.cost, FITS)

    def _counts(self, part: Part) -> Iterator[Reading]:
        if part.set.is_entity:
            return
        for op in self.question.of("op", "count"):
            if op.mask & part.solid:
                continue
            counted = 0.0 if self._named_near(part, op) else 0.5
            if self._given(part.set) or self._asked_before([op]):
                counted += 1.5
            yield self._reading(Count(part.set), part.mask | op.mask, part.cost + counted, FITS)

    def _named_near(self, part: Part, op: Atom) -> bool:
        """Whether what is counted stands right behind "how many"."""
        nouns = [
            a
            for a in self.question.atoms
            if a.meant.table == part.set.table and a.meant.kind in ("table", "value", "column")
        ]
        nouns += [
            a for a in self.question.of("role") if a.meant.name == "noun" and part.set.table in self._role_ends(a)
        ]
        return any(op.last < a.first <= op.last + 3 for a in nouns)

    def _role_ends(self, a: Atom) -> set[str]:
        role = self.domain.table(a.meant.table).roles[a.meant.role]
        return {role.to}

    # -- of several things -----------------------------------------------------------------------------------

    def _options(self) -> Iterator[list[Part]]:
        """Groups of two to four entities of one table that share no word."""
        by_table: dict[str, list[Part]] = {}
        for p in self.parts:
            if p.set.is_entity:
                by_table.setdefault(p.set.table, []).append(p)
        for parts in by_table.values():
            chosen: list[Part] = []
            for p in sorted(parts, key=lambda p: -self.question.weight(p.mask) + p.cost):
                if not any(p.solid & c.solid for c in chosen) and p.cost < 0.8:
                    chosen.append(p)
            chosen.sort(key=lambda p: p.solid & -p.solid)
            if 2 <= len(chosen) <= 5:
                yield chosen
                for pair in itertools.combinations(chosen, 2) if len(chosen) > 2 else ():
                    yield list(pair)

    def _of_options(self) -> Iterator[Reading]:
        for options in self._options():
            table = self.domain.table(options[0].set.table)
            names = tuple(o.set.entities[0].text for o in options)
            mask = cost = 0
            solid = 0
            total_cost = float(cost)
            for o in options:
                mask |= o.mask
                solid |= o.solid
                total_cost += o.cost
            sets = tuple(o.set for o in options)
            ors = sum(a.mask for a in self.question.of("op", "or")[:1])
            for column, descending, words in self.composer.superlatives(table):
                if words & solid:
                    continue
                if self.wanted.yes_no and len(options) == 2:
                    meaning: Meaning = Compare(Names(sets[0], column.name), Names(sets[1], column.name), descending)
                    yield self._reading(meaning, mask | words | 1, total_cost, FITS)
                elif not self.wanted.yes_no:
                    fit = FITS if ors or self.wanted.person or self.wanted.tables else 0.2
                    yield self._reading(
                        Which(sets, names, column.name, descending), mask | words | ors, total_cost, fit
                    )
            yield from self._by_count(options, names, mask, solid, total_cost)
            yield from self._aggregates(options, mask, solid, total_cost)

    def _by_count(
        self, options: list[Part], names: tuple[str, ...], mask: int, solid: int, cost: float
    ) -> Iterator[Reading]:
        """Who has directed more films; which film won more oscars."""
        for name, descending in (("higher", True), ("highest", True), ("lower", False), ("lowest", False)):
            for op in self.question.of("op", name):
                if op.mask & solid:
                    continue
                for counted in self._counted(options):
                    sets = tuple(p.set for p in counted)
                    words = mask | op.mask | sum(c.mask for c in self.question.of("op", "count")[:1])
                    for p in counted:
                        words |= p.mask
                    extra = cost + max(p.cost for p in counted) - min(o.cost for o in options)
                    if self.wanted.yes_no and len(options) == 2:
                        yield self._reading(Compare(Count(sets[0]), Count(sets[1]), descending), words | 1, extra, FITS)
                    elif not self.wanted.yes_no:
                        yield self._reading(
                            Which(sets, names, "", descending),
                            words,
                            extra,
                            FITS if self.wanted.person or self.wanted.tables else 0.2,
                        )

    def _counted(self, options: list[Part]) -> Iterator[list[Part]]:
        """For each option the set grown from it, all in the same way."""
        shapes: dict[str, dict[int, Part]] = {}
        for p in self.parts:
            for i, o in enumerate(options):
                if p.solid & o.solid and p.set != o.set and p.set.top is None:
                    shape = _shape(p.set, o.set)
                    if shape is not None:
                        shapes.setdefault(shape, {}).setdefault(i, p)
        for grown in shapes.values():
            if len(grown) == len(options):
                yield [grown[i] for i in range(len(options))]

    def _aggregates(self, options: list[Part], mask: int, solid: int, cost: float) -> Iterator[Reading]:
        table = self.domain.table(options[0].set.table)
        merged = Set(table.name, (Is(tuple(e for o in options for e in o.set.entities)),))
        for name, function in (("sum", "sum"), ("average", "avg")):
            for op in self.question.of("op", name):
                for a in self.question.of("column") + self.question.of("ask"):
                    column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                    if column is not None and column.numeric and not (a.mask | op.mask) & solid:
                        yield self._reading(
                            Aggregate(function, merged, column.name), mask | op.mask | a.mask, cost, FITS
                        )

    # -- calculations ------------------------------------------------------------------------------------------

    def _calculations(self) -> Iterator[Reading]:
        yield from self._two_columns()
        yield from self._measures()
        yield from self._two_things()
        yield from self._ages()

    def _two_columns(self) -> Iterator[Reading]:
        """How much more it earned than it cost: two columns of one row."""
        for part in self.parts:
            table = self.domain.table(part.set.table)
            if not table.is_entity or (part.set.top is not None and not part.set.is_entity and part.cost > 1):
                continue
            nouns = [
                a
                for a in self.question.of("column") + self.question.of("ask") + self._verbs_of_columns(table.name)
                if a.meant.table == table.name and table.column(a.meant.column).numeric and not a.mask & part.solid
            ]
            for a, b in itertools.permutations(nouns, 2):
                if a.meant.column == b.meant.column or a.mask & b.mask or a.first > b.first:
                    continue
                yield from self._arithmetic(part, a, b)

    def _verbs_of_columns(self, table: str) -> list[Atom]:
        return [a for a in self.question.of("most") if a.meant.table == table]

    def _measures(self) -> Iterator[Reading]:
        """A quantity that a domain's template file makes of two columns: profit."""
        for op in self.question.of("measure"):
            m = self.composer.lexicon.measures[op.meant.name]
            for part in self.parts:
                if part.set.table == m.table and not op.mask & part.solid:
                    meaning = Calculate(m.function, Names(part.set, m.first), Names(part.set, m.second))
                    yield self._reading(meaning, part.mask | op.mask, part.cost, FITS)

    def _arithmetic(self, part: Part, a: Atom, b: Atom) -> Iterator[Reading]:
        table = self.domain.table(part.set.table)
        if table.column(a.meant.column).unit != table.column(b.meant.column).unit:
            return
        first, second = Names(part.set, a.meant.column), Names(part.set, b.meant.column)
        words = part.mask | a.mask | b.mask
        for name, function in (
            ("ratio", "ratio"),
            ("percent", "percent"),
            ("difference", "difference"),
            ("difference_lower", "difference"),
        ):
            for op in self.question.of("op", name):
                extra = 0.0 if not op.mask & part.solid else 1.0
                if function != "difference":
                    # "how many times its budget": what stands right behind the words is what is measured with
                    one, other = (second, first) if 0 <= a.first - op.last <= 2 else (first, second)
                    yield self._reading(Calculate(function, one, other), words | op.mask, part.cost + extra, FITS)
                    continue
                # "short of its budget", "more than its budget": the one compared with stands behind "of" or "than"
                lower = name == "difference_lower"
                one, other = (
                    (second, first)
                    if self._behind(a, ("of", "than")) and not self._behind(b, ("of", "than"))
                    else (first, second)
                )
                sign = 1 if lower or self.question.of("op", "higher") else 0
                meaning = Calculate(function, other, one, sign) if lower else Calculate(function, one, other, sign)
                near = sum(o.mask for o in self.question.of("op", "difference")[:1]) if lower else 0
                yield self._reading(meaning, words | op.mask | near, part.cost + extra - (0.1 if lower else 0.0), FITS)

    def _behind(self, atom: Atom, words: tuple[str, ...]) -> bool:
        return any(w.text in words for w in self.question.words[max(0, atom.first - 2) : atom.first])

    def _two_things(self) -> Iterator[Reading]:
        """How much longer one is than the other: one column of two rows."""
        for options in self._options():
            if len(options) != 2:
                continue
            table = self.domain.table(options[0].set.table)
            first, second = options
            for op in self.question.of("op", "difference"):
                for a in self.question.of("column") + self.question.of("ask") + self._verbs_of_columns(table.name):
                    column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                    if (
                        column is None
                        or a.mask & (first.solid | second.solid)
                        or not (column.numeric or column.type == "DATE")
                    ):
                        continue
                    function = "distance"
                    if column.type == "DATE":
                        function = "years" if any(w.stem == "year" for w in self.question.words) else "days"
                    meaning = Calculate(function, Names(first.set, column.name), Names(second.set, column.name))
                    words = first.mask | second.mask | op.mask | a.mask
                    yield self._reading(meaning, words, first.cost + second.cost, FITS)

    def _ages(self) -> Iterator[Reading]:
        """How old somebody was when something came out, or in a year."""
        ages = self.question.of("op", "age")
        if not ages:
            return
        births = [(p, c) for p in self.parts if (c := self._birth(p)) is not None]
        for (person, birth), event in itertools.product(births[:6], self.parts[:24]):
            table = self.domain.table(event.set.table)
            dates = [c for c in table.columns if c.type == "DATE"]
            if (
                not table.is_entity
                or table.name == person.set.table
                or not dates
                or person.solid & event.solid
                or (person.solid | event.solid) & ages[0].mask
            ):
                continue
            meaning = Calculate("years", Names(person.set, birth.name), Names(event.set, dates[0].name))
            near = sum(
                a.mask
                for a in (self.question.of("column") + self.question.of("ask") + self.question.of("most"))
                if a.meant.table == table.name and a.meant.column == dates[0].name and not a.mask & ages[0].mask
            )
            yield self._reading(
                meaning, person.mask | event.mask | ages[0].mask | near, person.cost + event.cost, FITS + 0.2
            )

    def _birth(self, part: Part) -> Column | None:
        table = self.domain.table(part.set.table)
        return (
            next((c for c in table.columns if c.type == "DATE" and "birthday" in c.says), None)
            if table.is_entity
            else None
        )


def _tables(meaning: Meaning | Given) -> frozenset[str]:
    match meaning:
        case Given():
            return frozenset()
        case Names(set=s) | Count(set=s) | Aggregate(set=s) | Exists(set=s):
            return _set_tables(s)
        case Which(options=options):
            return frozenset().union(*(_set_tables(o) for o in options))
        case Compare(first=a, second=b) | Calculate(first=a, second=b):
            return _tables(a) | _tables(b)


def _role_sets(meaning: Meaning | Given) -> tuple[Set, ...]:
    match meaning:
        case Given():
            return ()
        case Names(set=s) | Count(set=s) | Aggregate(set=s) | Exists(set=s):
            return s.nested
        case Which(options=options):
            return tuple(n for o in options for n in o.nested)
        case Compare(first=a, second=b) | Calculate(first=a, second=b):
            return _role_sets(a) + _role_sets(b)


def _fixes(s: Set, column: str, value: object) -> bool:
    return any(isinstance(c, Where) and c.column == column and value in c.values for c in s.conditions)


def _columns(meaning: Meaning | Given) -> frozenset[tuple[str, str]]:
    """The columns whose values are asked for or compared."""
    match meaning:
        case Names(set=s, column=c) | Aggregate(set=s, column=c):
            return frozenset({(s.table, c)} if c else ()) | (
                {(s.top.via or s.table, s.top.column)} if s.top else frozenset()
            )
        case Which(options=options, column=c):
            return frozenset({(options[0].table, c)} if c else ())
        case Compare(first=a, second=b) | Calculate(first=a, second=b):
            return _columns(a) | _columns(b)
    return frozenset()


def _set_tables(s: Set) -> frozenset[str]:
    return frozenset(n.table for n in s.nested)


def _shape(grown: Set, origin: Set) -> str | None:
    """`grown` written with a hole where `origin` stands; None if it is not grown from it."""
    text, hole = repr(grown), repr(origin)
    return text.replace(hole, "_") if hole in text else None


def _all_ignored(atom: Atom, weights: list[float]) -> bool:
    return all(w == 0 for i, w in enumerate(weights) if atom.mask >> i & 1)


def _how_is_measured(words: list[str]) -> bool:
    """how many, how old, how much ...: a quantity, not an explanation."""
    after = [b for a, b in itertools.pairwise(words) if a == "how"]
    return all(
        b
        in (
            "many",
            "much",
            "long",
            "old",
            "often",
            "tall",
            "far",
            "big",
            "large",
            "expensive",
            "well",
            "highly",
            "high",
        )
        for b in after
    )
