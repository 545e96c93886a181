"""All 38 endpoints of CRAG's mock API on the wire, called as CRAG's own Python client calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from crag_server import running

from kg.crag_api import CragApi
from kg.sources import CragSource, HttpSource

HYDROGEN = {"summary_text": "The lightest element.", "summary_structured": {"number": "1"}, "raw_mediawiki": "{{...}}"}
TITANIC = {"id": 597, "title": "Titanic", "rating": 7.9}
WINSLET = {"id": 204, "name": "Kate Winslet", "acted_movies": [597]}
YEAR = {"movie_list": [597], "oscar_awards": []}
PRICES = {"2024-02-27 00:00:00 EST": {"Open": 1.5, "High": 2.0, "Low": 1.0, "Close": 1.75, "Volume": 1000}}
DIVIDENDS = {"2024-02-16 00:00:00 EST": 0.1}
INFO = {"shortName": "Zed Inc.", "forwardEps": 2.5, "forwardPE": 20.0, "country": "United States"}
COMPANY = "Zed Inc. Common Stock"
PLAY = {"game_id": "0022200547", "eventnum": 2, "homedescription": None}
GAME = {"game_id": "0022200547", "game_date": "2022-10-11 00:00:00", "team_name_home": "Chicago Bulls",
        "team_name_away": "Milwaukee Bucks", "team_abbreviation_home": "CHI", "team_abbreviation_away": "MIL",
        "pts_home": 127.0}  # fmt: skip
MATCH = {
    "league": "ENG-Premier League",
    "season": "2324",
    "team": "Everton",
    "game": "2024-03-09 Manchester Utd-Everton",
}
LABEL = "('ENG-Premier League', '2324', 'Everton', '2024-03-09 Manchester Utd-Everton')"


def grammy(year: int, category: str, nominee: str, artist: str | None) -> dict[str, Any]:
    return {"year": year, "category": category, "nominee": nominee, "artist": artist, "workers": None}


FILES: dict[str, Any] = {
    "movie/movie_db.json": {"titanic": TITANIC, "x": {}, "y": {}},
    "movie/person_db.json": {"kate winslet": WINSLET, "x": {}, "y": {}},
    "movie/year_db.json": {"1997": YEAR},
    "finance/finance_price.json": {"ZED": PRICES},
    "finance/finance_detailed_price.json": {"ZED": PRICES},
    "finance/finance_dividend.json": {"ZED": DIVIDENDS},
    "finance/finance_marketcap.json": {"ZED": 5_000_000},
    "finance/finance_info.json": {"ZED": INFO},
    "music/artist_dict_simplified.json": {
        "Adele": {"birth_date": "1988-05-05", "country": "GB", "end_date": None},
        "Blur": {"birth_date": "1988", "country": "GB", "end_date": None, "members": ["Damon Albarn", "Alex James"]},
    }
    | {f"artist{i} nobody{i}": {} for i in range(200)},
    "music/artist_work_dict.json": {"Adele": ["Hello"]},
    "music/song_dict_simplified.json": {"Hello": {"author": "Adele", "country": "US", "date": "2015-11-14"}}
    | {f"song{i} sung{i}": {} for i in range(200)},
    "music/song_dict_hot100.json": {
        "Hello": {"2016-01-02": ["2016-01-02", "Hello", "Adele", "1", "2", "1", "9", None]}
    },
    "music/rank_dict_hot100.json": {"1": [{"Date": "2016-01-02", "Song": "Hello", "Artist": "Adele"}]},
    "music/grammy_df.json": [
        grammy(2009, "Best New Artist", "Adele", None),
        grammy(2016, "Song Of The Year", "Hello", "Adele"),
        grammy(2016, "Album Of The Year", "25", "Adele"),
    ],
    "sports/nba_game.json": [GAME],
    "sports/nba_play_by_play.json": [PLAY],
    "sports/soccer_team_match_stats.json": [MATCH | {"date": "2024-03-09", "GF": "0"}],
}

CALLS: list[tuple[str, Any, Any]] = [  # path, body, result
    ("/open/search_entity_by_name", {"query": "hydrogen"}, ["Hydrogen"]),
    ("/open/get_entity", {"query": "Hydrogen"}, HYDROGEN),
    ("/movie/get_person_info", {"query": "Winslet"}, [WINSLET]),
    ("/movie/get_movie_info", {"query": "titanic"}, [TITANIC]),
    ("/movie/get_year_info", {"query": "1997"}, YEAR),
    ("/movie/get_movie_info_by_id", {"query": 597}, TITANIC),
    ("/movie/get_person_info_by_id", {"query": 204}, WINSLET),
    ("/finance/get_company_name", {"query": "zed"}, [COMPANY]),
    ("/finance/get_ticker_by_name", {"query": COMPANY}, "ZED"),
    ("/finance/get_price_history", {"query": "ZED"}, PRICES),
    ("/finance/get_detailed_price_history", {"query": "ZED"}, PRICES),
    ("/finance/get_dividends_history", {"query": "ZED"}, DIVIDENDS),
    ("/finance/get_market_capitalization", {"query": "ZED"}, 5_000_000),
    ("/finance/get_eps", {"query": "ZED"}, 2.5),
    ("/finance/get_pe_ratio", {"query": "ZED"}, 20.0),
    ("/finance/get_info", {"query": "ZED"}, INFO),
    ("/music/search_artist_entity_by_name", {"query": "adele"}, ["Adele"]),
    ("/music/search_song_entity_by_name", {"query": "HELLO"}, ["Hello"]),
    ("/music/get_billboard_rank_date", {"rank": 1, "date": None}, [["Hello"], ["Adele"]]),
    ("/music/get_billboard_attributes", {"date": "2016-01-02", "attribute": "weeks_in_chart", "song_name": "Hello"}, "9"),
    ("/music/grammy_get_best_artist_by_year", {"query": 2009}, ["Adele"]),
    ("/music/grammy_get_best_song_by_year", {"query": 2016}, ["Hello"]),
    ("/music/grammy_get_best_album_by_year", {"query": 2016}, ["25"]),
    ("/music/grammy_get_award_count_by_artist", {"query": "Adele"}, 3),
    ("/music/grammy_get_award_count_by_song", {"query": "Hello"}, 1),
    ("/music/grammy_get_award_date_by_artist", {"query": "Adele"}, [2016, 2009]),
    ("/music/grammy_get_all_awarded_artists", None, ["Adele"]),
    ("/music/get_artist_birth_place", {"query": "Adele"}, "GB"),
    ("/music/get_artist_birth_date", {"query": "Adele"}, "1988-05-05"),
    ("/music/get_members", {"query": "Blur"}, ["Damon Albarn", "Alex James"]),
    ("/music/get_lifespan", {"query": "Adele"}, ["1988-05-05", None]),
    ("/music/get_song_author", {"query": "Hello"}, "Adele"),
    ("/music/get_song_release_country", {"query": "Hello"}, "US"),
    ("/music/get_song_release_date", {"query": "Hello"}, "2015-11-14"),
    ("/music/get_artist_all_works", {"query": "Adele"}, ["Hello"]),
    ("/sports/soccer/get_games_on_date", {"date": "2024-03-09", "team_name": None},
     {"date": {LABEL: "2024-03-09T00:00:00.000"}, "GF": {LABEL: "0"}}),
    ("/sports/nba/get_games_on_date", {"date": "2022-10-11", "team_name": "Chicago Bulls"},
     {name: {"0": value} for name, value in GAME.items()}),
    ("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": ["0022200547", "0029600027"]},
     {name: {"0": value} for name, value in PLAY.items()}),
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("data")
    for domain in ("open", "movie", "finance", "music", "sports"):
        (base / domain).mkdir()
    for name, content in FILES.items():
        (base / name).write_text(json.dumps(content), encoding="utf-8")
    others = [["Helium", {}], ["Lithium", {}]]
    lines = "\n".join(json.dumps(line) for line in [["Hydrogen", HYDROGEN], *others])
    (base / "open" / "kg.0.jsonl").write_text(lines, encoding="utf-8")
    rows = ["Symbol,Name", f"ZED,{COMPANY}", "AAA,Triple A Corp. Common Stock", "BBB,Triple B Corp. Common Stock"]
    (base / "finance" / "company_name.dict").write_text("\n".join(rows), encoding="utf-8")
    return base


@pytest.fixture(scope="module")
def address(base: Path) -> Iterator[str]:
    with running(base) as address:
        yield address


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("path, body, result", [pytest.param(*call, id=call[0]) for call in CALLS])
def test_every_endpoint_answers(client: httpx.Client, path: str, body: Any, result: Any) -> None:
    reply = client.post(path, json=body, headers={"accept": "application/json"})
    assert (reply.status_code, reply.json()) == (200, {"result": result})


@pytest.mark.parametrize("path, body, result", [pytest.param(*call, id=call[0]) for call in CALLS])
def test_every_endpoint_answers_the_same_in_process(base: Path, path: str, body: Any, result: Any) -> None:
    assert CragApi(base).call(path, body or {}) == result


@pytest.mark.parametrize(
    "path, body, result",
    [
        pytest.param("/sports/nba/get_games_on_date", {"date": "1999"}, None, id="an optional argument left out"),
        pytest.param("/music/get_billboard_rank_date", {"rank": 999}, [None, None], id="the other one left out"),
        pytest.param("/music/grammy_get_all_awarded_artists", {"query": "x"}, ["Adele"], id="a body nobody asked for"),
        pytest.param("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": []}, None, id="an empty list"),
    ],
)
def test_what_may_be_left_out(client: httpx.Client, path: str, body: Any, result: Any) -> None:
    reply = client.post(path, json=body)
    assert (reply.status_code, reply.json()) == (200, {"result": result})


def test_the_docs_list_every_endpoint(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {path for path in paths if "post" in paths[path]} == {path for path, _, _ in CALLS}
    assert len(CALLS) == 38
    assert "requestBody" not in paths["/music/grammy_get_all_awarded_artists"]["post"]
    assert all("requestBody" in paths[path]["post"] for path, body, _ in CALLS if body is not None)
    assert client.get("/docs").status_code == 200


@pytest.mark.parametrize(
    "table, name, key",
    [
        pytest.param("entity", "Hydrogen", "Hydrogen", id="entity"),
        pytest.param("movie", "Titanic", 597, id="movie"),
        pytest.param("person", "Kate Winslet", 204, id="person"),
        pytest.param("company", "Zed", "ZED", id="company, for short"),
        pytest.param("artist", "Adele", "Adele", id="artist"),
        pytest.param("song", "Hello", "Hello", id="song"),
        pytest.param("nba_team", "Chicago Bulls", "Chicago Bulls", id="NBA team"),
        pytest.param("soccer_team", "Everton", "Everton", id="soccer team"),
    ],
)
def test_names_of_every_table_are_listed(base: Path, address: str, table: str, name: str, key: Any) -> None:
    source = HttpSource(address, retries=0)
    listed = list(source.names(table))
    source.close()
    assert key in [one.key for one in listed if one.text == name]
    assert listed == list(CragSource(base).names(table))
