"""Which domains a question may be about, the one whose programs account for it best first.

All domains read the question's words and names, which takes a millisecond or two; programs are composed only where
enough of them is known. Where names have to be searched for by calls, domains wait side by side, and one whose words
say less than another is known to explain is not asked.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from kg.domain import Domain
from kg.errors import SourceError
from kg.sources import Source

from .translate.base import Phrased, Translated, Translator

LIKELY = 0.75  # how familiar a question must be to a domain, next to the one it is most familiar to
WORTH = 0.9  # what a domain must be able to explain, next to the best, for its API to be searched for names
ABSENT = 404  # status of a domain of which there are no data: no reason to doubt the others
OF_ANYTHING = 0.5  # what the word of a domain counts that tells a little of everything


class Router:
    """Chooses among `domains`, of which `translator` and `source` give the parts that are needed."""

    def __init__(
        self, domains: Mapping[str, Domain], translator: Callable[[str], Translator], source: Callable[[str], Source]
    ):
        self.domains, self.translator, self.source = domains, translator, source

    def route(self, question: str, now: dt.datetime, sure: float) -> list[tuple[str, Translated]]:
        """Return the domains that know the words of `question`, with their translations, the likeliest first.

        Raises SourceError if an API fails that would be needed to tell; where another domain's confidence is `sure`
        it is not needed.
        """
        failed: list[SourceError] = []
        familiar = self._familiar(question, now, failed)
        likely = {*_highest(familiar), *_highest({n: self._trust(n) * share for n, share in familiar.items()})}
        read: dict[str, Translated] = {}
        for name in sorted(likely):
            try:
                read[name] = self.translator(name).translate(question, now=now)
            except SourceError as e:
                failed.append(e)
        ranked = sorted(read, key=lambda name: self._confidence(name, read[name]), reverse=True)
        broken = [e for e in failed if e.status != ABSENT]
        if not ranked:
            raise (broken or failed)[0]
        if broken and self._confidence(ranked[0], read[ranked[0]]) < sure:
            raise broken[0]
        return [(name, read[name]) for name in ranked]

    def _familiar(self, question: str, now: dt.datetime, failed: list[SourceError]) -> dict[str, float]:
        """How much of `question` each domain explains, but for those that can explain less than another does."""
        phrased = self._phrased(question, failed)
        at_most = _at_most(phrased)
        familiar: dict[str, float] = {}
        # first those that know their names without a call
        for searches, most in sorted({(phrased[n].searches, -share) for n, share in at_most.items()}):
            alike = [n for n, share in at_most.items() if (phrased[n].searches, -share) == (searches, most)]
            alike = [n for n in alike if self._is_worth_asking(n, at_most[n], familiar)]
            with ThreadPoolExecutor(max(1, len(alike) if searches else 1)) as pool:
                asked = [(n, pool.submit(self.translator(n).familiar, question, now=now)) for n in alike]
            for name, share in asked:
                try:
                    familiar[name] = share.result()
                except SourceError as e:
                    failed.append(e)
        return familiar

    def _phrased(self, question: str, failed: list[SourceError]) -> dict[str, Phrased]:
        """What the words of each domain explain, of those whose names can be had."""
        phrased: dict[str, Phrased] = {}
        away: set[int] = set()  # sources that do not answer at all: what is away for one domain is so for the next
        for name in self.domains:
            if id(self.source(name)) in away:
                continue
            try:
                phrased[name] = self.translator(name).phrased(question)
            except SourceError as e:
                failed.append(e)
                if e.retry or e.status is None:
                    away.add(id(self.source(name)))
        return phrased

    def _is_worth_asking(self, name: str, at_most: float, familiar: Mapping[str, float]) -> bool:
        best = max(familiar.values(), default=0.0)
        trusted = max((self._trust(n) * share for n, share in familiar.items()), default=0.0)
        return at_most >= WORTH * best or self._trust(name) * at_most >= WORTH * trusted

    def _confidence(self, name: str, translated: Translated) -> float:
        return self._trust(name) * max((t.confidence for t in translated.translations), default=0.0)

    def _trust(self, name: str) -> float:
        """An encyclopaedia says something of everything; a domain with tables for it knows better."""
        return OF_ANYTHING if any(t.properties for t in self.domains[name].tables) else 1.0


def _highest(shares: Mapping[str, float]) -> list[str]:
    most = max(shares.values(), default=0.0)
    return [name for name, share in shares.items() if share >= LIKELY * most]


def _at_most(phrased: Mapping[str, Phrased]) -> dict[str, float]:
    """The share of a question that each domain can explain: all of it, where names need not be searched for; else what
    would be left if each word that is not another domain's were part of a name."""
    anyones = frozenset[int]().union(*(p.ask for p in phrased.values()))
    return {
        name: 1 - len((anyones - p.have) & p.want) / max(1, len(p.want)) if p.searches else 1.0
        for name, p in phrased.items()
    }
