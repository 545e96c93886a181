"""Which domains a question may be about, the one whose programs account for it best first.

All domains read the question's words and names, which takes a millisecond or two; programs are composed only where
enough of them is known.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping

from kg.domain import Domain
from kg.errors import SourceError
from kg.sources import Source

from .translate.base import Translated, Translator

LIKELY = 0.75  # how familiar a question must be to a domain, next to the one it is most familiar to
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
        away: set[int] = set()  # sources that do not answer at all: what is away for one domain is so for the next
        familiar: dict[str, float] = {}
        for name in self.domains:
            if id(self.source(name)) in away:
                continue
            try:
                familiar[name] = self.translator(name).familiar(question, now=now)
            except SourceError as e:
                failed.append(e)
                if e.status is None:
                    away.add(id(self.source(name)))
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

    def _confidence(self, name: str, translated: Translated) -> float:
        return self._trust(name) * max((t.confidence for t in translated.translations), default=0.0)

    def _trust(self, name: str) -> float:
        """An encyclopaedia says something of everything; a domain with tables for it knows better."""
        return OF_ANYTHING if any(t.properties for t in self.domains[name].tables) else 1.0


def _highest(shares: Mapping[str, float]) -> list[str]:
    most = max(shares.values(), default=0.0)
    return [name for name, share in shares.items() if share >= LIKELY * most]
