"""What an endpoint is: a path, the arguments it takes, and the function that answers it.

The in-process API and the server are both made from these values, so they cannot differ in what they accept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kg.errors import SourceError

_NUMERAL = re.compile(r"\s*([+-]?\d(?:_?\d){0,400})(?:\.0+)?\s*", re.ASCII)


@dataclass(frozen=True)
class Param:
    """An argument: its type and an example. Types are `str`, `int`, `list[str]`, and `str | None`: may be left out."""

    type: Any
    example: Any


@dataclass(frozen=True)
class Endpoint:
    """An endpoint. `run` takes the arguments by name and returns what the server puts under "result"."""

    path: str
    about: str
    run: Callable[..., Any]
    params: Mapping[str, Param] = field(default_factory=dict)

    def call(self, args: Mapping[str, Any]) -> Any:
        """Return the result for `args`; what is not an argument is ignored, as CRAG's server does.

        Raises SourceError with status 422 if an argument is missing or of a wrong type.
        """
        return self.run(**{name: self._checked(name, param, args) for name, param in self.params.items()})

    def _checked(self, name: str, param: Param, args: Mapping[str, Any]) -> Any:
        optional = param.type == (str | None)
        value = args.get(name)
        if value is None and optional:
            return None
        if name not in args:
            raise SourceError(f"the argument {name} is missing.", endpoint=self.path, status=422)
        if param.type == list[str]:
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                return value
        elif param.type is int:
            number = _integer(value)
            if number is not None:
                return number
        elif isinstance(value, str):
            return value
        wanted = {int: "a whole number", list[str]: "a list of texts"}.get(param.type, "a text")
        raise SourceError(f"the argument {name} must be {wanted}, not {value!r:.60}.", endpoint=self.path, status=422)


def _integer(value: Any) -> int | None:
    # Lenient where pydantic, which checks for CRAG's server, is: 1.0, "1", " 1.0 ", "0_1" and True are all 1.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    if isinstance(value, str) and (numeral := _NUMERAL.fullmatch(value)):
        return int(numeral[1])
    return None
