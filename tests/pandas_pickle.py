"""DataFrames as pandas 2 pickles them, made without pandas: for tests of what reads them."""

from __future__ import annotations

import io
import pickle
import struct
from typing import Any

CLASSES = {
    "DataFrame": "pandas.core.frame",
    "BlockManager": "pandas.core.internals.managers",
    "_unpickle_block": "pandas._libs.internals",
    "__pyx_unpickle_NDArrayBacked": "pandas._libs.arrays",
    "DatetimeArray": "pandas.core.arrays.datetimes",
    "IntegerArray": "pandas.core.arrays.integer",
    "_new_Index": "pandas.core.indexes.base",
    "Index": "pandas.core.indexes.base",
    "RangeIndex": "pandas.core.indexes.range",
    "MultiIndex": "pandas.core.indexes.multi",
    "_reconstruct": "numpy.core.multiarray",
    "_frombuffer": "numpy._core.numeric",
    "dtype": "numpy",
    "ndarray": "numpy",
}


class Made:
    """Pickles as a call of the named class, with a state if there is one; without arguments as the class itself."""

    def __init__(self, name: str, *args: Any, state: Any = None):
        self.name, self.args, self.state = name, args, state


class _Pickler(pickle._Pickler):
    """The pickler written in Python, so that a class can be named that cannot be imported here."""

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if not isinstance(obj, Made):
            super().save(obj, save_persistent_id)
            return
        for text in (CLASSES[obj.name], obj.name):
            super().save(text)
        self.write(pickle.STACK_GLOBAL)
        if obj.args or obj.state is not None:
            super().save(obj.args)
            self.write(pickle.REDUCE)
        if obj.state is not None:
            self.save(obj.state)
            self.write(pickle.BUILD)


def dumps(obj: Any, protocol: int = 4) -> bytes:
    """Return the pickle of `obj`, which may hold Made objects."""
    file = io.BytesIO()
    _Pickler(file, protocol).dump(obj)
    return file.getvalue()


def array(kind: str, shape: tuple[int, ...], values: Any, *, by_column: bool = False) -> Made:
    extra = ({}, (b"ns", 1, 1, 1)) if kind == "M8" else None
    order = "|" if kind in ("O8", "b1") else "<"
    dtype = Made("dtype", kind, False, True, state=(3, order, None, None, None, -1, -1, 0, extra))
    return Made("_reconstruct", Made("ndarray"), (0,), b"b", state=(1, shape, dtype, by_column, values))


def index(name: str | None, values: list[Any]) -> Made:
    return Made("_new_Index", Made("Index"), {"data": array("O8", (len(values),), values), "name": name})


def numbered(rows: int) -> Made:
    return Made("_new_Index", Made("RangeIndex"), {"name": None, "start": 0, "stop": rows, "step": 1})


def levels(named: dict[str, list[Any]], codes: list[Made]) -> Made:
    found = [index(name, values) for name, values in named.items()]
    return Made("_new_Index", Made("MultiIndex"), {"levels": found, "codes": codes, "names": list(named)})


def frame(names: list[Any], rows: Made, *blocks: tuple[Made, Any]) -> Made:
    """Return a DataFrame of blocks, each an array and the slice of its columns' places."""
    placed = tuple(Made("_unpickle_block", values, where, 2) for values, where in blocks)
    manager = Made("BlockManager", placed, [index(None, names), rows])
    return Made("DataFrame", state={"_mgr": manager, "_typ": "dataframe"})


def frame_pickle(columns: dict[str, list[Any]]) -> bytes:
    """Return the pickle of a DataFrame with these columns, of which those of integers only are int64."""
    rows = len(next(iter(columns.values())))
    blocks = []
    for place, values in enumerate(columns.values()):
        if all(type(value) is int for value in values):
            values = array("i8", (1, rows), struct.pack(f"<{rows}q", *values))
        else:
            values = array("O8", (1, rows), values)
        blocks.append((values, slice(place, place + 1, 1)))
    return dumps(frame(list(columns), numbered(rows), *blocks))
