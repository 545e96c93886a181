"""A question goes down one staircase, and an `Answer` comes back."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import TracebackType
from typing import Any

from kg.domain import Domain, Role, Table, Via
from kg.errors import BudgetExceeded, DomainError, KgError, MissingInput, QueryError, SourceError
from kg.graph import Explained, Graph, Result
from kg.link import Finder, Known, Linker
from kg.link_search import SearchLinker
from kg.load import BUILT_IN, load_domains
from kg.sources import Source, open_source
from kg.store import Store

from . import gate
from .answers import IDK, INVALID, Answer, Evidence, Reason
from .clock import moment_of
from .phrase import phrase
from .settings import Settings
from .translate.base import Translated, Translation, Translator
from .translate.canonical import Canonical, Encoder
from .translate.compose import Counts
from .translate.lexicon import Lexicon
from .translate.meaning import Count, Set, sql

TRIED = 5  # programs that are run before giving up
WORTH = 0.4  # how likely, next to the first, a program must be to be run
CERTAIN = 0.5  # confidence in a program with rows beyond which no other is run
# How often a right program ends so: with rows, with nothing known, with nothing at all.
LIKELIHOOD = {"accept": 1.0, "invalid": 0.5, "unknown": 0.4, "empty": 0.2, "zero": 0.2, "refused": 0.05}
MAX_GUESSED = 1.2  # a false premise must have been said: cost of unsaid pieces beyond which nothing is called invalid
MIN_COVERED_NOTHING = 0.8  # share of the words that a program must explain before its empty result is believed
MANY_ROWS = 20  # more than anybody asks for in a sentence
MAX_QUESTION = 2_000  # characters
_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_UNSEEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass
class _Outcome:
    """What became of one translation."""

    translation: Translation
    verdict: gate.Verdict
    result: Result | None = None
    text: str = ""


@dataclass
class _Trace:
    lines: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    def note(self, line: str) -> None:
        self.lines.append(line)


class Session:
    """Answers questions. Holds what is worth keeping between them: stored tables, indexes of names, the encoder."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        source: Source | None = None,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
        encoder: Encoder | None = None,
    ):
        self.settings = settings or Settings.from_env()
        self._clock = clock
        self._lock = threading.RLock()
        directories = [BUILT_IN] + ([self.settings.schemas] if self.settings.schemas else [])
        self.domains = load_domains(directories)
        self.store = Store(self.settings.store)
        self._source = source
        self._sources: dict[str, Source] = {}
        self._graphs: dict[str, Graph] = {}
        self._linkers: dict[str, Finder] = {}
        self._translators: dict[str, Translator] = {}
        self._encoder = encoder
        self._deadline = float("inf")  # of the question being answered

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and the sources. A session cannot be used afterwards."""
        for source in self._sources.values():
            source.close()
        self.store.close()

    # -- the staircase -----------------------------------------------------------------------------------------

    def answer(
        self, question: str, *, query_time: str | dt.datetime | None = None, pages: Sequence[Any] | None = None
    ) -> Answer:
        """Return the answer to `question`, asked at `query_time` (CRAG's format, ISO, or None for now).

        Never raises for what a question or an API does: then the answer is "i don't know", with a reason.
        """
        started = time.perf_counter()
        trace = _Trace()
        question = _plain(question)
        if not question:
            return self._unknown(question, "low_confidence", "the question is empty", trace, started)
        if len(question) > MAX_QUESTION:
            return self._unknown(
                question, "low_confidence", f"the question is longer than {MAX_QUESTION:,} characters", trace, started
            )
        now = moment_of(query_time) if query_time is not None else self._clock()
        domain = self.route(question)
        with self._lock:
            try:
                return self._from_graph(question, domain, now, trace, started)
            except SourceError as e:
                return self._unknown(question, "call_failed", str(e), trace, started, domain.name)

    def route(self, question: str) -> Domain:
        """Return the domain a question is about."""
        return next(iter(self.domains.values()))

    def _from_graph(self, question: str, domain: Domain, now: dt.datetime, trace: _Trace, started: float) -> Answer:
        deadline = self._deadline = time.monotonic() + self.settings.seconds
        translated = self.translator(domain.name).translate(question, now=now)
        trace.timings.update(translated.seconds)
        outcomes: list[_Outcome] = []
        for t in translated.translations[:TRIED]:
            if outcomes and (t.share < WORTH * outcomes[0].translation.share or _settled(outcomes)):
                break
            outcomes.append(self._try(t, domain, deadline, trace))
        if not outcomes:
            return self._unknown(question, *_nothing_fits(translated), trace, started, domain.name)
        best, confidence = _agreed(outcomes)
        if (
            best.verdict.kind == "empty"
            and confidence >= self.settings.min_invalid
            and best.translation.meaning is not None
        ):
            verdict = gate.premise(best.translation.meaning, lambda s: self._holds(s, domain, deadline))
            best = replace(best, verdict=verdict)
        return self._decide(question, domain, best, confidence, translated, trace, started)

    def _holds(self, rows: Set, domain: Domain, deadline: float) -> bool:
        found = self.graph(domain.name).run(sql(Count(rows), domain), deadline=deadline, now=self._clock())
        return bool(found.rows[0][0])

    def _try(self, t: Translation, domain: Domain, deadline: float, trace: _Trace) -> _Outcome:
        """Run one program and judge what it returns."""
        graph = self.graph(domain.name)
        try:
            result = graph.run(t.program, deadline=deadline, now=self._clock())
        except MissingInput as e:
            return _Outcome(t, gate.Verdict("refused", "missing_input", str(e)))
        except BudgetExceeded as e:
            return _Outcome(t, gate.Verdict("unknown", "incomplete", str(e)))
        except QueryError as e:
            trace.note(f"refused: {e}")
            return _Outcome(t, gate.Verdict("refused", "not_in_schema", str(e)))
        for stage, seconds in result.timings.items():
            trace.timings[stage] = trace.timings.get(stage, 0.0) + seconds
        verdict = gate.judge(t.meaning, result, t.unexplained, domain)
        text = phrase(t.meaning, result.rows, domain) if verdict.kind in ("accept", "zero") else verdict.kind
        trace.note(
            f"{t.utterance}: {text} ({t.confidence:.2f}, {len(result.filled.made)} calls, {result.filled.covered} covered)"
        )
        return _Outcome(t, verdict, result, text)

    def _decide(
        self,
        question: str,
        domain: Domain,
        best: _Outcome,
        confidence: float,
        translated: Translated,
        trace: _Trace,
        started: float,
    ) -> Answer:
        t, verdict = best.translation, best.verdict
        if verdict.reason == "missing_input" and translated.unknown:
            answer = self._unknown(question, *_nothing_fits(translated), trace, started, domain.name)
        elif verdict.kind in ("unknown", "refused"):
            answer = self._unknown(question, verdict.reason, verdict.detail, trace, started, domain.name)
        elif t.covered < self.settings.min_covered or confidence < self.settings.min_confidence:
            reason, detail = (
                _nothing_fits(translated) if t.unexplained else ("low_confidence", "more than one reading fits")
            )
            answer = self._unknown(question, reason, detail, trace, started, domain.name)
        elif verdict.kind in ("invalid", "empty", "zero") and not self._surely_nothing(t, confidence):
            answer = self._unknown(question, "low_confidence", verdict.detail, trace, started, domain.name)
        elif translated.explains and verdict.kind == "accept":
            answer = self._unknown(
                question, "not_in_schema", "the data hold facts, not reasons", trace, started, domain.name
            )
        else:
            answer = Answer(
                question,
                INVALID if verdict.kind == "invalid" else best.text,
                "kg",
                trace=trace.lines,
                domain=domain.name,
            )
        return self._documented(answer, best, confidence, trace, started)

    def _surely_nothing(self, t: Translation, confidence: float) -> bool:
        """Whether "nothing" may be said: the program must account for nearly all words, and add little to them."""
        return confidence >= self.settings.min_invalid and t.guessed <= MAX_GUESSED and t.covered >= MIN_COVERED_NOTHING

    def _documented(self, answer: Answer, best: _Outcome, confidence: float, trace: _Trace, started: float) -> Answer:
        """The answer with its program, rows and requests."""
        if best.result is None:
            return answer
        graph, result = self.graph(answer.domain), best.result
        trace.timings["total"] = time.perf_counter() - started
        values = {k: getattr(answer, k) for k in ("question", "text", "source", "reason", "detail", "domain", "trace")}
        return Answer(
            **values,
            program=graph.spell(result.prepared),
            sql=result.prepared.sql,
            columns=result.columns,
            rows=result.rows,
            confidence=confidence,
            utterance=best.translation.utterance,
            evidence=[[_evidence(e, graph) for e in entries] for entries in graph.requests(result)],
            calls=len(result.filled.made),
            timings=trace.timings,
        )

    def _unknown(
        self, question: str, reason: Reason, detail: str, trace: _Trace, started: float, domain: str = ""
    ) -> Answer:
        timings = {**trace.timings, "total": time.perf_counter() - started}
        return Answer(
            question, IDK, "none", reason=reason, detail=detail, trace=trace.lines, timings=timings, domain=domain
        )

    def answer_many(
        self, questions: Iterable[str], *, query_time: str | dt.datetime | None = None, workers: int = 1
    ) -> Iterator[Answer]:
        """Yield the answers in the questions' order. Workers help where calls go over a network."""
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda q: self.answer(q, query_time=query_time), questions)

    # -- programs --------------------------------------------------------------------------------------------

    def run(self, program: str, domain: str = "", *, max_rows: int = 1000) -> Result:
        """Return the rows of a program somebody wrote. Raises QueryError or SourceError."""
        with self._lock:
            graph = self.graph(domain or next(iter(self.domains)))
            return graph.run(
                program, deadline=time.monotonic() + self.settings.seconds, now=self._clock(), max_rows=max_rows
            )

    def explain(self, program: str, domain: str = "") -> list[Explained]:
        """Return the calls a program would need, without making one."""
        with self._lock:
            return self.graph(domain or next(iter(self.domains))).explain(program, now=self._clock())

    # -- what a session keeps --------------------------------------------------------------------------------

    def graph(self, name: str) -> Graph:
        if name not in self.domains:
            raise DomainError([f"There is no domain '{name}'. There are: {', '.join(self.domains)}."])
        if name not in self._graphs:
            domain = self.domains[name]
            self._graphs[name] = Graph(domain, self._open(domain.source), self.store, max_calls=self.settings.max_calls)
        return self._graphs[name]

    def _open(self, name: str) -> Source:
        if self._source is not None:
            return self._source
        if name not in self._sources:
            listing = self.settings.seconds / 4  # the fingerprint and two tables leave time for a question
            server = self.settings.server or None
            self._sources[name] = open_source(name, base=self.settings.base, server=server, listing_timeout=listing)
        return self._sources[name]

    def linker(self, name: str) -> Finder:
        """What finds the names of a domain: an index of all of them, kept on disk, or the API's own search."""
        if name not in self._linkers:
            graph = self.graph(name)
            domain, source = graph.domain, graph.source
            mark = f"{domain.digest}/{source.fingerprint()}"
            file = f"names-{name}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}"

            def names() -> Iterator[Known]:
                for table in domain.entities:
                    for n in source.names(table.name):
                        yield Known(n.text, table.name, n.key, n.weight)

            common = Lexicon.of(domain).common
            linker = Linker.cached(self.settings.cache / file, mark, names, common=common)
            if not len(linker):  # the source does not list its names: half of the time is for searching them
                seconds = self.settings.seconds / 2
                self._linkers[name] = SearchLinker(graph, common=common, clock=self._clock, seconds=seconds)
            else:
                self._linkers[name] = linker
        return self._linkers[name]

    def _counts(self, name: str) -> Counts:
        """How many rows of a role somebody has, from the helper table that leads to them: one call at most."""

        @lru_cache(maxsize=10_000)
        def count(detail: Table, role: Role, key: Any) -> int:
            via = _via_of(detail, role)
            if via is None or key is None:
                return 0
            try:
                program = f"SELECT count(*) FROM {via.through} WHERE {via.match} = {int(key)}"
                return int(self.graph(name).run(program, deadline=self._deadline, now=self._clock()).rows[0][0])
            except (QueryError, ValueError):
                return 0

        return count

    def translator(self, name: str) -> Translator:
        if name not in self._translators:
            self._translators[name] = Canonical(
                self.domains[name], self.linker(name), self._encoder, self._counts(name)
            )
        return self._translators[name]


def _plain(question: str) -> str:
    """`question` without what nobody means to ask: escape sequences, control characters, marks of direction."""
    whole = question.encode("utf-8", "replace").decode()  # halves of surrogate pairs are no text
    return _UNSEEN.sub("", _STEERING.sub(" ", whole)).strip()


def _via_of(detail: Table, role: Role) -> Via | None:
    """The helper by which the rows of a role are reached from the one who has it."""
    links = {c.name for c in detail.columns if c.links and c.links.table == role.to}
    return next((v for v in detail.via if v.needs in links and set(v.only) <= set(role.where)), None)


def _settled(outcomes: list[_Outcome]) -> bool:
    """Whether what was found is so likely that no other reading could change the answer."""
    first = outcomes[0]
    return len(outcomes) == 1 and first.verdict.kind == "accept" and first.translation.share >= CERTAIN


def _agreed(outcomes: list[_Outcome]) -> tuple[_Outcome, float]:
    """The outcome whose answer is most likely after all were run, and how likely.

    By Bayes: a right program seldom returns nothing, a wrong one often does (execution evidence, arXiv 2508.14056).
    What was not run is given the likelihood of an average reading.
    """
    weight: dict[tuple[str, str], float] = {}
    for o in outcomes:
        answer = (o.verdict.kind, o.text)
        likely = LIKELIHOOD[o.verdict.kind]
        if o.result is not None and len(o.result.rows) > MANY_ROWS:
            likely /= 2
        weight[answer] = weight.get(answer, 0.0) + o.translation.share * likely
    best = max(outcomes, key=lambda o: (weight[o.verdict.kind, o.text], o.translation.share))
    rest = max(0.0, 1.0 - sum(o.translation.share for o in outcomes)) * LIKELIHOOD["unknown"]
    return best, weight[best.verdict.kind, best.text] / (sum(weight.values()) + rest) * best.translation.quality


def _nothing_fits(translated: Translated) -> tuple[Reason, str]:
    if translated.unknown:
        words = ", ".join(f"'{w}'" for w in translated.unknown[:5])
        if not any(t.confidence > 0.1 for t in translated.translations):
            return "entity_not_found", f"nothing is known by these words: {words}"
        return "not_in_schema", f"no column or name explains {words}"
    return "low_confidence", "no reading of the question accounts for enough of it"


def _evidence(entry: Any, graph: Graph) -> Evidence:
    fetch = next(f for f in graph.domain.fetches if f.name == entry.call.fetch)
    return Evidence(f"{fetch.method} {fetch.endpoint}", entry.call.text, entry.fetched.isoformat(timespec="seconds"))


_default: Session | None = None


def answer(question: str, *, query_time: str | dt.datetime | None = None, pages: Sequence[Any] | None = None) -> Answer:
    """Return the answer of a session that is made once and kept: filled tables are worth keeping."""
    global _default
    if _default is None:
        _default = Session()
    return _default.answer(question, query_time=query_time, pages=pages)


def answer_many(questions: Iterable[str], *, query_time: str | dt.datetime | None = None) -> list[Answer]:
    """Return the answers of the default session, in order."""
    return [answer(q, query_time=query_time) for q in questions]


__all__ = ["Answer", "KgError", "Session", "answer", "answer_many"]
