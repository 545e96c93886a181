"""From evidence to a verdict: accept, "invalid question", or "i don't know" with a reason.

One place decides. A wrong answer costs as much as a right one earns and silence costs nothing, so what is not
sure is not said. *Complete but empty* is evidence of a false premise; *not complete* is evidence of nothing.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kg.domain import Domain
from kg.errors import QueryError
from kg.graph import Result

from .answers import Reason
from .settings import Settings
from .translate.base import Translated, Translation
from .translate.meaning import (
    Aggregate,
    Calculate,
    Compare,
    Condition,
    Count,
    Excerpt,
    Exists,
    Given,
    Is,
    Leader,
    Listed,
    Meaning,
    Names,
    Same,
    Scaled,
    Set,
    Tally,
    Through,
    To,
    Where,
    Which,
)

TRIED = 5  # programs that are run before giving up
WORTH = 0.6  # how likely, next to the first, a program must be to be run
WORTH_EMPTY = 0.3  # the same if the first found nothing
CERTAIN = 0.5  # share of a program with rows beyond which no other is run
# How often a right program ends so: with rows, with nothing known, with a count of none, with nothing, with an error.
LIKELIHOOD = {"accept": 1.0, "invalid": 0.5, "unknown": 0.4, "zero": 0.2, "empty": 0.2, "refused": 0.05}
MANY_ROWS = 20  # more than anybody asks for in a sentence: half as likely
MAX_GUESSED = 1.2  # cost of pieces nobody said beyond which an empty result proves nothing
MIN_COVERED_NOTHING = 0.8  # share of the words that a program must explain before its empty result is believed
WIDENED = 6  # wider sets that are looked at before the data are taken to be silent
# "when was it released" has one answer; a set of so many dates or numbers answers another question.
FEW_VALUES = 3
LONG_AGO = "1900-01-01"
BREAK = dt.timedelta(days=120)  # the longest time in which nothing takes place, though more is to come
NEAR = dt.timedelta(days=6)  # from the end of a range: no market is closed for longer


@dataclass(frozen=True)
class Verdict:
    """accept, zero (a count of none), invalid, empty, refused or unknown; a reason, and a sentence that says it."""

    kind: str
    reason: Reason = ""
    detail: str = ""


ACCEPT, INVALID, EMPTY, ZERO = Verdict("accept"), Verdict("invalid"), Verdict("empty"), Verdict("zero")
UNKNOWN_VALUE = Verdict("unknown", "incomplete", "the data do not have this value")


@dataclass(frozen=True)
class Outcome:
    """What became of one translation: the verdict on its result, and the text of the answer it would give."""

    translation: Translation
    verdict: Verdict
    result: Result | None = None
    text: str = ""


# -- several programs ------------------------------------------------------------------------------------------------


def hopeful(translated: Translated, settings: Settings) -> list[Translation]:
    """Return the translations to run: none if the best of them could not be believed whatever it returned."""
    first = translated.translations[:TRIED]
    return first if any(t.quality >= settings.min_confidence for t in first) else []


def worth_trying(translation: Translation, outcomes: Sequence[Outcome]) -> bool:
    """Whether another program could still change the answer."""
    if not outcomes:
        return True
    first = outcomes[0]
    settled = first.verdict.kind == "accept" and first.translation.share >= CERTAIN
    worth = WORTH if first.verdict.kind == "accept" else WORTH_EMPTY
    return not settled and translation.share >= worth * first.translation.share


def agree(outcomes: Sequence[Outcome]) -> tuple[Outcome, float]:
    """Return the outcome whose answer is most likely after all were run, and its confidence.

    By Bayes: a right program seldom returns nothing, a wrong one often does (execution evidence, arXiv 2508.14056).
    What was not run is given the likelihood of an average reading.
    """
    weight: dict[tuple[str, str], float] = {}
    for o in outcomes:
        likely = LIKELIHOOD[o.verdict.kind]
        if o.result is not None and len(o.result.rows) > MANY_ROWS:
            likely /= 2
        answer = (o.verdict.kind, o.text)
        weight[answer] = weight.get(answer, 0.0) + o.translation.share * likely
    best = max(outcomes, key=lambda o: (weight[o.verdict.kind, o.text], o.translation.share))
    rest = max(0.0, 1.0 - sum(o.translation.share for o in outcomes)) * LIKELIHOOD["unknown"]
    return best, weight[best.verdict.kind, best.text] / (sum(weight.values()) + rest) * best.translation.quality


def decide(best: Outcome, confidence: float, translated: Translated, settings: Settings) -> Verdict:
    """Return the last word on a question: accept, zero or invalid are said, everything else is "i don't know"."""
    t, verdict = best.translation, best.verdict
    if verdict.reason == "missing_input" and translated.unknown:
        return nothing_fits(translated)
    if verdict.kind in ("unknown", "refused"):
        return verdict
    if t.covered < settings.min_covered or confidence < settings.min_confidence:
        return (
            nothing_fits(translated)
            if t.unexplained
            else Verdict("unknown", "low_confidence", "more than one reading fits")
        )
    if verdict.kind == "accept":
        reasons = Verdict("unknown", "not_in_schema", "the data hold facts, not reasons")
        return reasons if translated.explains else verdict
    # nothing was found: the program must account for nearly all words, leave out none that is strange, and add little
    strange = set(t.unexplained) & set(translated.unknown)
    believable = t.guessed <= MAX_GUESSED and t.covered >= MIN_COVERED_NOTHING and not strange
    if verdict.kind != "empty" and believable and confidence >= settings.min_invalid:
        return verdict
    return Verdict("unknown", "low_confidence", "nothing was found, which may be a misreading")


def nothing_fits(translated: Translated) -> Verdict:
    """Why no program accounts for a question."""
    if not translated.unknown:
        return Verdict("unknown", "low_confidence", "no reading of the question accounts for enough of it")
    words = ", ".join(f"'{w}'" for w in translated.unknown[:5])
    if not any(t.confidence > 0.1 for t in translated.translations):
        return Verdict("unknown", "entity_not_found", f"nothing is known by these words: {words}")
    return Verdict("unknown", "not_in_schema", f"no column or name explains {words}")


# -- one result ------------------------------------------------------------------------------------------------------


def judge(meaning: Meaning | None, result: Result, unexplained: tuple[str, ...], domain: Domain) -> Verdict:
    """Return the verdict on a result; "empty" if all was seen and nothing is there, which `premise` then weighs.

    `unexplained` are the words of the question that the meaning leaves out.
    """
    if not result.complete:
        gap = str(result.gaps[0]) if result.gaps else "not all rows could be seen"
        return Verdict("unknown", "incomplete", gap)
    rows = result.rows
    empty = not rows or all(v is None for v in rows[0])
    if isinstance(meaning, Which):
        return _judge_which(rows)
    if isinstance(meaning, Calculate) and not empty and meaning.sign and rows[0][0] * meaning.sign < 0:
        return replace(INVALID, detail="it is the other way round")
    if isinstance(meaning, (Exists, Compare)) and not empty and unexplained:
        # "did she thank him when she won": a yes is not about what was asked, a no refutes what is taken for granted
        return Verdict("unknown", "not_in_schema", f"nothing explains '{unexplained[0]}'") if rows[0][0] else INVALID
    if isinstance(meaning, Exists) and empty:
        return UNKNOWN_VALUE
    if isinstance(meaning, Count) and rows and rows[0][0] == 0:
        return ZERO
    if not empty:
        if len(rows) > FEW_VALUES and isinstance(meaning, Names) and _asks_for_one(meaning, domain):
            return Verdict("unknown", "conflict", f"{len(rows)} values were found where one was asked for")
        return ACCEPT
    return UNKNOWN_VALUE if meaning is None or (rows and isinstance(meaning, Names)) else EMPTY


def premise(meaning: Meaning, result: Result, domain: Domain, holds: Callable[[Set], bool]) -> Verdict:
    """Return what an empty result says: a false premise, if the data speak of the thing and deny what is asserted.

    `holds` tells whether a set has any rows.
    """
    asserted = [s for s in _sets(meaning) if not s.is_entity]
    # a source that knows the thing and tells of no rows says more than one that does not know it
    told = bool(result.filled.entries) and all(e.objects for e in result.filled.entries.values())
    for s in asserted:
        if told and domain.table(s.table).moment and not _holds(_all_rows(s), holds):
            return replace(INVALID, detail="there is none at all")
        if _is_beyond(s, domain, holds) or any(isinstance(c, Same) for c in s.conditions):
            return UNKNOWN_VALUE  # of a day that only the data tell, nothing is known if there is nothing
        if _is_day_off(s, domain, holds):
            return replace(INVALID, detail="there is none that day")
        whole = (
            [Set(s.table)] if any(c.range for c in domain.table(s.table).columns) else []
        )  # a list of which all is known
        wider_sets = itertools.chain(itertools.islice(widened(s), WIDENED), whole)
        if not _holds(s, holds) and any(_holds(wider, holds) for wider in wider_sets):
            return replace(INVALID, detail="what the question takes for granted is not so")
    return UNKNOWN_VALUE


def unfounded(meaning: Meaning, domain: Domain, holds: Callable[[Set], bool]) -> bool:
    """Whether a "no" or a count of none hides a false premise: nothing took place that day, or what is said never
    holds of the thing (a league that a team does not play in)."""
    if not isinstance(meaning, (Exists, Count)):
        return False
    rows = replace(meaning.set, top=None)
    moment = domain.table(rows.table).moment
    whose = _all_rows(rows).conditions
    times = tuple(c for c in rows.conditions if isinstance(c, Where) and c.column == moment)
    if not moment or not whose or not times or len(whose) + len(times) == len(rows.conditions):
        return False
    that_day = isinstance(meaning, Exists) and all(t.op == "=" for t in times)
    if that_day and not _holds(Set(rows.table, (*whose, *times)), holds):
        return not _is_beyond(rows, domain, holds)
    said = [c for c in rows.conditions if isinstance(c, Where) and c.column != moment and c.op in ("=", "in")]
    ever = Where(moment, ">", (LONG_AGO,))
    return any(
        not _holds(Set(rows.table, (*whose[:1], ever, c)), holds) and _holds(Set(rows.table, (*whose, *times)), holds)
        for c in said
    )


def _all_rows(rows: Set) -> Set:
    """All rows that things have, of any time and kind."""
    return replace(rows, conditions=tuple(c for c in rows.conditions if isinstance(c, To)), top=None)


def _is_beyond(rows: Set, domain: Domain, holds: Callable[[Set], bool]) -> bool:
    """Whether a time lies outside of what the data tell of a thing: then nothing follows from finding nothing."""
    moment = domain.table(rows.table).moment
    times = tuple(c for c in rows.conditions if isinstance(c, Where) and c.column == moment)
    if times and domain.is_asked_by_day(domain.table(rows.table)):
        alike = tuple(c for c in rows.conditions if isinstance(c, Where))
        return not _holds(Set(rows.table, alike), holds) and not _holds(Set(rows.table, times), holds)
    whose = _all_rows(rows).conditions
    for time in times:
        if _is_covered(whose, rows.table, time, holds):
            continue
        low = time.values[0] if time.op in ("=", "between", ">=", ">") else None
        high = time.values[-1] if time.op in ("=", "between") else None
        for op, bound in (("<", low), (">", high)):
            around = Set(rows.table, (*whose, Where(moment, op, (bound,))))
            if bound is not None and not _holds(around, holds):
                # unless others have rows then: a team is not in its league for ever
                return not (whose and _holds(Set(rows.table, tuple(times)), holds))
    return False


def _is_day_off(rows: Set, domain: Domain, holds: Callable[[Set], bool]) -> bool:
    """Whether a thing has rows shortly before and after a day, and none of any kind that day."""
    table, whose = domain.table(rows.table), _all_rows(rows).conditions
    days = [c.values[0] for c in rows.conditions if isinstance(c, Where) and c.column == table.moment and c.op == "="]
    if len(days) != 1 or not whose or table.column(table.moment).type != "DATE":
        return False
    day = dt.date.fromisoformat(str(days[0]))
    spans = ((day - BREAK, day), (day, day + BREAK))
    between = (Where(table.moment, "between", (low.isoformat(), high.isoformat())) for low, high in spans)
    return not _holds(Set(rows.table, (*whose[:1], Where(table.moment, "=", (days[0],)))), holds) and all(
        _holds(Set(rows.table, (*whose[:1], span)), holds) for span in between
    )


def _is_covered(whose: tuple[Condition, ...], table: str, time: Where, holds: Callable[[Set], bool]) -> bool:
    """Whether things have rows near both ends of a range of days."""
    if time.op != "between":
        return False
    try:
        first, last = (dt.date.fromisoformat(str(v)) for v in time.values)
    except ValueError:
        return False
    ends = ((first, first + NEAR), (last - NEAR, last))
    return last - first > NEAR and all(
        _holds(Set(table, (*whose, Where(time.column, "between", (a.isoformat(), b.isoformat())))), holds)
        for a, b in ends
    )


def _asks_for_one(meaning: Names, domain: Domain) -> bool:
    """Whether a column has one value for what is asked about: a date, a number, the part somebody plays."""
    table = domain.table(meaning.set.table)
    column = table.by_name.get(meaning.column)
    if column is not None and column.name == table.moment:
        # the days on which a thing has any rows are no answer
        return meaning.set.top is None and all(isinstance(c, To) for c in meaning.set.conditions)
    return column is not None and (column.type != "TEXT" or bool(table.roles))


def _judge_which(rows: list[tuple[Any, ...]]) -> Verdict:
    values = [r[-1] for r in rows]
    if len(rows) < 2 or None in values:
        return Verdict("unknown", "incomplete", "not every one of them has a known value")
    if values[0] == values[1]:
        return Verdict("unknown", "conflict", "they are equal")
    return ACCEPT


def _holds(s: Set, holds: Callable[[Set], bool]) -> bool:
    try:
        return holds(s)
    except QueryError:
        return False


def _sets(meaning: Meaning | Given) -> list[Set]:
    match meaning:
        case (
            Names(set=s)
            | Aggregate(set=s)
            | Count(set=s)
            | Exists(set=s)
            | Listed(set=s)
            | Excerpt(set=s)
            | Scaled(set=s)
            | Leader(set=s)
            | Tally(set=s)
        ):
            return [replace(s, top=None)]
        case Which(values=values):
            return [s for v in values for s in _sets(v)]
        case Compare(first=a, second=b) | Calculate(first=a, second=b):
            return [*_sets(a), *_sets(b)]
        case Given():
            return []


def widened(s: Set) -> Iterator[Set]:
    """`s` with one condition less, here or one step further in.

    If a wider set has rows, the data do speak of the thing, and an empty `s` says that what was asserted is false;
    if nothing wider has rows either, the data are merely silent.
    """
    for i, c in enumerate(s.conditions):
        rest = s.conditions[:i] + s.conditions[i + 1 :]
        if rest and not isinstance(c, Is):
            yield replace(s, conditions=rest)
        inner = c.rows if isinstance(c, Through) else c.set if isinstance(c, To) else None
        if inner is None:
            continue
        for wider in widened(inner):
            again: Condition = Through(wider) if isinstance(c, Through) else To(wider)
            if any(isinstance(x, (To, Is)) for x in wider.conditions) or any(
                isinstance(x, Where) for x in wider.conditions
            ):
                yield replace(s, conditions=(*s.conditions[:i], again, *s.conditions[i + 1 :]))
