"""Pickles are read as data: what would run something is refused by name, and nothing of it runs."""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pandas_pickle import Made, array, dumps, frame, levels, numbered

from kg.crag_api.files import DataFileError
from kg.crag_api.frames import load_frame
from kg.crag_api.safe_pickle import load_plain

PLAIN: dict[str, Any] = {"a": [1, 2.5, None, True, "Amélie", {"b": ("c", -7, 10**30)}], "long": "x" * 70_000, "": {}}
PLAIN["many"] = [str(i) for i in range(3000)]


class Calls:
    """An object whose pickle calls `function` when it is loaded."""

    def __init__(self, function: Callable[..., Any], *args: Any):
        self.function, self.args = function, args

    def __reduce__(self) -> Any:
        return self.function, self.args


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.pickle"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_data(file: Path, protocol: int) -> None:
    file.write_bytes(pickle.dumps(PLAIN, protocol))
    assert load_plain(file) == PLAIN


def short(text: bytes) -> bytes:
    return b"\x8c" + bytes([len(text)]) + text


def named(module: bytes, name: bytes) -> bytes:
    return short(module) + short(name) + b"\x93"


HOSTILE = [
    pytest.param(pickle.dumps(Calls(os.system, "exit 1"), 0), f"{os.name}.system", id="a command, protocol 0"),
    pytest.param(pickle.dumps(Calls(os.system, "exit 1"), 4), f"{os.name}.system", id="a command, protocol 4"),
    pytest.param(pickle.dumps(Calls(eval, "1 + 1")), "builtins.eval", id="eval"),
    pytest.param(pickle.dumps({"deep": [Calls(exec, "x = 1")]}), "builtins.exec", id="below a dict"),
    pytest.param(pickle.dumps(Calls(getattr, slice, "indices")), "builtins.getattr", id="getattr"),
    pytest.param(b"\x80\x04" + named(b"os", b"system") + short(b"true") + b"\x85R.", "os.system", id="STACK_GLOBAL"),
    pytest.param(b"\x80\x04" + named(b"builtins", b"slice.__new__") + b").", "builtins.slice.__new__", id="dotted"),
    pytest.param(b"\x80\x04" + named(b"kg.crag_api.safe_pickle", b"re.sys") + b".", "re.sys", id="through our module"),
    pytest.param(b"cos\nsystem\n(S'true'\ntR.", "os.system", id="GLOBAL"),
    pytest.param(b"(S'true'\nios\nsystem\n.", "os.system", id="INST"),
    pytest.param(b"(cos\nsystem\nS'true'\no.", "os.system", id="OBJ"),
    pytest.param(b"\x80\x02cos\nsystem\n)\x81.", "os.system", id="NEWOBJ"),
    pytest.param(b"\x82\x01.", "not a valid pickle", id="an extension code"),
    pytest.param(b"Pfile\n.", "not a valid pickle", id="a persistent id"),
    pytest.param(b"\x80\x04]r\xff\xff\xff\xff.", "memo number", id="a memo of 64 GB"),
    pytest.param(b"\x80\x04]p4294967295\n.", "memo number", id="the same in digits"),
    pytest.param(b"\x80\x04\x8d\xff\xff\xff\xff\xff\x00\x00\x00x.", "not a valid pickle", id="a text of a terabyte"),
    pytest.param(b"\x80\x05\x96\xff\xff\xff\xff\x07\x00\x00\x00x.", "not a valid pickle", id="a bytearray of 34 GB"),
    pytest.param(b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f].", "not a valid pickle", id="a frame of exabytes"),
    pytest.param(b"\x80\x04(]u.", "not a valid pickle", id="items for a list"),
    pytest.param(b"\x80\x09].", "not a valid pickle", id="a protocol of the future"),
    pytest.param(pickle.dumps(PLAIN)[:-3], "not a valid pickle", id="cut off"),
    pytest.param(b"", "not a valid pickle", id="empty"),
    pytest.param(b"version https://git-lfs.github.com/spec/v1\n", "not a valid pickle", id="a pointer to a large file"),
]  # fmt: skip


@pytest.mark.parametrize("data, sentence", HOSTILE)
@pytest.mark.parametrize("load", [load_plain, load_frame])
def test_hostile(file: Path, load: Callable[[Path], Any], data: bytes, sentence: str) -> None:
    file.write_bytes(data)
    with pytest.raises(DataFileError) as caught:
        load(file)
    assert str(file) in str(caught.value)
    assert sentence in str(caught.value)


def test_no_file(file: Path) -> None:
    with pytest.raises(DataFileError, match="cannot be read"):
        load_plain(file)


def test_structures_without_end_do_no_harm(file: Path) -> None:
    deep: list[Any] = []
    deep.append(deep)
    file.write_bytes(pickle.dumps(deep))
    found = load_plain(file)
    assert found[0] is found
    file.write_bytes(b"\x80\x04" + b"]" * 200_000 + b"a" * 199_999 + b".")
    assert isinstance(load_plain(file), list)


DAY = 86_400 * 10**9  # nanoseconds


def test_a_frame_of_every_kind(file: Path) -> None:
    moments = array("M8", (1, 3), struct.pack("<3q", 0, 19_000 * DAY, -(2**63)))
    dates = Made("__pyx_unpickle_NDArrayBacked", Made("DatetimeArray"), 1, None, state=(None, moments, {}))
    numbers = Made(
        "IntegerArray",
        state={
            "_data": array("i8", (3,), struct.pack("<3q", 5, 6, 7)),
            "_mask": array("b1", (3,), b"\x00\x01\x00"),
        },
    )
    codes = [array("i1", (3,), struct.pack("<3b", 1, 0, -1)), array("i2", (3,), bytes(6))]
    labels = levels({"league": ["ENG", "ESP"], "team": ["Arsenal"]}, codes)
    made = frame(
        ["date", "text", "x", "more", "y", "n"],
        labels,
        (dates, slice(0, 1, 1)),
        (array("O8", (2, 3), ["a", None, "c", "d", "e", 1.5]), slice(1, 5, 2)),
        (array("f8", (2, 3), struct.pack("<6d", 1, 2, 3, 4, 5, 6), by_column=True), slice(2, 6, 2)),
        (numbers, slice(5, 6, 1)),
    )
    file.write_bytes(dumps(made))
    found = load_frame(file)
    assert found.rows == 3
    assert found.columns == {
        "date": [datetime.fromisoformat("1970-01-01"), datetime.fromisoformat("2022-01-08"), None],
        "text": ["a", None, "c"],
        "more": ["d", "e", 1.5],
        "x": [1.0, 3.0, 5.0],
        "y": [2.0, 4.0, 6.0],
        "n": [5, None, 7],
    }
    assert str(found.index) == "{'league': ['ESP', 'ENG', nan], 'team': ['Arsenal', 'Arsenal', 'Arsenal']}"


def test_a_frame_of_protocol_5(file: Path) -> None:
    values = Made("_frombuffer", struct.pack("<2q", 8, 9), Made("dtype", "i8", False, True), (1, 2), "C")
    file.write_bytes(dumps(frame(["year"], numbered(2), (values, slice(0, 1, 1))), 5))
    assert load_frame(file).columns == {"year": [8, 9]}


@pytest.mark.parametrize(
    "names, rows, kind, shape, values, where",
    [
        pytest.param(["a"], 2, "i8", (1, 10**15), b"", slice(0, 1, 1), id="a huge array of no bytes"),
        pytest.param(["a"], 2, "i8", (1, 2), bytes(9), slice(0, 1, 1), id="bytes left over"),
        pytest.param(["a"], 10**18, "i8", (1, 2), bytes(16), slice(0, 1, 1), id="too few rows"),
        pytest.param(["a", "b"], 2, "i8", (1, 2), bytes(16), slice(0, 1, 1), id="a column without values"),
        pytest.param(["a"], 2, "i8", (1, 2), bytes(16), slice("x", {}, 1), id="a place that is none"),
        pytest.param(["a", "a"], 2, "i8", (2, 2), bytes(32), slice(0, 2, 1), id="two columns of a name"),
        pytest.param([1], 2, "i8", (1, 2), bytes(16), slice(0, 1, 1), id="a number for a name"),
        pytest.param(["a"], 2, "O8", (1, 2), [[], "x"], slice(0, 1, 1), id="an object that is a list"),
        pytest.param(["a"], 2, "O8", (1, 2), bytes(16), slice(0, 1, 1), id="pointers"),
        pytest.param(["a"], 2, "V8", (1, 2), bytes(16), slice(0, 1, 1), id="an unknown kind"),
        pytest.param(["a"], 2, "i8", (1, -2), bytes(16), slice(0, 1, 1), id="a negative size"),
        pytest.param(["a"], 2, "M8", (1, 2), struct.pack("<2q", 2**62, -(2**62)), 5, id="no place"),
    ],
)  # fmt: skip
def test_a_frame_that_does_not_fit(
    file: Path,
    names: list[Any],
    rows: int,
    kind: str,
    shape: tuple[int, ...],
    values: Any,
    where: Any,
) -> None:
    made = frame(names, numbered(rows), (array(kind, shape, values), where))
    file.write_bytes(dumps(made))
    with pytest.raises(DataFileError, match="does not hold a DataFrame of a known layout"):
        load_frame(file)


CLASS = named(b"pandas.core.frame", b"DataFrame")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(pickle.dumps([1, 2]), id="a list"),
        pytest.param(b"\x80\x04" + CLASS + b").", id="a class alone"),
        pytest.param(b"\x80\x04" + CLASS + b")\x81.", id="a frame without a state"),
        pytest.param(b"\x80\x04" + CLASS + b"N}" + short(b"args") + b"Ns\x86b.", id="setting a class's attributes"),
        pytest.param(b"\x80\x04" + CLASS + b")\x81\x94}" + short(b"_mgr") + b"h\x00sb.", id="a frame in itself"),
        pytest.param(b"\x80\x04" + named(b"builtins", b"slice") + b"}" + short(b"a") + b"Nsb.", id="a slice's state"),
    ],
)
def test_not_a_frame(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    with pytest.raises(DataFileError, match=r"x\.pickle"):
        load_frame(file)
