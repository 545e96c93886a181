"""Finding the names a question mentions where nobody lists them: by the API's own search.

What the domain's file says of names is known without one. Stretches of the question that are not words of the schema
are searched for, longer ones first, in every entity table that can be searched, until each word that could be part of
a name is explained or the calls allowed are made. What a search brings is stored like any other reply, and a small
`Linker` over it does the rest. A search that the ledger covers is not made again.
"""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from kg.domain import Access, Domain, Table
from kg.graph import Graph
from kg.link import Candidate, Known, Linker, Mention
from kg.link.keys import Keys, Unkeyed
from kg.link.question import BEFORE_TITLE, PAUSE, Question, Span
from kg.link.said import said_names
from kg.link.words import ARTICLES, FREQUENT, FUNCTION, Vocabulary
from kg.plan.steps import CALL
from kg.text import fold

CALLS = 10  # that one question may make to find its names
CODES = 4  # words of a question that are tried as keys
_GAP = 3  # small words inside a name: "lord of the rings"
_SMALL = FUNCTION - {"or"}
_LONGEST = 6  # words of a name made of frequent words only: "get out", "no country for old men"
_LIKELY_NAME = 0.5  # how plausible such a name must be
_MERE = 2  # such names that are searched for, if there is no other
_EXPLAINED = 0.6  # score of a mention whose words need no search of their own
_QUOTED = re.compile(r"[\"\u201c\xab]([^\"\u201d\xbb]+)[\"\u201d\xbb]")
_APART = re.compile(r"[,;:?!()]")


class SearchLinker:
    """Finds names as `Linker` does, by searches of `graph`'s source. `common` are the words of the schema.

    `clock` decides which stored rows are fresh. All searches for one question take at most `seconds`. A search that
    fails raises SourceError: a name that could not be looked for is not one that does not exist.
    """

    def __init__(self, graph: Graph, *, common: Collection[str], clock: Callable[[], dt.datetime], seconds: float):
        self._graph, self._clock, self._seconds = graph, clock, seconds
        self._common, self._vocabulary = common, Vocabulary(common)
        self._searches = tuple(_searches(graph.domain))
        self.searches = bool(self._searches)
        self._keys = Keys(graph, clock)
        self._said = [n for table in graph.domain.entities for n in said_names(table)]
        self._knows_said = Linker(self._said, common=common)

    def find(self, question: str) -> tuple[Mention, ...]:
        """Return all plausible mentions, as `Linker.find` does. Raises SourceError."""
        asked = Question(question, self._vocabulary)
        deadline, left = time.monotonic() + self._seconds, max(1, CALLS // max(1, len(self._searches)))
        known: dict[tuple[str, object, str], Known] = {}
        linker, searched = self._knows_said, set[str]()
        open_words = _unexplained(asked, linker)
        for span in _stretches(asked):
            inside = range(span.first, span.last + 1)
            wanted = {i for i in inside if asked.telling[i]} or (
                set(inside) if len(open_words) == len(asked.words) else set()
            )
            start, end = asked.extent(span)
            text = asked.text[start:end]
            if left and wanted & open_words and fold(text) not in searched:
                left -= 1
                searched.add(fold(text))
                known |= {(k.table, k.key, k.text): k for k in self._found(text, deadline)}
                linker = Linker([*self._said, *known.values()], common=self._common)
                open_words = _unexplained(asked, linker)
        written = [
            code
            for i in sorted(open_words)[:CODES]
            if asked.telling[i]
            for code in self._keys.written(asked.words[i].bare, deadline)
        ]
        mentions = linker.find(question)
        if not written and not any(isinstance(c.key, Unkeyed) for m in mentions for c in m.candidates):
            return mentions
        settled = self._keys.settled(known.values(), mentions, deadline)
        return Linker([*self._said, *settled, *written], common=self._common).find(question)

    def lookup(self, name: str, table: str | None = None) -> tuple[Candidate, ...]:
        """Return what `name` by itself may mean, as `Linker.lookup` does. Raises SourceError."""
        deadline = time.monotonic() + self._seconds
        found = list(self._found(name, deadline))
        mentions = Linker([*self._said, *found]).find(name)
        return Linker([*self._said, *self._keys.settled(found, mentions, deadline)]).lookup(name, table)

    def complete(self, prefix: str, n: int) -> list[str]:
        """Return up to `n` stored names that start with `prefix`. Makes no call: somebody is typing."""
        start = fold(prefix)
        if not start or n <= 0:
            return []
        self._graph.open()
        found: dict[str, None] = {}
        for table, access in self._searches:
            begins = _call("starts_with", _folded(table), exp.Literal.string(start))
            found |= {known.text: None for known in self._stored(table, access, begins, limit=n)}
        found |= {said.text: None for said in self._said if fold(said.text).startswith(start)}
        return list(found)[:n]

    # -- searching ---------------------------------------------------------------------------------------------------

    def _found(self, text: str, deadline: float) -> Iterable[Known]:
        """Search for `text` in every table, and yield the names that come, or share a word with it."""
        if not (words := fold(text).split()):
            return
        weighty = [w for w in words if w not in FUNCTION] or words
        telling = [w for w in weighty if w not in FREQUENT] or weighty
        for table, access in self._searches:
            entries = self._graph.ask(access, [text], deadline=deadline, now=self._clock()).entries
            # Not the reply alone: of a search made long ago the store has the names, but not which they were.
            came = _column(CALL).isin(*map(exp.Literal.number, entries)) if entries else exp.false()
            likely = exp.or_(_shared(table, telling) > 0, came)
            yield from self._stored(table, access, likely, first=_shared(table, weighty), limit=access.fetch.search)

    def _stored(
        self, table: Table, access: Access, where: exp.Expr, *, first: exp.Expr | None = None, limit: int
    ) -> Iterable[Known]:
        """Yield stored names of `table`, those with most of `first` first, then by the table's rank."""
        rank = exp.Ordered(this=_column(table.rank.lstrip("-")), desc=table.rank.startswith("-"), nulls_first=False)
        order = [exp.Ordered(this=first.copy(), desc=True)] if first is not None else []
        query = (
            exp.select(_column(table.label), *map(_column, table.key))
            .from_(exp.table_(access.partition, db=self._graph.domain.name, quoted=True))
            .where(where)
            .order_by(*order, *([rank] if table.rank else []), "rowid")
            .limit(limit)
        )
        rows = self._graph.store.run(query.sql("duckdb")).rows
        keyed = not set(table.key) & set(access.lacks)
        for place, (label, *key) in enumerate(rows):
            weight = float(len(rows) - place)
            if keyed:
                yield Known(label, table.name, key[0] if len(key) == 1 else tuple(key), weight)
            else:
                yield from (replace(k, weight=weight) for k in self._keys.spoken(table, label))


def _searches(domain: Domain) -> Iterator[tuple[Table, Access]]:
    """The entity tables that can be searched by their label, and how."""
    for table in domain.entities:
        for access in domain.accesses[table.name]:
            if access.fetch.search and access.needs == (table.label,):
                yield table, access
                break


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def _folded(table: Table) -> exp.Expr:
    return _call("kg_fold", _column(table.label))


def _shared(table: Table, terms: list[str]) -> exp.Expr:
    """How many of `terms` a name of `table` has."""
    parts = _call("string_split", _folded(table), exp.Literal.string(" "))
    return _call("len", _call("list_intersect", parts, exp.array(*map(exp.Literal.string, terms))))


def _call(name: str, *args: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(args))


# -- which stretches ---------------------------------------------------------------------------------------------------


def _unexplained(asked: Question, linker: Linker) -> set[int]:
    """The words of the question that no likely mention covers."""
    sure = [m for m in linker.find(asked.text) if m.score >= _EXPLAINED]
    return {i for i, w in enumerate(asked.words) if not any(m.start < w.end and w.start < m.end for m in sure)}


def _stretches(asked: Question) -> Iterator[Span]:
    """What may be a name, in the order in which it is worth a search.

    Quotes; then what is around telling or capitalised words, with frequent words beside it ("million dollar baby"),
    without them, and without small words inside ("tom hanks and meg ryan"); then names of frequent words only.
    """
    yield from _quotes(asked)
    strong = [a or b for a, b in zip(asked.telling, _capitals(asked), strict=True)]
    runs = list(_runs(asked, strong, _GAP))
    for spans in ([_widened(asked, r) for r in runs], runs, _runs(asked, strong, 0)):
        yield from sorted(spans, key=lambda s: (s.first - s.last, s.first))
    yield from _mere(asked)


def _quotes(asked: Question) -> Iterator[Span]:
    for quoted in _QUOTED.finditer(asked.text):
        inside = [i for i, w in enumerate(asked.words) if quoted.start(1) <= w.start and w.end <= quoted.end(1)]
        if inside:
            yield Span(inside[0], inside[-1])


def _capitals(asked: Question) -> list[bool]:
    """Which words but the first have a capital; none where capitals say nothing."""
    said = [asked.text[w.start].isupper() for w in asked.words]
    if not any(asked.text[w.start].islower() and w.form not in FUNCTION for w in asked.words[1:]):
        return [False] * len(said)
    return [upper and i > 0 for i, upper in enumerate(said)]


def _runs(asked: Question, strong: list[bool], gap: int) -> Iterator[Span]:
    """The longest runs of `strong` words that no punctuation parts, with up to `gap` small words between two.

    If `gap` is 0, a possessive ends a run.
    """
    first = last = -1
    for i in (i for i, s in enumerate(strong) if s):
        between = asked.words[last + 1 : i]
        joined = len(between) <= gap and all(w.form in _SMALL or w.form.isdecimal() for w in between)
        joined = joined and (gap > 0 or asked.words[last].bare_end == asked.words[last].end)  # "soderbergh's haywire"
        if last >= 0 and joined and not _parted(asked, last, i):
            last = i
            continue
        if last >= 0:
            yield _span(asked, first, last)
        first = last = i
    if last >= 0:
        yield _span(asked, first, last)


def _span(asked: Question, first: int, last: int) -> Span:
    """The span, without a possessive 's at its end."""
    return Span(first, last, asked.words[last].bare_end != asked.words[last].end)


def _widened(asked: Question, run: Span) -> Span:
    """`run` with the frequent words and numbers around it that may belong to it: "life of pi", "toy story 3"."""
    first, last = run.first, run.last
    while first > 0 and not _parted(asked, first - 1, first):
        if _may_belong(asked, first - 1):
            first -= 1
        elif (
            first > 1
            and asked.words[first - 1].form in _SMALL
            and _may_belong(asked, first - 2)
            and not asked.schema[first - 2]
            and not _parted(asked, first - 2, first - 1)
        ):
            first -= 2
        else:
            break
    if first > 0 and asked.words[first - 1].form in ARTICLES:
        first -= 1
    while last + 1 < len(asked.words) and not _parted(asked, last, last + 1) and _may_belong(asked, last + 1):
        if run.bare and asked.schema[last + 1]:
            break  # "a bug's life", but "dicaprio's best"
        last += 1
    return _span(asked, first, last)


def _may_belong(asked: Question, i: int) -> bool:
    form = asked.words[i].form
    return form.isdecimal() or (form in FREQUENT and form not in FUNCTION)


def _parted(asked: Question, one: int, two: int) -> bool:
    return _APART.search(asked.text, asked.words[one].end, asked.words[two].start) is not None


def _mere(asked: Question) -> list[Span]:
    """The likeliest spans without a telling word, which may be names all the same: "get out", "star wars".

    They stand where a title would, up to the end of the sentence: right after "in" or "for", or after a verb.
    """
    found: dict[Span, tuple[float, int]] = {}
    for first in range(len(asked.words)):
        before = asked.words[first - 1].form if first else ""
        verb = before in BEFORE_TITLE or (len(before) > 4 and before.endswith("ed"))
        for last in range(first, min(first + _LONGEST, len(asked.words))):
            if asked.telling[last]:
                break
            span = Span(first, last)
            schema = any(asked.schema[i] and asked.words[i].form not in FUNCTION for i in range(first, last + 1))
            likely = 0.0 if schema and last > first else asked.plausibility(span)
            if verb and PAUSE.match(asked.text, asked.words[last].end) and not asked.words[first].form.isdecimal():
                likely = max(likely, _LIKELY_NAME + 0.1 * (before in BEFORE_TITLE))
            if likely >= _LIKELY_NAME:
                found[span] = (-likely, first - last)
    return sorted(found, key=found.__getitem__)[:_MERE]
