"""What a source is: whatever answers calls, and what it can say about the names in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Name:
    """A name a source knows: how people write it, the key of its row, and how well known it is (larger is better).

    Weights compare within one table.
    """

    text: str
    key: Any
    weight: float


class Source(Protocol):
    """Answers calls. Threads may share one."""

    name: str
    parallel: int  # how many calls at a time pay

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        """Return the decoded reply of `endpoint` ("/movie/get_movie_info_by_id"), within `timeout` seconds.

        The reply may be shared: do not change it. Raises SourceError; with `retry` set, the same call may succeed
        later. Its leaves are BadReply (the reply cannot be read) and DeadlineExceeded (the time ran out).
        """

    def names(self, table: str) -> Iterable[Name]:
        """Return all known names of an entity table; nothing where they cannot be listed."""

    def fingerprint(self) -> str:
        """Return a text that changes when the data may have: a part of the keys of caches."""

    def close(self) -> None:
        """Give back connections and files."""
