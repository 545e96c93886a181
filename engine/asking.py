"""One question on its way down: its programs are run, their results judged, the likeliest one answered."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from kg import files
from kg.errors import BudgetExceeded, MissingInput, QueryError
from kg.graph import Graph, Result
from kg.ledger import Entry

from . import gate
from .answers import IDK, INVALID, Answer, Evidence, Reason
from .gate import Outcome, Verdict
from .phrase import phrase
from .settings import Settings
from .translate.base import Translated, Translation
from .translate.meaning import Count, Set
from .translate.program import sql


@dataclass
class Asking:
    """A question, when it was asked, and what has happened so far: a line each in `trace`, seconds in `timings`."""

    question: str
    domain: str
    settings: Settings
    now: dt.datetime
    trace: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    @property
    def deadline(self) -> float:
        return self.started + self.settings.seconds

    def answer(self, translated: Translated, graph: Graph, clock: Callable[[], dt.datetime]) -> Answer:
        """Return the answer of the likeliest translation. Raises SourceError when a call fails."""
        self.timings.update(translated.seconds)
        outcomes: list[Outcome] = []
        for t in gate.hopeful(translated, self.settings):
            if gate.worth_trying(t, outcomes):
                outcomes.append(self._try(t, graph, clock))
        if not outcomes:
            verdict = gate.nothing_fits(translated)
            return self.unknown(verdict.reason, verdict.detail)
        best, confidence = gate.agree(outcomes)
        meaning = best.translation.meaning
        is_empty = best.verdict.kind == "empty" and confidence >= self.settings.min_invalid
        if is_empty and meaning is not None and best.result is not None:
            verdict = gate.premise(meaning, best.result, graph.domain, lambda s: self._holds(s, graph, clock))
            best = replace(best, verdict=verdict)
        no = best.verdict.kind == "zero" or (best.verdict.kind == "accept" and best.text == "no")
        if no and meaning is not None and gate.unfounded(meaning, graph.domain, lambda s: self._holds(s, graph, clock)):
            best = replace(best, verdict=gate.INVALID)
        verdict = gate.decide(best, confidence, translated, self.settings)
        return self._documented(self._said(verdict, best), best, confidence, graph)

    def _try(self, t: Translation, graph: Graph, clock: Callable[[], dt.datetime]) -> Outcome:
        """Run one program and judge what it returns."""
        try:
            result = graph.run(t.program, deadline=self.deadline, now=clock())
        except MissingInput as e:
            return Outcome(t, Verdict("refused", "missing_input", str(e)))
        except BudgetExceeded as e:
            return Outcome(t, Verdict("unknown", "incomplete", str(e)))
        except QueryError as e:
            self.trace.append(f"refused: {e}")
            return Outcome(t, Verdict("refused", "not_in_schema", str(e)))
        for stage, seconds in result.timings.items():
            self.timings[stage] = self.timings.get(stage, 0.0) + seconds
        verdict = gate.judge(t.meaning, result, t.unexplained, graph.domain)
        said = verdict.kind in ("accept", "zero")
        text = phrase(t.meaning, result.rows, graph.domain) if said else verdict.kind
        calls = f"{len(result.filled.made)} made, {result.filled.covered} covered"
        self.trace.append(f"{t.utterance}? {text} (confidence {t.confidence:.2f}; calls: {calls})")
        return Outcome(t, verdict, result, text)

    def _holds(self, rows: Set, graph: Graph, clock: Callable[[], dt.datetime]) -> bool:
        found = graph.run(sql(Count(rows), graph.domain), deadline=self.deadline, now=clock())
        return bool(found.rows[0][0])

    # -- answers ---------------------------------------------------------------------------------------------

    def unknown(self, reason: Reason, detail: str) -> Answer:
        """Return "i don't know", and why."""
        self.timings["total"] = time.monotonic() - self.started
        return Answer(
            self.question,
            IDK,
            "none",
            reason=reason,
            detail=detail,
            domain=self.domain,
            trace=self.trace,
            timings=self.timings,
        )

    def _said(self, verdict: Verdict, best: Outcome) -> Answer:
        if verdict.kind in ("accept", "zero", "invalid"):
            text = INVALID if verdict.kind == "invalid" else best.text
            return Answer(self.question, text, "kg", domain=self.domain, trace=self.trace, timings=self.timings)
        return self.unknown(verdict.reason, verdict.detail)

    def _documented(self, answer: Answer, best: Outcome, confidence: float, graph: Graph) -> Answer:
        """`answer` with its program, rows and requests."""
        if best.result is None:
            return answer
        result = best.result
        documented = replace(
            answer,
            program=graph.spell(result.prepared),
            sql=result.prepared.sql,
            columns=result.columns,
            rows=result.rows,
            confidence=confidence,
            utterance=best.translation.utterance,
            evidence=[
                [*(_evidence(e, graph) for e in entries), *_in_files(result, graph)]
                for entries in graph.requests(result)
            ],
            calls=len(result.filled.made),
        )
        self.timings["total"] = time.monotonic() - self.started
        return documented


def _evidence(entry: Entry, graph: Graph) -> Evidence:
    fetch = next(f for f in graph.domain.fetches if f.name == entry.call.fetch)
    return Evidence(f"{fetch.method} {fetch.endpoint}", entry.call.text, entry.fetched.isoformat(timespec="seconds"))


def _in_files(result: Result, graph: Graph) -> list[Evidence]:
    """The tables in files that a result was read from."""
    named = dict.fromkeys(t.name for t in result.prepared.tree.find_all(exp.Table))
    tables = (graph.domain.by_name[name] for name in named if name in graph.domain.by_name)
    found = ((t, files.stated(graph.domain, t)) for t in tables if t.in_place)
    return [Evidence(file, t.origin or t.name, changed.isoformat(timespec="seconds")) for t, (file, changed) in found]
