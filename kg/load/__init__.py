"""Domain files (YAML) to `Domain`: what may stand in one, and what it becomes.

A file is read in three steps: its shape (here, as tables), what its names refer to (`domain_checks`), and then the
building, which can rely on both. Every mistake of the first two is reported, in one DomainError.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kg.domain import (
    CHANGES,
    SHAPES,
    TYPES,
    Api,
    Column,
    Domain,
    Fetch,
    Files,
    Fill,
    Link,
    Object,
    Role,
    Scalar,
    Table,
    Value,
    Via,
)
from kg.errors import DomainError
from kg.load.checks import check, lacking, stored
from kg.load.files import COLUMN_KEYS, FILE_KEYS, TABLE_KEYS, check_files, files_of
from kg.load.forms import Constant, Flag, Key, Listing, Named, OneOrMore, Record, Stored, Text, Whole
from kg.load.nodes import Map, Problems, compose
from kg.load.source import API_KEYS, FETCH_KEYS, check_source, fetch_values, source_of
from kg.shapes import paths
from kg.shapes.made import PATTERN

BUILT_IN = Path(__file__).resolve().parents[2] / "schemas"

# Keywords such as `order` and `cast` are fine; "__" is kept for the names of stored tables.
_NAME = Text(r"(?!.*__)[a-z][a-z0-9_]{0,47}", "a lower-case SQL name (letters, digits, single underscores)")
_FIELD = Text(r"\.|@?[A-Za-z_][\w-]*", 'a field of the object, an "@argument", or "." for a bare value')
_INPUT = Text(r"[A-Za-z_][\w-]*", "a field of the object's key, or a column")
_CELL = Text(
    paths.CELL,
    'a path: field, field.inner, ["any name"], "^field" of the object, "@argument", "=text" for the same in all '
    'rows, "." for the row itself, '
    "or a function of one, as in number(field)",
)
_ROWS = Text(paths.ROWS, 'where rows are: "$", "$[*]", "cast[*]", "$.data.films[*]"')
_SHAPE = Text(choices=tuple(filter(None, SHAPES)))
_NAMES = Listing(Text(r"[A-Za-z_]\w*", "a name (letters, digits, underscores)"))
_PHRASES = Listing(Text())
_ANY = Text()
_FIXED = Named(Stored())

_LINK = Record(
    {
        "to": Key(Text(r"[a-z0-9_]+\.[a-z0-9_]+", "table.column"), "The table.column it holds values of.", True),
        "where": Key(_ANY, "SQL that narrows the join; columns are written table.column."),
    },
    short="to",
)
_COLUMN = Record(
    {
        "type": Key(Text(choices=TYPES), "The SQL type.", True),
        "about": Key(_ANY, "What it holds, for people and for the model.", True),
        "unit": Key(_ANY, "The unit, such as USD, min or cm."),
        "says": Key(_PHRASES, "Nouns people use for it."),
        "asks": Key(_PHRASES, 'Question openings that ask for it; "..." is a gap.'),
        "most": Key(_PHRASES, "Superlatives and comparatives for large or late values."),
        "least": Key(_PHRASES, "Superlatives and comparatives for small or early values."),
        "values": Key(Named(_PHRASES, Stored()), "Stored value to what people say for it; any: words for any flag."),
        "adds": Key(Flag(), "true if a sum over rows is what people mean: goals of a season."),
        "null_when": Key(Listing(Stored()), "Stored values that mean unknown."),
        "links": Key(_LINK, "The table.column whose values these are."),
        "match": Key(Text(choices=("exact", "name", "contains")), "How a text is compared."),
        "short": Key(Text(choices=("company",)), 'How people shorten a name: of a company "Inc. Common Stock" goes.'),
        "year_of": Key(_ANY, "The date column above whose year this is."),
        "range": Key(
            Listing(Whole(), size=2),
            "The least and the greatest number (of a date, year) it has, few enough to ask for all.",
        ),
        "of": Key(Text(PATTERN, "a column, or two with + or - between them"), "One or two columns it is made of."),
        "beside": Key(_ANY, "The column that is shown with it in an answer: a result with the score."),
        "codes": Key(Named(Stored(), Stored()), "What the values of the column in `of` stand for."),
        **COLUMN_KEYS,
    }
)
_ROLE = Record(
    {
        "of": Key(_ANY, "The table of whom it is a role.", True),
        "to": Key(_ANY, "The table of those who have the role.", True),
        "where": Key(_FIXED, "Columns that have one value in this role."),
        "noun": Key(_PHRASES, "the {noun} of {of}"),
        "verb": Key(_PHRASES, "{to} {verb} {of}"),
        "back": Key(_PHRASES, "{of} {back} {to}"),
    }
)
_VIA = Record(
    {
        "needs": Key(_ANY, "The column that is bound.", True),
        "through": Key(_ANY, "The helper table that is asked.", True),
        "match": Key(_ANY, "The helper's column that is compared with it.", True),
        "take": Key(_ANY, "The helper's column that is taken.", True),
        "gives": Key(_ANY, "The column that is bound to what was taken.", True),
        "only": Key(_FIXED, "What holds for the rows that are reached this way."),
    }
)
_TABLE = Record(
    {
        "about": Key(_ANY, "What a row is.", True),
        "says": Key(_PHRASES, "Nouns people use for a row."),
        "asks": Key(_PHRASES, "Question words that ask for a row."),
        "key": Key(Listing(_ANY), "The columns that identify a row.", True),
        "label": Key(_ANY, "The column people call its rows by."),
        "names": Key(Named(_PHRASES, Stored()), "Key of a row to what people call it, the better known first."),
        "rank": Key(Text(r"-?[a-z0-9_]+", "a column, with - for descending"), "Who comes first of those with a name."),
        "changes": Key(Text(choices=CHANGES), "How fast its facts change."),
        "moment": Key(_ANY, "The date column of a series; where a question names no time, the latest row is meant."),
        "every": Key(Whole(least=1), "Days between the dates of a series; a day between belongs to the next of them."),
        "properties": Key(_ANY, "The column that names a property of a thing, where each row holds one (an infobox)."),
        "value": Key(_ANY, "The column that holds what the property is."),
        "text": Key(_ANY, "The column that holds some sentences about the row."),
        "assume": Key(_FIXED, "What holds where a question says nothing of a column."),
        "columns": Key(Named(_COLUMN, _NAME), "The columns, in order.", True),
        "roles": Key(Listing(_ROLE), "What two linked tables are to each other in this one."),
        "via": Key(Listing(_VIA), "Ways to its rows over a helper table."),
        **TABLE_KEYS,
    }
)
_FILL = Record(
    {
        "each": Key(_ROWS, 'Where its rows are in the object; "$" is the object itself.'),
        "shape": Key(_SHAPE, "What is there, if it is not objects, one for each row."),
        "names": Key(_NAMES, "The fields of the shapes parallel and tuple, in order."),
        "columns": Key(Named(_CELL), "Column to path, where the path is not the column's name."),
        "lacks": Key(Listing(_ANY), "Columns that the object cannot fill."),
    }
)
_OBJECT = Record(
    {
        "key": Key(
            Listing(_FIELD, may_be_empty=True),
            'The fields, or @arguments, that identify it; "." if it is a bare value, none if it is the only one.',
            True,
        ),
        "fills": Key(Named(OneOrMore(_FILL)), "The tables it fills; a list of fills if one more than once.", True),
    }
)
_FETCH = Record(
    {
        "call": Key(Text(r"(GET|POST) /\S*", "GET or POST and a /path"), "The method and the path.", True),
        "args": Key(
            Named(_INPUT, may_be_empty=True),
            "Argument to the key field it takes, or to a column; unless it is a search, the reply is complete for it.",
            True,
        ),
        "fixed": Key(Named(Constant()), "Arguments that always have the same value."),
        "periods": Key(
            Listing(_ANY), "Arguments that take a year, a month or a day of a date (2024, 2024-03, 2024-03-09)."
        ),
        "gives": Key(_ANY, "The object that comes back.", True),
        "rows": Key(_ROWS, "Where the objects are in the reply."),
        "shape": Key(_SHAPE, "What is there, if it is not objects."),
        "names": Key(_NAMES, "The fields of the shapes parallel and tuple, in order."),
        "search": Key(Whole(least=1), "It is a fuzzy search that is cut off at this many."),
        "limits": Key(
            Named(Listing(Whole(), size=2)), "The lowest and highest value of an argument; of a period, years."
        ),
        "as_text": Key(Listing(_ANY), "Arguments that the API wants as text although they are numbers."),
        "as_list": Key(Listing(_ANY), "Arguments that the API wants as a list, of one."),
        **FETCH_KEYS,
    }
)
_SOURCE = Record(
    {"name": Key(_ANY, "The name of a source, or the address of an API."), **API_KEYS, **FILE_KEYS}, short="name"
)
_DOMAIN = Record(
    {
        "domain": Key(_NAME, "The name of the domain.", True),
        "about": Key(_ANY, "What can be asked about, and what cannot.", True),
        "source": Key(_SOURCE, "Who answers the calls: a name, an address; or the files that hold the tables.", True),
        "tables": Key(Named(_TABLE, _NAME), "What people ask about.", True),
        "objects": Key(Named(_OBJECT, _NAME), "What replies consist of, and the tables they fill."),
        "fetches": Key(Named(_FETCH, _NAME), "The calls that can be made."),
    }
)


def load_domains(directories: Sequence[Path]) -> dict[str, Domain]:
    """Return the domains of all `*.yaml` and `*.yml` files in `directories`, by name.

    Raises DomainError with the mistakes of all files; also if a name comes twice, or if there is no file.
    """
    problems: list[str] = []
    domains: dict[str, Domain] = {}
    origin: dict[str, Path] = {}
    for directory in directories:
        files = sorted(p for p in directory.glob("*") if p.suffix in (".yaml", ".yml"))
        if not files:
            problems.append(f"{directory}:0: there is no domain file (*.yaml) in this directory.")
        for file in files:
            try:
                domain = load_domain(file)
            except DomainError as e:
                problems += e.problems
                continue
            if domain.name in domains:
                said = f"the domain '{domain.name}' is already declared in {origin[domain.name]}; give it another name."
                problems.append(f"{file}:1: {said}")
            domains[domain.name], origin[domain.name] = domain, file
    if not directories:
        problems.append("schemas:0: no directory with domain files was given.")
    if problems:
        raise DomainError(problems)
    return domains


def load_domain(path: Path) -> Domain:
    """Return the domain declared in the file `path`; raises DomainError with all its mistakes."""
    problems = Problems(path)
    try:
        source = path.read_bytes()
    except OSError as e:
        raise DomainError([f"{path}:0: the file cannot be read: {e.strerror}."]) from e
    raw = _DOMAIN.read(compose(source, problems), "", problems)
    check(raw, problems)
    check_source(raw, problems)
    check_files(raw, problems)
    problems.raise_if_any()
    domain = _domain(raw, path.resolve().parent)
    content = json.dumps(asdict(domain), sort_keys=True)
    return replace(domain, digest=hashlib.sha256(content.encode()).hexdigest())


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a domain file, for editors; it is checked in as domain.schema.json."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A kgq domain"}
    return head | _DOMAIN.schema()


def _domain(raw: Map, home: Path) -> Domain:
    source = files_of(raw["source"], home) or source_of(raw["source"])
    fetches = raw.get("fetches", {})
    return Domain(
        name=raw["domain"],
        about=raw["about"],
        source=source,
        tables=tuple(_table(name, t, isinstance(source, Files)) for name, t in raw["tables"].items()),
        objects=tuple(_object(name, raw) for name in raw.get("objects", ())),
        fetches=tuple(_fetch(name, f, source) for name, f in fetches.items()),
    )


def _object(name: str, raw: Map) -> Object:
    obj = raw["objects"][name]
    fills = ((table, fill) for table, fills in obj["fills"].items() for fill in fills)
    made = (_fill(table, fill, lacking(raw, name, table, fill)) for table, fill in fills)
    return Object(name, tuple(obj["key"]), tuple(made))


def _table(name: str, raw: Map, in_place: bool) -> Table:
    types = {column: c["type"] for column, c in raw["columns"].items()}
    roles = [{**_tuples(r), "where": _fixed(r.get("where"), types)} for r in raw.get("roles", ())]
    via = [{**v, "only": _fixed(v.get("only"), types)} for v in raw.get("via", ())]
    made = {
        "assume": _fixed(raw.get("assume"), types),
        "columns": tuple(_column(column, c, types) for column, c in raw["columns"].items()),
        "roles": tuple(Role(**r) for r in roles),
        "via": tuple(Via(**v) for v in via),
        "names": _values(raw.get("names"), types[raw["key"][0]]),
        "in_place": in_place,
        "origin": raw.pop("from", ""),
    }
    return Table(name=name, **{**_tuples(raw), **made})


def _column(name: str, raw: Map, types: dict[str, str]) -> Column:
    made: dict[str, Any] = {}
    if "values" in raw:
        made["values"] = _values(raw["values"], raw["type"])
    if "null_when" in raw:
        made["null_when"] = tuple(stored(v, raw["type"]) for v in raw["null_when"])
    if "codes" in raw:
        made["codes"] = tuple((stored(k, types[raw["of"]]), stored(v, raw["type"])) for k, v in raw["codes"].items())
    if "links" in raw:
        table, column = raw["links"]["to"].split(".")
        made["links"] = Link(table, column, raw["links"].get("where", ""))
    if "from" in raw:
        made["origin"] = raw.pop("from")
    return Column(name=name, **{**_tuples(raw), **made})


def _values(raw: Map | None, type_: str) -> tuple[Value, ...]:
    return tuple(Value(stored(v, type_), tuple(says)) for v, says in (raw or {}).items())


def _fill(table: str, raw: Map, lacks: tuple[str, ...]) -> Fill:
    columns = tuple(raw.get("columns", {}).items())
    return Fill(table, **{**_tuples(raw), "columns": columns, "lacks": lacks})


def _fetch(name: str, raw: Map, source: str | Api | Files) -> Fetch:
    method, endpoint = raw["call"].split()
    method, endpoint = raw["call"].split()
    made = {
        "endpoint": endpoint,
        "method": method,
        "args": tuple(raw["args"].items()),
        "fixed": tuple(raw.get("fixed", {}).items()),
        "limits": tuple((arg, low, high) for arg, (low, high) in raw.get("limits", {}).items()),
        **(fetch_values(raw) if isinstance(source, Api) else {}),
    }
    return Fetch(
        name=name, **{**{key: value for key, value in _tuples(raw).items() if key not in ("call", "in")}, **made}
    )


def _tuples(raw: Map) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


def _fixed(raw: Map | None, types: dict[str, str]) -> tuple[tuple[str, Scalar], ...]:
    pairs = [(column, stored(token, types[column])) for column, token in (raw or {}).items()]
    return tuple((column, value) for column, value in pairs if value is not None)
