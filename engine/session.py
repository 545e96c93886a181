"""A question goes down one staircase, and an `Answer` comes back."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from kg.domain import Domain, Files, Role, Table, Via
from kg.errors import QueryError, SourceError, StoreError
from kg.graph import Explained, Graph, Result
from kg.link import Finder, Known, Linker
from kg.link.said import with_said
from kg.link.search import SearchLinker
from kg.load import BUILT_IN, load_domains
from kg.sources import CragSource, FileSource, Source, open_source
from kg.store import Store

from .answers import Answer
from .asking import Asking
from .belongs import domain_named, domain_of
from .clock import moment_of
from .route import Router
from .settings import Settings
from .translate import encoder
from .translate.base import Translated, Translator
from .translate.canonical import Canonical
from .translate.growth import Counts
from .translate.lexicon import Lexicon
from .translate.lookup import MAX_FACTS, Lookup
from .translate.properties import Facts

MAX_QUESTION = 2_000  # characters
NETWORK_CALLS = 4_000  # that a question may make over a network: more would take all its time
_STEERING = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]")
_UNSEEN = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


class Session:
    """Answers questions. Holds what is worth keeping between them: stored tables, indexes of names, the encoder."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        source: Source | None = None,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
        tell: Callable[[str], None] = lambda text: None,
    ):
        """`tell` is called with what takes long, and with nothing when that is done."""
        self.settings = settings or Settings.from_env()
        self.clock, self._tell = clock, tell
        self.domains = load_domains([BUILT_IN] + ([self.settings.schemas] if self.settings.schemas else []))
        self.store = Store(self.settings.store, self.domains.values())
        self._source = source
        self._making = threading.RLock()  # held while something that is kept is made
        self._sources: dict[str, Source] = {}
        self._graphs: dict[str, Graph] = {}
        self._linkers: dict[str, Finder] = {}
        self._translators: dict[str, Translator] = {}
        self._lexicons: dict[str, Lexicon] = {}
        self._marks: dict[str, str] = {}  # fingerprints of files, when their names were read
        self._encoders: list[encoder.SentenceEncoder] = []
        self._asked = threading.local()  # .deadline: of the question that this thread answers

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
        for sentences in self._encoders:
            sentences.close()
        self.store.close()

    # -- questions -------------------------------------------------------------------------------------------

    def answer(
        self,
        question: str,
        *,
        query_time: str | dt.datetime | None = None,
        pages: Sequence[Any] | None = None,
        domain: str = "",
    ) -> Answer:
        """Return the answer to `question`, asked at `query_time` (CRAG's format, ISO, or None for now).

        `domain` names the domain if it is known; `pages` are not read yet. Never raises for what a question, an API
        or the disk does: then the answer is "i don't know", with a reason. Raises ClockError for a query time that is
        none, and DomainError for a domain there is not.
        """
        question = _plain(question)
        now = moment_of(query_time) if query_time is not None else self.clock()
        names = [domain_named(domain, self.domains).name] if domain else list(self.domains)
        if 0 < len(question) <= MAX_QUESTION:
            self._index_files(names)
        asking = Asking(question, domain, self.settings, now)
        if not question:
            return asking.unknown("low_confidence", "the question is empty")
        if len(question) > MAX_QUESTION:
            return asking.unknown("low_confidence", f"the question is longer than {MAX_QUESTION:,} characters")
        self._asked.deadline = asking.deadline
        try:
            answers = (self._answer(asking, name, read) for name, read in self.route(question, now, domain))
            first = next(answers)
            # what the likeliest domain does not know another may
            return first if first.known else next((a for a in answers if a.known), first)
        except (SourceError, StoreError) as e:
            return asking.unknown("call_failed", str(e))

    def _answer(self, asking: Asking, domain: str, translated: Translated) -> Answer:
        """The answer that a domain gives, after a closer look if that could help."""
        asking.domain, graph = domain, self.graph(domain)
        answer = asking.answer(translated, graph, self.clock)
        if translated.doubtful and answer.reason == "low_confidence":
            closer = self.translator(domain).translate(asking.question, now=asking.now, closely=True)
            answer = asking.answer(closer, graph, self.clock)
        return answer

    def route(self, question: str, now: dt.datetime, domain: str = "") -> list[tuple[str, Translated]]:
        """Return the domains that account for a question, the best first, with its translations.

        Raises SourceError.
        """
        if domain:
            return [(domain, self.translator(domain).translate(question, now=now))]
        router = Router(self.domains, self.translator, lambda name: self.graph(name).source)
        return router.route(question, now, self.settings.min_confidence)

    def answer_many(
        self, questions: Iterable[str], *, query_time: str | dt.datetime | None = None, workers: int = 1
    ) -> Iterator[Answer]:
        """Yield the answers in the questions' order. Workers help where calls go over a network."""
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(lambda q: self.answer(q, query_time=query_time), questions)

    # -- programs --------------------------------------------------------------------------------------------

    def run(self, program: str, domain: str = "", *, max_rows: int = 1000) -> Result:
        """Return the rows of a program somebody wrote. Raises QueryError or SourceError."""
        graph = self.graph(domain or self.domain_of(program))
        deadline = time.monotonic() + self.settings.seconds
        return graph.run(program, deadline=deadline, now=self.clock(), max_rows=max_rows)

    def explain(self, program: str, domain: str = "") -> list[Explained]:
        """Return the calls a program would need, without making one."""
        return self.graph(domain or self.domain_of(program)).explain(program, now=self.clock())

    def domain_of(self, program: str) -> str:
        """The domain whose tables a program names, in either spelling. Raises QueryError if that is not one."""
        return domain_of(program, self.domains)

    # -- what a session keeps --------------------------------------------------------------------------------

    def graph(self, name: str) -> Graph:
        """The knowledge graph of a domain. Raises DomainError if there is no such domain."""
        domain = domain_named(name, self.domains)
        with self._making:
            if name not in self._graphs:
                source, most = self._open(domain), self.settings.max_calls
                most = min(most, NETWORK_CALLS) if source.parallel > 1 else most
                self._graphs[name] = Graph(domain, source, self.store, max_calls=most)
            return self._graphs[name]

    def _open(self, domain: Domain) -> Source:
        if self._source is not None and not isinstance(domain.source, Files):
            return self._source
        name = domain.source if isinstance(domain.source, str) else f"that of {domain.name}"
        if name not in self._sources:
            self._sources[name] = open_source(
                domain,
                base=self.settings.base,
                server=self.settings.server or None,
                listing_timeout=self.settings.seconds / 4,  # the fingerprint and two tables leave time for a question
                env=os.environ,
            )
        return self._sources[name]

    def linker(self, name: str) -> Finder:
        """What finds the names of a domain: an index of all of them, kept on disk, or the API's own search."""
        with self._making:
            self._forget_changed(name)
            if name not in self._linkers:
                self._linkers[name] = self._link(self.graph(name))
            return self._linkers[name]

    def _forget_changed(self, name: str) -> None:
        """Drop what was made of the names in files that have changed since."""
        graph = self.graph(name)
        if isinstance(graph.domain.source, Files):
            mark = graph.source.fingerprint()
            if self._marks.setdefault(name, mark) != mark:
                self._marks[name] = mark
                self._linkers.pop(name, None)
                self._translators.pop(name, None)

    def _index_files(self, names: Iterable[str]) -> None:
        """Index the names that are in files: that is done once, and takes none of a question's time."""
        for name in names:
            with suppress(SourceError):  # said when the question is routed
                if isinstance(self.graph(name).source, CragSource | FileSource):
                    self.linker(name)

    def _link(self, graph: Graph) -> Finder:
        domain, source = graph.domain, graph.source
        mark = f"{domain.digest}/{source.fingerprint()}"
        common = self._lexicon(domain.name).common

        def names() -> Iterator[Known]:
            self._tell(f"Indexing the names of {domain.name}; the next start finds them on disk.")
            for table in domain.entities:
                listed = (Known(n.text, table.name, n.key, n.weight) for n in source.names(table.name))
                yield from with_said(table, listed)

        try:
            linker = Linker.cached(self._cache("names", domain, mark), mark, names, common=common)
        finally:
            self._tell("")
        if len(linker):
            return linker
        # the source does not list its names: half of the time is for searching them
        spoken = self._lexicon(domain.name).spoken
        return SearchLinker(graph, common=spoken, clock=self.clock, seconds=self.settings.seconds / 2)

    def _cache(self, what: str, domain: Domain, mark: str) -> Path:
        return self.settings.cache / f"{what}-{domain.name}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}"

    def _lexicon(self, name: str) -> Lexicon:
        if name not in self._lexicons:
            self._lexicons[name] = Lexicon.of(self.domains[name])
        return self._lexicons[name]

    def translator(self, name: str) -> Translator:
        """What turns questions into programs of a domain."""
        with self._making:
            self._forget_changed(name)
            if name not in self._translators:
                linker, counts = self.linker(name), self._counts(name)
                self._translators[name] = Canonical(
                    self._lexicon(name), linker, self._encoder(name), counts, self._facts(name)
                )
            return self._translators[name]

    def _encoder(self, name: str) -> encoder.SentenceEncoder | None:
        """The sentence encoder, if it is wanted and installed. It loads itself when it is first needed."""
        if not self.settings.encoder or not encoder.installed():
            return None
        domain = self.domains[name]
        path = self._cache("utterances", domain, domain.digest).with_suffix(".npz")
        self._encoders.append(encoder.SentenceEncoder(path))
        return self._encoders[-1]

    def _counts(self, name: str) -> Counts:
        """How many rows of a role somebody has, from the helper table that leads to them: one call at most."""

        @lru_cache(maxsize=10_000)
        def count(detail: Table, role: Role, key: Any) -> int:
            via = _via_of(detail, role)
            if via is None or key is None:
                return 0
            deadline = getattr(self._asked, "deadline", time.monotonic() + self.settings.seconds)
            try:
                program = f"SELECT count(*) FROM {via.through} WHERE {via.match} = {int(key)}"
                return int(self.graph(name).run(program, deadline=deadline, now=self.clock()).rows[0][0])
            except (QueryError, ValueError):
                return 0

        return count

    def _facts(self, name: str) -> Facts:
        """What the fields of things hold: one call a thing."""

        def ask(program: str) -> list[tuple[Any, ...]]:
            deadline = getattr(self._asked, "deadline", time.monotonic() + self.settings.seconds)
            return self.graph(name).run(program, deadline=deadline, now=self.clock(), max_rows=MAX_FACTS).rows

        return Lookup(self.domains[name], ask)


def _plain(question: str) -> str:
    """`question` without what nobody means to ask: escape sequences, control characters, marks of direction."""
    whole = question.encode("utf-8", "replace").decode()  # halves of surrogate pairs are no text
    return _UNSEEN.sub("", _STEERING.sub(" ", whole)).strip()


def _via_of(detail: Table, role: Role) -> Via | None:
    """The helper by which the rows of a role are reached from the one who has it."""
    links = {c.name for c in detail.columns if c.links and c.links.table == role.to}
    return next((v for v in detail.via if v.needs in links and set(v.only) <= set(role.where)), None)


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
