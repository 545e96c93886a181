"""Do the names in a domain file refer to something, and do the values fit their columns?

Works on what `yaml_shapes` left: a part that was wrong there is missing or empty here, and is not reported again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from .domain import Scalar
from .yaml_nodes import Map, Problems, Token, suggest, typed

_KIND = {"INTEGER": "number", "BIGINT": "number", "DOUBLE": "number", "DATE": "time", "TIMESTAMP": "time"}


def check(raw: Map, problems: Problems) -> None:
    """Add to `problems` every dangling name and every value of the wrong type in the domain `raw`."""
    none = Map(raw.line)
    file = _File(problems, raw.get("tables", none), raw.get("objects", none), raw.get("fetches", none))
    for name in file.tables:
        _check_table(file, name)
    for name in file.objects:
        _check_object(file, name)
    for name in file.fetches:
        _check_fetch(file, name)
    _check_reach(file)


def stored(token: Token, type_: str) -> Scalar | None:
    """Return the value of `token` in a column of `type_`; None for `any`, which stands for both flags.

    Raises ValueError with the sentence to show.
    """
    if type_ == "BOOLEAN" and token.text == "any":
        return None
    return typed(token, type_)


@dataclass(frozen=True)
class _File:
    problems: Problems
    tables: Map
    objects: Map
    fetches: Map

    def columns(self, table: str) -> Map:
        return self.tables[table].get("columns") or Map(0)

    def is_column(self, name: str | None, table: str, line: int, place: str) -> bool:
        """Whether it is; reports if not, unless the table has no columns to compare with."""
        columns = self.columns(table)
        if name is None or not columns:
            return False
        return self.is_known(name, columns, line, place, f"a column of {table}")

    def is_table(self, name: str | None, line: int, place: str) -> bool:
        return name is not None and self.is_known(name, self.tables, line, place, "a table")

    def is_known(self, name: str, known: Collection[str], line: int, place: str, what: str) -> bool:
        if name not in known:
            self.problems.add(line, f"{place}: '{name}' is not {what}.{suggest(name, known)}")
        return name in known

    def fits(self, token: Token, table: str, column: str, place: str) -> None:
        type_ = self.columns(table)[column].get("type")
        if type_ is None:
            return
        try:
            typed(token, type_)
        except ValueError as e:
            self.problems.add(token.line, f"{place}: {e}")

    def fixed(self, values: Map, table: str, place: str) -> None:
        for column, token in values.items():
            if self.is_column(column, table, values.at[column], place):
                self.fits(token, table, column, f"{place}.{column}")

    def arguments(self, obj: str) -> set[str]:
        """The arguments of the calls that give `obj`."""
        return {arg for f in self.fetches.values() if f.get("gives") == obj for arg in f.get("args", ())}


def _check_table(file: _File, name: str) -> None:
    table = file.tables[name]
    place = f"tables.{name}"
    for column in file.columns(name):
        _check_column(file, name, column)
    for i, column in enumerate(table.get("key", ())):
        file.is_column(column, name, table["key"].at[i], f"{place}.key")
    for key in ("label", "rank"):
        column = table.get(key, "").removeprefix("-") or None
        if file.is_column(column, name, table.line_of(key), f"{place}.{key}") and key == "label":
            type_ = file.columns(name)[column].get("type", "TEXT")
            if type_ != "TEXT":
                file.problems.add(table.at[key], f"{place}.label: {column} is {type_}; rows are called by a TEXT.")
    file.fixed(table.get("assume", Map(0)), name, f"{place}.assume")
    for i, role in enumerate(table.get("roles", ())):
        _check_role(file, name, role, f"{place}.roles[{i}]")
    for i, via in enumerate(table.get("via", ())):
        _check_via(file, name, via, f"{place}.via[{i}]")


def _check_column(file: _File, table: str, name: str) -> None:
    column = file.columns(table)[name]
    place = f"tables.{table}.columns.{name}"
    for token in column.get("values", ()):
        if not (column.get("type") == "BOOLEAN" and token.text == "any"):
            file.fits(token, table, name, f"{place}.values")
    for token in column.get("null_when", ()):
        file.fits(token, table, name, f"{place}.null_when")
    if "links" in column:
        _check_link(file, table, name, column["links"], f"{place}.links")
    if column.get("match", "exact") != "exact" and column.get("type", "TEXT") != "TEXT":
        file.problems.add(column.at["match"], f"{place}.match: only a TEXT is compared by {column['match']}.")
    source, line = column.get("year_of"), column.line_of("year_of")
    if file.is_column(source, table, line, f"{place}.year_of"):
        if _KIND.get(file.columns(table)[source].get("type", "DATE")) != "time":
            file.problems.add(line, f"{place}.year_of: {source} is not a DATE or TIMESTAMP.")
        order = list(file.columns(table))
        if order.index(source) > order.index(name):
            file.problems.add(line, f"{place}.year_of: {source} must stand above {name}.")


def _check_link(file: _File, table: str, column: str, link: Map, place: str) -> None:
    target, _, target_column = link.get("to", "").partition(".")
    line = link.line_of("to")
    if not target_column or not file.is_table(target, line, place):
        return
    if file.is_column(target_column, target, line, place):
        types = [file.columns(t)[c].get("type") for t, c in ((table, column), (target, target_column))]
        if None not in types and _KIND.get(types[0], types[0]) != _KIND.get(types[1], types[1]):
            file.problems.add(line, f"{place}: {column} is {types[0]}, but {target}.{target_column} is {types[1]}.")
    if "where" in link:
        _check_where(file, link["where"], (table, target), link.at["where"], f"{place}.where")


def _check_where(file: _File, sql: str, tables: tuple[str, str], line: int, place: str) -> None:
    try:
        tree = parse_one(sql, into=exp.Condition, dialect="duckdb")
    except SqlglotError as e:
        file.problems.add(line, f"{place}: this is not an SQL condition: {str(e).splitlines()[0]}")
        return
    if tree.find(exp.Query):
        file.problems.add(line, f"{place}: only the columns of {' and '.join(tables)} can be compared; no SELECT.")
        return
    for column in tree.find_all(exp.Column):
        if column.table not in tables:
            written = " or ".join(f"{t}.{column.name}" for t in dict.fromkeys(tables))
            file.problems.add(line, f"{place}: write '{column.sql()}' as {written}.")
        else:
            file.is_column(column.name, column.table, line, place)


def _check_role(file: _File, table: str, role: Map, place: str) -> None:
    linked = {c["links"].get("to", "").partition(".")[0] for c in file.columns(table).values() if "links" in c}
    sure = linked <= set(file.tables)  # or a link is misspelt, and that is said already
    for key in ("of", "to"):
        end, line = role.get(key), role.line_of(key)
        if file.is_table(end, line, f"{place}.{key}") and sure and end not in linked:
            file.problems.add(line, f"{place}.{key}: no column of {table} links to {end}.")
    if not {"noun", "verb", "back"} & set(role):
        file.problems.add(role.line, f"{place} needs words: noun, verb or back.")
    file.fixed(role.get("where", Map(0)), table, f"{place}.where")


def _check_via(file: _File, table: str, via: Map, place: str) -> None:
    for key in ("needs", "gives"):
        file.is_column(via.get(key), table, via.line_of(key), f"{place}.{key}")
    helper = via.get("through")
    if file.is_table(helper, via.line_of("through"), f"{place}.through"):
        for key in ("match", "take"):
            file.is_column(via.get(key), str(helper), via.line_of(key), f"{place}.{key}")
    file.fixed(via.get("only", Map(0)), table, f"{place}.only")


def _check_object(file: _File, name: str) -> None:
    obj = file.objects[name]
    place = f"objects.{name}"
    args = file.arguments(name)
    for i, field in enumerate(obj.get("key", ())):
        if field.startswith("@") and args:
            file.is_known(field[1:], args, obj["key"].at[i], f"{place}.key", f"an argument of a call that gives {name}")
    for table, fill in obj.get("fills", {}).items():
        line = obj["fills"].at[table]
        if file.is_table(table, line, f"{place}.fills"):
            _check_fill(file, name, table, fill, line)


def _check_fill(file: _File, name: str, table: str, fill: Map, line: int) -> None:
    place = f"objects.{name}.fills.{table}"
    paths, lacks = fill.get("columns", Map(line)), fill.get("lacks", ())
    args, what = file.arguments(name), f"an argument of a call that gives {name}"
    for column, path in paths.items():
        file.is_column(column, table, paths.at[column], f"{place}.columns")
        if path.startswith("@") and args:
            file.is_known(path[1:], args, paths.at[column], f"{place}.columns.{column}", what)
    for i, column in enumerate(lacks):
        file.is_column(column, table, lacks.at[i], f"{place}.lacks")
        if column in paths:
            file.problems.add(lacks.at[i], f"{place}: {column} is both filled and lacking.")
    if not file.columns(table):
        return
    written = set(paths.values())  # a path of a misspelt column is there, only its column is wrong
    for field in file.objects[name].get("key", ()):
        is_own = fill.get("each", "$") == "$" and not field.startswith("@")
        path = field if field.startswith("@") or is_own else f"^{field}"
        if path not in written and not (is_own and field in file.columns(table) and field not in lacks):
            said = f'{place} puts the key {field} in no column. Add one under columns, as in {{{name}_id: "{path}"}}.'
            file.problems.add(line, said)


def _check_fetch(file: _File, name: str) -> None:
    fetch = file.fetches[name]
    place = f"fetches.{name}"
    args = fetch.get("args", Map(fetch.line))
    for arg, limit in fetch.get("limits", {}).items():
        line = fetch["limits"].at[arg]
        file.is_known(arg, args, line, f"{place}.limits", f"an argument of {name}")
        if len(limit) == 2 and limit[0] > limit[1]:
            file.problems.add(line, f"{place}.limits.{arg}: {limit[0]} is more than {limit[1]}.")
    for arg in fetch.get("as_text", ()):
        file.is_known(arg, args, fetch.at["as_text"], f"{place}.as_text", f"an argument of {name}")
    for arg in re.findall(r"{(\w*)}", fetch.get("call", "")):
        file.is_known(arg, args, fetch.at["call"], f"{place}.call", f"an argument of {name}")
    given = fetch.get("gives")
    if given is None or not file.is_known(given, file.objects, fetch.at["gives"], f"{place}.gives", "an object"):
        return
    obj = file.objects[given]
    for arg, source in args.items():
        if "search" in fetch:
            _check_search_input(file, given, source, args.at[arg], f"{place}.args.{arg}")
        elif key := obj.get("key"):
            fields = [k.removeprefix("@") for k in key]
            file.is_known(source, fields, args.at[arg], f"{place}.args.{arg}", f"a key field of {given}")


def _check_search_input(file: _File, obj: str, source: str, line: int, place: str) -> None:
    fills = file.objects[obj].get("fills", {})
    own = [table for table, fill in fills.items() if fill.get("each", "$") == "$" and table in file.tables]
    if fills and not own:
        file.problems.add(line, f"{place}: a search needs a table that {obj} fills with itself (no `each`).")
    having = [table for table in own if source in file.columns(table)]
    for table in having or own[:1]:
        if file.is_column(source, table, line, place) and source in fills[table].get("lacks", ()):
            file.problems.add(line, f"{place}: {obj} does not fill {table}.{source}.")


def _check_reach(file: _File) -> None:
    """A domain without calls has its tables from files; otherwise each table must be filled by some call."""
    if not file.fetches:
        return
    _report_unused(file, file.objects, {f.get("gives") for f in file.fetches.values()}, "no fetch gives the object")
    filled = {table for o in file.objects.values() for table in o.get("fills", ())}
    with_via = {name for name, table in file.tables.items() if table.get("via")}
    _report_unused(file, file.tables, filled | with_via, "no object fills the table")


def _report_unused(file: _File, declared: Map, used: Collection[str | None], sentence: str) -> None:
    unused: Iterable[str] = (name for name in declared if name not in used)
    for name in unused:
        file.problems.add(declared.at[name], f"{sentence} {name}.")
