"""Writes the generated parts of README.md and docs/*.md anew: `python docs/generate.py`. With --check it only looks.

Three things are generated, so that no page can say what is not so:

- what stands between `<!-- generated: NAME -->` and `<!-- end -->`: by the function of that name in PARTS;
- the output in ```console blocks: each `$ kgq ...` is run on the bundled sample, with default settings and without the
  encoder; after `$ kgq repl`, each `kgq > ...` is typed into it;
- the right column of a table headed `| calls | SQL |`: the SQL of each program on the left.

Seconds and confidences may differ from run to run and are left as they are where nothing else changed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from typer.testing import CliRunner

from engine.cli import app
from engine.repl import COMMANDS, SETTABLE, Repl
from engine.session import Session
from engine.settings import VARIABLES, Settings, help_of
from kg.crag_api import CragApi
from kg.dialect import grammar, parse, to_sql
from kg.domain import Domain
from kg.load import BUILT_IN, json_schema, load_domain, load_domains
from kg.shapes import columns, derive, objects
from kg.sources import SAMPLE

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_PART = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n)(?P<old>.*?)(<!-- end -->)", re.S)
_CONSOLE = re.compile(r"(?P<head>```console\n)(?P<old>.*?)(?P<tail>```)", re.S)
_PAIRS = re.compile(r"(?P<head>\| calls \| SQL \|\n\|[- |]+\|\n)(?P<old>(?:\|.*\n)+)")
_CELLS = re.compile(r"\| `(?P<calls>.+?)` \| (?:`.*`)? ?\|")
_VARYING = re.compile(r"\b\d+\.\d\d(?= s\b)|\b[01]\.\d\d\b")


def regenerated(text: str) -> str:
    """Return a page with its generated parts as they are now."""
    text = _PART.sub(lambda m: f"{m[1]}{_kept(m['old'], PARTS[m['name']]())}{m[4]}", text)
    text = _CONSOLE.sub(lambda m: m["head"] + _kept(m["old"], _console(m["old"])) + m["tail"], text)
    return _PAIRS.sub(lambda m: m["head"] + "".join(map(_pair, m["old"].splitlines())), text)


def masked(text: str) -> str:
    """Return `text` without what differs from run to run.

    >>> masked("8 calls, 0.13 s (confidence 0.77) 7.90")
    '8 calls, # s (confidence #) 7.90'
    """
    return _VARYING.sub("#", text)


def _kept(old: str, new: str) -> str:
    return old if masked(old) == masked(new) else new


# -- programs and commands ---------------------------------------------------------------------------------------------


def _pair(row: str) -> str:
    cells = _CELLS.fullmatch(row)
    if cells is None:
        raise ValueError(f"This row is not | `calls` | `SQL` |: {row}")
    return f"| `{cells['calls']}` | `{to_sql(parse(cells['calls'], movie()))}` |\n"


def _console(block: str) -> str:
    """A block of commands and what they print."""
    lines, out = block.splitlines(), []
    commands = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(commands, [*commands[1:], len(lines)], strict=True):
        command = lines[start][2:]
        typed = [line for line in lines[start + 1 : end] if line.startswith(("kgq > ", "  ... "))]
        shown = _conversation(typed) if command == "kgq repl" else _printed(command)
        blank = "\n" if end < len(lines) and not lines[end - 1].strip() else ""  # between two commands
        out.append(f"$ {command}\n{shown}{blank}")
    return "".join(out)


def _printed(command: str) -> str:
    """What a command prints, without blanks at the ends of lines."""
    name, *args = shlex.split(command)
    if name != "kgq":
        raise ValueError(f"Only kgq can be run, not: {command}")
    with _fresh():
        result = CliRunner().invoke(app, args, prog_name="kgq", catch_exceptions=False)
    return "".join(f"{line.rstrip()}\n" for line in result.output.rstrip().splitlines())


def _conversation(typed: list[str]) -> str:
    out = io.StringIO()
    with _fresh(), Session(Settings.from_env()) as session:
        repl = Repl(session, Console(file=out, width=120, markup=False, emoji=False, highlight=False))
        repl.greet()
        for line in typed:
            out.write(f"{line}\n")
            repl.handle(line[len("kgq > ") :])
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@contextmanager
def _fresh() -> Iterator[None]:
    """No settings from outside, an empty cache, and a terminal of 80 columns."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as cache:
        for variable in VARIABLES.values():
            os.environ.pop(variable, None)
        os.environ |= {"KGQ_CACHE_DIR": cache, "KGQ_ENCODER": "no", "COLUMNS": "80"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


# -- parts -------------------------------------------------------------------------------------------------------------


@cache
def _built_in() -> dict[str, Domain]:
    return load_domains([BUILT_IN])


def movie() -> Domain:
    return _built_in()["movie"]


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _settings() -> str:
    defaults = Settings()
    rows = []
    for f in fields(Settings):
        value = getattr(defaults, f.name)
        shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        shown = "the user's cache directory" if f.name == "cache" else "" if value in (None, "") else f"`{shown}`"
        rows.append((f"`{f.name}`", f"`{VARIABLES[f.name]}`", shown, help_of(f.name)))
    return _table(("setting", "variable", "default", "what it does"), rows)


def _commands() -> str:
    names = ["", *typer.main.get_command(app).commands]  # type: ignore[attr-defined]
    parts = []
    for name in names:
        shown = _printed(f"kgq {name} --help")
        parts.append(f"### `{f'kgq {name}'.strip()}`\n\n```text\n{shown}```\n")
    return "\n" + "\n".join(parts) + "\n"


def _repl() -> str:
    rows = [(f"`{f'{name} {takes}'.strip()}`", about) for name, (takes, about) in COMMANDS.items()]
    return _table(("command", "what it does"), rows)


def _set() -> str:
    return _table((r"`\set`", "what it is"), [(f"`{name}`", about) for name, about in SETTABLE.items()])


def _endpoints() -> str:
    rows = []
    for e in CragApi(SAMPLE).endpoints.values():
        args = ", ".join(f"`{n}: {_type(p.type)}`" for n, p in e.params.items())
        example = json.dumps({n: p.example for n, p in e.params.items()})
        rows.append((f"`POST {e.path}`", args, f"`{example}`", e.about))
    return _table(("endpoint", "arguments", "example", "what comes back"), rows)


def _type(kind: Any) -> str:
    return str(kind.__name__ if isinstance(kind, type) else kind)


def _tables() -> str:
    return "\n" + "\n".join(f"### `{d.name}`\n\n{d.about}\n\n{_tables_of(d)}" for d in _built_in().values()) + "\n"


def _tables_of(domain: Domain) -> str:
    rows = []
    for t in domain.tables:
        inputs = dict.fromkeys([" and ".join(a.needs) for a in domain.accesses[t.name]] + [v.needs for v in t.via])
        rows.append((f"`{t.name}`", t.about, _code(t.by_name), _code(inputs)))
    return _table(("table", "about", "columns", "looked up by"), rows)


def _grammar() -> str:
    """The grammar of the example domain in domains.md: the movie domain's is forty times as long."""
    return f"\n```ebnf\n{grammar(_loaded(example()))}```\n\n"


def _loaded(text: str) -> Domain:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "domain.yaml"
        path.write_text(text)
        return load_domain(path)


def _library() -> str:
    """The domain file of own-api.md."""
    return f"\n```yaml\n{(ROOT / 'docs' / 'examples' / 'api' / 'library.yaml').read_text()}```\n\n"


def example() -> str:
    """The domain file that docs/domains.md shows."""
    page = (ROOT / "docs" / "domains.md").read_text()
    shown: list[str] = re.findall(r"```yaml\n(.*?)```", page, re.S)
    return next(b for b in shown if b.startswith("domain: "))


# what a key stands in -> the way to it in the JSON Schema
_PLACES = {
    "the file": "",
    "a source": "source.?",
    "a source's key": "source.?.key",
    "a table": "tables.*",
    "a column": "tables.*.columns.*",
    "a link": "tables.*.columns.*.links.?",
    "a role": "tables.*.roles.[]",
    "a via": "tables.*.via.[]",
    "an object": "objects.*",
    "a fill": "objects.*.fills.*.?",
    "a fetch": "fetches.*",
    "the pages of a fetch": "fetches.*.pages",
}


def _keys() -> str:
    return "\n" + "\n".join(f"#### In {place}\n\n{_keys_of(way)}" for place, way in _PLACES.items()) + "\n"


def _keys_of(way: str) -> str:
    at = json_schema()
    for step in filter(None, way.split(".")):
        at = _down(at, step)
    needed = at.get("required", ())
    rows = [
        (f"`{name}`" + (" *" if name in needed else ""), _shape(shape), shape["description"])
        for name, shape in at["properties"].items()
    ]
    return _table(("key (* needed)", "is", "what it says"), rows)


def _down(at: dict[str, Any], step: str) -> dict[str, Any]:
    found = {
        "*": lambda: at["additionalProperties"],
        "[]": lambda: at["items"],
        "?": lambda: next(option for option in at["anyOf"] if option.get("type") == "object"),
    }.get(step, lambda: at["properties"][step])()
    assert isinstance(found, dict)
    return found


def _shape(shape: dict[str, Any]) -> str:
    """What a value must be, in words."""
    if "enum" in shape:
        return " or ".join(f"`{c}`" for c in shape["enum"])
    if "anyOf" in shape:
        return " or ".join(_shape(s) for s in shape["anyOf"])
    kind = shape["type"]
    if isinstance(kind, list):
        return "a value"
    if kind == "array":
        return f"[{_shape(shape['items'])}, ...]"
    if kind == "object":
        inner = shape.get("additionalProperties")
        return f"{{name: {_shape(inner)}}}" if inner and "properties" not in inner else "a mapping"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}[kind]


# a fill of the table of _SHAPED, and a reply to the call with query = "ABC"
_SHAPES = (
    ('{shape: entries, columns: {ticker: "@query", day: key, price: Close, before: previous(Close)}}',
     {"2024-02-28 00:00:00 EST": {"Close": 5.5}, "2024-02-29 00:00:00 EST": {"Close": 6}}),
    ('{shape: entries, columns: {ticker: "@query", day: key, price: value}, lacks: [before]}',
     {"2024-02-28": 5.5, "2024-02-29": 6}),
    ('{shape: columns, columns: {ticker: "@query", day: index_1, price: Close Price}, lacks: [before]}',
     {"Close Price": {"('ABC', '2024-02-28')": 5.5, "('ABC', '2024-02-29')": 6}}),
    ('{shape: parallel, names: [day, price], columns: {ticker: "@query"}}', [["2024-02-28", "2024-02-29"], [5.5, 6]]),
    ('{shape: tuple, names: [day, price], columns: {ticker: "@query"}}', ["2024-02-28", 5.5]),
    ('{shape: value, columns: {ticker: "@query", price: number(value)}}', "5.5 USD"),
)  # fmt: skip
_SHAPED = """
domain: market
about: Prices.
source: none
tables:
  price:
    about: One row per day.
    key: [ticker, day]
    columns:
      ticker: {{type: TEXT, about: the ticker}}
      day: {{type: DATE, about: the day}}
      price: {{type: DOUBLE, about: the price}}
      before: {{type: DOUBLE, about: the price of the day before}}
objects:
  prices: {{key: ["@query"], fills: {{price: {fill}}}}}
fetches:
  prices: {{call: GET /prices, args: {{query: ticker}}, gives: prices}}
"""


def _shapes() -> str:
    rows = []
    for fill, reply in _SHAPES:
        domain = _loaded(_SHAPED.format(fill=fill))
        (fetch,) = domain.fetches
        filled = columns(objects(reply, fetch, domain, {"query": "ABC"}), [0], fetch, domain)["price__prices"][:-1]
        shown = "; ".join(", ".join("NULL" if v is None else str(v) for v in row) for row in zip(*filled, strict=True))
        rows.append((f"`{json.dumps(reply)}`", f"`{fill}`", shown))
    return _table(("reply", "the fill of `price`", "its rows: ticker, day, price, before"), rows)


def _functions() -> str:
    def about(name: str) -> str:
        text = (getattr(derive, name).__doc__ or "").strip()
        first = (
            re.sub(r"\s+", " ", text.split("\n\n")[0].split(">>>")[0])
            .strip()
            .removeprefix("Return ")
            .replace("`value`", "a text")
        )
        return first[0].upper() + first[1:]

    return _table(("function", "what it gives"), [(f"`{name}(path)`", about(name)) for name in derive.FUNCTIONS])


PARTS = {
    "commands": _commands,
    "endpoints": _endpoints,
    "functions": _functions,
    "grammar": _grammar,
    "keys": _keys,
    "library": _library,
    "repl": _repl,
    "set": _set,
    "settings": _settings,
    "shapes": _shapes,
    "tables": _tables,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something is not as generated")
    check = parser.parse_args().check
    stale = []
    for page in PAGES:
        old = page.read_text()
        new = regenerated(old)
        if new != old:
            stale.append(page.name)
            if not check:
                page.write_text(new)
    if check and stale:
        sys.exit(f"Not as generated: {', '.join(stale)}. `make docs` writes them anew; look at the diff.")


if __name__ == "__main__":
    main()
