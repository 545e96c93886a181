"""The API as a server: equal, reply for reply, to the API in process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from crag_server import running

from kg.errors import SourceError
from kg.sources import CragSource, HttpSource

FILES: dict[str, dict[str, Any]] = {
    "movie_db": {
        "titanic": {"id": 597, "title": "Titanic", "release_date": "1997-11-18", "rating": 7.9, "revenue": 2187463944},
        "titanic 1953": {"id": 16535, "title": "Titanic", "rating": float("nan"), "revenue": float("inf")},
        "la vie est a nous": {"id": 7, "title": "La vie est à nous \ud83d", "revenue": 0},
        "amélie": {"id": 194, "title": "Amélie", "cast": [{"name": "Audrey Tautou", "order": 0}]},
    },
    "person_db": {"kate winslet": {"id": 204, "name": "Kate Winslet", "acted_movies": [597]}, "x": {}, "y": {}},
    "year_db": {"1997": {"movie_list": [597], "oscar_awards": []}},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("data")
    (base / "movie").mkdir()
    for name, data in FILES.items():
        (base / "movie" / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return base


@pytest.fixture(scope="module")
def address(base: Path) -> Iterator[str]:
    with running(base) as address:
        yield address


@pytest.fixture
def remote(address: str) -> Iterator[HttpSource]:
    source = HttpSource(address, retries=0)
    yield source
    source.close()


@pytest.mark.parametrize(
    "endpoint, query",
    [
        pytest.param("get_movie_info", "Titanic", id="a search with NaN and Infinity in the data"),
        pytest.param("get_movie_info", "amélie", id="a search beyond ASCII"),
        pytest.param("get_movie_info", "la vie", id="half of a surrogate pair in the data"),
        pytest.param("get_movie_info", "zzz", id="nothing found"),
        pytest.param("get_person_info", "kate winslet", id="a person"),
        pytest.param("get_movie_info_by_id", 597, id="by id"),
        pytest.param("get_movie_info_by_id", "597", id="by id as digits"),
        pytest.param("get_movie_info_by_id", " +597.0 ", id="by id as a numeral"),
        pytest.param("get_movie_info_by_id", 597.0, id="by id as a whole float"),
        pytest.param("get_movie_info_by_id", True, id="by id as true"),
        pytest.param("get_movie_info_by_id", 10**25, id="by an id of 26 digits"),
        pytest.param("get_person_info_by_id", 5, id="null"),
        pytest.param("get_year_info", "1997", id="a year"),
        pytest.param("get_year_info", "2020", id="a year without data"),
        pytest.param("get_year_info", " 1997", id="a year the original does not find"),
    ],
)
def test_replies_equal_those_in_process(base: Path, remote: HttpSource, endpoint: str, query: Any) -> None:
    path, args = f"/movie/{endpoint}", {"query": query}
    assert remote.call(path, args, timeout=5) == CragSource(base).call(path, args, timeout=5)


@pytest.mark.parametrize(
    "endpoint, args, status",
    [
        pytest.param("/movie/get_movie_info", {"query": 597}, 422, id="a number for a text"),
        pytest.param("/movie/get_movie_info", {"query": None}, 422, id="null for a text"),
        pytest.param("/movie/get_movie_info", {}, 422, id="no argument"),
        pytest.param("/movie/get_movie_info_by_id", {"query": "titanic"}, 422, id="a text for a number"),
        pytest.param("/movie/get_movie_info_by_id", {"query": 1.5}, 422, id="a fraction for a number"),
        pytest.param("/movie/get_movie_info_by_id", {"query": "1e3"}, 422, id="an exponent for a number"),
        pytest.param("/movie/get_movie_info_by_id", {"query": None}, 422, id="null for a number"),
        pytest.param("/movie/get_year_info", {"query": "1989"}, 500, id="a year of which the original knows nothing"),
        pytest.param("/movie/get_year_info", {"query": "soon"}, 500, id="not a year"),
        pytest.param("/movie/get_plot", {"query": "titanic"}, 404, id="no such endpoint"),
    ],
)
def test_errors_have_the_same_status_as_in_process(
    base: Path, remote: HttpSource, endpoint: str, args: dict[str, Any], status: int
) -> None:
    for source in (CragSource(base), remote):
        with pytest.raises(SourceError) as caught:
            source.call(endpoint, args, timeout=5)
        assert caught.value.status == status


def test_the_servers_sentence_reaches_the_reader(remote: HttpSource) -> None:
    with pytest.raises(SourceError, match=r"answered 500 \(the year must be from 1990 to 2021, not '1989'\)\.$"):
        remote.call("/movie/get_year_info", {"query": "1989"}, timeout=5)


def test_the_wire_format_is_crags(address: str) -> None:
    reply = httpx.post(f"{address}/movie/get_movie_info_by_id", json={"query": 16535, "more": 1}, trust_env=False)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.content == b'{"result":{"id":16535,"title":"Titanic","rating":null,"revenue":null}}'


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with running(tmp_path) as address:
        source = HttpSource(address, retries=0)
        with pytest.raises(SourceError, match=r"answered 500 \(The data file .*movie_db\.json cannot be read"):
            source.call("/movie/get_movie_info", {"query": "titanic"}, timeout=5)
        source.close()
