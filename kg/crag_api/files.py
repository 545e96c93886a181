"""Reading the data files of a directory in CRAG's layout: once, whole, and with an error that names the file."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class DataFileError(Exception):
    """A data file is missing, unreadable or not what it should be; the message names it."""


class Once(Generic[T]):
    """A value made at its first use, and once, whichever thread comes first. A failure is tried again."""

    def __init__(self, make: Callable[[], T]):
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


def existing(path: Path) -> Path:
    """Return `path`, or the JSON file of that name which may lie in its place: safer to ship than a pickle.

    >>> existing(Path("music/grammy_df.pickle")).name  # neither exists
    'grammy_df.pickle'
    """
    safe = path.with_suffix(".json")
    return safe if not path.exists() and safe.exists() else path


def read_objects(path: Path) -> dict[str, dict[str, Any]]:
    """Return the objects of a JSON file {key: object}; NaN and Infinity, which are not JSON, become None.

    Raises DataFileError.
    """
    data = read_json(path)
    if not isinstance(data, dict):
        raise DataFileError(f"The data file {path} should hold an object, but holds a {type(data).__name__}.")
    for key, value in data.items():
        if not isinstance(value, dict):
            raise DataFileError(f"The data file {path} should hold an object at {key!r}, but holds {value!r:.40}.")
    return data


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON file that holds a list of them. Raises DataFileError."""
    data = read_json(path)
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise DataFileError(f"The data file {path} should hold a list of objects.")
    return data


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; NaN and Infinity, which are not JSON, become None. Raises DataFileError."""
    try:
        with no_collection():
            return json.loads(path.read_bytes(), parse_constant=_nothing)
    except OSError as e:
        raise DataFileError(f"The data file {path} cannot be read ({e.strerror or e}).") from e
    except (ValueError, RecursionError) as e:  # ValueError: not JSON, not UTF-8, a number of 5,000 digits
        raise DataFileError(f"The data file {path} is not valid JSON ({e}).") from e


def _nothing(_: str) -> None:
    return None


@contextmanager
def no_collection() -> Iterator[None]:
    # A decoder makes a million objects and no garbage: looking for garbage meanwhile doubles the time.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
