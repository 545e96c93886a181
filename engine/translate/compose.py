"""Sets of rows composed from what the question names: entities, roles, values, years, superlatives.

A floating parser (Pasupat and Liang 2015): pieces may combine in any order, whatever their order in the question;
each says which words it explains, and pieces that no word asked for cost something. A beam keeps the sets that
explain most. What is then asked of a set is `engine.translate.ask`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kg.domain import Column, Domain, Role, Table

from .chains import Chains
from .lexicon import Atom, Lexicon
from .meaning import Is, Same, Set, Through, To, Top, Where
from .phrases import end_of, fixed
from .properties import Facts
from .question import Part, Question, distance, year_column
from .texts import free_texts

BEAM, ROUNDS = 32, 5
PICKED = 0.3  # what it costs to ask something of one of several things
# What a piece costs that no word of the question asks for, and what every further join costs.
UNSAID_ROLE, UNSAID_ROWS, JOIN = 1.3, 0.8, 0.25
# What is given back when two names stand side by side: "kubrick's the shining", "hard rain (morgan freeman)".
BESIDE = 0.8
# What it costs to go where no call leads by itself: the films somebody edited.
UNREACHABLE = 0.7
AS_TYPE = 0.3  # "which actor ..." says what is asked for rather than a role
UNLIKELY = 0.6  # a role somebody has less often than another


# (detail table, role, key) -> how many rows of that role the thing with that key has
Counts = Callable[[Table, Role, Any], int]


@dataclass
class Composer:
    """Composes the sets that a question may speak of, best first."""

    lexicon: Lexicon
    question: Question
    counts: Counts | None = None
    facts: Facts | None = None
    pool: dict[Set, Part] = field(default_factory=dict)
    _rows: dict[Set, Part] = field(default_factory=dict)  # of these, the rows of detail tables without roles

    @property
    def domain(self) -> Domain:
        return self.lexicon.domain

    def compose(self) -> list[Part]:
        chains = Chains(self.domain, self.question, self.lexicon.generic["chain"])
        chained = list(chains.parts())
        if whole := [p for p in chained if chains.is_whole(p)]:
            return sorted(self._keep(whole), key=self.promise, reverse=True)
        frontier = self._keep([*self._entities(), *self._picked(), *self._bare_rows(), *self._of_a_year(), *chained])
        for _ in range(ROUNDS):
            grown = [new for part in frontier for new in self._grow(part)]
            grown += [*self._merge(frontier), *self._same_year(frontier)]
            frontier = self._keep(grown)
            if not frontier:
                break
        return sorted(self.pool.values(), key=self.promise, reverse=True)

    def promise(self, part: Part) -> float:
        return self.question.weight(part.mask) - part.cost

    def _keep(self, parts: list[Part]) -> list[Part]:
        """Add the best of `parts` that are new to the pool; return them."""
        fresh: dict[Set, Part] = {}
        for p in parts:
            for known in (self.pool.get(p.set), fresh.get(p.set)):
                if known is not None and self.promise(known) >= self.promise(p):
                    break
            else:
                fresh[p.set] = p
        best = sorted(fresh.values(), key=self.promise, reverse=True)[:BEAM]
        self.pool.update((p.set, p) for p in best)
        tables = self.domain.by_name
        self._rows.update(
            (p.set, p) for p in best if not tables[p.set.table].is_entity and not tables[p.set.table].roles
        )
        return best

    # -- where sets begin ----------------------------------------------------------------------------------------

    def _entities(self) -> Iterator[Part]:
        # of two spans with the same name the later one is the thing: "who played rocky in rocky"
        for n in sorted(self.question.named, key=lambda n: -n.mask):
            yield Part(Set(n.table, (Is((n.best,)),)), n.mask, n.mask, n.cost)
            table = self.domain.table(n.table)
            column = year_column(table)
            for moment in self.question.moments if column is not None else ():
                if not moment.mask & n.mask and moment.op == "=" and column is not None:
                    where = Where(column.name, moment.op, moment.values)
                    both = n.mask | moment.mask
                    cost = n.cost + 0.1 * distance(n.mask, moment.mask)
                    yield Part(Set(n.table, (Is(n.namesakes), where)), both, both, cost)
            if len(n.series) > 1:
                end = n.mask.bit_length()
                nouns = [a for a in self.question.of("table") if a.meant.table == n.table and end <= a.first <= end + 1]
                nouns = [a for a in self.question.of("op", "series") if end <= a.first <= end + 2] + nouns
                if nouns:
                    yield Part(Set(n.table, (Is(n.series, series=True),)), n.mask | nouns[0].mask, n.mask, n.cost + 0.3)

    def _picked(self) -> Iterator[Part]:
        """ "Whichever of A and B is worth more": of the things of a table that are named, the one with the most."""
        for table in self.domain.entities:
            named = self.question.things(table.name)
            if len(named) < 2:
                continue
            mask = 0
            for n in named:
                mask |= n.mask
            things = Is(tuple(n.best for n in named))
            cost = PICKED + sum(n.cost for n in named)
            for column, descending, words in self.superlatives(table):
                if not words & mask:
                    picked = Set(table.name, (things,), Top(column.name, descending))
                    yield Part(picked, mask | words, mask | words, cost)

    def _of_a_year(self) -> Iterator[Part]:
        """ "The films of 1994": all rows of a year, where a table and a year are named."""
        for a in self.question.of("table"):
            table = self.domain.table(a.meant.table)
            column = year_column(table)
            if table.is_entity and column is not None:
                for m in self.question.moments:
                    if not m.mask & a.mask:
                        yield Part(
                            Set(table.name, (Where(column.name, m.op, m.values),)), a.mask | m.mask, m.mask, 2 * JOIN
                        )

    def _bare_rows(self) -> Iterator[Part]:
        """Rows of detail tables named by their values ("best picture"), or just by their own name ("oscars")."""
        for table in self.domain.tables:
            if table.is_entity or table.roles or not table.says or table.every:
                continue  # a series is read by `records`
            values = [a for a in self.question.of("value") if a.meant.table == table.name]
            # "how popular is it" names the rows by what it asks for; "what year" may ask of anything
            asks = [a for a in self.question.of("ask") if a.meant.table == table.name and self._is_clear(a)]
            names = [a for a in self.question.of("table") if a.meant.table == table.name] or asks
            if not values and not names:
                continue
            mask = names[0].mask if names else 0
            start = Part(
                Set(table.name), mask, 0, (UNSAID_ROWS / 2 if names == asks else 0.0) if names else UNSAID_ROWS
            )
            parts = [start] if names else []
            for a in values:
                parts += [p for base in [start, *parts] if (p := self._with_value(base, a, table)) is not None]
            parts = list({p.set: p for p in parts}.values())[:24]
            yield from (self._assumed(p, table) for p in parts)

    def _is_clear(self, ask: Atom) -> bool:
        """Whether no other table is asked of by the same words, or by some of them."""
        others = self.question.of("ask") + self.question.of("column")
        return not any(a.mask & ask.mask and a.meant.table != ask.meant.table for a in others)

    def _with_value(self, part: Part, atom: Atom, table: Table) -> Part | None:
        column = atom.meant.column
        if any(isinstance(c, Where) and c.column == column for c in part.set.conditions):
            return None
        if not atom.meant.values:  # "nominated": any value will do, said on purpose
            return replace(part, mask=part.mask | atom.mask, set=part.set.also(Where(column, "any", ())))
        if part.solid & atom.mask:
            return None
        solid = atom.mask if table.column(column).type != "BOOLEAN" else 0
        # a phrase of several words ("best picture", "visual effects") speaks for its table by itself
        clear = solid and solid.bit_count() > 1
        return part.also(
            _is_value(atom),
            *self._apart(atom),
            mask=atom.mask,
            solid=solid,
            cost=-min(part.cost, UNSAID_ROWS) if clear else 0.0,
        )

    def _apart(self, atom: Atom) -> tuple[Where, ...]:
        """What keeps rows away whose text has the value, but as a part of another."""
        patterns = self.lexicon.apart.get(f"{atom.meant.table}.{atom.meant.column}", ())
        return tuple(
            Where(atom.meant.column, "apart", ("|".join(p.format(re.escape(str(v))) for p in patterns),))
            for v in atom.meant.values
            if patterns
        )

    def _assumed(self, part: Part, table: Table) -> Part:
        """What holds when the question says nothing of it, and no trace of columns where anything goes."""
        spoken = {c.column for c in part.set.conditions if isinstance(c, Where)}
        kept = tuple(c for c in part.set.conditions if not (isinstance(c, Where) and c.op == "any"))
        extra = tuple(Where(c, "=", (v,)) for c, v in table.assume if c not in spoken)
        return replace(part, set=replace(part.set, conditions=kept + extra))

    # -- how sets grow -------------------------------------------------------------------------------------------

    def _grow(self, part: Part) -> Iterator[Part]:
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
                            narrower = Set(far, (Through(rows.also(_is_value(a))),))
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
        for rows in list(self._rows.values()):
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
            if a.meant.table == table.name and not a.mask & part.solid and not _has_where(part.set, a.meant.column):
                yield part.also(_is_value(a), mask=a.mask, solid=a.mask)

    def _moments(self, part: Part, table: Table) -> Iterator[Part]:
        column = year_column(table)
        if column is None or part.set.top is not None or _has_where(part.set, column.name):
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

    def superlatives(self, table: Table, *, generic: bool = True) -> Iterator[tuple[Column, bool, int]]:
        """(column, descending, words) for every superlative of `table` in the question."""
        for a in self.question.of("most"):
            if a.meant.table == table.name:
                yield table.column(a.meant.column), a.meant.flag, a.mask
        if not generic:
            return
        yield from self._nth(table)
        for name, descending in (("highest", True), ("lowest", False), ("higher", True), ("lower", False)):
            for op in self.question.of("op", name):
                for a in self.question.of("column") + self.question.of("ask"):
                    column = table.by_name.get(a.meant.column) if a.meant.table == table.name else None
                    if (
                        column is not None
                        and (column.numeric or column.type == "DATE")
                        and distance(op.mask, a.mask) <= 3
                        and not op.mask & a.mask
                        and not self.says_most(op, column, table)
                    ):
                        yield column, descending != turns(op, column, descending), op.mask | a.mask

    def says_most(self, op: Atom, column: Column, table: Table) -> bool:
        """Whether a general word is a superlative of the column's own: the higher rank is the lower number."""
        return any(
            a.meant.table == table.name and a.meant.column == column.name and a.mask & op.mask
            for a in self.question.of("most")
        )

    def _nth(self, table: Table) -> Iterator[tuple[Column, bool, int]]:
        """ "Third film": an ordinal before the table's noun counts by the date that "first" speaks of."""
        dated = next((c for c in table.columns if c.type == "DATE" and "first" in c.least), None)
        for a in self.question.of("table") if dated is not None and table.is_entity else ():
            i = a.first - 1
            if (
                a.meant.table == table.name
                and i >= 0
                and self.lexicon.generic["ordinals"].get(self.question.words[i].text, 0) > 1
            ):
                assert dated is not None
                yield dated, False, a.mask

    def how_many(self, mask: int, solid: int) -> tuple[int, int, int]:
        """(n, skip, words) of "top 3", "three latest", "second highest"."""
        first = (mask & -mask).bit_length() - 1
        generic = self.lexicon.generic
        for i in range(max(0, first - 2), min(len(self.question.words), first + 3)):
            bit, word = 1 << i, self.question.words[i].text
            after = self.question.words[i + 1].stem if i + 1 < len(self.question.words) else ""
            if bit & solid or after == "year":
                continue
            if not bit & mask and generic["ordinals"].get(word, 0) > 1 and i < first:
                return 1, generic["ordinals"][word] - 1, bit
            number = generic["numbers"].get(word) or (int(word) if word.isdigit() and int(word) <= 50 else 0)
            if number > 1:
                return number, 0, bit
        return 1, 0, 0

    def _merge(self, frontier: list[Part]) -> Iterator[Part]:
        """Both at once: the films of two people, the film of that name by that director."""
        pool: dict[str, list[Part]] = {}
        for p in self.pool.values():
            if p.set.top is None and self.domain.table(p.set.table).is_entity:
                pool.setdefault(p.set.table, []).append(p)
        place = {id(p): i for i, p in enumerate(frontier)}
        for a in frontier:
            if a.set.top is not None or a.set.is_entity:
                continue
            for b in pool.get(a.set.table, ()):
                if a.solid & b.solid or b is a:
                    continue
                first, second = (b, a) if b.set.is_entity else (a, b)
                if not b.set.is_entity and place.get(id(b), -1) > place[id(a)]:
                    continue  # the other order of the same pair
                conditions = first.set.conditions + tuple(
                    c for c in second.set.conditions if c not in first.set.conditions
                )
                if len(conditions) > 4 or sum(isinstance(c, Is) for c in conditions) > 1:
                    continue
                if a.mask & b.mask and not _alike(a.set, b.set):
                    continue
                cost = a.cost + b.cost
                if (
                    first.set.is_entity
                    and 0 < distance(first.solid, second.solid) + 1 <= 2
                    and second.cost >= UNSAID_ROLE
                ):
                    cost -= BESIDE
                yield Part(Set(a.set.table, conditions), a.mask | b.mask, a.solid | b.solid, cost)

    def _same_year(self, frontier: list[Part]) -> Iterator[Part]:
        """ "The year she won, who ...": the year of other rows of the same table."""
        rows = list(self._rows.values())
        for other in frontier:
            table = self.domain.table(other.set.table)
            column = year_column(table)
            if (
                table.is_entity
                or table.roles
                or column is None
                or not any(isinstance(c, To) for c in other.set.conditions)
            ):
                continue
            first = (other.solid & -other.solid).bit_length() - 1
            years = [i for i in range(max(0, first - 3), first) if self.question.words[i].stem == "year"]
            for part in rows if years else ():
                if (
                    part.set.table == table.name
                    and part.set != other.set
                    and not part.mask & other.mask
                    and not _has_where(part.set, column.name)
                ):
                    mask = other.mask | 1 << years[0]
                    yield part.also(
                        Same(column.name, other.set, column.name), mask=mask, solid=other.solid, cost=other.cost
                    )


def _is_value(atom: Atom) -> Where:
    values = atom.meant.values
    return Where(atom.meant.column, "=" if len(values) == 1 else "in", values)


def _links_to(detail: Table, table: str) -> bool:
    return any(c.links and c.links.table == table for c in detail.columns)


def _has_where(rows: Set, column: str) -> bool:
    return any(isinstance(c, Where) and c.column == column for c in rows.conditions)


def _has_through(rows: Set, detail: str) -> bool:
    return any(isinstance(c, Through) and c.rows.table == detail for c in rows.conditions)


def _reachable(domain: Domain, detail: Table, role: Role) -> bool:
    """Whether a role's rows can be had by the one who has it: an actor's films, but not an editor's."""
    links = {c.name for c in detail.columns if c.links and c.links.table == role.to}
    if any(set(a.needs) <= links for a in domain.accesses[detail.name]):
        return True
    return any(v.needs in links and set(v.only) <= set(role.where) for v in detail.via)


def _alike(a: Set, b: Set) -> bool:
    """Whether both hang on the same role, as in "with X and Y": one phrase may then serve both."""
    if len(a.conditions) != 1 or len(b.conditions) != 1:
        return False
    first, second = a.conditions[0], b.conditions[0]
    if not isinstance(first, Through) or not isinstance(second, Through) or first.rows.table != second.rows.table:
        return False
    fixed = [[c for c in rows.conditions if isinstance(c, Where)] for rows in (first.rows, second.rows)]
    return fixed[0] == fixed[1]


def turns(op: Atom, column: Column, descending: bool) -> bool:
    """Whether a general word goes the other way for a column, as its own superlatives tell: the highest rank is the
    lowest number."""
    words = op.phrase.split()
    return any(set(words) <= set(phrase.split()) for phrase in (column.least if descending else column.most))
