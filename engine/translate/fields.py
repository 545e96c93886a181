"""What the name of a field of an infobox says, and the words people have for what such fields hold.

Names of fields come in any spelling: `birth_date`, `areaTotalKm2`, `melting point K`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

_PIECE = re.compile(r"km2|mi2|m2|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
# The end of a field's name, and the unit that it means.
_UNITS = {
    "km2": "km²", "sqkm": "km²", "sq km": "km²", "mi2": "sq mi", "sq mi": "sq mi", "sqmi": "sq mi", "m2": "m²",
    "k": "K",
    "c": "°C", "f": "°F", "km": "km", "mi": "mi", "m": "m", "cm": "cm", "ft": "ft", "in": "in", "kg": "kg", "lb": "lb",
    "lbs": "lb", "usd": "USD", "ha": "ha",
}  # fmt: skip


@lru_cache(maxsize=20_000)
def pieces(name: str) -> tuple[str, ...]:
    """The words of a field's name, lower case.

    >>> pieces("areaTotal_km2"), pieces("melting point K"), pieces("GDP_PPP_year")
    (('area', 'total', 'km2'), ('melting', 'point', 'k'), ('gdp', 'ppp', 'year'))
    """
    return tuple(p.lower() for p in _PIECE.findall(name))


@lru_cache(maxsize=20_000)
def plain_name(name: str) -> str:
    """A field's name without numbers and unit.

    >>> plain_name("area_total_sq_mi"), plain_name("teams2"), plain_name("melting point K")
    ('area total', 'teams', 'melting point')
    """
    words = list(pieces(name))
    if unit_of(name):
        words = words[: -2 if " ".join(words[-2:]) in _UNITS else -1]
    return " ".join(w for w in words if not w.isdigit())


@lru_cache(maxsize=20_000)
def unit_of(name: str) -> str:
    """The unit that the name of a field ends with.

    >>> unit_of("area_km2"), unit_of("elevation_ft"), unit_of("sworn_in")
    ('km²', 'ft', '')
    """
    words = pieces(name)
    if len(words) < 2:
        return ""
    last = " ".join(words[-2:])
    per = "per " if "density" in words else ""
    if last in _UNITS and len(words) > 2:
        return per + _UNITS[last]
    if per and words[-1] in _UNITS:
        return per + _UNITS[words[-1]]
    return "" if words[-1] == "in" and words[-2] != "height" else _UNITS.get(words[-1], "")


# From one unit to another: what it is multiplied by, and what is added then.
_TO = {
    ("K", "°C"): (1.0, -273.15), ("K", "°F"): (1.8, -459.67), ("°C", "°F"): (1.8, 32.0), ("°C", "K"): (1.0, 273.15),
    ("km²", "sq mi"): (0.386102, 0.0), ("sq mi", "km²"): (2.589988, 0.0), ("km", "mi"): (0.621371, 0.0),
    ("mi", "km"): (1.609344, 0.0), ("m", "ft"): (3.28084, 0.0), ("ft", "m"): (0.3048, 0.0),
    ("cm", "in"): (0.393701, 0.0),
    ("kg", "lb"): (2.204623, 0.0), ("lb", "kg"): (0.453592, 0.0), ("km²", "ha"): (100.0, 0.0),
}  # fmt: skip


def conversion(of: str, to: str) -> tuple[float, float] | None:
    """(factor, what is added) from one unit to another; None if it is not known."""
    return _TO.get((of, to))


@dataclass(frozen=True)
class Concept:
    """A property as people speak of it: the fields that hold it, the best first, and the phrases for it.

    `gives` is what it is: date, number, text, person, place, list, flag. `text` are patterns of the sentences that tell
    it where no field does. `kinds` are words that exclude each other ("physics", "peace"). `denies` are words for what
    there is not where a flag is set: a landlocked country has no coast. `dated` is the concept that tells its year.
    """

    name: str
    gives: str = "text"
    fields: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    dated: str = ""
    says: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    least: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """The concepts of a domain, the words of fields that hold no answer (pictures, notes), those for units, and what
    the things are called that have properties; `kinds_of` are the concepts that say what a thing is."""

    concepts: Mapping[str, Concept] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    units: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nouns: tuple[str, ...] = ()
    kinds_of: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        properties: Mapping[str, Mapping[str, Any]],
        hidden: Iterable[str] = (),
        units: Mapping[str, Any] | None = None,
        nouns: Iterable[str] = (),
        kinds_of: Iterable[str] = (),
    ) -> Vocabulary:
        concepts: dict[str, Concept] = {}
        for name, said in properties.items():
            made: dict[str, Any] = {k: v if isinstance(v, str) else tuple(v) for k, v in said.items()}
            concepts[name] = Concept(name, **made)
        words = {u: tuple(phrases) for u, phrases in (units or {}).items()}
        return cls(concepts, frozenset(hidden), words, tuple(nouns), tuple(kinds_of))

    def shows(self, name: str) -> bool:
        """Whether a field holds what people may ask for."""
        return not set(pieces(name)) & self.hidden
