"""Words that nobody else explains, read as a text that a column may contain: the part an actor plays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kg.domain import Domain, Table

from .lexicon import Atom, tokens
from .meaning import Through, To, Top, Where
from .question import Part, Question, distance

FREE_TEXT = 0.5  # what it costs to read words so


def free_texts(part: Part, question: Question, domain: Domain) -> Iterator[Part]:
    """Words nobody else explains, read as the text of a column that is matched by its contents (a character)."""
    for i, c in enumerate(part.set.conditions):
        if not isinstance(c, Through) or part.set.top is not None:
            continue
        detail = domain.table(c.rows.table)
        if not detail.roles:
            continue
        anchored = any(isinstance(t, To) for t in c.rows.conditions)
        for column in detail.columns:
            if (
                column.match != "contains"
                or not column.says
                or not anchored
                or any(isinstance(w, Where) and w.column == column.name for w in c.rows.conditions)
            ):
                continue
            for first, last in [*_leftover(part.mask, question), *_behind_verb(part.mask, detail, question)]:
                mask = sum(1 << k for k in range(first, last + 1))
                if mask & part.mask or not _introduced(first, last, detail, question):
                    continue
                text = question.text[question.words[first].start : question.words[last].end]
                rows = c.rows.also(Where(column.name, "=", (text,)))
                conditions = (*part.set.conditions[:i], Through(rows), *part.set.conditions[i + 1 :])
                top = Top(column.name, False, via=detail.name, shortest=True)
                yield Part(
                    replace(part.set, conditions=conditions, top=top),
                    part.mask | mask,
                    part.solid | mask,
                    part.cost + FREE_TEXT,
                )


def _leftover(mask: int, question: Question) -> Iterator[tuple[int, int]]:
    """Runs of up to four words that carry weight and are not explained."""
    run: list[int] = []
    weights = question.weights
    for i in range(len(weights) + 1):
        free = i < len(weights) and not mask >> i & 1 and weights[i] > 0 and not _is_grammar(i, question)
        if free:
            run.append(i)
        elif run:
            if len(run) <= 4:
                yield run[0], run[-1]
            run = []


def _behind_verb(used: int, detail: Table, question: Question) -> Iterator[tuple[int, int]]:
    """A name behind the verb of a part may be the part, not the thing of that name: "who played rocky in rocky"."""
    verbs = _part_verbs(detail, question)
    for n in question.named:
        first, last = (n.mask & -n.mask).bit_length() - 1, n.mask.bit_length() - 1
        if not n.mask & used and any(a.last == first - 1 for a in verbs):
            yield first, last


def _part_verbs(detail: Table, question: Question) -> list[Atom]:
    """The verbs that also ask for a column of the detail table: "play" in "who ... play"."""
    asked = {t.stem for c in detail.columns for ask in c.asks for t in tokens(ask.rpartition("...")[2])}
    return [
        a
        for a in question.of("role", "verb")
        if a.meant.table == detail.name and {t.stem for t in tokens(a.phrase)} <= asked
    ]


def _introduced(first: int, last: int, detail: Table, question: Question) -> bool:
    """Whether words stand where a part is named: "as X", "plays X", "was the X", "the role of X"."""
    before = [w.text for w in question.words[max(0, first - 2) : first]]
    if before[-1:] and before[-1] in ("the", "a", "an"):
        before.pop()
    if before[-1:] and before[-1] in ("as", "was", "is"):
        return True
    span = sum(1 << k for k in range(first, last + 1))
    columns = [a for a in question.of("column") if a.meant.table == detail.name]
    return any(distance(a.mask & (1 << a.last), span) <= 2 for a in columns + _part_verbs(detail, question))


def _is_grammar(i: int, question: Question) -> bool:
    """Whether a word belongs to a role, a table, an operation or a sure name, or is a number: no text."""
    bit = 1 << i
    if question.words[i].text[0].isdigit() or any(
        n.mask & bit and n.cost < 0.3 and n.mask.bit_count() > 1 for n in question.named
    ):
        return True
    return any(a.mask >> i & 1 for kind in ("role", "table", "wh", "op", "column", "ask") for a in question.of(kind))
