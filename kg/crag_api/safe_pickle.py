"""Reading pickles without running what they say.

A pickle is a program: it may import any function and call it. The unpickler here finds no function and no class
but those its caller admits. For CRAG's dictionaries that is none; `kg.crag_api.frames` admits stand-ins that only
keep what they are given. See "Restricting Globals" in the documentation of the module pickle.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kg.crag_api.files import DataFileError, no_collection


def load_plain(path: Path) -> Any:
    """Return what a pickle file of dicts, lists, texts and numbers holds.

    Raises DataFileError, naming the file, and the class if the file asks for one.
    """
    return loads(read_bytes(path), f"The data file {path}")


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a data file. Raises DataFileError."""
    try:
        return path.read_bytes()
    except OSError as e:
        raise DataFileError(f"The data file {path} cannot be read ({e.strerror or e}).") from e


def loads(data: bytes, what: str, admitted: Mapping[tuple[str, str], type] | None = None) -> Any:
    """Return the object that the pickle `data` makes. Only the `admitted` names {(module, name): class} are known.

    A class put in place of another must define __setstate__, or a pickle could set its attributes. `what` is the
    subject of the error's sentence. Raises DataFileError.
    """
    try:
        _check_memo(data)
        with no_collection():
            return _Unpickler(data, admitted or {}).load()
    except _Refused as e:
        raise DataFileError(f"{what} asks for {e}, which such a file does not need; it was not loaded.") from e
    except Exception as e:  # the documentation of pickle lists what a malformed one can raise, "not limited to"
        raise DataFileError(f"{what} is not a valid pickle ({type(e).__name__}: {e}).") from e


class _Refused(Exception):
    """The pickle names something that is not admitted."""


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, admitted: Mapping[tuple[str, str], type]):
        super().__init__(io.BytesIO(data))
        self._admitted = admitted

    def find_class(self, module: str, name: str) -> type:
        try:
            return self._admitted[module, name]
        except KeyError:
            raise _Refused(f"{module}.{name}") from None


def _lengths(width: int) -> bytes:
    # A pattern for a little-endian length below 256, and that many bytes.
    return b"|".join(re.escape(n.to_bytes(width, "little")) + b".{%d}" % n for n in range(256))


# The opcodes of plain data with their arguments, so that nearly all of a file is skipped in C. A memo number has 20
# bits here. What does not match (long texts, classes, large memo numbers) is looked at singly.
_COMMON = re.compile(
    rb"(?:[\x85-\x89\x8f-\x91\x94()\]}Naeltuds012]++|h.|G........|\x8c(?:" + _lengths(1) + rb")|[\x80Kq].|[Jj]...."
    rb"|M..|r..[\x00-\x0f]\x00|\x95........|X(?:" + _lengths(4) + rb"))++",
    re.DOTALL,
)


def _check_memo(data: bytes) -> None:
    # "Remember this as number 4,000,000,000" is five bytes, for which the unpickler would make a table of 64 GB.
    stream, place = io.BytesIO(data), 0
    while place < len(data):
        if found := _COMMON.match(data, place):
            place = found.end()
            continue
        stream.seek(place)
        for opcode, number, _ in pickletools.genops(stream):
            if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and isinstance(number, int) and number > len(data):
                raise ValueError(f"memo number {number:,}")
            if opcode.name == "STOP":
                return
            break
        place = stream.tell()
