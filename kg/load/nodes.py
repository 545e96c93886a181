"""YAML text to checked plain data that still knows its lines; every mistake is collected, none is guessed away.

YAML reads `no` as false, `1:30` as 90, `012` as 10, and a repeated key silently replaces the first. Here all of
these are mistakes. Anchors, aliases and tags are refused: a domain file is declarations, and an alias can be a bomb.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import yaml

from kg.errors import DomainError

MAX_BYTES = 1_000_000
MAX_DEPTH = 16

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, if PyYAML was built with it
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,18})")
_REAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


class Problems:
    """The mistakes found in one file so far."""

    def __init__(self, file: Path):
        self.file = file
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, sentence: str) -> None:
        self._found.append((line, sentence))

    def stop(self, line: int, sentence: str) -> NoReturn:
        """Add a mistake after which nothing more can be read, and raise."""
        self.add(line, sentence)
        raise self.error()

    def raise_if_any(self) -> None:
        if self._found:
            raise self.error()

    def error(self) -> DomainError:
        """Return all mistakes, in the order of their lines."""
        return DomainError([f"{self.file}:{line}: {said}" for line, said in sorted(set(self._found))])


def suggest(word: str, known: Collection[str]) -> str:
    """Return what to write instead of `word`: the nearest known word, or all of them if none is near.

    >>> suggest("colour", ["color", "size"])
    " Did you mean 'color'?"
    >>> suggest("weight", ["color", "size"])
    ' There is: color, size.'
    """
    by_lower = {k.lower(): k for k in known}
    if near := difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.55):
        return f" Did you mean '{by_lower[near[0]]}'?"
    return f" There is: {', '.join(known)}." if known else ""


@dataclass(frozen=True, slots=True)
class Token:
    """A scalar as written. `kind` is what YAML takes it for: str, int, float, bool, null or timestamp."""

    text: str
    kind: str
    line: int = field(compare=False)


class Map(dict[Any, Any]):
    """A mapping; `at` are the lines of its keys."""

    def __init__(self, line: int):
        super().__init__()
        self.line = line
        self.at: dict[Any, int] = {}

    def put(self, key: Any, value: Any, line: int) -> None:
        self[key], self.at[key] = value, line

    def line_of(self, key: Any) -> int:
        return self.at.get(key, self.line)


class Seq(list[Any]):
    """A list; `at` are the lines of its items."""

    def __init__(self, line: int):
        super().__init__()
        self.line = line
        self.at: list[int] = []

    def put(self, value: Any, line: int) -> None:
        self.append(value)
        self.at.append(line)


Node = Token | Map | Seq


def compose(source: bytes, problems: Problems) -> Node:
    """Return the document in `source`; raises DomainError at once if it is not one YAML document.

    It goes by events, not by PyYAML's composer: the C one crashes the process on 200,000 brackets.
    """
    if len(source) > MAX_BYTES:
        problems.stop(1, f"the file has {len(source):,} bytes; {MAX_BYTES:,} are allowed.")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        problems.stop(source.count(b"\n", 0, e.start) + 1, "this is not UTF-8 text.")
    loader = _LOADER(text)
    try:
        return _compose(loader, problems)
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        said = " ".join(filter(None, (e.context, e.problem)))
        problems.stop(mark.line + 1 if mark else 1, f"this is not YAML: {said}.")
    except yaml.reader.ReaderError as e:
        problems.stop(text.count("\n", 0, e.position) + 1, f"this is not YAML: {e.reason}.")
    finally:
        loader.dispose()


def _compose(loader: Any, problems: Problems) -> Node:
    root: Node | None = None
    open_nodes: list[tuple[Map | Seq, list[Token]]] = []  # with the key that waits for its value, if any
    while not loader.check_event(yaml.StreamEndEvent):
        event = loader.get_event()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent) and root is not None:
            problems.stop(line, "a second document starts here; a file holds one.")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problems.stop(line, f"anchors and aliases ('{event.anchor}') are not allowed; write it out.")
        if isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            continue
        if event.tag not in (None, "!"):
            problems.add(line, f"tags ('{event.tag}') are not allowed.")
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            kind = loader.resolve(yaml.ScalarNode, event.value, event.implicit).rpartition(":")[2]
            node = Token(event.value, kind, line)
        else:
            node = Map(line) if isinstance(event, yaml.MappingStartEvent) else Seq(line)
        if root is None:
            root = node
        else:
            _attach(node, line, *open_nodes[-1], problems)
        if not isinstance(node, Token):
            open_nodes.append((node, []))
            if len(open_nodes) > MAX_DEPTH:
                problems.stop(line, f"this is nested more than {MAX_DEPTH} deep.")
    return root if root is not None else Token("", "null", 1)


def _attach(node: Node, line: int, parent: Map | Seq, waiting: list[Token], problems: Problems) -> None:
    if isinstance(parent, Seq):
        parent.put(node, line)
    elif waiting:
        key = waiting.pop()
        if not isinstance(node, Token):
            node.line = key.line  # where a reader looks for what is missing in it
        if key in parent:
            problems.add(key.line, f"the key '{key.text}' is here twice; the first is in line {parent.at[key]}.")
        else:
            parent.put(key, node, key.line)
    elif isinstance(node, Token):
        waiting.append(node)
    else:
        problems.stop(line, "a key must be a plain word.")


def typed(token: Token, type_: str) -> str | int | float | bool:
    """Return the value of `token` in a column of `type_`; raises ValueError with the sentence to show.

    >>> typed(Token("no", "bool", 1), "TEXT")
    Traceback (most recent call last):
    ValueError: YAML reads `no` as true or false; put it in quotes.
    """
    text, plain = token.text, token.kind != "str"
    match type_:
        case "TEXT":
            return plain_text(token)
        case "INTEGER" | "BIGINT" if plain and _WHOLE.fullmatch(text):
            bits = 31 if type_ == "INTEGER" else 63
            if -(2**bits) <= int(text) < 2**bits:
                return int(text)
        case "DOUBLE" if plain and _REAL.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        case "BOOLEAN" if plain and text in ("true", "false"):
            return text == "true"
        case "DATE" if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return text
        case "TIMESTAMP" if re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", text):
            return text
    raise ValueError(f"`{text}` is not {_WANTED[type_]}.")


_WANTED = {
    "INTEGER": "a whole number of 32 bits (digits without quotes)",
    "BIGINT": "a whole number of 64 bits (digits without quotes)",
    "DOUBLE": "a number (like 1.5 or 1.0e+9, without quotes)",
    "BOOLEAN": "true or false (without quotes)",
    "DATE": "a date (like 2024-02-29)",
    "TIMESTAMP": "a moment (like 2024-02-29 20:15:00)",
}
_READ_AS = {"bool": "true or false", "int": "a number", "float": "a number", "timestamp": "a date", "null": "nothing"}


def plain_text(token: Token) -> str:
    """The text of `token`; ValueError if YAML takes it for something else, or it is empty."""
    if not token.text.strip():
        raise ValueError("is empty.")
    if token.kind != "str":
        raise ValueError(f"YAML reads `{token.text}` as {_READ_AS.get(token.kind, token.kind)}; put it in quotes.")
    return token.text.strip()
