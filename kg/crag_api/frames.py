"""Reading a pandas DataFrame from a pickle without pandas, into columns of plain Python values.

The pickle asks for classes of pandas and numpy. It gets stand-ins that keep their arguments and their state; what
they would have become is then worked out here, with every size checked. That is enough for the frames that pandas
2 writes with columns of bool, int, float, datetime and object (text, None, NaN), and nullable integers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kg.crag_api.files import DataFileError
from kg.crag_api.safe_pickle import loads, read_bytes


@dataclass(frozen=True)
class Frame:
    """A table of `rows` rows.

    `columns` maps a column's name to its values: bool, int, float, str, naive datetime, and None for NaT and for a
    missing nullable integer; None and NaN in a column of objects stay what they are. `index` is the same for the
    levels of the row labels, in which NaN stands for a missing label; it is empty if the rows are just numbered.
    """

    columns: dict[str, list[Any]]
    index: dict[str, list[Any]]
    rows: int


def load_frame(path: Path) -> Frame:
    """Return the DataFrame of a pickle file.

    Raises DataFileError, naming the file, and the class if the file asks for one that a frame does not need.
    """
    what = f"The data file {path}"
    kept = loads(read_bytes(path), what, ADMITTED)
    try:
        return _frame(kept)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error) as e:
        raise DataFileError(f"{what} does not hold a DataFrame of a known layout ({type(e).__name__}: {e}).") from e


class _Kept:
    """Keeps the arguments and the state that a pickle gives to the object in whose place it stands."""

    args: tuple[Any, ...]
    state: Any

    def __new__(cls, *args: Any) -> _Kept:
        self = super().__new__(cls)
        self.args, self.state = args, None
        return self

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _DataFrame(_Kept):
    pass


class _Manager(_Kept):
    pass


class _Block(_Kept):
    pass


class _Array(_Kept):
    pass


class _Buffer(_Kept):
    pass


class _Dtype(_Kept):
    pass


class _Dates(_Kept):
    pass


class _Integers(_Kept):
    pass


class _Index(_Kept):
    pass


class _Name(_Kept):
    """Stands for a class that is only mentioned: an argument of another."""


class _RangeIndex(_Name):
    pass


class _MultiIndex(_Name):
    pass


ADMITTED: dict[tuple[str, str], type] = {
    ("builtins", "slice"): slice,
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Name,
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"): _Dates,
    ("pandas._libs.internals", "_unpickle_block"): _Block,
    ("pandas.core.arrays.datetimes", "DatetimeArray"): _Name,
    ("pandas.core.arrays.integer", "Int64Dtype"): _Name,
    ("pandas.core.arrays.integer", "IntegerArray"): _Integers,
    ("pandas.core.frame", "DataFrame"): _DataFrame,
    ("pandas.core.indexes.base", "Index"): _Name,
    ("pandas.core.indexes.base", "_new_Index"): _Index,
    ("pandas.core.indexes.multi", "MultiIndex"): _MultiIndex,
    ("pandas.core.indexes.range", "RangeIndex"): _RangeIndex,
    ("pandas.core.internals.managers", "BlockManager"): _Manager,
    # numpy 1 and 2; the second function is for protocol 5
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy.core.numeric", "_frombuffer"): _Buffer,
    ("numpy._core.numeric", "_frombuffer"): _Buffer,
}

_FORMATS = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
            "f4": "f", "f8": "d"}  # fmt: skip
_TICKS = {b"s": 1, b"ms": 10**3, b"us": 10**6, b"ns": 10**9}  # in a second
_NAT = -(2**63)
_EPOCH = datetime.fromisoformat("1970-01-01")


def _frame(kept: Any) -> Frame:
    blocks, (labels, rows) = _a(_Manager, _a(_DataFrame, kept).state["_mgr"]).args
    names = _labels(labels)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError("the columns' names are not distinct texts")
    index, count = _index(rows)
    columns: list[list[Any]] = [[] for _ in names]
    for block in blocks:
        values, where, _ = _a(_Block, block).args
        places = range(*where.indices(len(names))) if isinstance(where, slice) else _vector(where)
        for place, column in zip(places, _rows(values, count), strict=True):
            columns[place] = column
    if any(len(column) != count for column in columns):
        raise ValueError("a column is too short")
    return Frame(dict(zip(names, columns, strict=True)), index, count)


def _a(kind: type[_Kept], value: Any) -> _Kept:
    if not isinstance(value, kind):
        raise ValueError(f"{type(value).__name__} where {kind.__name__} should be")
    return value


def _index(kept: Any) -> tuple[dict[str, list[Any]], int]:
    # The levels of the row labels, and the number of rows.
    kind, about = _a(_Index, kept).args
    if kind is _RangeIndex:
        start, stop, step = about["start"], about["stop"], about["step"]
        return {}, len(range(start, stop, step))
    if kind is _MultiIndex:
        levels = {
            name: _coded(_labels(level), _vector(codes))
            for name, level, codes in zip(about["names"], about["levels"], about["codes"], strict=True)
        }
        lengths = {len(values) for values in levels.values()}
        if len(levels) != len(about["names"]) or len(lengths) != 1:
            raise ValueError("the levels of the index do not fit together")
        return levels, lengths.pop()
    values = _labels(kept)
    return {about["name"]: values}, len(values)


def _coded(level: list[Any], codes: Sequence[int]) -> list[Any]:
    if any(not -1 <= code < len(level) for code in codes):
        raise ValueError("a code of the index has no label")
    return [math.nan if code == -1 else level[code] for code in codes]


def _labels(kept: Any) -> list[Any]:
    _, about = _a(_Index, kept).args
    return _vector(about["data"])


def _vector(kept: Any) -> list[Any]:
    (values,) = _rows(kept, None)
    return values


def _rows(kept: Any, count: int | None) -> Iterator[list[Any]]:
    # The rows of an array of one or two dimensions. A block's row is a column of the frame; it has `count` values.
    if isinstance(kept, _Integers):
        mask = _vector(kept.state["_mask"])
        values = _vector(kept.state["_data"])
        yield [None if missing else value for value, missing in zip(values, mask, strict=True)]
        return
    if isinstance(kept, _Dates):
        kept = kept.state[1]
    flat, shape, by_column = _flat(kept)
    if len(shape) == 1:
        shape = (1, *shape)
    height, width = shape
    if count is not None and width != count:
        raise ValueError(f"a column of {width:,} values in a frame of {count:,} rows")
    if by_column:
        yield from (flat[row::height] for row in range(height))
    else:
        yield from (flat[row * width : (row + 1) * width] for row in range(height))


def _flat(kept: Any) -> tuple[list[Any], tuple[int, ...], bool]:
    # The values of an array, its shape, and whether it is stored column by column.
    if isinstance(kept, _Buffer):
        raw, dtype, shape, order = kept.args
        by_column = order == "F"
    else:
        _, shape, dtype, by_column, raw = _a(_Array, kept).state
    if len(shape) not in (1, 2) or any(not isinstance(n, int) or n < 0 for n in shape):
        raise ValueError(f"an array of shape {shape}")
    return _values(raw, _a(_Dtype, dtype), math.prod(shape)), shape, bool(by_column)


def _values(raw: Any, dtype: _Kept, size: int) -> list[Any]:
    kind = dtype.args[0]
    if kind in ("O8", "O"):
        if not isinstance(raw, list) or len(raw) != size:
            raise ValueError(f"not a list of {size:,} objects")
        if odd := {type(value) for value in raw} - {str, int, float, bool, type(None)}:
            raise ValueError(f"an object of type {odd.pop().__name__}")
        return raw
    if dtype.state is not None and dtype.state[1] not in ("<", "|"):
        raise ValueError(f"byte order {dtype.state[1]!r}")
    if kind in ("M8", "M8[ns]"):
        ticks = _TICKS[dtype.state[8][1][0]]
        return [
            None if value == _NAT else _EPOCH + timedelta(microseconds=value * 10**6 // ticks)
            for value in struct.unpack(f"<{size}q", raw)
        ]
    return list(struct.unpack(f"<{size}{_FORMATS[kind]}", raw))
