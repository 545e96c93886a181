"""The five /movie endpoints over movie/{movie_db,person_db,year_db}.json.

The files map a normalised name (a year for the last one) to an object. Each is read when it is first needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kg.crag_api.bm25 import BM25
from kg.crag_api.endpoints import Endpoint, Param
from kg.crag_api.files import Once, read_objects
from kg.errors import SourceError

TOP = 10  # a search returns no more
YEARS = range(1990, 2022)  # the years of which the original server knows anything

Object = dict[str, Any]


class Movie:
    """The movie endpoints over the data directory `base`; nothing is read before the first call."""

    files: tuple[str, ...] = ("movie/movie_db.json", "movie/person_db.json", "movie/year_db.json")

    def __init__(self, base: Path):
        movies, people, years = (base / name for name in self.files)
        self._movies = Once(lambda: Entities(read_objects(movies), "title", movie_weight))
        self._people = Once(lambda: Entities(read_objects(people), "name", person_weight))
        self._years = Once(lambda: read_objects(years))
        self._tables = {"movie": self._movies, "person": self._people}
        self.endpoints: tuple[Endpoint, ...] = (
            Endpoint(
                "/movie/get_movie_info",
                "The movies whose titles match best, at most 10, best first.",
                lambda query: self._movies().search(query),
                {"query": Param(str, "Lord of the Rings")},
            ),
            Endpoint(
                "/movie/get_person_info",
                "The people whose names match best, at most 10, best first.",
                lambda query: self._people().search(query),
                {"query": Param(str, "Jackson")},
            ),
            Endpoint(
                "/movie/get_movie_info_by_id",
                "The movie with this id, or null.",
                lambda query: self._movies().by_id.get(query),
                {"query": Param(int, 100)},
            ),
            Endpoint(
                "/movie/get_person_info_by_id",
                "The person with this id, or null.",
                lambda query: self._people().by_id.get(query),
                {"query": Param(int, 100)},
            ),
            Endpoint(
                "/movie/get_year_info",
                "The movies of a year and the Academy Awards held in it; the years are 1990 to 2021.",
                self._year,
                {"query": Param(str, "1992")},
            ),
        )

    def names(self, table: str) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, id, weight) of the rows of movie or person, and nothing for another table."""
        if table in self._tables:
            yield from self._tables[table]().names()

    def _year(self, query: str) -> Object | None:
        try:
            known = int(query) in YEARS
        except ValueError:
            known = False
        if not known:  # the original raises, which its users see as a 500
            raise SourceError(
                f"the year must be from {YEARS[0]} to {YEARS[-1]}, not {query!r:.40}.",
                endpoint="/movie/get_year_info",
                status=500,
            )
        return self._years().get(query)


class Entities:
    """Objects that are found by name or by id. `label` is the field that holds the name as people write it."""

    def __init__(self, objects: dict[str, Object], label: str, weight: Callable[[Object], float]):
        self._keys = list(objects)
        self._objects = list(objects.values())
        self._label, self._weight = label, weight
        self.by_id: dict[Any, Object] = {o["id"]: o for o in self._objects if _hashable(o.get("id"))}
        self._index = Once(lambda: BM25(self._keys))

    def search(self, query: str) -> list[Object]:
        """Return at most 10 objects, by BM25; of equal scores the better known first, then by key."""
        return [self._objects[place] for place in self._index().best(query, TOP, self._prefer)]

    def names(self) -> Iterator[tuple[str, Any, float]]:
        """Yield (name, id, weight) of every object that has a name and an id."""
        for o in self._objects:
            name, key = o.get(self._label), o.get("id")
            if isinstance(name, str) and name and key is not None:
                yield name, key, self._weight(o)

    def _prefer(self, place: int) -> tuple[float, str]:
        return -self._weight(self._objects[place]), self._keys[place]


def movie_weight(movie: Object) -> float:
    """Return how well known a movie is: the logarithm of its takings, to which nominations and a cast add.

    Takings are often unknown (0). A nomination then stands for 30 million dollars and a cast member for
    100,000, which puts the award winner before the short film of its name.
    """
    return math.log10(
        1 + _number(movie, "revenue") + 3e7 * _length(movie, "oscar_awards") + 1e5 * _length(movie, "cast")
    )


def person_weight(person: Object) -> float:
    """Return how well known a person is: the logarithm of their films, a nomination counting as three."""
    films = _length(person, "acted_movies") + _length(person, "directed_movies")
    return math.log10(1 + films + 3 * _length(person, "oscar_awards"))


def _number(o: Object, name: str) -> float:
    value = o.get(name)
    return max(0.0, float(value)) if isinstance(value, (int, float)) else 0.0


def _length(o: Object, name: str) -> int:
    value = o.get(name)
    return len(value) if isinstance(value, list) else 0


def _hashable(key: Any) -> bool:
    return isinstance(key, (int, str, float))
