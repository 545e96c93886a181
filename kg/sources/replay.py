"""A source that answers from memory, and one that writes such memories down. The test double that ships."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kg.errors import BadReply, DeadlineExceeded, SourceError
from kg.sources.base import Name, Source

_KINDS: dict[str, type[SourceError]] = {e.__name__: e for e in (SourceError, BadReply, DeadlineExceeded)}


def args_key(args: Mapping[str, Any]) -> str:
    """Return the text that stands for `args` in a replay.

    >>> args_key({"query": 597, "exact": None})
    '{"exact": null, "query": 597}'
    """
    return json.dumps(dict(args), sort_keys=True)


class ReplaySource:
    """Answers from `replies`: (endpoint, arguments as JSON) -> the reply, or an exception to raise.

    `calls` is every (endpoint, arguments) asked for so far, in order; `named` the names of each table.

    >>> source = ReplaySource({("/movie/get_movie_info_by_id", '{"query": 597}'): {"id": 597, "title": "Titanic"}})
    >>> source.call("/movie/get_movie_info_by_id", {"query": 597}, timeout=1)["title"]
    'Titanic'
    >>> source.calls
    [('/movie/get_movie_info_by_id', {'query': 597})]
    """

    def __init__(
        self,
        replies: Mapping[tuple[str, str], Any],
        *,
        named: Mapping[str, Sequence[Name]] | None = None,
        name: str = "replay",
        parallel: int = 1,
    ):
        self.name, self.parallel = name, parallel
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._replies = {(endpoint, args_key(json.loads(args))): r for (endpoint, args), r in replies.items()}
        self._named = {} if named is None else dict(named)
        self._lock = threading.Lock()

    @classmethod
    def load(cls, path: Path, *, named: Mapping[str, Sequence[Name]] | None = None) -> ReplaySource:
        """Return the replay of a file written by RecordingSource; of equal calls the last counts.

        Raises SourceError naming the file and the line.
        """
        replies: dict[tuple[str, str], Any] = {}
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as e:
            raise SourceError(f"this recording cannot be read ({e}).", endpoint=str(path)) from e
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                endpoint, args = entry["endpoint"], args_key(entry["args"])
                replies[endpoint, args] = _error(endpoint, entry["error"]) if "error" in entry else entry["result"]
            except (ValueError, TypeError, KeyError) as e:
                raise SourceError("this line is not a recorded call.", endpoint=f"{path}:{number}") from e
        return cls(replies, named=named)

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        """Return or raise what was recorded. Raises SourceError, status 404, if this call was not."""
        key = endpoint, args_key(args)
        with self._lock:
            self.calls.append((endpoint, dict(args)))
        if key not in self._replies:
            raise SourceError(f"no reply is recorded for {key[1]}.", endpoint=endpoint, status=404)
        reply = self._replies[key]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def names(self, table: str) -> Iterable[Name]:
        return self._named.get(table, ())

    def fingerprint(self) -> str:
        text = repr(sorted((endpoint, args, repr(reply)) for (endpoint, args), reply in self._replies.items()))
        return f"{self.name}:{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def close(self) -> None:
        """Nothing to give back."""


class RecordingSource:
    """Passes calls on to `source` and appends each, with its reply or SourceError, to the JSON-lines file `path`."""

    def __init__(self, source: Source, path: Path):
        self.name, self.parallel = source.name, source.parallel
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._source, self._path = source, path
        self._lock = threading.Lock()

    def call(self, endpoint: str, args: Mapping[str, Any], *, timeout: float) -> Any:
        """Return or raise what the recorded source does. Raises SourceError also if the file cannot be written."""
        try:
            reply = self._source.call(endpoint, args, timeout=timeout)
        except SourceError as e:
            self._write(endpoint, args, {"error": _described(e)})
            raise
        self._write(endpoint, args, {"result": reply})
        return reply

    def names(self, table: str) -> Iterable[Name]:
        return self._source.names(table)

    def fingerprint(self) -> str:
        return self._source.fingerprint()

    def close(self) -> None:
        """Close the recorded source."""
        self._source.close()

    def _write(self, endpoint: str, args: Mapping[str, Any], outcome: dict[str, Any]) -> None:
        line = json.dumps({"endpoint": endpoint, "args": dict(args)} | outcome)
        with self._lock:
            self.calls.append((endpoint, dict(args)))
            try:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
            except OSError as e:
                raise SourceError(f"the recording {self._path} cannot be written ({e}).", endpoint=endpoint) from e


def _described(e: SourceError) -> dict[str, Any]:
    # The message without what the constructor puts around it.
    message = str(e).removeprefix(f"{e.endpoint}: ")
    facts: dict[str, Any] = {"kind": type(e).__name__, "status": e.status, "retry": e.retry}
    if isinstance(e, BadReply):
        return facts | {"message": message.removesuffix(f" (at {e.path})"), "path": e.path}
    return facts | {"message": message}


def _error(endpoint: str, facts: Mapping[str, Any]) -> SourceError:
    kind, message, status = _KINDS[facts["kind"]], facts["message"], facts["status"]
    if kind is BadReply:
        return BadReply(message, endpoint=endpoint, path=facts["path"], status=status)
    return kind(message, endpoint=endpoint, status=status, retry=facts["retry"])
