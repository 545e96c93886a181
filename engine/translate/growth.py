"""Sets of rows grown by one step: over a role or a link, into the rows of a detail table and out, by a value or a year.

Each step says which words ask for it; one that no word asks for costs something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kg.domain import Domain, Role, Table

from .beginnings import JOIN, UNSAID_ROWS, is_value
from .lexicon import Atom
from .meaning import Same, Set, Through, To, Top, Where
from .phrases import end_of, fixed
from .question import Part, distance, year_column
from .superlatives import Superlatives
from .texts import free_texts

UNSAID_ROLE = 1.3  # what it costs to go over a role that no word asks for
# What it costs to go where no call leads by itself: the films somebody edited.
UNREACHABLE = 0.7
AS_TYPE = 0.3  # "which actor ..." says what is asked for rather than a role
UNLIKELY = 0.6  # a role somebody has less often than another


# (detail table, role, key) -> how many rows of that role the thing with that key has
Counts = Callable[[Table, Role, Any], int]


@dataclass
class Growth(Superlatives):
    """Grows sets with what the question says, and with other sets that were found in it (`pool`).

    `rows` are those of the pool that are rows of detail tables without roles.
    """

    counts: Counts | None
    pool: dict[Set, Part]
    rows: dict[Set, Part]

    def grown(self, part: Part) -> Iterator[Part]:
        """Yield the sets that are one step away from `part`."""
        table = self.domain.table(part.set.table)
        if table.is_entity:
            yield from self._over_roles(part, table)
            yield from self._into_rows(part, table)
            yield from self._over_links(part, table)
            yield from self._credits(part, table)
            if not part.set.is_entity:
                yield from self._own_values(part, table)
                yield from self._tops(part, table)
                yield from free_texts(part, self.question, self.domain)
        else:
            yield from self._other_end(part, table)
            if not table.roles:
                yield from self._out_of_rows(part, table)
                yield from self._made_by(part, table)
        if not part.set.is_entity:
            yield from self._moments(part, table)
            if not table.is_entity and any(isinstance(c, To) for c in part.set.conditions):
                yield from self._tops(part, table)

    def _over_roles(self, part: Part, table: Table) -> Iterator[Part]:
        """The people who directed it; the films they acted in."""
        for detail in self.domain.tables:
            if not detail.roles or not {table.name} & {t for r in detail.roles for t in (r.of, r.to)}:
                continue
            for roles, mask, cost in self._role_atoms(detail, part):
                role = roles[0]
                for forward, near, far in ((True, role.of, role.to), (False, role.to, role.of)):
                    if near != table.name:
                        continue
                    if near == far and forward != self._has(part, mask):
                        continue
                    end = end_of(detail, near, far, of_first=forward)
                    rows = Set(detail.name, (*fixed(roles), To(part.set, end)))
                    backward = not forward
                    if backward and not _reachable(self.domain, detail, role):
                        cost += UNREACHABLE
                    new = Part(Set(far, (Through(rows),)), part.mask | mask, part.solid, part.cost + cost + JOIN)
                    yield new
                    for a in self.question.of("value"):
                        if a.meant.table == detail.name and not a.mask & part.mask:
                            narrower = Set(far, (Through(rows.also(is_value(a))),))
                            # "actress" says both the role and the value
                            yield replace(
                                new, set=narrower, mask=new.mask | a.mask, cost=part.cost + min(cost, 0.2) + JOIN
                            )

    def _over_links(self, part: Part, table: Table) -> Iterator[Part]:
        """What an entity names in a column of its own, where it is spoken of: the singer of a song."""
        for column in table.columns:
            if not column.links or not self.domain.table(column.links.table).is_entity:
                continue
            nouns = set(self.domain.table(column.links.table).says)
            for a in (*self.question.of("column"), *self.question.of("ask")):
                said = a.meant.table == table.name and nouns & set(table.column(a.meant.column).says)
                if said and not a.mask & part.solid:
                    cost = part.cost + JOIN + 0.02 * distance(a.mask, part.solid)
                    yield Part(Set(column.links.table, (Through(part.set),)), part.mask | a.mask, part.solid, cost)

    def _credits(self, part: Part, table: Table) -> Iterator[Part]:
        """Rows of a role table themselves, where one of its columns is asked for: the character somebody plays."""
        for detail in self.domain.tables:
            if not detail.roles or not _links_to(detail, table.name):
                continue
            if any(
                a.meant.table == detail.name and a.meant.column
                for a in self.question.of("column") + self.question.of("ask")
            ):
                for roles, mask, cost in self._role_atoms(detail, part):
                    rows = Set(detail.name, (*fixed(roles), To(part.set)))
                    yield Part(rows, part.mask | mask, part.solid, part.cost + JOIN + min(cost, 0.3))

    def _role_atoms(self, detail: Table, part: Part) -> Iterator[tuple[list[Role], int, float]]:
        """(roles that share a phrase, the words, cost), and the unsaid default."""
        spans: dict[int, list[Atom]] = {}
        for a in self.question.of("role"):
            if a.meant.table == detail.name and not a.mask & part.mask and not self._is_passive(a):
                spans.setdefault(a.mask, []).append(a)
        for mask, atoms in spans.items():
            roles = [detail.roles[i] for i in dict.fromkeys(a.meant.role for a in atoms)]
            cost = 0.02 * min(distance(mask, part.solid), 10)
            if atoms[0].meant.name == "noun" and self.question.is_asked_for(atoms[0]):
                cost += AS_TYPE
            yield roles, mask | self._by(atoms[0]), cost
        # "the debut of whoever directed it": what was said once may serve again
        first = detail.roles[0]
        if first.of == first.to:
            return  # nobody is taken for a member of a person
        again = first.to == part.set.table and any(
            a.meant.table == detail.name and a.mask & part.mask == a.mask for a in self.question.of("role")
        )
        cost = UNSAID_ROLE / 2 if again else UNSAID_ROLE
        yield [first], 0, cost + self._unlikely(detail, first, part)

    def _has(self, part: Part, mask: int) -> bool:
        """Whether a name is of the one who has: "members of X", "X members", but not "X is a member"."""
        first = (mask & -mask).bit_length() - 1
        behind = part.solid >> first != 0
        between = self.question.words[part.solid.bit_length() : first]
        after = self.question.words[mask.bit_length() : mask.bit_length() + 1]
        if not behind and after and after[0].text in ("of", "in"):
            return False
        return behind or all(w.text == "'s" for w in between)

    def _by(self, verb: Atom) -> int:
        """The "by" of "directed by"."""
        after = verb.last + 1
        passive = (
            verb.meant.name == "verb" and after < len(self.question.words) and self.question.words[after].text == "by"
        )
        return 1 << after if passive else 0

    def _is_passive(self, back: Atom) -> bool:
        """Whether a phrase is just the "by" of a passive verb."""
        return back.meant.name == "back" and any(self._by(a) == back.mask for a in self.question.of("role", "verb"))

    def _unlikely(self, detail: Table, role: Role, part: Part) -> float:
        """What it costs to take somebody for what they seldom are: "tim burton's films" are those he directed."""
        if self.counts is None or not part.set.is_entity or role.to != part.set.table:
            return 0.0
        key = part.set.entities[0].key
        told = {
            d.name: self.counts(d, d.roles[0], key) for d in self.domain.tables if d.roles and d.roles[0].to == role.to
        }
        return UNLIKELY if told[detail.name] < max(told.values()) else 0.0

    def _into_rows(self, part: Part, table: Table) -> Iterator[Part]:
        """The awards of a film; a film with awards of a kind."""
        for rows in list(self.rows.values()):
            detail = self.domain.table(rows.set.table)
            if not _links_to(detail, table.name) or rows.solid & part.solid:
                continue
            if any(isinstance(c, To) and c.set.table == table.name for c in rows.set.conditions):
                continue
            if rows.mask & part.mask:
                continue
            mask, solid, cost = part.mask | rows.mask, part.solid | rows.solid, part.cost + rows.cost + JOIN
            anchored = replace(rows.set, conditions=(*rows.set.conditions, To(part.set)))
            yield Part(anchored, mask, solid, cost)
            if not any(isinstance(c, To) for c in rows.set.conditions) and not _has_through(part.set, detail.name):
                yield Part(part.set.also(Through(rows.set)), mask, solid, cost)

    def _other_end(self, part: Part, table: Table) -> Iterator[Part]:
        """The same credit bound at its other end too: that actor in that film."""
        bound = {c.set.table for c in part.set.conditions if isinstance(c, To)}
        for other in list(self.pool.values()):
            if (
                other.set.is_entity
                and other.set.table not in bound
                and not other.solid & part.solid
                and _links_to(table, other.set.table)
            ):
                yield Part(
                    part.set.also(To(other.set)),
                    part.mask | other.mask,
                    part.solid | other.solid,
                    part.cost + other.cost,
                )

    def _out_of_rows(self, part: Part, table: Table) -> Iterator[Part]:
        """The film that won; the person who was nominated."""
        bound = {c.set.table for c in part.set.conditions if isinstance(c, To)}
        for target in dict.fromkeys(c.links.table for c in table.columns if c.links):
            if target in bound or not self.domain.table(target).is_entity:
                continue
            asked = [a for a in self.question.of("table") + self.question.of("wh") if a.meant.table == target]
            said = 0  # "the winner of"
            for a in self.question.of("column"):
                link = table.by_name[a.meant.column].links if a.meant.table == table.name else None
                if link is not None and link.table == target and not a.mask & part.solid:
                    said |= a.mask
            new = Part(
                Set(target, (Through(part.set),)),
                part.mask | said,
                part.solid,
                part.cost + JOIN + (0 if asked else UNSAID_ROWS / 2),
            )
            yield new

    def _made_by(self, part: Part, table: Table) -> Iterator[Part]:
        """Rows that name a work of somebody, without its being a thing of its own: the album of the year by her."""
        for column in table.columns:
            works = self.domain.table(column.links.table) if column.links else table
            if not works.roles or any(isinstance(c, Same) for c in part.set.conditions):
                continue
            for other in list(self.pool.values()):
                if other.set.is_entity and other.set.table == works.roles[0].of and not other.solid & part.solid:
                    assert column.links is not None
                    theirs = Same(column.name, Set(works.name, (To(other.set),)), column.links.column)
                    yield part.also(theirs, mask=other.mask, solid=other.solid, cost=other.cost + JOIN)

    def _own_values(self, part: Part, table: Table) -> Iterator[Part]:
        for a in self.question.of("value"):
            if a.meant.table == table.name and not a.mask & part.solid and not has_where(part.set, a.meant.column):
                yield part.also(is_value(a), mask=a.mask, solid=a.mask)

    def _moments(self, part: Part, table: Table) -> Iterator[Part]:
        column = year_column(table)
        if column is None or part.set.top is not None or has_where(part.set, column.name):
            return
        for m in self.question.moments:
            if not m.mask & part.solid:
                # "released in 2014", "came out in": the date's own words belong to the condition
                near = [
                    a
                    for a in self.question.of("column") + self.question.of("most") + self.question.of("ask")
                    if a.meant.table == table.name
                    and a.meant.column in (column.name, column.year_of)
                    and distance(a.mask, m.mask) <= 3
                ]
                mask = m.mask | (near[0].mask if near else 0)
                yield part.also(Where(column.name, m.op, m.values), mask=mask, solid=m.mask)

    def _tops(self, part: Part, table: Table) -> Iterator[Part]:
        if part.set.top is not None:
            return
        for column, descending, mask in self.superlatives(table):
            if not mask & part.mask:
                n, skip, extra = self.how_many(mask, part.solid)
                top = Top(column.name, descending, n, skip)
                yield Part(
                    replace(part.set, top=top),
                    part.mask | mask | extra,
                    part.solid,
                    part.cost + 0.02 * distance(mask, part.mask),
                )
        for c in part.set.conditions:
            if isinstance(c, Through) and self.domain.table(c.rows.table).roles:
                for column, descending, mask in self.superlatives(self.domain.table(c.rows.table), generic=False):
                    if not mask & part.mask:
                        top = Top(column.name, descending, via=c.rows.table)
                        # "the lead" is a role said by its superlative
                        refund = min(part.cost, UNSAID_ROLE) if part.cost >= UNSAID_ROLE else 0.0
                        yield Part(replace(part.set, top=top), part.mask | mask, part.solid, part.cost - refund)


def _links_to(detail: Table, table: str) -> bool:
    return any(c.links and c.links.table == table for c in detail.columns)


def has_where(rows: Set, column: str) -> bool:
    return any(isinstance(c, Where) and c.column == column for c in rows.conditions)


def _has_through(rows: Set, detail: str) -> bool:
    return any(isinstance(c, Through) and c.rows.table == detail for c in rows.conditions)


def _reachable(domain: Domain, detail: Table, role: Role) -> bool:
    """Whether a role's rows can be had by the one who has it: an actor's films, but not an editor's."""
    links = {c.name for c in detail.columns if c.links and c.links.table == role.to}
    if any(set(a.needs) <= links for a in domain.accesses[detail.name]):
        return True
    return any(v.needs in links and set(v.only) <= set(role.where) for v in detail.via)
