"""A source behind HTTP, in CRAG's wire format: POST a JSON body, get {"result": ...}.

Everything a server or the network can do wrong becomes a SourceError with one plain sentence. All retrying of the
project is here, in `HttpSource`; proxies and other settings of the environment are not looked at.

CRAG's server cannot list its names. The server of this project can, under /kgq; another one is not asked twice.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import quote

import httpx

from kg.errors import BadReply, DeadlineExceeded, SourceError
from kg.sources.base import Name
from kg.sources.deadline import DeadlineTransport, until

MAX_REPLY_BYTES = 32 * 2**20  # a year of the largest year list is 0.1 MB, five days of minute prices 0.4 MB
LISTS = "/kgq"  # below this, kgq's own server says what CRAG's API has no endpoint for
_EXPLANATION = 4096  # bytes read of the body of an error


class HttpSource:
    """Calls to the server at `base_url`. Connections are kept open and shared by threads.

    A call is tried `retries` more times after 429, 5xx, a lost connection, or `attempt_timeout` seconds without a
    complete reply. The pause starts at `backoff` seconds, doubles, and is shortened at random by up to a half, so
    that clients do not come back together. `listing_timeout` is how many seconds the fingerprint, and the names of
    one table, may take. Raises SourceError if `base_url` is not an address.
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
        self._max_reply_bytes, self._retries = max_reply_bytes, retries
        self._backoff, self._attempt_timeout = backoff, attempt_timeout
        self._listing_timeout = listing_timeout
        self._state: str | None = None  # of the server's data as it tells it; empty: it does not; None: not asked yet
        # A transport of our own also keeps httpx from asking the environment for proxies.
        self._client = httpx.Client(transport=transport or DeadlineTransport(4 * self.parallel), trust_env=False)

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
        self._client.close()

    def _ask(self, method: str, endpoint: str, body: bytes, deadline: float) -> Any:
        # The result, after as many attempts as it takes.
        timeout = deadline - time.monotonic()
        for attempt in range(self._retries + 1):
            try:
                return _result(endpoint, *self._send(method, endpoint, body, deadline, timeout))
            except _TryAgain as e:
                pause = max(e.wait, self._backoff * 2**attempt * random.uniform(0.5, 1.0))
                if attempt == self._retries or time.monotonic() + pause >= deadline:
                    raise e.error from e.__cause__
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _send(
        self, method: str, endpoint: str, body: bytes, deadline: float, timeout: float
    ) -> tuple[httpx.Response, bytes]:
        # One attempt: a successful response and its body. Every error of httpx becomes ours here.
        begun = time.monotonic()
        end = min(deadline, begun + self._attempt_timeout)
        if end <= begun:
            raise _too_late(endpoint, timeout)
        try:
            with until(end), self._stream(method, endpoint, body, end - begun) as reply:
                if not reply.is_success:
                    self._refuse(endpoint, reply, _read(reply, _EXPLANATION, end)[:_EXPLANATION])
                raw = _read(reply, self._max_reply_bytes, end)
        except httpx.TimeoutException as e:
            if time.monotonic() >= deadline:
                raise _too_late(endpoint, timeout) from e
            message = f"the server at {self._shown} gave no complete answer within {end - begun:.3g} s."
            raise _TryAgain(SourceError(message, endpoint=endpoint, retry=True)) from e
        except httpx.ConnectError as e:
            message = f"the server at {self._shown} cannot be reached ({e})."
            raise _TryAgain(SourceError(message, endpoint=endpoint, retry=True)) from e
        except httpx.DecodingError as e:
            raise BadReply(f"the reply cannot be decompressed ({e})", endpoint=endpoint) from e
        except httpx.TransportError as e:
            message = f"the connection to {self._shown} broke off ({e})."
            raise _TryAgain(SourceError(message, endpoint=endpoint, retry=True)) from e
        if len(raw) > self._max_reply_bytes:
            message = f"the reply is larger than {self._max_reply_bytes:,} bytes"
            raise BadReply(message, endpoint=endpoint, status=reply.status_code)
        return reply, raw

    def _stream(
        self, method: str, endpoint: str, body: bytes, timeout: float
    ) -> AbstractContextManager[httpx.Response]:
        try:
            url = self._base.copy_with(raw_path=self._base.raw_path.rstrip(b"/") + endpoint.encode())
        except httpx.InvalidURL as e:
            raise SourceError(f"this is not a path ({e}).", endpoint=endpoint) from e
        headers = {"accept": "application/json"} | ({"content-type": "application/json"} if method == "POST" else {})
        return self._client.stream(method, url, content=body, headers=headers, timeout=timeout)

    def _refuse(self, endpoint: str, reply: httpx.Response, raw: bytes) -> NoReturn:
        status = reply.status_code
        if reply.is_redirect:
            message = f"the server at {self._shown} answered {status} and points elsewhere; is this its address?"
            raise SourceError(message, endpoint=endpoint, status=status)
        retry = status == 429 or status >= 500
        message = f"the server at {self._shown} answered {status} ({_explanation(raw) or reply.reason_phrase})."
        error = SourceError(message, endpoint=endpoint, status=status, retry=retry)
        if retry:
            raise _TryAgain(error, wait=_retry_after(reply))
        raise error


class _TryAgain(Exception):
    """An attempt failed in a way that may pass; `wait` is how many seconds the server asks for."""

    def __init__(self, error: SourceError, *, wait: float = 0.0):
        self.error, self.wait = error, wait
        super().__init__(str(error))


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


def _too_late(endpoint: str, timeout: float) -> DeadlineExceeded:
    return DeadlineExceeded(f"no complete answer came within {max(0.0, timeout):.3g} s.", endpoint=endpoint, retry=True)


def _read(reply: httpx.Response, limit: int, end: float) -> bytes:
    # Stops soon after `limit` bytes: the caller sees by the length that there was more.
    raw = bytearray()
    for chunk in reply.iter_bytes():
        raw += chunk
        if len(raw) > limit:
            break
        if time.monotonic() >= end:  # for transports that do not keep the deadline themselves
            raise httpx.ReadTimeout("the reply is not complete")
    return bytes(raw)


def _result(endpoint: str, reply: httpx.Response, raw: bytes) -> Any:
    status = reply.status_code
    try:
        value = json.loads(raw, parse_constant=lambda _: None)  # NaN and Infinity are not JSON, but come
    except (ValueError, RecursionError) as e:
        if raw.lstrip().startswith(b"<"):
            raise BadReply("the reply is a web page, not JSON", endpoint=endpoint, status=status) from e
        raise BadReply(f"the reply is not valid JSON ({e})", endpoint=endpoint, status=status) from e
    if not isinstance(value, dict) or "result" not in value:
        raise BadReply('the reply has no "result"', endpoint=endpoint, path="$.result", status=status)
    return value["result"]


def _name(entry: Any, endpoint: str) -> Name:
    match entry:
        case [str(text), str() | int() as key, float() | int() as weight]:
            return Name(text, key, float(weight))
    raise BadReply("a name is not written as [text, key, weight]", endpoint=endpoint, path="$.result[*]")


def _explanation(raw: bytes) -> str:
    # FastAPI, which CRAG's server is made with, explains errors under "detail": a sentence, or a list of them.
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    detail = value.get("detail") if isinstance(value, dict) else None
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):
        detail = detail[0].get("msg")
    return " ".join(detail.split())[:200].rstrip(".") if isinstance(detail, str) else ""


def _retry_after(reply: httpx.Response) -> float:
    # Seconds or a date, RFC 9110, section 10.2.3.
    said = reply.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except ValueError:
        return 0.0
