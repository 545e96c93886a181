"""From the values of a reply to those of a column of a declared type.

Works on all cells of a column at once, because a Python loop over them would cost more than DuckDB's appender. What is
not of the declared type becomes NULL when it is a date, number or flag that merely was not filled in; a list or object
where a value should be, or a number that does not fit, is a BadReply.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from kg.domain import Column
from kg.errors import BadReply

Cells = Sequence[Any]  # a column; an `array` where all are numbers
# Numbers below are no moments: 20240229 is a date without its dashes, and 1970 had few facts on its first day.
_EPOCH_FROM = 100_000_000
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - moments are UTC or wall clocks, and stored without a zone
# "2024-07-15 10:30:00 EST": the clock of the exchange. APIs write EST in summer too, so that only the digits count.
_ZONE = re.compile(r"\s*[A-Za-z]{2,5}$")


def typed(cells: Cells, column: Column, path: str, endpoint: str) -> Cells:
    """Return `cells` with the type of `column`. Raises BadReply, which says that they are at `path`."""
    plain = _plain(cells, column.type)
    if plain is None:
        plain = converted(cells, column, path, endpoint)
    if column.null_when:
        nothing = column.null_when
        return [None if v in nothing else v for v in plain]
    return plain


def converted(cells: Cells, column: Column, path: str, endpoint: str) -> Cells:
    """Return `cells`, one by one, as values of the type of `column`. Raises BadReply."""
    kinds = set(map(type, cells))
    if list in kinds or dict in kinds:
        came = "a list" if list in kinds else "an object"
        raise BadReply(f"{column.type} was expected, {came} came", endpoint=endpoint, path=path)
    plain, convert = _TYPES[column.type]
    if not kinds <= plain:
        cells = [None if v is None else convert(v) for v in cells]
    held = [v for v in cells if v is not None]
    if column.type in _WIDTHS and column.type != "DOUBLE" and _plain(held, column.type) is None:
        raise BadReply(f"a number does not fit in {column.type}", endpoint=endpoint, path=path)
    if column.type == "TEXT" and _plain(held, "TEXT") is None:
        # JSON can spell halves of characters, no database can hold them
        return [None if t is None else t.encode(errors="replace").decode() for t in cells]
    return cells


def _plain(cells: Cells, type_: str) -> Cells | None:
    """`cells` if all are texts that can be written, or numbers that fit; the other types are not looked at."""
    try:
        if type_ == "TEXT":
            "".join(cells).encode()
            return cells
        if type_ in _WIDTHS:
            numbers = array(_WIDTHS[type_], cells)
            # NaN is pandas' way to say "missing", and any NaN makes the sum one
            return numbers if type_ != "DOUBLE" or math.isfinite(sum(numbers)) else None
    except (TypeError, OverflowError, UnicodeEncodeError):
        pass
    return None


def _text(v: Any) -> str | None:
    if type(v) is bool:
        return "true" if v else "false"
    return None if v != v else str(v)  # NaN again


def _number(v: Any) -> int | None:
    try:
        return (
            v if type(v) is int else int(v) if isinstance(v, str) and v.strip().lstrip("-").isdigit() else int(float(v))
        )
    except (ValueError, OverflowError):
        return None


def _real(v: Any) -> float | None:
    try:
        x = float(v)
    except (ValueError, OverflowError):
        return None
    return None if x != x else x


def _date(v: Any) -> dt.date | None:
    if type(v) in (int, float) and abs(v) >= _EPOCH_FROM:
        moment = _since_epoch(v)
        return moment and moment.date()
    try:
        return dt.date.fromisoformat(str(v)[:10])
    except ValueError:
        return None


def _moment(v: Any) -> dt.datetime | None:
    if type(v) in (int, float) and abs(v) >= _EPOCH_FROM:
        return _since_epoch(v)
    text = str(v)
    if text[-1:].isalpha() and text[-1] != "Z":
        text = _ZONE.sub("", text)
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else moment.astimezone(dt.UTC).replace(tzinfo=None)


def _since_epoch(milliseconds: float) -> dt.datetime | None:
    try:
        return _EPOCH + dt.timedelta(milliseconds=milliseconds)
    except (OverflowError, ValueError):
        return None


def _flag(v: Any) -> bool | None:
    return {"true": True, "false": False, "1": True, "0": False}.get(str(v).lower())


# type -> (the Python types that need no conversion, the conversion of any other)
_TYPES: dict[str, tuple[set[type], Callable[[Any], Any]]] = {
    "TEXT": ({str, type(None)}, _text),
    "INTEGER": ({int, type(None)}, _number),
    "BIGINT": ({int, type(None)}, _number),
    "DOUBLE": ({type(None)}, _real),
    "DATE": ({type(None), dt.date}, _date),
    "TIMESTAMP": ({type(None)}, _moment),
    "BOOLEAN": ({bool, type(None)}, _flag),
}
_WIDTHS = {"INTEGER": "i", "BIGINT": "q", "DOUBLE": "d"}  # as `array` calls them
