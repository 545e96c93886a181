"""The canonical utterance of a meaning: the same meaning always asked in the same words.

After Wang, Berant and Liang 2015. Names are masked ("the movie"), so that the utterances of a schema are finite and
their embeddings can be kept; `names=True` puts them in, for people to read. The words are the first phrases of the
domain file; the patterns stand in `sql_templates/generic.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kg.domain import Column, Domain, Role, Table

from .fields import pieces
from .lexicon import Lexicon
from .meaning import (
    Aggregate,
    Calculate,
    Compare,
    Count,
    Excerpt,
    Exists,
    Given,
    Is,
    Leader,
    Listed,
    Meaning,
    Names,
    Other,
    Same,
    Scaled,
    Set,
    Tally,
    Than,
    Through,
    To,
    Top,
    Value,
    Where,
    Which,
)


@dataclass(frozen=True)
class Utterer:
    """Says meanings of one domain."""

    lexicon: Lexicon
    names: bool = False

    @property
    def domain(self) -> Domain:
        return self.lexicon.domain

    def _say(self, pattern: str, **parts: str) -> str:
        patterns: dict[str, str] = self.lexicon.generic["utterances"]
        return patterns[pattern].format(**parts)

    def utter(self, meaning: Meaning | Given) -> str:
        match meaning:
            case Names(set=s):
                return self._names(meaning, s)
            case Count(set=s):
                return self._say("count", set=self.set(s))
            case Aggregate(function=function, set=s, column=c):
                return self._say(function, column=self._column(s.table, c), set=self.set(s))
            case Exists(set=s):
                return self._say("exists", set=self.set(s))
            case Leader(set=s, by=by, column=c, descending=d):
                most = self.lexicon.generic["highest" if d else "lowest"][0]
                what = self._column(s.table, c) if c else self._noun(self.domain.table(s.table))
                return self._say("leader", by=self._column(s.table, by), most=most, what=what, set=self.set(s))
            case Tally(set=s, column=c):
                return self._say("tally", column=self._column(s.table, c), set=self.set(s))
            case Which(values=values, descending=d):
                first = values[0]
                if isinstance(first, Names):
                    most = self._most(first.set.table, first.column, d)
                    return self._say(
                        "which", most=most, options=" or ".join(self.set(v.set) for v in values if isinstance(v, Names))
                    )
                return self._say("which", most=self._more(d), options=" or ".join(map(self._value, values)))
            case Compare(first=a, second=b, greater=greater):
                return self._say("compare", first=self._value(a), more=self._more(greater), second=self._value(b))
            case Calculate(function=function, first=a, second=b):
                return self._say(function, first=self._value(a), second=self._value(b))
            case Given(value=value):
                return str(value) if self.names else self._say("given")
            case Listed(set=s, column=c):
                return self._say("listed", set=self._fact(s) or self._column(s.table, c))
            case Excerpt(set=s, pattern=pattern):
                said = re.match(r"[\w ]*", pattern.replace("(?:", "").replace("(?i)", ""))
                words = said[0].strip() if said else ""
                return self._say("excerpt", set=self.set(s), words=words)
            case Scaled(set=s, column=c, unit=unit):
                return self._say("scaled", value=self._fact(s) or self._column(s.table, c), unit=unit)

    # -- asks ----------------------------------------------------------------------------------------------------

    def _names(self, names: Names, s: Set) -> str:
        table = self.domain.table(s.table)
        column = table.by_name.get(names.column)
        if column is None or column.name == table.label:
            return self._say("names", set=self.set(s))
        if fact := self._fact(s):
            return self._say("fact", fact=fact)
        if column.asks:
            # "when ... released": the gap is where the thing stands
            opening, _, end = column.asks[0].partition("...")
            return self._say("asked", opening=opening.strip(), set=self.set(s), end=end.strip()).strip()
        return self._say("column", column=self._column(s.table, column.name), set=self.set(s))

    def _fact(self, s: Set) -> str:
        """ "the capital of Chad", for rows that are properties of things; empty for others."""
        table = self.domain.table(s.table)
        name = next(
            (str(c.values[0]) for c in s.conditions if isinstance(c, Where) and c.column == table.properties), ""
        )
        thing = next((self.set(c.set) for c in s.conditions if isinstance(c, To)), "")
        if not table.properties or not name or not thing:
            return ""
        noun = " ".join(pieces(name)) if self.names else self._say("given")
        also = [self._where(table, c)[1] for c in s.conditions if isinstance(c, Where) and c.column != table.properties]
        return " ".join([self._say("value", column=noun, set=thing), *also])

    def _value(self, value: Value) -> str:
        if isinstance(value, Names) and (fact := self._fact(value.set)):
            return fact
        match value:
            case Names(set=s, column=c):
                return self._say("value", column=self._column(s.table, c), set=self.set(s))
            case Count(set=s):
                return self._say("number", set=self.set(s))
            case Aggregate() | Calculate() | Given() | Listed() | Scaled():
                return self.utter(value)

    def _more(self, greater: bool) -> str:
        return str(self.lexicon.generic["higher" if greater else "lower"][0])

    # -- sets ----------------------------------------------------------------------------------------------------

    def set(self, s: Set) -> str:
        """The set as a noun phrase."""
        table = self.domain.table(s.table)
        head = self._entities(s) or self._noun(table)
        before: list[str] = []
        after: list[str] = []
        for c in s.conditions:
            match c:
                case Where(op="apart"):
                    pass
                case Where():
                    place, said = self._where(table, c)
                    (before if place == "before" else after).append(said)
                case Than(column=one, op=op, other=other_column):
                    words = [self._column(table.name, c) for c in (one, other_column)]
                    after.append(self._say("than", column=words[0], more=self._more(op[0] == ">"), other=words[1]))
                case Other(entities=entities):
                    noun = self._noun(table)
                    after.append(self._say("other", set=entities[0].text if self.names else f"the {noun}"))
                case Same(set=other):
                    after.append(self._say("same", set=self.set(other)))
                case To(set=other):
                    after.append(self._say("of", set=self.set(other)))
                case Through(rows=rows):
                    head, said = self._through(table, head, rows)
                    after.append(said)
        if s.top is not None:
            before.insert(0, self._top(s, s.top))
        return " ".join(p for p in [*before, head, *after] if p)

    def _entities(self, s: Set) -> str:
        found = next((c for c in s.conditions if isinstance(c, Is)), None)
        if found is None:
            return ""
        if self.names:
            return (
                " and ".join(dict.fromkeys(e.text for e in found.entities))
                if not found.series
                else f"{found.entities[0].text} ..."
            )
        noun = self._noun(self.domain.table(s.table))
        return self._say("series" if found.series else "entity", noun=noun)

    def _through(self, table: Table, head: str, rows: Set) -> tuple[str, str]:
        """(head, what follows it) of a set that a detail table leads to."""
        detail = self.domain.table(rows.table)
        role = _role(detail, rows)
        if role is None:
            return head, self._say("with", rows=self.set(rows))
        inner = next((self.set(c.set) for c in rows.conditions if isinstance(c, To)), "")
        noun = role.noun[0] if role.noun else role.verb[0]
        extra = " ".join(self._extras(detail, role, rows))
        if table.name == role.to and head == self._noun(table):
            return noun, " ".join(p for p in [self._say("of", set=inner) if inner else "", extra] if p)
        said = (
            self._say("as", noun=noun, set=inner) if table.name == role.of else self._say("being", noun=noun, set=inner)
        )
        return head, f"{said} {extra}".strip()

    def _extras(self, detail: Table, role: Role, rows: Set) -> Iterator[str]:
        for c in rows.conditions:
            if isinstance(c, Where) and c.column not in dict(role.where):
                yield self._where(detail, c)[1]

    def _where(self, table: Table, c: Where) -> tuple[str, str]:
        """Where in the phrase a condition stands, and what it says."""
        column = table.column(c.column)
        said = _said(column, c)
        if said is not None:
            return "before", said
        if "year" in column.says or column.year_of:
            return "after", self._when(c) if self.names else self._say("year")
        value = " ".join(map(str, c.values)) if self.names else self._say("given")
        return "after", self._say("where", column=self._column(table.name, c.column), value=value)

    def _when(self, c: Where) -> str:
        words: dict[str, str] = self.lexicon.generic["when"]
        return words[c.op].format(*c.values)

    def _top(self, s: Set, top: Top) -> str:
        if top.shortest:
            return ""
        said = self._most(top.via or s.table, top.column, top.descending)
        return said if top.n == 1 else f"{top.n} {said}"

    def _most(self, table: str, column: str, descending: bool) -> str:
        c = self.domain.table(table).column(column)
        phrases = c.most if descending else c.least
        word = self.lexicon.generic["highest" if descending else "lowest"][0]
        return phrases[0] if phrases else f"{word} {self._column(table, column)}"

    def _noun(self, table: Table) -> str:
        return table.says[0] if table.says else table.name.replace("_", " ")

    def _column(self, table: str, name: str) -> str:
        column = self.domain.table(table).by_name.get(name)
        return column.says[0] if column is not None and column.says else name.replace("_", " ")


def _role(detail: Table, rows: Set) -> Role | None:
    """The role that rows are of: the one whose fixed columns they fix."""
    fixed = {c.column: c.values for c in rows.conditions if isinstance(c, Where)}
    return next((r for r in detail.roles if all(v in fixed.get(c, ()) for c, v in r.where)), None)


def _said(column: Column, c: Where) -> str | None:
    """The word for the value a condition asks for, if the domain file has one."""
    return next((v.says[0] for v in column.values if v.value in c.values and v.says), None)
