"""Names found by an API's own search: what is searched for, what is found, and that it is asked once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from engine.translate.lexicon import Lexicon
from kg.domain import Domain
from kg.errors import SourceError
from kg.graph import Graph
from kg.link.search import CALLS, SearchLinker
from kg.load import BUILT_IN, load_domains
from kg.sources import CragSource, ReplaySource
from kg.sources.base import Source
from kg.store import Store

MOVIE = load_domains([BUILT_IN])["movie"]
COMMON = Lexicon.of(MOVIE).common


class Counted(CragSource):
    """The bundled sample; `searched` holds the texts that films were searched for."""

    def __init__(self) -> None:
        super().__init__()
        self.searched: list[str] = []
        self.calls = 0

    def call(self, endpoint: str, args: dict[str, object], *, timeout: float) -> object:  # type: ignore[override]
        self.calls += 1
        if endpoint == "/movie/get_movie_info":
            self.searched.append(str(args["query"]))
        return super().call(endpoint, args, timeout=timeout)


@pytest.fixture
def source() -> Counted:
    return Counted()


@pytest.fixture
def linker(source: Counted) -> Iterator[SearchLinker]:
    store = Store()
    yield over(source, store)
    store.close()


def over(source: Source, store: Store, domain: Domain = MOVIE) -> SearchLinker:
    now = dt.datetime(2024, 5, 1, tzinfo=dt.UTC)
    return SearchLinker(Graph(domain, source, store), common=COMMON, clock=lambda: now, seconds=5)


@pytest.mark.parametrize(
    "question, searched",
    [
        pytest.param("who directed titanic?", ["titanic"], id="one word"),
        pytest.param("who directed the silence of the lambs?", ["the silence of the lambs"], id="small words inside"),
        pytest.param("how long is life of pi?", ["life of pi"], id="frequent words before"),
        pytest.param("when was toy story 3 released?", ["toy"], id="a word of the schema inside"),
        pytest.param("when was Toy Story 3 released?", ["Toy Story 3"], id="the same with capitals"),
        pytest.param("what is dicaprio's birthday?", ["dicaprio"], id="possessive"),
        pytest.param("how long is soderbergh's erin brockovich?", ["soderbergh's erin brockovich", "soderbergh"], id="possessive before a name"),
        pytest.param('who starred in "no country for old men"?', ["no country for old men"], id="quoted"),
        pytest.param("who directed get out?", ["get out"], id="frequent words only"),
        pytest.param("who directed up?", ["up"], id="one small word only"),
        pytest.param("who composed the music for star wars?", ["star wars", "the music for star wars"], id="words of the schema only"),
        pytest.param("tom hanks and meg ryan", ["tom hanks and meg ryan"], id="two people found by one search"),
        pytest.param("which is longer, inception or interstellar?", ["inception", "interstellar"], id="parted by or"),
        pytest.param("how many movies came out in 1997?", [], id="no name"),
        pytest.param("who won best actor in 1998?", [], id="a category and a year"),
        pytest.param("", [], id="nothing"),
    ],
)  # fmt: skip
def test_what_is_searched_for(linker: SearchLinker, source: Counted, question: str, searched: list[str]) -> None:
    linker.find(question)
    assert source.searched == searched


@pytest.mark.parametrize(
    "question, names",
    [
        pytest.param("who directed titanic?", {"Titanic"}, id="a film"),
        pytest.param("what is dicaprio's birthday?", {"Leonardo DiCaprio"}, id="part of a name"),
        pytest.param("did tom hanks and meg ryan meet?", {"Tom Hanks", "Meg Ryan"}, id="two people"),
        pytest.param("who is flurbglorp?", set(), id="a name nobody knows"),
    ],
)
def test_what_is_found(linker: SearchLinker, question: str, names: set[str]) -> None:
    assert {m.candidates[0].text for m in linker.find(question) if m.score >= 0.7} == names


def test_a_question_makes_a_handful_of_calls(linker: SearchLinker, source: Counted) -> None:
    linker.find(" or ".join(f"zorb{c} quux{c}" for c in "abcdefghijklmnop"))
    assert source.calls == CALLS


def test_nothing_is_asked_twice(linker: SearchLinker, source: Counted) -> None:
    first = linker.find("who directed titanic?")
    calls = source.calls
    assert linker.find("who directed titanic?") == first
    assert [c.text for c in linker.lookup("titanic", "movie")] == ["Titanic"]
    assert source.calls == calls


def test_completion_knows_what_is_stored_and_makes_no_call(linker: SearchLinker, source: Counted) -> None:
    assert linker.complete("tit", 5) == []
    linker.find("who directed titanic?")
    calls = source.calls
    assert (linker.complete("tit", 5), linker.complete("'; --", 5), linker.complete("tit", 0)) == (["Titanic"], [], [])
    assert source.calls == calls


def test_a_search_that_fails_is_not_a_name_that_does_not_exist() -> None:
    store = Store()
    with pytest.raises(SourceError):
        over(ReplaySource({}), store).find("who directed titanic?")
    store.close()
