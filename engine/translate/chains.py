"""Chains of roles, read in the order of the words: "the films directed by the director of X were written by who".

The floating parser of `compose` lets pieces combine in any order, which is right for short questions and hopeless for
a chain: who directed and who wrote can only be told from where the words stand. Here are the clauses that ask for an
end of a chain; `phrases` has what they are made of.

A chain that goes forth and back by the same role does not come back to where it began: the films that share a
director with a film are other films.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .meaning import Set
from .phrases import Phrase, Phrases, Relation
from .question import Part
from .wanted import SURE

CREDIT = 1.2  # what it is worth that words stand where they should


@dataclass
class Chains(Phrases):
    """Reads the chains in one question."""

    def parts(self) -> Iterator[Part]:
        """Yield the sets of all chains, each with the words from its first to its last.

        Of a single role only what is the whole question, and nothing else by any of its words.
        """
        if len(self.question.of("role")) < 1 or not self.question.named:
            return
        best: dict[Set, Part] = {}
        for first in range(self._count):
            for phrase in [*self._clauses(first), *(self._phrase(first) if not first or self._opens(first) else ())]:
                mask = (1 << phrase.end) - (1 << first)
                part = Part(phrase.rows, mask, phrase.solid, phrase.cost - CREDIT)
                if phrase.steps < 2 and (phrase.steps < 1 or not self.is_whole(part) or self._is_ambiguous(phrase)):
                    continue
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

    def _is_ambiguous(self, phrase: Phrase) -> bool:
        """Whether words outside the names may mean something that is no role."""
        kinds = ("column", "ask", "most", "value", "measure")
        return any(not a.mask & phrase.solid for kind in kinds for a in self.question.of(kind))

    def _opens(self, first: int) -> bool:
        return self.question.words[first - 1].text not in self.words["inside"]

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
        at = self._past(self._past(at, "auxiliaries"), "also")
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
        """The tables that "which films" asks for; of a mere "what" any will do."""
        end = self._past(at + 1, "determiners")
        if self._is(end, "auxiliaries"):
            return set(self.domain.by_name)
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
