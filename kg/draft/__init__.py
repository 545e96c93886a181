"""A domain file in the making: from what is known of an API's replies to tables, objects and calls, as YAML.

What cannot be decided is left out, with a comment that says so: the file holds only what is known, and passes lint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from kg.load.nodes import Token, plain_text

_LABELS = ("name", "title", "label", "full_name", "display_name", "headline", "caption")
_SINGULARS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ss", "ss"), ("s", ""))
_PARTICIPLES = {"born": "born", "died": "die", "birthday": "born", "birth_date": "born", "date_of_birth": "born"}

_MISREAD = ("yes", "no", "on", "off", "true", "false", "null")  # by YAML, where they are not in quotes
_RESOLVER: Any = yaml.SafeLoader("")


@dataclass
class Kind:
    """What stands at a place of a reply: a value of the SQL type `type`, an object with `fields`, or a list of `items`.

    `name` is what the API calls it, `unsure` why it is left out.
    """

    type: str = "TEXT"
    about: str = ""
    name: str = ""
    fields: dict[str, Kind] | None = None
    items: Kind | None = None
    unsure: str = ""


@dataclass
class Table:
    """A table; `columns` are name -> (type, about, more keys)."""

    name: str
    about: str
    key: list[str]
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    label: str = ""
    noun: str = ""
    roles: list[str] = field(default_factory=list)


@dataclass
class Object:
    """What replies consist of; `fills` are (table, each, column -> path)."""

    name: str
    key: str
    fills: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)


@dataclass
class Relation:
    """A field of an object that holds others, or the key of one: at `path`, `many` if it is a list."""

    obj: Object
    base: str
    path: str
    many: bool
    child: str
    kind: Kind | None  # None: only the key is there


@dataclass
class Draft:
    """A domain file. `source` and the values of `fetches` and `optional` are YAML already."""

    name: str
    about: str
    source: list[str]
    tables: dict[str, Table] = field(default_factory=dict)
    objects: dict[str, Object] = field(default_factory=dict)
    fetches: dict[str, str] = field(default_factory=dict)
    optional: dict[str, str] = field(default_factory=dict)  # fetches of whole lists, which may be long
    left_out: list[str] = field(default_factory=list)
    inputs: dict[str, list[set[str]]] = field(default_factory=dict)  # object -> what its calls take
    keys: dict[str, str] = field(default_factory=dict)  # object -> the field by which a call asks for one
    _relations: list[Relation] = field(default_factory=list)

    # -- tables ------------------------------------------------------------------------------------------------------

    def record(self, kind: Kind, name: str) -> Object | None:
        """Return the object that `kind` is, with its table; None, and a note, if nothing identifies it."""
        name = singular(column_name(kind.name or name))
        if name in self.objects:
            return self.objects[name]
        key = self.key_of(kind, name)
        if key is None:
            self.left_out.append(f"{name}: nothing in it looks like a key.")
            return None
        obj = self.objects[name] = Object(name, key)
        table = self.tables[name] = Table(name, kind.about or f"One row per {spoken(name)}.", [], noun=spoken(name))
        paths: dict[str, str] = {}
        for field_name, inner in (kind.fields or {}).items():
            self._field(obj, table, paths, field_name, inner)
        table.key = [next(c for c in table.columns if paths.get(c, c) == key)]
        labels = [c for c in _LABELS if c in table.columns and table.columns[c]["type"] == "TEXT"]
        own = f"{name}_name"
        table.label = next(iter(labels), own if own in table.columns else "")
        if table.label:
            table.columns[table.label]["match"] = "name"
        obj.fills.insert(0, (name, "$", paths))
        return obj

    def key_of(self, kind: Kind, name: str) -> str | None:
        """The field that identifies an object: the one that a call asks for, else one that looks like it."""
        hint = self.keys.get(name, "")
        return hint if hint in (kind.fields or {}) else key_of(kind, name)

    def _field(self, obj: Object, table: Table, paths: dict[str, str], name: str, kind: Kind, prefix: str = "") -> None:
        column, path = column_name(prefix + name), path_of(prefix, name)
        if kind.unsure:
            self.left_out.append(f"{obj.name}.{path}: {kind.unsure}.")
        elif kind.items is not None:
            if kind.items.fields is None and kind.items.items is None and not kind.items.unsure:
                self._values(obj, table, column, path, kind.items)
            elif kind.items.fields is not None:
                self._relations.append(
                    Relation(obj, singular(column), path, True, _child(kind.items, column), kind.items)
                )
            else:
                self.left_out.append(f"{obj.name}.{path}: a list of lists.")
        elif kind.fields is not None:
            child = _child(kind, column)
            if self.key_of(kind, child) is not None:
                self._relations.append(Relation(obj, column, path, False, child, kind))
            elif prefix:
                self.left_out.append(f"{obj.name}.{path}: it is nested deeper than one object in another.")
            else:
                for inner, k in kind.fields.items():
                    self._field(obj, table, paths, inner, k, f"{name}.")
        elif not column:
            self.left_out.append(f"{obj.name}.{path}: a column cannot have this name.")
        elif column not in table.columns:
            table.columns[column] = _column(kind, column)
            if path != column:
                paths[column] = path

    def _values(self, obj: Object, table: Table, column: str, path: str, kind: Kind) -> None:
        """A list of plain values: a table of its own, a row each."""
        name, value = f"{table.name}_{singular(column)}", singular(column)
        if not column or name in self.tables:
            return
        owner = f"{table.name}_id"
        self._put_columns(name, f"One row per {spoken(table.name)} and {spoken(value)}.", obj, owner)
        self.tables[name].columns[value] = _column(kind, value)
        self.tables[name].key = [owner, value]
        obj.fills.append((name, f"{path}[*]", {owner: f"^{obj.key}", value: "."}))

    def _put_columns(self, name: str, about: str, obj: Object, owner: str) -> Table:
        table = self.tables[name] = Table(name, about, [owner])
        table.columns[owner] = {"type": "", "about": f"the {spoken(obj.name)}", "links": obj.name}
        return table

    def relate(self) -> None:
        """Put what objects say of each other into tables of their own. Called when all records are known."""
        for name, obj in list(self.objects.items()):
            own, paths = self.tables[name], obj.fills[0][2]
            for column in [c for c in own.columns if c not in own.key]:
                child = re.sub(r"_(id|key|uuid|code|slug)$", "", column)
                if child != column and child in self.objects and own.columns[column]["type"]:
                    self._relations.append(Relation(obj, child, paths.pop(column, column), False, child, None))
                    del own.columns[column]
        for relation in self._relations:
            self._relate(relation)
        self._relations.clear()

    def reach(self) -> None:
        """Give tables that no call asks for by their own columns those of another table that it does ask for."""
        for name, calls in self.inputs.items():
            obj, own = self.objects[name], self.tables[name]
            if any(inputs <= {*own.columns, obj.key} for inputs in calls):
                continue
            for other, each, paths in obj.fills[1:]:
                for column in calls[0] & set(self.tables[other].columns) if each == "$" else ():
                    own.columns.setdefault(column, dict(self.tables[other].columns[column]))
                    if column in paths:
                        obj.fills[0][2][column] = paths[column]

    def _relate(self, r: Relation) -> None:
        kind, known = r.kind, r.child in self.objects
        each = f"{r.path}[*]" if r.many else "$"
        if kind is not None and not known:
            self._detail(r, kind)
            return
        key = self.key_of(kind, r.child) if kind is not None else None
        name = f"{r.obj.name}_{r.base}"
        if name in self.tables or not self.tables.get(r.child):
            return
        owner, other = f"{r.obj.name}_id", f"{r.base}_id"
        if owner == other:
            other = f"other_{other}"
        about = f"Which {spoken(r.base)} belongs to which {spoken(r.obj.name)}."
        table = self._put_columns(name, about, r.obj, owner)
        table.columns[other] = {"type": "", "about": f"the {spoken(r.base)}", "links": r.child}
        table.key = [owner, other]
        if self.tables[r.child].label and self.tables[r.obj.name].label and r.child != r.obj.name:
            table.roles.append(f"{{of: {r.obj.name}, to: {r.child}, noun: [{scalar(spoken(r.base))}]}}")
        if r.many:
            paths = {owner: f"^{r.obj.key}", other: key or "."}
        else:
            paths = {owner: r.obj.key, other: f"{r.path}.{key}" if key else r.path}
        r.obj.fills.append((name, each, {c: p for c, p in paths.items() if c != p}))

    def _detail(self, r: Relation, kind: Kind) -> None:
        """Objects that no call brings by themselves: rows that belong to the object around them."""
        name, owner = f"{r.obj.name}_{r.base}", f"{r.obj.name}_id"
        if name in self.tables:
            return
        table = self._put_columns(
            name, kind.about or f"The {spoken(r.base)} rows of a {spoken(r.obj.name)}.", r.obj, owner
        )
        paths = {owner: f"^{r.obj.key}"}
        for field_name, inner in (kind.fields or {}).items():
            column, path = column_name(field_name), path_of("", field_name)
            if inner.fields is not None or inner.items is not None or inner.unsure or not column:
                self.left_out.append(f"{name}.{path}: {inner.unsure or 'it is nested too deep'}.")
            elif column not in table.columns:
                table.columns[column] = _column(inner, column)
                if path != column:
                    paths[column] = path
        table.key = list(table.columns)
        r.obj.fills.append((name, f"{r.path}[*]" if r.many else r.path, paths))

    # -- YAML --------------------------------------------------------------------------------------------------------

    def yaml(self) -> str:
        """Return the domain file."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        self._drop_unused()
        yield f"domain: {self.name}"
        yield f"about: {scalar(self.about)}"
        yield from self.source
        yield "\ntables:"
        for table in self.tables.values():
            yield from self._table(table)
        yield "\nobjects:"
        for obj in self.objects.values():
            yield from self._object(obj)
        yield "\nfetches:"
        yield from (f"  {name}: {written}" for name, written in self.fetches.items())
        if self.optional:
            yield "  # Whole lists, which answer how many there are; take the # away where they are short:"
            yield from (f"  # {name}: {written}" for name, written in self.optional.items())
        if self.left_out:
            yield "\n# Left out, because it could not be decided:"
            yield from (f"# - {' '.join(said.split())}" for said in dict.fromkeys(self.left_out))

    @staticmethod
    def _object(obj: Object) -> Iterator[str]:
        fills = []
        for name, each, paths in obj.fills:
            inner = [f"each: {scalar(each)}"] if each != "$" else []
            inner += [f"columns: {_flow(paths)}"] if paths else []
            fills.append(f"{name}: {{{', '.join(inner)}}}")
        line = f"  {obj.name}: {{key: [{scalar(obj.key)}], fills: {{{', '.join(fills)}}}}}"
        if len(line) <= 120:
            yield line
        else:
            yield f"  {obj.name}:"
            yield f"    key: [{scalar(obj.key)}]"
            yield "    fills:"
            yield from (f"      {fill}" for fill in fills)

    def _table(self, table: Table) -> Iterator[str]:
        yield f"  {table.name}:"
        yield f"    about: {scalar(_sentence(table.about))}"
        if table.noun:
            yield f"    says: [{scalar(table.noun)}]"
        yield f"    key: [{', '.join(table.key)}]"
        if table.label:
            yield f"    label: {table.label}"
        yield "    columns:"
        width = max(map(len, table.columns)) + 1
        for name, column in table.columns.items():
            yield f"      {f'{name}:':<{width}} {self._column(column)}"
        if table.roles:
            yield f"    roles: [{', '.join(table.roles)}]"

    def _column(self, column: Mapping[str, str]) -> str:
        written = dict(column)
        if target := written.pop("links", ""):
            key = self.tables[target].key[0]
            written |= {"type": self.tables[target].columns[key]["type"], "links": f"{target}.{key}"}
        parts = [
            f"{key}: {value if key in ('says', 'asks') else scalar(value)}" for key, value in written.items() if value
        ]
        return f"{{{', '.join(parts)}}}"

    def _drop_unused(self) -> None:
        given = {m[1] for f in self.fetches.values() if (m := re.search(r"gives: (\w+)", f))}
        for name in [n for n in self.objects if n not in given]:
            del self.objects[name]
        filled = {table for o in self.objects.values() for table, _, _ in o.fills}
        dropped = [n for n in self.tables if n not in filled]
        for name in dropped:
            del self.tables[name]
        for table in self.tables.values():
            for column in table.columns.values():
                if column.get("links") in dropped:
                    column["type"] = column["type"] or "TEXT"
                    del column["links"]
            table.roles = [r for r in table.roles if not any(f" {name}," in r for name in dropped)]


def key_of(kind: Kind, name: str) -> str | None:
    """Return the field of an object that looks like its key."""
    usable = {column_name(f): f for f, k in (kind.fields or {}).items() if _is_key(k) and path_of("", f) == f}
    wanted = (f"{name}_id", "id", f"{name}_key", "uuid", "_id", "key", "slug", f"{name}_code", "code", "symbol", "isbn")
    return next((usable[w] for w in wanted if w in usable), None)


def _is_key(kind: Kind) -> bool:
    return kind.fields is None and kind.items is None and not kind.unsure and kind.type in ("TEXT", "INTEGER", "BIGINT")


def _child(kind: Kind, column: str) -> str:
    return singular(column_name(kind.name)) if kind.name else singular(column)


def _column(kind: Kind, name: str) -> dict[str, str]:
    said = {"type": kind.type, "about": _sentence(kind.about) or spoken(name)}
    if not re.search(r"(^|_)(id|uuid|key)$", name):
        said["says"] = f"[{scalar(spoken(name))}]"
    if kind.type in ("DATE", "TIMESTAMP"):
        word = _PARTICIPLES.get(name) or re.sub(r"_(at|on|date)$", "", name)
        if name in _PARTICIPLES or word.endswith("ed"):
            said["asks"] = f'["when ... {word.replace("_", " ")}"]'
    return said


def _sentence(about: str) -> str:
    """The first sentence of a description, on one line."""
    plain = " ".join(about.split())
    return re.split(r"(?<=[a-z)])\. ", plain)[0][:160].strip()


def _flow(pairs: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key}: {scalar(value)}' for key, value in pairs.items())}}}"


def scalar(text: str) -> str:
    """Return `text` as a value in YAML, in quotes where it needs them.

    >>> scalar("day of birth"), scalar("yes"), scalar("a, b"), scalar("^id")
    ('day of birth', '"yes"', '"a, b"', '"^id"')
    """
    plain = re.fullmatch(r"[A-Za-z_/(][^\x00-\x1f,:#\[\]{}\"`&*!|>%@\\]*", text) and not text.endswith(" ")
    if plain:
        try:
            tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
            plain_text(Token(text, tag.rpartition(":")[2], 0))
            return text
        except ValueError:
            pass
    return json.dumps(text, ensure_ascii=False)


def column_name(text: str) -> str:
    """Return `text` as the name of a table or column; empty if nothing of it can be one.

    >>> column_name("authorId"), column_name("Release-Date"), column_name("2nd"), column_name("on")
    ('author_id', 'release_date', 'n2nd', 'on_')
    """
    words = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3_\2\4", text)
    name = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]+", "_", words.lower())).strip("_")
    name = (f"n{name}" if name[:1].isdigit() else name)[:47].rstrip("_")
    return f"{name}_" if name in _MISREAD else name


def path_of(prefix: str, name: str) -> str:
    """Return the path of a field, in brackets where it is no word."""
    if re.fullmatch(r"[A-Za-z_][\w-]*", name):
        return prefix + name
    return f'{prefix.rstrip(".")}["{name}"]'


def singular(name: str) -> str:
    """Return a name of many as that of one.

    >>> singular("books"), singular("categories"), singular("glass"), singular("news")
    ('book', 'category', 'glass', 'news')
    """
    if name in ("news", "series", "species", "status", "bus", "people", "data"):
        return {"people": "person"}.get(name, name)
    for many, one in _SINGULARS:
        if name.endswith(many) and len(name) > len(many) + 1:
            return name.removesuffix(many) + one
    return name


def spoken(name: str) -> str:
    """Return a name as people say it.

    >>> spoken("release_date")
    'release date'
    """
    return name.replace("_", " ")
