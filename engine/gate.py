"""From evidence to a verdict: accept, "invalid question", or "i don't know" with a reason.

One place decides. A wrong answer costs as much as a right one earns and silence costs nothing, so what is not
sure is not said. *Complete but empty* is evidence of a false premise; *not complete* is evidence of nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kg.domain import Domain
from kg.errors import QueryError
from kg.graph import Result

from .answers import Reason
from .translate.meaning import (
    Aggregate,
    Calculate,
    Compare,
    Condition,
    Count,
    Exists,
    Given,
    Is,
    Meaning,
    Names,
    Set,
    Through,
    To,
    Where,
    Which,
)


# "when was it released" has one answer; a set of so many dates or numbers answers another question.
FEW_VALUES = 3


@dataclass(frozen=True)
class Verdict:
    """accept, zero (a count of none), invalid, empty or unknown; for the last a reason, and a sentence that says it."""

    kind: str
    reason: Reason = ""
    detail: str = ""


ACCEPT, INVALID, EMPTY, ZERO = Verdict("accept"), Verdict("invalid"), Verdict("empty"), Verdict("zero")
UNKNOWN_VALUE = Verdict("unknown", "incomplete", "the data do not have this value")


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
    if isinstance(meaning, Count) and rows and rows[0][0] == 0:
        return ZERO
    if not empty:
        if len(rows) > FEW_VALUES and isinstance(meaning, Names) and _asks_for_one(meaning, domain):
            return Verdict("unknown", "conflict", f"{len(rows)} values were found where one was asked for")
        return ACCEPT
    return UNKNOWN_VALUE if meaning is None or (rows and isinstance(meaning, Names)) else EMPTY


def premise(meaning: Meaning, holds: Callable[[Set], bool]) -> Verdict:
    """Return what an empty result says: a false premise, if the data speak of the thing and deny what is asserted.

    `holds` tells whether a set has any rows.
    """
    asserted = [s for s in _sets(meaning) if not s.is_entity]
    for s in asserted:
        if not _holds(s, holds) and any(_holds(wider, holds) for wider in widened(s)):
            return replace(INVALID, detail="what the question takes for granted is not so")
    return UNKNOWN_VALUE


def _asks_for_one(meaning: Names, domain: Domain) -> bool:
    """Whether a column has one value for what is asked about: a date, a number, the part somebody plays."""
    table = domain.table(meaning.set.table)
    column = table.by_name.get(meaning.column)
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
        case Names(set=s) | Aggregate(set=s) | Count(set=s) | Exists(set=s):
            return [replace(s, top=None)]
        case Which(options=options):
            return list(options)
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
