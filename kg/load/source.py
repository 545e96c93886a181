"""The part of a domain file about an HTTP API of the user's own: its `source`, and how its calls are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kg.domain import PLACES, Api, ApiKey, Pages
from kg.load.forms import Key, Listing, Named, Record, Text, Whole
from kg.load.nodes import Map, Node, Problems, Token, suggest

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_HEADER = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PATH = Text(r"\$?(\.?[A-Za-z_@][\w@:-]*)*", 'a path of one value: "$.meta.next"')
_ITEMS = Text(r"\$?(\.?[A-Za-z_@][\w@:-]*)*", 'the path of a list, without [*]: "$", "$.data"')
_SECRET = ("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token")
WAYS = ("page", "offset", "cursor", "next")


@dataclass(frozen=True)
class Number:
    """A number above 0."""

    def read(self, node: Node, place: str, problems: Problems) -> float | None:
        if isinstance(node, Token) and re.fullmatch(r"\d{1,6}(\.\d{1,6})?", node.text) and float(node.text) > 0:
            return float(node.text)
        problems.add(node.line, f"{place} must be a number above 0, like 5 or 0.5.")
        return None

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "exclusiveMinimum": 0}


@dataclass(frozen=True)
class Size:
    """A number of bytes: 5000000, 50MB."""

    def read(self, node: Node, place: str, problems: Problems) -> int | None:
        said = re.fullmatch(r"([1-9]\d{0,11}) ?([KMG]?B|)", node.text.upper()) if isinstance(node, Token) else None
        if said:
            return int(said[1]) * _UNITS[said[2]]
        problems.add(node.line, f"{place} must be a number of bytes, like 50MB.")
        return None

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "integer"]}


@dataclass(frozen=True)
class Flag:
    """true or false."""

    def read(self, node: Node, place: str, problems: Problems) -> bool | None:
        if isinstance(node, Token) and node.kind == "bool" and node.text in ("true", "false"):
            return node.text == "true"
        problems.add(node.line, f"{place} must be true or false.")
        return None

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


_API_KEY = Record(
    {
        "env": Key(Text(r"[A-Za-z_]\w*", "the name of an environment variable"), "The variable with the secret.", True),
        "header": Key(Text(_HEADER, "the name of a header"), "The header that it goes into."),
        "query": Key(Text(r"[^\s&=#]+", "the name of an argument"), "The argument of the query that it goes into."),
        "prefix": Key(Text(r"[!-~ ]+", "plain text"), 'What stands before it in the header: "Bearer".'),
    }
)
API_KEYS = {
    "url": Key(Text(), "The address of an API; the paths of all calls are below it."),
    "key": Key(_API_KEY, "The secret that the API wants; only its name is written here."),
    "headers": Key(Named(Text(), Text(_HEADER, "the name of a header")), "Headers of every call; no secrets."),
    "rate": Key(Number(), "Calls per second and host at most."),
    "parallel": Key(Whole(least=1), "Calls at a time at most (4)."),
    "allow": Key(
        Listing(Text(r"[\w.-]+(:\d+)?", "a host, or host:port")),
        "Other hosts that links may lead to; never the key.",
    ),
    "max_reply": Key(Size(), "Bytes a reply may have, unpacked (50MB)."),
    "plain_http": Key(Flag(), "Whether http:// may be used to another machine than this one."),
}
_PAGES = Record(
    {
        "page": Key(Text(), "The argument that is the number of a page."),
        "offset": Key(Text(), "The argument that is the number of rows before a page."),
        "cursor": Key(Text(), "The argument that takes the cursor in the page before."),
        "next": Key(_PATH, 'The path of the link to the next page, or "link" for the header Link.'),
        "from": Key(_PATH, "The path of the cursor to the next page."),
        "first": Key(Whole(least=0), "The number of the first page (1), or row (0)."),
        "size": Key(Named(Whole(least=1)), "The argument for the rows of a page, and how many."),
        "total": Key(_PATH, "The path of the number of all rows."),
        "items": Key(_ITEMS, "The path of the list that goes on from page to page; that of `rows` if not given."),
        "max": Key(Whole(least=1), "Pages at most (1000); more are an error."),
    }
)
FETCH_KEYS = {
    "in": Key(Named(Text(choices=PLACES)), "Argument to where it goes, if not as usual: path, query, header or body."),
    "pages": Key(_PAGES, "How a reply that comes in pages goes on."),
    "not_found": Key(
        Listing(Whole(least=400)), "Statuses that mean there is nothing; [404] if the path has an argument."
    ),
}


def check_source(raw: Map, problems: Problems) -> None:
    """Add to `problems` what is wrong with the source of the domain `raw`, and with the calls to it."""
    source = raw.get("source")
    if source is None:
        return
    if len({"name", "url", "file", "directory"} & set(source)) != 1:
        said = "source must be a name, an address, {url: ...}, {file: ...} or {directory: ...}."
        problems.add(source.line, said)
    is_api = "url" in source or "://" in source.get("name", "")
    if is_api:
        _check_address(source, problems)
    for key in () if "url" in source else API_KEYS.keys() & source.keys():
        problems.add(source.at[key], f"source.{key}: only an API with a url has it.")
    _check_key(source.get("key"), problems)
    for header in source.get("headers", ()):
        if header.lower() in _SECRET:
            said = f"source.headers: {header} holds a secret; name its environment variable under source.key."
            problems.add(source["headers"].at[header], said)
    for name, fetch in raw.get("fetches", {}).items():
        for key in () if is_api else FETCH_KEYS.keys() & fetch.keys():
            problems.add(fetch.at[key], f"fetches.{name}.{key}: only an API with an address takes it.")
        _check_pages(fetch, f"fetches.{name}", problems)
        _check_places(fetch, f"fetches.{name}", problems)


def _check_address(source: Map, problems: Problems) -> None:
    url, line = str(source.get("url", source.get("name"))), source.line_of("url")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        problems.add(line, f"source.url: '{url}' is not an address like https://api.example.com/v1.")
    elif parts.username or parts.password or parts.query or parts.fragment:
        problems.add(line, "source.url: an address has no password, query or fragment; a secret goes under `key`.")
    elif parts.scheme == "http" and not is_loopback(host) and not source.get("plain_http"):
        said = "everybody on the way can read http://. Write https://, or plain_http: true if that must be."
        problems.add(line, f"source.url: {said}")


def _check_key(key: Map | None, problems: Problems) -> None:
    if key is None:
        return
    if len({"header", "query"} & set(key)) != 1:
        problems.add(key.line, "source.key needs either header or query: where the secret goes.")
    if "prefix" in key and "header" not in key:
        problems.add(key.at["prefix"], "source.key.prefix: only a header has one.")


def _check_pages(fetch: Map, place: str, problems: Problems) -> None:
    pages = fetch.get("pages")
    if pages is None:
        return
    place = f"{place}.pages"
    given = [way for way in WAYS if way in pages]
    if len(given) != 1:
        problems.add(pages.line, f"{place} needs one of page, offset, cursor and next, and no other of these.")
        return
    if given == ["cursor"] and "from" not in pages:
        problems.add(pages.line, f"{place} needs `from`: where the cursor is in a reply.")
    for key, ways in {"from": ["cursor"], "first": ["page", "offset"]}.items():
        if key in pages and given[0] not in ways:
            problems.add(pages.at[key], f"{place}.{key}: {given[0]} does not use it.")
    if given[0] == "next" and fetch.get("call", "GET").startswith("POST"):
        problems.add(pages.at["next"], f"{place}.next: a link is followed by GET, and this is a POST.")
    if len(pages.get("size", {1: 1})) != 1:
        problems.add(pages.at["size"], f"{place}.size: one argument, like {{per_page: 100}}.")
    if "items" not in pages and "[*]" not in fetch.get("rows", "$"):
        problems.add(pages.line, f"{place} needs `items`, the list that goes on: `rows` has no [*].")


def _check_places(fetch: Map, place: str, problems: Problems) -> None:
    known = {*fetch.get("args", ()), *fetch.get("fixed", ())}
    in_path = re.findall(r"{(\w*)}", fetch.get("call", ""))
    for arg, where in fetch.get("in", {}).items():
        line = fetch["in"].at[arg]
        if arg not in known:
            problems.add(line, f"{place}.in: '{arg}' is not an argument of the call.{suggest(arg, sorted(known))}")
        elif (where == "path") != (arg in in_path):
            problems.add(line, f"{place}.in.{arg}: the path of `call` says {{{arg}}} if and only if it goes there.")
        elif where == "body" and fetch.get("call", "").startswith("GET"):
            problems.add(line, f"{place}.in.{arg}: a GET has no body.")


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost.example.com")
    (True, False)
    """
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def source_of(raw: Map) -> str | Api:
    """Return the source: a name, or the API at an address."""
    url: str = raw.get("url") or raw["name"]
    if "://" not in url:
        return url
    given: dict[str, Any] = {key: value for key, value in raw.items() if key != "name"} | {"url": url.rstrip("/")}
    if "key" in raw:
        given["key"] = ApiKey(**raw["key"])
    given |= {key: tuple(value.items()) for key, value in raw.items() if key == "headers"}
    given |= {key: tuple(host.lower() for host in value) for key, value in raw.items() if key == "allow"}
    return Api(**given)


def fetch_values(raw: Map) -> dict[str, Any]:
    """Return the fields of `Fetch` that this module's keys give."""
    has_argument = "{" in raw["call"]
    made: dict[str, Any] = {"not_found": tuple(raw.get("not_found", (404,) if has_argument else ()))}
    if "in" in raw:
        made["places"] = tuple(raw["in"].items())
    if "pages" in raw:
        made["pages"] = _pages(raw["pages"], raw.get("rows", "$"))
    return made


def _pages(raw: Map, rows: str) -> Pages:
    given = {key: value for key, value in raw.items() if key != "from"}
    if "from" in raw:
        given["begins"] = raw["from"]
    if "size" in raw:
        given["size"] = next(iter(raw["size"].items()))
    given.setdefault("items", rows.partition("[*]")[0])
    given.setdefault("first", 1 if "page" in raw else 0)
    return Pages(**given)
