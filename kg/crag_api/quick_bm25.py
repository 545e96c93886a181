"""The name search of CRAG's music endpoints: BM25 without the common words.

The original uses the package fast-bm25 of T. Orthlieb, which drops every word whose inverse document frequency is
4 or less: one in about every 56 names ("love"). Scores and the order of equal ones are the same here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add

from kg.crag_api.bm25 import K1, B, normalise

TOP = 10  # a search returns no more
CUTOFF = 4


class QuickBM25:
    """An index over names; those that are normalised alike are found together."""

    def __init__(self, names: Iterable[str]):
        alike: dict[str, list[str]] = {}
        for name in names:
            alike.setdefault(normalise(name), []).append(name)
        self._names: list[Sequence[str]] = []  # by place
        self._lengths: list[int] = []
        self._places: dict[str, list[int]] = {}  # word -> the places of the names that hold it, ascending
        self._times: dict[tuple[str, int], int] = {}  # (word, place) -> how often, if more than once
        for place, text in enumerate(sorted(alike)):
            words = text.split()
            self._names.append(tuple(alike[text]))
            self._lengths.append(len(words))
            if len(set(words)) == len(words):
                for word in words:
                    self._places.setdefault(word, []).append(place)
            else:
                for word, times in Counter(words).items():
                    self._places.setdefault(word, []).append(place)
                    if times > 1:
                        self._times[word, place] = times
        self._kept: dict[str, dict[int, float]] = {}
        self._repeated = {word for word, _ in self._times}
        mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0
        self._norms = {n: K1 * (1 - B + B * n / (mean or 1.0)) for n in set(self._lengths)}
        rare = {word: places for word, places in self._places.items() if self._idf(word) > CUTOFF}
        if rare:  # on fewer than 83 names none is rare, and the original does not start: then all words count
            self._places = rare

    def search(self, query: str) -> list[str]:
        """Return at most 10 names, best first; of equal scores the one first found, by word and then by name."""
        found: dict[int, float] = {}
        for word in normalise(query).split():
            if not found:
                found = dict(self._gains(word))
            elif gains := self._gains(word):
                found.update(zip(gains, map(add, map(found.get, gains, repeat(0.0)), gains.values()), strict=True))
        if len(found) > TOP:
            least = sorted(found.values(), reverse=True)[TOP - 1]
            found = {place: score for place, score in found.items() if score >= least}
        best = sorted(found, key=found.__getitem__, reverse=True)[:TOP]  # a sort that keeps the order of equals
        return [name for place in best for name in self._names[place]][:TOP]

    def _idf(self, word: str) -> float:
        holders = len(self._places[word])
        return math.log(len(self._names) - holders + 0.5) - math.log(holders + 0.5)

    def _gains(self, word: str) -> dict[int, float]:
        # place -> what the word adds to the score; evaluated in the original's order, to be equal to the last bit
        if word in self._kept:
            return self._kept[word]
        places = self._places.get(word)
        if not places:
            return {}
        top = self._idf(word) * (K1 + 1)
        once = {n: top / (1 + norm) for n, norm in self._norms.items()}
        gains = dict(zip(places, map(once.__getitem__, map(self._lengths.__getitem__, places)), strict=True))
        if word in self._repeated:
            for place in places:
                if times := self._times.get((word, place)):
                    gains[place] = self._idf(word) * times * (K1 + 1) / (times + self._norms[self._lengths[place]])
        self._kept[word] = gains
        return gains
