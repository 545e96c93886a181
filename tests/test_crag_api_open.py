"""The /open endpoints: the search by name and the records, from packed and from plain files."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from kg.crag_api import CragApi
from kg.errors import SourceError

SEARCH, GET = "/open/search_entity_by_name", "/open/get_entity"


def record(text: str, **fields: str) -> dict[str, Any]:
    return {"summary_text": text, "summary_structured": fields, "raw_mediawiki": f"'''{text}'''"}


FIRST: list[tuple[str, dict[str, Any]]] = [
    ("Mercury (planet)", record("Mercury is the smallest planet of the Solar System.", radius="2439.7 km")),
    ("Mercury (element)", record("A metal.", number="80")),
    ("Hydrogen", record("The lightest element.")),
    ("AC/DC", record("A band.")),
]
SECOND: list[tuple[str, dict[str, Any]]] = [
    ("ACDC", record("Alternating and direct current, and more about both of them.")),
    ('Quote "Unquote"\ud83d', record("A name with quotes and half of a surrogate pair.")),
    ("Hydrogen", record("The first element.", number="1")),
    ("?!", record("A name of punctuation.")),
]


def lines(records: list[tuple[str, dict[str, Any]]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def packed(base: Path) -> None:
    (base / "kg.0.jsonl.bz2").write_bytes(bz2.compress(lines(FIRST)))
    (base / "kg.1.jsonl.bz2").write_bytes(bz2.compress(lines(SECOND)))


def plain(base: Path) -> None:
    (base / "kg.0.jsonl").write_bytes(lines(FIRST))
    (base / "kg.1.jsonl").write_bytes(b"\n" + lines(SECOND).rstrip())  # an empty line, and no newline at the end


def plain_in_one_file(base: Path) -> None:
    (base / "kg.0.jsonl").write_bytes(lines(FIRST + SECOND))


@pytest.fixture(params=[packed, plain, plain_in_one_file], ids=lambda write: write.__name__)
def api(request: pytest.FixtureRequest, tmp_path: Path) -> CragApi:
    (tmp_path / "open").mkdir()
    request.param(tmp_path / "open")
    return CragApi(tmp_path)


@pytest.mark.parametrize(
    "query, wanted",
    [
        pytest.param("mercury planet", ["Mercury (planet)", "Mercury (element)"], id="best first"),
        pytest.param("MERCURY", ["Mercury (planet)", "Mercury (element)"], id="equal scores: the longest record first"),
        pytest.param("ac/dc", ["AC/DC", "ACDC"], id="all names that normalise to one, in the order of the files"),
        pytest.param("hydrogen", ["Hydrogen"], id="a name in both files comes once"),
        pytest.param("helium", [], id="nothing found"),
        pytest.param("", [], id="an empty query"),
    ],
)  # fmt: skip
def test_search(api: CragApi, query: str, wanted: list[str]) -> None:
    assert api.call(SEARCH, {"query": query}) == wanted


@pytest.mark.parametrize(
    "query, wanted",
    [
        pytest.param("Mercury (element)", FIRST[1][1], id="an exact name"),
        pytest.param("Hydrogen", SECOND[2][1], id="of two lines the last one counts"),
        pytest.param(SECOND[1][0], SECOND[1][1], id="quotes and half of a surrogate pair"),
        pytest.param("hydrogen", None, id="case matters"),
        pytest.param("Mercury", None, id="an ambiguous name is none"),
        pytest.param("", None, id="an empty name"),
    ],
)
def test_get_entity(api: CragApi, query: str, wanted: Any) -> None:
    assert api.call(GET, {"query": query}) == wanted


def test_names_lead_to_records(api: CragApi) -> None:
    names = list(api.names("entity"))
    assert [(text, key) for text, key, _ in names if text.startswith("Mercury")] == [
        ("Mercury (planet)", "Mercury (planet)"),
        ("Mercury", "Mercury (planet)"),
        ("Mercury (element)", "Mercury (element)"),
        ("Mercury", "Mercury (element)"),
    ]
    by_weight = sorted((one for one in names if one[0] == "Mercury"), key=lambda one: -one[2])
    assert by_weight[0][1] == "Mercury (planet)", "more is said of the planet"
    assert all(api.call(GET, {"query": key}) for _, key, _ in names)


def test_records_of_many_blocks(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    records = [(f"entity {i}", record(f"{i} " * 2000)) for i in range(60)]
    (tmp_path / "open" / "kg.0.jsonl").write_bytes(lines(records))
    api = CragApi(tmp_path)
    assert [api.call(GET, {"query": name}) for name, _ in records] == [one for _, one in records]
    assert len(api.call(SEARCH, {"query": "entity 7"})) == 10


def test_nan_is_null(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "kg.0.jsonl").write_text('["a", {"summary_text": NaN}]')
    assert CragApi(tmp_path).call(GET, {"query": "a"}) == {"summary_text": None}


@pytest.mark.parametrize(
    "files, sentence",
    [
        pytest.param({}, r"kg\.0\.jsonl\.bz2 cannot be read \(No such file", id="no file"),
        pytest.param({"kg.0.jsonl.bz2": bz2.compress(b"")}, r"kg\.1\.jsonl\.bz2 cannot be read", id="half of the pair"),
        pytest.param({"kg.0.jsonl.bz2": bz2.compress(lines(FIRST))[:-9]}, r"kg\.0.*cannot be read", id="cut off"),
        pytest.param({"kg.0.jsonl.bz2": b"version https://git-lfs"}, r"kg\.0.*cannot be read", id="a Git LFS pointer"),
        pytest.param({"kg.0.jsonl": b'["a", {}]\n{"b": 1}'}, r'kg\.0\.jsonl should hold \["name", object\] in line 2',
                     id="an object"),
        pytest.param({"kg.0.jsonl": b'["a\\q", {}]'}, r"in line 1", id="a name that is not JSON"),
        pytest.param({"kg.0.jsonl": b'["Iron", {]'}, r"kg\.0\.jsonl is not valid JSON at 'Iron'", id="a broken record"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, files: dict[str, bytes], sentence: str) -> None:
    (tmp_path / "open").mkdir()
    for name, content in files.items():
        (tmp_path / "open" / name).write_bytes(content)
    api = CragApi(tmp_path)
    with pytest.raises(SourceError, match=sentence) as caught:
        api.call(GET, {"query": "Iron"})
    assert caught.value.status == 500


def test_the_fingerprint_sees_plain_files(tmp_path: Path) -> None:
    before = CragApi(tmp_path).fingerprint()
    (tmp_path / "open").mkdir()
    plain(tmp_path / "open")
    assert CragApi(tmp_path).fingerprint() != before
