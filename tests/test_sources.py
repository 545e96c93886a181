"""Sources: what a caller gets from each, and what becomes of everything a server can do wrong."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from kg.errors import BadReply, DeadlineExceeded, SourceError
from kg.sources import (
    SAMPLE,
    CragSource,
    HttpSource,
    Name,
    RecordingSource,
    ReplaySource,
    open_source,
)

MOVIE = "/movie/get_movie_info_by_id"


# -- HTTP with scripted replies -----------------------------------------------------------------------------------


class Script(httpx.BaseTransport):
    """Answers with the next of `replies` (the last one for ever); `asked` holds the requests that came."""

    def __init__(self, *replies: httpx.Response | Exception):
        self.replies, self.asked = list(replies), list[httpx.Request]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)


def source_of(script: httpx.BaseTransport, **settings: Any) -> HttpSource:
    return HttpSource("http://kg.test:8000/api/", transport=script, **({"backoff": 0.001} | settings))


OK = httpx.Response(200, json={"result": [1]})


def test_a_call_is_a_post_of_json() -> None:
    script = Script(OK)
    assert source_of(script).call(MOVIE, {"query": "Amélie"}, timeout=1) == [1]
    (request,) = script.asked
    assert (request.method, str(request.url)) == ("POST", "http://kg.test:8000/api/movie/get_movie_info_by_id")
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.content) == {"query": "Amélie"}


@pytest.mark.parametrize(
    "body, wanted",
    [
        pytest.param(b'{"result": null}', None, id="null is an answer"),
        pytest.param(b'{"result": [], "more": 1}', [], id="an empty list is an answer"),
        pytest.param(b'{"result": {"rating": NaN, "x": [-Infinity]}}', {"rating": None, "x": [None]}, id="NaN is None"),
    ],
)
def test_replies(body: bytes, wanted: Any) -> None:
    assert source_of(Script(httpx.Response(200, content=body))).call(MOVIE, {}, timeout=1) == wanted


@pytest.mark.parametrize(
    "first, error",
    [
        pytest.param([httpx.Response(429)], None, id="too many requests"),
        pytest.param([httpx.Response(503)] * 3, None, id="three times unavailable"),
        pytest.param([httpx.Response(503)] * 4, 503, id="four times unavailable"),
        pytest.param([httpx.ConnectError("refused")], None, id="not up yet"),
        pytest.param([httpx.ReadError("reset")], None, id="a connection that was lost"),
        pytest.param([httpx.RemoteProtocolError("closed")], None, id="a connection closed in the middle"),
        pytest.param([httpx.ReadTimeout("slow")], None, id="an attempt that took too long"),
        pytest.param([httpx.Response(400)], 400, id="a bad request stays bad"),
        pytest.param([httpx.Response(404)], 404, id="an unknown endpoint stays unknown"),
        pytest.param([httpx.Response(307, headers={"location": "http://x.test"})], 307, id="redirects are not followed"),
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(first: list[httpx.Response | Exception], error: int | None) -> None:
    script = Script(*first, OK)
    source = source_of(script)
    if error is None:
        assert source.call(MOVIE, {}, timeout=5) == [1]
        assert len(script.asked) == len(first) + 1
    else:
        with pytest.raises(SourceError) as caught:
            source.call(MOVIE, {}, timeout=5)
        assert (caught.value.status, caught.value.endpoint) == (error, MOVIE)
        assert len(script.asked) == len(first)


@pytest.mark.parametrize(
    "reply, kind, status, retry, sentence",
    [
        pytest.param(httpx.Response(500), SourceError, 500, True,
                     "the server at http://kg.test:8000/api answered 500 (Internal Server Error).", id="500 for ever"),
        pytest.param(httpx.Response(500, json={"detail": "The year is wrong."}), SourceError, 500, True,
                     "answered 500 (The year is wrong).", id="an explanation is passed on"),
        pytest.param(httpx.Response(422, json={"detail": [{"msg": "should be a string"}]}), SourceError, 422, False,
                     "answered 422 (should be a string).", id="the first of several explanations"),
        pytest.param(httpx.Response(502, text="<html>" + "x" * 9999), SourceError, 502, True,
                     "answered 502 (Bad Gateway).", id="a web page explains nothing"),
        pytest.param(httpx.Response(302, headers={"location": "/x"}), SourceError, 302, False,
                     "answered 302 and points elsewhere; is this its address?", id="a redirect"),
        pytest.param(httpx.ConnectError("Connection refused"), SourceError, None, True,
                     "the server at http://kg.test:8000/api cannot be reached (Connection refused).", id="not there"),
        pytest.param(httpx.ReadError("reset"), SourceError, None, True,
                     "the connection to http://kg.test:8000/api broke off (reset).", id="always reset"),
        pytest.param(httpx.ReadTimeout("slow"), SourceError, None, True,
                     "gave no complete answer within", id="every attempt too slow"),
        pytest.param(httpx.Response(200, text="<!DOCTYPE html><p>Log in"), BadReply, 200, False,
                     "the reply is a web page, not JSON (at $)", id="a web page"),
        pytest.param(httpx.Response(200, content=b'{"result": [{"id": 5'), BadReply, 200, False,
                     "the reply is not valid JSON (", id="half a JSON"),
        pytest.param(httpx.Response(200, content=b""), BadReply, 200, False,
                     "the reply is not valid JSON (", id="nothing at all"),
        pytest.param(httpx.Response(200, content=b'{"result": "\xff"}'), BadReply, 200, False,
                     "the reply is not valid JSON (", id="not UTF-8"),
        pytest.param(httpx.Response(200, content=b'{"result": ' + b"[" * 3900), BadReply, 200, False,
                     "the reply is not valid JSON (", id="nested without end"),
        pytest.param(httpx.Response(200, json={"results": []}), BadReply, 200, False,
                     'the reply has no "result" (at $.result)', id="no result"),
        pytest.param(httpx.Response(200, json=[1]), BadReply, 200, False,
                     'the reply has no "result" (at $.result)', id="a list instead of an object"),
        pytest.param(httpx.Response(200, json={"result": "x" * 5000}), BadReply, 200, False,
                     "the reply is larger than 4,000 bytes (at $)", id="too large"),
        pytest.param(httpx.Response(200, headers={"content-encoding": "gzip"},
                                    stream=httpx.ByteStream(gzip.compress(b'{"result": "' + b"x" * 10**6 + b'"}'))),
                     BadReply, 200, False, "the reply is larger than 4,000 bytes (at $)", id="too large when unpacked"),
    ],
)  # fmt: skip
def test_faults_become_one_sentence(
    reply: httpx.Response | Exception, kind: type[SourceError], status: int | None, retry: bool, sentence: str
) -> None:
    transport = httpx.MockTransport(lambda _: reply) if isinstance(reply, httpx.Response) else Script(reply)
    source = source_of(transport, max_reply_bytes=4000, retries=1 if isinstance(reply, Exception) else 0)
    with pytest.raises(SourceError) as caught:
        source.call(MOVIE, {}, timeout=5)
    assert type(caught.value) is kind
    assert (caught.value.status, caught.value.retry) == (status, retry)
    assert str(caught.value).startswith(f"{MOVIE}: ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_broken_compression_is_a_bad_reply() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"not gzip at all"))

    with pytest.raises(BadReply, match="cannot be decompressed"):
        source_of(httpx.MockTransport(answer)).call(MOVIE, {}, timeout=1)


@pytest.mark.parametrize(
    "retry_after",
    [
        pytest.param(lambda: "1", id="seconds"),
        pytest.param(lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True), id="a date"),
    ],
)
def test_retry_after_is_kept(retry_after: Callable[[], str]) -> None:
    script = Script(httpx.Response(429, headers={"retry-after": retry_after()}), OK)
    begun = time.monotonic()
    assert source_of(script).call(MOVIE, {}, timeout=5) == [1]
    assert 0.3 < time.monotonic() - begun < 3


@pytest.mark.parametrize(
    "retry_after",
    [
        pytest.param("120", id="two minutes"),
        pytest.param("999999999999999999999", id="for ever"),
        pytest.param("Fri, 31 Dec 2199 23:59:59 GMT", id="until the year 2199"),
    ],
)
def test_a_pause_that_would_end_too_late_is_not_begun(retry_after: str) -> None:
    script = Script(httpx.Response(429, headers={"retry-after": retry_after}))
    begun = time.monotonic()
    with pytest.raises(SourceError, match="answered 429") as caught:
        source_of(script).call(MOVIE, {}, timeout=3)
    assert caught.value.retry
    assert time.monotonic() - begun < 1
    assert len(script.asked) == 1


@pytest.mark.parametrize("retry_after", ["soon", "", "-5", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_an_odd_or_past_retry_after_is_no_pause(retry_after: str) -> None:
    script = Script(httpx.Response(503, headers={"retry-after": retry_after}), OK)
    assert source_of(script).call(MOVIE, {}, timeout=1) == [1]


def test_pauses_grow() -> None:
    class Clocked(Script):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            times.append(time.monotonic())
            return super().handle_request(request)

    times: list[float] = []
    with pytest.raises(SourceError, match="answered 500"):
        source_of(Clocked(httpx.Response(500)), backoff=0.06).call(MOVIE, {}, timeout=5)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert len(pauses) == 3
    assert all(pause >= least for pause, least in zip(pauses, (0.03, 0.06, 0.12), strict=True))


@pytest.mark.parametrize("timeout", [0, -1])
def test_no_time_left_means_no_request(timeout: float) -> None:
    script = Script(OK)
    for source in (source_of(script), CragSource()):
        with pytest.raises(DeadlineExceeded) as caught:
            source.call(MOVIE, {"query": 1}, timeout=timeout)
        assert caught.value.retry
    assert script.asked == []


def test_arguments_that_are_not_json_are_refused() -> None:
    with pytest.raises(SourceError, match="the arguments cannot be written as JSON"):
        source_of(Script(OK)).call(MOVIE, {"query": datetime(1999, 3, 31, tzinfo=UTC)}, timeout=1)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1:8000", id="no scheme"),
        pytest.param("ftp://kg.test", id="another protocol"),
        pytest.param("http://", id="no host"),
        pytest.param("http://kg.test:eight", id="no port number"),
        pytest.param("", id="empty"),
    ],
)
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(SourceError, match="this is not the address of a server"):
        HttpSource(address)


def test_a_password_in_the_address_is_sent_but_not_shown() -> None:
    script = Script(httpx.Response(404))
    source = HttpSource("http://me:secret@kg.test", transport=script)
    with pytest.raises(SourceError, match=r"the server at http://kg\.test answered 404"):
        source.call(MOVIE, {}, timeout=1)
    assert script.asked[0].headers["authorization"].startswith("Basic ")
    assert source.fingerprint() == "http:http://kg.test"


# -- HTTP against real sockets ------------------------------------------------------------------------------------

Behaviour = Callable[[socket.socket], None]


class Loopback:
    """A server that treats every connection as `behave` says; `opened` counts them."""

    def __init__(self, behave: Behaviour):
        self.opened = 0
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.opened += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._behave(connection)
            except OSError:
                return  # the client has gone, as it should

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Behaviour], Loopback]]:
    servers: list[Loopback] = []

    def start(behave: Behaviour) -> Loopback:
        servers.append(Loopback(behave))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def receive(connection: socket.socket) -> bool:
    """Read one request, whose body is the only thing in it with a brace; False when the client has gone."""
    data = b""
    while b"}" not in data:
        more = connection.recv(65536)
        if not more:
            return False
        data += more
    return True


def dribble(data: bytes) -> Behaviour:
    """Read the request, then send `data` a byte at a time, which takes a minute."""

    def behave(connection: socket.socket) -> None:
        receive(connection)
        for i in range(len(data)):
            connection.sendall(data[i : i + 1])
            time.sleep(60 / len(data))

    return behave


def silent(connection: socket.socket) -> None:
    receive(connection)
    time.sleep(60)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(silent, id="a server that never answers"),
        pytest.param(dribble(HEAD + b"X-Padding: " + b"x" * 1000), id="headers that dribble"),
        pytest.param(dribble(HEAD + b"Content-Length: 900\r\n\r\n" + b" " * 900), id="a body that dribbles"),
        pytest.param(dribble(HEAD + b"\r\n" + b" " * 900), id="a body without end"),
    ],
)
def test_a_slow_server_is_given_up_in_time(serve: Callable[[Behaviour], Loopback], behave: Behaviour) -> None:
    source = HttpSource(serve(behave).address)
    begun = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"no complete answer came within 0\.5 s\.") as caught:
        source.call(MOVIE, {"query": 597}, timeout=0.5)
    assert 0.45 < time.monotonic() - begun < 1.5
    assert caught.value.retry
    source.close()


def test_a_slow_attempt_leaves_time_for_another(serve: Callable[[Behaviour], Loopback]) -> None:
    def slow_once(connection: socket.socket) -> None:
        receive(connection)
        if server.opened == 1:
            time.sleep(60)
        connection.sendall(HEAD + b'Content-Length: 13\r\n\r\n{"result": 5}')

    server = serve(slow_once)
    source = HttpSource(server.address, attempt_timeout=0.3, backoff=0.01)
    assert source.call(MOVIE, {"query": 597}, timeout=5) == 5
    assert server.opened == 2
    source.close()


@pytest.mark.parametrize(
    "sent, sentence",
    [
        pytest.param(b"", "broke off", id="closed without a word"),
        pytest.param(HEAD + b'Content-Length: 99\r\n\r\n{"result": [', "broke off", id="closed in the middle"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", "broke off", id="not HTTP"),
    ],
)
def test_a_connection_that_breaks_off(serve: Callable[[Behaviour], Loopback], sent: bytes, sentence: str) -> None:
    def behave(connection: socket.socket) -> None:
        receive(connection)
        connection.sendall(sent)

    server = serve(behave)
    source = HttpSource(server.address, retries=2, backoff=0.01)
    with pytest.raises(SourceError, match=sentence) as caught:
        source.call(MOVIE, {"query": 597}, timeout=5)
    assert (caught.value.status, caught.value.retry) == (None, True)
    assert server.opened == 3
    source.close()


def test_an_endless_reply_is_cut_off(serve: Callable[[Behaviour], Loopback]) -> None:
    sent = 0

    def behave(connection: socket.socket) -> None:
        nonlocal sent
        receive(connection)
        connection.sendall(HEAD + b'\r\n{"result": "')
        while True:
            connection.sendall(b"x" * 65536)
            sent += 65536

    source = HttpSource(serve(behave).address, max_reply_bytes=100_000)
    with pytest.raises(BadReply, match="larger than 100,000 bytes"):
        source.call(MOVIE, {"query": 597}, timeout=20)
    assert sent < 2**26
    source.close()


def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    source = HttpSource(f"http://127.0.0.1:{port}", backoff=0.01)
    with pytest.raises(SourceError, match=rf"the server at http://127\.0\.0\.1:{port} cannot be reached") as caught:
        source.call(MOVIE, {"query": 597}, timeout=5)
    assert (caught.value.status, caught.value.retry) == (None, True)
    source.close()


def test_connections_are_kept_and_shared_by_threads(serve: Callable[[Behaviour], Loopback]) -> None:
    def behave(connection: socket.socket) -> None:
        while receive(connection):
            connection.sendall(HEAD + b'Content-Length: 13\r\n\r\n{"result": 7}')

    server = serve(behave)
    source = HttpSource(server.address, retries=0)
    assert [source.call(MOVIE, {}, timeout=5) for _ in range(5)] == [7] * 5
    assert server.opened == 1

    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append([source.call(MOVIE, {}, timeout=5) for _ in range(10)]))
        for _ in range(source.parallel)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [[7] * 10] * source.parallel
    assert server.opened <= source.parallel
    source.close()


# -- in process, recorded, and by name ----------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "movie").mkdir()
    movies = {"titanic": {"id": 597, "title": "Titanic", "rating": float("nan")}, "alien": {"id": 348}}
    (tmp_path / "movie" / "movie_db.json").write_text(json.dumps(movies), encoding="utf-8")
    return tmp_path


def test_in_process(base: Path) -> None:
    source = CragSource(base)
    assert source.call(MOVIE, {"query": 597}, timeout=1) == {"id": 597, "title": "Titanic", "rating": None}
    assert list(source.names("movie")) == [Name("Titanic", 597, 0.0)]
    assert list(source.names("genre")) == []
    with pytest.raises(SourceError, match=r"person_db\.json cannot be read"):
        list(source.names("person"))
    with pytest.raises(SourceError, match=r"/movie/get_person_info: The data file .*person_db\.json cannot be read"):
        source.call("/movie/get_person_info", {"query": "x"}, timeout=1)


def test_a_recording_replays_replies_and_errors(base: Path, tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    recorder = RecordingSource(CragSource(base), file)
    bad = source_of(Script(httpx.Response(200, json=[])))
    late = ReplaySource({("/slow", "{}"): DeadlineExceeded("too late.", endpoint="/slow", retry=True)})
    asked: list[tuple[Any, str, dict[str, Any]]] = [
        (recorder, MOVIE, {"query": 597}),
        (recorder, MOVIE, {"query": 1}),
        (recorder, "/movie/get_year_info", {"query": "1066"}),
        (RecordingSource(bad, file), "/bad", {"a": 1, "b": [None]}),
        (RecordingSource(late, file), "/slow", {}),
    ]

    def outcome(source: Any, endpoint: str, args: dict[str, Any]) -> Any:
        try:
            return source.call(endpoint, args, timeout=1)
        except SourceError as e:
            return type(e), str(e), e.status, e.retry, e.endpoint, getattr(e, "path", None)

    first = [outcome(*call) for call in asked]
    replay = ReplaySource.load(file)
    assert [outcome(replay, endpoint, args) for _, endpoint, args in asked] == first
    assert replay.calls == [(endpoint, args) for _, endpoint, args in asked]
    assert recorder.calls == replay.calls[:3]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 5


def test_a_replay_knows_only_what_it_was_given() -> None:
    named = {"movie": [Name("Alien", 348, 2.0)]}
    source = ReplaySource({(MOVIE, '{"b":2,  "a":1}'): "spacing and order do not matter"}, named=named)
    assert source.call(MOVIE, {"a": 1, "b": 2}, timeout=1) == "spacing and order do not matter"
    with pytest.raises(SourceError, match=r'no reply is recorded for \{"a": 2\}') as caught:
        source.call(MOVIE, {"a": 2}, timeout=1)
    assert caught.value.status == 404
    assert list(source.names("movie")) == named["movie"]
    assert list(source.names("person")) == []
    assert source.fingerprint() != ReplaySource({}).fingerprint()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"endpoint": "/x"', id="half a line"),
        pytest.param('{"endpoint": "/x", "args": {}}', id="no outcome"),
        pytest.param('{"endpoint": "/x", "args": 5, "result": 1}', id="arguments that are a number"),
        pytest.param('{"endpoint": "/x", "args": {}, "error": {"kind": "OSError"}}', id="an unknown error"),
        pytest.param("[]", id="a list"),
    ],
)
def test_a_broken_recording_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text('{"endpoint": "/x", "args": {}, "result": 1}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"calls\.jsonl:2: this line is not a recorded call\."):
        ReplaySource.load(file)


def test_a_missing_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.jsonl: this recording cannot be read"):
        ReplaySource.load(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    "base_given, server, kind, parallel",
    [
        pytest.param(False, None, CragSource, 1, id="in process over the sample"),
        pytest.param(True, None, CragSource, 1, id="in process over a directory"),
        pytest.param(True, "http://127.0.0.1:9", HttpSource, 8, id="a server goes first"),
    ],
)
def test_open_source(base: Path, base_given: bool, server: str | None, kind: type[Any], parallel: int) -> None:
    source = open_source("crag", base=base if base_given else None, server=server)
    assert isinstance(source, kind)
    assert (source.name, source.parallel) == ("crag", parallel)
    source.close()


def test_sources_with_other_data_have_other_fingerprints(base: Path) -> None:
    plain = Script(httpx.Response(404))
    sources = [open_source("crag", base=base), HttpSource("http://127.0.0.1:9", transport=plain),
               HttpSource("http://127.0.0.1:10", transport=plain), open_source("crag", base=base / "none")]  # fmt: skip
    assert len({source.fingerprint() for source in sources}) == 4
    assert open_source("crag", base=base).fingerprint() == sources[0].fingerprint()
    assert SAMPLE.name == "sample"


def test_an_unknown_source() -> None:
    with pytest.raises(SourceError, match="neo4j: there is no source of this name; there is crag"):
        open_source("neo4j")
