"""The name search of CRAG's server: Okapi BM25 over the tokens of normalised names.

The scores are those of the package rank_bm25 (class BM25Okapi), to the last bit, because the formula is evaluated
in the same order. That package looks at every name for every query token; here an inverted index leads to the
names that hold one.
"""

from __future__ import annotations

import heapq
import math
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import repeat
from operator import add
from typing import Any

K1 = 1.5
B = 0.75
EPSILON = 0.25  # a token in more than half of the names counts as much as this part of the mean idf
_MANY = 0.01  # the share of all names from which on a token is a common one

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Return `text` as the server compares it: lower case, ASCII punctuation removed, single spaces.

    >>> normalise("  Samuel_L. Jackson's ")
    'samuel l jacksons'
    """
    return " ".join(text.lower().replace("_", " ").translate(_NO_PUNCTUATION).split())


class BM25:
    """An index over names that are already normalised; a name is known by its place in `names`."""

    def __init__(self, names: Iterable[str]):
        self._once: dict[str, list[int]] = {}  # token -> the names that hold it once: nearly all that hold it
        self._often: dict[str, list[tuple[int, int]]] = {}  # token -> (name, times) of the others
        self._lengths: list[int] = []
        self._kept: dict[str, list[float]] = {}
        once, often = self._once, self._often
        for place, name in enumerate(names):
            tokens = name.split()
            self._lengths.append(len(tokens))
            if len(set(tokens)) == len(tokens):
                for token in tokens:
                    once.setdefault(token, []).append(place)
                continue
            for token, times in Counter(tokens).items():
                once.setdefault(token, [])  # keeps the order in which tokens are first seen
                if times == 1:
                    once[token].append(place)
                else:
                    often.setdefault(token, []).append((place, times))
        mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0
        self._norms = {n: K1 * (1 - B + B * n / mean) for n in set(self._lengths) if n}

    def __len__(self) -> int:
        return len(self._lengths)

    def _raw_idf(self, token: str) -> float:
        holders = len(self._once[token]) + len(self._often.get(token, ()))
        return math.log(len(self) - holders + 0.5) - math.log(holders + 0.5)

    @cached_property
    def _mean_idf(self) -> float:
        total = 0.0
        for token in self._once:  # one by one, as sum() may compensate for rounding
            total += self._raw_idf(token)
        return total / len(self._once)

    def idf(self, token: str) -> float:
        """Return the weight of a token of the index; one in more than half of the names gets EPSILON x the mean."""
        raw = self._raw_idf(token)
        return EPSILON * self._mean_idf if raw < 0 else raw

    def scores(self, tokens: Sequence[str]) -> dict[int, float]:
        """Return name -> score for the names with any of `tokens`; a token that comes twice counts twice."""
        found: dict[int, float] = {}
        get = found.get
        for token in tokens:
            if token not in self._once:
                continue
            places, gains = self._once[token], self._gains(token)
            # found[place] += gain for each place, without a loop in Python: "inc" is in half of all company names
            found.update(zip(places, map(add, map(get, places, repeat(0.0)), gains), strict=True))
            for place, times in self._often.get(token, ()):
                norm = self._norms[self._lengths[place]]
                found[place] = get(place, 0.0) + self.idf(token) * (times * (K1 + 1) / (times + norm))
        return found

    def _gains(self, token: str) -> list[float]:
        # What the token adds to each name that holds it once; kept where there are many.
        if token in self._kept:
            return self._kept[token]
        idf, places = self.idf(token), self._once[token]
        gain = {n: idf * ((K1 + 1) / (1 + norm)) for n, norm in self._norms.items()}
        gains = [gain[self._lengths[place]] for place in places]
        if len(places) >= _MANY * len(self):
            self._kept[token] = gains
        return gains

    def best(self, query: str, n: int, prefer: Callable[[int], Any]) -> list[int]:
        """Return the best `n` names for `query`, best first; of equal scores the one with the smallest `prefer`.

        Names that score zero are not returned but take their place among the n, before the negative scores a
        tiny index can have: the server cuts first and drops the zeros then.
        """
        found = self.scores(normalise(query).split())
        if not found or min(found.values()) > 0:
            return _top(found, n, prefer)
        above = {place: score for place, score in found.items() if score > 0}
        below = {place: score for place, score in found.items() if score < 0}
        best = _top(above, n, prefer)
        zeros = len(self) - len(above) - len(below)
        room = n - len(best) - zeros
        return best + _top(below, room, prefer) if room > 0 else best


def _top(scores: dict[int, float], n: int, prefer: Callable[[int], Any]) -> list[int]:
    # Only names at or above the n-th score are looked at: `prefer` is dear, and a common first name ties a thousand.
    ties: list[int] = []
    if len(scores) > n:
        least = heapq.nlargest(n, scores.values())[-1]
        ties = [place for place, score in scores.items() if score == least]
        scores = {place: score for place, score in scores.items() if score > least}
    best = sorted(scores, key=lambda place: (-scores[place], prefer(place)))
    return best + heapq.nsmallest(n - len(best), ties, key=prefer)
