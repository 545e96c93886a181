"""What kind of answer the opening of a question asks for, and how well a kind of answer fits it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from kg.domain import Column

from .lexicon import Atom
from .question import PLAIN, Question, is_year

FITS, CLASHES = 0.6, -1.0
SURE = 0.3  # what a name may cost that is surely meant
_OPENERS = frozenset(
    ["did", "does", "do", "is", "was", "were", "are", "has", "have", "had", "can", "could", "will", "would"]
)
_ASKING = frozenset(["did", "does", "do", "is", "was", "were", "are", "has", "have", "had"])
_QUESTION_WORDS = frozenset(["who", "whom", "whose", "what", "which", "when", "where", "why", "how"])


@dataclass(frozen=True)
class Wanted:
    """What kind of answer the question's opening asks for."""

    yes_no: bool = False
    person: frozenset[str] = frozenset()  # tables whose rows "who" asks for
    date: bool = False
    moments: frozenset[str] = frozenset()  # tables whose rows "when" or "what year" asks for
    year: bool = False
    number: bool = False
    count: bool = False  # of these, "how many"
    money: bool = False
    place: bool = False
    explanation: bool = False
    one_of_these: bool = False  # "which of A, B and C"
    offers: bool = False  # "A or B"
    tables: frozenset[str] = frozenset()

    def fit_rows(self, table: str) -> float:
        w = self
        if w.yes_no or w.explanation or w.place:
            return CLASHES
        if w.person:
            return FITS if table in w.person else CLASHES
        if w.date and table in w.moments:
            return FITS
        if w.date or w.number or w.money:
            return CLASHES
        return FITS if table in w.tables else (CLASHES / 2 if w.tables else 0.0)

    def fit_column(self, column: Column) -> float:
        w = self
        if w.yes_no or w.explanation:
            return CLASHES
        if w.place:
            return FITS if any(phrase.startswith("where") for phrase in column.asks) else CLASHES
        if w.date:
            if is_year(column):
                return FITS if w.year else FITS / 2
            return CLASHES if column.type != "DATE" else FITS / 2 if w.year else FITS
        if w.money:
            return FITS if column.unit == "USD" else CLASHES
        if w.number:
            return FITS if column.unit == "min" or (w.count and column.numeric and not column.unit) else CLASHES
        if w.person:
            return CLASHES / 2
        return 0.0


def wanted(question: Question) -> Wanted:
    q = question
    # the words of a name ask for nothing: "how to train your dragon"
    named = [n.mask for n in q.named if n.cost < SURE and n.mask.bit_count() > 1]
    words = ["" if any(m >> i & 1 for m in named) else w.text for i, w in enumerate(q.words)]
    asking = [a for a in q.of("wh") if a.mask.bit_count() == 1]
    first_word = min((a.first for a in asking), default=0)
    # the first question word decides: in "what was the debut of whoever ..." it is not "whoever"
    who = frozenset(a.meant.table for a in asking if a.first == first_word and a.phrase.startswith("who"))
    counts = bool(q.of("op", "count"))
    first = words[0] if words else ""
    text = " ".join(words)
    measured = _how_is_measured(words) or any(a.phrase.startswith("how ") for a in q.of("ask"))
    offers = _offers(q)
    explanation = "why" in words or ("how" in words and not measured)
    return Wanted(
        yes_no=(first in _OPENERS or _opens_late(question, words))
        and not counts
        and not any(a.first == 0 for a in q.of("op", "polite"))
        and not offers,
        person=who,
        date=_asks_when(words)
        or any(f"{wh} {of}" in text for wh in ("what", "which") for of in ("day", "date", "week", "year")),
        moments=frozenset(a.meant.table for a in asking if a.phrase == "when"),
        year="what year" in text or "which year" in text,
        number=(counts and not asked_before(question, q.of("op", "count")))
        or "how long" in text
        or "how many" in text
        or "how old" in text,
        count="how many" in text or "number of" in text,
        money="how much" in text,
        place="where" in words[:4],
        explanation=explanation,
        one_of_these=_one_of_these(text),
        offers=offers,
        tables=frozenset(a.meant.table for a in q.of("table") if q.is_asked_for(a)),
    )


def _offers(q: Question) -> bool:
    """Whether a question offers two things to choose from: "is nike's or lululemon's higher"."""
    names = [n.mask for n in q.named if n.cost < PLAIN]
    ors = [i for i, w in enumerate(q.words) if w.text == "or"]
    before = {m.bit_length() for m in names} | {m.bit_length() + 1 for m in names}
    after = {(m & -m).bit_length() - 1 for m in names}
    return any(i in before and {i + 1, i + 2} & after for i in ors)


def _one_of_these(text: str) -> bool:
    return text.startswith(("which of ", "who of ", "which one of ")) or "which of these" in text


def _opens_late(question: Question, words: list[str]) -> bool:
    """Whether the verb of a yes-no question stands behind a time or a clause: "last week, did they win"."""
    if any(w in _QUESTION_WORDS for w in words):
        return False
    text = question.text
    for i, word in enumerate(words[1:], 1):
        if word in _ASKING:
            before = text[question.words[i - 1].end : question.words[i].start]
            timed = any(t.mask & 1 and t.mask.bit_length() == i for t in question.times)
            return timed or bool({",", ":", ";", "-", "."} & set(before))
    return False


def asked_before(question: Question, ops: list[Atom]) -> bool:
    """Whether "which" or "who" comes before a count: then things are asked for, by their number."""
    first = min(a.first for a in ops)
    return any(w.text in ("which", "who", "whose") for w in question.words[:first])


def _asks_when(words: list[str]) -> bool:
    """Whether "when" is a question: not in "who were they playing when they scored the most"."""
    asking = [w for w in words if w in ("who", "whom", "whose", "what", "which", "how", "where", "when")]
    return asking[:1] == ["when"]


def _how_is_measured(words: list[str]) -> bool:
    """how many, how old, how much ...: a quantity, not an explanation."""
    after = [b for a, b in itertools.pairwise(words) if a == "how"]
    return all(
        b
        in (
            "many",
            "much",
            "long",
            "old",
            "often",
            "tall",
            "far",
            "big",
            "large",
            "expensive",
            "well",
            "highly",
            "high",
            "heavy",
            "dense",
            "deep",
            "hot",
        )
        for b in after
    )
