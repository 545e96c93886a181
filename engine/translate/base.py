"""What every translator gives: ranked programs for a question, each with what speaks for it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Protocol

from .meaning import Meaning


@dataclass(frozen=True)
class Translation:
    """A program and how sure the translator is of it: its `share` among the readings that were found, and its
    `quality`, how well it accounts for the question taken by itself. Both are 0..1, and so is their product.

    `utterance` is what the program asks, in plain words. `covered` is the share of the question's words that it
    accounts for, `unexplained` are the words it leaves out, `guessed` the cost of pieces nobody said. `margin` is how
    far it stands before the next different one, `similarity` the encoder's cosine (None if it was not asked).
    `meaning` is there when the program was composed rather than generated.
    """

    program: str
    utterance: str
    share: float
    quality: float = 1.0
    covered: float = 1.0
    margin: float = 1.0
    similarity: float | None = None
    meaning: Meaning | None = None
    unexplained: tuple[str, ...] = ()
    guessed: float = 0.0

    @property
    def confidence(self) -> float:
        return self.share * self.quality


@dataclass(frozen=True)
class Translated:
    """The translations of a question, best first, and the words that no name or phrase explains.

    `explains` is set when the question asks for reasons, which no table holds, `doubtful` when a closer look could
    change the order.
    """

    translations: list[Translation]
    unknown: tuple[str, ...] = ()
    explains: bool = False
    doubtful: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Phrased:
    """The places of the words of a question that `want` an explanation, of those that phrases of a domain explain
    (`have`), and of those of them that `ask`: not values, such as countries, which may be part of a name elsewhere.

    `searches`: to find out which of the others are names takes calls.
    """

    want: frozenset[int]
    have: frozenset[int]
    ask: frozenset[int]
    searches: bool


class Translator(Protocol):
    def translate(self, question: str, *, now: dt.datetime, closely: bool = False) -> Translated:
        """Return programs for `question`, best first; none if nothing fits. `now` is when it was asked.

        A look that is not close may leave out what takes seconds.
        """

    def familiar(self, question: str, *, now: dt.datetime) -> float:
        """Return how much of `question` the domain's words and names explain (0 to 1), in a millisecond or two."""

    def phrased(self, question: str) -> Phrased:
        """Return what the domain's words alone explain of `question`."""
