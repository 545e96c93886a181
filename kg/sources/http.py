"""A source behind HTTP, in CRAG's wire format: POST a JSON body, get {"result": ...}.

CRAG's server cannot list its names. The server of this project can, under /kgq; another one is not asked twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from kg.errors import BadReply, SourceError
from kg.sources.base import Name
from kg.sources.exchange import Exchange, Request, decoded

MAX_REPLY_BYTES = 32 * 2**20  # a year of the largest year list is 0.1 MB, five days of minute prices 0.4 MB
LISTS = "/kgq"  # below this, kgq's own server says what CRAG's API has no endpoint for


class HttpSource:
    """Calls to the server at `base_url`, tried and paced as an `Exchange` does.

    `listing_timeout` is how many seconds the fingerprint, and the names of one table, may take. Raises SourceError if
    `base_url` is not an address.
    """

    parallel = 8

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        max_reply_bytes: int = MAX_REPLY_BYTES,
        retries: int = 3,
        backoff: float = 0.2,
        attempt_timeout: float = 10.0,
        listing_timeout: float = 10.0,
        name: str = "http",
    ):
        self.name = name
        self._base = _address(base_url)
        self._shown = str(self._base.copy_with(username=None, password=None)).rstrip("/")
        self._listing_timeout = listing_timeout
        self._state: str | None = None  # of the server's data as it tells it; empty: it does not; None: not asked yet
        self._exchange = Exchange(
            self._shown,
            connections=4 * self.parallel,
            transport=transport,
            max_reply_bytes=max_reply_bytes,
            retries=retries,
            backoff=backoff,
            attempt_timeout=attempt_timeout,
        )

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        """Return what the server put under "result", at most `timeout` seconds from now, tries and pauses included.

        Raises SourceError, BadReply or DeadlineExceeded. It does not begin a pause that would end too late:
        then the last error is raised at once.
        """
        return self._ask("POST", endpoint, _encoded(args, endpoint), time.monotonic() + timeout)

    def names(self, table: str) -> Iterator[Name]:
        """Yield the names the server lists; nothing if it is not one that lists names.

        Raises SourceError if one that does cannot say all of them now: a part must not be taken for the whole.
        """
        if not self._asked_state():
            return
        deadline = time.monotonic() + self._listing_timeout
        endpoint, found, start = f"{LISTS}/names/{quote(table, safe='')}", list[Name](), 0
        while True:
            page = self._ask("GET", f"{endpoint}?start={start}", b"", deadline)
            if not isinstance(page, list):
                raise BadReply("the names are not a list", endpoint=endpoint, path="$.result")
            if not page:
                break
            found += [_name(entry, endpoint) for entry in page]
            start += len(page)
        yield from found

    def fingerprint(self) -> str:
        """Return the address, and the state of its data if the server tells it.

        Raises SourceError if no reply comes: then nobody knows whether the data are still the same.
        """
        state = self._asked_state()
        return f"{self.name}:{self._shown}" + (f"#{state}" if state else "")

    def _asked_state(self) -> str:
        if self._state is None:
            try:
                said = self._ask("GET", f"{LISTS}/fingerprint", b"", time.monotonic() + self._listing_timeout)
            except SourceError as e:
                if e.status is None and not isinstance(e, BadReply):
                    raise
                said = ""  # it answers, but this it does not know
            self._state = said if isinstance(said, str) else ""
        return self._state

    def close(self) -> None:
        """Close the open connections."""
        self._exchange.close()

    def _ask(self, method: str, endpoint: str, body: bytes, deadline: float) -> Any:
        try:
            url = self._base.copy_with(raw_path=self._base.raw_path.rstrip(b"/") + endpoint.encode())
        except httpx.InvalidURL as e:
            raise SourceError(f"this is not a path ({e}).", endpoint=endpoint) from e
        headers = {"accept": "application/json"} | ({"content-type": "application/json"} if method == "POST" else {})
        reply = self._exchange.ask(Request(method, url, endpoint, body, headers), deadline)
        value = decoded(reply, endpoint)
        if not isinstance(value, dict) or "result" not in value:
            raise BadReply('the reply has no "result"', endpoint=endpoint, path="$.result", status=reply.status)
        return value["result"]


def _address(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as e:
        raise SourceError(f"this is not the address of a server ({e}).", endpoint=base_url) from e
    if url.scheme not in ("http", "https") or not url.host:
        message = "this is not the address of a server; write it like http://127.0.0.1:8000."
        raise SourceError(message, endpoint=base_url)
    return url


def _encoded(args: Mapping[str, Any], endpoint: str) -> bytes:
    try:
        return json.dumps(dict(args), allow_nan=False).encode()
    except (TypeError, ValueError) as e:
        raise SourceError(f"the arguments cannot be written as JSON ({e}).", endpoint=endpoint) from e


def _name(entry: Any, endpoint: str) -> Name:
    match entry:
        case [str(text), str() | int() as key, float() | int() as weight]:
            return Name(text, key, float(weight))
    raise BadReply("a name is not written as [text, key, weight]", endpoint=endpoint, path="$.result[*]")
