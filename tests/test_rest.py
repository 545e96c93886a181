"""A user's own API: what is sent, what comes back, where it ends, and that the key is nowhere else."""

from __future__ import annotations

import gzip
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from kg.domain import Api, ApiKey, Fetch, Pages
from kg.errors import BadReply, DeadlineExceeded, SourceError
from kg.sources import RestSource

SECRET = "s3cr3t/key+42"
URL = "https://api.test/v1"
BOOK = Fetch("book", "/books/{id}", "book", (("id", "id"),), method="GET", not_found=(404,))
BOOKS = Fetch("books", "/books", "book", (("author", "author_id"),), rows="$.items[*]", method="GET")


class Script:
    """Answers by a function, and remembers what was sent."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response | Any]):
        self.sent: list[httpx.Request] = []
        self._answer = answer

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        reply = self._answer(request)
        return reply if isinstance(reply, httpx.Response) else httpx.Response(200, json=reply)

    @property
    def urls(self) -> list[str]:
        return [str(r.url) for r in self.sent]


def source(script: Script, *fetches: Fetch, env: dict[str, str] | None = None, **api: Any) -> RestSource:
    settings = Api(**({"url": URL} | api))
    return RestSource(
        settings, fetches or (BOOK, BOOKS), env=env or {}, transport=httpx.MockTransport(script), backoff=0.001
    )


def fetch(call: str, *args: str, **more: Any) -> Fetch:
    method, endpoint = call.split()
    return Fetch("f", endpoint, "book", tuple((a, a) for a in args), method=method, **more)


# -- what is sent ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one, args, url, body",
    [
        pytest.param(fetch("GET /books/{id}", "id"), {"id": 7}, "/books/7", b"", id="an argument in the path"),
        pytest.param(fetch("GET /books/{id}", "id"), {"id": "a/../b?c#d é"}, "/books/a%2F..%2Fb%3Fc%23d%20%C3%A9", b"", id="a path cannot be left"),
        pytest.param(fetch("GET /books", "q"), {"q": "war & peace"}, "/books?q=war+%26+peace", b"", id="the query of a GET"),
        pytest.param(fetch("GET /books", "q"), {"q": True}, "/books?q=true", b"", id="a flag"),
        pytest.param(fetch("GET /books", "id"), {"id": [1, 2]}, "/books?id=1&id=2", b"", id="a list"),
        pytest.param(fetch("GET /books?kind=novel", "q"), {"q": "x"}, "/books?kind=novel&q=x", b"", id="a query in the call"),
        pytest.param(fetch("GET /books", "q", fixed=(("kind", "novel"),)), {"q": "x"}, "/books?kind=novel&q=x", b"", id="a fixed argument"),
        pytest.param(fetch("POST /search", "q"), {"q": "x"}, "/search", b'{"q": "x"}', id="the body of a POST"),
        pytest.param(fetch("POST /search/{id}", "id", "q", places=(("q", "query"),)), {"id": 1, "q": "x"}, "/search/1?q=x", b"{}", id="the query of a POST"),
    ],
)  # fmt: skip
def test_where_arguments_go(one: Fetch, args: dict[str, Any], url: str, body: bytes) -> None:
    script = Script(lambda r: {})
    source(script, one).call(one.endpoint, args, timeout=1)
    assert [(str(r.url), r.content) for r in script.sent] == [(URL + url, body)]


def test_headers_are_sent() -> None:
    one = fetch("GET /books", "q", "lang", places=(("lang", "header"),))
    script = Script(lambda r: {})
    source(script, one, headers=(("X-App", "kgq"),)).call("/books", {"q": "x", "lang": "de"}, timeout=1)
    sent = script.sent[0].headers
    assert (sent["lang"], sent["x-app"], sent["accept"]) == ("de", "kgq", "application/json")
    assert "lang" not in script.urls[0]


@pytest.mark.parametrize("value", [".", ".."])
def test_a_value_that_would_leave_the_path_is_refused(value: str) -> None:
    with pytest.raises(SourceError, match="cannot stand in a path"):
        source(Script(lambda r: {})).call(BOOK.endpoint, {"id": value}, timeout=1)


def test_nothing_has_an_empty_id() -> None:
    script = Script(lambda r: {})
    assert source(script).call(BOOK.endpoint, {"id": ""}, timeout=1) is None
    assert script.sent == []


def test_of_two_calls_to_one_path_the_arguments_decide() -> None:
    by_author, by_title = fetch("GET /books", "author"), fetch("GET /books", "title", places=(("title", "header"),))
    script = Script(lambda r: {})
    source(script, by_author, by_title).call("/books", {"title": "Emma"}, timeout=1)
    assert script.urls == [f"{URL}/books"]
    assert script.sent[0].headers["title"] == "Emma"
    with pytest.raises(SourceError, match=r"no call with the arguments \['isbn'\]"):
        source(script, by_author, by_title).call("/books", {"isbn": 1}, timeout=1)


# -- what comes back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply, kind, said",
    [
        pytest.param(httpx.Response(403, json={"detail": "no such key"}), SourceError, r"^/books/\{id\}: the server at https://api.test/v1 answered 403 \(no such key\)\.$", id="refused"),
        pytest.param(httpx.Response(400, json={"error": {"message": "bad id"}}), SourceError, r"answered 400 \(bad id\)", id="an explanation in an error"),
        pytest.param(httpx.Response(500), SourceError, r"answered 500 \(Internal Server Error\)", id="broken"),
        pytest.param(httpx.Response(200, text="<html>"), BadReply, r"a web page, not JSON \(at \$\)", id="a web page"),
        pytest.param(httpx.Response(200, text="{"), BadReply, r"not valid JSON", id="half of a reply"),
        pytest.param(httpx.Response(200, stream=httpx.ByteStream(b"no gzip"), headers={"content-encoding": "gzip"}), BadReply, r"cannot be decompressed", id="not compressed at all"),
        pytest.param(httpx.Response(200, stream=httpx.ByteStream(b"x"), headers={"content-encoding": "gzip, gzip"}), BadReply, r"compressed more than once", id="compressed twice"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_a_sentence(reply: httpx.Response, kind: type[SourceError], said: str) -> None:
    with pytest.raises(kind, match=said) as caught:
        source(Script(lambda r: reply)).call(BOOK.endpoint, {"id": 1}, timeout=1)
    assert caught.value.endpoint == "/books/{id}"
    assert type(caught.value) is kind


def test_an_id_that_is_not_found_is_nothing_but_a_path_that_is_not_found_is_an_error() -> None:
    script = Script(lambda r: httpx.Response(404))
    assert source(script).call(BOOK.endpoint, {"id": 1}, timeout=1) is None
    with pytest.raises(SourceError, match="answered 404"):
        source(script).call(BOOKS.endpoint, {"author": 1}, timeout=1)


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    replies = iter(
        [httpx.Response(429, headers={"retry-after": "0"}), httpx.Response(503), httpx.Response(200, json=7)]
    )
    script = Script(lambda r: next(replies))
    assert source(script).call(BOOK.endpoint, {"id": 1}, timeout=5) == 7
    assert len(script.sent) == 3


def test_a_pause_that_would_be_too_long_is_not_begun() -> None:
    script = Script(lambda r: httpx.Response(429, headers={"retry-after": "3600"}))
    started = time.monotonic()
    with pytest.raises(SourceError, match="answered 429"):
        source(script).call(BOOK.endpoint, {"id": 1}, timeout=5)
    assert time.monotonic() - started < 1


# -- pages -------------------------------------------------------------------------------------------------------------


def paged(script: Script, pages: Pages, **api: Any) -> Any:
    one = Fetch("books", "/books", "book", (), rows="$.items[*]", method="GET", pages=pages)
    return source(script, one, **api).call("/books", {}, timeout=5)


def numbered(count: int, most: int = 1000, **more: Any) -> Callable[[httpx.Request], Any]:
    """An API with `count` rows that gives at most `most` on a page, however many are wanted."""

    def answer(request: httpx.Request) -> Any:
        asked = request.url.params
        size = min(int(asked.get("limit", 3)), most)
        start = int(asked["offset"]) if "offset" in asked else (int(asked.get("page", 1)) - 1) * size
        return {"items": list(range(start, min(start + size, count))), "total": count, **more}

    return answer


def linked(count: int, link: Callable[[int], Any]) -> Callable[[httpx.Request], Any]:
    """An API with `count` pages of one row; `link` says what page n has under "next"."""

    def answer(request: httpx.Request) -> Any:
        n = int(request.url.params.get("p", 1))
        return {"items": [n], "next": link(n) if n < count else None}

    return answer


@pytest.mark.parametrize(
    "count, pages, calls",
    [
        pytest.param(7, Pages("$.items", page="page", first=1), 3, id="pages, the last one short"),
        pytest.param(6, Pages("$.items", page="page", first=1), 3, id="pages, the last one full"),
        pytest.param(0, Pages("$.items", page="page", first=1), 1, id="no rows at all"),
        pytest.param(6, Pages("$.items", page="page", first=1, total="$.total"), 2, id="a total spares a call"),
        pytest.param(7, Pages("$.items", page="page", first=1, size=("limit", 5)), 2, id="a size"),
        pytest.param(7, Pages("$.items", offset="offset", size=("limit", 5)), 2, id="offsets"),
        pytest.param(10, Pages("$.items", offset="offset", size=("limit", 100)), 4, id="a server that gives fewer than it was asked for"),
        pytest.param(10, Pages("$.items", page="page", first=1, size=("limit", 100)), 4, id="and by pages"),
    ],
)  # fmt: skip
def test_pages_are_joined(count: int, pages: Pages, calls: int) -> None:
    script = Script(numbered(count, most=3 if pages.size == ("limit", 100) else 1000, kept="yes"))
    assert paged(script, pages) == {"items": list(range(count)), "total": count, "kept": "yes"}
    assert len(script.sent) == calls


@pytest.mark.parametrize(
    "link",
    [
        pytest.param(lambda n: f"{URL}/books?p={n + 1}", id="an address"),
        pytest.param(lambda n: f"?p={n + 1}", id="a query"),
        pytest.param(lambda n: f"/v1/books?p={n + 1}", id="a path"),
    ],
)
def test_links_are_followed(link: Callable[[int], str]) -> None:
    script = Script(linked(4, link))
    assert paged(script, Pages("$.items", next="$.next"))["items"] == [1, 2, 3, 4]
    assert [r.url.params.get("p") for r in script.sent] == [None, "2", "3", "4"]


def test_cursors_are_followed_and_links_in_headers() -> None:
    script = Script(linked(4, lambda n: n + 1))
    assert paged(script, Pages("$.items", cursor="p", begins="$.next"))["items"] == [1, 2, 3, 4]

    def answer(request: httpx.Request) -> httpx.Response:
        n = int(request.url.params.get("p", 1))
        link = {"link": f'<{URL}/books?p=1>; rel="first", <{URL}/books?p={n + 1}>; rel="next"'} if n < 3 else {}
        return httpx.Response(200, json=[n], headers=link)

    assert paged(Script(answer), Pages("$", next="link")) == [1, 2, 3]


@pytest.mark.parametrize(
    "answer, pages, said, calls",
    [
        pytest.param(linked(9, lambda n: "?p=1"), Pages("$.items", next="$.next"), r"page 2 leads back \(at \$\.next\)", 2, id="a link to the first page"),
        pytest.param(linked(99, lambda n: f"?p={n % 3 + 1}"), Pages("$.items", next="$.next"), r"page 4 leads back", 4, id="a link in a circle"),
        pytest.param(linked(9, lambda n: "same"), Pages("$.items", cursor="c", begins="$.next"), r"the cursor to the next page came before", 2, id="a cursor twice"),
        pytest.param(lambda r: {"items": [], "next": "?p=2"}, Pages("$.items", next="$.next"), r"page 1 is empty, and yet promises another \(at \$\.items\)", 1, id="empty, and more promised"),
        pytest.param(lambda r: {"items": [1] if r.url.params["page"] == "1" else [], "total": 9}, Pages("$.items", page="page", first=1, total="$.total"), r"page 2 is empty, and yet 8 more are promised", 2, id="empty before the total"),
        pytest.param(lambda r: {"items": [1, 2]}, Pages("$.items", page="pg", first=1), r"page 2 is the same as the one before; does 'pg' count\?", 2, id="an argument that the API does not know"),
        pytest.param(lambda r: {"items": {"a": 1}}, Pages("$.items", page="page"), r"a list was expected, something else came \(at \$\.items\)", 1, id="no list"),
        pytest.param(linked(9, lambda n: {"href": "?p=2"}), Pages("$.items", next="$.next"), r"the link to the next page is not a text \(at \$\.next\)", 1, id="no link"),
        pytest.param(linked(9, lambda n: f"?p={n + 1}"), Pages("$.items", next="$.next", max=3), r"more than 3 pages; pages\.max of books allows more", 3, id="too many pages"),
    ],
)  # fmt: skip
def test_pages_end_whatever_the_api_does(answer: Any, pages: Pages, said: str, calls: int) -> None:
    script = Script(answer)
    with pytest.raises(SourceError, match=said):
        paged(script, pages)
    assert len(script.sent) == calls


def test_a_search_is_not_read_further_than_where_it_is_cut_off() -> None:
    script = Script(numbered(100))
    one = Fetch("s", "/books", "book", (("q", "title"),), rows="$.items[*]", search=6, method="GET",
                pages=Pages("$.items", page="page", first=1))  # fmt: skip
    assert len(source(script, one).call("/books", {"q": "x"}, timeout=5)["items"]) == 6
    assert len(script.sent) == 2


def test_pages_share_one_deadline() -> None:
    def answer(request: httpx.Request) -> Any:
        time.sleep(0.05)
        return linked(10**6, lambda n: f"?p={n + 1}")(request)

    started = time.monotonic()
    one = Fetch("b", "/books", "book", (), rows="$.items[*]", method="GET", pages=Pages("$.items", next="$.next"))
    with pytest.raises(DeadlineExceeded):
        source(Script(answer), one).call("/books", {}, timeout=0.3)
    assert time.monotonic() - started < 1


# -- hosts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "to, said",
    [
        pytest.param("https://evil.test/x", r"leads to evil\.test, which is not this API; source\.allow could name it", id="another host"),
        pytest.param("https://api.test:8443/x", r"leads to api\.test:8443", id="another port"),
        pytest.param("https://api.test.evil.test/x", r"leads to api\.test\.evil\.test", id="a host that begins alike"),
        pytest.param("https://api.test@evil.test/x", r"leads to evil\.test", id="a host behind a name"),
        pytest.param("http://api.test/x", r"leads to", id="without TLS"),
        pytest.param("http://cdn.test/x", r"leads to http://, which is not safe", id="an allowed host without TLS"),
        pytest.param("file:///etc/passwd", r"leads to", id="a file"),
        pytest.param("//evil.test/x", r"leads to evil\.test", id="without a scheme"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["redirect", "link"])
def test_nothing_leads_to_a_host_that_is_not_allowed(how: str, to: str, said: str) -> None:
    redirect = httpx.Response(302, headers={"location": to})
    script = Script(lambda r: redirect if how == "redirect" else {"items": [1], "next": to})
    with pytest.raises(SourceError, match=said):
        paged(script, Pages("$.items", next="$.next"), allow=("cdn.test",))
    assert len(script.sent) == 1


@pytest.mark.parametrize("key", [ApiKey("K", header="X-Key"), ApiKey("K", query="key")], ids=["header", "query"])
@pytest.mark.parametrize("how", ["redirect", "link"])
def test_the_key_goes_to_the_own_host_only(how: str, key: ApiKey) -> None:
    def answer(request: httpx.Request) -> Any:
        if request.url.host == "cdn.test":
            return {"items": [2]}
        if how == "redirect":
            return httpx.Response(302, headers={"location": "https://cdn.test/x"})
        return {"items": [1], "next": "https://cdn.test/x"}

    script = Script(answer)
    secret = {"env": {"K": SECRET}, "key": key, "allow": ("cdn.test",), "headers": (("X-App", "kgq"),)}
    assert paged(script, Pages("$.items", next="$.next"), **secret)["items"][-1] == 2
    own, other = script.sent
    assert SECRET in (own.headers.get("x-key", ""), own.url.params.get("key"))
    assert (other.headers.get("x-key"), other.url.params.get("key"), other.headers.get("x-app")) == (None, None, None)


def test_redirects_end_and_a_post_is_not_sent_elsewhere() -> None:
    script = Script(lambda r: httpx.Response(301, headers={"location": "/v1/again"}))
    with pytest.raises(SourceError, match="round and round"):
        source(script).call(BOOK.endpoint, {"id": 1}, timeout=1)
    assert len(script.sent) == 6
    with pytest.raises(SourceError, match="a POST is not sent elsewhere"):
        source(script, fetch("POST /search", "q")).call("/search", {"q": 1}, timeout=1)


# -- the key -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key, header, query",
    [
        pytest.param(ApiKey("K", header="X-Api-Key"), ("x-api-key", SECRET), None, id="a header"),
        pytest.param(ApiKey("K", header="Authorization", prefix="Bearer"), ("authorization", f"Bearer {SECRET}"), None, id="a bearer"),
        pytest.param(ApiKey("K", header="Authorization", prefix="Token token="), ("authorization", f"Token token={SECRET}"), None, id="a prefix without a space"),
        pytest.param(ApiKey("K", query="api_key"), None, SECRET, id="the query"),
    ],
)  # fmt: skip
def test_the_key_is_sent(key: ApiKey, header: tuple[str, str] | None, query: str | None) -> None:
    script = Script(lambda r: {})
    source(script, key=key, env={"K": SECRET}).call(BOOK.endpoint, {"id": 1}, timeout=1)
    (sent,) = script.sent
    assert sent.url.params.get("api_key") == query
    if header:
        assert sent.headers[header[0]] == header[1]


@pytest.mark.parametrize(
    "env, said",
    [
        pytest.param({}, "K is not set in the environment", id="not set"),
        pytest.param({"K": " "}, "K is not set in the environment", id="empty"),
        pytest.param({"K": "a\nb: c"}, "K holds something that cannot be sent as a key", id="a second header in it"),
        pytest.param({"K": "schlüssel"}, "K holds something that cannot be sent as a key", id="letters no header has"),
    ],
)
def test_a_key_that_cannot_be_used(env: dict[str, str], said: str) -> None:
    script = Script(lambda r: {})
    with pytest.raises(SourceError, match=said) as caught:
        source(script, key=ApiKey("K", header="X-Key"), env=env).call(BOOK.endpoint, {"id": 1}, timeout=1)
    assert script.sent == []
    assert not any(part in str(caught.value) for part in ("a\nb", "schl"))


@pytest.mark.parametrize("key", [ApiKey("K", header="X-Key"), ApiKey("K", query="key")], ids=["header", "query"])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda r: httpx.Response(200, json={"you": dict(r.headers), "at": str(r.url), "raw": SECRET}), id="a reply that repeats the request"),
        pytest.param(lambda r: httpx.Response(401, json={"detail": f"{r.url} with {SECRET} is not allowed"}), id="an error that repeats the key"),
        pytest.param(lambda r: httpx.Response(500, text=f"{r.headers} {SECRET}"), id="a broken server"),
        pytest.param(lambda r: httpx.Response(302, headers={"location": f"https://evil.test/?key={SECRET}"}), id="a redirect with the key"),
        pytest.param(lambda r: httpx.Response(200, text=f"<html>{SECRET}"), id="a web page"),
        pytest.param(lambda r: (_ for _ in ()).throw(httpx.ConnectError(f"cannot connect to {r.url.host}")), id="a server that is away"),
    ],
)  # fmt: skip
def test_the_key_is_in_no_log_error_or_reply(answer: Any, key: ApiKey, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    try:
        said: Any = source(Script(answer), key=key, env={"K": SECRET}).call(BOOK.endpoint, {"id": 1}, timeout=1)
    except SourceError as e:
        said = f"{e} {vars(e)} {e.__cause__!r} {vars(e.__cause__) if e.__cause__ else ''}"
    written = f"{said} {caplog.text}"
    assert "s3cr3t" not in written
    assert "api.test" in written, "calls are logged and errors name the server, only not with the key"


def test_a_next_link_that_repeats_the_key_leads_on() -> None:
    def answer(request: httpx.Request) -> Any:
        n = int(request.url.params.get("p", 1))
        assert request.url.params["key"] == SECRET
        return {"items": [n], "next": str(request.url.copy_set_param("p", n + 1)) if n < 3 else None}

    script = Script(answer)
    found = paged(script, Pages("$.items", next="$.next"), key=ApiKey("K", query="key"), env={"K": SECRET})
    assert found["items"] == [1, 2, 3]
    assert "s3cr3t" not in json.dumps(found)


# -- pace and size -----------------------------------------------------------------------------------------------------


def test_threads_share_the_pace() -> None:
    script = Script(lambda r: {})
    paced = source(script, rate=50.0)
    started = time.monotonic()
    threads = [
        threading.Thread(target=paced.call, args=(BOOK.endpoint, {"id": i}), kwargs={"timeout": 5}) for i in range(11)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert 0.19 < time.monotonic() - started < 2
    assert len(script.sent) == 11


def test_a_pace_that_leaves_no_time_is_said_at_once() -> None:
    paced = source(Script(lambda r: {}), rate=0.1)
    paced.call(BOOK.endpoint, {"id": 1}, timeout=5)
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"the pace allowed for api\.test leaves no turn"):
        paced.call(BOOK.endpoint, {"id": 2}, timeout=5)
    assert time.monotonic() - started < 0.5


@contextmanager
def serving(body: Callable[[], Iterator[bytes]], **headers: str) -> Iterator[tuple[str, list[int]]]:
    """The address of a server that streams `body`, and the bytes that it got rid of for each request."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            sent.append(0)
            try:
                for chunk in body():
                    self.wfile.write(chunk)
                    sent[-1] += len(chunk)
            except OSError:
                pass

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", sent
    finally:
        server.shutdown()
        server.server_close()


def two_hundred_megabytes() -> Iterator[bytes]:
    yield b'{"items": ["'
    for _ in range(200):
        yield b"x" * 10**6
    yield b'"]}'


def bomb() -> Iterator[bytes]:
    """200 MB in 200 kB."""
    packed = gzip.compress(b'"' + b"x" * 200 * 10**6 + b'"', 9)
    for i in range(0, len(packed), 4096):
        yield packed[i : i + 4096]


@pytest.mark.parametrize(
    "body, headers, most_sent",
    [
        pytest.param(two_hundred_megabytes, {}, 20 * 10**6, id="200 MB"),
        pytest.param(bomb, {"content_encoding": "gzip"}, 10**6, id="200 MB in 200 kB"),
    ],
)
def test_a_reply_that_is_too_large_is_not_read_to_its_end(body: Any, headers: dict[str, str], most_sent: int) -> None:
    with serving(body, **headers) as (url, sent):
        s = RestSource(Api(url, max_reply=5_000_000), [BOOK], env={})
        with pytest.raises(BadReply, match=r"larger than 5,000,000 bytes; source\.max_reply allows more"):
            s.call(BOOK.endpoint, {"id": 1}, timeout=20)
        s.close()
    assert len(sent) == 1, "it is not tried again"
    assert sent[0] < most_sent


def test_a_large_reply_is_read_where_that_is_allowed() -> None:
    with serving(lambda: iter([b"[" + b"1," * 3_000_000 + b"1]"])) as (url, _):
        s = RestSource(Api(url, max_reply=10_000_000), [BOOK], env={})
        assert len(s.call(BOOK.endpoint, {"id": 1}, timeout=20)) == 3_000_001
        s.close()
