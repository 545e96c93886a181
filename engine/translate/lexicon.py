"""The words of a domain: every phrase of its YAML file and of `sql_templates/`, and where a question uses them.

Words are compared by their stems (Snowball), so one entry serves "director", "directed" and "directs". A phrase may
have a gap ("when ... released"). What is found are *atoms*: a span of the question and what it may mean. Atoms may
overlap; composing decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import snowballstemmer
import yaml

from kg.domain import Domain

from .fields import Vocabulary

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, if PyYAML was built with it
TEMPLATES = Path(__file__).resolve().parents[2] / "sql_templates"
_WORD = re.compile(
    r"\d+s\b|\d+(?:[.,]\d+)*(?:st|nd|rd|th)?(?![^\W\d_])|[^\W_]+(?:['\u2019](?!s\b)[^\W_]+)*|['\u2019]s\b|[$%€£]"
)
_GAP = 14  # words a gap may span
_stemmer = snowballstemmer.stemmer("english")


@dataclass(frozen=True)
class Token:
    """A word of the question with its offsets; `stem` is what phrases are compared by."""

    text: str
    stem: str
    start: int
    end: int


@dataclass(frozen=True)
class Meant:
    """What a phrase means: `kind` says how to read the rest.

    column, ask: asks for `table.column`. most: orders by it (`flag`: descending). value: `table.column` is one of
    `values` (none: any). role: the `role`-th role of `table`, whose `name` is noun, verb or back. table: rows of it.
    elsewhere: what the data do not have. wh: a question word that asks for rows of it. measure, test: the quantity or
    the comparison `name` of the domain's templates. op: the operation `name` of generic.yaml.
    """

    kind: str
    table: str = ""
    column: str = ""
    name: str = ""
    flag: bool = False
    values: tuple[Any, ...] = ()
    role: int = -1


@dataclass(frozen=True)
class Atom:
    """A span of the question (token positions as bits of `mask`) and one thing it may mean."""

    mask: int
    first: int
    last: int
    phrase: str
    meant: Meant


@dataclass(frozen=True)
class _Entry:
    parts: tuple[tuple[str, ...], ...]
    phrase: str
    meant: Meant


@dataclass(frozen=True)
class Measure:
    """A quantity made of two columns of a table by a function of `meaning.Calculate`."""

    table: str
    function: str
    first: str
    second: str
    says: tuple[str, ...]
    most: tuple[str, ...] = ()
    least: tuple[str, ...] = ()


@dataclass(frozen=True)
class Test:
    """A comparison of two columns of a row that has words of its own: "closed higher"."""

    table: str
    column: str
    op: str
    other: str
    says: tuple[str, ...]


@dataclass(frozen=True)
class Pieces:
    """What people hold many of: the table whose rows come in pieces, and the stems of words for them."""

    table: str
    says: frozenset[str]
    dealing: frozenset[str]


@dataclass(frozen=True)
class Place:
    """A way to say a number of a column by its place: "top {}", "number {}"; or, as an `ordinal`, "{} place"."""

    table: str
    column: str
    op: str
    says: tuple[str, ...]
    ordinal: bool = False


@dataclass(frozen=True)
class Event:
    """What happens once a year, and is counted: "the {} grammys". `first` is the year of the first, `known` how many
    the data tell of: "up to the 62nd" then says nothing."""

    first: int
    known: int
    says: tuple[str, ...]


@dataclass
class Lexicon:
    """All phrases of one domain, by the stem they begin with."""

    domain: Domain
    generic: dict[str, Any]
    _by_stem: dict[str, list[_Entry]] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    measures: dict[str, Measure] = field(default_factory=dict)
    tests: dict[str, Test] = field(default_factory=dict)
    pieces: Pieces | None = None
    apart: dict[str, list[str]] = field(default_factory=dict)  # by table.column: what makes a value another one
    places: dict[str, Place] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)

    @classmethod
    def of(cls, domain: Domain) -> Lexicon:
        generic = _generic()
        lexicon = cls(domain, generic, ignored=frozenset(stem(w) for w in re.findall(r"[\w']+", generic["ignored"])))
        for meant, phrase in _phrases(domain, generic):
            lexicon._add(phrase, meant)
        idioms = _idioms(domain.name)
        lexicon.ignored |= {stem(w) for w in re.findall(r"[\w']+", idioms.get("ignored", ""))}
        lexicon.measures = {n: Measure(**m, says=tuple(says)) for n, m, says in _split(idioms.get("measures", {}))}
        lexicon.tests = {n: Test(**t, says=tuple(says)) for n, t, says in _split(idioms.get("tests", {}))}
        if said_of := idioms.get("pieces"):
            stems = {k: frozenset(stem(w) for w in said_of[k]) for k in ("says", "dealing")}
            lexicon.pieces = Pieces(said_of["table"], stems["says"], stems["dealing"])
        lexicon.apart = idioms.get("apart", {})
        lexicon.places = {n: Place(**p, says=tuple(says)) for n, p, says in _split(idioms.get("places", {}))}
        lexicon.events = {n: Event(**e, says=tuple(says)) for n, e, says in _split(idioms.get("events", {}))}
        for kind, said in (("measure", lexicon.measures), ("test", lexicon.tests)):
            for name, idiom in said.items():
                for phrase in idiom.says:
                    lexicon._add(phrase, Meant(kind, idiom.table, name=name))
        for name, measure in lexicon.measures.items():
            for flag, phrases in ((True, measure.most), (False, measure.least)):
                for phrase in phrases:
                    lexicon._add(phrase, Meant("most_measure", measure.table, name=name, flag=flag))
        for phrase in idioms.get("elsewhere", ()):
            lexicon._add(phrase, Meant("elsewhere"))
        lexicon._add_properties(idioms)
        return lexicon

    def _add_properties(self, idioms: dict[str, Any]) -> None:
        """The words for properties, where a table of the domain holds such."""
        table = next((t for t in self.domain.tables if t.properties), None)
        if table is None:
            return
        known = ("hidden", "units", "nouns", "kinds_of")
        self.vocabulary = Vocabulary.of(idioms.get("properties", {}), **{k: idioms[k] for k in known if k in idioms})
        for noun in self.vocabulary.nouns:
            self._add(noun, Meant("property", table.name, name="noun"))
        for unit, phrases in self.vocabulary.units.items():
            for phrase in phrases:
                self._add(phrase, Meant("property", table.name, unit, name="unit"))
        for concept in self.vocabulary.concepts.values():
            for kind in ("says", "most", "least", "denies", "kinds"):
                for phrase in getattr(concept, kind):
                    self._add(phrase, Meant("property", table.name, concept.name, name=kind))

    def _add(self, phrase: str, meant: Meant) -> None:
        parts = tuple(tuple(t.stem for t in tokens(part)) for part in phrase.split("..."))
        if all(parts):
            self._by_stem.setdefault(parts[0][0], []).append(_Entry(parts, phrase, meant))

    def find(self, words: list[Token]) -> list[Atom]:
        """Return every phrase found in `words`."""
        stems = [w.stem for w in words]
        found: dict[tuple[int, Meant], Atom] = {}
        for i, s in enumerate(stems):
            for entry in self._by_stem.get(s, ()):
                positions = _match(entry.parts, stems, i)
                if not positions or is_other_word(words[positions[-1]].text, entry.phrase):
                    continue
                if not (entry.meant.kind == "table" and is_verb(words[positions[-1]].text, entry.phrase)):
                    mask = sum(1 << p for p in positions)
                    found.setdefault(
                        (mask, entry.meant), Atom(mask, positions[0], positions[-1], entry.phrase, entry.meant)
                    )
        return list(found.values())

    @property
    def common(self) -> frozenset[str]:
        """Words that are part of the domain's or the language's own vocabulary: weak evidence of a name."""
        # the many phrases for properties hold words of all kinds: only those that stand alone are common
        entries = [e for found in self._by_stem.values() for e in found]
        phrases = [e.phrase.lower() for e in entries if e.meant.kind != "property" or " " not in e.phrase]
        schema = {w for phrase in phrases for w in re.findall(r"\w+", phrase)}
        return frozenset(schema | set(re.findall(r"[\w']+", self.generic["ignored"])))

    @property
    def spoken(self) -> frozenset[str]:
        """`common` with the irregular forms of its words: an API that is searched for "wrote emma" has no such book."""
        return self.common | {form for form, base in _forms().items() if base in self.common}


def tokens(text: str) -> list[Token]:
    """The words of `text`, lower case.

    >>> [t.text for t in tokens("Soderbergh's top-10 film, for $1,000?")]
    ['soderbergh', "'s", 'top', '10', 'film', 'for', '$', '1,000']
    """
    return [Token(m[0].lower().replace("\u2019", "'"), stem(m[0]), m.start(), m.end()) for m in _WORD.finditer(text)]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    word = word.lower().replace("\u2019", "'")
    word = _forms().get(word, word)
    return str(_stemmer.stemWord(word))


@lru_cache(maxsize=1)
def _generic() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load((TEMPLATES / "generic.yaml").read_text(encoding="utf-8"), Loader=_LOADER)
    return loaded


def _idioms(domain: str) -> dict[str, Any]:
    """What stands in a domain's own template file, if it has one."""
    path = TEMPLATES / f"{domain}.yaml"
    loaded: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER) if path.exists() else {}
    return loaded


def _split(idioms: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    """(name, what it is, how it is said) of each idiom."""
    for name, idiom in idioms.items():
        yield name, {k: v for k, v in idiom.items() if k != "says"}, idiom["says"]


@lru_cache(maxsize=1)
def _forms() -> dict[str, str]:
    return {form: base for base, forms in _generic()["forms"].items() for form in forms}


def _match(parts: tuple[tuple[str, ...], ...], stems: list[str], i: int) -> list[int]:
    """The positions of a phrase that begins at `i`, empty if it is not there."""
    positions: list[int] = []
    at = i
    for k, part in enumerate(parts):
        limit = at if k == 0 else min(at + _GAP, len(stems) - len(part))
        while at <= limit and tuple(stems[at : at + len(part)]) != part:
            at += 1
        if at > limit or at + len(part) > len(stems):
            return []
        positions += range(at, at + len(part))
        at += len(part)
    return positions


def is_verb(word: str, noun: str) -> bool:
    """Whether a word with the stem of a noun is a verb's form: "filmed" is no film."""
    return any(word.endswith(end) and not noun.endswith(end) for end in ("ed", "ing"))


def is_other_word(word: str, phrase: str) -> bool:
    """Whether a word only seems to be a form of a phrase's last word: "lowes" and "lowe" are none of "low"."""
    base = phrase.rpartition(" ")[2]
    return word == base + "e" or (word == base + "es" and base[-1] not in "sxzhoy")


_OPERATIONS = (
    "count",
    "list",
    "sum",
    "average",
    "highest",
    "lowest",
    "higher",
    "lower",
    "both",
    "difference",
    "difference_lower",
    "ratio",
    "percent",
    "gain",
    "loss",
    "change",
    "age",
    "or",
    "other",
    "after",
    "before",
    "above",
    "below",
    "between",
    "inclusive",
    "series",
    "polite",
)


def _phrases(domain: Domain, generic: dict[str, Any]) -> Iterator[tuple[Meant, str]]:
    for name in _OPERATIONS:
        for phrase in generic[name]:
            yield Meant("op", name=name), phrase
    for table in domain.tables:
        for phrase in table.says:
            yield Meant("table", table.name), phrase
        for phrase in table.asks:
            yield Meant("wh", table.name), phrase
        for i, role in enumerate(table.roles):
            for form in ("noun", "verb", "back"):
                for phrase in getattr(role, form):
                    yield Meant("role", table.name, name=form, role=i), phrase
        for column in table.columns:
            for phrase in column.says:
                yield Meant("column", table.name, column.name), phrase
            for phrase in column.asks:
                yield Meant("ask", table.name, column.name), phrase
            for flag, phrases in ((True, column.most), (False, column.least)):
                for phrase in phrases:
                    yield Meant("most", table.name, column.name, flag=flag), phrase
            yield from _value_phrases(table.name, column.name, column.values)


def _value_phrases(table: str, column: str, values: Any) -> Iterator[tuple[Meant, str]]:
    """A phrase that several stored values share means any of them: categories change their names over the years."""
    by_phrase: dict[str, list[Any]] = {}
    for value in values:
        for phrase in value.says:
            by_phrase.setdefault(phrase, []).append(value.value)
    for phrase, stored in by_phrase.items():
        yield Meant("value", table, column, values=tuple(v for v in stored if v is not None)), phrase
