"""Data files that map a key to a value: CRAG's pickled dicts and SqliteDict files, or JSON files in their place."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any

from kg.crag_api.files import DataFileError, Once, existing, no_collection, read_json
from kg.crag_api.safe_pickle import loads, read_bytes

_DEPTH = 50  # of a value; what is deeper, or holds itself, is refused
_LEAVES = frozenset({str, int, bool, type(None)})


def read_dict(path: Path) -> dict[str, Any]:
    """Return the dict of a pickle file, or of the JSON file in its place. Raises DataFileError."""
    path = existing(path)
    data = read_json(path) if path.suffix == ".json" else loads(pickled := read_bytes(path), f"The data file {path}")
    if not isinstance(data, dict):
        raise DataFileError(f"The data file {path} should hold an object, but holds a {type(data).__name__}.")
    if odd := next((key for key in data if not isinstance(key, str)), None):
        raise DataFileError(f"The data file {path} should have texts for keys, but has {odd!r:.40}.")
    if path.suffix != ".json":
        copier = Copier(len(pickled))
        with no_collection():
            for key, value in data.items():
                try:
                    data[key] = copier(value)  # one by one, so that there are never two of all
                except ValueError as e:
                    raise DataFileError(f"The data file {path} holds {e} at {key!r:.60}.") from e
    return data


class Keyed:
    """The values of a SqliteDict file, read one by one, or of the JSON file {key: value} in its place.

    A file is opened as one that does not change, so that SQLite writes nothing beside it. Threads may share this.
    """

    def __init__(self, path: Path):
        self._path = path
        self._json = Once(lambda: read_dict(path))
        self._connection = Once(self._open)
        self._lock = threading.Lock()
        self._recent = lru_cache(maxsize=64)(self._read)  # a question asks for several facts of a company

    def get(self, key: str) -> Any:
        """Return the value at `key`, with None for the numbers JSON does not have; None if there is no such key.

        Raises DataFileError.
        """
        return self._recent(key)

    def _read(self, key: str) -> Any:
        if self._in_json():
            return self._json().get(key)
        rows = self._rows("SELECT value FROM unnamed WHERE key = ?", key)
        return self._value(key, rows[0][0]) if rows else None

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield every key and its value. Raises DataFileError."""
        if self._in_json():
            yield from self._json().items()
        else:
            yield from ((key, self._value(key, value)) for key, value in self._rows("SELECT key, value FROM unnamed"))

    def keys(self) -> list[str]:
        """Return every key. Raises DataFileError."""
        return list(self._json()) if self._in_json() else [key for (key,) in self._rows("SELECT key FROM unnamed")]

    def exists(self) -> bool:
        """Return whether there is a file to read."""
        return existing(self._path).is_file()

    def _in_json(self) -> bool:
        return existing(self._path).suffix == ".json"

    def _value(self, key: str, pickled: Any) -> Any:
        what = f"The data file {self._path}, at {key!r:.60},"
        if not isinstance(pickled, bytes):
            raise DataFileError(f"{what} does not hold a pickle.")
        value = loads(pickled, what)
        try:
            return Copier(len(pickled))(value)
        except ValueError as e:
            raise DataFileError(f"{what} holds {e}.") from e

    def _rows(self, sql: str, *args: str) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection().execute(sql, args).fetchall()
        except UnicodeEncodeError:  # half of a surrogate pair, which no key of a file has
            return []
        except sqlite3.Error as e:
            raise DataFileError(f"The data file {self._path} is not a usable SqliteDict file ({e}).") from e

    def _open(self) -> sqlite3.Connection:
        if not self._path.is_file():
            raise DataFileError(f"The data file {self._path} cannot be read (there is no such file).")
        address = f"{self._path.resolve().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)  # calls take turns, see _rows
        weakref.finalize(self, connection.close)
        return connection


class Copier:
    """Makes copies of values as JSON would carry them: lists for tuples, None for NaN and infinities.

    They may have `room` parts in all: a pickle of a hundred bytes can hold one list a billion times.
    """

    def __init__(self, room: int):
        self._room = room

    def __call__(self, value: Any, depth: int = 0) -> Any:
        """Return a copy of `value`. Raises ValueError if it is too deep, too large, or nothing JSON knows."""
        kind = type(value)
        if kind in _LEAVES:
            return value
        if kind is float:
            return value if isfinite(value) else None
        if kind is not dict and kind is not list and kind is not tuple:
            raise ValueError(f"a {kind.__name__}")
        self._room -= len(value)
        if depth > _DEPTH or self._room < 0:
            raise ValueError("a structure that is too deep or too large")
        if kind is dict:
            # texts and numbers, nearly all there is, are copied here: a call for each would double the time
            return {
                key if type(key) is str else _key(key): item
                if type(item) in _LEAVES or (type(item) is float and isfinite(item))
                else self(item, depth + 1)
                for key, item in value.items()
            }
        return [item if type(item) in _LEAVES else self(item, depth + 1) for item in value]


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float)):
        return repr(key)
    raise ValueError(f"a {type(key).__name__} for a key")
