"""Requests and their replies over HTTP, within a deadline: what every source behind a network shares.

Everything a server or the network can do wrong becomes a SourceError with one plain sentence. All retrying of the
project is here; proxies and other settings of the environment are not looked at.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import quote

import httpx

from kg.errors import BadReply, DeadlineExceeded, SourceError
from kg.sources.deadline import DeadlineTransport, until

_EXPLANATION = 4096  # bytes read of the body of an error
# One compression only: each unpacks a piece of a reply to at most a thousand times its size.
_ENCODINGS = ("", "identity", "gzip", "deflate", "br", "zstd")


@dataclass(frozen=True)
class Request:
    """What is sent. `endpoint` is what errors call it; the address may hold what nobody is to see."""

    method: str
    url: httpx.URL
    endpoint: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """A status that was wanted, the headers, and the whole body, unpacked."""

    status: int
    headers: httpx.Headers
    raw: bytes


HIDDEN = b"(key)"  # stands in a reply where the secret stood
_SHORTEST = 8  # characters of a secret; "1" and "demo" are none, and they stand in replies for other reasons


def at_once(request: Request, deadline: float) -> None:
    """Let a request go without waiting."""


class Exchange:
    """Sends requests to the server that errors call `shown`. Connections are kept open and shared by threads.

    A request is tried `retries` more times after 429, 5xx, a lost connection, or `attempt_timeout` seconds without a
    complete reply. The pause starts at `backoff` seconds, doubles, and is shortened at random by up to a half, so
    that clients do not come back together. `secret` is taken out of every reply. `before` is called before each
    attempt, and may wait or raise; `held` when a server names the seconds until the next.
    """

    def __init__(
        self,
        shown: str,
        *,
        connections: int,
        transport: httpx.BaseTransport | None = None,
        max_reply_bytes: int,
        too_large: str = "",
        secret: str = "",
        retries: int = 3,
        backoff: float = 0.2,
        attempt_timeout: float = 10.0,
        before: Callable[[Request, float], None] = at_once,
        held: Callable[[Request, float], None] = at_once,
    ):
        self._shown, self._max_reply_bytes, self._too_large = shown, max_reply_bytes, too_large
        self._retries, self._backoff, self._attempt_timeout = retries, backoff, attempt_timeout
        self._before, self._held = before, held
        self._hidden = _spellings(secret)
        # A transport of our own also keeps httpx from asking the environment for proxies.
        self._client = httpx.Client(transport=transport or DeadlineTransport(connections), trust_env=False)

    def ask(self, request: Request, deadline: float, *, wanted: Collection[int] = ()) -> Reply:
        """Return the reply, after as many attempts as it takes; its status is a success, or one of `wanted`.

        Raises SourceError, BadReply or DeadlineExceeded. It does not begin a pause that would end too late: then the
        last error is raised at once.
        """
        timeout = deadline - time.monotonic()
        for attempt in range(self._retries + 1):
            try:
                return self._send(request, deadline, timeout, wanted)
            except _TryAgain as e:
                pause = max(e.wait, self._backoff * 2**attempt * random.uniform(0.5, 1.0))
                if attempt == self._retries or time.monotonic() + pause >= deadline:
                    raise e.error from e.__cause__
                if e.wait:
                    self._held(request, e.wait)
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Close the open connections."""
        self._client.close()

    def _send(self, request: Request, deadline: float, timeout: float, wanted: Collection[int]) -> Reply:
        # One attempt. Every error of httpx becomes ours here.
        endpoint = request.endpoint
        self._before(request, deadline)
        begun = time.monotonic()
        end = min(deadline, begun + self._attempt_timeout)
        if end <= begun:
            raise too_late(endpoint, timeout)
        sent = self._client.stream(
            request.method, request.url, content=request.body, headers=request.headers, timeout=end - begun
        )
        try:
            with until(end), sent as reply:
                if reply.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
                    raise BadReply("the reply is compressed more than once, or oddly", endpoint=endpoint)
                if not reply.is_success and reply.status_code not in wanted:
                    self._refuse(endpoint, reply, _read(reply, _EXPLANATION, end)[:_EXPLANATION])
                raw = _read(reply, self._max_reply_bytes, end)
                status, got = reply.status_code, reply.headers
        except httpx.TimeoutException as e:
            if time.monotonic() >= deadline:
                raise too_late(endpoint, timeout) from e
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
            message = f"the reply is larger than {self._max_reply_bytes:,} bytes{self._too_large}"
            raise BadReply(message, endpoint=endpoint, status=status)
        return Reply(status, got, self._clean(raw))

    def _clean(self, raw: bytes) -> bytes:
        for hidden in self._hidden:
            raw = raw.replace(hidden, HIDDEN)
        return raw

    def _refuse(self, endpoint: str, reply: httpx.Response, raw: bytes) -> NoReturn:
        status = reply.status_code
        if reply.is_redirect:
            message = f"the server at {self._shown} answered {status} and points elsewhere; is this its address?"
            raise SourceError(message, endpoint=endpoint, status=status)
        retry = status == 429 or status >= 500
        said = _explanation(self._clean(raw)) or self._clean(reply.reason_phrase.encode()).decode()
        message = f"the server at {self._shown} answered {status} ({said})."
        error = SourceError(message, endpoint=endpoint, status=status, retry=retry)
        if retry:
            raise _TryAgain(error, wait=_retry_after(reply))
        raise error


class _TryAgain(Exception):
    """An attempt failed in a way that may pass; `wait` is how many seconds the server asks for."""

    def __init__(self, error: SourceError, *, wait: float = 0.0):
        self.error, self.wait = error, wait
        super().__init__(str(error))


def too_late(endpoint: str, timeout: float) -> DeadlineExceeded:
    """Return the error of a call that had `timeout` seconds."""
    return DeadlineExceeded(f"no complete answer came within {max(0.0, timeout):.3g} s.", endpoint=endpoint, retry=True)


def decoded(reply: Reply, endpoint: str) -> Any:
    """Return the JSON in `reply`. Raises BadReply."""
    try:
        return json.loads(reply.raw, parse_constant=lambda _: None)  # NaN and Infinity are not JSON, but come
    except (ValueError, RecursionError) as e:
        if reply.raw.lstrip().startswith(b"<"):
            raise BadReply("the reply is a web page, not JSON", endpoint=endpoint, status=reply.status) from e
        raise BadReply(f"the reply is not valid JSON ({e})", endpoint=endpoint, status=reply.status) from e


def _spellings(secret: str) -> tuple[bytes, ...]:
    """How a reply may spell a secret: as it is, in an address, in JSON."""
    if len(secret) < _SHORTEST:
        return ()
    ways = secret, quote(secret, safe=""), json.dumps(secret)[1:-1], secret.replace("/", "\\/")
    return tuple(dict.fromkeys(way.encode() for way in ways))


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


def _explanation(raw: bytes) -> str:
    # FastAPI, which CRAG's server is made with, explains errors under "detail": a sentence, or a list of them.
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    said = next((value[key] for key in ("detail", "message", "error", "title") if value.get(key)), None)
    if isinstance(said, list):
        said = said[0]
    if isinstance(said, dict):
        said = said.get("msg") or said.get("message")
    return " ".join(said.split())[:200].rstrip(".") if isinstance(said, str) else ""


def _retry_after(reply: httpx.Response) -> float:
    # Seconds or a date, RFC 9110, section 10.2.3.
    said = reply.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except ValueError:
        return 0.0
