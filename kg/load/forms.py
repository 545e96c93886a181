"""What may stand where in a YAML file. A shape both reads a node and describes itself as JSON Schema, so that the
loader and the editor cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from kg.load.nodes import Map, Node, Problems, Seq, Token, plain_text, suggest, typed


class Shape(Protocol):
    """What is allowed at a place of the file."""

    def read(self, node: Node, place: str, problems: Problems) -> Any:
        """Return the data in `node`, or None after a mistake that leaves nothing to go on with."""

    def schema(self) -> dict[str, Any]:
        """Return the same as JSON Schema."""


def _is_a(node: Node) -> str:
    return {Token: "a single value", Map: "a mapping", Seq: "a list"}[type(node)]


@dataclass(frozen=True)
class Text:
    """A text; `what` describes `pattern` to people."""

    pattern: str = ""
    what: str = ""
    choices: tuple[str, ...] = ()

    def read(self, node: Node, place: str, problems: Problems) -> str | None:
        if not isinstance(node, Token):
            problems.add(node.line, f"{place} must be a text, not {_is_a(node)}.")
            return None
        try:
            text = plain_text(node)
        except ValueError as e:
            problems.add(node.line, f"{place}{'' if str(e).startswith('is ') else ':'} {e}")
            return None
        if self.choices and text not in self.choices:
            problems.add(node.line, f"{place}: '{text}' is not known.{suggest(text, self.choices)}")
            return None
        if self.pattern and not re.fullmatch(self.pattern, text):
            problems.add(node.line, f"{place}: '{text}' is not {self.what}.")
        return text

    def schema(self) -> dict[str, Any]:
        if self.choices:
            return {"enum": list(self.choices)}
        return {"type": "string", "pattern": f"^(?:{self.pattern})$" if self.pattern else r"\S"}


@dataclass(frozen=True)
class Whole:
    """A whole number of at least `least`."""

    least: int | None = None

    def read(self, node: Node, place: str, problems: Problems) -> int | None:
        if not isinstance(node, Token):
            problems.add(node.line, f"{place} must be a whole number, not {_is_a(node)}.")
            return None
        try:
            number = typed(node, "BIGINT")
        except ValueError as e:
            problems.add(node.line, f"{place}: {e}")
            return None
        assert isinstance(number, int)
        if self.least is not None and number < self.least:
            problems.add(node.line, f"{place}: {number} is less than {self.least}.")
            return None
        return number

    def schema(self) -> dict[str, Any]:
        return {"type": "integer"} | ({} if self.least is None else {"minimum": self.least})


@dataclass(frozen=True)
class Stored:
    """A value of a column, left as a Token: only the column's type tells what it must be."""

    def read(self, node: Node, place: str, problems: Problems) -> Token | None:
        if isinstance(node, Token):
            return node
        problems.add(node.line, f"{place} must be a single value, not {_is_a(node)}.")
        return None

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True)
class Constant:
    """A text, a number or a flag, as it is written."""

    def read(self, node: Node, place: str, problems: Problems) -> str | int | float | bool | None:
        if not isinstance(node, Token):
            problems.add(node.line, f"{place} must be a single value, not {_is_a(node)}.")
            return None
        try:
            return typed(node, {"bool": "BOOLEAN", "int": "BIGINT", "float": "DOUBLE"}.get(node.kind, "TEXT"))
        except ValueError as e:
            problems.add(node.line, f"{place}{'' if str(e).startswith('is ') else ':'} {e}")
            return None

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def read(self, node: Node, place: str, problems: Problems) -> bool | None:
        if isinstance(node, Token) and node.kind == "bool" and node.text.lower() in ("true", "false"):
            return node.text.lower() == "true"
        problems.add(node.line, f"{place} must be true or false.")
        return None

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Listing:
    """A list, not empty and without repetitions; of exactly `size` items if given."""

    of: Shape
    size: int = 0
    may_be_empty: bool = False

    def read(self, node: Node, place: str, problems: Problems) -> Seq:
        out = Seq(node.line)
        if not isinstance(node, Seq):
            problems.add(node.line, f"{place} must be a list in [brackets], not {_is_a(node)}.")
            return out
        if (not node and not self.may_be_empty) or (self.size and len(node) != self.size):
            wanted = f"{self.size} items" if self.size else "something in it; leave the key out otherwise"
            problems.add(node.line, f"{place} must have {wanted}.")
        for i, (item, line) in enumerate(zip(node, node.at, strict=True)):
            if (value := self.of.read(item, f"{place}[{i}]", problems)) is None:
                continue
            if not self.size and value in out:
                problems.add(line, f"{place} has '{item.text if isinstance(item, Token) else i}' twice.")
            out.put(value, line)
        return out

    def schema(self) -> dict[str, Any]:
        count = {"minItems": self.size, "maxItems": self.size} if self.size else {"minItems": 1, "uniqueItems": True}
        if self.may_be_empty:
            del count["minItems"]
        return {"type": "array", "items": self.of.schema(), **count}


@dataclass(frozen=True)
class OneOrMore:
    """What `of` is, or a list of such; read as a list either way."""

    of: Shape

    def read(self, node: Node, place: str, problems: Problems) -> Seq:
        if isinstance(node, Seq):
            return Listing(self.of).read(node, place, problems)
        out = Seq(node.line)
        if (value := self.of.read(node, place, problems)) is not None:
            out.put(value, node.line)
        return out

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.of.schema(), Listing(self.of).schema()]}


@dataclass(frozen=True)
class Named:
    """A mapping from names of the author's choice; they are texts, or column values if `keys` says so."""

    of: Shape
    keys: Text | Stored = Text()
    may_be_empty: bool = False

    def read(self, node: Node, place: str, problems: Problems) -> Map:
        out = Map(node.line)
        if not isinstance(node, Map):
            problems.add(node.line, f"{place} must be a mapping, not {_is_a(node)}.")
            return out
        if not node and not self.may_be_empty:
            problems.add(node.line, f"{place} is empty.")
        for token, child in node.items():
            key = self.keys.read(token, f"{place}.{token.text}", problems)
            value = self.of.read(child, f"{place}.{token.text}", problems)
            if key is not None and value is not None:
                out.put(key, value, token.line)
        return out

    def schema(self) -> dict[str, Any]:
        names = {"propertyNames": self.keys.schema()} if isinstance(self.keys, Text) and self.keys.pattern else {}
        least = {} if self.may_be_empty else {"minProperties": 1}
        return {"type": "object", **names, "additionalProperties": self.of.schema(), **least}


@dataclass(frozen=True)
class Key:
    """A key of a record: what it holds, in a sentence for the editor."""

    of: Shape
    about: str
    required: bool = False


@dataclass(frozen=True)
class Record:
    """A mapping with fixed keys. A text in its place stands for the record with only the key `short`."""

    keys: dict[str, Key]
    short: str = ""

    def read(self, node: Node, place: str, problems: Problems) -> Map:
        out = Map(node.line)
        if self.short and isinstance(node, Token):
            short = self.keys[self.short].of.read(node, place, problems)
            return self._put(out, self.short, short, node.line)
        if not isinstance(node, Map):
            problems.add(node.line, f"{place or 'the file'} must be a mapping, not {_is_a(node)}.")
            return out
        prefix = f"{place}." if place else ""
        for token, child in node.items():
            if token.text in self.keys:
                value = self.keys[token.text].of.read(child, prefix + token.text, problems)
                self._put(out, token.text, value, token.line)
            else:
                said = f"{place or 'a domain'} has no key '{token.text}'.{suggest(token.text, self.keys)}"
                problems.add(token.line, said)
        written = {token.text for token in node}
        for name in self._missing(written):
            problems.add(node.line, f"{place or 'the domain'} needs the key '{name}'.")
        return out

    def _missing(self, written: Collection[str]) -> Iterable[str]:
        return (name for name, key in self.keys.items() if key.required and name not in written)

    @staticmethod
    def _put(out: Map, key: str, value: Any, line: int) -> Map:
        if value is not None:
            out.put(key, value, line)
        return out

    def schema(self) -> dict[str, Any]:
        properties = {name: {"description": key.about, **key.of.schema()} for name, key in self.keys.items()}
        needed = list(self._missing(()))
        record = {"type": "object", "properties": properties, "additionalProperties": False}
        if needed:
            record["required"] = needed
        return {"anyOf": [self.keys[self.short].of.schema(), record]} if self.short else record
