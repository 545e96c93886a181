"""An OpenAPI description (3.x) to a draft of a domain file.

Tables come from the objects that GET operations reply with, calls from the operations whose inputs mean something:
one object by its key, those that belong to another, a search by name. Nothing is asked of the API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

from kg.draft import Draft, Kind, Object, column_name, key_of, path_of, scalar, singular
from kg.errors import DomainError
from kg.load.source import is_loopback

_METHODS = ("get", "post", "put", "patch", "delete")
_SEARCHES = ("q", "query", "search", "term", "keyword", "keywords", "text", "s")
_PAGES = ("page", "page_number", "pagenumber", "p", "pageno")
_OFFSETS = ("offset", "skip", "start", "start_index", "startindex")
_CURSORS = ("cursor", "after", "page_token", "pagetoken", "starting_after", "next_token", "continuation_token")
_SIZES = ("per_page", "perpage", "page_size", "pagesize", "limit", "size", "count", "max_results", "maxresults", "rows")
_TOTALS = ("total", "total_count", "totalcount", "total_results", "totalresults", "total_items", "count", "numfound")
_NEXTS = ("next", "next_page", "next_url", "next_cursor", "nextcursor", "next_page_token", "nextpagetoken", "cursor")
_DEEP = 8  # objects and lists in one another
_ROWS_OF_A_SEARCH = 10


@dataclass(frozen=True)
class _Operation:
    path: str
    what: Mapping[str, Any]
    params: tuple[Mapping[str, Any], ...]
    kind: Kind

    @property
    def required(self) -> list[str]:
        return [p["name"] for p in self.params if p.get("required") and p.get("in") != "header"]

    def query(self, *names: str) -> Mapping[str, Any] | None:
        """The first argument of the query that has one of `names`."""
        by_name = {p["name"].lower().replace("-", "_"): p for p in self.params if p.get("in") == "query"}
        return next((by_name[n] for n in names if n in by_name), None)


def draft_of(document: Any, *, name: str = "", at: str = "") -> Draft:
    """Return the draft for a parsed OpenAPI document that was found `at` an address, or in a file ("").

    Raises DomainError if it is none, or describes no reply that could be a table.
    """
    if not isinstance(document, dict) or not str(document.get("openapi", "")).startswith("3."):
        raise DomainError(["This is no OpenAPI description of version 3."])
    reader = _Reader(document)
    info = document.get("info") or {}
    title = str(info.get("title") or "api")
    domain = column_name(name or title)
    about = str(info.get("description") or title)
    draft = Draft(domain, " ".join(about.split())[:300], [])
    draft.source = list(_source(reader, draft, at))
    operations = list(_operations(reader, draft))
    found = [(o, *_objects_in(o.kind)) for o in operations]
    given = {}
    for operation, rows, kind in found:
        if kind is not None and not rows.endswith("[*]"):
            _note_key(draft, operation, kind)
    for operation, rows, kind in found:
        if kind is not None and (obj := draft.record(kind, _last_word(operation.path))) is not None:
            given[operation.path] = (rows, obj, kind)
        elif kind is None:
            draft.left_out.append(f"GET {operation.path}: its reply is no object, and no list of objects.")
    draft.relate()
    for operation, _, _ in found:
        if operation.path in given:
            rows, obj, _ = given[operation.path]
            _Calls(draft, operation, rows, obj).add()
    draft.reach()
    if not draft.fetches:  # then everything is better than nothing
        draft.fetches, draft.optional = draft.optional, {}
    if not draft.fetches:
        raise DomainError(["This description has no GET operation whose reply could be a table.", *draft.left_out])
    return draft


def _note_key(draft: Draft, operation: _Operation, kind: Kind) -> None:
    """An operation with one argument at the end of its path asks for an object by its key."""
    in_path = re.findall(r"{([^}]+)}", operation.path)
    if len(in_path) != 1 or not operation.path.endswith(f"{{{in_path[0]}}}"):
        return
    name = singular(column_name(kind.name or _last_word(operation.path)))
    named = {column_name(f): f for f, k in (kind.fields or {}).items() if k.fields is None and k.items is None}
    arg = column_name(in_path[0])
    field = next((named[n] for n in (arg, arg.removeprefix(f"{name}_")) if n in named), None)
    if field is not None and path_of("", field) == field:
        draft.keys.setdefault(name, field)


# -- the document ------------------------------------------------------------------------------------------------------


class _Reader:
    """Schemas of a document as kinds, with references followed."""

    def __init__(self, document: Mapping[str, Any]):
        self.document = document
        self._kinds: dict[tuple[str, int], Kind] = {}  # large descriptions refer to the same schemas all over

    def follow(self, node: Any) -> Any:
        """What `node` refers to; an empty mapping if that is not in the document."""
        for _ in range(_DEEP):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                break
            target: Any = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                step = step.replace("~1", "/").replace("~0", "~")
                target = target.get(step) if isinstance(target, dict) else None
            node = target if node["$ref"].startswith("#/") else None
        return node if isinstance(node, dict) else {}

    def kind(self, schema: Any, depth: int = 0) -> Kind:
        """What values of `schema` are; `depth` is how many objects and lists it is in."""
        if depth > _DEEP:
            return Kind(unsure="it is nested too deep")
        schema = schema if isinstance(schema, dict) else {}
        ref = schema.get("$ref")
        if not isinstance(ref, str):
            return self._kind(schema, "", str(schema.get("description") or ""), depth)
        if (ref, depth) not in self._kinds:
            self._kinds[ref, depth] = Kind(unsure="it contains itself")  # until it is known
            self._kinds[ref, depth] = self._kind(self.follow(schema), ref.rpartition("/")[2], "", depth)
        return self._kinds[ref, depth]

    def _kind(self, s: Mapping[str, Any], name: str, about: str, depth: int) -> Kind:
        about = about or str(s.get("description") or "")
        for key in ("anyOf", "oneOf"):
            options = [o for o in s.get(key) or () if self.follow(o).get("type") != "null"]
            if len(options) == 1:
                inner = self.kind(options[0], depth)
                return replace(inner, about=about or inner.about)
            if options:
                return Kind(about=about, unsure="it may be of several kinds")
        if "allOf" in s:
            return self._all_of(s, name, about, depth)
        types = [t for t in (s["type"] if isinstance(s.get("type"), list) else [s.get("type")]) if t != "null"]
        if len(types) != 1:
            return Kind(about=about, unsure="it may be of several types")
        if "properties" in s or types == ["object"]:
            properties = s.get("properties")
            if not isinstance(properties, dict) or not properties:
                return Kind(about=about, unsure="its fields are not described")
            fields = {str(f): self.kind(k, depth + 1) for f, k in properties.items()}
            return Kind(about=about, name=name or str(s.get("title") or ""), fields=fields)
        if types == ["array"] or "items" in s:
            return Kind(about=about, items=self.kind(s.get("items"), depth + 1))
        if not s.get("type") and "enum" not in s:
            return Kind(about=about, unsure="its type is not described")
        return Kind(_TYPES.get((types[0], s.get("format")), _TYPES.get((types[0], None), "TEXT")), about, name)

    def _all_of(self, s: Mapping[str, Any], name: str, about: str, depth: int) -> Kind:
        parts = [self.kind(p, depth) for p in s["allOf"]]
        if "properties" in s:
            parts.append(self.kind({"type": "object", "properties": s["properties"]}, depth))
        fields = {f: k for p in parts for f, k in (p.fields or {}).items()}
        if not fields:
            return parts[0] if len(parts) == 1 else Kind(about=about, unsure="it is put together of several kinds")
        own = name or (parts[0].name if len(parts) == 1 else "")
        return Kind(about=about or next((p.about for p in parts if p.about), ""), name=own, fields=fields)


_TYPES: dict[tuple[Any, Any], str] = {
    ("integer", None): "BIGINT",
    ("number", None): "DOUBLE",
    ("boolean", None): "BOOLEAN",
    ("string", "date"): "DATE",
    ("string", "date-time"): "TIMESTAMP",
}


def _operations(reader: _Reader, draft: Draft) -> Iterator[_Operation]:
    """The GET operations that reply with JSON."""
    for path, raw in (reader.document.get("paths") or {}).items():
        item = reader.follow(raw)
        get = item.get("get")
        if not isinstance(get, dict):
            continue
        by_name = {}
        for p in [*(item.get("parameters") or ()), *(get.get("parameters") or ())]:
            followed = reader.follow(p)
            if followed.get("name"):
                by_name[followed["name"], followed.get("in")] = followed
        schema = _reply_schema(reader, get)
        if schema is None:
            draft.left_out.append(f"GET {path}: it has no reply in JSON that is described.")
        else:
            params = tuple({**p, "schema": reader.follow(p.get("schema") or {})} for p in by_name.values())
            yield _Operation(str(path), get, params, reader.kind(schema))


def _reply_schema(reader: _Reader, operation: Mapping[str, Any]) -> Any:
    replies = {str(status): reply for status, reply in (operation.get("responses") or {}).items()}
    for status in sorted(s for s in replies if s.startswith("2") or s == "default"):
        for media, content in (reader.follow(replies[status]).get("content") or {}).items():
            if "json" in media and isinstance(content, dict) and content.get("schema"):
                return content["schema"]
    return None


def _objects_in(kind: Kind, path: str = "$", depth: int = 0) -> tuple[str, Kind | None]:
    """Where the objects are in a reply, and what they are."""
    if kind.items is not None:
        return f"{path}[*]", kind.items if kind.items.fields is not None else None
    if kind.fields is None:
        return path, None
    lists = [(f, k) for f, k in kind.fields.items() if k.items is not None and k.items.fields is not None]
    own = key_of(kind, column_name(kind.name))
    if own is None and len(lists) == 1:
        field, inner = lists[0]
        return f"{path}.{field}[*]", inner.items
    wrapped = [(f, k) for f, k in kind.fields.items() if k.fields is not None]
    if own is None and not lists and wrapped and depth < 3:
        field, inner = next(((f, k) for f, k in wrapped if f in ("data", "result", "response", "item")), wrapped[0])
        where, found = _objects_in(inner, f"{path}.{field}", depth + 1)
        if found is not None and (where.endswith("[*]") or key_of(found, column_name(found.name)) is not None):
            return where, found
    return path, kind


# -- the calls ---------------------------------------------------------------------------------------------------------


@dataclass
class _Calls:
    """The fetches that one operation makes possible."""

    draft: Draft
    operation: _Operation
    rows: str
    obj: Object

    def add(self) -> None:
        in_path = re.findall(r"{(\w[^}]*)}", self.operation.path)
        inputs = {arg: self._input(arg) for arg in in_path}
        unknown = [arg for arg, source in inputs.items() if source is None]
        needed = [arg for arg in self.operation.required if arg not in in_path]
        said = f"GET {self.operation.path}"
        if unknown or any(not re.fullmatch(r"\w+", arg) for arg in in_path):
            self.draft.left_out.append(f"{said}: no column is known that {', '.join(unknown) or 'its argument'} takes.")
            return
        args = {arg: source for arg, source in inputs.items() if source is not None}
        is_list = "[*]" in self.rows
        label = self.draft.tables[self.obj.name].label
        search = self.operation.query(*_SEARCHES, label, *((f"{self.obj.name}_{label}",) if label else ()))
        left = [arg for arg in needed if search is None or arg != search["name"]]
        filters = {arg: self._column(column_name(arg)) for arg in left}
        if left and is_list and all(filters.values()):
            self._list({**args, **{arg: str(source) for arg, source in filters.items()}})
        elif left:
            self.draft.left_out.append(f"{said}: it needs {', '.join(left)}, which is no column here.")
        elif is_list and search is not None and label and not in_path:
            self._put(f"search_{self.obj.name}", {search["name"]: label}, search=True)
        elif args and (is_list or len(args) == 1):
            self._list(args)
        if is_list and not in_path and not left:
            self._filters(search)

    def _filters(self, search: Mapping[str, Any] | None) -> None:
        """Lists that can be narrowed to those that belong to something, and lists of everything."""
        required = set(self.operation.required)
        for p in self.operation.params:
            name = column_name(p["name"])
            source = self._column(name) if p.get("in") == "query" and p is not search else None
            if source is not None and name.endswith("_id") and not required:
                self._list({p["name"]: source})
        if not required:
            self.draft.optional[f"every_{self.obj.name}"] = self._written({})

    def _input(self, arg: str) -> str | None:
        """The key field or the column that an argument of the path takes."""
        name, before = column_name(arg), self.operation.path.partition(f"{{{arg}}}")[0].strip("/").split("/")[-1]
        owner = singular(column_name(before))
        table = self.draft.tables[self.obj.name]
        if owner == self.obj.name or "[*]" not in self.rows:
            key = self.obj.key
            if name in (column_name(key), f"{self.obj.name}_{column_name(key)}", self.obj.name, "id"):
                return key
            return None if "[*]" not in self.rows else self._column(name)
        tries = [name, f"{owner}_id", f"{owner}_{name}"] if name != "id" else [f"{owner}_id"]
        return next((c for t in tries if (c := self._column(t)) is not None and c not in table.key), None)

    def _column(self, name: str) -> str | None:
        """`name`, if it is a column of a table that the object fills."""
        tables = [self.draft.tables[table] for table, _, _ in self.obj.fills]
        return name if any(name in t.columns for t in tables) else None

    def _list(self, args: Mapping[str, str]) -> None:
        """A fetch that is complete for its inputs; one is enough for the same ones."""
        by = column_name("_and_".join(args.values()))
        name = f"{self.obj.name}_by_{by.removeprefix(f'{self.obj.name}_')}"
        if name not in self.draft.fetches:
            self._put(name, args)

    def _put(self, name: str, args: Mapping[str, str], *, search: bool = False) -> None:
        while name in self.draft.fetches:
            name += "_too"  # another search
        self.draft.fetches[name] = self._written(args, search=search)
        self.draft.inputs.setdefault(self.obj.name, []).append(set(args.values()))

    def _written(self, args: Mapping[str, str], *, search: bool = False) -> str:
        parts = [f"call: {scalar(f'GET {self.operation.path}')}"]
        parts.append(f"args: {{{', '.join(f'{scalar(arg)}: {scalar(source)}' for arg, source in args.items())}}}")
        parts.append(f"gives: {self.obj.name}")
        if self.rows != "$":
            parts.append(f'rows: "{self.rows}"')
        size = self.operation.query(*_SIZES)
        most = size["schema"].get("maximum") if size is not None else None
        if search:
            default = size["schema"].get("default") if size is not None else None
            parts.append(f"search: {default if isinstance(default, int) else _ROWS_OF_A_SEARCH}")
        elif "[*]" in self.rows and (pages := self._pages()):
            if size is not None and isinstance(most, int):
                pages += f", size: {{{scalar(size['name'])}: {most}}}"
            parts.append(f"pages: {{{pages}}}")
        return f"{{{', '.join(parts)}}}"

    def _pages(self) -> str:
        """How the list goes on, as far as names tell."""
        o, kind = self.operation, self.operation.kind
        total = _field_called(kind, _TOTALS, ("BIGINT",))
        counted = f", total: {scalar(total)}" if total else ""
        following = _field_called(kind, _NEXTS, ("TEXT",))
        if (p := o.query(*_PAGES)) is not None:
            first = p["schema"].get("minimum", p["schema"].get("default", 1))
            return f"page: {scalar(p['name'])}" + (", first: 0" if first == 0 else "") + counted
        if (p := o.query(*_OFFSETS)) is not None:
            return f"offset: {scalar(p['name'])}{counted}"
        if (p := o.query(*_CURSORS)) is not None:
            if following:
                return f"cursor: {scalar(p['name'])}, from: {scalar(following)}"
            self.draft.left_out.append(f"GET {o.path}: where the cursor of {p['name']} is in the reply.")
        elif following and not re.search("cursor|token", following, re.I):
            return f"next: {scalar(following)}"
        return ""


def _field_called(kind: Kind, names: tuple[str, ...], types: tuple[str, ...], path: str = "$") -> str:
    """The path of a value with one of `names`, in the reply or an object in it."""
    for name, inner in (kind.fields or {}).items():
        plain = inner.fields is None and inner.items is None and not inner.unsure
        if plain and column_name(name) in names and inner.type in types:
            return path_of(f"{path}.", name)
    for name, inner in (kind.fields or {}).items():
        if path == "$" and (found := _field_called(inner, names, types, f"$.{name}")):
            return found
    return ""


def _last_word(path: str) -> str:
    words = [part for part in path.split("/") if part and "{" not in part]
    return words[-1] if words else "item"


# -- the source --------------------------------------------------------------------------------------------------------


def _source(reader: _Reader, draft: Draft, at: str) -> Iterator[str]:
    yield "source:"
    url = _address(reader, at)
    if not url:
        draft.left_out.append("source.url: the description does not say where the API is.")
        url = "https://api.example.com"
    yield f"  url: {scalar(url)}"
    host = re.match(r"http://\[?([^/:\]]+)", url)
    if host is not None and not is_loopback(host[1]):
        yield "  plain_http: true"
    yield from _key(reader, draft)


def _address(reader: _Reader, at: str) -> str:
    servers = [s for s in reader.document.get("servers") or () if isinstance(s, dict) and s.get("url")]
    if not servers:
        return urljoin(at, "/").rstrip("/") if at else ""
    url = str(servers[0]["url"])
    for name, variable in (servers[0].get("variables") or {}).items():
        url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
    url = urljoin(at, url) if at else url
    return url.rstrip("/") if "://" in url else ""


def _key(reader: _Reader, draft: Draft) -> Iterator[str]:
    schemes = (reader.document.get("components") or {}).get("securitySchemes") or {}
    env = f"{draft.name.upper()}_KEY"
    for name, raw in schemes.items():
        scheme = reader.follow(raw)
        kind, where = scheme.get("type"), scheme.get("in")
        if kind == "apiKey" and where in ("header", "query"):
            yield f"  key: {{env: {env}, {where}: {scalar(str(scheme.get('name')))}}}"
            return
        if kind in ("oauth2", "openIdConnect") or (kind == "http" and str(scheme.get("scheme")).lower() == "bearer"):
            yield f"  key: {{env: {env}, header: Authorization, prefix: Bearer}}"
            return
        draft.left_out.append(f"security scheme {name}: {kind} {where or scheme.get('scheme', '')} is not known here.")
