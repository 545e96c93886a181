"""Ctrl-C during a query of DuckDB: it notices seconds later or not at all, and hides it.

Python handles a signal between two of its own steps, and there are none while DuckDB computes. But the signal itself
can be had at once, as a byte in a socket (signal.set_wakeup_fd); a thread waits for it and stops the query.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kg.store import Store

_END = b"\0"


@contextmanager
def ctrl_c(store: Store) -> Iterator[None]:
    """While the block runs, Ctrl-C stops a query of `store` at once, and is a KeyboardInterrupt.

    Outside the main thread, which alone gets signals, only the second holds.
    """
    try:
        if threading.current_thread() is threading.main_thread():
            with _told_of_signals(store.interrupt):
                yield
        else:
            yield
    except RuntimeError as e:
        if str(e) == "Query interrupted":  # DuckDB's word for a Ctrl-C it has seen
            raise KeyboardInterrupt from e
        raise


@contextmanager
def _told_of_signals(stop: Callable[[], None]) -> Iterator[None]:
    """While the block runs, `stop` is called in another thread on SIGINT."""
    inside, outside = socket.socketpair()

    def watch() -> None:
        while (byte := inside.recv(1)) not in (_END, b""):  # nothing: a second Ctrl-C while the block was left
            if byte[0] == signal.SIGINT:
                stop()

    watcher = threading.Thread(target=watch, daemon=True)
    outside.setblocking(False)
    before = signal.set_wakeup_fd(outside.fileno(), warn_on_full_buffer=False)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        outside.send(_END)
        watcher.join()
        inside.close()
        outside.close()
