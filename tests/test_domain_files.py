"""Domain files for APIs: what is refused in one, what is made of a description or a reply, and the commands for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from engine.cli import app
from kg.domain import Api, ApiKey, Pages
from kg.draft.infer import draft_of_reply
from kg.draft.openapi import draft_of
from kg.errors import DomainError
from kg.load import BUILT_IN, load_domain

YAML = """
domain: shop
about: Things and who makes them.
source:
  url: https://api.shop.test/v1/
  key: {env: SHOP_KEY, header: Authorization, prefix: Bearer}
  headers: {Accept-Language: en}
  rate: 0.5
  parallel: 2
  allow: [CDN.shop.test]
  max_reply: 5MB
tables:
  thing:
    about: One row per thing.
    key: [id]
    label: name
    columns:
      id:    {type: BIGINT, about: number}
      name:  {type: TEXT, about: name, match: name}
      maker: {type: TEXT, about: who makes it}
objects:
  thing: {key: [id], fills: {thing: {}}}
fetches:
  by_id:    {call: "GET /things/{id}", args: {id: id}, gives: thing}
  by_maker: {call: GET /things, args: {maker: maker}, gives: thing, rows: "$.data[*]", in: {maker: header}, pages: {cursor: after, from: $.meta.next, max: 20}}
  search:   {call: POST /search, args: {q: name}, gives: thing, rows: "$[*]", search: 10, not_found: [404, 410], pages: {page: p, size: {n: 10}}}
"""


def loaded(tmp_path: Path, *changes: tuple[str, str], text: str = YAML) -> Any:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "shop.yaml"
    file.write_text(text, encoding="utf-8")
    return load_domain(file)


def kgq(*args: str) -> Result:
    return CliRunner().invoke(app, list(args), catch_exceptions=False)


# -- the file ----------------------------------------------------------------------------------------------------------


def test_what_a_file_says_of_its_api(tmp_path: Path) -> None:
    domain = loaded(tmp_path)
    assert domain.source == Api(
        "https://api.shop.test/v1",
        ApiKey("SHOP_KEY", header="Authorization", prefix="Bearer"),
        (("Accept-Language", "en"),),
        rate=0.5,
        parallel=2,
        allow=("cdn.shop.test",),
        max_reply=5_000_000,
    )
    by_id, by_maker, search = domain.fetches
    assert (by_id.not_found, by_maker.not_found, search.not_found) == ((404,), (), (404, 410))
    assert by_maker.places == (("maker", "header"),)
    assert by_maker.pages == Pages("$.data", cursor="after", begins="$.meta.next", max=20)
    assert search.pages == Pages("$", page="p", first=1, size=("n", 10))


def test_an_address_alone_is_a_source(tmp_path: Path) -> None:
    source = YAML[YAML.index("source:") : YAML.index("tables:")]
    assert loaded(tmp_path, (source, "source: http://127.0.0.1:8000\n")).source == Api("http://127.0.0.1:8000")


_URL, _KEY, _SEARCH = (
    "url: https://api.shop.test/v1/",
    "header: Authorization, prefix: Bearer",
    "pages: {page: p, size: {n: 10}}",
)


@pytest.mark.parametrize(
    "old, new, said",
    [
        pytest.param(_URL, "url: http://api.shop.test", "5: source.url: everybody on the way can read http://. Write https://, or plain_http: true if that must be.", id="http"),
        pytest.param(_URL, "url: https://me:pw@api.shop.test", "5: source.url: an address has no password, query or fragment; a secret goes under `key`.", id="a password"),
        pytest.param(_URL, "url: https://api.shop.test?key=1", "5: source.url: an address has no password, query or fragment; a secret goes under `key`.", id="a query"),
        pytest.param(_URL, "url: ftp://api.shop.test", "5: source.url: 'ftp://api.shop.test' is not an address like https://api.example.com/v1.", id="ftp"),
        pytest.param(_URL, "directory: data", "7: source.headers: only an API with a url has it.", id="files with an API's keys"),
        pytest.param(_URL, f"name: crag\n  {_URL}", "4: source must be a name, an address, {url: ...}, {file: ...} or {directory: ...}.", id="two sources"),
        pytest.param(_KEY, f"{_KEY}, query: k", "6: source.key needs either header or query: where the secret goes.", id="a key in two places"),
        pytest.param(_KEY, "query: k, prefix: Bearer", "6: source.key.prefix: only a header has one.", id="a prefix in the query"),
        pytest.param("env: SHOP_KEY", "env: sk-123-abc", "6: source.key.env: 'sk-123-abc' is not the name of an environment variable.", id="the secret itself"),
        pytest.param("headers: {Accept-Language: en}", "headers: {Authorization: Bearer abc}", "7: source.headers: Authorization holds a secret; name its environment variable under source.key.", id="a secret in a header"),
        pytest.param("rate: 0.5", "rate: fast", "8: source.rate must be a number above 0, like 5 or 0.5.", id="no number"),
        pytest.param("parallel: 2", "parallel: 0", "9: source.parallel: 0 is less than 1.", id="no calls at all"),
        pytest.param("[CDN.shop.test]", "[https://cdn.shop.test/x]", "10: source.allow[0]: 'https://cdn.shop.test/x' is not a host, or host:port.", id="no host"),
        pytest.param("5MB", "5 apples", "11: source.max_reply must be a number of bytes, like 50MB.", id="no size"),
        pytest.param("max_reply: 5MB", "plain_http: 1", "11: source.plain_http must be true or false.", id="no flag"),
        pytest.param("in: {maker: header}", "in: {makr: header}", "25: fetches.by_maker.in: 'makr' is not an argument of the call. Did you mean 'maker'?", id="an unknown argument"),
        pytest.param("in: {maker: header}", "in: {maker: path}", "25: fetches.by_maker.in.maker: the path of `call` says {maker} if and only if it goes there.", id="not in the path"),
        pytest.param("in: {maker: header}", "in: {maker: body}", "25: fetches.by_maker.in.maker: a GET has no body.", id="a body of a GET"),
        pytest.param("in: {maker: header}", "in: {maker: cookie}", "25: fetches.by_maker.in.maker: 'cookie' is not known. There is: path, query, header, body.", id="no place"),
        pytest.param("from: $.meta.next, max: 20", "max: 20", "25: fetches.by_maker.pages needs `from`: where the cursor is in a reply.", id="a cursor from nowhere"),
        pytest.param("cursor: after, from: $.meta.next", "size: {n: 5}", "25: fetches.by_maker.pages needs one of page, offset, cursor and next, and no other of these.", id="no way on"),
        pytest.param("cursor: after, from", "cursor: after, page: p, from", "25: fetches.by_maker.pages needs one of page, offset, cursor and next, and no other of these.", id="two ways on"),
        pytest.param('rows: "$.data[*]", in', "in", "25: fetches.by_maker.pages needs `items`, the list that goes on: `rows` has no [*].", id="no list"),
        pytest.param(_SEARCH, "pages: {next: $.next}", "26: fetches.search.pages.next: a link is followed by GET, and this is a POST.", id="a link of a POST"),
        pytest.param(_SEARCH, "pages: {page: p, size: {n: 10, m: 5}}", "26: fetches.search.pages.size: one argument, like {per_page: 100}.", id="two sizes"),
        pytest.param(_SEARCH, "pages: {page: p, from: $.x}", "26: fetches.search.pages.from: page does not use it.", id="a cursor of pages"),
        pytest.param("[404, 410]", "[4]", "26: fetches.search.not_found[0]: 4 is less than 400.", id="no status"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(DomainError) as caught:
        loaded(tmp_path, (old, new))
    assert f"{tmp_path / 'shop.yaml'}:{said}" in caught.value.problems


def test_what_only_apis_have_is_refused_elsewhere(tmp_path: Path) -> None:
    source = YAML[YAML.index("source:") : YAML.index("tables:")]
    with pytest.raises(DomainError) as caught:
        loaded(tmp_path, (source, "source: crag\n"))
    assert len([p for p in caught.value.problems if p.endswith("only an API with an address takes it.")]) == 4


TEN = [
    ("url: https://api.shop.test/v1/", "url: http://api.shop.test"),
    ("header: Authorization, prefix: Bearer", "prefix: Bearer"),
    ("rate: 0.5", "rate: -1"),
    ("max_reply: 5MB", "max_replies: 5MB"),
    ("label: name", "label: nme"),
    ("{type: BIGINT, about: number}", "{type: BIG, about: number}"),
    ("{type: TEXT, about: who makes it}", "{type: TEXT}"),
    ('"GET /things/{id}"', '"GET /things/{ident}"'),
    ("in: {maker: header}", "in: {maker: body}"),
    ("pages: {page: p, size: {n: 10}}", "pages: {page: p, offset: o}"),
]


def test_a_file_with_ten_mistakes_reports_all_ten(tmp_path: Path) -> None:
    with pytest.raises(DomainError) as caught:
        loaded(tmp_path, *TEN)
    lines = [int(p.removeprefix(f"{tmp_path / 'shop.yaml'}:").split(":")[0]) for p in caught.value.problems]
    # the prefix of a key without a header is a second mistake in its line
    assert lines == [5, 6, 6, 8, 11, 16, 18, 20, 24, 25, 26]
    said = kgq("domain", "lint", str(tmp_path / "shop.yaml"))
    assert said.exit_code == 1
    assert said.stderr.splitlines() == caught.value.problems


# -- from a description ------------------------------------------------------------------------------------------------


def _reply(schema: Any) -> Any:
    return {"200": {"description": "fine", "content": {"application/json": {"schema": schema}}}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _argument(name: str, where: str = "query", **more: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "required": where == "path", "schema": {"type": "string"}, **more}


ENTITY = {"type": "object", "properties": {"id": {"type": "string"}, "href": {"type": "string"}}}
ARTIST = {
    "description": "Somebody who makes music. Or had it made.",
    "allOf": [
        _ref("Entity"),
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "stage name"},
                "genres": {"type": "array", "items": {"type": "string"}},
                "followers": {"type": ["integer", "null"]},
                "related": {"type": "array", "items": _ref("Artist")},
            },
        },
    ],
}
ALBUM = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "title": {"type": "string"},
        "releaseDate": {"type": "string", "format": "date"},
        "artists": {"type": "array", "items": _ref("Artist")},
        "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "price": {"oneOf": [{"type": "string"}, {"type": "number"}]},
        "2x": {"type": "boolean"},
    },
}
TRACK = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "title": {"type": "string"}, "albumId": {"type": "string"}},
}
PAGING = {
    "type": "object",
    "properties": {
        "data": {"type": "array", "items": _ref("Album")},
        "meta": {"type": "object", "properties": {"total": {"type": "integer"}, "nextCursor": {"type": "string"}}},
    },
}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Music API", "description": "Artists and albums: no lyrics."},
    "servers": [{"url": "https://{region}.music.test/v2", "variables": {"region": {"default": "eu"}}}],
    "components": {
        "securitySchemes": {"login": {"type": "http", "scheme": "basic"}, "token": {"type": "http", "scheme": "bearer"}},
        "parameters": {"Limit": _argument("limit", schema={"type": "integer", "maximum": 50})},
        "schemas": {"Entity": ENTITY, "Artist": ARTIST, "Album": ALBUM, "Track": TRACK, "Paging": PAGING},
    },
    "paths": {
        "/artists/{id}": {
            "parameters": [_argument("id", "path")],
            "get": {"responses": _reply({"type": "object", "properties": {"data": _ref("Artist")}})},
        },
        "/artists/{id}/albums": {
            "parameters": [_argument("id", "path")],
            "get": {
                "parameters": [_argument("offset"), {"$ref": "#/components/parameters/Limit"}],
                "responses": _reply(_ref("Paging")),
            },
        },
        "/artists": {"get": {"parameters": [_argument("name", required=True)], "responses": _reply({"type": "array", "items": _ref("Artist")})}},
        "/albums/{albumId}": {"get": {"parameters": [_argument("albumId", "path")], "responses": _reply(_ref("Album"))}},
        "/albums": {"get": {"parameters": [_argument("cursor"), _argument("q")], "responses": _reply(_ref("Paging"))}},
        "/tracks": {
            "get": {
                "parameters": [_argument("album_id", required=True)],
                "responses": _reply({"type": "object", "properties": {"results": {"type": "array", "items": _ref("Track")}, "next": {"type": "string"}}}),
            }
        },
        "/charts": {"get": {"parameters": [_argument("week", required=True)], "responses": _reply(_ref("Paging"))}},
        "/health": {"get": {"responses": {"204": {"description": "fine"}}}},
        "/stats": {"get": {"responses": _reply({"type": "object", "additionalProperties": {"type": "integer"}})}},
        "/login": {"post": {"responses": _reply(_ref("Track"))}},
    },
}  # fmt: skip


@pytest.fixture
def music(tmp_path: Path) -> Any:
    file = tmp_path / "music.yaml"
    file.write_text(draft_of(DOCUMENT, name="tunes").yaml(), encoding="utf-8")
    return load_domain(file)


def test_a_description_becomes_tables(music: Any) -> None:
    assert {t.name: tuple(t.by_name) for t in music.tables} == {
        "artist": ("id", "href", "name", "followers"),
        "artist_genre": ("artist_id", "genre"),
        "artist_related": ("artist_id", "related_id"),
        "album": ("id", "title", "release_date", "label", "n2x"),
        "album_artist": ("album_id", "artist_id"),
        "track": ("id", "title", "album_id"),
        "track_album": ("track_id", "album_id"),
    }
    artist, album = music.table("artist"), music.table("album")
    assert (artist.about, artist.key, artist.label) == ("Somebody who makes music", ("id",), "name")
    assert (artist.column("followers").type, artist.column("name").about) == ("BIGINT", "stage name")
    assert (album.column("release_date").type, album.column("n2x").type) == ("DATE", "BOOLEAN")
    assert [(r.of, r.to, r.noun) for r in music.table("album_artist").roles] == [("album", "artist", ("artist",))]


def test_a_description_becomes_calls(music: Any) -> None:
    assert {f.name: (f.endpoint, f.args, f.gives, f.rows, f.search) for f in music.fetches} == {
        "artist_by_id": ("/artists/{id}", (("id", "id"),), "artist", "$.data", 0),
        "album_by_artist_id": ("/artists/{id}/albums", (("id", "artist_id"),), "album", "$.data[*]", 0),
        "search_artist": ("/artists", (("name", "name"),), "artist", "$[*]", 10),
        "album_by_id": ("/albums/{albumId}", (("albumId", "id"),), "album", "$", 0),
        "search_album": ("/albums", (("q", "title"),), "album", "$.data[*]", 10),
        "track_by_album_id": ("/tracks", (("album_id", "album_id"),), "track", "$.results[*]", 0),
    }
    pages = {f.name: f.pages for f in music.fetches if f.pages}
    assert pages == {
        "album_by_artist_id": Pages("$.data", offset="offset", total="$.meta.total", size=("limit", 50)),
        "track_by_album_id": Pages("$.results", next="$.next"),
    }
    assert music.source == Api("https://eu.music.test/v2", ApiKey("TUNES_KEY", header="Authorization", prefix="Bearer"))


def test_whole_lists_are_there_to_be_chosen(tmp_path: Path) -> None:
    text = draft_of(DOCUMENT).yaml()
    assert '  # every_album: {call: GET /albums, args: {}, gives: album, rows: "$.data[*]", pages:' in text
    (tmp_path / "x.yaml").write_text(text.replace("# every_", "every_"))
    assert load_domain(tmp_path / "x.yaml").fetches[-1].args == ()


def test_what_cannot_be_decided_is_a_comment() -> None:
    comments = [line for line in draft_of(DOCUMENT).yaml().splitlines() if line.startswith("# - ")]
    assert comments == [
        "# - security scheme login: http basic is not known here.",
        "# - GET /health: it has no reply in JSON that is described.",
        "# - album.price: it may be of several kinds.",
        "# - GET /stats: its reply is no object, and no list of objects.",
        "# - GET /charts: it needs week, which is no column here.",
    ]


@pytest.mark.parametrize(
    "document, said",
    [
        pytest.param({"swagger": "2.0"}, "no OpenAPI description of version 3", id="Swagger 2"),
        pytest.param([1], "no OpenAPI description of version 3", id="a list"),
        pytest.param({"openapi": "3.0.0", "paths": {}}, "no GET operation whose reply could be a table", id="no calls"),
        pytest.param({"openapi": "3.0.0", "paths": {"/x": {"get": {"responses": _reply({"$ref": "#/nowhere"})}}}}, "no GET operation", id="a reference to nothing"),
    ],
)  # fmt: skip
def test_what_is_no_description(document: Any, said: str) -> None:
    with pytest.raises(DomainError, match=said):
        draft_of(document)


def test_schemas_that_refer_to_each_other_come_to_an_end() -> None:
    schemas = {
        f"S{i}": {"type": "object", "properties": {"id": {"type": "string"}, **{f"s{j}": _ref(f"S{j}") for j in range(40)}}}
        for i in range(40)
    }  # fmt: skip
    paths = {f"/s{i}/{{id}}": {"get": {"parameters": [_argument("id", "path")], "responses": _reply(_ref(f"S{i}"))}} for i in range(40)}  # fmt: skip
    made = draft_of({"openapi": "3.0.0", "info": {"title": "web"}, "components": {"schemas": schemas}, "paths": paths})
    assert len(made.fetches) == 40


# -- from a reply ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply, tables, fetch",
    [
        pytest.param(
            {"total": 2, "data": [{"id": 1, "name": "A", "tags": ["x"], "made": "2020-01-02", "parts": [{"n": 1}], "maker": {"id": 7, "name": "M"}}, {"id": 2, "price": 1.5}]},
            {"thing": ("id", "name", "made", "price"), "thing_tag": ("thing_id", "tag"), "thing_part": ("thing_id", "n"), "thing_maker": ("thing_id", "id", "name")},
            ("$.data[*]", "", ("id",)), id="a list of objects with lists in them",
        ),
        pytest.param({"id": 1, "geo": {"lat": 1.5, "lon": 2}}, {"thing": ("id", "geo_lat", "geo_lon")}, ("$", "", ("id",)), id="an object with an object in it"),
        pytest.param({"2024-01-02": {"Open": 1.0}, "2024-01-03": {"Open": 2}}, {"thing": ("key", "open")}, ("$", "entries", ()), id="keys that are data"),
        pytest.param({"Open": {"0": 1.0, "1": 2.0}, "Close": {"0": 1.0, "1": 2.0}}, {"thing": ("index", "open", "close")}, ("$", "columns", ()), id="columns by index"),
        pytest.param({"lat": 1, "hourly": {"time": ["2024-01-01T00:00", "2024-01-01T01:00"], "t": [1, 2]}}, {"thing": ("time", "t")}, ("$.hourly", "columns", ()), id="columns by time"),
        pytest.param([["a", 1], ["b", 2], ["c", 3]], {"thing": ("field_1", "field_2")}, ("$[*]", "tuple", ()), id="rows as lists"),
        pytest.param([["a", "b", "c"], [1, 2, 3]], {"thing": ("field_1", "field_2")}, ("$", "parallel", ()), id="parallel lists"),
    ],
)  # fmt: skip
def test_a_reply_becomes_a_skeleton(tmp_path: Path, reply: Any, tables: dict[str, tuple[str, ...]], fetch: Any) -> None:
    (tmp_path / "things.json").write_text(json.dumps(reply))
    made = kgq("domain", "infer", str(tmp_path / "things.json"), "--out", str(tmp_path / "things.yaml"))
    assert made.exit_code == 0
    domain = load_domain(tmp_path / "things.yaml")
    assert {t.name: tuple(t.by_name) for t in domain.tables} == tables
    (one,) = domain.fetches
    assert (one.rows, one.shape, tuple(a for a, _ in one.args)) == fetch


def test_types_are_those_of_the_values(tmp_path: Path) -> None:
    reply = [{"id": "a", "n": 1, "x": 1.5, "big": 2**70, "on": True, "day": "2024-02-29", "at": "2024-02-29T10:00:00Z", "no": "2024-02-30", "mixed": 1},
             {"id": "b", "n": None, "x": 2, "day": None, "mixed": "one"}]  # fmt: skip
    (tmp_path / "x.yaml").write_text(draft_of_reply(reply, "x").yaml())
    types = {c.name: c.type for c in load_domain(tmp_path / "x.yaml").table("x").columns}
    assert types == {
        "id": "TEXT", "n": "BIGINT", "x": "DOUBLE", "big": "TEXT", "on_": "BOOLEAN", "day": "DATE", "at": "TIMESTAMP",
        "no_": "TEXT", "mixed": "TEXT",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text, said",
    [
        pytest.param("{", "this is not JSON", id="not JSON"),
        pytest.param("[]", r"At \$ there are no objects that could be rows", id="nothing"),
        pytest.param('[{"a": 1}]', "nothing in it looks like a key", id="no key"),
        pytest.param("3", "no objects", id="a number"),
    ],
)
def test_a_reply_without_rows_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.json").write_text(text)
    made = kgq("domain", "infer", str(tmp_path / "x.json"))
    assert made.exit_code == 1
    assert re.search(said, made.stderr)


# -- the commands ------------------------------------------------------------------------------------------------------


def test_new_reads_json_and_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(DOCUMENT))
    from_json = kgq("domain", "new", "--openapi", str(tmp_path / "a.json"))
    (tmp_path / "b.yaml").write_text("# in YAML\n" + json.dumps(DOCUMENT, indent=1))
    from_yaml = kgq("domain", "new", "--openapi", str(tmp_path / "b.yaml"))
    assert from_json.stdout == from_yaml.stdout
    assert from_json.stdout.startswith('domain: music_api\nabout: "Artists and albums: no lyrics."\n')


def test_a_file_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(DOCUMENT))
    out = tmp_path / "out.yaml"
    out.write_text("mine")
    said = kgq("domain", "new", "--openapi", str(tmp_path / "a.json"), "--out", str(out))
    assert (said.exit_code, said.stderr) == (1, f"{out} exists already; nothing was written.\n")
    assert out.read_text() == "mine"


def test_show_prints_a_page(tmp_path: Path) -> None:
    loaded(tmp_path)
    said = kgq("--schemas", str(tmp_path), "domain", "show", "shop")
    assert said.exit_code == 0
    assert said.stdout.startswith(
        "shop: Things and who makes them.\nsource: https://api.shop.test/v1, with the key in SHOP_KEY, at most 0.5 calls a second\n\nthing: One row per thing.\n"
    )
    assert (
        "\n  id: GET /things/{id} (complete)\n  maker: GET /things (complete)\n  name: POST /search (search, at most 10)\n"
        in said.stdout
    )
    assert kgq("domain", "show", str(tmp_path / "shop.yaml")).stdout == said.stdout
    assert kgq("domain", "show", "shpo").exit_code == 1


# -- where files live --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["option", "variable", "configuration"])
def test_user_files_are_found(how: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "config" / "kgq" / "schemas" if how == "configuration" else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    loaded(folder)
    if how == "variable":
        monkeypatch.setenv("KGQ_SCHEMAS", str(folder))
    options = ["--schemas", str(folder)] if how == "option" else []
    assert kgq(*options, "schema", "--domain", "shop").stdout.startswith("shop: Things and who makes them.")


def test_an_empty_folder_in_the_configuration_is_no_mistake(home: Path) -> None:
    (home / "config" / "kgq" / "schemas").mkdir(parents=True)
    assert kgq("domain", "show", "movie").exit_code == 0


def test_a_user_file_does_not_shadow_a_built_in_domain(tmp_path: Path) -> None:
    loaded(tmp_path, ("domain: shop", "domain: movie"))
    file = tmp_path / "shop.yaml"
    said = kgq("--schemas", str(tmp_path), "ask", "who directed titanic?")
    assert said.exit_code == 1
    assert (
        said.stderr
        == f"{file}:1: the domain 'movie' is already declared in {BUILT_IN / 'movie.yaml'}; give it another name.\n"
    )
    assert (
        kgq("domain", "lint", str(file)).stderr
        == f"{file}:1: a domain 'movie' is built in. Give this one another name.\n"
    )
