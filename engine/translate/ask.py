"""What may be asked of the composed sets: every reading of a question, best first."""

from __future__ import annotations

from .compose import Composer
from .facts import OfFacts
from .meaning import Meaning
from .question import Part
from .rankings import OfRankings
from .reading import Reading
from .reckon import Reckoned
from .records import OfRecords
from .sequels import OfSequels
from .several import OfSeveral
from .single import OfOne


def readings(composer: Composer, parts: list[Part], now: str) -> list[Reading]:
    """Return the readings, best first; of those with the same meaning the best."""
    best: dict[Meaning, Reading] = {}
    for reader in (OfOne, OfSeveral, Reckoned, OfRecords, OfRankings, OfSequels, OfFacts):
        for r in reader(composer, parts, now).readings():
            known = best.get(r.meaning)
            if known is None or r.score > known.score:
                best[r.meaning] = r
    return sorted(best.values(), key=lambda r: -r.score)
