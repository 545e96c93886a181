"""Questions answered over HTTP: as in process where the server lists its names, by its search where it does not,
and with a reason, in time, where it fails."""

from __future__ import annotations

import datetime as dt
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.answers import Answer
from engine.session import Session
from engine.settings import Settings
from kg.crag_api import CragApi
from kg.errors import SourceError
from kg.link import Linker
from kg.link.search import SearchLinker
from kg.sources import SAMPLE, CragSource, HttpSource, Name, Source

uvicorn = pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

from kg.crag_api.server import make_app  # noqa: E402 - needs the two above

NOW = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)


@contextmanager
def running(*, names: bool) -> Iterator[str]:
    """The address of `kgq serve-api` over the sample; without `names` it is like CRAG's own server."""
    app = make_app(SAMPLE)
    if not names:
        app.router.routes[:] = [r for r in app.router.routes if not r.path.startswith("/kgq/")]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    limit = time.monotonic() + 10
    while not server.started and time.monotonic() < limit:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def with_names() -> Iterator[str]:
    with running(names=True) as address:
        yield address


@pytest.fixture(scope="module")
def without_names() -> Iterator[str]:
    with running(names=False) as address:
        yield address


@contextmanager
def session(server: str = "", *, source: Source | None = None, seconds: float = 30.0) -> Iterator[Session]:
    settings = Settings.from_env()
    settings = Settings(server=server, cache=settings.cache, seconds=seconds)
    with Session(settings, source=source, clock=lambda: NOW) as s:
        yield s


def asked(question: str, server: str = "") -> tuple[Answer, set[str]]:
    """The answer of a new session, and the calls in its ledger."""
    with session(server) as s:
        answer = s.answer(question)
        return answer, {str(call) for call in s.store.ledger.calls}


# -- with names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("who directed titanic?", id="a lookup"),
        pytest.param("how much did inception make?", id="a number"),
        pytest.param("which was longer, inception or interstellar?", id="a comparison"),
        pytest.param("how many oscars did the shape of water win?", id="a count"),
        pytest.param("what movies did tom hanks act in in 1994?", id="a join of many calls"),
        pytest.param("which quentin tarantino movie has the highest revenue?", id="a superlative over a bind join"),
        pytest.param("how many movies came out in 1997?", id="a year"),
        pytest.param("who won best actor in 1998?", id="a question without a name"),
        pytest.param("did leonardo dicaprio act in the revenant?", id="yes or no"),
        pytest.param("how old was kate winslet when titanic was released?", id="arithmetic over two tables"),
        pytest.param("what is the budget of flurbglorp?", id="a name nobody knows"),
    ],
)
def test_over_http_as_in_process(with_names: str, question: str) -> None:
    here, calls_here = asked(question)
    there, calls_there = asked(question, with_names)
    assert (there.text, there.reason, there.detail, there.program, there.sql, there.columns, there.confidence) == (
        here.text, here.reason, here.detail, here.program, here.sql, here.columns, here.confidence
    )  # fmt: skip
    assert sorted(map(str, there.rows)) == sorted(map(str, here.rows))
    assert _requests(there) == _requests(here)
    assert calls_there == calls_here


def _requests(answer: Answer) -> set[str]:
    return {str(e) for row in answer.evidence for e in row}


def test_names_over_http_are_those_in_process(with_names: str) -> None:
    here, there = CragSource(), HttpSource(with_names)
    for table in ("movie", "person", "genre"):
        assert list(there.names(table)) == list(here.names(table))
    assert there.fingerprint() == f"http:{with_names}#{here.fingerprint().removeprefix('crag:')}"
    there.close()


def test_the_index_of_names_is_kept(with_names: str) -> None:
    with Watched(with_names) as source:
        for _ in range(2):
            with session(source=source) as s:
                assert isinstance(s.linker("movie"), Linker)
        assert source.tables == ["movie", "person"]


class Watched(HttpSource):
    """Writes down of which tables the names are asked for."""

    def __init__(self, address: str):
        super().__init__(address)
        self.tables: list[str] = []

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self, table: str) -> Iterator[Name]:
        self.tables.append(table)
        return super().names(table)


class Pages(httpx.BaseTransport):
    """A server that lists `names` two at a time, and answers with `faults` (number of the request: reply) instead."""

    def __init__(self, names: list[Any], faults: dict[int, httpx.Response] | None = None):
        self.names, self.faults, self.paths = names, faults or {}, list[str]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.raw_path.decode())
        if len(self.paths) in self.faults:
            return self.faults[len(self.paths)]
        if request.url.path.endswith("/fingerprint"):
            return httpx.Response(200, json={"result": "f1"})
        start = int(request.url.params["start"])
        return httpx.Response(200, json={"result": self.names[start : start + 2]})


FIVE = [[f"Film {i}", i, i / 2] for i in range(5)]


def test_names_come_in_pages() -> None:
    pages = Pages(FIVE)
    source = HttpSource("http://kg.test/api", transport=pages)
    assert list(source.names("a/b")) == [Name(f"Film {i}", i, i / 2) for i in range(5)]
    assert pages.paths == ["/api/kgq/fingerprint", *(f"/api/kgq/names/a%2Fb?start={n}" for n in (0, 2, 4, 5))]


@pytest.mark.parametrize(
    "reply, said",
    [
        pytest.param(httpx.Response(500), "answered 500", id="a page that fails"),
        pytest.param(httpx.Response(404), "answered 404", id="a page that is not there"),
        pytest.param(httpx.Response(200, content=b'{"result": [["Fil'), "not valid JSON", id="half a page"),
        pytest.param(httpx.Response(200, json={"result": 7}), "not a list", id="a page that is none"),
        pytest.param(
            httpx.Response(200, json={"result": [["Film", None, 1]]}), "not written as", id="a name without a key"
        ),
    ],
)
def test_half_the_names_are_not_taken_for_all(reply: httpx.Response, said: str) -> None:
    source = HttpSource("http://kg.test", transport=Pages(FIVE, {3: reply}), retries=0)
    with pytest.raises(SourceError, match=said):
        list(source.names("movie"))


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(httpx.Response(404), id="not found"),
        pytest.param(httpx.Response(405), id="only POST"),
        pytest.param(httpx.Response(500), id="an error"),
        pytest.param(httpx.Response(200, text="<html>Welcome</html>"), id="a web page"),
        pytest.param(httpx.Response(200, json={"result": [1]}), id="a reply of another shape"),
        pytest.param(httpx.Response(301, headers={"location": "/"}), id="a redirection"),
    ],
)
def test_a_server_without_names_is_no_error_and_is_asked_once(reply: httpx.Response) -> None:
    pages = Pages(FIVE, dict.fromkeys(range(1, 100), reply))
    source = HttpSource("http://kg.test", transport=pages, retries=0)
    assert (list(source.names("movie")), list(source.names("person"))) == ([], [])
    assert source.fingerprint() == "http:http://kg.test"
    assert pages.paths == ["/kgq/fingerprint"]


# -- without names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question, text",
    [
        pytest.param("who directed titanic?", "James Cameron", id="a film"),
        pytest.param("what is dicaprio's birthday?", "1974-11-11", id="part of a name, possessive"),
        pytest.param("which was longer, inception or interstellar?", "Interstellar", id="two films"),
        pytest.param("how old was kate winslet when titanic was released?", "22", id="a person and a film"),
        pytest.param("how long is life of pi?", "127 minutes", id="frequent words in a name"),
        pytest.param("who directed the silence of the lambs?", "Jonathan Demme", id="small words in a name"),
        pytest.param("who composed the music for star wars?", "John Williams", id="a name of words of the schema"),
        pytest.param("who directed Get Out?", "Jordan Peele", id="a name of frequent words"),
        pytest.param("who directed up?", "Pete Docter", id="a name of one small word"),
        pytest.param("who won best actor in 1998?", "Jack Nicholson", id="no name at all"),
        pytest.param("what is the budget of flurbglorp?", "i don't know", id="a name nobody knows"),
    ],
)
def test_names_are_searched_for_where_they_are_not_listed(without_names: str, question: str, text: str) -> None:
    with session(without_names) as s:
        assert isinstance(s.linker("movie"), SearchLinker)
        answer = s.answer(question)
        assert (answer.text, answer.reason) == (text, "" if answer.known else "entity_not_found")
        calls = set(s.store.ledger.calls)
        searches = Counter(c.domain for c in calls if "search" in c.fetch)
        assert max(searches.values(), default=0) <= 10
        assert s.answer(question).text == text
        assert set(s.store.ledger.calls) == calls


@pytest.mark.parametrize(
    "question, domain, text",
    [
        pytest.param("what is the ticker symbol of verizon communications?", "finance", "VZ", id="a name that leads to a key"),
        pytest.param("who is the ceo of coca cola?", "finance", "Mr. James Quincey", id="a name in the domain's file"),
        pytest.param("market cap of ficr", "finance", "$13,536,000,000", id="a key as people write it"),
        pytest.param("did the celtics win their last game?", "sports", "yes", id="what no call searches for"),
        pytest.param("how many goals did man united score against everton in march 2024?", "sports", "2", id="two clubs"),
        pytest.param("who sang rolling in the deep?", "music", "Adele", id="a song"),
        pytest.param("what is adele's birthday?", "music", "1988-05-05", id="a singer"),
        pytest.param("when was marie curie born?", "open", "1867-11-07", id="somebody with an article"),
    ],
)  # fmt: skip
def test_every_domain_finds_its_names_by_search(without_names: str, question: str, domain: str, text: str) -> None:
    with session(without_names) as s:
        answer = s.answer(question)
        assert (answer.text, answer.domain) == (text, domain)
        calls = len(s.store.ledger.calls)
        assert calls <= 40  # of four domains that are searched
        assert s.answer(question).text == text
        assert len(s.store.ledger.calls) == calls


# -- faults ------------------------------------------------------------------------------------------------------------

Behaviour = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Does with every request what `behave` of the server says."""

    server: Faulty
    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.asked.append(self.path)
        try:
            self.server.behave(self)
        except OSError:
            return  # the client has gone, as it should

    do_GET = do_POST  # noqa: N815 - the name is the base class's

    def send(self, status: int, body: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing."""


class Faulty(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, behave: Behaviour):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave, self.asked = behave, list[str]()
        self.api = CragApi(SAMPLE)
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def serve() -> Iterator[Callable[[Behaviour], Faulty]]:
    servers: list[Faulty] = []

    def start(behave: Behaviour) -> Faulty:
        servers.append(Faulty(behave))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def fine(handler: Handler) -> None:
    """What CRAG's server does; it lists no names."""
    if handler.path.startswith("/kgq"):
        handler.send(404, b'{"detail": "Not Found"}')
    else:
        result = handler.server.api.call(handler.path, json.loads(handler.body))
        handler.send(200, json.dumps({"result": result}).encode())


def error(handler: Handler) -> None:
    handler.send(500, b'{"detail": "out of order."}')


def page(handler: Handler) -> None:
    handler.send(200, b"<!doctype html><title>Login</title>")


def half(handler: Handler) -> None:
    handler.send(200, b'{"result": [{"id": 597, "tit')


def breaks_off(handler: Handler) -> None:
    handler.send(200, b'{"result": [{"id"', length=5000)


def other_shape(handler: Handler) -> None:
    handler.send(200, b'{"result": {"message": "soon"}}')


def dribble(handler: Handler) -> None:
    """Send a byte now and then, for a minute."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(120):
        handler.wfile.write(b" ")
        time.sleep(0.5)


def calls_only(fault: Behaviour) -> Behaviour:
    """`fault` where a call is made, and none where names are asked for."""
    return lambda handler: fine(handler) if handler.path.startswith("/kgq") else fault(handler)


DIRECTED = "who directed titanic?"


@pytest.mark.parametrize(
    "fault, said",
    [
        pytest.param(error, r"answered 500 \(out of order\)", id="500 for ever"),
        pytest.param(page, r"web page, not JSON", id="HTML"),
        pytest.param(half, r"not valid JSON", id="half a JSON"),
        pytest.param(breaks_off, r"broke off", id="a connection that breaks off"),
        pytest.param(
            calls_only(other_shape), r"^/\w+/get_\w+: a list was expected, an object came", id="JSON of another shape"
        ),
        pytest.param(dribble, r"no complete answer", id="a reply that dribbles"),
        pytest.param(calls_only(dribble), r"no complete answer", id="a reply that dribbles once names are known"),
    ],
)
def test_a_fault_is_a_reason_in_time_and_nothing_is_stored(
    serve: Callable[[Behaviour], Faulty], fault: Behaviour, said: str
) -> None:
    server = serve(fault)
    with session(server.address, seconds=2) as s:
        started = time.monotonic()
        answer = s.answer(DIRECTED)
        seconds = time.monotonic() - started
        assert (answer.text, answer.reason, answer.known) == ("i don't know", "call_failed", False)
        assert re.search(said, answer.detail)
        assert "\n" not in answer.detail
        assert seconds < 4  # the limit is 2, and two retried calls may come before it is looked at
        assert s.store.ledger.calls == {}
        assert _stored(s) == 0

        server.behave = fine
        s.settings = replace(s.settings, seconds=30)
        assert s.answer(DIRECTED).text == "James Cameron"


def _stored(s: Session) -> int:
    s.graph("movie").open()
    return int(s.store.run('SELECT count(*) FROM movie."movie__movie"').rows[0][0])


@pytest.mark.parametrize(
    "status, headers",
    [
        pytest.param(429, {}, id="too many requests"),
        pytest.param(429, {"retry-after": "1"}, id="too many requests, with a time"),
        pytest.param(503, {}, id="starting up"),
    ],
)
def test_what_passes_is_tried_again(serve: Callable[[Behaviour], Faulty], status: int, headers: dict[str, str]) -> None:
    def once(handler: Handler) -> None:
        if handler.server.asked.count(handler.path) > 1 or handler.path.startswith("/kgq"):
            fine(handler)
        else:
            handler.send_response(status)
            for name, value in headers.items():
                handler.send_header(name, value)
            handler.send_header("content-length", "0")
            handler.end_headers()

    with session(serve(once).address) as s:
        assert s.answer(DIRECTED).text == "James Cameron"


def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with session(address, seconds=5) as s:
        answer = s.answer(DIRECTED)
        assert (answer.reason, s.store.ledger.calls) == ("call_failed", {})
        assert f"the server at {address} cannot be reached" in answer.detail


def test_what_came_before_a_fault_is_kept_and_not_asked_again(serve: Callable[[Behaviour], Faulty]) -> None:
    question = "which quentin tarantino movie has the highest revenue?"
    broken = 24  # one of his films

    def one_fails(handler: Handler) -> None:
        by_id = handler.path.endswith("get_movie_info_by_id")
        (error if by_id and json.loads(handler.body)["query"] == broken else fine)(handler)

    server = serve(one_fails)
    with session(server.address) as s:
        assert s.answer(question).reason == "call_failed"
        kept = set(s.store.ledger.calls)
        assert not any(dict(c.args) == {"query": broken} for c in kept)
        server.behave, before = fine, len(server.asked)
        assert s.answer(question).text == "Django Unchained"
        made = set(s.store.ledger.calls) - kept
        assert len(server.asked) - before == len(made)
        assert any(dict(c.args) == {"query": broken} for c in made)


def test_a_warm_store_outlives_its_server(tmp_path: Path) -> None:
    program = "SELECT title FROM movie WHERE id = 597"
    with running(names=True) as address:
        settings = Settings(server=address, store=tmp_path / "kept.duckdb", cache=tmp_path, seconds=5)
        with Session(settings, clock=lambda: NOW) as s:
            assert len(s.run(program).filled.made) == 1
    with Session(settings, clock=lambda: NOW) as s:
        result = s.run(program)
        assert (result.rows, result.filled.made) == ([("Titanic",)], [])
        with pytest.raises(SourceError, match="cannot be reached"):
            s.run("SELECT title FROM movie WHERE id = 598")
