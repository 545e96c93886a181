"""What is known of a thing by the fields of its infobox.

Some fields say nothing by themselves: what `stat2value` holds is told by the value of `stat2label`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kg.domain import Table
from kg.text import fold

from .fields import pieces, plain_name
from .lexicon import stem, tokens

# How the field that says what another holds is called, and that other.
_LABELS = ("label", "title", "type", "event", "name")
_LABELED = ("value", "info", "data", "date", "name", "year")
MAX_LABEL = 40


@dataclass(frozen=True)
class Fact:
    """A row: what a thing has under the name of a property, also as a number, a day and a year."""

    property: str
    value: str
    number: float | None = None
    day: Any = None
    year: int | None = None


@dataclass(frozen=True)
class Known:
    """What is known of one thing: its facts, and the sentences about it."""

    facts: tuple[Fact, ...] = ()
    text: str = ""

    @cached_property
    def by_name(self) -> dict[str, Fact]:
        """The facts by what their fields are called, without digits and units; of several the first."""
        found: dict[str, Fact] = {}
        for f in self.facts:
            for name in (" ".join(pieces(f.property)), plain_name(f.property)):
                found.setdefault(name, f)
        return found

    @cached_property
    def labels(self) -> dict[str, str]:
        """Property to what another field says of it: what `stat2value` holds are home runs."""
        by_property = {f.property: f.value for f in self.facts}
        found: dict[str, str] = {}
        for name, said in by_property.items():
            for label in _LABELS:
                if label not in name or len(said) > MAX_LABEL:
                    continue
                for partner in [name.replace(label, other) for other in _LABELED] + [name.replace("_" + label, "")]:
                    if partner != name and partner in by_property:
                        found.setdefault(partner, said)
        return found

    @cached_property
    def text_stems(self) -> frozenset[str]:
        """The words of the sentences."""
        return frozenset(t.stem for t in tokens(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of all that is known."""
        words = [self.text] + [f"{' '.join(pieces(f.property))} {f.value}" for f in self.facts]
        return frozenset(s for text in words for t in tokens(text) for s in (t.stem, stem(fold(t.text))))


# (table of facts, keys of things) -> what is known of each; a thing that there is not is left out
Facts = Callable[[Table, tuple[Any, ...]], Mapping[Any, Known]]
