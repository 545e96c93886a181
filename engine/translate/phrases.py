"""Noun phrases over the roles of a domain, read in the order of the words.

"The director of X", "X's writers", "films that share actors with X", "plays whose author also wrote X": a small
grammar of English, whose words are the domain's own and the function words in `generic.yaml`. What a phrase says of
its noun may hold another phrase, so chains of any length are read. `chains` has the clauses that ask for an end of
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kg.domain import Domain, Role, Table

from .lexicon import Atom, is_verb
from .meaning import Is, Other, Set, Through, To, Where
from .question import Question

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
class Phrases:
    """Reads the noun phrases in one question."""

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
        start = self._past(at, "determiners")
        for place in range(at, start + 1):  # "the The Letter director"
            yield from self._names(place)
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
        if at > p.end and p.last is not None and p.last.to == p.rows.table:
            # "X's director's other films"
            for end, table in self._nouns(self._past(at, "determiners")):
                if table == p.last.of:
                    yield replace(self._step(p, p.last), end=end)
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
                for p in self._phrase(end):
                    if p.rows.table == back.to:
                        # "films by the writer of X" are those that the writer wrote
                        own = [r for r in self._own(p, end) if r.of == table] if self._is(behind, "by") else []
                        yield from (self._step(p, r) for r in own or [back])

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

    def _own(self, p: Phrase, at: int) -> Iterator[Relation]:
        """The roles by which a phrase calls somebody: "the director of X", "the director X"."""
        if p.last is not None and p.last.to == p.rows.table:
            yield p.last
        elif p.rows.is_entity:
            yield from (relation for _, relation in self._roles("noun", self._past(at, "determiners")))

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


def fixed(roles: Sequence[Role]) -> tuple[Where, ...]:
    """The columns that roles fix; several roles in one phrase fix a column to any of their values."""
    values: dict[str, list[Any]] = {}
    for role in roles:
        for column, value in role.where:
            values.setdefault(column, []).append(value)
    return tuple(Where(c, "=" if len(v) == 1 else "in", tuple(v)) for c, v in values.items())
