"""Programs for a question without an LLM: composed from the schema and the linked names, ranked by what they explain.

After "Building a Semantic Parser Overnight" (Wang, Berant, Liang 2015): every candidate has a canonical utterance.
Ranking is lexical first. Where that leaves a doubt that running the programs does not settle, a closer look lets the
sentence encoder compare masked question and masked utterance.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from kg.domain import Domain
from kg.link import Finder, Linker, Mention
from kg.link.words import FREQUENT
from kg.text import fold

from .ask import readings
from .base import Phrased, Translated, Translation
from .compose import Composer
from .counted import all_told, ceremonies, placed
from .growth import Counts
from .lexicon import Atom, Lexicon, Token, tokens
from .meaning import Entity
from .program import sql
from .properties import Facts
from .question import Moment, Named, Question, Time
from .reading import Reading
from .times import times
from .utter import Utterer
from .wanted import wanted

KEPT = 8  # readings that become programs
PLAUSIBLE = 0.6  # share of the words a reading must explain to be worth a second look
FEW_LETTERS = 5  # too few to tell a name by its first word
DOUBT = 0.4  # a lead in the lexical score that leaves a doubt: only then the encoder is asked
MAX_WORDS = 60
UNLIKE = 2.5  # what a name costs that is nothing like the words
# What a name costs at most whose words mean nothing else here: all of it ("target"), or its beginning ("lululemon").
UNMISTAKEN, BEGUN = 0.6, 0.8
INSIDE_TIME = 1.5  # what a name costs that stands inside a time: "jan"
PARTIAL = 0.6  # what a name costs next to a word that nothing explains: "bolshoi babylon"
LOOSE = 0.9  # what a name may cost to be taken for known
SERIES = 15  # names looked at that begin alike
ELSEWHERE = 3.0  # what a word weighs that speaks of what the data do not have
EVERYDAY = 0.6  # what a name costs that is made of words that carry no meaning: "stay", "who"
INSIDE = 0.8  # what a name costs that stands inside a longer sure one
FREE_GUESS = 1.2  # cost of unsaid pieces that does not yet lower the confidence
SURE = 0.4  # what a name costs at most that is meant for certain
PASSED_OVER = 0.4  # what is left of the quality for each of these that a reading leaves out
UNTIMED = 0.3  # what is left of the quality where a time or a number is left out: another time has another answer
UNUSED = 0.6  # what is left of the quality for each word of the schema and each comparison that is left out
STRANGE = 0.4  # what is left of the quality for each word that no phrase or name knows
SHARPNESS = 1.5  # of the softmax over scores
_SIMILARITY_WEIGHT = 2.5


_Ranked = tuple[float, Reading, float | None]  # score, reading, the encoder's cosine


class Encoder(Protocol):
    def similarities(self, question: str, utterances: list[str]) -> list[float]:
        """The cosine of the question with each utterance, both masked."""


class Canonical:
    """Translates questions of one domain.

    Without an `encoder` it ranks by words alone; without `counts` every role of a person is equally likely,
    and without `facts` nothing is known of the properties of things.
    """

    def __init__(
        self,
        lexicon: Lexicon,
        linker: Finder,
        encoder: Encoder | None = None,
        counts: Counts | None = None,
        facts: Facts | None = None,
    ):
        self.lexicon, self.linker, self.encoder, self.counts, self.facts = lexicon, linker, encoder, counts, facts
        self.domain = lexicon.domain
        self.dated = frozenset(t.name for t in self.domain.tables if t.moment)
        self._series = lru_cache(1_000)(self._find_series)
        self._fuller = lru_cache(1_000)(self._find_fuller)
        self._masked_utterer, self._utterer = Utterer(lexicon), Utterer(lexicon, names=True)

    def translate(self, question: str, *, now: dt.datetime, closely: bool = False) -> Translated:
        """Return programs for `question`, best first; with the encoder's help if it is looked at `closely`."""
        started = time.perf_counter()
        asked = self.read(question, now)
        linked = time.perf_counter()
        composer = Composer(self.lexicon, asked, self.counts, self.facts)
        parts = composer.compose()
        found = _distinct(readings(composer, parts, now.date().isoformat())[: 4 * KEPT], self.domain)
        composed = time.perf_counter()
        doubtful = self.encoder is not None and _is_close(found)
        ranked = self._ranked_closely(asked, found) if closely and doubtful else [(r.score, r, None) for r in found]
        seconds = {"link": linked - started, "compose": composed - linked, "rank": time.perf_counter() - composed}
        explains = wanted(asked).explanation
        translations = self._translations(asked, ranked, now.date())
        return Translated(translations, self._unknown(asked), explains, doubtful and not closely, seconds)

    def familiar(self, question: str, *, now: dt.datetime) -> float:
        """Return the share of the question's weight that phrases and names of this domain explain."""
        asked = self.read(question, now)
        mask = 0
        for a in asked.atoms:
            mask |= a.mask if a.meant.kind not in ("op", "wh") else 0
        for n in asked.named:
            mask |= n.mask if n.cost < LOOSE else 0
        return asked.weight(mask) / asked.total if asked.total else 0.0

    def phrased(self, question: str) -> Phrased:
        """Return what the domain's words alone explain of `question`."""
        words = tokens(question)[:MAX_WORDS]
        want = {i for i, w in enumerate(words) if w.stem not in self.lexicon.ignored and w.text[0].isalnum()}
        atoms = [a for a in self.lexicon.find(words) if a.meant.kind not in ("op", "wh")]
        have = frozenset(i for i in want if any(a.mask >> i & 1 for a in atoms))
        ask = frozenset(i for i in have if any(a.mask >> i & 1 and a.meant.kind != "value" for a in atoms))
        return Phrased(frozenset(want), have, ask, self.linker.searches)

    # -- reading the question ---------------------------------------------------------------------------------

    def read(self, question: str, now: dt.datetime) -> Question:
        """Return the question taken apart."""
        words = tokens(question)[:MAX_WORDS]
        atoms = _longest(self.lexicon.find(words), self.dated)
        found = _times(question, words, now)
        named = self._named(question, words, atoms, found)
        moments = list(_moments(words, atoms, now, self.lexicon.generic["numbers"]))
        numbers = [
            (i, float(w.text.replace(",", "")))
            for i, w in enumerate(words)
            if w.text.replace(",", "").replace(".", "", 1).isdigit()
        ]
        named = [replace(n, cost=n.cost + INSIDE_TIME) if _is_of_a_time(n, words, found) else n for n in named]
        moments = _together([*moments, *ceremonies(question, words, self.lexicon)])
        in_place = list(placed(question, words, self.lexicon))
        weights = [self._weight(w, i, atoms, named, found) for i, w in enumerate(words)]
        told = all_told(question, words, self.lexicon)
        moments = [m for m in moments if not m.mask & told]
        found = [t for t in found if not t.mask & told]
        weights = [0.0 if told >> i & 1 else w for i, w in enumerate(weights)]
        atoms = [a for a in atoms if not a.mask & told]
        return Question(question, words, atoms, named, moments, found, numbers, weights, in_place)

    def _weight(self, word: Token, i: int, atoms: list[Atom], named: list[Named], times: list[Time]) -> float:
        """How much it matters that a word is explained. Small words count where they make a phrase ("up for")."""
        if word.stem == "year" and any(t.mask.bit_length() == i + 1 and t.mask.bit_count() > 1 for t in times):
            return 0.5  # "this year" was said on purpose
        if word.stem in self.lexicon.ignored or not word.text[0].isalnum():
            phrased = any(
                a.mask >> i & 1
                and (
                    (a.mask.bit_count() > 1 and a.meant.kind in ("value", "most"))
                    or (a.mask.bit_count() > 2 and a.meant.kind == "table")
                )
                for a in atoms
            )
            return 0.3 if phrased and word.text[0].isalnum() else 0.0
        if any(a.mask >> i & 1 and a.meant.kind == "elsewhere" for a in atoms):
            return ELSEWHERE
        if any(n.mask >> i & 1 and n.cost < 0.5 for n in named):
            return 0.8
        if any(t.mask >> i & 1 and t.mask.bit_count() > 1 for t in times):
            return 0.5  # a date has many words
        return 1.0

    def _named(self, question: str, words: list[Token], atoms: list[Atom], times: list[Time]) -> list[Named]:
        out = []
        for mention in self.linker.find(question):
            mask = sum(1 << i for i, w in enumerate(words) if w.start < mention.end and w.end > mention.start)
            if mask:
                plural = [
                    a.meant.table
                    for a in atoms
                    if _is_plural(a) and mask.bit_length() <= a.first <= mask.bit_length() + 2
                ]
                found = list(_by_table(mention, mask))
                limit = self._unmistaken(mention, mask, words, atoms)
                found = [replace(n, cost=min(n.cost, limit)) for n in found]
                out += [
                    replace(n, series=self._series(mention.text, n.table)) if {"", n.table} & set(plural) else n
                    for n in found
                ]
        if any(t.properties for t in self.domain.tables):
            out = [replace(n, fuller=self._fuller(n.best.text, n.table)) for n in out]
        out = [replace(n, cost=n.cost + PARTIAL) if self._goes_on(n, words, atoms, out, times) else n for n in out]
        out = [replace(n, cost=n.cost + EVERYDAY) if self._is_everyday(n, words) else n for n in out]
        sure = [n for n in out if n.cost < 0.3]
        # "pan" inside "pan's labyrinth" is hardly meant
        out = [
            replace(n, cost=n.cost + INSIDE) if any(n.mask != s.mask and n.mask & s.mask == n.mask for s in sure) else n
            for n in out
        ]
        out.sort(key=lambda n: n.cost - 0.3 * n.mask.bit_count())
        return out[:14]

    def _unmistaken(self, mention: Mention, mask: int, words: list[Token], atoms: list[Atom]) -> float:
        """What a name may cost at most if its words mean nothing else here, and are all of it or begin just one."""
        said = [w for i, w in enumerate(words) if mask >> i & 1 and w.text[0] not in "'\u2019"]
        if any(a.mask & mask for a in atoms) or not all(w.text[0].isalpha() for w in said):
            return math.inf
        if any(w.text in FREQUENT or w.stem in self.lexicon.ignored for w in said):
            return math.inf
        if any(c.how == "exact" for c in mention.candidates):
            return UNMISTAKEN
        start = fold(mention.text)
        begun = [c for c in mention.candidates if fold(c.text).startswith(f"{start} ")]
        return BEGUN if len(begun) == 1 and len(start) > FEW_LETTERS else math.inf

    def _is_everyday(self, name: Named, words: list[Token]) -> bool:
        return all(w.stem in self.lexicon.ignored for i, w in enumerate(words) if name.mask >> i & 1)

    def _find_series(self, name: str, table: str) -> tuple[Entity, ...]:
        """Everything whose name begins with `name`: the films of a series."""
        start = fold(name).removeprefix("the ")
        alike = self.linker.complete(name, SERIES)
        longer = [text for text in alike if fold(text).removeprefix("the ").startswith(start)]
        if len(longer) < 2:
            return ()
        found = [c for text in longer for c in self.linker.lookup(text, table) if c.how == "exact"]
        return tuple(Entity(c.key, c.text) for c in {c.key: c for c in found}.values())

    def _find_fuller(self, name: str, table: str) -> tuple[Entity, ...]:
        """Who is also called so, with further names in between: an encyclopaedia may have somebody twice."""
        said = fold(name).split()
        # where names are not listed each look is a call, and this one seldom pays
        if len(said) != 2 or not isinstance(self.linker, Linker):
            return ()
        found = ((c, fold(c.text).split()) for c in self.linker.lookup(said[-1], table))
        return tuple(Entity(c.key, c.text) for c, w in found if len(w) > 2 and [w[0], w[-1]] == said)[:2]

    def _goes_on(
        self, name: Named, words: list[Token], atoms: list[Atom], others: list[Named], times: list[Time]
    ) -> bool:
        """Whether a word that nothing explains stands next to a name: perhaps it is part of a longer one."""
        ends = ((name.mask & -name.mask).bit_length() - 2, name.mask.bit_length())
        for i in ends:
            if 0 <= i < len(words) and words[i].stem not in self.lexicon.ignored and words[i].text.isalpha():
                known = any(x.mask >> i & 1 for found in (atoms, others, times) for x in found)
                if not known:
                    return True
        return False

    def _unknown(self, asked: Question) -> tuple[str, ...]:
        explained = 0
        for a in asked.atoms:
            explained |= a.mask
        for n in asked.named:
            explained |= n.mask if n.cost < 0.9 else 0
        for mask in asked.dated:
            explained |= mask
        return tuple(w.text for i, w in enumerate(asked.words) if asked.weights[i] > 0 and not explained >> i & 1)

    # -- ranking ---------------------------------------------------------------------------------------------

    def _ranked_closely(self, asked: Question, found: list[Reading]) -> list[_Ranked]:
        """The readings by their lexical score and the likeness of their utterances to the question."""
        assert self.encoder is not None
        masked = self._masked(asked, found[0])
        cosines = self.encoder.similarities(masked, [self._masked_utterer.utter(r.meaning) for r in found])
        scored = [(r.score + _SIMILARITY_WEIGHT * c, r, c) for r, c in zip(found, cosines, strict=True)]
        return sorted(scored, key=lambda s: -s[0])

    def _masked(self, asked: Question, best: Reading) -> str:
        """The question with the names that the best reading uses replaced by what they are."""
        text, cut = asked.text, len(asked.text)
        used = [n for n in asked.named if n.mask & best.mask == n.mask and n.cost < 0.9]
        for n in sorted(used, key=lambda n: -n.mask.bit_length()):
            first, last = (n.mask & -n.mask).bit_length() - 1, n.mask.bit_length() - 1
            start, end = asked.words[first].start, asked.words[last].end
            if end <= cut:
                noun = self.domain.table(n.table).says[0]
                text, cut = f"{text[:start]}the {noun}{text[end:]}", start
        return text

    def _translations(self, asked: Question, ranked: Sequence[_Ranked], today: dt.date) -> list[Translation]:
        if not ranked:
            return []
        top = ranked[0][0]
        total = sum(math.exp(SHARPNESS * min(s - top, 0.0)) for s, _, _ in ranked)
        unknown = set(self._unknown(asked))
        out = []
        for i, (score, reading, cosine) in enumerate(ranked):
            share = math.exp(SHARPNESS * min(score - top, 0.0)) / total
            margin = score - ranked[i + 1][0] if i + 1 < len(ranked) else score
            left = tuple(
                w.text for k, w in enumerate(asked.words) if asked.weights[k] > 0 and not reading.mask >> k & 1
            )
            out.append(
                Translation(
                    program=sql(reading.meaning, self.domain),
                    utterance=self._utterer.utter(reading.meaning),
                    share=share,
                    quality=_quality(
                        reading, sum(w in unknown and w.isalpha() for w in left), _passed_over(asked, reading, today)
                    ),
                    covered=reading.covered,
                    margin=margin,
                    similarity=cosine,
                    meaning=reading.meaning,
                    unexplained=left,
                    guessed=reading.guessed,
                )
            )
        return out


def _quality(reading: Reading, strange: int, passed_over: float) -> float:
    """How well a reading accounts for the question. `strange` words that nothing here knows are the worst sign, and
    next to them sure names that it passes over."""
    guesses = 1.0 + max(0.0, reading.guessed - FREE_GUESS)
    return float(max(reading.covered, 0.0) ** 1.5 * STRANGE**strange * passed_over / guesses)


_TELLING = ("column", "ask", "value", "measure", "test", "most")
_DENIALS = frozenset(
    [
        "no",
        "not",
        "never",
        "without",
        "neither",
        "nor",
        "except",
        "isn't",
        "aren't",
        "wasn't",
        "weren't",
        "doesn't",
        "don't",
        "didn't",
        "hasn't",
        "haven't",
    ]
)
_OPERATORS = (
    "highest",
    "lowest",
    "higher",
    "lower",
    "difference",
    "ratio",
    "percent",
    "average",
    "sum",
    "count",
    "gain",
    "loss",
    "before",
    "after",
    "above",
    "below",
)


def _passed_over(asked: Question, reading: Reading, today: dt.date) -> float:
    """What is left of the quality for the sure names, the times, the numbers and the words of the schema that a
    reading leaves out."""
    left = {n.mask for n in asked.named if n.cost < SURE and not n.mask & reading.mask}
    left |= {mask for mask in asked.dated - {t.mask for t in asked.times} if not mask & reading.mask}
    quality = PASSED_OVER ** len(_longest_of(left))
    timed = 0
    for t in asked.times:
        timed |= t.mask
        is_now = t.first == t.last == today
        if not t.mask & reading.mask and asked.weight(t.mask) and not is_now:
            quality *= UNTIMED
    for i, _ in asked.numbers:
        if not (reading.mask | timed) >> i & 1 and asked.weights[i]:
            quality *= UNTIMED
    for i, w in enumerate(asked.words):
        if w.text in _DENIALS and not reading.mask >> i & 1:
            quality *= UNTIMED
    said = [a for kind in _TELLING for a in asked.of(kind)] + [a for name in _OPERATORS for a in asked.of("op", name)]
    unused = {a.mask for a in said if not a.mask & (reading.mask | timed) and asked.weight(a.mask)}
    return quality * UNUSED ** len(_longest_of(unused))


def _longest_of(masks: set[int]) -> list[int]:
    return [m for m in masks if not any(m != o and m & o == m for o in masks)]


def _is_close(found: list[Reading]) -> bool:
    """Whether the first of the readings is plausible, but hardly more so than the second."""
    return len(found) > 1 and found[0].score - found[1].score <= DOUBT and found[0].covered >= PLAUSIBLE


def _distinct(readings: list[Reading], domain: Domain) -> list[Reading]:
    """The readings without those whose program an earlier one has."""
    programs: dict[str, Reading] = {}
    for r in readings:
        programs.setdefault(sql(r.meaning, domain), r)
        if len(programs) == KEPT:
            break
    return list(programs.values())


def _longest(atoms: list[Atom], dated: frozenset[str]) -> list[Atom]:
    """Drop what stands inside a longer phrase: "best" in "best actor", "director" in "director of photography".

    What one of the `dated` tables says does not bear on the words of another: they are read one at a time.
    """
    spans = {
        (a.mask, a.meant.table if a.meant.table in dated else "")
        for a in atoms
        if (
            a.meant.kind in ("value", "most", "column", "role", "op", "property")
            or (a.meant.kind == "table" and a.mask.bit_count() > 2)
        )
        and a.mask.bit_count() == a.last - a.first + 1
    }
    # "how many years older" says both what is compared and how
    how = {a.mask for a in atoms if a.meant.name == "difference"}
    return [
        a
        for a in atoms
        if a.meant.kind in ("table", "wh", "ask")
        or (a.meant.kind == "most" and any(a.mask & h == a.mask for h in how))
        or not any(a.mask != s and a.mask & s == a.mask and _bears_on(t, a.meant.table, dated) for s, t in spans)
    ]


def _bears_on(one: str, other: str, dated: frozenset[str]) -> bool:
    return not one or one == other or other not in dated


def _is_plural(atom: Atom) -> bool:
    """Whether a phrase behind a name can make it a series: "films", "trilogy"."""
    return atom.meant.kind == "table" or atom.meant.name == "series"


def _is_of_a_time(name: Named, words: list[Token], times: list[Time]) -> bool:
    """Whether a name is just a word of a time: "jan" in "jan 2 2024"."""
    inside = any(t.mask & name.mask == name.mask != t.mask for t in times)
    return inside and not any(w.text.isdigit() for i, w in enumerate(words) if name.mask >> i & 1)


def _by_table(mention: Mention, mask: int) -> Iterable[Named]:
    for table in dict.fromkeys(c.table for c in mention.candidates):
        found = mention.of(table)
        best = found[0]
        if mention.text.isascii():
            # who writes no accents means the best known of those that differ by nothing else
            alike = [c for c in found if fold(c.text) == fold(best.text) and c.how == best.how]
            best = max(alike, key=lambda c: c.weight)
        same = tuple(c for c in found if c.text.lower() == best.text.lower())
        namesakes = tuple(Entity(c.key, c.text, len(same) > 1) for c in same)
        yield Named(table, mask, namesakes[0], namesakes, UNLIKE * (1.0 - best.score))


def _times(text: str, words: list[Token], now: dt.datetime) -> list[Time]:
    """The times in a question, each with its words."""
    out = []
    for span in times(text, now):
        gap = span.gap or (0, 0)
        mask = sum(
            1 << i
            for i, w in enumerate(words)
            if w.start < span.end and w.end > span.prep_start and not gap[0] <= w.start < gap[1]
        )
        if mask:
            out.append(Time(mask, span.first, span.last, span.grain, span.at))
    return out


def _together(moments: list[Moment]) -> list[Moment]:
    """The moments, those that say the same twice as one: "the 53rd Grammys (2010)"."""
    merged: dict[tuple[str, tuple[int, ...]], int] = {}
    for m in moments:
        merged[m.op, m.values] = merged.get((m.op, m.values), 0) | m.mask
    return [*(Moment(mask, op, values) for (op, values), mask in merged.items())]


def _moments(words: list[Token], atoms: list[Atom], now: dt.datetime, numbers: dict[str, int]) -> Iterable[Moment]:
    """Years and decades with the word before them that makes them a range."""
    years = [
        (i, int(w.text))
        for i, w in enumerate(words)
        if w.text.isdigit() and len(w.text) == 4 and 1000 <= int(w.text) <= 2100
    ]
    inclusive = [a for a in atoms if a.meant.kind == "op" and a.meant.name == "inclusive"]
    for k, (i, year) in enumerate(years):
        bit = 1 << i
        if not any(
            a.meant.kind == "op" and a.meant.name in ("after", "before", "between") and a.last == i - 1 for a in atoms
        ):
            yield Moment(bit, "=", (year,))
        for a in atoms:
            if a.meant.kind != "op" or a.last != i - 1:
                continue
            included = any(b.mask == a.mask for b in inclusive)
            if a.meant.name == "after":
                yield Moment(bit | a.mask, ">=" if included else ">", (year,))
            elif a.meant.name == "before":
                yield Moment(bit | a.mask, "<=" if included else "<", (year,))
            elif a.meant.name == "between" and k + 1 < len(years):
                j, other = years[k + 1]
                yield Moment(bit | a.mask | 1 << j, "between", (year, other))
    for i, w in enumerate(words[:-2]):
        # "in the last five years" ends with the year of the question
        n = numbers.get(words[i + 1].text) or (int(words[i + 1].text) if words[i + 1].text.isdigit() else 0)
        if w.text in ("last", "past", "previous") and n and words[i + 2].stem == "year":
            yield Moment(0b111 << i, "between", (now.year - n, now.year))
    for i, w in enumerate(words):
        if len(w.text) in (3, 5) and w.text.endswith("s") and w.text[:-1].isdigit():
            start = int(w.text[:-1]) + (1900 if len(w.text) == 3 else 0)
            yield Moment(1 << i, "between", (start, start + 9))
