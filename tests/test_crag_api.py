"""CRAG's endpoints in process: what they answer, what they refuse, and the scores of the search."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kg.crag_api import CragApi
from kg.crag_api.bm25 import BM25, normalise
from kg.crag_api.files import Once
from kg.errors import SourceError
from kg.sources import SAMPLE

AWARD = {"year_ceremony": 1998, "ceremony": 70, "category": "DIRECTING", "name": "X", "film": "Titanic", "winner": True}

MOVIES: dict[str, dict[str, Any]] = {
    "titanic": {"id": 597, "title": "Titanic", "revenue": 2_187_463_944, "oscar_awards": [AWARD], "cast": []},
    "titanic 1953": {"id": 16535, "title": "Titanic", "revenue": 0, "cast": []},
    "titanic 1943": {"id": 28118, "title": "Titanic", "revenue": None},
    "new york new york": {"id": 12637, "title": "New York, New York", "revenue": 16_400_000},
    "new york": {"id": 26022, "title": "New York", "revenue": 0, "rating": 6.1},
    "choose a movie": {"id": 0, "title": "Choose A Movie", "original_language": float("nan"), "revenue": float("nan")},
    "no id": {"title": "No Id"},
}
PEOPLE: dict[str, dict[str, Any]] = {
    "john aames": {"id": 1, "name": "John Aames", "acted_movies": [597]},
    "john bell": {"id": 2, "name": "John Bell", "acted_movies": [597, 16535], "directed_movies": [28118]},
    "john cole": {"id": 3, "name": "John Cole"},
    "john dorn": {"id": 4, "name": "John Dorn", "acted_movies": [597], "oscar_awards": [AWARD]},
    "samuel l jackson": {"id": 2231, "name": "Samuel L. Jackson", "birthday": None},
    "nameless": {"id": 6, "name": None},
}
YEARS = {"1997": {"movie_list": [597], "oscar_awards": [AWARD]}}

MOVIE, PERSON = "/movie/get_movie_info", "/movie/get_person_info"
MOVIE_ID, PERSON_ID, YEAR = "/movie/get_movie_info_by_id", "/movie/get_person_info_by_id", "/movie/get_year_info"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A data directory with a handful of entries, NaN among them as in the real files."""
    (tmp_path / "movie").mkdir()
    for name, data in (("movie_db", MOVIES), ("person_db", PEOPLE), ("year_db", YEARS)):
        (tmp_path / "movie" / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return tmp_path


def ids(found: list[dict[str, Any]]) -> list[Any]:
    return [one.get("id") for one in found]


@pytest.mark.parametrize(
    "endpoint, query, wanted",
    [
        pytest.param(MOVIE, "Titanic", [597, 28118, 16535], id="the shorter key, then equal scores and weights by key"),
        pytest.param(MOVIE, "  TITANIC!! ", [597, 28118, 16535], id="a query is normalised"),
        pytest.param(MOVIE, "New York, New York", [12637, 26022], id="repeated tokens count again"),
        pytest.param(MOVIE, "nothing like it", [], id="no token known"),
        pytest.param(MOVIE, "", [], id="an empty query"),
        pytest.param(MOVIE, "?!", [], id="nothing but punctuation"),
        pytest.param(PERSON, "samuel_l. jackson", [2231], id="underscores are spaces"),
        pytest.param(PERSON, "John", [4, 2, 1, 3], id="equal scores: the better known first"),
    ],
)
def test_search(base: Path, endpoint: str, query: str, wanted: list[int]) -> None:
    assert ids(CragApi(base).call(endpoint, {"query": query})) == wanted


def test_search_returns_ten(base: Path) -> None:
    people = {f"john {i:02}": {"id": i, "name": "John"} for i in range(25)} | {"x": {}, "y": {}}
    (base / "movie/person_db.json").write_text(json.dumps(people), encoding="utf-8")
    assert ids(CragApi(base).call(PERSON, {"query": "john"})) == list(range(10))


@pytest.mark.parametrize(
    "endpoint, query, wanted",
    [
        pytest.param(MOVIE_ID, 16535, MOVIES["titanic 1953"], id="a movie"),
        pytest.param(MOVIE_ID, 1, None, id="no such movie"),
        pytest.param(MOVIE_ID, 0, {"id": 0, "title": "Choose A Movie", "original_language": None, "revenue": None},
                     id="NaN is None"),
        pytest.param(PERSON_ID, 2231, PEOPLE["samuel l jackson"], id="a person"),
        pytest.param(PERSON_ID, 597, None, id="a movie's id is no person's"),
        pytest.param(PERSON_ID, "2231", PEOPLE["samuel l jackson"], id="digits are taken, as pydantic does"),
        pytest.param(PERSON_ID, 2231.0, PEOPLE["samuel l jackson"], id="a whole float is taken"),
        pytest.param(PERSON_ID, True, PEOPLE["john aames"], id="true is 1, as for pydantic"),
        pytest.param(PERSON_ID, 10**30, None, id="a huge id"),
        pytest.param(YEAR, "1997", YEARS["1997"], id="a year"),
        pytest.param(YEAR, "1998", None, id="a year without data"),
    ],
)  # fmt: skip
def test_lookup(base: Path, endpoint: str, query: Any, wanted: Any) -> None:
    assert CragApi(base).call(endpoint, {"query": query}) == wanted


@pytest.mark.parametrize(
    "endpoint, args, status, sentence",
    [
        pytest.param(YEAR, {"query": "1989"}, 500, "must be from 1990 to 2021, not '1989'", id="before the first year"),
        pytest.param(YEAR, {"query": "2022"}, 500, "must be from 1990 to 2021, not '2022'", id="after the last year"),
        pytest.param(YEAR, {"query": "soon"}, 500, "not 'soon'", id="not a year"),
        pytest.param(YEAR, {"query": 1997}, 422, "query must be a text, not 1997", id="the year is a text"),
        pytest.param(MOVIE, {"query": None}, 422, "query must be a text, not None", id="null is no text"),
        pytest.param(MOVIE, {}, 422, "query is missing", id="no query"),
        pytest.param(MOVIE_ID, {"query": "titanic"}, 422, "query must be a whole number", id="a name is no id"),
        pytest.param(MOVIE_ID, {"query": 1.5}, 422, "query must be a whole number, not 1.5", id="half an id"),
        pytest.param(MOVIE_ID, {"query": [1]}, 422, "query must be a whole number", id="a list of ids"),
        pytest.param("/movie/get_plot", {"query": "x"}, 404, "there are /movie/get_movie_info,", id="unknown endpoint"),
    ],
)
def test_refused(base: Path, endpoint: str, args: dict[str, Any], status: int, sentence: str) -> None:
    with pytest.raises(SourceError) as caught:
        CragApi(base).call(endpoint, args)
    assert (caught.value.status, caught.value.endpoint, caught.value.retry) == (status, endpoint, False)
    assert str(caught.value).startswith(f"{endpoint}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "content, sentence",
    [
        pytest.param(None, "cannot be read (No such file or directory)", id="missing"),
        pytest.param(b'{"titanic": {"id": 597', "is not valid JSON", id="half a file"),
        pytest.param(b"\x80\x04", "is not valid JSON", id="not UTF-8"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\n", "is not valid JSON", id="a Git LFS pointer"),
        pytest.param(b"[]", "should hold an object, but holds a list", id="a list"),
        pytest.param(b'{"titanic": [597]}', "an object at 'titanic', but holds [597]", id="an entry that is a list"),
        pytest.param(b"[" * 200_000, "is not valid JSON", id="nested without end"),
    ],
)
def test_a_data_file_that_cannot_be_used_is_named(base: Path, content: bytes | None, sentence: str) -> None:
    path = base / "movie" / "movie_db.json"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    api = CragApi(base)
    with pytest.raises(SourceError) as caught:
        api.call(MOVIE, {"query": "titanic"})
    assert str(path) in str(caught.value)
    assert sentence in str(caught.value)
    with pytest.raises(SourceError, match=r"movie_db\.json"):
        list(api.names("movie"))
    assert api.call(PERSON_ID, {"query": 1}) == PEOPLE["john aames"], "the other files are not concerned"

    path.write_text(json.dumps(MOVIES), encoding="utf-8")
    assert ids(api.call(MOVIE, {"query": "titanic"}))[0] == 597, "a file put right is read without a restart"


def test_names_are_those_with_an_id(base: Path) -> None:
    api = CragApi(base)
    movies = sorted(api.names("movie"), key=lambda name: (-name[2], name[0], name[1]))
    assert [(text, key) for text, key, _ in movies] == [
        ("Titanic", 597),
        ("New York, New York", 12637),
        ("Choose A Movie", 0),
        ("New York", 26022),
        ("Titanic", 16535),
        ("Titanic", 28118),
    ]
    assert {text for text, _, _ in api.names("person")} == {o["name"] for o in PEOPLE.values() if o["name"]}
    assert list(api.names("oscar_award")) == []


def test_fingerprint_changes_with_the_files(base: Path) -> None:
    api = CragApi(base)
    before = api.fingerprint()
    assert CragApi(base).fingerprint() == before
    (base / "movie" / "year_db.json").write_text("{}", encoding="utf-8")
    changed = api.fingerprint()
    (base / "movie" / "year_db.json").unlink()
    assert len({before, changed, api.fingerprint()}) == 3


def test_threads_share_one_value_and_a_failure_is_tried_again() -> None:
    made: list[int] = []
    gate = threading.Event()

    def make() -> int:
        gate.wait(5)
        made.append(len(made))
        if len(made) == 1:
            raise OSError("not yet")
        return 42

    once = Once(make)
    seen: list[Any] = []

    def use() -> None:
        try:
            seen.append(once())
        except OSError as e:
            seen.append(str(e))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(5)
    assert sorted(seen, key=str) == [42] * 7 + ["not yet"]
    assert made == [0, 1]


@pytest.mark.parametrize(
    "table, search, by_id", [("movie", MOVIE, MOVIE_ID), ("person", PERSON, PERSON_ID)], ids=["movie", "person"]
)
def test_the_best_known_of_the_sample_is_found(table: str, search: str, by_id: str) -> None:
    api = CragApi(SAMPLE)
    text, key, _ = max(api.names(table), key=lambda name: name[2])
    assert api.call(search, {"query": text})[0] == api.call(by_id, {"query": key})


def test_many_threads_get_the_same_answers(base: Path) -> None:
    api = CragApi(base)
    found: list[list[Any]] = []
    threads = [
        threading.Thread(target=lambda: found.append(ids(api.call(PERSON, {"query": "john"})))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert found == [[4, 2, 1, 3]] * 8


# -- BM25 against the formula -------------------------------------------------------------------------------------


def plain_scores(names: list[str], query: list[str]) -> list[float]:
    """BM25Okapi written straight down: every name is looked at for every token. Also the words of the query."""
    documents = [name.split() for name in names]
    mean_length = sum(map(len, documents)) / len(documents)
    holders: dict[str, int] = {}
    for document in documents:
        for token in dict.fromkeys(document):
            holders[token] = holders.get(token, 0) + 1
    idf = {t: math.log(len(documents) - n + 0.5) - math.log(n + 0.5) for t, n in holders.items()}
    floor = 0.25 * (sum(idf.values()) / len(idf)) if idf else 0.0
    idf = {t: floor if value < 0 else value for t, value in idf.items()}
    scores = []
    for document in documents:
        score = 0.0
        for token in query:
            times = document.count(token)
            norm = 1.5 * (1 - 0.75 + 0.75 * len(document) / mean_length) if mean_length else 1.0
            score += idf.get(token, 0.0) * times * 2.5 / (times + norm)
        scores.append(score)
    return scores


WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5).map(" ".join)


@given(names=st.lists(WORDS, min_size=1, max_size=30), query=st.lists(st.sampled_from("abcdefg"), max_size=5))
@example(names=["a", "a", "a b"], query=["a"])  # a is in more than half: its idf is the floor
@example(names=["a", "a", "a"], query=["a"])  # all idf negative: so is the floor, and so are the scores
@example(names=["a b", "a c", "d e", "f g"], query=["a"])  # half of the names hold a: idf and score are zero
@example(names=["a b"] * 11 + ["c"] * 10, query=["a"])  # below zero, and behind ten names that score zero: cut off
@example(names=["a b", "a c", "a d e"] + ["f"] * 9, query=["a", "a"])  # a repeated token counts twice
def test_scores_and_order_are_the_formulas(names: list[str], query: list[str]) -> None:
    index = BM25(names)
    wanted = plain_scores(names, query)
    found = index.scores(query)
    assert [found.get(place, 0.0) for place in range(len(names))] == pytest.approx(wanted, abs=1e-12)

    best = index.best(" ".join(query), 10, lambda place: place)
    # Ties may come in any order, so the scores of the best ten are compared, not the names.
    cut = sorted((round(score, 9) for score in wanted), reverse=True)[:10]
    assert [round(wanted[place], 9) for place in best] == [score for score in cut if score]
    assert len(set(best)) == len(best)


def test_an_empty_index_finds_nothing() -> None:
    assert BM25([]).best("anything", 10, lambda place: place) == []


@pytest.mark.parametrize(
    "prefer, wanted",
    [
        pytest.param(lambda place: place, [0, 1], id="the smallest first"),
        pytest.param(lambda place: -place, [3, 2], id="the largest first"),
    ],
)
def test_ties_go_to_the_preferred(prefer: Callable[[int], int], wanted: list[int]) -> None:
    names = ["a w", "a x", "a y", "a z", *"bcdefg"]
    assert BM25(names).best("a", 2, prefer) == wanted


@pytest.mark.parametrize(
    "text, wanted",
    [
        pytest.param("Spider-Man: No Way Home", "spiderman no way home", id="punctuation goes, and joins"),
        pytest.param("WALL·E", "wall·e", id="only ASCII punctuation goes"),
        pytest.param("the_lord  of\tthe rings ", "the lord of the rings", id="one space between words"),
        pytest.param("Amélie", "amélie", id="accents stay"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_normalise(text: str, wanted: str) -> None:
    assert normalise(text) == wanted
