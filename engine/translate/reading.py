"""How well a meaning accounts for a question.

The lexical score is the weight of the words it explains, less the weight of those it leaves, less what it adds that
nobody said, plus or minus how well the kind of answer fits the question word.
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
    Excerpt,
    Exists,
    Given,
    Leader,
    Listed,
    Meaning,
    Names,
    Same,
    Scaled,
    Set,
    Tally,
    Where,
    Which,
)
from .question import PLAIN, Part, year_column
from .wanted import CLASHES, FITS, wanted

MISPLACED, LOOP = 0.8, 0.15


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


class Reader:
    """Reads a question as asks over the sets that a composer found. `now` is the day of the question, ISO."""

    def __init__(self, composer: Composer, parts: list[Part], now: str):
        self.composer, self.parts, self.now = composer, parts, now
        self.question, self.domain = composer.question, composer.domain
        self.wanted = wanted(composer.question)
        self.picks = self.wanted.one_of_these

    def readings(self) -> Iterator[Reading]:
        """Yield what this reader makes of the question."""
        raise AssertionError("each reader has its own")

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

    def reading(self, meaning: Meaning, mask: int, cost: float, fit: float) -> Reading:
        q = self.question
        mask |= (
            self._nouns_of(_tables(meaning))
            | self._columns_of(_columns(meaning), _tops(meaning))
            | self._roles_of(meaning)
        )
        explained = q.weight(mask)
        covered = explained / q.total if q.total else 0.0
        cost += self._misplaced_year(meaning) + self._loops(meaning)
        if self.picks and not _picks(meaning):
            fit = min(fit, CLASHES)
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

    def _columns_of(self, columns: frozenset[tuple[str, str]], tops: frozenset[tuple[str, str]]) -> int:
        """Other words for a column that is asked for anyway, and its unit: "longer runtime", "in minutes"."""
        mask = 0
        for a in self.question.of("column") + self.question.of("ask") + self.question.of("most"):
            # "the first date" asks for more than the dates
            first = a.meant.kind == "most" and a.meant.column == self.domain.table(a.meant.table).moment
            if (a.meant.table, a.meant.column) in columns and (not first or (a.meant.table, a.meant.column) in tops):
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

    def _role_ends(self, a: Atom) -> set[str]:
        role = self.domain.table(a.meant.table).roles[a.meant.role]
        return {role.to}

    def _fit_which(self) -> float:
        """How well one of several things that are named answers the question word."""
        w = self.wanted
        return CLASHES if (w.number or w.money or w.place or w.date) and not self.picks else FITS

    def birth(self, part: Part) -> Column | None:
        table = self.domain.table(part.set.table)
        return (
            next((c for c in table.columns if c.type == "DATE" and "birthday" in c.says), None)
            if table.is_entity
            else None
        )

    def options(self) -> Iterator[list[Part]]:
        """Groups of two to four entities of one table that share no word."""
        by_table: dict[str, list[Part]] = {}
        for p in self.parts:
            if p.set.is_entity and p.set.top is None:
                by_table.setdefault(p.set.table, []).append(p)
        for parts in by_table.values():
            chosen: list[Part] = []
            for p in sorted(parts, key=lambda p: -self.question.weight(p.mask) + p.cost):
                if not any(p.solid & c.solid for c in chosen) and p.cost < PLAIN:
                    chosen.append(p)
            chosen.sort(key=lambda p: p.solid & -p.solid)
            if 2 <= len(chosen) <= 5:
                yield chosen
                for pair in itertools.combinations(chosen, 2) if len(chosen) > 2 else ():
                    yield list(pair)


def _tables(meaning: Meaning | Given) -> frozenset[str]:
    match meaning:
        case Given():
            return frozenset()
        case (
            Names(set=s)
            | Count(set=s)
            | Aggregate(set=s)
            | Exists(set=s)
            | Listed(set=s)
            | Excerpt(set=s)
            | Scaled(set=s)
            | Leader(set=s)
            | Tally(set=s)
        ):
            return _set_tables(s)
        case Which(values=values):
            return frozenset().union(*map(_tables, values))
        case Compare(first=a, second=b) | Calculate(first=a, second=b):
            return _tables(a) | _tables(b)


def _role_sets(meaning: Meaning | Given) -> tuple[Set, ...]:
    match meaning:
        case Given():
            return ()
        case (
            Names(set=s)
            | Count(set=s)
            | Aggregate(set=s)
            | Exists(set=s)
            | Listed(set=s)
            | Excerpt(set=s)
            | Scaled(set=s)
            | Leader(set=s)
            | Tally(set=s)
        ):
            return s.nested
        case Which(values=values):
            return tuple(n for v in values for n in _role_sets(v))
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
        case Which(values=values):
            return frozenset().union(*map(_columns, values))
        case Compare(first=a, second=b) | Calculate(first=a, second=b):
            return _columns(a) | _columns(b)
    return frozenset()


def _tops(meaning: Meaning | Given) -> frozenset[tuple[str, str]]:
    """The columns by which rows are the first or the last."""
    return frozenset((s.table, s.top.column) for s in _role_sets(meaning) if s.top is not None)


def _set_tables(s: Set) -> frozenset[str]:
    return frozenset(n.table for n in s.nested)


def _picks(meaning: Meaning) -> bool:
    """Whether the answer is one or some of the things that a question names."""
    return isinstance(meaning, Which) or (isinstance(meaning, Names) and not meaning.year)


def _all_ignored(atom: Atom, weights: list[float]) -> bool:
    return all(w == 0 for i, w in enumerate(weights) if atom.mask >> i & 1)
