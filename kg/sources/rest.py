"""A user's own HTTP API, as its domain file describes it.

The secret is put on a request when it leaves for the API's own host, below everything that logs or makes error
messages, and taken out of whatever comes back: it is in no error, log, recording or table.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from kg.domain import Api, Fetch, Place
from kg.errors import SourceError
from kg.load.source import is_loopback
from kg.sources.base import Name
from kg.sources.deadline import DeadlineTransport
from kg.sources.exchange import Exchange, Reply, Request, decoded
from kg.sources.pace import Pace
from kg.sources.pages import Page, check_rows, joined

_REDIRECTS = (301, 302, 303, 307, 308)
_HOPS = 5
_PORTS = {"http": 80, "https": 443}


class RestSource:
    """Calls to `api`, made as the `fetches` say. The secret comes from `env`; SourceError if it cannot be used."""

    def __init__(
        self,
        api: Api,
        fetches: Iterable[Fetch],
        *,
        env: Mapping[str, str],
        name: str = "api",
        transport: httpx.BaseTransport | None = None,
        retries: int = 3,
        backoff: float = 0.2,
        attempt_timeout: float = 10.0,
    ):
        self.name, self.parallel = name, api.parallel
        self._api, self._url = api, httpx.URL(api.url)
        self._fetches: dict[str, list[Fetch]] = {}
        for fetch in fetches:
            self._fetches.setdefault(fetch.endpoint, []).append(fetch)
        self._secret = _secret(api, env)
        self._pace = Pace(api.rate)
        inner = transport or DeadlineTransport(4 * self.parallel)
        self._exchange = Exchange(
            str(self._url),
            connections=4 * self.parallel,
            transport=_Keyed(inner, self._url, api, self._secret),
            max_reply_bytes=api.max_reply,
            too_large="; source.max_reply allows more",
            secret=self._secret,
            retries=retries,
            backoff=backoff,
            attempt_timeout=attempt_timeout,
            before=lambda r, deadline: self._pace.wait(_host(r.url), r.endpoint, deadline),
            held=lambda r, seconds: self._pace.hold(_host(r.url), seconds),
        )

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        """Return the reply, all pages of it; None if the API says that there is no such thing.

        At most `timeout` seconds from now, tries, pauses and pages included. Raises SourceError, BadReply or
        DeadlineExceeded.
        """
        deadline = time.monotonic() + timeout
        fetch = self._fetch(endpoint, args)
        if self._api.key is not None and not self._secret:
            said = f"{self._api.key.env} is not set in the environment; the API wants its key there."
            raise SourceError(said, endpoint=endpoint)
        given = {**dict(fetch.fixed), **args}
        if any(str(given[name]) == "" for name in _named(endpoint) if name in given):
            return None  # nothing is called by an empty name
        if fetch.pages is None:
            page = self._page(self._request(fetch, given), fetch, deadline)
            if page is None:
                return None
            check_rows(page.body, fetch.rows, endpoint)
            return page.body

        def ask(more: Mapping[str, Any], link: str) -> Page | None:
            request = self._request(fetch, given | dict(more))
            if link:
                url = self._led_to(request.url, link, endpoint)
                request = Request("GET", url, endpoint, headers=self._headers(url, request.headers))
            return self._page(request, fetch, deadline)

        return joined(fetch, fetch.pages, ask)

    def names(self, table: str) -> Iterator[Name]:
        """Yield nothing: names are found by the API's search."""
        return iter(())

    def fingerprint(self) -> str:
        """Return the address. What an API holds is believed for as long as its domain says."""
        return f"{self.name}:{self._url}"

    def close(self) -> None:
        """Close the open connections."""
        self._exchange.close()

    def _fetch(self, endpoint: str, args: Mapping[str, Any]) -> Fetch:
        """The fetch that this is a call of: the one with these arguments."""
        for fetch in self._fetches.get(endpoint, ()):
            own, fixed = {arg for arg, _ in fetch.args}, dict(fetch.fixed)
            if own == set(args) - (set(fixed) - own) and all(args.get(k, v) == v for k, v in fixed.items()):
                return fetch
        raise SourceError(f"no call with the arguments {sorted(args)} is declared.", endpoint=endpoint)

    # -- requests ------------------------------------------------------------------------------------------------------

    def _request(self, fetch: Fetch, args: Mapping[str, Any]) -> Request:
        put = _Put(fetch)
        for name, value in args.items():
            put.add(name, value)
        path, _, query = put.path.partition("?")
        url = self._url.copy_with(path=None, raw_path=self._url.raw_path.rstrip(b"/") + path.encode())
        url = url.copy_merge_params(httpx.QueryParams(query).merge(httpx.QueryParams(put.query)))
        body, headers = b"", {"accept": "application/json", **dict(self._api.headers), **put.headers}
        if fetch.method == "POST":
            headers["content-type"] = "application/json"
            body = _json(put.body, fetch.endpoint)
        return Request(fetch.method, url, fetch.endpoint, body, headers)

    def _page(self, request: Request, fetch: Fetch, deadline: float) -> Page | None:
        """The reply to `request`, followed to where it leads; None if nothing was found."""
        for _ in range(_HOPS + 1):
            reply = self._exchange.ask(request, deadline, wanted=(*fetch.not_found, *_REDIRECTS))
            if reply.status in fetch.not_found or reply.status == 204:
                return None
            if reply.status not in _REDIRECTS:
                return Page(decoded(reply, fetch.endpoint), _next_link(reply))
            if request.method != "GET":
                said = f"the server at {self._url} answered {reply.status}; a POST is not sent elsewhere."
                raise SourceError(said, endpoint=fetch.endpoint, status=reply.status)
            url = self._led_to(request.url, reply.headers.get("location", ""), fetch.endpoint)
            request = Request("GET", url, fetch.endpoint, headers=self._headers(url, request.headers))
        raise SourceError(f"the server at {self._url} redirects round and round.", endpoint=fetch.endpoint)

    def _led_to(self, url: httpx.URL, link: str, endpoint: str) -> httpx.URL:
        """Where `link` on a page at `url` leads, if that is allowed."""
        try:
            found = url.join(link)
        except (httpx.InvalidURL, ValueError) as e:
            raise SourceError("the reply leads to something that is no address.", endpoint=endpoint) from e
        host = _host(found)
        bare = found.host if found.port is None else ""
        if _origin(found) != _origin(self._url) and not {host, bare} & set(self._api.allow):
            said = f"the reply leads to {host}, which is not this API; source.allow could name it."
            raise SourceError(said, endpoint=endpoint)
        plain = self._api.plain_http or is_loopback(found.host)
        if found.scheme not in _PORTS or (found.scheme == "http" and not plain):
            raise SourceError(f"the reply leads to {found.scheme}://, which is not safe.", endpoint=endpoint)
        return found.copy_with(username=None, password=None, fragment=None)

    def _headers(self, url: httpx.URL, headers: dict[str, str]) -> dict[str, str]:
        """What another host is told: nothing but what is wanted."""
        return headers if _origin(url) == _origin(self._url) else {"accept": headers["accept"]}


class _Keyed(httpx.BaseTransport):
    """Puts the secret on what goes to the API's own host. The client above, which logs addresses, never has it."""

    def __init__(self, inner: httpx.BaseTransport, own: httpx.URL, api: Api, secret: str):
        self._inner, self._own, self._api, self._secret = inner, _origin(own), api, secret

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        key = self._api.key
        if key is None or _origin(request.url) != self._own:
            return self._inner.handle_request(request)
        url, headers = request.url, httpx.Headers(request.headers)
        if key.header:
            glue = "" if not key.prefix or key.prefix[-1] in "=:" else " "
            headers[key.header] = key.prefix + glue + self._secret
        else:
            url = url.copy_set_param(key.query, self._secret)
        assert isinstance(request.stream, httpx.SyncByteStream)
        return self._inner.handle_request(
            httpx.Request(request.method, url, headers=headers, stream=request.stream, extensions=request.extensions)
        )

    def close(self) -> None:
        self._inner.close()


@dataclass
class _Put:
    """Where the arguments of a call go."""

    fetch: Fetch
    path: str = ""
    query: list[tuple[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.path = self.fetch.endpoint
        self._named, self._places = _named(self.path), dict(self.fetch.places)

    def add(self, name: str, value: Any) -> None:
        usual: Place = "path" if name in self._named else "query" if self.fetch.method == "GET" else "body"
        match self._places.get(name, usual):
            case "path":
                self.path = self.path.replace(f"{{{name}}}", self._part(_text(value)))
            case "query":
                self.query += [(name, _text(v)) for v in (value if isinstance(value, (list, tuple)) else [value])]
            case "header":
                self.headers[name] = self._header(name, _text(value))
            case "body":
                self.body[name] = value

    def _part(self, text: str) -> str:
        if text in (".", ".."):
            raise SourceError(f"'{text}' cannot stand in a path.", endpoint=self.fetch.endpoint)
        return quote(text, safe="")

    def _header(self, name: str, text: str) -> str:
        if not re.fullmatch(r"[\x20-\x7e]*", text):
            raise SourceError(f"{name} cannot be written in a header.", endpoint=self.fetch.endpoint)
        return text


def _secret(api: Api, env: Mapping[str, str]) -> str:
    if api.key is None:
        return ""
    secret = env.get(api.key.env, "").strip()
    if not re.fullmatch(r"[\x21-\x7e]*", secret):
        # checked here, because whoever refuses it later would print it
        raise SourceError(f"{api.key.env} holds something that cannot be sent as a key.", endpoint=api.url)
    return secret


def _named(endpoint: str) -> list[str]:
    return re.findall(r"{(\w+)}", endpoint)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(body: Mapping[str, Any], endpoint: str) -> bytes:
    try:
        return json.dumps(dict(body), allow_nan=False).encode()
    except (TypeError, ValueError) as e:
        raise SourceError(f"the arguments cannot be written as JSON ({e}).", endpoint=endpoint) from e


def _next_link(reply: Reply) -> str:
    links = httpx.Response(200, headers=reply.headers).links
    return links.get("next", {}).get("url", "")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _PORTS.get(url.scheme)


def _host(url: httpx.URL) -> str:
    return url.host if url.port is None else f"{url.host}:{url.port}"
