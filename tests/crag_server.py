"""A real server of CRAG's API on a free loopback port; needs the extra `serve`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kg.crag_api.server import make_app

uvicorn = pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
pytest.importorskip("fastapi", reason="the extra `serve` is not installed")


@contextmanager
def running(base: Path) -> Iterator[str]:
    """The address of a server over the data directory `base`, for as long as the block lasts."""
    server = uvicorn.Server(
        uvicorn.Config(make_app(base), host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    limit = time.monotonic() + 10
    while not server.started and time.monotonic() < limit:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
