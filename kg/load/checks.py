"""Do the names in a domain file refer to something, and do the values fit their columns?

Works on what `yaml_shapes` left: a part that was wrong there is missing or empty here, and is not reported again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from kg.domain import Scalar
from kg.load.nodes import Map, Problems, Seq, Token, suggest, typed
from kg.shapes import paths
from kg.shapes.derive import FUNCTIONS, OF_ROWS
from kg.shapes.made import sources

_NAMED = ("parallel", "tuple")  # shapes whose fields the file names
_MANY = ("entries", "columns", "parallel")  # shapes of several rows
_NO_RECORD = ("columns", "parallel", "tuple")  # shapes whose rows are nothing but their fields
# which column holds which field of an object's key, and the columns that are lacking
_Landing = tuple[dict[str, str], frozenset[str]]
_KIND = {"INTEGER": "number", "BIGINT": "number", "DOUBLE": "number", "DATE": "time", "TIMESTAMP": "time"}


def check(raw: Map, problems: Problems) -> None:
    """Add to `problems` every dangling name and every value of the wrong type in the domain `raw`."""
    none = Map(raw.line)
    parts = {key: raw.get(key, none) for key in ("tables", "objects", "fetches")}
    file = _File(problems, parts, **parts)
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
    raw: Mapping[str, Map]
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

    def fills(self, obj: str) -> Iterator[tuple[str, Map, str]]:
        """The fills of `obj`, each with its table and its place in the file."""
        for table, fills in self.objects[obj].get("fills", {}).items():
            for i, fill in enumerate(fills):
                yield table, fill, f"objects.{obj}.fills.{table}" + (f"[{i}]" if len(fills) > 1 else "")

    def inputs(self, obj: str) -> Iterator[tuple[str, list[str]]]:
        """Each table that `obj` fills, and what its rows can be called by: the key, and the columns filled."""
        key = [k.removeprefix("@") for k in self.objects[obj].get("key", ())]
        for table, fill, _ in self.fills(obj):
            if table in self.tables:
                lacks = lacking(self.raw, obj, table, fill)
                yield table, [*key, *(c for c in self.columns(table) if c not in lacks)]

    def check_argument(self, arg: str, obj: str, line: int, place: str) -> None:
        """Every call that gives `obj` must have `arg`, and as a value: "2024-03" is none of a date."""
        calls = {name: f for name, f in self.fetches.items() if f.get("gives") == obj}
        taken = {name: {**f.get("args", {}), **f.get("fixed", {})} for name, f in calls.items()}
        every = list(dict.fromkeys(a for args in taken.values() for a in args))
        if not calls or not self.is_known(arg, every, line, place, f"an argument of a call that gives {obj}"):
            return
        for name, fetch in calls.items():
            if arg not in taken[name]:
                self.problems.add(line, f"{place}: '{arg}' is not an argument of {name}, which gives {obj} too.")
            elif arg in fetch.get("periods", ()):
                self.problems.add(line, f"{place}: '{arg}' of {name} is a period, such as 2024-03, and no value.")


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
    if "names" in table:
        key = table.get("key", ())
        if len(key) != 1 or "label" not in table:
            file.problems.add(
                table.at["names"], f"{place}.names: only a table with a label and one key column has names."
            )
        elif key[0] in file.columns(name):
            for token in table["names"]:
                file.fits(token, name, key[0], f"{place}.names")
    moment = table.get("moment")
    if file.is_column(moment, name, table.line_of("moment"), f"{place}.moment"):
        type_ = file.columns(name)[moment].get("type", "DATE")
        if _KIND.get(type_) != "time":
            file.problems.add(table.at["moment"], f"{place}.moment: {moment} is {type_}, not a DATE or TIMESTAMP.")
    for key in ("properties", "value", "text"):
        column = table.get(key)
        if file.is_column(column, name, table.line_of(key), f"{place}.{key}"):
            type_ = file.columns(name)[column].get("type", "TEXT")
            if type_ != "TEXT":
                file.problems.add(table.at[key], f"{place}.{key}: {column} is {type_}, not a TEXT.")
    for key, other in (("properties", "value"), ("value", "properties")):
        if key in table and other not in table:
            file.problems.add(table.at[key], f"{place}: {key} goes with {other}, which is missing.")
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
    file.is_column(column.get("beside"), table, column.line_of("beside"), f"{place}.beside")
    _check_made(file, table, name, column, place)


def _check_made(file: _File, table: str, name: str, column: Map, place: str) -> None:
    """A column is made of columns above it: one with codes, or two numbers."""
    names = sources(column["of"]) if column.get("of") else []
    columns, line = file.columns(table), column.line_of("of")
    if "codes" in column and len(names) != 1:
        file.problems.add(column.at["codes"], f"{place}.codes: these are for a column that is made `of` one other.")
    for source in names:
        if not file.is_column(source, table, line, f"{place}.of"):
            continue
        if list(columns).index(source) >= list(columns).index(name):
            file.problems.add(line, f"{place}.of: {source} must stand above {name}.")
        if len(names) == 2 and _KIND.get(columns[source].get("type", "BIGINT")) != "number":
            file.problems.add(line, f"{place}.of: {source} is no number.")
    if len(names) == 1 and names[0] in columns:
        for token in column.get("codes", ()):
            file.fits(token, table, names[0], f"{place}.codes")
    for token in column.get("codes", {}).values():
        file.fits(token, table, name, f"{place}.codes")


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
            said = " A role belongs to the table that links the two." if end == table else ""
            file.problems.add(line, f"{place}.{key}: no column of {table} links to {end}.{said}")
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
    key = obj.get("key", Seq(obj.line))
    for field, line in zip(key, key.at, strict=True):
        if field.startswith("@"):
            file.check_argument(field[1:], name, line, f"objects.{name}.key")
        elif "." in key and field != ".":
            file.problems.add(line, f'objects.{name}.key: a bare value (".") has no field {field}.')
        elif field != "." and (known := known_fields(file.raw, name, Map(0))) is not None:
            file.is_known(field, known, line, f"objects.{name}.key", f"a field of {name}")
    twice: dict[str, _Landing] = {}
    for table, fill, place in file.fills(name):
        line = fill.line if len(obj["fills"][table]) > 1 else obj["fills"].at[table]
        if not file.is_table(table, line, f"objects.{name}.fills"):
            continue
        landing = _check_fill(file, name, table, fill, line, place)
        if twice.setdefault(table, landing) != landing:
            said = f"the fills of {table} must put the key in the same columns, and lack the same ones."
            file.problems.add(line, f"{place}: {said}")


def _check_fill(file: _File, name: str, table: str, fill: Map, line: int, place: str) -> _Landing:
    """Return which column holds which field of the key, and which are lacking."""
    filled, lacks = fill.get("columns", Map(line)), fill.get("lacks", ())
    _check_shape(file, fill, place)
    fields = known_fields(file.raw, name, fill)
    for column, path in filled.items():
        file.is_column(column, table, filled.at[column], f"{place}.columns")
        _check_cell(file, name, fill, path, fields, filled.at[column], f"{place}.columns.{column}")
    for i, column in enumerate(lacks):
        file.is_column(column, table, lacks.at[i], f"{place}.lacks")
        if column in filled:
            file.problems.add(lacks.at[i], f"{place}: {column} is both filled and lacking.")
    landing: dict[str, str] = {}
    lacks = lacking(file.raw, name, table, fill)
    if not file.columns(table):
        return landing, frozenset(lacks)
    for field in file.objects[name].get("key", ()):
        is_own = _is_object(fill) and not field.startswith("@")
        path = field if field.startswith("@") or is_own else f"^{field}"
        # a path of a misspelt column is there, only its column is wrong
        holding = next((c for c, p in filled.items() if p == path), None)
        if holding is None and is_own and field in file.columns(table) and field not in (*lacks, *filled):
            holding = field
        if holding is None:
            example = f'{{{name if field == "." else f"{name}_id"}: "{path}"}}'
            said = f"{place} puts the key {field} in no column. Add one under columns, as in {example}."
            file.problems.add(line, said)
        else:
            landing[field] = holding
    return landing, frozenset(lacks)


def _check_shape(file: _File, raw: Map, place: str) -> None:
    """`names` are for the two shapes that have none."""
    shape = raw.get("shape", "")
    if shape in _NAMED and "names" not in raw and "shape" in raw.at:
        file.problems.add(raw.at["shape"], f"{place}: the shape {shape} needs names, those of its fields in order.")
    if "names" in raw and shape not in _NAMED:
        shaped = f"the shape {shape} has" if shape else "without a shape there are"
        said = f"{place}.names: {shaped} names of its own; only {' and '.join(_NAMED)} are given some."
        file.problems.add(raw.at["names"], said)


def _check_cell(
    file: _File, obj: str, fill: Map, path: str, fields: Collection[str] | None, line: int, place: str
) -> None:
    cell = paths.cell(path)
    if cell is None:
        if re.fullmatch(paths.CELL, path):  # or that is said already
            file.problems.add(line, f"{place}: the brackets of '{path}' do not match.")
        return
    for function in cell.functions:
        if not file.is_known(function, FUNCTIONS, line, place, "a function"):
            continue
        many = "[*]" in fill.get("each", "$") or fill.get("shape") in _MANY
        if function in OF_ROWS and (cell.origin or not many):
            file.problems.add(line, f"{place}: {function}() is of a field of rows, and an object has but one row here.")
    if cell.origin == "@":
        file.check_argument(cell.steps[0], obj, line, place)
    elif not cell.origin and not cell.steps:
        if fill.get("shape") in _NO_RECORD:
            file.problems.add(line, f'{place}: a row of the shape {fill["shape"]} has fields, and is no value (".").')
    elif not cell.origin and fields is not None:
        file.is_known(cell.steps[0], fields, line, place, "a field of the row")


def known_fields(raw: Mapping[str, Any], obj: str, fill: Map) -> Collection[str] | None:
    """Return the fields of the rows of `fill`, if the shapes tell; None if they are those that a reply has."""
    shaped = [fill]
    if "shape" not in fill and fill.get("each", "$") == "$":
        if "." in raw.get("objects", {}).get(obj, {}).get("key", ()):
            return ()  # a bare value has none
        shaped = [f for f in raw.get("fetches", {}).values() if f.get("gives") == obj]
    known: list[Sequence[str]] = []
    for s in shaped:
        if s.get("shape") != "value" and "names" not in s:
            return None
        known.append(("value",) if s.get("shape") == "value" else s["names"])
    return list(dict.fromkeys(name for names in known for name in names)) if known else None


def lacking(raw: Mapping[str, Any], obj: str, table: str, fill: Map) -> tuple[str, ...]:
    """Return the columns that `fill` lacks: those it says, and where all fields are known, those that are none."""
    said = tuple(fill.get("lacks", ()))
    fields = known_fields(raw, obj, fill)
    if fields is None:
        return said
    columns = raw["tables"][table].get("columns", {})
    there = {c for c in columns if c in fill.get("columns", {}) or c in fields}
    for name, column in columns.items():
        if column.get("of") and there.issuperset(sources(column["of"])):
            there.add(name)
    return said + tuple(c for c, of in columns.items() if not {c, of.get("year_of")} & there and c not in said)


def _is_object(fill: Map) -> bool:
    """As `Fill.is_object`."""
    return fill.get("each", "$") == "$" and fill.get("shape", "") in ("", "value")


def _check_fetch(file: _File, name: str) -> None:
    fetch = file.fetches[name]
    place = f"fetches.{name}"
    args, fixed = fetch.get("args", Map(fetch.line)), fetch.get("fixed", {})
    _check_shape(file, fetch, place)
    for arg, limit in fetch.get("limits", {}).items():
        line = fetch["limits"].at[arg]
        file.is_known(arg, args, line, f"{place}.limits", f"an argument of {name}")
        if len(limit) == 2 and limit[0] > limit[1]:
            file.problems.add(line, f"{place}.limits.{arg}: {limit[0]} is more than {limit[1]}.")
    for key in ("as_text", "as_list", "periods"):
        for arg in fetch.get(key, ()):
            file.is_known(arg, args, fetch.at[key], f"{place}.{key}", f"an argument of {name}")
    for arg in fixed:
        if arg in args:
            file.problems.add(fetch["fixed"].at[arg], f"{place}.fixed: {arg} is also among args.")
    for arg in re.findall(r"{(\w*)}", fetch.get("call", "")):
        file.is_known(arg, {**args, **fixed}, fetch.at["call"], f"{place}.call", f"an argument of {name}")
    if "search" in fetch and not args and "args" in fetch:
        file.problems.add(fetch.at["search"], f"{place}: a search needs an argument.")
    given = fetch.get("gives")
    if given is None or not file.is_known(given, file.objects, fetch.at["gives"], f"{place}.gives", "an object"):
        return
    if "search" in fetch:
        for arg, source in args.items():
            _check_search_input(file, given, source, args.at[arg], f"{place}.args.{arg}")
    else:
        _check_inputs(file, given, args, f"{place}.args")
    _check_kinds(file, given, fetch, place)


def _check_inputs(file: _File, obj: str, args: Map, place: str) -> None:
    """Inputs are fields of the key, or columns; some table that the object fills must have all of the latter."""
    inputs = [inputs for _, inputs in file.inputs(obj)]
    if not inputs or not all(file.columns(table) for table, _ in file.inputs(obj)):
        return
    every = list(dict.fromkeys(chain.from_iterable(inputs)))
    what = f"a field of {obj}'s key or a column that it fills"
    known = [file.is_known(source, every, args.at[arg], f"{place}.{arg}", what) for arg, source in args.items()]
    if all(known) and not any(names.issuperset(args.values()) for names in map(set, inputs)):
        file.problems.add(args.line, f"{place}: no table that {obj} fills has {' and '.join(args.values())}.")


def _check_kinds(file: _File, obj: str, fetch: Map, place: str) -> None:
    """A period is of a DATE, and limits are of numbers or periods."""
    args, periods = fetch.get("args", {}), fetch.get("periods", Seq(0))
    for arg in {*periods, *fetch.get("limits", ())} & set(args):
        type_ = _type_of(file, obj, args[arg])
        if type_ is None:
            continue
        if arg in periods and type_ != "DATE":
            file.problems.add(fetch.at["periods"], f"{place}.periods: {args[arg]} is {type_}, not a DATE.")
        elif arg not in periods and _KIND.get(type_) != "number":
            said = f"{place}.limits.{arg}: {args[arg]} is {type_}; limits are of numbers, and of periods."
            file.problems.add(fetch["limits"].at[arg], said)
    if periods and "search" in fetch:
        file.problems.add(fetch.at["periods"], f"{place}.periods: a search takes values only.")


def _type_of(file: _File, obj: str, source: str) -> str | None:
    """The type of the column that an input is, None if that cannot be told."""
    for table, fill, _ in file.fills(obj):
        if table not in file.tables:
            continue
        holding = [c for c, p in fill.get("columns", {}).items() if p.lstrip("^@") == source and p != source]
        own = [c for c, p in fill.get("columns", {}).items() if p == source and _is_object(fill)]
        for column in (*holding, *own, source):
            if column in file.columns(table):
                found: str | None = file.columns(table)[column].get("type")
                return found
    return None


def _check_search_input(file: _File, obj: str, source: str, line: int, place: str) -> None:
    fills = list(file.fills(obj))
    own = [(table, fill) for table, fill, _ in fills if _is_object(fill) and table in file.tables]
    if fills and not own:
        file.problems.add(line, f"{place}: a search needs a table that {obj} fills with itself (no `each`).")
    having = [(table, fill) for table, fill in own if source in file.columns(table)]
    for table, fill in having or own[:1]:
        if file.is_column(source, table, line, place) and source in fill.get("lacks", ()):
            file.problems.add(line, f"{place}: {obj} does not fill {table}.{source}.")


def _check_reach(file: _File) -> None:
    """A domain without calls has its tables from files; otherwise each table must be filled by some call."""
    if not file.fetches:
        return
    _report_unused(file, file.objects, {f.get("gives") for f in file.fetches.values()}, "no fetch gives the object")
    filled = {table for o in file.objects.values() for table in o.get("fills", ())}
    with_via = {name for name, table in file.tables.items() if table.get("via")}
    # a table of names is never read: other tables hold the names, the source lists them
    names_only = {name for name, table in file.tables.items() if list(table.get("columns", ())) == [table.get("label")]}
    _report_unused(file, file.tables, filled | with_via | names_only, "no object fills the table")
    unfilled = file.tables.keys() - filled
    reached = {table for f in file.fetches.values() for table in _reached(file, f)}
    _report_unused(file, file.tables, reached | with_via | unfilled, "no call has all its inputs in the table")


def _reached(file: _File, fetch: Map) -> Iterator[str]:
    """The tables in which `fetch` finds its inputs; a misspelt one is everywhere, and is reported already."""
    obj, args = fetch.get("gives", ""), set(fetch.get("args", {}).values())
    if obj in file.objects:
        every = {name for _, names in file.inputs(obj) for name in names}
        yield from (t for t, names in file.inputs(obj) if "search" in fetch or args & every <= set(names))


def _report_unused(file: _File, declared: Map, used: Collection[str | None], sentence: str) -> None:
    unused: Iterable[str] = (name for name in declared if name not in used)
    for name in unused:
        file.problems.add(declared.at[name], f"{sentence} {name}.")
