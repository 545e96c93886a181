"""Pooled HTTP connections that keep a deadline.

httpx limits each read, so a server that sends a byte now and then holds a call for ever, in its headers too.
Here every wait for the network ends at the moment named by `until`, whatever the connection was opened for.
Name look-ups are the exception: the operating system offers no limit for them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
import httpx

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Let no wait of a DeadlineTransport in this block go past `deadline`, in time.monotonic() seconds."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


class DeadlineTransport(httpx.BaseTransport):
    """The transport for httpx.Client. Raises httpx.TimeoutException when the deadline has come."""

    def __init__(self, connections: int):
        self._pool = httpcore.ConnectionPool(
            max_connections=connections, keepalive_expiry=30.0, network_backend=_Backend()
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        assert isinstance(request.stream, httpx.SyncByteStream)
        with _as_httpx():
            reply = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        assert isinstance(reply.stream, Iterable)
        return httpx.Response(
            reply.status, headers=reply.headers, stream=_Body(reply.stream), extensions=reply.extensions
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, chunks: Iterable[bytes]):
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._chunks

    def close(self) -> None:
        if hasattr(self._chunks, "close"):
            self._chunks.close()


class _Backend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.connect_tcp(host, port, left, local_address, socket_options))


class _Stream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream):
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(timeout, httpcore.WriteTimeout))

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    def close(self) -> None:
        self._inner.close()


def _left(timeout: float | None, error: type[httpcore.TimeoutException]) -> float | None:
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise error("the deadline has come")
    if left == float("inf"):
        return timeout
    return left if timeout is None else min(left, timeout)


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as e:
        raise httpx.ReadTimeout(str(e)) from e
    except httpcore.ConnectError as e:
        raise httpx.ConnectError(str(e)) from e
    except httpcore.ProtocolError as e:
        raise httpx.RemoteProtocolError(str(e)) from e
    except (httpcore.NetworkError, httpcore.ConnectionNotAvailable) as e:
        raise httpx.NetworkError(str(e)) from e
