"""Not more calls to a host than it wants, over all threads."""

from __future__ import annotations

import threading
import time

from kg.errors import DeadlineExceeded


class Pace:
    """Lets `rate` calls a second go to each host, evenly spaced; 0 is any number."""

    def __init__(self, rate: float):
        self._gap = 1 / rate if rate else 0.0
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}  # host -> when its next call may go, in time.monotonic() seconds

    def wait(self, host: str, endpoint: str, deadline: float) -> None:
        """Return when a call may go. Raises DeadlineExceeded at once if that is after `deadline`; no turn is used."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next.get(host, now))
            if turn > deadline:
                said = f"the pace allowed for {host} leaves no turn within the time."
                raise DeadlineExceeded(said, endpoint=endpoint, retry=True)
            self._next[host] = turn + self._gap
        if turn > now:
            time.sleep(turn - now)

    def hold(self, host: str, seconds: float) -> None:
        """Let no call go to `host` for so long: it asked for a pause."""
        with self._lock:
            until = time.monotonic() + seconds
            self._next[host] = max(until, self._next.get(host, until))
