"""CRAG's music endpoints: what they answer from pickles and from JSON, and the search without common words."""

from __future__ import annotations

import heapq
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas_pickle import frame_pickle

from kg.crag_api import CragApi
from kg.crag_api.bm25 import normalise
from kg.crag_api.music import Music
from kg.crag_api.quick_bm25 import QuickBM25
from kg.errors import SourceError

NAN = float("nan")
ARTISTS = {
    "Adele": {"birth_date": "1988-05-05", "country": "GB", "end_date": None, "members": []},
    "BTS": {"birth_date": None, "country": "KR", "end_date": None, "members": ["Jin", "RM", "Jin", "V"]},
    "Santana": {"birth_date": "", "country": "", "end_date": "", "members": None},
    "P!nk": {"country": "US"},
    "Pnk": {},
    "": {"birth_date": None, "country": None, "end_date": None, "members": []},
}
SONGS = {
    "Hello": {"author": "Adele", "country": "GB", "date": "2015-11-14"},
    "Smooth": {"author": "Santana Featuring Rob Thomas", "country": None, "date": ""},
    "Bye Bye Bye": {"author": "NSYNC"},
}
WORKS = {"Adele": ["Hello", "Skyfall"], "Santana": []}
RANKS = {
    "1": [
        {"Date": "2015-11-14", "Song": "Hello", "Artist": "Adele"},
        {"Date": "2015-11-21", "Song": "Hello", "Artist": "Adele"},
        {"Date": "1999-10-23", "Song": "Smooth", "Artist": "Santana Featuring Rob Thomas"},
    ],
    "2": [{"Date": "2015-11-14", "Song": "Sorry", "Artist": "Justin Bieber"}],
}
CHART = {
    "Hello": {
        "2015-11-14": ["2015-11-14", "Hello", "Adele", "1", "1", "1", "-", None],
        "2015-11-21": ["2015-11-21", "Hello", "Adele", "3", "2", "1", "7", None],
    },
    "Sorry": {"2015-11-14": ["2015-11-14", "Sorry", "Justin Bieber", "2", "4", "2", "3", None]},
}
AWARDS = {
    "year": [2009, 2016, 2016, 2016, 1999, 1958, 2018],
    "category": ["Best New Artist", "Song Of The Year", "Album Of The Year", "Song Of The Year", "Best New Artist",
                 "Album Of The Year", "Best New Artist"],
    "nominee": ["Adele", "Hello", "25", "Stay", "Santana", NAN, "Adele"],
    "artist": [NAN, "Adele", "Adele", "Rihanna", NAN, "Santana", NAN],
    "workers": [NAN, "Adele Adkins & Greg Kurstin, songwriters", NAN, "Mikky Ekko", "Nan Goldin", NAN, NAN],
}  # fmt: skip
ROWS = [
    {name: None if values[i] is NAN else values[i] for name, values in AWARDS.items()}
    for i in range(len(AWARDS["year"]))
]
TABLES = {
    "artist_dict_simplified": ARTISTS,
    "song_dict_simplified": SONGS,
    "artist_work_dict": WORKS,
    "rank_dict_hot100": RANKS,
    "song_dict_hot100": CHART,
}


def write_pickles(folder: Path) -> None:
    for name, table in TABLES.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(table))
    (folder / "grammy_df.pickle").write_bytes(frame_pickle(AWARDS))


def write_json(folder: Path) -> None:
    for name, table in {**TABLES, "grammy_df": ROWS}.items():
        (folder / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")


@pytest.fixture(params=[write_pickles, write_json], ids=["pickle", "json"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data directory with a handful of artists and songs, in each of the two formats."""
    (tmp_path / "music").mkdir()
    request.param(tmp_path / "music")
    return tmp_path


@pytest.fixture
def pickles(tmp_path: Path) -> Path:
    """The folder of a data directory in CRAG's own format only."""
    (tmp_path / "music").mkdir()
    write_pickles(tmp_path / "music")
    return tmp_path / "music"


def ask(base: Path, endpoint: str, **args: Any) -> Any:
    return CragApi(base).call(f"/music/{endpoint}", args)


@pytest.mark.parametrize(
    "endpoint, query, wanted",
    [
        pytest.param("search_artist_entity_by_name", "adele", ["Adele"], id="an artist"),
        pytest.param("search_artist_entity_by_name", "pnk", ["P!nk", "Pnk"], id="names that are normalised alike"),
        pytest.param("search_artist_entity_by_name", "", [], id="no words"),
        pytest.param("search_song_entity_by_name", "BYE, bye", ["Bye Bye Bye"], id="a song"),
        pytest.param("search_song_entity_by_name", "goodbye", [], id="nothing like it"),
        pytest.param("get_artist_birth_place", "Adele", "GB", id="a country"),
        pytest.param("get_artist_birth_place", "Santana", None, id="an empty country is null"),
        pytest.param("get_artist_birth_place", "adele", None, id="names are exact"),
        pytest.param("get_artist_birth_date", "Adele", "1988-05-05", id="a birthday"),
        pytest.param("get_artist_birth_date", "P!nk", None, id="a record without a birthday"),
        pytest.param("get_members", "BTS", ["Jin", "RM", "V"], id="members, each once"),
        pytest.param("get_members", "Adele", [], id="no members"),
        pytest.param("get_members", "Santana", None, id="members null"),
        pytest.param("get_members", "P!nk", None, id="a record without members"),
        pytest.param("get_members", "Nobody", None, id="no such band"),
        pytest.param("get_lifespan", "Adele", ["1988-05-05", None], id="a life"),
        pytest.param("get_lifespan", "Santana", ["", ""], id="a life of empty texts stays"),
        pytest.param("get_lifespan", "P!nk", [None, None], id="a record without dates"),
        pytest.param("get_lifespan", "Nobody", [None, None], id="no such artist"),
        pytest.param("get_song_author", "Hello", "Adele", id="an author"),
        pytest.param("get_song_author", "hello", None, id="titles are exact"),
        pytest.param("get_song_release_country", "Hello", "GB", id="a song's country"),
        pytest.param("get_song_release_country", "Bye Bye Bye", None, id="a song without a country"),
        pytest.param("get_song_release_date", "Hello", "2015-11-14", id="a date"),
        pytest.param("get_song_release_date", "Smooth", None, id="an empty date is null"),
        pytest.param("get_artist_all_works", "Adele", ["Hello", "Skyfall"], id="works"),
        pytest.param("get_artist_all_works", "Santana", [], id="no works"),
        pytest.param("get_artist_all_works", "Nobody", None, id="works of nobody"),
        pytest.param("grammy_get_best_artist_by_year", 2009, ["Adele"], id="the best artist"),
        pytest.param("grammy_get_best_artist_by_year", "2009", ["Adele"], id="digits are taken"),
        pytest.param("grammy_get_best_artist_by_year", 2010, [], id="a year without an award"),
        pytest.param("grammy_get_best_artist_by_year", 1957, [], id="the first year"),
        pytest.param("grammy_get_best_artist_by_year", 1956, None, id="before the first year"),
        pytest.param("grammy_get_best_artist_by_year", 2020, None, id="after the last year"),
        pytest.param("grammy_get_best_song_by_year", 2016, ["Hello", "Stay"], id="songs, in the order of the rows"),
        pytest.param("grammy_get_best_album_by_year", 2016, ["25"], id="an album"),
        pytest.param("grammy_get_best_album_by_year", 1958, [None], id="an album that is not known"),
        pytest.param("grammy_get_award_count_by_artist", "Adele", 5, id="nominee, artist and workers"),
        pytest.param("grammy_get_award_count_by_artist", "adele", 0, id="case counts"),
        pytest.param("grammy_get_award_count_by_artist", "nan", 8, id="an empty cell reads nan"),
        pytest.param("grammy_get_award_count_by_artist", "", 21, id="the empty text is in every cell"),
        pytest.param("grammy_get_award_count_by_song", "Hello", 1, id="awards of a song"),
        pytest.param("grammy_get_award_count_by_song", "Hell", 0, id="a song's title is exact"),
        pytest.param("grammy_get_award_date_by_artist", "Nobody", [], id="no years"),
    ],
)
def test_answers(base: Path, endpoint: str, query: Any, wanted: Any) -> None:
    assert ask(base, endpoint, query=query) == wanted


def test_years_of_an_artist(base: Path) -> None:
    assert sorted(ask(base, "grammy_get_award_date_by_artist", query="Adele")) == [2009, 2016, 2018]


def test_all_best_artists(base: Path) -> None:
    assert ask(base, "grammy_get_all_awarded_artists") == ["Adele", "Santana"]


@pytest.mark.parametrize(
    "rank, date, wanted",
    [
        pytest.param(1, "2015-11-21", [["Hello"], ["Adele"]], id="a week"),
        pytest.param("1", "2015-11-21", [["Hello"], ["Adele"]], id="a rank in digits"),
        pytest.param(1, "2015-11-22", [[], []], id="no chart of that day"),
        pytest.param(1, None, [["Hello", "Hello", "Smooth"], ["Adele", "Adele", "Santana Featuring Rob Thomas"]],
                     id="all weeks"),
        pytest.param(2, "", [["Sorry"], ["Justin Bieber"]], id="an empty date is none"),
        pytest.param(0, None, [None, None], id="below the ranks"),
        pytest.param(101, "2015-11-21", [None, None], id="beyond the ranks"),
        pytest.param(-1, None, [None, None], id="a negative rank"),
    ],
)  # fmt: skip
def test_billboard_rank(base: Path, rank: Any, date: str | None, wanted: Any) -> None:
    assert ask(base, "get_billboard_rank_date", rank=rank, date=date) == wanted


def test_the_date_may_be_left_out(base: Path) -> None:
    assert ask(base, "get_billboard_rank_date", rank=2) == [["Sorry"], ["Justin Bieber"]]


@pytest.mark.parametrize(
    "song, date, attribute, wanted",
    [
        pytest.param("Hello", "2015-11-21", "rank", "3", id="rank"),
        pytest.param("Hello", "2015-11-21", "rank_last_week", "2", id="last week"),
        pytest.param("Hello", "2015-11-21", "top_position", "1", id="peak"),
        pytest.param("Hello", "2015-11-21", "weeks_in_chart", "7", id="weeks"),
        pytest.param("Hello", "2015-11-21", "colour", "3", id="any other attribute is the rank"),
        pytest.param("Hello", "2015-11-14", "rank_last_week", "-", id="a new song was nowhere last week"),
        pytest.param("Hello", "2015-11-14", "weeks_in_chart", "1", id="weeks of a new song"),
        pytest.param("Hello", "2015-11-14", "top_position", "1", id="peak of a new song"),
        pytest.param("Hello", "2015-11-28", "rank", None, id="a week it was not in the chart"),
        pytest.param("hello", "2015-11-21", "rank", None, id="titles are exact"),
        pytest.param("Hello", "", "", None, id="no date"),
    ],
)
def test_billboard_attributes(base: Path, song: str, date: str, attribute: str, wanted: str | None) -> None:
    assert ask(base, "get_billboard_attributes", song_name=song, date=date, attribute=attribute) == wanted


@pytest.mark.parametrize(
    "endpoint, args, sentence",
    [
        pytest.param("get_billboard_rank_date", {"date": "2015-11-14"}, "rank is missing", id="no rank"),
        pytest.param("get_billboard_rank_date", {"rank": 1, "date": 2015}, "date must be a text", id="a date in digits"),
        pytest.param("get_billboard_attributes", {"date": None, "attribute": "rank", "song_name": "Hello"},
                     "date must be a text", id="here the date is needed"),
        pytest.param("grammy_get_best_song_by_year", {"query": "soon"}, "must be a whole number", id="not a year"),
        pytest.param("get_members", {"query": None}, "must be a text", id="no band"),
    ],
)  # fmt: skip
def test_refused(base: Path, endpoint: str, args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence) as caught:
        ask(base, endpoint, **args)
    assert caught.value.status == 422


@pytest.mark.parametrize(
    "table, first, all_of_them",
    [
        pytest.param("artist", ["Adele", "Santana"], set(ARTISTS), id="artists: awards, weeks and works"),
        pytest.param("song", ["Hello"], {*SONGS, "Sorry"}, id="songs: awards and weeks, charted ones too"),
        pytest.param("movie", [], set(), id="no table of music"),
    ],
)
def test_names(base: Path, table: str, first: list[str], all_of_them: set[str]) -> None:
    names = [*Music(base).names(table)]
    assert {name for name, _, _ in names} == all_of_them
    assert all(key == name for name, key, _ in names)
    assert [name for name, _, _ in sorted(names, key=lambda n: -n[2])][: len(first)] == first


def test_nothing_is_read_before_it_is_needed(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    (tmp_path / "music/artist_work_dict.json").write_text(json.dumps(WORKS))
    assert ask(tmp_path, "get_artist_all_works", query="Santana") == []


def put(name: str, value: Any) -> Callable[[Path], None]:
    return lambda folder: (folder / f"{name}.pickle").write_bytes(pickle.dumps(value)) and None


@pytest.mark.parametrize(
    "spoil, endpoint, args, sentence",
    [
        pytest.param(put("song_dict_simplified", [1]), "get_song_author", {"query": "x"},
                     "song_dict_simplified.pickle should hold an object", id="a list for a dict"),
        pytest.param(put("song_dict_simplified", {1: {}}), "get_song_author", {"query": "x"},
                     "should have texts for keys", id="numbers for keys"),
        pytest.param(put("artist_dict_simplified", {"a": print}), "get_members", {"query": "a"},
                     "artist_dict_simplified.pickle asks for builtins.print", id="a function"),
        pytest.param(put("artist_dict_simplified", {"a": b"x"}), "get_members", {"query": "a"},
                     "artist_dict_simplified.pickle holds a bytes at 'a'", id="bytes"),
        pytest.param(put("rank_dict_hot100", {"1": [{"Date": "x"}]}), "get_billboard_rank_date", {"rank": 1},
                     "a row without date, song or artist at '1'", id="a row without a song"),
        pytest.param(put("song_dict_hot100", {"Hello": {"x": ["x"]}}), "get_billboard_attributes",
                     {"date": "x", "attribute": "rank", "song_name": "Hello"},
                     "a row of too few values at 'Hello'", id="a short row"),
        pytest.param(put("grammy_df", [1]), "grammy_get_all_awarded_artists", {},
                     "grammy_df.pickle does not hold a DataFrame", id="no DataFrame"),
        pytest.param(lambda folder: (folder / "grammy_df.pickle").write_bytes(frame_pickle({"year": [1]})),
                     "grammy_get_all_awarded_artists", {}, "has no column category", id="columns missing"),
        pytest.param(lambda folder: (folder / "grammy_df.pickle").write_bytes(frame_pickle({**AWARDS, "year": ["x"] * 7})),
                     "grammy_get_all_awarded_artists", {}, "a year that is not a whole number", id="a year in words"),
        pytest.param(lambda folder: (folder / "grammy_df.pickle").unlink(), "grammy_get_all_awarded_artists", {},
                     "grammy_df.pickle cannot be read", id="missing"),
    ],
)  # fmt: skip
def test_unusable_files(
    pickles: Path, spoil: Callable[[Path], Any], endpoint: str, args: dict[str, Any], sentence: str
) -> None:
    spoil(pickles)
    with pytest.raises(SourceError, match=sentence) as caught:
        ask(pickles.parent, endpoint, **args)
    assert caught.value.status == 500


def plain_search(names: list[str], query: str) -> list[str]:
    """The search as the original does it, one name after the other; idf at or below 4 is dropped."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(normalise(name), []).append(name)
    documents = [text.split() for text in sorted(alike)]
    mean = sum(len(words) for words in documents) / len(documents)
    scores: dict[int, float] = {}
    for token in normalise(query).split():
        holders = sum(token in words for words in documents)
        idf = math.log(len(documents) - holders + 0.5) - math.log(holders + 0.5)
        for place, words in enumerate(documents):
            if idf > 4 and token in words:
                times = words.count(token)
                norm = 1.5 * (1 - 0.75 + 0.75 * len(words) / mean)
                scores[place] = scores.get(place, 0.0) + idf * times * (1.5 + 1) / (times + norm)
    best = heapq.nlargest(10, scores, key=scores.__getitem__)
    return [name for place in best for name in alike[" ".join(documents[place])]][:10]


WORDS = ["love", "bye", "la", "me", "you", "x-ray", "X Ray", "day", "night"]


@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=12),
    st.lists(st.sampled_from([*WORDS, "name7", "filler"]), max_size=4).map(" ".join),
)
def test_the_search_is_the_originals(names: list[str], query: str) -> None:
    names = [*dict.fromkeys(names), *(f"filler name{i} {'long ' * (i % 5)}" for i in range(400))]
    assert QuickBM25(names).search(query) == plain_search(names, query)


@pytest.mark.parametrize(
    "names, query, wanted",
    [
        pytest.param([f"love {i}" for i in range(300)], "love 7", ["love 7"], id="a common word is not looked for"),
        pytest.param([f"love {i}" for i in range(300)], "love", [], id="nor if it is all there is"),
        pytest.param(["love me", "hate me"], "love", ["love me"], id="of few names all words count"),
        pytest.param([], "love", [], id="no names"),
        pytest.param(["?", "!"], "?", [], id="names without words"),
        pytest.param([*(f"day {'x' * i}" for i in range(1, 13)), *map(str, range(900))], "day",
                     [f"day {'x' * i}" for i in range(1, 11)], id="equal scores come in the order of names"),
    ],
)  # fmt: skip
def test_search(names: list[str], query: str, wanted: list[str]) -> None:
    assert QuickBM25(names).search(query) == wanted
