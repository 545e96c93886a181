"""Chains of roles, read in the order of the words: "the films directed by the director of X were written by who".

The floating parser of `compose` lets pieces combine in any order, which is right for short questions and hopeless for a
chain: who directed and who wrote can only be told from where the words stand. This is a small grammar of English noun
phrases and clauses over the roles of a domain: what is of what ("the director of", "X's director"), relative clauses
("films that share actors with", "whose writers also wrote"), and the clauses that ask for an end of a chain. Its words
are the domain's own and the function words in `generic.yaml`.

A chain that goes forth and back by the same role does not come back to where it began: the films that share a director
with a film are other films.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kg.domain import Domain, Role, Table

from .lexicon import Atom, is_verb
from .meaning import Is, Other, Set, Through, To, Where
from .question import Part, Question
from .wanted import SURE

CREDIT = 1.2  # what it is worth that words stand where they should
DEEPEST = 6  # phrases within phrases
MANY = 40  # readings of one phrase


@dataclass(frozen=True)
class Relation:
    """Roles that one phrase names: `of` and `to` are tables."""

    detail: Table
    roles: tuple[Role, ...]

    @property
    def of(self) -> str:
        return self.roles[0].of

    @property
    def to(self) -> str:
        return self.roles[0].to

    def like(self, other: Relation) -> bool:
        """Whether both may be the same role."""
        return self.detail.name == other.detail.name and bool({*self.roles} & {*other.roles})


@dataclass(frozen=True)
class Phrase:
    """A noun phrase that ends before word `end`: its rows, and how they were reached.

    `steps` are the roles it goes over, `last` the last of them, `start` the thing that was named if `last` led right
    from it, `solid` the words of names.
    """

    end: int
    rows: Set
    solid: int
    cost: float = 0.0
    steps: int = 0
    last: Relation | None = None
    start: Set | None = None


@dataclass
class Chains:
    """Reads the chains in one question."""

    domain: Domain
    question: Question
    words: dict[str, Any]  # the function words, from generic.yaml
    _phrases: dict[int, list[Phrase]] = field(default_factory=dict)
    _depth: int = 0

    def __post_init__(self) -> None:
        self._stems = [w.stem for w in self.question.words]
        self._count = len(self._stems)
        self._relations: dict[tuple[str, int], list[tuple[int, Relation]]] = {}
        spans: dict[tuple[str, int, int, str], list[Atom]] = {}
        for a in self.question.of("role"):
            whole = a.mask.bit_count() == a.last - a.first + 1
            if whole and not (a.meant.name == "noun" and is_verb(self.question.words[a.last].text, a.phrase)):
                spans.setdefault((a.meant.name, a.first, a.last, a.meant.table), []).append(a)
        for (form, first, last, table), atoms in spans.items():
            detail = self.domain.table(table)
            roles = tuple(detail.roles[i] for i in dict.fromkeys(a.meant.role for a in atoms))
            self._relations.setdefault((form, first), []).append((last + 1, Relation(detail, roles)))

    def parts(self) -> Iterator[Part]:
        """Yield the sets of all chains of two roles and more, each with the words from its first to its last."""
        if len(self.question.of("role")) < 1 or not self.question.named:
            return
        best: dict[Set, Part] = {}
        for first in range(self._count):
            for phrase in [*self._clauses(first), *(self._phrase(first) if not first or self._opens(first) else ())]:
                if phrase.steps < 2:
                    continue
                mask = (1 << phrase.end) - (1 << first)
                part = Part(phrase.rows, mask, phrase.solid, phrase.cost - CREDIT)
                known = best.get(part.set)
                if (
                    known is None
                    or self.question.weight(mask) - part.cost > self.question.weight(known.mask) - known.cost
                ):
                    best[part.set] = part
        yield from best.values()

    def is_whole(self, part: Part) -> bool:
        """Whether a chain of sure names is all that the question says, but for the words that open it."""
        words = self.question.words
        rest = (w.text for i, w in enumerate(words) if not part.mask >> i & 1)
        return part.cost < SURE - CREDIT and all(w in self.words["openers"] for w in rest)

    def _opens(self, first: int) -> bool:
        return self.question.words[first - 1].text not in self.words["inside"]

    # -- words -----------------------------------------------------------------------------------------------------

    def _is(self, at: int, what: str) -> bool:
        return at < self._count and (
            self.question.words[at].text in self.words[what] or self._stems[at] in self.words[what]
        )

    def _past(self, at: int, what: str) -> int:
        """The place behind all words of the kind `what` at `at`."""
        while self._is(at, what):
            at += 1
        return at

    def _nouns(self, at: int) -> Iterator[tuple[int, str]]:
        """(end, table) of the table nouns at `at`."""
        for a in self.question.of("table"):
            if (
                a.first == at
                and a.mask.bit_count() == a.last - a.first + 1
                and self.domain.table(a.meant.table).is_entity
            ):
                yield a.last + 1, a.meant.table

    def _roles(self, form: str, at: int) -> list[tuple[int, Relation]]:
        return self._relations.get((form, at), [])

    def _names(self, at: int) -> Iterator[Phrase]:
        for n in self.question.named:
            if n.mask & -n.mask == 1 << at and n.cost < 1.0:
                yield Phrase(n.mask.bit_length(), Set(n.table, (Is((n.best,)),)), n.mask, n.cost)

    # -- noun phrases ------------------------------------------------------------------------------------------------

    def _phrase(self, at: int) -> list[Phrase]:
        """The noun phrases at `at` that speak of something named."""
        if at not in self._phrases:
            if self._depth >= DEEPEST:
                return []
            self._depth += 1
            found: dict[tuple[int, Set], Phrase] = {}
            grown = list(self._heads(at))
            while grown and len(found) < MANY:
                p = grown.pop(0)
                known = found.get((p.end, p.rows))
                if known is None or p.cost < known.cost:
                    found[p.end, p.rows] = p
                    grown += self._tails(p)
            self._depth -= 1
            self._phrases[at] = list(found.values())
        return self._phrases[at]

    def _heads(self, at: int) -> Iterator[Phrase]:
        yield from self._names(at)
        start = self._past(at, "determiners")
        if start > at:
            yield from self._names(start)
        for end, table in self._nouns(start):
            yield from (p for p in self._names(end) if p.rows.table == table)  # "the film X"
            yield from self._modified(end, table)
            # "film directors"
            for behind, relation in self._roles("noun", end):
                if relation.of == table:
                    yield from self._of_role(behind, relation)
            yield from self._together_of(end)
        for end, relation in self._roles("noun", start):
            yield from self._of_role(end, relation)
        yield from self._together_of(start)

    def _of_role(self, end: int, relation: Relation) -> Iterator[Phrase]:
        """What follows a role's noun: "the director X", "actors in films", "the director that directed X"."""
        yield from (p for p in self._names(end) if p.rows.table == relation.to)
        yield from self._modified(end, relation.to, relation)
        behind = end
        for spoken, verb in self._roles("verb", end):
            if verb.like(relation):  # "the languages spoken in"
                behind = spoken
        for place in {end, behind}:
            for ahead in {place, self._past(place, "prepositions")}:
                for p in self._phrase(ahead):
                    if p.rows.table == relation.of and (ahead > place or p.steps):
                        yield self._step(p, relation)

    def _together_of(self, at: int) -> Iterator[Phrase]:
        """ "Co-stars of X"."""
        if not self._is(at, "co"):
            return
        for form in ("noun", "verb"):
            for end, relation in self._roles(form, at + 1):
                if self._is(end, "prepositions"):
                    yield from (
                        self._together(p, relation) for p in self._phrase(end + 1) if p.rows.table == relation.to
                    )

    def _tails(self, p: Phrase) -> Iterator[Phrase]:
        """What may follow a noun phrase: "X's director", "the X actors", "X directed films"."""
        at = p.end + (p.end < self._count and self.question.words[p.end].text == "'s")
        for end, relation in self._roles("noun", at):
            if relation.of == p.rows.table:
                yield replace(self._step(p, relation), end=end)
        for end, relation in self._roles("verb", at):
            if relation.to == p.rows.table:
                yield from (
                    replace(self._step(p, relation), end=behind)
                    for behind, table in self._nouns(end)
                    if table == relation.of and not self._is(behind, "prepositions")
                )

    # -- what narrows a noun -----------------------------------------------------------------------------------------

    def _modified(self, at: int, table: str, relation: Relation | None = None) -> Iterator[Phrase]:
        """Rows of `table` by what is said of them behind the noun, which named them by a role or by what they are."""
        behind = self._past(at, "that")
        yield from self._passive(behind, table)
        yield from self._sharing(behind, table)
        yield from self._by_subject(behind, table)
        if behind > at:
            yield from self._active(behind, table)
            if relation is not None:
                yield from self._resumed(behind, relation)
        yield from self._whose(at, table)
        for end, back in self._roles("back", behind):
            if back.of == table:
                yield from (self._step(p, back) for p in self._phrase(end) if p.rows.table == back.to)

    def _passive(self, at: int, table: str) -> Iterator[Phrase]:
        """ "Films (that are) directed by Y", "starred by": the thing, by whom."""
        at = self._past(at, "be")
        for end, relation in self._roles("verb", self._past(at, "also")):
            if relation.of == table and self._is(end, "by"):
                yield from (self._step(p, relation) for p in self._phrase(end + 1) if p.rows.table == relation.to)

    def _active(self, at: int, table: str) -> Iterator[Phrase]:
        """ "The director that directed X"."""
        for end, relation in self._roles("verb", self._past(at, "also")):
            if relation.to == table:
                ahead = self._past(end, "prepositions")
                yield from (self._step(p, relation) for p in self._phrase(ahead) if p.rows.table == relation.of)

    def _by_subject(self, at: int, table: str) -> Iterator[Phrase]:
        """ "Films (that) Y directed", "films Y acted in"."""
        for p in self._phrase(at):
            for end, relation in self._roles("verb", self._past(p.end, "also")):
                if (relation.of, relation.to) == (table, p.rows.table):
                    step = self._step(p, relation)
                    yield replace(step, end=end)
                    if self._is(end, "prepositions"):
                        yield replace(step, end=end + 1)

    def _sharing(self, at: int, table: str) -> Iterator[Phrase]:
        """ "(that) share actors with X", "with the same director as X"."""
        if not self._is(at, "share"):
            return
        end = self._past(self._past(at, "share"), "determiners")
        for behind, relation in self._roles("noun", end):
            if relation.of == table and self._is(behind, "as"):
                for p in self._phrase(self._past(behind, "as")):
                    if p.rows.table == table:
                        yield self._step(self._step(p, relation), relation)

    def _whose(self, at: int, table: str) -> Iterator[Phrase]:
        """ "Whose writers also wrote X", "whose director is Y"."""
        if not self._is(at, "whose"):
            return
        for end, relation in self._roles("noun", at + 1):
            if relation.of != table:
                continue
            if self._is(end, "be"):
                yield from (
                    self._step(p, relation) for p in self._phrase(self._past(end, "be")) if p.rows.table == relation.to
                )
            for behind, verb in self._roles("verb", self._past(end, "also")):
                if verb.to == relation.to:
                    for p in self._phrase(self._past(behind, "prepositions")):
                        if p.rows.table == verb.of:
                            yield self._step(self._step(p, verb), relation)

    def _resumed(self, at: int, relation: Relation) -> Iterator[Phrase]:
        """ "(directors) that the actors in their films also appear in X"."""
        for end, inner in self._roles("noun", self._past(at, "determiners")):
            noun = self._past(end, "prepositions")
            if noun == end or not self._is(noun, "their"):
                continue
            for behind, table in self._nouns(noun + 1):
                for done, verb in self._roles("verb", self._past(behind, "also")):
                    if table == inner.of == relation.of and verb.to == inner.to:
                        for p in self._phrase(self._past(done, "prepositions")):
                            if p.rows.table == verb.of:
                                yield self._step(self._step(self._step(p, verb), inner), relation)

    # -- clauses -----------------------------------------------------------------------------------------------------

    def _clauses(self, at: int) -> Iterator[Phrase]:
        """The clauses at `at` that ask for one end of a role."""
        for asked, table in self._asked(at):
            yield from self._who_did(asked, table)
            yield from self._which_of(asked, at)
            yield from self._when(asked, at)
        for p in self._phrase(at) if not at or self._opens(at) else ():
            yield from self._did_which(p)

    def _asked(self, at: int) -> list[tuple[int, str]]:
        """(end, table) of "who", "which person", "which films", "which screenwriters"; no table for a mere "what"."""
        if not self._is(at, "wh"):
            return []
        tables = [a.meant.table for a in self.question.of("wh") if a.first == a.last == at]
        end = self._past(at + 1, "determiners")
        found = [(at + 1, table) for table in tables if self.question.words[at].text.startswith("who")] or [
            (at + 1, "")
        ]
        return found + list(self._nouns(end)) + [(behind, r.to) for behind, r in self._roles("noun", end)]

    def _who_did(self, at: int, table: str) -> Iterator[Phrase]:
        """ "Who directed X", "who starred in films for the director of X", "who co-wrote films with Y"."""
        at = self._past(at, "be")
        at = self._past(at, "also")
        together = self._is(at, "co")
        for end, relation in self._roles("verb", at + together):
            if table not in ("", relation.to):
                continue
            ahead = self._past(end, "prepositions")
            if not together:
                yield from (self._step(p, relation) for p in self._phrase(ahead) if p.rows.table == relation.of)
            noun = next((e for e, t in self._nouns(self._past(ahead, "determiners")) if t == relation.of), 0)
            for place in {end, noun} - {0}:
                if together or self._is(place, "together") or (noun and self._is(noun - 2, "same")):
                    with_ = self._past(self._past(place, "together"), "as")
                    if with_ > place:
                        yield from (
                            self._together(p, relation) for p in self._phrase(with_) if p.rows.table == relation.to
                        )
            if noun and self._is(noun, "prepositions"):
                # "films for the director of X": those that the director directed
                for p in self._phrase(noun + 1):
                    for theirs in self._own(p, noun + 1):
                        if theirs.of == relation.of and theirs.to == p.rows.table:
                            yield self._step(self._step(p, theirs), relation)

    def _own(self, p: Phrase, at: int) -> Iterator[Relation]:
        """The roles by which a phrase calls somebody: "the director of X", "the director X"."""
        if p.last is not None and p.last.to == p.rows.table:
            yield p.last
        elif p.rows.is_entity:
            yield from (relation for _, relation in self._roles("noun", self._past(at, "determiners")))

    def _which_of(self, at: int, start: int) -> Iterator[Phrase]:
        """ "Which films did Y direct", "what genres are the films in", "which films was Y the writer of"."""
        asked = self._asked_for(start)
        if not (self._is(at, "be") or self._is(at, "do")):
            return
        for p in self._phrase(self._past(at, "auxiliaries")):
            behind = self._past(p.end, "also")
            for end, relation in self._roles("verb", behind):
                if relation.to == p.rows.table and relation.of in asked:
                    yield replace(self._step(p, relation), end=self._past(end, "prepositions"))
            for end, relation in self._roles("noun", self._past(behind, "determiners")):
                if relation.to == p.rows.table and relation.of in asked:
                    yield replace(self._step(p, relation), end=self._past(end, "prepositions"))
            for relation in self._asked_roles(start):
                if relation.of == p.rows.table:
                    step = self._step(p, relation)
                    yield replace(step, end=self._past(behind, "prepositions"))
                    yield from (
                        replace(step, end=self._past(end, "prepositions"))
                        for end, verb in self._roles("verb", behind)
                        if verb.like(relation)
                    )

    def _asked_for(self, at: int) -> set[str]:
        end = self._past(at + 1, "determiners")
        return {table for _, table in self._nouns(end)}

    def _asked_roles(self, at: int) -> Iterator[Relation]:
        end = self._past(at + 1, "determiners")
        yield from (relation for _, relation in self._roles("noun", end))

    def _when(self, at: int, start: int) -> Iterator[Phrase]:
        """ "When did the films release", also with what narrows them behind the verb: "whose actors also ..."."""
        tables = {a.meant.table for a in self.question.of("wh") if a.first == a.last == start}
        place = self._past(at, "auxiliaries")
        for p in self._phrase(place):
            for end, relation in self._roles("verb", p.end):
                if relation.of == p.rows.table and relation.to in tables:
                    yield replace(self._step(p, relation), end=end)
        for end, table in self._nouns(self._past(place, "determiners")):
            for behind, relation in self._roles("verb", end):
                if relation.of == table and relation.to in tables:
                    yield from (self._step(p, relation) for p in self._whose(behind, table))

    def _did_which(self, p: Phrase) -> Iterator[Phrase]:
        """ "The films were written by whom", "Y directed which films", "the films were in which languages"."""
        table = p.rows.table
        at = self._past(self._past(p.end, "be"), "also")
        together = self._is(at, "co")
        for end, relation in self._roles("verb", at + together):
            ahead = self._past(end, "prepositions")
            if relation.to == table:
                yield from self._which_with(p, relation, end, together=together)
                asked = self._past(ahead, "wh")
                for behind, noun in self._nouns(asked):
                    if noun == relation.of:
                        yield replace(self._step(p, relation), end=behind)
            if relation.of == table and self._is(self._past(ahead, "by"), "wh"):
                for behind, asked_table in self._asked(self._past(ahead, "by")):
                    if asked_table in ("", relation.to):
                        yield replace(self._step(p, relation), end=behind)
        for place in {at, *(end for end, r in self._roles("verb", at) if r.of == table)}:
            asked = self._past(place, "prepositions")
            if asked > place and self._is(asked, "wh"):
                for behind, relation in self._roles("noun", asked + 1):
                    if relation.of == table:
                        yield replace(self._step(p, relation), end=behind)
        for end, relation in self._roles("noun", self._past(at, "determiners")):
            asked = self._past(end, "prepositions")
            if at > p.end and relation.to == table and self._is(asked, "wh"):
                yield from (
                    replace(self._step(p, relation), end=behind)
                    for behind, noun in self._nouns(asked + 1)
                    if noun == relation.of
                )

    def _which_with(self, p: Phrase, relation: Relation, at: int, *, together: bool) -> Iterator[Phrase]:
        """ "Y directed films together with whom"."""
        noun = next((e for e, t in self._nouns(self._past(at, "determiners")) if t == relation.of), at)
        if together or self._is(noun, "together"):
            end = self._past(self._past(noun, "together"), "as")
            if end > noun and self._is(end, "wh"):
                for behind, table in self._asked(end):
                    if table in ("", relation.to):
                        yield replace(self._together(p, relation), end=behind)

    # -- sets ----------------------------------------------------------------------------------------------------------

    def _step(self, p: Phrase, relation: Relation) -> Phrase:
        """From one end of a role to the other."""
        far = relation.to if relation.of == p.rows.table else relation.of
        near = end_of(relation.detail, relation.of, relation.to)
        rows = Set(relation.detail.name, (*fixed(relation.roles), To(p.rows, near)))
        reached = Set(far, (Through(rows),))
        if p.start is not None and p.start.table == far and p.last is not None and p.last.like(relation):
            reached = reached.also(Other(p.start.entities))
        start = p.rows if p.rows.is_entity else None
        return Phrase(p.end, reached, p.solid, p.cost, p.steps + 1, relation, start)

    def _together(self, p: Phrase, relation: Relation) -> Phrase:
        """Those who have the same role in the same thing."""
        return self._step(self._step(p, relation), relation)


def end_of(detail: Table, of: str, to: str, *, of_first: bool = True) -> str:
    """The column of `detail` for one end of a role between two things of one kind; "" where the kind tells it."""
    if of != to:
        return ""
    links = [c.name for c in detail.columns if c.links and c.links.table == of]
    return links[0 if of_first else -1]


def fixed(roles: tuple[Role, ...]) -> tuple[Where, ...]:
    """The columns that roles fix; several roles in one phrase fix a column to any of their values."""
    values: dict[str, list[Any]] = {}
    for role in roles:
        for column, value in role.where:
            values.setdefault(column, []).append(value)
    return tuple(Where(c, "=" if len(v) == 1 else "in", tuple(v)) for c, v in values.items())
