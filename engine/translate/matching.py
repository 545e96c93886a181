"""Which properties of a thing a question speaks of: by the words people have for them, or by the field's own name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kg.shapes.derive import day
from kg.text import fold

from .fields import Concept, pieces, plain_name
from .lexicon import Atom, Lexicon, stem, tokens
from .meaning import Entity
from .properties import Fact, Known
from .question import Named, Question

LATER = 0.04  # what it costs that a concept's first field is not there, but one further on
OWN = 0.1  # what it costs to know a field only by its own name
IN_TEXT = 0.4  # what it costs to take a property out of the sentences about a thing
UNLIKELY = 1.5  # what a name may cost
PART = 0.5  # and if its words speak of a property: "atomic" is not "Atomic Blonde"
SURE = 0.4  # what is left of that if the question says what the thing is
DATE_LENGTH = 22  # how far into a field a date may reach that it gives
RENAMED = 0.15  # what it costs to take a name for that of a less known thing

_SMALL = frozenset(["of", "by", "in", "on", "the", "a", "and", "for", "to", "at", "s"])
_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪİĶĹĻŁŃŇŌŐŒŔŘŚŞŠŢŤŪŮŰŹŻŽΑ-ΩА-Я"
_WORD = rf"(?:(?:[{_UPPER}]\.)+|(?:Jr|Sr|St|Dr)\.|[{_UPPER}][^\s,;().]*)"
_NAME = rf"{_WORD}(?: (?:{_WORD}|de|di|da|del|della|van|von|der|den|la|le|el|al|bin|ibn|y|of))*(?<! of)"
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_OPENS_DATE = re.compile(rf"\d|{_MONTH}")
# What follows an opening in the sentences about a thing; both Python and DuckDB read these.
_TAKEN = {
    "names": rf"({_NAME.replace('(?<! of)', '')}(?:(?:, and |, | and | & ){_NAME.replace('(?<! of)', '')})*)",
    "date": rf"((?:{_MONTH} \d{{1,2}}, |\d{{1,2}} {_MONTH} |{_MONTH} )?[12]\d{{3}})",
    "number": r"(\d[\d,.]*\d|\d)",
    "words": r"([^.,;()]+)",
}


@dataclass(frozen=True)
class Thing:
    """Something the question names, and what is known of it. `mask` are the words of its name."""

    entity: Entity
    mask: int
    cost: float
    known: Known


@dataclass(frozen=True)
class Match:
    """A property that words of the question (`mask`) speak of: a fact, or a pattern of the sentences."""

    thing: Thing
    gives: str
    mask: int
    cost: float
    fact: Fact | None = None
    concept: Concept | None = None
    pattern: str = ""


def things(question: Question, table: str, known: dict[str, Known]) -> list[Thing]:
    """The things of a table that the question may name, with their namesakes."""
    found = []
    for n in question.named:
        spoken = any(n.mask & a.mask == n.mask for a in question.of("property") if a.meant.name != "noun")
        if n.table == table and n.cost < (PART if spoken else UNLIKELY):
            for i, e in enumerate((*n.namesakes, *n.fuller)):
                if e.key in known:
                    cost = n.cost * (SURE if _is_called_so(question, known[e.key], n.mask) else 1.0) + RENAMED * i
                    found.append(Thing(e, n.mask, cost, known[e.key]))
    return found


def _is_called_so(question: Question, known: Known, mask: int) -> bool:
    """Whether the question says what a thing is, and it is that: "which painter"."""
    nouns = [a for a in question.of("property", "noun") if not a.mask & mask and question.weight(a.mask) > 0]
    return any({w.stem for i, w in enumerate(question.words) if a.mask >> i & 1} <= known.stems for a in nouns)


def matches(thing: Thing, question: Question, lexicon: Lexicon, *, kinds: tuple[str, ...] = ("says",)) -> list[Match]:
    """The properties of a thing that the question speaks of."""
    found: dict[tuple[str, str, str], Match] = {}
    spoken = list(_by_concept(thing, question, lexicon, kinds))
    meant = {m.fact.property for m in spoken if m.fact is not None}
    own = [m for m in _by_own_name(thing, question, lexicon) if m.fact is None or m.fact.property not in meant]
    longest = [m.mask for m in own if m.mask.bit_count() > 1]
    spoken = [m for m in spoken if not any(m.mask != o and m.mask & o == m.mask for o in longest)]
    for m in [*spoken, *own]:
        place = (m.fact.property if m.fact else "", m.pattern, m.gives)
        known = found.get(place)
        if known is None or (m.mask.bit_count(), -m.cost) > (known.mask.bit_count(), -known.cost):
            found[place] = m
    return list(found.values())


def _by_concept(thing: Thing, question: Question, lexicon: Lexicon, kinds: tuple[str, ...]) -> Iterator[Match]:
    masks: dict[str, int] = {}
    for kind in kinds:
        for a in question.of("property", kind):
            if not a.mask & thing.mask:
                masks[a.meant.column] = masks.get(a.meant.column, 0) | a.mask
    for name, mask in masks.items():
        concept = lexicon.vocabulary.concepts[name]
        yield from held(thing, concept, mask)


def held(thing: Thing, concept: Concept, mask: int, cost: float = 0.0) -> Iterator[Match]:
    """What a thing has of a concept."""
    for i, field in enumerate(concept.fields):
        fact = thing.known.by_name.get(field)
        if fact is not None and _is_fit(fact, concept.gives):
            yield Match(thing, concept.gives, mask, cost + min(LATER * i, 0.2), fact, concept)
            return
    for pattern in map(pattern_of, concept.text):
        if re.search(pattern, thing.known.text):
            yield Match(thing, concept.gives, mask, cost + IN_TEXT, None, concept, pattern)
            return


def _is_fit(fact: Fact, gives: str) -> bool:
    """Whether a field holds what a concept gives."""
    if gives == "number":
        return fact.number is not None and fact.day is None
    if gives == "date":
        return fact.day is not None or fact.year is not None or is_long_ago(fact)
    if gives == "flag":
        return fact.value in ("True", "False", "Yes", "No", "yes", "no")
    if gives in ("person", "place"):
        # "founded: 1883" says when, not by whom
        return fact.value[:1].isalpha() or any(c.isalpha() for c in fact.value[:3])
    return True


@lru_cache(maxsize=1_000)
def pattern_of(text: str) -> str:
    """The regular expression that takes out of sentences what a concept's text says.

    >>> re.search(pattern_of("directed by {names}"), "a film directed by Joel and Ethan Coen in 1996.")[1]
    'Joel and Ethan Coen'
    """
    for name, taken in _TAKEN.items():
        text = text.replace("{" + name + "}", taken)
    return text


def _by_own_name(thing: Thing, question: Question, lexicon: Lexicon) -> Iterator[Match]:
    """Fields all of whose own words stand in the question."""
    places: dict[str, int] = {}
    for i, w in enumerate(question.words):
        if not thing.mask >> i & 1:
            places.setdefault(w.stem, i)
    labels = thing.known.labels
    for fact in thing.known.facts:
        if not lexicon.vocabulary.shows(fact.property):
            continue
        label = labels.get(fact.property)
        words = [t.stem for t in tokens(label)] if label else [stem(w) for w in plain_name(fact.property).split()]
        words = [w for w in words if w not in _SMALL]
        if not words or not all(w in places for w in words) or not any(question.weights[places[w]] for w in words):
            continue
        mask = sum(1 << places[w] for w in dict.fromkeys(words))
        if any(a.mask & mask == mask for a in question.of("op")):
            continue  # "number of" counts
        yield Match(thing, gives_of(fact), mask, OWN if label is None else 0.0, fact)


def gives_of(fact: Fact) -> str:
    """What a field holds, by the look of it."""
    if fact.value in ("True", "False"):
        return "flag"
    if fact.day is not None and _OPENS_DATE.match(fact.value) and day(fact.value[:DATE_LENGTH]) == str(fact.day):
        return "date"
    if fact.year is not None and len(fact.value) <= 12:
        return "date"
    if is_number(fact):
        return "number"
    return "list" if ", " in fact.value else "text"


def is_long_ago(fact: Fact) -> bool:
    """Whether a field holds a year before the year 1000."""
    return "year" in pieces(fact.property) and re.fullmatch(r"-?\d{1,3}|-\d{4}", fact.value) is not None


def is_number(fact: Fact) -> bool:
    """Whether a field holds a number, and little else."""
    value = re.sub(r"\([^()]*\)", "", fact.value)
    numbers, rest = re.findall(r"\d[\d.,]*", value), re.sub(r"[\d.,]+", "", value)
    return fact.number is not None and len(numbers) == 1 and len(rest) <= 20


def items(value: str) -> list[str]:
    """What a text lists, without what stands in brackets."""
    return [i for i in (p.strip() for p in re.sub(r"\([^()]*\)", "", value).split(",")) if i]


def said_in(fact: Fact, words: list[str]) -> list[str]:
    """The words of a field that are those of a question, as they are spelled there; empty if one is missing."""
    spelled: dict[str, str] = {}
    for w in re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", fact.value):
        spelled.setdefault(fold(w), w)
        spelled.setdefault(stem(fold(w)), w)
    found = [spelled.get(fold(w)) or spelled.get(stem(fold(w))) for w in words]
    return [f for f in found if f] if all(found) else []


def described(thing: Thing, question: Question, lexicon: Lexicon) -> int:
    """The words right before the name of a thing that say what it is: "the wide receiver Terrence Murphy"."""
    mask, i = 0, (thing.mask & -thing.mask).bit_length() - 2
    while i >= 0 and question.words[i].text.isalnum():
        word = question.words[i]
        spoken = any(word.text in _words_of(a, lexicon) for a in question.of("property", "says") if a.mask >> i & 1)
        if word.stem in thing.known.stems and question.weights[i] > 0 and not spoken:
            mask |= 1 << i
        elif word.text not in ("the", "a", "an"):
            break
        i -= 1
    return mask


def _words_of(atom: Atom, lexicon: Lexicon) -> set[str]:
    """The words of all phrases for a concept, in their own forms: "receiver" is none for what was received."""
    return {w for phrase in lexicon.vocabulary.concepts[atom.meant.column].says for w in phrase.split()}


def choose(named: list[Named]) -> list[Named]:
    """Of names that share words the likelier, in the order of the question."""
    chosen: list[Named] = []
    for n in sorted(named, key=lambda n: n.cost - 0.3 * n.mask.bit_count()):
        if not any(n.mask & c.mask for c in chosen):
            chosen.append(n)
    return sorted(chosen, key=lambda n: n.mask & -n.mask)


def noun(name: str) -> str:
    """How a field is called in a sentence."""
    return plain_name(name) or " ".join(pieces(name))
